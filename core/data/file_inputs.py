"""Inputs of a model as files: how to read them, what to do with the values, and several files as one input."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plaidwork.core import providers
from plaidwork.core.contract.spec import Input
from plaidwork.core.data.annotation_inputs import ColumnRef
from plaidwork.core.data.dataset import Dataset, with_free_name
from plaidwork.core.data.measured import set_aside
from plaidwork.core.data.outcomes import measured_of
from plaidwork.core.errors import DataError, SettingError

if TYPE_CHECKING:
    from plaidwork.core.data.importers.several import Joined

SESSION_SUFFIX = ".plaidwork"


@dataclass(frozen=True, slots=True)
class FileInput:
    """A file as input of a model: how to read it, what to do with the values, which dataset fields to set.

    ``steps`` are transformations, each ``{"name": ..., "options": {...}}``, oldest first. ``aside`` are columns beside the data that
    other inputs are: those that were measured are taken out of the data before the first step.
    """

    file: Path
    options: Mapping[str, Any] = field(default_factory=dict)
    steps: Sequence[Mapping[str, Any]] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)
    aside: Sequence[ColumnRef] = ()

    def load(self) -> Dataset:
        """Read and transform. Raises ``DataError``."""
        from plaidwork.core.data.importers import read_dataset

        if self.in_session:
            return self.finish(*self._of_session())
        return self.finish(read_dataset(self.file, self.options))

    @property
    def in_session(self) -> bool:
        """Whether the file is a session, of which one dataset is taken: the only one, or the option ``data``."""
        return self.file.suffix.lower() == SESSION_SUFFIX

    def read(self) -> tuple[Dataset, ...]:
        """All matrices of the file as they are there. Raises ``DataError``."""
        from plaidwork.core.data.importers import read_datasets

        return self._of_session() if self.in_session else tuple(read_datasets(self.file, self.options))

    def _of_session(self) -> tuple[Dataset]:
        if unknown := sorted(set(self.options) - {"data", "samples_in"}):
            raise SettingError(
                f"{self.file} is a session, which has been read already. Found the import option “{unknown[0]}”.",
                "Only data=TITLE says which data are meant, and samples_in=columns where their samples are.",
            )
        found = providers.session_dataset(self.file, self.options.get("data"))
        said = self.options.get("samples_in")
        return (found.with_(samples_in=said) if said and len(found.shape) == 2 else found,)

    def finish(self, dataset: Dataset) -> Dataset:
        """A matrix of the file with the steps and fields of this entry."""
        for ref in self.aside:
            if titles := measured_of(dataset, ref):
                dataset = set_aside(dataset, ref.axis, titles)
        if self.steps:
            from plaidwork.core.data.transforms import apply_steps

            dataset = apply_steps(dataset, tuple(self.steps))
        return dataset.with_(**self.fields) if self.fields else dataset


@dataclass(frozen=True, slots=True)
class ColumnInput:
    """An annotation column of another input: ``X:row:positive`` is the column *positive* beside the rows of X."""

    column: str

    def load(self, item: Input, data: Mapping[str, Sequence[Dataset]]) -> Dataset:
        """The column as a dataset for ``item``. Raises ``DataError``."""
        from plaidwork.core.data.annotation_inputs import column_dataset, has_columns, parse_column

        ref = parse_column(self.column, data)
        if ref is None or not data[ref.dataset]:
            raise DataError(
                f"“{self.column}” for {item.name} names no column of an input.",
                f"Write INPUT:row:TITLE. Inputs with data: {', '.join(data) or 'none'}.",
            )
        beside = data[ref.dataset]
        return column_dataset(next((one for one in beside if has_columns(one, ref)), beside[0]), ref, item)


def load_files(
    name: str, files: Sequence[FileInput], tell: Callable[[str, Joined], object] | None
) -> list[Dataset]:
    """The matrices of one input; several are joined by sample name, tables among them become annotations."""
    from plaidwork.core.data.importers.several import SPELLING, FileRead, join, read_file

    if not files:
        return []
    spelling = any(item.options.get("match_spelling") for item in files)
    items = [
        replace(item, options={k: v for k, v in item.options.items() if k != "match_spelling"})
        for item in files
    ]
    if len(items) == 1:
        reads = [FileRead(items[0].file, datasets=items[0].read())]
    else:  # what has fields of its own was described on purpose
        reads = [
            FileRead(item.file, datasets=item.read())
            if item.in_session
            else read_file(item.file, item.options, "view" if item.fields else None)
            for item in items
        ]
    reads = [
        replace(read, datasets=tuple(map(item.finish, read.datasets)))
        for read, item in zip(reads, items, strict=True)
    ]
    if len(reads) == 1 and len(reads[0].datasets) == 1:
        return list(reads[0].datasets)
    found = join(reads, {SPELLING} if spelling else ())
    if found.problem:
        first = found.findings[0]
        near = next(
            (f"{f.message}: {f.detail}." for f in found.findings if f.fix and f.fix[1] == SPELLING), ""
        )
        near += " The import option match_spelling takes them for the same." if near and not spelling else ""
        raise DataError(f"{first.message}.", f"{first.detail.rstrip('.')}. {near}".strip(". ") + ".")
    if tell is not None:
        tell(name, found)
    return list(found.views)


def distinct_names(
    data: Mapping[str, Sequence[Dataset]], taken: Mapping[str, Dataset] | None = None
) -> dict[str, list[Dataset]]:
    """The datasets with a number behind the name where two of one name differ (``taken`` has the first say)."""
    known = dict(taken or {})
    found: dict[str, list[Dataset]] = {}
    for key, datasets in data.items():
        for dataset in datasets:
            named = with_free_name(dataset, known)
            known[named.name] = named
            found.setdefault(key, []).append(named)
    return found
