"""A list of a few named items, of which one is chosen."""

from __future__ import annotations

from PySide6.QtWidgets import QComboBox, QWidget

from plaidwork.gui.language import tr_name


class ItemPicker(QComboBox):
    """Chooses one of a few named items; keeps the choice when the names come again."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.setMaximumWidth(260)
        self.currentTextChanged.connect(self.setToolTip)

    def set_names(self, names: tuple[str, ...] | list[str], current: int = 0) -> None:
        """Replace the items, silently."""
        names = [tr_name(name) for name in names]
        blocked = self.blockSignals(True)
        if [self.itemText(i) for i in range(self.count())] != names:
            self.clear()
            self.addItems(names)
        self.setCurrentIndex(min(max(current, 0), len(names) - 1))
        self.blockSignals(blocked)
        self.setToolTip(self.currentText())

    def choose(self, index: int) -> None:
        """Show an item as chosen, silently."""
        blocked = self.blockSignals(True)
        self.setCurrentIndex(index)
        self.blockSignals(blocked)
        self.setToolTip(self.currentText())
