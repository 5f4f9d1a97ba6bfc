"""``python tests/altered_window.py SESSION FOLDER [FIRST STEP]``: opens every alteration of a session in a window, and every tab.

A line for each, what became of it first: ``refused`` with a sentence, ``shown``, or ``bad``. A crash ends it, and the last line says at
which; one that takes too long ends it with the places of all threads.
"""

import faulthandler
import gc
import os
import resource
import sys
import time
import traceback
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from altered_results import MARKUP, alterations, unsealed, write
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtWidgets import QApplication, QLabel, QTextEdit, QWidget

from plaidwork.core.errors import PlaidworkError
from plaidwork.core.session.session import Session
from plaidwork.core.session.store.session_file import load
from plaidwork.gui.app import install_exception_hook, make_application, make_window
from plaidwork.gui.settings import Settings
from plaidwork.gui.tasks import wait_for_tasks
from plaidwork.gui.widgets import StatePane
from plaidwork.gui.workbench import Workbench

SECONDS = 60
MOST = 1 << 30
"""Bytes by which the process may grow at an alteration."""
NOT_TOLD = (
    "Something in the program", "Error: ", "Error. ", "KeyError", "IndexError", "TypeError", "AttributeError", "Exception",
)  # fmt: skip


class Opened:
    """A window, and what is wrong in it."""

    def __init__(self, folder):
        settings = Settings(folder / "config")
        self.app = make_application(settings)
        self.window = make_window(settings, Workbench())
        install_exception_hook(self.window)
        self.window.resize(1280, 800)
        self.window.show()
        self.faults = []
        hook = sys.excepthook
        sys.excepthook = lambda *what: (self.faults.append("".join(traceback.format_exception(*what))), hook(*what))
        self.window.workbench.message_posted.connect(self._told)
        self.window.workbench.notified.connect(lambda *what: self.faults.append(f"told: {what[:3]}") if what[0] == "error" else None)

    def _told(self, message):
        if message.kind == "error":
            self.faults.append(f"told: {message.title}: {message.text}")

    def settle(self):
        for _ in range(4):
            wait_for_tasks(SECONDS * 1000)
            self.app.processEvents()

    def look(self, session):
        """Every item and every tab; what is wrong, and what pages say in place of a picture."""
        self.faults.clear()
        said = []
        window = self.window
        window.workbench.set_session(session)
        self.settle()
        for item in [("run", key) for key in session.runs] + [("data", key) for key in session.datasets] + [("notes", "session")]:
            window.tree.select(*item)
            self.settle()
            for key in window.workspace.tab_keys():
                window.workspace.go_to(key)
                self.settle()
                said += self._seen()
                page = window.workspace.current_page()
                for title in getattr(page, "_makers", {}):
                    page.show_view(title)
                    self.settle()
                    said += self._seen()
        window.workbench.set_session(Session())
        self.settle()
        gc.collect()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        return [*self.faults], list(dict.fromkeys(said))

    def _seen(self):
        found = []
        for widget in self.window.findChildren(QWidget):
            if not widget.isVisible():
                continue
            if isinstance(widget, QLabel) and MARKUP[:8] in widget.text() and widget.textFormat() != Qt.TextFormat.PlainText:
                self.faults.append(f"markup in a {type(widget).__name__}")
            if isinstance(widget, QTextEdit) and "￼" in widget.toPlainText():
                self.faults.append("a picture in a text")
            if isinstance(widget, StatePane) and "could not" in widget.title:
                found.append(f"{widget.title}: {widget._text.text()}")
        return found


def memory():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def main(path, folder, first=0, step=1, only=""):
    folder.mkdir(parents=True, exist_ok=True)
    base = unsealed(path, folder / "base.plaidwork")
    opened = Opened(folder)
    opened.settle()
    faults, said = opened.look(load(base, Session, probed=True))
    assert not faults and not said, (faults, said)
    out = folder / "altered.plaidwork"
    for number, (entry, name, change) in enumerate(alterations(base)):
        if number % step != first % step or only not in entry:
            continue
        print("trying", number, entry, name, sep="\t", flush=True)
        write(base, change, out)
        before, bytes_of, start = memory(), out.read_bytes(), time.perf_counter()
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        try:
            session = load(out, Session, probed=True)
        except PlaidworkError as error:
            bad = [word for word in NOT_TOLD if word in error.message]
            print("vague" if bad else "refused", entry, name, error.message[:300].replace("\n", " "), sep="\t", flush=True)
            continue
        except Exception:
            print("bad", entry, name, traceback.format_exc()[-600:], sep="\t", flush=True)
            continue
        faults, said = opened.look(session)
        faults += [f"vague: {text[:400]}" for text in said if any(word in text for word in NOT_TOLD)]
        if memory() > before + MOST:
            faults.append(f"{memory() - before} bytes")
        if out.read_bytes() != bytes_of:
            faults.append("written")
        seconds = f"{time.perf_counter() - start:.1f}"
        what = " | ".join(faults or said).replace("\n", " ")
        print("bad" if faults else "shown", entry, name, seconds, what, sep="\t", flush=True)
        faulthandler.cancel_dump_traceback_later()
    print("peak", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10, "MiB", sep="\t", flush=True)
    os._exit(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *map(int, sys.argv[3:5]), *sys.argv[5:6])
