"""Names in a list that is too narrow for them, cut so that those that differ look different."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics

_ENDS = 3
"""Letters at either end that two names have in common at least, where they look alike once they are cut."""
_HEAD = 6
"""Letters of the beginning that stay where what follows is shown from where the names begin to differ."""


def cut_name(name: str, others: Iterable[str], metrics: QFontMetrics, width: int) -> str:
    """A name cut in the middle, as its end is often a number; where another of the list would then look the same, it is shown
    from the word on in which it begins to differ. One that others only go on from keeps the cut in the middle."""

    def middle(text: str) -> str:
        return metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, width)

    found = middle(name)
    if found == name:
        return name
    near = [one for one in others if one[:_ENDS] == name[:_ENDS] and one[-_ENDS:] == name[-_ENDS:]]
    shared = [_alike(name, one) for one in near if one != name and middle(one) == found]
    shared = [count for count in shared if count < len(name)]
    if not shared:
        return found
    start = _word_at(name, min(shared))
    if start <= _HEAD:
        return metrics.elidedText(name, Qt.TextElideMode.ElideRight, width)
    return metrics.elidedText(f"{name[:_HEAD].rstrip()}…{name[start:]}", Qt.TextElideMode.ElideRight, width)


def _word_at(name: str, place: int) -> int:
    """Where the word begins that a place is in, or the next one where it is between two."""
    if name[place].isalnum():
        return name.rfind(" ", 0, place) + 1
    return place + sum(1 for _ in takewhile(lambda letter: not letter.isalnum(), name[place:]))


def _alike(one: str, other: str) -> int:
    """With how many of the same letters two names begin."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
