"""``python tests/altered_window.py SESSION FOLDER [FIRST STEP ONLY]``: opens alterations of a session in a window, and every tab.

Arguments and lines are those of ``altered_results.py``.
"""

import gc
import os
import sys
import traceback

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from altered_results import MARKUP, SECONDS, arguments, opened, told
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtWidgets import QLabel, QTextEdit, QWidget

from plaidwork.core.session.session import Session
from plaidwork.core.session.store.session_file import load
from plaidwork.gui.app import install_exception_hook, make_application, make_window
from plaidwork.gui.settings import Settings
from plaidwork.gui.tasks import wait_for_tasks
from plaidwork.gui.widgets import StatePane
from plaidwork.gui.workbench import Workbench


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
        sys.excepthook = lambda *what: (
            self.faults.append("".join(traceback.format_exception(*what))),
            hook(*what),
        )
        self.window.workbench.message_posted.connect(self._told)
        self.window.workbench.notified.connect(
            lambda *what: self.faults.append(f"told: {what[:3]}") if what[0] == "error" else None
        )

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
        for item in (
            [("run", key) for key in session.runs]
            + [("data", key) for key in session.datasets]
            + [("notes", "session")]
        ):
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
        return [*self.faults, *told(said)], list(dict.fromkeys(said))

    def _seen(self):
        found = []
        for widget in self.window.findChildren(QWidget):
            if not widget.isVisible():
                continue
            if (
                isinstance(widget, QLabel)
                and MARKUP[:8] in widget.text()
                and widget.textFormat() != Qt.TextFormat.PlainText
            ):
                self.faults.append(f"markup in a {type(widget).__name__}")
            if isinstance(widget, QTextEdit) and "￼" in widget.toPlainText():
                self.faults.append("a picture in a text")
            if isinstance(widget, StatePane) and "could not" in widget.title:
                found.append(f"{widget.title}: {widget._text.text()}")
        return found


def main(words):
    base, select = arguments(words)
    window = Opened(base.parent)
    window.settle()
    faults, said = window.look(load(base, Session, probed=True))
    assert not faults, (faults, said)
    opened(base, window.look, select)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
