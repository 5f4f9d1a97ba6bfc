"""Names of items that one input lacks, taken by position from another of as many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plaidwork.core.contract.spec import Input, ModelSpec
from plaidwork.core.data.dataset import Axis, Dataset, Step
from plaidwork.core.data.joining import has_default_names
from plaidwork.core.data.object_columns import counted
from plaidwork.core.data.objects import Made
from plaidwork.core.data.orienting import samples_axis
from plaidwork.core.errors import DataError

_AXES: tuple[Axis, Axis] = (0, 1)


@dataclass(frozen=True, slots=True)
class Message:
    """Something to know about the data of a fit, for its log; ``warn`` also as a Python warning."""

    text: str
    warn: bool = False


@dataclass(frozen=True, slots=True)
class SharedAxis:
    """One axis of one dataset that shares its items with others."""

    input: str
    number: int
    axis: Axis


def name_by_position(
    spec: ModelSpec, data: dict[str, list[Dataset]], objects: Mapping[tuple[str, int], Made]
) -> list[Message]:
    """Give axes of objects without names the names of the data they are joined to, and say so.

    A table that counts its rows is joined by that count where the others are named by it. Raises ``DataError`` when the
    lengths differ, or when the others have no one order.
    """
    users: dict[str, list[SharedAxis]] = {}
    for item in spec.inputs:
        for number, one in enumerate(data.get(item.name, ())):
            for axis, dim in zip(_AXES[: len(one.shape)], _dims(item, one)):
                if not (item.many and dim in item.dims[1:]):
                    users.setdefault(dim, []).append(SharedAxis(item.name, number, axis))
    messages = []
    for places in users.values():
        bare = [p for p in places if (p.input, p.number) in objects and has_default_names(_names(data, p))]
        named = [p for p in places if not has_default_names(_names(data, p))]
        for shared in bare if named else ():
            made = objects[shared.input, shared.number]
            names = counted(len(_names(data, shared)))
            by_count = made.numbered[shared.axis] and all(
                (other.input, other.number) in objects and set(names).issuperset(_names(data, other))
                for other in named
            )
            if not by_count:
                names = _borrowed(data, shared, named)
                messages.append(_by_position(data, shared, named[0]))
            data[shared.input][shared.number] = _renamed(
                data[shared.input][shared.number], shared.axis, names
            )
    return messages


def _dims(item: Input, dataset: Dataset) -> tuple[str, ...]:
    """The dims of the axes as they lie, before a matrix whose samples are on the other axis is transposed."""
    if item.kind != "matrix" or not item.samples:
        return item.dims
    axis = samples_axis(dataset)
    return item.dims if axis in (None, item.dims.index(item.samples)) else item.dims[::-1]


def _names(data: Mapping[str, Sequence[Dataset]], shared: SharedAxis) -> tuple[str, ...]:
    one = data[shared.input][shared.number]
    return (one.row_names, one.column_names)[shared.axis]


def _borrowed(
    data: Mapping[str, Sequence[Dataset]], shared: SharedAxis, named: Sequence[SharedAxis]
) -> tuple[str, ...]:
    what = ("rows", "columns")[shared.axis]
    own, size = data[shared.input][shared.number], len(_names(data, shared))
    hint = "Give it as a table with the same names (a pandas Series or DataFrame with an index), or give all without."
    first, others = named[0], named[1:]
    names = _names(data, first)
    title = data[first.input][first.number].name
    for other in others:
        if _names(data, other) != names:
            second = data[other.input][other.number].name
            raise DataError(
                f"The {size} {what} of “{own.name}” have no names, and those of “{title}” and “{second}” differ.",
                hint,
            )
    if len(names) != size:
        raise DataError(
            f"The {size} {what} of “{own.name}” have no names, so that they cannot be found among the {len(names)} of "
            f"“{title}” (the first is “{names[0]}”).",
            hint,
        )
    return names


def _by_position(data: Mapping[str, Sequence[Dataset]], shared: SharedAxis, other: SharedAxis) -> Message:
    own, title = data[shared.input][shared.number], data[other.input][other.number].name
    size, what = len(_names(data, shared)), ("rows", "columns")[shared.axis]
    return Message(
        f"“{own.name}” has no names: its {size} {what} were taken to be those of “{title}”, in that order.",
        warn=True,
    )


def _renamed(dataset: Dataset, axis: Axis, names: tuple[str, ...]) -> Dataset:
    step = Step("named", {"text": f"{('rows', 'columns')[axis]} named by their position"})
    key = ("row_names", "column_names")[axis]
    return dataset.with_(**{key: names, "steps": (*dataset.steps, step)})
