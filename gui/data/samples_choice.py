"""Which axis of a matrix holds the samples, to be said at any time after the import."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from plaidwork.core.data.dataset import AXIS_WORDS, Dataset
from plaidwork.core.data.orienting import samples_axis
from plaidwork.gui.language import tr
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Label, SegmentedControl
from plaidwork.gui.widgets.layouts import vertical

_UNKNOWN = "unknown"


class SamplesChoice(QWidget):
    """``chosen`` carries ``rows`` or ``columns``. Hidden for vectors and labels, whose items are the samples."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.control: SegmentedControl | None = None
        self._note = Label(
            "Models that want them on the other axis get the matrix transposed.",
            "caption",
            "muted",
            wrap=True,
        )
        self._column = vertical(Label("Samples are", "strong"), self._note, on=self, spacing=space.XS)

    def show_dataset(self, dataset: Dataset) -> None:
        """Show what is known of a dataset; that nothing is known is no choice once something is."""
        self.setVisible(len(dataset.shape) == 2)
        if self.control is not None:
            self._column.removeWidget(self.control)
            self.control.hide()
            self.control.deleteLater()
        axis = samples_axis(dataset)
        options: list[str | tuple[str, str]] = [(word, word.capitalize()) for word in AXIS_WORDS]
        if axis is None:
            options.append((_UNKNOWN, "Not known"))
        self.control = SegmentedControl(options, _UNKNOWN if axis is None else AXIS_WORDS[axis])
        self.control.setAccessibleName(tr("Samples are"))
        self.control.changed.connect(self.chosen)
        self._column.insertWidget(1, self.control)
