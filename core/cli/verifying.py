"""The command ``verify``: repeat the first sweeps of a stored run and tell rounding from a real difference."""

from __future__ import annotations

import argparse

from plaidwork.core.cli.fitting import find_run
from plaidwork.core.cli.printing import tell, warn
from plaidwork.core.errors import SettingError
from plaidwork.core.inference.environment import environment
from plaidwork.core.inference.repeating import Repeated, repeat, same_arithmetic
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
        tell(f"  {_machines(run, now)}")
        if found.verdict == "different" or (found.verdict == "rounding" and same):
            _changes(run, now)
            code = DIFFERS
    return code


def outcome(found: Repeated, chains: int, same: bool) -> str:
    """The outcome in a sentence or three; ``same``: it should have been equal to the bit."""
    where = f"in {chains} chain{'' if chains == 1 else 's'}"
    if found.verdict == "equal":
        return f"equal {where} over {found.sweeps} sweeps, to the bit."
    if found.verdict == "different":
        return f"differs. {found.location}"
    text = f"equal within rounding {where} over "
    if found.close >= found.sweeps:
        text += f"{found.sweeps} sweeps (relative differences up to {found.largest:.0e})."
    else:
        text += (
            f"the first {found.close} of {found.sweeps} sweeps (relative differences up to {found.largest:.0e}). From then "
            f"on they part, as chains do that amplify rounding. {found.location}"
        )
    if same:
        text += " Processor and libraries are those of the run, so that it should have been equal to the bit."
    return text


def _machines(run: Run, now: dict[str, str]) -> str:
    """Which processor and BLAS made the run, and which check it."""
    here = _machine(now)
    if "processor" not in run.environment:
        return f"The run does not say which processor made it; checked on {here}."
    made = _machine(run.environment)
    return f"Made and checked on {here}." if made == here else f"Made on {made}; checked on {here}."


def _machine(found: dict[str, str]) -> str:
    processor = found["processor"]
    if "instructions" in found:
        processor += f" with {found['instructions']}"
    return f"{processor}, {found['BLAS']}"


def _changes(run: Run, now: dict[str, str]) -> None:
    """What is different about this computer, as a reason to consider."""
    for name, value in now.items():
        before = run.environment.get(name)
        if before and before != value:
            warn(f"  {name}: fitted with {before}, now {value}")
