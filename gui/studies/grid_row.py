"""A setting in the panel of a search: ticked it varies, over the values beside it."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCheckBox, QLineEdit, QSizePolicy, QWidget

from plaidwork.core.contract.hyperparameter import Hyperparameter
from plaidwork.core.errors import SettingError
from plaidwork.gui.language import tr
from plaidwork.gui.setup.editors import FocusWatch
from plaidwork.gui.setup.entry import short_range, write
from plaidwork.gui.setup.fields import ErrorLine
from plaidwork.gui.studies.values import parse_values, proposed, write_values
from plaidwork.gui.style import set_variant
from plaidwork.gui.theme import size, space
from plaidwork.gui.widgets import FlowLayout, Label
from plaidwork.gui.widgets.layouts import horizontal, vertical

_TICK_WIDTH = 240


class ElidedCheck(QCheckBox):
    """A check box whose words are cut when there is no room; the tool tip has them all."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = tr(text)
        self.setAccessibleName(self._text)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._fit(10_000)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit(self.width())

    def minimumSizeHint(self) -> QSize:
        return QSize(60, super().minimumSizeHint().height())

    def sizeHint(self) -> QSize:
        width = self.fontMetrics().horizontalAdvance(self._text)
        return QSize(min(width, 400) + size.ICON + space.L, super().sizeHint().height())

    def hitButton(self, pos: QPoint) -> bool:
        """The whole width can be clicked."""
        return self.rect().contains(pos)

    def _fit(self, width: int) -> None:
        room = width - size.ICON - space.M
        shown = self.fontMetrics().elidedText(self._text, Qt.TextElideMode.ElideRight, room)
        if shown != self.text():
            self.setText(shown)
        self.setToolTip(self._text if shown != self._text else "")


class GridRow(QWidget):
    """One setting; ``changed`` follows every change of what varies."""

    changed = Signal()

    def __init__(self, parameter: Hyperparameter, value: Any, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.parameter, self.value = parameter, value
        self.setObjectName(parameter.name)
        self.tick = ElidedCheck(parameter.title)
        self.tick.setFixedWidth(_TICK_WIDTH)
        self._now = Label(self._fixed_text(), "body", "muted", elide=True)
        self.edit = QLineEdit(write_values(parameter, proposed(parameter, value)), self)
        self.edit.setAccessibleName(tr(f"Values of {parameter.title}"))
        self.boxes: dict[Any, ElidedCheck] = {}
        self._help = Label(self._help_text(), "caption", "muted", wrap=True)
        self.error = ErrorLine()
        self._now.setMinimumHeight(size.CONTROL)
        self._choosing = self._editor()
        right = vertical(self._now, self._choosing, self._help, self.error, spacing=space.XS)
        horizontal((self.tick, 0, Qt.AlignmentFlag.AlignTop), (right, 1), on=self, spacing=space.M)
        self.tick.setMinimumHeight(size.CONTROL)
        self.tick.toggled.connect(self._ticked)
        self.edit.textEdited.connect(lambda _: self._edited())
        FocusWatch(self.edit, self.judge)
        self._ticked(False)

    def _fixed_text(self) -> str:
        parameter, value = self.parameter, self.value
        label = next(
            (choice.label or choice.value for choice in parameter.choices if choice.value == value), ""
        )
        text = label or write(value) or "nothing"
        return f"stays {text} {parameter.unit}".rstrip()

    def _help_text(self) -> str:
        kind, limits = self.parameter.kind, short_range(self.parameter)
        how = {"int": "whole numbers; 2..6 is a range", "float": "numbers", "text": "texts, a semicolon between them",
               "array": "lists of numbers, a semicolon between them"}.get(kind, "")  # fmt: skip
        parts = [f"{how[:1].upper()}{how[1:]}" if how else "", limits, self.parameter.unit if how else ""]
        return ", ".join(word for word in parts if word)

    def _editor(self) -> QWidget:
        parameter = self.parameter
        options: list[tuple[Any, str]] = [
            (choice.value, choice.label or str(choice.value)) for choice in parameter.choices
        ]
        if parameter.kind == "bool":
            options = [(True, "Yes"), (False, "No")]
        if not options:
            return self.edit
        self.edit.hide()
        holder = QWidget()
        flow = FlowLayout(holder)
        for value, text in options:
            box = ElidedCheck(text)
            box.setChecked(value in proposed(parameter, self.value))
            box.setMinimumHeight(size.CONTROL)
            box.toggled.connect(lambda _: self._edited())
            self.boxes[value] = box
            flow.addWidget(box)
        return holder

    # -- value ----------------------------------------------------------------------------------
    @property
    def varies(self) -> bool:
        """Whether it is ticked."""
        return self.tick.isChecked()

    def values(self) -> list[Any]:
        """What it varies over. Raises ``SettingError``."""
        if not self.boxes:
            return parse_values(self.parameter, self.edit.text())
        found = [value for value, box in self.boxes.items() if box.isChecked()]
        if not found:
            raise SettingError("Needs a choice at least. Found none ticked.")
        return found

    @property
    def problem(self) -> str:
        """What is wrong, or empty."""
        if not self.varies:
            return ""
        try:
            self.values()
        except SettingError as error:
            return str(error)
        return ""

    def judge(self) -> None:
        """Say what is wrong, as when the field is left."""
        problem = self.problem
        self.error.set_text(problem)
        self._help.setVisible(self.varies and bool(self._help.text()) and not problem)
        set_variant(self.edit, "invalid", bool(problem))

    def tell(self, problem: str) -> None:
        """Show what was found wrong with it elsewhere."""
        self.error.set_text(problem)

    def _edited(self) -> None:
        if self.error.text or self.boxes:
            self.judge()
        self.changed.emit()

    def _ticked(self, on: bool) -> None:
        self._now.setVisible(not on)
        self._choosing.setVisible(on)
        self.judge()
        if on and not self.boxes and self.isVisible():
            self.edit.setFocus()
            self.edit.selectAll()
        self.changed.emit()
