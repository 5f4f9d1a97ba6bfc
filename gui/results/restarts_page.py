"""Factors of two restarts of a fit, paired by their correlation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtWidgets import QWidget

from plaidwork.core.draws.summaries import match_factors
from plaidwork.core.findings.naming import findable
from plaidwork.core.pictures.pyramid import Pyramid
from plaidwork.core.views.sources import SourceError, Sources, role_names
from plaidwork.gui.numbers import format_correlation, format_probability
from plaidwork.gui.results.chart import ItemPicker
from plaidwork.gui.results.heat_canvas import HeatCanvas, Picture
from plaidwork.gui.results.option_row import Labelled, OptionRow, page_content
from plaidwork.gui.results.page import ResultPage
from plaidwork.gui.results.show_data import Content
from plaidwork.gui.widgets import ColorBar, Label

FOUND = 0.9
"""Absolute correlation from which a factor is said to be found again."""


@dataclass(frozen=True)
class Restarts:
    """(F, F) correlations, the restart of each factor, their names; ``numbers`` are the restarts there are."""

    correlation: np.ndarray
    restart: np.ndarray
    names: tuple[str, ...]
    numbers: tuple[int, ...]
    shown: int
    doc: str


@dataclass(frozen=True)
class Pair:
    """Factors of two restarts: absolute correlations (K, J) and the partner of each row (-1: none)."""

    values: np.ndarray
    signed: np.ndarray
    index: np.ndarray
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    order: np.ndarray


class RestartsPage(ResultPage):
    """Roles ``values`` (F, F), correlations of the factors of all restarts, and ``restart`` (F,), the number of the
    restart of each; optional ``names`` (F,) and ``shown`` (1,), the restart that the other views show."""

    icon_name = "compare"
    canvas: HeatCanvas

    def __init__(self, workbench: Any, run: Any, view: Any, parent: QWidget | None = None) -> None:
        self._one = self._other = 0
        self.pair: Pair | None = None
        self._selection = workbench.selection(run)
        super().__init__(workbench, run, view, parent)
        self._selection.changed.connect(self._on_selection)

    def build(self) -> QWidget:
        self.canvas = HeatCanvas()
        self.canvas.setAccessibleName(self.view.title)
        self.canvas.hovered_cell.connect(self._tell)
        self.canvas.clicked_cell.connect(self._pick)
        self.one_picker, self.other_picker = ItemPicker(), ItemPicker()
        self.one_picker.currentIndexChanged.connect(lambda i: self.choose(i, self._other))
        self.other_picker.currentIndexChanged.connect(lambda i: self.choose(self._one, i))
        options = OptionRow(Labelled("Down", self.one_picker), Labelled("Across", self.other_picker))
        self._foot = Label("", "body", "muted", elide=True)
        self.bar = ColorBar("tide")
        self.bar.set_label("absolute correlation")
        self.bar.set_limits("0", "0.5", "1")
        return page_content(options, self.canvas, self._foot, self.bar)

    def load(self, sources: Sources) -> Restarts:
        found = sources.result("values", 2)
        count = len(found.values)
        values = sources.array("values", (count, count))
        restart = sources.array("restart", (count,)).astype(np.intp)
        numbers = tuple(int(n) for n in np.unique(restart))
        shown = numbers[0] if numbers else 0
        if sources.has("shown"):
            shown = int(sources.array("shown", (1,))[0])
        dims = found.dims or ("factor",)
        if shown not in numbers and numbers:
            raise SourceError(f"The restart shown is {shown}; there are {numbers[0]} to {numbers[-1]}.")
        names = role_names(sources, "names", dims[0], count)
        return Restarts(values, restart, names, numbers, shown, found.doc)

    def show_loaded(self, loaded: Restarts) -> None:
        if len(loaded.numbers) < 2:
            self.show_state(
                "compare",
                "One restart alone cannot be compared",
                "Set “Restarts” to 2 or more and fit again: factors that come back from another start do not hang on where the fit began.",
            )
            return
        names = [
            f"Restart {n}, shown in all views" if n == loaded.shown else f"Restart {n}"
            for n in loaded.numbers
        ]
        first = self.pair is None
        if first or max(self._one, self._other) >= len(names):
            self._one = loaded.numbers.index(loaded.shown)
            self._other = 0 if self._one else 1
        self.one_picker.set_names(names, self._one)
        self.other_picker.set_names(names, self._other)
        self._draw()

    def choose(self, one: int, other: int) -> None:
        """Compare these restarts (places in the lists)."""
        if self.loaded is not None and min(one, other) >= 0 and (one, other) != (self._one, self._other):
            self._one, self._other = one, other
            self._draw()

    def _draw(self) -> None:
        data: Restarts = self.loaded
        rows = np.nonzero(data.restart == data.numbers[self._one])[0]
        columns = np.nonzero(data.restart == data.numbers[self._other])[0]
        signed = data.correlation[np.ix_(rows, columns)]
        index, _ = match_factors(signed)
        partners = index[index >= 0]
        order = np.append(partners, np.setdiff1d(np.arange(len(columns)), partners))
        self.pair = Pair(
            np.abs(signed),
            signed,
            index,
            tuple(data.names[i] for i in rows),
            tuple(data.names[i] for i in columns),
            order,
        )
        pair = self.pair
        self.canvas.set_picture(
            Picture(
                Pyramid(pair.values, None, order),
                np.arange(len(rows)),
                order,
                pair.rows,
                pair.columns,
                (0.0, 1.0),
                "tide",
                number=lambda row, column: format_probability(float(pair.values[row, column])),
            )
        )
        self._mark()
        self._foot.setText(f"{len(rows)} × {len(columns)} factors, partners on the diagonal")
        self.update_head()

    @property
    def _is_shown(self) -> bool:
        """Whether the rows are the factors of the other views."""
        return bool(self.loaded) and self.loaded.numbers[self._one] == self.loaded.shown

    def _pick(self, row: int, column: int) -> None:
        if row >= 0 and self._is_shown:
            self._selection.set("layer", (row,))

    def _on_selection(self, kind: str) -> None:
        if kind == "layer" and self.pair is not None:
            self._mark()

    def _mark(self) -> None:
        chosen = self._selection.get("layer")
        assert self.pair is not None
        self.canvas.marked_rows = tuple(row for row in chosen if self._is_shown and row < len(self.pair.rows))
        self.canvas.update()

    def _tell(self, row: int, column: int) -> None:
        pair = self.pair
        if row < 0 or pair is None or self.loaded is None:
            self.hovered.emit("")
            return
        one, other = (self.loaded.numbers[i] for i in (self._one, self._other))
        text = f"{pair.rows[row]} of restart {one}, {pair.columns[column]} of restart {other}: "
        text += f"correlation {format_correlation(float(pair.signed[row, column]))}"
        self.hovered.emit(text + (", partners" if pair.index[row] == column else ""))

    def search(self, text: str) -> list[str]:
        """Mark the factors whose names hold the text."""
        if self.pair is None:
            return []
        wanted = text.casefold()
        rows = tuple(i for i, name in enumerate(self.pair.rows) if text and wanted in findable(name))
        self.canvas.marked_rows = rows
        self.canvas.update()
        if not text:
            self._mark()
        return [self.pair.rows[i] for i in rows]

    # -- words and files ------------------------------------------------------------------------
    def _matched(self) -> np.ndarray:
        assert self.pair is not None
        rows = np.nonzero(self.pair.index >= 0)[0]
        found = np.zeros(len(self.pair.rows))
        found[rows] = self.pair.values[rows, self.pair.index[rows]]
        return found

    def default_headline(self) -> str:
        if self.pair is None or not self.loaded:
            return self.view.title
        matched = self._matched()
        one, other = (self.loaded.numbers[i] for i in (self._one, self._other))
        if one == other:
            return f"Restart {one} beside itself"
        return f"{int((matched >= FOUND).sum())} of {len(matched)} factors of restart {one} come back in restart {other}"

    def default_caption(self) -> str:
        if self.pair is None:
            return ""
        matched = self._matched()
        return (
            f"Each factor has one partner. Absolute correlation of partners: mean {format_probability(float(matched.mean()))}, "
            f"least {format_probability(float(matched.min()))}; come back: {FOUND:.2f} or more."
        )

    def figure_parts(self) -> Sequence[Sequence[QWidget]]:
        return [[self.canvas], [self._foot, self.bar]]

    def data_content(self) -> tuple[Content, Mapping[str, Callable[[Any], str]]]:
        pair = self.pair
        assert pair is not None
        partner = [pair.columns[j] if j >= 0 else "" for j in pair.index]
        return {
            "Factor": np.array(pair.rows, dtype=object),
            "Partner": np.array(partner, dtype=object),
            "Correlation": np.array(
                [pair.signed[i, j] if j >= 0 else np.nan for i, j in enumerate(pair.index)]
            ),
        }, {}
