"""The tool bar: mark, session name, saved or not, open and save, command field, the one primary button."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QPushButton, QToolButton, QWidget

from plaidwork.gui.icons import icon, pixmap
from plaidwork.gui.language import tr
from plaidwork.gui.theme import size, space, theme
from plaidwork.gui.widgets import Chip, Label, button, tool_button
from plaidwork.gui.widgets.layouts import STRETCH, add, horizontal

_NARROW = 1100


class Header(QWidget):
    """One row above everything; ``buttons`` are (action, kind) that may stand at the right, see `set_buttons`."""

    find_command = Signal()

    def __init__(
        self, tools: list[QAction], buttons: list[tuple[QAction, str]], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setFixedHeight(size.TOOL_BAR)
        self._mark = Label()
        self._name = Label(tr("Untitled"), "strong", elide=True, given=True)
        self._chip = Chip("Not saved")
        self._chip.hide()
        self._field = button("Find a command      Ctrl+Shift+P", self.find_command.emit, icon_name="search")
        self._field.setAccessibleName(tr("Find a command"))
        self._small = tool_button("search", "Find a command (Ctrl+Shift+P)", self.find_command.emit)
        self._made: dict[str, tuple[QAction, QPushButton, str]] = {}
        row = horizontal(
            self._mark,
            self._name,
            self._chip,
            space.M,
            on=self,
            spacing=space.S,
            margins=(space.M, 0, space.L, 0),
        )
        self.tools: dict[str, QToolButton] = {}
        for action in tools:
            tool = tool_button("open", action.text(), action.trigger)
            tool.setIcon(action.icon())
            tool.setToolTip(action.toolTip())
            self.tools[action.objectName()] = tool
            row.addWidget(tool)
        add(row, STRETCH, self._field, self._small)
        for action, kind in buttons:
            made = button(action.text(), action.trigger, kind=kind)
            made.setObjectName(action.objectName())
            made.setToolTip(action.toolTip())
            made.hide()
            self._made[action.objectName()] = (action, made, kind)
            row.addWidget(made)
        theme().changed.connect(self._restyle)
        self._restyle()

    def set_session(self, name: str, dirty: bool, saved: bool, read_only: bool) -> None:
        """Show the session's name and whether it is saved."""
        shown = name if saved else tr(name)  # an example, or what has no name yet
        self._name.setText(shown)
        self._name.setToolTip(shown)
        if read_only:
            self._chip.set("Read only", "warn")
        elif dirty:
            self._chip.set("Not saved" if not saved else "Changed", "neutral")
        self._chip.setVisible(dirty or read_only)

    def set_buttons(self, keys: set[str]) -> None:
        """Show the buttons of these commands, each as its action is now."""
        for key, (action, made, kind) in self._made.items():
            made.setText(action.text().rstrip("…"))
            made.setIcon(icon(action.data(), "on_accent" if kind == "primary" else "text"))
            made.setEnabled(action.isEnabled())
            if key not in keys and made.hasFocus():
                made.clearFocus()  # else it would go on to the next button, which the user did not choose
            made.setVisible(key in keys)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = self.width() < _NARROW
        self._field.setVisible(not narrow)
        self._small.setVisible(narrow)

    def _restyle(self) -> None:
        self._mark.setPixmap(pixmap("mark", 22, theme().color("text")))
        self._mark.setAlignment(Qt.AlignmentFlag.AlignCenter)
