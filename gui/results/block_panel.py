"""Right dock of the block picture: list of blocks, the chosen one, its members."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QHeaderView,
    QWidget,
)

from plaidwork.core.contract.spec import View
from plaidwork.core.inference.run import Run
from plaidwork.core.quoting import CsvWriter
from plaidwork.core.views.blocks import BlockData, load_blocks
from plaidwork.core.views.sources import NotYet, SourceError, Sources
from plaidwork.gui.numbers import format_count, format_fixed, format_percent, format_probability
from plaidwork.gui.results.block_name import BlockName, BlockSwatch
from plaidwork.gui.results.block_overview import BlockOverview
from plaidwork.gui.results.block_profile import BlockProfile, profile_of
from plaidwork.gui.results.blocks import Blocks
from plaidwork.gui.results.option_row import Legend
from plaidwork.gui.save_path import ask_save_path, proposed_name, tell_guarded
from plaidwork.gui.theme import size, space
from plaidwork.gui.widgets import Card, DataTable, KeyFigure, Label, SegmentedControl, scrolled, tool_button
from plaidwork.gui.widgets.layouts import STRETCH, horizontal, vertical
from plaidwork.gui.workbench import Workbench

_ROWS_SHOWN = 6
_NARROW = 310


class BlockPanel(QWidget):
    """List of blocks and details of the chosen one.

    Parameters
    ----------
    blocks : what the picture shares; without it the panel loads the view by itself

    Signals
    -------
    opened : a block was activated in the list
    hovered : read-out of the profile
    """

    opened = Signal(int)
    hovered = Signal(str)

    def __init__(
        self,
        workbench: Workbench,
        run: Run,
        view: View,
        blocks: Blocks | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.run = run
        self.blocks = Blocks(workbench, run, self) if blocks is None else blocks
        self.setBackgroundRole(QPalette.ColorRole.Window)
        self.setAutoFillBackground(True)
        self.setAccessibleName("Blocks")
        self._listed: list[int] = []
        self._build()
        self.blocks.changed.connect(self._on_changed)
        if blocks is None:
            try:
                self.blocks.set_data(load_blocks(Sources(workbench.session, run, view)))
            except (SourceError, NotYet):
                self.blocks.set_data(None)
        self._fill_list()
        self._fill_details()

    # -- widgets --------------------------------------------------------------------------------
    def _build(self) -> None:
        self.list = DataTable(dense=True)
        self.list.view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.view.setAccessibleName("Blocks")
        self.list.row_selected.connect(lambda row: self.blocks.select(self._listed[row]))
        self.list.row_activated.connect(lambda row: self.opened.emit(self._listed[row]))
        self._list_card = _card(self.list)
        self._list_title = Label("Blocks", "strong")
        self.overview = BlockOverview(self.blocks)
        self._details = QWidget()
        self._build_details()
        inner = QWidget()
        column = vertical(
            self._list_title,
            self._list_card,
            self.overview,
            (self._details, 1),
            on=inner,
            spacing=space.S,
            margins=(space.DOCK_EDGE, space.S, space.DOCK_EDGE, space.M),
        )
        column.addStretch(0)
        area = scrolled(inner, background=QPalette.ColorRole.Window)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        vertical(area, on=self)

    def _build_details(self) -> None:
        self._swatch = BlockSwatch(self.blocks)
        self.name = BlockName()
        self.name.renamed.connect(lambda text: self._chosen(lambda block: self.blocks.rename(block, text)))
        head = horizontal(
            self._swatch,
            (self.name, 1),
            tool_button("pencil", "Rename (F2)", self.name.edit),
            tool_button("zoom-fit", "Open the sub-matrix (Enter)", lambda: self._chosen(self.opened.emit)),
            tool_button("export", "Export rows × columns as CSV…", self._ask_export),
            spacing=space.S,
        )
        self._figures = [KeyFigure(text, role="strong") for text in ("Rows", "Columns", "Shift", "Present")]
        figures = horizontal(*self._figures, STRETCH, spacing=space.M)
        self._profile_title = Label("", "body", "muted", elide=True)
        self._profile_legend = Legend()
        profile_head = horizontal((self._profile_title, 1), self._profile_legend)
        self.profile = BlockProfile(self.blocks)
        self.profile.hovered.connect(self.hovered)
        self.side = SegmentedControl([("rows", "Rows"), ("columns", "Columns")])
        self.side.changed.connect(self._fill_members)
        members_head = horizontal((Label("Members", "strong"), 1), self.side)
        self.members = DataTable(dense=True)
        self.members.view.setAccessibleName("Members of the block")
        self.members.row_selected.connect(self._select_member)
        members_card = _card(self.members)
        members_card.setMinimumHeight(size.TABLE_HEAD + 4 * size.ROW_DOCK)
        vertical(
            head,
            figures,
            space.XS,
            profile_head,
            self.profile,
            space.S,
            members_head,
            (members_card, 1),
            on=self._details,
            spacing=space.S,
            margins=(0, space.M, 0, 0),
        )

    def sizeHint(self) -> QSize:
        return QSize(340, 640)

    def minimumSizeHint(self) -> QSize:
        return QSize(280, 200)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A narrow list goes without its last column."""
        super().resizeEvent(event)
        self._hide_columns()

    def _hide_columns(self) -> None:
        titles = list(self.list.model.columns())
        for number, title in enumerate(titles):
            self.list.view.setColumnHidden(number, title == "Present" and self.width() < _NARROW)

    # -- content --------------------------------------------------------------------------------
    def _on_changed(self, what: str) -> None:
        if what in ("data", "members", "names"):
            self._fill_list()
        if what in ("data", "members", "names", "layer", "strip"):
            self._fill_details()
        if what == "layer":
            self._show_choice()

    def _fill_list(self) -> None:
        data = self.blocks.data
        self._listed = list(range(len(self.blocks)))
        self._list_card.setVisible(bool(self._listed))
        self._list_title.setText("Blocks" if self._listed else "No blocks")
        if data is None:
            return
        sizes = [self.blocks.size(block) for block in self._listed]
        # sorted by cells, shown as rows × columns: a fraction of a cell tells equal products apart
        keys = np.array([a * b + k * 1e-4 for k, (a, b) in enumerate(sizes)])
        texts = {key: f"{format_count(a)} × {format_count(b)}" for key, (a, b) in zip(keys.tolist(), sizes)}
        columns: dict[str, Any] = {
            "Block": np.array([self.blocks.name(block) for block in self._listed], dtype=object),
            "Size": keys,
        }
        formats: dict[str, Callable[[Any], str]] = {"Size": lambda key: texts.get(float(key), "–")}
        if data.shift is not None:
            columns["Shift"] = data.shift
            formats["Shift"] = lambda value: format_fixed(value, 2, sign=True)
        if data.present is not None:
            columns["Present"] = data.present
            formats["Present"] = format_percent
        self.list.set_columns(columns, formats=formats, swatch=[self.blocks.swatch(b) for b in self._listed])
        head = self.list.view.horizontalHeader()
        for k in range(1, len(columns)):
            head.setSectionResizeMode(k, QHeaderView.ResizeMode.ResizeToContents)
        self._hide_columns()
        rows = min(max(len(self._listed), 1), _ROWS_SHOWN)
        self._list_card.setFixedHeight(size.TABLE_HEAD + rows * size.ROW_DOCK + 10)
        self._show_choice()

    def _show_choice(self) -> None:
        chosen = self.blocks.selected
        self.list.blockSignals(True)
        if chosen is None:
            self.list.view.clearSelection()
        else:
            self.list.select_row(chosen)
        self.list.blockSignals(False)

    def _fill_details(self) -> None:
        data, block = self.blocks.data, self.blocks.selected
        shown = data is not None and block is not None and block < len(data)
        self._details.setVisible(shown)
        self.overview.setVisible(not shown and bool(len(self.blocks)))
        if not shown:
            self.overview.refresh()
            return
        assert data is not None
        assert block is not None
        self._swatch.block = block
        self._swatch.update()
        self.name.set_text(self.blocks.name(block))
        self._fill_figures(data, block)
        rows, columns = (mask[block] for mask in self.blocks.masks)
        self.profile.set_profile(profile_of(data, rows, columns, self.blocks.strip), block)
        self._profile_title.setText(f"Mean of its {data.row_label}, by {_singular(data.column_label)}")
        self._profile_legend.set_entries([(lambda: self.blocks.color(block), "in"), ("neutral", "out")])
        self._fill_members()

    def _fill_figures(self, data: BlockData, block: int) -> None:
        rows, columns = self.blocks.size(block)
        for figure, label, count in zip(self._figures, (data.row_label, data.column_label), (rows, columns)):
            figure.set_label(label.capitalize())
            figure.set_value(format_count(count))
        purity = self._purity(data, block)
        if purity:
            self._figures[1].set_value(f"{format_count(columns)}{purity}")
        shift, present = self._figures[2], self._figures[3]
        shift.setVisible(data.shift is not None)
        if data.shift is not None:
            unit = f" {data.shift_unit}" if data.shift_unit else ""
            note = ""
            if data.interval is not None and np.isfinite(data.interval[block]).all():
                low, high = data.interval[block]
                note = f"{format_fixed(low, 2, sign=True)} to {format_fixed(high, 2, sign=True)}"
            shift.set_value(format_fixed(data.shift[block], 2, sign=True) + unit, note)
        present.setVisible(data.present is not None)
        if data.present is not None:
            present.set_value(format_percent(data.present[block]), "of the draws")

    def _purity(self, data: BlockData, block: int) -> str:
        """ ", all EWS" when the columns of the block are of one class."""
        if self.blocks.strip not in data.strips:
            return ""
        classes = set(data.strips[self.blocks.strip].classes[self.blocks.masks[1][block]])
        return f", all {next(iter(classes))}" if len(classes) == 1 and "" not in classes else ""

    def _fill_members(self, _side: str = "") -> None:
        data, block = self.blocks.data, self.blocks.selected
        if data is None or block is None:
            return
        rows, columns = (mask[block] for mask in self.blocks.masks)
        segments = self.side.findChildren(QAbstractButton)
        for number, label, mask in ((0, data.row_label, rows), (1, data.column_label, columns)):
            segments[number].setText(f"{label.capitalize()} {format_count(mask.sum())}")
            segments[number].updateGeometry()
        on_rows = self.side.current == "rows"
        part = data.values[np.ix_(rows, columns)]
        known = np.isfinite(part)
        axis = 1 if on_rows else 0
        count = known.sum(axis)
        total = np.where(known, part, 0.0).sum(axis)
        mean = np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0)
        names, chance = (data.row_titles, data.rows) if on_rows else (data.column_names, data.columns)
        members = np.flatnonzero(rows if on_rows else columns)
        sign = -1.0 if np.nansum(part - data.centre) < 0 else 1.0
        order = np.lexsort((-sign * np.nan_to_num(mean), -chance[block][members]))
        self._members = members[order]
        label = _singular(data.row_label if on_rows else data.column_label).capitalize()
        columns_shown: dict[str, object] = {
            label: np.array([names[i] for i in self._members], dtype=object),
            "Prob.": chance[block][self._members],
            "Mean": mean[order],
        }
        formats = {"Prob.": format_probability, "Mean": lambda value: format_fixed(value, 2, sign=True)}
        self.members.set_columns(columns_shown, formats=formats)

    def _select_member(self, row: int) -> None:
        kind = "row" if self.side.current == "rows" else "column"
        self.blocks.selection.set(kind, (int(self._members[row]),))

    def _chosen(self, act: Callable[[int], object]) -> None:
        if self.blocks.selected is not None:
            act(self.blocks.selected)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """F2 renames, Esc chooses nothing."""
        if event.key() == Qt.Key.Key_F2 and self.blocks.selected is not None:
            self.name.edit()
        elif event.key() == Qt.Key.Key_Escape and self.blocks.selected is not None:
            self.blocks.select(None)
        elif event.key() in (Qt.Key.Key_BracketLeft, Qt.Key.Key_BracketRight):
            self.blocks.step(1 if event.key() == Qt.Key.Key_BracketRight else -1)
        else:
            super().keyPressEvent(event)

    # -- out ------------------------------------------------------------------------------------
    def export_block(self, path: str | Path, block: int | None = None) -> int:
        """Write the values of a block (the chosen one) as CSV: its rows × its columns, strongest members first.

        How many cells were guarded.
        """
        data = self.blocks.data
        block = self.blocks.selected if block is None else block
        assert data is not None
        assert block is not None
        rows, columns = (np.flatnonzero(mask[block]) for mask in self.blocks.masks)
        rows = rows[np.argsort(-data.rows[block][rows], kind="stable")]
        columns = columns[np.argsort(-data.columns[block][columns], kind="stable")]
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = CsvWriter(file)
            writer.row([_singular(data.row_label), *(data.column_names[i] for i in columns)])
            for row in rows:
                values = data.values[row, columns]
                writer.row([data.row_names[row], *("" if v != v else repr(float(v)) for v in values)])
        return writer.guarded

    def _ask_export(self) -> None:
        if self.blocks.selected is None:
            return
        block = self.blocks.name(self.blocks.selected)
        name = proposed_name(self.blocks.workbench.session.name, self.run.title, block, suffix=".csv")
        path = ask_save_path(self, "Export rows × columns", name, "CSV (*.csv)")
        if path is not None:
            tell_guarded(self, self.export_block(path))


def _card(table: QWidget) -> Card:
    card = Card()
    vertical(table, on=card, margins=1)
    return card


def _singular(label: str) -> str:
    return label[:-1] if label.endswith("s") and not label.endswith("ss") else label
