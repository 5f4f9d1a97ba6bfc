"""By what the items of an axis are shown in charts, tables and exports: their names, or an annotation of them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QWidget

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.findings.naming import label_columns, proposed_label
from plaidwork.gui.language import tr
from plaidwork.gui.setup.editors import QuietCombo
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Label, Message
from plaidwork.gui.widgets.layouts import horizontal

if TYPE_CHECKING:
    from plaidwork.gui.workbench import Workbench


class LabelChoice(QWidget):
    """``chosen`` carries the title of the annotation column; empty for the names. Hidden without such a column."""

    chosen = Signal(str)

    def __init__(self, dataset: Dataset, axis: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        word = (dataset.row_label, dataset.column_label)[axis]
        current = (dataset.row_shown_by, dataset.column_shown_by)[axis]
        titles = label_columns(dataset, axis)
        if current and current not in titles:
            titles.append(current)
        self.combo = QuietCombo()
        self.combo.setObjectName(f"shown_by_{('rows', 'columns')[axis]}")
        label = Label(f"Show {word} by")
        label.setBuddy(self.combo)
        self.combo.setAccessibleName(tr(f"Show {word} by"))
        blocker = QSignalBlocker(self.combo)
        self.combo.addItem(tr("their names"), "")
        for title in titles:
            self.combo.addItem(tr(title), title)
        self.combo.setCurrentIndex(max(0, self.combo.findData(current)))
        blocker.unblock()
        self.combo.currentIndexChanged.connect(lambda _: self.chosen.emit(str(self.combo.currentData())))
        proposed = "" if current else proposed_label(dataset, axis)
        hint = f"“{proposed}” looks like names" if proposed else "In every chart, table, network and export"
        horizontal(
            label, self.combo, (Label(hint, "caption", "muted", elide=True), 1), on=self, spacing=space.S
        )
        self.setVisible(bool(titles))


def propose_labels(workbench: Workbench, dataset: Dataset) -> None:
    """Offer to show items by an annotation that looks like names, as gene symbols beside identifiers."""
    for axis, word in enumerate((dataset.row_label, dataset.column_label)):
        title = proposed_label(dataset, axis)
        if title and not (dataset.row_shown_by, dataset.column_shown_by)[axis]:
            text = f"“{title}” of “{dataset.name}” looks like names: it can stand in every chart, table and export."
            act = partial(workbench.show_by, dataset.name, axis, title)
            workbench.message_posted.emit(
                Message("info", f"Show {word} by “{title}”?", text, [(f"Show by “{title}”", act)])
            )
