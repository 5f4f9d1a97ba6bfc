"""Items by two factors, coloured by an annotation of the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from plaidwork.gui.numbers import format_count, format_number
from plaidwork.gui.results.chart import ItemPicker, capital, plural
from plaidwork.gui.results.heat_canvas import RING
from plaidwork.gui.results.marks import Colouring, MarkLegend, annotation_columns, colouring, plain
from plaidwork.gui.results.option_row import Labelled, OptionRow
from plaidwork.gui.results.page import ResultPage
from plaidwork.gui.results.scatter_chart import Points, ScatterChart
from plaidwork.gui.results.show_data import Content
from plaidwork.gui.results.source import SourceError, Sources, bus_kind, role_names
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import ColorBar, Label

_NOTHING = "nothing"


@dataclass(frozen=True)
class Scores:
    """(n, K) scores with names and what the items can be coloured by."""

    values: np.ndarray
    names: tuple[str, ...]
    factors: tuple[str, ...]
    colourings: Mapping[str, Colouring]
    columns: Mapping[str, np.ndarray]
    word: str
    unit: str
    doc: str
    bus: str
    first: str
    """What to colour by at first."""


class ScatterPage(ResultPage):
    """Role ``values`` (n, K); optional ``names`` (n,) and ``colour`` (n,), a number or class of each item.

    Every annotation column of the data along the dim of the items can be the colour too.
    Options: ``x`` and ``y`` (numbers of factors from 1, or names), ``colour_by`` (title of a column).
    """

    icon_name = "scatter"

    def __init__(self, workbench: Any, run: Any, view: Any, parent: QWidget | None = None) -> None:
        self._x, self._y, self._colour = -1, -1, str(view.options.get("colour_by", ""))
        self._selection = workbench.selection(run)
        super().__init__(workbench, run, view, parent)
        self._selection.changed.connect(self._on_selection)

    def build(self) -> QWidget:
        self.chart = ScatterChart()
        self.chart.hovered.connect(self.hovered)
        self.chart.selected.connect(self.select)
        self.x_picker, self.y_picker, self.colour_picker = ItemPicker(), ItemPicker(), ItemPicker()
        self.x_picker.currentIndexChanged.connect(lambda i: self.choose_axes(i, self._y))
        self.y_picker.currentIndexChanged.connect(lambda i: self.choose_axes(self._x, i))
        self.colour_picker.currentTextChanged.connect(self.choose_colour)
        self._x_field, self._y_field = Labelled("Across", self.x_picker), Labelled("Up", self.y_picker)
        self._colour_field = Labelled("Colour by", self.colour_picker)
        self.legend = MarkLegend()
        options = OptionRow(self._x_field, self._y_field, self._colour_field)
        options.setContentsMargins(RING, 0, RING, 0)
        self._foot = Label("", "body", "muted", elide=True)
        self.bar = ColorBar("tide")
        foot_row = QWidget()
        foot = QHBoxLayout(foot_row)
        foot.setContentsMargins(RING, 0, RING, 0)
        foot.setSpacing(space.M)
        foot.addWidget(self._foot, 1)
        foot.addWidget(self.legend)
        foot.addWidget(self.bar)
        content = QWidget()
        layout = QVBoxLayout(content)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(space.M - RING)
        layout.addWidget(options)
        layout.addWidget(self.chart, 1)
        layout.addWidget(foot_row)
        return content

    # -- loading --------------------------------------------------------------------------------
    def load(self, sources: Sources) -> Scores:
        result = sources.result("values", 2)
        values = np.asarray(result.values, dtype=np.float64)
        n, count = values.shape
        dims = result.dims if len(result.dims) == 2 else ("item", "factor")
        names = role_names(sources, "names", dims[0], n)
        columns = dict(annotation_columns(sources, dims[0], names))
        first = str(self.view.options.get("colour_by", ""))
        if sources.has("colour"):
            given = sources.get("colour")
            title = given.label or "value"
            if given.values.shape != (n,):
                raise SourceError(f"The colour has the shape {given.values.shape}; there are {n} items.")
            columns = {title: given.values} | columns
            first = first or title
        made = {title: colouring(title, column) for title, column in columns.items()}
        kept = {title: found for title, found in made.items() if found is not None}
        return Scores(
            values,
            names,
            sources.dim_names(dims[1], count),
            kept,
            {title: columns[title] for title in kept},
            dims[0].replace("_", " "),
            result.unit,
            result.doc,
            bus_kind(sources, dims[0], n) or "row",
            first,
        )

    def show_loaded(self, loaded: Scores) -> None:
        n, count = loaded.values.shape
        if not n or not count:
            self.show_state("search", "Nothing to show", "The run has found nothing for this picture.")
            return
        if self._x < 0:
            self._x = self._factor("x", 0)
            self._y = self._factor("y", 1 if self._x == 0 else 0)
            chosen = self._selection.get("layer")
            if chosen and chosen[0] < count:
                self._x, self._y = chosen[0], self._x if chosen[0] == self._y else self._y
        self._x, self._y = min(self._x, count - 1), min(self._y, count - 1)
        for field in (self._x_field, self._y_field):
            field.setVisible(count > 1)
        choices = [_NOTHING, *loaded.colourings]
        if self._colour not in choices:
            self._colour = loaded.first if loaded.first in choices else _NOTHING
        self.colour_picker.set_names(choices, choices.index(self._colour))
        self._colour_field.setVisible(len(choices) > 1)
        self._draw()

    def _factor(self, option: str, default: int) -> int:
        wanted = self.view.options.get(option, default + 1)
        if isinstance(wanted, int):
            return max(0, wanted - 1)
        return self.loaded.factors.index(wanted) if wanted in self.loaded.factors else default

    def _draw(self) -> None:
        if self.loaded is None or self.state:
            return
        data: Scores = self.loaded
        self.x_picker.set_names(data.factors, self._x)
        self.y_picker.set_names(data.factors, self._y)
        shown = data.colourings.get(self._colour) or plain(len(data.values))
        unit = f", {data.unit}" if data.unit else ""
        if data.values.shape[1] == 1:
            x, x_name = np.arange(1, len(data.values) + 1, dtype=float), f"{data.word}, as given"
        else:
            x, x_name = data.values[:, self._x], data.factors[self._x] + unit
        y_name = data.factors[self._y] + unit
        self.chart.set_points(Points(x, data.values[:, self._y], data.names, x_name, y_name, shown))
        self.legend.set_colouring(shown)
        self.bar.setVisible(shown.numbers is not None)
        if shown.numbers is not None:
            low, high = shown.limits
            self.bar.set_label(shown.title)
            self.bar.set_limits(*(format_number(v, 3) for v in (low, (low + high) / 2, high)))
        self._mark()
        self.update_head()

    # -- choices --------------------------------------------------------------------------------
    def choose_axes(self, x: int, y: int) -> None:
        """Show these factors; choosing the other axis' factor swaps them."""
        if self.loaded is None or min(x, y) < 0:
            return
        if x == y and self.loaded.values.shape[1] > 1:
            x, y = (x, self._x) if x != self._x else (self._y, y)
        old, self._x, self._y = self._x, x, y
        self._draw()
        if x != old:
            self._selection.set("layer", (x,))

    def choose_colour(self, title: str) -> None:
        """Colour by a column, or by nothing."""
        self._colour = title
        self._draw()

    def select(self, items: tuple[int, ...]) -> None:
        """Select these items in all views of the run."""
        if self.loaded is not None:
            self._selection.set(self.loaded.bus, items)

    def _on_selection(self, kind: str) -> None:
        if self.loaded is None:
            return
        chosen = self._selection.get("layer")
        if kind == "layer" and chosen and chosen[0] < len(self.loaded.factors) and chosen[0] != self._x:
            self._y, self._x = (self._x if chosen[0] == self._y else self._y), chosen[0]
            self._draw()
        elif kind == self.loaded.bus:
            self._mark()

    def _mark(self) -> None:
        data: Scores = self.loaded
        chosen = tuple(i for i in self._selection.get(data.bus) if i < len(data.values))
        self.chart.set_marked(chosen)
        text = f"{format_count(len(data.values))} {plural(data.word)}"
        missing = int((~np.isfinite(data.values[:, [self._x, self._y]])).any(axis=1).sum())
        if missing:
            text += f", {format_count(missing)} without a score"
        if chosen:
            text += f"; {format_count(len(chosen))} selected"
            if len(chosen) == 1:
                text = self.chart.points.text(chosen[0])
        self._foot.setText(text)

    def search(self, text: str) -> list[str]:
        """Select the items whose names hold the text."""
        if self.loaded is None:
            return []
        wanted = text.casefold()
        hits = [i for i, name in enumerate(self.loaded.names) if text and wanted in name.casefold()]
        self.select(tuple(hits))
        return [self.loaded.names[i] for i in hits]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc closes the search, then selects nothing, then shows all."""
        if event.key() != Qt.Key.Key_Escape:
            super().keyPressEvent(event)
        elif not self._find_row.isHidden():
            self.close_find()
        elif self.chart.marked:
            self.select(())
        elif self.chart.zoomed:
            self.chart.reset_view()
        else:
            super().keyPressEvent(event)

    # -- words and files ------------------------------------------------------------------------
    def default_headline(self) -> str:
        if not self.loaded or not self.loaded.values.size:
            return self.view.title
        data: Scores = self.loaded
        if data.values.shape[1] == 1:
            return f"{capital(plural(data.word))} by {data.factors[0]}"
        return f"{capital(plural(data.word))} by {data.factors[self._x]} and {data.factors[self._y]}"

    def default_caption(self) -> str:
        return self.loaded.doc if self.loaded else ""

    def figure_parts(self) -> Sequence[Sequence[QWidget]]:
        return [[self.chart], [self._foot, self.legend, self.bar]]

    def data_content(self) -> tuple[Content, Mapping[str, Callable[[Any], str]]]:
        data: Scores = self.loaded
        columns: dict[str, Any] = {capital(data.word): np.array(data.names, dtype=object)}
        for k, name in enumerate(data.factors):
            columns[capital(name)] = data.values[:, k]
        for title, column in data.columns.items():
            columns[title if title not in columns else f"{title} (data)"] = column
        return columns, {}
