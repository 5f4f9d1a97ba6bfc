"""Which page of the documentation goes with what is in front, and where it lies on this computer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl

from plaidwork.core.resources import RESOURCES
from plaidwork.gui.run_pages import TRACES
from plaidwork.gui.session_tree import NEW
from plaidwork.gui.workbench import DIAGNOSTICS

if TYPE_CHECKING:
    from plaidwork.gui.main_window import MainWindow

PLACES = ((RESOURCES / "documentation", ".html"), (RESOURCES.parent / "docs", ".md"))
"""The built site, and the pages of a checkout that it is made from, with the endings of their files."""

FIRST = "index"


def topic(window: MainWindow) -> str:
    """The page about what is in front, without its ending; a place in it after ``#``."""
    if window.centre.currentWidget() is window.welcome:
        return "start-here"
    run, setup, study = window.current_run(), window.setup_page, window.current_study()
    if run is not None:
        judged = window.workspace.current_key() in (f"{run.id}/{TRACES}", f"{run.id}/{DIAGNOSTICS}")
        return "diagnostics" if judged else f"models/{run.spec.id}"
    if setup is not None and window.tree.current()[0] == NEW:
        return f"models/{setup.spec.id}" if setup.spec is not None else "models/index"
    if study is not None:
        return "solutions#log-density-of-what-a-fit-has-not-seen"
    return "command-line#reading-tables" if window.current_dataset() else FIRST


def address(name: str, places: tuple[tuple[Path, str], ...] = PLACES) -> QUrl | None:
    """Where the page is, or the first page when there is none of that name; None where no pages came along."""
    page, _, within = name.partition("#")
    for folder, ending in places:
        for one, fragment in ((page, within), (FIRST, "")):
            path = folder / f"{one}{ending}"
            if path.is_file():
                found = QUrl.fromLocalFile(str(path))
                if fragment:
                    found.setFragment(fragment)
                return found
    return None
