"""How much each factor explains of each view."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from PySide6.QtWidgets import QWidget

from plaidwork.core.findings.naming import ShownName, findable
from plaidwork.core.pictures.words import capital
from plaidwork.core.views.sources import Sources, role_names
from plaidwork.gui.numbers import format_count, format_fixed, format_percent
from plaidwork.gui.results.chart import ItemPicker
from plaidwork.gui.results.option_row import Labelled, OptionRow, page_content
from plaidwork.gui.results.page import ResultPage
from plaidwork.gui.results.show_data import Content
from plaidwork.gui.results.variance_chart import Shares, VarianceChart
from plaidwork.gui.widgets import ColorBar, Label, SegmentedControl


class VariancePage(ResultPage):
    """Role ``values`` (V, K), shares of each view from 0 to 1; ``total`` (V,), else the sums; ``row_names`` (V,) and
    ``column_names`` (K,); ``by_group`` (G, V, K), the shares of each group of samples, and ``groups`` (G,), their names.

    A click on a column chooses the factor in every view of the run. Option: ``scale`` "root" or "linear".
    """

    icon_name = "tiles"
    layer_axis = ("values", 1)

    def __init__(self, workbench: Any, run: Any, view: Any, parent: QWidget | None = None) -> None:
        self._root = view.options.get("scale", "root") != "linear"
        self._group = 0
        self._selection = workbench.selection(run)
        super().__init__(workbench, run, view, parent)
        self._selection.changed.connect(self._on_selection)

    def build(self) -> QWidget:
        self.chart = VarianceChart()
        self.chart.hovered.connect(self.hovered)
        self.chart.chosen.connect(self.choose)
        self._foot = Label("", "body", "muted", elide=True)
        self.bar = ColorBar("tide")
        self.group_picker = ItemPicker()
        self.group_picker.currentIndexChanged.connect(self.choose_group)
        self._group_field = Labelled("Samples", self.group_picker)
        self.scale = SegmentedControl(
            [("root", "Square root"), ("linear", "Linear")], "root" if self._root else "linear"
        )
        self.scale.changed.connect(self.set_scale)
        options = OptionRow(self._group_field, Labelled("Scale", self.scale))
        return page_content(options, self.chart, self._foot, self.bar)

    def load(self, sources: Sources) -> tuple[Shares, ...]:
        result = sources.result("values", 2)
        values = np.asarray(result.values, dtype=np.float64)
        count, factors = values.shape
        dims = result.dims if len(result.dims) == 2 else ("view", "factor")
        totals = sources.array("total", (count,)) if sources.has("total") else np.nansum(values, axis=1)
        names = role_names(sources, "column_names", dims[1], factors)
        word = dims[1].replace("_", " ")
        short = tuple(
            name if isinstance(name, ShownName) else f"{word[:1].upper()}{k + 1}"
            for k, name in enumerate(names)
        )
        rows = role_names(sources, "row_names", dims[0], count)
        found = [Shares(values, totals, rows, names, short)]
        if sources.has("by_group"):
            parts = sources.array("by_group", (None, count, factors))
            of = sources.result("by_group").dims[:1] or ("group",)
            groups = role_names(sources, "groups", of[0], len(parts))
            found += [
                Shares(part, np.nansum(part, axis=1), rows, names, short, group)
                for part, group in zip(parts, groups, strict=True)
            ]
        return tuple(found)

    @property
    def shares(self) -> Shares:
        """Of the samples chosen, by the scale chosen."""
        return replace(self.loaded[min(self._group, len(self.loaded) - 1)], root=self._root)

    def show_loaded(self, loaded: tuple[Shares, ...]) -> None:
        if not loaded[0].values.size:
            self.show_state("search", "Nothing to show", "The run has found nothing for this picture.")
            return
        self._group = min(self._group, len(loaded) - 1)
        self.group_picker.set_names([part.samples for part in loaded], self._group)
        self._group_field.setVisible(len(loaded) > 1)
        self._draw()

    def _draw(self) -> None:
        shares = self.shares
        self.chart.set_shares(shares)
        high = 100 * shares.high
        decimals = 0 if high >= 20 else 1
        self.bar.set_label("share explained, %")
        middle = high / 4 if self._root else high / 2
        self.bar.set_limits("0", format_fixed(middle, decimals), format_fixed(high, decimals))
        self.bar.setToolTip(
            "The colours follow the square root of the share, so that weak factors show" if self._root else ""
        )
        self._mark()
        self.update_head()

    # -- choices --------------------------------------------------------------------------------
    def choose(self, factor: int) -> None:
        """Choose a factor in every view of the run."""
        self._selection.set("layer", (factor,))

    def choose_group(self, group: int) -> None:
        """Show the shares of a group of samples; 0 is all of them."""
        if self.loaded is not None and group >= 0:
            self._group = group
            self._draw()

    def set_scale(self, scale: str) -> None:
        """Colours and bars by the square root of the share, or by the share."""
        self._root = scale == "root"
        if self.loaded is not None and not self.state:
            self._draw()

    def _on_selection(self, kind: str) -> None:
        if kind == "layer" and self.loaded is not None:
            self._mark()

    def _mark(self) -> None:
        shares = self.shares
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
        hits = [k for k, name in enumerate(self.shares.factors) if text and wanted in findable(name)]
        if hits:
            self.choose(hits[0])
        return [self.shares.factors[k] for k in hits]

    def leave(self) -> bool:
        """Choose no factor."""
        if self.chart.current < 0:
            return False
        self._selection.set("layer", ())
        return True

    # -- words and files ------------------------------------------------------------------------
    def default_headline(self) -> str:
        if not self.loaded or not self.loaded[0].values.size:
            return self.view.title
        shares = self.shares
        count = len(shares.factors)
        word = "factor explains" if count == 1 else "factors explain"
        parts = [
            f"{format_percent(float(total))} of {name}" for name, total in zip(shares.views, shares.totals)
        ]
        shown = parts[:3] + ([f"{len(parts) - 3} more"] if len(parts) > 3 else [])
        listed = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
        of = f" in the samples “{shares.samples}”" if self._group else ""
        return f"{format_count(count)} {word} {listed}{of}"

    def default_caption(self) -> str:
        return "Share of the variance of each view that a factor explains, in per cent."

    def figure_parts(self) -> Sequence[Sequence[QWidget]]:
        return [[self.chart], [self._foot, self.bar]]

    def data_content(self) -> tuple[Content, Mapping[str, Callable[[Any], str]]]:
        shares = self.shares
        columns: dict[str, Any] = {"Factor": np.array([*shares.factors, "all factors"], dtype=object)}
        formats: dict[str, Callable[[Any], str]] = {}
        for v, name in enumerate(shares.views):
            title = name if name not in columns else f"{name} ({v + 1})"
            columns[title] = np.append(shares.values[v], shares.totals[v])
            formats[title] = lambda value: format_percent(float(value), 1)
        return columns, formats
