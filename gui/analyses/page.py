"""The tab *Analyses* of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QPalette, QResizeEvent
from PySide6.QtWidgets import QFrame, QStackedWidget, QWidget
from shiboken6 import isValid

from plaidwork.core.analysing import compute_analysis, examine_file, keep_analysis
from plaidwork.core.data.annotate import annotate_all
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import PluginError
from plaidwork.core.findings.analysis import AnalysisRecord, AnalysisSpec
from plaidwork.core.findings.annotations import available_annotations
from plaidwork.core.findings.attached import AttachedFile, FileRequest, attach
from plaidwork.core.findings.unlocking import standing
from plaidwork.core.inference.run import Run
from plaidwork.core.session.edits import Edit
from plaidwork.gui.analyses.ask_page import AskPage
from plaidwork.gui.analyses.rail import MADE, NEW, Rail
from plaidwork.gui.analyses.record_view import RecordView
from plaidwork.gui.data.counting import OnceCounted
from plaidwork.gui.language import tr
from plaidwork.gui.page import FrontPage
from plaidwork.gui.results.choices import kept_choices
from plaidwork.gui.tasks import Task, run_task
from plaidwork.gui.widgets import StatePane
from plaidwork.gui.widgets.layouts import horizontal
from plaidwork.gui.workbench import Workbench

RAIL_WIDTH = 250
_NARROW_RAIL, _NARROW = 190, 900
"""Width of the rail on a page narrower than this."""


class AnalysisPage(FrontPage):
    """Analyses that can be made of a run at the left, the form or what was found at the right."""

    made = Signal(str)
    """Id of a record that has just been made."""

    def __init__(self, workbench: Workbench, run: Run, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.workbench, self.run = workbench, run
        self._specs: tuple[AnalysisSpec, ...] | None = None
        self._listing: Task | None = None
        self._making: Task | None = None
        self._answers: AnalysisRecord | None = None
        # a form asks which data lack cells
        self._counted = OnceCounted(lambda: workbench.session.datasets.values(), self)
        self._counted.failed.connect(self._not_read)
        self.rail = Rail()
        self.rail.setFixedWidth(RAIL_WIDTH)
        self._kept = kept_choices(run.view_settings, "Analyses")
        self._pane = StatePane("clock", "Looking for analyses")
        self.stack = QStackedWidget()
        self.stack.addWidget(self._pane)
        line = QFrame()
        line.setFrameShape(QFrame.Shape.NoFrame)
        line.setFixedWidth(1)
        line.setBackgroundRole(QPalette.ColorRole.Mid)
        line.setAutoFillBackground(True)
        self._line = line
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)
        self.setAccessibleName(tr("Analyses"))
        horizontal(self.rail, line, (self.stack, 1), on=self, spacing=0)
        self.rail.chosen.connect(self._show)
        self.rail.delete_requested.connect(self.delete)
        workbench.results_changed.connect(self._on_results)
        workbench.plugin_changed.connect(self._on_plugin)
        workbench.editing.stepped.connect(self._on_step)
        self.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The rail gives way on a narrow page."""
        self.rail.setFixedWidth(RAIL_WIDTH if self.width() >= _NARROW else _NARROW_RAIL)
        super().resizeEvent(event)

    # -- which analyses -------------------------------------------------------------------------
    def refresh(self) -> None:
        """Ask the plugins, in the background, what can be made of the run as it is."""
        if self._listing is not None:
            self._listing.cancel()
        plugins, run = self.workbench.registry, self.run
        self._listing = run_task(
            lambda task: plugins.analyses_for(run), self._alive(self._listed), self._alive(self._not_listed)
        )

    def _alive(self, act: Callable[..., None]) -> Callable[..., None]:
        return lambda *values: act(*values) if isValid(self) else None

    def _listed(self, specs: Sequence[AnalysisSpec]) -> None:
        before = self._specs
        self._specs = tuple(specs)
        self._fill()
        if (
            before is not None
            and self.rail.current() != ("", "")
            and self.stack.currentWidget() is not self._pane
        ):
            return  # what is on the screen stays
        records, specs = self.run.analyses, self._specs
        front = self._kept.get("front")
        if before is None and isinstance(front, list) and len(front) == 2 and self.rail.select(*front):
            return
        if records:
            self.rail.select(MADE, records[-1].id)
        elif specs:
            self.rail.select(NEW, next(filter(self._has_all, specs), specs[0]).id)
        else:
            self._show_nothing()

    def _has_all(self, spec: AnalysisSpec) -> bool:
        """Whether the session has all that an analysis asks for."""
        run, datasets, own = self.run, self.workbench.session.datasets, {item.name for item in spec.inputs}
        return (
            all(run.inputs.get(item.name) for item in spec.inputs if item.required)
            and not any(file.required for file in spec.files)
            and all(
                available_annotations(asked, run, datasets, spec.needs, {})
                for asked in spec.annotations
                if asked.required and asked.of not in own
            )
        )

    def _not_listed(self, error: BaseException, details: str) -> None:
        self._show_pane(
            "error", "The analyses could not be listed", f"{type(error).__name__}: {error}", "error"
        )
        self._pane.setToolTip(tr(details))

    def _not_read(self, error: BaseException, details: str) -> None:
        self._show_pane("error", "The data cannot be read", str(error), "error")
        self._pane.setToolTip(tr(details))

    def _fill(self) -> None:
        self.rail.fill(self._specs or (), self.run.analyses)
        empty = self.rail.count() == 0
        self.rail.setVisible(not empty)
        self._line.setVisible(not empty)

    def _on_results(self, run_id: str) -> None:
        if run_id == self.run.id:
            self.refresh()

    def _on_plugin(self, name: str) -> None:
        if self.workbench.registry.settled or self._specs is not None:
            self.refresh()

    def _show_nothing(self) -> None:
        if not self.run.results:
            text = "Analyses use the results of the fit. They are offered here as soon as there are some."
            self._show_pane("clock", "No result to analyse yet", text)
        elif self.workbench.is_missing(self.run.spec.id):
            text = (
                "The model of this run is not installed, and with it go the analyses that its plugin brings."
            )
            self._show_pane("plug", "No analysis without the model", text)
        else:
            text = "No installed analysis can use the results of this run. A plugin may bring some."
            self._show_pane("search", "No analysis for this run", text)

    def _show_pane(self, icon: str, title: str, text: str, color: str = "muted") -> None:
        self._pane.set(icon, title, text, icon_color=color)
        self.stack.setCurrentWidget(self._pane)

    # -- what is in front -----------------------------------------------------------------------
    @property
    def current(self) -> QWidget:
        """The form, the record or the pane at the right."""
        return self.stack.currentWidget() or self._pane

    def _put(self, widget: QWidget) -> None:
        old = self.stack.currentWidget()
        self.stack.addWidget(widget)
        self.stack.setCurrentWidget(widget)
        if old is not None and old is not self._pane:
            self.stack.removeWidget(old)
            old.deleteLater()

    def _show(self, kind: str, key: str) -> None:
        if self._making is not None:
            self.cancel()
        self._kept["front"] = [kind, key]
        self.workbench.note_view()
        if kind == NEW:
            self._counted.do(partial(self._ask, key))
            return
        record = next((record for record in self.run.analyses if record.id == key), None)
        if record is None:
            return
        view = RecordView(self.workbench, self.run, record)
        view.hovered.connect(self.hovered)
        view.again.connect(partial(self.again, record))
        view.deleted.connect(partial(self.delete, record.id))
        self._put(view)

    def _ask(self, key: str) -> None:
        """The form of an analysis, unless something else was chosen since."""
        spec = next((spec for spec in self._specs or () if spec.id == key), None)
        if spec is None or self._kept["front"] != [NEW, key]:
            return
        page = self._ask_page(spec)
        if self._answers is not None and self._answers.analysis == key:
            page.take_from(self._answers)
        self._answers = None
        self._put(page)

    def _ask_page(self, spec: AnalysisSpec) -> AskPage:
        plugins, run, datasets = self.workbench.registry, self.run, self.workbench.session.datasets

        def examine(request: FileRequest, path: str) -> tuple[AttachedFile, str]:
            file = attach(request, path)
            return file, examine_file(plugins.analysis(spec.id), request.name, file)

        seen = [datasets[name] for names in run.inputs.values() for name in names if name in datasets]
        page = AskPage(spec, run, datasets, examine, standing(spec, run, seen))
        page.submitted.connect(partial(self._make, page))
        page.cancelled.connect(self.cancel)
        page.labels_requested.connect(partial(self._add_labels, page))
        page.data_requested.connect(partial(self._import_for, page))
        return page

    def _import_for(self, page: AskPage, name: str, path: str) -> None:
        """Import a file, and choose what was read for an input of the form."""
        from plaidwork.gui.data.import_file import datasets_of_file

        read = datasets_of_file(Path(path), self.workbench.registry, self.window())
        added = [dataset.name for dataset in self.workbench.add_datasets(read)] if read else []
        if added:
            self._counted.do(partial(self._take_data, page, name, added))

    def _take_data(self, page: AskPage, name: str, added: Sequence[str]) -> None:
        if isValid(page):
            page.take_data(self.workbench.session.datasets, name, added)

    def _add_labels(self, page: AskPage, path: str) -> None:
        """Add the columns of a table to the data of the run; the fit does not see annotations."""
        session = self.workbench.session
        names = dict.fromkeys(name for names in self.run.inputs.values() for name in names)
        datasets = {name: session.datasets[name] for name in names if name in session.datasets}

        def done(found: tuple[dict[str, Dataset], str]) -> None:
            if self.workbench.session is not session:
                return
            for name, dataset in found[0].items():
                if session.datasets.get(name) is datasets[name]:
                    self.workbench.replace_dataset(name, dataset, f"Add labels to “{name}”")
            if isValid(page) and self.current is page and self._making is None:
                fresh = self._ask_page(page.spec)
                fresh.take_answers(page.inputs(), page.form.values())
                self._put(fresh)
                self.workbench.notified.emit("ok", "Labels added", f"{found[1]}.", "")

        def failed(error: BaseException, details: str) -> None:
            if isValid(page):
                page.tell(str(error))

        run_task(lambda task: annotate_all(datasets, path), self._alive(done), self._alive(failed))

    def again(self, record: AnalysisRecord) -> None:
        """Open the form with the answers of a record."""
        self._answers = record
        if not self.rail.select(NEW, record.analysis):
            self._answers = None
            text = "The plugin that made it is not installed, or the run lacks what it needs."
            self.workbench.notified.emit("warn", f"{record.title} cannot be run again", text, "")

    def delete(self, record_id: str) -> None:
        """Take a record out of the run."""
        record = next((record for record in self.run.analyses if record.id == record_id), None)
        if record is None:
            return
        what = f"“{record.title}” of “{self.run.title}”"
        with self.workbench.editing.step(f"Remove {what}"):
            self.run.analyses.remove(record)
            self.run.say(f"Analysis deleted: {record.title}")
        self._refill()
        self.workbench.editing.offer_undo(what)

    def _refill(self) -> None:
        """Show which analyses were made now that one has gone or come back."""
        kind, key = self.rail.current()
        self._fill()
        if kind != MADE or any(record.id == key for record in self.run.analyses):
            return
        left = self.run.analyses
        if not (left and self.rail.select(MADE, left[-1].id)):
            specs = self._specs or ()
            if not specs or not self.rail.select(NEW, specs[0].id):
                self._show_nothing()

    def _on_step(self, edit: Edit, back: bool) -> None:
        if self.run.id in edit.runs_changed and self._specs is not None:
            self._refill()

    # -- making ---------------------------------------------------------------------------------
    def _make(self, page: AskPage, inputs: dict[str, Any], params: dict[str, Any]) -> None:
        session = self.workbench.session
        datasets = dict(session.datasets)
        declared = {item.name for item in page.spec.inputs}
        given = {
            name: [datasets[one] if one in datasets else page.input_field(name).dataset(one) for one in value]
            if name in declared
            else value
            for name, value in inputs.items()
        }
        plugins, run, analysis_id = self.workbench.registry, self.run, page.spec.id
        page.set_busy(0.0)

        def call(task: Task) -> AnalysisRecord:
            analysis = plugins.analysis(analysis_id)
            return compute_analysis(
                run, analysis, given, params, datasets=datasets, report=task.report, unlock=True
            )

        def ended(act: Callable[..., None]) -> Callable[..., None]:
            def when_alive(*values: Any) -> None:
                if isValid(self) and isValid(page) and run.id in session.runs:
                    self._making = None
                    page.set_busy(None)
                    act(*values)

            return when_alive

        def progress(share: float) -> None:
            if isValid(page) and self._making is not None:
                page.set_busy(share)

        self._making = run_task(call, ended(self._done), ended(partial(self._failed, page)), progress)

    def _done(self, record: AnalysisRecord) -> None:
        keep_analysis(self.run, record)
        self.workbench.touch()
        self._fill()
        self.rail.select(MADE, record.id)
        self.made.emit(record.id)

    def _failed(self, page: AskPage, error: BaseException, details: str) -> None:
        page.tell(str(error))
        if page.spec.unlocks:
            self.workbench.touch()  # it may have been opened, and that is noted
        if isinstance(error, PluginError):
            self.run.say(str(error), "error")
            if error.fault is not None:
                self.workbench.faults.blame(f"{page.spec.title} failed", error.fault, error.hint)
            else:
                self.workbench.notified.emit("error", f"{page.spec.title} failed", str(error), details)

    def cancel(self) -> None:
        """Give up what is being made; nothing is kept of it."""
        if self._making is not None:
            self._making.cancel()
            self._making = None
        if isinstance(self.current, AskPage):
            self.current.set_busy(None)

    # -- commands of the window -----------------------------------------------------------------
    @property
    def front(self) -> RecordView | None:
        """The record in front; None while a form is in front or there is nothing."""
        return self.current if isinstance(self.current, RecordView) else None
