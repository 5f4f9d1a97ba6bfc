"""``--smoke PREFIX``: open the first example, fit for a moment, write a session and a picture, close.

Used to see whether an installed or frozen program works as a whole.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QObject, QTimer

from plaidwork.core.data.samples import bundled_samples
from plaidwork.gui.main_window import MainWindow

_STEP = 200
_MOST = 120_000


class Smoke(QObject):
    """Steps through the program by a timer; ``exit_code`` is 0 when both files were written."""

    def __init__(self, window: MainWindow, prefix: Path) -> None:
        super().__init__(window)
        self.exit_code = 1
        self._window = window
        self._session = prefix.with_name(prefix.name + ".plaidwork")
        self._picture = prefix.with_name(prefix.name + ".png")
        self._waited = 0
        self._saving = False
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._step)
        self._timer.start(_STEP)

    def _step(self) -> None:
        window, workbench = self._window, self._window.workbench
        self._waited += _STEP
        if self._waited > _MOST:
            sys.stderr.write("The smoke test took longer than two minutes.\n")
            self._finish()
            return
        run = next(iter(workbench.session.runs.values()), None)
        if not workbench.session.datasets:
            if self._waited == 5 * _STEP:
                window.commands.open_example(bundled_samples()[0])
        elif run is None:
            if window.setup_page is not None:
                window.commands.start()
        elif run.active:
            if run.n_draws > 0 or run.sweeps_done > 20:
                workbench.stop(run)
        elif (workbench.verdict(run) is not None and run.results) or run.n_draws == 0:
            self._save()

    def _save(self) -> None:
        if not self._saving:
            self._saving = True
            self._window.grab().save(str(self._picture))
            self._window.workbench.save(self._session)
        elif self._session.exists() and not self._window.workbench.dirty:
            self.exit_code = 0 if self._picture.exists() else 1
            self._finish()

    def _finish(self) -> None:
        self._timer.stop()
        self._window.workbench.set_session(type(self._window.workbench.session)())
        self._window.close()
