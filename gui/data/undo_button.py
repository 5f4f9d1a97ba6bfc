"""The button that takes the last step of a dataset back."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QToolButton

from plaidwork.core.data.dataset import Dataset
from plaidwork.gui.data.undo import undo_store
from plaidwork.gui.language import tr
from plaidwork.gui.tasks import run_task


def offer_undo(shown: QToolButton, dataset: Dataset, still: Callable[[], bool]) -> None:
    """Show it for data with steps; it can be pressed once the data before the last one are found, in the background.

    ``still`` says then whether the page shows the same data.
    """
    shown.setVisible(bool(dataset.steps))
    if not dataset.steps:
        return
    shown.setEnabled(False)
    shown.setToolTip(tr("Looking for the data before this step"))

    def done(before: Dataset | None) -> None:
        if not still():
            return
        shown.setEnabled(before is not None)
        shown.setToolTip(
            tr(
                f"Undo “{dataset.steps[-1]}”"
                if before is not None
                else "The data before this step are not in the session. Import the file again."
            )
        )

    run_task(lambda task: undo_store().before(dataset), done)
