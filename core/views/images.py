"""Images of a run, one per factor, with their weights in a classifier and the scores of the items: as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.draws.counting import counted
from plaidwork.core.draws.numbers import format_fixed, format_interval
from plaidwork.core.views.colouring import colouring, most_telling
from plaidwork.core.views.columns import ItemColumns
from plaidwork.core.views.sources import SourceError, Sources, dense, role_names

MOST_CLASSES = 6
_MOST_PIXELS = 40_000_000


@dataclass(frozen=True)
class Weights:
    """(G, K) weights of the images in G classifiers, with (G, K, 2) intervals or None."""

    values: np.ndarray
    intervals: np.ndarray | None
    names: tuple[str, ...]
    """What a positive weight speaks for; empty where that is not known."""
    label: str

    def told(self, g: int, k: int) -> str:
        """A weight with its interval."""
        value = format_fixed(float(self.values[g, k]), 2, sign=True)
        found = self.interval_text(g, k)
        return f"{value} ({found})" if found else value

    def interval_text(self, g: int, k: int) -> str:
        """The interval of a weight; empty where it has none."""
        if self.intervals is None:
            return ""
        low, high = self.intervals[g, k].tolist()
        return format_interval(low, high)

    def doubtful(self, g: int, k: int) -> bool:
        """Whether the interval of a weight holds zero."""
        return self.intervals is not None and bool(self.intervals[g, k, 0] <= 0 <= self.intervals[g, k, 1])


@dataclass(frozen=True)
class Images:
    """K images with what goes along.

    ``values`` (K, H, W), NaN where a pixel is left out; ``limits`` the ends of the colour map of all, ``own_limits`` (K, 2) of
    each. ``codes`` (n,) are the classes of the items, -1 unknown; ``means`` (C, H, W) the mean image of each class.
    """

    values: np.ndarray
    limits: tuple[float, float]
    own_limits: np.ndarray
    clipped: tuple[bool, bool]
    signed: bool
    names: tuple[str, ...]
    dim: str
    label: str
    doc: str
    weights: Weights | None = None
    scores: np.ndarray | None = None
    classes: tuple[str, ...] = ()
    codes: np.ndarray | None = None
    means: np.ndarray | None = None

    @property
    def word(self) -> str:
        """What one is called."""
        return self.dim.replace("_", " ")

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of an image."""
        return self.values.shape[1], self.values.shape[2]

    @property
    def short_names(self) -> tuple[str, ...]:
        """``F4`` for ``Factor 4``; the names where they are not numbered."""
        found = []
        for name in self.names:
            word, _, number = name.rpartition(" ")
            found.append(f"{word[0].upper()}{number}" if word and number.isdigit() else name)
        return tuple(found)

    @property
    def size(self) -> np.ndarray:
        """(K,) root mean square of the pixels."""
        known = np.isfinite(self.values)
        square = np.where(known, self.values, 0.0) ** 2
        return np.sqrt(square.sum(axis=(1, 2)) / np.maximum(known.sum(axis=(1, 2)), 1))

    @property
    def map_name(self) -> str:
        """Diverging for images with signs, else sequential."""
        return "loom" if self.signed else "tide"

    def order(self, by: str, g: int = 0) -> np.ndarray:
        """Numbers of the images by size of their weight, by strength, or as they come."""
        if by == "weight" and self.weights is not None:
            return np.argsort(-np.abs(np.nan_to_num(self.weights.values[g])), kind="stable")
        if by == "size":
            return np.argsort(-self.size, kind="stable")
        return np.arange(len(self.values))


def _digits(value: float) -> float:
    return float(f"{value:.1e}")


def _scaled(values: np.ndarray, signed: bool) -> dict[str, Any]:
    """Limits: symmetric about zero when ``signed``, the shared ones at the 99th percentile."""
    known = values[np.isfinite(values)]
    if not len(known):
        known = np.zeros(1)
    size = np.nan_to_num(np.abs(values)).max(axis=(1, 2))
    if signed:
        half = _digits(float(np.percentile(np.abs(known), 99))) or float(np.abs(known).max()) or 1.0
        limits = (-half, half)
        own = np.column_stack([-size, size])
    else:
        limits = _apart(float(known.min()), float(known.max()))
        filled = np.where(np.isfinite(values), values, known.min())
        own = np.column_stack([filled.min(axis=(1, 2)), filled.max(axis=(1, 2))])
    return {
        "limits": limits,
        "own_limits": own,
        "clipped": (bool(known.min() < limits[0]), bool(known.max() > limits[1])),
    }


def _apart(low: float, high: float) -> tuple[float, float]:
    """Ends of a colour map, which differ."""
    return (low, high) if high > low else (low, low + (abs(low) or 1.0))


def shape_of(sources: Sources) -> tuple[int, int] | int:
    """Height and width of the images; where nothing tells them, how many pixels they have."""
    result = sources.result("values", (2, 3))
    if result.values.ndim == 3:
        return result.values.shape[1], result.values.shape[2]
    count = result.values.shape[1]
    given = sources.view.options.get("shape")
    if given:
        height, width = (int(side) for side in given)
        return height, width
    dataset = _dataset_of(sources, result.dims[-1] if len(result.dims) == 2 else "pixel", count)
    if dataset is None or dataset.pixels is None:
        return int(count)
    return dataset.image_shape[0], dataset.image_shape[1]


def load_images(sources: Sources, shape: tuple[int, int]) -> Images:
    """The images of a view, of this height and width. Raises ``SourceError`` when the roles do not fit each other."""
    result = sources.result("values", (2, 3))
    values = np.asarray(result.values, dtype=np.float64)
    dims = result.dims if len(result.dims) == values.ndim else ("image", "pixel", "pixel")[: values.ndim]
    if values.ndim == 2:
        given = sources.view.options.get("shape")
        dataset = None if given else _dataset_of(sources, dims[-1], values.shape[-1])
        values = _shaped(values, shape, dataset)
    if values.size > _MOST_PIXELS:
        raise SourceError(
            f"{counted(len(values), 'image')} of {values.shape[1]} × {values.shape[2]} are too many to be shown."
        )
    signed = sources.view.options.get("signed")
    signed = bool((values[np.isfinite(values)] < 0).any()) if signed is None else bool(signed)
    return Images(
        values,
        **_scaled(values, signed),
        signed=signed,
        names=role_names(sources, "names", dims[0], len(values)),
        dim=dims[0],
        label=result.label or "value",
        doc=result.doc,
        weights=_weights(sources, len(values)),
        **_items(sources, values.shape),
    )


def _dataset_of(sources: Sources, dim: str, length: int) -> Dataset | None:
    """The data whose columns are the pixels: those of the role ``images``, or of the dim."""
    given = sources.dataset("images") if sources.has("images") else None
    if given is not None and len(given.shape) == 2 and given.shape[1] == length:
        return given
    for item in sources.run.spec.inputs:
        for name in sources.run.inputs.get(item.name, ()):
            found = sources.dataset_named(name)
            if found is None or dim not in item.dims[1:] or len(found.shape) != 2 or found.shape[1] != length:
                continue
            return found
    return None


def _shaped(values: np.ndarray, shape: tuple[int, int], dataset: Dataset | None) -> np.ndarray:
    """(K, H, W) of (K, D), NaN at pixels that the data have not."""
    (count, length), (height, width) = values.shape, shape
    if dataset is not None and dataset.pixels is not None:
        whole = np.full((count, height * width), np.nan)
        whole[:, dataset.pixels] = values
        return whole.reshape(count, height, width)
    if height * width != length:
        raise SourceError(
            f"Images of {height} × {width} have {counted(height * width, 'pixel')}. Found {counted(length, 'number')} for each."
        )
    return values.reshape(count, height, width)


def _weights(sources: Sources, count: int) -> Weights | None:
    if not sources.has("weight"):
        return None
    result = sources.result("weight", (1, 2))
    values = np.atleast_2d(np.asarray(result.values, dtype=np.float64))
    groups = len(values)
    if values.shape[1] != count:
        raise SourceError(f"There are {counted(values.shape[1], 'weight')} for {counted(count, 'image')}.")
    intervals = None
    if sources.has("interval"):
        intervals = np.asarray(sources.result("interval").values, dtype=np.float64)
        if intervals.size != 2 * groups * count:
            raise SourceError(
                f"The intervals have the shape {intervals.shape} for {counted(count, 'weight')}."
            )
        intervals = intervals.reshape(groups, count, 2)
    names = ("",) * groups
    if sources.has("weight_names") or groups > 1:
        dim = result.dims[0] if result.values.ndim == 2 and len(result.dims) == 2 else "classifier"
        names = role_names(sources, "weight_names", dim, groups)
    return Weights(values, intervals, names, result.label or "weight")


def _items(sources: Sources, shape: tuple[int, ...]) -> dict[str, Any]:
    """Scores and classes of the items, and the mean image of each class."""
    scores, dim = None, ""
    if sources.has("scores"):
        result = sources.result("scores", 2)
        scores = np.asarray(result.values, dtype=np.float64)
        if scores.shape[1] != shape[0]:
            raise SourceError(
                f"There are scores on {counted(scores.shape[1], 'factor')} for {counted(shape[0], 'image')}."
            )
        dim = result.dims[0] if len(result.dims) == 2 else "item"
    column: np.ndarray | None = None
    if sources.has("classes"):
        column = np.asarray(sources.get("classes").values)
        if scores is not None and column.shape != (len(scores),):
            raise SourceError(
                f"There are classes of {counted(len(column), 'item')} and scores of {len(scores)}."
            )
    elif scores is not None:
        known = ItemColumns(sources, dim, sources.dim_names(dim, len(scores))).annotations
        made = {title: colouring(title, entry) for title, entry in known.items()}
        title = most_telling(scores, {t: m for t, m in made.items() if m is not None and m.classes})
        column = known.get(title)
    classes, codes = _classes(column)
    found: dict[str, Any] = {"scores": scores, "classes": classes, "codes": codes}
    given = sources.dataset("images") if sources.has("images") else None
    if (
        given is not None
        and codes is not None
        and len(shape) == 3
        and classes
        and given.shape[0] == len(codes)
    ):
        found |= _means(given, codes, len(classes), shape)
    return found


def _classes(column: np.ndarray | None) -> tuple[tuple[str, ...], np.ndarray | None]:
    if column is None:
        return (), None
    made = colouring("class", column)
    if made is None or not made.classes or len(made.classes) > MOST_CLASSES:
        return (), None
    order = sorted(range(len(made.classes)), key=lambda c: made.classes[c])
    position = np.empty(len(order) + 1, dtype=np.intp)
    position[order], position[-1] = np.arange(len(order)), -1
    return tuple(made.classes[c] for c in order), position[made.codes]


def _means(given: Dataset, codes: np.ndarray, count: int, shape: tuple[int, ...]) -> dict[str, Any]:
    height, width = shape[1:]
    values = dense(given)
    pixels = given.pixels if given.image_shape == (height, width) else None
    if pixels is None and values.shape[1] != height * width:
        return {}
    flat = np.full((count, height * width), np.nan)
    for c in range(count):
        inside = values[codes == c]
        known = np.isfinite(inside)
        total = np.where(known, inside, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        flat[c, slice(None) if pixels is None else pixels] = total
    return {"means": flat.reshape(count, height, width)}


def separation(scores: np.ndarray, positive: np.ndarray) -> float:
    """Share of pairs of items of two classes that the scores (n,) put in one order, the better of the two.

    The area under the ROC curve (Mann-Whitney), with ties as one half; NaN without both classes.
    """
    from scipy.stats import rankdata

    count = int(positive.sum())
    others = len(positive) - count
    if not count or not others:
        return float("nan")
    area = (rankdata(scores)[positive].sum() - count * (count + 1) / 2) / (count * others)
    return float(max(area, 1 - area))


def sides(images: Images, g: int) -> tuple[str, str]:
    """What a positive and what a negative weight speak for, in words."""
    name = images.weights.names[g] if images.weights is not None else ""
    if not name:
        return "above zero", "below zero"
    others = [other for other in images.classes if other != name]
    return f"towards {name}", f"towards {others[0]}" if len(images.classes) == 2 and len(
        others
    ) == 1 else f"away from {name}"


def parted(images: Images, g: int) -> tuple[tuple[str, ...], np.ndarray]:
    """Classes to tell apart and the code of each item: one against the rest when weights are of one of many."""
    codes = images.codes if images.codes is not None else np.zeros(0, dtype=np.intp)
    name = images.weights.names[g] if images.weights is not None else ""
    if len(images.classes) > 2 and name in images.classes:
        mine = images.classes.index(name)
        return (name, "others"), np.where(codes < 0, -1, (codes != mine).astype(np.intp))
    return images.classes, codes
