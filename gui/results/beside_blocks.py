"""The part of the page of blocks that keeps what is known of them beside the picture."""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from plaidwork.core.pictures import File, Listing
from plaidwork.core.views.block_parts import Parts, parts_of, write_block
from plaidwork.core.views.blocks import StillBlocks
from plaidwork.gui.language import tr
from plaidwork.gui.results.beside_panel import BesidePanel
from plaidwork.gui.results.blocks import Blocks
from plaidwork.gui.results.printed_page import PrintedPage
from plaidwork.gui.tasks import Task


class BesideBlocks(PrintedPage):
    """Fills the panel in the background whenever the blocks change."""

    blocks: Blocks

    def __init__(self, *given: Any) -> None:
        self._panel: BesidePanel | None = None
        self._parts: Parts = ()
        self._filling: Task | None = None
        super().__init__(*given)

    def open_block(self, block: int) -> None:
        """Show the rows and columns of a block."""
        raise NotImplementedError

    def side_panel(self) -> QWidget:
        """List of blocks and details of the chosen one, for the right dock."""
        if self._panel is None or not isValid(self._panel):
            self._panel = panel = BesidePanel()
            panel.setWindowTitle(tr("Selection"))
            queued = (
                Qt.ConnectionType.QueuedConnection
            )  # the parts are filled anew while they tell what was selected
            panel.chosen.connect(self._choose_row, queued)
            panel.activated.connect(lambda part, row: self.open_block(row) if part == 0 else None, queued)
            panel.picked.connect(self.blocks.selection.set, queued)
            panel.hovered.connect(self.hovered)
            panel.renamed.connect(lambda part, row, name: self.name_layer(row, name))
            panel.left.connect(self.leave)
            self.destroyed.connect(panel.deleteLater)  # it may live in a dock of the window
            self._fill_beside()
        return self._panel

    def _fill_beside(self) -> None:
        """Show what is known of the blocks as they are now, once it is computed."""
        if self._panel is None or not isValid(self._panel) or self.blocks.data is None:
            return
        if self._filling is not None:
            self._filling.cancel()
            self._own_tasks.discard(self._filling)
        threshold = self.blocks.selection.threshold
        still = StillBlocks(self.run, self.blocks.data, threshold, self.blocks.selected)
        strip = self.blocks.strip
        self._filling = self.start(lambda task: parts_of(still, strip), self._show_beside)

    def _show_beside(self, parts: Parts) -> None:
        if self._panel is not None and isValid(self._panel):
            self._parts = parts
            self._panel.set_parts(parts, named=self.names_given)
            self._mark_beside()

    def _mark_beside(self) -> None:
        if self._panel is not None and isValid(self._panel):
            selection = self.blocks.selection
            self._panel.set_selected({kind: selection.get(kind) for kind in ("layer", "row", "column")})

    def edit_listed(self, number: int) -> bool:
        return self._panel is not None and isValid(self._panel) and self._panel.edit_name(number)

    def _choose_row(self, part: int, row: int) -> None:
        listing = self._parts[part] if part < len(self._parts) else None
        if isinstance(listing, Listing) and listing.of is not None:
            self.blocks.selection.set(listing.of.kind, listing.of.of(row))

    def block_file(self, block: int) -> File:
        """The values of a block as a table."""
        data = self.blocks.data
        assert data is not None
        still = StillBlocks(self.run, data, self.blocks.selection.threshold)
        return File(
            "Export rows × columns…",
            ".csv",
            partial(write_block, still, block),
            "cells",
            self.blocks.name(block),
        )
