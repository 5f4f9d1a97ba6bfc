"""The session as the window sees it: what may be done with it, and signals when it changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from plaidwork.core.data.dataset import Dataset, SamplesIn
from plaidwork.core.draws.counting import counted
from plaidwork.core.findings.naming import name_item
from plaidwork.core.inference.events import Event, Failed
from plaidwork.core.inference.execution import FitJob
from plaidwork.core.inference.place import Place
from plaidwork.core.inference.plan import FitPlan
from plaidwork.core.inference.run import Pace, Run
from plaidwork.core.plugins.registry import Registry, registry
from plaidwork.core.session.edits import named_selections
from plaidwork.core.session.session import Session
from plaidwork.gui.editing import Editing, listed
from plaidwork.gui.faults import Faults
from plaidwork.gui.file_guard import FileGuard
from plaidwork.gui.fit_thread import FitThread
from plaidwork.gui.judging import Judgements
from plaidwork.gui.left_fits import LeftFits
from plaidwork.gui.run_places import RunPlaces
from plaidwork.gui.selection import Selection
from plaidwork.gui.session_file import SessionFile
from plaidwork.gui.studies.bench import StudyBench
from plaidwork.gui.summaries import Summaries
from plaidwork.gui.tasks import run_task

if TYPE_CHECKING:
    from plaidwork.core.draws.diagnostics import Diagnosis, Verdict

DATA_VIEWS = "data"
"""Where a session keeps what was chosen on the pages of its data, by name."""
DIAGNOSTICS = "diagnostics"
"""End of the key of the tab with the diagnostics of a run."""


class Workbench(QObject):
    """Holds the open session and runs fits; every screen works on one workbench. Its ``file`` opens and saves the session.

    All methods are called on the GUI thread and return at once; long work goes to threads.
    Signals carry run ids or dataset names, never objects, so that a late signal of something removed is
    easily ignored.
    """

    session_replaced = Signal()
    data_changed = Signal(str)
    data_renamed = Signal(str, str)
    """Old and new name of a dataset."""
    runs_changed = Signal()
    run_changed = Signal(str)
    """Status, title, notes or log of a run."""
    results_changed = Signal(str)
    names_changed = Signal(str)
    """Id of a run whose blocks, factors or topics, or the items of its data, are shown by other names now."""
    dirty_changed = Signal(bool)
    saved = Signal(str)
    notified = Signal(str, str, str, str)
    """A message for the bar: kind (info, ok, warn, error), title, sentence, details."""
    details_requested = Signal(str, str, str)
    """Title, sentence and details (a traceback) to show in a dialog."""
    message_posted = Signal(object)
    """A ``gui.widgets.Message`` with its own actions, for the bar."""
    page_requested = Signal(str, str)
    """Id of a run and the end of the key of one of its tabs (``run_pages``), to bring to the front."""
    plugin_changed = Signal(str)
    """Name of a plugin whose state has changed, on the GUI thread."""

    def __init__(
        self,
        plugins: Registry | None = None,
        parent: QObject | None = None,
        *,
        places: RunPlaces | None = None,
    ) -> None:
        super().__init__(parent)
        self.places = places or RunPlaces()
        """Where chains run; in threads of this computer unless told."""
        self.registry = plugins or registry()
        self.session = Session()
        self.guard = FileGuard(self)
        self._dirty = False
        self.view_changed = False
        """Whether the file on disk has another tab in front or other choices than the window."""
        self._fits: dict[str, FitThread] = {}
        self._jobs: dict[str, FitJob] = {}
        """The latest fit of every run that was started or resumed here, under way or ended."""
        self._paces: dict[str, Pace] = {}
        self._selections: dict[str, Selection] = {}
        self._summaries = Summaries(self._summarised, self._not_summarised)
        self.faults = Faults(self)
        self.judgements = Judgements(self)
        self.judgements.judged.connect(self._on_judged)
        self.judgements.failed.connect(self._on_not_judged)
        self.file = SessionFile(self)
        self.editing = Editing(self)
        self.studies = StudyBench(self)
        self.left = LeftFits(self)
        # called in the threads that import; the signal brings it here
        forget = self.registry.subscribe(lambda info: self.plugin_changed.emit(info.name))
        self.destroyed.connect(lambda: forget())

    # -- session --------------------------------------------------------------------------------
    @property
    def dirty(self) -> bool:
        """Whether there is something that the file on disk does not hold."""
        return self._dirty

    def touch(self) -> None:
        """Something worth saving has changed."""
        self.set_dirty(True)

    def note_view(self) -> None:
        """What is looked at has changed: worth keeping, but not worth a question."""
        self.view_changed = True

    def set_dirty(self, dirty: bool) -> None:
        """Say whether there is something that the file on disk does not hold."""
        if dirty != self._dirty:
            self._dirty = dirty
            self.dirty_changed.emit(dirty)

    def set_session(self, session: Session, dirty: bool = False) -> None:
        """Show another session; the fits of the old one must have ended."""
        for kept in (self._jobs, self._paces, self._selections):
            kept.clear()
        for part in (self._summaries, self.judgements, self.faults, self.editing):
            part.clear()
        if self.session.path != session.path:
            self.guard.let_go()
        self.session, self.guard.holder = session, None
        self._dirty = dirty
        self.view_changed = False
        self.session_replaced.emit()
        self.dirty_changed.emit(dirty)
        for run in session.runs.values():
            self.judge(run)
        self.left.look()

    @property
    def ending(self) -> bool:
        """Whether fits are under way, or the results of some that have ended are being computed."""
        return bool(self._fits) or self._summaries.busy

    # -- plugins --------------------------------------------------------------------------------
    def can_verify(self, run: Run) -> bool:
        """Whether there is something of a run to repeat, and a model that can."""
        return run.sweeps_done > 0 and not self.phase(run) and not self.is_missing(run.spec.id)

    def is_missing(self, model_id: str) -> bool:
        """Whether a model is not installed (or its plugin turned off): only results made with it can be shown."""
        return self.registry.settled and not self.registry.has(model_id)

    # -- data -----------------------------------------------------------------------------------
    def add_dataset(self, dataset: Dataset) -> Dataset:
        """Put a dataset into the session."""
        return self.add_datasets([dataset])[0]

    def add_datasets(self, datasets: Sequence[Dataset]) -> list[Dataset]:
        """Put datasets that belong together into the session, as one step."""
        with self.editing.step(f"Add {listed([dataset.name for dataset in datasets])}"):
            added = [self.session.add_dataset(dataset) for dataset in datasets]
        for dataset in added:
            self.data_changed.emit(dataset.name)
        return added

    def replace_dataset(self, name: str, dataset: Dataset, step: str = "") -> None:
        """Put a transformed version of a dataset in its place; ``step`` says what was done."""
        with self.editing.step(step or f"Change “{name}”"):
            self.session.replace_dataset(name, dataset)
        self.data_changed.emit(name)

    def set_samples(self, name: str, samples_in: SamplesIn) -> None:
        """Note which axis of a dataset holds the samples; what was fitted stays as it was."""
        changed = self.session.datasets[name].with_(samples_in=samples_in)
        self.replace_dataset(name, changed, f"Say which axis of “{name}” has the samples")

    def show_by(self, name: str, axis: int, title: str) -> None:
        """Show the items of an axis of a dataset by an annotation column in place of their names; empty: by the names."""
        dataset = self.session.datasets.get(name)
        if dataset is None:
            return
        changed = {("row_shown_by", "column_shown_by")[axis]: title}
        by = f"“{title}”" if title else "its names"
        self.replace_dataset(name, dataset.with_(**changed), f"Show “{name}” by {by}")
        for run in list(self.session.runs.values()):
            if any(name in names for names in run.inputs.values()):
                self.names_changed.emit(run.id)

    def rename_dataset(self, old: str, name: str) -> None:
        """Give a dataset another name everywhere. Raises ``DataError`` if it is taken."""
        with self.editing.step(f"Rename “{old}” to “{name}”", renamed=(old, name)):
            self.session.rename_dataset(old, name)
        self.tell_renamed(old, name)

    def tell_renamed(self, old: str, name: str) -> None:
        """A dataset of the session has another name now: searches and what was chosen on its page follow."""
        self.studies.rename_data(old, name)
        kept = self.session.views.get(DATA_VIEWS, {})
        if isinstance(kept, dict) and old in kept:
            kept[name] = kept.pop(old)
        self.data_renamed.emit(old, name)
        self.data_changed.emit(name)

    def kept_view(self, name: str) -> dict[str, Any]:
        """Where the choices of the page of a dataset are kept."""
        views = self.session.views
        if not isinstance(views.get(DATA_VIEWS), dict):
            views[DATA_VIEWS] = {}
        if not isinstance(views[DATA_VIEWS].get(name), dict):
            views[DATA_VIEWS][name] = {}
        found: dict[str, Any] = views[DATA_VIEWS][name]
        return found

    # -- fits -----------------------------------------------------------------------------------
    def start(self, plan: FitPlan, title: str = "") -> Run:
        """Add a run of the plan and start its chains."""
        known = set(self.session.datasets)
        run = self.session.add_run(plan, title)
        for name in [name for name in self.session.datasets if name not in known]:
            self.data_changed.emit(name)  # a part of the rows, or an annotation column, is data of its own
        data = ", ".join(d.described for datasets in plan.inputs.values() for d in datasets[:1])
        run.say(f"Fit started: {counted(run.schedule.chains, run.chain_word)}, seed {run.seed}, {data}")
        self.runs_changed.emit()
        self._launch(run, plan)
        return run

    def expect(self, model_id: str, chains: int) -> None:
        """A fit may be started soon: start its processes and load the kernels, in the background."""
        if self.registry.has(model_id):
            self.places.expect(self.registry.model(model_id), chains)

    def resume(self, run: Run, draws: int = 0, budget: float = 0.0, *, place: Place | None = None) -> None:
        """Go on with a run that is stopped or done, with ``draws`` more draws per chain, or until it has settled, for about
        ``budget`` seconds at most; at a place, or where fits are to run. One that was left on a cluster is asked for first.
        """
        if run.id in self._fits:
            return
        if self.left.holds(run):
            self.left.ask_back(run)
            return

        def planned(plan: FitPlan) -> None:
            if draws:
                run.extend(draws)
            if budget:
                run.go_on(budget)
            run.say(f"Resumed at sweep {min(record.sweep for record in run.chains)}")
            self._launch(run, plan, place)

        self._plan_again(run, planned, f"Could not resume {run.title}")

    def conclude(self, run: Run) -> None:
        """Compute the results of a run that has ended elsewhere."""

        def planned(plan: FitPlan) -> None:
            self._jobs[run.id] = FitJob(run, plan)
            self.summarise(run, final=True)

        self._plan_again(run, planned, f"{run.title} could not be summarised")

    def _plan_again(self, run: Run, planned: Callable[[FitPlan], None], trouble: str) -> None:
        session = self.session
        run_task(lambda task: session.plan_of(run, self.registry), planned, self.faults.report(trouble))

    def _launch(self, run: Run, plan: FitPlan, place: Place | None = None) -> None:
        self.faults.forget(run)
        job = self._jobs[run.id] = FitJob(run, plan, *self.places.executor(run, place))
        job.begin()
        self._paces[run.id] = Pace()
        fit = self._fits[run.id] = FitThread(job, self)
        fit.reported.connect(self._on_event)
        fit.failed.connect(self._on_not_run)
        fit.ended.connect(self._on_ended)
        self.touch()
        self.run_changed.emit(run.id)
        fit.start()

    def pause(self, run: Run) -> None:
        """Hold the chains; their states are kept."""
        if run.id in self._fits and self._jobs[run.id].pause():
            self.run_changed.emit(run.id)

    def unpause(self, run: Run) -> None:
        """Let paused chains go on."""
        if run.id in self._fits and self._jobs[run.id].go_on():
            self._paces[run.id] = Pace()
            self.run_changed.emit(run.id)

    def stop(self, run: Run) -> None:
        """End the chains after the step they are in; everything kept stays."""
        if run.id in self._fits:
            self._jobs[run.id].stop()

    def wait(self, milliseconds: int) -> bool:
        """Wait for all chains (after ``stop``), for closing; True when none is running."""
        return all(fit.wait(milliseconds) for fit in self._fits.values()) and self.studies.wait(milliseconds)

    def active_runs(self) -> list[Run]:
        """Runs whose chains are under way."""
        return [run for run in self.session.runs.values() if run.id in self._fits]

    def adopted(self, run: Run) -> None:
        """A run that was made elsewhere has come into the session."""
        self.touch()
        self.runs_changed.emit()
        self.judge(run)

    def rename_run(self, run: Run, title: str) -> None:
        """Give a run another title."""
        title = title.strip()
        if title and title != run.title:
            with self.editing.step(f"Rename “{run.title}” to “{title}”"):
                run.title = title
            self.run_changed.emit(run.id)

    def name_item(self, run: Run, dim: str, number: int, name: str) -> None:
        """Give a block, factor or topic of a run a name in all its views; an empty one brings the model's back."""
        with self.editing.step(f"Call it “{name}”" if name else "Bring back the name"):
            named = name_item(run, dim, number, name)
        if named:
            self.names_changed.emit(run.id)

    def phase(self, run: Run) -> str:
        """What a run under way does, in the words of `FitJob.phase`; else empty."""
        return self._jobs[run.id].phase if run.id in self._fits else ""

    def budget_left(self, run: Run) -> float | None:
        """Seconds that a run under way may still take to settle; None for one with a fixed number of draws."""
        return self._jobs[run.id].budget_left if run.id in self._fits else None

    def pace(self, run: Run) -> Pace:
        """Sweeps per second; the status bar's timer feeds it."""
        return self._paces.setdefault(run.id, Pace())

    def plan(self, run: Run) -> FitPlan | None:
        """The plan of a run that was started or resumed in this window."""
        job = self._jobs.get(run.id)
        return None if job is None else job.plan

    def selection(self, run: Run) -> Selection:
        """The selection that all views of a run share."""
        if run.id not in self._selections:
            found = self._selections[run.id] = Selection(self)
            settings = self.session.runs.get(run.id, run).view_settings
            found.restore(settings.get("selection", {}))
            found.changed.connect(lambda _: self._keep_selection(settings, found))
        return self._selections[run.id]

    def keep_selected(self, run: Run, name: str, kind: str) -> None:
        """Keep what is selected of a kind under a name."""
        with self.editing.step(f"Keep the selection “{name}”"):
            self.selection(run).keep_as(name, kind)

    def reread_named(self, run: Run) -> None:
        """The selections of a run that are kept under a name are others now."""
        if run.id in self._selections:
            self._selections[run.id].named.clear()
            self._selections[run.id].restore({"named": named_selections(run)})

    def _keep_selection(self, settings: dict[str, Any], selection: Selection) -> None:
        settings["selection"] = selection.as_dict()
        self.note_view()

    def _on_event(self, run_id: str, event: Event) -> None:
        run = self.session.runs.get(run_id)
        if run is None or run_id not in self._fits:
            return
        if isinstance(event, Failed):
            self.faults.chain_failed(run, event)
        self.run_changed.emit(run_id)

    def _on_not_run(self, run_id: str, error: BaseException) -> None:
        run = self.session.runs.get(run_id)
        if run is not None:
            self.faults.report(f"{run.title} could not run")(error, "")

    def _on_ended(self, run_id: str) -> None:
        fit = self._fits.pop(run_id)
        fit.deleteLater()
        run = self.session.runs.get(run_id)
        if run is None:
            return
        self.touch()
        self.summarise(run, final=True)  # first: who hears of the end asks whether results are on their way
        self.run_changed.emit(run_id)

    def summarise(self, run: Run, final: bool = False) -> None:
        """Compute results in the background; provisional ones are made every few seconds at most."""
        job = self._jobs.get(run.id)
        if job is not None:
            self._summaries.ask(job, final)

    def awaits_results(self, run: Run) -> bool:
        """Whether a run has kept something and its first results are on their way."""
        on_their_way = run.id in self._fits or self._summaries.under_way(run.id)
        return on_their_way and run.n_draws > 0 and not run.results

    def _summarised(self, run: Run) -> None:
        self.touch()
        self.results_changed.emit(run.id)
        self.judge(run)

    def _not_summarised(self, run: Run, error: BaseException, details: str) -> None:
        self.faults.report(f"{run.title} could not be summarised")(error, details)
        self.run_changed.emit(run.id)  # no results are on their way any more
        self.judge(run)

    def diagnosis(self, run: Run) -> Diagnosis | None:
        """The diagnostics of a run, once they are known; while it is under way those of some draws ago."""
        return self.judgements.of(run)

    def verdict(self, run: Run) -> Verdict | None:
        """Whether a run can be trusted, once that is known."""
        diagnosis = self.diagnosis(run)
        return None if diagnosis is None else diagnosis.verdict

    def judge(self, run: Run) -> None:
        """Ask for the verdict on what a run has kept; ``run_changed`` tells when it is there."""
        self.judgements.ask(run)

    def _on_judged(self, run_id: str) -> None:
        if run_id in self.session.runs:
            self.run_changed.emit(run_id)

    def _on_not_judged(self, run_id: str, error: BaseException, details: str) -> None:
        run = self.session.runs.get(run_id)
        if run is not None:
            self.faults.report(f"{run.title} could not be judged")(error, details)
