"""What a run was fitted with: settings, schedule, data, versions; read-only, ready to copy."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import (
    QHBoxLayout,
    QVBoxLayout,
    QWidget,
)

from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.draws.counting import counted
from plaidwork.core.findings.settings import shown_value
from plaidwork.core.inference.run import Run
from plaidwork.gui.language import tr
from plaidwork.gui.monitor.chain_panel import sampling_rows
from plaidwork.gui.notes import NotesField
from plaidwork.gui.numbers import format_count, format_duration, format_number, format_percent
from plaidwork.gui.page import Page
from plaidwork.gui.theme import space
from plaidwork.gui.verify_dialog import open_verify
from plaidwork.gui.widgets import Chip, Label, button, scrolled
from plaidwork.gui.widgets.layouts import STRETCH, horizontal, vertical
from plaidwork.gui.workbench import Workbench

Row = tuple[str, str, bool]
_LABEL_WIDTH = 200
"""Pixels up to which a name is never cut."""


class SettingsPage(Page):
    """Groups of name and value; settings that differ from their default carry a chip."""

    def __init__(self, workbench: Workbench, run: Run, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workbench, self._run = workbench, run
        self.verify_button = button("Verify…", self._verify)
        self.verify_button.setToolTip(
            tr("Run the beginning again from the seed, and say whether it is equal to the bit")
        )
        inner = QWidget()
        edge = space.VIEW_EDGE
        line = f"{run.spec.title} {run.spec.version}. A run keeps the settings it was started with."
        head = vertical(Label(run.title, "title"), Label(line, color="muted", wrap=True), spacing=space.XS)
        made = self._column([self._schedule(), self._data(), self._versions()])
        made.insertWidget(made.count() - 1, self.verify_button, 0, Qt.AlignmentFlag.AlignRight)
        columns = horizontal(
            (made, 1),
            (self._column(self._parameters()), 1),
            spacing=space.HUGE,
        )
        self.notes = NotesField("Notes on this run", "What you found, and what to try next")
        self.notes.edited.connect(lambda text: workbench.editing.note_run(run, text))
        workbench.run_changed.connect(self._run_changed)
        self._run_changed(run.id)
        vertical(
            head,
            columns,
            Label("Notes", "strong"),
            (self.notes, 1),
            on=inner,
            spacing=space.XL,
            margins=edge,
        )
        area = scrolled(inner, sideways=True, background=QPalette.ColorRole.Base)
        for widget in (inner, area.viewport()):
            widget.setAutoFillBackground(True)
        vertical(area, on=self)

    def _run_changed(self, run_id: str) -> None:
        if run_id != self._run.id:
            return
        self.verify_button.setEnabled(self._workbench.can_verify(self._run))
        self.notes.set_text(self._run.notes)  # what is written may have been taken back, or brought again

    def _verify(self) -> None:
        open_verify(self._workbench, self._run, self.window())

    def _schedule(self) -> tuple[str, list[Row]]:
        run = self._run
        rows: list[Row] = [
            ("Chains" if run.spec.algorithm == "mcmc" else "Restarts", str(run.schedule.chains), False)
        ]
        if run.spec.algorithm == "mcmc":
            rows += [(title, f"{value} {unit}".strip(), False) for title, value, unit in sampling_rows(run)]
        else:
            rows += [
                ("Sweeps at most", format_count(run.schedule.max_sweeps), False),
                ("Tolerance", _tolerance(run.schedule), False),
            ]
        rows += [
            ("Seed", str(run.seed), False),
            ("Cells held out", format_percent(run.holdout), False),
            ("CPU time", format_duration(run.cpu_seconds), False),
        ]
        return "Sampling" if run.spec.algorithm == "mcmc" else "Optimisation", rows

    def _data(self) -> tuple[str, list[Row]]:
        run = self._run
        rows: list[Row] = [
            (run.spec.input(name).title, ", ".join(names), False) for name, names in run.inputs.items()
        ]
        rows.append(("Fingerprint (SHA-256)", run.data_hash[:16] + "…", False))
        return "Data", rows

    def _versions(self) -> tuple[str, list[Row]]:
        rows: list[Row] = [("Started", self._run.created.replace("T", " ").replace("+00:00", " UTC"), False)]
        rows += [(name, value, False) for name, value in self._run.environment.items()]
        return "Made with", rows

    def _parameters(self) -> list[tuple[str, list[Row]]]:
        groups: dict[str, list[Row]] = {}
        for p in self._run.spec.hyperparameters:
            if p.active(self._run.params):
                value = self._run.params[p.name]
                row = (p.title, f"{shown_value(p, value)} {p.unit}".strip(), value != p.default)
                groups.setdefault(p.group or "Model", []).append(row)
        return list(groups.items())

    @staticmethod
    def _column(groups: Sequence[tuple[str, list[Row]]]) -> QVBoxLayout:
        column = vertical(spacing=space.L)
        for heading, rows in groups:
            lines = [_line(*row) for row in rows]
            column.addLayout(vertical(Label(heading, "strong"), *lines, spacing=space.XS))
        column.addStretch(1)
        return column


def _line(name: str, value: str, changed: bool) -> QHBoxLayout:
    """Each setting shares its line between name and value by what they need."""
    title = Label(name, color="muted", elide=True)
    title.setMinimumWidth(min(title.sizeHint().width(), _LABEL_WIDTH))
    shown = Label(value, elide=True)
    shown.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    shown.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    chips = [Chip("changed", "accent")] if changed else []
    return horizontal(title, *chips, STRETCH, shown, spacing=space.M)


def _tolerance(schedule: Schedule) -> str:
    """The tolerance and what it is about."""
    value = format_number(schedule.tolerance)
    return f"{value} in {counted(schedule.window, 'sweep')}" if schedule.window else f"{value}, relative"
