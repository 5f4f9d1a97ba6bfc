"""What a result page shows instead of a picture: a sentence and what can be done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedLayout, QWidget

from plaidwork.core.contract.spec import View
from plaidwork.core.draws.counting import counted
from plaidwork.core.inference.run import Run
from plaidwork.gui import dialogs
from plaidwork.gui.results.working import Working
from plaidwork.gui.widgets import StatePane
from plaidwork.gui.workbench import Workbench


def still_running(run: Run) -> str:
    """That the picture will change, for the mark beside the headline."""
    if run.results_draws:
        return f"The fit is still running: this is the picture after {counted(run.results_draws, 'draw')}."
    return "The fit is still running: the picture will change."


def nothing_yet(run: Run, awaited: bool) -> tuple[str, str, str, tuple[()], str]:
    """What is shown of a run without results, which may be ``awaited``: icon, title, text, buttons and colour of the icon."""
    if awaited:
        text = "The picture appears as soon as they are there."
        return "clock", "The results are being worked out", text, (), "muted"
    if run.n_draws and not run.active:
        text = next((line.text for line in reversed(run.log) if line.level == "error"), "")
        if text:
            return "error", "No results could be worked out", text, (), "error"
        return (
            "clock",
            "No result yet",
            "No results have been worked out from what the run has kept.",
            (),
            "muted",
        )
    if run.active:
        text = (
            "The picture appears with the first draws kept after the warm-up."
            if run.spec.algorithm == "mcmc"
            else "The picture appears with the first sweeps of the fit."
        )
        return "clock", "Nothing to show yet", text, (), "muted"
    if run.status == "failed":
        text = next((line.text for line in reversed(run.log) if line.level == "error"), "")
        return "error", "The fit failed before it kept anything", text, (), "error"
    text = "The run has kept nothing so far. Start or resume it to get a result."
    return "clock", "No result yet", text, (), "muted"


class Stated(Working):
    """The part of a result page that says why there is no picture."""

    loaded_changed: ClassVar[Signal]
    workbench: Workbench
    run: Run
    view: View
    _stack: QStackedLayout
    _pane: StatePane
    _content: QWidget

    def refresh(self) -> None:
        """Load again."""
        raise NotImplementedError

    def set_head(self, headline: str, caption: str) -> None:
        """Show these words above."""
        raise NotImplementedError

    def show_state(
        self, icon_name: str, title: str, text: str, actions: Sequence[Any] = (), color: str = "muted"
    ) -> None:
        """Show a sentence instead of the picture."""
        self._pane.set(icon_name, title, text, actions, icon_color=color)
        self._stack.setCurrentWidget(self._pane)
        self.loaded_changed.emit()

    @property
    def state(self) -> str:
        """Title of the pane shown instead of the picture; empty while there is a picture."""
        current = self._stack.currentWidget()
        return self._pane.title if current is self._pane else "" if current is self._content else "loading"

    @property
    def reason(self) -> str:
        """The sentence below that title."""
        return self._pane.text if self._stack.currentWidget() is self._pane else ""

    def show_content(self) -> None:
        """Show the picture (after a state)."""
        self._stack.setCurrentWidget(self._content)

    def show_nothing_yet(self) -> None:
        """That the run has kept nothing so far, or that its results are still being worked out."""
        self.set_head(self.view.title, "")
        self.show_state(*nothing_yet(self.run, self.workbench.awaits_results(self.run)))

    def show_failure(self, text: str, details: str = "", plugin: str = "") -> None:
        """The picture cannot be drawn, and why; the rest of the program goes on. ``plugin`` can be disabled here."""
        self.set_head(self.view.title, "")
        actions: list[Any] = [("Try again", self.refresh)]
        if plugin:
            actions.insert(0, ("Disable plugin", lambda: self.workbench.faults.disable_plugin(plugin)))
        if details:
            actions.insert(0, ("Details", lambda: dialogs.show_text(self, "Details", details)))
        self.show_state(
            "error",
            "This picture could not be drawn",
            f"{text} Other views are not affected.",
            actions,
            color="error",
        )
