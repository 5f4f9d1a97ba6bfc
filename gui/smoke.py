"""``--smoke PREFIX``: open an example, fit for a moment, write a session and a picture, read the session again, close.

Used to see whether an installed or frozen program works as a whole. The picture of a result is drawn from the fit and from
the session that was read again; they have to be equal, dot by dot.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from os import _exit as end_at_once
from pathlib import Path

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QImage

from plaidwork.core.data.samples import bundled_samples
from plaidwork.core.inference.run import Run
from plaidwork.core.views.drawing import is_picture
from plaidwork.gui.main_window import MainWindow

_EXAMPLE = "three-blocks"
_STEP = 200
_MOST = 600_000
"""Milliseconds until it is given up: a first start compiles the kernels."""
_DRAWS = 20


class Smoke(QObject):
    """Steps through the program by a timer; ``exit_code`` is 0 when both files were written and the session that was read
    again draws the same picture."""

    def __init__(self, window: MainWindow, prefix: Path) -> None:
        super().__init__(window)
        self.exit_code = 1
        self._window = window
        self._session = prefix.with_name(prefix.name + ".plaidwork")
        self._picture = prefix.with_name(prefix.name + ".png")
        self._drawn = QImage()
        self._waited = 0
        self._next: Callable[[], None] = self._open
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._step)
        self._timer.start(_STEP)

    def _step(self) -> None:
        self._waited += _STEP
        if self._waited > _MOST:
            sys.stderr.write("The smoke test took longer than ten minutes.\n")
            sys.stderr.flush()
            end_at_once(1)  # closing would ask whether to wait for the chains, and nobody answers
        else:
            self._next()

    def _open(self) -> None:
        if self._waited >= 5 * _STEP:  # the first page stands by then
            sample = next(sample for sample in bundled_samples() if sample.id == _EXAMPLE)
            self._window.commands.open_example(sample)
            self._next = self._start

    def _start(self) -> None:
        if self._run is not None:
            self._next = self._fit
        elif self._window.workbench.session.datasets and self._window.setup_page is not None:
            self._window.commands.start()

    def _fit(self) -> None:
        workbench, run = self._window.workbench, self._run
        assert run is not None
        if run.active:
            if run.n_draws >= _DRAWS:
                workbench.stop(run)
        elif run.n_draws == 0:
            self._fail("made no draws")
        elif workbench.verdict(run) is not None and run.results:
            self._window.grab().save(str(self._picture))
            self._drawn = self._draw()
            workbench.file.save(self._session)
            self._next = self._saved

    def _saved(self) -> None:
        window = self._window
        if self._session.exists() and not window.workbench.dirty:
            window.workbench.set_session(type(window.workbench.session)())
            window.commands.open_path(self._session)
            self._next = self._opened

    def _opened(self) -> None:
        if self._run is None:
            return
        if self._drawn.isNull() or self._draw() != self._drawn:
            self._fail("read a session that draws another picture than the fit did")
        elif not self._picture.exists():
            self._fail("could not write the picture")
        else:
            self.exit_code = 0
            self._finish()

    @property
    def _run(self) -> Run | None:
        return next(iter(self._window.workbench.session.runs.values()), None)

    def _draw(self) -> QImage:
        """The first result of the run that is a picture, as it stands on paper."""
        from plaidwork.gui.results.render import render_view

        run = self._run
        assert run is not None
        view = next(view for view in run.spec.views if is_picture(view.kind))
        return render_view(self._window.workbench.session, run, view, (640, 400), scale=1.0)

    def _fail(self, what: str) -> None:
        sys.stderr.write(f"The smoke test {what}.\n")
        self._finish()

    def _finish(self) -> None:
        self._timer.stop()
        self._window.workbench.set_session(type(self._window.workbench.session)())
        self._window.close()
