"""The status bar: state of the run in front with its progress, and the read-out under the pointer."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QProgressBar, QSizePolicy, QStatusBar, QWidget

from plaidwork.core.draws.counting import counted
from plaidwork.core.inference.run import Run
from plaidwork.gui.icons import pixmap
from plaidwork.gui.numbers import format_count, format_duration
from plaidwork.gui.session_tree import run_icon
from plaidwork.gui.theme import size, space, theme
from plaidwork.gui.widgets import Label
from plaidwork.gui.widgets.layouts import STRETCH, horizontal
from plaidwork.gui.workbench import Workbench

_QUIET_SECONDS = 6.0


class StatusLine(QStatusBar):
    """Icon and words at the left, progress while a run is under way, read-out at the right."""

    def __init__(self, workbench: Workbench, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workbench = workbench
        self._run: Run | None = None
        self.setSizeGripEnabled(False)
        self.setFixedHeight(size.STATUS_BAR)
        self._icon = Label()
        self._text = Label("Ready", "caption", elide=True)
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setRange(0, 1000)
        self._bar.setFixedSize(140, size.PROGRESS)
        self._progress = Label("", "caption", "muted", elide=True)
        self._readout = Label("", "caption", "muted", elide=True)
        left = QWidget()
        horizontal(
            self._icon,
            self._text,
            self._bar,
            self._progress,
            STRETCH,
            on=left,
            spacing=space.S,
            margins=(space.M, 0, 0, 0),
        )
        left.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.addWidget(left, 1)
        self.addPermanentWidget(self._readout)
        self.addPermanentWidget(Label(" "))
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.refresh)
        theme().changed.connect(self.refresh)
        self.refresh()

    def set_run(self, run: Run | None) -> None:
        """Tell about this run."""
        self._run = run
        self.refresh()

    def say(self, text: str) -> None:
        """A success, quietly, for six seconds."""
        self._show(text, "check", "ok")

    def tell(self, text: str, icon: str = "info") -> None:
        """What is no success, or none yet, quietly, for six seconds."""
        self._show(text, icon, "muted")

    def _show(self, text: str, icon: str, colour: str) -> None:
        self._text.setText(text)
        self._icon.setPixmap(pixmap(icon, size.ICON, theme().color(colour)))
        self._icon.show()
        self._timer.start(round(_QUIET_SECONDS * 1000))

    def read_out(self, text: str) -> None:
        """What is under the pointer; empty clears it."""
        self._readout.setText(text)

    def refresh(self) -> None:
        """Show the run as it is now."""
        run = self._run
        phase = self._workbench.phase(run) if run is not None else ""
        self._bar.setVisible(bool(phase))
        self._progress.setVisible(bool(phase))
        if self._timer.isActive():
            return
        if run is None:
            self._icon.hide()
            self._text.setText("Ready")
            return
        name, colour = run_icon(self._workbench, run)
        self._icon.setPixmap(pixmap(name, size.ICON, theme().color(colour)))
        self._icon.show()
        if not phase:
            verdict = self._workbench.verdict(run)
            unsettled = f", {verdict.phrase}" if verdict and not verdict.settled else ""
            self._text.setText(f"{run.title} {_ENDED.get(run.status, run.status)}{unsettled}")
            return
        labels = {
            "preparing": "is getting ready, compiles the first time",
            "summarising": "has its draws and averages over them",
            "stopping": "stopping",
            "paused": "paused",
        }
        self._text.setText(f"{run.title} {labels[phase]}" if phase in labels else run.title)
        done, planned = run.sweeps_done, run.sweeps_planned
        self._bar.setValue(round(1000 * done / max(1, planned)))
        parts = [f"sweep {format_count(done)} of {format_count(planned)}"]
        pace = self._workbench.pace(run)
        left, most = pace.seconds_left(done, planned), self._workbench.budget_left(run)
        if left is not None and phase == "running":
            parts += [
                f"{counted(pace.per_second(), 'sweep')}/s",
                _at_most(left if most is None else most)
                if run.spec.algorithm != "mcmc" or (most is not None and left >= most)
                else f"{format_duration(left, rough=True)} left",
            ]
        self._progress.setText("   ".join(parts))


def _at_most(seconds: float) -> str:
    """The time that is left of a budget; the warm-up and a first look come in any case."""
    if seconds <= 0:
        return "ends after a first look"
    return f"at most {format_duration(max(0.0, seconds), rough=True)} left"


_ENDED = {"done": "finished", "stopped": "stopped", "failed": "failed", "ready": "not started"}
