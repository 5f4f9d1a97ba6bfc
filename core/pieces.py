"""Long work in pieces of bounded length.

What HDF5, NumPy and JSON do in one call with a million texts or numbers holds the interpreter lock, or the lock of HDF5, until it is
done, and the window waits; between two pieces it comes in.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, AnyStr

import numpy as np

MOST_BYTES = 4 << 20
"""Of an array, in one call of HDF5."""
MOST_ITEMS = 8192
"""Python objects in one call that goes through them."""


def spans(length: int, most: int = MOST_ITEMS) -> Iterator[slice]:
    """What together is ``length`` items, at most ``most`` at a time."""
    return (slice(start, min(start + most, length)) for start in range(0, length, most))


def boxes(
    shape: Sequence[int], itemsize: int, chunks: Sequence[int] | None = None, most: int = MOST_BYTES
) -> Iterator[tuple[Any, ...]]:
    """What together is an array, in C order: at most ``most`` bytes at a time, but whole chunks where it has any. An index for each."""
    if not shape or not math.prod(shape):
        yield (...,)
        return
    steps = list(chunks or [1] * len(shape))
    axis = 0
    while axis < len(shape) - 1 and steps[axis] * math.prod(shape[axis + 1 :]) * itemsize > most:
        axis += 1
    row = math.prod(steps[:axis]) * math.prod(shape[axis + 1 :]) * itemsize
    steps[axis] *= max(1, most // (row * steps[axis]))
    for box in itertools.product(*map(spans, shape[: axis + 1], steps)):
        yield *box, ...


def numbers(values: Sequence[float], dtype: Any) -> np.ndarray:
    """A list of Python's numbers as an array."""
    found = np.empty(len(values), dtype)
    for span in spans(len(values)):
        found[span] = values[span]
    return found


def objects(values: Sequence[Any]) -> np.ndarray:
    """A list as an array of objects."""
    return numbers(values, object)


def joined(separator: AnyStr, items: Sequence[AnyStr]) -> Iterator[AnyStr]:
    """What ``separator.join(items)`` is, in pieces."""
    for span in spans(len(items)):
        found = separator.join(items[span])
        yield separator + found if span.start else found


def json_text(value: Any, default: Callable[[Any], Any] | None = None, *, ascii_only: bool = True) -> str:
    """What ``json.dumps`` gives, item by item."""
    found = json.JSONEncoder(ensure_ascii=ascii_only, default=default).iterencode(value)
    texts = iter(lambda: "".join(itertools.islice(found, MOST_ITEMS)), "")
    return "".join(texts)
