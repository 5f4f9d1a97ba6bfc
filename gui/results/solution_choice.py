"""Which solution of a run is shown, where its chains found several; one choice for all its views."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QWidget

from plaidwork.core.draws.solution_texts import shown_solution, weight_text
from plaidwork.core.draws.solutions import Solution
from plaidwork.core.inference.run import Run
from plaidwork.gui.language import tr
from plaidwork.gui.workbench import Workbench

KIND = "solution"
"""Kind of the selection that holds the number of the solution shown, from 1; empty: all chains."""


def solutions_of(workbench: Workbench, run: Run) -> tuple[Solution, ...]:
    """The solutions of a run of the session, once they are known; none of what an analysis made."""
    if workbench.session.runs.get(run.id) is not run:
        return ()
    diagnosis = workbench.diagnosis(run)
    return () if diagnosis is None else diagnosis.solutions


def title_of(number: int, solution: Solution) -> str:
    """``Solution 1 (.62)``."""
    weight = weight_text(solution.weight)
    return f"Solution {number} ({weight})" if weight else f"Solution {number}"


class SolutionChoice(QComboBox):
    """All chains, or one solution of those that they found; hidden where there is one.

    ``chosen``: another one is to be shown, by this control or another view's.
    """

    chosen = Signal()

    def __init__(self, workbench: Workbench, run: Run, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workbench, self._run = workbench, run
        self._selection = workbench.selection(run)
        self._shown: tuple[str, ...] = ()
        self.setAccessibleName(tr("Solution"))
        self.setToolTip(
            tr(
                "The chains found different solutions: look at all draws together, or at one solution by itself"
            )
        )
        self.hide()
        self.update_items()
        self._shown = self.captions()
        self.activated.connect(lambda row: self._selection.set(KIND, (row,) if row else ()))
        self._selection.changed.connect(lambda kind: self._follow() if kind == KIND else None)
        workbench.run_changed.connect(self._on_run)

    @property
    def number(self) -> int:
        """Number of the solution shown, from 1; 0 for all chains."""
        chosen = self._selection.get(KIND)
        known = len(solutions_of(self._workbench, self._run))
        return chosen[0] if chosen and 1 <= chosen[0] <= known else 0

    def captions(self) -> tuple[str, ...]:
        """What the caption says of what is shown, where there are several solutions."""
        return shown_solution(solutions_of(self._workbench, self._run), self.number, self._run.chain_word)

    def update_items(self) -> None:
        """Offer the solutions that are known now."""
        found = solutions_of(self._workbench, self._run)
        first = "All chains" if self._run.spec.algorithm == "mcmc" else "Best restart"
        titles = [first] + [title_of(n, one) for n, one in enumerate(found, start=1)]
        titles = [tr(title) for title in titles]
        if titles != [self.itemText(row) for row in range(self.count())]:
            with QSignalBlocker(self):
                self.clear()
                self.addItems(titles)
        self.setCurrentIndex(self.number)
        self.setVisible(len(found) > 1)

    def _on_run(self, run_id: str) -> None:
        if run_id == self._run.id:
            self._follow()

    def _follow(self) -> None:
        self.update_items()
        if self.captions() != self._shown:
            self._shown = self.captions()
            self.chosen.emit()
