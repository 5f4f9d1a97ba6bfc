"""Records from JSON as data classes, each value compared with the type that its field declares: a file may hold anything."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
_WORDS = {str: "a text", bool: "true or false", int: "a whole number", float: "a number"}
_LARGEST = 2**63
_UNTOLD = {"Run": object, "ModelSpec": object}
"""Names that annotations have only for who checks types."""


class UnfitError(ValueError):
    """What of a record is not as declared, as a part of a sentence."""


def built(cls: type[T], record: Any, at: str = "") -> T:
    """An instance of a data class from what JSON has of it, data classes within it likewise; lists become tuples where it has tuples.

    Raises ``UnfitError`` that names the place (below ``at``), what was found and what was expected; what the class raises itself.
    """
    if not isinstance(record, Mapping):
        raise _unfit(at, record, "an object with entries")
    hints = _hints(cls)  # type: ignore[arg-type]
    for name in record:
        if name not in hints:
            raise UnfitError(f"“{_below(at, name)}” is not known")
    for one in dataclasses.fields(cls):  # type: ignore[arg-type]
        needed = one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING
        if needed and one.name not in record:
            raise UnfitError(f"“{_below(at, one.name)}” is missing")
    return cls(**{name: fitting(value, hints[name], _below(at, name)) for name, value in record.items()})


def fitting(value: Any, wanted: Any, at: str) -> Any:
    """A value from JSON as a type has it; ``at`` names its place. Raises ``UnfitError``."""
    if wanted is Any:
        return value
    if dataclasses.is_dataclass(wanted):
        assert isinstance(wanted, type)
        return built(wanted, value, at)
    origin, inner = get_origin(wanted), get_args(wanted)
    if origin is Literal:
        if not isinstance(value, str) or value not in inner:
            raise _unfit(at, value, f"one of {', '.join(repr(one) for one in inner)}")
        return value
    if origin in (Union, types.UnionType):
        return _one_of(value, inner, at)
    if origin is tuple:
        return _items(value, inner, at)
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            raise _unfit(at, value, "an object with entries")
        return {key: fitting(item, inner[1], _below(at, key)) for key, item in value.items()}
    return _single(value, wanted, at)


def _one_of(value: Any, inner: tuple[Any, ...], at: str) -> Any:
    """A value of the first type of several that takes it."""
    if value is None and type(None) in inner:
        return None
    told = []
    for one in inner:
        if one is not type(None):
            try:
                return fitting(value, one, at)
            except UnfitError as error:
                told.append(error)
    raise told[0]


def _items(value: Any, inner: tuple[Any, ...], at: str) -> tuple[Any, ...]:
    if not isinstance(value, (list, tuple)):
        raise _unfit(at, value, "a list")
    kinds = [inner[0]] * len(value) if inner[-1] is ... else inner
    if len(kinds) != len(value):
        raise UnfitError(f"“{at}” has the length {len(value)}, expected {len(kinds)}")
    return tuple(
        fitting(item, kind, _below(at, place)) for place, (item, kind) in enumerate(zip(value, kinds), 1)
    )


def _single(value: Any, wanted: Any, at: str) -> Any:
    """A text, a number, or a flag; no flag is a number, and a number has a size that arrays have."""
    kinds = (int, float) if wanted is float else (wanted,)
    if wanted not in _WORDS:
        raise _unfit(at, value, "nothing")
    fits = isinstance(value, kinds) and (wanted is bool or not isinstance(value, bool))
    if not fits or (isinstance(value, int) and abs(value) >= _LARGEST):
        raise _unfit(at, value, _WORDS[wanted])
    return value


@cache
def _hints(cls: type) -> dict[str, Any]:
    return get_type_hints(cls, localns=_UNTOLD)


def _below(at: str, name: Any) -> str:
    return f"{at}.{str(name)[:80]}" if at else str(name)[:80]


def _unfit(at: str, value: Any, wanted: str) -> UnfitError:
    return UnfitError(f"“{at}” is {told(value)}, expected {wanted}")


def told(value: Any) -> str:
    """A value of JSON in a few words."""
    if value is None:
        return "nothing"
    if isinstance(value, Mapping):
        return "an object with entries"
    if isinstance(value, (list, tuple)):
        return f"a list of length {len(value)}"
    return f"“{value[:40]}”" if isinstance(value, str) else str(value)[:40]
