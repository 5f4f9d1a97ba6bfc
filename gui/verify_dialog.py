"""Runs the beginning of a run again from its seed, in the background, and says how far it is equal."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSpinBox, QWidget

from plaidwork.core.draws.counting import agree, counted, plural
from plaidwork.core.inference.environment import environment
from plaidwork.core.inference.repeating import Repeated, machines, outcome, repeat, same_arithmetic
from plaidwork.core.inference.run import Run
from plaidwork.gui.dialog_parts import progress_bar
from plaidwork.gui.language import tr
from plaidwork.gui.numbers import format_count
from plaidwork.gui.task_dialog import TaskDialog, error_text
from plaidwork.gui.tasks import Task
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Label, button
from plaidwork.gui.widgets.layouts import STRETCH, horizontal, vertical
from plaidwork.gui.workbench import Workbench

FIRST = 20
"""Sweeps of each chain that are repeated unless more are asked for, as on the command line."""
WIDTH = 520


def open_verify(workbench: Workbench, run: Run, parent: QWidget) -> VerifyDialog:
    """Ask how much of a run is to be repeated; the window stays free."""
    dialog = VerifyDialog(workbench, run, parent)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.show()
    return dialog


class VerifyDialog(TaskDialog):
    """Asks how many sweeps, repeats them with the engine of ``plaidwork verify``, and can be stopped; the window stays free."""

    def __init__(self, workbench: Workbench, run: Run, parent: QWidget | None = None) -> None:
        super().__init__("Verify a run", parent)
        self.run = run
        self.found: Repeated | None = None
        self._session, self._registry = workbench.session, workbench.registry
        self._most = max(record.trace.count for record in run.chains)
        self.setFixedWidth(WIDTH)
        self._build()

    def _build(self) -> None:
        count = len(self.run.chains)
        word = agree(count, self.run.chain_word, plural(self.run.chain_word))
        text = (
            f"Its {count} {word} {agree(count, 'is', 'are')} run again from seed {self.run.seed}, and compared with what "
            "is stored. Nothing of the run is changed, and you can go on working."
        )
        self.sweeps = QSpinBox()
        self.sweeps.setRange(1, self._most)
        self.sweeps.setValue(min(FIRST, self._most))
        self.sweeps.setAccessibleName(tr("Sweeps to repeat"))
        of_all = Label(f"of {counted(self._most, 'sweep')} of each {self.run.chain_word}", color="muted")
        self.verdict = Label("", "strong", wrap=True)
        self.machine = Label("", "body", "muted", wrap=True)
        self.bar = progress_bar()
        self.doing = Label("", "body", "muted", elide=True)
        self.close_button = button("Close", self.reject)
        self.go_button = button("Verify", self._go, kind="primary")
        self.go_button.setDefault(True)
        choice = horizontal(Label("Repeat the first"), self.sweeps, of_all, STRETCH, spacing=space.S)
        foot = horizontal(
            self.bar,
            (self.doing, 1),
            self.close_button,
            self.go_button,
            spacing=space.S,
            margins=(0, space.S, 0, 0),
        )
        vertical(
            Label(f"Verify “{self.run.title}”", "headline", wrap=True), Label(text, wrap=True, color="muted"), choice,
            self.verdict, self.machine, STRETCH, foot, on=self, spacing=space.M, margins=space.DIALOG_EDGE,
        )  # fmt: skip
        self._show_busy(False)

    def _go(self) -> None:
        if self.busy():
            self.drop()
            self._show_busy(False)
            self._say("Stopped. Nothing was compared.", "muted", "")
            return
        session, registry, run, sweeps = self._session, self._registry, self.run, self.sweeps.value()

        def work(task: Task) -> tuple[Repeated, dict[str, str]]:
            plan = session.plan_of(run, registry)
            return repeat(run, plan, sweeps, lambda done, total: task.report(done, total)), environment()

        self._say("", "text", "")
        self.begin("verify", work, self._told, self._failed, self._progress, minutes=True)
        self._show_busy(True)
        self.doing.setText(tr("Starting"))

    def _progress(self, done: int, total: int) -> None:
        self.bar.setValue(round(1000 * done / max(1, total)))
        self.doing.setText(tr(f"{format_count(done)} of {counted(total, 'sweep')}"))

    def _told(self, answer: tuple[Repeated, dict[str, str]]) -> None:
        self.found, now = answer
        same = same_arithmetic(self.run.environment, now)
        text = outcome(self.found, len(self.run.chains), same)
        color = "error" if self.found.differs(same) else "ok" if self.found.verdict == "equal" else "text"
        self._show_busy(False)
        self._say(text[0].upper() + text[1:], color, machines(self.run, now))

    def _failed(self, error: BaseException, details: str) -> None:
        self._show_busy(False)
        self._say(error_text(error), "error", "")

    def _say(self, text: str, color: str, machine: str) -> None:
        for label, words in ((self.verdict, text), (self.machine, machine)):
            label.setText(words)
            label.setVisible(bool(words))
        self.verdict.set_color(color)
        self._fit()

    def _show_busy(self, busy: bool) -> None:
        self.bar.setValue(0)
        self.bar.setVisible(busy)
        self.doing.setText(tr(""))
        self.sweeps.setEnabled(not busy)
        self.go_button.setText(tr("Stop" if busy else "Verify"))
        self._fit()

    def _fit(self) -> None:
        """As high as its texts need."""
        self.layout().activate()
        self.setFixedHeight(self.layout().totalHeightForWidth(WIDTH))
