"""The pictures of *Start here* and of the guides, from the real program in light and dark: ``python docs/draw_guides.py``.

The window is led through the steps of ``start-here.md``, with the file that the page names. ``--only start`` draws those alone,
``--only guides`` the pictures of results; ``--out DIR`` writes them elsewhere.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from contact_sheet import session_of
from draw_view_kinds import DOCUMENT, png_of

ROOT = DOCUMENT.parent.parent
FOLDER = DOCUMENT.parent / "pictures" / "guides"
SOURCE = ROOT / "resources" / "examples" / "votes" / "votes.csv"
WINDOW, DRAWN, COLOURS = (1120, 700), (720, 440), 128
SCHEMES = ("light", "dark")
GUIDES = {
    "blocks": ("tumour-genes", "Blocks"),
    "omics": ("leukaemia", "Variance explained"),
    "words": ("movie-reviews", "Weights"),
    "raters": ("four-raters", "Offsets"),
    "few-labels": ("two-moons", "Probability map"),
}
"""Example and title of the view by guide."""


def until(ready: Callable[[], Any], seconds: float = 120) -> Any:
    """What ``ready`` gives once it is true, with the window at work meanwhile."""
    from PySide6.QtWidgets import QApplication

    end = time.monotonic() + seconds
    while not (found := ready()):
        if time.monotonic() > end:
            raise SystemExit("The window did not come to the next step.")
        QApplication.processEvents()
        time.sleep(0.01)
    return found


def rest(seconds: float = 1.5) -> None:
    """Let the window come to rest."""
    end = time.monotonic() + seconds
    until(lambda: time.monotonic() > end)


class Walk:
    """The steps of ``start-here.md`` in a window, a picture in each colour scheme after every step."""

    def __init__(self, folder: Path) -> None:
        from plaidwork.core.plugins.registry import registry
        from plaidwork.gui.app import make_window
        from plaidwork.gui.settings import Settings
        from plaidwork.gui.workbench import Workbench

        self.folder = folder
        self.window = make_window(Settings(Path(tempfile.mkdtemp())), Workbench(registry()))
        self.window.resize(*WINDOW)
        self.window.show()

    def keep(self, name: str, widget: Any = None) -> None:
        """A picture of the window, or of the dialog, in light and dark."""
        from plaidwork.gui.theme import theme

        for scheme in SCHEMES:
            theme().set_mode(scheme)
            rest()
            write(self.folder, f"{name}-{scheme}", (widget or self.window).grab().toImage())
        theme().set_mode("light")

    def take(self) -> None:
        """From the file to the finding."""
        from PySide6.QtCore import QTimer

        window = self.window
        QTimer.singleShot(500, self._import)
        window.commands.import_path(SOURCE)
        until(lambda: window.setup_page)
        rest()
        self.keep("start-setup")
        window.commands.start()
        run = until(lambda: window.current_run())
        until(lambda: run.results and not run.active and window.workbench.verdict(run) is not None)
        rest()
        self.keep("start-live")
        tabs = window.workspace.tabs
        tabs.setCurrentIndex(next(at for at in range(tabs.count()) if tabs.tabText(at).startswith("Scores")))
        self.keep("start-scores")

    def _import(self) -> None:
        """What the dialog is answered, which the window waits for."""
        from PySide6.QtWidgets import QApplication

        from plaidwork.gui.data.import_dialog import ImportDialog

        dialogs = [one for one in QApplication.topLevelWidgets() if isinstance(one, ImportDialog)]
        dialog = next(one for one in dialogs if one.isVisible())
        until(dialog.import_button.isEnabled)
        self.keep("start-import", dialog)
        dialog.import_button.click()


def write(folder: Path, name: str, image: Any) -> None:
    found = png_of(image, COLOURS)
    (folder / f"{name}.png").write_bytes(found)
    print(f"{name:<24}{len(found) / 1000:8.1f} kB")


def draw_results(folder: Path, sessions: Path) -> None:
    """The picture of each guide: a view of its example, fitted in short unless its session lies in ``sessions``."""
    from plaidwork.core.views.printing import drawn_views
    from plaidwork.gui.results.render import render_view

    for guide, (example, title) in GUIDES.items():
        session = session_of(example, sessions)
        run = next(iter(session.runs.values()))
        view = next(one for one in drawn_views(session, run) if one.title == title)
        for scheme in SCHEMES:
            write(folder, f"{guide}-{scheme}", render_view(session, run, view, DRAWN, scheme, 1.0))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=("start", "guides"))
    parser.add_argument("--sessions", type=Path, metavar="DIR")
    parser.add_argument("--out", type=Path, metavar="DIR", default=FOLDER)
    options = parser.parse_args(arguments)
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ["PLAIDWORK_CONFIG"] = tempfile.mkdtemp()  # nobody's own settings
    from plaidwork.gui.results.render import ensure_application

    ensure_application()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.only != "guides":
        Walk(options.out).take()
    if options.only != "start":
        draw_results(options.out, options.sessions or Path(tempfile.mkdtemp()))
    os._exit(0)  # the window is not asked whether it may close


if __name__ == "__main__":
    main()
