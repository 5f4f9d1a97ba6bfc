"""The centre of the window: a row of tabs over pages that are made when they are first shown."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QMenu, QStackedWidget, QTabBar, QWidget

from plaidwork.gui.icons import icon
from plaidwork.gui.language import tr
from plaidwork.gui.page import Page, PanePage
from plaidwork.gui.priority import PRIORITY
from plaidwork.gui.theme import size, space
from plaidwork.gui.widgets import MessageBar, StatePane, button
from plaidwork.gui.widgets.layouts import horizontal, vertical

_MORE = "{} more"


@dataclass(frozen=True)
class PageInfo:
    """A tab: ``key`` is remembered, ``make`` builds the page when it is first shown; a ``common`` one is the same for
    every item of its kind, so that its icon says enough where there is little room; a ``kept`` one belongs to who made
    it, and outlives its tab.
    """

    key: str
    title: str
    icon: str
    make: Callable[[], Page]
    common: bool = False
    kept: bool = False


class _Tabs(QTabBar):
    """Tabs that may be dragged; those that do not fit are hidden by the workspace, so any width will do."""

    def __init__(self) -> None:
        super().__init__()
        self.setDrawBase(False)
        self.setExpanding(False)
        self.setMovable(True)
        self.setUsesScrollButtons(False)
        self.setElideMode(Qt.TextElideMode.ElideNone)
        self.setAccessibleName(tr("Views"))

    def scroll_back(self) -> None:
        """What is shown fits: nothing stays scrolled away at the left, where Qt may have put it while all were shown."""
        self.resizeEvent(QResizeEvent(self.size(), self.size()))

    def minimumSizeHint(self) -> QSize:
        """Narrow: what does not fit is in the menu beside."""
        return QSize(size.HIT, super().minimumSizeHint().height())


class Workspace(QWidget):
    """Tabs and pages; tabs for which there is no room wait in a menu beside them.

    Signals
    -------
    page_made : a page was made, and is not yet in front
    page_changed : follows every change of the page in front
    menu_requested : key of a tab that was clicked with the right button, and where on the screen
    panel_requested : the button for the side panel was clicked, which stands here while the panel has no room
    """

    page_made = Signal(Page)
    page_changed = Signal()
    panel_requested = Signal()
    menu_requested = Signal(str, QPoint)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._infos: list[PageInfo] = []
        self._pages: dict[str, Page] = {}
        self._marked: set[str] = set()
        self.tabs = _Tabs()
        self.more = button("", self._show_more, kind="quiet")
        self.more.setAccessibleName(tr("Further views"))
        self.more.hide()
        self.panel_button = button("Selection", self.panel_requested.emit, kind="quiet", icon_name="list")
        self.panel_button.hide()
        self.stack = QStackedWidget()
        head = QWidget()
        parts = ((self.tabs, 1), self.more, self.panel_button)
        horizontal(*parts, on=head, spacing=space.XS, margins=(space.S, 0, space.S, 0))
        self.banner = MessageBar(closable=False)
        vertical(head, self.banner, (self.stack, 1), on=self, spacing=0)
        self.setBackgroundRole(self.backgroundRole().Base)
        self.setAutoFillBackground(True)
        self.tabs.currentChanged.connect(self._show)
        self.tabs.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.tabs.customContextMenuRequested.connect(self._ask_menu)
        self.tabs.tabMoved.connect(lambda old, new: self._infos.insert(new, self._infos.pop(old)))

    def set_pages(self, infos: Sequence[PageInfo], current: str = "") -> None:
        """Show these tabs; pages whose key stays are kept with all that is selected in them."""
        keys = [info.key for info in infos]
        if keys == [info.key for info in self._infos]:
            self.go_to(current)
            return
        before = current or self.current_key()
        kept = {info.key for info in self._infos if info.kept}
        for key in [key for key in self._pages if key not in keys]:
            page = self._pages.pop(key)
            self.stack.removeWidget(page)
            if key not in kept:
                page.deleteLater()
        self.tabs.blockSignals(True)
        while self.tabs.count():
            self.tabs.removeTab(0)
        self._infos = list(infos)
        for info in infos:
            self.tabs.addTab(icon(info.icon), tr(info.title))
        self._fit_tabs()
        if infos:
            self.tabs.setCurrentIndex(keys.index(before) if before in keys else 0)
        self.tabs.blockSignals(False)
        self._show(self.tabs.currentIndex())

    def clear(self) -> None:
        """No tabs, no pages."""
        self.set_pages([])

    def tab_keys(self) -> list[str]:
        """Keys of all tabs, in their order."""
        return [info.key for info in self._infos]

    def current_key(self) -> str:
        """Key of the tab in front, or empty."""
        index = self.tabs.currentIndex()
        return self._infos[index].key if 0 <= index < len(self._infos) else ""

    def current_title(self) -> str:
        """Title of the tab in front, or empty."""
        index = self.tabs.currentIndex()
        return self._infos[index].title if 0 <= index < len(self._infos) else ""

    def current_page(self) -> Page | None:
        """The page in front."""
        return self._pages.get(self.current_key())

    def page(self, key: str) -> Page | None:
        """A page that was already made."""
        return self._pages.get(key)

    def go_to(self, key: str) -> None:
        """Bring the tab with this key to the front, if there is one."""
        keys = [info.key for info in self._infos]
        if key in keys:
            self.tabs.setCurrentIndex(keys.index(key))

    def step(self, by: int) -> None:
        """Go ``by`` tabs to the right, around the end."""
        if self._infos:
            self.tabs.setCurrentIndex((self.tabs.currentIndex() + by) % len(self._infos))

    def rename(self, key: str, title: str) -> None:
        """Give a tab another title."""
        for index, info in enumerate(self._infos):
            if info.key == key and info.title != title:
                self._infos[index] = replace(info, title=title)
                self._fit_tabs()

    def mark(self, key: str, marked: bool) -> None:
        """Put a dot on a tab whose content is new."""
        if marked != (key in self._marked):
            self._marked ^= {key}
            self._fit_tabs()

    def offer_panel(self, title: str) -> None:
        """Show a button for the side panel of this title; none when the title is empty."""
        if title == self.panel_button.text() and bool(title) != self.panel_button.isHidden():
            return
        self.panel_button.setText(tr(title))
        self.panel_button.setVisible(bool(title))
        self._fit_tabs()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_tabs()

    def _widths(self, short: bool) -> list[int]:
        """Show all tabs, with the icons of common ones alone if ``short``; the width of each."""
        tabs = self.tabs
        for index, info in enumerate(self._infos):
            title = tr(info.title)
            shown = f"{title} •" if info.key in self._marked else title
            text = "" if short and info.common else shown
            if tabs.tabText(index) != text:  # each change lays all tabs out anew, a millisecond
                tabs.setTabText(index, text)
            if tabs.tabToolTip(index) != title:
                tabs.setTabToolTip(index, title)
                tabs.setAccessibleTabName(index, title)
            if not tabs.isTabVisible(index):
                tabs.setTabVisible(index, True)
        return [tabs.tabRect(index).width() for index in range(tabs.count())]

    def _fit_tabs(self) -> None:
        """Icons alone for common tabs when all do not fit, then the last ones into the menu; never the one in front."""
        tabs = self.tabs
        room = self.width() - 2 * space.S
        if not self.panel_button.isHidden():
            room -= self.panel_button.sizeHint().width() + space.XS
        widths = self._widths(short=False)
        if sum(widths) > room:
            widths = self._widths(short=True)
        over = sum(widths) > room
        if over:
            self.more.setText(tr(_MORE.format(tabs.count())))
            room -= self.more.sizeHint().width() + space.XS
        room -= widths[tabs.currentIndex()] if over and tabs.currentIndex() >= 0 else 0
        hidden = 0
        for index, width in enumerate(widths):
            if over and index != tabs.currentIndex():
                room = room - width if room >= width else -1  # none behind one that is hidden
                tabs.setTabVisible(index, room >= 0)
                hidden += room < 0
        self.more.setText(tr(_MORE.format(hidden)))
        self.more.setVisible(bool(hidden))
        tabs.updateGeometry()  # Qt does not while they are not seen: the row would stay as low as without tabs
        tabs.scroll_back()

    def _ask_menu(self, point: QPoint) -> None:
        index = self.tabs.tabAt(point)
        if index >= 0:
            self.menu_requested.emit(self._infos[index].key, self.tabs.mapToGlobal(point))

    def _show_more(self) -> None:
        menu = QMenu(self)
        for index, info in enumerate(self._infos):
            if not self.tabs.isTabVisible(index):
                menu.addAction(icon(info.icon), tr(info.title), partial(self.tabs.setCurrentIndex, index))
        menu.exec(self.more.mapToGlobal(self.more.rect().bottomLeft()))
        menu.deleteLater()

    def _show(self, index: int) -> None:
        if not 0 <= index < len(self._infos):
            self.page_changed.emit()
            return
        PRIORITY.hold()
        if not self.tabs.isTabVisible(index):
            self._fit_tabs()
        info = self._infos[index]
        self.mark(info.key, False)
        if info.key not in self._pages:
            page = self._pages[info.key] = _made(info)
            known = self.stack.isAncestorOf(page)
            self.stack.addWidget(page)
            if not known:
                self.page_made.emit(page)
        self.stack.setCurrentWidget(self._pages[info.key])
        self.page_changed.emit()


def _made(info: PageInfo) -> Page:
    """The page, or a pane that says why it could not be made; the other pages are not affected."""
    try:
        return info.make()
    except Exception as error:
        details = traceback.format_exc()
        pane = StatePane(
            "error",
            f"“{info.title}” could not be shown",
            f"{error}. Other views are not affected.",
            icon_color="error",
        )
        pane.setToolTip(tr(details))
        return PanePage(pane)
