"""Beside the traces: progress of each chain, how often moves are accepted, the settings of the run."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QFrame,
    QProgressBar,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.draws.chain import ChainRecord
from plaidwork.core.findings.settings import shown_value
from plaidwork.core.inference.run import Run
from plaidwork.gui.language import tr
from plaidwork.gui.monitor.goal_card import GoalCard
from plaidwork.gui.numbers import format_count, format_duration, format_percent
from plaidwork.gui.theme import size, space, theme
from plaidwork.gui.widgets import Card, Label
from plaidwork.gui.widgets.button import clear_layout
from plaidwork.gui.widgets.layouts import STRETCH, add, grid_layout, horizontal, vertical
from plaidwork.gui.workbench import Workbench

_RATE_WINDOW = 200


class _Swatch(QWidget):
    """The line colour of a chain."""

    def __init__(self, chain: int) -> None:
        super().__init__()
        self._chain = chain
        self.setFixedSize(QSize(16, 12))
        theme().changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(QRect(0, 5, 14, 3), theme().category(self._chain))


class ChainPanel(QScrollArea):
    """Scrolls when the room is small."""

    def __init__(self, workbench: Workbench, run: Run, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workbench, self._run = workbench, run
        self.setWindowTitle(tr("Run"))
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._chains: list[tuple[Label, QProgressBar]] = []
        self._rates: dict[str, tuple[Label, Label]] = {}
        self.where = Label("", "caption", "muted", elide=True)
        inner = QWidget()
        self._rows = vertical(spacing=space.S)
        self._add_rows()
        column = vertical(
            Label("Chains" if run.spec.algorithm == "mcmc" else "Restarts", "strong"),
            self.where,
            self._rows,
            on=inner,
            spacing=space.S,
            margins=(space.DOCK_EDGE, space.S, space.DOCK_EDGE, space.L),
        )
        moves = [trace for trace in run.spec.shown_traces(run.params) if trace.kind == "acceptance"]
        self._moves = QWidget()
        if moves:
            vertical(
                Label("Moves", "strong"),
                self._moves_card([(trace.name, trace.title, trace.hint) for trace in moves]),
                on=self._moves,
                spacing=space.S,
                margins=(0, space.M, 0, 0),
            )
            column.addWidget(self._moves)
        self.goal = GoalCard()
        self._far = QWidget()
        vertical(
            Label("How far each quantity is", "strong"),
            self.goal,
            on=self._far,
            spacing=space.S,
            margins=(0, space.M, 0, 0),
        )
        self._far.hide()
        self._settings_rows = vertical(spacing=space.XS)
        self._settings_of: tuple[Schedule, bool] | None = None
        self._fill_settings()
        add(
            column,
            self._far,
            space.M,
            Label("Settings of this run", "strong"),
            self._settings_rows,
            STRETCH,
        )
        self.setWidget(inner)
        self._tell_where()
        for widget in (inner, self.viewport()):
            widget.setBackgroundRole(self.backgroundRole().Window)
            widget.setAutoFillBackground(True)

    def _add_rows(self) -> None:
        """A row for each chain that has none yet: there may be more restarts while a fit goes on."""
        for record in self._run.chains[len(self._chains) :]:
            self._rows.addLayout(self._chain_row(record.chain))

    def _chain_row(self, chain: int) -> QVBoxLayout:
        count = Label("", "caption", "muted")
        count.setAlignment(Qt.AlignmentFlag.AlignRight)
        top = horizontal(
            _Swatch(chain),
            (Label(f"{self._run.chain_word.capitalize()} {chain + 1}"), 1),
            count,
            spacing=space.S,
        )
        bar = QProgressBar()
        bar.setTextVisible(False)
        bar.setRange(0, 1000)
        bar.setFixedHeight(size.PROGRESS // 2)
        bar.setAccessibleName(tr(f"Progress of chain {chain + 1}"))
        row = vertical(top, bar, spacing=space.XS)
        self._chains.append((count, bar))
        return row

    def _tell_where(self) -> None:
        """On which cluster the chains run; nothing for this computer."""
        cluster = self._workbench.places.where(self._run)
        verb = "Running" if self._run.active else "Ran"
        self.where.setText(f"{verb} on the cluster {cluster}" if cluster else "")
        self.where.setVisible(bool(cluster))

    def _moves_card(self, moves: list[tuple[str, str, str]]) -> Card:
        card = Card()
        grid = grid_layout(on=card, spacing=(None, space.XS), margins=(space.M, space.S, space.M, space.S))
        grid.addWidget(Label("Move", "caption", "muted"), 0, 0)
        head = Label("Accepted", "caption", "muted")
        grid.addWidget(head, 0, 1, Qt.AlignmentFlag.AlignRight)
        for row, (name, title, hint) in enumerate(moves, start=1):
            label = Label(title[:1].upper() + title[1:], elide=True)
            label.setToolTip(tr(hint or title))
            rate = Label("–")
            self._rates[name] = (label, rate)
            grid.addWidget(label, row, 0)
            grid.addWidget(rate, row, 1, Qt.AlignmentFlag.AlignRight)
        grid.setColumnStretch(0, 1)
        return card

    def _fill_settings(self) -> None:
        """The settings; those of the schedule change while chains go on until they settle."""
        run, column = self._run, self._settings_rows
        now = run.schedule, run.active
        if self._settings_of == now:
            return
        self._settings_of = now
        clear_layout(column)
        rows = [
            (p.title, shown_value(p, run.params[p.name]), p.unit)
            for p in run.spec.hyperparameters
            if p.active(run.params) and (not p.advanced or run.params[p.name] != p.default)
        ]
        if run.spec.algorithm == "mcmc":
            rows += sampling_rows(run)
        if run.holdout:
            rows.append(("Cells held out", format_percent(run.holdout), ""))
        rows.append(("Seed", str(run.seed), ""))
        for (
            title,
            value,
            unit,
        ) in rows:  # each row has a layout of its own: a long value cuts no title but its own
            right = Label(f"{value} {unit}".strip(), "caption")
            column.addLayout(
                horizontal((Label(title, "caption", "muted", elide=True), 1), right, spacing=space.S)
            )

    def tick(self, snapshots: list[dict[str, np.ndarray]]) -> None:
        """Show the progress as it is now."""
        self._fill_settings()
        self._add_rows()
        self._tell_where()
        if self._run.spec.algorithm == "mcmc":
            self.goal.show_diagnosis(self._workbench.diagnosis(self._run))
            self._far.setVisible(not self.goal.isHidden())
        for record, (count, bar) in zip(self._run.chains, self._chains, strict=True):
            expected, of = self._expected(record)
            planned = format_count(expected)
            whole = count.fontMetrics().horizontalAdvance(f"{planned} {of} {planned}")
            count.setMinimumWidth(whole)  # as wide as it will get, so that it is never cut while it counts
            count.setText(f"{format_count(record.sweep)} {of} {planned}")
            over = record.done and of == "of"
            bar.setValue(1000 if over else round(1000 * record.sweep / max(1, expected)))
        used = False
        for name, (label, rate) in self._rates.items():
            recent = np.concatenate([snapshot[name][-_RATE_WINDOW:] for snapshot in snapshots])
            known = recent[np.isfinite(recent)]
            rate.setText(_rate(float(known.mean())) if len(known) else "–")
            for widget in (label, rate):  # a move that is switched off has no number
                widget.setVisible(len(known) > 0 or len(recent) == 0)
            used = used or len(known) > 0
        self._moves.setVisible(used)

    def _expected(self, record: ChainRecord) -> tuple[int, str]:
        """Sweeps of a chain at its end, and whether that is so or about so, as the draws of a run with a goal follow from it."""
        run = self._run
        if not run.active or run.goal is None:
            return record.planned, "of"
        return max(record.planned, run.sweeps_planned // len(run.chains)), "of about"


def sampling_rows(run: Run) -> list[tuple[str, str, str]]:
    """How long the chains of a sampler were or are: title, value, unit."""
    schedule = run.schedule
    rows = [("Warm-up", format_count(schedule.warmup), "sweeps")]
    if schedule.burn_in:
        rows.append(("Left out besides", format_count(schedule.burn_in), "sweeps"))
    # on the way to them the schedule is one to the next look
    draws = run.goal.draws if run.active and run.goal is not None else schedule.draws
    rows.append(("Kept draws", format_count(draws), "per chain"))
    if schedule.thin > 1:
        rows.append(("Every", str(schedule.thin), "sweeps"))
    if run.goal is not None:
        budget = format_duration(run.goal.budget, rough=True)
        rows.append(("Length", f"until settled, about {budget} at most", ""))
    return rows


def _rate(share: float) -> str:
    if 0 < share < 0.01:
        return "< 1 %"
    return format_percent(share)
