"""What came out of the checks of one model."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from plaidwork.core.checks._check import Check, CheckFailed, CheckSkipped
from plaidwork.core.draws.counting import counted

MARKS = {"passed": "ok", "failed": "FAILED", "skipped": "-"}


@dataclass(frozen=True, slots=True)
class Row:
    """One check and its outcome: ``passed``, ``failed`` or ``skipped``, with the reason of the latter two.

    ``same_as`` is the id of the first check that failed by the same fault; its reason is given there.
    """

    id: str
    title: str
    outcome: str
    seconds: float
    message: str = ""
    hint: str = ""
    same_as: str = ""


def row_text(row: Row, width: int = 34) -> str:
    """A line of the report, and below it the reason of a failure."""
    name = f"{row.id:<{width}}"
    line = f"  {MARKS[row.outcome]:<7}{name}  {row.title}"
    if row.outcome == "skipped":
        line += f" (skipped: {row.message})"
    if row.same_as:
        line += f" (see above: {row.same_as})"
    lines = [line if row.seconds < 0.5 else f"{line}  [{row.seconds:.1f} s]"]
    if row.outcome == "failed" and not row.same_as:
        for part in (row.message, row.hint):
            lines += textwrap.wrap(part, 100, initial_indent=" " * 11, subsequent_indent=" " * 11)
    return "\n".join(lines)


@dataclass(slots=True)
class Report:
    """All rows of a model, in order."""

    model: str
    version: str
    level: str
    seed: int
    rows: list[Row] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether no check failed."""
        return not self.failures

    @property
    def failures(self) -> list[Row]:
        return [row for row in self.rows if row.outcome == "failed"]

    @property
    def faults(self) -> list[Row]:
        """The failures but those by a fault that another check met before."""
        return [row for row in self.failures if not row.same_as]

    def count(self, outcome: str) -> int:
        return sum(row.outcome == outcome for row in self.rows)

    @property
    def summary(self) -> str:
        """One line: ``infinite_plaid 1.0.0: 60 passed, 1 failed, 4 skipped in 12.3 s``."""
        parts = {outcome: f"{self.count(outcome)} {outcome}" for outcome in MARKS}
        if 0 < (faults := len(self.faults)) < len(self.failures):
            parts["failed"] += f" by {counted(faults, 'fault')}"
        counts = ", ".join(parts.values())
        return f"{self.model} {self.version}: {counts} in {sum(row.seconds for row in self.rows):.1f} s"

    def text(self) -> str:
        """The report to read: a line per check, reasons below the failures, the summary last."""
        lines = [row_text(row) for row in self.rows]
        return "\n".join([*lines, self.summary])

    def json(self) -> dict[str, Any]:
        """The same as a JSON-ready dict."""
        return {
            "model": self.model,
            "version": self.version,
            "level": self.level,
            "seed": self.seed,
            "ok": self.ok,
            "checks": [
                {
                    "id": row.id,
                    "title": row.title,
                    "outcome": row.outcome,
                    "seconds": round(row.seconds, 3),
                    "message": row.message,
                    "hint": row.hint,
                    "same_as": row.same_as,
                }
                for row in self.rows
            ],
        }


def run_checks(
    report: Report, checks: Iterable[Check], progress: Callable[[Row], None] | None = None
) -> Report:
    """Call every check and note the outcome; only an interrupt ends it early."""
    met: dict[str, str] = {}  # id of the first check by the cause of its failure
    for item in checks:
        started = time.perf_counter()
        outcome, message, hint, same_as = "passed", "", "", ""
        try:
            item()
        except CheckFailed as error:
            outcome, message, hint = "failed", error.message, error.hint
            first = met.setdefault(error.cause, item.id)
            same_as = first if first != item.id else ""
        except CheckSkipped as reason:
            outcome, message = "skipped", str(reason)
        except Exception as error:  # a fault of the check itself must not hide the other rows
            outcome, message = (
                "failed",
                f"{report.model}: the check broke with {type(error).__name__}: {error}",
            )
            hint = "Please report this as an error of Plaidwork."
        row = Row(item.id, item.title, outcome, time.perf_counter() - started, message, hint, same_as)
        report.rows.append(row)
        if progress is not None:
            progress(row)
    return report
