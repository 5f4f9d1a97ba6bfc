"""The main picture: the matrix re-ordered so that its blocks hold together, with their outlines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from PySide6.QtCore import QRect, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QMenu, QWidget

from plaidwork.core.contract.spec import View
from plaidwork.core.findings.naming import findable
from plaidwork.core.inference.run import Run
from plaidwork.core.pictures import Picture
from plaidwork.core.views import block_texts
from plaidwork.core.views.biclusters import Ordered, blocks_picture, in_order, orders_of
from plaidwork.core.views.blocks import MODES, BlockData, glimpse_blocks, load_blocks
from plaidwork.core.views.sources import Sources
from plaidwork.gui.language import tr
from plaidwork.gui.numbers import format_limits, tidy
from plaidwork.gui.results.beside_blocks import BesideBlocks
from plaidwork.gui.results.bicluster_canvas import BiclusterCanvas
from plaidwork.gui.results.blocks import Blocks
from plaidwork.gui.results.option_row import Labelled, Legend, OptionRow, page_content
from plaidwork.gui.results.show_data import Content, MatrixData
from plaidwork.gui.results.strip_field import StripField
from plaidwork.gui.tasks import Task
from plaidwork.gui.widgets import ColorBar, Label, SegmentedControl, SliderField, tool_button
from plaidwork.gui.workbench import Workbench

REORDER_AFTER = 450
"""Milliseconds the threshold rests before rows and columns are put in a new order."""
_NARROW = 560
_THRESHOLD = "Membership at least"


class BiclusterPage(BesideBlocks):
    """Blocks in the re-ordered matrix; see the module and `Blocks`."""

    icon_name = "blocks"
    canvas: BiclusterCanvas
    layer_axis = ("rows", 0)

    def __init__(self, workbench: Workbench, run: Run, view: View, parent: QWidget | None = None) -> None:
        self.blocks = Blocks(workbench, run)
        threshold = view.options.get("threshold")
        if threshold is not None and not self.blocks.selection.threshold_chosen:
            self.blocks.selection.set_threshold(float(threshold))
        self._mode = ""
        self._strip: str | None = None
        self._by_block = True
        self._ordering: Task | None = None
        self._orders: dict[tuple[Any, ...], tuple[np.ndarray, np.ndarray]] = {}
        self._open_after_order: int | None = None
        super().__init__(workbench, run, view, parent)
        self.blocks.setParent(self)
        self.blocks.changed.connect(self._on_blocks)

    # -- widgets --------------------------------------------------------------------------------
    def build(self) -> QWidget:
        self.canvas = BiclusterCanvas(self.blocks)
        self.canvas.hovered.connect(self.hovered)
        self.canvas.opened.connect(self.open_block)
        self.canvas.view_changed.connect(self._update_foot)
        self.mode = SegmentedControl([(key, text) for key, text in MODES.items()])
        self.mode.changed.connect(self.set_mode)
        self._mode_field = Labelled("Show", self.mode)
        self.threshold = SliderField("", 0, 1, self.blocks.selection.threshold)
        self.threshold.slider.setAccessibleName(tr(_THRESHOLD))
        self.threshold.setToolTip(tr("Rows and columns count as members from this probability on"))
        self._threshold_field = Labelled(_THRESHOLD, self.threshold)
        self.threshold.value_changed.connect(self._set_threshold)
        self._strip_field = StripField()
        self._strip_field.chosen.connect(self._choose_strip)
        self._back = tool_button("zoom-fit", "Show the whole matrix (Esc)", self.canvas.reset_view)
        self._options = options = OptionRow(self._mode_field, self._threshold_field, self._strip_field)
        self._foot = Label("", "body", "muted", elide=True)
        self._missing = Legend()
        self.bar = ColorBar("loom")
        content = page_content(options, self.canvas, self._foot, self._back, self._missing, self.bar)
        self._reorder_timer = QTimer(self, singleShot=True, interval=REORDER_AFTER)
        self._reorder_timer.timeout.connect(self._order)
        return content

    # -- loading --------------------------------------------------------------------------------
    def first_look(self, sources: Sources) -> BlockData | None:
        return glimpse_blocks(sources)

    def load(self, sources: Sources) -> BlockData:
        return load_blocks(sources)

    def show_loaded(self, loaded: BlockData) -> None:
        """New results: offer what there is, then order in the background."""
        self._orders.clear()
        self.blocks.set_data(loaded)
        if self._mode not in loaded.modes:
            self._mode = loaded.modes[0]
        self._offer_modes(loaded.modes)
        self._strip_field.set_strips(loaded.strips, self._strip)
        self._show_strip()
        self.canvas.outlined = True
        self._show_or_explain()
        self._order()

    def _offer_modes(self, modes: Sequence[str]) -> None:
        for segment, key in zip(self.mode.findChildren(QAbstractButton), MODES):
            segment.setVisible(key in modes)
        self.mode.set_current(self._mode)
        self._mode_field.setVisible(len(modes) > 1)

    def _show_or_explain(self) -> None:
        """The picture, or the sentence that no block is left at this threshold."""
        data = self.blocks.data
        if data is None:
            return
        if len(data) == 0:
            self.show_content()
        elif not self.blocks.visible():
            strongest = self.blocks.strongest()
            actions: list[Any] = []
            if strongest > 0:
                lower = np.floor(strongest * 100) / 100
                actions.append((f"Set to {lower:.2f}", lambda: self._set_threshold(lower)))
            if self.blocks.selection.threshold != 0.5 and strongest >= 0.5:
                actions.append(("Back to 0.50", lambda: self._set_threshold(0.5), "quiet"))
            self.show_state(
                "search",
                "No block at this threshold",
                f"No block has a membership of {self.blocks.selection.threshold:.2f} or more. "
                f"The strongest has {strongest:.2f}.",
                actions,
            )
        elif self.state:
            self.show_content()

    # -- head -----------------------------------------------------------------------------------
    def default_headline(self) -> str:
        return block_texts.headline(self.blocks)

    def default_caption(self) -> str:
        return block_texts.caption(self.blocks)

    def update_head(self) -> None:
        """The model's headline holds at its own threshold only."""
        own = float(self.view.options.get("threshold", 0.5))
        if abs(self.blocks.selection.threshold - own) < 1e-9:
            super().update_head()
        else:
            self.set_head(self.default_headline(), self.default_caption())

    # -- order and picture ----------------------------------------------------------------------
    def _order_key(self) -> tuple[Any, ...]:
        focus = self.blocks.selected
        if not self._by_block:
            return ("data",)
        threshold = self.blocks.selection.threshold
        return ("block", threshold, focus)

    def _order(self) -> None:
        """Compute order and pyramid in the background, then show them."""
        data = self.blocks.data
        if data is None:
            return
        if self._ordering is not None:
            self._ordering.cancel()
            self._own_tasks.discard(self._ordering)
        key, mode = self._order_key(), self._mode
        rows, columns = (mask.copy() for mask in self.blocks.masks)
        focus, known = self.blocks.selected if self._by_block else None, self._orders.get(key)

        def make(task: Task) -> Ordered:
            orders = known or orders_of(data, rows, columns, focus, self._by_block)
            return in_order(self.blocks, data, mode, *orders)

        self._ordering = self.start(make, lambda ordered: self._show_ordered(key, ordered))

    def _show_ordered(self, key: tuple[Any, ...], ordered: Ordered) -> None:
        self._orders[key] = (ordered.row_order, ordered.column_order)
        while len(self._orders) > 24:
            self._orders.pop(next(iter(self._orders)))
        data = self.blocks.data
        if data is None:
            return
        self.canvas.show_ordered(ordered, self._strip_field.strips)
        self._update_bar()
        self._update_foot()
        if self._open_after_order is not None:
            block, self._open_after_order = self._open_after_order, None
            self.canvas.show_block(block)
        self.loaded_changed.emit()

    def set_mode(self, mode: str) -> None:
        """Show data, fit, residual or coverage."""
        if mode == self._mode or self.blocks.data is None or mode not in self.blocks.data.modes:
            return
        self._mode = mode
        self.mode.set_current(mode)
        self._order()

    def set_order(self, by_block: bool) -> None:
        """Order by block, or leave rows and columns as in the data."""
        if by_block != self._by_block:
            self._by_block = by_block
            self._order()

    def open_block(self, block: int) -> None:
        """Choose a block and zoom to its rows and columns once they are in order."""
        self._open_after_order = block
        if self.blocks.selected != block:
            self.blocks.select(block)
        elif not (self._ordering and not self._ordering.finished and not self._ordering.cancelled):
            self._open_after_order = None
            self.canvas.show_block(block)

    # -- options --------------------------------------------------------------------------------
    def _set_threshold(self, value: float) -> None:
        self.blocks.selection.set_threshold(float(value))

    def _on_blocks(self, what: str) -> None:
        if what == "items":
            self._mark_beside()
        else:
            self._fill_beside()
        if what == "members":
            self.threshold.set_value(self.blocks.selection.threshold)
            self._show_or_explain()
            self.update_head()
            self.canvas.show_blocks()
            self._reorder_timer.start()
        elif what == "layer":
            self.canvas.show_blocks()
            if self.canvas.zoomed and self._open_after_order is None:
                self.canvas.reset_view()
            self._order()
        elif what == "names":
            self.update_head()
            self.canvas.show_blocks()
        elif what == "items":
            selection = self.blocks.selection
            self.canvas.set_selected({kind: selection.get(kind) for kind in ("row", "column")})

    def _choose_strip(self, title: str) -> None:
        self._strip = title
        self._show_strip()

    def _show_strip(self) -> None:
        strips = self._strip_field.strips
        self.blocks.strip = strips[0].title if strips else ""
        if self.canvas.ordered is not None:
            self.canvas.show_ordered(self.canvas.ordered, strips)
        self._fit_options()
        self.blocks.changed.emit("strip")

    def _update_bar(self) -> None:
        data = self.blocks.data
        assert data is not None
        low, high = data.mode_limits(self._mode)
        mid = (low + high) / 2
        if self._mode == "coverage":
            self.bar.set_label("Probability of being in a block")
            self.bar.set_limits("0", "0.5", "1", map_name="tide")
        else:
            self.bar.set_label("" if self.width() < _NARROW else data.unit or "Value")
            signed = abs(mid) < 1e-12
            texts = [
                tidy(f"{v:+.4g}") if signed and v else text
                for v, text in zip((low, mid, high), format_limits((low, mid, high), 4), strict=True)
            ]
            self.bar.set_limits(*texts, clipped=data.mode_clipped(self._mode), map_name="loom")
        ordered = self.canvas.ordered
        missing = ordered is not None and ordered.cells.pyramid.has_missing
        self._missing.set_entries([("missing", "missing")] if missing else [])

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Narrow pages drop words."""
        super().resizeEvent(event)
        self._fit_options()
        was = event.oldSize().width() < _NARROW
        if (
            was != (self.width() < _NARROW)
            and self.canvas.ordered is not None
            and self.blocks.data is not None
        ):
            self._update_bar()
            self._update_foot()

    def _fit_options(self) -> None:
        """One row of options if leaving out the least needed makes it so; the menu has the strip too."""
        strips = len(self.blocks.data.strips) if self.blocks.data is not None else 0
        for level in range(3):
            self._strip_field.choice.setVisible(strips > 1 and level < 1)
            self._mode_field.label.setVisible(level < 2)
            self._threshold_field.label.setText(_THRESHOLD if level < 2 else "At least")
            if self._options.full_width() <= self._options.width():
                break

    def _update_foot(self) -> None:
        data = self.blocks.data
        if data is None or self.canvas.ordered is None:
            return
        zoomed = self.canvas.zoomed
        self._back.setVisible(zoomed)
        self._foot.setText(
            block_texts.part_text(data, self.canvas.visible_range)
            if zoomed
            else block_texts.whole_text(self.blocks, data, self._by_block, self.width() < _NARROW)
        )

    # -- read-out, search, keys -----------------------------------------------------------------
    def search(self, text: str) -> list[str]:
        """Mark the rows and columns whose names hold the text and go to the first."""
        data = self.blocks.data
        if data is None or not text:
            self.blocks.selection.set("row", ())
            self.blocks.selection.set("column", ())
            return []
        wanted = text.casefold()
        notes = data.row_notes or ("",) * len(data.row_names)
        rows = [
            i
            for i, (name, note) in enumerate(zip(data.row_names, notes))
            if wanted in findable(name) or wanted in note.casefold()
        ]
        columns = [i for i, name in enumerate(data.column_names) if wanted in findable(name)]
        self.blocks.selection.set("row", rows[:200])
        self.blocks.selection.set("column", columns[:200])
        if rows:
            self.canvas.go_to(row=rows[0])
        elif columns:
            self.canvas.go_to(column=columns[0])
        return [data.row_names[i] for i in rows] + [data.column_names[i] for i in columns]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """[ and ] work wherever the focus is on this page."""
        if event.key() in (Qt.Key.Key_BracketLeft, Qt.Key.Key_BracketRight):
            self.blocks.step(1 if event.key() == Qt.Key.Key_BracketRight else -1)
        else:
            super().keyPressEvent(event)

    def close_find(self) -> None:
        super().close_find()
        self.canvas.setFocus()

    def leave(self) -> bool:
        return bool(self.canvas.leave())

    def name_place(self, number: int) -> tuple[QWidget, QRect]:
        tag = self.canvas.tag_rect(number)
        return super().name_place(number) if tag.isEmpty() else (self.canvas, tag.toRect())

    def fill_menu(self, menu: QMenu) -> None:
        for text, by_block in (("Order by block", True), ("Order as in the data", False)):
            action = menu.addAction(tr(text), partial(self.set_order, by_block))
            action.setCheckable(True)
            action.setChecked(self._by_block == by_block)
        self._strip_field.fill_menu(menu)
        menu.addSeparator()
        outlines = menu.addAction(tr("Show outlines"), self._toggle_outlines)
        outlines.setCheckable(True)
        outlines.setChecked(self.canvas.outlined)

        block = self.blocks.selected
        if block is not None:
            menu.addSeparator()
            menu.addAction(tr("Open the sub-matrix\tEnter"), partial(self.open_block, block))
            menu.addAction(tr("Export rows × columns…"), partial(self.ask_file, self.block_file(block)))

    def _toggle_outlines(self) -> None:
        self.canvas.outlined = not self.canvas.outlined
        self.canvas.show_blocks()

    # -- out ------------------------------------------------------------------------------------
    def shown_picture(self) -> Picture | None:
        """All of the matrix in its order, with the blocks as they are now."""
        data, ordered = self.blocks.data, self.canvas.ordered
        if data is None or ordered is None:
            return None
        return blocks_picture(
            self.blocks, ordered, self._mode, self._strip_field.strips, self._by_block, self.canvas.outlined
        )

    def data_content(self) -> tuple[Content, Mapping[str, Callable[[Any], str]]]:
        """The matrix as shown: mode and order."""
        shown = self.shown_picture()
        assert shown is not None
        assert shown.matrix is not None
        return MatrixData(
            shown.matrix.values, shown.matrix.rows, shown.matrix.columns, shown.matrix.corner
        ), {}
