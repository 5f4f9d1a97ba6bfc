"""The command ``verify``: repeat the first sweeps of a stored run and compare bit for bit."""

from __future__ import annotations

import argparse
import sys

import numpy as np

from plaidwork.core.chain import ChainRecord
from plaidwork.core.cli.fitting import find_run
from plaidwork.core.engine import run_chain
from plaidwork.core.errors import SettingError
from plaidwork.core.events import Swept
from plaidwork.core.fitting import environment
from plaidwork.core.plan import FitPlan
from plaidwork.core.plugins.info import blamed
from plaidwork.core.registry import registry
from plaidwork.core.run import Run
from plaidwork.core.session import open_session

DONE, DIFFERS = 0, 3


def verify(options: argparse.Namespace) -> int:
    """``plaidwork verify S.plaidwork [--sweeps N]``: 0 when all is equal, 3 when something differs."""
    if options.sweeps < 1:
        raise SettingError(f"--sweeps must be at least 1. Found “{options.sweeps}”.")
    session = open_session(options.session)
    runs = (
        [find_run(session, options.run)] if options.run or not session.runs else list(session.runs.values())
    )
    code = DONE
    for run in runs:
        plan = session.plan_of(run, registry())
        found = difference(run, plan, options.sweeps)
        swept = max(min(options.sweeps, record.trace.count) for record in run.chains)
        if found:
            print(f"{run.title}: differs. {found}")
            _changes(run)
            code = DIFFERS
        else:
            print(f"{run.title}: equal in {len(run.chains)} chains over {swept} sweeps.")
    return code


def difference(run: Run, plan: FitPlan, sweeps: int) -> str:
    """Where the repetition leaves the stored run: the first place, in words; empty when it does not."""
    for stored in run.chains:
        again = ChainRecord(plan.spec, run.schedule, run.seed, stored.chain)
        wanted = min(sweeps, stored.trace.count)
        if wanted:
            with blamed(plan.model, ""):
                for event in run_chain(plan, again):
                    if isinstance(event, Swept) and event.sweep >= wanted:
                        break
        found = _first_difference(stored, again, wanted)
        if found:
            return f"Chain {stored.chain + 1}, {found}"
    return ""


def _first_difference(stored: ChainRecord, again: ChainRecord, sweeps: int) -> str:
    old, new = stored.trace.rows()[:sweeps], again.trace.rows()[:sweeps]
    unequal = ~((old == new) | (np.isnan(old) & np.isnan(new)))
    if unequal.any():
        sweep, column = (int(i) for i in np.argwhere(unequal)[0])
        values = f"stored {old[sweep, column]!r}, now {new[sweep, column]!r}"
        return f"sweep {sweep + 1}: trace {stored.trace.names[column]} {values}."
    for draw in range(min(stored.draws.count, again.draws.count)):
        for variable in stored.spec.variables:
            before, now = stored.draws.get(variable.name, draw), again.draws.get(variable.name, draw)
            if before.shape != now.shape:
                return f"draw {draw + 1}: {variable.name} has shape {now.shape}, stored {before.shape}."
            if not np.array_equal(before, now, equal_nan=variable.dtype == "float"):
                return f"draw {draw + 1}: {variable.name}."
    return ""


def _changes(run: Run) -> None:
    """What is different about this computer, as a reason to consider."""
    for name, value in environment().items():
        before = run.environment.get(name)
        if before and before != value:
            print(f"  {name}: fitted with {before}, now {value}", file=sys.stderr)
