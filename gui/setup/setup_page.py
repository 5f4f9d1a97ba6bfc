"""The page on which a fit is set up: model, data, settings, schedule, cost, start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from plaidwork.core.contract.model import Cost
from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.contract.spec import ModelSpec
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import PlaidworkError, PluginError
from plaidwork.core.inference.plan import FitPlan
from plaidwork.core.inference.run import Run
from plaidwork.core.session.suitability import Choices, best_model
from plaidwork.gui.data.counting import OnceCounted
from plaidwork.gui.data.data_panel import DataPanel
from plaidwork.gui.language import tr
from plaidwork.gui.page import Page
from plaidwork.gui.setup.blame import field_of
from plaidwork.gui.setup.cost import Planned, cost_text
from plaidwork.gui.setup.foot import Foot
from plaidwork.gui.setup.form import FieldProblem, HyperparameterForm
from plaidwork.gui.setup.inputs_form import InputsForm
from plaidwork.gui.setup.model_card import ModelCard
from plaidwork.gui.setup.model_popup import ModelPopup, elsewhere_text
from plaidwork.gui.setup.place_form import PlaceForm
from plaidwork.gui.setup.plan_check import Asked, PlanCheck
from plaidwork.gui.setup.preset_menu import PresetMenu
from plaidwork.gui.setup.presets import PresetStore
from plaidwork.gui.setup.remedy import Remedy, made, remedy_of, words_of
from plaidwork.gui.setup.schedule_form import ScheduleForm
from plaidwork.gui.tasks import run_task
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import StatePane, scrolled
from plaidwork.gui.widgets.layouts import STRETCH, horizontal, vertical
from plaidwork.gui.workbench import Workbench

CHECK_DELAY = 250
"""Milliseconds of quiet after a change until data and settings are checked together."""
MAX_WIDTH = 2000


class SetupPage(Page):
    """Choose model, data and settings; ``start`` checks them and emits the plan.

    Data that are large are offered once their missing cells are counted; those that it begins with are counted before it is made.

    Parameters
    ----------
    workbench : the session and the registry
    model_id : model to begin with; None takes the one that suits the data in focus best
    focus : names of the data to begin with, those just imported or shown; none means all of the session
    inputs, params, schedule, seed : what to fill in, by name

    Signals
    -------
    start_requested : a checked ``FitPlan`` and the title of the run (empty: numbered by the session)
    search_requested : a checked ``FitPlan``, of which settings are to be varied
    import_requested : the user wants to import data
    changed : anything on the page has changed
    """

    start_requested = Signal(object, str)
    search_requested = Signal(object)
    import_requested = Signal()
    changed = Signal()

    def __init__(
        self,
        workbench: Workbench,
        model_id: str | None = None,
        inputs: Mapping[str, Sequence[str]] | None = None,
        params: Mapping[str, Any] | None = None,
        schedule: Schedule | None = None,
        seed: int = 1,
        *,
        focus: Sequence[str] = (),
        presets: PresetStore | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.workbench = workbench
        self.spec: ModelSpec | None = None
        self.form: HyperparameterForm
        self.schedule_form: ScheduleForm
        self.inputs_form: InputsForm
        self._focus = list(focus)
        self._kept: dict[str, list[str]] = {}
        """What was last chosen for each input, of whichever model."""
        self._data = dict(workbench.session.datasets)
        """The data that are offered."""
        self._counted = OnceCounted(lambda: workbench.session.datasets.values(), self)
        self._counted.failed.connect(self._check_failed)
        self._panel: DataPanel | None = None
        self._marked: list[Any] = []
        self._remedy: Remedy | None = None
        self.plan_check = PlanCheck(self)
        self.plan_check.found.connect(self._checked)
        self.plan_check.failed.connect(self._check_failed)
        self._wanted = ""
        """What follows a check that finds nothing wrong: ``start``, ``search`` or nothing."""
        self._quiet = QTimer(self, singleShot=True, interval=CHECK_DELAY)
        self._quiet.timeout.connect(self._run_check)
        self.foot = Foot()
        self.presets = PresetMenu(self, presets or PresetStore())
        self._build()
        workbench.data_changed.connect(self._data_changed)
        workbench.session_replaced.connect(self._data_changed)
        found = Choices(self._data)
        chosen = model_id or best_model(workbench.registry, found, focus)
        if chosen:
            self.set_model(chosen, seed=seed)
            self.fill(inputs=inputs, params=params, schedule=schedule)
        else:
            self._show_no_model()

    def _build(self) -> None:
        self._card = ModelCard(self.open_models)
        self.change_model = self._card.change
        self._holder = vertical()
        inner = QWidget()
        inner.setMaximumWidth(MAX_WIDTH)
        self._content = inner
        vertical(self._card, self._holder, STRETCH, on=inner, spacing=space.XXL, margins=space.VIEW_EDGE)
        outside = QWidget()
        horizontal((inner, 1000), STRETCH, on=outside)
        self._scroll = scrolled(outside, sideways=True)
        for widget in (self, outside, inner, self._scroll.viewport()):
            widget.setBackgroundRole(self.palette().ColorRole.Base)
            widget.setAutoFillBackground(True)
        vertical((self._scroll, 1), self.foot, on=self, spacing=0)
        self.foot.jump_requested.connect(self.jump_to_first_problem)
        self.foot.start_requested.connect(self.start)
        self.foot.search_requested.connect(self.search)
        self.foot.remedy_requested.connect(self.take_remedy)

    # -- model ----------------------------------------------------------------------------------
    @property
    def data_in_focus(self) -> list[str]:
        """Names of the data that the fit is about: those chosen for required inputs, else those it began with."""
        if self.spec is not None:
            needed = {item.name for item in self.spec.inputs if item.required}
            chosen = {key: names for key, names in self.inputs().items() if key in needed}
            return self.inputs_form.choices.bases(chosen) or self._focus
        return self._focus

    def _show_no_model(self) -> None:
        self._card.hide()
        self.foot.hide()
        self._holder.addWidget(
            StatePane("plug", "No model is installed", "Turn on a plugin with a model in the plugin window.")
        )

    def open_models(self) -> ModelPopup:
        """Open the list of models under its button."""
        current = self.spec.id if self.spec else ""
        choices = Choices(self._data)
        popup = ModelPopup(self.workbench.registry.specs(), choices, self.data_in_focus, current, self)
        popup.chosen.connect(self.set_model)
        popup.open_below(self.change_model)
        return popup

    def set_model(self, model_id: str, seed: int | None = None) -> None:
        """Show the form of a model; data and seed stay where they suit. Raises ``SessionError``."""
        if self.spec is not None and self.spec.id == model_id:
            return
        before = None
        if self.spec is not None:
            before, self._focus = self.form, self.data_in_focus
            self._kept |= self.inputs()
        kept_seed = self.schedule_form.seed if before is not None else 1
        self.spec = self.workbench.registry.model(model_id).spec
        self.workbench.expect(model_id, self.spec.schedule.chains)
        if before is not None:
            self._holder.removeWidget(before)
            before.hide()
            before.deleteLater()
        self._marked = []
        self.plan_check.forget()
        self._card.show_model(self.spec)
        self.inputs_form = InputsForm(self.spec)
        self.schedule_form = ScheduleForm(self.spec, kept_seed if seed is None else seed)
        self.place_form = PlaceForm(self.workbench.places)
        self.form = HyperparameterForm(
            self.spec, [self.inputs_form], [self.schedule_form, self.place_form], self.schedule_form.advanced
        )
        self._holder.addWidget(self.form)
        self.inputs_form.set_datasets(self._data, self._focus, self._kept)
        for part in (self.form, self.schedule_form, self.inputs_form):
            part.changed.connect(self._changed)
        self.form.judged.connect(self._count)
        self.schedule_form.judged.connect(self._count)
        self.inputs_form.import_requested.connect(self.import_requested)
        self.inputs_form.samples_chosen.connect(self.workbench.set_samples)
        self._tell_unsuited()
        self._changed()

    def _tell_unsuited(self) -> None:
        """Why nothing is chosen for the model, and what else there is that suits it."""
        found, spec = self.inputs_form.choices, self.spec
        if spec is None or self.inputs() or not found.session:
            self.foot.message.set_text("")
            return
        reasons = [found.reason(spec, self._focus), elsewhere_text(found.elsewhere(spec, self._focus))]
        self.foot.message.set_text(" ".join(filter(None, reasons)), "warning")

    # -- values ---------------------------------------------------------------------------------
    def fill(
        self,
        inputs: Mapping[str, Sequence[str]] | None = None,
        params: Mapping[str, Any] | None = None,
        schedule: Schedule | Mapping[str, Any] | None = None,
        seed: int | None = None,
        holdout: float | None = None,
    ) -> None:
        """Fill in what is given; of ``inputs``, those not named are left empty. Raises ``SettingError``."""
        if params:
            self.form.set_values(params)
        values = dict(schedule) if isinstance(schedule, Mapping) else {}
        if isinstance(schedule, Schedule):
            values = {name: getattr(schedule, name) for name in schedule.__dataclass_fields__}
        values |= {} if seed is None else {"seed": seed}
        values |= {} if holdout is None else {"holdout": holdout}
        self.schedule_form.set_values(values)
        if inputs and self.spec is not None:
            self.inputs_form.set_values({item.name: inputs.get(item.name, ()) for item in self.spec.inputs})

    def from_run(self, run: Run) -> None:
        """Fill in everything that a run was made with."""
        self.set_model(run.spec.id)
        assert self.spec is not None
        self._focus = [name for names in run.inputs.values() for name in names]
        self.inputs_form.set_datasets(self._data, self._focus)
        known = {parameter.name for parameter in self.spec.hyperparameters}
        params = {name: value for name, value in self.spec.stored_params(run.params).items() if name in known}
        self.fill(run.inputs, params, run.goal or run.schedule, run.seed, run.holdout)

    def take(self, names: Sequence[str]) -> None:
        """Put data just imported into the inputs that they suit; a message says so when they suit none."""
        if self.spec is not None:
            self._counted.do(partial(self._take, names))

    def _take(self, names: Sequence[str]) -> None:
        if self.spec is None or self.inputs_form.take(names):
            return
        reason = self.inputs_form.choices.reason(self.spec, names)
        self.foot.message.set_text(
            f"{self.spec.title} cannot take the data just imported. {reason}", "warning"
        )

    def settings(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Values of the model's settings, and of schedule, seed and share held out."""
        return self.form.values(), self.schedule_form.as_dict()

    def inputs(self) -> dict[str, list[str]]:
        """Names of the chosen datasets by input."""
        return self.inputs_form.values()

    def reset(self) -> None:
        """All settings back to the model's defaults; data stay."""
        self.form.reset()
        self.schedule_form.reset()

    # -- problems -------------------------------------------------------------------------------
    def problems(self) -> list[FieldProblem]:
        """Everything that needs a change, data first."""
        if self.spec is None:
            return []
        return [*self.inputs_form.problems(), *self.form.problems(), *self.schedule_form.problems()]

    def _shown(self) -> list[QWidget]:
        fields: list[Any] = (
            [self.inputs_form.field(item.name) for item in self.spec.inputs] if self.spec else []
        )
        fields += [self.form.field(name) for name in self.form.values()]
        fields += [self.schedule_form.field(name) for name in self.schedule_form.as_dict()]
        return [field for field in fields if field.shown_problem and not field.isHidden()]

    def jump_to_first_problem(self) -> None:
        """Bring the first field with an error into view and give it the keyboard."""
        shown = self._shown()
        if not shown:
            return
        self.form.reveal(shown[0])
        self.inputs_form.reveal(shown[0])
        self._scroll.ensureWidgetVisible(shown[0], 0, space.HUGE)
        shown[0].setFocus()

    def _changed(self) -> None:
        if self.spec is None:
            return
        self._count()
        if self._panel is not None and not self.inputs_form.subsets():
            self._panel.set_dataset(self._main_dataset())
        self._show_matrices()
        self._quiet.start()
        self.changed.emit()

    def _show_matrices(self) -> None:
        """Tell what has a choice per matrix, and the dock, which matrices are chosen."""
        assert self.spec is not None
        chosen = self._datasets()
        for item in self.spec.inputs:
            if item.many:
                self.form.set_matrices(item.name, chosen.get(item.name, []))
        if self._panel is not None:
            several = next((chosen[i.name] for i in self.spec.inputs if i.many and i.name in chosen), [])
            self._panel.set_views(several)

    def _count(self) -> None:
        self.foot.set_errors(len(self._shown()))

    def _data_changed(self, name: str = "") -> None:
        if self.spec is not None:
            self.plan_check.forget()
            self._counted.do(partial(self._offer, name))

    def _offer(self, name: str) -> None:
        """Offer the data as they are now, among them those of that name, which are new."""
        self._data = dict(self.workbench.session.datasets)
        focus = [*self.data_in_focus, name] if self.data_in_focus and name else self.data_in_focus
        self.inputs_form.set_datasets(self._data, focus)

    # -- plan -----------------------------------------------------------------------------------
    def _datasets(self) -> dict[str, list[Dataset]]:
        return self.inputs_form.datasets()

    def _main_dataset(self) -> Dataset | None:
        return next((datasets[0] for datasets in self._datasets().values() if datasets), None)

    def _asked(self) -> Asked:
        """What the page says now."""
        assert self.spec is not None
        return Asked(
            self.spec.id,
            self._datasets(),
            self.inputs_form.subsets(),
            self.form.values(),
            self.schedule_form.schedule(),
            self.schedule_form.seed,
            self.schedule_form.holdout,
        )

    def _run_check(self, wanted: str = "") -> None:
        """Check data and settings together off the GUI thread; then cost, or what is wrong."""
        self._wanted = self._wanted or wanted  # a check that follows an edit must not forget the start
        self.plan_check.cancel()
        if self.spec is None or self.problems():
            self._wanted = ""
            self.foot.estimate.setText("No estimate yet")
            return
        try:
            model = self.workbench.registry.model(self.spec.id)
        except PlaidworkError as error:  # its plugin was turned off while the page was open
            self._wanted = ""
            self.foot.message.set_text(str(error), "error")
            return
        self.plan_check.begin(model, self._asked(), self.workbench.session.datasets)

    def _checked(self, asked: Asked, found: Planned) -> None:
        plan, cost, wrong = found
        if wrong is not None and wrong.fault is not None:
            self.workbench.faults.blame("The cost of a fit could not be estimated", wrong.fault, kind="warn")
        self._clear_marked()
        self._show_cost(plan, cost)
        as_shown = asked.same_as(self._asked())
        if self._panel is not None and as_shown:
            self._panel.set_dataset(next(iter(plan.inputs.values()))[0])
        if self._wanted and as_shown:
            self._emit(plan)

    def _check_failed(self, error: BaseException, details: str) -> None:
        wanted, self._wanted = self._wanted, ""
        self._clear_marked()
        self.foot.set_busy(False)
        self.foot.estimate.setText("Not ready to start")
        field = field_of(error, self.inputs_form, self.form, self.schedule_form)
        if field is not None:
            self.form.reveal(field)
            self.inputs_form.reveal(field)
            field.tell(str(error))
            self._marked.append(field)
        elif isinstance(error, PlaidworkError):
            self.foot.message.set_text(str(error))
        if isinstance(error, PluginError) and error.fault is not None:
            self.workbench.faults.blame("The data could not be checked", error.fault)
        elif not isinstance(error, PlaidworkError):
            title = f"{self.spec.title if self.spec else 'The model'} could not check these data"
            self.foot.message.set_text(f"{title}: {type(error).__name__}: {error}")
            self.workbench.notified.emit("error", title, f"{type(error).__name__}: {error}", details)
        self._count()
        if wanted:
            self.jump_to_first_problem()

    def _clear_marked(self) -> None:
        for field in self._marked:
            field.leave()
        self._marked = []
        self.foot.message.set_text("")
        self._remedy = None
        self.foot.offer_remedy("")

    def _show_cost(self, plan: FitPlan, cost: Cost | None) -> None:
        self.foot.set_busy(False)
        self._count()
        if plan.warnings:
            more = f" (and {len(plan.warnings) - 1} more)" if len(plan.warnings) > 1 else ""
            first = plan.warnings[0]
            self.foot.message.set_text(f"{first.message} {first.hint}".strip() + more, "warning")
            self._remedy = remedy_of(plan, self._datasets())
            if self._remedy is not None:
                dataset, step = self._remedy
                self.foot.offer_remedy(
                    words_of(step), f"Add a copy of {dataset.name} and fit that; nothing else changes"
                )
        self.foot.estimate.setText(cost_text(plan, cost))

    def take_remedy(self) -> None:
        """Make the transformed copy in the background, put it into the session and choose it."""
        if self._remedy is None:
            return
        dataset, step = self._remedy
        self.foot.remedy.setEnabled(False)
        run_task(lambda task: made(dataset, step), self._take_copy, self._copy_failed)

    def _take_copy(self, copy: Dataset) -> None:
        if isValid(self) and self.spec is not None:  # the fit may be started, or the page closed, meanwhile
            self.take([self.workbench.add_dataset(copy).name])
            self._counted.do(self._changed)

    def _copy_failed(self, error: BaseException, details: str) -> None:
        if isValid(self):
            self._check_failed(error, details)

    def start(self) -> None:
        """Check everything; emit ``start_requested`` when all is well, else go to the first error."""
        self._go("start")

    def search(self) -> None:
        """The same, but emit ``search_requested``."""
        self._go("search")

    def _go(self, wanted: str) -> None:
        if self.spec is None:
            return
        for part in (self.inputs_form, self.form, self.schedule_form):
            part.leave_all()
        self._count()
        if self.problems() or self._shown():
            for problem in self.problems():
                self.form.reveal(problem.field)
                self.inputs_form.reveal(problem.field)
            self.jump_to_first_problem()
            return
        plan = self.plan_check.plan_for(self._asked())
        if plan is not None:
            self._wanted = wanted
            self._emit(plan)
            return
        self._quiet.stop()
        self.foot.set_busy(True)
        self._run_check(wanted)

    def _emit(self, plan: FitPlan) -> None:
        wanted, self._wanted = self._wanted, ""
        self._quiet.stop()
        self.foot.set_busy(False)
        if wanted == "search":
            self.search_requested.emit(plan)
        else:
            self.start_requested.emit(plan, "")

    # -- dock -----------------------------------------------------------------------------------
    def side_panel(self) -> DataPanel:
        """The widget for the right dock; it follows the chosen data."""
        if self._panel is None:
            self._panel = DataPanel()
            self._panel.setWindowTitle(tr("Data preview"))
            self._panel.destroyed.connect(self._forget_panel)
            self.destroyed.connect(self._panel.deleteLater)
            self._panel.set_dataset(self._main_dataset() if self.spec else None)
            if self.spec is not None:
                self._show_matrices()
        return self._panel

    def _forget_panel(self) -> None:
        self._panel = None
