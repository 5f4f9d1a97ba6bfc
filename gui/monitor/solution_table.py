"""The solutions that the chains of a run found: weights, chains, and how well each predicts."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtWidgets import QWidget

from plaidwork.core.draws.solution_texts import weight_text
from plaidwork.core.draws.solutions import Solution
from plaidwork.core.draws.verdicts import listed
from plaidwork.core.inference.run import Run
from plaidwork.core.pictures.words import capital
from plaidwork.gui.language import tr
from plaidwork.gui.numbers import format_number
from plaidwork.gui.results.solution_choice import KIND
from plaidwork.gui.widgets import Card, DataTable
from plaidwork.gui.widgets.layouts import vertical
from plaidwork.gui.workbench import Workbench

_HEAD, _LINE = 40, 26
_MOST_LINES = 4


class SolutionTable(Card):
    """One line per solution, heaviest first; hidden where the chains agree. A double click shows it in all views."""

    def __init__(self, workbench: Workbench, run: Run, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._run = run
        self.table = DataTable(dense=True, words=True)
        self.table.setAccessibleName(tr("Solutions"))
        self.table.setToolTip(tr("Double click: show this solution in all views"))
        vertical(self.table, on=self, margins=1)
        selection = workbench.selection(run)
        self.table.row_activated.connect(lambda row: selection.set(KIND, (row + 1,)))
        self.hide()

    def show_solutions(self, found: tuple[Solution, ...]) -> None:
        """Fill the table."""
        self.setVisible(len(found) > 1)
        if len(found) < 2:
            return
        trace = self._run.spec.primary_trace
        word = self._run.chain_word
        columns = {
            "Solution": np.arange(1, len(found) + 1),
            "Weight": np.array([one.weight for one in found]),
            f"{word[:1].upper()}{word[1:]}s": [listed([c + 1 for c in one.chains]) for one in found],
            "Objective" if trace is None else capital(trace.title): np.array([one.level for one in found]),
            "Predictive log density": np.array([one.elpd for one in found]),
            "Below the first": np.array([math.nan, *(one.behind for one in found[1:])]),
            "SE": np.array([math.nan, *(one.behind_error for one in found[1:])]),
        }
        columns = {name: values for name, values in columns.items() if not _unknown(values)}
        formats = dict.fromkeys(("Predictive log density", "Below the first", "SE"), _amount)
        self.table.set_columns(columns, formats={**formats, "Weight": lambda v: weight_text(v) or "–"})
        self.setFixedHeight(_HEAD + min(len(found), _MOST_LINES) * _LINE)


def _unknown(values: object) -> bool:
    return isinstance(values, np.ndarray) and bool(np.isnan(values.astype(float)).all())


def _amount(value: float) -> str:
    return "–" if math.isnan(value) else format_number(value)
