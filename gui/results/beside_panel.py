"""What stands beside a picture, in the right dock: tables, numbers and small pictures, as the picture declares them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QSizePolicy, QWidget

from plaidwork.core.pictures import Facts, Inset, Items, Listing, ViewChoice
from plaidwork.gui.language import tr
from plaidwork.gui.pictures.canvas import PictureCanvas
from plaidwork.gui.theme import size, space
from plaidwork.gui.widgets import Card, DataTable, KeyFigure, Label, scrolled, tool_button
from plaidwork.gui.widgets.layouts import horizontal, vertical

Part = Listing | Facts | Inset
_LEAST_ROWS = 5
"""Rows of a table that are in view at least."""
_PAD, _BESIDE_ROWS, _SWATCH, _NAMES, _MEASURED = 14, 24, 40, 150, 200
"""Pixels around the rows of a table and beside them, beside a name with its colour, of the widest name that columns give way to, and names
that are measured."""
_ACROSS = 2
"""Numbers beside each other."""


class BesidePanel(QWidget):
    """Everything that a picture has beside it, in its order.

    Signals
    -------
    chosen : numbers of the part that is a list, and of its row
    activated : the same, of a row that was clicked twice or where Enter was pressed
    picked : kind and numbers of the items of a mark that was clicked in a small picture
    hovered : what is under the pointer there, in words
    renamed : numbers of the part and of its row, and the name typed there
    left : Esc was pressed
    """

    chosen = Signal(int, int)
    activated = Signal(int, int)
    picked = Signal(str, object)
    hovered = Signal(str)
    renamed = Signal(int, int, str)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setBackgroundRole(QPalette.ColorRole.Window)
        self.setAutoFillBackground(True)
        self.setAccessibleName(tr("Beside the picture"))
        self._parts: list[_Table | _Numbers | _Small] = []
        self._spare: list[_Table | _Numbers | _Small] = []
        self._selected: Mapping[str, tuple[int, ...]] = {}
        inner = QWidget()
        margins = (space.DOCK_EDGE, space.S, space.DOCK_EDGE, space.M)
        self._column = vertical(on=inner, spacing=space.M, margins=margins)
        self._column.addStretch(0)
        area = scrolled(inner, background=QPalette.ColorRole.Window)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        vertical(area, on=self)

    def minimumSizeHint(self) -> QSize:
        return QSize(280, 240)

    @property
    def tables(self) -> list[DataTable]:
        """The tables, from above."""
        return [part.table for part in self._parts if isinstance(part, _Table)]

    @property
    def titles(self) -> list[str]:
        """What stands above the tables."""
        return [part.title.text() for part in self._parts if isinstance(part, _Table)]

    @property
    def charts(self) -> list[PictureCanvas]:
        """The small pictures, from above."""
        return [part.chart for part in self._parts if isinstance(part, _Small)]

    @property
    def figures(self) -> list[KeyFigure]:
        """The numbers, from above."""
        return [figure for part in self._parts if isinstance(part, _Numbers) for figure in part.figures]

    def set_parts(
        self, parts: tuple[Part, ...], choices: Sequence[ViewChoice] = (), named: bool = False
    ) -> None:
        """Show these, in lists the rows that are chosen; ``named`` is whether blocks, factors or topics can be given a name.

        Widgets are used again in their order, so that focus and scrolling are kept.
        """
        self._spare, self._parts = [*self._parts, *self._spare], []
        for place, part in enumerate(parts):
            widget = self._widget_for(part)
            widget.number = place
            self._parts.append(widget)
            self._column.removeWidget(widget)
            self._column.insertWidget(place, widget, int(isinstance(widget, _Table)))
            widget.show_part(part)
            widget.show()
            if isinstance(widget, _Table):
                of = part.of if isinstance(part, Listing) else None
                widget.set_named(named and of is not None and of.kind == "layer")
            if isinstance(part, Listing) and isinstance(widget, _Table) and part.choice is not None:
                widget.mark_row(
                    part.choice[1], next((one.value for one in choices if one.id == part.choice[0]), "")
                )
        for widget in self._spare:
            widget.hide()
        self.set_selected(self._selected)

    def _widget_for(self, part: Part) -> _Table | _Numbers | _Small:
        """The first spare one of its kind, or a new one."""
        kind = _Table if isinstance(part, Listing) else _Numbers if isinstance(part, Facts) else _Small
        found = next((one for one in self._spare if type(one) is kind), None)
        if found is not None:
            self._spare.remove(found)
            return found
        made = kind()
        if isinstance(made, _Table):
            made.table.row_selected.connect(lambda row: self.chosen.emit(made.number, row))
            made.table.row_activated.connect(lambda row: self.activated.emit(made.number, row))
            # what was typed fills the table anew, which must not happen while its editor closes
            queued = Qt.ConnectionType.QueuedConnection
            made.table.renamed.connect(lambda row, name: self.renamed.emit(made.number, row, name), queued)
        elif isinstance(made, _Small):
            made.chart.picked.connect(self.picked)
            made.chart.hovered.connect(self.hovered)
        return made

    def edit_name(self, number: int) -> bool:
        """Begin to edit the name of a block, factor or topic in the list of them; False where there is none in view."""
        for part in self._parts:
            if isinstance(part, _Table) and part.isVisible() and part.edit_name(number):
                return True
        return False

    def set_selected(self, selected: Mapping[str, tuple[int, ...]]) -> None:
        """Mark these items in the small pictures, and in lists of which no row is chosen otherwise."""
        self._selected = dict(selected)
        for chart in self.charts:
            chart.set_selected(self._selected)
        for part in self._parts:
            if isinstance(part, _Table):
                part.mark_items(self._selected)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc leaves what was chosen."""
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)


class _Table(QWidget):
    """A title and a table."""

    number = 0
    """Its place among the parts."""

    def __init__(self) -> None:
        super().__init__()
        self.title, card = Label("", "strong", elide=True), Card()
        self._of: Items | None = None
        self._shown: Listing | None = None
        self._pencil = tool_button("pencil", "Rename (F2, or a double click on the name)", self._edit_chosen)
        self._pencil.hide()
        self.table = DataTable(dense=True)
        self.table.view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        vertical(self.table, on=card, margins=1)
        head = horizontal((self.title, 1), self._pencil)
        vertical(head, (card, 1), on=self, spacing=space.S)

    def set_named(self, named: bool) -> None:
        """Let the names in the first column be edited where they stand."""
        self.table.set_named(named)
        self._pencil.setVisible(named)
        self._fit_height()

    def edit_name(self, item: int) -> bool:
        """Begin to edit the name of an item; False when no row stands for it alone, or names are not edited."""
        rows = self._of.pieces(frozenset({item})).tolist() if self._of is not None else []
        if len(rows) != 1 or not self.table.model.named:
            return False
        self.table.edit_name(rows[0])
        return True

    def _edit_chosen(self) -> None:
        """Edit the chosen name, or the first."""
        rows = self.table.selected_rows() or [0]
        self.table.edit_name(rows[0])

    def show_part(self, part: Part) -> None:
        """Show this list."""
        assert isinstance(part, Listing)
        self.title.setText(part.title)
        self.table.view.setAccessibleName(tr(part.title))
        self._of = part.of if part.choice is None else None
        old, self._shown = self._shown, part
        if old is None or not _alike(old, part):
            self.table.set_columns(part.columns, formats=part.formats, swatch=part.swatch or None)
        else:  # a new model between its clicks would make two of a double click
            self.table.model.set_formats(part.formats)
        self._fit_height()
        self._fit_columns()

    def _fit_height(self) -> None:
        """As high as all rows, but no lower than some of them."""
        rows = self.table.model.rowCount()
        head = self.title.sizeHint().height()
        if not self._pencil.isHidden():
            head = max(head, self._pencil.sizeHint().height())
        around = head + space.S + size.TABLE_HEAD + _PAD
        self.setMinimumHeight(around + min(max(rows, 1), _LEAST_ROWS) * size.ROW_DOCK)
        self.setMaximumHeight(around + max(rows, 1) * size.ROW_DOCK)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A narrow table goes without its last columns."""
        super().resizeEvent(event)
        self._fit_columns()

    def _fit_columns(self) -> None:
        """As many columns as leave room for the names in the first."""
        view, model = self.table.view, self.table.model
        shown = model.columnCount()
        names = [model.text(row, 0) for row in range(min(model.rowCount(), _MEASURED))]
        wide = max((view.fontMetrics().horizontalAdvance(name) for name in names), default=0)
        room = self.width() - _BESIDE_ROWS - min(wide + _SWATCH, _NAMES)
        for column in range(1, shown):
            view.setColumnHidden(column, False)
        while shown > 2 and sum(view.columnWidth(column) for column in range(1, shown)) > room:
            shown -= 1
            view.setColumnHidden(shown, True)

    def mark_items(self, selected: Mapping[str, tuple[int, ...]]) -> None:
        """Select the row of the only item that is selected, where the rows are items."""
        if self._of is not None:
            items = selected.get(self._of.kind, ())
            rows = self._of.pieces(frozenset(items)).tolist() if len(items) == 1 else []
            self._select(rows[0] if rows else -1)

    def mark_row(self, values: tuple[str, ...], chosen: str) -> None:
        """Select the row of what is chosen, or none, without telling anybody."""
        self._select(values.index(chosen) if chosen in values else -1)

    def _select(self, row: int) -> None:
        blocked = self.table.blockSignals(True)
        self.table.select_row(row)
        self.table.blockSignals(blocked)


def _alike(one: Listing, other: Listing) -> bool:
    """Whether two lists have the same values and colours."""
    if list(one.columns) != list(other.columns) or one.swatch != other.swatch:
        return False
    pairs = zip(one.columns.values(), other.columns.values(), strict=True)
    return all(a.shape == b.shape and bool(np.all((a == b) | ((a != a) & (b != b)))) for a, b in pairs)


class _Numbers(QWidget):
    """A few numbers beside each other."""

    number = 0
    """Its place among the parts."""

    def __init__(self) -> None:
        super().__init__()
        self.title = Label("", "strong", elide=True)
        self.figures: list[KeyFigure] = []
        self._row = QWidget()
        self._column = vertical(self.title, self._row, on=self, spacing=space.S)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)

    def show_part(self, part: Part) -> None:
        """Show these numbers."""
        assert isinstance(part, Facts)
        self.title.setText(part.title)
        self.title.setVisible(bool(part.title))
        if len(self.figures) != len(part.rows):
            old, self._row = self._row, QWidget()
            self.figures = [KeyFigure("", role="strong") for _ in part.rows]
            pairs = [self.figures[k : k + _ACROSS] for k in range(0, len(self.figures), _ACROSS)]
            rows = [horizontal(*((one, 1) for one in pair), spacing=space.M) for pair in pairs]
            vertical(*rows, on=self._row, spacing=space.S)
            self._column.replaceWidget(old, self._row)
            old.deleteLater()
        for figure, (label, value, note) in zip(self.figures, part.rows, strict=True):
            figure.set_label(label)
            figure.set_value(value, note)


class _Small(QWidget):
    """A small picture under its headline."""

    number = 0
    """Its place among the parts."""

    def __init__(self) -> None:
        super().__init__()
        self.title = Label("", "strong", elide=True)
        self.chart = PictureCanvas()
        vertical(self.title, self.chart, on=self, spacing=space.XS)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)

    def show_part(self, part: Part) -> None:
        """Show this picture."""
        assert isinstance(part, Inset)
        self.title.setText(part.picture.headline)
        self.chart.setFixedHeight(round(part.height))
        self.chart.set_picture(part.picture)
