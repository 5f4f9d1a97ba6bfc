"""Names that the user gives to blocks, factors and topics, and notes on them, wherever one of them is chosen."""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtCore import QRect
from PySide6.QtWidgets import QMenu, QWidget

from plaidwork.core.contract.model import Result
from plaidwork.core.findings.naming import Naming, found_dim, given_name
from plaidwork.core.findings.notes import item_note
from plaidwork.core.inference.run import Run
from plaidwork.core.pictures.words import headed
from plaidwork.core.quoting import menu as menu_text
from plaidwork.core.views.sources import Sources
from plaidwork.gui.icons import icon
from plaidwork.gui.language import tr
from plaidwork.gui.notes.dialog import show_item_notes
from plaidwork.gui.page import Page
from plaidwork.gui.results.name_edit import NameEdit
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

    @property
    def names_given(self) -> bool:
        """Whether the user can name what is found here: what all chains found, not one solution."""
        sources = self._sources
        if sources is None or self.loaded is None or sources.run is not self.run:
            return False
        return bool(found_dim(self.run.spec, self.layer_dim(sources)))

    def name_layer(self, number: int, name: str) -> None:
        """Give a block, factor or topic a name; an empty one brings the model's back."""
        if self._sources is not None and self.names_given:
            self.workbench.name_item(self.run, self.layer_dim(self._sources), number, name)

    def name_place(self, number: int) -> tuple[QWidget, QRect]:
        """The widget on which the name of what is chosen is edited, and where on it."""
        raise NotImplementedError

    def edit_listed(self, number: int) -> bool:
        """Begin to edit a name in a list of names that is in view; False where there is none."""
        return False

    def found_item(self) -> tuple[str, int] | None:
        """Dim and number of what is chosen, when the user can give it a name."""
        number = self.chosen_layer()
        if number is None or self._sources is None or not self.names_given:
            return None
        return self.layer_dim(self._sources), number

    def rename_item(self) -> None:
        """Edit the name of what is chosen where it stands; an empty one brings the model's back."""
        item = self.found_item()
        if item is None or self.edit_listed(item[1]):
            return
        dim, number = item
        usual = headed(Naming(self.run, {}).defaults(dim, max(number + 1, self._length(dim)))[number])
        before = given_name(self.run, dim, number) or usual
        widget, place = self.name_place(number)
        NameEdit(widget, place, before, usual, partial(self.name_layer, number))

    def note_item(self) -> None:
        """Show the notes on what is chosen, in a window beside the picture."""
        item = self.found_item()
        if item is not None:
            name = headed(self._called(*item))
            show_item_notes(self.workbench, self.run, *item, name, self.window())

    @property
    def has_note(self) -> bool:
        """Whether there are notes on what is chosen."""
        item = self.found_item()
        return item is not None and bool(item_note(self.run, *item))

    def offer_rename(self, menu: QMenu) -> None:
        """Put the commands into a menu when there is something to rename, and to write about."""
        item = self.found_item()
        if item is not None:
            name = menu_text(self._called(*item))
            menu.addAction(icon("pencil"), tr(f"Rename “{name}”\tF2"), self.rename_item)
            menu.addAction(icon("note"), tr(f"Notes on “{name}”…\tCtrl+M"), self.note_item)

    def _called(self, dim: str, number: int) -> str:
        """The name that is shown of a found thing."""
        return str(self.new_sources().dim_names(dim, max(number + 1, self._length(dim)))[number])

    def _length(self, dim: str) -> int:
        named = self.run.results.get(dim)
        return int(named.held.size) if isinstance(named, Result) and named.held.ndim == 1 else 0
