"""Which axis of a matrix holds the samples; those with samples on the axis that a model does not want are transposed.

What the data say themselves counts, and so do names: labels that are called like the columns settle that the columns are
the samples. Where nothing tells, a matrix is taken as it is, and the caller can say so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count

from plaidwork.core.contract.spec import Input
from plaidwork.core.data.dataset import AXIS_WORDS, Axis, Dataset, Step, axis_words
from plaidwork.core.data.joining import has_default_names
from plaidwork.core.data.sample_words import labels_say
from plaidwork.core.draws.counting import named
from plaidwork.core.errors import SettingError

Names = Sequence[str]
Evidence = dict[str, list[Names]]
"""Names of the items of a dim, as datasets have them whose axes are known."""


@dataclass(frozen=True, slots=True)
class Placed:
    """One matrix of an input that wants its samples on a certain axis.

    Attributes
    ----------
    axis : where the samples are; None when nothing tells (the matrix is then taken as it is).
    by_names : whether names of other data say so.
    made : the matrix turned, as the fit gets it; None where it is right as it is.
    """

    item: Input
    number: int
    dataset: Dataset
    axis: Axis | None
    by_names: bool = False
    made: Dataset | None = None

    @property
    def wanted(self) -> Axis:
        """The axis on which the input wants its samples."""
        return 0 if self.item.dims[0] == self.item.samples else 1

    @property
    def turns(self) -> bool:
        """Whether the samples are on the other axis."""
        return self.axis is not None and self.axis != self.wanted

    @property
    def text(self) -> str:
        """What is done with the matrix, as a sentence for set-up page, log and terminal; empty when nothing is."""
        wanted, other = AXIS_WORDS[self.wanted], AXIS_WORDS[1 - self.wanted]
        if self.turns:
            rows, columns = axis_words(*self._labels, other)
            n, m = self.dataset.shape
            size = f"{n} {named(n, rows)} × {m} {named(m, columns)}"
            joined = f", and the names of the samples are those of its {other}" if self.by_names else ""
            return f"{size}: transposed, as the model wants samples in {wanted}{joined}."
        if self.axis is None:
            return (
                f"{self.dataset.described}: nothing says whether rows or columns are the samples; "
                f"the {self.dataset.shape[self.wanted]} {wanted} are taken for them."
            )
        return ""

    @property
    def _labels(self) -> tuple[str, str]:
        """What rows and columns are called; nothing in particular where names contradict that."""
        data = self.dataset
        if samples_axis(data) in (None, self.axis):
            return data.row_label, data.column_label
        return "rows", "columns"

    @property
    def line(self) -> str:
        """The same with the name of the data before it."""
        return f"{self.dataset.name}, {self.text}" if self.text else ""


def samples_axis(dataset: Dataset) -> Axis | None:
    """The axis that holds the samples as far as the dataset says so, by its field or by what its axes are called."""
    said = dataset.samples_in or labels_say(dataset.row_label, dataset.column_label)
    return None if not said else 0 if said == "rows" else 1


def with_samples(
    data: Mapping[str, Sequence[Dataset]], said: str | Mapping[str, str] | None
) -> dict[str, list[Dataset]]:
    """Matrices with the axis of their samples as requested: ``rows`` or ``columns`` for all, or by input.

    Raises ``SettingError`` for any other word and for an input that is not given.
    """
    said_of = dict.fromkeys(data, said) if isinstance(said, str) else dict(said or {})
    for name, word in said_of.items():
        if word not in AXIS_WORDS:
            raise SettingError(f"samples_in must be “rows” or “columns”. Found “{word}”.")
        if name not in data:
            raise SettingError(
                f"samples_in names the input “{name}”, which is not given.", f"Given: {', '.join(data)}."
            )
    return {
        name: [
            dataset.with_(samples_in=said_of[name])
            if name in said_of and len(dataset.shape) == 2
            else dataset
            for dataset in datasets
        ]
        for name, datasets in data.items()
    }


def placed(
    items: Sequence[Input],
    given: Mapping[str, Sequence[Dataset]],
    known: Mapping[str, Sequence[Names]] | None = None,
) -> list[Placed]:
    """Where the samples of every matrix are whose input cares.

    Names decide before what the data say, as they are joined by them: those of vectors and labels first, and those in
    ``known`` by dim; then those of matrices whose axis is clear; then two matrices that have names in common across.
    """
    evidence: Evidence = {dim: list(names) for dim, names in (known or {}).items()}
    unclear: list[Placed] = []
    for item in items:
        for index, dataset in enumerate(given.get(item.name, ())):
            if item.samples and item.kind == "matrix" and len(dataset.shape) == 2:
                unclear.append(Placed(item, index, dataset, None))
            elif len(dataset.shape) in item.axes:
                _tell(evidence, item, dataset, turned=False)
    found: list[Placed] = []

    def by_names(one: Placed) -> Placed:
        return replace(one, axis=_by_names(one, evidence), by_names=True)

    unclear = _settle(unclear, found, evidence, by_names)
    unclear = _settle(unclear, found, evidence, lambda one: replace(one, axis=samples_axis(one.dataset)))
    while unclear:
        left = _settle(unclear, found, evidence, by_names)
        if len(left) == len(unclear):
            across = partial(_across, others=unclear)
            left = _settle(left, found, evidence, across, most=1)
        if len(left) == len(unclear):
            break
        unclear = left
    order = {item.name: number for number, item in enumerate(items)}
    return sorted([*found, *unclear], key=lambda one: (order[one.item.name], one.number))


def orient(
    items: Sequence[Input],
    given: Mapping[str, Sequence[Dataset]],
    taken: Mapping[str, Dataset] | None = None,
    known: Mapping[str, Sequence[Names]] | None = None,
) -> tuple[dict[str, tuple[Dataset, ...]], tuple[Placed, ...]]:
    """The datasets by input, turned where their samples lie on the wrong axis; and what was found about each matrix.

    A turned matrix is a dataset of its own: it keeps its name, unless that is the name of another one here or in ``taken``.
    """
    result = {name: list(datasets) for name, datasets in given.items()}
    found = placed(items, given, known)
    turned = {(one.item.name, one.number) for one in found if one.turns}
    names = dict(taken or {})
    for name, datasets in result.items():
        names |= {d.name: d for index, d in enumerate(datasets) if (name, index) not in turned}
    messages = []
    for one in found:
        if one.turns:
            made = _turned(one, names)
            one, names[made.name] = replace(one, made=made), made
            result[one.item.name][one.number] = made
        messages.append(one)
    return {name: tuple(datasets) for name, datasets in result.items()}, tuple(messages)


def _settle(
    unclear: Iterable[Placed],
    found: list[Placed],
    evidence: Evidence,
    judge: Callable[[Placed], Placed],
    most: int = 0,
) -> list[Placed]:
    """Move those that ``judge`` can place (at most ``most``; 0: all) to ``found``; the others."""
    left = []
    settled = 0
    for one in unclear:
        judged = judge(one) if not most or settled < most else one
        if judged.axis is None:
            left.append(one)
            continue
        settled += 1
        found.append(judged)
        _tell(evidence, one.item, one.dataset, judged.turns)
    return left


def _tell(evidence: Evidence, item: Input, dataset: Dataset, turned: bool) -> None:
    names = (dataset.row_names, dataset.column_names)[: len(dataset.shape)]
    for axis, (dim, entry) in enumerate(zip(item.dims, names[::-1] if turned else names)):
        if not (item.many and axis == 1):  # each of many matrices has columns of its own
            evidence.setdefault(dim, []).append(entry)


def _by_names(one: Placed, evidence: Evidence) -> Axis | None:
    """The axis of the samples if names fit one way round and not at all the other."""
    names = (one.dataset.row_names, one.dataset.column_names)
    first, second = (evidence.get(dim, ()) for dim in one.item.dims)
    as_it_is = _agreement(names[0], first) + _agreement(names[1], second)
    turned = _agreement(names[1], first) + _agreement(names[0], second)
    if bool(as_it_is) == bool(turned):
        return None
    return one.wanted if as_it_is else 1 if one.wanted == 0 else 0


def _agreement(names: Names, entries: Iterable[Names]) -> int:
    """Names in common; axes that only number their items agree when they are equally long."""
    common, plain, own = 0, has_default_names(names), None
    for entry in entries:
        if plain or has_default_names(entry):
            common += len(names) if plain and has_default_names(entry) and len(entry) == len(names) else 0
            continue
        own = set(names) if own is None else own
        common += len(own.intersection(entry))
    return common


def _across(one: Placed, others: Sequence[Placed]) -> Placed:
    """On the wanted axis, when another unclear matrix of the same samples has those names on its other axis only."""
    mine = (one.dataset.row_names, one.dataset.column_names)
    own, rest = mine[one.wanted], mine[1 - one.wanted]
    for other in others:
        if other.dataset is one.dataset or other.item.samples != one.item.samples:
            continue
        theirs = (other.dataset.row_names, other.dataset.column_names)
        there = _agreement(own, [theirs[1 - other.wanted]])
        if there and not _agreement(own, [theirs[other.wanted]]) and not _agreement(rest, theirs):
            return replace(one, axis=one.wanted, by_names=True)
    return one


def _turned(one: Placed, taken: Mapping[str, Dataset]) -> Dataset:
    """The matrix turned, under a name of its own; the one of ``taken`` that is the same."""
    from plaidwork.core.data.transforms import apply_step

    labels, there = one._labels, AXIS_WORDS[one.axis or 0]
    data = one.dataset.with_(samples_in=there, row_label=labels[0], column_label=labels[1])
    made = apply_step(data, Step("transpose"))
    labels = made.axis_words
    base = f"{one.dataset.name}, transposed"
    numbered = (f"{base} {number}" for number in count(2))
    names = chain((one.dataset.name, base), numbered)
    name = next(name for name in names if name not in taken or _same(taken[name], made))
    return taken.get(name) or made.with_(name=name, row_label=labels[0], column_label=labels[1])


def _same(old: Dataset, new: Dataset) -> bool:
    tables = zip((old.row_table, old.column_table), (new.row_table, new.column_table))
    return all(set(a) == set(b) for a, b in tables) and old.digest() == new.digest()
