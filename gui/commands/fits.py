"""Commands on runs and data: set up, start, pause, stop, rename, remove, examples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.samples import Sample
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import PlaidworkError
from plaidwork.core.findings.naming import Naming
from plaidwork.core.inference.run import Run
from plaidwork.core.inference.settling import ending, settled
from plaidwork.core.session.actions import actions_table
from plaidwork.core.session.session import Session
from plaidwork.core.session.suitability import Choices, Names, suggestion
from plaidwork.gui import dialogs
from plaidwork.gui.commands.base import CommandGroup
from plaidwork.gui.data.counting import count_missing, uncounted
from plaidwork.gui.faults import failure_key
from plaidwork.gui.language import tr
from plaidwork.gui.numbers import format_count, format_duration
from plaidwork.gui.run_pages import first_view_key
from plaidwork.gui.session_tree import DATA, NEW, NOTES, RUN, SESSION, STUDY
from plaidwork.gui.tasks import Task, run_task

if TYPE_CHECKING:
    from plaidwork.core.inference.plan import FitPlan
    from plaidwork.core.session.edits import Edit, Setting, Step
    from plaidwork.gui.setup.setup_page import SetupPage


_OPENING = "opening"
_SIGN = 300
"""Milliseconds after which a click that has not been answered yet is."""


class FitCommands(CommandGroup):
    """What the Edit and Fit menus do, and what follows the end of a fit."""

    _opening: Task | None = None

    def rename(self) -> None:
        run, page = self._window.current_run(), self._window.workspace.current_page()
        if page is not None and not self._window.tree.hasFocus() and page.found_item() is not None:
            page.rename_item()
            return
        if run is not None:
            title = dialogs.ask_text(self._window, "Rename the run", "", run.title, "Rename")
            if title:
                self._workbench.rename_run(run, title)
            return
        if page is not None:  # that of a dataset or of a search
            page.rename()

    def results_as_data(self) -> None:
        """Ask which results of the run in front become data, and put them into the session as one step."""
        from plaidwork.core.session.results_as_data import ResultData, data_of, results_as_data

        run, datasets, window = self._window.current_run(), self._workbench.session.datasets, self._window
        if run is None:
            return

        def failed(error: BaseException, details: str) -> None:
            hint = error.hint if isinstance(error, PlaidworkError) else ""
            self._workbench.notified.emit("error", f"No data were made: {error}", hint, details)

        def ask(offered: tuple[ResultData, ...]) -> None:
            if not offered:
                text = f"{run.title} has found nothing of each sample or feature that another model could be fitted to."
                self._workbench.notified.emit("warn", text, "", "")
                return
            entries = [
                (one.name, f"{one.title}, of {one.of} ({' × '.join(map(format_count, one.shape))})")
                for one in offered
            ]
            text = "They come with the names and annotations of their rows, and can be fitted like imported data."
            names = dialogs.ask_several(window, f"New data from {run.title}", text, entries, "Make data")
            if names:
                run_task(lambda task: [data_of(run, datasets, name) for name in names], done, failed)

        def done(made: list[Dataset]) -> None:
            added = self._workbench.add_datasets(made)
            window.tree.select(DATA, added[0].name)

        run_task(lambda task: results_as_data(run, datasets), ask, failed)

    def item_notes(self) -> None:
        page = self._window.workspace.current_page()
        if page is None or page.found_item() is None:
            title = "Choose a block, factor or topic in a picture first"
            self._window.messages.post("info", title, "Its notes open then.", key="item notes", seconds=8)
        else:
            page.note_item()

    def session_notes(self) -> None:
        self._window.show_workspace()
        self._window.tree.select(NOTES, SESSION)
        self._window.show_item(NOTES, SESSION)

    def remove(self) -> None:
        """Remove what is chosen in the list, at once, with an offer to undo it."""
        session, chosen = self._workbench.session, self._window.tree.chosen_items()
        runs = [session.runs[key] for kind, key in chosen if kind == RUN and key in session.runs]
        names = [key for kind, key in chosen if kind == DATA]
        studies = [one for one in self._workbench.studies.records() if (STUDY, one.id) in chosen]
        beside = self._window.tree.beside(chosen)
        if (runs or names or studies) and self._workbench.editing.remove(runs, names, studies):
            self._window.show_front(beside)

    def undo(self) -> None:
        self._workbench.editing.undo()

    def redo(self) -> None:
        self._workbench.editing.redo()

    def show_actions(self) -> None:
        """The record of actions in a window of its own, newest first."""
        from plaidwork.gui.results.show_data import DataDialog

        history = self._workbench.session.history[::-1]
        dialog = DataDialog("Record of actions", actions_table(history).columns, None, self._window)
        dialog.setWindowTitle(tr(f"Record of actions of {self._workbench.session.name}"))
        dialog.show()

    def on_step(self, edit: Edit, back: bool) -> None:
        """Called when an edit was taken back or made again: what came back is in front, and nothing that went."""
        window = self._window
        start, end = (edit.after, edit.before) if back else (edit.before, edit.after)
        came = [(RUN, key) for key in end.runs if key not in start.runs]
        came += [(STUDY, key) for key in end.studies if key not in start.studies]
        came += [(DATA, name) for name in end.datasets if name not in start.datasets and edit.renamed is None]
        if came:
            window.show_workspace()
            window.tree.select(*came[0])
            window.show_item(*came[0])
        elif not window.tree.current()[0]:
            window.show_front()
        window.refresh_buttons()
        self._say_step(edit, back)

    def on_set_again(self, step: Setting, back: bool) -> None:
        """Called when a setting was taken back or made again: the fit that is set up is in front."""
        self._window.tree.select(NEW, "")
        self._say_step(step, back)

    def _say_step(self, step: Step, back: bool) -> None:
        self._window.status.say(f"{'Undone' if back else 'Redone'}: {step.name}")

    def find(self) -> None:
        page = self._window.workspace.current_page()
        if page is not None:
            page.find_in_page()

    def new_fit(self) -> None:
        """Set up a fit of the data in front: of a run or search, with its model; of a dataset; of what is set up."""
        window = self._window
        run, study, page = window.current_run(), window.current_study(), window.workspace.current_page()
        if run is not None:
            self.set_up_fit(focus=_listed(run.inputs), like=(run.spec.id, run.inputs))
        elif study is not None:
            self.set_up_fit(focus=_listed(study.input_names), like=(study.model_id, study.input_names))
        elif (
            page is not None and page.data_in_focus is not None
        ):  # an open set-up, or data that are shown together
            self.set_up_fit(focus=page.data_in_focus)
        else:
            name = window.current_dataset()
            self.set_up_fit(focus=[name] if name else [])

    def set_up_fit(
        self,
        fill: Callable[[SetupPage], None] | None = None,
        focus: Sequence[str] = (),
        like: tuple[str, Names] = ("", {}),
    ) -> None:
        """Show the set-up page.

        Parameters
        ----------
        fill : gets the page and fills it in; else a model is suggested that starts with the data in focus.
        focus : names of the data to begin with; none means all of the session.
        like : a model, and the data by input: to be filled in, or suggested when they still start.
        """
        datasets, registry = dict(self._workbench.session.datasets), self._workbench.registry

        def work(task: Task) -> tuple[str, Names]:
            registry.ready()
            count_missing(datasets.values())  # the page asks for it on the GUI thread
            return like if fill is not None else suggestion(registry, Choices(datasets), focus, *like)

        def ready(found: tuple[str, Names]) -> None:
            from plaidwork.gui.setup.setup_page import SetupPage

            if uncounted(self._workbench.session.datasets.values()):  # data that came in between
                self.set_up_fit(fill, focus, like)
                return
            model, inputs = found
            given = inputs if model == like[0] else None  # what was only proposed, the page proposes too
            page = SetupPage(self._workbench, model or None, given, focus=focus)
            if fill is not None:
                fill(page)
            self._show_setup(page)

        run_task(work, ready)

    def _show_setup(self, page: SetupPage) -> None:
        from plaidwork.gui.setup.steps import SetupSteps

        window = self._window
        SetupSteps(page, self._workbench.editing)
        page.import_requested.connect(lambda: window.commands.import_into(page))
        page.start_requested.connect(self._start_plan)
        page.search_requested.connect(window.commands.ask_search)
        page.told.connect(window.status.say)
        window.workspace.clear()
        window.set_up(page)
        window.show_workspace()
        window.tree.select(NEW, "")
        window.show_item(NEW, "")

    def _start_plan(self, plan: FitPlan, title: str) -> None:
        window = self._window
        run = self._workbench.start(plan, title)
        window.set_up(None)
        window.tree.select(RUN, run.id)
        window.show_item(RUN, run.id)

    def start(self) -> None:
        window, run = self._window, self._window.current_run()
        study = window.current_study()
        if study is not None:
            self._workbench.studies.resume(study.id)
        elif window.tree.current()[0] == NEW and window.setup_page is not None:
            window.setup_page.start()
        elif run is not None and run.resumable:
            self._workbench.resume(run)
        elif run is not None and not run.active:
            more = dialogs.ask_draws(window, run.title, run.schedule.draws)
            if more:
                self._workbench.resume(run, more)

    def pause(self) -> None:
        run, study = self._window.current_run(), self._window.current_study()
        if study is not None:
            self._window.commands.hold_study(study)
        elif run is not None:
            if run.status == "paused":
                self._workbench.unpause(run)
            else:
                self._workbench.pause(run)

    def stop(self) -> None:
        run, study = self._window.current_run(), self._window.current_study()
        if study is not None:
            self._workbench.studies.stop(study.id)
        elif run is not None:
            self._workbench.stop(run)
        if study is not None or run is not None:
            self._window.refresh_buttons()
            self._window.status.refresh()

    def fit_again(self) -> None:
        run = self._window.current_run()
        if run is not None:
            self.set_up_fit(lambda page: page.from_run(run), _listed(run.inputs), (run.spec.id, run.inputs))

    def verify(self) -> None:
        """Run the beginning of the run in front again and compare."""
        from plaidwork.gui.verify_dialog import open_verify

        run = self._window.current_run()
        if run is not None:
            open_verify(self._workbench, run, self._window)

    def on_results(self, run_id: str) -> None:
        """Called when results are new; at the end of a fit a message leads to them."""
        run = self._workbench.session.runs.get(run_id)
        if run is None or run.active or not run.results:
            return
        window = self._window
        if run.status == "failed" and window.messages.has(failure_key(run)):
            return  # why it failed is what counts, and that is shown already
        key = f"{run.id} {run.n_draws}"
        if key in self._reported_results:
            return
        self._reported_results.add(key)
        headline = next((v.headline for v in run.spec.views if v.headline), "")
        found = run.results.get(headline, "") if headline else ""
        outcome = {"done": "finished", "stopped": "stopped", "failed": "failed"}[run.status]
        kind = (
            "warn" if run.status == "failed" else "info"
        )  # whether a finished one has settled comes with the verdict
        text = f"{Naming(run, {}).text(found)}. " if isinstance(found, str) and found else ""
        sampled = run.spec.algorithm == "mcmc"
        made = counted(run.n_draws, "draw") if sampled else counted(run.n_draws, "restart")
        text += f"{made} in {format_duration(run.cpu_seconds)} of CPU time."
        if run.goal is not None and run.status == "done" and run.last_diagnosis is not None:
            text += f" {ending(run.goal, run.schedule, run.last_diagnosis)}"
            kind = "info" if settled(run.last_diagnosis) else "warn"
        actions = (
            [("Show results", lambda: self.show_run(run, first_view_key(window.workbench, run)))]
            if run.spec.views
            else []
        )
        window.messages.post(kind, f"{run.title} {outcome}", text, actions, key=f"end {run.id}")
        self.on_verdict(run_id)  # which may have been there first

    def on_verdict(self, run_id: str) -> None:
        """Called when a run changed: the message of its end turns green once it is known that its chains agree, else it warns."""
        run = self._workbench.session.runs.get(run_id)
        verdict = self._workbench.verdict(run) if run is not None and run.status == "done" else None
        if run is None or verdict is None:
            return
        title = f"{run.title} finished" if verdict.settled else f"{run.title} finished, but {verdict.phrase}"
        self._window.messages.amend(f"end {run.id}", "ok" if verdict.settled else "warn", title)

    def show_run(self, run: Run, key: str) -> None:
        """Bring a run and one of its tabs to the front."""
        self._window.show_workspace()
        self._window.tree.select(RUN, run.id)
        self._window.workspace.go_to(key)

    def show_tab(self, run_id: str, tab: str) -> None:
        """Bring a tab of a run to the front, by the end of its key."""
        run = self._workbench.session.runs.get(run_id)
        if run is not None:
            self.show_run(run, f"{run_id}/{tab}")

    def open_example(self, sample: Sample) -> None:
        """Load an example and show its set-up, ready to start. An example that is still being loaded is left; and so is this one where
        something else is opened or imported meanwhile."""
        if not self._window.commands.may_close():
            return
        window = self._window
        if self._opening is not None:
            self._opening.cancel()
        before, held = self._workbench.session, [*self._workbench.session.datasets]

        def waiting() -> None:
            if self._opening is task and not task.finished:
                title, text = (
                    f"Opening the example “{sample.title}”",
                    "The models and its data are being loaded.",
                )
                window.messages.post("info", title, text, key=_OPENING)

        def loaded(datasets: dict) -> None:
            window.messages.dismiss(_OPENING)
            shown = self._workbench.session
            if shown is not before or [*shown.datasets] != held:
                return
            session = Session(name=sample.title)
            names: dict[str, list[str]] = {}
            for key, found in datasets.items():
                items = found if isinstance(found, list) else [found]
                names[key] = [session.add_dataset(dataset).name for dataset in items]
            self._workbench.set_session(session)

            def fill(page: SetupPage) -> None:
                page.fill(names, sample.params, sample.schedule, sample.seed)

            self.set_up_fit(fill, _listed(names), (sample.model, names))

        def failed(error: BaseException, details: str) -> None:
            window.messages.dismiss(_OPENING)
            window.messages.post("error", f"Could not open the example “{sample.title}”", str(error))

        def load(task: Task) -> dict:
            self._workbench.registry.ready()
            return sample.load()

        self._opening = task = run_task(load, loaded, failed)
        QTimer.singleShot(_SIGN, window, waiting)


def _listed(inputs: Names) -> list[str]:
    """The names of the data of all inputs."""
    return [name for names in inputs.values() for name in names]
