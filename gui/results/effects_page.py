"""Effects on an outcome: estimates with intervals, names at the left, groups side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from PySide6.QtWidgets import QWidget

from plaidwork.core.findings.naming import findable
from plaidwork.core.pictures.words import capital, plural
from plaidwork.core.views.colouring import Colouring
from plaidwork.core.views.sources import SourceError, Sources, role_names
from plaidwork.gui.results.effects_chart import NOT_ESTIMABLE, Effects, EffectsChart, p_text
from plaidwork.gui.results.marks import MarkLegend
from plaidwork.gui.results.option_row import Labelled, Legend, OptionRow, page_content
from plaidwork.gui.results.page import ResultPage
from plaidwork.gui.results.show_data import Content
from plaidwork.gui.widgets import Label, SegmentedControl

ORDERS = (("given", "As given"), ("value", "By effect"))


class EffectsPage(ResultPage):
    """Role ``values`` (m,), with ``interval`` (m, 2), ``names``, ``group``, ``reason`` (m,) texts, ``count`` and ``p`` (m,).

    Entries of one name and several groups share a row. NaN stands for no estimate, a count below 0 for none.
    Options: ``order`` "given" or "value", ``dim`` (what a name is), ``count_label``, ``p_label``, ``layer`` (whether the
    rows are the factors, so that a click chooses one in all views), ``ratio`` (estimates are logarithms of ratios).
    """

    icon_name = "effects"
    layer_axis = ("values", 0)

    def __init__(self, workbench: Any, run: Any, view: Any, parent: QWidget | None = None) -> None:
        order = str(view.options.get("order", "given"))
        self._order = order if order in dict(ORDERS) else "given"
        self._is_layer = bool(view.options.get("layer", False))
        self._selection = workbench.selection(run)
        super().__init__(workbench, run, view, parent)
        self._selection.changed.connect(self._on_selection)

    def layer_dim(self, sources: Sources) -> str:
        return super().layer_dim(sources) if self._is_layer else ""

    def build(self) -> QWidget:
        self.chart = EffectsChart()
        self.chart.hovered.connect(self.hovered)
        self.chart.picked.connect(self.pick)
        self.order = SegmentedControl(list(ORDERS))
        self.order.set_current(self._order)
        self.order.changed.connect(self.set_order)
        self._foot = Label("", "body", "muted", elide=True)
        self.legend, self.signs = MarkLegend(), Legend()
        options = OptionRow(Labelled("Order", self.order))
        return page_content(options, self.chart, self._foot, self.legend, self.signs)

    # -- loading --------------------------------------------------------------------------------
    def load(self, sources: Sources) -> Effects:
        result = sources.result("values", 1)
        values = np.asarray(result.values, dtype=np.float64)
        m = len(values)
        dim = result.dims[0] if result.dims else "effect"
        names = role_names(sources, "names", dim, m)
        group = self._texts(sources, "group", m)
        rows, groups = tuple(dict.fromkeys(names)), tuple(dict.fromkeys(group))
        entry = np.full((len(groups), len(rows)), -1, dtype=np.intp)
        for i, (name, of) in enumerate(zip(names, group, strict=True)):
            at = groups.index(of), rows.index(name)
            if entry[at] >= 0:
                raise SourceError(f"“{name}” has two estimates{f' in {of}' if of else ''}; it needs one.")
            entry[at] = i
        reason = self._texts(sources, "reason", m)
        interval = sources.array("interval", (m, 2)) if sources.has("interval") else None
        optional = {name: sources.array(name, (m,)) for name in ("count", "p") if sources.has(name)}
        count = optional.get("count")
        p = optional.get("p")
        options = self.view.options
        unit = f", {result.unit}" if result.unit else ""
        return Effects(
            rows,
            groups,
            _placed(values, entry),
            None if interval is None else _placed(interval, entry),
            None if count is None else np.nan_to_num(_placed(count, entry), nan=-1),
            None if p is None else _placed(p, entry),
            tuple(tuple(reason[i] if i >= 0 else "" for i in line) for line in entry),
            entry,
            (result.label or "effect") + unit,
            str(options.get("count_label", "n")),
            str(options.get("p_label", "p")),
            str(options.get("dim", dim)).replace("_", " "),
            result.doc,
            bool(options.get("ratio", False)),
        )

    @staticmethod
    def _texts(sources: Sources, role: str, m: int) -> list[str]:
        if not sources.has(role):
            return [""] * m
        found = sources.texts(role)
        if len(found) != m:
            raise SourceError(f"The {role} has {len(found)} entries; there are {m} estimates.")
        return found

    def show_loaded(self, loaded: Effects) -> None:
        if not loaded.names:
            self.show_state("search", "Nothing to show", "The run has found nothing for this picture.")
            return
        self._draw()

    def _draw(self) -> None:
        if self.loaded is None or self.state:
            return
        data: Effects = self.loaded
        order = np.arange(len(data.names))
        if self._order == "value":
            known = np.isfinite(data.values)
            mean = np.where(known, data.values, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
            order = np.lexsort((-mean, ~known.any(axis=0)))
        self.chart.set_effects(data, order)
        many = len(data.groups) > 1
        codes = np.arange(len(data.groups), dtype=np.intp)
        self.legend.set_colouring(Colouring("group" if many else "", data.groups, codes, data.groups))
        entries: list[tuple[object, str]] = [
            ("blue", f"above {data.middle}"),
            ("amber", f"below {data.middle}"),
        ]
        if data.intervals is not None:
            entries.append(("neutral", f"interval holds {data.middle}"))
        self.signs.set_entries([] if many else entries)
        self._on_selection("layer")
        self._foot.setText(self._foot_text())

    def _foot_text(self) -> str:
        data: Effects = self.loaded
        there = data.entry >= 0
        known = np.isfinite(data.values) & there
        count = int((there & known).sum())
        text = f"{count} estimates" if count != 1 else "1 estimate"
        if lost := int((there & ~known).sum()):
            text += f", {lost} {NOT_ESTIMABLE}"
        return text

    # -- choices --------------------------------------------------------------------------------
    def set_order(self, order: str) -> None:
        """Show the rows ``"given"`` or by ``"value"``, those without an estimate last."""
        self._order = order
        self._draw()

    def pick(self, row: int) -> None:
        """Mark a row; where rows are factors, choose it in all views (-1: none)."""
        if self._is_layer:
            self._selection.set("layer", () if row < 0 else (row,))
        else:
            self.chart.set_marked(() if row < 0 else (row,))

    def _on_selection(self, kind: str) -> None:
        if kind == "layer" and self._is_layer and self.loaded is not None:
            self.chart.set_marked(
                tuple(i for i in self._selection.get("layer") if i < len(self.loaded.names))
            )

    def search(self, text: str) -> list[str]:
        """Mark the rows whose names hold the text."""
        if self.loaded is None or self.state:
            return []
        names = self.loaded.names
        hits = [i for i in self.chart.order if text and text.casefold() in findable(names[i])]
        self.chart.set_marked(tuple(int(i) for i in hits))
        return [names[i] for i in hits]

    def leave(self) -> bool:
        """Select nothing."""
        if not self.chart.marked:
            return False
        self.pick(-1)
        return True

    # -- words and files ------------------------------------------------------------------------
    def default_headline(self) -> str:
        if not self.loaded or not self.loaded.names:
            return self.view.title
        data: Effects = self.loaded
        known = np.isfinite(data.values)
        if data.intervals is None:
            return f"{int(known.sum())} {plural(data.word)}"
        clear = sum(data.clear(g, r) for g, r in zip(*np.nonzero(known), strict=True))
        return f"{clear} of {int(known.sum())} effects have an interval without {data.middle}"

    def default_caption(self) -> str:
        return self.loaded.doc if self.loaded else ""

    def figure_parts(self) -> Sequence[Sequence[QWidget]]:
        return [[self.chart], [self._foot, self.legend, self.signs]]

    def data_content(self) -> tuple[Content, Mapping[str, Callable[[Any], str]]]:
        data: Effects = self.loaded
        cells = [
            (g, int(r)) for r in self.chart.order for g in range(len(data.groups)) if data.entry[g, r] >= 0
        ]
        at = tuple(np.array(cells).T)
        columns: dict[str, Any] = {
            capital(data.word): np.array([data.names[r] for _, r in cells], dtype=object)
        }
        if len(data.groups) > 1:
            columns["Group"] = np.array([data.groups[g] for g, _ in cells], dtype=object)
        shown = np.exp if data.ratio else np.asarray
        columns[capital(data.axis)] = shown(data.values[at])
        if data.intervals is not None:
            columns["Low"], columns["High"] = shown(data.intervals[at]).T
        formats: dict[str, Callable[[Any], str]] = {}
        if data.counts is not None:
            columns[data.count_name] = np.where(data.counts[at] < 0, np.nan, data.counts[at])
        if data.p is not None:
            columns[data.p_name] = data.p[at]
            formats[data.p_name] = lambda value: "" if value != value else p_text(float(value))
        lost = [
            "" if np.isfinite(data.values[g, r]) else f"{NOT_ESTIMABLE}: {data.reasons[g][r]}".rstrip(": ")
            for g, r in cells
        ]
        if any(lost):
            columns["Note"] = np.array(lost, dtype=object)
        return columns, formats


def _placed(values: np.ndarray, entry: np.ndarray) -> np.ndarray:
    """The entries at their places, NaN where there is none."""
    found = values[np.maximum(entry, 0)].astype(np.float64)
    found[entry < 0] = np.nan
    return found
