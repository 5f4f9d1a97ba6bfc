"""One curve or a few, with a band: mean and interval along an axis, or along a column that is chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from PySide6.QtWidgets import QStackedWidget, QWidget

from plaidwork.core.findings.naming import findable
from plaidwork.core.pictures.words import capital
from plaidwork.core.views.sources import SourceError, Sources
from plaidwork.gui.results.chart import ItemPicker
from plaidwork.gui.results.curve_chart import CurveChart, Curves
from plaidwork.gui.results.option_row import Labelled, OptionRow, page_content
from plaidwork.gui.results.page import ResultPage
from plaidwork.gui.results.show_data import Content
from plaidwork.gui.results.stacked_chart import StackedChart
from plaidwork.gui.widgets import Label, SegmentedControl

_MOST_TOGETHER = 6
_DRAWN = (("lines", "Lines"), ("stacked", "Stacked"))


class CurvePage(ResultPage):
    """Role ``values`` (t,) or (K, t), with ``interval`` (…, 2), ``x`` (t,), ``marks`` (m,) places with a line across
    and ``rug`` (n,) places of the data.

    Options: ``x_label``, ``y_label``, ``response`` as of the `SurfacePage`, ``stacked`` (begin with a stack). Up to six
    curves are shown together at first; probabilities that sum to one can be stacked.
    """

    icon_name = "chart"

    def __init__(self, workbench: Any, run: Any, view: Any, parent: QWidget | None = None) -> None:
        self._choice = 0
        self._column: int | None = None
        self._stacked = bool(view.options.get("stacked", False))
        super().__init__(workbench, run, view, parent)

    def build(self) -> QWidget:
        self.chart, self.stack = CurveChart(), StackedChart()
        self._charts = QStackedWidget()
        for chart in (self.chart, self.stack):
            chart.hovered.connect(self.hovered)
            self._charts.addWidget(chart)
        self.column_picker, self.picker = ItemPicker(), ItemPicker()
        self.column_picker.currentIndexChanged.connect(self.choose_column)
        self.picker.currentIndexChanged.connect(self.choose)
        self.drawn = SegmentedControl(list(_DRAWN), "stacked" if self._stacked else "lines")
        self.drawn.changed.connect(self.set_drawn)
        self._column_field, self._picker_field = (
            Labelled("Along", self.column_picker),
            Labelled("Show", self.picker),
        )
        self._drawn_field = Labelled("As", self.drawn)
        self._options = OptionRow(self._column_field, self._picker_field, self._drawn_field)
        self._foot = Label("", "body", "muted", elide=True)
        return page_content(self._options, self._charts, self._foot)

    def load(self, sources: Sources) -> Curves:
        response = sources.response()
        if response is None or not response.columns:
            return self._read(sources)
        if self._column is not None and self._column < len(response.columns):
            sources = sources.at(response, response.places(self._column))
        found = self._read(sources)
        label = sources.result("x").label if sources.has("x") else ""
        if label not in response.columns:
            return found
        column = response.columns.index(label)
        return replace(found, columns=response.columns, column=column, rug=response.values[:, column])

    def _read(self, sources: Sources) -> Curves:
        result = sources.result("values", (1, 2))
        shape = result.values.shape
        values = np.atleast_2d(np.asarray(result.values, dtype=np.float64))
        count, t = values.shape
        dims = result.dims if len(result.dims) == len(shape) else ("curve", "step")[-len(shape) :]
        x, x_name = np.arange(1, t + 1, dtype=np.float64), dims[-1].replace("_", " ")
        if sources.has("x"):
            x = sources.array("x", (t,))
            found = sources.result("x")
            x_name = (found.label or x_name) + (f", {found.unit}" if found.unit else "")
        if not np.isfinite(x).all():
            raise SourceError("The places along the axis have to be known numbers.")
        intervals = None
        if sources.has("interval"):
            intervals = sources.array("interval", (*shape, 2)).reshape(count, t, 2)
        order = np.argsort(x, kind="stable")
        unit = f", {result.unit}" if result.unit else ""
        options = self.view.options
        return Curves(
            x[order],
            values[:, order],
            None if intervals is None else intervals[:, order],
            sources.dim_names(dims[0], count) if len(shape) == 2 else (result.label or self.view.title,),
            str(options.get("x_label", x_name)),
            str(options.get("y_label", (result.label or "value") + unit)),
            result.doc,
            sources.array("marks", (None,)) if sources.has("marks") else np.zeros(0),
            sources.array("rug", (None,)) if sources.has("rug") else np.zeros(0),
            by_class=count > 1 and dims[0] == "class",
        )

    def show_loaded(self, loaded: Curves) -> None:
        if not loaded.values.size or not np.isfinite(loaded.values).any():
            self.show_state("search", "Nothing to show", "The run has found nothing for this picture.")
            return
        count = len(loaded.values)
        together = 1 < count <= _MOST_TOGETHER
        choices = (["all"] if together else []) + list(loaded.names)
        self._choice = min(self._choice, len(choices) - 1)
        self.picker.set_names(choices, self._choice)
        if loaded.columns:
            self.column_picker.set_names(loaded.columns, loaded.column)
        several = len(loaded.columns) > 1
        for field, shown in (
            (self._column_field, several),
            (self._picker_field, count > 1 and not (self._stacked and loaded.shares)),
            (self._drawn_field, loaded.shares),
        ):
            field.setVisible(shown)
        self._options.setVisible(count > 1 or several)
        self.choose(self._choice)

    def choose(self, choice: int) -> None:
        """Show one curve, or all (the first choice when there are few)."""
        if self.loaded is None or choice < 0:
            return
        self._choice = choice
        self.picker.choose(choice)
        count = len(self.loaded.values)
        together = 1 < count <= _MOST_TOGETHER
        shown = tuple(range(count)) if together and choice == 0 else (choice - together,)
        self.chart.set_curves(self.loaded, shown)
        if self.loaded.shares:
            self.stack.set_curves(self.loaded, tuple(range(count)))
        self._charts.setCurrentWidget(self.stack if self._stacked and self.loaded.shares else self.chart)
        self._foot.setText("Ticks on the axis: where the data are" if len(self.loaded.rug) else "")
        self._foot.setVisible(bool(len(self.loaded.rug)))

    def choose_column(self, column: int) -> None:
        """Show the curves along another column of the input, computed in the background."""
        if self.loaded is None or column < 0 or column == self.loaded.column:
            return
        self._column = column
        self.column_picker.choose(column)
        self._foot.setText("Computing the curves…")
        self._foot.setVisible(True)
        self.refresh()

    def set_drawn(self, drawn: str) -> None:
        """Draw probabilities as ``"lines"`` with bands, or ``"stacked"`` to one."""
        self._stacked = drawn == "stacked"
        if self.loaded is not None and not self.state:
            self.show_loaded(self.loaded)

    def search(self, text: str) -> list[str]:
        """Show the first curve whose name holds the text."""
        if self.loaded is None:
            return []
        hits = [k for k, name in enumerate(self.loaded.names) if text and text.casefold() in findable(name)]
        if hits:
            self.choose(hits[0] + (self.picker.count() - len(self.loaded.names)))
        return [self.loaded.names[k] for k in hits]

    def default_headline(self) -> str:
        if not self.loaded or not self.loaded.values.size:
            return self.view.title
        y, x = (name.split(",")[0] for name in (self.loaded.y_name, self.loaded.x_name))
        return f"{capital(y)} along {x}"

    def default_caption(self) -> str:
        return self.loaded.doc if self.loaded else ""

    def figure_parts(self) -> Sequence[Sequence[QWidget]]:
        return [[self.stack if self._stacked and self.loaded.shares else self.chart]]

    def data_content(self) -> tuple[Content, Mapping[str, Callable[[Any], str]]]:
        curves: Curves = self.loaded
        count, t = curves.values.shape
        columns: dict[str, Any] = {}
        if count > 1:
            columns["Curve"] = np.repeat(np.array(curves.names, dtype=object), t)
        columns[capital(curves.x_name)] = np.tile(curves.x, count)
        columns[capital(curves.y_name)] = curves.values.ravel()
        if curves.intervals is not None:
            columns["Low"], columns["High"] = curves.intervals.reshape(-1, 2).T
        return columns, {}
