"""What the import dialog knows: options given, the last preview, fixes, and whether it may go on. No widgets."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from plaidwork.core.data.dataset import AXIS_WORDS, Dataset
from plaidwork.core.data.importers import Issue, Preview
from plaidwork.core.data.importers._text import parse_tokens
from plaidwork.core.data.importers.base import Added, Fix
from plaidwork.core.data.reading_options import reading_option
from plaidwork.core.data.sample_words import about_features
from plaidwork.core.draws.counting import counted, labelled, plural
from plaidwork.core.errors import DataError
from plaidwork.gui.numbers import format_bytes

_IDENTIFIER = re.compile(r"(?:[ _.-]+(?:[iI][dD]s?|[nN]ames?|[sS]ymbols?)|(?<=[a-z])I[Dd]s?)$")
"""What a title says of the kind of names, and not of what is named: ``Gene Symbol``, ``ProbeID``; ``lipid`` is one word."""
_PLAIN_WORDS = {"", "id", "name", "index", "row", "rowname", "rownames", "key"}


def is_step_option(name: str) -> bool:
    """Whether an import option stands for a recorded transformation."""
    return name == "log" or name.startswith("drop_")


def option_title(name: str) -> str:
    """The label of an option."""
    declared = reading_option(name)
    return declared.title if declared is not None else name.replace("_", " ").capitalize()


def same(first: Any, second: Any) -> bool:
    """Equality that tells ``0`` from ``False`` and takes lists for tuples."""
    if isinstance(first, (list, tuple)) and isinstance(second, (list, tuple)):
        return list(first) == list(second)
    return type(first) is type(second) and bool(first == second)


@dataclass
class FixRow:
    """One line of "Found while reading": the issue, whether a fix is on, and whether it is the second one."""

    issue: Issue
    applied: bool = False
    second: bool = False

    @property
    def fix(self) -> Fix | None:
        """The fix that is on, or would be: the first unless the second was chosen."""
        return self.issue.other if self.second else self.issue.fix

    @property
    def option(self) -> str:
        """The option that is set while a fix is on."""
        return self.fix[1] if self.applied and self.fix else ""


@dataclass
class ImportState:
    """Options that the user gave (or that ticked fixes give); absent ones are detected by the reader."""

    given: dict[str, Any] = field(default_factory=dict)
    preview: Preview | None = None
    rows: list[FixRow] = field(default_factory=list)

    # -- options --------------------------------------------------------------------------------
    def give(self, name: str, value: Any) -> None:
        """Set an option; None lets the reader detect it again."""
        if value is None:
            self.given.pop(name, None)
        else:
            self.given[name] = value
        for row in self.rows:
            if row.option == name and row.fix and not _holds(value, row.fix[2]):
                row.applied = False

    def set_role(self, column: int, role: str) -> None:
        """Use a column as ``name``, ``label``, ``value`` or ``skip``."""
        if self.preview is None:
            return
        roles = list(self.preview.roles)
        if role == "name":
            roles = ["label" if item == "name" else item for item in roles]
        roles[column] = role
        self.given["names"] = roles.index("name") if "name" in roles else -1
        self.given["labels"] = [index for index, item in enumerate(roles) if item == "label"]
        self.given["skip"] = [index for index, item in enumerate(roles) if item == "skip"]

    # -- fixes ----------------------------------------------------------------------------------
    def take(self, preview: Preview) -> None:
        """Take a new preview in. Nothing that was found is mended by itself."""
        self.preview = preview
        seen = {_key(row.issue): row for row in self.rows if row.applied}
        rows = []
        for issue in preview.issues:
            key = _key(issue)
            rows.append(seen.pop(key) if key in seen else FixRow(issue))
        rows += seen.values()  # mended ones stay, so that the tick can be taken back
        rank = {"error": 0, "warning": 1, "info": 2}
        self.rows = sorted(rows, key=lambda row: rank[row.issue.severity])

    def tick(self, row: FixRow, on: bool, second: bool = False) -> None:
        """Apply or take back a fix; ``second`` is the other way to mend it."""
        if row.applied and row.second != second:
            self._take_back(row)
        row.second, row.applied = second, on
        assert row.fix is not None
        _, name, value = row.fix
        if not on:
            self._take_back(row)
        elif isinstance(value, Added):
            base = self._listed(name)
            self.given[name] = [*base, *(item for item in value.items if item not in base)]
        else:
            for other in self.rows:  # what is mended by the same value is mended, too
                fixes = (other.issue.fix, other.issue.other)
                position = next((k for k, fix in enumerate(fixes) if fix and fix[1:] == row.fix[1:]), -1)
                if position >= 0:
                    other.applied, other.second = True, bool(position)
                elif other.option == name:
                    other.applied = False
            self.given[name] = value

    def _take_back(self, row: FixRow) -> None:
        assert row.fix is not None
        _, name, value = row.fix
        if isinstance(value, Added):
            self.given[name] = [item for item in self._listed(name) if item not in value.items]
        else:
            self.given.pop(name, None)
            for other in self.rows:
                if other.option == name:
                    other.applied = False

    def _listed(self, name: str) -> list[Any]:
        """The list in force."""
        found = self.given.get(name, self.preview.options.get(name) if self.preview is not None else None)
        if name == "missing":
            return list(parse_tokens(found or ()))
        return list(found) if isinstance(found, (list, tuple)) else [] if found is None else [found]

    @property
    def to_look_at(self) -> int:
        """Warnings and errors whose fix is not on."""
        return sum(row.issue.severity != "info" and not row.applied for row in self.rows)

    @property
    def mended(self) -> int:
        """Warnings and errors whose fix is on."""
        return sum(row.issue.severity != "info" and row.applied for row in self.rows)

    # -- what will be added -----------------------------------------------------------------------
    @property
    def obstacle(self) -> str:
        """Why it cannot be imported, in a sentence; empty when it can."""
        if self.preview is None:
            return "Reading the head of the file"
        for name, reason in self.preview.unclear.items():
            text = f"“{option_title(name)}” has to be chosen"
            return f"{text}: {reason[:1].lower() + reason[1:] if reason[:1] != '“' else reason}"
        errors = [row.issue for row in self.rows if row.issue.severity == "error" and not row.applied]
        if len(errors) == 1:
            return f"{errors[0].message}. Mend it above or in the file."
        if errors:
            return f"{len(errors)} problems have to be mended first"
        if not any(role == "value" for role in self.preview.roles):
            return "No column is used as measurements"
        return ""

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns of the matrix; 0 where unknown."""
        if self.preview is None:
            return 0, 0
        roles = self.preview.roles
        columns = roles.count("value") if len(roles) == self.preview.n_columns else self.preview.n_columns
        size = self.preview.n_rows, columns
        size = size[::-1] if self.given.get("transpose") else size
        return size[0] - self.preview.dropped[0], size[1] - self.preview.dropped[1]

    def axis_labels(self) -> tuple[str, str]:
        """What rows and columns are called, in the plural, as far as the head of the file tells."""
        if self.preview is None:
            return "rows", "columns"
        options, roles = self.preview.options, self.preview.roles
        title = self.preview.header[roles.index("name")] if "name" in roles else ""
        word = _IDENTIFIER.sub("", title.strip()).lower()
        known = word.isalpha() and word not in _PLAIN_WORDS
        if self.preview.words[0]:
            labels = self.preview.words
        elif options.get("layout") == "long":
            labels = (plural(word) if known else "samples", "features")
        elif not options.get("samples_in"):
            labels = ("rows", "columns")
        elif options.get("samples_in") == "columns":
            labels = (plural(word) if known else "features", "samples")
        else:
            labels = (plural(word) if known else "samples", "features")
        return labels[::-1] if self.given.get("transpose") else labels

    def adds(self, labels: tuple[str, str]) -> str:
        """What an import would add, in a sentence."""
        made = self.preview.makes if self.preview is not None else ()
        if made:
            return _adds(made, labels)
        rows, columns = self.size
        if not rows or not columns:
            return "Adds one matrix to this session"
        about = f"to this session (about {format_bytes(8 * rows * columns)})"
        if self.preview is not None and self.preview.options.get("column") is not None:
            return f"Adds one column, of {labelled(rows, labels[0])}, {about}"
        size = f"{labelled(rows, labels[0])} × {labelled(columns, labels[1])}"
        return f"Adds one matrix, {size}, {about}"

    def file_row(self, row: int) -> int:
        """Index into the preview's cells of a row of the file (from 1); -1 when it is not shown."""
        if self.preview is None or row < 1:
            return -1
        rows = self.preview.rows
        return rows.index(row) if row in rows else -1


def _adds(made: Sequence[tuple[str, int, int]], labels: tuple[str, str]) -> str:
    if len(made) == 1:
        _, rows, columns = made[0]
        if not rows:
            return "Adds the matrix of this table to this session"
        size = f"{labelled(rows, labels[0])} × {labelled(columns, labels[1])}"
        return f"Adds one matrix, {size}, to this session (about {format_bytes(8 * rows * columns)})"
    names = ", ".join(name for name, _, _ in made[:4]) + (", …" if len(made) > 4 else "")
    total = format_bytes(sum(8 * rows * columns for _, rows, columns in made))
    return f"Adds {counted(len(made), 'matrix')}, {names}, to this session (about {total})"


def _holds(value: Any, fix: Any) -> bool:
    """Whether an option still says what a fix had made of it."""
    if isinstance(fix, Added):
        return value is not None and set(fix.items) <= set(
            parse_tokens(value) if isinstance(value, str) else value
        )
    return same(fix, value)


def _key(issue: Issue) -> tuple[str, str]:
    return (issue.fix[1], issue.message) if issue.fix else ("", issue.message)


# -- annotations ------------------------------------------------------------------------------------
def match_axis(names: Mapping[int, tuple[str, ...]], wanted: tuple[str, ...]) -> tuple[int, int]:
    """The axis of which most names occur in ``wanted``, and how many do."""
    pool = set(wanted)
    counts = {axis: sum(name in pool for name in entry) for axis, entry in names.items()}
    best = max(counts, key=lambda axis: counts[axis])
    return best, counts[best]


def annotate(
    dataset: Dataset, names: tuple[str, ...], columns: Mapping[str, np.ndarray], file: str
) -> Dataset:
    """The dataset with annotation columns joined by name. Raises ``DataError`` when no name matches.

    The table is about samples, unless its file is called after features: where nobody said which axis holds the samples,
    it is the one whose names it has.
    """
    axes = {0: dataset.row_names, 1: dataset.column_names}
    axis, matched = match_axis(axes, names)
    if not matched:
        first = dataset.column_names[:1] or dataset.row_names[:1]
        raise DataError(
            f"No name of {file} occurs in the data. It begins with “{names[0] if names else ''}”, "
            f"the data with “{first[0] if first else ''}”.",
            "Choose another file, or import without it.",
        )
    position = {name: index for index, name in enumerate(names)}
    index = np.array([position.get(name, -1) for name in axes[axis]])
    table = {}
    for title, column in columns.items():
        column = np.asarray(column)
        gap: Any = np.nan if column.dtype.kind == "f" else ""
        table[title] = np.array([gap if i < 0 else column[i] for i in index], dtype=column.dtype)
    if not dataset.samples_in and not match_axis({0: axes[1 - axis]}, names)[1] and not about_features(file):
        dataset = dataset.with_(samples_in=AXIS_WORDS[axis])
    if axis == 0:
        return dataset.with_(row_table={**dataset.row_table, **table})
    return dataset.with_(column_table={**dataset.column_table, **table})
