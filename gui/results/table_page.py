"""A table of results: sort, filter, copy, CSV."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from PySide6.QtWidgets import QApplication, QWidget

from plaidwork.core.contract.model import Table
from plaidwork.core.draws.counting import counted, labelled, plural
from plaidwork.core.pictures.words import capital
from plaidwork.core.spelling import inside_sentence
from plaidwork.core.views.sources import Sources
from plaidwork.core.views.tables import formats_of, heads_of, table_of
from plaidwork.gui.language import tr
from plaidwork.gui.results.option_row import RING
from plaidwork.gui.results.page import ResultPage
from plaidwork.gui.results.show_data import Content
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Card, DataTable, Label
from plaidwork.gui.widgets.layouts import vertical


class TablePage(ResultPage):
    """Role ``values``: a Table, or a one-axis Result beside the names of its dim.

    Option ``layer``: the rows are the factors, so the row chosen is the factor chosen in every view of the run.
    """

    icon_name = "table"

    def __init__(self, workbench: Any, run: Any, view: Any, parent: QWidget | None = None) -> None:
        self._layer = bool(view.options.get("layer"))
        self._selection = workbench.selection(run)
        super().__init__(workbench, run, view, parent)
        self._selection.changed.connect(self._on_selection)

    def layer_dim(self, sources: Sources) -> str:
        """Of an array its first axis; of a table the dim of the model with as many items."""
        if not self._layer or self.loaded is None:
            return ""
        count, dims = len(self.loaded), sources.dims("values")
        return dims[0] if dims else sources.found_dim_of(count)

    def build(self) -> QWidget:
        self.table = DataTable(filter_line=True)
        self.table.view.setAccessibleName(tr(self.view.title))
        self.table.row_selected.connect(self._tell)
        self._card = card = Card()
        vertical(self.table, on=card, margins=4)
        self._beyond = Label("", "caption", "muted", wrap=True)
        self._beyond.hide()
        holder = QWidget()
        self._column = vertical(
            (card, 1), self._beyond, on=holder, spacing=space.S, margins=(RING, 0, RING, 0)
        )
        return holder

    def load(self, sources: Sources) -> Table:
        return table_of(sources)

    def show_loaded(self, loaded: Table) -> None:
        if not len(loaded):
            self.show_state(
                "search", "This table is empty", loaded.doc or "The run has found nothing to list here."
            )
            return
        heads = heads_of(loaded)
        self._columns = {heads[title]: column for title, column in loaded.columns.items()}
        told = formats_of(loaded.columns, loaded.units, loaded.decimals)
        self._formats = {heads[title]: tell for title, tell in told.items()}
        self.table.model.words = frozenset(heads[title] for title in loaded.words if title in heads)
        self.table.set_columns(self._columns, formats=self._formats)
        self._card.setMaximumWidth(max(720, 240 * len(heads)))

        self._on_selection("layer")

    def _on_selection(self, kind: str) -> None:
        """Select the row of the chosen factor."""
        chosen = self._selection.get("layer")
        if kind == "layer" and self._layer and self.loaded is not None and not self.state:
            self.table.select_row(chosen[0] if chosen and chosen[0] < len(self.loaded) else -1)

    def default_headline(self) -> str:
        return capital(tr(self.loaded.label)) or self.view.title if self.loaded else self.view.title

    def default_caption(self) -> str:
        if not self.loaded:
            return ""
        return self.loaded.doc or labelled(len(self.loaded), self._counted())

    def _counted(self) -> str:
        """What the rows are: what the first column names, when each has a name of its own."""
        title, names = next(iter(self.loaded.columns.items()))
        own = np.asarray(names).dtype.kind in "OUT" and len(set(map(str, names))) == len(names)
        return plural(inside_sentence(title)) if own else "rows"

    def put_on_paper(self) -> None:
        """As the base; of the table whole rows and columns, and in words what has no room."""
        super().put_on_paper()
        if self.state:
            return
        self._beyond.setText("…")  # its room is not the table's
        self._beyond.show()
        self.table.put_on_paper()
        QApplication.sendPostedEvents()  # lays out what is within each other
        rows, columns = self.table.keep_whole()
        named = (("row", rows), ("column", columns))
        told = [counted(n, f"more {word}") for word, n in named if n]
        self._beyond.setText(f"Without room here: {' and '.join(told)}." if told else "")
        self._beyond.setVisible(bool(told))
        self._column.setStretchFactor(self._card, 0)
        self._column.addStretch(1)
        self._column.activate()

    def figure_parts(self) -> Sequence[Sequence[QWidget]]:
        """The table without the line that filters it."""
        return [[self.table.view], [self._beyond]]

    def find_in_page(self) -> None:
        """The filter line is the search."""
        self.table.focus_filter()

    def data_content(self) -> tuple[Content, Mapping[str, Callable[[Any], str]]]:
        return self._columns, self._formats

    def _tell(self, row: int) -> None:
        parts = [f"{title}: {self.table.model.columns()[title][row]}" for title in list(self._columns)[:1]]
        self.hovered.emit(", ".join(parts))
        if self._layer:
            self._selection.set("layer", (row,))
