"""The panel of a search: which settings vary over which values, how often, ranked by what, at what cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from plaidwork.core.contract.hyperparameter import Hyperparameter
from plaidwork.core.contract.metric import Metric, metrics_of
from plaidwork.core.contract.model import Problem
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import SettingError
from plaidwork.core.inference.plan import FitPlan
from plaidwork.core.study import Study, combinations
from plaidwork.core.study.cost import StudyCost, measure_cost, study_memory_problem
from plaidwork.gui.data.pane import Pane
from plaidwork.gui.dialog_parts import foot_pane, head_pane
from plaidwork.gui.language import tr
from plaidwork.gui.numbers import format_bytes, format_duration
from plaidwork.gui.priority import PRIORITY
from plaidwork.gui.results.item_picker import ItemPicker
from plaidwork.gui.setup.fields import ErrorLine, SettingField
from plaidwork.gui.setup.sections import Fold
from plaidwork.gui.studies.grid_row import GridRow
from plaidwork.gui.task_dialog import TaskDialog, error_text
from plaidwork.gui.tasks import Task
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Label, button, scrolled
from plaidwork.gui.widgets.layouts import horizontal, vertical
from plaidwork.gui.workbench import Workbench

DELAY = 500
"""Milliseconds of quiet after a change until the cost is measured."""
COST = "cost"
"""Name of the task."""

_REPEATS = Hyperparameter(
    "repeats", "int", 3, label="Seeds per combination", minimum=1, maximum=1000,
    doc="From the seed of the set-up on",
)  # fmt: skip
_AT_ONCE = Hyperparameter(
    "at_once", "int", 1, label="Fits at a time", minimum=1, maximum=256, doc="As many as there are processors; on a cluster twice as many",
)  # fmt: skip


class SearchDialog(TaskDialog):
    """Made from a checked plan; after ``accept`` the search is in ``study``, to be run ``at_once`` fits at a time.

    ``estimated`` follows every measured cost.
    """

    estimated = Signal()

    def __init__(self, workbench: Workbench, plan: FitPlan, parent: QWidget | None = None) -> None:
        super().__init__(f"Search settings of {plan.spec.title}", parent)
        self.workbench, self.plan = workbench, plan
        self.study: Study | None = None
        self.cost: StudyCost | None = None
        self._ready: tuple[Any, Study] | None = None
        self._wanted = False
        """Whether the search starts as soon as it is checked."""
        self._quiet = self.later(DELAY, self._check)
        values = plan.params
        self.rows = [
            GridRow(parameter, values[parameter.name])
            for parameter in plan.spec.hyperparameters
            if parameter.kind != "text" or values[parameter.name]
        ]
        self.repeats, self.at_once_field = SettingField(_REPEATS), SettingField(_AT_ONCE)
        self.at_once_field.set_default(min(256, workbench.places.fits_at_once()))
        self.at_once_field.set_value(self.at_once_field.default)
        self.metrics = metrics_of(plan.spec, workbench.registry.metrics, plan.model.offers("log_likelihood"))
        self.ranking = ItemPicker()
        self.ranking.set_names([metric.name for metric in self.metrics] or ["nothing known yet"])
        self.ranking.setAccessibleName(tr("Rank by"))
        self.doubt = ErrorLine()
        self.error = ErrorLine()
        self.count = Label("", "strong", elide=True)
        self.estimate = Label("", "body", "muted", elide=True)
        self.start_button = button("Start search", self._start, kind="primary", icon_name="play")
        self.start_button.setDefault(True)
        self._build()
        self.resize(820, 640)
        for row in self.rows:
            row.changed.connect(self._changed)
        for field in (self.repeats, self.at_once_field):
            field.changed.connect(self._changed)
        self.ranking.currentIndexChanged.connect(lambda _: self._changed())
        self._changed()

    def _build(self) -> None:
        text = "Tick what to vary. Every combination of the values is fitted, and the fits are ranked."
        if self.plan.schedule.budget:  # many fits that all go on until they settle take too long
            text += f" Each keeps {counted(self.plan.schedule.draws, 'draw')} per chain."
        head = head_pane(self.windowTitle(), Label(text, "body", "muted", elide=True))
        inner = Pane("surface")
        column = vertical(
            on=inner, spacing=space.M, margins=(space.DIALOG_EDGE, space.L, space.DIALOG_EDGE, space.L)
        )
        for row in self.rows:
            if not row.parameter.advanced:
                column.addWidget(row)
        hidden = [row for row in self.rows if row.parameter.advanced]
        if hidden:
            column.addWidget(self._fold(hidden))
        column.addStretch(1)
        scroll = scrolled(inner, sideways=True)
        vertical(head, (scroll, 1), self._how_often(), self._foot(), on=self, spacing=0)

    def _fold(self, rows: list[GridRow]) -> Fold:
        holder = QWidget()
        vertical(*rows, on=holder, spacing=space.M)
        fold = Fold("Advanced", holder)
        fold.set_note(f"{counted(len(rows), 'more setting')}")
        return fold

    def _how_often(self) -> QWidget:
        pane = Pane("sunken", "top")
        top = Qt.AlignmentFlag.AlignTop
        rank = vertical(Label("Rank by"), self.ranking, spacing=space.XS)
        row = horizontal(
            (self.repeats, 1, top), (self.at_once_field, 1, top), (rank, 1, top), spacing=space.XL
        )
        vertical(
            row,
            self.doubt,
            self.error,
            on=pane,
            spacing=space.S,
            margins=(space.DIALOG_EDGE, space.M, space.DIALOG_EDGE, space.M),
        )
        return pane

    def _foot(self) -> QWidget:
        return foot_pane((self.count, self.estimate), button("Cancel", self.reject), self.start_button)

    # -- what is asked for ----------------------------------------------------------------------
    def row(self, name: str) -> GridRow:
        """The row of a setting."""
        return next(row for row in self.rows if row.parameter.name == name)

    @property
    def at_once(self) -> int:
        """Fits at a time."""
        return int(self.at_once_field.value)

    def grid(self) -> dict[str, list[Any]]:
        """Values by setting that varies. Raises ``SettingError``."""
        return {row.parameter.name: row.values() for row in self.rows if row.varies}

    def seeds(self) -> list[int]:
        """As many as repeats, from the plan's on."""
        return [self.plan.seed + step for step in range(int(self.repeats.value))]

    def _metric(self) -> Metric | None:
        return self.metrics[self.ranking.currentIndex()] if self.metrics else None

    def _fixed(self, grid: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in self.plan.params.items() if name not in grid}

    def _changed(self) -> None:
        self._quiet.stop()
        self.drop(COST)
        self.error.set_text("")
        self.start_button.setText(tr("Start search"))
        self.cost, self._wanted = None, False
        if any(row.problem for row in self.rows) or self.repeats.problem or self.at_once_field.problem:
            self._blocked("Some values need a change")
            return
        self._show_active()
        grid = self.grid()
        try:
            _, points = combinations(self.plan.spec, grid, self._fixed(grid), self.seeds())
        except SettingError as error:
            self._blocked("Too many fits" if "jobs" in error.message else "Not ready to start")
            self.error.set_text(str(error))
            return
        many = [name for name, values in grid.items() if len(values) > 1]
        metric = self._metric()
        across = metric.incomparable(many) if metric is not None else ()
        titles = ", ".join(self.plan.spec.hyperparameter(name).title for name in across)
        doubt = f"{metric.name if metric else ''} cannot be compared across {titles}. Rank by another number."
        self.doubt.set_text(doubt if across else "", "warning")
        fits = len(points)
        self.count.setText(counted(fits, "fit"))
        self.estimate.setText("Measuring how long they take…")
        self.start_button.setEnabled(True)
        self._quiet.start()

    def _show_active(self) -> None:
        """Settings that matter only at other values of settings that do not vary are left out of sight."""
        varied = {row.parameter.name for row in self.rows if row.varies}
        for row in self.rows:
            matters = row.parameter.active(self.plan.params) or varied & set(row.parameter.when)
            row.setVisible(bool(matters) or row.varies)

    def _blocked(self, text: str) -> None:
        self.count.setText(text)
        self.estimate.setText("")
        self.start_button.setEnabled(False)

    # -- cost -----------------------------------------------------------------------------------
    def _signature(self) -> Any:
        return repr(self.grid()), self.seeds(), self.ranking.currentIndex()

    def _requested_study(self) -> Callable[[], Study]:
        """Makes the search as it is asked for now; to be called in a task, since data and settings are checked."""
        grid, plan, plugins = self.grid(), self.plan, self.workbench.registry
        titles = {record.title for record in self.workbench.studies.records()}
        numbers = (f"{plan.spec.title} search {number}" for number in range(1, 10_000))
        return partial(
            Study.grid,
            plan.model,
            plan.inputs,
            grid,
            seeds=self.seeds(),
            schedule=replace(plan.schedule, budget=0.0),
            metric=self._metric(),
            metrics=plugins.metrics,
            hyperparameters=self._fixed(grid),
            holdout=plan.holdout,
            title=next(title for title in numbers if title not in titles),
        )

    def _check(self) -> None:
        signature, make, at_once = self._signature(), self._requested_study(), self.at_once

        def work(task: Task) -> tuple[Study, StudyCost, Problem | None]:
            study = make()
            task.check()
            short = study_memory_problem(study, at_once)
            task.check()

            def between() -> None:
                task.check()
                PRIORITY.wait()

            return study, measure_cost(study, between=between), short

        def done(found: tuple[Study, StudyCost, Problem | None]) -> None:
            study, self.cost, short = found
            self._ready = (signature, study)
            self._show_cost()
            if short is not None:
                doubts = (self.doubt.text, f"{short.message} {short.hint}")
                self.doubt.set_text(" ".join(filter(None, doubts)), "warning")
            if self._wanted:
                self._start()

        self.begin(COST, work, done, self._failed, minutes=True)

    def _failed(self, error: BaseException, details: str) -> None:
        self._wanted = False
        self.start_button.setText(tr("Start search"))
        self.error.set_text(error_text(error))
        self._blocked("Not ready to start")

    def _show_cost(self) -> None:
        assert self._ready is not None
        assert self.cost is not None
        fits, cost = len(self._ready[1].jobs), self.cost
        at_once = min(self.at_once, fits)
        time = format_duration(max(1.0, cost.seconds(fits, at_once)), rough=True)
        memory = format_bytes(cost.memory(at_once))
        word = "At most" if cost.at_most else "About"
        self.estimate.setText(f"{word} {time} with {at_once} at a time, and {memory} of memory; measured now")
        self.estimated.emit()

    def _start(self) -> None:
        for row in self.rows:
            row.judge()
        if not self.start_button.isEnabled():
            return
        if self._ready is None or self._ready[0] != self._signature():
            self._wanted = True
            self.start_button.setText(tr("Checking…"))
            if self._quiet.isActive():
                self._quiet.stop()
                self._check()
            return
        self.study = self._ready[1]
        self.accept()
