"""Blocks of a run on the screen: what is chosen, at which threshold, under which names."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QObject, Signal

from plaidwork.core.inference.run import Run
from plaidwork.core.views.blocks import BlockData, BlockSet
from plaidwork.gui.workbench import Workbench


class Blocks(QObject, BlockSet):
    """The blocks of one run on the screen. ``changed`` says what: data, members, names, layer, strip."""

    changed = Signal(str)

    def __init__(self, workbench: Workbench, run: Run, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.workbench, self.run = workbench, run
        self.selection = workbench.selection(run)
        self.data: BlockData | None = None
        self.strip = ""
        self._masks: tuple[np.ndarray, np.ndarray] = (np.zeros((0, 0), bool), np.zeros((0, 0), bool))
        self.selection.changed.connect(self._on_selection)
        workbench.names_changed.connect(self._on_names)

    def set_data(self, data: BlockData | None) -> None:
        """Show other results; the selection stays when the block still exists."""
        self.data = data
        self._update_masks()
        if data is not None and self.selected is not None and self.selected >= len(data):
            self.selection.set("layer", ())
        self.changed.emit("data")

    def _on_selection(self, kind: str) -> None:
        if kind == "threshold":
            self._update_masks()
            self.changed.emit("members")
        elif kind == "layer":
            self.changed.emit("layer")
        else:
            self.changed.emit("items")

    def _on_names(self, run_id: str) -> None:
        if run_id == self.run.id:
            self.changed.emit("names")

    def _update_masks(self) -> None:
        if self.data is not None:
            self._masks = self.masks_at(self.selection.threshold)

    # -- selection ------------------------------------------------------------------------------
    @property
    def selected(self) -> int | None:
        """The block chosen, if any."""
        chosen = self.selection.get("layer")
        if not chosen or (self.data is not None and chosen[0] >= len(self)):
            return None
        return chosen[0]

    def select(self, block: int | None) -> None:
        """Choose a block, or none."""
        self.selection.set("layer", () if block is None else (block,))

    def step(self, by: int) -> None:
        """Choose the next or the previous block, round and round."""
        shown = self.visible()
        if not shown:
            return
        if self.selected in shown:
            self.select(shown[(shown.index(self.selected) + by) % len(shown)])
        else:
            self.select(shown[0 if by > 0 else -1])
