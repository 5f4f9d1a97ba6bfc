"""From the raw table of a format to a checked dataset: the last leg of every reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np

from plaidwork.core.contract.hyperparameter import ValueKind
from plaidwork.core.data.dataset import Dataset, SamplesIn, Source, Step, turned_samples
from plaidwork.core.data.importers._findings import distinct_names, repeated, repeated_lines
from plaidwork.core.data.importers.base import ImportOptions, RawTable
from plaidwork.core.data.in_file import InFile
from plaidwork.core.data.levels import COUNTED, LEVELS
from plaidwork.core.data.sample_words import labels_say, names_say
from plaidwork.core.data.sparse_in_file import SparseInFile
from plaidwork.core.data.value_kinds import kind_of_table
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import DataError

_SHOWN = 5
_AT_ONCE = 1 << 20


def checked_names(file: str, names: Sequence[str], what: str, options: ImportOptions) -> tuple[str, ...]:
    """Unique names; empty ones become ``row 7``. Raises ``DataError`` unless ``rename_duplicates`` is on."""
    filled = [name or f"{what} {index + 1}" for index, name in enumerate(names)]
    twice = repeated(filled)
    if not twice:
        return tuple(filled)
    if options.get("rename_duplicates"):
        return distinct_names(filled)
    lines = repeated_lines(filled, what)
    more = (
        f" So do {counted(len(lines) - 1, 'other name')}: {'; '.join(lines[1:_SHOWN])}" if lines[1:] else ""
    )
    places = lines[0].split(", ", 1)[1]
    raise DataError(
        f"{file}: the {what} name “{twice[0]}” occurs more than once ({places})."
        f"{more}{'; …' if len(lines) > _SHOWN else '.' if more else ''}",
        "Turn on the renaming of repeated names (option “rename_duplicates”), or choose other names.",
    )


def checked_kind(file: str, values: Any, options: ImportOptions) -> ValueKind:
    """The kind asked for, if the values allow it, else the one inferred."""
    stays = isinstance(values, InFile)
    values = values.get() if isinstance(values, SparseInFile) else values
    dense = values.data if hasattr(values, "tocsr") else values
    found = values.facts().kind if stays else kind_of_table(dense)
    wanted = options.get("kind")
    if wanted is None or wanted == found:
        return found
    if stays and wanted == "real":
        return "real"
    if stays:
        dense = values.get()
    if wanted not in get_args(ValueKind) or wanted == "categorical":
        raise DataError(f"{file}: unknown kind of values “{wanted}”.")
    if wanted == "binary" or (wanted in ("count", "ordinal") and found == "real"):
        rule = "0 and 1 only" if wanted == "binary" else "whole numbers from 0"
        flat = dense.reshape(-1)
        for lo in range(0, flat.size, _AT_ONCE):
            known = flat[lo : lo + _AT_ONCE][~np.isnan(flat[lo : lo + _AT_ONCE])]
            whole = (known >= 0) & (known == np.floor(known))
            bad = known[~(np.isin(known, (0, 1)) if wanted == "binary" else whole)]
            if bad.size:
                raise DataError(f"{file}: {wanted} values need {rule}. Found “{bad[0]:g}”.")
    return cast(ValueKind, wanted)


def finished(raw: RawTable, options: ImportOptions) -> Dataset:
    """The dataset: names and kind checked, turned and transformed as the options ask for. Raises ``DataError``."""
    from plaidwork.core.data.transforms import apply_steps

    file, values = raw.file or raw.path.name, raw.values
    rows = checked_names(file, raw.row_names, "row", options)
    source = raw.source or default_source(raw.path, raw.in_force)
    if raw.categories is not None:
        return Dataset(
            raw.name,
            values,
            rows,
            kind="categorical",
            categories=raw.categories,
            row_label=raw.words[0] or "rows",
            source=source,
        )
    columns = checked_names(file, raw.column_names, "column", options) if values.ndim == 2 else ()
    table, other, words = dict(raw.row_table), dict(raw.column_table), raw.words
    if options.get("distinct_labels"):
        table = {title: _distinct(entry, rows) for title, entry in table.items()}
    renamed = (*_renamed(raw.row_names, "row", options), *_renamed(raw.column_names, "column", options))
    kind = checked_kind(file, values, options)
    said = [other[title] for title in (LEVELS, COUNTED) if title in other]
    if kind == "count" and not options.get("kind") and said:
        kind = _kind_without_words(values, said)
    where = samples_found(options, words, rows, columns, raw.samples_in) if values.ndim == 2 else ""
    image_shape = raw.image_shape
    if options.get("transpose") and values.ndim == 2:
        stays = isinstance(values, (InFile, SparseInFile))
        values = values.T.tocsr() if hasattr(values, "tocsr") else values.T
        values = values if stays or hasattr(values, "tocsr") else np.ascontiguousarray(values)
        rows, columns, table, other, words = columns, rows, other, table, words[::-1]
        image_shape, where = (), turned_samples(where)
    dataset = Dataset(
        name=raw.name,
        values=values,
        row_names=rows,
        column_names=columns,
        kind=kind,
        row_table=table,
        column_table=other,
        row_label=words[0] or "rows",
        column_label=words[1] or "columns",
        unit=raw.unit,
        source=source,
        notes="\n".join([*raw.notes, *renamed]),
        image_shape=image_shape,
        samples_in=where,
    )
    return apply_steps(dataset, wanted_steps(options))


def _kind_without_words(values: np.ndarray, said: Sequence[np.ndarray]) -> ValueKind:
    """What the columns are of which nothing is said; categories have no order, and copies of an allele end at 2, but neither are counts."""
    measured = values[:, (np.array(said) == "").all(axis=0)]
    return kind_of_table(measured) if measured.size else "ordinal"


def samples_found(
    options: ImportOptions,
    words: tuple[str, str],
    rows: Sequence[str],
    columns: Sequence[str],
    known: SamplesIn | None = None,
) -> SamplesIn:
    """The axis of the samples in the file: as the options say, as the reader knows, or as labels and names say. Raises ``DataError``."""
    given = options.get("samples_in")
    if given is not None:
        return checked_samples(given)
    return known if known is not None else labels_say(*words) or names_say(rows, columns)


def checked_samples(given: Any) -> SamplesIn:
    """The option ``samples_in``. Raises ``DataError`` for another word."""
    if given not in get_args(SamplesIn):
        raise DataError(f"The option samples_in must be “rows” or “columns”. Found “{given}”.")
    return cast(SamplesIn, given)


def _renamed(names: Sequence[str], what: str, options: ImportOptions) -> list[str]:
    """Which names were numbered, how often they occur and where, for the notes of the data."""
    lines = repeated_lines(names, what) if options.get("rename_duplicates") else []
    if not lines:
        return []
    shown = f"{'; '.join(lines[:_SHOWN])}{'; …' if len(lines) > _SHOWN else ''}"
    return [f"Numbers were added to {what} names that occur more than once: {shown}"]


def wanted_steps(options: ImportOptions) -> list[Step]:
    """The transformations that import options stand for, in the order in which they are applied."""
    steps = []
    for what in ("rows", "columns"):
        if options.get(f"drop_empty_{what}"):
            steps.append(Step("drop_missing", {"axis": what, "share": 1.0}))
    for what in ("rows", "columns"):
        if options.get(f"drop_constant_{what}"):
            steps.append(Step("drop_constant", {"axis": what}))
    log = options.get("log")
    if log:
        steps.append(Step("log" if log is True else str(log)))
    return steps


def _distinct(entry: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Label texts with the row name behind those that come back; classes (few texts) stay as they are."""
    if entry.dtype.kind == "f" or not looks_unique(list(entry)):
        return entry
    twice = set(repeated(list(entry)))
    return np.array(
        [f"{text} ({name})" if text in twice else text for text, name in zip(entry, names)], dtype=str
    )


def looks_unique(texts: Sequence[str]) -> bool:
    """Whether texts look like descriptions (mostly different) with some repetitions, not like classes."""
    different = len(set(texts))
    return 0.5 * len(texts) < different < len(texts)


def default_source(path: Path, options: Mapping[str, Any]) -> Source:
    """The source of a dataset, with the checksum of the file."""
    from plaidwork.core.data.importers._text import file_sha256

    return Source(path.name, file_sha256(path), dict(options))
