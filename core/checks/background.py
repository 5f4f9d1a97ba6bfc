"""The conformance suite in a process of its own, so that neither the window nor its threads disturb the checks."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Sequence
from multiprocessing.connection import Connection
from typing import Any

from plaidwork.core.checks._report import Report, Row
from plaidwork.core.errors import ModelError, PlaidworkError

POLL_SECONDS = 0.1

Listener = Callable[[int, int, str], None]
"""(checks done, checks in all, title of the last one); called often and may raise, which ends the process."""


def check_in_process(
    models: Sequence[str],
    level: str = "quick",
    listener: Listener = lambda done, total, title: None,
    *,
    only: Iterable[str] | None = None,
) -> list[Report]:
    """A report for each model id. Raises ``ModelError`` when the process ends before it is done."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    words = list(only) if only is not None else None
    process = context.Process(target=_work, args=(theirs, list(models), level, words), daemon=True)
    process.start()
    theirs.close()
    reports: list[Report] = []
    done, total, title = 0, 0, ""
    try:
        while True:
            listener(done, total, title)
            if not ours.poll(POLL_SECONDS):
                continue
            try:
                kind, value = ours.recv()
            except EOFError:
                raise ModelError(
                    f"The checks of {models[len(reports)] if len(reports) < len(models) else models[-1]} ended "
                    f"without a result, at “{title or 'the start'}” or the check after it.",
                    "A model that ends its process breaks every fit in threads.",
                ) from None
            if kind == "total":
                total = value
            elif kind == "row":
                done, title = done + 1, value.title
            elif kind == "report":
                reports.append(value)
            elif kind == "failed":
                raise ModelError(*value)
            else:
                return reports
    finally:
        ours.close()
        if process.is_alive():
            process.join(0.5 if len(reports) == len(models) else 0)
            process.kill()
        process.join()


def _work(out: Connection, models: list[str], level: str, only: list[str] | None) -> None:
    from plaidwork.core.checks import CheckFailed, check_model, checks_for

    def row(found: Row) -> None:
        out.send(("row", found))

    try:
        out.send(("total", sum(len(checks_for(model, only=only, level=level)) for model in models)))
        for model in models:
            out.send(("report", check_model(model, only=only, level=level, progress=row)))
        out.send(("end", None))
    except (PlaidworkError, CheckFailed) as error:
        out.send(("failed", (error.message, error.hint)))
    except Exception as error:
        out.send(("failed", (f"The checks broke with {type(error).__name__}: {error}", "")))


def kept_result(reports: Sequence[Report]) -> dict[str, Any]:
    """What is worth keeping of the reports of one plugin, JSON-ready."""
    rows = [(report.model, row) for report in reports for row in report.rows]
    return {
        "ok": all(report.ok for report in reports),
        "level": reports[0].level if reports else "",
        "models": [report.model for report in reports],
        **{word: sum(row.outcome == word for _, row in rows) for word in ("passed", "failed", "skipped")},
        "failures": [
            {
                "model": model,
                "id": row.id,
                "title": row.title,
                "message": row.message,
                "hint": row.hint,
                "same_as": row.same_as,
            }
            for model, row in rows
            if row.outcome == "failed"
        ],
    }
