"""Copies of the sampler in plain Python with one fault each, to see that the tests find it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import resources
from types import ModuleType

from plaidwork_dirichlet_mixture import concentration
from plaidwork_dirichlet_mixture import model as right


@dataclass(frozen=True)
class Fault:
    """Text of a module that is replaced, and the case and number of sweeps at which it must show."""

    module: str
    old: str
    new: str
    case: str
    sweeps: int = 1200


FAULTS = {
    "cluster size left out": Fault("sweep", "math.log(c.size[k]) + log_pred", "log_pred", "full"),
    "alpha left out": Fault("sweep", "math.log(law.alpha) + log_pred", "0.7 + log_pred", "full"),
    "items that are alone cannot be joined": Fault(
        "sweep",
        "        if c.size[k] > 0:\n            slots",
        "        if c.size[k] > 1:\n            slots",
        "diagonal",
    ),
    "uncertainty of the mean left out of the density": Fault("clusters", "math.log1p(1.0 / k)", "0.0", "full"),
    "prior of the mean forgotten in the scatter": Fault(
        "clusters", "root = math.sqrt(kappa / (kappa + 1.0))", "root = 1.0", "full"
    ),
    "removal that leaves the scatter": Fault(
        "clusters", "c.factor[k, 0, j] -= kappa / (kappa - 1.0) * delta * delta", "pass", "diagonal"
    ),
    "gaps taken as zeros": Fault("clusters", "            if known[j]:\n                kappa", "            if True:\n                kappa", "gaps"),
    "proposal left out of the ratio": Fault("sweep", "    gain -= sums[LOG_Q]\n", "", "full, moves"),
    "prior left out of the ratio": Fault(
        "sweep", "math.log(law.alpha) + math.lgamma(n_a) + math.lgamma(n_b) - math.lgamma(n_a + n_b)", "0.0", "full, moves"
    ),
    "merge accepted like a split": Fault("sweep", "        gain = -gain", "        pass", "diagonal, moves"),
    "probability of the other side": Fault(
        "sweep", "        away = gap if side == 0 else -gap", "        away = gap", "full, moves"
    ),
    "merge scored by a split that is not there": Fault(
        "sweep", "    if scan == last and not at[SPLIT]:", "    if False:", "many moves", 12_000
    ),
    "alpha without its prior's shape": Fault("concentration", "shape + k - (0.0", "k - (0.0", "diagonal"),
    "alpha as if there were no data": Fault("concentration", "rate + math.log1p(rest)", "rate", "diagonal"),
}  # fmt: skip


def _load(name: str, fault: Fault | None) -> ModuleType:
    """The module in plain Python, its companions broken alike."""
    package = resources.files("plaidwork_dirichlet_mixture")
    text = (package / f"{name}.py").read_text(encoding="utf-8")
    text = text.replace("from numba import njit", "def njit(**_):\n    return lambda f: f")
    text = text.replace("plaidwork_dirichlet_mixture.clusters", "broken_clusters")
    if fault and fault.module == name:
        assert text.count(fault.old) == 1, f"{fault.old!r} is in {name}.py {text.count(fault.old)} times"
        text = text.replace(fault.old, fault.new)
    module = ModuleType(f"broken_{name}")
    exec(compile(text, f"broken_{name}.py", "exec"), vars(module))
    return module


class Broken(right.DirichletMixture):
    """The model with the modules of one fault; calls are made with them in place of the right ones."""

    def __init__(self, fault: Fault | None) -> None:
        clusters = sys.modules["broken_clusters"] = _load("clusters", fault)
        self.parts = {
            "sweep": _load("sweep", fault),
            "predictive_table": clusters.predictive_table,
            "draw_alpha": _load("concentration", fault).draw_alpha,
        }
        del sys.modules["broken_clusters"]

    def step(self, *args):
        kept = {name: getattr(right, name) for name in self.parts}
        try:
            for name, part in self.parts.items():
                setattr(right, name, part)
            return super().step(*args)
        finally:
            for name, part in kept.items():
                setattr(right, name, part)


def broken_model(fault: str) -> Broken:
    """The model with a fault by name; without one for an empty name."""
    assert concentration.draw_alpha is right.draw_alpha
    return Broken(FAULTS[fault] if fault else None)
