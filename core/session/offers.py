"""Which data an input of a model takes, and why it does not take the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from plaidwork.core.contract.spec import Input
from plaidwork.core.data.annotation_inputs import (
    ColumnRef,
    column_choices,
    column_dataset,
    measured_choices,
    parse_column,
    usual_choice,
)
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.joining import has_default_names
from plaidwork.core.data.levels import LEVELS
from plaidwork.core.data.orienting import samples_axis
from plaidwork.core.deferred import Deferred
from plaidwork.core.draws.counting import counted

_KINDS = {
    "real": "numbers",
    "count": "counts (whole numbers from 0)",
    "binary": "zeros and ones",
    "ordinal": "ordered whole numbers",
    "categorical": "labels",
}


_FITTING = {
    "real": ("real", "count", "binary", "ordinal"),
    "count": ("count", "binary", "ordinal"),
    "binary": ("binary",),
    "ordinal": ("ordinal", "count", "binary"),
    "categorical": ("categorical",),
}


# -- one dataset as one input -------------------------------------------------------------------
def wants(item: Input) -> str:
    """What an input takes: ``a matrix of numbers``."""
    shape = {"matrix": "a matrix", "vector": "one column", "labels": "one column"}[item.kind]
    if item.many:
        shape = "one or more matrices"
    if item.several:
        shape = "one or more columns"
    return f"{shape} of {_KINDS[item.dtype]}"


def why_not(item: Input, dataset: Dataset) -> str:
    """The reason why the dataset cannot be this input, or empty."""
    return _mismatch(item, dataset)[0]


def _mismatch(item: Input, dataset: Dataset) -> tuple[str, str]:
    """What the input needs that the dataset is not, and what is found instead; both empty when it suits."""
    if len(dataset.shape) not in item.axes:
        return f"needs {wants(item)}", f"is {'one column' if item.kind == 'matrix' else 'a matrix'}"
    if min(dataset.shape) == 0:
        return "needs data that are not empty", f"is empty ({dataset.described})"
    fitting = _FITTING[item.dtype]
    if item.kind == "labels":  # the model takes the order of texts as the data have them
        fitting = (*fitting, "categorical")
    levels = item.dtype == "count" and dataset.categories  # words that were numbered are no counts
    if dataset.kind not in fitting or levels:
        return f"needs {_KINDS[item.dtype]}", f"holds {_KINDS[dataset.kind]}"
    if dataset.is_sparse and not item.sparse:
        return "needs a dense matrix", "is sparse"
    if not item.missing and dataset.n_missing:
        return "needs data without missing cells", "has missing cells"
    return "", ""


def is_made_for(item: Input, dataset: Dataset) -> bool:
    """Whether the values are of just the kind that the input wants; measurements in whole numbers are numbers, a scale for each column, and
    so is a single column, such as of years.

    Counts for a model of links are links, or mostly 0 as these are.
    """
    if item.about == "links" and not holds_links(dataset) and _filled(dataset) > _SPARSE:
        return False
    single = dataset.kind == "count" and dataset.shape[1:] == (1,)
    kind = "ordinal" if single else dataset.kind
    return kind == item.dtype or (kind == "ordinal" and not item.one_scale and item.dtype == "real")


def suits(item: Input, dataset: Dataset) -> int:
    """How well the kind of the values suits: 2 for just what the input wants, 1 for what it can model too, else 0."""
    return 2 if is_made_for(item, dataset) else int(dataset.kind in item.also)


def meant_for(item: Input) -> str:
    """For data of what size a model is meant, in sentences; empty where it is for any."""
    least, most = _size(item, item.least), _size(item, item.most)
    found = [f"Meant for tables with at least {least}."] if least else []
    found += [f"Meant for tables with at most {most}."] if most else []
    return " ".join(found)


def _size(item: Input, size: Sequence[int]) -> str:
    """``10 samples and 4 features``; what one item is enough for is not said."""
    parts = [counted(n, dim.replace("_", " ")) for n, dim in zip(size, item.dims, strict=False) if n > 1]
    return f"{parts[0]} and {parts[1]}" if len(parts) == 2 else "".join(parts)


def is_of_size(item: Input, datasets: Sequence[Dataset], held: int = 0) -> bool:
    """Whether the matrices together have the size for which the model is meant; ``held`` of their samples are for the test and not fitted."""
    sizes = [shape_for(item, data) for data in datasets if len(data.shape) == 2]
    if not sizes:
        return True
    items, features = (tuple(sizes_of) for sizes_of in zip(*sizes, strict=True))
    size = [max(items), sum(features)]
    if item.samples:
        size[item.dims.index(item.samples)] -= held
    enough = all(n >= least for n, least in zip(size, item.least))
    return enough and all(n <= most for n, most in zip(size, item.most))


_SPARSE = 0.2
"""Share of the cells of links that are not 0, at most."""
_COUNTED = 1_000_000
"""Cells of a matrix that are counted for it, at most."""
_TEXT_WORDS = {
    "document",
    "doc",
    "text",
    "word",
    "term",
    "token",
    "phrase",
    "review",
    "article",
    "abstract",
    "title",
}
_ANY_WORDS = {"row", "column"}


def holds_links(dataset: Dataset) -> bool:
    """Whether a matrix is about the links of items among each other: its rows are called like its columns."""
    square = len(dataset.shape) == 2 and dataset.shape[0] == dataset.shape[1] > 1
    names = (
        given_names(dataset.row_names) if square and dataset.kind in ("count", "binary", "ordinal") else set()
    )
    return bool(names) and names == set(dataset.column_names)


def _filled(dataset: Dataset) -> float:
    """The share of the cells of a matrix that are not 0; 0 for one that is not in memory, which is not read for that.

    Of a large one some rows are counted, evenly spread: the window asks while it shows which models there are.
    """
    if isinstance(dataset.held, Deferred):
        return 0.0
    values = dataset.values
    if dataset.is_sparse:
        return float(values.nnz) / max(dataset.shape[0] * dataset.shape[1], 1)
    rows = values[:: max(1, values.size // _COUNTED)]
    return float(np.count_nonzero(rows)) / max(rows.size, 1)


def may_hold_texts(dataset: Dataset) -> bool:
    """Whether nothing says that a matrix is about other things than documents and their words."""
    words = {label.lower().removesuffix("s") for label in (dataset.row_label, dataset.column_label)}
    unnamed = words <= _ANY_WORDS and dataset.kind != "real"  # words are counted
    return not holds_links(dataset) and (unnamed or not words.isdisjoint(_TEXT_WORDS))


def holds_categories(dataset: Dataset) -> bool:
    """Whether a matrix has columns whose numbers stand for words."""
    return len(dataset.shape) == 2 and bool((np.asarray(dataset.column_table.get(LEVELS, ())) != "").any())


def is_about(items: Iterable[Input], datasets: Sequence[Dataset]) -> bool:
    """Whether the inputs of a model are meant for what the matrices hold: links for one, texts or categories for others."""
    required = [item for item in items if item.required]
    about = {item.about for item in required}
    if any(map(holds_links, datasets)):
        return "links" in about
    if any(map(holds_categories, datasets)):
        return any("categorical" in item.also for item in required)
    return "texts" not in about or all(map(may_hold_texts, datasets))


def shape_for(item: Input, dataset: Dataset) -> tuple[int, int]:
    """Items along the dims of the input that a matrix has once its samples are where the model wants them."""
    rows, columns = dataset.shape
    wanted = item.dims.index(item.samples) if item.samples else None
    turned = None not in (wanted, samples_axis(dataset)) and samples_axis(dataset) != wanted
    return (columns, rows) if turned else (rows, columns)


def reason(item: Input, datasets: Sequence[Dataset]) -> str:
    """Why none of the datasets can be this input."""
    title = f"“{item.title}”"
    if len(datasets) != 1:
        found = (
            f"none of the {counted(len(datasets), 'data set')} is that" if datasets else "there are no data"
        )
        return f"{title} needs {wants(item)}, and {found}."
    dataset = datasets[0]
    needed, found = _mismatch(item, dataset)
    if item.kind != "matrix" and len(dataset.shape) == 2:
        found = "comes with none"
    return f"{title} {needed}, and “{dataset.name}” {found}." if needed else ""


def views_with(first: Dataset, datasets: Iterable[Dataset]) -> list[Dataset]:
    """The matrix and the others that have the name of a sample in common with it, in the order given."""
    mine = sample_names(first) if len(first.shape) == 2 else ()
    return [d for d in datasets if d is first or (len(d.shape) == 2 and meet(mine, sample_names(d)))]


def sample_names(dataset: Dataset) -> tuple[set[str], ...]:
    """The names of the samples of a matrix; of rows and of columns where it does not say which of them are the samples."""
    axes = given_names(dataset.row_names), given_names(dataset.column_names)
    known = samples_axis(dataset)
    return axes if known is None else (axes[known],)


def meet(one: Sequence[set[str]], other: Sequence[set[str]]) -> bool:
    """Whether two matrices have samples in common.

    Where neither says which of its axes are the samples, only rows are compared: the same features do not make them
    data of the same samples.
    """
    if len(one) == len(other) == 2:
        one, other = one[:1], other[:1]
    return any(not mine.isdisjoint(theirs) for mine in one for theirs in other)


def given_names(names: Sequence[str]) -> set[str]:
    """The names of an axis; none when its items are only numbered."""
    return set() if has_default_names(names) else set(names)


@dataclass(frozen=True)
class Offer:
    """What there is for an input.

    Attributes
    ----------
    datasets : those that suit, by name.
    columns : annotation columns that suit and are no dataset of their own yet, by name.
    measured : columns of the matrices themselves that may be chosen, of which none is proposed.
    made : name of the dataset that a column has become, by name of the column.
    sources : names of all datasets of the session.
    """

    item: Input
    datasets: Mapping[str, Dataset] = field(default_factory=dict)
    columns: Mapping[str, ColumnRef] = field(default_factory=dict)
    measured: Mapping[str, ColumnRef] = field(default_factory=dict)
    made: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[str, ...] = ()

    def __contains__(self, name: str) -> bool:
        return name in self.datasets or name in self.all_columns or bool(self.parts(name))

    @property
    def all_columns(self) -> dict[str, ColumnRef]:
        """Columns by name: annotations, and then measurements."""
        return {**self.columns, **self.measured}

    def parts(self, name: str) -> list[str]:
        """Names of the columns that a name of several stands for, as ``X:row:a;b``; none where it is no such name."""
        ref = parse_column(name, self.sources) if self.item.several and ";" in name else None
        if ref is None or name in self.all_columns:
            return []
        found = [str(replace(ref, titles=title.strip())) for title in ref.titles.split(";")]
        return found if all(key in self.all_columns or key in self.made for key in found) else []

    def joined(self, names: Sequence[str]) -> str:
        """The name of several columns beside one axis of one dataset."""
        refs = [self.all_columns.get(name) or parse_column(name, self.sources) for name in names]
        first = refs[0]
        return str(replace(first, titles=";".join(ref.titles for ref in refs if ref))) if first else ""

    def beside(self, name: str) -> list[str]:
        """Names of the columns that may be chosen together with one column, or several: those beside the same axis."""
        chosen = self.parts(name) or [name]
        first = parse_column(chosen[0], self.sources)
        if not self.item.several or first is None:
            return []
        keys = [
            key
            for key, ref in self.all_columns.items()
            if (ref.dataset, ref.axis) == (first.dataset, first.axis)
        ]
        return [key for key in keys if key not in chosen]

    def usual(self, dataset: Dataset) -> str:
        """Name of the column of a dataset that is taken without asking, or empty."""
        key = str(usual_choice(dataset, self.item))
        return key if key in self.columns else self.made.get(key, "")

    def ranked(self, names: Iterable[str]) -> list[str]:
        """Those of the names that suit, data of exactly the right kind first."""
        axes = len(self.item.dims)  # a matrix is not taken for columns without being asked
        return sorted(
            (name for name in names if name in self.datasets and len(self.datasets[name].shape) == axes),
            key=lambda name: not is_made_for(self.item, self.datasets[name]),
        )


def offer(item: Input, session: Mapping[str, Dataset], columns: bool = True) -> Offer:
    """What the data of a session have for an input; columns of them too unless ``columns`` is off."""
    suited = {name: data for name, data in session.items() if not why_not(item, data)}
    made = {str(data.source.options.get("annotation")): name for name, data in suited.items()}
    every = session.values() if columns else ()
    beside = {str(ref): ref for data in every for ref in column_choices(data, item)}
    measured = {str(ref): ref for data in every for ref in measured_choices(data, item)}

    def fresh(key: str, ref: ColumnRef) -> bool:
        """Whether the column is not among the datasets already, as it is now."""
        if key not in made:
            return True
        return suited[made[key]].digest() != column_dataset(session[ref.dataset], ref, item).digest()

    found = {key: ref for key, ref in beside.items() if fresh(key, ref)}
    new = {key: ref for key, ref in measured.items() if fresh(key, ref)}
    known = {
        key: name
        for key, name in made.items()
        if key in {**beside, **measured} and key not in {**found, **new}
    }
    return Offer(item, suited, found, new, known, tuple(session))
