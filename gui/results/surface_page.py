"""A map of class probabilities over two inputs, with the data on it and a cut along a line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from PySide6.QtWidgets import QCheckBox, QWidget

from plaidwork.gui.numbers import format_count, format_number
from plaidwork.gui.results.chart import ItemPicker, capital, plural
from plaidwork.gui.results.cut_chart import CutChart
from plaidwork.gui.results.marks import MarkLegend
from plaidwork.gui.results.option_row import Labelled, OptionRow, page_content
from plaidwork.gui.results.points_page import PointsPage
from plaidwork.gui.results.show_data import Content, MatrixData
from plaidwork.gui.results.source import Sources
from plaidwork.gui.results.surface_chart import Drawn, SurfaceChart
from plaidwork.gui.results.surface_map import Layer, Surface, read_chosen
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import ColorBar, Label, SegmentedControl
from plaidwork.gui.widgets.layouts import horizontal, vertical

_SHOWS = (("probability", "Probability"), ("uncertainty", "Uncertainty"), ("null", "No class"))
_TALL = 620
"""Height of a page from which the cut is shown at first."""


class SurfacePage(PointsPage):
    """Role ``values`` (C, gy, gx), or (gy, gx) of the second of two classes, at the places ``x`` (gx,) and ``y`` (gy,);
    ``names`` (C,), ``points`` (n, 2) with ``labels`` (n,) below 0 where unknown and ``test`` (n,) 1 for test points,
    ``null`` (gy, gx) probability of no class, ``uncertainty`` (gy, gx) or (C, gy, gx).

    Options: ``x_label``, ``y_label``, and ``response``: the input whose columns may be chosen, and by role what
    ``Model.response`` calls it. The map of other columns is computed in the background, also while the fit runs; the
    choice is kept in the session.
    """

    icon_name = "map"

    def __init__(self, workbench: Any, run: Any, view: Any, parent: QWidget | None = None) -> None:
        self._class, self._show = -1, "probability"
        self._cut_chosen = False
        self._pair: tuple[int, int] | None = None
        self._selection = workbench.selection(run)
        super().__init__(workbench, run, view, parent)
        self._selection.changed.connect(self._on_selection)

    def build(self) -> QWidget:
        self.chart: SurfaceChart = SurfaceChart()
        self.curve = CutChart(self.chart)
        self.chart.hovered.connect(self.hovered)
        self.chart.selected.connect(self.select)
        self.chart.cut_moved.connect(lambda _: self._show_cut())
        self.curve.hovered.connect(self.hovered)
        self.shows = SegmentedControl(list(_SHOWS))
        self.shows.changed.connect(self.set_show)
        self._shows_field = Labelled("Show", self.shows)
        self.picker = ItemPicker()
        self.picker.currentIndexChanged.connect(self.choose_class)
        self._picker_field = Labelled("Class", self.picker)
        self.across, self.up = ItemPicker(), ItemPicker()
        for axis, picker in enumerate((self.across, self.up)):
            picker.setMaximumWidth(170)
            picker.currentIndexChanged.connect(lambda column, axis=axis: self.choose_column(axis, column))
        self._axes_fields = [Labelled("Across", self.across), Labelled("Up", self.up)]
        self.contours, self.data, self.band, self.cut = (
            QCheckBox(text) for text in ("Contours", "Data", "Band", "Cut")
        )
        self.contours.setChecked(True)
        self.data.setChecked(True)
        self.band.setChecked(True)
        self.band.setToolTip("Hatched: places where no class is more likely than not.")
        self.cut.setToolTip("A line across that can be dragged, and the probabilities along it below.")
        boxes = QWidget()
        row = horizontal(on=boxes, spacing=space.M)
        for box in (self.contours, self.data, self.band, self.cut):
            row.addWidget(box)
            box.toggled.connect(self._draw)
        self.cut.clicked.connect(lambda: setattr(self, "_cut_chosen", True))
        self.legend, self.bar = MarkLegend(), ColorBar("soft_loom")
        self._foot = Label("", "body", "muted", elide=True)
        self._picture = QWidget()
        vertical((self.chart, 1), self.curve, on=self._picture, spacing=space.S)
        options = OptionRow(*self._axes_fields, self._shows_field, self._picker_field, boxes)
        return page_content(options, self._picture, self._foot, self.legend, self.bar)

    # -- loading --------------------------------------------------------------------------------
    def load(self, sources: Sources) -> Surface | None:
        return read_chosen(sources, self.view.options, self._pair)

    def show_loaded(self, loaded: Surface | None) -> None:
        if loaded is None:
            self.show_state("map", "A map needs two inputs", "Along one input, look at the curve.")
            return
        for axis, picker in enumerate((self.across, self.up)):
            self._axes_fields[axis].setVisible(bool(loaded.columns))
            if loaded.columns:
                picker.set_names(loaded.columns, loaded.pair[axis])
        if self.chart.surface is not None and self.chart.surface.pair != loaded.pair:
            self.chart.surface = None  # zoom and line belong to the columns before
            self.chart.reset_view()
        layers = 1 if loaded.two else len(loaded.layers)
        if self._class < 0:  # the most frequent one, so that there is something to see
            labelled = loaded.labels[loaded.labels >= 0]
            self._class = int(np.bincount(labelled).argmax()) if len(labelled) else 0
        self._class = min(self._class, layers - 1)
        self.picker.set_names(loaded.classes, self._class)
        self._picker_field.setVisible(layers > 1)
        known = {"probability", *loaded.extra}
        for key, _ in _SHOWS:
            self.shows.offer(key, key in known)
        self._shows_field.setVisible(len(known) > 1)
        if self._show not in known:
            self._show = "probability"
            self.shows.set_current(self._show)
        self.band.setVisible(loaded.null is not None)
        self.data.setVisible(bool(len(loaded.points)))
        if not self._cut_chosen:
            blocked = self.cut.blockSignals(True)
            self.cut.setChecked(self.height() >= _TALL)
            self.cut.blockSignals(blocked)
        self._draw()

    # -- picture --------------------------------------------------------------------------------
    @property
    def layer(self) -> Layer:
        """The map that is shown."""
        data: Surface = self.loaded
        layers = data.layers if self._show == "probability" else data.extra[self._show]
        return layers[min(self._class, len(layers) - 1)]

    def _draw(self) -> None:
        if self.loaded is None or self.state:
            return
        data, layer = self.loaded, self.layer
        drawn = Drawn(
            self.contours.isChecked(), self.data.isChecked(), self.band.isChecked(), self.cut.isChecked()
        )
        self.chart.right_room = 0.0
        self.chart.set_surface(data, layer, drawn)
        self.curve.setVisible(drawn.cut)
        self._show_cut()
        low, high = layer.limits
        texts = [format_number(value, 3) for value in (low, (low + high) / 2, high)]
        self.bar.set_limits(*texts, map_name="soft_loom" if layer.diverging else "tide")
        self.bar.set_label(layer.title)
        self._on_selection(data.selection_kind)
        assert self.chart.points is not None
        self.legend.set_colouring(self.chart.points.colouring)
        self.legend.setVisible(bool(len(data.points)) and drawn.points)
        self.update_head()

    def _foot_text(self) -> str:
        data: Surface = self.loaded
        parts = []
        if len(data.points):
            text = f"{format_count(len(data.points))} {plural(data.word)}"
            if data.test.any():
                text += f", {format_count(int(data.test.sum()))} for the test (with an eye)"
            x, y = data.points.T
            inside = (data.x[0] <= x) & (x <= data.x[-1]) & (data.y[0] <= y) & (y <= data.y[-1])
            if not inside.all():
                text += f", {format_count(int((~inside).sum()))} outside of the map"
            parts.append(text)
        if self.layer.boundary:
            parts.append("thick line: decision boundary")
        if data.band and self.band.isChecked():
            parts.append("hatched: no class is more likely than not")
        return "; ".join(parts)

    def _show_cut(self) -> None:
        if self.loaded is not None and self.cut.isChecked():
            self.curve.show_cut()

    # -- choices --------------------------------------------------------------------------------
    def choose_column(self, axis: int, column: int) -> None:
        """Show another column of the input across (0) or up (1); the one there changes places with it if need be."""
        if self.loaded is None or column < 0:
            return
        first, second = self._pair or self.loaded.pair
        pair = (column, second) if axis == 0 else (first, column)
        if pair[0] == pair[1]:
            pair = (second, first)
        self._pair = pair
        self.across.choose(pair[0])
        self.up.choose(pair[1])
        self._foot.setText("Computing the map…")
        self.refresh()

    def choose_class(self, number: int) -> None:
        """Show the map of a class."""
        if self.loaded is not None and 0 <= number < len(self.loaded.classes):
            self._class = number
            self.picker.choose(number)
            self._draw()

    def set_show(self, show: str) -> None:
        """Show ``"probability"``, ``"uncertainty"`` or the probability of no class (``"null"``)."""
        self._show = show
        self._draw()

    def _on_selection(self, kind: str) -> None:
        if self.loaded is None or self.state:
            return
        if kind == self.loaded.selection_kind and kind:
            self.chart.set_marked(tuple(i for i in self._selection.get(kind) if i < len(self.loaded.points)))
        self._foot.setText(self._foot_text())

    # -- words and files ------------------------------------------------------------------------
    def default_headline(self) -> str:
        if self.loaded is None or self.state:
            return self.view.title
        data: Surface = self.loaded
        x, y = (name.split(",")[0] for name in (data.x_name, data.y_name))
        return f"{capital(self.layer.title)} by {x} and {y}"

    def default_caption(self) -> str:
        return self.loaded.doc if self.loaded else ""

    def figure_parts(self) -> Sequence[Sequence[QWidget]]:
        return [[self.chart], [self.curve], [self._foot, self.legend], [self.bar]]

    def data_content(self) -> tuple[Content, Mapping[str, Callable[[Any], str]]]:
        data: Surface = self.loaded
        grid = data.null if self._show == "null" and data.null is not None else data.values[-1]
        if self._show == "probability" and not data.two:
            grid = data.values[self._class]
        elif self._show == "uncertainty":
            grid = self.layer.values
        fine = grid.shape != data.values.shape[1:]
        x, y = (data.fine_x, data.fine_y) if fine else (data.x, data.y)
        rows, columns = ([format_number(float(v), 6) for v in places] for places in (y[::-1], x))
        return MatrixData(np.asarray(grid)[::-1], rows, columns, f"{data.y_name} \\ {data.x_name}"), {}
