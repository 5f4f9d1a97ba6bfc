"""The page of a search: its fits as table and picture, ranked; one is opened, picked, compared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from PySide6.QtCore import QItemSelectionModel, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QProgressBar, QSplitter, QWidget

from plaidwork.core.draws.counting import counted
from plaidwork.core.inference.run import Run
from plaidwork.core.study import StudyJob, StudyRecord
from plaidwork.core.views.colouring import colouring, plain
from plaidwork.gui import dialogs
from plaidwork.gui.language import tr
from plaidwork.gui.page import Page
from plaidwork.gui.pictures.canvas import PictureCanvas
from plaidwork.gui.pictures.paper import paper_like, write_picture
from plaidwork.gui.results.compare_dialog import CompareDialog
from plaidwork.gui.results.item_picker import ItemPicker
from plaidwork.gui.results.option_row import Labelled, OptionRow
from plaidwork.gui.results.show_data import DataDialog
from plaidwork.gui.setup.fields import ErrorLine
from plaidwork.gui.studies.columns import (
    FIT,
    RANK,
    FitColumns,
    caption,
    fit_columns,
    fits_picture,
    headline,
    left_text,
    progress_text,
)
from plaidwork.gui.studies.detail import MOST, FitDetail, comparison
from plaidwork.gui.studies.foot import FitFoot
from plaidwork.gui.theme import size, space
from plaidwork.gui.widgets import Card, DataTable, Label
from plaidwork.gui.widgets.layouts import horizontal, vertical
from plaidwork.gui.workbench import Workbench

_TICK = 300
_WIDEST = 150
_TALL = 560
"""From this height on the picture stands below the table, else beside it."""


class StudyPage(Page):
    """Everything about one search."""

    offers = frozenset({"export_picture", "show_data", "find_in_page"})

    def __init__(self, workbench: Workbench, study_id: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.workbench, self.study_id = workbench, study_id
        self.shown: FitColumns | None = None
        self._selected: tuple[int, ...] = ()
        self._x = self._y = ""
        self._filling = self._fitted = False
        self._panel: FitDetail | None = None
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)
        self.setAccessibleName(tr("Search"))
        self._make_parts()
        self._lay_out()
        workbench.studies.changed.connect(self._on_changed)
        self._timer = QTimer(self, interval=_TICK)
        self._timer.timeout.connect(self._tick)
        self.refresh()

    def _make_parts(self) -> None:
        self._headline = Label("", "title", elide=True)
        self._caption = Label("", "body", "muted", elide=True)
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setRange(0, 1000)
        self._bar.setFixedHeight(size.PROGRESS)
        self._progress = Label("", "body", "muted", elide=True)
        self.ranking, self.x_picker, self.y_picker = ItemPicker(), ItemPicker(), ItemPicker()
        self.ranking.activated.connect(self._rank)
        self.x_picker.activated.connect(lambda at: self.choose_axes(self.x_picker.itemText(at), self._y))
        self.y_picker.activated.connect(lambda at: self.choose_axes(self._x, self.y_picker.itemText(at)))
        self.doubt = ErrorLine()
        self.table = DataTable(filter_line=True)
        self.table.view.setAccessibleName(tr("Fits of the search"))
        self.table.view.selectionModel().selectionChanged.connect(lambda *_: self._from_table())
        self.table.row_activated.connect(lambda row: self.open_fit(self._jobs[row].number))
        self.chart = PictureCanvas()
        self.chart.picked.connect(lambda kind, places: self._from_chart(places, False))
        self.chart.gathered.connect(lambda kind, places, more: self._from_chart(places, more))
        self.chart.hovered.connect(self.hovered)
        self.foot = FitFoot()
        self.foot.open_requested.connect(self.open_fit)
        self.foot.pick_requested.connect(self.pick)
        self.foot.compare_requested.connect(self.compare)
        self.foot.remove_requested.connect(self.remove_fits)

    def _lay_out(self) -> None:
        head = vertical(self._headline, self._caption, spacing=space.XS)
        self._under_way = QWidget()
        horizontal((self._bar, 1), self._progress, on=self._under_way, spacing=space.M)
        options = OptionRow(
            Labelled("Rank by", self.ranking),
            Labelled("Across", self.x_picker),
            Labelled("Up", self.y_picker),
        )
        card = Card()
        vertical(self.table, on=card, margins=4)
        self.splitter = QSplitter(Qt.Orientation.Vertical)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(card)
        self.splitter.addWidget(self.chart)
        self.splitter.setSizes([500, 500])
        edge = space.VIEW_EDGE
        vertical(
            head,
            self._under_way,
            options,
            self.doubt,
            (self.splitter, 1),
            self.foot,
            on=self,
            spacing=space.M,
            margins=(edge, space.L, edge, space.M),
        )

    # -- what the window asks -------------------------------------------------------------------
    def side_panel(self) -> QWidget:
        """The selected fits in the right dock."""
        if self._panel is None:
            self._panel = FitDetail()
            self.destroyed.connect(self._panel.deleteLater)
            self._tell()
        return self._panel

    def export_picture(self, path: Path) -> Path:
        """Write the scatter."""
        assert self.chart.picture is not None
        headline, caption = self._headline.text(), self._caption.text()
        printed = replace(self.chart.picture, headline=headline, caption=caption)
        return write_picture(printed, path, paper_like(self.chart.size()))

    def show_data(self) -> QWidget:
        """The table in a window of its own, with CSV."""
        assert self.shown is not None
        record = self.record
        dialog = DataDialog(record.title if record else "search", dict(self.shown.table), None, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.show()
        return dialog

    def find_in_page(self) -> None:
        """The filter line of the table."""
        self.table.focus_filter()

    # -- content --------------------------------------------------------------------------------
    @property
    def record(self) -> StudyRecord | None:
        """The search, unless it was removed."""
        return self.workbench.studies.get(self.study_id)

    @property
    def _jobs(self) -> list[StudyJob]:
        record = self.record
        return record.jobs if record is not None else []

    def selected_jobs(self) -> list[StudyJob]:
        """The fits selected, in the order of the table."""
        return [job for job in self._jobs if job.number in self._selected]

    def _on_changed(self, study_id: str) -> None:
        if study_id == self.study_id:
            self.refresh()

    def refresh(self) -> None:
        """Show the search as it is now; what is selected stays selected."""
        record = self.record
        if record is None:
            return
        before, self.shown = self.shown, fit_columns(record)
        self._selected = tuple(n for n in self._selected if any(job.number == n for job in record.jobs))
        known = record.known_metrics()
        self.ranking.set_names([m.name for m in known], [m.key for m in known].index(record.metric.key))
        self.doubt.set_text(record.doubt(), "warning")
        self._filling = True
        self._fill_table(before)
        self._mark_rows()
        self._filling = False
        self._draw()
        self._tick()
        self._tell()

    def _fill_table(self, before: FitColumns | None) -> None:
        """New content; the order chosen stays, also when a column has come or gone."""
        assert self.shown is not None
        head, heads = self.table.view.horizontalHeader(), list(self.shown.table)
        at, order = head.sortIndicatorSection(), head.sortIndicatorOrder()
        old = list(before.table) if before is not None else []
        by = RANK if before is None else old[at] if 0 <= at < len(old) else ""
        self.table.set_columns(self.shown.table, formats=self.shown.formats, status=self.shown.icons)
        if heads != old and by in heads:
            self.table.view.sortByColumn(heads.index(by), order if before else Qt.SortOrder.AscendingOrder)
        ended = sum(job.ended for job in self._jobs)
        if heads != old or (ended > 0) != self._fitted:
            self._fitted = ended > 0
            for column, name in enumerate(heads):
                head.setSectionResizeMode(column, QHeaderView.ResizeMode.Interactive)
                self.table.view.resizeColumnToContents(column)
                wide = head.sectionSize(column) + (space.XL if name == RANK else 0)
                head.resizeSection(column, min(wide, _WIDEST))
            head.setStretchLastSection(True)

    def _tick(self) -> None:
        """Words and progress of what is under way."""
        record = self.record
        if record is None:
            self._timer.stop()
            return
        phase = self.workbench.studies.phase(self.study_id)
        self._headline.setText(headline(record, phase))
        self._caption.setText(caption(record))
        self._under_way.setVisible(bool(phase))
        if not phase:
            self._timer.stop()
            return
        share = sum(job.share for job in record.jobs) / max(1, len(record.jobs))
        self._bar.setValue(round(1000 * share))
        text = {"paused": "paused", "stopping": "stopping"}.get(
            phase, left_text(self.workbench.studies.seconds_left(self.study_id))
        )
        where = self.workbench.studies.where(self.study_id)
        parts = (progress_text(record), text, where and f"on {where}")
        self._progress.setText(", ".join(part for part in parts if part))
        if not self._timer.isActive():
            self._timer.start()

    # -- picture --------------------------------------------------------------------------------
    def choose_axes(self, x: str, y: str) -> None:
        """Show these numbers; choosing the other axis' number swaps them."""
        if x == y:
            x, y = (x, self._x) if x != self._x else (self._y, y)
        self._x, self._y = x, y
        self._draw()

    def _draw(self) -> None:
        record, shown = self.record, self.shown
        if record is None or shown is None:
            return
        names = list(shown.axes)
        if self._y not in names:
            self._y = shown.ranking
        if self._x not in names or self._x == self._y:
            self._x = next(
                (name for name in names if name != self._y and _spread(shown.axes[name])), names[-1]
            )
        self.x_picker.set_names(names, names.index(self._x))
        self.y_picker.set_names(names, names.index(self._y))
        by = next((name for name in self._settings() if name not in (self._x, self._y)), "")
        marks = (colouring(by, shown.table[by]) if by else None) or plain(len(record.jobs))
        fits = tuple(f"Fit {job.number}" for job in record.jobs)
        self.chart.set_picture(fits_picture(shown.axes, self._x, self._y, fits, marks))
        self.chart.set_selected({FIT: self._places()})

    def _settings(self) -> list[str]:
        """Heads of the settings that vary."""
        assert self.shown is not None
        record = self.record
        heads = list(self.shown.table)
        return heads[3 : 3 + len(record.varied)] if record is not None else []

    # -- selection ------------------------------------------------------------------------------
    def select(self, numbers: tuple[int, ...]) -> None:
        """Select fits in table, picture and panel alike."""
        self._selected = numbers
        self._filling = True
        self._mark_rows()
        self._filling = False
        self.chart.set_selected({FIT: self._places()})
        self._tell()

    def _places(self) -> tuple[int, ...]:
        return tuple(at for at, job in enumerate(self._jobs) if job.number in self._selected)

    def _mark_rows(self) -> None:
        view, model = self.table.view, self.table.model
        chosen = view.selectionModel()
        chosen.clearSelection()
        flags = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows
        rows = [row for at in self._places() if (row := model.shown_row(at)) >= 0]
        for row in rows:
            chosen.select(model.index(row, 0), flags)
        if len(rows) == 1:
            view.scrollTo(model.index(rows[0], 0))

    def _from_table(self) -> None:
        if not self._filling:
            self._selected = tuple(self._jobs[row].number for row in self.table.selected_rows())
            self.chart.set_selected({FIT: self._places()})
            self._tell()

    def _from_chart(self, places: tuple[int, ...], more: bool) -> None:
        """With ``more`` besides those selected; a single one of these is let go."""
        numbers, before = {self._jobs[at].number for at in places}, set(self._selected) if more else set()
        self.select(tuple(sorted(before ^ numbers if len(numbers) == 1 else before | numbers)))

    def _tell(self) -> None:
        """Foot and side panel for what is selected."""
        record, jobs = self.record, self.selected_jobs()
        if record is None:
            return
        self.foot.tell(record, jobs)
        if self._panel is not None:
            self._panel.show_fits(record, jobs)

    # -- what is done with fits -----------------------------------------------------------------
    def _rank(self, at: int) -> None:
        record = self.record
        if record is not None:
            self.workbench.studies.rank_by(self.study_id, record.known_metrics()[at].key)

    def open_fit(self, number: int | None = None) -> None:
        """The result pages of a fit (the selected one); it is fitted again when it was let go."""
        jobs = self.selected_jobs()
        if number is None and len(jobs) == 1:
            number = jobs[0].number
        if number is not None:
            self.workbench.studies.open(self.study_id, number, self._show_run)

    def _show_run(self, run: Run) -> None:
        self.run_opened.emit(run.id)

    def pick(self) -> None:
        """Record the selected fit as the one chosen; a second pick is asked about first."""
        record, jobs = self.record, self.selected_jobs()
        if record is None or len(jobs) != 1:
            return
        number = jobs[0].number
        if record.chosen is not None and record.chosen.number != number:
            text = (
                f"Fit {record.chosen.number} was picked before. The session will say that this pick is exploratory, "
                "as it was made knowing more. The first pick stays on record."
            )
            choices = (("cancel", "Cancel"), ("pick", "Pick as exploratory"))
            if dialogs.ask(self, f"Pick fit {number} instead?", text, choices, "pick") != "pick":
                return
        self.workbench.studies.pick(self.study_id, number)

    def compare(self) -> None:
        """The selected fits side by side in a window of their own."""
        record, jobs = self.record, self.selected_jobs()
        kept = [job.run_id for job in jobs if job.run_id in self.workbench.session.runs]
        if record is not None and 1 < len(jobs) == len(kept) <= MOST:
            CompareDialog(self.workbench.session, kept, self, comparison(record, jobs)).show()
        elif record is not None and 1 < len(jobs) <= MOST:
            dialog = DataDialog(
                f"{counted(len(jobs), 'fit')} of {record.title}", comparison(record, jobs), None, self
            )
            dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            dialog.setWindowTitle(tr("Compare fits"))
            dialog.resize(680, 520)
            dialog.show()

    def remove_fits(self) -> None:
        """Take the selected fits out of the search."""
        jobs = self.selected_jobs()
        if jobs:
            self.workbench.studies.remove_jobs(self.study_id, [job.number for job in jobs])

    def rename(self) -> None:
        """Give the search another title."""
        record = self.record
        if record is not None:
            title = dialogs.ask_text(self, "Rename the search", "", record.title, "Rename")
            if title:
                self.workbench.studies.rename(self.study_id, title)

    # -- events ---------------------------------------------------------------------------------
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc selects nothing, then shows the whole picture."""
        if event.key() == Qt.Key.Key_Escape and self._selected:
            self.select(())
        elif event.key() == Qt.Key.Key_Escape and self.chart.zoomed:
            self.chart.reset_view()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        tall = self.height() >= _TALL
        wanted = Qt.Orientation.Vertical if tall else Qt.Orientation.Horizontal
        if self.splitter.orientation() != wanted:
            self.splitter.setOrientation(wanted)
            self.splitter.setSizes([500, 500] if tall else [560, 440])


def _spread(values: np.ndarray) -> bool:
    """Whether there are different numbers."""
    known = values[np.isfinite(values)]
    return len(known) == 0 or bool(known.min() < known.max())
