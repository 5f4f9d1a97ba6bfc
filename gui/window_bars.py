"""Menus, header and message bar of the window."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu, QToolBar, QVBoxLayout, QWidget

from plaidwork.gui.actions import MENUS, RECENT, SEPARATOR, TOOLBAR
from plaidwork.gui.header import Header
from plaidwork.gui.widgets import MessageBar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plaidwork.gui.main_window import MainWindow


def make_bars(window: MainWindow, buttons: Sequence[tuple[str, str]]) -> None:
    """Give the window its menus, its ``header`` with these buttons (command, kind) and its ``messages``."""
    for title, keys in MENUS.items():
        menu = window.menuBar().addMenu(title)
        for key in keys:
            if key == SEPARATOR:
                menu.addSeparator()
            elif key == RECENT:
                recent = QMenu("Open recent", window)
                recent.aboutToShow.connect(partial(_fill_recent, window, recent))
                menu.addMenu(recent)
            else:
                menu.addAction(window.actions_by_key[key])
    window.header = Header(
        [window.actions_by_key[key] for key in TOOLBAR],
        [(window.actions_by_key[key], kind) for key, kind in buttons],
    )
    window.header.find_command.connect(window.commands.commands)
    window.header_bar = _fixed_bar(window, "Header", window.header)
    window.addToolBarBreak()
    window.messages = MessageBar()
    # a tool bar decides itself whether its widgets show, so the bar, which hides while empty, needs a holder
    holder = QWidget()
    inside = QVBoxLayout(holder)
    inside.setContentsMargins(0, 0, 0, 0)
    inside.addWidget(window.messages)
    window.messages.fits.connect(holder.setFixedHeight)
    bar = _fixed_bar(window, "Messages", holder)
    window.messages.emptied.connect(bar.hide)
    window.messages.shown.connect(lambda *_: bar.show())
    bar.hide()


def _fixed_bar(window: MainWindow, name: str, widget: QWidget) -> QToolBar:
    bar = QToolBar(name, window)
    bar.setObjectName(name)
    bar.setMovable(False)
    bar.setFloatable(False)
    bar.toggleViewAction().setVisible(False)
    bar.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
    bar.addWidget(widget)
    window.addToolBar(bar)
    return bar


def _fill_recent(window: MainWindow, menu: QMenu) -> None:
    menu.clear()
    for entry in window.settings.recent():
        path = Path(entry["path"])
        action = menu.addAction(path.name, partial(window.commands.open_path, path))
        action.setToolTip(str(path))
    if menu.isEmpty():
        menu.addAction("No recent sessions").setEnabled(False)
