"""The data preview beside a set-up, which is made when the right dock first asks for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject
from shiboken6 import isValid

from plaidwork.core.data.dataset import Dataset
from plaidwork.gui.data.data_panel import DataPanel
from plaidwork.gui.language import tr


class PreviewDock(QObject):
    """Holds the panel of a page and lets it follow the chosen data; it goes with the page."""

    def __init__(self, page: QObject) -> None:
        super().__init__(page)
        self._panel: DataPanel | None = None

    def panel(self, fill: Callable[[], None]) -> DataPanel:
        """The panel; ``fill`` is called once it was made, to show what is chosen."""
        if self._panel is None or not isValid(self._panel):
            self._panel = DataPanel()
            self._panel.setWindowTitle(tr("Data preview"))
            self.parent().destroyed.connect(self._panel.deleteLater)
            fill()
        return self._panel

    def show_data(self, dataset: Dataset | None) -> None:
        """Show a dataset, where there is a panel."""
        if self._panel is not None and isValid(self._panel):
            self._panel.set_dataset(dataset)

    def show_views(self, datasets: Sequence[Dataset]) -> None:
        """Show who has which of several matrices, where there is a panel."""
        if self._panel is not None and isValid(self._panel):
            self._panel.set_views(datasets)
