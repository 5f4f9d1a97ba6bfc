"""The arithmetic behind :mod:`plaidwork.core.data.transforms`: dataset and options in, dataset and text out."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from plaidwork.core.contract.hyperparameter import ValueKind
from plaidwork.core.data.dataset import Axis, Dataset, Step, turned_labels, turned_samples
from plaidwork.core.data.value_kinds import kind_of_table
from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.errors import DataError

_DENSE_LIMIT = 100_000_000
_NO_STEP = Step("")
Options = Mapping[str, Any]
Result = tuple[Dataset, str]


def _dense(dataset: Dataset, title: str) -> np.ndarray:
    if not dataset.is_sparse:
        return dataset.values
    cells = dataset.shape[0] * dataset.shape[1]
    if cells > _DENSE_LIMIT:
        raise DataError(
            f"{title} would fill all {counted(cells, 'cell')} of the sparse matrix “{dataset.name}”; {_DENSE_LIMIT} fit.",
            "Select rows or columns first, or use log1p, which keeps zeros.",
        )
    return dataset.values.toarray()


def _cell(dataset: Dataset, position: Sequence[int]) -> str:
    text = f"row “{dataset.row_names[position[0]]}”"
    return f"{text}, column “{dataset.column_names[position[1]]}”" if len(position) > 1 else text


def _need_above(dataset: Dataset, values: np.ndarray, limit: float, title: str) -> None:
    bad = values <= limit
    if bad.any():
        cell = np.argwhere(bad)[0]
        rule = "positive values" if limit == 0 else f"values above {limit:g}"
        number = int(bad.sum())
        more = f" {number - 1} more like it." if number > 1 else ""
        hint = "Use the logarithm of 1 + value, or leave it out." if limit == 0 else "Leave it out."
        raise DataError(
            f"{dataset.name}, {_cell(dataset, cell)}: {title} needs {rule}. Found “{values[tuple(cell)]:g}”.{more}",
            hint,
        )


def log(dataset: Dataset, options: Options) -> Result:
    values = _dense(dataset, "The logarithm")
    _need_above(dataset, values, 0.0, "the logarithm")
    return dataset.with_(values=np.log(values), kind="real", unit=_log_unit(dataset, "log")), "log"


def log2(dataset: Dataset, options: Options) -> Result:
    values = _dense(dataset, "The logarithm")
    _need_above(dataset, values, 0.0, "the logarithm")
    return dataset.with_(values=np.log2(values), kind="real", unit=_log_unit(dataset, "log2")), "log2"


def log1p(dataset: Dataset, options: Options) -> Result:
    unit = _log_unit(dataset, "log1p")
    if dataset.is_sparse:
        changed = dataset.values.copy()
        if (changed.data <= -1).any():
            _need_above(dataset, _dense(dataset, "The logarithm"), -1.0, "the logarithm of 1 + value")
        changed.data = np.log1p(changed.data)
        return dataset.with_(values=changed, kind="real", unit=unit), "log1p"
    _need_above(dataset, dataset.values, -1.0, "the logarithm of 1 + value")
    return dataset.with_(values=np.log1p(dataset.values), kind="real", unit=unit), "log1p"


def _log_unit(dataset: Dataset, name: str) -> str:
    return f"{name} {dataset.unit}" if dataset.unit else ""


def _along(dataset: Dataset, axis: str, title: str) -> int | None:
    """The numpy axis to reduce over for statistics of each row, each column, or everything."""
    if axis == "all":
        return None
    if len(dataset.shape) == 1:
        raise DataError(
            f"{title}: “{dataset.name}” is a vector, which has no rows and columns.", "Choose all values."
        )
    return 1 if axis == "rows" else 0


def _moments(values: np.ndarray, along: int | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Number of known cells, mean (0 where none) and sum of squared deviations, kept as broadcastable."""
    known = ~np.isnan(values)
    number = known.sum(axis=along, keepdims=True)
    mean = np.where(known, values, 0.0).sum(axis=along, keepdims=True) / np.maximum(number, 1)
    squares = np.where(known, values - mean, 0.0)
    return number, mean, (squares * squares).sum(axis=along, keepdims=True)


def _whose(dataset: Dataset, axis: str) -> str:
    return {"rows": "rows", "columns": "columns"}.get(axis, "all values")


def centre(dataset: Dataset, options: Options) -> Result:
    along = _along(dataset, options["axis"], "Centre")
    values = _dense(dataset, "Centring")
    _, mean, _ = _moments(values, along)
    return dataset.with_(values=values - mean, kind="real"), f"{_whose(dataset, options['axis'])} centred"


def standardise(dataset: Dataset, options: Options) -> Result:
    axis = options["axis"]
    along = _along(dataset, axis, "Standardise")
    values = _dense(dataset, "Standardising")
    number, mean, squares = _moments(values, along)
    sd = np.sqrt(squares / np.maximum(number - 1, 1))
    # a sum of rounding errors is no spread
    flat = (number > 0) & (sd <= 1e-13 * np.abs(mean))
    if flat.any():
        if axis == "all":
            raise DataError(f"“{dataset.name}” is constant and cannot be standardised.")
        which = np.flatnonzero(flat.reshape(-1))
        names = dataset.row_names if axis == "rows" else dataset.column_names
        what = axis[:-1]
        more = f" {len(which) - 1} more like it." if len(which) > 1 else ""
        raise DataError(
            f"{dataset.name}: {what} “{names[which[0]]}” is constant and cannot be standardised.{more}",
            f"Leave out constant {axis} first.",
        )
    sd = np.where(sd > 0, sd, 1.0)
    return dataset.with_(
        values=(values - mean) / sd, kind="real", unit="sd"
    ), f"{_whose(dataset, axis)} standardised"


def normal_scores(dataset: Dataset, options: Options) -> Result:
    """Blom's normal scores (1958): the normal quantile of (rank - 3/8) / (n + 1/4) among the known cells."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    axis, title = options["axis"], "Normal scores"
    along = _along(dataset, axis, title)
    values = _dense(dataset, "Taking normal scores")
    known = ~np.isnan(values)
    number = known.sum(axis=along, keepdims=True)
    ranks = rankdata(values, axis=along, nan_policy="omit").reshape(values.shape)
    scores = np.where(known, ndtri((ranks - 0.375) / (number + 0.25)), np.nan)
    return dataset.with_(values=scores, kind="real", unit="sd"), f"normal scores of {_whose(dataset, axis)}"


def binarise(dataset: Dataset, options: Options) -> Result:
    threshold = options["threshold"]
    text = f"1 above {threshold:g}"
    if dataset.is_sparse and threshold >= 0:
        changed = dataset.values.copy()
        changed.data = (changed.data > threshold).astype(np.float64)
        changed.eliminate_zeros()
        return dataset.with_(values=changed, kind="binary", unit=""), text
    values = _dense(dataset, "The threshold")
    split = np.where(np.isnan(values), np.nan, values > threshold)
    return dataset.with_(values=split, kind="binary", unit=""), text


def _variances(dataset: Dataset, axis: int) -> np.ndarray:
    """Variance (divisor n - 1) of each row (axis 0) or column; -1 where fewer than two cells are known."""
    if dataset.is_sparse:
        matrix, size = dataset.values, dataset.shape[1 - axis]
        mean = np.asarray(matrix.mean(axis=1 - axis)).reshape(-1)
        square = matrix.multiply(matrix).sum(axis=1 - axis)
        total = np.asarray(square).reshape(-1) - size * mean**2
        return np.maximum(total, 0.0) / max(size - 1, 1)
    number, _, squares = _moments(dataset.values, 1 - axis)
    return np.where(number > 1, squares / np.maximum(number - 1, 1), -1.0).reshape(-1)


def _axis_of(dataset: Dataset, options: Options, title: str) -> tuple[Axis, tuple[str, ...], str]:
    """Number of the axis, its names, and what its items are called."""
    if options["axis"] == "rows":
        return 0, dataset.row_names, dataset.row_label
    if len(dataset.shape) == 1:
        raise DataError(f"{title}: “{dataset.name}” is a vector, which has no columns.")
    return 1, dataset.column_names, dataset.column_label


def top_variance(dataset: Dataset, options: Options) -> Result:
    axis, names, label = _axis_of(dataset, options, "Keep what varies most")
    if len(dataset.shape) == 1:
        raise DataError(f"Keep what varies most: “{dataset.name}” is a vector.")
    number = options["n"]
    if number > len(names):
        raise DataError(
            f"Keep what varies most: “{dataset.name}” has {len(names)} {label}. Found “{number}” to keep.",
            f"Choose a number up to {len(names)}.",
        )
    order = np.argsort(-_variances(dataset, axis), kind="stable")
    return dataset.take(axis, np.sort(order[:number]), _NO_STEP), f"{number} {label} that vary most"


def transpose(dataset: Dataset, options: Options) -> Result:
    if len(dataset.shape) == 1:
        raise DataError(f"Turn: “{dataset.name}” is a vector.")
    labels = turned_labels(dataset.row_label, dataset.column_label)
    cells = dataset.staying
    if cells is not None:
        values: Any = cells.T
    else:
        values = dataset.values.T.tocsr() if dataset.is_sparse else np.ascontiguousarray(dataset.values.T)
    turned = dataset.with_(
        values=values,
        row_names=dataset.column_names,
        column_names=dataset.row_names,
        row_table=dataset.column_table,
        column_table=dataset.row_table,
        row_label=labels[0],
        column_label=labels[1],
        row_shown_by=dataset.column_shown_by,
        column_shown_by=dataset.row_shown_by,
        samples_in=turned_samples(dataset.samples_in),
        image_shape=(),
    )
    if cells is not None:
        turned.knowing(missing=dataset.n_missing)
    return turned, "rows and columns exchanged"


def _keep(dataset: Dataset, axis: Axis, keep: np.ndarray, label: str, why: str) -> Result:
    if not keep.any():
        raise DataError(f"{dataset.name}: all {len(keep)} {label} would be left out ({why}).")
    changed = dataset.take(axis, np.flatnonzero(keep), _NO_STEP)
    return changed, f"{int((~keep).sum())} of {len(keep)} {label} left out ({why})"


def drop_missing(dataset: Dataset, options: Options) -> Result:
    axis, names, label = _axis_of(dataset, options, "Leave out what is missing")
    limit = options["share"]
    why = "no value" if limit == 1 else f"{limit:.0%} missing or more" if limit else "with a missing cell"
    if dataset.is_sparse:
        share = np.zeros(len(names))
    else:
        missing = dataset.values < 0 if dataset.kind == "categorical" else np.isnan(dataset.values)
        share = missing.mean(axis=1 - axis) if missing.ndim == 2 else missing.astype(float)
    return _keep(dataset, axis, ~((share > 0) & (share >= limit)), label, why)


def drop_constant(dataset: Dataset, options: Options) -> Result:
    axis, _, label = _axis_of(dataset, options, "Leave out what is constant")
    if len(dataset.shape) == 1:
        raise DataError(f"Leave out what is constant: “{dataset.name}” is a vector.")
    if dataset.is_sparse:
        low = dataset.values.min(axis=1 - axis).toarray().reshape(-1)
        high = dataset.values.max(axis=1 - axis).toarray().reshape(-1)
    else:
        missing = np.isnan(dataset.values)
        low = np.where(missing, np.inf, dataset.values).min(axis=1 - axis)
        high = np.where(missing, -np.inf, dataset.values).max(axis=1 - axis)
    return _keep(dataset, axis, low != high, label, "constant")


def select(dataset: Dataset, options: Options) -> Result:
    axis, names, label = _axis_of(dataset, options, "Select by name")
    index = _named(dataset, options, names, "Select by name", f"Name the {label} to keep or to leave out.")
    if options["mode"] == "drop":
        keep = np.ones(len(names), dtype=bool)
        keep[index] = False
        return _keep(dataset, axis, keep, label, "by name")
    return dataset.take(axis, index, _NO_STEP), f"{len(index)} {label} selected by name"


def set_aside(dataset: Dataset, options: Options) -> Result:
    title = "Use as annotation"
    axis, names, label = _axis_of(dataset, options, title)
    if len(dataset.shape) == 1:
        raise DataError(f"{title}: “{dataset.name}” is a vector.")
    index = _named(dataset, options, names, title, f"Name the {label} that are no measurements.")
    titles = [names[place] for place in index]
    if len(index) == len(names):
        raise DataError(
            f"{title}: no {label} of “{dataset.name}” would be left as measurements.",
            "Name some of them only.",
        )
    beside = dataset.column_table if axis == 0 else dataset.row_table
    if twice := [one for one in titles if one in beside]:
        raise DataError(f"{title}: “{dataset.name}” has an annotation “{twice[0]}” already.")
    values = dataset.values[index] if axis == 0 else dataset.values[:, index].T
    rows = np.asarray(values.toarray() if dataset.is_sparse else values, dtype=float)
    table = {**beside, **dict(zip(titles, rows, strict=True))}
    keep = np.ones(len(names), dtype=bool)
    keep[index] = False
    kept = dataset.take(axis, np.flatnonzero(keep), _NO_STEP)
    kept = kept.with_(
        **{"column_table" if axis == 0 else "row_table": table, "kind": _kind_without(dataset, kept)}
    )
    shown = ", ".join(f"“{one}”" for one in titles)
    return kept, f"{shown} used as {agree(len(titles), 'an annotation', 'annotations')}"


def _kind_without(before: Dataset, after: Dataset) -> ValueKind:
    """What kind the values are without some of the measurements: judged anew where the kind was found so."""
    if before.is_sparse or before.kind != kind_of_table(before.values):
        return before.kind
    return kind_of_table(after.values)


def _named(dataset: Dataset, options: Options, names: Sequence[str], title: str, hint: str) -> np.ndarray:
    """Places of the named items of an axis, each once, in the order given. Raises ``DataError``."""
    wanted = options["names"]
    index_of = {name: index for index, name in enumerate(names)}
    if isinstance(wanted, str):
        lines = [line.strip() for line in wanted.split("\n")]
        parts = [
            [line] if line in index_of else line.split(";") for line in lines
        ]  # a name may hold a semicolon
        wanted = [part.strip() for line in parts for part in line if part.strip()]
    if not wanted:
        raise DataError(f"{title}: no name was given.", hint)
    for name in wanted:
        if name not in index_of:
            near = difflib.get_close_matches(name, names, n=1)
            meant = f"Did you mean “{near[0]}”?" if near else f"The first is “{names[0]}”." if names else ""
            raise DataError(f"{title}: “{dataset.name}” has no {options['axis'][:-1]} “{name}”.", meant)
    return np.array(list(dict.fromkeys(index_of[name] for name in wanted)))
