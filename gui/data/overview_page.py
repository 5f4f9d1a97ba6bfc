"""Several views of the same samples at a glance: who has what, what the values look like."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PySide6.QtGui import QPalette, QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.overview import Overview, overview, with_samples_in_rows
from plaidwork.core.draws.counting import counted
from plaidwork.core.session.offers import views_with
from plaidwork.gui.data.facts import spread
from plaidwork.gui.data.presence import PresenceLegend, PresencePicture
from plaidwork.gui.data.view_card import ViewCard
from plaidwork.gui.data.view_facts import headline, table_columns
from plaidwork.gui.numbers import format_count
from plaidwork.gui.page import Page
from plaidwork.gui.tasks import Task, run_task
from plaidwork.gui.theme import size, space
from plaidwork.gui.widgets import DataTable, Label, StatePane
from plaidwork.gui.widgets.layouts import STRETCH, grid_layout, horizontal, vertical
from plaidwork.gui.workbench import Workbench

_CARD = 250
_CARDS = 3
Spread = tuple[np.ndarray, np.ndarray]


class OverviewPage(Page):
    """Centre page for all matrices that share samples with one dataset."""

    offers = frozenset({"export_picture", "show_data"})

    def __init__(self, workbench: Workbench, dataset_name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.workbench = workbench
        self.name = dataset_name
        self._task: Task | None = None
        self._columns = 0
        self.cards: list[ViewCard] = []
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)
        self._headline = Label("", "title", elide=True)
        self._line = Label("", "body", "muted", wrap=True)
        self.picture = PresencePicture()
        self.picture.hovered.connect(self.hovered)
        self.table = DataTable()
        self._grid = grid_layout(spacing=space.L)
        self._state = StatePane("layers", "Looking at the views")
        self._scroll = QScrollArea()
        self._build()
        workbench.data_changed.connect(self._data_changed)
        self.refresh()

    def _build(self) -> None:
        texts = vertical(self._headline, self._line, spacing=space.XS)
        top = horizontal(Label("Samples by view", "strong"), STRETCH, PresenceLegend(), spacing=space.L)
        body = QWidget()
        vertical(
            texts,
            space.XS,
            top,
            self.picture,
            space.M,
            Label("Values by view", "strong"),
            self._grid,
            space.M,
            self.table,
            STRETCH,
            on=body,
            spacing=space.S,
            margins=(space.VIEW_EDGE, 0, space.VIEW_EDGE, space.M),
        )
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setWidget(body)
        for widget in (body, self._scroll.viewport()):
            widget.setBackgroundRole(QPalette.ColorRole.Base)
            widget.setAutoFillBackground(True)
        vertical((self._scroll, 1), (self._state, 1), on=self, spacing=0, margins=(0, space.L, 0, 0))

    @property
    def data_in_focus(self) -> list[str]:
        """Names of the data shown together."""
        return [data.name for data in self._views()]

    def _views(self) -> list[Dataset]:
        datasets = self.workbench.session.datasets
        own = datasets.get(self.name)
        return views_with(own, datasets.values()) if own is not None else []

    def _data_changed(self, _name: str) -> None:
        self.refresh()

    def refresh(self) -> None:
        """Look at the views again, off this thread."""
        if self._task is not None:
            self._task.cancel()
        views = self._views()
        alone = len(views) < 2
        self._scroll.setVisible(not alone)
        self._state.setVisible(alone)
        if alone:
            hint = "Import more files with the same sample names to see them together."
            self._state.set("layers", "No other view has these samples", hint)
            return

        def work(task: Task) -> tuple[list[Dataset], Overview, list[Spread]]:
            turned = with_samples_in_rows(views)
            found = overview(turned)
            task.check()
            return turned, found, [spread(view) for view in turned]

        self._task = run_task(work, lambda found: self._show(*found))

    def _show(self, views: Sequence[Dataset], found: Overview, spreads: Sequence[Spread]) -> None:
        word = views[0].row_label if views[0].row_label != "rows" else "samples"
        self._headline.setText(headline(found, word))
        number = sum(bool(view.doubt) for view in found.views)
        which = counted(number, "view")
        text = (
            f"The values of {which} can be taken in two ways: see below. " if number else "Joined by name. "
        )
        alone = f"{format_count(found.n_alone)} {word} have one view only. " if found.n_alone else ""
        self._line.setText(f"{text}{alone}What the values are is chosen in the set-up of a fit.")
        self.picture.set_overview(found, word)
        for card in self.cards:
            card.hide()
            card.deleteLater()
        self.cards = [
            ViewCard(facts, *histogram, (word, _features(view), view.unit))
            for facts, histogram, view in zip(found.views, spreads, views, strict=True)
        ]
        self._columns = 0
        self._arrange()
        self.table.set_columns(
            table_columns(found), status=["warn" if view.doubt else "" for view in found.views]
        )
        self.table.setFixedHeight(size.TABLE_HEAD + size.ROW * len(views) + 16)

    def _arrange(self) -> None:
        """As many equal cards side by side as fit."""
        room = self.width() - 2 * space.VIEW_EDGE
        columns = max(1, min(_CARDS, len(self.cards), room // (_CARD + space.L)))
        if columns == self._columns or not self.cards:
            return
        self._columns = columns
        for index, card in enumerate(self.cards):
            self._grid.addWidget(card, index // columns, index % columns)
        for column in range(_CARDS):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Cards move to other rows."""
        super().resizeEvent(event)
        self._arrange()

    def show_data(self) -> None:
        """The table behind the picture has the keyboard."""
        self._scroll.ensureWidgetVisible(self.table)
        self.table.view.setFocus()

    def export_picture(self, path: Path) -> Path:
        """Write the picture to a file."""
        from plaidwork.gui.plots import save_picture

        save_picture(self.picture, path)
        return path


def _features(view: Dataset) -> str:
    return view.column_label if view.column_label != "columns" else "features"
