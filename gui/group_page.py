"""Several views in one tab, chosen by their titles; each is made when it is first chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtWidgets import QStackedWidget, QWidget

from plaidwork.gui.page import FrontPage, Page
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import SegmentedControl
from plaidwork.gui.widgets.layouts import STRETCH, horizontal, vertical


class GroupPage(FrontPage):
    """A row of choices above the chosen view; commands and the right dock follow the view in front.

    It opens on ``first``, else on the first one. The choice is kept in ``kept``, and ``noted`` is called when it changes.
    """

    def __init__(
        self,
        views: Sequence[tuple[str, Callable[[], Page]]],
        kept: dict[str, Any] | None = None,
        noted: Callable[[], object] = lambda: None,
        parent: QWidget | None = None,
        *,
        first: str = "",
    ) -> None:
        super().__init__(parent)
        self._kept, self._noted = {} if kept is None else kept, noted
        self._makers = dict(views)
        self._pages: dict[str, Page] = {}
        self.choice = SegmentedControl([title for title, _ in views])
        self.choice.changed.connect(self.show_view)
        self._stack = QStackedWidget()
        row = horizontal(self.choice, STRETCH, margins=(space.VIEW_EDGE, space.M, space.VIEW_EDGE, 0))
        vertical(row, (self._stack, 1), on=self, spacing=0)
        before = self._kept.get("view")
        wanted = [title for title in (before, first, views[0][0]) if title in self._makers]
        self.show_view(wanted[0])
        self.choice.changed.connect(self._keep)

    def _keep(self, title: str) -> None:
        self._kept["view"] = title
        self._noted()

    @property
    def front(self) -> Page:
        """The view in front."""
        return self._pages[self.choice.current]

    def show_view(self, title: str) -> None:
        """Bring the view of this title to the front."""
        if title not in self._pages:
            page = self._makers[title]()
            page.hovered.connect(self.hovered)
            page.panel_changed.connect(lambda: self._tell_panel(page))
            self._pages[title] = page
            self._stack.addWidget(page)
        self._stack.setCurrentWidget(self._pages[title])
        self.choice.set_current(title)
        self.panel_changed.emit()

    def _tell_panel(self, page: Page) -> None:
        if page is self.front:
            self.panel_changed.emit()

    def side_panel(self) -> QWidget | None:
        """What the view in front shows in the right dock."""
        return self.front.side_panel()

    def adopt_panel(self, panel: QWidget) -> None:
        """Keep what is chosen in the panel of the view in front."""
        self.front.adopt_panel(panel)

    def found_item(self) -> tuple[str, int] | None:
        """What is chosen in the view in front and can be given a name."""
        return self.front.found_item()

    def rename_item(self) -> None:
        """Give what is chosen in the view in front a name."""
        self.front.rename_item()
