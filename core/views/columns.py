"""What is known of the items of a dim: annotation columns of the data, and the features themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.findings.naming import identity_of, shown_names
from plaidwork.core.views.sources import Sources

ANNOTATIONS = "Annotations"


@dataclass(frozen=True)
class _Feature:
    """One line of a dataset across ``axis``; ``at`` are the places of the items along it, -1 where it lacks them."""

    dataset: Dataset
    axis: int
    index: int
    at: np.ndarray

    def values(self) -> np.ndarray:
        values = self.dataset.values
        if self.dataset.is_sparse:
            line = values[:, [self.index]] if self.axis == 0 else values[[self.index], :]
            column = np.asarray(line.toarray(), dtype=np.float64).ravel()
        elif values.ndim == 1:
            column = np.asarray(values)
        else:
            column = values[:, self.index] if self.axis == 0 else values[self.index]
        if self.dataset.kind == "categorical":
            known = self.dataset.categories
            column = np.array([known[int(k)] if k >= 0 else "" for k in column])
        return taken(column, self.at)


class ItemColumns:
    """Columns by title, in sections: annotations of the data, then the features of each dataset with the dim.

    Features are read when they are asked for. A title that is there already gets the name of the dataset.
    """

    def __init__(
        self,
        sources: Sources,
        dim: str,
        names: tuple[str, ...],
        given: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        self.annotations: dict[str, np.ndarray] = dict(given or {})
        self._features: dict[str, _Feature] = {}
        self.sections: dict[str, list[str]] = {ANNOTATIONS: []}
        for dataset, axis, at in datasets_of(sources, dim, names):
            for title, column in sources.annotation_table(dataset.name, axis).items():
                values = np.asarray(column)
                if title not in self.annotations and len(values):
                    self.annotations[title] = taken(values, at)
            self._add_features(dataset, axis, at)
        self.sections[ANNOTATIONS] = list(self.annotations)

    def _add_features(self, dataset: Dataset, axis: int, at: np.ndarray) -> None:
        labels = dataset.values.ndim == 1
        others = (dataset.name,) if labels else shown_names(dataset, 1 - axis)
        titles = self.sections.setdefault(dataset.name, [])
        for index, name in enumerate(others):
            title = name
            if title in self._features or title in self.annotations:
                title = f"{name} ({dataset.name})"
            if title not in self._features:
                self._features[title] = _Feature(dataset, axis, index, at)
                titles.append(title)

    def column(self, title: str) -> np.ndarray | None:
        """The column of a title, one value per item (NaN or empty where unknown); None when there is none."""
        if title in self.annotations:
            return self.annotations[title]
        found = self._features.get(title)
        return None if found is None else found.values()


def datasets_of(
    sources: Sources, dim: str, names: tuple[str, ...]
) -> Iterator[tuple[Dataset, int, np.ndarray]]:
    """Datasets with this dim, its axis, and the places of the items along it: found by name, else by place."""
    for item in sources.run.spec.inputs:
        if dim not in item.dims:
            continue
        axis = item.dims.index(dim)
        for name in sources.run.inputs.get(item.name, ()):
            dataset = sources.dataset_named(name)
            if dataset is None:
                continue
            own = sources.names_of(name, axis)
            position = {identity_of(known): i for i, known in enumerate(own)}
            at = np.array([position.get(identity_of(known), -1) for known in names], dtype=np.intp)
            if (at < 0).all() and len(own) == len(names):
                at = np.arange(len(names))
            yield dataset, axis, at


def taken(values: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The values at these places; NaN, or empty for texts, where a place is -1."""
    if (at >= 0).all():
        return values[at]
    kind = np.float64 if values.dtype.kind in "biuf" else object
    found = values[np.maximum(at, 0)].astype(kind)
    found[at < 0] = np.nan if kind is np.float64 else ""
    return found
