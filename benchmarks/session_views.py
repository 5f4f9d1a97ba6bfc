"""How soon a large session is seen in the window: ``python benchmarks/session_views.py [GB] [FOLDER]``.

A matrix of so many bytes and a short fit of all of it are saved, opened in a window (offscreen, 1280 by 800), and every item and tab is
gone to once, right after the window has opened the file anew: seconds until something of the values is seen, and until nothing more is
computed. The cache of files is warm.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.session.fitting import fit
from plaidwork.core.session.session import Session

COLUMNS = 2000


def save_large(size: float, path: Path) -> None:
    """A session with a matrix of about so many bytes, and a fit of a few sweeps."""
    rng = np.random.default_rng(1)
    rows = max(20, round(size / 8 / COLUMNS))
    values = rng.normal(size=(rows, COLUMNS))
    values[: rows // 5, : COLUMNS // 5] += 2.0
    session = Session("large")
    names = tuple(f"r{n}" for n in range(rows)), tuple(f"c{n}" for n in range(COLUMNS))
    data = session.add_dataset(Dataset("data", values, *names))
    fit("bayesian_plaid", {"X": data}, chains=1, warmup=1, draws=2, session=session, executor="inline")
    session.save(path)


class Watched:
    """A window on the file, opened anew, and how long it takes to show things."""

    def __init__(self, path: Path, folder: Path) -> None:
        from PySide6.QtWidgets import QApplication

        from plaidwork.core.plugins.registry import registry
        from plaidwork.gui.main_window import MainWindow
        from plaidwork.gui.settings import Settings
        from plaidwork.gui.workbench import Workbench

        self.app = QApplication.instance() or QApplication([])
        self.window = MainWindow(Workbench(registry()), Settings(folder / "config"))
        self.window.resize(1280, 800)
        self.window.show()
        self.path, self._opened = path, False

    def until(self, condition: Callable[[], bool], start: float, most: float = 120.0) -> float:
        while not condition() and time.perf_counter() - start < most:
            self.app.processEvents()
            time.sleep(0.002)
        return time.perf_counter() - start

    def open(self) -> float:
        """Seconds until the tree has the items of the file."""
        from plaidwork.core.session.session import Session

        workbench = self.window.workbench
        workbench.set_session(Session())
        self.rest(time.perf_counter())
        start = time.perf_counter()
        self.window.commands.open_path(self.path)
        return self.until(lambda: "data" in workbench.session.datasets, start)

    def rest(self, start: float) -> float:
        """Seconds until nothing is computed any more."""
        from plaidwork.gui import tasks

        quiet = [0.0]

        def idle() -> bool:
            quiet[0] = time.perf_counter() if tasks._running or not quiet[0] else quiet[0]
            return time.perf_counter() - quiet[0] > 0.15

        return self.until(idle, start) - 0.15

    def data(self) -> tuple[float, float, float]:
        """Seconds until the picture of the data has something, until their values are a table, and until all is there."""
        from PySide6.QtWidgets import QTableView

        start = time.perf_counter()
        self.window.tree.select("data", "data")
        page = self.window.workspace.current_page()
        first = self.until(lambda: page._image is not None and page._image._values.size > 0, start)
        page.switch.set_current("values")
        table = self.until(lambda: isinstance(page._pages.get("values"), QTableView), start)
        return first, table, self.rest(start)

    def tab(self, key: str) -> tuple[float, float]:
        """Seconds until a tab of the run shows something, and until nothing is computed for it any more."""
        run = next(iter(self.window.workbench.session.runs))
        start = time.perf_counter()
        self.window.tree.select("run", run)
        self.window.workspace.go_to(key)
        self.app.processEvents()
        page = self.window.workspace.current_page()

        def seen() -> bool:
            there = getattr(page, "loaded", page) is not None
            canvas = getattr(page, "canvas", None)
            return (there and getattr(canvas, "ordered", canvas) is not None) or not getattr(
                page, "busy", False
            )

        first = self.until(seen, start)
        return first, self.until(lambda: not getattr(page, "busy", False), start)

    def titles(self) -> list[tuple[str, str]]:
        """Key and title of each tab of the run."""
        run = next(iter(self.window.workbench.session.runs))
        self.window.tree.select("run", run)
        return [(info.key, info.title) for info in self.window.workspace._infos]


def main(size: float, folder: Path) -> None:
    """Print one line for each view."""
    with tempfile.TemporaryDirectory(dir=folder) as made:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        os.environ["PLAIDWORK_CONFIG"], os.environ["PLAIDWORK_STATE"] = f"{made}/config", f"{made}/state"
        path = Path(made) / "large.plaidwork"
        save_large(size, path)
        print(f"file {path.stat().st_size / 1e9:.2f} GB", flush=True)
        watched = Watched(path, Path(made))
        watched.open()
        opened = watched.open()
        print(f"{'tree':28} {opened:6.2f} s", flush=True)
        first, table, end = watched.data()
        print(f"{'data':28} {first:6.2f} s, values {table:.2f} s, all rows looked at {end:.2f} s", flush=True)
        for key, title in watched.titles():
            watched.open()
            first, end = watched.tab(key)
            print(f"{title:28} {first:6.2f} s, all of it {end:.2f} s", flush=True)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    main(float(arguments[0]) * 1e9 if arguments else 1e9, Path(arguments[1] if arguments[1:] else "."))
