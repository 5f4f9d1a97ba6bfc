"""Commands, menus, header, message bar and docks of the window."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence, QShortcut
from PySide6.QtWidgets import QDockWidget, QMenu, QStyle, QToolBar, QWidget

from plaidwork.core.quoting import guards_tables
from plaidwork.gui.actions import ACTIONS, MENUS, RECENT, SEPARATOR, TOOLBAR
from plaidwork.gui.header import Header
from plaidwork.gui.icons import icon
from plaidwork.gui.language import tr
from plaidwork.gui.theme import theme
from plaidwork.gui.widgets import DockHeader, MessageBar
from plaidwork.gui.widgets.layouts import vertical

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plaidwork.gui.main_window import MainWindow


def room_on(screen: QSize, style: QStyle) -> QSize:
    """The most that a window may take of a screen without its title bar or its foot going beyond the edge."""
    edge = style.pixelMetric(QStyle.PixelMetric.PM_MdiSubWindowFrameWidth)
    return screen - QSize(2 * edge, style.pixelMetric(QStyle.PixelMetric.PM_TitleBarHeight) + 2 * edge)


def make_actions(window: MainWindow) -> None:
    """Give the window its commands, with their keys and tool tips, by key in ``actions_by_key``."""
    for key, info in ACTIONS.items():
        action = QAction(tr(info.text), window)
        action.setObjectName(key)
        action.setData(info.icon)
        if info.icon:
            action.setIcon(icon(info.icon))
        if info.shortcut:
            action.setShortcut(QKeySequence(info.shortcut))
        shown = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        action.setToolTip(
            " ".join(part for part in (tr(info.tip or info.text), f"({shown})" if shown else "") if part)
        )
        action.setCheckable(info.checkable)
        action.triggered.connect(getattr(window.commands, key))
        window.addAction(action)
        window.actions_by_key[key] = action
    # elsewhere the key deletes what is written or chosen there
    window.actions_by_key["remove"].setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
    group = QActionGroup(window)
    for key in ("light", "dark", "follow_system"):
        group.addAction(window.actions_by_key[key])
    mode = {"light": "light", "dark": "dark"}.get(theme().mode, "follow_system")
    window.actions_by_key[mode].setChecked(True)
    languages = QActionGroup(window)
    for key in ("english", "german", "system_language"):
        languages.addAction(window.actions_by_key[key])
    kept = {"en": "english", "de": "german"}.get(window.settings.text("language"), "system_language")
    window.actions_by_key[kept].setChecked(True)
    window.actions_by_key["guard_tables"].setChecked(guards_tables())
    window.actions_by_key["high_contrast"].setChecked(theme().high_contrast)
    QShortcut(QKeySequence("F10"), window).activated.connect(partial(_open_menus, window))
    for number in range(1, 10):
        shortcut = QShortcut(QKeySequence(f"Ctrl+{number}"), window)
        shortcut.activated.connect(lambda index=number - 1: window.workspace.tabs.setCurrentIndex(index))


def make_bars(window: MainWindow, buttons: Sequence[tuple[str, str]]) -> None:
    """Give the window its menus, its ``header`` with these buttons (command, kind) and its ``messages``."""
    taken: set[str] = set()
    for title, keys in MENUS.items():
        menu = window.menuBar().addMenu(_with_key(tr(title), taken))
        for key in keys:
            if key == SEPARATOR:
                menu.addSeparator()
            elif key == RECENT:
                recent = QMenu(tr("Open recent"), window)
                recent.aboutToShow.connect(partial(_fill_recent, window, recent))
                menu.addMenu(recent)
            else:
                menu.addAction(window.actions_by_key[key])
    window.header = Header(
        [window.actions_by_key[key] for key in TOOLBAR],
        [(window.actions_by_key[key], kind) for key, kind in buttons],
    )
    window.header.find_command.connect(window.commands.commands)
    window.header_bar = fixed_bar(window, "Header", window.header)
    window.addToolBarBreak()
    window.messages = MessageBar()
    # a tool bar decides itself whether its widgets show, so the bar, which hides while empty, needs a holder
    holder = QWidget()
    vertical(window.messages, on=holder)
    window.messages.fits.connect(holder.setFixedHeight)
    bar = fixed_bar(window, "Messages", holder)
    window.messages.emptied.connect(bar.hide)
    window.messages.shown.connect(lambda *_: bar.show())
    bar.hide()


def _with_key(title: str, taken: set[str]) -> str:
    """The title with the letter marked that opens it with Alt, the first one that no other title has taken."""
    at = next((k for k, letter in enumerate(title) if letter.isalpha() and letter.lower() not in taken), 0)
    taken.add(title[at].lower())
    return f"{title[:at]}&{title[at:]}"


def _open_menus(window: MainWindow) -> None:
    """Open the first menu, from where the arrow keys lead to all of them."""
    bar = window.menuBar()
    bar.setFocus(Qt.FocusReason.MenuBarFocusReason)
    bar.setActiveAction(bar.actions()[0])


def fixed_bar(
    window: MainWindow,
    name: str,
    widget: QWidget,
    area: Qt.ToolBarArea = Qt.ToolBarArea.TopToolBarArea,
) -> QToolBar:
    """Put a widget across the window, where it stays."""
    bar = QToolBar(tr(name), window)
    bar.setObjectName(name)
    bar.setMovable(False)
    bar.setFloatable(False)
    bar.toggleViewAction().setVisible(False)
    bar.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
    bar.addWidget(widget)
    window.addToolBar(area, bar)
    return bar


def _fill_recent(window: MainWindow, menu: QMenu) -> None:
    menu.clear()
    for entry in window.settings.recent():
        path = Path(entry["path"])
        action = menu.addAction(path.name, partial(window.commands.open_path, path))
        action.setToolTip(str(path))
    if menu.isEmpty():
        menu.addAction(tr("No recent sessions")).setEnabled(False)


def make_dock(
    window: MainWindow,
    name: str,
    widget: QWidget,
    area: Qt.DockWidgetArea,
    buttons: list[QWidget] | None = None,
) -> QDockWidget:
    """Put a widget into a dock of the window, under a head with buttons."""
    dock = QDockWidget(tr(name), window)
    dock.setObjectName(name)
    dock.setWidget(widget)
    dock.setTitleBarWidget(DockHeader(name, buttons or []))
    dock.setFeatures(
        QDockWidget.DockWidgetFeature.DockWidgetMovable | QDockWidget.DockWidgetFeature.DockWidgetClosable
    )
    dock.setBackgroundRole(dock.backgroundRole().Window)
    window.addDockWidget(area, dock)
    return dock
