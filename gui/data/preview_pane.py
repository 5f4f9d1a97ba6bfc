"""The right side of the import dialog: the head of the file with the roles of its columns, and what was found."""

from __future__ import annotations

from PySide6.QtGui import QPalette, QResizeEvent
from PySide6.QtWidgets import QWidget

from plaidwork.core.data.importers import Preview
from plaidwork.core.draws.counting import counted
from plaidwork.gui.data.image_strip import ImageStrip
from plaidwork.gui.data.import_state import ImportState
from plaidwork.gui.data.issue_list import IssueList
from plaidwork.gui.data.pane import Pane
from plaidwork.gui.data.preview_table import PreviewTable
from plaidwork.gui.data.role_chips import RoleBar
from plaidwork.gui.plots.legend import Legend, LegendEntry
from plaidwork.gui.theme import size, space
from plaidwork.gui.widgets import Card, Chip, Label, scrolled
from plaidwork.gui.widgets.layouts import STRETCH, horizontal, vertical

_LEAST = 152
"""Pixels that what was found has in a low window: some four rows."""
_TABLE_ROWS = 5
"""Rows that the table has in a low window, its head among them; the pane scrolls where that is more than there is."""


class PreviewPane(Pane):
    """Preview table, role chips, list of issues; ``below`` is shown at the foot."""

    def __init__(self, below: QWidget, parent: QWidget | None = None) -> None:
        super().__init__("surface", parent=parent)
        self.roles = RoleBar()
        self.images = ImageStrip()
        self.table = PreviewTable()
        self.issues = IssueList()
        self._found = Chip("", "warn")
        self._found.hide()
        self._line = Label("", "body", "muted", elide=True)
        self._issue_scroll = scrolled(self.issues, background=QPalette.ColorRole.Base)
        self._inner = Pane("surface")
        self._area = scrolled(self._inner)
        self._build(below)
        self.issues.resized.connect(self._fit_issues)
        self.table.role_menu_requested.connect(self.roles.open_column_menu)

    def _build(self, below: QWidget) -> None:
        legend = Legend()
        legend.set_entries(
            [LegendEntry("name", 0, "box"), LegendEntry("label", 2, "box"), LegendEntry("number", 4, "box")]
        )
        top = horizontal(Label("Preview", "strong"), (self._line, 1), legend, spacing=space.S)
        frame = Card()
        frame.setMinimumHeight(_TABLE_ROWS * size.ROW)
        vertical(self.table, on=frame, margins=(4, 3, 4, 3))
        found = horizontal(Label("Found while reading", "strong"), self._found, STRETCH, spacing=space.S)
        vertical(
            top,
            self.images,
            self.roles,
            (frame, 1),
            space.XS,
            found,
            self._issue_scroll,
            space.XS,
            below,
            on=self._inner,
            spacing=space.S,
            margins=(space.XL, space.L, space.DIALOG_EDGE, space.L),
        )
        vertical(self._area, on=self)

    def show_preview(self, preview: Preview, state: ImportState) -> None:
        """The head of the file, its problems marked, and the list of what was found."""
        changeable = "names" in preview.options and len(preview.roles) == len(preview.header)
        rows, columns = state.size
        n_values = rows if state.given.get("transpose") else columns
        self.roles.show_preview(preview, max(rows, columns) and n_values, changeable)
        if preview.options.get("layout") == "long":  # its columns are chosen at the left
            self.roles.hide()
        bad = {
            (state.file_row(row.issue.row), row.issue.column - 1)
            for row in state.rows
            if row.issue.row and row.issue.column and not row.applied
        }
        self.table.show_preview(preview, bad)
        self.images.set_images(None if state.given.get("transpose") else preview.pictures)
        self._show_issues(state)
        shown = len(preview.cells)
        every = 0 < preview.n_rows <= shown  # 0: how many there are is not known before the import
        text = f"{'all' if every else 'first'} {counted(shown, 'row')}"
        self._line.setText(text if shown else "")

    def _show_issues(self, state: ImportState) -> None:
        partly = any("rows were checked" in row.issue.message for row in state.rows)
        self.issues.show_rows(state.rows, "the first rows" if partly else "all rows")
        count, mended = state.to_look_at, state.mended
        self._found.set(f"{count} to look at" if count else f"{mended} mended", "warn" if count else "ok")
        self._found.setVisible(count + mended > 0)
        self._fit_issues()

    def _fit_issues(self) -> None:
        """As high as what was found, up to a third of the height; the rest scrolls."""
        wide = self._issue_scroll.viewport().width() - 2
        for row in self.issues.rows:
            row.fit(wide)
        wanted = sum(row.sizeHint().height() for row in self.issues.rows) + 4
        self._issue_scroll.setFixedHeight(min(wanted, max(_LEAST, self.height() * 3 // 10)))
        self._fit_height()

    def _fit_height(self) -> None:
        """High enough for the chips of the roles, which break like words: an area does not ask how high that makes its widget."""
        wide = self._area.viewport().width()
        self._area.setMinimumWidth(self._inner.minimumSizeHint().width())  # it does not scroll sideways
        self._inner.setMinimumHeight(self._inner.layout().totalMinimumHeightForWidth(wide))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A higher window shows more of what was found."""
        super().resizeEvent(event)
        self._fit_issues()
