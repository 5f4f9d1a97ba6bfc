"""How far each quantity of a sampler is from being settled: R-hat and effective draws beside what is wanted."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt

from plaidwork.core.draws.diagnostics import ESS_MARKS, RHAT_MARKS, Diagnosis, mark_ess, mark_rhat
from plaidwork.gui.numbers import format_count, format_fixed
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Card, Label
from plaidwork.gui.widgets.layouts import grid_layout

_MOST = 12
"""Quantities shown, worst first; the diagnostics have them all."""


class GoalCard(Card):
    """One row per quantity that is judged, worst first; hidden until there is a diagnosis."""

    def __init__(self) -> None:
        super().__init__()
        self._grid = grid_layout(
            on=self, spacing=(space.M, space.XS), margins=(space.M, space.S, space.M, space.S)
        )
        self._grid.setColumnStretch(0, 1)
        heads = ("Quantity", f"R-hat to {RHAT_MARKS[0]:g}", f"ESS to {ESS_MARKS[0]:.0f}")
        for column, text in enumerate(heads):
            self._grid.addWidget(Label(text, "caption", "muted"), 0, column, _side(column))
        self._rows: list[tuple[Label, Label, Label]] = []
        self._shown: Diagnosis | None = None
        self.hide()

    def show_diagnosis(self, found: Diagnosis | None) -> None:
        """Show this one; None keeps what is shown."""
        if found is None or found is self._shown:
            return
        self._shown = found
        quantities = found.judged[:_MOST]
        while len(self._rows) < len(quantities):
            self._add_row()
        for row, (title, rhat, ess) in enumerate(self._rows):
            for label in (title, rhat, ess):
                label.setVisible(row < len(quantities))
            if row < len(quantities):
                quantity = quantities[row]
                title.setText(quantity.title[:1].upper() + quantity.title[1:])
                few = min(quantity.ess_bulk, quantity.ess_tail)
                _put(rhat, format_fixed(quantity.rhat, 3), quantity.rhat, mark_rhat(quantity.rhat))
                _put(ess, format_count(round(few)) if math.isfinite(few) else "–", few, mark_ess(few))
        self.setVisible(bool(quantities))

    def _add_row(self) -> None:
        labels = (Label("", elide=True), Label(), Label())
        for column, label in enumerate(labels):
            self._grid.addWidget(label, len(self._rows) + 1, column, _side(column))
        self._rows.append(labels)


def _put(label: Label, text: str, value: float, mark: str) -> None:
    label.setText(text if math.isfinite(value) else "–")
    label.set_color("text" if mark == "ok" or not math.isfinite(value) else mark)


def _side(column: int) -> Qt.AlignmentFlag:
    return Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag(0)
