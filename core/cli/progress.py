"""How a fit is shown while it runs: one line that is rewritten on a terminal, or JSON lines."""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from dataclasses import fields
from typing import Any

from plaidwork.core.cli.printing import rewrite, tell_json
from plaidwork.core.draws.counting import counted
from plaidwork.core.draws.diagnostics import ESS_MARKS, RHAT_MARKS
from plaidwork.core.inference.events import Checkpointed, Event, Failed, Finished, Preparing, Started, Swept
from plaidwork.core.inference.run import Pace, Run

EVERY = 0.1
"""Seconds between two lines."""


class Display:
    """Called from the chains' threads; hands on at most ten times a second."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shown = 0.0
        self._preparing: set[int] = set()
        self.pace = Pace()

    def __call__(self, run: Run, event: Event) -> None:
        with self._lock:
            match event:
                case Preparing():
                    self._preparing.add(event.chain)
                case Started():
                    self._preparing.discard(event.chain)
            moment = time.monotonic()
            due = moment - self._shown >= EVERY
            if due or not isinstance(event, Swept):
                if isinstance(event, Swept) or due:
                    self._shown = moment
                    self.pace.add(run.sweeps_done)
                self.show(run, event, due)

    def show(self, run: Run, event: Event, due: bool) -> None:
        """Nothing, when neither a terminal nor JSON is wanted."""

    def end(self, run: Run) -> None:
        """After the last event."""


class TerminalBar(Display):
    """Chains, sweeps, share, sweeps per second and time left, in fixed columns on stderr."""

    width = 24

    def show(self, run: Run, event: Event, due: bool) -> None:
        if due or isinstance(event, (Preparing, Started, Finished)):
            self._write(self.line(run))

    def line(self, run: Run) -> str:
        if self._preparing and not run.sweeps_done:
            return f"{run.title}  preparing (the first time on this computer takes longer)"
        done, planned = run.sweeps_done, max(run.sweeps_planned, 1)
        share = min(done / planned, 1.0)
        digits = len(str(planned))
        pace, left = self.pace.per_second(), self.pace.seconds_left(done, planned)
        tail = f"{100 * share:3.0f} %  {done:{digits}d}/{counted(planned, 'sweep')}  {pace:7.1f}/s  {duration(left):>9} left"
        if run.goal is not None:
            tail += how_far(run)
        width = min(self.width, _columns() - len(run.title) - len(tail) - 5)
        if width < 4:
            return tail
        full = round(share * width)
        return f"{run.title}  {'━' * full}{'─' * (width - full)}  {tail}"

    def end(self, run: Run) -> None:
        self._write(self.line(run))
        sys.stderr.write("\n")

    def _write(self, text: str) -> None:
        rewrite(text[: _columns() - 1])  # a line that wraps could not be rewritten


class JsonLines(Display):
    """One JSON object per line on stdout: every event but sweeps, which come as ``progress`` at most 10 a second."""

    def show(self, run: Run, event: Event, due: bool) -> None:
        if isinstance(event, Swept):
            emit("progress", **self._numbers(run))
        elif isinstance(event, (Preparing, Started, Checkpointed, Finished, Failed)):
            values = {item.name: getattr(event, item.name) for item in fields(event)}
            emit(type(event).__name__.lower(), **values)

    def _numbers(self, run: Run) -> dict[str, Any]:
        done, planned = run.sweeps_done, run.sweeps_planned
        left = self.pace.seconds_left(done, planned)
        return {
            "sweeps": done,
            "planned": planned,
            "draws": run.n_draws,
            "sweeps_per_second": round(self.pace.per_second(), 2),
            "seconds_left": None if left is None else round(left, 1),
            **({} if run.goal is None else _worst(run)),
        }

    def end(self, run: Run) -> None:
        emit("progress", **self._numbers(run))


def _worst(run: Run) -> dict[str, float | None]:
    """Largest R-hat and fewest effective draws of all quantities at the last look; none before it."""
    found = run.last_diagnosis
    judged = () if found is None else found.judged
    values = {
        "rhat": max((q.rhat for q in judged), default=math.nan),
        "ess": min((min(q.ess_bulk, q.ess_tail) for q in judged), default=math.nan),
    }
    return {name: round(value, 4) if math.isfinite(value) else None for name, value in values.items()}


def how_far(run: Run) -> str:
    """What is still wanting for a run to have settled, at its last look."""
    worst = _worst(run)
    if worst["ess"] is None:
        return "  until settled"
    rhat = "" if worst["rhat"] is None else f"R-hat {worst['rhat']:.3f} to {RHAT_MARKS[0]:g}, "
    return f"  {rhat}ESS {worst['ess']:.0f} to {ESS_MARKS[0]:.0f}"


def emit(event: str, **values: Any) -> None:
    """Write one JSON line to stdout."""
    tell_json({"event": event, **values}, flush=True)


def display(as_json: bool) -> Display:
    """JSON lines when asked for, a bar on a terminal, else nothing."""
    if as_json:
        return JsonLines()
    return TerminalBar() if sys.stderr.isatty() else Display()


def _columns() -> int:
    """Width of the terminal behind stderr."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):
        return 100


def duration(seconds: float | None) -> str:
    """A time in words; a dash when it is not known."""
    if seconds is None:
        return "–"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, seconds = divmod(whole, 60)
    return f"{minutes} min {seconds:02d}" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d}"
