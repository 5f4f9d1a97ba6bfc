"""Decisions and small texts: save before closing, how many more draws, names, shortcuts, versions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QLocale, Qt
from PySide6.QtGui import QGuiApplication, QIntValidator, QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QWidget,
)

from plaidwork.core.draws.counting import agree, counted
from plaidwork.gui.actions import ACTIONS, MENUS, RECENT, SEPARATOR
from plaidwork.gui.language import tr
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Label, button, scrolled
from plaidwork.gui.widgets.layouts import STRETCH, grid_layout, horizontal, vertical


class Dialog(QDialog):
    """Headline, one sentence, content, and a row of buttons of which the last is the primary one."""

    def __init__(self, parent: QWidget | None, title: str, text: str = "") -> None:
        super().__init__(parent)
        self.setWindowTitle(tr(title))
        self.chosen = ""
        edge = space.DIALOG_EDGE
        headline = Label(title, "headline", wrap=True)
        headline.setMinimumWidth(380)
        self._layout = vertical(headline, on=self, spacing=space.M, margins=edge)
        if text:
            self._layout.addWidget(Label(text, wrap=True, color="muted"))

    def add(self, widget: QWidget, *, left: bool = False) -> None:
        """Add content below what is there; at the left, it is no wider than it needs."""
        self._layout.addWidget(widget)
        if left:
            self._layout.setAlignment(widget, Qt.AlignmentFlag.AlignLeft)

    def add_buttons(self, choices: Sequence[tuple[str, str]], primary: str, left: str = "") -> None:
        """Buttons (key, text); ``primary`` is the key that Enter chooses, ``left`` stands apart."""
        row = horizontal(STRETCH, spacing=space.S, margins=(0, space.S, 0, 0))
        for key, text in choices:
            made = button(text, partial(self._choose, key), kind="primary" if key == primary else "normal")
            made.setObjectName(key)
            if key == primary:
                made.setDefault(True)
            if key == left:
                row.insertWidget(0, made)
            else:
                row.addWidget(made)
        self._layout.addLayout(row)

    def _choose(self, key: str) -> None:
        self.chosen = key
        if key == "cancel":
            self.reject()
        else:
            self.accept()


def ask(
    parent: QWidget | None,
    title: str,
    text: str,
    choices: Sequence[tuple[str, str]],
    primary: str,
    left: str = "",
) -> str:
    """A decision; returns the key chosen, ``cancel`` when the dialog was closed."""
    dialog = Dialog(parent, title, text)
    dialog.add_buttons(choices, primary, left)
    dialog.exec()
    return dialog.chosen or "cancel"


def ask_to_save(parent: QWidget | None, name: str, running: int, can_stay: int = 0) -> str:
    """``save``, ``discard`` or ``cancel`` before a session with unsaved changes is left; ``leave`` to save it and let fits go on at their
    cluster, where ``can_stay`` of the ``running`` can.
    """
    title, text = f"Save “{name}” before closing it?", "What is not saved is lost when you go on."
    if running:
        text = f"{counted(running, 'fit')} {agree(running, 'is', 'are')} under way and will be stopped; saving keeps what was drawn."
    choices = (("discard", "Discard"), ("cancel", "Cancel"), ("save", "Save"))
    if not can_stay:
        return ask(parent, title, text, choices, "save", "discard")
    if can_stay == running:
        text = f"{counted(running, 'fit')} {agree(running, 'is', 'are')} under way on a cluster, and can go on there while the session is closed, to come back when it is opened on this computer."
    else:
        text = f"{counted(running, 'fit')} are under way, {can_stay} of them on a cluster, where they can go on while the session is closed, to come back when it is opened on this computer. The others are stopped; saving keeps what was drawn."
    more = (("save", "Save and stop"), ("leave", "Save and leave running"))
    return ask(parent, title, text, (*choices[:2], *more), "leave", "discard")


def ask_text(parent: QWidget | None, title: str, text: str, value: str, verb: str) -> str | None:
    """A line of text; None when cancelled."""
    dialog = Dialog(parent, title, text)
    field = QLineEdit(value)
    field.selectAll()
    dialog.add(field)
    dialog.add_buttons((("cancel", "Cancel"), ("go", verb)), "go")
    field.setFocus()
    return field.text() if dialog.exec() == QDialog.DialogCode.Accepted else None


def ask_several(
    parent: QWidget | None, title: str, text: str, entries: Sequence[tuple[str, str]], verb: str
) -> list[str]:
    """Which of these, by key and text; the first one is ticked at first. Empty when cancelled."""
    dialog = Dialog(parent, title, text)
    shown = QListWidget()
    shown.setAccessibleName(tr(title))
    for key, words in entries:
        item = QListWidgetItem(tr(words), shown)
        item.setData(Qt.ItemDataRole.UserRole, key)
        item.setCheckState(Qt.CheckState.Unchecked if shown.count() > 1 else Qt.CheckState.Checked)
    shown.setCurrentRow(0)
    dialog.add(shown)
    dialog.add_buttons((("cancel", "Cancel"), ("go", verb)), "go")
    shown.setFocus()
    if dialog.exec() != QDialog.DialogCode.Accepted:
        return []
    items = map(shown.item, range(shown.count()))
    return [
        item.data(Qt.ItemDataRole.UserRole) for item in items if item.checkState() == Qt.CheckState.Checked
    ]


def ask_draws(parent: QWidget | None, title: str, default: int) -> int | None:
    """How many more draws per chain; None when cancelled."""
    dialog = Dialog(parent, f"Go on with {title}", "How many more draws should each chain keep?")
    field = QLineEdit(str(default))
    validator = QIntValidator(1, 1_000_000)
    validator.setLocale(QLocale.c())
    field.setValidator(validator)
    field.setAccessibleName(tr("More draws per chain"))
    field.selectAll()
    dialog.add(field)
    dialog.add_buttons((("cancel", "Cancel"), ("go", "Resume")), "go")
    field.setFocus()
    if dialog.exec() != QDialog.DialogCode.Accepted or not field.hasAcceptableInput():
        return None
    return int(field.text())


def show_shortcuts(parent: QWidget | None) -> None:
    """All commands that have a shortcut, by menu."""
    dialog = Dialog(parent, "Keyboard shortcuts")
    inner = QWidget()
    grid = grid_layout(on=inner, spacing=(space.HUGE, None), margins=None)
    row = 0
    for menu, keys in MENUS.items():
        infos = [ACTIONS[key] for key in keys if key not in (SEPARATOR, RECENT) and ACTIONS[key].shortcut]
        if not infos:
            continue
        grid.addWidget(Label(menu, "strong"), row, 0)
        for info in infos:
            row += 1
            shown = QKeySequence(info.shortcut).toString(QKeySequence.SequenceFormat.NativeText)
            grid.addWidget(Label(info.text.rstrip("…")), row, 0)
            grid.addWidget(Label(shown, color="muted"), row, 1)
        row += 1
    for text, pressed in (
        ("Step through the blocks", "[  and  ]"),
        ("Leave one level in a picture", "Esc"),
        ("Go to tab 1 to 9", "Ctrl+1 … Ctrl+9"),
        ("Leave the tour; back and on in it", "Esc;  Alt+Left  and  Alt+Right"),
        ("Open the menus", "F10, or Alt and the underlined letter"),
    ):
        row += 1
        grid.addWidget(Label(text), row, 0)
        grid.addWidget(Label(pressed, color="muted"), row, 1)
    scroll = scrolled(inner, sideways=True)
    scroll.setMinimumSize(min(inner.sizeHint().width() + space.XXL, 760), 480)
    dialog.add(scroll)
    dialog.add_buttons((("close", "Close"),), "close")
    dialog.exec()


def _save_text(parent: QWidget, title: str, text: str) -> None:
    from plaidwork.gui.save_path import ask_save_path, proposed_name
    from plaidwork.gui.tasks import run_task

    path = ask_save_path(parent, "Save the text", proposed_name(title, suffix=".txt"), "Text (*.txt)")
    if path is not None:
        run_task(lambda task: path.write_text(text, encoding="utf-8"), failed=partial(_not_saved, path))


def _not_saved(path: Path, error: BaseException, details: str) -> None:
    ask(None, f"{path.name} could not be written", f"{error}.", (("close", "Close"),), "close")


def show_text(parent: QWidget | None, title: str, text: str, lead: str = "", wrapped: bool = False) -> None:
    """A text to read, copy and save, such as versions or the details of an error; ``wrapped``: its lines are paragraphs."""
    dialog = Dialog(parent, title, lead)
    field = QPlainTextEdit(text)
    field.setReadOnly(True)
    field.setAccessibleName(tr(title))
    if not wrapped:
        field.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
    field.setMinimumSize(560, 300)
    dialog.add(field)
    keep = (
        button("Copy", lambda: QGuiApplication.clipboard().setText(text)),
        button("Save…", lambda: _save_text(dialog, title, text)),
    )
    row = QWidget()
    horizontal(*keep, on=row, spacing=space.S)
    dialog.add(row, left=True)
    dialog.add_buttons((("close", "Close"),), "close")
    dialog.exec()
