"""One matrix with names, missing cells and annotations; immutable."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np

from plaidwork.core.contract.hyperparameter import ValueKind
from plaidwork.core.data.in_file import InFile
from plaidwork.core.data.sparse_in_file import SparseInFile
from plaidwork.core.deferred import Deferred, Holder
from plaidwork.core.draws.counting import counted, named
from plaidwork.core.errors import DataError
from plaidwork.core.pieces import boxes, joined

Axis = Literal[0, 1]
SamplesIn = Literal["", "rows", "columns"]
AXIS_WORDS: tuple[Literal["rows"], Literal["columns"]] = ("rows", "columns")
PIXEL = "pixel"
"""Annotation of the columns of images some of whose pixels are left out: number of each within the image, from 1."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where the numbers came from: file name, SHA-256 of its bytes, options used to read it, free text."""

    file: str = ""
    sha256: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One transformation that was applied: its name and its settings, as written to the provenance."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.options.get("text", self.name)


MOST_PIXELS = 1 << 26
"""Pixels of an image, whether they have a column or not: a picture of it has them all."""


class _Base(Holder):
    __slots__ = ("_digest", "_missing")
    _digest: str
    _missing: int


@dataclass(frozen=True, slots=True)
class Dataset(_Base):
    """A matrix (or vector) that a model can be fitted to.

    Attributes
    ----------
    values : (n, m) float64 with NaN at missing cells, or a scipy CSR matrix; (n,) for vectors;
        (n,) int64 codes (-1 missing) with ``categories`` for labels. Given as :class:`Deferred` they are read when needed;
        those that stay in their file (:attr:`in_file`) are read anew each time, where there is room for them.
    row_names, column_names : unique names; ``column_names`` is empty for vectors and labels.
    kind : what the values are (``real``, ``count``, ``binary``, ``ordinal``, ``categorical``).
    row_table, column_table : annotation columns by title, each as long as its axis (text or numbers).
    row_label, column_label : what a row and a column is called, in the plural ("genes", "samples").
    row_shown_by, column_shown_by : title of the annotation column whose texts are shown in place of the names of the
        axis, as gene symbols for identifiers; empty for the names (see :mod:`plaidwork.core.findings.naming`).
    unit : unit of the values, as shown beside the colour bar.
    steps : transformations applied so far, oldest first.
    image_shape : (height, width) when every row is an image, its columns the pixels line by line; else empty.
    samples_in : the axis of a matrix that holds the samples (``rows``, ``columns``); empty when that is not known.
    """

    name: str
    values: Any
    row_names: tuple[str, ...]
    column_names: tuple[str, ...] = ()
    kind: ValueKind = "real"
    categories: tuple[str, ...] = ()
    row_table: Mapping[str, np.ndarray] = field(default_factory=dict)
    column_table: Mapping[str, np.ndarray] = field(default_factory=dict)
    row_label: str = "rows"
    column_label: str = "columns"
    unit: str = ""
    source: Source = field(default_factory=Source)
    steps: tuple[Step, ...] = ()
    notes: str = ""
    image_shape: tuple[int, ...] = ()
    samples_in: SamplesIn = ""
    row_shown_by: str = ""
    column_shown_by: str = ""

    def __post_init__(self) -> None:
        if self.kind not in get_args(ValueKind):
            raise DataError(f"{self.name}: unknown kind of values “{self.kind}”.")
        if self.samples_in not in get_args(SamplesIn):
            raise DataError(
                f"{self.name}: samples_in must be “rows”, “columns” or empty. Found “{self.samples_in}”."
            )
        object.__setattr__(self, "row_names", tuple(self.row_names))
        object.__setattr__(self, "column_names", tuple(self.column_names))
        if not self._hold():
            object.__setattr__(self, "values", self._taken(self.values))
        self._check_axis(0, self.row_names, self.row_table)
        if len(self.shape) == 2:
            self._check_axis(1, self.column_names, self.column_table)
        self._check_image()

    def _taken(self, values: Any) -> Any:
        if hasattr(values, "tocsr"):
            return values
        values = np.ascontiguousarray(values, dtype=np.int64 if self.kind == "categorical" else np.float64)
        if values.flags.writeable:
            values = values.view()
            values.setflags(write=False)
        return values

    def _check_image(self) -> None:
        shape = tuple(int(side) for side in self.image_shape)
        object.__setattr__(self, "image_shape", shape)
        if not shape:
            return
        found = f"{self.name}: images of {' × '.join(map(str, shape))}"
        if len(shape) != 2 or min(shape) < 1 or len(self.shape) != 2:
            raise DataError(f"{found} are not height × width, or the data are no matrix.")
        pixels, columns = shape[0] * shape[1], self.shape[1]
        if pixels > MOST_PIXELS:
            raise DataError(f"{found} have {counted(pixels, 'pixel')}, at most {MOST_PIXELS} are drawn.")
        if PIXEL not in self.column_table:
            if pixels != columns:
                raise DataError(
                    f"{found} have {counted(pixels, 'pixel')}, but there are {counted(columns, 'column')}.",
                    "Give the height and width of the images whose pixels the columns are.",
                )
            return
        pixel = np.asarray(self.column_table[PIXEL])
        if pixel.dtype.kind not in "iuf" or not ((pixel >= 1) & (pixel <= pixels)).all():
            raise DataError(
                f"{found}: the annotation “{PIXEL}” has to number the columns from 1 to {pixels}."
            )

    def _check_axis(self, axis: Axis, names: Sequence[str], table: Mapping[str, np.ndarray]) -> None:
        size, what = self.shape[axis], ("row", "column")[axis]
        if len(names) != size:
            raise DataError(f"{self.name}: {len(names)} {what} names for {counted(size, what)}.")
        if len(set(names)) != size:
            first = {name: index for index, name in reversed(list(enumerate(names)))}
            twice = next(name for index, name in enumerate(names) if first[name] < index)
            raise DataError(f"{self.name}: the {what} name “{twice}” occurs more than once.")
        for title, column in table.items():
            if len(column) != size:
                raise DataError(
                    f"{self.name}: annotation “{title}” has {counted(len(column), 'entry')} for {counted(size, what)}."
                )

    @property
    def is_sparse(self) -> bool:
        held = self.held
        return held.sparse if isinstance(held, Deferred) else hasattr(held, "tocsr")

    @property
    def pixels(self) -> np.ndarray | None:
        """Place of each column within the image, from 0, line by line: (m,) int; None when the rows are no images."""
        if not self.image_shape:
            return None
        if PIXEL in self.column_table:
            return np.asarray(self.column_table[PIXEL]).astype(np.intp) - 1
        return np.arange(self.shape[1])

    @property
    def staying(self) -> InFile | SparseInFile | None:
        """What holds the values where they stay out of memory; None for all others. May take as long as reading them."""
        held = self.held
        return held.cells() if isinstance(held, Deferred) and held.stays else None

    @property
    def in_file(self) -> InFile | None:
        """Dense values where they stay in their file, to be gone through; None for all others. May take as long as reading them."""
        found = None if self.is_sparse else self.staying
        return found if isinstance(found, InFile) else None

    @property
    def stays(self) -> bool:
        """Whether the values stay in their file; sparse ones are mapped from there, or from scratch files."""
        held = self.held
        return isinstance(held, Deferred) and held.stays

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.held.shape)

    @property
    def n_missing(self) -> int:
        """Number of missing cells; goes through all values when it is first asked for."""
        known = self.known_missing
        if known is None:
            known = self._count_missing()
            object.__setattr__(self, "_missing", known)
        return known

    @property
    def known_missing(self) -> int | None:
        """Number of missing cells where it was counted before or came with the values; else None."""
        known = 0 if self.is_sparse else getattr(self, "_missing", -1)
        return known if known >= 0 else None

    def _count_missing(self) -> int:
        if (cells := self.in_file) is not None:
            return cells.facts().missing
        gaps = self.values < 0 if self.kind == "categorical" else np.isnan(self.values)
        return int(np.count_nonzero(gaps))

    @property
    def nbytes(self) -> int:
        """Bytes of the values."""
        if isinstance(self.held, Deferred):
            return int(self.held.nbytes)
        if self.is_sparse:
            return int(self.values.data.nbytes + self.values.indices.nbytes + self.values.indptr.nbytes)
        return int(self.values.nbytes)

    @property
    def known_digest(self) -> str:
        """The digest that came with the values from a file of this installation, else empty."""
        return getattr(self, "_digest", "")

    def knowing(self, digest: str = "", missing: int = -1) -> Dataset:
        """Itself, with what need not be computed of its values; empty and -1 for what is not known."""
        object.__setattr__(self, "_digest", digest)
        object.__setattr__(self, "_missing", missing)
        return self

    def digest(self) -> str:
        """SHA-256 of everything that a fit can see: values, names, kind, categories."""
        if self.known_digest:
            return self.known_digest
        hasher = self._sums()
        for names in (self.row_names, self.column_names, self.categories, (self.kind,)):
            hasher.update(f"{len(names)}\0".encode())
            for text in joined("\0", names):
                hasher.update(text.encode("utf-8", "surrogatepass"))
        return hasher.hexdigest()

    def _sums(self) -> Any:
        """A SHA-256 that has taken in the values."""
        if (cells := self.in_file) is not None:
            return cells.facts().sums.copy()
        hasher = hashlib.sha256()
        parts = (
            ((self.values.data, None), (self.values.indices, np.int64), (self.values.indptr, np.int64))
            if self.is_sparse
            else ((self.values, None),)
        )
        for part, wanted in parts:
            array = np.asarray(part)
            little = np.dtype(wanted or array.dtype).newbyteorder("<")
            hasher.update(f"{little.str}{array.shape}".encode())
            # without a copy of the whole, nor the interpreter lock
            for box in boxes(array.shape, little.itemsize):
                ordered = np.ascontiguousarray(array[box], little)
                hasher.update(ordered.reshape(-1).view(np.uint8).data)
        return hasher

    def with_(self, **changes: Any) -> Dataset:
        """A copy with some fields changed. Values that nobody has read yet stay so."""
        copy = replace(self, **({"values": self.held} | changes))
        if changes.keys() & {"values", "row_names", "column_names", "kind", "categories"}:
            return copy
        return copy.knowing(self.known_digest, getattr(self, "_missing", -1))

    def take(self, axis: Axis, index: np.ndarray, step: Step) -> Dataset:
        """The rows (axis 0) or columns (axis 1) at ``index``, in that order, with ``step`` noted."""
        index = np.asarray(index)
        cells = self.staying
        if isinstance(cells, SparseInFile):
            values: Any = cells.take(axis, index)
        else:
            values = self.values[index] if axis == 0 else self.values[:, index]
        if axis == 0:
            names = tuple(np.asarray(self.row_names, dtype=object)[index])
            table = {title: np.asarray(column)[index] for title, column in self.row_table.items()}
            return self.with_(values=values, row_names=names, row_table=table, steps=(*self.steps, step))
        names = tuple(np.asarray(self.column_names, dtype=object)[index])
        known = dict(self.column_table)
        if self.pixels is not None:
            known.setdefault(PIXEL, self.pixels + 1)
        table = {title: np.asarray(column)[index] for title, column in known.items()}
        return self.with_(values=values, column_names=names, column_table=table, steps=(*self.steps, step))

    @property
    def axis_words(self) -> tuple[str, str]:
        """What rows and columns are called; samples and features where nobody named them and it is known which is which."""
        if len(self.shape) == 1:
            return self.row_label, self.column_label
        return axis_words(self.row_label, self.column_label, self.samples_in)

    @property
    def described(self) -> str:
        """``2308 genes × 83 samples``, for lists and logs (numbers ungrouped; the window formats its own)."""
        labels = self.axis_words
        if len(self.shape) == 1:
            return f"{self.shape[0]} {named(self.shape[0], labels[0])}"
        rows, columns = (
            f"{number} {named(number, label)}" for number, label in zip(self.shape, labels, strict=True)
        )
        return f"{rows} × {columns}"


def axis_words(row_label: str, column_label: str, samples_in: SamplesIn) -> tuple[str, str]:
    """What rows and columns are called: samples and features where nobody named them and it is known which is which."""
    if not samples_in:
        return row_label, column_label
    rows, columns = ("samples", "features") if samples_in == "rows" else ("features", "samples")
    return (
        row_label if row_label != "rows" else rows,
        column_label if column_label != "columns" else columns,
    )


def turned_labels(row_label: str, column_label: str) -> tuple[str, str]:
    """What rows and columns are called once they are exchanged; unnamed rows stay “rows”."""
    rows = "rows" if column_label == "columns" else column_label
    return rows, "columns" if row_label == "rows" else row_label


def turned_samples(samples_in: SamplesIn) -> SamplesIn:
    """Where the samples are once rows and columns are exchanged."""
    return "columns" if samples_in == "rows" else "rows" if samples_in == "columns" else ""


def with_free_name(dataset: Dataset, taken: Mapping[str, Dataset]) -> Dataset:
    """The one of ``taken`` that equals it under its name, or it with a number behind the name when that is taken."""
    name, number = dataset.name, 2
    while name in taken:
        if taken[name].digest() == dataset.digest():
            return taken[name]
        name, number = f"{dataset.name} {number}", number + 1
    return dataset if name == dataset.name else dataset.with_(name=name)
