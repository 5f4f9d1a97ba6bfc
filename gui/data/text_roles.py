"""What the columns beside the texts are: one choice for each role."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QMenu, QPushButton, QVBoxLayout, QWidget

from plaidwork.core.draws.counting import counted
from plaidwork.gui.data.text_state import TextState
from plaidwork.gui.language import tr
from plaidwork.gui.setup.editors import QuietCombo
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Card, Label, button
from plaidwork.gui.widgets.layouts import horizontal, vertical

ROLES = (
    (
        "outcome",
        "Outcome",
        "The number that topics are to explain; of a column of texts one value counts as 1",
    ),
    ("group", "Groups", "Such as a randomised treatment"),
    ("cluster", "Clusters", "Documents that belong together, such as those of one author"),
    ("covariate", "Covariates", "Columns that go along with the outcome"),
    ("skip", "Leave out", "All other columns are kept as notes of the documents"),
)
"""Role, title and help, in order."""
_MANY = ("covariate", "skip")


class TextRoles(Card):
    """A combo box for outcome, groups and clusters; a menu for covariates and for what is left out.

    Signals
    -------
    chosen : role and the list of columns that have it now
    """

    chosen = Signal(str, list)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, color="sunken")
        self._columns: dict[str, list[str]] = {}
        self._with: dict[str, list[str]] = {}
        self.combos: dict[str, QuietCombo] = {}
        self.buttons: dict[str, QPushButton] = {}
        horizontal(
            *((self._field(role, title, doc), 1) for role, title, doc in ROLES),
            on=self,
            spacing=space.M,
            margins=(space.M, space.S, space.M, space.S),
        )

    def _field(self, role: str, title: str, doc: str) -> QVBoxLayout:
        label = Label(title, elide=True)
        label.setToolTip(tr(doc))
        if role in _MANY:
            editor: QWidget = (chooser := button("Choose…", self._opener(role)))
            self.buttons[role] = chooser
        else:
            combo = QuietCombo()
            combo.activated.connect(lambda _, role=role: self._picked(role))
            self.combos[role] = combo
            editor = combo
        editor.setAccessibleName(tr(title))
        editor.setToolTip(tr(doc))
        editor.setObjectName(f"role_{role}")
        label.setBuddy(editor)
        part = vertical(label, editor, spacing=space.XS)
        return part

    def _opener(self, role: str) -> Callable[[], object]:
        return lambda: self.open_menu(role)

    def show_state(self, state: TextState) -> None:
        """Offer the columns there are."""
        for role, _, _ in ROLES:
            self._columns[role], self._with[role] = state.choices(role), state.with_role(role)
        for role, combo in self.combos.items():
            blocker = QSignalBlocker(combo)
            combo.clear()
            combo.addItem(tr("None"), "")
            for key in self._columns[role]:
                combo.addItem(key, key)
            if role == "outcome" and not self._columns[role]:
                combo.setItemText(0, tr("No column of numbers"))
            combo.setCurrentIndex(max(0, combo.findData((self._with[role] or [""])[0])))
            blocker.unblock()
        for role, made in self.buttons.items():
            keys = self._with[role]
            text = ", ".join(keys) if len(keys) <= 2 else f"{counted(len(keys), 'column')}"
            made.setText(tr(text or "Choose…"))
            made.setEnabled(bool(self._columns[role]))
        self.setVisible(any(self._columns.values()))

    def _picked(self, role: str) -> None:
        key = str(self.combos[role].currentData() or "")
        self.chosen.emit(role, [key] if key else [])

    def open_menu(self, role: str) -> QMenu:
        """A menu of the columns with a check mark for each that has the role."""
        menu = QMenu(self)
        for key in self._columns[role]:
            action = menu.addAction(key)
            action.setCheckable(True)
            action.setChecked(key in self._with[role])
            action.toggled.connect(lambda on, key=key: self._toggled(role, key, on))
        menu.aboutToHide.connect(menu.deleteLater)
        made = self.buttons[role]
        menu.popup(made.mapToGlobal(made.rect().bottomLeft()))
        return menu

    def _toggled(self, role: str, key: str, on: bool) -> None:
        before = self._with[role]
        self.chosen.emit(role, [*before, key] if on else [item for item in before if item != key])
