"""The side panel of a search: the selected fits beside each other, and what was picked."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence

import numpy as np
from PySide6.QtWidgets import QHeaderView, QWidget

from plaidwork.core.draws.counting import counted
from plaidwork.core.study import StudyChoice, StudyJob, StudyRecord
from plaidwork.core.study.by_view import BEST
from plaidwork.gui.language import tr
from plaidwork.gui.numbers import (
    decimals_by_error,
    format_count,
    format_duration,
    format_fixed,
    format_number,
)
from plaidwork.gui.setup.fields import ErrorLine
from plaidwork.gui.studies.columns import VERDICT, decimals_of, fit_name, state_text
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import DataTable, Label
from plaidwork.gui.widgets.layouts import vertical

MOST = 6
"""Fits that are compared side by side."""


def comparison(record: StudyRecord, jobs: Sequence[StudyJob]) -> dict[str, np.ndarray]:
    """Rows: what differs between the fits, their numbers, then the settings that they share; a column per fit."""
    varied = [name for name in record.varied if len({record.value_text(job, name) for job in jobs}) > 1]
    alike = [name for name in record.varied if name not in varied]
    rows: list[tuple[str, list[str]]] = [
        (record.titles.get(name, name), [record.value_text(job, name) for job in jobs]) for name in varied
    ]
    rows.append(("Seed", [str(job.seed) for job in jobs]))
    for metric in record.known_metrics():
        numbers = [job.metrics.get(metric.key, float("nan")) for job in jobs]
        if any(number == number for number in numbers):
            every = np.array([job.metrics.get(metric.key, float("nan")) for job in record.jobs])
            rows.append((metric.name, [format_fixed(number, decimals_of(every)) for number in numbers]))
    rows += _behind(jobs)
    if any(job.verdict for job in jobs):
        rows.append((VERDICT, [job.verdict or "–" for job in jobs]))
    rows.append(("Sweeps", [format_count(job.sweeps) for job in jobs]))
    rows.append(("Time", [format_duration(job.seconds) for job in jobs]))
    rows.append(("State", [state_text(record, job).partition(":")[0] for job in jobs]))
    rows += [
        (record.titles.get(name, name), [record.value_text(job, name) for job in jobs]) for name in alike
    ]
    columns = {"": np.array([title for title, _ in rows], dtype=object)}
    for at, job in enumerate(jobs):
        columns[f"Fit {job.number}"] = np.array([values[at] for _, values in rows], dtype=object)
    return columns


def _behind(jobs: Sequence[StudyJob]) -> list[tuple[str, list[str]]]:
    """By how much each fit predicts less than the best of them, with the standard error of the difference."""
    best = max(jobs, key=lambda job: -math.inf if job.score is None else job.score.sum()[0])
    apart = [None if job is best else job.behind(best) for job in jobs]
    if not any(apart):
        return []
    rows = [(f"Log density below fit {best.number}", apart)]
    views = best.score.blocks if best.score is not None else ()
    for block, view in enumerate(views if len(views) > 1 else ()):
        own = [None if job is best else job.behind(best, block) for job in jobs]
        rows.append((f"of {view}", own))
    return [
        (
            title,
            [
                "" if one is None else f"{format_fixed(one[0], 1)} ± {format_fixed(one[1], 1)}"
                for one in found
            ],
        )
        for title, found in rows
    ]


def by_view(record: StudyRecord) -> dict[str, np.ndarray]:
    """How well each setting predicts each view, and by how much it is below the best; empty where that is not known."""
    table = record.by_view() if record.varied else None
    if table is None:
        return {}
    found = table.columns

    def with_error(head: str, error: str) -> np.ndarray:
        pairs = zip(found[head].tolist(), found[error].tolist(), strict=True)
        return np.array([_with_error(value, error) for value, error in pairs], dtype=object)

    below = with_error("Below the best", "SE of the difference")
    below[found["Note"] == BEST] = BEST
    return {
        "View": found["View"],
        **{record.titles.get(name, name): found[name].astype(str).astype(object) for name in record.varied},
        "Log density": with_error("Log density", "SE"),
        "Below the best": below,
    }


def _with_error(value: float, error: float) -> str:
    decimals = decimals_by_error(error)
    return f"{format_fixed(value, decimals)} ± {format_fixed(error, decimals)}"


def choice_text(record: StudyRecord, choice: StudyChoice) -> str:
    """``Fit 12, 20 Nov 2026 14:05, ranked by exclusivity (3.29); exploratory``."""
    try:
        time = f"{dt.datetime.fromisoformat(choice.time).astimezone():%d %b %Y %H:%M}"
    except ValueError:
        time = choice.time
    value = f" ({format_number(choice.value, 5)})" if choice.value is not None else ""
    text = f"Fit {choice.number}, {time}, ranked by {choice.metric}{value}"
    return f"{text}; exploratory, as another fit was picked before" if choice.exploratory else text


class FitDetail(QWidget):
    """Shows the fits that are selected."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Selection"))
        self._title = Label("No fit selected", "title", wrap=True)
        self._label = Label("", "body", "muted", wrap=True)
        self._failure = ErrorLine()
        self.table = DataTable(dense=True, words=True)
        self.table.view.setAccessibleName(tr("Settings and numbers of the selected fits"))
        self.table.view.setSortingEnabled(False)
        self._picked_head = Label("Picked", "strong")
        self._picked = Label("", "caption", "muted", wrap=True)
        self._room = QWidget()
        vertical(
            self._title,
            self._label,
            self._failure,
            (self.table, 1),
            (self._room, 1),
            self._picked_head,
            self._picked,
            on=self,
            spacing=space.S,
            margins=(space.DOCK_EDGE, space.M, space.DOCK_EDGE, space.M),
        )

    def show_fits(self, record: StudyRecord, jobs: Sequence[StudyJob]) -> None:
        """Show these fits of a search."""
        shown = list(jobs)[:MOST]
        columns = comparison(record, shown) if shown else by_view(record)
        if not shown and columns:
            self._title.setText("By view")
            self._label.setText(
                "Log density of what the fits have not seen, in nats, with standard errors. Select fits to compare them."
            )
        elif not shown:
            self._title.setText("No fit selected")
            self._label.setText("Click a line of the table or a point. With Ctrl several are compared.")
        elif len(shown) == 1:
            name, _, text = fit_name(record, shown[0]).partition(": ")
            self._title.setText(name)
            self._label.setText(_short(text))
        else:
            self._title.setText(f"{counted(len(jobs), 'fit')}")
            more = f"; the first {MOST} are shown" if len(jobs) > MOST else ""
            self._label.setText(f"What differs comes first{more}.")
        self._failure.set_text(next((job.message for job in shown if job.status == "failed"), ""))
        self.table.setVisible(bool(columns))
        self._room.setVisible(not columns)
        if columns:
            self.table.set_columns(columns)
            head = self.table.view.horizontalHeader()
            for at in range(len(columns)):
                head.setSectionResizeMode(at, QHeaderView.ResizeMode.Interactive)
                needed = max(self.table.view.sizeHintForColumn(at) + space.L, head.sectionSizeHint(at))
                head.resizeSection(at, min(needed, 150 if at else 180))
            head.setStretchLastSection(len(shown) == 1)
        self._picked_head.setVisible(bool(record.choices))
        self._picked.setVisible(bool(record.choices))
        self._picked.setText("\n".join(choice_text(record, choice) for choice in record.choices))


def _short(text: str, most: int = 240) -> str:
    return text if len(text) <= most else f"{text[:most]}…"
