"""The missing cells of large data are counted off the GUI thread, before anybody there asks for their number."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from PySide6.QtCore import QObject, Signal
from shiboken6 import isValid

from plaidwork.core.data.dataset import Dataset
from plaidwork.gui.tasks import run_task

FEW = 1_000_000
"""Cells in memory whose gaps are counted within a millisecond or two."""


def uncounted(datasets: Iterable[Dataset]) -> list[Dataset]:
    """Those of which it takes noticeable time to tell how many cells are missing."""
    unknown = [dataset for dataset in datasets if dataset.known_missing is None]
    return [dataset for dataset in unknown if not dataset.at_hand or math.prod(dataset.shape) > FEW]


def count_missing(datasets: Iterable[Dataset]) -> None:
    """Have the number of missing cells known from now on; not for the GUI thread. Raises what reading raises."""
    for dataset in datasets:
        _ = dataset.n_missing


class OnceCounted(QObject):
    """Does what needs the numbers of missing cells of some data: at once where they are known, else when they were counted.

    Parameters
    ----------
    datasets : gives the data as they are then

    Signals
    -------
    failed : the error, and its details, where the data cannot be read; what waited is not done
    """

    failed = Signal(object, str)

    def __init__(self, datasets: Callable[[], Iterable[Dataset]], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._datasets = datasets
        self._waiting: list[Callable[[], object]] = []
        self._counting = False

    def do(self, act: Callable[[], object]) -> None:
        """Do something once all is counted, after what was asked for before."""
        self._waiting.append(act)
        if not self._counting:
            self._go_on()

    def _go_on(self, _done: Any = None) -> None:
        if not isValid(self):  # closed while it was counted
            return
        left = uncounted(self._datasets())
        self._counting = bool(left)
        if left:
            run_task(lambda task: count_missing(left), self._go_on, self._fail)
            return
        acts, self._waiting = self._waiting, []
        for act in acts:
            act()

    def _fail(self, error: BaseException, details: str) -> None:
        if isValid(self):
            self._counting, self._waiting = False, []
            self.failed.emit(error, details)
