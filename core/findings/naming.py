"""Names as they are shown: labels chosen for an axis of the data, and what the user calls what a fit has found.

Names are what things are joined and stored by; labels are for display. Every view, table, export and network asks here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from plaidwork.core.contract.model import Result, Table
from plaidwork.core.contract.spec import ModelSpec
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.levels import LEVELS
from plaidwork.core.data.sample_words import are_dates, names_look_like

if TYPE_CHECKING:
    from plaidwork.core.inference.run import Run

LONGEST_LABEL, MOST_WORDS = 40, 4
"""Longer texts describe an item; they do not name it."""
_DISTINCT = 0.9
"""Least share of different texts of a column that may be names."""
_MOST_LOOKED_AT = 2000
_MOST_COLUMNS = 200
"""Annotation columns looked through for names, from the first; names are not behind thousands of others."""


class ShownName(str):
    """What is shown of an item that has another name: the label as text, the name as ``identity``."""

    identity: str

    def __new__(cls, label: str, identity: str) -> ShownName:
        made = super().__new__(cls, label)
        made.identity = identity
        return made


def findable(name: Any) -> str:
    """What a search looks through, in small letters: the text shown and, where it has another, the name."""
    identity = getattr(name, "identity", "")
    return f"{name}\n{identity}".casefold() if identity else str(name).casefold()


def identity_of(name: str) -> str:
    """The name behind what is shown."""
    return str(getattr(name, "identity", name))


def label_columns(dataset: Dataset, axis: int) -> list[str]:
    """Titles of the annotation columns that could be shown in place of the names of an axis: texts, nearly all different.

    Of very many columns only the first 200 are looked at.
    """
    table = (dataset.row_table, dataset.column_table)[axis]
    first = islice(table.items(), _MOST_COLUMNS)
    return [title for title, column in first if title != LEVELS and _could_name(np.asarray(column))]


def proposed_label(dataset: Dataset, axis: int) -> str:
    """The first column of short texts that could be shown in place of the names of an axis; empty when there is none."""
    names = (dataset.row_names, dataset.column_names)[axis]
    table = (dataset.row_table, dataset.column_table)[axis]
    for title in label_columns(dataset, axis):
        texts = [text for text in _texts(np.asarray(table[title])[:_MOST_LOOKED_AT]) if text]
        short = all(len(text) <= LONGEST_LABEL and len(text.split()) <= MOST_WORDS for text in texts)
        codes = names_look_like(texts) == "features" and not names_look_like(
            names
        )  # TP53 tells more than ENSG00000141510
        if short and not codes and any(text != name for text, name in zip(texts, names)):
            return title
    return ""


def _could_name(column: np.ndarray) -> bool:
    if column.dtype.kind not in "OUT" or len(column) < 2:
        return False
    texts = [text for text in _texts(column) if text]
    numbers = sum(text.replace(".", "", 1).lstrip("-").isdigit() for text in texts[:_MOST_LOOKED_AT])
    return (
        len(texts) > len(column) // 2
        and numbers == 0
        and not are_dates(texts)
        and len(set(texts)) >= _DISTINCT * len(texts)
    )


def _texts(column: np.ndarray) -> list[str]:
    return ["" if item is None or item != item else " ".join(str(item).split()) for item in column.tolist()]


def shown_names(dataset: Dataset, axis: int) -> tuple[str, ...]:
    """What is shown for the items of an axis: the labels of the column chosen for it, else the names.

    An item without a label keeps its name; equal labels are told apart by the name behind them, ``"TP53 (ENSG01)"``.
    """
    names = (dataset.row_names, dataset.column_names)[axis]
    title = (dataset.row_shown_by, dataset.column_shown_by)[axis]
    column = (dataset.row_table, dataset.column_table)[axis].get(title) if title else None
    if column is None:
        return names
    labels = [label or name for label, name in zip(_texts(np.asarray(column)), names, strict=True)]
    count, own = Counter(labels), set(names)
    return tuple(
        name
        if label == name
        else ShownName(f"{label} ({name})" if count[label] > 1 or label in own else label, name)
        for label, name in zip(labels, names, strict=True)
    )


def found_dim(spec: ModelSpec, dim: str) -> str:
    """The dim of the model under which an axis of found things is named; empty for axes of the data.

    A second axis of the same things (``topic_2``), and dims that are described alike, share their names.
    """
    base = dim if dim in spec.dims else dim.removesuffix("_2")
    if base not in spec.dims or any(base in item.dims for item in spec.inputs):
        return ""
    return next(other for other, what in spec.dims.items() if what == spec.dims[base])


class Naming:
    """Names shown for one run, as its session and its user have chosen them; may be used in any thread."""

    def __init__(self, run: Run, datasets: Mapping[str, Dataset]) -> None:
        self._run, self._results = run, dict(run.results)
        self._own = {dim: dict(names) for dim, names in run.item_names.items() if names}
        used = dict.fromkeys(name for names in run.inputs.values() for name in names)
        self._datasets = [datasets[name] for name in used if name in datasets]

    # -- items of the data ------------------------------------------------------------------------
    @cached_property
    def _shown(self) -> list[dict[str, str]]:
        """Shown by name: of each axis, then of all rows and of all columns; empty where nothing has a label."""
        if not any(data.row_shown_by or data.column_shown_by for data in self._datasets):
            return []
        axes = [[], []]  # type: list[list[dict[str, str]]]
        for data in self._datasets:
            for axis, names in enumerate((data.row_names, data.column_names)):
                axes[axis].append(dict(zip(names, shown_names(data, axis))))
        columns = Counter(name for data in self._datasets for name in data.column_names)
        for data, known in zip(
            self._datasets, axes[1]
        ):  # what several matrices have may be told apart by theirs
            for name in [name for name in known if columns[name] > 1]:
                own = f"{name} ({data.name})"
                known[own] = ShownName(f"{known[name]} ({data.name})", own)
        single = [known for known in (*axes[0], *axes[1]) if known]
        single.sort(
            key=lambda known: all(name == shown for name, shown in known.items())
        )  # labelled ones first
        return [*single, *({k: v for known in reversed(side) for k, v in known.items()} for side in axes)]

    def axis(self, dataset: Dataset, axis: int) -> tuple[str, ...]:
        """Names shown along an axis of a dataset: by its own labels, else by those of data with the same items."""
        names = (dataset.row_names, dataset.column_names)[axis]
        shown = shown_names(dataset, axis)
        return tuple(self.texts(names)) if shown is names else shown

    def texts(self, values: Sequence[Any] | np.ndarray) -> list[Any]:
        """Texts as shown: names of items by their labels, where all of them are names of one axis; renamed things."""
        found = list(values)
        if self._shown:
            wanted = {text for text in found if text}
            known = next((axis for axis in self._shown if wanted and wanted.issubset(axis)), None)
            found = [known.get(text, text) for text in found] if known is not None else found
        if self._renamed:
            found = [self._renamed.get(str(text).casefold()) or self._begun(text) for text in found]
        return found

    def _begun(self, text: Any) -> Any:
        """A text that says more of what was found, as “Topic 1: ship, sea”, with its new name; any other as it is."""
        return (
            self._beginning.sub(lambda hit: self._renamed[hit[0].casefold()], text)
            if isinstance(text, str)
            else text
        )

    @cached_property
    def _beginning(self) -> re.Pattern[str]:
        names = "|".join(map(re.escape, sorted(self._renamed, key=len, reverse=True)))
        return re.compile(rf"^(?:{names})(?=: | \()", re.IGNORECASE)

    # -- what was found -----------------------------------------------------------------------------
    def defaults(self, dim: str, length: int) -> list[str]:
        """Names along a dim before any was changed: a text result called like it, else numbers."""
        plain = dim.removesuffix("_2")
        dim = plain if dim not in self._results and plain in self._run.spec.dims else dim
        named = self._results.get(dim)
        if isinstance(named, Result) and named.values.shape == (length,) and named.values.dtype.kind in "OUT":
            return [str(name) for name in named.values]
        word = (found_dim(self._run.spec, dim) or dim).replace("_", " ") or "item"
        return [f"{word} {number + 1}" for number in range(length)]

    def along(self, dim: str, length: int, defaults: Sequence[str] | None = None) -> tuple[str, ...]:
        """Names along an axis of a result that is no axis of the data; ``defaults`` are those before any was changed."""
        defaults, base = defaults or self.defaults(dim, length), found_dim(self._run.spec, dim)
        own = self._own.get(base, {})
        if not own:
            return tuple(self.texts(defaults))
        given = [own.get(str(i), "") for i in range(length)]
        twice = {name for name, count in Counter(given).items() if count > 1}
        return tuple(
            ShownName(f"{name} ({default})" if name in twice else name, default) if name else default
            for name, default in zip(given, defaults, strict=True)
        )

    def renamed(self, dim: str) -> bool:
        """Whether the user has given names along this axis."""
        return bool(self._own.get(found_dim(self._run.spec, dim)))

    @cached_property
    def _renamed(self) -> dict[str, str]:
        """The user's names by those that the model gives, in small letters."""
        found: dict[str, str] = {}
        for dim, own in self._own.items():
            alike = [other for other in self._run.spec.dims if found_dim(self._run.spec, other) == dim]
            for other in {dim, *alike}:
                length = max(map(int, own)) + 1
                named = self._results.get(other)
                if isinstance(named, Result) and named.values.ndim == 1:
                    length = max(length, len(named.values))
                words = (other, self._run.spec.dims.get(other, other))
                for number, name in enumerate(self.along(other, length)):
                    if isinstance(name, ShownName):
                        plain = [f"{word} {number + 1}" for word in words]
                        found |= {text.casefold(): name for text in (name.identity, *plain)}
        return found

    def text(self, text: str) -> str:
        """A sentence with the user's names in it."""
        if not self._renamed:
            return text
        listed = sorted(self._renamed, key=len, reverse=True)
        pattern = rf"(?<!\w)({'|'.join(map(re.escape, listed))})(?!\w)"
        return re.sub(pattern, lambda hit: self._renamed[hit[0].casefold()], text, flags=re.IGNORECASE)

    def result(self, name: str, found: Any) -> Any:
        """A result with its names as shown; numbers stay as they are."""
        if not self._shown and not self._renamed:
            return found
        if isinstance(found, str):
            return self.text(found)
        if isinstance(found, Table):
            titles = self.texts(tuple(found.columns))
            columns = {
                str(title): self._column(np.asarray(column))
                for title, column in zip(titles, found.columns.values(), strict=True)
            }
            kept = columns if len(columns) == len(found.columns) else found.columns
            units = {title: unit for old, title in zip(found.columns, kept) if (unit := found.units.get(old))}
            decimals = {
                title: found.decimals[old] for old, title in zip(found.columns, kept) if old in found.decimals
            }
            return replace(found, columns=kept, units=units, decimals=decimals)
        if isinstance(found, Result) and found.values.dtype.kind in "OUT" and found.values.ndim == 1:
            if found.dims == (name,) and all(isinstance(text, str) for text in found.values.tolist()):
                along = self.along(name, len(found.values), found.values.tolist())
                return replace(found, values=_boxed(along))
            return replace(found, values=self._column(found.values))
        if isinstance(found, Result) and found.label:
            return replace(found, label=str(self.texts([found.label])[0]))
        return found

    def _column(self, values: np.ndarray) -> np.ndarray:
        if values.dtype.kind not in "OUT" or values.ndim != 1:
            return values
        before = values.tolist()
        if not all(isinstance(item, str) for item in before):
            return values
        after = self.texts(before)
        return values if after == before else _boxed(after)


def _boxed(texts: Sequence[str]) -> np.ndarray:
    """Texts as an array of objects, which keeps what is known of each."""
    box = np.empty(len(texts), dtype=object)
    box[:] = list(texts)
    return box


def labels_of_axes(run: Run, datasets: Mapping[str, Dataset]) -> dict[str, Sequence[str]]:
    """Names shown by dim of the data, of the datasets that are still there."""
    found: dict[str, Sequence[str]] = {}
    for item in run.spec.inputs:
        for name in run.inputs.get(item.name, ()):
            if name in datasets:
                for axis, dim in enumerate(item.dims[: len(datasets[name].shape)]):
                    found.setdefault(dim, shown_names(datasets[name], axis))
    return found


def name_item(run: Run, dim: str, number: int, name: str) -> bool:
    """Call a found thing by a name of the user's in every view, table and export; an empty one brings the model's back.

    ``dim`` is any axis of it, ``number`` its place from 0. False when that changes nothing or it has no name to change.
    """
    base, key, name = found_dim(run.spec, dim), str(number), " ".join(name.split())
    if not base:
        return False
    own = run.item_names.get(base, {})
    if Naming(run, {}).defaults(dim, number + 1)[-1].casefold() == name.casefold():
        name = ""
    named = run.results.get(dim)
    if isinstance(named, Result) and named.values.ndim == 1 and number < len(named.values):
        name = "" if str(named.values[number]) == name else name
    if own.get(key, "") == name:
        return False
    run.item_names[base] = {**{k: v for k, v in own.items() if k != key}, **({key: name} if name else {})}
    return True


def given_name(run: Run, dim: str, number: int) -> str:
    """The user's name of a found thing; empty when it has none."""
    return run.item_names.get(found_dim(run.spec, dim), {}).get(str(number), "")


def names_of_old_sessions(spec: ModelSpec, view_settings: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Names of blocks as they were kept before other things could be named; taken out of ``view_settings``."""
    old = view_settings.pop("names", None)
    dim = next(iter(spec.dims), "")
    named = {str(k): str(v) for k, v in old.items()} if isinstance(old, dict) else {}
    return {found_dim(spec, dim): named} if named and dim else {}
