"""One small editor per kind of setting; all offer ``text``, ``put`` and the signals ``edited`` and ``left``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFocusEvent, QResizeEvent, QValidator, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QCheckBox,
    QComboBox,
    QLineEdit,
    QStyle,
    QStyleOptionComboBox,
    QWidget,
)

from plaidwork.core.contract.hyperparameter import Hyperparameter
from plaidwork.core.errors import SettingError
from plaidwork.gui.language import tr
from plaidwork.gui.setup.entry import parse, stepped, write

if TYPE_CHECKING:
    from plaidwork.gui.setup.matrix_edit import MatrixEdit


class NumberEdit(QAbstractSpinBox):
    """Free text with arrows; anything can be typed, the field judges it when it is left."""

    edited = Signal()
    left = Signal()

    def __init__(self, parameter: Hyperparameter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parameter = parameter
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.lineEdit().textEdited.connect(lambda _: self.edited.emit())
        self.editingFinished.connect(self.left)

    def put(self, value: Any) -> None:
        """Show a value."""
        self.lineEdit().setText(write(value))
        self.lineEdit().setCursorPosition(0)

    def validate(self, text: str, position: int) -> Any:
        """Accept every text."""
        return QValidator.State.Acceptable, text, position

    def stepEnabled(self) -> QAbstractSpinBox.StepEnabledFlag:
        """Arrows are live while a step changes the value."""
        flags = QAbstractSpinBox.StepEnabledFlag
        try:
            value = parse(self._parameter, self.text())
        except SettingError:
            return flags.StepNone
        state = flags.StepNone
        if stepped(self._parameter, value, True) != value:
            state |= flags.StepUpEnabled
        if stepped(self._parameter, value, False) != value:
            state |= flags.StepDownEnabled
        return state

    def stepBy(self, steps: int) -> None:
        """Arrow keys and buttons."""
        try:
            value = parse(self._parameter, self.text())
        except SettingError:
            return
        for _ in range(abs(steps)):
            value = stepped(self._parameter, value, steps > 0)
        self.put(value)
        self.edited.emit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scrolling a page must not change a setting."""
        event.ignore()


class TextEdit(QLineEdit):
    """A line of text."""

    edited = Signal()
    left = Signal()

    def __init__(self, parameter: Hyperparameter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.textEdited.connect(lambda _: self.edited.emit())
        self.editingFinished.connect(self.left)

    def put(self, value: Any) -> None:
        """Show a value."""
        self.setText(write(value))
        self.setCursorPosition(0)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Nothing stays selected behind."""
        self.deselect()
        super().focusOutEvent(event)


class CheckEdit(QCheckBox):
    """Yes or no; the title stands beside the box."""

    edited = Signal()
    left = Signal()

    def __init__(self, parameter: Hyperparameter, parent: QWidget | None = None) -> None:
        super().__init__(tr(parameter.title), parent)
        self.toggled.connect(lambda _: self.edited.emit())

    def text_value(self) -> str:
        return "yes" if self.isChecked() else "no"

    def put(self, value: Any) -> None:
        """Show a value."""
        blocker = QSignalBlocker(self)
        self.setChecked(bool(value))
        blocker.unblock()


class QuietCombo(QComboBox):
    """A combo box that neither scrolls by the wheel nor widens its window."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(8)
        self._told = ""
        self.currentTextChanged.connect(self._tell_whole)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._tell_whole()

    def _tell_whole(self) -> None:
        """A tool tip has the words that are cut, where there is no other one."""
        if self.toolTip() != self._told:
            return
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        field = self.style().subControlRect(
            QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, self
        )
        cut = self.fontMetrics().horizontalAdvance(self.currentText()) > field.width()
        self._told = self.currentText() if cut else ""
        self.setToolTip(self._told)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scrolling a page must not change a setting."""
        event.ignore()


class ChoiceEdit(QuietCombo):
    """One of a few named values."""

    edited = Signal()
    left = Signal()

    def __init__(self, parameter: Hyperparameter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        for choice in parameter.choices:
            self.addItem(tr(choice.label or choice.value), choice.value)
            if choice.doc:
                self.setItemData(self.count() - 1, choice.doc, Qt.ItemDataRole.ToolTipRole)
        self.currentIndexChanged.connect(lambda _: self.edited.emit())

    def text_value(self) -> str:
        return str(self.currentData())

    def put(self, value: Any) -> None:
        """Show a value."""
        blocker = QSignalBlocker(self)
        self.setCurrentIndex(max(0, self.findData(value)))
        blocker.unblock()


Editor = NumberEdit | TextEdit | CheckEdit | ChoiceEdit

#: kind of a setting -> its editor
EDITORS: dict[str, Callable[[Hyperparameter], Editor]] = {
    "int": NumberEdit,
    "float": NumberEdit,
    "bool": CheckEdit,
    "choice": ChoiceEdit,
    "text": TextEdit,
    "array": TextEdit,
}


def typed(editor: Editor | MatrixEdit) -> str:
    """What an editor holds, as text."""
    return editor.text_value() if isinstance(editor, CheckEdit | ChoiceEdit) else editor.text()


class FocusWatch(QObject):
    """Calls back when a widget loses the keyboard to another widget of the program."""

    def __init__(self, widget: QWidget, call: Callable[[], object]) -> None:
        super().__init__(widget)
        self._call = call
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Look for FocusOut."""
        lost = event if isinstance(event, QFocusEvent) and event.lostFocus() else None
        if lost is not None and lost.reason() != Qt.FocusReason.PopupFocusReason:
            self._call()
        return False
