"""Whether a dataset suits an input of a model, with the reason when it does not. No Qt."""

from __future__ import annotations

from collections.abc import Iterable

from plaidwork.core.annotation_inputs import column_choices
from plaidwork.core.dataset import Dataset
from plaidwork.core.joining import has_default_names
from plaidwork.core.spec import Input, ModelSpec

_KINDS = {
    "real": "numbers",
    "count": "counts (whole numbers from 0)",
    "binary": "zeros and ones",
    "ordinal": "ordered whole numbers",
    "categorical": "labels",
}
_FITTING = {
    "real": ("real", "count", "binary", "ordinal"),
    "count": ("count", "binary"),
    "binary": ("binary",),
    "ordinal": ("ordinal", "count", "binary"),
    "categorical": ("categorical",),
}


def wants(item: Input) -> str:
    """What an input takes: ``a matrix of numbers``."""
    shape = {"matrix": "a matrix", "vector": "one column", "labels": "one column"}[item.kind]
    if item.many:
        shape = "one or more matrices"
    return f"{shape} of {_KINDS[item.dtype]}"


def why_not(item: Input, dataset: Dataset) -> str:
    """The reason why the dataset cannot be this input, or empty."""
    axes = 2 if item.kind == "matrix" else 1
    if len(dataset.shape) != axes:
        return f"needs {wants(item)}"
    if dataset.kind not in _FITTING[item.dtype]:
        return f"needs {_KINDS[item.dtype]}"
    if dataset.is_sparse and not item.sparse:
        return "needs a dense matrix"
    if not item.missing and dataset.n_missing:
        return "needs data without missing cells"
    return ""


def fit_score(item: Input, dataset: Dataset) -> int:
    """How well a suitable dataset meets an input: exact kinds first."""
    return int(dataset.kind == item.dtype)


def suits(item: Input, dataset: Dataset) -> bool:
    """Whether the dataset, or an annotation column of it, can be this input."""
    return not why_not(item, dataset) or bool(column_choices(dataset, item))


def views_with(first: Dataset, datasets: Iterable[Dataset]) -> list[Dataset]:
    """The matrix and the others that have the name of a sample (row) in common with it, in the order given."""
    if len(first.shape) != 2 or has_default_names(first.row_names):
        return [first]
    rows = set(first.row_names)
    return [d for d in datasets if d is first or (len(d.shape) == 2 and not rows.isdisjoint(d.row_names))]


def model_reason(spec: ModelSpec, datasets: Iterable[Dataset]) -> str:
    """Why the data at hand cannot be fitted by a model (first input that nothing suits), or empty."""
    datasets = list(datasets)
    for item in spec.inputs:
        if item.required and not any(suits(item, dataset) for dataset in datasets):
            reasons = {why_not(item, dataset) for dataset in datasets}
            reason = reasons.pop() if len(reasons) == 1 else f"needs {wants(item)}"
            return f"{reason} as “{item.title}”"
    return ""


def best_model(specs: Iterable[ModelSpec], datasets: Iterable[Dataset], preferred: Iterable[str] = ()) -> str:
    """The id of the model that fits the data best: most required inputs met with their exact kind.

    Several matrices of the same samples count for models that take many. ``preferred`` ids come first among equals. Empty
    when no model fits.
    """
    datasets = list(datasets)
    several = any(len(views_with(first, datasets)) > 1 for first in datasets)
    rank = {model: place for place, model in enumerate(dict.fromkeys(preferred))}
    best, most = "", -1
    for spec in sorted(specs, key=lambda spec: rank.get(spec.id, len(rank))):
        if model_reason(spec, datasets):
            continue
        required = [item for item in spec.inputs if item.required]
        exact = sum(any(not why_not(i, d) and fit_score(i, d) for d in datasets) for i in required)
        exact += sum(item.many for item in required) if several else 0
        if exact > most:
            best, most = spec.id, exact
    return best
