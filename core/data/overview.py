"""Several matrices of the same samples at a glance: who has what, what the values look like, what is unsafe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plaidwork.core.contract.hyperparameter import ValueKind
from plaidwork.core.contract.spec import Input
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.levels import levels_of
from plaidwork.core.data.orienting import orient
from plaidwork.core.data.together import go_together
from plaidwork.core.data.value_kinds import infer_kind

FEW_VALUES = 6
"""Whole numbers with at most so many different values may be classes or ratings."""
LARGE = 1000
"""Whole numbers up to here are usual for counts; above, intensities are as likely."""
_SAMPLE = 2_000_000
_VIEWS = Input("views", many=True, union=True, dims=("sample", "feature"), samples="sample", missing=True)


@dataclass(frozen=True, slots=True)
class ViewFacts:
    """What there is to say about one view.

    Attributes
    ----------
    n_samples : samples with at least one value here. missing : share of missing cells among those samples, 0 to 1.
    n_constant, n_empty : features with one value everywhere, and without any value.
    kind : what the values look like (``real``, ``count``, ``binary``), or are marked as. values_kind : by the values alone.
    doubt : why that may be wrong, in a sentence; empty when it is safe. mean : of the values.
    together : whether its columns go together within groups of similar samples; looked at in matrices of real and ordered numbers.
    n_words : columns whose numbers stand for words.
    """

    name: str
    n_samples: int
    n_features: int
    missing: float
    n_constant: int
    n_empty: int
    kind: ValueKind
    values_kind: ValueKind
    doubt: str = ""
    mean: float = 0.0
    together: bool = True
    n_words: int = 0


@dataclass(frozen=True, slots=True)
class Overview:
    """Views side by side.

    Attributes
    ----------
    samples : (N,) names, those with the same views together, those with most features first.
    present : (V, N) share of the features of a view that a sample has, 0 where it lacks the view.
    """

    views: tuple[ViewFacts, ...]
    samples: tuple[str, ...]
    present: np.ndarray

    @property
    def n_complete(self) -> int:
        """Samples that every view has."""
        return int((self.present > 0).all(axis=0).sum())

    @property
    def n_alone(self) -> int:
        """Samples that one view only has."""
        return int(((self.present > 0).sum(axis=0) == 1).sum())


def with_samples_in_rows(datasets: Sequence[Dataset]) -> list[Dataset]:
    """The views, those transposed that have their samples in columns. Slow for large data: not for the GUI thread."""
    found, _ = orient((_VIEWS,), {_VIEWS.name: datasets})
    return list(found[_VIEWS.name])


def overview(datasets: Sequence[Dataset]) -> Overview:
    """Look at views with samples in the rows, joined by name. O(cells)."""
    order = {name: row for row, name in enumerate(dict.fromkeys(n for d in datasets for n in d.row_names))}
    present = np.zeros((len(datasets), len(order)))
    views = []
    for number, dataset in enumerate(datasets):
        places = np.array([order[name] for name in dataset.row_names], dtype=np.int64)
        known = _known(dataset)
        share = known.mean(axis=1) if known.shape[1] else np.zeros(known.shape[0])
        present[number, places] = share
        views.append(_facts(dataset, known, share > 0))
    patterns = (present > 0).astype(int)
    shares = [-np.round(present[number], 1) for number in range(len(datasets) - 1, -1, -1)]
    keys = [-patterns[number] for number in range(len(datasets) - 1, -1, -1)]
    shown = np.lexsort([np.arange(len(order)), *shares, *keys, -patterns.sum(axis=0)])
    names = list(order)
    return Overview(tuple(views), tuple(names[i] for i in shown), present[:, shown])


def _known(dataset: Dataset) -> np.ndarray:
    if dataset.is_sparse:
        return np.ones(dataset.shape, dtype=bool)
    values = dataset.values if len(dataset.shape) == 2 else dataset.values[:, None]
    return np.asarray(values >= 0 if dataset.kind == "categorical" else ~np.isnan(values))


def _facts(dataset: Dataset, known: np.ndarray, there: np.ndarray) -> ViewFacts:
    n_constant, n_empty = _lines(dataset, known)
    rows = int(there.sum())
    cells = rows * known.shape[1]
    kind, doubt = guess(dataset)
    alone = infer_kind(_part(_stored(dataset))) if kind == "ordinal" else kind
    return ViewFacts(
        dataset.name,
        rows,
        known.shape[1],
        1.0 - float(known[there].sum()) / cells if cells else 0.0,
        n_constant,
        n_empty,
        kind,
        alone,
        doubt,
        _mean(dataset, known),
        kind not in ("real", "ordinal") or _together(dataset, known),
        sum(map(bool, levels_of(dataset))),
    )


def _together(dataset: Dataset, known: np.ndarray) -> bool:
    values = dataset.values.toarray() if dataset.is_sparse else np.asarray(dataset.values)
    return go_together(values.reshape(known.shape), known)


def _mean(dataset: Dataset, known: np.ndarray) -> float:
    if dataset.kind == "categorical" or not known.any():
        return 0.0
    if dataset.is_sparse:
        return float(dataset.values.mean())
    return float(np.mean(dataset.values.reshape(known.shape), where=known))


def _lines(dataset: Dataset, known: np.ndarray) -> tuple[int, int]:
    """Features with one value everywhere, and without any."""
    if dataset.is_sparse or not known.size:
        if not known.size:
            return 0, 0
        columns = dataset.values.tocsc()
        low, high = columns.min(axis=0).toarray(), columns.max(axis=0).toarray()
        return int((low == high).sum()), 0
    values = dataset.values if dataset.values.ndim == 2 else dataset.values[:, None]
    some = known.any(axis=0)
    low = np.where(known, values, np.inf).min(axis=0)
    high = np.where(known, values, -np.inf).max(axis=0)
    return int(((low == high) & some).sum()), int((~some).sum())


def guess(dataset: Dataset) -> tuple[ValueKind, str]:
    """What the values look like, and why that may be wrong (empty when it is safe).

    0 and 1 are taken for yes and no, whole numbers from 0 on for counts, the rest for real numbers. Zeros and ones are in
    doubt where counts of the same means would hardly have shown a 2: with mean m of a feature over n samples, n P(X >= 2)
    summed over features is below 3 for Poisson X. Large matrices are judged by a part of their rows.
    """
    if dataset.kind in ("categorical", "ordinal"):  # as somebody said, or the import, which told
        return dataset.kind, ""
    values = _part(_stored(dataset))
    known = values[~np.isnan(values)]
    if not known.size:
        return "real", "It has no values."
    different = np.unique(known[:_SAMPLE])
    if not ((known >= 0) & (known == np.floor(known))).all():
        if len(different) == 2:
            return (
                "real",
                f"It has two different values only, {_pair(different)}: yes and no, coded otherwise?",
            )
        if (known == np.floor(known)).all():
            lowest = f"{known.min():g}".replace("-", "−")
            return "real", f"Whole numbers from {lowest} on: differences of counts, or classes?"
        return "real", ""
    if known.max() <= 1:
        return "binary", "" if dataset.is_sparse or _twos_expected(values) >= 3 else (
            "Zeros and few ones: counts so small would look the same."
        )
    if len(different) == 2:
        return "count", f"It has two different values only, {_pair(different)}: yes and no, coded otherwise?"
    if len(different) <= FEW_VALUES and known.max() <= 2 * FEW_VALUES:
        return (
            "count",
            f"Whole numbers from {known.min():g} to {known.max():g} only: small counts, or classes and ratings?",
        )
    if known.max() > LARGE:
        return "count", (
            f"Whole numbers up to {known.max():g}: counts, or rounded intensities? Those fit better as real numbers, after logarithms."
        )
    if known.min() > 0 and not dataset.is_sparse:
        return "count", f"Whole numbers, none below {known.min():g}: counts, or rounded measurements?"
    return "count", ""


def _stored(dataset: Dataset) -> np.ndarray:
    return np.asarray(dataset.values.data if dataset.is_sparse else dataset.values)


def _part(values: np.ndarray) -> np.ndarray:
    step = max(1, values.size // (4 * _SAMPLE))
    return values[::step]


def _twos_expected(values: np.ndarray) -> float:
    """How many cells above 1 counts with these means would have."""
    values = values if values.ndim == 2 else values[:, None]
    known = ~np.isnan(values)
    n = known.sum(axis=0)
    mean = np.where(known, values, 0.0).sum(axis=0) / np.maximum(n, 1)
    return float((n * (1 - np.exp(-mean) * (1 + mean))).sum())


def _pair(different: np.ndarray) -> str:
    return " and ".join(f"{value:g}".replace("-", "−") for value in different)
