"""What the fit expects in missing cells, with its standard deviation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtWidgets import QMenu, QWidget

from plaidwork.core.findings.fitted import FittedInput, write_imputed
from plaidwork.gui.numbers import format_correlation, format_count, format_percent
from plaidwork.gui.results.chart import ItemPicker, capital
from plaidwork.gui.results.heat_paint import RING
from plaidwork.gui.results.option_row import Labelled, OptionRow, page_content
from plaidwork.gui.results.page import ResultPage
from plaidwork.gui.results.show_data import Content
from plaidwork.gui.results.source import NotYet, SourceError, Sources
from plaidwork.gui.save_path import ask_save_path
from plaidwork.gui.tasks import Task
from plaidwork.gui.widgets import Card, DataTable, Label
from plaidwork.gui.widgets.layouts import vertical

MOST_ROWS = 50_000
"""Cells listed on the page; a file holds all."""


@dataclass(frozen=True)
class Gaps:
    """Missing cells of each block, and the first of one block with what is expected in them."""

    fitted: FittedInput
    names: tuple[str, ...]
    counts: tuple[int, ...]
    sizes: tuple[int, ...]
    index: int
    columns: Mapping[str, np.ndarray]
    word: str
    agreement: float
    """Correlation of what two halves of the chains expect; NaN where there are no two."""


class ImputedPage(ResultPage):
    """Role ``values``: ``fitted:X``. Cells are computed when they are looked at, and never stored with the run.

    Only the first 50 000 cells of a block are listed; *Export all imputed cells…* writes every one, a slice at a time.
    """

    icon_name = "imputed"

    def __init__(self, workbench: Any, run: Any, view: Any, parent: QWidget | None = None) -> None:
        self._index = -1
        super().__init__(workbench, run, view, parent)

    def build(self) -> QWidget:
        self.picker = ItemPicker()
        self.picker.currentIndexChanged.connect(self.choose)
        self._picker_field = Labelled("Cells of", self.picker)
        self.table = DataTable(filter_line=True)
        self.table.view.setAccessibleName(self.view.title)
        self._card = card = Card()
        vertical(self.table, on=card, margins=4)
        self._card.setMaximumWidth(720)
        self._foot = Label("", "body", "muted", elide=True)
        self._options = OptionRow(self._picker_field)
        holder = QWidget()  # its edges stand where those of other pictures do
        vertical(card, on=holder, margins=(RING, 0, RING, 0))
        return page_content(self._options, holder, self._foot)

    # -- loading --------------------------------------------------------------------------------
    def load(self, sources: Sources) -> Gaps:
        if not sources.run.n_draws:
            raise NotYet
        fitted = sources.fitted("values")
        if fitted is None or not fitted.offered:
            raise SourceError(
                f"The model “{sources.run.spec.title}” has to be installed: it computes these values."
            )
        names = tuple(block.name for block in fitted.blocks)
        gaps = [fitted.missing(k) for k in range(len(names))]
        counts = tuple(int(one.sum()) for one in gaps)
        index = self._index if 0 <= self._index < len(names) and counts[self._index] else -1
        if index < 0:
            index = next((k for k, count in enumerate(counts) if count), 0)
        dims = next((item.dims for item in sources.run.spec.inputs if item.name == fitted.name), ())
        return Gaps(
            fitted,
            names,
            counts,
            tuple(one.size for one in gaps),
            index,
            _cells(fitted, index, dims),
            (dims[0] if dims else "row").replace("_", " "),
            fitted.agreement(index, *np.nonzero(gaps[index])),
        )

    def show_loaded(self, loaded: Gaps) -> None:
        if not sum(loaded.counts):
            self.show_state(
                "check",
                "Nothing is missing",
                "Every cell of the data is known, so there is nothing to impute.",
            )
            return
        self._index = loaded.index
        self.picker.set_names(loaded.names, loaded.index)
        self._options.setVisible(len(loaded.names) > 1)
        self.table.set_columns(loaded.columns)
        listed = len(next(iter(loaded.columns.values())))
        total = loaded.counts[loaded.index]
        text = f"{format_count(total)} missing cells, {format_percent(total / max(1, loaded.sizes[loaded.index]))} of {loaded.names[loaded.index]}"
        if listed < total:
            text += f"; the first {format_count(listed)} are listed, a file holds all (… menu)"
        if not np.isnan(loaded.agreement):
            text += (
                f"; two halves of the chains agree to a correlation of {format_correlation(loaded.agreement)}"
            )
        self._foot.setText(text)

    def choose(self, index: int) -> None:
        """List the cells of another block."""
        if self.loaded is not None and index >= 0 and index != self.loaded.index:
            if not self.loaded.counts[index]:
                self._foot.setText(f"Nothing is missing in {self.loaded.names[index]}")
                self.picker.choose(self.loaded.index)
                return
            self._index = index
            self.refresh()

    # -- words and files ------------------------------------------------------------------------
    def default_headline(self) -> str:
        if not self.loaded or not sum(self.loaded.counts):
            return self.view.title
        data: Gaps = self.loaded
        parts = [
            f"{format_count(count)} of {name}"
            for count, name in zip(data.counts, data.names, strict=True)
            if count
        ]
        return f"Missing cells filled in: {', '.join(parts[:4])}"

    def default_caption(self) -> str:
        if not self.loaded or not sum(self.loaded.counts):
            return ""
        return (
            "Expected: a mean for numbers, the chance of a 1 for yes or no, a mean count for counts. "
            "SD: how far the cell itself may be from it."
        )

    def find_in_page(self) -> None:
        """The filter line is the search."""
        self.table.focus_filter()

    def fill_menu(self, menu: QMenu) -> None:
        if self.loaded is not None and sum(self.loaded.counts):
            menu.addAction("Export all imputed cells…", self.ask_cells)

    def ask_cells(self) -> None:
        """Ask for a file and write all cells of all blocks in the background."""
        name = self.file_name(".csv", "imputed")
        path = ask_save_path(self, "Export all imputed cells", name, "CSV (*.csv)")
        if path is not None:
            self.export_cells(path)

    def export_cells(self, path: Path) -> Task:
        """Write every missing cell as (data, sample, feature, expected, sd), a slice at a time."""
        fitted, word = self.loaded.fitted, self.loaded.word

        def written(count: int) -> None:
            self.workbench.notified.emit("ok", f"Exported {format_count(count)} cells to {path.name}", "", "")

        def failed(error: BaseException, details: str) -> None:
            self.workbench.notified.emit("error", "Could not export the imputed cells", str(error), "")

        return self.start(lambda task: write_imputed(fitted, path, word), written, failed)

    def data_content(self) -> tuple[Content, Mapping[str, Callable[[Any], str]]]:
        return self.loaded.columns, {}


def _cells(fitted: FittedInput, index: int, dims: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Columns of the first missing cells of a block."""
    parts = list(fitted.imputed(index, MOST_ROWS))
    rows, columns, mean, sd = (
        np.concatenate([part[k] for part in parts]) if parts else np.zeros(0) for k in range(4)
    )
    block = fitted.blocks[index]
    titles = [capital(dim.replace("_", " ")) for dim in dims] if len(dims) == 2 else ["Row", "Column"]
    names = [np.array(axis, dtype=object) for axis in fitted.shown_names(index)]
    unit = f" ({block.unit})" if block.unit else ""
    return {
        titles[0]: names[0][rows.astype(np.intp)],
        titles[1]: names[1][columns.astype(np.intp)],
        f"Expected{unit}": mean,
        f"SD{unit}": sd,
    }
