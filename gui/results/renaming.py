"""Names that the user gives to blocks, factors and topics, wherever one of them is chosen."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QMenu

from plaidwork.core.contract.model import Result
from plaidwork.core.findings.naming import Naming, found_dim, given_name
from plaidwork.core.inference.run import Run
from plaidwork.core.views.sources import Sources
from plaidwork.gui.dialogs import ask_text
from plaidwork.gui.icons import icon
from plaidwork.gui.page import Page
from plaidwork.gui.workbench import Workbench


class Renaming(Page):
    """The part of a result page that tells what is chosen in it and gives that a name."""

    workbench: Workbench
    run: Run
    loaded: Any
    layer_axis: tuple[str, int] | None = None
    """Role and axis of the blocks, factors or topics of which one is chosen here, and can be given a name."""
    _sources: Sources | None = None
    """What the picture was loaded from; None before that."""

    def new_sources(self) -> Sources:
        """The results, data and names of the run as they are now."""
        raise NotImplementedError

    def layer_dim(self, sources: Sources) -> str:
        """Dim of the blocks, factors or topics of which one is chosen here; empty where there are none."""
        if self.layer_axis is None:
            return ""
        role, axis = self.layer_axis
        dims = sources.dims(role)
        return dims[axis] if -len(dims) <= axis < len(dims) else ""

    def chosen_layer(self) -> int | None:
        """Number of the block, factor or topic that is chosen."""
        chosen = self.workbench.selection(self.run).get("layer")
        return chosen[0] if chosen else None

    def found_item(self) -> tuple[str, int] | None:
        """Dim and number of what is chosen, when the user can give it a name: what all chains found, not one solution."""
        sources, number = self._sources, self.chosen_layer()
        if sources is None or number is None or self.loaded is None or sources.run is not self.run:
            return None
        dim = self.layer_dim(sources)
        return (dim, number) if found_dim(self.run.spec, dim) else None

    def rename_item(self) -> None:
        """Ask for a name of what is chosen; an empty one brings the model's back."""
        item = self.found_item()
        if item is None:
            return
        dim, number = item
        default = Naming(self.run, {}).defaults(dim, max(number + 1, self._length(dim)))[number]
        text = f"The name is shown in all views of the run. Leave it empty for “{default}”."
        before = given_name(self.run, dim, number) or default
        name = ask_text(self.window(), f"Rename “{before}”", text, before, "Rename")
        if name is not None:
            self.workbench.name_item(self.run, dim, number, name)

    def offer_rename(self, menu: QMenu) -> None:
        """Put the command into a menu when there is something to rename."""
        item = self.found_item()
        if item is not None:
            dim, number = item
            name = self.new_sources().dim_names(dim, max(number + 1, self._length(dim)))[number]
            menu.addAction(icon("pencil"), f"Rename “{name}”…\tF2", self.rename_item)

    def _length(self, dim: str) -> int:
        named = self.run.results.get(dim)
        return len(named.values) if isinstance(named, Result) and named.values.ndim == 1 else 0
