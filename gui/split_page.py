"""Two views beside each other, of one run or of two; the commands go to the one that has the focus."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QSplitter, QWidget

from plaidwork.gui.page import FrontPage, Page
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Label
from plaidwork.gui.widgets.layouts import vertical, with_margins


class SplitPage(FrontPage):
    """``parts`` are titles with who makes the page."""

    def __init__(
        self, parts: Sequence[tuple[str, Callable[[], Page]]], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setChildrenCollapsible(False)
        self.pages: list[Page] = []
        for title, make in parts:
            page = make()
            page.hovered.connect(self.hovered)
            page.run_opened.connect(self.run_opened)
            page.methods_asked.connect(self.methods_asked)
            page.panel_changed.connect(lambda page=page: self._told(page))
            holder = QWidget()
            edges = (space.VIEW_EDGE, space.M, space.VIEW_EDGE, 0)
            head = with_margins(Label(title, "strong", "muted", elide=True), edges)
            vertical(head, (page, 1), on=holder, spacing=0)
            self.splitter.addWidget(holder)
            self.pages.append(page)
        self.splitter.setSizes([1000] * len(parts))
        vertical(self.splitter, on=self)
        self._front = self.pages[0]
        QApplication.instance().focusChanged.connect(self._on_focus)

    @property
    def front(self) -> Page:
        """The page that had the focus last."""
        return self._front

    def _on_focus(self, before: QWidget | None, now: QWidget | None) -> None:
        for page in self.pages:
            if now is not None and page is not self._front and page.isAncestorOf(now):
                self._front = page
                self.panel_changed.emit()

    def _told(self, page: Page) -> None:
        if page is self._front:
            self.panel_changed.emit()

    def side_panel(self) -> QWidget | None:
        """What the page in front shows in the right dock."""
        return self.front.side_panel()

    def adopt_panel(self, panel: QWidget) -> None:
        """Keep what is chosen in the panel of the page in front."""
        self.front.adopt_panel(panel)

    def tick(self) -> None:
        """Show what is new in both."""
        for page in self.pages:
            page.tick()

    def set_held(self, held: bool) -> None:
        """Hold or draw both."""
        for page in self.pages:
            page.set_held(held)

    def found_item(self) -> tuple[str, int] | None:
        """What is chosen in the page in front and can be given a name."""
        return self.front.found_item()

    def rename_item(self) -> None:
        """Give what is chosen in the page in front a name."""
        self.front.rename_item()
