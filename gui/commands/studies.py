"""Commands on searches: set up, start, hold, stop, open a fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plaidwork.core.draws.counting import agree, counted
from plaidwork.gui.commands.base import CommandGroup
from plaidwork.gui.numbers import format_count
from plaidwork.gui.session_tree import NEW, RUN, STUDY

if TYPE_CHECKING:
    from plaidwork.core.inference.plan import FitPlan
    from plaidwork.core.study import StudyRecord
    from plaidwork.gui.setup.setup_page import SetupPage


class StudyCommands(CommandGroup):
    """What can be done with searches; the commands of the Fit menu lead here when a search is in front."""

    def search(self) -> None:
        """Set up a search: of the fit that is set up, or like the run in front."""
        window = self._window
        run = window.current_run()
        if window.tree.current()[0] == NEW and window.setup_page is not None:
            window.setup_page.search()
        elif run is not None:

            def fill(page: SetupPage) -> None:
                page.from_run(run)
                page.search()

            focus = [name for names in run.inputs.values() for name in names]
            window.commands.set_up_fit(fill, focus, (run.spec.id, run.inputs))
        else:
            window.commands.new_fit()

    def ask_search(self, plan: FitPlan) -> None:
        """The panel of a search; started when the user wants to."""
        from plaidwork.gui.studies.search_dialog import SearchDialog

        dialog = SearchDialog(self._workbench, plan, self._window)
        if dialog.exec() and dialog.study is not None:
            self._workbench.studies.start(dialog.study, dialog.at_once)
            self._window.set_up(None)
            self.show_study(dialog.study.id)
        dialog.deleteLater()

    def show_study(self, study_id: str) -> None:
        """Bring the page of a search to the front."""
        self._window.show_workspace()
        self._window.tree.select(STUDY, study_id)
        self._window.show_item(STUDY, study_id)

    def show_fit(self, run_id: str) -> None:
        """Bring the pages of a run to the front."""
        self._window.tree.select(RUN, run_id)
        self._window.show_item(RUN, run_id)

    def hold_study(self, record: StudyRecord) -> None:
        """Pause, or go on."""
        studies = self._workbench.studies
        if studies.phase(record.id) == "paused":
            studies.go_on(record.id)
        else:
            studies.pause(record.id)

    def on_study_ended(self, study_id: str) -> None:
        """A message that leads to the search."""
        record = self._workbench.studies.get(study_id)
        if record is None:
            return
        left, failed = record.count("waiting", "stopped"), record.count("failed")
        done = record.count("done")
        text = f"{format_count(done)} of {counted(len(record.jobs), 'fit')} {agree(done, 'is', 'are')} done."
        if failed:
            text += f" {format_count(failed)} failed."
        window = self._window
        window.refresh_buttons()
        title = f"{record.title} {'stopped' if left else 'finished'}"
        kind = "info" if left else "warn" if failed else "ok"
        if window.tree.current() == (STUDY, study_id):
            (window.status.say if kind == "ok" else window.status.tell)(f"{title}. {text}")
            return
        actions = [("Show search", lambda: self.show_study(study_id))]
        window.messages.post(kind, title, text, actions, key=f"end {study_id}")
