"""Long tables: one row per value, with the sample, the feature, and perhaps the view that it belongs to."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plaidwork.core.data.importers._answers import in_numbers
from plaidwork.core.data.importers._layout import FEATURE_WORDS, SAMPLE_WORDS, Layout, column_index, word_of
from plaidwork.core.data.importers._long_cells import LongTable, spread
from plaidwork.core.data.importers._marks import like_number
from plaidwork.core.data.importers._numbers import BadCell, NumberParser, inexact
from plaidwork.core.data.importers._problems import Problems
from plaidwork.core.data.importers.base import ImportOptions, Issue, Progress
from plaidwork.core.errors import DataError

ROLES = ("sample", "feature", "value", "view")
_VALUE_WORDS = {
    "value",
    "values",
    "expression",
    "expr",
    "abundance",
    "intensity",
    "level",
    "count",
    "counts",
    "measurement",
    "x",
    "beta",
    "score",
    "reading",
}
_VIEW_WORDS = {"view", "modality", "assay", "omic", "omics", "layer", "platform", "datatype", "data_type"}
_FEATURES = FEATURE_WORDS | {
    "analyte",
    "metabolite",
    "marker",
    "drug",
    "mutation",
    "mirna",
    "locus",
    "peptide",
}
_FEW_COLUMNS = 8
_COUNT_WORDS = {
    "count",
    "counts",
    "n",
    "freq",
    "frequency",
    "frequencies",
    "reads",
    "anzahl",
    "häufigkeit",
    "number",
    "umi",
    "umis",
}
"""Titles of values that count something: of what a list of counts does not name there is none."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns of a long table, from 0; ``view`` is -1 where there is none."""

    sample: int
    feature: int
    value: int
    view: int = -1

    def roles(self, n_columns: int) -> tuple[str, ...]:
        """What each column is used for, in the words of a preview."""
        role_of = {self.sample: "name", self.feature: "label", self.value: "value", self.view: "label"}
        return tuple(role_of.get(index, "skip") for index in range(n_columns))


def find_columns(layout: Layout, options: ImportOptions) -> Columns | None:
    """The columns given or recognised by their titles and contents; ``None`` for a table that is not long."""
    if options.get("layout") == "wide" or options.get("column") is not None:
        return None
    given = {
        name: column_index(layout, options[name], name) for name in ROLES if options.get(name) is not None
    }
    wanted = options.get("layout") == "long" or bool(given)
    if not wanted and not (
        layout.header and 3 <= layout.n_columns <= _FEW_COLUMNS and not _own_roles(options)
    ):
        return None
    found = {**_by_title(layout), **given}
    sure = len({"sample", "feature", "value"} & set(_by_title(layout))) == 3
    found = {**_by_contents(layout, found), **given}
    if not {"sample", "feature", "value"} <= set(found):
        if wanted:
            raise DataError(
                "A long table needs a column of samples, one of features and one of values; "
                f"the columns are {', '.join(layout.titles[:10])}.",
                "Choose them with the options “sample”, “feature” and “value”.",
            )
        return None
    columns = Columns(found["sample"], found["feature"], found["value"], found.get("view", -1))
    used = [columns.sample, columns.feature, columns.value] + ([columns.view] if columns.view >= 0 else [])
    if len(set(used)) < len(used):
        if wanted:
            raise DataError("One column of the long table is used twice.", "Choose different columns.")
        return None
    return (
        columns
        if wanted or (_comes_back(layout, columns) and (sure or _no_own_names(layout, columns)))
        else None
    )


def _own_roles(options: ImportOptions) -> bool:
    return any(options.get(name) is not None for name in ("names", "labels", "samples_in"))


def _by_title(layout: Layout) -> dict[str, int]:
    found: dict[str, int] = {}
    for index, title in enumerate(layout.titles):
        bare, word = title.strip().lower(), word_of(title)
        for role, words in (
            ("value", _VALUE_WORDS),
            ("view", _VIEW_WORDS),
            ("sample", SAMPLE_WORDS),
            ("feature", _FEATURES),
        ):
            if (bare in words or word in words) and role not in found:
                found[role] = index
                break
    return found


def _by_contents(layout: Layout, known: Mapping[str, int]) -> dict[str, int]:
    """Fill what titles do not say: the only number is the value, texts are sample and feature in that order."""
    found = dict(known)
    rows = [fields for _, fields in layout.head if len(fields) == layout.n_columns]
    free = [index for index in range(layout.n_columns) if index not in found.values()]
    texts: list[int] = []
    numbers: list[int] = []
    for index in free:
        cells = in_numbers([row[index] for row in rows if row[index].strip()], layout.answers)
        numeric = sum(map(like_number, cells)) >= 0.5 * max(len(cells), 1)
        (numbers if numeric else texts).append(index)
    if "value" not in found and len(numbers) == 1:
        found["value"] = numbers.pop()
    pool = texts + numbers
    for role in ("sample", "feature"):
        if role not in found and pool:
            found[role] = pool.pop(0)
    if "view" not in found and texts and len(pool) == 1 and pool[0] in texts:
        different = len({row[pool[0]] for row in rows})
        if different <= max(2, len(rows) // 10):
            found["view"] = pool[0]
    return found


def _comes_back(layout: Layout, columns: Columns) -> bool:
    """Whether samples or features repeat while their pairs do not, and values are numbers."""
    rows = [fields for _, fields in layout.head if len(fields) == layout.n_columns]
    if len(rows) < 4:
        return False
    keys = [
        (row[columns.view] if columns.view >= 0 else "", row[columns.sample], row[columns.feature])
        for row in rows
    ]
    known = {token.lower() for token in layout.missing}
    values = [row[columns.value] for row in rows if row[columns.value].strip().lower() not in known]
    pairs = len(set(keys))
    fewest = min(len({key[1] for key in keys}), len({key[2] for key in keys}))
    return bool(
        values
        and sum(map(like_number, values)) >= 0.8 * len(values)
        and fewest <= 0.5 * len(keys)
        and pairs >= 0.98 * len(keys)
    )


def _no_own_names(layout: Layout, columns: Columns) -> bool:
    """Whether nothing but the pair names a row: no other column, and neither sample nor feature is unique."""
    rows = [fields for _, fields in layout.head if len(fields) == layout.n_columns]
    texts = (columns.sample, columns.feature)
    unique = any(len({row[index] for row in rows}) == len(rows) for index in texts)
    numeric = any(all(like_number(row[index]) for row in rows) for index in texts)
    return not unique and not numeric and layout.n_columns == 3 + (columns.view >= 0)


class _Names:
    """Names in order of appearance, and the code of each."""

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}

    def code(self, name: str) -> int:
        return self.codes.setdefault(name, len(self.codes))


def read_long(
    path: Path,
    layout: Layout,
    columns: Columns,
    options: ImportOptions,
    progress: Progress | None = None,
    collect: bool = False,
    limit: int = 0,
) -> LongTable:
    """Read the rows (``limit`` of them, 0 for all). Strict unless ``collect``; O(rows) and the size of the matrices.

    Raises ``DataError`` naming the row for a row of other length, an empty name, a value that is no number or not
    finite, and for a pair that occurs twice (both rows), unless the option ``repeated`` is ``mean``.
    """
    samples, features, views = _Names(), _Names(), _Names()
    codes: list[tuple[int, int, int]] = []
    values: list[float] = []
    places: list[int] = []
    parser = layout.parser()
    problems = Problems(path, layout, options, collect, labels=False)
    issues: dict[str, Issue] = {}
    first = True
    with closing(layout.records(path, progress)) as records:
        for row, fields in records:
            if row <= layout.skip_rows or (first and layout.header):
                first = first and row <= layout.skip_rows
                continue
            first = False
            fitted = problems.fitted(row, fields)
            if fitted is None:
                continue
            fields = fitted
            unnamed = _unnamed(layout, columns, fields, row)
            if unnamed is not None:
                if not collect:
                    raise DataError(f"{path.name}, row {row}: {unnamed.detail}.", unnamed.message)
                issues.setdefault(unnamed.message, unnamed)
                continue
            (cell,) = in_numbers([fields[columns.value]], layout.answers)
            value = _value(columns.value, cell, row, parser, problems)
            if value is None:
                continue
            view = fields[columns.view].strip() if columns.view >= 0 else ""
            codes.append(
                (
                    views.code(view),
                    samples.code(fields[columns.sample].strip()),
                    features.code(fields[columns.feature].strip()),
                )
            )
            values.append(value)
            places.append(row)
            if limit and len(values) >= limit:
                break
    counts = layout.header and word_of(layout.titles[columns.value]) in _COUNT_WORDS
    table = LongTable(n_records=len(values), issues=[*issues.values(), *problems.issues()])
    if values:
        found = np.array(codes, dtype=np.int64), np.array(values), np.array(places, dtype=np.int64)
        spread(path, table, found, tuple(map(_listed, (views, samples, features))), options, collect, counts)
    return table


def _listed(names: _Names) -> list[str]:
    return list(names.codes)


def _unnamed(layout: Layout, columns: Columns, fields: Sequence[str], row: int) -> Issue | None:
    """A row that does not say to which sample, feature or view it belongs."""
    for role, index in (("sample", columns.sample), ("feature", columns.feature), ("view", columns.view)):
        if index >= 0 and not fields[index].strip():
            expected = f"expected a name of the {role}, found an empty cell in {layout.title(index)}"
            return Issue("error", f"Fill in every {role}", expected, row=row, column=index + 1)
    return None


def _value(column: int, cell: str, row: int, parser: NumberParser, problems: Problems) -> float | None:
    """The number of a row; ``None`` when what is wrong with it was reported."""
    text = cell.strip()
    try:
        value = parser.cell(text)
    except BadCell as bad:
        problems.bad_cell(row, column, bad.text)
        return None
    what = inexact(text, value)
    infinite = math.isinf(value)
    if not what and not infinite:
        return value
    rule = problems.infinite_rule if infinite else problems.inexact_rule
    if rule == "missing":
        return math.nan
    if what and (infinite or rule != "nearest"):
        problems.inexact(row, column, text, what)
        return None
    if infinite:
        problems.infinite(row, column, text)
        return None
    return value


def choices(layout: Layout, wide: Sequence[tuple[Any, str]]) -> dict[str, list[tuple[Any, str]]]:
    """What the user can choose for a long table; ``wide`` are the columns as the other options list them."""
    columns = list(wide)[:50]
    return {
        "sample": columns,
        "feature": columns,
        "value": columns,
        "view": [*columns, (-1, "None: one matrix")],
    }
