"""The page on which a fit is set up: model, data, settings, schedule, cost, start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QWidget

from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.contract.spec import ModelSpec
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.inference.plan import FitPlan
from plaidwork.core.inference.run import Run
from plaidwork.core.session.suitability import Choices, best_model
from plaidwork.gui.data.counting import OnceCounted
from plaidwork.gui.data.data_panel import DataPanel
from plaidwork.gui.page import Page
from plaidwork.gui.setup.foot import Foot
from plaidwork.gui.setup.form import FieldProblem, HyperparameterForm
from plaidwork.gui.setup.inputs_form import InputsForm
from plaidwork.gui.setup.launch import Launch
from plaidwork.gui.setup.model_card import ModelCard
from plaidwork.gui.setup.model_popup import ModelPopup, elsewhere_text
from plaidwork.gui.setup.place_form import PlaceForm
from plaidwork.gui.setup.plan_check import Asked
from plaidwork.gui.setup.preset_menu import PresetMenu
from plaidwork.gui.setup.presets import PresetStore
from plaidwork.gui.setup.preview_dock import PreviewDock
from plaidwork.gui.setup.schedule_form import ScheduleForm
from plaidwork.gui.setup.sections import FOLD_MILLISECONDS
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import StatePane, scrolled
from plaidwork.gui.widgets.layouts import STRETCH, horizontal, vertical
from plaidwork.gui.workbench import Workbench

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
    told : what a click has changed, for the status bar
    """

    start_requested = Signal(object, str)
    search_requested = Signal(object)
    import_requested = Signal()
    changed = Signal()
    told = Signal(str)

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
        self._dock = PreviewDock(self)
        self.foot = Foot()
        self.launch = Launch(self)
        self.launch.checked.connect(self._show_plan)
        self.launch.ready.connect(self._ready)
        self.launch.blamed.connect(self._count)
        self._counted.failed.connect(self.launch.fail)
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
        self.launch.forget()
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

    def reveal(self, field: QWidget) -> None:
        """Open the fold that a field is in."""
        self.form.reveal(field)
        self.inputs_form.reveal(field)

    def bring_into_view(self, field: QWidget) -> None:
        """Open the fold that a field is in, scroll to it and give it the keyboard."""
        closed = not field.isVisible()
        self.reveal(field)
        field.setFocus()
        # once the layout has come to rest: fields may have come in above it, and a fold takes its time to open
        wait = 2 * FOLD_MILLISECONDS if closed else 0
        QTimer.singleShot(wait, field, lambda: self._scroll.ensureWidgetVisible(field, 0, space.HUGE))

    def jump_to_first_problem(self) -> None:
        """Bring the first field with an error into view and give it the keyboard."""
        shown = self._shown()
        if not shown:
            return
        self.bring_into_view(shown[0])

    def _changed(self) -> None:
        if self.spec is None:
            return
        self._count()
        if not self.inputs_form.subsets():
            self._dock.show_data(self._main_dataset())
        self._show_matrices()
        self.launch.soon()
        self.changed.emit()

    def _show_matrices(self) -> None:
        """Tell what has a choice per matrix, and the dock, which matrices are chosen."""
        assert self.spec is not None
        chosen = self.datasets()
        for item in self.spec.inputs:
            if item.many:
                self.form.set_matrices(item.name, chosen.get(item.name, []))
        several = next((chosen[i.name] for i in self.spec.inputs if i.many and i.name in chosen), [])
        self._dock.show_views(several)

    def _count(self) -> None:
        self.foot.set_errors(len(self._shown()))

    def _data_changed(self, name: str = "") -> None:
        if self.spec is not None:
            self.launch.check.forget()
            self._counted.do(partial(self._offer, name))

    def _offer(self, name: str) -> None:
        """Offer the data as they are now, among them those of that name, which are new."""
        self._data = dict(self.workbench.session.datasets)
        focus = [*self.data_in_focus, name] if self.data_in_focus and name else self.data_in_focus
        self.inputs_form.set_datasets(self._data, focus)

    # -- plan -----------------------------------------------------------------------------------
    def datasets(self) -> dict[str, list[Dataset]]:
        """What is chosen by input."""
        return self.inputs_form.datasets()

    def _main_dataset(self) -> Dataset | None:
        return next((datasets[0] for datasets in self.datasets().values() if datasets), None)

    def asked(self) -> Asked:
        """What the page says now."""
        assert self.spec is not None
        return Asked(
            self.spec.id,
            self.datasets(),
            self.inputs_form.subsets(),
            self.form.values(),
            self.schedule_form.schedule(),
            self.schedule_form.seed,
            self.schedule_form.holdout,
        )

    def _show_plan(self, plan: FitPlan) -> None:
        self._dock.show_data(next(iter(plan.inputs.values()))[0])

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
                self.reveal(problem.field)
            self.jump_to_first_problem()
            return
        self.launch.go(wanted)

    def _ready(self, plan: FitPlan, wanted: str) -> None:
        if wanted == "search":
            self.search_requested.emit(plan)
        else:
            self.start_requested.emit(plan, "")

    # -- dock -----------------------------------------------------------------------------------
    def side_panel(self) -> DataPanel:
        """The widget for the right dock; it follows the chosen data."""
        return self._dock.panel(self._fill_dock)

    def _fill_dock(self) -> None:
        self._dock.show_data(self._main_dataset() if self.spec else None)
        if self.spec is not None:
            self._show_matrices()
