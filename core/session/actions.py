"""The record of actions of a session: what was done, when, and by which version of the program.

An entry is JSON: ``time`` (UTC, ISO), ``action``, ``version``, and details by name. The oldest go when there are more than
``LIMIT``, but for openings of what can be opened once: without them a later analysis would not count as exploratory.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from plaidwork.core.contract.model import Table
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import SessionError
from plaidwork.core.findings.unlocking import ACTION as UNLOCKED
from plaidwork.core.inference.run import now

LIMIT = 2_000
"""Entries that are kept."""
FIT_ENDED = "fit ended"
EDITED = "edited"
_LOCK = threading.Lock()
_KNOWN = ("time", "action", "version")
_MARKS = {"done": "to its end", "stopped": "stopped", "failed": "failed"}


def record_action(history: list[dict[str, Any]], action: str, details: Mapping[str, Any]) -> None:
    """Put an action at the end of a record; any thread may, for fits end in threads of their own."""
    from plaidwork.core import __version__

    with _LOCK:
        history.append({"time": now(), "action": action, **details, "version": __version__})
        if len(history) > LIMIT:
            history[:] = bounded(history)


def bounded(history: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The newest entries, and the first openings of what can be opened once, as many of each as are kept."""
    older, newest = history[:-LIMIT], history[-LIMIT:]
    return [entry for entry in older if entry["action"] == UNLOCKED][:LIMIT] + list(newest)


def take_back(history: list[dict[str, Any]], last: dict[str, Any] | None) -> None:
    """Forget what was recorded after an entry (None: from the start), but for fits that have ended meanwhile."""
    with _LOCK:
        first = _behind(history, last)
        history[first:] = [entry for entry in history[first:] if entry["action"] == FIT_ENDED]


def recorded_since(history: Sequence[dict[str, Any]], last: dict[str, Any] | None) -> bool:
    """Whether something but the end of a fit was recorded after an entry."""
    return any(entry["action"] != FIT_ENDED for entry in history[_behind(history, last) :])


def _behind(history: Sequence[dict[str, Any]], last: dict[str, Any] | None) -> int:
    places = (place for place in range(len(history), 0, -1) if history[place - 1] is last)
    return next(places, 0)


# -- reading ----------------------------------------------------------------------------------------
def read_actions(text: str) -> list[dict[str, Any]]:
    """The record as it is stored, a line each. Raises ``SessionError`` for a line that is no action."""
    found = []
    for number, line in enumerate(filter(None, text.split("\n")), 1):
        entry = json.loads(line)
        if not isinstance(entry, dict) or not all(isinstance(entry.get(key), str) for key in _KNOWN[:2]):
            raise SessionError(f"line {number} of the record of actions has no time and action.")
        if entry["action"] == UNLOCKED and not _is_opening(entry):
            raise SessionError(f"line {number} of the record of actions does not say what was opened.")
        found.append(entry)
    return bounded(found)


def _is_opening(entry: Mapping[str, Any]) -> bool:
    """Whether later analyses can go by it."""
    data = entry.get("data")
    return (
        isinstance(entry.get("what"), str)
        and isinstance(data, list)
        and all(isinstance(k, str) for k in data)
    )


# -- in words ---------------------------------------------------------------------------------------
def actions_table(history: Iterable[Mapping[str, Any]]) -> Table:
    """When (UTC), what was done, to what, and by which version; entries of earlier versions do not know the last."""
    rows = [
        (entry["time"][:19].replace("T", " "), *in_words(entry), str(entry.get("version", "")))
        for entry in history
    ]
    columns = list(zip(*rows, strict=True)) or [()] * 4
    titles = ("Time (UTC)", "Action", "About", "Version")
    return Table({title: _texts(column) for title, column in zip(titles, columns, strict=True)})


def in_words(entry: Mapping[str, Any]) -> tuple[str, str]:
    """What was done, and to what; an action that this version does not know is told as it is stored."""
    title, about = _WORDS.get(entry["action"], (entry["action"].capitalize(), _as_stored))
    return title, about(entry)


def _texts(column: Sequence[str]) -> Any:
    import numpy as np

    return np.array(column, dtype=object)


def _plain(value: Any) -> str:
    """A detail as text."""
    if isinstance(value, list):
        return ", ".join(map(_plain, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _as_stored(entry: Mapping[str, Any]) -> str:
    return "; ".join(f"{key}: {_plain(value)}" for key, value in entry.items() if key not in _KNOWN)


def _named(key: str, *more: tuple[str, str]) -> Callable[[Mapping[str, Any]], str]:
    """A name in quotes, and of ``more`` (words with {}, detail) what is known."""

    def about(entry: Mapping[str, Any]) -> str:
        parts = [f"“{_plain(entry.get(key, ''))}”"]
        parts += [words.replace("{}", _plain(entry[name])) for words, name in more if entry.get(name)]
        return ", ".join(parts)

    return about


def _added(entry: Mapping[str, Any]) -> str:
    shape = entry.get("shape")
    size = f"{_plain(shape[0])} × {_plain(shape[1])}" if isinstance(shape, list) and len(shape) == 2 else ""
    file = f"from {_plain(entry['file'])}" if entry.get("file") else ""
    return ", ".join(filter(None, (f"“{_plain(entry.get('dataset', ''))}”", size, file)))


def _ended(entry: Mapping[str, Any]) -> str:
    ended = _MARKS.get(_plain(entry.get("status", "")), _plain(entry.get("status", "")))
    draws = f"{_plain(entry['draws'])} draws" if entry.get("draws") else ""
    return ", ".join(filter(None, (f"“{_plain(entry.get('title', ''))}”", ended, draws)))


def _picked(entry: Mapping[str, Any]) -> str:
    text = f"fit {_plain(entry.get('fit', ''))} of “{_plain(entry.get('title', ''))}”"
    ranked = f"ranked by {_plain(entry['ranked_by'])}" if entry.get("ranked_by") else ""
    return ", ".join(filter(None, (text, ranked, "exploratory" if entry.get("exploratory") is True else "")))


def _merged(entry: Mapping[str, Any]) -> str:
    runs = entry.get("runs")
    number = len(runs) if isinstance(runs, list) else 0
    return f"{counted(number, 'run')} of another session on the same data"


def _said(entry: Mapping[str, Any]) -> str:
    return _plain(entry.get("edit", ""))


_WORDS: dict[str, tuple[str, Callable[[Mapping[str, Any]], str]]] = {
    "data added": ("Data added", _added),
    "data changed": ("Data changed", _named("dataset", ("steps: {}", "steps"))),
    "data renamed": ("Data renamed", _named("dataset", ("before that “{}”", "before"))),
    "data removed": ("Data removed", _named("dataset")),
    "run added": ("Fit started", _named("title", ("model {}", "model"), ("seed {}", "seed"))),
    FIT_ENDED: ("Fit ended", _ended),
    "run removed": ("Run removed", _named("title")),
    "analysis made": ("Analysis made", _named("analysis", ("of “{}”", "title"))),
    "study": ("Search started", _named("title", ("model {}", "model"), ("{} fits", "jobs"))),
    "study fit picked": ("Fit picked", _picked),
    "study fits removed": ("Fits removed", _named("title", ("fits {}", "fits"))),
    "study removed": ("Search removed", _named("title")),
    UNLOCKED: ("Opened once", _named("what", ("for “{}”", "title"))),
    "copied without data": ("Copied without data", _named("datasets")),
    "merged": ("Runs merged", _merged),
    EDITED: ("Edited", _said),
    "undone": ("Undone", _said),
    "redone": ("Redone", _said),
}
