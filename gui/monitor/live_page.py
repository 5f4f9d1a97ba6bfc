"""The traces of a run: key figures, the objective, and the other declared scalars, while it runs and after."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial

import numpy as np
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QProgressBar,
    QWidget,
)

from plaidwork.core.draws.counting import counted
from plaidwork.core.inference.run import Run
from plaidwork.core.inference.settling import settled, sweeps_needed
from plaidwork.core.spelling import inside_sentence
from plaidwork.gui.language import tr
from plaidwork.gui.monitor.chain_panel import ChainPanel
from plaidwork.gui.monitor.trace_plot import TracePlot
from plaidwork.gui.numbers import format_count, format_duration, format_number
from plaidwork.gui.page import Page
from plaidwork.gui.priority import PRIORITY
from plaidwork.gui.theme import size, space
from plaidwork.gui.widgets import KeyFigure, scrolled
from plaidwork.gui.widgets.layouts import grid_layout, horizontal, vertical
from plaidwork.gui.workbench import Workbench

_SMALL = 190
_TAIL = 100
_LISTED = 4
"""Chains of which each has its number below a figure though all have the same."""
_COUNT = "count "
"""Before the name of a trace in the key of its figure, so that it is none of the other figures."""
_AROUND = 5.0
"""Seconds by which a fit may take longer than its budget of time, before that is shown."""
_PER_TICK = 1
"""Small plots redrawn per tick while the fit runs."""
_BETWEEN = 20
"""Milliseconds between the parts of a tick: figures, side panel, large plot, small plot."""


class LivePage(Page):
    """Live traces of all chains. ``tick`` draws what is new; the side panel shows the chains and the moves."""

    def __init__(self, workbench: Workbench, run: Run, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workbench = workbench
        self._run = run
        self._held = False
        self._columns = 0
        self._left_out = run.schedule.left_out
        self._side = ChainPanel(workbench, run)
        self._figures = self._make_figures()
        self._lines: dict[str, QFrame] = {}
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setRange(0, 1000)
        self._bar.setFixedHeight(size.PROGRESS)
        primary = run.spec.primary_trace
        shown = [trace for trace in run.spec.shown_traces(run.params) if trace.kind != "acceptance"]
        shown.sort(key=lambda trace: trace is not primary)
        self._plots: list[TracePlot] = []
        self._waiting = shown
        self._unplaced = False
        """Whether small plots were made that are not in the grid yet."""
        self._unseen: deque[TracePlot] = deque()
        """Those in the grid that are still to be painted."""
        self._turn = 0
        self._parts: deque[Callable[[], None]] = deque()
        """What of the last tick is still to be drawn."""
        self._pacer = QTimer(self, interval=_BETWEEN)
        self._pacer.timeout.connect(self._draw_part)
        self._grid = grid_layout(spacing=(space.XXL, space.L))
        self._build()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.tick()
        # a plot takes some 10 ms to make: one at a time, so that the event loop is never held up
        self._maker = QTimer(self)
        self._maker.timeout.connect(self._make_next)
        self._maker.start(0)

    def _furnish(self, plot: TracePlot) -> None:
        plot.hovered.connect(self.hovered)
        self._shade(plot)

    def _shade(self, plot: TracePlot) -> None:
        """Where the warm-up is; it grows while chains go on until they settle."""
        left_out = self._run.schedule.left_out
        if left_out and self._run.spec.algorithm == "mcmc":
            plot.set_shading((0, left_out), "warm-up" if plot.large else "")

    def _make_next(self) -> None:
        """Make the next plot, a small one once it has numbers to show; look again later for the others."""
        PRIORITY.hold()
        snapshots = [record.trace.snapshot() for record in self._run.chains]
        for trace in self._waiting:
            large = not self._plots
            if large or any(np.isfinite(snapshot[trace.name]).any() for snapshot in snapshots):
                self._waiting.remove(trace)
                plot = TracePlot(self._run, trace, large)
                self._furnish(plot)
                plot.draw(snapshots)
                self._plots.append(plot)
                if large:
                    self._column.insertWidget(0, plot, 3)
                else:
                    self._unplaced = True
                self._maker.setInterval(0)
                return
        if self._unplaced:  # all at once, so that the page is laid out once
            self._unplaced = False
            declared = [item.name for item in self._run.spec.traces]
            self._plots[1:] = sorted(self._plots[1:], key=lambda made: declared.index(made.trace.name))
            self._unseen += [plot for plot in self._plots[1:] if plot.parentWidget() is None]
            for plot in self._unseen:
                keeps = plot.sizePolicy()
                keeps.setRetainSizeWhenHidden(True)
                plot.setSizePolicy(keeps)
                plot.hide()
            self._arrange()
            return
        if self._unseen:  # and painted one at a time
            self._unseen.popleft().show()
            return
        self._maker.setInterval(500)
        if not self._waiting or not self._run.active:
            self._maker.stop()

    def _make_figures(self) -> dict[str, KeyFigure]:
        figures = {
            "sweep": KeyFigure("Sweep", note=self._planned()),
            "left": KeyFigure("Time left"),
        }
        for trace in self._run.spec.traces:
            if trace.kind == "count":
                figures[_COUNT + trace.name] = KeyFigure(trace.title[:1].upper() + trace.title[1:])
                break
        primary = self._run.spec.primary_trace
        if primary is not None:
            name = primary.title[:1].upper() + primary.title[1:]
            sampled = (
                self._run.spec.algorithm == "mcmc"
            )  # then it is a level that fluctuates, and no best draw
            figures["primary"] = KeyFigure(name if sampled else f"Best {inside_sentence(name)}")
        figures["verdict"] = KeyFigure("Convergence")
        return figures

    def _build(self) -> None:
        row = self._row = horizontal(
            spacing=space.L, margins=(space.VIEW_EDGE, space.M, space.VIEW_EDGE, space.S)
        )
        for index, (name, figure) in enumerate(self._figures.items()):
            if index:
                line = self._lines[name] = QFrame()
                line.setFrameShape(QFrame.Shape.VLine)
                line.setForegroundRole(self.foregroundRole().Mid)
                row.addWidget(line)
            row.addWidget(figure, figure.label_width())  # all labels are whole where there is room for them
        inner = QWidget()
        inner.setBackgroundRole(self.backgroundRole().Base)
        inner.setAutoFillBackground(True)
        self._column = vertical(
            on=inner, spacing=space.L, margins=(space.VIEW_EDGE, space.L, space.VIEW_EDGE, space.L)
        )
        self._column.addLayout(self._grid, 2)
        scroll = scrolled(inner)
        vertical(row, self._bar, (scroll, 1), on=self, spacing=0)

    def _share_row(self) -> None:
        """Where words are cut, each figure has room by its words, or by its label where not all have room; else all stay where they are."""
        shown = [figure for figure in self._figures.values() if not figure.isHidden()]
        if not any(figure.cut for figure in shown):
            return
        between = (len(shown) - 1) * (2 * space.L + 1)
        room = self.width() - 2 * space.VIEW_EDGE - between
        whole = sum(figure.label_width() for figure in shown) <= room
        for figure in shown:
            self._row.setStretch(self._row.indexOf(figure), figure.label_width(notes=whole))

    def side_panel(self) -> QWidget:
        """Progress per chain, moves, settings."""
        return self._side

    def showEvent(self, event: QShowEvent) -> None:
        """The run may have gone on, or ended, while another page was in front."""
        super().showEvent(event)
        self.tick()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()
        QTimer.singleShot(0, self, self._share_row)  # once the figures have their widths

    def _arrange(self) -> None:
        small = self._plots[1:]
        columns = max(1, min(4, len(small), (self.width() - 2 * space.VIEW_EDGE) // (_SMALL + space.XXL)))
        if columns == self._columns and self._grid.count() == len(small):
            return
        self._columns = columns
        while self._grid.count():
            self._grid.takeAt(0)
        for index, plot in enumerate(small):
            self._grid.addWidget(plot, index // columns, index % columns)

    def set_held(self, held: bool) -> None:
        """Stop drawing (the fit goes on), or draw again."""
        self._held = held
        self.tick()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Space holds drawing only."""
        if event.key() == Qt.Key.Key_Space:
            self.set_held(not self._held)
            return
        super().keyPressEvent(event)

    def tick(self) -> None:
        """Draw what the chains have done since the last call."""
        if self._held:
            self._figures["sweep"].set_value(self._figures["sweep"].value, "drawing held, Space goes on")
            return
        run = self._run
        self._workbench.judge(run)
        snapshots = [record.trace.snapshot() for record in run.chains]
        if self._left_out != run.schedule.left_out:
            self._left_out = run.schedule.left_out
            for plot in self._plots:
                self._shade(plot)
        parts = [
            partial(self._tell, snapshots),
            partial(self._side.tick, snapshots),
            *(partial(plot.draw, snapshots) for plot in [*self._plots[:1], *self._next_small()]),
        ]
        if not run.active:
            self._parts.clear()
            for part in parts:
                part()
        elif not self._parts:  # else those of the last tick come first
            self._parts.extend(parts)
            self._draw_part()
            self._pacer.start()

    def _draw_part(self) -> None:
        """One part of a tick at a time, so that the event loop comes between."""
        if self._parts and self._run.active:
            self._parts.popleft()()
        if not self._parts:
            self._pacer.stop()

    def _next_small(self) -> list[TracePlot]:
        """The small plots take turns, so that a redraw costs the same however many there are."""
        small = self._plots[1:]
        if not self._run.active:
            return small
        chosen = [small[(self._turn + i) % len(small)] for i in range(min(_PER_TICK, len(small)))]
        self._turn += _PER_TICK
        return chosen

    def _planned(self) -> str:
        """``of 16 000, 2 restarts``, or of about how many where the draws follow from a goal; only how many chains once all is done."""
        run = self._run
        planned = format_count(run.sweeps_planned)
        if run.active and run.goal is not None:
            return f"of about {planned}"
        chains = counted(len(run.chains), run.chain_word)
        return chains if run.status == "done" else f"of {planned}, {chains}"

    def _tell(self, snapshots: list[dict[str, np.ndarray]]) -> None:
        run, phase = self._run, self._workbench.phase(self._run)
        done, planned = run.sweeps_done, run.sweeps_planned
        self._bar.setValue(round(1000 * done / max(1, planned)))
        self._figures["sweep"].set_value(format_count(done), self._planned())
        pace = self._workbench.pace(run)
        left = pace.seconds_left(done, planned) if phase == "running" else None
        labels = {
            "preparing": "Preparing",
            "summarising": "Summarising",
            "paused": "Paused",
            "stopping": "Stopping",
            "": run.status.capitalize(),
        }
        value = format_duration(left, rough=True) if left is not None else labels.get(phase, "–")
        note = f"{counted(pace.per_second(), 'sweep')}/s" if left is not None else ""
        most, colour = self._workbench.budget_left(run), "text"
        label = "Time left" if most is None else "Settles in"
        if run.active and run.spec.algorithm != "mcmc":
            label = "Time left at most"  # each ends as soon as it gains no more
        if most is not None and phase == "running":
            if run.last_diagnosis is not None and settled(run.last_diagnosis):
                label, note = "Ends in", "settled; the draws asked for"
            else:
                value, note, colour = self._until_settled(left, most)
        if phase == "preparing":
            away = self._workbench.places.where(run)
            note = "joining the cluster" if away else "compiles the first time"
        if phase == "summarising":
            label, note = "Time left", "averaging over all draws"
        if not phase:
            note = f"{format_duration(run.cpu_seconds)} of CPU time"
        self._figures["left"].set_label(label)
        self._figures["left"].set_value(value, note, colour)
        self._tell_counts(snapshots)
        self._tell_primary(snapshots)
        self._tell_verdict()
        self._share_row()

    def _until_settled(self, left: float | None, most: float) -> tuple[str, str, str]:
        """When the chains have settled, should they go on as they did; a note, and a colour that warns when it is later than
        the ``most`` seconds that are left for it."""
        run, found = self._run, self._run.last_diagnosis
        room = f"budget ends in {format_duration(most, rough=True)}" if most > 0 else "after a first look"
        goal, now = run.goal, run.schedule
        if left is None or found is None or goal is None or sweeps_needed(now, goal, found) is None:
            return "–", room, "text"
        colour = "text" if left < most + _AROUND else "warn"
        return format_duration(left, rough=True), room, colour

    def _tell_counts(self, snapshots: list[dict[str, np.ndarray]]) -> None:
        for key, figure in self._figures.items():
            name = key.removeprefix(_COUNT)
            if name != key:
                now = [int(s[name][-1]) for s in snapshots if len(s[name]) and np.isfinite(s[name][-1])]
                if not self._run.active:  # a number that the settings leave out is no dash
                    figure.setVisible(bool(now))
                    self._lines[key].setVisible(bool(now))
                if now:
                    most = max(set(now), key=now.count)
                    listed = "  ".join(str(value) for value in now[:8])
                    if len(set(now)) == 1 and len(now) > _LISTED:
                        listed = f"in all {counted(len(now), self._run.chain_word)}"
                    figure.set_value(str(most), listed)

    def _tell_primary(self, snapshots: list[dict[str, np.ndarray]]) -> None:
        primary = self._run.spec.primary_trace
        if primary is None:
            return
        series = [s[primary.name] for s in snapshots]
        tail = self._tail(max(map(len, series), default=0))
        tails = [(float(np.mean(y[-tail:])), i, y) for i, y in enumerate(series) if len(y)]
        if not tails:
            return
        sign = -1.0 if primary.goal == "down" else 1.0
        level, best, values = max(tails, key=lambda found: sign * found[0])
        before = values[-2 * tail : -tail]
        rise = (
            f", {format_number(level - float(np.mean(before)), 3)}"
            if len(before) and self._run.active
            else ""
        )
        which = f"{'lowest' if sign < 0 else 'highest'}: " if tail > 1 and len(tails) > 1 and not rise else ""
        if rise and not rise.startswith(", −"):
            rise = ", +" + rise[2:]
        self._figures["primary"].setToolTip(
            tr(
                f"Mean of the last {counted(tail, 'sweep')} of the {'lowest' if sign < 0 else 'highest'} chain, "
                f"and its change against the {tail} before"
                if tail > 1
                else "After the last sweep, and its change against the sweep before"
            )
        )
        self._figures["primary"].set_value(
            format_count(round(level)) if abs(level) >= 1000 else format_number(level),
            f"{which}{self._run.chain_word} {best + 1}{rise}",
        )

    def _tail(self, sweeps: int) -> int:
        """Sweeps at the end of a trace that tell its level: none of the warm-up once that is over."""
        if self._run.spec.algorithm != "mcmc":
            return 1  # what does not fluctuate is shown as it is
        after = sweeps - self._run.schedule.left_out
        return min(_TAIL, after if after > 0 else max(1, sweeps // 2))

    def _tell_verdict(self) -> None:
        """The verdict of the diagnostics, as shown everywhere."""
        figure, verdict = self._figures["verdict"], self._workbench.verdict(self._run)
        if verdict is None:
            when = "after the warm-up" if self._run.spec.algorithm == "mcmc" else "at the end"
            figure.set_value("–", when if self._run.active else "")
            return
        figure.setToolTip(tr(f"{verdict.title}. {verdict.text}"))
        figure.set_value(verdict.word or verdict.title, verdict.detail, verdict.kind)
