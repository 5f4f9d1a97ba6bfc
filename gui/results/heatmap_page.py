"""Any matrix of numbers as a heat map with names, hover values and a colour bar."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtWidgets import QWidget

from plaidwork.core.findings.naming import findable
from plaidwork.core.pictures.pyramid import Pyramid
from plaidwork.core.views.sources import Sources, role_names
from plaidwork.gui.numbers import (
    format_correlation,
    format_count,
    format_fixed,
    format_limits,
    format_number,
    format_probability,
    tidy,
)
from plaidwork.gui.results.blocks import colour_limits
from plaidwork.gui.results.heat_canvas import HeatCanvas, Picture
from plaidwork.gui.results.option_row import Labelled, Legend, OptionRow, page_content
from plaidwork.gui.results.page import ResultPage
from plaidwork.gui.results.show_data import Content, MatrixData
from plaidwork.gui.widgets import ColorBar, Label, SegmentedControl
from plaidwork.gui.workbench import Workbench

_MOST_CLUSTERED = 3000
_MOST_LEAVES = 1500
"""Items of an axis that are clustered; longer axes keep their order."""
_MOST_NUMBERED = 40
"""Longer axes have no numbers in their cells."""


@dataclass(frozen=True)
class Heat:
    """A matrix ready to draw: as given and, when that makes sense, clustered."""

    values: np.ndarray
    row_names: tuple[str, ...]
    column_names: tuple[str, ...]
    row_word: str
    label: str
    unit: str
    doc: str
    limits: tuple[float, float]
    clipped: tuple[bool, bool]
    lut: str
    orders: dict[str, tuple[np.ndarray, np.ndarray]]
    pyramids: dict[str, Pyramid]
    marks: np.ndarray | None = None

    def number(self, value: float) -> str:
        """A cell in words, by what the ends of the scale say that it is."""
        if self.limits == (0.0, 1.0):
            return format_probability(value)
        return format_correlation(value) if self.limits == (-1.0, 1.0) else format_fixed(value, 2)


class HeatmapPage(ResultPage):
    """Role ``values``: a result (n, m).

    Options: ``scale`` "sequential" or "diverging" (else found from the numbers), ``minimum`` and ``maximum``,
    ``row_dim`` and ``col_dim`` (names of axes, when the result has none), ``cluster`` (True: start with the clustered
    order; False: never offer it), ``order`` (words for the order of the result itself, as "by block"),
    ``layer`` "row", "column" or "both": that axis has the factors, so a click chooses one in every view of the run.
    Role ``mark`` puts a dot into the cells where it is above 0.
    Roles ``row_names`` and ``column_names`` may name tables (their first column) or results of indices into the
    items of the dim.
    """

    icon_name = "heatmap"
    canvas: HeatCanvas

    def __init__(self, workbench: Workbench, run: Any, view: Any, parent: QWidget | None = None) -> None:
        self._order = "clustered" if view.options.get("cluster") else "given"
        self._layer = {"row": (0,), "column": (1,), "both": (0, 1)}.get(
            str(view.options.get("layer", "")), ()
        )
        self._selection = workbench.selection(run)
        super().__init__(workbench, run, view, parent)
        self._selection.changed.connect(self._on_selection)

    def layer_dim(self, sources: Sources) -> str:
        given = (self.view.options.get("row_dim"), self.view.options.get("col_dim"))
        dims = sources.dims("values")
        axis = self._layer[-1] if self._layer else -1
        return str(given[axis] or dims[axis]) if 0 <= axis < len(dims) else ""

    def build(self) -> QWidget:
        self.canvas = HeatCanvas()
        self.canvas.setAccessibleName(self.view.title)
        self.canvas.hovered_cell.connect(self._tell)
        self.canvas.clicked_cell.connect(self._pick)
        self.canvas.view_changed.connect(self._update_foot)
        self._given = str(self.view.options.get("order", "as given"))
        given = self._given[:1].upper() + self._given[1:]
        self.order = SegmentedControl([("given", given), ("clustered", "Clustered")], self._order)
        self.order.changed.connect(self.set_order)
        self._order_field = Labelled("Order", self.order)
        self._missing = Legend()
        self._options = OptionRow(self._order_field)
        self._foot = Label("", "body", "muted", elide=True)
        self.bar = ColorBar("tide")
        return page_content(self._options, self.canvas, self._foot, self._missing, self.bar)

    # -- loading --------------------------------------------------------------------------------
    def load(self, sources: Sources) -> Heat:
        result = sources.result("values", 2)
        values = np.asarray(result.values, dtype=np.float64)
        options = self.view.options
        dims = result.dims if len(result.dims) == 2 else ("row", "column")
        row_dim, column_dim = options.get("row_dim", dims[0]), options.get("col_dim", dims[1])
        n, m = values.shape
        lut, limits, clipped = color_scale(values, options)
        orders = {"given": (np.arange(n), np.arange(m))}
        ordered = options.get("cluster") is False  # places on axes, which mean nothing in another order
        if not ordered and 2 < max(n, m) <= _MOST_CLUSTERED and 1 < min(n, m) <= _MOST_LEAVES:
            orders["clustered"] = _clustered(values, symmetric=row_dim == column_dim and n == m)
        chosen = self._order if self._order in orders else "given"
        return Heat(
            values,
            role_names(sources, "row_names", row_dim, n),
            role_names(sources, "column_names", column_dim, m),
            row_dim.replace("_", " "),
            result.label or self.view.title,
            result.unit,
            result.doc,
            limits,
            clipped,
            lut,
            orders,
            {chosen: Pyramid(values, *orders[chosen])},
            sources.array("mark", (n, m)) > 0 if sources.has("mark") else None,
        )

    def show_loaded(self, loaded: Heat) -> None:
        if not loaded.values.size:
            self.show_state("search", "Nothing to show", "The run has found nothing for this picture.")
            return
        self._order_field.setVisible("clustered" in loaded.orders)
        self._options.setVisible("clustered" in loaded.orders)
        self._show_picture()
        low, high = loaded.limits
        mid = (low + high) / 2
        signed = loaded.lut == "loom" and abs(mid) < 1e-12
        texts = [
            tidy(f"{v:+.4g}") if signed and v else text
            for v, text in zip((low, mid, high), format_limits((low, mid, high), 4), strict=True)
        ]
        self.bar.set_label(loaded.label + (f" ({loaded.unit})" if loaded.unit else ""))
        self.bar.set_limits(*texts, clipped=loaded.clipped, map_name=loaded.lut)
        missing = self.canvas.picture is not None and self.canvas.picture.pyramid.has_missing
        self._missing.set_entries([("missing", "missing")] if missing else [])

    def _show_picture(self) -> None:
        heat: Heat = self.loaded
        order = self._order if self._order in heat.orders else "given"
        if order not in heat.pyramids:
            heat.pyramids[order] = Pyramid(heat.values, *heat.orders[order])
        rows, columns = heat.orders[order]
        self.canvas.set_picture(
            Picture(
                heat.pyramids[order],
                rows,
                columns,
                heat.row_names,
                heat.column_names,
                heat.limits,
                heat.lut,
                marks=heat.marks,
                thinned=True,
                number=None
                if heat.marks is not None or max(heat.values.shape) > _MOST_NUMBERED
                else lambda row, column: heat.number(float(heat.values[row, column])),
            )
        )
        self._mark()
        self._update_foot()

    def _pick(self, row: int, column: int) -> None:
        """A click chooses the factor of the column, or of the row, where the axes have factors."""
        if self._layer and self.loaded is not None:
            item = (row, column)[self._layer[-1]]
            self._selection.set("layer", (item,) if item >= 0 else ())

    def _on_selection(self, kind: str) -> None:
        if kind == "layer" and self._layer and self.canvas.picture is not None:
            self._mark()

    def _mark(self) -> None:
        """Triangles at the chosen factor."""
        if self._layer:
            marks = [
                tuple(i for i in self._selection.get("layer") if axis in self._layer and i < length)
                for axis, length in enumerate(self.loaded.values.shape)
            ]
            self.canvas.marked_rows, self.canvas.marked_columns = marks
            self.canvas.update()

    def set_order(self, order: str) -> None:
        """Show the items as given or clustered."""
        self._order = order
        if self.loaded is not None:
            self._show_picture()

    def default_headline(self) -> str:
        text = self.loaded.label if self.loaded else self.view.title
        return text[:1].upper() + text[1:]

    def default_caption(self) -> str:
        return self.loaded.doc if self.loaded else ""

    def _update_foot(self) -> None:
        if self.loaded is None or self.canvas.picture is None:
            return
        n, m = self.loaded.values.shape
        order = self._given
        if self._order == "clustered" and "clustered" in self.loaded.orders:
            moved = [len(at) <= _MOST_LEAVES for at in self.loaded.orders["clustered"]]
            order = "clustered"
            if not all(moved):
                order = f"{'rows' if moved[0] else 'columns'} clustered, {'columns' if moved[0] else 'rows'} {self._given}"
        self._foot.setText(f"{format_count(n)} × {format_count(m)}, {order}")

    def _tell(self, row: int, column: int) -> None:
        if row < 0 or self.loaded is None:
            self.hovered.emit("")
            return
        heat: Heat = self.loaded
        value = heat.values[row, column]
        if value != value:
            shown = "missing"
        elif heat.limits == (0.0, 1.0) or abs(value) >= 0.1:
            shown = heat.number(value)
            shown = f"+{shown}" if heat.lut == "loom" and value > 0 and shown[:1].isdigit() else shown
        else:
            shown = format_number(value, 3)
        self.hovered.emit(f"{heat.row_names[row]}, {heat.column_names[column]}: {shown}")

    def search(self, text: str) -> list[str]:
        """Mark and show the rows and columns whose names hold the text."""
        if self.loaded is None:
            return []
        wanted = text.casefold()
        rows = [i for i, name in enumerate(self.loaded.row_names) if text and wanted in findable(name)]
        columns = [i for i, name in enumerate(self.loaded.column_names) if text and wanted in findable(name)]
        if text or not self._layer:
            self.canvas.marked_rows, self.canvas.marked_columns = tuple(rows[:200]), tuple(columns[:200])
        else:
            self._mark()
        if rows or columns:
            self.canvas.go_to(rows[0] if rows else None, columns[0] if columns else None)
        self.canvas.update()
        names = [self.loaded.row_names[i] for i in rows] + [self.loaded.column_names[i] for i in columns]
        return list(dict.fromkeys(names))

    def leave(self) -> bool:
        """Show the whole matrix."""
        if not self.canvas.zoomed:
            return False
        self.canvas.reset_view()
        return True

    # -- out ------------------------------------------------------------------------------------
    def figure_parts(self) -> Sequence[Sequence[QWidget]]:
        return [[self.canvas], [self._foot, self._missing, self.bar]]

    def data_content(self) -> tuple[Content, Mapping[str, Callable[[Any], str]]]:
        heat, picture = self.loaded, self.canvas.picture
        assert picture is not None
        values = heat.values[np.ix_(picture.row_order, picture.column_order)]
        rows = [heat.row_names[i] for i in picture.row_order]
        return MatrixData(
            values, rows, [heat.column_names[i] for i in picture.column_order], heat.row_word
        ), {}


def color_scale(
    values: np.ndarray, options: Mapping[str, Any]
) -> tuple[str, tuple[float, float], tuple[bool, bool]]:
    """Colour map, its limits and whether values lie below or above them; options as of `HeatmapPage`."""
    known = values[np.isfinite(values)]
    if not len(known):
        return "tide", (0.0, 1.0), (False, False)
    kind = options.get("scale") or (
        "diverging" if options.get("signed", known.min() < 0 < known.max()) else ""
    )
    if kind == "diverging":
        _, (low, high), _ = colour_limits(values, 0.0)
    else:
        low, high = float(known.min()), float(known.max())
        if low >= 0 and high <= 1:
            low, high = 0.0, 1.0
        elif 0 < low < 0.3 * high:
            low = 0.0
    low, high = float(options.get("minimum", low)), float(options.get("maximum", high))
    if high <= low:
        high = low + 1
    clipped = (bool(known.min() < low - 1e-9), bool(known.max() > high + 1e-9))
    return "loom" if kind == "diverging" else "tide", (low, high), clipped


def robust_scale(values: np.ndarray, signed: bool) -> tuple[str, tuple[float, float], tuple[bool, bool]]:
    """As `color_scale`; a few outliers do not take the colours of all others."""
    known = values[np.isfinite(values)]
    if signed:
        return color_scale(values, {"scale": "diverging"})
    if len(known) and (known.min() < 0 or known.max() > 1) and not known.min() < 0 < known.max():
        low, high = (float(v) for v in np.percentile(known, (0.5, 99.5)))
        return color_scale(values, {"minimum": low, "maximum": high})
    return color_scale(values, {})


def _clustered(values: np.ndarray, symmetric: bool) -> tuple[np.ndarray, np.ndarray]:
    """Leaf order of average linkage; of long axes the given order."""
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import pdist

    def order(points: np.ndarray) -> np.ndarray:
        if not 2 < len(points) <= _MOST_LEAVES:
            return np.arange(len(points))
        distances = pdist(points)
        tree = linkage(distances, "average")
        if len(points) <= 300:
            tree = optimal_leaf_ordering(tree, distances)
        return np.asarray(leaves_list(tree))

    points = np.nan_to_num(values)
    rows = order(points)
    return rows, rows if symmetric else order(points.T)
