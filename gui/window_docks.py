"""The docks of the window: left the session, right the side panel of the page in front, bottom the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QStackedWidget, QWidget

from plaidwork.gui.widgets import DockHeader, tool_button
from plaidwork.gui.window_bars import make_dock

if TYPE_CHECKING:
    from plaidwork.gui.main_window import MainWindow
    from plaidwork.gui.page import Page

_WIDE, _NARROW = 1360, 1100
_LEFT, _RIGHT, _BOTTOM = (
    Qt.DockWidgetArea.LeftDockWidgetArea,
    Qt.DockWidgetArea.RightDockWidgetArea,
    Qt.DockWidgetArea.BottomDockWidgetArea,
)


class WindowDocks:
    """Makes the docks of a window, and gives them their room.

    Attributes
    ----------
    session, side, log : the docks
    side_stack : the side panels that were shown, the one of the page in front on top
    """

    def __init__(self, window: MainWindow) -> None:
        self._window, self._room, self._asked = window, "", False
        add = tool_button("plus", "Import data", window.actions_by_key["import_data"].trigger)
        self.session = make_dock(window, "Session", window.tree, _LEFT, [add])
        self.side_stack = QStackedWidget()
        self.side = make_dock(window, "Selection", self.side_stack, _RIGHT)
        self._side_header = DockHeader("Selection")
        self.side.setTitleBarWidget(self._side_header)
        self.log = make_dock(window, "Log", window.log, _BOTTOM)
        self.log.setTitleBarWidget(QWidget())
        window.setCorner(Qt.Corner.BottomLeftCorner, _LEFT)
        window.setCorner(Qt.Corner.BottomRightCorner, _RIGHT)
        for key, dock in (("show_session", self.session), ("show_side", self.side), ("show_log", self.log)):
            dock.visibilityChanged.connect(window.actions_by_key[key].setChecked)

    def reset(self) -> None:
        """All back in their places and sizes."""
        for dock, area in ((self.session, _LEFT), (self.side, _RIGHT), (self.log, _BOTTOM)):
            dock.setFloating(False)
            self._window.addDockWidget(area, dock)
        self._window.resizeDocks([self.log], [160], Qt.Orientation.Vertical)
        self.session.setVisible(self._window.is_working)
        self.log.hide()
        self._room = ""
        self.adapt()

    def adapt(self) -> None:
        """Narrower docks in a narrow window; in the narrowest the side panel waits for its command."""
        width = self._window.width()
        room = "wide" if width >= _WIDE else "narrow" if width >= _NARROW else "tight"
        if room == self._room:
            return
        self._room, self._asked = room, False
        left, right = {"wide": (230, 350), "narrow": (200, 344), "tight": (190, 300)}[room]
        self._window.resizeDocks([self.session, self.side], [left, right], Qt.Orientation.Horizontal)
        self._show_side()

    def hide(self) -> None:
        """Hide all of them."""
        for dock in (self.session, self.side, self.log):
            dock.hide()

    # -- the side panel -------------------------------------------------------------------------
    def follow(self, page: Page | None) -> None:
        """Show the side panel of the page in front."""
        panel = page.side_panel() if page is not None else None
        if page is not None and panel is not None:
            if self.side_stack.indexOf(panel) < 0:
                self.side_stack.addWidget(panel)
                page.adopt_panel(panel)
            self.side_stack.setCurrentWidget(panel)
            self._side_header.set_title(panel.windowTitle() or "Selection")
        self._show_side()

    def ask_side(self, shown: bool) -> None:
        """Show the side panel, also where there is little room for it, or hide it."""
        self._asked = shown
        self.side.setVisible(shown)
        self._offer_side()

    def _show_side(self) -> None:
        room = self._room != "tight" or self._asked
        self.side.setVisible(self._window.is_working and self._has_panel and room)
        self._offer_side()

    def _offer_side(self) -> None:
        """A button beside the tabs leads to the side panel of the page while that is hidden."""
        hidden = self._has_panel and self.side.isHidden()
        self._window.workspace.offer_panel(self._side_header.title if hidden else "")

    @property
    def _has_panel(self) -> bool:
        page = self._window.workspace.current_page()
        return page is not None and page.side_panel() is not None
