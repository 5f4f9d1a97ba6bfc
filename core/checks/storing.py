"""A chain that is saved, loaded and gone on with equals one that was never stopped."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from plaidwork.core.checks._bench import Bench, first_difference
from plaidwork.core.checks._check import CheckSkipped, blame, check, fail
from plaidwork.core.contract.layout import place_in
from plaidwork.core.contract.misfit import whole_numbers
from plaidwork.core.draws.chain import ChainRecord, rng_from_state, rng_state
from plaidwork.core.errors import SessionError
from plaidwork.core.inference.events import Finished, Preparing, Working
from plaidwork.core.inference.fitting_draws import check_draws
from plaidwork.core.inference.fitting_state import Expected
from plaidwork.core.inference.plan import FitPlan

_EVERY, _THEN = 12, 8
"""So many first steps are each followed by saving and loading, of the later ones every eighth."""
_DECLARE = "Declare it: Part(shape), Part(low=0, below=…), Part(same=True) for what follows from the data, Part(missing=True)."
_HINT = "All that the next step depends on lives in state and rng, as dicts, arrays, numbers and texts."


def round_trip(bench: Bench, value: Any, name: str = "state") -> Any:
    """The value written to an HDF5 file and read back."""
    from plaidwork.core.hdf5.h5 import Reader, Writer, open_new
    from plaidwork.core.hdf5.values import read_value, write_value

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.h5"
        try:
            with open_new(path) as file:
                writer = Writer(file)
                write_value(writer, file, name, value)
                writer.finish()
            import h5py

            with h5py.File(path, "r") as file:
                return read_value(Reader(file), file[name])
        except SessionError as error:
            raise fail(bench, "state", error.message, _HINT) from error


def _reload(bench: Bench, record: ChainRecord) -> None:
    record.state = round_trip(bench, record.state)
    record.rng = rng_from_state(round_trip(bench, rng_state(record.rng), "rng"))


@check("goes on exactly after saving and loading")
def state_round_trip(bench: Bench) -> None:
    """The state passes through an HDF5 file after step upon step; traces and draws stay the same bit for bit."""
    record = ChainRecord(bench.spec, bench.plan.schedule, bench.plan.seed, 0)
    for step, event in enumerate(bench.events(bench.plan, record)):
        if not isinstance(event, (Preparing, Finished)) and (step < _EVERY or step % _THEN == 0):
            _reload(bench, record)
    if difference := first_difference(bench.spec, bench.done.chains[0], record):
        raise fail(bench, "step()", f"after saving and loading, {difference}.", _HINT)


@check("goes on exactly in the middle of a sweep")
def mid_sweep(bench: Bench) -> None:
    """The same between two slices of a long sweep, on data large enough for slices."""
    plan = _sliced(bench)
    reference, record = (ChainRecord(plan.spec, plan.schedule, plan.seed, 0) for _ in range(2))
    for one in (reference, record):
        for event in bench.events(plan, one):
            if one is record and isinstance(event, Working):
                _reload(bench, record)
            if one.sweep >= 1:
                break
    if difference := first_difference(bench.spec, reference, record):
        raise fail(
            bench, "step()", f"after saving and loading in the middle of a sweep, {difference}.", _HINT
        )


@check("its own states fit when they are gone on with from a file")
def state_fits(bench: Bench) -> None:
    """A state from a file is compared with a fresh one before any kernel sees it. Those of a chain fit, step upon step, also where a
    sweep is cut into slices; and ``layout`` says of every array of whole numbers in which range they are, or that they are those of a
    fresh state, as no index may lie beyond its array, and of every array whose length was seen to change."""
    plans = [bench.plan]
    with suppress(CheckSkipped):
        plans.append(_sliced(bench, huge=False))
    for plan in plans:
        record = ChainRecord(plan.spec, plan.schedule, plan.seed, 0)
        expected = _expected(bench, plan)
        for event in bench.events(plan, record):
            if not isinstance(event, (Preparing, Finished)):
                _check_fits(bench, expected, record)
            if plan is not bench.plan and record.sweep >= 1:
                break
        _check_fits(
            bench, _expected(bench, plan), record
        )  # as a file is opened, without what was seen on the way
        unsaid = [(place, "in which range its whole numbers are") for place in whole_numbers(record.state)]
        unsaid += [(place, "that its length changes") for place in expected.changing()]
        for place, what in unsaid:
            if place_in(expected.layout, place).part is None:
                raise fail(bench, "layout()", f"of “{place}” it does not say {what}.", _DECLARE)


@check("its own draws fit when they come from a file")
def draws_fit(bench: Bench) -> None:
    """Draws of a file are compared with the declaration of the variables and the ranges of ``draw_layout`` before anything is made of
    them. Those of a chain fit."""
    run = replace(bench.done, foreign=True)
    try:
        with blame(bench, "draw_layout()", refusal=True):
            check_draws(run, bench.model, bench.plan.data)
    except SessionError as error:
        raise fail(bench, "draw_layout()", error.message) from error


def _expected(bench: Bench, plan: FitPlan) -> Expected:
    with blame(bench, "layout()"):
        return Expected(plan, 0, plan.schedule)


def _check_fits(bench: Bench, expected: Expected, record: ChainRecord) -> None:
    with blame(bench, "contradiction()"):
        found = expected.why_not(record.state, record.sweep)
    if found:
        raise fail(bench, "layout()", f"at sweep {record.sweep + 1} a state does not fit: {found}.", _DECLARE)


def _sliced(bench: Bench, huge: bool = True) -> FitPlan:
    """A plan whose sweeps come in slices: the sample when they do there, else large data, in the end very large ones."""
    sizes = (lambda: bench.plan, lambda: bench.big, lambda: bench.sized(1600, 1200))
    for make in sizes if huge else sizes[:2]:
        plan = make()
        record = ChainRecord(plan.spec, plan.schedule, plan.seed, 0)
        for event in bench.events(plan, record):
            if isinstance(event, Working):
                return plan
            if record.sweep >= 3:
                break
    raise CheckSkipped("no sweep is cut into slices")
