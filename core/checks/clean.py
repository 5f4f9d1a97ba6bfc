"""A fit leaves the data, the settings and the process as they were."""

from __future__ import annotations

import copy
import hashlib
import multiprocessing
import sys
import threading
import time
from typing import Any

import numpy as np

from plaidwork.core.checks._bench import Bench, same_arrays, same_states
from plaidwork.core.checks._check import CheckSkipped, blame, check, fail
from plaidwork.core.contract.model_data import Block
from plaidwork.core.contract.schedule import Clock
from plaidwork.core.contract.stages import passes
from plaidwork.core.draws.chain import copy_state, rng_state
from plaidwork.core.inference.plan import FitPlan


def fingerprint(plan: FitPlan) -> dict[str, str]:
    """A hash of every array that the model gets, by name."""
    found: dict[str, str] = {}
    for name, blocks in plan.data.items():
        for number, block in enumerate(blocks if isinstance(blocks, tuple) else (blocks,)):
            for part in ("values", "observed", "held_out", "truth"):
                hasher = hashlib.sha256()
                for array in _arrays(getattr(block, part)):
                    hasher.update(np.ascontiguousarray(array).tobytes())
                found[f"{name}[{number}].{part}"] = hasher.hexdigest()
    return found


def _arrays(value: Any) -> list[np.ndarray]:
    if value is None:
        return []
    if hasattr(value, "indptr"):
        return [value.data, value.indices, value.indptr]
    return [value]


@check("data and settings are only read")
def data_untouched(bench: Bench) -> None:
    """Arrays arrive read-only; nothing of data and params changes during a fit and its summary."""
    plan = bench.make({name: list(parts) for name, parts in bench.sample.items()})
    settings = copy.deepcopy(dict(plan.params))
    before, flags = fingerprint(plan), _writeable(plan)
    run = bench.run(plan)
    bench.summarise(plan, run.kept())
    for name, value in fingerprint(plan).items():
        if value != before[name]:
            raise fail(bench, "fit", f"the data were changed: {name}.", "Copy what you change.")
    if _writeable(plan) - flags:
        raise fail(bench, "fit", "an array of the data was made writeable.", "Copy what you change.")
    if dict(plan.params) != settings:
        raise fail(bench, "fit", "the settings were changed.", "params may only be read.")


def _writeable(plan: FitPlan) -> set[tuple[str, int]]:
    found = set()
    for name, blocks in plan.data.items():
        parts: tuple[Block, ...] = blocks if isinstance(blocks, tuple) else (blocks,)
        for number, block in enumerate(parts):
            if any(array.flags.writeable for array in _arrays(block.values)):
                found.add((name, number))
    return found


@check("held-out cells do not influence the fit")
def holdout_unseen(bench: Bench) -> None:
    """Where an input declares ``holdout``: other numbers in the held-out cells change no draw (scores may use
    ``truth``)."""
    names = [item.name for item in bench.spec.inputs if item.holdout and item.name in bench.sample]
    if not names:
        raise CheckSkipped("no input declares holdout")
    plan = bench.make(bench.sample, holdout=0.2)
    changed = dict(bench.sample)
    for name in names:
        blocks = plan.data[name] if isinstance(plan.data[name], tuple) else (plan.data[name],)
        changed[name] = [
            data.with_(values=_moved(data.values, block.held_out))
            for data, block in zip(plan.inputs[name], blocks, strict=True)
        ]
    other = bench.make(changed, holdout=0.2)
    for one, two in zip(bench.run(plan).chains, bench.run(other).chains, strict=True):
        for draw in range(min(one.draws.count, two.draws.count)):
            for variable in bench.spec.variables:
                if not same_arrays(one.draws.get(variable.name, draw), two.draws.get(variable.name, draw)):
                    raise fail(
                        bench,
                        "step()",
                        f"“{variable.name}” depends on the held-out cells.",
                        "Use values and observed; truth is for scores only.",
                    )


@check("asking for stages or traces changes nothing")
def stages_only_tell(bench: Bench) -> None:
    """``stages`` and ``traces`` are asked at any time, also twice: state and random numbers stay as they are."""
    bench.need("stages")
    plan, rng = bench.plan, bench.rng("stages")
    with blame(bench, "stages()"):
        bench.model.prepare()
        state = bench.model.init(plan.data, plan.params, rng)
        for sweep in range(3):
            clock = Clock(sweep, plan.schedule.warmup)
            for stage in passes(bench.model, state, plan.data, plan.params, rng, clock):
                before, random = copy_state(state), rng_state(rng)
                bench.model.stages(state, plan.data, plan.params, rng, clock)
                if stage.whole:
                    bench.model.traces(state, plan.data, plan.params)
                if rng_state(rng) != random:
                    raise fail(bench, "stages()", f"random numbers were drawn after “{stage.name}”.", _WORK)
                if not same_states(before, state):
                    raise fail(bench, "stages()", f"the state was changed after “{stage.name}”.", _WORK)


_WORK = "What changes the state belongs into the work of a stage, its begin or its end."


def _moved(values: np.ndarray, held_out: np.ndarray | None) -> np.ndarray:
    """Held-out cells get each other's values, so that they stay of their kind."""
    out = np.array(values)
    if held_out is not None:
        out[held_out] = np.roll(out[held_out], 1)
    return out


@check("no thread, no process and no warning is left")
def nothing_left(bench: Bench) -> None:
    """After a fit no thread or process is left over, and numpy's error handling is as before."""
    threads, errors = set(threading.enumerate()), np.geterr()
    hook = sys.excepthook
    run = bench.run(bench.plan)
    bench.summarise(bench.plan, run.kept())
    for _ in range(20):
        left = [thread for thread in threading.enumerate() if thread not in threads]
        if not left:
            break
        time.sleep(0.01)
    if left:
        raise fail(
            bench, "fit", f"the thread “{left[0].name}” is left over.", "The host runs the chains in threads."
        )
    if children := multiprocessing.active_children():
        raise fail(bench, "fit", f"the process “{children[0].name}” is left over.")
    if np.geterr() != errors:
        raise fail(bench, "fit", "numpy's error handling was changed.", "Use `with np.errstate(...)`.")
    if sys.excepthook is not hook:
        raise fail(bench, "fit", "sys.excepthook was replaced.")
