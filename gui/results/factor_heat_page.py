"""The strongest columns of a factor as a heat map, items in the order of its scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from plaidwork.core.findings.fitted import FittedInput
from plaidwork.core.findings.naming import findable, identity_of
from plaidwork.core.pictures.words import headed, plural
from plaidwork.core.views.colouring import colouring, most_telling
from plaidwork.core.views.columns import ItemColumns
from plaidwork.core.views.matrices import robust_shades
from plaidwork.core.views.sources import SourceError, Sources, data_axis, role_names
from plaidwork.gui.numbers import format_count, format_limits, format_number, tidy
from plaidwork.gui.results.chart import ItemPicker
from plaidwork.gui.results.factor_heat import DENOISED, IMPUTED, RAW, Strongest, Wanted, places_of, strongest
from plaidwork.gui.results.heat_canvas import HeatCanvas, Picture
from plaidwork.gui.results.option_row import Labelled, Legend, OptionRow, page_content
from plaidwork.gui.results.page import ResultPage
from plaidwork.gui.results.search_picker import SearchPicker
from plaidwork.gui.results.show_data import Content, MatrixData
from plaidwork.gui.results.strips import AnyStrip, Profile, Strip, legend_of, strip_of
from plaidwork.gui.theme import size, space
from plaidwork.gui.widgets import ColorBar, Label, SegmentedControl, SliderField

_MOST_TOP = 60
_NOTHING = "nothing"
_WHAT = {
    RAW: "Values as measured; hatched cells are missing",
    DENOISED: "What the fit expects in every cell",
    IMPUTED: "Values as measured, and what the fit expects where they are missing",
}


def _short(text: str) -> str:
    return text if len(text) <= 20 else f"{text[:19]}…"


@dataclass(frozen=True)
class FactorHeat:
    """Scores (n, K) and weights (K, m) with what finds their columns in the data."""

    scores: np.ndarray
    weights: np.ndarray
    names: tuple[str, ...]
    items: tuple[str, ...]
    factors: tuple[str, ...]
    groups: tuple[str, ...]
    group: np.ndarray
    places: list[tuple[int, int]]
    fitted: FittedInput
    columns: ItemColumns
    word: str
    selection_kind: str


class FactorHeatPage(ResultPage):
    """Roles ``values`` (n, K), ``weights`` (K, m) and ``matrix`` (data:X), optional ``fitted`` (fitted:X), ``names`` (m,)
    and ``group`` (m,): the name of the matrix that a column is of.

    Options: ``top`` (rows, 20), ``show`` "raw", "denoised" or "imputed", ``strip`` (title of a column of the items),
    ``by_row`` (each row on its own scale).
    """

    icon_name = "heatmap"
    canvas: HeatCanvas
    layer_axis = ("scores", 1)

    def __init__(self, workbench: Any, run: Any, view: Any, parent: QWidget | None = None) -> None:
        options = view.options
        mode = str(options.get("show", RAW))
        self._wanted = Wanted(
            0,
            0,
            min(max(2, int(options.get("top", 20))), _MOST_TOP),
            mode if mode in _WHAT else RAW,
            bool(options.get("by_row")),
        )
        self._fits_top = "top" not in options
        self._strip = str(options.get("strip", ""))
        self.made: Strongest | None = None
        self._selection = workbench.selection(run)
        super().__init__(workbench, run, view, parent)
        self._selection.changed.connect(self._on_selection)

    def build(self) -> QWidget:
        self.canvas = HeatCanvas()
        self.canvas.setAccessibleName(self.view.title)
        self.canvas.hovered_cell.connect(self._tell)
        self.canvas.clicked_cell.connect(self._pick)
        self.picker, self.group_picker = ItemPicker(), ItemPicker()
        self.picker.currentIndexChanged.connect(self.choose_factor)
        self.group_picker.currentIndexChanged.connect(lambda i: self._change(group=i))
        self.top = SliderField("", 2, _MOST_TOP, self._wanted.top, step=1)
        self.top.slider.setAccessibleName("Number of rows")
        self.top.value_changed.connect(lambda top: self._change(top=int(top)))
        self.mode = SegmentedControl(
            [(RAW, "Raw"), (DENOISED, "Denoised"), (IMPUTED, "Imputed")], self._wanted.mode
        )
        self.mode.changed.connect(lambda mode: self._change(mode=mode))
        self.scale = SegmentedControl(
            [("whole", "One"), ("row", "By row")], "row" if self._wanted.by_row else "whole"
        )
        self.scale.changed.connect(lambda scale: self._change(by_row=scale == "row"))
        self.strip_picker = SearchPicker()
        self.strip_picker.chosen.connect(self.choose_strip)
        self._picker_field = Labelled("Show", self.picker)
        self._group_field = Labelled("Of", self.group_picker)
        self._mode_field = Labelled("Values", self.mode)
        self._strip_field = Labelled("Strip", self.strip_picker)
        self._options = OptionRow(
            self._picker_field,
            self._group_field,
            Labelled("Strongest", self.top),
            self._mode_field,
            Labelled("Scale", self.scale),
            self._strip_field,
        )
        self._foot = Label("", "body", "muted", elide=True)
        self.legend, self._missing, self.bar = Legend(), Legend(), ColorBar("tide")
        return page_content(self._options, self.canvas, self._foot, self.legend, self._missing, self.bar)

    # -- loading --------------------------------------------------------------------------------
    def load(self, sources: Sources) -> FactorHeat:
        scores, weights = sources.result("values", 2), sources.result("weights", 2)
        (n, count), m = scores.values.shape, weights.values.shape[1]
        if len(weights.values) != count:
            raise SourceError(f"There are {len(weights.values)} lists of weights for {count} factors.")
        fitted = sources.fitted("fitted" if sources.has("fitted") else "matrix")
        if fitted is None:
            raise SourceError("The data that the matrix names are not those of an input.")
        if any(len(block.shape) != 2 or block.shape[0] != n for block in fitted.blocks):
            raise SourceError(f"The data have other items than the {n} with scores.")
        group: list[str] | None = None
        if sources.has("group"):
            group = sources.texts("group")
            if len(group) != m:
                raise SourceError(f"The group has {len(group)} items; there are {m} weights.")
        dims = scores.dims if len(scores.dims) == 2 else ("item", "factor")
        names = role_names(sources, "names", weights.dims[-1] if weights.dims else "column", m)
        items = sources.dim_names(dims[0], n)
        groups = tuple(dict.fromkeys(group or [""]))
        return FactorHeat(
            np.asarray(scores.values, dtype=np.float64),
            np.asarray(weights.values, dtype=np.float64),
            names,
            items,
            sources.dim_names(dims[1], count),
            groups,
            np.array([groups.index(text) for text in group], dtype=np.intp)
            if group
            else np.zeros(m, np.intp),
            places_of(fitted.blocks, [identity_of(name) for name in names], group),
            fitted,
            ItemColumns(sources, dims[0], items),
            dims[0].replace("_", " "),
            data_axis(sources, dims[0], n) or "row",
        )

    def show_loaded(self, loaded: FactorHeat) -> None:
        if not loaded.scores.size or not loaded.weights.size:
            self.show_state("search", "Nothing to show", "The run has found nothing for this picture.")
            return
        chosen = self._selection.get("layer")
        factor = min(chosen[0] if chosen else self._wanted.factor, len(loaded.factors) - 1)
        group = min(self._wanted.group, len(loaded.groups) - 1)
        self.picker.set_names(loaded.factors, factor)
        self._picker_field.setVisible(len(loaded.factors) > 1)
        self.group_picker.set_names(loaded.groups, group)
        self._group_field.setVisible(len(loaded.groups) > 1)
        self._mode_field.setVisible(loaded.fitted.offered)
        mode = self._wanted.mode if loaded.fitted.offered else RAW
        annotations = loaded.columns.annotations
        silent = {title for title, column in annotations.items() if strip_of(title, column) is None}
        sections = {"": [_NOTHING]}
        for head, titles in loaded.columns.sections.items():
            sections[head] = [title for title in titles if title not in silent]
        if self._strip != _NOTHING and loaded.columns.column(self._strip) is None:
            made = {title: colouring(title, column) for title, column in annotations.items()}
            known = {t: found for t, found in made.items() if found is not None and t not in silent}
            self._strip = most_telling(loaded.scores, known) or _NOTHING
        self.strip_picker.set_sections(sections, self._strip)
        self._strip_field.setVisible(sum(map(len, sections.values())) > 1)
        self._wanted = Wanted(factor, group, self._first_top(), mode, self._wanted.by_row)
        self.top.set_value(self._wanted.top)
        self._make()

    def _first_top(self) -> int:
        """How many rows: at first as many as have room for their names, 8 to 20; later those chosen."""
        top = self._wanted.top
        if self._fits_top:
            self._fits_top = False
            room = self.canvas.height() - 3 * space.XL - size.CONTROL
            top = min(max(int(room / self.canvas.caption_metrics().height()), 8), top)
        return top

    def _make(self) -> None:
        """Compute what is wanted in the background; only the last wish is drawn."""
        data, wanted = self.loaded, self._wanted
        members = np.nonzero(data.group == wanted.group)[0]
        self.start(
            lambda task: strongest(
                data.fitted,
                wanted,
                data.scores[:, wanted.factor],
                data.weights[wanted.factor],
                members,
                data.places,
            ),
            lambda made: self._show(data, made),
            self._failed,
        )

    def _show(self, data: FactorHeat, made: Strongest) -> None:
        if data is not self.loaded or made.wanted != self._wanted:
            return
        self.made = made
        if not len(made.items):
            of = f" of {data.groups[made.wanted.group]}" if data.groups[made.wanted.group] else ""
            self.show_state(
                "search",
                "No weights to show",
                f"{headed(data.factors[made.wanted.factor])} has no weight{of}.",
                [("Show the first factor", lambda: self.choose_factor(0))] if made.wanted.factor else (),
            )
            return
        self.show_content()
        self._draw()
        self.loaded_changed.emit()

    def _draw(self) -> None:
        made, data = self.made, self.loaded
        if made is None or data is None or not len(made.items):
            return
        factor = made.wanted.factor
        base = made.raw if not made.wanted.by_row else made.shown
        shades = robust_shades(base if np.isfinite(base).any() else made.shown, made.wanted.by_row)
        lut, limits, clipped = shades.map, shades.limits, shades.clipped
        weights = data.weights[factor, made.items]
        names = tuple(
            f"{'+' if weight > 0 else tidy('-')} {data.names[i]}"
            for i, weight in zip(made.items, weights, strict=True)
        )
        strips: list[AnyStrip] = [Profile(data.factors[factor], data.scores[:, factor])]
        column = None if self._strip == _NOTHING else data.columns.column(self._strip)
        strip = None if column is None else strip_of(self._strip, column)
        if strip is not None:
            strips.append(strip)
        self._show_legend(strip)
        self.canvas.set_picture(
            Picture(
                made.pyramid,
                np.arange(len(made.items)),
                made.order,
                names,
                data.items,
                limits,
                lut,
                tuple(strips),
                strip_titles=True,
            )
        )
        low, high = limits
        mid = (low + high) / 2
        self.bar.set_label("SDs from the row's mean" if made.wanted.by_row else "value")
        self.bar.set_limits(*format_limits((low, mid, high)), clipped=clipped, map_name=lut)
        self._missing.set_entries([("missing", "missing")] if made.pyramid.has_missing else [])
        self._mark()
        self.update_head()

    def _show_legend(self, strip: AnyStrip | None) -> None:
        entries: list[tuple[object, str]] = [
            (color, _short(text)) for color, text in (legend_of(strip) if strip else ())
        ]
        if isinstance(strip, Strip) and (strip.shades < 0).any():
            entries.append(("border", "unknown"))
        self.legend.set_entries(entries, _short(self._strip) if entries else "")

    # -- choices --------------------------------------------------------------------------------
    def _change(self, **changes: Any) -> None:
        wanted = replace(self._wanted, **changes)
        if self.loaded is not None and wanted != self._wanted:
            self._wanted = wanted
            self._make()

    def choose_factor(self, factor: int) -> None:
        """Show another factor, here and in every view of the run."""
        if self.loaded is not None and 0 <= factor < len(self.loaded.factors):
            self._selection.set("layer", (factor,))
            self.picker.choose(factor)
            self._change(factor=factor)

    def choose_strip(self, title: str) -> None:
        """Show a column of the items in grey above the cells."""
        self._strip = title
        self.strip_picker.set_current(title)
        self._draw()

    def _pick(self, row: int, column: int) -> None:
        if self.loaded is not None:
            self._selection.set(self.loaded.selection_kind, (column,) if column >= 0 else ())

    def _on_selection(self, kind: str) -> None:
        if self.loaded is None:
            return
        chosen = self._selection.get("layer")
        if kind == "layer" and chosen and chosen[0] < len(self.loaded.factors):
            self.picker.choose(chosen[0])
            self._change(factor=chosen[0])
        elif kind == self.loaded.selection_kind:
            self._mark()

    def _mark(self) -> None:
        data, made = self.loaded, self.made
        if made is None:
            return
        chosen = tuple(i for i in self._selection.get(data.selection_kind) if i < len(data.items))
        self.canvas.marked_columns = chosen[:200]
        self.canvas.update()
        gaps = int(np.isnan(made.raw).sum())
        text = f"{format_count(len(made.items))} × {format_count(len(data.items))}"
        if gaps:
            text += f", {format_count(gaps)} cells missing"
        if chosen:
            text += (
                f"; {data.items[chosen[0]]}"
                if len(chosen) == 1
                else f"; {format_count(len(chosen))} selected"
            )
        self._foot.setText(text)

    def _tell(self, row: int, column: int) -> None:
        made, data = self.made, self.loaded
        if row < 0 or made is None or row >= len(made.items):
            self.hovered.emit("")
            return
        value, mean = made.raw[row, column], made.mean[row, column]
        text = f"{data.names[made.items[row]]}, {data.items[column]}: "
        text += "missing" if value != value else format_number(float(value), 3)
        if mean == mean:
            text += f", expected {format_number(float(mean), 3)}"
            if made.sd[row, column] == made.sd[row, column]:
                text += f" ± {format_number(float(made.sd[row, column]), 2)}"
        score = data.scores[column, made.wanted.factor]
        self.hovered.emit(f"{text}; {data.factors[made.wanted.factor]} {format_number(float(score), 3)}")

    def search(self, text: str) -> list[str]:
        """Mark the rows and the items whose names hold the text."""
        if self.loaded is None or self.made is None:
            return []
        wanted, data = text.casefold(), self.loaded
        rows = [r for r, i in enumerate(self.made.items) if text and wanted in findable(data.names[i])]
        found = [i for i, name in enumerate(data.items) if text and wanted in findable(name)]
        self.canvas.marked_rows = tuple(rows)
        self._selection.set(data.selection_kind, tuple(found))
        self.canvas.update()
        return [data.names[self.made.items[r]] for r in rows] + [data.items[i] for i in found]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """[ and ] step through the factors."""
        step = {Qt.Key.Key_BracketLeft: -1, Qt.Key.Key_BracketRight: 1}.get(Qt.Key(event.key()), 0)
        if step and self.loaded is not None:
            self.choose_factor(min(max(self._wanted.factor + step, 0), len(self.loaded.factors) - 1))
        else:
            super().keyPressEvent(event)

    def leave(self) -> bool:
        """Show all of the picture, then select nothing."""
        if self.canvas.zoomed:
            self.canvas.reset_view()
        elif self.loaded is not None and self._selection.get(self.loaded.selection_kind):
            self._selection.set(self.loaded.selection_kind, ())
        else:
            return False
        return True

    # -- words and files ------------------------------------------------------------------------
    def default_headline(self) -> str:
        made, data = self.made, self.loaded
        if made is None or data is None:
            return self.view.title
        of = f" of {data.groups[made.wanted.group]}" if data.groups[made.wanted.group] else ""
        word = plural(data.word)
        return f"{headed(data.factors[made.wanted.factor])}: the {len(made.items)} strongest{of}, {word} by score"

    def default_caption(self) -> str:
        return (
            ""
            if self.made is None
            else f"{_WHAT[self.made.wanted.mode]}; + and {tidy('-')} are the signs of the weights."
        )

    def figure_parts(self) -> Sequence[Sequence[QWidget]]:
        return [[self.canvas], [self._foot, self.legend, self._missing, self.bar]]

    def data_content(self) -> tuple[Content, Mapping[str, Callable[[Any], str]]]:
        made, data = self.made, self.loaded
        if made is None:
            return MatrixData(np.zeros((0, 0)), (), ()), {}
        rows = [data.names[i] for i in made.items]
        return MatrixData(made.shown[:, made.order], rows, [data.items[i] for i in made.order], "feature"), {}
