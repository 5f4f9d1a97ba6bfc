"""What the tour says, what it points at, and what it can do for the user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from plaidwork.gui.session_tree import NEW

if TYPE_CHECKING:
    from plaidwork.gui.main_window import MainWindow

OPEN, BACK, START = WORDS = ("Open the first example", "Show the welcome page", "Start fit")
"""What can be done for the user."""
Deed = tuple[str, Callable[[], object]]
"""Words of a button, and what it does."""


@dataclass(frozen=True, slots=True)
class TourStep:
    """One step: ``target`` is what is pointed at, or None while it is not there, which ``away`` explains; ``deed`` is what can be
    done for the user now."""

    title: str
    text: str
    away: str
    target: Callable[[MainWindow], QWidget | None]
    deed: Callable[[MainWindow], Deed | None]


def _welcome(window: MainWindow) -> bool:
    return window.centre.currentWidget() is window.welcome


def _setting_up(window: MainWindow) -> bool:
    return not _welcome(window) and window.tree.current()[0] == NEW and window.setup_page is not None


def place(window: MainWindow) -> int | None:
    """The step that belongs to what is in front: examples, set-up, a fit under way, results; None for anything else."""
    run = window.current_run()
    if _welcome(window):
        return 0
    if _setting_up(window):
        return 1
    if run is None:
        return None
    return 3 if run.results and not window.workbench.phase(run) else 2


def _open_first(window: MainWindow) -> Deed | None:
    samples = window.welcome.examples
    if not samples:
        return None
    return OPEN, lambda: window.commands.open_example(samples[0])


def _to_examples(window: MainWindow) -> Deed | None:
    if _welcome(window):
        return _open_first(window)
    return BACK, window.commands.welcome


def _to_set_up(window: MainWindow) -> Deed | None:
    return _open_first(window) if _welcome(window) else None


def _start(window: MainWindow) -> Deed | None:
    page = window.setup_page
    if page is None or not _setting_up(window) or not page.foot.start.isEnabled():
        return None
    return START, window.commands.start


def _running(window: MainWindow) -> QWidget | None:
    page = window.setup_page
    if _setting_up(window) and page is not None:
        return page.foot.start
    return window.workspace.stack if place(window) == 2 else None


STEPS = (
    TourStep(
        "Choose an example",
        "Each card holds data and a model that suits them, ready to fit: click one. Your own tables are imported at the right, "
        "or dropped anywhere on this window.",
        "The examples are on the welcome page.",
        lambda window: window.welcome.cards if _welcome(window) else None,
        _to_examples,
    ),
    TourStep(
        "Set up the fit",
        "This page names the model and the data that go into it; every setting has its meaning below it. An example is set up already, "
        "and its settings may stay as they are.",
        "The page comes up when an example is opened, or with New fit when there are data.",
        lambda window: window.setup_page if _setting_up(window) else None,
        _to_set_up,
    ),
    TourStep(
        "Start, and watch the chains",
        "Start fit begins the chains. The tab Live then shows each of them, how far it is from having settled, and how long that will still take. "
        "Nothing waits meanwhile: look around, pause or stop.",
        "The button is at the foot of the set-up page.",
        _running,
        _start,
    ),
    TourStep(
        "Look at what was found",
        "Each tab is one view of the result. Diagnostics, the tab with a target, says whether the chains agree: read it before you believe a picture. "
        "What you click in a picture is selected in all views.",
        "The views come as soon as a fit has results.",
        lambda window: window.workspace.tabs if place(window) == 3 else None,
        lambda window: None,
    ),
    TourStep(
        "Keep it, and show it to others",
        "Save puts data, settings, draws and results into one file. The File menu also exports the picture in front, and writes a report that "
        "is read without the program. Help has this tour and the documentation.",
        "",
        lambda window: window.header.tools["save"],
        lambda window: None,
    ),
)
