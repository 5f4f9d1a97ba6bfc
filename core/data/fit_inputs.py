"""What a fit is given, by input of the model: file names, columns of other inputs, and objects in memory, to datasets.

The command line, job files and Python all end here, so that the same words mean the same data.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence, ValuesView
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from plaidwork.core.contract.spec import Input, ModelSpec
from plaidwork.core.data.annotation_inputs import ColumnRef, codes_of, parse_column
from plaidwork.core.data.borrowed_names import Message, name_by_position
from plaidwork.core.data.dataset import Dataset, Step
from plaidwork.core.data.file_inputs import ColumnInput, FileInput, distinct_names, load_files
from plaidwork.core.data.input_addresses import addressed, options_by_input, steps_by_input
from plaidwork.core.data.measured import outcome_sentence
from plaidwork.core.data.object_columns import is_scalar
from plaidwork.core.data.object_parts import is_frame, titles_in
from plaidwork.core.data.objects import OBJECT_OPTIONS, Made, ObjectInput
from plaidwork.core.data.orienting import with_samples
from plaidwork.core.errors import DataError, DataWarning, SettingError

if TYPE_CHECKING:
    from plaidwork.core.data.importers.several import Joined

Entry = FileInput | ColumnInput | ObjectInput
Entries = dict[str, tuple[Entry, ...]]
_ADDRESS = re.compile(r":(row|column):")


@dataclass(frozen=True)
class Given:
    """The datasets by input, and what was noticed while they were brought together."""

    data: dict[str, list[Dataset]]
    messages: tuple[Message, ...] = ()
    read: bool = False
    """Whether files or objects were read here, so that nobody has seen before how they join."""


def warn_user(messages: Iterable[Message]) -> None:
    """Python warnings, at the line that called into Plaidwork."""
    for one in messages:
        if one.warn:
            warnings.warn(one.text, DataWarning, stacklevel=_depth())


def _depth() -> int:
    """How many frames above ``warn_user`` the first one outside this package is."""
    frame, depth = sys._getframe(1), 1
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).startswith("plaidwork.core"):
        frame, depth = frame.f_back, depth + 1
    return depth


# -- from what was typed to entries -----------------------------------------------------------------------
def entries_of(
    spec: ModelSpec,
    inputs: Mapping[str, Any],
    import_options: Mapping[str, Any] | None = None,
    transform: str | Step | Mapping[str, Any] | Sequence[Any] = (),
) -> Entries:
    """What each input is given, with reading options and transformations.

    ``import_options`` and ``transform`` are addressed as on the command line: ``"delimiter"`` or ``"log"`` for all inputs,
    ``"X.delimiter"`` or ``"X.log"`` for one. Raises ``SettingError`` or ``DataError``.
    """
    found: Entries = {}
    for name, value in inputs.items():
        item = spec.input(name)
        if value is not None:  # an input that may be left out
            found[name] = entries_for(item, value)
    found = {name: tuple(_named_title(one, name, found) for one in given) for name, given in found.items()}
    options = _options(import_options or {}, found)
    read = [n for n, given in found.items() if not all(isinstance(one, ColumnInput) for one in given)]
    common = [name for name in read if _takes_all_steps(spec.input(name), found[name])]
    steps = steps_by_input(_listed(transform), read, common)
    return _with_columns_beside(
        {
            name: tuple(_with(one, options[name], steps.get(name, ())) for one in given)
            for name, given in found.items()
        }
    )


def entries_for(item: Input, value: Any) -> tuple[Entry, ...]:
    """What one input is given; a text that is no file is taken for the column of another input."""
    return tuple(_entries(item, value))


def _entries(item: Input, value: Any) -> Iterable[Entry]:
    if isinstance(value, (FileInput, ColumnInput, ObjectInput)):
        yield value
    elif isinstance(value, str):
        path = Path(value).expanduser()
        yield FileInput(path) if path.exists() else ColumnInput(value)
    elif isinstance(value, os.PathLike):
        yield FileInput(Path(value).expanduser())
    elif isinstance(value, Mapping):
        for name, one in value.items():
            yield from (_called(entry, str(name)) for entry in _entries(item, one))
    elif isinstance(value, (list, tuple, ValuesView)) and not _is_values(item, value):
        for one in value:
            yield from _entries(item, one)
    else:
        yield ObjectInput(value)


def _called(entry: Entry, name: str) -> Entry:
    if isinstance(entry, FileInput):
        return replace(entry, fields={"name": name, **entry.fields})
    return replace(entry, name=name) if isinstance(entry, ObjectInput) else entry


def _is_values(item: Input, given: Any) -> bool:
    """Whether a list holds the values of one matrix or column, and not several matrices or files."""
    items = list(given)
    if not items:
        return False
    if all(map(is_scalar, items)):
        if item.kind == "matrix":
            return not any(isinstance(one, str) for one in items)
        return len(items) > 1 or not isinstance(items[0], str)
    lines = all(isinstance(one, (list, tuple)) and all(map(is_scalar, one)) for one in items)
    return lines and not item.many


def _named_title(entry: Entry, name: str, found: Entries) -> Entry:
    """A text that is no file: a bare title becomes the address of the column of another input that is called so."""
    if not isinstance(entry, ColumnInput) or _ADDRESS.search(entry.column):
        return entry
    titles = {
        other: [t for one in given if isinstance(one, ObjectInput) for t in titles_in(one.value)]
        for other, given in found.items()
        if other != name
    }
    owners = [other for other, there in titles.items() if _is_among(entry.column, there)]
    if len(owners) == 1:
        return ColumnInput(f"{owners[0]}:row:{entry.column}")
    if owners:
        raise DataError(
            f"“{entry.column}” for {name} is a column of {' and of '.join(owners)}.",
            f"Say of which: “{owners[0]}:row:{entry.column}”.",
        )
    path = Path(entry.column).expanduser()
    if path.suffix or len(path.parts) > 1:
        return FileInput(path)  # reading it says that it does not exist
    listed = ", ".join(f"“{title}”" for there in titles.values() for title in there[:6]) or "none"
    raise DataError(
        f"“{entry.column}” for {name} is no file, and no column of another input.",
        f"Give a file name, INPUT:row:TITLE, or the values themselves. Columns: {listed}.",
    )


def _is_among(text: str, titles: Sequence[str]) -> bool:
    """Whether a title, ``TITLE=VALUE``, or several with semicolons between them, are all among the titles."""
    return text in titles or all(
        key.strip() in titles or key.split("=")[0].strip() in titles for key in text.split(";")
    )


def _with_columns_beside(found: Entries) -> Entries:
    """Columns of tables that another input uses are no longer data of the table: they become annotations."""
    used: dict[str, list[str]] = {}
    for given in found.values():
        for one in given:
            if isinstance(one, ColumnInput) and (ref := parse_column(one.column, found)) and ref.axis == 0:
                used.setdefault(ref.dataset, []).append(ref.titles)

    def changed(name: str, one: Entry) -> Entry:
        if not isinstance(one, ObjectInput) or not is_frame(one.value):
            return one
        titles = titles_in(one.value)
        keys = [key for text in used.get(name, ()) for key in (text, *text.split(";"))]
        wanted = [t for t in titles if any(key.strip() == t or key.startswith(f"{t}=") for key in keys)]
        before = one.options.get("labels", ())
        labels = dict.fromkeys([*([before] if isinstance(before, str) else before), *wanted])
        return replace(one, options={**one.options, "labels": tuple(labels)}) if labels else one

    return {name: tuple(changed(name, one) for one in given) for name, given in found.items()}


def _options(given: Mapping[str, Any], found: Entries) -> dict[str, dict[str, Any]]:
    """Reading options by input. Raises ``SettingError`` for one that nothing could use."""
    files = {name: [one.file for one in there if isinstance(one, FileInput)] for name, there in found.items()}
    options = options_by_input(given.items(), files)
    for key in given:
        if not any(
            isinstance(one, FileInput) or (isinstance(one, ObjectInput) and rest in OBJECT_OPTIONS)
            for name, rest in addressed(key, found)
            for one in found[name]
        ):
            raise SettingError(
                f"Nothing that is given is read with the option “{key}”.",
                f"Objects in memory take {', '.join(sorted(OBJECT_OPTIONS))}; other options are for files.",
            )
    return options


def _with(entry: Entry, options: Mapping[str, Any], steps: Sequence[Mapping[str, Any]]) -> Entry:
    if isinstance(entry, ColumnInput):
        return entry
    if isinstance(entry, ObjectInput):
        options = {key: value for key, value in options.items() if key in OBJECT_OPTIONS}
    return replace(entry, options={**options, **entry.options}, steps=(*entry.steps, *steps))


def _takes_all_steps(item: Input, given: Sequence[Entry]) -> bool:
    """Whether a transformation for all inputs is for this one too; labels in memory are not transformed."""
    return item.kind != "labels" or any(isinstance(one, FileInput) for one in given)


def _listed(transform: Any) -> list[Any]:
    return [transform] if isinstance(transform, (str, Step, Mapping)) else list(transform)


# -- from entries to datasets -------------------------------------------------------------------------------
def load_inputs(
    spec: ModelSpec,
    entries: Mapping[str, Sequence[Entry]],
    tell: Callable[[str, Joined], object] | None = None,
    taken: Mapping[str, Dataset] | None = None,
    samples_in: str | Mapping[str, str] | None = None,
) -> Given:
    """The datasets by input of ``spec``, their names made unique (``taken`` has the first say). Raises ``DataError``.

    Several files of one input are joined by sample name; ``tell`` gets the input and the report. ``samples_in`` is the
    axis of the samples (see ``with_samples``).
    """
    messages: list[Message] = []
    data: dict[str, list[Dataset]] = {}
    objects: dict[tuple[str, int], Made] = {}
    entries = _with_outcomes_aside(entries)
    for name, given in entries.items():
        item = spec.input(name)
        data[name] = load_files(name, [one for one in given if isinstance(one, FileInput)], tell)
        for one in given:
            for made in one.load(item) if isinstance(one, ObjectInput) else ():
                objects[name, len(data[name])] = made
                data[name].append(made.dataset)
    messages += _spare(data, objects, entries)
    messages += _told_aside(data)
    beside = {name: datasets for name, datasets in data.items() if datasets}
    for name, given in entries.items():
        for column in given:
            if isinstance(column, ColumnInput):
                data[name].append(column.load(spec.input(name), beside))
    data = {name: [_as_column(spec.input(name), one) for one in given] for name, given in data.items()}
    data = with_samples(data, samples_in)
    messages += name_by_position(spec, data, objects)
    read = any(
        not (isinstance(one, ObjectInput) and isinstance(one.value, Dataset))
        for given in entries.values()
        for one in given
    )
    return Given(distinct_names(data, taken), tuple(messages), read)


def _with_outcomes_aside(entries: Mapping[str, Sequence[Entry]]) -> dict[str, tuple[Entry, ...]]:
    """Files of which a column is another input have it taken out of their measurements, before they are transformed."""
    used: dict[str, list[ColumnRef]] = {}
    for given in entries.values():
        for one in given:
            ref = parse_column(one.column, entries) if isinstance(one, ColumnInput) else None
            if ref is not None:
                used.setdefault(ref.dataset, []).append(ref)
    return {
        name: tuple(
            replace(one, aside=tuple(used[name])) if isinstance(one, FileInput) and name in used else one
            for one in given
        )
        for name, given in entries.items()
    }


def _told_aside(data: Mapping[str, Sequence[Dataset]]) -> list[Message]:
    """Which measurements were taken out, as they are another input."""
    found = []
    for one in (one for given in data.values() for one in given):
        titles = [
            name
            for step in one.steps
            if step.name == "set_aside"
            for name in step.options["names"].split("\n")
            if name
        ]
        found += [Message(outcome_sentence(titles, one.name))] if titles else []
    return found


def read_entry(item: Input, entry: Entry) -> tuple[Dataset, ...]:
    """The datasets of a file or an object for one input. Raises ``DataError``."""
    if isinstance(entry, ColumnInput):
        entry = FileInput(Path(entry.column).expanduser())  # reading it says that it does not exist
    found = [made.dataset for made in entry.load(item)] if isinstance(entry, ObjectInput) else entry.read()
    return tuple(_as_column(item, dataset) for dataset in found)


def _as_column(item: Input, data: Dataset) -> Dataset:
    """A matrix of one column as the vector that an input wants, and numbers as the labels."""
    if item.kind == "matrix" or data.is_sparse or data.kind == "categorical":
        return data
    if len(data.shape) == 2 and data.shape[1] == 1:
        data = data.with_(values=np.asarray(data.values).reshape(-1), column_names=(), column_table={})
    if item.kind != "labels" or item.dtype != "categorical" or len(data.shape) != 1:
        return data
    codes, categories = codes_of(np.asarray(data.values))
    return data.with_(values=codes, kind="categorical", categories=categories)


def _spare(
    data: Mapping[str, Sequence[Dataset]],
    objects: Mapping[tuple[str, int], Made],
    entries: Mapping[str, Sequence[Entry]],
) -> list[Message]:
    """Columns of text of tables that nothing uses: one with a word among its numbers would be missed."""
    columns = [one.column for given in entries.values() for one in given if isinstance(one, ColumnInput)]
    messages = {}
    for name, given in data.items():
        for number, one in enumerate(given):
            made = objects.get((name, number))
            read = list(one.row_table)[: len(one.source.options.get("labels") or ())]
            titles = made.spare if made else read
            spare = [title for title in titles if not any(title in column for column in columns)]
            if spare and one.name not in messages:
                listed = f"{', '.join(spare[:6])}{', …' if len(spare) > 6 else ''}"
                text = f"{one.name}: read as labels, not used as numbers: {listed}."
                messages[one.name] = Message(text, warn=True)
    return list(messages.values())


def noted(data: Mapping[str, Sequence[Dataset]]) -> tuple[Message, ...]:
    """What was noticed while the files were read."""
    files = {one.name: one for given in data.values() for one in given if one.source.file}
    lines = ((name, line) for name, one in files.items() for line in one.notes.splitlines() if line.strip())
    return tuple(Message(f"{name}: {line.strip().rstrip(':.')}.", warn=True) for name, line in lines)


def left_out(
    before: Mapping[str, Sequence[Dataset]], after: Mapping[str, Sequence[Dataset]]
) -> tuple[Message, ...]:
    """What joining by name left out of the data that were given, for the fit does not see it."""
    messages = []
    for name, given in before.items():
        for old, new in zip(given, after.get(name, ())):
            kept = {*new.row_names, *new.column_names, *new.row_table, *new.column_table}
            lost = [one for one in (*old.row_names, *old.column_names) if one not in kept]
            if lost:
                listed = f"{', '.join(lost[:3])}{', …' if len(lost) > 3 else ''}"
                text = f"{old.name}: {len(lost)} left out, for they have no name in common with another input: {listed}."
                messages.append(Message(text, warn=True))
    return tuple(messages)
