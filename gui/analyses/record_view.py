"""What an analysis found, drawn by the pages that draw results of a fit."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from plaidwork.core.contract.spec import View
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import PlaidworkError
from plaidwork.core.findings.analysis import AnalysisRecord, run_showing
from plaidwork.core.inference.run import Run
from plaidwork.core.plugins.registry import Registry
from plaidwork.gui.group_page import GroupPage
from plaidwork.gui.numbers import format_count
from plaidwork.gui.page import FrontPage, Page, PanePage
from plaidwork.gui.results.choices import kept_choices
from plaidwork.gui.results.registry import make_view
from plaidwork.gui.setup.error_line import ErrorLine
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Label, StatePane, tool_button
from plaidwork.gui.widgets.layouts import horizontal, vertical, with_margins
from plaidwork.gui.workbench import Workbench

_FEW_COLUMNS = 3


def inputs_text(record: AnalysisRecord) -> str:
    """What it was made of: ``class of columns · Known rows``; empty when it asked for nothing."""
    parts = []
    for refs in record.annotations.values():
        if not isinstance(refs, tuple):
            parts.append(f"{refs.title} of {refs.axis}s")
        elif len(refs) <= _FEW_COLUMNS:
            parts.append(", ".join(ref.title for ref in refs))
        else:
            parts.append(f"{counted(len(refs), 'annotation')}")
    parts += [file.name for file in record.files.values()]
    parts += [", ".join(names) for names in record.inputs.values()]
    return " · ".join(parts)


def made_text(record: AnalysisRecord) -> str:
    """Day and time, in UTC."""
    return record.created[:16].replace("T", " ")


def settings_text(record: AnalysisRecord, plugins: Registry) -> str:
    """Settings that differ from their defaults; all of them when the analysis is not installed."""
    try:
        declared = {p.name: p for p in plugins.analysis(record.analysis).spec.hyperparameters}
    except PlaidworkError:
        return ", ".join(f"{name} {value}" for name, value in record.params.items())
    parts = []
    for name, value in record.params.items():
        parameter = declared.get(name)
        if parameter is not None and value != parameter.default:
            shown = next((c.label for c in parameter.choices if c.value == value), str(value))
            parts.append(f"{parameter.title[:1].lower()}{parameter.title[1:]} {shown}")
    return ", ".join(parts)


class RecordView(FrontPage):
    """One record: a line of what it was made of, and its views.

    Signals
    -------
    again : make it once more with the same answers
    deleted : take it out of the run
    """

    again = Signal()
    deleted = Signal()

    def __init__(
        self, workbench: Workbench, run: Run, record: AnalysisRecord, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.record = record
        self._about = Label(self._summary_text(workbench.registry, run), "body", "muted", elide=True)
        row = horizontal(
            (self._about, 1),
            tool_button("refresh", "Run it again with other settings", self.again.emit),
            tool_button("trash", "Delete this analysis", self.deleted.emit),
            spacing=space.XS,
            margins=(space.VIEW_EDGE, space.S, space.VIEW_EDGE, 0),
        )
        notice = with_margins(ErrorLine(), (space.VIEW_EDGE, 0, space.VIEW_EDGE, 0))
        notice.set_text(record.standing if record.exploratory else "", "warning")
        shown = run_showing(run, record)
        self.page = self._make_page(workbench, shown)
        vertical(row, notice, (self.page, 1), on=self, spacing=0)
        self.page.hovered.connect(self.hovered)

    @property
    def front(self) -> Page:
        """What draws the record."""
        return self.page

    def _summary_text(self, plugins: Registry, run: Run) -> str:
        parts = [self.record.title, inputs_text(self.record), settings_text(self.record, plugins)]
        draws = ""
        if run.spec.algorithm == "mcmc":
            draws = f"after {counted(self.record.draws, 'draw')}"
            if self.record.draws != run.n_draws:
                draws += f", the run has {format_count(run.n_draws)} now"
        opened = "" if self.record.exploratory else self.record.standing.rstrip(".")
        made = f"{made_text(self.record)} UTC"
        return " · ".join(part for part in (*parts, draws, made, opened) if part)

    def _make_page(self, workbench: Workbench, shown: Run) -> Page:
        views = self.record.views
        if not views:
            pane = StatePane("document", "This analysis declares no view", "Its results are in the export.")
            return PanePage(pane)

        def make(view: View) -> Page:
            return make_view(workbench, shown, view)

        if len(views) == 1:
            return make(views[0])
        makers: list[tuple[str, Callable[[], Page]]] = [(view.title, partial(make, view)) for view in views]
        return GroupPage(makers, kept_choices(shown.view_settings), workbench.note_view)
