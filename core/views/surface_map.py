"""A map of probabilities over two inputs, read from the run and made ready to draw. No Qt: called in the pool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from plaidwork.core.draws.counting import counted
from plaidwork.core.views.contours import Contour, contours, refined, regions
from plaidwork.core.views.sources import SourceError, Sources, data_axis

LEVELS = (0.1, 0.25, 0.75, 0.9)
NULL_LEVEL = 0.5
"""A place is in the null band when no class has it with this probability."""


@dataclass(frozen=True)
class Layer:
    """One picture: (fy, fx) values on a fine grid, its range, and lines over it.

    ``diverging`` maps have their neutral colour in the middle of ``limits``.
    """

    values: np.ndarray
    limits: tuple[float, float]
    diverging: bool
    contours: tuple[Contour, ...]
    boundary: tuple[np.ndarray, ...]
    title: str


@dataclass(frozen=True)
class Surface:
    """Everything a map shows.

    Attributes
    ----------
    values : (C, gy, gx) as given (one class: its probability). x, y : (gx,), (gy,) rising.
    fine_x, fine_y : places of the fine grid. layers : by class, or one. extra : ``uncertainty`` and ``null`` if given.
    null : (gy, gx) or None. band : outlines of the null band; band_edges : its edges inside the map.
    points : (n, 2), labels : (n,) class or -1, test : (n,) bool, names of the points.
    uncertainty : (1, gy, gx) or (C, gy, gx) as given, or None.
    """

    values: np.ndarray
    x: np.ndarray
    y: np.ndarray
    fine_x: np.ndarray
    fine_y: np.ndarray
    classes: tuple[str, ...]
    layers: tuple[Layer, ...]
    extra: Mapping[str, tuple[Layer, ...]]
    null: np.ndarray | None
    band: tuple[np.ndarray, ...]
    band_edges: tuple[np.ndarray, ...]
    points: np.ndarray
    labels: np.ndarray
    test: np.ndarray
    names: tuple[str, ...]
    x_name: str
    y_name: str
    word: str
    selection_kind: str
    doc: str
    uncertainty: np.ndarray | None = None

    @property
    def two(self) -> bool:
        """Whether one map tells all: of two classes, or of one probability."""
        return len(self.values) <= 2

    def at(self, x: float, y: float) -> tuple[np.ndarray, float | None]:
        """Probabilities (C,) and that of the null class at a place, between the points of the grid."""
        grids = [*self.values] + ([] if self.null is None else [self.null])
        i, a = _between(self.y, y)
        j, b = _between(self.x, x)
        corners = np.outer([1 - a, a], [1 - b, b])
        found = np.array([(grid[np.ix_([i, i + 1], [j, j + 1])] * corners).sum() for grid in grids])
        return (found, None) if self.null is None else (found[:-1], float(found[-1]))

    def cut(self, y: float) -> np.ndarray:
        """(C, gx) probabilities along a line across at ``y``; the null class last, if there is one."""
        i, a = _between(self.y, y)
        grids = self.values if self.null is None else np.concatenate([self.values, self.null[None]])
        found: np.ndarray = (1 - a) * grids[:, i] + a * grids[:, i + 1]
        return found


def _between(places: np.ndarray, value: float) -> tuple[int, float]:
    """The place below a value and the share of the way to the next."""
    value = float(np.clip(value, places[0], places[-1]))
    i = int(np.clip(np.searchsorted(places, value, side="right") - 1, 0, len(places) - 2))
    return i, (value - places[i]) / (places[i + 1] - places[i])


def chosen_columns(sources: Sources) -> tuple[tuple[str, ...], tuple[int, int]]:
    """Columns of the input that may be chosen, none where there is no choice, and those of the map that is stored."""
    response = sources.response()
    columns = () if response is None or len(response.columns) < 3 else response.columns
    labels = [sources.result(role, 1).label for role in ("x", "y")] if columns else []
    if not columns or not set(labels) <= set(columns):
        return (), (0, 1)
    return columns, (columns.index(labels[0]), columns.index(labels[1]))


def read_chosen(sources: Sources, options: Mapping[str, Any], pair: tuple[int, int] | None) -> Surface | None:
    """The map over two chosen columns, or the one that the run has. Raises ``SourceError``, and what the model raises."""
    response = sources.response() if pair is not None else None
    if pair is None or response is None:
        return read_surface(sources, options)
    return read_surface(sources.at(response, response.places(*pair)), options)


def read_surface(sources: Sources, options: Mapping[str, Any]) -> Surface | None:
    """The map of a view; None when it has less than two places along an axis. Raises ``SourceError``."""
    result = sources.result("values", (2, 3))
    values = np.asarray(result.values, dtype=np.float64)
    dims = result.dims if len(result.dims) == values.ndim else ("class", "y", "x")[-values.ndim :]
    given = values.ndim == 3
    values = values if given else values[None]
    if min(values.shape[1:]) < 2:
        return None
    x, y = sources.array("x", (values.shape[2],)), sources.array("y", (values.shape[1],))
    for name, places in (("x", x), ("y", y)):
        if not (np.diff(places) > 0).all():
            raise SourceError(f"The places {name} of the map have to rise.")
    classes = _classes(sources, dims[0], values, given)
    fine = [refined(grid, x, y) for grid in values]
    null = sources.array("null", values.shape[1:]) if sources.has("null") else None
    null = null if null is not None and null.any() else None  # zeros: a model that has it, fitted without
    fine_null = None if null is None else refined(null, x, y)[0]
    points, labels, test, names, word, selection_kind = _points(sources, classes)
    fine_x, fine_y = fine[0][1:]
    return Surface(
        values, x, y, fine_x, fine_y, classes,
        _layers(np.stack([grid for grid, _, _ in fine]), fine_x, fine_y, classes, given),
        _extra(sources, _uncertainty(sources, values), null, x, y),
        null,
        () if fine_null is None else regions(fine_null, fine_x, fine_y, NULL_LEVEL),
        () if fine_null is None else contours(fine_null, fine_x, fine_y, (NULL_LEVEL,))[0].lines,
        points, labels, test, names,
        str(options.get("x_label", _axis_name(sources, "x", dims[-1]))),
        str(options.get("y_label", _axis_name(sources, "y", dims[-2]))),
        word, selection_kind, result.doc, _uncertainty(sources, values),
    )  # fmt: skip


def _axis_name(sources: Sources, role: str, dim: str) -> str:
    result = sources.result(role, 1)
    return (result.label or dim.replace("_", " ")) + (f", {result.unit}" if result.unit else "")


def _classes(sources: Sources, dim: str, values: np.ndarray, given: bool) -> tuple[str, ...]:
    """Names of the classes; those of a single map are of the other class and its own."""
    count = len(values) if given else 2
    if sources.has("names"):
        names = tuple(sources.texts("names"))
        if len(names) != count:
            raise SourceError(f"{len(names)} names are given for {counted(count, 'class')}.")
        return names
    return sources.dim_names(dim if given else "class", count)


def _layers(
    fine: np.ndarray, x: np.ndarray, y: np.ndarray, classes: tuple[str, ...], given: bool
) -> tuple[Layer, ...]:
    """Two classes: a map of the second around one half; more: a map of each."""
    if len(fine) <= 2:
        lines = contours(fine[-1], x, y, (*LEVELS, 0.5))
        title = f"probability of {classes[-1]}"
        return (Layer(fine[-1], (0.0, 1.0), True, lines[:-1], lines[-1].lines, title),)
    found = []
    for k, grid in enumerate(fine):
        others = np.delete(fine, k, axis=0).max(axis=0)
        edge = contours(grid - others, x, y, (0.0,))[0].lines
        title = f"probability of {classes[k]}"
        found.append(Layer(grid, (0.0, 1.0), False, contours(grid, x, y, LEVELS), edge, title))
    return tuple(found)


def _extra(
    sources: Sources, maps: np.ndarray | None, null: np.ndarray | None, x: np.ndarray, y: np.ndarray
) -> dict[str, tuple[Layer, ...]]:
    """Maps besides the probabilities, one or one for each class."""
    found: dict[str, tuple[Layer, ...]] = {}
    if maps is not None:
        high = float(np.nanmax(maps)) if np.isfinite(maps).any() else 1.0
        title = sources.result("uncertainty").label or "uncertainty"
        fine = [refined(grid, x, y)[0] for grid in maps]
        found["uncertainty"] = tuple(Layer(grid, (0.0, high or 1.0), False, (), (), title) for grid in fine)
    if null is not None:
        fine_null, fine_x, fine_y = refined(null, x, y)
        lines = contours(fine_null, fine_x, fine_y, LEVELS)
        found["null"] = (Layer(fine_null, (0.0, 1.0), False, lines, (), "probability of no class"),)
    return found


def _uncertainty(sources: Sources, values: np.ndarray) -> np.ndarray | None:
    """(1, gy, gx) or (C, gy, gx); None where the view has none."""
    if not sources.has("uncertainty"):
        return None
    maps = np.asarray(sources.result("uncertainty", (2, 3)).values, dtype=np.float64)
    maps = maps if maps.ndim == 3 else maps[None]
    if maps.shape[1:] != values.shape[1:] or len(maps) not in (1, len(values)):
        raise SourceError(f"The uncertainty has the shape {maps.shape}; the map {values.shape}.")
    return maps


def _points(
    sources: Sources, classes: tuple[str, ...]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[str, ...], str, str]:
    """Places, labels, test marks, names, word and selection kind of the data points."""
    if not sources.has("points"):
        return np.zeros((0, 2)), np.zeros(0, np.intp), np.zeros(0, bool), (), "point", ""
    result = sources.result("points", 2)
    points = sources.array("points", (None, 2))
    n = len(points)
    labels = np.full(n, -1, dtype=np.intp)
    if sources.has("labels"):
        labels = np.nan_to_num(sources.array("labels", (n,)), nan=-1).astype(np.intp)
        if (labels >= len(classes)).any():
            raise SourceError(
                f"The labels go up to {labels.max()}; there are {counted(len(classes), 'class')}."
            )
    test = sources.array("test", (n,)) > 0 if sources.has("test") else np.zeros(n, dtype=bool)
    dim = result.dims[0] if result.dims else "point"
    return points, labels, test, sources.dim_names(dim, n), dim.replace("_", " "), data_axis(sources, dim, n)
