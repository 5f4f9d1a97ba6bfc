"""Annotation columns of a dataset as inputs of a model: an outcome, groups or covariates that came with the rows.

A column is named ``DATASET:row:TITLE`` (``column`` for the other axis). ``TITLE=VALUE`` is 1 where the column has that
value and 0 elsewhere; several titles with semicolons between them make a matrix. Where no annotation is called so, it is one of the
measurements, which are then fitted without it (:mod:`plaidwork.core.data.outcomes`).
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from plaidwork.core.contract.spec import Input
from plaidwork.core.data.dataset import Axis, Dataset, Source, Step
from plaidwork.core.data.measured import (
    OUTCOME_TITLES,
    Beside,
    are_times,
    features_of,
    may_be_called_outcome,
    may_be_classes,
    may_be_groups,
    may_be_outcomes,
    parts_items,
    stand_together,
)
from plaidwork.core.data.orienting import samples_axis
from plaidwork.core.data.value_kinds import infer_kind
from plaidwork.core.errors import DataError

AXES: tuple[str, str] = ("row", "column")
MOST_LEVELS = 6
_LISTED = 30
_REMEMBERED = 64
_CLASS_TITLES = frozenset({"label", "labels", "class", "classes"})
_MISSING = frozenset({"", "na", "nan", "null", "n/a", "#n/a"})


@dataclass(frozen=True, slots=True)
class ColumnRef:
    """A column (or columns) of the table beside an axis of a dataset; ``str()`` gives the name to type."""

    dataset: str
    axis: Axis
    titles: str

    def __str__(self) -> str:
        return f"{self.dataset}:{AXES[self.axis]}:{self.titles}"


def parse_column(text: str, datasets: Iterable[str]) -> ColumnRef | None:
    """The column that a text names, for the names of datasets there are; None when it names none."""
    for name in sorted(datasets, key=len, reverse=True):
        match = re.match(rf"{re.escape(name)}:(row|column):(.+)\Z", text, re.DOTALL)
        if match:
            return ColumnRef(name, 0 if match[1] == "row" else 1, match[2])
    return None


def column_dataset(dataset: Dataset, ref: ColumnRef, item: Input) -> Dataset:
    """The column as a dataset for an input of its kind; its rows have the names of the axis.

    Numbers stay as they are. For ``labels`` the values become categories, and so do texts for an ordinal matrix, in the
    order of the alphabet. In another matrix a column of texts gives one column of 0 and 1 for every value but the
    first. Raises ``DataError``.
    """
    table = Beside(dataset, ref.axis)
    names = dataset.column_names if ref.axis else dataset.row_names
    name = f"{dataset.name}: {ref.titles}"
    step = Step("annotation", {"text": f"taken from the {AXES[ref.axis]}s of {dataset.name}"})
    source = Source(dataset.source.file, dataset.source.sha256, {"annotation": str(ref)})
    common: dict[str, Any] = {
        "row_label": dataset.column_label if ref.axis else dataset.row_label,
        "source": source,
    }
    whole = item.kind == "matrix" or (item.several and len(_titles(ref.titles, table)) > 1)
    if whole:
        common["samples_in"] = "rows"  # its rows are what the columns were beside, whichever axis that is
    if item.kind == "matrix" and item.dtype == "ordinal":
        values, columns, categories = _ordinal(dataset, ref, table)
        return Dataset(name, values, names, columns, "ordinal", categories, steps=(step,), **common)
    if whole:
        values, columns = _matrix(dataset, ref, table, item.kind == "matrix")
        return Dataset(name, values, names, columns, infer_kind(values), steps=(step,), **common)
    title, level = _split(dataset, ref.titles, table)
    column = np.asarray(table[title])
    if item.kind == "labels":
        codes, categories = _codes(column)
        return Dataset(name, codes, names, (), "categorical", categories, steps=(step,), **common)
    values = _numbers(dataset, title, level, column)
    return Dataset(name, values, names, (), infer_kind(values), steps=(step,), **common)


def _split(dataset: Dataset, key: str, table: Mapping[str, np.ndarray]) -> tuple[str, str | None]:
    if key in table:
        return key, None
    for match in reversed(list(re.finditer("=", key))):
        title = key[: match.start()].strip()
        if title in table:
            return title, key[match.end() :].strip()
    known = [f"“{title}”" for title in islice(table, _LISTED)]
    more = ", …" if len(table) > len(known) else ""
    raise DataError(f"{dataset.name} has no column “{key}”.", f"It has {', '.join(known) or 'none'}{more}.")


def _numbers(dataset: Dataset, title: str, level: str | None, column: np.ndarray) -> np.ndarray:
    if level is not None:
        codes, categories = _codes(column)
        if level not in categories:
            shown = ", ".join(f"“{text}”" for text in categories[:MOST_LEVELS])
            raise DataError(f"“{title}” of {dataset.name} has no value “{level}”.", f"It has {shown}.")
        return np.where(codes < 0, np.nan, (codes == categories.index(level)).astype(float))
    if column.dtype.kind in "biuf":
        return column.astype(float)
    _, categories = _codes(column)
    shown = " and ".join(f"“{text}”" for text in categories[:2])
    hint = f"Write “{title}={categories[-1]}” to count “{categories[-1]}” as 1." if categories else ""
    raise DataError(f"“{title}” of {dataset.name} is text ({shown}); numbers are needed.", hint)


_seen: OrderedDict[int, tuple[np.ndarray, np.ndarray, tuple[str, ...]]] = OrderedDict()


def _codes(column: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """Codes (-1 missing) and what they stand for; the last columns are remembered, for a form asks again and again."""
    found = _seen.get(id(column))
    if found is None or found[0] is not column:
        found = (column, *_encoded(column))
        _seen[id(column)] = found
        while len(_seen) > _REMEMBERED:
            _seen.popitem(last=False)
    return found[1], found[2]


def codes_of(column: np.ndarray, levels: Sequence[str] = ()) -> tuple[np.ndarray, tuple[str, ...]]:
    """Codes (-1 missing) of numbers or texts and what they stand for: in the order of ``levels`` when these are the values."""
    codes, categories = _encoded(column)
    order = [level.strip() for level in levels]
    if len(order) != len(categories) or set(order) != set(categories):
        return codes, categories
    code_of = np.array([*(order.index(text) for text in categories), -1], dtype=np.int64)
    return code_of[codes], tuple(order)


def has_columns(dataset: Dataset, ref: ColumnRef) -> bool:
    """Whether the dataset has every column that is named."""
    return columns_of(dataset, ref) is not None


def columns_of(dataset: Dataset, ref: ColumnRef) -> list[str] | None:
    """Titles of the columns that are named; None where the dataset lacks one."""
    table = Beside(dataset, ref.axis)
    try:
        return [_split(dataset, key, table)[0] for key in _titles(ref.titles, table)]
    except DataError:
        return None


def _encoded(column: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    if column.dtype.kind in "biuf":
        known, inverse = np.unique(column.astype(float), return_inverse=True)
        missing = np.isnan(column.astype(float))
        return np.where(missing, -1, inverse), tuple(map(number_text, known[~np.isnan(known)]))
    texts = [str(item).strip() for item in column]
    categories = tuple(sorted({text for text in texts if text.lower() not in _MISSING}))
    code_of = {text: code for code, text in enumerate(categories)}
    return np.array([code_of.get(text, -1) for text in texts], dtype=np.int64), categories


def number_text(value: float) -> str:
    """A number as a category is called: short, but never the same as another."""
    short = f"{value:g}"
    if float(short) == value:
        return short
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def _ordinal(
    dataset: Dataset, ref: ColumnRef, table: Mapping[str, np.ndarray]
) -> tuple[np.ndarray, tuple[str, ...], tuple[str, ...]]:
    """Codes (n, m) with NaN where missing, titles, and what the codes stand for in all columns."""
    titles = tuple(_split(dataset, key, table)[0] for key in _titles(ref.titles, table))
    codes, categories = _encoded(np.concatenate([np.asarray(table[title]) for title in titles]))
    values = np.where(codes < 0, np.nan, codes).reshape(len(titles), -1).T
    return values, titles, categories


def _titles(text: str, table: Mapping[str, np.ndarray]) -> list[str]:
    return [text] if text in table else [key.strip() for key in text.split(";")]


def _matrix(
    dataset: Dataset, ref: ColumnRef, table: Mapping[str, np.ndarray], texts: bool
) -> tuple[np.ndarray, tuple[str, ...]]:
    """(n, m) numbers and their titles; of ``texts`` a column for every value but the first, else they are refused."""
    keys = list(dict.fromkeys(_titles(ref.titles, table)))
    values: list[np.ndarray] = []
    names: list[str] = []
    for key in keys:
        title, level = _split(dataset, key, table)
        column = np.asarray(table[title])
        if level is not None or column.dtype.kind in "biuf" or not texts:
            values.append(_numbers(dataset, title, level, column))
            names.append(key)
            continue
        codes, categories = _codes(column)
        for code, text in enumerate(categories[1:], start=1):
            values.append(np.where(codes < 0, np.nan, (codes == code).astype(float)))
            names.append(f"{title}={text}")
    if not values:
        raise DataError(f"“{ref.titles}” of {dataset.name} has one value only.", "Choose another annotation.")
    return np.column_stack(values), tuple(dict.fromkeys(names))


def column_choices(dataset: Dataset, item: Input) -> list[ColumnRef]:
    """The annotation columns of the samples that suit an input, those whose role is this input's first.

    Where it is not known which axis holds the samples, those of the rows come before those of the columns. Roles are
    those that a text import noted. Texts of a document, and texts that all differ, are not offered.
    """
    if item.many:
        return []
    return [ref for axis in _axes_with_samples(dataset, item) for ref in _choices_of(dataset, axis, item)]


def measured_choices(dataset: Dataset, item: Input) -> list[ColumnRef]:
    """The measurements of a matrix that may be an input of one column, such as the outcome; none is chosen without asking."""
    if item.many or item.kind == "matrix" or len(dataset.shape) != 2:
        return []
    axis = _axes_with_samples(dataset, item)[0]
    titles = may_be_outcomes(dataset, axis, classes=item.kind == "labels")
    beside = Beside(dataset, axis)
    if item.dtype == "binary" and item.kind == "vector":
        titles = [title for title in titles if _keys(title, beside[title], item)]
    return [ColumnRef(dataset.name, axis, title) for title in titles if beside.is_measured(title)]


def _axes_with_samples(dataset: Dataset, item: Input) -> tuple[Axis, ...]:
    if len(dataset.shape) < 2 or not item.samples or item.samples != item.dims[0]:
        return (0,)
    known = samples_axis(dataset)
    return (0, 1) if known is None else (known,)


def _choices_of(dataset: Dataset, axis: Axis, item: Input) -> list[ColumnRef]:
    roles = dataset.source.options.get("roles") or {}
    table = _table(dataset, axis)
    found: list[tuple[bool, str]] = []
    for title, column in table.items():
        if roles.get(title) != "text":
            found += [(roles.get(key) == wanted_role(item), key) for key in _keys(title, column, item)]
    if item.kind == "matrix" and item.dtype != "ordinal":
        chosen = ";".join(key for key in roles if roles[key] == wanted_role(item))
        found = [(True, chosen)] if chosen else []
    elif item.kind == "matrix" and (alike := _alike(table, dataset.shape[axis])):
        found.insert(0, (False, ";".join(alike)))
    ranked = sorted(found, key=lambda entry: not entry[0])
    return [ColumnRef(dataset.name, axis, key) for _, key in ranked]


def _table(dataset: Dataset, axis: Axis) -> Mapping[str, np.ndarray]:
    return dataset.column_table if axis else dataset.row_table


def _alike(table: Mapping[str, np.ndarray], size: int) -> list[str]:
    """Columns of texts with the same few values, such as the grades that several raters gave; none when there is one."""
    levels = {
        title: set(_codes(np.asarray(column))[1])
        for title, column in table.items()
        if np.asarray(column).dtype.kind not in "biuf" and ";" not in title
    }
    largest = max(levels.values(), key=len, default=set())
    found = [title for title, own in levels.items() if own and own <= largest]
    return found if len(found) > 1 and len(largest) < size else []


def _keys(title: str, column: np.ndarray, item: Input) -> list[str]:
    column = np.asarray(column)
    numbers = column.dtype.kind in "biuf"
    if item.kind == "labels" or item.kind == "matrix":
        return [title] if numbers or len(_codes(column)[1]) < len(column) else []
    if numbers:
        if item.dtype == "binary":
            known = column[np.isfinite(column)]
            return [title] if np.isin(known, (0, 1)).all() else []
        return [title]
    _, categories = _codes(column)
    return [f"{title}={text}" for text in categories] if 2 <= len(categories) <= MOST_LEVELS else []


def wanted_role(item: Input) -> str:
    """The role that an input is named after (``outcome``, ``cluster``, ``group``, ``covariate``), or ``-``."""
    for text in (item.name.lower(), item.label.lower()):
        for role in ("outcome", "cluster", "group", "covariate"):
            if text.startswith(role):
                return role
    return "-"


def usual_choice(dataset: Dataset, item: Input) -> ColumnRef | None:
    """The column whose role is this input's, or that is called like it or like an outcome, to be chosen without asking."""
    roles = dataset.source.options.get("roles") or {}
    # of columns of which nobody said that they are samples none is chosen without asking
    choices = _choices_of(dataset, _axes_with_samples(dataset, item)[0], item) if not item.many else []
    for ref in choices:
        keys = ref.titles.split(";") if item.kind == "matrix" else [ref.titles]
        if any(roles.get(key) == wanted_role(item) for key in keys):
            return ref
    if item.kind == "labels":
        for ref in choices:
            codes, levels = _codes(_table(dataset, ref.axis)[ref.titles])
            one = len(levels) < 2  # no split; of classes the model says so
            called = ref.titles.lower() in _called(item) and (item.required or not one)
            if called and not (_called(item) & _CLASS_TITLES and may_be_groups(codes)):
                return ref
            if _splits(ref, dataset, item):
                return ref
    if not item.required or roles or not choices:
        return None
    measured = features_of(dataset, choices[0].axis)
    if len(measured) < 2:  # it is more often that which is to be explained, unless it is a time
        return _over_time(dataset, item, choices) if are_times(measured, dataset.unit) else None
    return _outcome(dataset, item, choices)


def _over_time(dataset: Dataset, item: Input, choices: Sequence[ColumnRef]) -> ColumnRef | None:
    """The only annotation, where it holds amounts: what was measured at the times."""
    if item.kind != "vector" or len(choices) != 1:
        return None
    column = np.asarray(_table(dataset, choices[0].axis).get(choices[0].titles, ""))
    return choices[0] if column.dtype.kind in "biuf" else None


def _outcome(dataset: Dataset, item: Input, choices: Sequence[ColumnRef]) -> ColumnRef | None:
    """The only annotation that is called like an outcome and may be one; or the only classes, where few samples have one or where
    the only other column says which are for a test."""
    if item.kind == "vector":
        named = [ref for ref in choices if ref.titles.strip().lower() in OUTCOME_TITLES]
        named = [ref for ref in named if not _numbers_groups(ref, dataset)]
        return named[0] if len(named) == 1 else None
    if item.kind != "labels" or not _called(item) & _CLASS_TITLES:
        return None
    codes = {ref: _codes(np.asarray(_table(dataset, ref.axis)[ref.titles]))[0] for ref in choices}
    classes = [ref for ref in choices if may_be_classes(np.where(codes[ref] < 0, np.nan, codes[ref]))]
    named = [ref for ref in classes if may_be_called_outcome(ref.titles)]
    few = [ref for ref in classes if np.mean(codes[ref] < 0) > 0.5]
    others = [ref for ref in choices if not _parts(ref, dataset)]
    alone = [ref for ref in classes if len(others) == 1 < len(choices) and ref in others]
    found = named or few or alone
    return found[0] if len(found) == 1 else None


def _numbers_groups(ref: ColumnRef, dataset: Dataset) -> bool:
    """Whether a column called *class* holds the numbers of groups, as of school classes, and no amounts that are to be explained."""
    title = ref.titles.strip().lower()
    codes = _codes(_table(dataset, ref.axis)[ref.titles])[0] if title in _CLASS_TITLES else np.zeros(0)
    return may_be_groups(codes) and stand_together(codes)


def _splits(ref: ColumnRef, dataset: Dataset, item: Input) -> bool:
    """Whether an input asks for a column that says which samples are for the test, and this is one."""
    return "split" in {item.name.lower(), item.label.lower()} and _parts(ref, dataset)


def _parts(ref: ColumnRef, dataset: Dataset) -> bool:
    """Whether a column says which samples are for the test."""
    table = _table(dataset, ref.axis)
    return ref.titles in table and parts_items(ref.titles, _codes(table[ref.titles])[1])


def _called(item: Input) -> set[str]:
    """Titles of columns that are meant for an input of labels: its own names, and the usual ones of classes."""
    names = {item.name.lower(), item.label.lower()}
    return names | _CLASS_TITLES if names & _CLASS_TITLES else names
