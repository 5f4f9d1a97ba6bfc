"""Items by two factors, coloured by what is known of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtWidgets import QWidget

from plaidwork.gui.results.chart import ItemPicker, capital, plural
from plaidwork.gui.results.option_row import Labelled, OptionRow, page_content
from plaidwork.gui.results.scatter_chart import Points, ScatterChart
from plaidwork.gui.results.scores_page import Scores, ScoresPage


class ScatterPage(ScoresPage):
    """Roles and colours of a `ScoresPage`: ``values``, ``names``, ``colour``.

    Options besides ``colour_by``: ``x`` and ``y`` (numbers of factors from 1, or names).
    """

    icon_name = "scatter"

    def __init__(self, workbench: Any, run: Any, view: Any, parent: QWidget | None = None) -> None:
        self._x, self._y = -1, -1
        super().__init__(workbench, run, view, parent)

    def build(self) -> QWidget:
        self.chart = ScatterChart()
        self._build_common()
        self.x_picker, self.y_picker = ItemPicker(), ItemPicker()
        self.x_picker.currentIndexChanged.connect(lambda i: self.choose_axes(i, self._y))
        self.y_picker.currentIndexChanged.connect(lambda i: self.choose_axes(self._x, i))
        self._x_field, self._y_field = Labelled("Across", self.x_picker), Labelled("Up", self.y_picker)
        options = OptionRow(self._x_field, self._y_field, self._colour_field)
        return page_content(options, self.chart, self._foot, self.legend, self.bar)

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
        self._show_choices(loaded)
        self._draw()

    def _factor(self, option: str, default: int) -> int:
        wanted = self.view.options.get(option, default + 1)
        if isinstance(wanted, int):
            return max(0, wanted - 1)
        return self.loaded.factors.index(wanted) if wanted in self.loaded.factors else default

    def _axes(self) -> list[int]:
        return [self._x, self._y]

    def _draw(self) -> None:
        if self.loaded is None or self.state:
            return
        data: Scores = self.loaded
        self.x_picker.set_names(data.factors, self._x)
        self.y_picker.set_names(data.factors, self._y)
        shown = self._colours()
        unit = f", {data.unit}" if data.unit else ""
        if data.values.shape[1] == 1:
            x, x_name = np.arange(1, len(data.values) + 1, dtype=float), f"{data.word}, as given"
        else:
            x, x_name = data.values[:, self._x], data.factors[self._x] + unit
        y_name = data.factors[self._y] + unit
        self.chart.set_points(Points(x, data.values[:, self._y], data.names, x_name, y_name, shown))
        self._show_legend(shown)
        self._mark()
        self.update_head()

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

    def _on_layer(self, factor: int) -> None:
        if factor != self._x:
            self._y, self._x = (self._x if factor == self._y else self._y), factor
            self._draw()

    def default_headline(self) -> str:
        if not self.loaded or not self.loaded.values.size:
            return self.view.title
        data: Scores = self.loaded
        if data.values.shape[1] == 1:
            return f"{capital(plural(data.word))} by {data.factors[0]}"
        return f"{capital(plural(data.word))} by {data.factors[self._x]} and {data.factors[self._y]}"
