"""States of chains altered as a stranger might: ``python tests/altered.py SESSION`` tries every alteration of a state and tells which are
taken, having made two sweeps from them; a crash ends it, and the last line says at which."""

import itertools
import sys
import warnings

import numpy as np

from plaidwork.core.contract.schedule import Clock
from plaidwork.core.draws.chain import chain_rng, copy_state
from plaidwork.core.inference.fitting_state import Expected
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.session import Session
from plaidwork.core.session.store.session_file import load


def places(value, at=()):
    """Every place of a state that holds no dict or list, as the keys that lead there."""
    if isinstance(value, (dict, list, tuple)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*at, key))
    else:
        yield at


def value_at(state, place):
    for key in place:
        state = state[key]
    return state


def put(state, place, value):
    """Set a value in place; None takes it out."""
    holder = value_at(state, place[:-1])
    if value is None and isinstance(holder, dict):
        del holder[place[-1]]
    else:
        holder[place[-1]] = value


def _with_first(array, value):
    out = array.copy()
    out.flat[0] = value
    return out


def alterations(value):
    """(name, altered value) of an array or number."""
    yield "missing", None
    yield "text", "none"
    if not isinstance(value, np.ndarray):
        if isinstance(value, float):
            yield "not a number", float("nan")
        return
    for axis in range(value.ndim):
        yield f"longer along {axis}", np.concatenate([value, np.take(value, [-1], axis)], axis) if value.shape[axis] else np.ones(
            [n + (a == axis) for a, n in enumerate(value.shape)], value.dtype
        )  # fmt: skip
        if value.shape[axis]:
            yield f"shorter along {axis}", np.take(value, range(value.shape[axis] - 1), axis)
    yield "flat", np.zeros(3, value.dtype)
    yield "other type", value.astype(np.float32 if value.dtype != np.float32 else np.float64)
    if not value.size:
        return
    if value.ndim == 2 and value.shape[0] != value.shape[1]:
        yield "turned", np.ascontiguousarray(value.T)
    if value.dtype.kind in "iu":
        top = np.iinfo(value.dtype)
        for name, number in (
            ("minus two", -2),
            ("huge", top.max // 4),
            ("very negative", top.min // 4),
            ("as many", value.size),
        ):
            if top.min <= number <= top.max and number != value.flat[0]:
                yield name, _with_first(value, number)
        yield "not a number", _with_first(value.astype(float), np.nan)
    elif value.dtype.kind == "f":
        yield "not a number", _with_first(value, np.nan)
        yield "infinite", _with_first(value, np.inf)


def go_on(plan, state, sweep, warmup):
    """Two sweeps from a state; what the model raises is no crash."""
    rng = chain_rng(plan.seed, 0)
    for _ in range(2):
        for _ in range(200):
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                try:
                    if plan.model.step(state, plan.data, plan.params, rng, Clock(sweep, warmup)) is not None:
                        break
                except Exception:
                    return


def tried(plan, record):
    """(place, alteration, why it is refused) of every alteration of the state of a chain; empty where it is taken."""
    expected = Expected(plan, record.chain, record.schedule)
    assert not expected.why_not(record.state, record.sweep)
    for place in list(places(record.state)):
        for name, value in alterations(value_at(record.state, place)):
            state = copy_state(record.state)
            try:
                put(state, place, value)
            except TypeError:
                continue  # within a tuple
            print("trying", ".".join(map(str, place)), name, flush=True)
            why = expected.why_not(state, record.sweep)
            if not why:
                go_on(plan, state, record.sweep, record.schedule.warmup)
            yield ".".join(map(str, place)), name, why


def main(path):
    session = load(path, Session, probed=True)
    (run,) = session.runs.values()
    plan = session.plan_of(run, registry())
    plan.model.prepare()
    for place, name, why in itertools.chain.from_iterable(tried(plan, record) for record in run.chains[:1]):
        print("refused" if why else "taken", place, name, why, sep="\t", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
