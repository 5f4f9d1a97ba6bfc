"""What went wrong, as a text to copy and to save. Nothing is sent.

An error that the program survives is told at once (``gui/app.py``). One that ends it, such as a segmentation fault in a
library, is written by ``faulthandler`` into a file of this process, and is told at the next start.
"""

from __future__ import annotations

import faulthandler
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from plaidwork.gui.commands.views import system_information
from plaidwork.gui.tasks import run_task

if TYPE_CHECKING:
    from plaidwork.gui.main_window import MainWindow

_LINES = 40
"""So much of a run's log goes into a report."""


def crash_folder() -> Path:
    """Where the files of the processes lie (not created)."""
    from plaidwork.core.session.store.places import recovery_folder

    return recovery_folder().with_name("crashes")


class CrashFile:
    """The file of this process, which is empty as long as all goes well and goes with :meth:`close`.

    Where it cannot be written there is none, and the program goes on without.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._path = (folder or crash_folder()) / f"{os.getpid()}.txt"
        self._file: TextIO | None = None
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("w", encoding="utf-8")
            faulthandler.enable(self._file)

    def close(self) -> None:
        """The program ends as it should."""
        if self._file is not None:
            faulthandler.disable()
            self._file.close()
            with suppress(OSError):
                self._path.unlink()


def take_crashes(folder: Path | None = None) -> list[str]:
    """What processes that have crashed wrote, the newest first; each is told once."""
    folder = folder or crash_folder()
    found = []
    for path in folder.glob("*.txt"):
        with suppress(OSError, ValueError):
            if int(path.stem) != os.getpid() and not _alive(int(path.stem)):
                found.append((path.stat().st_mtime, path.read_text(encoding="utf-8", errors="replace")))
                path.unlink()
    return [text for _, text in sorted(found, reverse=True) if text.strip()]


def _alive(process: int) -> bool:
    """Whether a process of this number runs; in doubt it does, and its file stays."""
    if os.name != "posix":  # a signal would end it there; a file that is open cannot be deleted anyway
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def report(window: MainWindow, what: str) -> str:
    """What went wrong, versions, and the end of the log of the run in front."""
    run = window.current_run()
    lines = [] if run is None else [f"{line.time} {line.level}: {line.text}" for line in run.log[-_LINES:]]
    parts = [what.rstrip(), "Versions\n" + system_information(window)]
    if lines:
        parts.append("Log of the run\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"


def offer_crashes(window: MainWindow) -> None:
    """Tell of a crash of the last start, when there was one."""
    run_task(lambda task: take_crashes(), lambda texts: _offer(window, texts), lambda error, details: None)


def _offer(window: MainWindow, texts: Sequence[str]) -> None:
    if not texts:
        return
    text = "What was not saved is offered again if it could be kept. Details can be copied or saved, for whoever mends it."
    show = window.commands.show_details
    details = [("Details", lambda: show("Plaidwork ended by itself", text, report(window, texts[0])))]
    window.messages.post("warn", "Plaidwork ended by itself the last time", text, details)
