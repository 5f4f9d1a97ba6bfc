"""How much each factor explains of each view."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from plaidwork.gui.numbers import format_count, format_fixed, format_percent
from plaidwork.gui.results.chart import capital
from plaidwork.gui.results.heat_canvas import RING
from plaidwork.gui.results.page import ResultPage
from plaidwork.gui.results.show_data import Content
from plaidwork.gui.results.source import Sources, role_names
from plaidwork.gui.results.variance_chart import Shares, VarianceChart
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import ColorBar, Label


class VariancePage(ResultPage):
    """Role ``values`` (V, K), shares of each view from 0 to 1; ``total`` (V,), else the sums; ``row_names`` (V,) and
    ``column_names`` (K,). A click on a column chooses the factor in every view of the run."""

    icon_name = "tiles"

    def __init__(self, workbench: Any, run: Any, view: Any, parent: QWidget | None = None) -> None:
        self._selection = workbench.selection(run)
        super().__init__(workbench, run, view, parent)
        self._selection.changed.connect(self._on_selection)

    def build(self) -> QWidget:
        self.chart = VarianceChart()
        self.chart.hovered.connect(self.hovered)
        self.chart.chosen.connect(self.choose)
        self._foot = Label("", "body", "muted", elide=True)
        self.bar = ColorBar("tide")
        foot_row = QWidget()
        foot = QHBoxLayout(foot_row)
        foot.setContentsMargins(RING, 0, RING, 0)
        foot.setSpacing(space.M)
        foot.addWidget(self._foot, 1)
        foot.addWidget(self.bar)
        content = QWidget()
        layout = QVBoxLayout(content)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(space.M - RING)
        layout.addWidget(self.chart, 1)
        layout.addWidget(foot_row)
        return content

    def load(self, sources: Sources) -> Shares:
        result = sources.result("values", 2)
        values = np.asarray(result.values, dtype=np.float64)
        count, factors = values.shape
        dims = result.dims if len(result.dims) == 2 else ("view", "factor")
        totals = sources.array("total", (count,)) if sources.has("total") else np.nansum(values, axis=1)
        names = role_names(sources, "column_names", dims[1], factors)
        word = dims[1].replace("_", " ")
        short = tuple(f"{word[:1].upper()}{k + 1}" for k in range(factors))
        return Shares(values, totals, role_names(sources, "row_names", dims[0], count), names, short)

    def show_loaded(self, loaded: Shares) -> None:
        if not loaded.values.size:
            self.show_state("search", "Nothing to show", "The run has found nothing for this picture.")
            return
        self.chart.set_shares(loaded)
        high = 100 * loaded.high
        decimals = 0 if high >= 20 else 1
        self.bar.set_label("share explained, %")
        self.bar.set_limits("0", format_fixed(high / 4, decimals), format_fixed(high, decimals))
        self.bar.setToolTip("The colours follow the square root of the share, so that weak factors show")
        self._mark()

    # -- choices --------------------------------------------------------------------------------
    def choose(self, factor: int) -> None:
        """Choose a factor in every view of the run."""
        self._selection.set("layer", (factor,))

    def _on_selection(self, kind: str) -> None:
        if kind == "layer" and self.loaded is not None:
            self._mark()

    def _mark(self) -> None:
        shares: Shares = self.loaded
        chosen = self._selection.get("layer")
        factor = chosen[0] if chosen and chosen[0] < len(shares.factors) else -1
        self.chart.set_current(factor)
        count = format_count(len(shares.factors))
        if factor < 0:
            self._foot.setText(f"{count} factors; click one to choose it everywhere")
            return
        each = (
            f"{name} {format_percent(float(v), 1)}" for name, v in zip(shares.views, shares.values[:, factor])
        )
        self._foot.setText(f"{capital(shares.factors[factor])}: {', '.join(each)}")

    def search(self, text: str) -> list[str]:
        """Choose the first factor whose name holds the text."""
        if self.loaded is None:
            return []
        wanted = text.casefold()
        hits = [k for k, name in enumerate(self.loaded.factors) if text and wanted in name.casefold()]
        if hits:
            self.choose(hits[0])
        return [self.loaded.factors[k] for k in hits]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc closes the search, then chooses no factor."""
        if event.key() == Qt.Key.Key_Escape and not self._find_row.isHidden():
            self.close_find()
        elif event.key() == Qt.Key.Key_Escape and self.chart.current >= 0:
            self._selection.set("layer", ())
        else:
            super().keyPressEvent(event)

    # -- words and files ------------------------------------------------------------------------
    def default_headline(self) -> str:
        if not self.loaded or not self.loaded.values.size:
            return self.view.title
        count = len(self.loaded.factors)
        word = "factor explains" if count == 1 else "factors explain"
        parts = [
            f"{format_percent(float(total))} of {name}"
            for name, total in zip(self.loaded.views, self.loaded.totals)
        ]
        shown = parts[:3] + ([f"{len(parts) - 3} more"] if len(parts) > 3 else [])
        listed = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
        return f"{format_count(count)} {word} {listed}"

    def default_caption(self) -> str:
        return "Share of the variance of each view that a factor explains, in per cent."

    def figure_parts(self) -> Sequence[Sequence[QWidget]]:
        return [[self.chart], [self._foot, self.bar]]

    def data_content(self) -> tuple[Content, Mapping[str, Callable[[Any], str]]]:
        shares: Shares = self.loaded
        columns: dict[str, Any] = {"Factor": np.array([*shares.factors, "all factors"], dtype=object)}
        formats: dict[str, Callable[[Any], str]] = {}
        for v, name in enumerate(shares.views):
            title = name if name not in columns else f"{name} ({v + 1})"
            columns[title] = np.append(shares.values[v], shares.totals[v])
            formats[title] = lambda value: format_percent(float(value), 1)
        return columns, formats
