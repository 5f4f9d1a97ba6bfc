"""Delimited text: CSV, TSV, semicolons, bars or blanks, plain or gzipped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.importers._alleles import add_loci
from plaidwork.core.data.importers._at_end import totals_below
from plaidwork.core.data.importers._categories import add_categories
from plaidwork.core.data.importers._column import read_column
from plaidwork.core.data.importers._dates import unit_of
from plaidwork.core.data.importers._findings import repeated, samples_issue
from plaidwork.core.data.importers._in_force import choices_of, column_choices, declared, in_force
from plaidwork.core.data.importers._label_rows import column_labels
from plaidwork.core.data.importers._layout import (
    Layout,
    axis_words,
    column_index,
    decimal_issue,
    known_plural,
    unclear_error,
    word_of,
)
from plaidwork.core.data.importers._long import ROLES, Columns, find_columns, read_long
from plaidwork.core.data.importers._long import choices as long_choices
from plaidwork.core.data.importers._long_cells import absent_issue
from plaidwork.core.data.importers._matrix import checked_names, finished, looks_unique
from plaidwork.core.data.importers._numbers import as_annotation, holds_numbers
from plaidwork.core.data.importers._reader import TableReader, refusal, unread
from plaidwork.core.data.importers._sniff import HEAD_ROWS, sniff
from plaidwork.core.data.importers._table import Table, load_table
from plaidwork.core.data.importers._text import count_lines, file_stem
from plaidwork.core.data.importers.base import Grid, ImportOptions, Issue, Progress, Put, RawTable
from plaidwork.core.data.joining import default_names
from plaidwork.core.data.sample_words import are_dates, names_say
from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.errors import DataError

LONG_CHECK = 5000
FULL_CHECK_BYTES = {True: 1_000_000, False: 2_500_000}  # gzipped or not
FULL_CHECK_CELLS = 250_000
"""Files (and sheets) up to this size are read whole for a preview; of longer ones the first 200 rows are checked."""


class DelimitedReader(TableReader):
    """Tables as text.

    Options: those of ``delimited`` in :mod:`plaidwork.core.data.reading_options`. Separator, decimal mark, encoding, header,
    names, labels, layout and what the axes are called are detected when absent; nothing else is done unless given.
    ``missing`` is a list of texts, ``names`` -1 for none; long tables are those with ``layout`` long.
    """

    id = "delimited"
    title = "Table as text"
    suffixes: tuple[str, ...] = (
        ".csv.gz",
        ".tsv.gz",
        ".tab.gz",
        ".txt.gz",
        ".csv",
        ".tsv",
        ".tab",
        ".txt",
        ".dat",
    )

    def raw(
        self, path: Path, options: ImportOptions, progress: Progress | None = None, head: bool = False
    ) -> RawTable:
        """The matrix, one column with the option ``column``, or a view of a long table; for a preview all of its views."""
        if not head:
            layout = sniff(path, options)
            return self._whole(path, layout, _only_labels(layout, options), progress)
        try:
            layout = sniff(path, options)
            return _head(path, layout, _only_labels(layout, options))
        except DataError as error:
            if "is not UTF-8" not in error.message or options.get("encoding"):
                raise
            return self._other_encoding(path, options, error)

    def _other_encoding(self, path: Path, options: ImportOptions, error: DataError) -> RawTable:
        """Read as Latin-1, with the encoding left for the user to choose."""
        issue = Issue("error", error.message, error.hint, fix=("Read as Latin-1", "encoding", "latin-1"))
        latin = {**options, "encoding": "latin-1"}
        try:
            raw = self.raw(path, latin, head=True)
        except DataError as other:
            raw = unread(path, latin, refusal(other))
        raw.in_force, raw.unclear = (
            {**raw.in_force, "encoding": ""},
            {**raw.unclear, "encoding": error.message},
        )
        raw.doubts.insert(0, issue)
        return raw

    def hand_on(
        self, path: Path, options: ImportOptions, put: Put, progress: Progress | None = None
    ) -> RawTable | None:
        """The matrix a few rows at a time; None for sheets, long tables, one column, and words that are measured."""
        layout = sniff(path, options)
        options = _only_labels(layout, options)
        one = options.get("column") is not None or find_columns(layout, options) is not None
        one = one or bool(layout.categories or layout.alleles)  # their words are known at the end only
        return None if one or layout.sheet is not None else self._whole(path, layout, options, progress, put)

    def _whole(
        self,
        path: Path,
        layout: Layout,
        options: ImportOptions,
        progress: Progress | None,
        put: Put | None = None,
    ) -> RawTable:
        if options.get("column") is not None:
            return read_column(path, layout, options, in_force(layout, options), progress)
        columns = find_columns(layout, options)
        if columns is not None:
            return _one_part(path, options, _long_tables(path, layout, columns, options, progress))
        if layout.unclear:
            raise unclear_error(path, layout)
        if not layout.measures:
            titles = ", ".join(f"“{layout.titles[index]}”" for index in layout.labels[:10])
            raise DataError(
                f"{path.name} has no column of numbers.",
                f"Say with the option “column” which one holds the labels: {titles}."
                if titles
                else "Use the file as a table of classes.",
            )
        table = load_table(path, layout, options, progress, put=put)
        raw = _matrix(path, layout, table, options)
        parser = layout.parser()
        raw.row_table = {title: as_annotation(texts, parser) for title, texts in table.labels.items()}
        raw.words = axis_words(layout)
        raw.notes = [f"{issue.message}: {issue.detail}" for issue in table.issues]
        return raw

    def read_all(self, path: Path, options: ImportOptions, progress: Progress | None = None) -> list[Dataset]:
        """The views of a long table; the one matrix of any other."""
        path = Path(path)
        layout = sniff(path, options)
        columns = find_columns(layout, options)
        if columns is None:
            return [self.read(path, options, progress)]
        found = _long_tables(path, layout, columns, options, progress)
        if options.get("part") is not None:
            found = {"": _one_part(path, options, found)}
        return [finished(raw, options) for raw in found.values()]


def _only_labels(layout: Layout, options: ImportOptions) -> ImportOptions:
    """Names and one column of labels, and nothing else: that column is what the file is about.

    Texts that mostly differ are no labels, but names or documents.
    """
    asked = options.get("column") is not None or options.get("layout") == "long"
    if asked or layout.unclear or layout.value_columns or layout.alleles or len(layout.labels) != 1:
        return options
    missing = {text.lower() for text in (*layout.missing, "")}
    texts = [fields[layout.labels[0]] for _, fields in layout.head if len(fields) > layout.labels[0]]
    texts = [text for text in texts if text.lower() not in missing]
    mostly_differ = len(set(texts)) > max(2, 0.5 * len(texts))
    return options if mostly_differ else {**options, "column": layout.labels[0]}


def _head(path: Path, layout: Layout, options: ImportOptions) -> RawTable:
    """The beginning of a file, all of it where it is small, as it would be read."""
    whole = _checks_all(path, layout)
    columns = find_columns(layout, options) if options.get("column") is None else None
    if options.get("column") is not None:
        raw = _column_head(path, layout, options, whole)
    elif columns is not None:
        raw = _long_head(path, layout, columns, options, whole)
    else:
        table = load_table(path, layout, options, limit=0 if whole else HEAD_ROWS, collect=True)
        if not whole and layout.sheet is None and not layout.drop_totals:
            table.issues += totals_below(path, layout, table.values)
        raw = _matrix(path, layout, table, options, whole)
        raw.in_force, raw.doubts = in_force(layout, options), _doubts(table, raw, layout, options)
        raw.choices, raw.checked = choices_of(layout), 0 if whole else HEAD_ROWS
        raw.n_rows = table.n_records if whole else _count(path, layout)
        if layout.alleles:
            shape = (len(raw.values), raw.values.shape[1]) if whole else (0, 0)
            raw.makes = ((raw.name, *(shape[::-1] if options.get("transpose") else shape)),)
    raw.n_columns, raw.unclear = layout.n_columns, dict(layout.unclear)
    raw.detected = frozenset({*layout.detected, *raw.detected, "layout"} - set(options)) - frozenset(
        layout.unclear
    )
    if raw.grid is None:
        raw.grid = _grid(layout, layout.roles)
    return raw


def _grid(layout: Layout, roles: tuple[str, ...]) -> Grid:
    """The first rows of the file itself."""
    head = layout.head[:HEAD_ROWS]
    return Grid(
        layout.titles, tuple(tuple(fields) for _, fields in head), roles, tuple(row for row, _ in head)
    )


def _matrix(path: Path, layout: Layout, table: Table, options: ImportOptions, whole: bool = True) -> RawTable:
    """The matrix of a wide table, without its labels; columns of words that are measured come last, and then loci."""
    raw = RawTable(
        path,
        file_stem(path),
        table.values,
        table.names if table.names is not None else default_names("row", len(table.values)),
        _value_titles(layout),
        column_table=column_labels(layout),
        unit=unit_of(layout),
        samples_in=layout.samples_in,
        in_force=in_force(layout, options),
        row_places=table.rows,
        column_places=[index + 1 for index in (*layout.value_columns, *layout.categories)],
    )
    if layout.categories:
        add_categories(raw, layout, table.labels, whole)
    if layout.alleles:
        add_loci(raw, layout, table.alleles)
    return raw


def _checks_all(path: Path, layout: Layout) -> bool:
    """Whether a file is small enough to be read whole for a preview."""
    if layout.sheet is not None:
        return len(layout.sheet.rows) * layout.n_columns <= FULL_CHECK_CELLS
    return path.stat().st_size <= FULL_CHECK_BYTES[path.name.lower().endswith(".gz")]


def _count(path: Path, layout: Layout) -> int:
    """Rows below the header, of a file that is not read whole."""
    lines = count_lines(path) if layout.sheet is None else len(layout.sheet.rows)
    return max(lines - layout.header - layout.skip_rows, 0)


def _long_tables(
    path: Path, layout: Layout, columns: Columns, options: ImportOptions, progress: Progress | None
) -> dict[str, RawTable]:
    """Every view of a long table by its name; one without a column of views has the name of the file."""
    if layout.unclear:
        raise unclear_error(path, layout)
    table = read_long(path, layout, columns, options, progress)
    if not table.views:
        raise DataError(f"{path.name} holds no values.", "The file ends after its header.")
    found = {}
    for view, (values, samples, features) in table.views.items():
        found[view] = RawTable(
            path,
            view or file_stem(path),
            values,
            samples,
            features,
            words=_long_words(layout, columns),
            samples_in="rows",
            in_force={
                **in_force(layout, options, columns),
                **({"absent": "zero"} if table.zeros else {}),
                **({"part": view} if view else {}),
            },
        )
    return found


def _long_words(layout: Layout, columns: Columns) -> tuple[str, str]:
    words = [word_of(layout.titles[index]) for index in (columns.sample, columns.feature)]
    return known_plural(words[0], "samples"), known_plural(words[1], "features")


def _one_part(path: Path, options: ImportOptions, found: Mapping[str, RawTable]) -> RawTable:
    wanted = options.get("part")
    if wanted is None and len(found) == 1:
        return next(iter(found.values()))
    if wanted is None:
        raise DataError(
            f"{path.name} holds {counted(len(found), 'view')}: {', '.join(found)}.",
            "Choose one with the option “part”, or import all as views.",
        )
    if wanted not in found:
        raise DataError(f"{path.name} has no view “{wanted}”.", f"It has: {', '.join(found)}.")
    return found[wanted]


def _without_roles(issues: Iterable[Issue]) -> list[Issue]:
    """Without what is only said of the columns of a wide table."""
    return [
        issue
        for issue in issues
        if not issue.fix
        or issue.fix[1] not in ("labels", "names", "skip", "answers", "categories", "alleles", "dates")
    ]


def _column_head(path: Path, layout: Layout, options: ImportOptions, whole: bool) -> RawTable:
    """A table of which one column is read: the others are shown as left out."""
    index = column_index(layout, options["column"], "column")
    issues = _without_roles(layout.issues)
    if whole and not layout.unclear:
        try:
            column = read_column(path, layout, options, {}, None)
            checked_names(path.name, column.row_names, "row", options)
            classes = counted(len(column.categories or ()), "class", "classes")
            found = f"labels: {classes}" if column.categories else "numbers"
            issues.append(Issue("info", f"Only {layout.title(index)} is read, as {found}"))
        except DataError as error:
            issues.append(Issue("error", error.message.rstrip("."), error.hint))
    n_rows = _count(path, layout) if not whole else len(list(layout.records(path))) - layout.header
    roles = ["skip"] * layout.n_columns
    if layout.names >= 0:
        roles[layout.names] = "name"
    roles[index] = "value"
    return RawTable(
        path,
        "",
        np.empty((0, 0)),
        (),
        in_force=in_force(layout, options),
        doubts=issues,
        choices=choices_of(layout),
        n_rows=max(n_rows - layout.skip_rows, 0) if whole else n_rows,
        grid=_grid(layout, tuple(roles)),
    )


def _long_head(path: Path, layout: Layout, columns: Columns, options: ImportOptions, whole: bool) -> RawTable:
    """A table with a value a row: its views, and what is absent."""
    table = read_long(path, layout, columns, options, collect=True, limit=0 if whole else LONG_CHECK)
    issues = _without_roles((*layout.issues, *table.issues))
    if "decimal" in layout.unclear:
        issues.insert(0, decimal_issue(layout))
    absent = absent_issue(table, options, whole)
    decided = {"absent": "zero" if table.zeros else "missing"} if whole else {}
    shapes = [(view or file_stem(path), *values.shape) for view, (values, _, _) in table.views.items()]
    return RawTable(
        path,
        "",
        np.empty((0, 0)),
        (),
        in_force={**decided, **in_force(layout, options, columns)},
        doubts=[*issues, absent] if absent is not None else issues,
        detected=frozenset({*ROLES, *decided}),
        choices={**declared(layout), **long_choices(layout, column_choices(layout))},
        n_rows=table.n_records if whole else _count(path, layout),
        checked=0 if whole else table.n_records,
        grid=_grid(layout, columns.roles(layout.n_columns)),
        makes=tuple(shapes) if whole else ((file_stem(path), 0, 0),),
    )


def _value_titles(layout: Layout) -> tuple[str, ...]:
    if not layout.header:
        return default_names("column", len(layout.value_columns))
    return tuple(layout.titles[index] for index in layout.value_columns)


def _doubts(table: Table, raw: RawTable, layout: Layout, options: ImportOptions) -> list[Issue]:
    """What was found in the cells and labels of a wide table."""
    if layout.above is not None:  # all else that is found comes of it
        return [layout.above]
    found = list(table.issues)
    if "decimal" in layout.unclear:
        found.insert(0, decimal_issue(layout))
    if not options.get("distinct_labels"):
        parser = layout.parser()
        filled = [[text for text in texts if text.strip()] for texts in table.labels.values()]
        found += [
            _label_issue(texts, whole)
            for texts, whole in zip(filled, table.labels.values())
            if looks_unique(texts) and not are_dates(texts) and not holds_numbers(texts, parser)
        ]
    if not layout.measures:
        found.append(Issue("error", "No column holds numbers", "Use it as a table of classes"))
    elif not table.n_records:
        found.append(Issue("error", "No row holds numbers", "The file ends after its header"))
    by_names = names_say(raw.row_names, raw.column_names)
    if "samples_in" in layout.detected and by_names == layout.samples_in != "":
        found.append(samples_issue(layout.samples_in))
    return found


def _label_issue(texts: list[str], whole: Sequence[str]) -> Issue:
    """Of the ``texts`` that are filled in among the ``whole`` column."""
    twice = repeated(texts)
    first, second = [index + 1 for index, text in enumerate(whole) if text == twice[0]][:2]
    shown = twice[0] if len(twice[0]) <= 40 else twice[0][:39] + "…"
    verb = agree(len(twice), "occurs", "occur")
    return Issue(
        "warning",
        f"{counted(len(twice), 'label')} {verb} more than once",
        f"First: “{shown}”, rows {first} and {second}",
        fix=("Add the row name to tell them apart", "distinct_labels", True),
    )
