"""What stands in a tab, and what the window may ask of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from PySide6.QtCore import Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from plaidwork.gui.widgets import StatePane
from plaidwork.gui.widgets.layouts import vertical

if TYPE_CHECKING:
    from plaidwork.gui.pictures.paper_dialog import PaperDialog

Offer = Literal["export_picture", "show_data", "find_in_page"]
"""Commands that are dimmed while the page in front does not offer them."""


class Page(QWidget):
    """Base of all that stands in a tab: the window asks for nothing else than what is declared here.

    A page overrides what it can do and leaves the rest; what stands in ``offers`` it does override.

    Signals
    -------
    hovered : what is under the pointer, for the status bar; empty when nothing is
    panel_changed : the page has another side panel now
    run_opened : id of a run that the window is to bring to the front
    methods_asked : id of a run of which to tell what to write in the paper
    """

    hovered = Signal(str)
    panel_changed = Signal()
    run_opened = Signal(str)
    methods_asked = Signal(str)

    offers: ClassVar[frozenset[Offer]] = frozenset()

    # -- beside the page ------------------------------------------------------------------------
    def side_panel(self) -> QWidget | None:
        """What the window shows in its right dock while this page is in front, titled by its ``windowTitle``."""
        return None

    def adopt_panel(self, panel: QWidget) -> None:
        """Called once the side panel is in its dock."""

    # -- while a fit runs -----------------------------------------------------------------------
    def tick(self) -> None:
        """Show what is new of the run; called ten times a second while the page is in front and the run goes on."""

    def set_held(self, held: bool) -> None:
        """Stop drawing what is new (the fit goes on), or draw again."""

    # -- commands -------------------------------------------------------------------------------
    def export_picture(self, path: Path) -> Path | None:
        """Write the picture; the file written, or None when there is no picture. ``OSError``, ``ValueError``."""
        return None

    def export_dialog(self, proposed: Path) -> PaperDialog | None:
        """Asks how the picture is to be written; None where there is nothing to choose but the file.

        ``proposed`` is the name of the file without its suffix.
        """
        return None

    def picture_image(self) -> QImage | None:
        """The picture as it is copied; None when there is no picture."""
        return None

    def show_data(self) -> QWidget | None:
        """The numbers behind the picture; their window, when they are shown in one."""
        return None

    def find_in_page(self) -> None:
        """Begin to search in the page."""

    def found_item(self) -> tuple[str, int] | None:
        """Dim and number of what is chosen in the page and can be given a name."""
        return None

    def rename_item(self) -> None:
        """Ask for a name of what is chosen in the page."""

    def note_item(self) -> None:
        """Show the notes on what is chosen in the page, to be read and written."""

    def rename(self) -> None:
        """Ask for a name of what the whole page shows, as a dataset."""

    @property
    def data_in_focus(self) -> Sequence[str] | None:
        """Names of the data that a new fit begins with; None leaves it to what is chosen in the tree."""
        return None


class PanePage(Page):
    """A page that only says something."""

    def __init__(self, pane: StatePane, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.pane = pane
        vertical(pane, on=self)


class FrontPage(Page):
    """A page around others, one of which is in front: the commands on pictures go to that one."""

    offers = frozenset({"export_picture", "show_data", "find_in_page"})

    @property
    def front(self) -> Page | None:
        """The page in front, if there is one."""
        raise NotImplementedError

    def export_picture(self, path: Path) -> Path | None:
        """Write the picture in front."""
        return self.front.export_picture(path) if self.front is not None else None

    def export_dialog(self, proposed: Path) -> PaperDialog | None:
        """Asks how the picture in front is to be written."""
        return self.front.export_dialog(proposed) if self.front is not None else None

    def picture_image(self) -> QImage | None:
        """The picture in front as it is copied."""
        return self.front.picture_image() if self.front is not None else None

    def show_data(self) -> QWidget | None:
        """The numbers behind the picture in front."""
        return self.front.show_data() if self.front is not None else None

    def note_item(self) -> None:
        """Show the notes on what is chosen in the page in front."""
        if self.front is not None:
            self.front.note_item()

    def find_in_page(self) -> None:
        """Begin to search in the page in front."""
        if self.front is not None:
            self.front.find_in_page()
