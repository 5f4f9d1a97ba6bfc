"""A number that matters: label above, big value, note below."""

from __future__ import annotations

from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QWidget

from plaidwork.gui.theme import theme
from plaidwork.gui.widgets.label import Label
from plaidwork.gui.widgets.layouts import STRETCH, vertical

_SIZES = ("figure", "title", "strong")


class KeyFigure(QWidget):
    """Label, value and note; give `role` "strong" for the small form in docks."""

    def __init__(
        self,
        label: str,
        value: str = "–",
        note: str = "",
        *,
        role: str = "figure",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._given = self._role = role
        self._label = Label(label, "caption", "muted", elide=True)
        self._value = Label(value, role, elide=True)
        self._note = Label(note, "caption", "muted", elide=True)
        vertical(self._label, self._value, self._note, STRETCH, on=self, spacing=0)
        self._note.setVisible(bool(note))
        self._name()
        self._fit()

    @property
    def value(self) -> str:
        """The value shown."""
        return self._value.text()

    @property
    def note(self) -> str:
        """The note shown."""
        return self._note.text()

    def set_value(self, value: str, note: str | None = None, color: str = "text") -> None:
        """Change value, note (None keeps it) and colour token of the value."""
        self._value.setText(value)
        self._value.set_color(color)
        if note is not None:
            self._note.setText(note)
            self._note.setVisible(bool(note))
        self._name()
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """A value that has no room in large letters stands in smaller ones, and is cut only when those are too large too."""
        if self._given != "figure":
            return
        self._value.setMinimumHeight(
            QFontMetrics(theme().font("figure")).height()
        )  # so that notes stay in line
        role = next((role for role in _SIZES if self._width_in(role) <= self.width()), _SIZES[-1])
        if role != self._role:
            self._role = role
            self._value.set_role(role)

    def _width_in(self, role: str) -> int:
        return QFontMetrics(theme().font(role)).horizontalAdvance(self.value) + 1

    def set_label(self, label: str) -> None:
        """Change the label."""
        self._label.setText(label)
        self._name()

    def label_width(self, notes: bool = True) -> int:
        """Width in pixels of the whole label, or note where that is longer (and ``notes`` count), at least 80."""
        told = (self._label, self._note) if notes else (self._label,)
        return max(80, *(shown.fontMetrics().horizontalAdvance(shown.text()) + 1 for shown in told))

    @property
    def cut(self) -> bool:
        """Whether the label or the note cannot be read as a whole."""
        shown = [one for one in (self._label, self._note) if not one.isHidden()]
        return any(one.cut(one.width()) for one in shown)

    def _name(self) -> None:
        self.setAccessibleName(f"{self._label.text()}: {self._value.text()}. {self._note.text()}".strip())
