"""One column of the data against what the factors make of it, with thresholds and the order that is met."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from PySide6.QtWidgets import QWidget

from plaidwork.core.findings.fitted import FittedInput
from plaidwork.core.pictures.words import capital, plural
from plaidwork.core.views.colouring import Colouring
from plaidwork.core.views.sources import SourceError, Sources, role_names
from plaidwork.gui.numbers import format_count, format_percent
from plaidwork.gui.results.option_row import Labelled, OptionRow, page_content
from plaidwork.gui.results.scatter_chart import Points
from plaidwork.gui.results.score_chart import Overlay, ScoreChart
from plaidwork.gui.results.scores_page import Scores, ScoresPage
from plaidwork.gui.results.search_picker import SearchPicker
from plaidwork.gui.results.show_data import Content

ORDER = "Order"
_WORDS = ("in order", "out of order")


@dataclass(frozen=True, kw_only=True)
class FeatureFit(Scores):
    """Scores (n, K) with the weights (K, m) of the columns of a matrix.

    ``order`` (n, m) is 0 where a cell is in order, 1 where not, below 0 where it was not compared; ``thresholds`` (m, c), the first
    ``levels - 1`` of each column.
    """

    weights: np.ndarray
    features: tuple[str, ...]
    fitted: FittedInput
    order: np.ndarray | None
    thresholds: np.ndarray | None
    levels: np.ndarray | None
    start: int

    def choices(self) -> dict[str, list[str]]:
        """Sections of what can be coloured by, the order first."""
        sections = super().choices()
        if self.order is not None:
            sections[""] = [ORDER, *sections[""]]
        return sections

    def value(self, j: int) -> np.ndarray:
        """(n,) data of a column."""
        return self.fitted.known(0, np.array([j]))[:, 0]

    def fit(self, j: int) -> np.ndarray:
        """(n,) what the factors make of a column."""
        return np.asarray(self.values @ self.weights[:, j])

    def lines(self, j: int) -> np.ndarray:
        """Thresholds of a column."""
        if self.thresholds is None:
            return np.zeros(0)
        count = self.thresholds.shape[1] if self.levels is None else int(self.levels[j]) - 1
        return self.thresholds[j, : max(count, 0)]


class FeatureFitPage(ScoresPage):
    """Role ``values`` (n, K) scores, ``weights`` (K, m) and ``matrix`` (data:X), the matrix with the columns; optional
    ``order`` (n, m), ``thresholds`` (m, c) with ``levels`` (m,), ``names`` (m,) and ``first`` (1,), the column shown first.

    A column that is selected in another view is shown here too.
    """

    icon_name = "scatter"

    def __init__(self, workbench: Any, run: Any, view: Any, parent: QWidget | None = None) -> None:
        self._feature = -1
        super().__init__(workbench, run, view, parent)

    def build(self) -> QWidget:
        self.chart: ScoreChart = ScoreChart()
        self._build_common()
        self.picker = SearchPicker()
        self.picker.chosen.connect(self._chosen)
        options = OptionRow(Labelled("Show", self.picker), self._colour_field)
        return page_content(options, self.chart, self._foot, self.legend, self.bar)

    # -- loading --------------------------------------------------------------------------------
    def load(self, sources: Sources) -> FeatureFit:
        base = super().load(sources)
        weights = sources.array("weights", (len(base.factors), None))
        m = weights.shape[1]
        fitted = sources.fitted("matrix")
        if fitted is None or [block.shape for block in fitted.blocks] != [(len(base.values), m)]:
            raise SourceError(f"The data are not a matrix of {len(base.values)} items by {m}.")
        dims = sources.result("weights").dims
        order = sources.result("order").values if sources.has("order") else None
        if order is not None and order.shape != (len(base.values), m):
            raise SourceError(f"The order has the shape {order.shape}; {(len(base.values), m)} is needed.")
        common = {field.name: getattr(base, field.name) for field in fields(Scores)}
        if order is not None and not self.view.options.get("colour_by"):
            common["first"] = ORDER
        first = int(sources.result("first").values[0]) if sources.has("first") else -1
        return FeatureFit(
            **common,
            weights=weights,
            features=role_names(sources, "names", dims[-1] if dims else "column", m),
            fitted=fitted,
            order=order,
            thresholds=sources.array("thresholds", (m, None)) if sources.has("thresholds") else None,
            levels=sources.array("levels", (m,)) if sources.has("levels") else None,
            start=first if 0 <= first < m else int(np.abs(weights).max(axis=0).argmax()),
        )

    def show_loaded(self, loaded: FeatureFit) -> None:
        if not loaded.values.size or not loaded.features:
            self.show_state("search", "Nothing to show", "The run has found nothing for this picture.")
            return
        if not 0 <= self._feature < len(loaded.features):
            chosen = self._selection.get("column")
            self._feature = (
                chosen[0] if len(chosen) == 1 and chosen[0] < len(loaded.features) else loaded.start
            )
        self.picker.set_sections({"": loaded.features}, loaded.features[self._feature])
        self._show_choices(loaded)
        self._draw()

    # -- choices --------------------------------------------------------------------------------
    def _chosen(self, name: str) -> None:
        self.choose_feature(self.loaded.features.index(name))

    def choose_feature(self, j: int) -> None:
        """Show a column, and select it in every view of the run."""
        if self.loaded is None or not 0 <= j < len(self.loaded.features):
            return
        self._feature = j
        self.picker.set_current(self.loaded.features[j])
        self._draw()
        self._selection.set("column", (j,))

    def _on_selection(self, kind: str) -> None:
        chosen = self._selection.get("column")
        if self.loaded is None or self.state:
            return
        if kind == "column" and len(chosen) == 1 and chosen[0] not in (self._feature, -1):
            if chosen[0] < len(self.loaded.features):
                self._feature = chosen[0]
                self.picker.set_current(self.loaded.features[self._feature])
                self._draw()
        elif kind != "layer":
            super()._on_selection(kind)

    def _on_layer(self, factor: int) -> None:
        """All factors make a column."""

    def _axes(self) -> list[int]:
        return []

    # -- picture --------------------------------------------------------------------------------
    def _colours(self) -> Colouring:
        data: FeatureFit = self.loaded
        if self._colour != ORDER or data.order is None:
            return super()._colours()
        self._colourless = False
        codes = np.asarray(data.order[:, self._feature], dtype=np.intp)
        texts = tuple("" if code < 0 else _WORDS[code] for code in codes)
        return Colouring(ORDER, texts, codes, _WORDS)

    def _draw(self) -> None:
        if self.loaded is None or self.state:
            return
        data, j = self.loaded, self._feature
        shown = self._colours()
        name = data.features[j]
        self.chart.set_points(
            Points(data.value(j), data.fit(j), data.names, name, f"fitted value of {name}", shown)
        )
        lines = data.lines(j)
        self.chart.set_overlay(Overlay(across=lines if len(lines) else None))
        self._show_legend(shown)
        self._mark()
        self.update_head()

    def _more_text(self) -> str:
        count = len(self.loaded.lines(self._feature))
        return f"; {format_count(count)} dashed lines: thresholds between the levels" if count else ""

    # -- words and files ------------------------------------------------------------------------
    def default_headline(self) -> str:
        if not self.loaded or self.state:
            return self.view.title
        data: FeatureFit = self.loaded
        name = data.features[self._feature]
        if data.order is None:
            return f"Fitted values of {name}"
        known = data.order[:, self._feature]
        known = known[known >= 0]
        if not len(known):
            return f"{name} was left out of the fit"
        share = format_percent(float((known == 0).mean()))
        return f"{name}: {share} of {format_count(len(known))} {plural(data.word)} in order"

    def default_caption(self) -> str:
        data = self.loaded
        if not data or data.order is None:
            return ""
        if data.thresholds is not None:
            return "In order: the fitted value lies between the thresholds of its level."
        return "In order: no comparison with a neighbour in the order of the data is the wrong way round."

    def data_content(self) -> tuple[Content, Mapping[str, Callable[[Any], str]]]:
        data, j = self.loaded, self._feature
        columns: dict[str, Any] = {
            capital(data.word): np.array(data.names, dtype=object),
            data.features[j]: data.value(j),
            "Fitted value": data.fit(j),
        }
        if data.order is not None:
            columns[ORDER] = np.array(["" if c < 0 else _WORDS[c] for c in data.order[:, j]], dtype=object)
        return columns, {}
