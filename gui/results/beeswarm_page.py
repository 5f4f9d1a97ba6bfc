"""Items by one factor, class beside class, coloured by what is known of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtGui import QKeyEvent, Qt
from PySide6.QtWidgets import QWidget

from plaidwork.core.pictures.words import capital, headed, plural
from plaidwork.core.views.colouring import UNKNOWN, Colouring, plain
from plaidwork.gui.numbers import format_fixed
from plaidwork.gui.results.beeswarm_chart import BeeswarmChart, Swarm
from plaidwork.gui.results.chart import ItemPicker
from plaidwork.gui.results.option_row import Labelled, OptionRow, page_content
from plaidwork.gui.results.scores_page import NOTHING, Scores, ScoresPage
from plaidwork.gui.results.search_picker import SearchPicker
from plaidwork.gui.widgets import SegmentedControl

AS_SPLIT = "the classes"


class BeeswarmPage(ScoresPage):
    """Roles and colours of a `ScoresPage`: ``values``, ``names``, ``colour``.

    Options besides ``colour_by``: ``split_by`` (title of a column with classes), ``centre`` "median" or "mean".
    """

    icon_name = "beeswarm"
    chart: BeeswarmChart

    def __init__(self, workbench: Any, run: Any, view: Any, parent: QWidget | None = None) -> None:
        self._factor = 0
        self._split = str(view.options.get("split_by", ""))
        self._centre = "mean" if view.options.get("centre") == "mean" else "median"
        super().__init__(workbench, run, view, parent)

    def build(self) -> QWidget:
        self.chart = BeeswarmChart()
        self._build_common()
        self.picker, self.split_picker = ItemPicker(), SearchPicker()
        self.picker.currentIndexChanged.connect(self.choose_factor)
        self.split_picker.chosen.connect(self.choose_split)
        self.centre = SegmentedControl([("median", "Median"), ("mean", "Mean")], self._centre)
        self.centre.changed.connect(self._set_centre)
        self._picker_field = Labelled("Show", self.picker)
        self._split_field = Labelled("Split by", self.split_picker)
        options = OptionRow(
            self._picker_field, self._split_field, self._colour_field, Labelled("Bar at", self.centre)
        )
        return page_content(options, self.chart, self._foot, self.legend, self.bar)

    def show_loaded(self, loaded: Scores) -> None:
        n, count = loaded.values.shape
        if not n or not count:
            self.show_state("search", "Nothing to show", "The run has found nothing for this picture.")
            return
        chosen = self._selection.get("layer")
        self._factor = min(chosen[0] if chosen else self._factor, count - 1)
        self.picker.set_names(loaded.factors, self._factor)
        self._picker_field.setVisible(count > 1)
        choices = loaded.choices()
        titles = [title for section in choices.values() for title in section]
        if self._split not in titles:
            self._split = loaded.telling() or NOTHING
        self.split_picker.set_sections(choices, self._split)
        self._split_field.setVisible(len(titles) > 1)
        self._show_choices(loaded)
        self._draw()

    def _show_choices(self, loaded: Scores) -> None:
        choices = loaded.choices()
        choices[""] = [AS_SPLIT, NOTHING]
        titles = {title for section in choices.values() for title in section}
        if self._colour not in titles:
            self._colour = loaded.first if loaded.first in titles else AS_SPLIT
        self.colour_picker.set_sections(choices, self._colour)
        self._colour_field.setVisible(len(titles) > 2)

    def _axes(self) -> list[int]:
        return [self._factor]

    # -- picture --------------------------------------------------------------------------------
    def _classes(self) -> Colouring:
        """What the items are split by; all in one class when that has no classes."""
        data: Scores = self.loaded
        found = None if self._split == NOTHING else data.colouring(self._split)
        return found if found is not None and found.classes else plain(len(data.values))

    def _draw(self) -> None:
        if self.loaded is None or self.state:
            return
        data: Scores = self.loaded
        split = self._classes()
        self._colourless = False
        shown = split if self._colour == AS_SPLIT else self._colours()
        names = list(split.classes)
        codes = split.codes.astype(np.float64)
        if (codes < 0).any():
            codes[codes < 0] = len(names)
            names.append(UNKNOWN)
        unit = f", {data.unit}" if data.unit else ""
        y_name = data.factors[self._factor] + unit
        self.chart.set_points(
            Swarm(
                codes, data.values[:, self._factor], data.names, split.title, y_name, shown, tuple(names), split.title,
                self._centre,
            )
        )  # fmt: skip
        self._show_legend(shown)
        if self._colour == AS_SPLIT:  # the axis names the classes
            self.legend.hide()
        self._mark()
        self.update_head()

    # -- choices --------------------------------------------------------------------------------
    def choose_factor(self, factor: int) -> None:
        """Show another factor, here and in every view of the run."""
        if self.loaded is not None and factor >= 0:
            self._selection.set("layer", (factor,))
            self._on_layer(factor)

    def _on_layer(self, factor: int) -> None:
        if factor != self._factor:
            self._factor = factor
            self.picker.choose(factor)
            self._draw()

    def chosen_layer(self) -> int | None:
        """The one shown, chosen by the user or not."""
        return self._factor

    def choose_split(self, title: str) -> None:
        """Put the classes of another column side by side."""
        self._split = title
        self.split_picker.set_current(title)
        self._draw()

    def _set_centre(self, centre: str) -> None:
        self._centre = centre
        self._draw()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """As the base; [ and ] step through the factors."""
        step = {Qt.Key.Key_BracketLeft: -1, Qt.Key.Key_BracketRight: 1}.get(Qt.Key(event.key()), 0)
        if step and self.loaded is not None:
            self.choose_factor(min(max(self._factor + step, 0), len(self.loaded.factors) - 1))
        else:
            super().keyPressEvent(event)

    # -- words ----------------------------------------------------------------------------------
    def default_headline(self) -> str:
        if not self.loaded or not self.loaded.values.size:
            return self.view.title
        data: Scores = self.loaded
        by = f" by {self._split}" if self._classes().title else ""
        return f"{headed(data.factors[self._factor])} of the {plural(data.word)}{by}"

    def default_caption(self) -> str:
        if self.loaded is None or self.chart.points is None:
            return ""
        swarm = self.chart.swarm
        if not swarm.split_by or len(swarm.classes) < 2:
            return self.loaded.doc
        parts = [
            f"{name} {format_fixed(float(value), 2)}"
            for name, value in zip(swarm.classes, swarm.centres(), strict=True)
            if name != UNKNOWN and np.isfinite(value)
        ]
        return f"{capital(self._centre)}: {', '.join(parts)}"
