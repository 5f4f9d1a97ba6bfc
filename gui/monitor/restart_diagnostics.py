"""Do the restarts of an optimised model agree: a verdict, where each ended, and its way there."""

from __future__ import annotations

import numpy as np
from PySide6.QtWidgets import QWidget

from plaidwork.core.diagnostics import Diagnosis
from plaidwork.core.run import Run
from plaidwork.gui.monitor.decimate import decimate
from plaidwork.gui.monitor.diagnostics_page import DiagnosticsPage
from plaidwork.gui.numbers import format_limits, format_number
from plaidwork.gui.workbench import Workbench

_MOST_COLUMNS = 5
"""Restarts with a column of their own; of more the spread is told."""
_MOST_IN_LEGEND = 4


class RestartDiagnosticsPage(DiagnosticsPage):
    """R-hat, effective sample sizes and ranks say nothing of restarts, each of which ends in one point."""

    def __init__(self, workbench: Workbench, run: Run, parent: QWidget | None = None) -> None:
        super().__init__(workbench, run, parent)
        self.dots.hide()
        self._ranks.hide()
        self.table.setAccessibleName("Quantities where each restart ended")
        self._table_head[0].setText("Where each restart ended")
        self._table_head[1].setText("after its last sweep")

    def _curves(self, name: str) -> list[np.ndarray]:
        return [np.asarray(record.trace.snapshot()[name], dtype=float) for record in self._run.chains]

    def _fill_table(self, diagnosis: Diagnosis) -> None:
        rows = diagnosis.quantities
        curves = [self._curves(q.name) for q in rows]
        ends = np.array([[y[-1] if len(y) else np.nan for y in found] for found in curves])
        columns: dict[str, object] = {"Quantity": [q.title for q in rows]}
        if ends.shape[1] <= _MOST_COLUMNS:
            columns |= {f"Restart {i + 1}": ends[:, i] for i in range(ends.shape[1])}
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
        self.trace.set_title(quantity.title[:1].upper() + quantity.title[1:], "")
        unit = f" ({quantity.unit})" if quantity.unit else ""
        self.trace.set_labels("sweep", quantity.title + unit)
        curves = self._curves(quantity.name)
        for chain, values in enumerate(curves):
            legend = len(curves) <= _MOST_IN_LEGEND
            self.trace.add_line(
                f"Restart {chain + 1}", chain, *decimate(values, 1500), width=1.4, legend=legend
            )
        self.trace.reset_zoom()
