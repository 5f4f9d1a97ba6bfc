"""What the user has selected in a run, shared by all its views."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal


class Selection(QObject):
    """Selected items by kind (``layer``, ``row``, ``column``); every view shows it and can change it.

    ``changed`` carries the kind. Items are indices; an empty tuple means nothing is selected.
    """

    changed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._items: dict[str, tuple[int, ...]] = {}
        self._threshold = 0.5

    def get(self, kind: str) -> tuple[int, ...]:
        """The selected items of a kind."""
        return self._items.get(kind, ())

    def set(self, kind: str, items: tuple[int, ...] | list[int]) -> None:
        """Select these items of a kind instead of what was selected."""
        new = tuple(int(item) for item in items)
        if new != self.get(kind):
            self._items[kind] = new
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
        if value != self._threshold:
            self._threshold = value
            self.changed.emit("threshold")
