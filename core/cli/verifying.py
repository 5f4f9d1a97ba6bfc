"""The command ``verify``: repeat the first sweeps of a stored run and tell rounding from a real difference."""

from __future__ import annotations

import argparse

from plaidwork.core.cli.fitting import find_run
from plaidwork.core.cli.printing import tell, warn
from plaidwork.core.errors import SettingError
from plaidwork.core.inference.environment import environment
from plaidwork.core.inference.repeating import machines, outcome, repeat, same_arithmetic
from plaidwork.core.inference.run import Run
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.session import open_session

DONE, DIFFERS = 0, 3


def verify(options: argparse.Namespace) -> int:
    """``plaidwork verify S.plaidwork [--sweeps N]``: 0 when all is equal, elsewhere but for rounding; 3 when not."""
    if options.sweeps < 1:
        raise SettingError(f"--sweeps must be at least 1. Found “{options.sweeps}”.")
    session = open_session(options.session, any_size=options.any_size)
    runs = (
        [find_run(session, options.run)] if options.run or not session.runs else list(session.runs.values())
    )
    code, now = DONE, environment()
    for run in runs:
        found = repeat(run, session.plan_of(run, registry()), options.sweeps)
        same = same_arithmetic(run.environment, now)
        tell(f"{run.title}: {outcome(found, len(run.chains), same)}")
        tell(f"  {machines(run, now)}")
        if found.differs(same):
            _changes(run, now)
            code = DIFFERS
    return code


def _changes(run: Run, now: dict[str, str]) -> None:
    """What is different about this computer, as a reason to consider."""
    for name, value in now.items():
        before = run.environment.get(name)
        if before and before != value:
            warn(f"  {name}: fitted with {before}, now {value}")
