"""Do the restarts of an optimised model agree: a verdict, where each ended, and its way there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyqtgraph as pg
from PySide6.QtWidgets import QWidget

from plaidwork.core.draws.diagnostics import Diagnosis, Quantity
from plaidwork.core.inference.run import Run
from plaidwork.gui.language import tr
from plaidwork.gui.monitor.decimate import decimate
from plaidwork.gui.monitor.diagnostics_page import DiagnosticsPage
from plaidwork.gui.numbers import format_limits, format_number
from plaidwork.gui.theme import theme
from plaidwork.gui.workbench import Workbench

_MOST_COLUMNS = 5
"""Restarts with a column of their own; of more the spread is shown."""
_MOST_IN_LEGEND = 4


class RestartDiagnosticsPage(DiagnosticsPage):
    """R-hat, effective sample sizes and ranks say nothing of restarts, each of which ends in one point."""

    def __init__(self, workbench: Workbench, run: Run, parent: QWidget | None = None) -> None:
        super().__init__(workbench, run, parent)
        self.dots.hide()
        self._ranks.hide()
        self.table.setAccessibleName(tr("Quantities where each restart ended"))
        self._table_head[0].setText("Where each restart ended")
        self._table_head[1].setText("after its last sweep")

    def _show(self, whole: Diagnosis) -> None:
        """First the objective, of which the verdict speaks."""
        primary = self._run.spec.primary_trace
        named = "" if primary is None else primary.name
        ordered = sorted(whole.quantities, key=lambda q: (q.source, q.name) != ("trace", named))
        super()._show(replace(whole, quantities=tuple(ordered)))

    def _ways(self, quantity: Quantity) -> list[np.ndarray]:
        """Values of a quantity in each restart: of a trace sweep by sweep, of what is only kept those kept at the end."""
        assert self._diagnosis is not None
        if quantity.source == "trace":
            return [chain.trace(quantity.name) for chain in self._diagnosis.kept.chains]
        return list(self._diagnosis.series(quantity))

    def _fill_table(self, diagnosis: Diagnosis) -> None:
        rows = diagnosis.quantities
        ends = np.array([[y[-1] if len(y) else np.nan for y in self._ways(q)] for q in rows])
        numbers = [chain.chain + 1 for chain in diagnosis.kept.chains]
        columns: dict[str, object] = {"Quantity": [q.title for q in rows]}
        if ends.shape[1] <= _MOST_COLUMNS:
            columns |= {f"Restart {number}": ends[:, i] for i, number in enumerate(numbers)}
        else:
            known = np.where(np.isfinite(ends).any(axis=1, keepdims=True), ends, 0.0)
            columns |= {"Lowest": np.nanmin(known, axis=1), "Median": np.nanmedian(known, axis=1)}
            columns["Highest"] = np.nanmax(known, axis=1)
        shown = {float(v): t for row in ends for v, t in zip(row, format_limits(row, 6), strict=True)}
        formats = {name: lambda v: shown.get(float(v), format_number(v, 6)) for name in columns}
        self.table.set_columns(columns, formats={**formats, "Quantity": str})

    def _draw_dots(self, diagnosis: Diagnosis) -> None:
        """There is no R-hat of restarts."""

    def _choose_row(self, row: int) -> None:
        if self._diagnosis is None or row < 0:
            return
        quantity = self._diagnosis.quantities[row]
        self._chosen = quantity.title
        self.trace.clear()
        for item in [item for item in self.trace.area.items if isinstance(item, pg.ScatterPlotItem)]:
            self.trace.area.remove(item)
        title, unit = quantity.title[:1].upper() + quantity.title[1:], quantity.unit
        named = f"{quantity.title} ({unit})" if unit else quantity.title
        ways, numbers = self._ways(quantity), [c.chain + 1 for c in self._diagnosis.kept.chains]
        if quantity.source == "trace":
            self.trace.set_title(title, "")
            self.trace.set_labels("sweep", named)
            for number, values in zip(numbers, ways, strict=True):
                legend = len(ways) <= _MOST_IN_LEGEND
                way = decimate(values, 1500)
                self.trace.add_line(f"Restart {number}", number - 1, *way, width=1.4, legend=legend)
        else:
            self.trace.set_title(title, "kept after the last sweep only")
            self.trace.set_labels("restart", named)
            self._draw_ends(numbers, [float(values[-1]) for values in ways])
        self.trace.reset_zoom()
        if quantity.source != "trace":
            self._give_room([float(values[-1]) for values in ways])

    def _give_room(self, ends: list[float]) -> None:
        """Ends that are the same but for rounding lie on one level, not at the edges of the picture."""
        low, high = min(ends), max(ends)
        room = max(0.1 * (high - low), 0.01 * max(abs(low), abs(high), 1e-9))
        self.trace.view_box.setYRange(low - room, high + room, padding=0)

    def _draw_ends(self, numbers: list[int], ends: list[float]) -> None:
        colours = [theme().category(number - 1) for number in numbers]
        brushes = [pg.mkBrush(colour) for colour in colours]
        self.trace.area.add(
            pg.ScatterPlotItem(numbers, ends, size=9, pen=pg.mkPen(theme().color("surface")), brush=brushes)
        )
