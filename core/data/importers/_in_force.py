"""The options of a table that are in force, and what can be chosen for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plaidwork.core.data.importers._layout import Layout
from plaidwork.core.data.importers._long import ROLES, Columns
from plaidwork.core.data.importers._text import format_tokens
from plaidwork.core.data.importers.base import ImportOptions
from plaidwork.core.data.reading_options import declared_choices


def in_force(layout: Layout, options: ImportOptions, columns: Columns | None = None) -> dict[str, Any]:
    """The options given, and those detected."""
    given = {name: value for name, value in options.items() if value is not None}
    if columns is not None:
        long = {name: getattr(columns, name) for name in ROLES}
        given = {**given, **long, "layout": "long"}
        plain = ("encoding", "delimiter", "sheet", "decimal", "thousands", "percent", "missing", "header")
        return {**given, **{name: value for name, value in in_force(layout, {}).items() if name in plain}}
    if layout.sheet is None:
        given = {**given, "encoding": layout.encoding, "delimiter": layout.delimiter}
    else:
        given = {**given, "sheet": layout.sheet.name}
    if layout.skip_rows:
        given["skip_rows"] = layout.skip_rows
    if layout.dates:
        given["dates"] = layout.dates
    if layout.categories:
        given["categories"] = list(layout.categories)
    if layout.alleles:
        given["alleles"] = list(layout.alleles)
    return {
        "layout": "wide",
        **given,
        "thousands": layout.thousands or "none",
        "decimal": "" if "decimal" in layout.unclear else layout.decimal,
        "missing": list(layout.missing),
        "header": layout.header,
        "names": layout.names,
        "labels": list(layout.labels),
        "samples_in": layout.samples_in,
    }


def choices_of(layout: Layout) -> Mapping[str, list[tuple[Any, str]]]:
    columns = column_choices(layout)
    names = [*columns[:50], (-1, "None: number the rows")]
    return {**declared(layout), "names": names, "samples_in": declared_choices("samples_in")}


def declared(layout: Layout) -> dict[str, list[tuple[Any, str]]]:
    """Choices that every table offers; separator and encoding are of texts only."""
    of_texts = ("encoding", "delimiter") if layout.sheet is None else ()
    found = {name: declared_choices(name) for name in ("layout", "decimal", "header", *of_texts)}
    if layout.sheet is not None and len(layout.sheet.names) > 1:
        found["sheet"] = [(name, name) for name in layout.sheet.names]
    return {**found, "missing": [(list(layout.missing), format_tokens(layout.missing))]}


def column_choices(layout: Layout) -> list[tuple[Any, str]]:
    """Every column with the words for it."""
    return [(i, f"Column “{title}”" if title else f"Column {i + 1}") for i, title in enumerate(layout.titles)]
