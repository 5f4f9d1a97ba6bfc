"""Base of the pages that show scores of items as points: what they are coloured by, selection, search, table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtWidgets import QWidget

from plaidwork.core.pictures.words import capital, plural
from plaidwork.core.views.colouring import Colouring, colouring, most_telling, plain
from plaidwork.core.views.columns import ItemColumns
from plaidwork.core.views.decision import Planes
from plaidwork.core.views.sources import SourceError, Sources, data_axis, role_names
from plaidwork.gui.numbers import format_count, format_limits
from plaidwork.gui.results.marks import MarkLegend
from plaidwork.gui.results.option_row import Labelled
from plaidwork.gui.results.points_page import PointsPage
from plaidwork.gui.results.search_picker import SearchPicker
from plaidwork.gui.results.show_data import Content
from plaidwork.gui.widgets import ColorBar, Label

NOTHING = "nothing"


@dataclass(frozen=True)
class Scores:
    """(n, K) scores with names and what the items can be coloured by."""

    values: np.ndarray
    names: tuple[str, ...]
    factors: tuple[str, ...]
    columns: ItemColumns
    annotations: Mapping[str, Colouring]
    """Annotations that say something, as colours."""
    word: str
    unit: str
    doc: str
    selection_kind: str
    first: str
    """What to colour by at first."""
    planes: Planes | None = None
    """Classifiers of the scores."""

    def colouring(self, title: str) -> Colouring | None:
        """The colours of an annotation or a feature; None when it says nothing, or is not there."""
        if title in self.annotations:
            return self.annotations[title]
        column = self.columns.column(title)
        return None if column is None else colouring(title, column)

    def telling(self) -> str:
        """The annotation with classes that differ most along one of the factors; empty when there is none."""
        return most_telling(self.values, self.annotations)

    def choices(self) -> dict[str, list[str]]:
        """Sections of what can be coloured by; annotations that say nothing are left out."""
        known = self.columns.annotations
        sections = {"": [NOTHING]}
        for head, titles in self.columns.sections.items():
            sections[head] = [t for t in titles if t not in known or t in self.annotations]
        return sections


class ScoresPage(PointsPage):
    """Role ``values`` (n, K); optional ``names`` (n,) and ``colour`` (n,), a number or class of each item.

    Every annotation column of the data along the dim of the items, and every feature of data with that dim, can be
    the colour too. Options: ``dim`` (dim of the input that the items are of, where they are some of it), ``colour_by`` (title of a column; else the annotation whose classes differ most).
    """

    layer_axis = ("values", 1)

    def __init__(self, workbench: Any, run: Any, view: Any, parent: QWidget | None = None) -> None:
        self._colour = str(view.options.get("colour_by", ""))
        self._selection = workbench.selection(run)
        super().__init__(workbench, run, view, parent)
        self._selection.changed.connect(self._on_selection)

    def _build_common(self) -> None:
        """Colour chooser, legends and foot."""
        self.chart.hovered.connect(self.hovered)
        self.chart.selected.connect(self.select)
        self.colour_picker = SearchPicker()
        self.colour_picker.chosen.connect(self.choose_colour)
        self._colour_field = Labelled("Colour by", self.colour_picker)
        self.legend = MarkLegend()
        self._foot = Label("", "body", "muted", elide=True)
        self.bar = ColorBar("tide")

    # -- loading --------------------------------------------------------------------------------
    def load(self, sources: Sources) -> Scores:
        result = sources.result("values", 2)
        values = np.asarray(result.values, dtype=np.float64)
        n, count = values.shape
        dims = result.dims if len(result.dims) == 2 else ("item", "factor")
        names = role_names(sources, "names", dims[0], n)
        first = str(self.view.options.get("colour_by", ""))
        given: dict[str, np.ndarray] = {}
        if sources.has("colour"):
            found = sources.get("colour")
            title = found.label or "value"
            if found.values.shape != (n,):
                raise SourceError(f"The colour has the shape {found.values.shape}; there are {n} items.")
            given[title] = found.values
            first = first or title
        dim = str(self.view.options.get("dim", dims[0]))
        columns = ItemColumns(sources, dim, names, given)
        made = {title: colouring(title, column) for title, column in columns.annotations.items()}
        return Scores(
            values,
            names,
            sources.dim_names(dims[1], count),
            columns,
            {title: found for title, found in made.items() if found is not None},
            dims[0].replace("_", " "),
            result.unit,
            result.doc,
            data_axis(sources, dims[0], n) or ("row" if dim == dims[0] else dims[0]),
            first,
        )

    def _show_choices(self, loaded: Scores) -> None:
        choices = loaded.choices()
        titles = {title for section in choices.values() for title in section}
        if self._colour not in titles:
            self._colour = loaded.first if loaded.first in titles else loaded.telling() or NOTHING
        self.colour_picker.set_sections(choices, self._colour)
        self._colour_field.setVisible(len(titles) > 1)

    def _colours(self) -> Colouring:
        data: Scores = self.loaded
        chosen = None if self._colour == NOTHING else data.colouring(self._colour)
        self._colourless = chosen is None and self._colour != NOTHING
        return chosen or plain(len(data.values))

    def _show_legend(self, shown: Colouring) -> None:
        self.legend.set_colouring(shown)
        self.bar.setVisible(shown.numbers is not None)
        if shown.numbers is not None:
            low, high = shown.limits
            self.bar.set_label(shown.title)
            self.bar.set_limits(*format_limits((low, (low + high) / 2, high)))

    def _draw(self) -> None:
        raise NotImplementedError

    def _on_layer(self, factor: int) -> None:
        raise NotImplementedError

    def _axes(self) -> list[int]:
        """Factors that are shown."""
        raise NotImplementedError

    # -- choices --------------------------------------------------------------------------------
    def choose_colour(self, title: str) -> None:
        """Colour by a column, or by nothing."""
        self._colour = title
        self.colour_picker.set_current(title)
        self._draw()

    def _on_selection(self, kind: str) -> None:
        if self.loaded is None or self.state:
            return
        chosen = self._selection.get("layer")
        if kind == "layer" and chosen and chosen[0] < len(self.loaded.factors):
            self._on_layer(chosen[0])
        elif kind == self.loaded.selection_kind:
            self._mark()

    def _mark(self) -> None:
        data: Scores = self.loaded
        chosen = tuple(i for i in self._selection.get(data.selection_kind) if i < len(data.values))
        self.chart.set_marked(chosen)
        text = f"{format_count(len(data.values))} {plural(data.word)}"
        missing = int((~np.isfinite(data.values[:, self._axes()])).any(axis=1).sum())
        if missing:
            text += f", {format_count(missing)} without a score"
        if self._colourless:
            text += f"; {self._colour} does not tell them apart"
        text += self._more_text()
        if chosen:
            text += f"; {format_count(len(chosen))} selected"
            if len(chosen) == 1:
                text = self.chart.points.text(chosen[0])
        self._foot.setText(text)

    def _more_text(self) -> str:
        """For subclasses: more of the foot, beginning with a semicolon."""
        return ""

    # -- words and files ------------------------------------------------------------------------
    def default_caption(self) -> str:
        return self.loaded.doc if self.loaded else ""

    def figure_parts(self) -> Sequence[Sequence[QWidget]]:
        return [[self.chart], [self._foot, self.legend, self.bar]]

    def data_content(self) -> tuple[Content, Mapping[str, Callable[[Any], str]]]:
        data: Scores = self.loaded
        columns: dict[str, Any] = {capital(data.word): np.array(data.names, dtype=object)}
        for k, name in enumerate(data.factors):
            columns[capital(name)] = data.values[:, k]
        shown = {title: data.columns.annotations[title] for title in data.annotations}
        if self._colour not in shown and (column := data.columns.column(self._colour)) is not None:
            shown[self._colour] = column
        for title, column in shown.items():
            columns[title if title not in columns else f"{title} (data)"] = column
        return columns, {}
