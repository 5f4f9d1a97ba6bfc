"""The first sweeps of a stored run again: equal to the bit, equal but for rounding, or really different.

Sums are rounded in another order by another kind of processor or another BLAS, and a chain amplifies the last bits until it
goes another way, as any chaotic system does. So runs are promised to be equal to the bit where the arithmetic is the same,
and elsewhere to agree in their first sweeps within ``TOLERANCE``.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial

import numpy as np

from plaidwork.core.contract.plugin_info import blamed
from plaidwork.core.draws.chain import ChainRecord
from plaidwork.core.draws.counting import counted
from plaidwork.core.inference.engine import run_chain
from plaidwork.core.inference.plan import FitPlan
from plaidwork.core.inference.run import Run

FIRST_SWEEPS = 2
"""Sweeps in which runs of two kinds of processor agree within rounding, or all there are; most go on to agree for longer."""
TOLERANCE = 1e-6
"""Relative difference up to which rounding may explain a difference: a sweep multiplies its 1e-16 by the condition of what
it solves, and a change of the model, the data or the random numbers shows in the first digits."""

ARITHMETIC = (
    "processor", "instructions", "BLAS", "python", "system", "machine", "numpy", "scipy", "numba", "plaidwork",
)  # fmt: skip
"""Entries of a run's environment that decide the last bits; where they are equal, so are the draws. Runs without the
instructions are older than kernels that are compiled alike in every order."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """How far a repetition agrees with what is stored, over all chains.

    Attributes
    ----------
    sweeps : how many were compared in the chain with the most.
    exact, close : first sweeps of every chain that are equal to the bit, and within ``TOLERANCE``.
    largest : largest relative difference within the close sweeps.
    location : where the first difference is, or the first beyond the tolerance; empty without any.
    """

    sweeps: int
    exact: int
    close: int
    largest: float
    location: str

    @property
    def verdict(self) -> str:
        """``equal`` to the bit, equal but for ``rounding``, or ``different``."""
        if self.exact >= self.sweeps:
            return "equal"
        return "rounding" if self.close >= min(FIRST_SWEEPS, self.sweeps) else "different"

    def differs(self, same: bool) -> bool:
        """Whether it is not what was promised; ``same``: the arithmetic is that of the run, so that rounding counts too."""
        return self.verdict == "different" or (self.verdict == "rounding" and same)


def repeat(
    run: Run, plan: FitPlan, sweeps: int, progress: Callable[[int, int], object] = lambda done, total: None
) -> Repeated:
    """Run the first sweeps of every chain again and compare. Raises what the model raises, as ``PluginError`` if a bug.

    ``progress`` gets the sweeps done and all there are, within long sweeps too; what it raises ends the repetition.
    """
    wanted = [min(sweeps, stored.trace.count) for stored in run.chains]
    found: list[Repeated] = []
    for number, stored in enumerate(run.chains):
        tell = partial(_tell, progress, sum(wanted[:number]), sum(wanted))
        found.append(_chain(stored, _again(run, plan, stored, wanted[number], tell), sweeps))
    most = max(one.sweeps for one in found)
    exact, close = (
        min((getattr(one, name) for one in found if getattr(one, name) < one.sweeps), default=most)
        for name in ("exact", "close")
    )
    parts = sorted(found, key=lambda one: (one.close >= one.sweeps, one.exact >= one.sweeps))
    return Repeated(most, exact, close, max(one.largest for one in found), parts[0].location)


def _tell(progress: Callable[[int, int], object], before: int, total: int, done: int) -> None:
    progress(before + done, total)


def same_arithmetic(before: dict[str, str], now: dict[str, str]) -> bool:
    """Whether draws made there and here must be equal to the bit; unknown counts as no."""
    return all(name in before and before[name] == now.get(name) for name in ARITHMETIC)


def _again(
    run: Run, plan: FitPlan, stored: ChainRecord, wanted: int, progress: Callable[[int], object]
) -> ChainRecord:
    # the traces and variables that were stored: the model may have got more of them since
    again = ChainRecord(run.spec, run.schedule, run.seed, stored.chain)
    if wanted:
        with closing(run_chain(plan, again)) as events:
            while again.sweep < wanted:
                with blamed(plan.model, ""):
                    event = next(events, None)
                if event is None:
                    break
                progress(again.sweep)
    return again


def outcome(found: Repeated, chains: int, same: bool) -> str:
    """The outcome in a sentence or three; ``same``: it should have been equal to the bit."""
    where = f"in {counted(chains, 'chain')}"
    if found.verdict == "equal":
        return f"equal {where} over {counted(found.sweeps, 'sweep')}, to the bit."
    if found.verdict == "different" or (same and found.close < found.sweeps):
        return f"differs from sweep {found.exact + 1} on. {found.location}"
    text = f"equal within rounding {where} over "
    if found.close >= found.sweeps:
        text += f"{counted(found.sweeps, 'sweep')} (relative differences up to {found.largest:.0e})."
    else:
        text += (
            f"the first {found.close} of {counted(found.sweeps, 'sweep')} (relative differences up to {found.largest:.0e}). From then "
            f"on they part, as chains do that amplify rounding. {found.location}"
        )
    if same:
        text += " Processor and libraries are those of the run, so that it should have been equal to the bit."
    return text


def machines(run: Run, now: dict[str, str]) -> str:
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


def _chain(stored: ChainRecord, again: ChainRecord, sweeps: int) -> Repeated:
    """One chain: sweep by sweep its traces, and its draws at the sweeps that they were kept in."""
    old, new = stored.trace.rows()[:sweeps], again.trace.rows()[:sweeps]
    far = _apart(old, new, np.median(np.abs(np.nan_to_num(old)), axis=0) if len(old) else 0.0)
    places = [
        (far.max(axis=1, initial=0.0)[i], i, _trace_location(stored, old, new, far, i))
        for i in range(len(old))
    ]
    places += _draws(stored, again, len(old))
    places.sort(key=lambda item: item[1])
    off = next((item for item in places if item[0] > 0), None)
    parted = next((item for item in places if not item[0] <= TOLERANCE), None)
    close = parted[1] if parted else len(old)
    within = [apart for apart, sweep, _ in places if sweep < close]
    difference = parted or off
    location = f"Chain {stored.chain + 1}, {difference[2]}" if difference else ""
    return Repeated(len(old), off[1] if off else len(old), close, max(within, default=0.0), location)


def _apart(old: np.ndarray, new: np.ndarray, scale: np.ndarray | float = 0.0) -> np.ndarray:
    """Relative differences; 0 where equal (NaN equals NaN), infinite where one is not finite."""
    with np.errstate(all="ignore"):
        apart = np.abs(old - new) / np.maximum(np.maximum(np.abs(old), np.abs(new)), scale)
    apart = np.where((old == new) | (np.isnan(old) & np.isnan(new)), 0.0, apart)
    return np.where(np.isnan(apart), np.inf, apart)


def _trace_location(stored: ChainRecord, old: np.ndarray, new: np.ndarray, far: np.ndarray, i: int) -> str:
    if not far.shape[1]:
        return ""
    column = int(far[i].argmax())
    values = f"stored {float(old[i, column])!r}, now {float(new[i, column])!r}"
    return f"sweep {i + 1}: trace {stored.trace.names[column]} {values}."


def _draws(stored: ChainRecord, again: ChainRecord, sweeps: int) -> list[tuple[float, int, str]]:
    """Difference, sweep (from 0) and words of every kept draw and variable within the sweeps."""
    at = [sweep for sweep in range(sweeps) if stored.keeps(sweep + 1)]
    found = []
    for draw in range(min(stored.draws.count, again.draws.count)):
        sweep = at[draw] if draw < len(at) else max(sweeps - 1, 0)
        for variable in stored.spec.variables:
            before, now = stored.draws.get(variable.name, draw), again.draws.get(variable.name, draw)
            if before.shape != now.shape:
                text = f"draw {draw + 1}: {variable.name} has shape {now.shape}, stored {before.shape}."
                found.append((np.inf, sweep, text))
                continue
            if (
                variable.dtype == "float"
            ):  # beside the largest number of the array: small ones are sums of large ones
                scale = np.nanmax(np.abs(before), initial=0.0, where=np.isfinite(before))
                apart = float(_apart(before, now, scale).max(initial=0.0))
            else:
                apart = 0.0 if np.array_equal(before, now) else np.inf
            found.append((apart, sweep, f"draw {draw + 1}: {variable.name}."))
    return found
