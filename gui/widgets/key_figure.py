"""A number that matters: label above, big value, note below."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from plaidwork.gui.widgets.label import Label


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
        self._label = Label(label, "caption", "muted", elide=True)
        self._value = Label(value, role, elide=True)
        self._note = Label(note, "caption", "muted", elide=True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for item in (self._label, self._value, self._note):
            layout.addWidget(item)
        layout.addStretch(1)
        self._note.setVisible(bool(note))
        self._name()

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

    def set_label(self, label: str) -> None:
        """Change the label."""
        self._label.setText(label)
        self._name()

    def label_width(self) -> int:
        """Width in pixels of the whole label, at least 80."""
        return max(80, self._label.fontMetrics().horizontalAdvance(self._label.text()))

    def _name(self) -> None:
        self.setAccessibleName(f"{self._label.text()}: {self._value.text()}. {self._note.text()}".strip())
