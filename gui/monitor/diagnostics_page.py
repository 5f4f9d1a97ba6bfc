"""Can the run be trusted: a verdict with what to do, the quantities worst first, and plots of the chosen one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyqtgraph as pg
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from plaidwork.core.contract.schedule import DEFAULT_BUDGET
from plaidwork.core.draws.counting import counted
from plaidwork.core.draws.diagnostics import (
    ESS_MARKS,
    RHAT_MARKS,
    Diagnosis,
    Quantity,
    Verdict,
    rank_histogram,
)
from plaidwork.core.inference.run import Run
from plaidwork.gui.icons import pixmap
from plaidwork.gui.language import tr
from plaidwork.gui.monitor.decimate import decimate
from plaidwork.gui.monitor.solution_table import SolutionTable
from plaidwork.gui.numbers import format_by_error, format_count, format_duration, format_fixed, format_number
from plaidwork.gui.page import Page
from plaidwork.gui.plots import Plot
from plaidwork.gui.results.choices import Choices, kept_choices
from plaidwork.gui.theme import size, space, theme
from plaidwork.gui.widgets import Card, DataTable, Label, StatePane, button, scrolled
from plaidwork.gui.widgets.button import clear_layout
from plaidwork.gui.widgets.layouts import add, grid_layout, horizontal, vertical, with_margins
from plaidwork.gui.workbench import Workbench

_ICONS = {"ok": ("check", "ok"), "warn": ("warning", "warn"), "error": ("error", "error")}
_WIDE = 900
"""Width from which the table and the plots stand side by side."""
_PINNED = 1.25
"""How many times as large texts may be for the verdict to stay while the rest scrolls; larger, it needs the room of the page."""
_MOST_RANK_PLOTS = 4
_QUANTITY = "quantity"


class VerdictCard(Card):
    """Icon, title, what it means, and at most two actions of which the first is the primary one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kind = "ok"
        self._icon = Label()
        self._title = Label("", "title", wrap=True)
        self._text = Label("", wrap=True)
        self.buttons = horizontal(spacing=space.S)
        texts = vertical(self._title, self._text, spacing=2)
        horizontal(
            self._icon,
            (texts, 1),
            self.buttons,
            on=self,
            spacing=space.M,
            margins=(space.L, space.M, space.L, space.M),
        )
        theme().changed.connect(self.restyle)

    def set_verdict(self, verdict: Verdict) -> None:
        """Show a verdict."""
        self._kind = verdict.kind
        self._title.setText(verdict.title)
        self._text.setText(verdict.text)
        self._color = f"{verdict.kind}_on"
        self.restyle()

    def restyle(self) -> None:
        """Take the colours anew."""
        name, colour = _ICONS[self._kind]
        self._icon.setPixmap(pixmap(name, size.ICON + 8, theme().color(colour)))
        self.update()


class DiagnosticsPage(Page):
    """Verdict, table, all R-hats as dots, trace and ranks of the chosen quantity."""

    offers = frozenset({"show_data"})

    def __init__(self, workbench: Workbench, run: Run, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workbench, self._run = workbench, run
        self._diagnosis: Diagnosis | None = None
        self._failed = False
        """Whether what was kept could not be judged."""
        self._kept = kept_choices(run.view_settings, "Diagnostics")
        self._chosen = str(self._kept.get(_QUANTITY, ""))
        self._filling = False
        self.verdict = VerdictCard()
        self.solutions = SolutionTable(workbench, run)
        self.table = DataTable(words=True)
        self.table.setAccessibleName(tr("Quantities, worst first"))
        self.dots = Plot("All quantities", "one dot each, in the colour of its mark", grid=False)
        self.trace = Plot("", "kept draws", whole_x=True)
        self.ranks = [Plot("", "", grid=False) for _ in run.chains[:_MOST_RANK_PLOTS]]
        self._empty = StatePane("clock", "")
        self._content, self._ranks = QWidget(), QWidget()
        marks = f"R-hat above {RHAT_MARKS[0]} or ESS below {ESS_MARKS[0]:.0f} is marked"
        self._table_head = Label("Worst first", "strong"), Label(marks, color="muted", elide=True)
        self.choices = Choices(self._kept, workbench.note_view, self)
        self.choices.adopt(self.table)
        self._build()
        self.table.row_selected.connect(self._picked)
        for plot in (self.dots, self.trace):
            plot.hovered.connect(self.hovered)
        workbench.judgements.judged.connect(self._on_judged)
        workbench.judgements.failed.connect(self._on_failed)
        theme().changed.connect(self._redraw)
        self.refresh()

    def _build(self) -> None:
        head = horizontal(*zip(self._table_head, (0, 1), strict=True), spacing=space.S)
        card = Card()
        vertical(self.table, on=card, margins=1)
        self.dots.set_labels("R-hat (distance from 1, logarithmic)", "")
        self.dots.area.hide_axis("left")
        self.dots.setMinimumHeight(150)
        self.table.setMinimumHeight(190)
        self.trace.setMinimumHeight(190)
        left = vertical(head, (card, 3), (self.dots, 2), spacing=space.S)
        right = vertical((self.trace, 3), (self._build_ranks(), 3), spacing=space.M)
        below = QWidget()
        self._columns = QBoxLayout(QBoxLayout.Direction.LeftToRight, below)
        with_margins(self._columns, (space.VIEW_EDGE, 0, space.VIEW_EDGE, space.L)).setSpacing(space.XXL)
        add(self._columns, (left, 6), (right, 5))
        edges = (space.VIEW_EDGE, space.L, space.VIEW_EDGE, space.L)
        pinned = vertical(self.verdict, self.solutions, spacing=space.S, margins=edges)
        ground = self.backgroundRole().Base
        if theme().text_scale > _PINNED:
            inner = QWidget()
            vertical(pinned, (below, 1), on=inner, spacing=0)
            vertical((scrolled(inner, background=ground), 1), on=self._content)
        else:
            vertical(pinned, (scrolled(below, background=ground), 1), on=self._content, spacing=0)
        vertical(self._content, self._empty, on=self)
        self._content.hide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The plots go below the table where it would have no room for names beside them."""
        super().resizeEvent(event)
        side = QBoxLayout.Direction.LeftToRight
        self._columns.setDirection(side if self.width() >= _WIDE else QBoxLayout.Direction.TopToBottom)

    def _build_ranks(self) -> QWidget:
        aid = "flat when the chains agree"
        if len(self._run.chains) > _MOST_RANK_PLOTS:
            aid = f"first {_MOST_RANK_PLOTS} of {len(self._run.chains)}; " + aid
        head = horizontal(
            Label("Ranks in each chain", "strong"),
            (Label(aid, color="muted", elide=True), 1),
            spacing=space.S,
        )
        grid = grid_layout(spacing=space.M)
        for index, plot in enumerate(self.ranks):
            plot.setMinimumHeight(110)
            grid.addWidget(plot, index // 2, index % 2)
        vertical(head, (grid, 1), on=self._ranks, spacing=space.M)
        return self._ranks

    # -- content --------------------------------------------------------------------------------
    def tick(self) -> None:
        """While the run goes on, judge anew every few seconds."""
        self._workbench.judge(self._run)
        if self._diagnosis is None and not self._failed:
            self._tell_unjudged()

    def _on_judged(self, run_id: str) -> None:
        if run_id == self._run.id:
            self.refresh()

    def _on_failed(self, run_id: str, error: BaseException, details: str) -> None:
        if run_id == self._run.id:
            self._failed = True
            self._empty.set("error", "The diagnostics could not be computed", str(error), icon_color="error")
            self._empty.setToolTip(tr(details))

    def refresh(self) -> None:
        """Show what the window knows of the run; ask for it when that is nothing yet."""
        found = self._workbench.diagnosis(self._run)
        if found is not None and self._run.n_draws:
            self._failed = False
            self._show(found)
            return
        self._tell_unjudged()
        self._workbench.judge(self._run)

    def _tell_unjudged(self) -> None:
        """Why there is no table: no draw yet, none at all, or the draws are still being judged."""
        run, draws = self._run, self._run.spec.algorithm == "mcmc"
        title, text = "Nothing to judge yet", "The table fills as draws are kept."
        if run.n_draws:
            kept = counted(run.n_draws, "draw") if draws else counted(run.n_draws, "restart")
            title = f"The {'draws' if draws else 'restarts'} are being judged"
            text = f"The table appears once that is done. Kept: {kept}."
        elif not run.active:
            why = "failed" if run.status == "failed" else "ended"
            title, text = "Nothing to judge", f"The run {why} before a draw was kept."
        if (title, text) != (self._empty.title, self._empty.text):
            self._empty.set("clock", title, text)

    def _show(self, whole: Diagnosis) -> None:
        known = tuple(q for q in whole.quantities if q.status != "missing")  # such as a score without a truth
        diagnosis = replace(whole, quantities=known)
        self._diagnosis = diagnosis
        if not diagnosis.quantities:
            self._empty.set("clock", diagnosis.verdict.title, diagnosis.verdict.text)
            return
        self._empty.hide()
        self._content.show()
        self.verdict.set_verdict(diagnosis.verdict)
        self.solutions.show_solutions(diagnosis.solutions)
        self._set_buttons(diagnosis.verdict)
        titles = [q.title for q in diagnosis.quantities]
        row = titles.index(self._chosen) if self._chosen in titles else 0
        self._filling = True
        with self.choices.quiet():
            self._fill_table(diagnosis)
            self.choices.restore()
            self.table.select_row(row)
        self._filling = False
        self._draw_dots(diagnosis)
        self._choose_row(row)

    def _set_buttons(self, verdict: Verdict) -> None:
        clear_layout(self.verdict.buttons)
        run = self._run
        able = not run.active and not self._workbench.is_missing(run.spec.id)
        if "run_longer" in verdict.actions and able and run.spec.algorithm == "mcmc":
            more, budget = run.schedule.draws, DEFAULT_BUDGET if run.goal is not None else 0.0
            text = f"Run {counted(more, 'more draw')}"
            if budget:
                more, text = 0, f"Go on for at most {format_duration(budget, rough=True)}"
            self.verdict.buttons.addWidget(
                button(text, lambda: self._workbench.resume(run, more, budget), icon_name="play")
            )
        elif not run.active:
            self.verdict.buttons.addWidget(
                button("What to write in the paper…", lambda: self.methods_asked.emit(run.id))
            )

    def _fill_table(self, diagnosis: Diagnosis) -> None:
        rows = diagnosis.quantities
        columns = {
            "Quantity": [q.title[:1].upper() + q.title[1:] for q in rows],
            "R-hat": np.array([q.rhat for q in rows]),
            "Bulk ESS": np.array([q.ess_bulk for q in rows]),
            "Tail ESS": np.array([q.ess_tail for q in rows]),
            "Mean": np.array([q.mean for q in rows]),
            "MCSE": np.array([q.mcse for q in rows]),
        }
        means = {q.mean: _by_error(q) for q in rows}
        formats = {
            "Mean": lambda v: means.get(v, "–"),
            "R-hat": lambda v: "–" if np.isnan(v) else format_fixed(v, 3),
            "Bulk ESS": lambda v: "–" if np.isnan(v) else format_count(round(v)),
            "Tail ESS": lambda v: "–" if np.isnan(v) else format_count(round(v)),
            "MCSE": lambda v: "–" if np.isnan(v) else format_number(v, 2),
        }
        status = [q.status if q.status in ("ok", "warn", "error") else "" for q in rows]
        self.table.set_columns(columns, formats=formats, status=status)

    def _draw_dots(self, diagnosis: Diagnosis) -> None:
        values = np.array([q.rhat for q in diagnosis.quantities])
        known = np.isfinite(values)
        x = np.log10(np.clip(values[known] - 1, 1e-4, 10))
        plot = self.dots
        plot.clear()
        for item in list(plot.area.items):
            if isinstance(item, pg.ScatterPlotItem):
                plot.area.remove(item)
        ratio = plot.devicePixelRatioF()
        y = _spread(x, 0.07)
        marks = [q.status for q in diagnosis.quantities if np.isfinite(q.rhat)]
        colours = [theme().color(mark if mark in ("warn", "error") else "ok") for mark in marks]
        rim = pg.mkPen(theme().color("surface"), width=ratio)
        plot.area.add(pg.ScatterPlotItem(x, y, size=9, pen=rim, brush=[pg.mkBrush(c) for c in colours]))
        for mark, colour in zip(RHAT_MARKS, ("warn", "error"), strict=True):
            plot.add_limit(float(np.log10(mark - 1)), colour, vertical=True)
        ticks = [(float(np.log10(v - 1)), f"{v:g}") for v in (1.0001, 1.001, 1.01, 1.05, 1.2, 2, 11)]
        plot.x_axis.setTicks([ticks])
        plot.view_box.setXRange(-4.3, max(-0.6, float(x.max(initial=-0.6)) + 0.1), padding=0)
        plot.view_box.setYRange(-0.5, max(6.0, float(y.max(initial=0)) + 0.5), padding=0)

    def _picked(self, row: int) -> None:
        """The user looks at another quantity: it is there again when the session is opened."""
        if self._filling or self._diagnosis is None or row < 0:
            return
        self._choose_row(row)
        self._kept[_QUANTITY] = self._chosen
        self._workbench.note_view()

    def _choose_row(self, row: int) -> None:
        if self._diagnosis is None or row < 0:
            return
        quantity = self._diagnosis.quantities[row]
        self._chosen = quantity.title
        series = self._diagnosis.series(quantity)
        self._draw_trace(quantity, series)
        self._draw_ranks(series)

    def _draw_trace(self, quantity: Quantity, series: np.ndarray) -> None:
        self.trace.clear()
        title = quantity.title[:1].upper() + quantity.title[1:]
        self.trace.set_title(title, "kept draws")
        self.trace.set_labels(
            "draw", f"{quantity.title} ({quantity.unit})" if quantity.unit else quantity.title
        )
        numbers = [] if self._diagnosis is None else [c.chain for c in self._diagnosis.kept.chains]
        for chain, values in enumerate(series):
            x, y = decimate(values, 1500)
            name = f"Chain {numbers[chain] + 1}"
            self.trace.add_line(name, chain, x, y, width=1.0, legend=len(series) <= _MOST_RANK_PLOTS)
        self.trace.reset_zoom()

    def _draw_ranks(self, series: np.ndarray) -> None:
        counts, expected = rank_histogram(series)
        for chain, plot in enumerate(self.ranks[: len(series)]):
            plot.clear()
            for item in list(plot.area.items):
                if isinstance(item, pg.BarGraphItem):
                    plot.area.remove(item)
            plot.set_title(f"Chain {chain + 1}", "")
            bins = len(counts[chain])
            colour = theme().category(chain)
            bars = pg.BarGraphItem(
                x=np.arange(bins), height=counts[chain], width=0.86, brush=colour, pen=None
            )
            plot.area.add(bars)
            plot.add_limit(expected, "text")
            plot.area.hide_axis("left")
            plot.x_axis.setTicks([[(0, ""), (bins - 1, "")]])
            plot.x_axis.setHeight(8)
            plot.view_box.setXRange(-1.5, bins + 0.5, padding=0)
            plot.view_box.setYRange(0, max(float(counts.max()), expected) * 1.08, padding=0)

    def _redraw(self) -> None:
        if self._diagnosis is not None and self._diagnosis.quantities:
            self._show(self._diagnosis)

    def show_data(self) -> None:
        """Focus the table behind the plots."""
        self.table.view.setFocus()


def _by_error(quantity: Quantity) -> str:
    if np.isfinite(quantity.mcse) and quantity.mcse > 0:
        return format_by_error(quantity.mean, quantity.mcse)
    return format_number(quantity.mean)


def _spread(x: np.ndarray, width: float) -> np.ndarray:
    """Heights at which dots that would cover each other are stacked."""
    y = np.zeros(len(x))
    for i in np.argsort(x):
        near = np.abs(x - x[i]) < width
        taken = {int(v) for j, v in enumerate(y) if near[j] and j != i and v >= 0 and x[j] <= x[i] and v > -1}
        height = 0
        while height in taken and near.sum() > 1:
            height += 1
        y[i] = height
    return y
