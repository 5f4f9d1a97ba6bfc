"""Items by two factors, coloured by what is known of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from PySide6.QtWidgets import QCheckBox, QWidget

from plaidwork.core.pictures.words import capital, plural
from plaidwork.core.views.decision import Planes, decision_lines, load_planes
from plaidwork.core.views.sources import Sources
from plaidwork.gui.results.chart import ItemPicker
from plaidwork.gui.results.option_row import Labelled, OptionRow, page_content
from plaidwork.gui.results.scatter_chart import Points
from plaidwork.gui.results.score_chart import Overlay, ScoreChart
from plaidwork.gui.results.scores_page import Scores, ScoresPage


class ScatterPage(ScoresPage):
    """Roles and colours of a `ScoresPage`: ``values``, ``names``, ``colour``.

    ``planes`` (T, G, K + 1) are linear classifiers of the factors, the offset last, one set for each group of items;
    ``centres`` (T, K), ``spread`` (T,) and ``share`` (T,) are of these groups. The line between the classes and a circle
    for each group are drawn with the points. Options besides ``colour_by``: ``x`` and ``y`` (numbers of factors from 1,
    or names); without them the two with the largest coefficients, else the first two.
    """

    icon_name = "scatter"

    def __init__(self, workbench: Any, run: Any, view: Any, parent: QWidget | None = None) -> None:
        self._x, self._y = -1, -1
        self._planes: Planes | None = None
        super().__init__(workbench, run, view, parent)

    def build(self) -> QWidget:
        self.chart: ScoreChart = ScoreChart()
        self._build_common()
        self.line_box, self.group_box = QCheckBox("Decision line"), QCheckBox("Groups")
        for box in (self.line_box, self.group_box):
            box.setChecked(True)
            box.toggled.connect(lambda _: self._show_overlay())
        self.x_picker, self.y_picker = ItemPicker(), ItemPicker()
        self.x_picker.currentIndexChanged.connect(lambda i: self.choose_axes(i, self._y))
        self.y_picker.currentIndexChanged.connect(lambda i: self.choose_axes(self._x, i))
        self._x_field, self._y_field = Labelled("Across", self.x_picker), Labelled("Up", self.y_picker)
        options = OptionRow(self._x_field, self._y_field, self.line_box, self.group_box, self._colour_field)
        return page_content(options, self.chart, self._foot, self.legend, self.bar)

    def load(self, sources: Sources) -> Scores:
        loaded = super().load(sources)
        return replace(loaded, planes=load_planes(sources, len(loaded.factors)))

    def show_loaded(self, loaded: Scores) -> None:
        self._planes = loaded.planes
        n, count = loaded.values.shape
        if not n or not count:
            self.show_state("search", "Nothing to show", "The run has found nothing for this picture.")
            return
        if self._x < 0:
            first = self._planes.strongest if self._planes is not None else (0, 1)
            self._x = self._factor("x", first[0])
            self._y = self._factor("y", first[1] if self._x != first[1] else first[0])
            chosen = self._selection.get("layer")
            if chosen and chosen[0] < count:
                self._x, self._y = chosen[0], self._x if chosen[0] == self._y else self._y
        self._x, self._y = min(self._x, count - 1), min(self._y, count - 1)
        for field in (self._x_field, self._y_field):
            field.setVisible(count > 1)
        self.line_box.setVisible(self._planes is not None and count > 1)
        self.group_box.setVisible(self._planes is not None and len(self._planes.groups) > 1)
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
        self._show_overlay()
        self._show_legend(shown)
        self._mark()
        self.update_head()

    def _show_overlay(self) -> None:
        """The line between the classes with the other scores at their means, and the groups as circles."""
        if self.loaded is None or self._planes is None or self.chart.points is None:
            return
        data, planes = self.loaded, self._planes
        lines: tuple[np.ndarray, ...] = ()
        if self.line_box.isChecked() and len(data.factors) > 1:
            left, right, low, high = self.chart.limits
            middle = np.nan_to_num(np.nanmean(data.values, axis=0))
            lines = decision_lines(planes, middle, self._x, self._y, (left, right), (low, high))
        circles = None
        names: tuple[str, ...] = ()
        if self.group_box.isChecked() and len(planes.groups) > 1:
            used = planes.groups
            circles = np.column_stack(
                [planes.centres[used, self._x], planes.centres[used, self._y], planes.spread[used]]
            )
            names = tuple(f"Group {t + 1}" for t in used)
        self.chart.set_overlay(Overlay(lines, circles, names))

    def _more_text(self) -> str:
        """What line and circles are, for the foot."""
        overlay, parts = self.chart.overlay, []
        if overlay.lines:
            parts.append("line: decision, the other scores at their means")
        elif self._planes is not None and self.line_box.isChecked() and len(self.loaded.factors) > 1:
            parts.append("the decision line lies outside, the other scores at their means")
        if overlay.circles is not None:
            parts.append("circles: one standard deviation of a group")
        return "".join(f"; {part}" for part in parts)

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
