"""What the user has selected in a run, shared by all its views."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QObject, Signal


class Selection(QObject):
    """Selected items by kind (``layer``, ``row``, ``column``); every view shows it and can change it.

    ``changed`` carries the kind. Items are indices; an empty tuple means nothing is selected.
    """

    changed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._items: dict[str, tuple[int, ...]] = {}
        self.named: dict[str, tuple[str, tuple[int, ...]]] = {}
        """Selections kept under a name: kind and items."""
        self._threshold = 0.5
        self.threshold_chosen = False
        """Whether somebody has set the threshold, so that no view puts its own first one in its place."""

    def as_dict(self) -> dict[str, Any]:
        """All of it, JSON-ready."""
        kept: dict[str, Any] = {kind: list(items) for kind, items in self._items.items()}
        if self.named:
            kept["named"] = {name: [kind, list(items)] for name, (kind, items) in self.named.items()}
        return kept | {"threshold": self._threshold} if self.threshold_chosen else kept

    def restore(self, kept: Mapping[str, Any]) -> None:
        """Select what `as_dict` gave; whatever is no list of whole numbers is left out, for a file may hold anything."""
        for kind, items in kept.items():
            if kind == "threshold" and isinstance(items, float):
                self.set_threshold(items)
            elif kind == "named" and isinstance(items, dict):
                for name, held in items.items():
                    if (
                        isinstance(held, list)
                        and len(held) == 2
                        and isinstance(held[0], str)
                        and _counts(held[1])
                    ):
                        self.named[name] = (held[0], tuple(held[1]))
            elif _counts(items):
                self.set(kind, items)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of which something was selected."""
        return tuple(self._items)

    def get(self, kind: str) -> tuple[int, ...]:
        """The selected items of a kind."""
        return self._items.get(kind, ())

    def set(self, kind: str, items: tuple[int, ...] | list[int]) -> None:
        """Select these items of a kind instead of what was selected."""
        new = tuple(int(item) for item in items)
        if new != self.get(kind):
            self._items[kind] = new
            self.changed.emit(kind)

    def keep_as(self, name: str, kind: str) -> None:
        """Keep what is selected of a kind under a name, to be selected again; an empty selection forgets the name."""
        self.named.pop(name, None)
        if self.get(kind):
            self.named[name] = (kind, self.get(kind))
        self.changed.emit(kind)

    def clear(self) -> None:
        """Select nothing."""
        for kind in list(self._items):
            self.set(kind, ())

    @property
    def threshold(self) -> float:
        """Membership probability from which an item counts as a member, 0 to 1."""
        return self._threshold

    def set_threshold(self, value: float) -> None:
        """Change the threshold everywhere; ``changed`` is emitted with ``"threshold"``."""
        self.threshold_chosen = True
        if value != self._threshold:
            self._threshold = value
            self.changed.emit("threshold")


def _counts(items: Any) -> bool:
    return isinstance(items, list) and all(type(item) is int and item >= 0 for item in items)
