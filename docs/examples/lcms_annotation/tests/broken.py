"""Copies of the kernels in plain Python with one fault each, to see that the tests find it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import resources
from types import ModuleType

from plaidwork_lcms_annotation import model as right


@dataclass(frozen=True)
class Fault:
    """Text of a module that is replaced, and the case and number of sweeps at which it must show."""

    module: str
    old: str
    new: str
    only: tuple[str, ...] = ()
    """Stages that are made; empty: all."""
    sweeps: int = 3000
    case: str = "ambiguous"


PARTS = ("groups", "weights", "moves")
PEAKS = ("peaks",)
FAULTS = {
    "1 / number of positions left out when joining": Fault(
        "moves", "weigh(rng, total, here + math.log(w.size[k])", "weigh(rng, total, here - theory.log_share[f] + math.log(w.size[k])",
        PEAKS, 800,
    ),
    "own weight counted": Fault(
        "moves", "here + math.log(w.size[k])", "here + math.log(w.size[k] + 1.0)", PEAKS
    ),
    "block without the weight of the sizes": Fault(
        "moves", "join = math.lgamma(w.size[k] + count) - math.lgamma(w.size[k])", "join = 0.0"
    ),
    "formula without intensities": Fault(
        "weights", "weight += log_heights(seen, near, theory, law, members, count, tried, mine)", "pass", sweeps=6000
    ),
    "time of a cluster taken as known": Fault(
        "weights", "law.time_noise * law.time_prior / all_times + law.time_noise", "law.time_noise", PEAKS
    ),
    "weight of a formula left out": Fault(
        "moves", "fresh = here + alone + theory.log_weight[f]", "fresh = here + alone", PEAKS, 8000, "replicates"
    ),
    "intensity given another adduct": Fault(
        "weights", "law.height_prior * w.heights[k, a, r, 1]", "law.height_prior * w.heights[k, 0, r, 1]", PEAKS
    ),
}  # fmt: skip


def _load(name: str, fault: Fault | None) -> ModuleType:
    """The module in plain Python, its companions broken alike."""
    text = (resources.files("plaidwork_lcms_annotation") / f"{name}.py").read_text(encoding="utf-8")
    text = text.replace("from numba import njit", "def njit(**_):\n    return lambda f: f")
    for part in PARTS:
        text = text.replace(f"plaidwork_lcms_annotation.{part}", f"broken_{part}")
    if fault and fault.module == name:
        assert text.count(fault.old) == 1, f"{fault.old!r} is in {name}.py {text.count(fault.old)} times"
        text = text.replace(fault.old, fault.new)
    module = ModuleType(f"broken_{name}")
    sys.modules[module.__name__] = module
    exec(compile(text, f"broken_{name}.py", "exec"), vars(module))
    return module


def broken_moves(fault: str) -> ModuleType:
    """The moves with a fault by name; without one for an empty name."""
    found = FAULTS[fault] if fault else None
    try:
        return [_load(part, found) for part in PARTS][-1]
    finally:
        for part in PARTS:
            sys.modules.pop(f"broken_{part}", None)


def put_in(monkeypatch, fault: str) -> None:
    """The model makes its moves with the fault, for this test."""
    monkeypatch.setattr(right, "moves", broken_moves(fault))
