"""Under the data of an input: which axis holds the samples, where that is not clear or the matrix is transposed."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from plaidwork.core.data.dataset import AXIS_WORDS
from plaidwork.core.data.orienting import Placed
from plaidwork.gui.language import tr
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Label, SegmentedControl
from plaidwork.gui.widgets.layouts import STRETCH, horizontal, vertical


class SamplesField(QWidget):
    """A line for each matrix that is turned, or of which nothing says where its samples are, and the choice between both.

    Signals
    -------
    chosen : name of a dataset, and the axis of its samples (``rows`` or ``columns``)
    """

    chosen = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._column = vertical(on=self, spacing=space.XS)
        self._rows: list[QWidget] = []
        self._shown: list[tuple[object, ...]] = []
        self._chosen: set[str] = set()
        self.controls: dict[str, SegmentedControl] = {}
        """The choice by name of the dataset."""
        self.hide()

    @property
    def text(self) -> str:
        """All lines."""
        return "\n".join(label.text() for row in self._rows for label in row.findChildren(Label, "samples"))

    def show_placed(self, placed: Sequence[Placed], named: bool, choose: bool = True) -> None:
        """Show what is worth a line; with ``named`` the lines begin with the name of the data.

        What was chosen here keeps its line, so that it can be taken back.
        """
        worth = [one for one in placed if one.text or one.dataset.name in self._chosen]
        shown: list[tuple[object, ...]] = [
            (one.dataset.name, one.axis, one.text, one.by_names, named) for one in worth
        ]
        if shown == self._shown:
            return
        self._shown = shown
        for row in self._rows:
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        self._rows, self.controls = [], {}
        for one in worth:
            self._add(one, named, choose)
        self.setVisible(bool(worth))

    def _add(self, one: Placed, named: bool, choose: bool) -> None:
        name = one.dataset.name
        row = QWidget()
        text = (one.line if named else one.text) or (f"“{name}” is taken as it is." if named else "")
        line = Label(text, "caption", "muted" if one.axis is not None else "warn", wrap=True)
        line.setObjectName("samples")
        line.setVisible(bool(text))
        column = vertical(line, on=row, spacing=space.XS)
        if choose and not one.by_names:  # nobody can choose against the names
            axis = one.wanted if one.axis is None else one.axis
            control = SegmentedControl([(word, word.capitalize()) for word in AXIS_WORDS], AXIS_WORDS[axis])
            control.setAccessibleName(tr(f"Samples of {name} are"))
            control.changed.connect(lambda word, name=name: self._choose(name, word))
            choice = horizontal(Label("Samples are", "caption"), control, STRETCH, spacing=space.S)
            column.addLayout(choice)
            self.controls[name] = control
        self._rows.append(row)
        self._column.addWidget(row)

    def _choose(self, name: str, word: str) -> None:
        self._chosen.add(name)
        self.chosen.emit(name, word)
