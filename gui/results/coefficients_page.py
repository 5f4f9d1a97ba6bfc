"""Coefficients (weights, loadings, effects) of one factor: the strongest, with what is known of their doubt."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from plaidwork.core.findings.naming import findable
from plaidwork.core.pictures.words import capital, headed, plural
from plaidwork.core.views.sources import SourceError, Sources, data_axis, role_names
from plaidwork.gui.numbers import format_count, format_number, format_probability
from plaidwork.gui.results.chart import ItemPicker
from plaidwork.gui.results.coefficient_chart import CoefficientChart, Shown, limits_of
from plaidwork.gui.results.option_row import Labelled, Legend, OptionRow, page_content
from plaidwork.gui.results.page import ResultPage
from plaidwork.gui.results.show_data import Content
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Label, SegmentedControl, SliderField
from plaidwork.gui.widgets.layouts import grid_layout

_MOST_TOP = 200
_MOST_PANELS = 3
_MOST_LAYERS = 9
"""Factors that can be shown together."""
_PANEL, _LEAST_PANEL = 230, 140
_HIGH = 230
"""Pixels of a panel: across, where there is room in height; across at least; up."""
_ALL = "all"


@dataclass(frozen=True)
class Coefficients:
    """(K, m) values with what goes along; K is 1 for a single list."""

    values: np.ndarray
    intervals: np.ndarray | None
    probability: np.ndarray | None
    names: tuple[str, ...]
    layers: tuple[str, ...]
    groups: tuple[str, ...]
    """Names of the groups of items, in order; one empty name without groups."""
    group: np.ndarray
    """Number of the group of each item."""
    axis: str
    word: str
    doc: str
    selection_kind: str
    layer_word: str = "factor"


class CoefficientsPage(ResultPage):
    """Role ``values`` (m,) or (K, m), with ``interval`` (…, 2), ``probability`` of the shape of the values, ``names``
    (m,) and ``group`` (m,), text or numbers that part the items into lists side by side.

    Options: ``top`` (rows per list, 15), ``order`` "size" or "value", ``dim`` (name of the items), ``probability_label``,
    ``together`` (begin with the lists of all factors side by side, where there are few).
    """

    icon_name = "list"
    layer_axis = ("values", 0)

    def __init__(self, workbench: Any, run: Any, view: Any, parent: QWidget | None = None) -> None:
        self._layer, self._group = 0, _ALL
        self._all = bool(view.options.get("together", False))
        self._top = max(1, int(view.options.get("top", 15)))
        self._order = str(view.options.get("order", "size"))
        self._selection = workbench.selection(run)
        super().__init__(workbench, run, view, parent)
        self._selection.changed.connect(self._on_selection)

    def build(self) -> QWidget:
        self.picker = ItemPicker()
        self.picker.currentIndexChanged.connect(self._choose)
        self._picker_field = Labelled("Show", self.picker)
        self.group_picker = ItemPicker()
        self.group_picker.currentTextChanged.connect(self.choose_group)
        self._group_field = Labelled("Of", self.group_picker)
        self.top = SliderField("", 1, 30, self._top, step=1)
        self.top.slider.setAccessibleName("Number of coefficients shown")
        self._top_field = Labelled("Strongest", self.top)
        self.top.value_changed.connect(self._set_top)
        self.order = SegmentedControl([("size", "By size"), ("value", "By value")])
        self.order.set_current(self._order if self._order in ("size", "value") else "size")
        self.order.changed.connect(self._set_order)
        self._order_field = Labelled("Order", self.order)
        options = OptionRow(self._picker_field, self._group_field, self._top_field, self._order_field)
        self._panels = QWidget()
        self._grid = grid_layout(on=self._panels, spacing=space.XL)
        self.charts: list[CoefficientChart] = []
        self._foot = Label("", "body", "muted", elide=True)
        self.legend = Legend()
        return page_content(options, self._panels, self._foot, self.legend)

    # -- loading --------------------------------------------------------------------------------
    def load(self, sources: Sources) -> Coefficients:
        result = sources.result("values", (1, 2))
        shape = result.values.shape
        values = np.atleast_2d(np.asarray(result.values, dtype=np.float64))
        count, m = values.shape
        dims = result.dims if len(result.dims) == len(shape) else ("factor", "item")[-len(shape) :]
        word = str(self.view.options.get("dim", dims[-1])).replace("_", " ")
        intervals = probability = None
        if sources.has("interval"):
            intervals = sources.array("interval", (*shape, 2)).reshape(count, m, 2)
        if sources.has("probability"):
            probability = sources.array("probability", shape).reshape(count, m)
        groups: tuple[str, ...] = ("",)
        group = np.zeros(m, dtype=np.intp)
        if sources.has("group"):
            texts = sources.texts("group")
            if len(texts) != m:
                raise SourceError(f"The group has {len(texts)} items; there are {m} coefficients.")
            groups = tuple(dict.fromkeys(texts))
            group = np.array([groups.index(text) for text in texts], dtype=np.intp)
        unit = f", {result.unit}" if result.unit else ""
        return Coefficients(
            values,
            intervals,
            probability,
            role_names(sources, "names", dims[-1], m),
            sources.dim_names(dims[0], count) if len(shape) == 2 else (self.view.title,),
            groups,
            group,
            (result.label or "value") + unit,
            word,
            result.doc,
            data_axis(sources, dims[-1], m),
            dims[0].replace("_", " "),
        )

    def show_loaded(self, loaded: Coefficients) -> None:
        count, m = loaded.values.shape
        if not count or not m:
            self.show_state("search", "Nothing to show", "The run has found nothing for this picture.")
            return
        chosen = self._selection.get("layer")
        if chosen and chosen[0] < count:
            self._layer = chosen[0]
        self._layer = min(self._layer, count - 1)
        self._together = len(loaded.groups) == 1 and 1 < count <= _MOST_LAYERS
        self._all = self._all and self._together
        first = ["all"] if self._together else []
        self.picker.set_names([*first, *loaded.layers], 0 if self._all else self._layer + len(first))
        self._picker_field.setVisible(count > 1)
        choices = [_ALL, *loaded.groups]
        if self._group not in choices:
            self._group = _ALL
        self.group_picker.set_names(choices, choices.index(self._group))
        self._group_field.setVisible(len(loaded.groups) > 1)
        most = int(np.bincount(loaded.group).max())
        if len(loaded.groups) > _MOST_PANELS:
            most = m
        self.top.set_range(1, max(2, min(most, _MOST_TOP)))
        self.top.set_value(min(self._top, most))
        self._top_field.setVisible(most > 1)
        self._draw()

    # -- picture --------------------------------------------------------------------------------
    def _parts(self) -> list[tuple[str, np.ndarray]]:
        """Title and items of each list."""
        data: Coefficients = self.loaded
        if self._all:
            return [("", np.arange(data.values.shape[1]))] * len(data.layers)
        if self._group != _ALL:
            number = data.groups.index(self._group)
            return [(self._group, np.nonzero(data.group == number)[0])]
        if 1 < len(data.groups) <= _MOST_PANELS:
            return [(name, np.nonzero(data.group == g)[0]) for g, name in enumerate(data.groups)]
        return [("", np.arange(data.values.shape[1]))]

    def _draw(self) -> None:
        if self.loaded is None or self.state:
            return
        data: Coefficients = self.loaded
        parts = self._parts()
        self._fit_charts(len(parts))
        lists = [
            self._shown(title, items, k if self._all else self._layer)
            for k, (title, items) in enumerate(parts)
        ]
        common = limits_of(lists) if self._all else None
        for chart, shown in zip(self.charts, lists, strict=True):
            chart.signed = bool(self.view.options.get("signed", True))
            chart.least_row = 18 if self._all else 24
            chart.set_shown(shown, common or limits_of([shown]))
        signed = bool(self.view.options.get("signed", True))
        entries: list[tuple[object, str]] = (
            [("blue", "above zero"), ("amber", "below zero")] if signed else []
        )
        if data.intervals is not None and signed:
            entries.append(("neutral", "interval holds zero"))
        self.legend.set_entries(entries)
        self._mark()
        self._tell_foot()
        self.update_head()

    def _shown(self, title: str, items: np.ndarray, layer: int) -> Shown:
        data: Coefficients = self.loaded
        values = data.values[layer]
        items = items[np.isfinite(values[items])]
        size = np.abs(values[items])
        if (
            data.intervals is None and (size > 0).any()
        ):  # what is exactly zero has no place among the strongest
            items, size = items[size > 0], size[size > 0]
        items = items[np.argsort(-size, kind="stable")][: self._top]
        if self._order == "value":
            items = items[np.argsort(-values[items], kind="stable")]
        name = headed(data.layers[layer])
        word = title or plural(data.word)
        return Shown(
            f"{name}: {word}" if title or (len(data.layers) > 1 and not self._all) else name,
            "",
            items,
            tuple(data.names[i] for i in items),
            values[items],
            None if data.intervals is None else data.intervals[layer][items],
            None if data.probability is None else data.probability[layer][items],
            "" if self._all else data.axis,
        )

    def _fit_charts(self, count: int) -> None:
        while len(self.charts) > count:
            chart = self.charts.pop()
            chart.hide()
            chart.deleteLater()
        while len(self.charts) < count:
            chart = CoefficientChart()
            chart.hovered.connect(self.hovered)
            chart.picked.connect(self.pick)
            self.charts.append(chart)
        self._place_charts()

    def _place_charts(self) -> None:
        """Panels beside each other, those of factors in as many rows as it takes."""
        across = len(self.charts)
        if self._all:
            wide, high = self._panels.width(), self._panels.height()
            rows = -(-across // max(1, wide // _PANEL))
            rows = max(min(rows, high // _HIGH), -(-across // max(1, wide // _LEAST_PANEL)), 1)
            across = -(-across // rows)
        for k, chart in enumerate(self.charts):
            self._grid.addWidget(chart, k // across, k % across)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._all and self.charts:
            self._place_charts()

    def _tell_foot(self) -> None:
        data: Coefficients = self.loaded
        shown = sum(len(chart.shown.values) for chart in self.charts if chart.shown is not None)
        total = sum(len(items) for _, items in self._parts())
        if self._all:
            shown, total = shown // len(self.charts), total // len(self.charts)
        if total == 1:
            self._foot.setText("")
            return
        text = f"{format_count(shown)} of {format_count(total)} {plural(data.word)}, strongest first"
        if self._all:
            text = text.replace(",", f" each by {self.loaded.axis.split(',')[0].casefold()},", 1)
        if self._order == "value":
            text = text.replace("strongest first", "largest first")
        if data.probability is not None:
            label = self.view.options.get("probability_label", "being used")
            text += f"; hollow where the probability of {label} is below 0.5"
        self._foot.setText(text)

    # -- choices --------------------------------------------------------------------------------
    def _choose(self, index: int) -> None:
        """A line of the list: all factors, or one."""
        if self._together and index == 0:
            self._all = True
            self._draw()
        else:
            self.choose_layer(index - self._together)

    def chosen_layer(self) -> int | None:
        """The one shown, chosen by the user or not."""
        return None if self._all else self._layer

    def choose_layer(self, layer: int) -> None:
        """Show another factor, here and in every view of the run."""
        if self.loaded is None or not 0 <= layer < len(self.loaded.layers):
            return
        self._layer, self._all = layer, False
        self.picker.choose(layer + self._together)
        self._draw()
        self._selection.set("layer", (layer,))

    def choose_group(self, group: str) -> None:
        """Show the items of one group, or of all."""
        self._group = group
        self._draw()

    def _set_top(self, top: float) -> None:
        self._top = int(top)
        self._draw()

    def _set_order(self, order: str) -> None:
        self._order = order
        self._draw()

    def pick(self, item: int) -> None:
        """Select an item in all views of the run (-1: none)."""
        if self.loaded is not None and self.loaded.selection_kind:
            self._selection.set(self.loaded.selection_kind, () if item < 0 else (item,))
        else:
            for chart in self.charts:
                chart.set_marked(() if item < 0 else (item,))

    def _on_selection(self, kind: str) -> None:
        if self.loaded is None:
            return
        chosen = self._selection.get("layer")
        if kind == "layer" and chosen and chosen[0] < len(self.loaded.layers) and chosen[0] != self._layer:
            self._layer = chosen[0]
            if not self._all:
                self.picker.choose(self._layer + self._together)
                self._draw()
        elif kind == self.loaded.selection_kind:
            self._mark()

    def _mark(self) -> None:
        if self.loaded.selection_kind:
            for chart in self.charts:
                chart.set_marked(self._selection.get(self.loaded.selection_kind))

    def search(self, text: str) -> list[str]:
        """Mark the items whose names hold the text; the list grows until the best one is in it."""
        if self.loaded is None or self.state:
            return []
        wanted = text.casefold()
        hits = [i for i, name in enumerate(self.loaded.names) if text and wanted in findable(name)]
        size = np.abs(np.nan_to_num(self.loaded.values[self._layer]))
        hits.sort(key=lambda i: -size[i])
        if (
            hits
            and not self._all
            and not any(hits[0] in c.shown.items for c in self.charts if c.shown is not None)
        ):
            for _, items in self._parts():
                if hits[0] in items:
                    rank = int((size[items] > size[hits[0]]).sum()) + 1
                    if rank <= self.top.slider.maximum() + 1:
                        self.top.set_value(rank)
        for chart in self.charts:
            chart.set_marked(tuple(hits[:200]))
        return [self.loaded.names[i] for i in hits]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and right walk over the factors."""
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        if step and self.loaded is not None and len(self.loaded.layers) > 1:
            index = self.picker.currentIndex() + step
            self.picker.setCurrentIndex(min(max(index, 0), self.picker.count() - 1))
        else:
            super().keyPressEvent(event)

    def leave(self) -> bool:
        """Select nothing."""
        if not any(chart.marked for chart in self.charts):
            return False
        self.pick(-1)
        return True

    # -- words and files ------------------------------------------------------------------------
    def _layer_word(self) -> str:
        """What a factor is called: by its numbered name, else by the axis."""
        words = {str(name).rstrip(" 0123456789").casefold() for name in self.loaded.layers}
        return words.pop() if len(words) == 1 and "" not in words else self.loaded.layer_word

    def default_headline(self) -> str:
        data: Coefficients | None = self.loaded
        if data is None or not data.values.size or not np.isfinite(data.values[self._layer]).any():
            return self.view.title
        if self._all:
            return f"{len(data.layers)} {plural(self._layer_word())} by their strongest {plural(data.word)}"
        values = data.values[self._layer]
        top = int(np.nanargmax(np.abs(values)))
        if not values[top]:
            return f"{headed(data.layers[self._layer])}: all {plural(data.word)} are 0"
        return f"{headed(data.layers[self._layer])}: {data.names[top]} is strongest ({format_number(float(values[top]), 3)})"

    def default_caption(self) -> str:
        return self.loaded.doc if self.loaded else ""

    def figure_parts(self) -> Sequence[Sequence[QWidget]]:
        return [[self._panels], [self._foot, self.legend]]

    def data_content(self) -> tuple[Content, Mapping[str, Callable[[Any], str]]]:
        data: Coefficients = self.loaded
        if self._all:
            names = {capital(data.word): np.array(data.names, dtype=object)}
            return names | {headed(name): data.values[k] for k, name in enumerate(data.layers)}, {}
        order = np.argsort(-np.nan_to_num(np.abs(data.values[self._layer]), nan=-1.0), kind="stable")
        columns: dict[str, Any] = {capital(data.word): np.array(data.names, dtype=object)[order]}
        if len(data.groups) > 1:
            columns["Group"] = np.array(data.groups, dtype=object)[data.group[order]]
        columns[capital(data.axis)] = data.values[self._layer][order]
        if data.intervals is not None:
            columns["Low"], columns["High"] = data.intervals[self._layer][order].T
        formats: dict[str, Callable[[Any], str]] = {}
        if data.probability is not None:
            columns["Probability"] = data.probability[self._layer][order]
            formats["Probability"] = lambda value: format_probability(float(value))
        return columns, formats
