"""What is checked before a fit begins, shown below the form and at its fields, and how it then begins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal
from shiboken6 import isValid

from plaidwork.core.contract.model import Cost
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import PlaidworkError, PluginError
from plaidwork.core.inference.plan import FitPlan
from plaidwork.gui.setup.blame import field_of
from plaidwork.gui.setup.cost import Planned, cost_text
from plaidwork.gui.setup.plan_check import Asked, PlanCheck
from plaidwork.gui.setup.remedy import (
    Remedy,
    made,
    remedy_of,
    settings_of,
    told_settings,
    words_of,
    words_of_settings,
)
from plaidwork.gui.tasks import run_task

if TYPE_CHECKING:
    from plaidwork.gui.setup.setup_page import SetupPage

CHECK_DELAY = 250
"""Milliseconds of quiet after a change until data and settings are checked together."""


class Launch(QObject):
    """Checks a set-up in the background while it changes, says in its foot what the fit costs or what is wrong, and starts it.

    Signals
    -------
    checked : a ``FitPlan`` of what the page shows now
    ready : a checked ``FitPlan``, and what was asked for: ``start`` or ``search``
    blamed : a field may show another problem
    """

    checked = Signal(object)
    ready = Signal(object, str)
    blamed = Signal()

    def __init__(self, page: SetupPage) -> None:
        super().__init__(page)
        self._page, self._foot = page, page.foot
        self.check = PlanCheck(self)
        self.check.found.connect(self._checked)
        self.check.failed.connect(self.fail)
        self._marked: list[Any] = []
        self._remedy: Remedy | Mapping[str, Any] | None = None
        self._wanted = ""
        """What follows a check that finds nothing wrong: ``start``, ``search`` or nothing."""
        self._quiet = QTimer(self, singleShot=True, interval=CHECK_DELAY)
        self._quiet.timeout.connect(self.begin)
        self._foot.remedy_requested.connect(self.take_remedy)

    def soon(self) -> None:
        """Something has changed: check once nothing more does for a while."""
        self._quiet.start()

    def forget(self) -> None:
        """Another form: its fields are not those that were marked, and the plan is no longer right."""
        self._marked = []
        self.check.forget()

    def begin(self, wanted: str = "") -> None:
        """Check data and settings together off the GUI thread; then cost, or what is wrong."""
        page = self._page
        self._wanted = self._wanted or wanted  # a check that follows an edit must not forget the start
        self.check.cancel()
        if page.spec is None or page.problems():
            self._wanted = ""
            self._foot.estimate.setText("No estimate yet")
            return
        try:
            model = page.workbench.registry.model(page.spec.id)
        except PlaidworkError as error:  # its plugin was turned off while the page was open
            self._wanted = ""
            self._foot.message.set_text(str(error), "error")
            return
        self.check.begin(model, page.asked(), page.workbench.session.datasets)

    def go(self, wanted: str) -> None:
        """Begin what is ``wanted`` with the plan of what the page shows, once that is checked."""
        plan = self.check.plan_for(self._page.asked())
        if plan is not None:
            self._wanted = wanted
            self._emit(plan)
            return
        self._quiet.stop()
        self._foot.set_busy(True)
        self.begin(wanted)

    def _emit(self, plan: FitPlan) -> None:
        wanted, self._wanted = self._wanted, ""
        self._quiet.stop()
        self._foot.set_busy(False)
        self.ready.emit(plan, wanted)

    # -- what was found -------------------------------------------------------------------------
    def _checked(self, asked: Asked, found: Planned) -> None:
        plan, cost, wrong = found
        if wrong is not None and wrong.fault is not None:
            faults = self._page.workbench.faults
            faults.blame("The cost of a fit could not be estimated", wrong.fault, kind="warn")
        self._clear_marked()
        self._show_cost(plan, cost)
        if asked.same_as(self._page.asked()):
            self.checked.emit(plan)
            if self._wanted:
                self._emit(plan)

    def fail(self, error: BaseException, details: str) -> None:
        """Say what is wrong, at the field that it belongs to where there is one."""
        page = self._page
        wanted, self._wanted = self._wanted, ""
        self._clear_marked()
        self._foot.set_busy(False)
        self._foot.estimate.setText("Not ready to start")
        field = field_of(error, page.inputs_form, page.form, page.schedule_form)
        if field is not None:
            page.reveal(field)
            field.tell(str(error))
            self._marked.append(field)
        elif isinstance(error, PlaidworkError):
            self._foot.message.set_text(str(error))
        if isinstance(error, PluginError) and error.fault is not None:
            page.workbench.faults.blame("The data could not be checked", error.fault)
        elif not isinstance(error, PlaidworkError):
            title = f"{page.spec.title if page.spec else 'The model'} could not check these data"
            self._foot.message.set_text(f"{title}: {type(error).__name__}: {error}")
            page.workbench.notified.emit("error", title, f"{type(error).__name__}: {error}", details)
        self.blamed.emit()
        if wanted:
            page.jump_to_first_problem()

    def _clear_marked(self) -> None:
        for field in self._marked:
            field.leave()
        self._marked = []
        self._foot.message.set_text("")
        self._remedy = None
        self._foot.offer_remedy("")

    def _show_cost(self, plan: FitPlan, cost: Cost | None) -> None:
        self._foot.set_busy(False)
        self.blamed.emit()
        if plan.warnings:
            more = f" (and {len(plan.warnings) - 1} more)" if len(plan.warnings) > 1 else ""
            first = plan.warnings[0]
            self._foot.message.set_text(f"{first.message} {first.hint}".strip() + more, "warning")
            self._offer(plan)
        self._foot.estimate.setText(cost_text(plan, cost))

    # -- what helps -----------------------------------------------------------------------------
    def _offer(self, plan: FitPlan) -> None:
        """Offer what helps against the first warning, where it says."""
        settings, remedy = settings_of(plan), remedy_of(plan, self._page.datasets())
        self._remedy = settings or remedy
        if settings:
            told = told_settings(plan.spec, self._differing(settings))
            self._foot.offer_remedy(words_of_settings(plan.spec, settings), f"Change the settings so: {told}")
        elif remedy is not None:
            dataset, step = remedy
            self._foot.offer_remedy(
                words_of(step), f"Add a copy of {dataset.name} and fit that; nothing else changes"
            )

    def take_remedy(self) -> None:
        """Change the settings; or make the transformed copy in the background, put it into the session and choose it."""
        if self._remedy is None:
            return
        if isinstance(self._remedy, Mapping):
            self._change(self._remedy)
            return
        dataset, step = self._remedy
        self._foot.remedy.setEnabled(False)
        run_task(lambda task: made(dataset, step), self._take_copy, self._copy_failed)

    def _differing(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Those of the settings that the form shows with other values."""
        now = self._page.form.values()
        return {name: value for name, value in settings.items() if now[name] != value}

    def _change(self, settings: Mapping[str, Any]) -> None:
        """Set what helps, and show what that was: it may be far from the button."""
        page, form, changed = self._page, self._page.form, self._differing(settings)
        form.set_values(settings)
        shown = [form.field(name) for name in changed if not form.field(name).isHidden()]
        if shown:
            page.bring_into_view(shown[-1])
        if changed:
            page.told.emit(f"Settings changed: {told_settings(form.spec, changed)}")
        self.soon()

    def _take_copy(self, copy: Dataset) -> None:
        if (
            isValid(self) and self._page.spec is not None
        ):  # the fit may be started, or the page closed, meanwhile
            name = self._page.workbench.add_dataset(copy).name
            self._page.take([name])
            self._page.told.emit(f"“{name}” was added and is chosen for the fit")
            self.soon()

    def _copy_failed(self, error: BaseException, details: str) -> None:
        if isValid(self):
            self.fail(error, details)
