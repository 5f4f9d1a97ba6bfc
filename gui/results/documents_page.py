"""The documents that say most of a factor, with their texts and the factor's words marked in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QSplitter, QWidget

from plaidwork.core.findings.naming import findable
from plaidwork.core.pictures.words import capital, headed, plural
from plaidwork.core.views.colouring import class_text
from plaidwork.core.views.sources import Sources
from plaidwork.gui.numbers import format_count, format_number
from plaidwork.gui.results.chart import ItemPicker
from plaidwork.gui.results.document_pane import DocumentPane, word_ground
from plaidwork.gui.results.documents import Documents, read_documents
from plaidwork.gui.results.option_row import Labelled, Legend, OptionRow, page_content
from plaidwork.gui.results.page import ResultPage
from plaidwork.gui.results.show_data import Content
from plaidwork.gui.widgets import DataTable, Label, SliderField

_LISTED = 200
_SEARCHED = 30_000_000
"""Letters that a search reads at most."""
_NARROW = 620
"""Pixels of a page below which the list stands above the text."""
_MEDIUM, _WIDE = 720, 900
"""Pixels from which the list beside the text has the outcome, and the strength."""
_LONG = 40
"""Letters of a text that is no class."""


def _extra_columns(width: int) -> int:
    """Columns of the list besides name and score for which a page has room."""
    return 2 if width < _NARROW or width >= _WIDE else int(width >= _MEDIUM)


class DocumentsPage(ResultPage):
    """Roles ``scores`` (n, K), ``strength`` (n, K) that breaks their ties, ``words`` (K, m) or (m, K), ``names`` (m,) of the words, ``documents`` (n,) names and
    ``outcome`` (n,). The texts are the annotation of the data that was read as text.

    A document chosen in another view of the same items is shown here too. Options: ``dim`` (dim of the input that the documents are of, where they are some of it), ``top`` (words marked, 20).
    """

    icon_name = "document"
    layer_axis = ("scores", 1)

    def __init__(self, workbench: Any, run: Any, view: Any, parent: QWidget | None = None) -> None:
        self._layer, self._top = 0, max(1, int(view.options.get("top", 20)))
        self._current, self._rows = -1, np.zeros(0, dtype=np.intp)
        self._hits: np.ndarray | None = None
        self._filling = False
        self._selection = workbench.selection(run)
        super().__init__(workbench, run, view, parent)
        self._selection.changed.connect(self._on_selection)

    def build(self) -> QWidget:
        self.picker = ItemPicker()
        self.picker.currentIndexChanged.connect(self.choose_layer)
        self._picker_field = Labelled("Show", self.picker)
        self.top = SliderField("", 1, 60, self._top, step=1)
        self.top.slider.setAccessibleName("Number of words marked")
        self.top.value_changed.connect(self._set_top)
        self._top_field = Labelled("Words marked", self.top)
        options = OptionRow(self._picker_field, self._top_field)
        self.table = DataTable(dense=True)
        self.table.view.setAccessibleName("Documents")
        self.table.row_selected.connect(self._on_row)
        self.pane = DocumentPane()
        self._split = QSplitter(Qt.Orientation.Horizontal)
        self._split.addWidget(self.table)
        self._split.addWidget(self.pane)
        self._split.setChildrenCollapsible(False)
        self._split.setStretchFactor(0, 2)
        self._split.setStretchFactor(1, 3)
        self._foot = Label("", "body", "muted", elide=True)
        self.legend = Legend()
        return page_content(options, self._split, self._foot, self.legend)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """List above the text where there is no room beside it."""
        super().resizeEvent(event)
        narrow = self.width() < _NARROW
        wanted = Qt.Orientation.Vertical if narrow else Qt.Orientation.Horizontal
        if wanted != self._split.orientation():
            self._split.setOrientation(wanted)
            self._split.setSizes([2, 3])
        counts = [_extra_columns(size.width()) for size in (event.oldSize(), event.size())]
        if counts[0] != counts[1] and self.loaded is not None and not self.state:
            self._list()

    # -- loading --------------------------------------------------------------------------------
    def load(self, sources: Sources) -> Documents:
        return read_documents(sources, self.view.options)

    def show_loaded(self, loaded: Documents) -> None:
        if not loaded.scores.size:
            self.show_state("search", "Nothing to show", "The run has found nothing for this picture.")
            return
        chosen = self._selection.get("layer")
        if chosen and chosen[0] < len(loaded.factors):
            self._layer = chosen[0]
        self._layer = min(self._layer, len(loaded.factors) - 1)
        self._hits = None
        self.picker.set_names(loaded.factors, self._layer)
        self._picker_field.setVisible(len(loaded.factors) > 1)
        self._top_field.setVisible(loaded.words is not None)
        entries: list[tuple[object, str]] = []
        if loaded.words is not None and loaded.texts is not None:
            entries.append((partial(word_ground, True), "word of it"))
            if (loaded.words < 0).any():
                entries.append((partial(word_ground, False), "word that it lacks"))
        self.legend.set_entries(entries)
        self._list(first=True)

    # -- picture --------------------------------------------------------------------------------
    def _list(self, first: bool = False) -> None:
        """Documents of the factor by score, only those found by a search; ``first`` takes over what is selected."""
        data: Documents = self.loaded
        score = data.scores[:, self._layer]
        order = data.order(self._layer)
        if self._hits is not None:
            order = order[np.isin(order, self._hits)]
        self._rows = order[:_LISTED]
        columns: dict[str, Any] = {
            capital(data.word): np.array(data.names, dtype=object)[self._rows],
            data.score_name: score[self._rows],
        }
        formats: dict[str, Callable[[Any], str]] = {data.score_name: data.score_text}
        if data.strength is not None and _extra_columns(self.width()) > 1:
            columns[data.strength_name] = data.strength[self._rows, self._layer]
            formats[data.strength_name] = lambda value: format_number(float(value), 3)
        if data.outcome is not None and _extra_columns(self.width()):
            columns[data.outcome_name] = data.outcome[self._rows]
        blocked = self.table.blockSignals(True)
        self.table.set_columns(columns, formats=formats)
        self.table.blockSignals(blocked)
        chosen = self._selection.get(data.selection_kind)
        if self._current < 0 and first and chosen:
            self._current = chosen[0]
        position = np.flatnonzero(self._rows == self._current)
        row = int(position[0]) if len(position) else 0
        self._current = -1
        if len(self._rows):
            self._filling = True
            self.table.select_row(row)
            self._filling = False
            self.choose_row(row)
        else:
            self.pane.show_note("No document has these words.")
        listed = f"{format_count(len(self._rows))} of {format_count(len(score))} {plural(data.word)}"
        self._foot.setText(f"{listed}, highest {data.score_name.lower()} first")
        self.update_head()

    def choose_row(self, row: int) -> None:
        """Show the text of a row of the list."""
        if self.loaded is None or not 0 <= row < len(self._rows) or int(self._rows[row]) == self._current:
            return
        self._current = int(self._rows[row])
        self._show_document()

    def _on_row(self, row: int) -> None:
        """The user has chosen a row: in all views of the run."""
        self.choose_row(row)
        if not self._filling and self.loaded is not None and 0 <= row < len(self._rows):
            self._selection.set(self.loaded.selection_kind, (int(self._rows[row]),))

    def _show_document(self) -> None:
        data: Documents = self.loaded
        i = self._current
        if i < 0:
            return
        self.pane.set_head(data.names[i], self._facts(i))
        if data.texts is None:
            self.pane.show_note(
                f"The texts are not in the data. Import {data.data_name or 'the data'} with the column that holds "
                "them (“text”), or add that column as an annotation of the documents."
            )
            return
        words = data.top_words(self._layer, self._top)
        found = self._find.text().strip() if self._hits is not None else ""
        self.pane.show_text(class_text(data.texts[i]), words, data.options, found)

    def _facts(self, i: int) -> str:
        """Score, outcome, other factors and annotations of a document in one line."""
        data: Documents = self.loaded
        facts = [f"{data.score_name} {data.score_text(data.scores[i, self._layer])}"]
        if data.strength is not None:
            facts.append(f"{data.strength_name} {format_number(float(data.strength[i, self._layer]), 3)}")
        if data.outcome is not None:
            facts.append(f"{data.outcome_name} {_plain(data.outcome[i])}")
        for title, column in data.annotations.items():
            text = _plain(column[i])
            if text and len(text) <= _LONG:
                facts.append(f"{title} {text}")
        return " · ".join(facts[:8])

    # -- choices --------------------------------------------------------------------------------
    def chosen_layer(self) -> int | None:
        """The one shown, chosen by the user or not."""
        return self._layer

    def choose_layer(self, layer: int) -> None:
        """Show the documents of another factor, here and in every view of the run."""
        if self.loaded is None or not 0 <= layer < len(self.loaded.factors):
            return
        self._layer, self._current = layer, -1
        self.picker.choose(layer)
        self._list()
        self._selection.set("layer", (layer,))

    def _go_to(self, chosen: Sequence[int]) -> None:
        """Show a document that was chosen in another view, listed or not."""
        if not chosen or chosen[0] == self._current or chosen[0] >= len(self.loaded.names):
            return
        position = np.flatnonzero(self._rows == chosen[0])
        if len(position):
            self.table.select_row(int(position[0]))
        else:
            self.table.view.clearSelection()
            self._current = int(chosen[0])
            self._show_document()

    def _set_top(self, top: float) -> None:
        self._top = int(top)
        self._show_document()

    def _on_selection(self, kind: str) -> None:
        if self.loaded is None or self.state:
            return
        if kind == self.loaded.selection_kind:
            self._go_to(self._selection.get(kind))
        if kind != "layer":
            return
        chosen = self._selection.get("layer")
        if chosen and chosen[0] < len(self.loaded.factors) and chosen[0] != self._layer:
            self.choose_layer(chosen[0])

    def restyle(self) -> None:
        super().restyle()
        if self.loaded is not None and not self.state:
            self._show_document()

    def search(self, text: str) -> list[str]:
        """List the documents whose names or texts hold the text, and mark it in them."""
        if self.loaded is None or self.state:
            return []
        data: Documents = self.loaded
        self._hits = None
        if text:
            self._hits = np.array(self._matching(data, text.casefold()), dtype=np.intp)
        self._list()
        self._show_document()
        return [] if self._hits is None else [data.names[i] for i in self._hits]

    def _matching(self, data: Documents, wanted: str) -> list[int]:
        """Documents by score that hold the text; a search ends after so many letters."""
        hits, read = [], 0
        for i in data.order(self._layer):
            text = class_text(data.texts[i]) if data.texts is not None else ""
            read += len(text)
            if wanted in findable(data.names[i]) or wanted in text.casefold():
                hits.append(int(i))
            if read > _SEARCHED:
                break
        return hits

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and right walk over the factors, up and down over the documents."""
        key = Qt.Key(event.key())
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(key, 0)
        jump = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(key, 0)
        if self.loaded is not None and step:
            self.choose_layer(min(max(self._layer + step, 0), len(self.loaded.factors) - 1))
        elif self.loaded is not None and jump and len(self._rows):
            position = np.flatnonzero(self._rows == self._current)
            row = int(position[0]) + jump if len(position) else 0
            self.table.select_row(min(max(row, 0), len(self._rows) - 1))
        else:
            super().keyPressEvent(event)

    # -- words and files ------------------------------------------------------------------------
    def default_headline(self) -> str:
        data: Documents | None = self.loaded
        if data is None or not data.scores.size:
            return self.view.title
        top = data.top_words(self._layer, 60)
        words = ", ".join(
            [term for term, weight in zip(top.terms, top.weights, strict=True) if weight > 0][:6]
        )
        return f"{headed(data.factors[self._layer])}{': ' if words else ''}{words}"

    def default_caption(self) -> str:
        return self.loaded.doc if self.loaded else ""

    def figure_parts(self) -> Sequence[Sequence[QWidget]]:
        return [[self._split], [self._foot, self.legend]]

    def data_content(self) -> tuple[Content, Mapping[str, Callable[[Any], str]]]:
        data: Documents = self.loaded
        rows = self._rows
        columns: dict[str, Any] = {
            capital(data.word): np.array(data.names, dtype=object)[rows],
            data.score_name: data.scores[rows, self._layer],
        }
        if data.strength is not None:
            columns[data.strength_name] = data.strength[rows, self._layer]
        if data.outcome is not None:
            columns[data.outcome_name] = data.outcome[rows]
        for title, column in data.annotations.items():
            columns[title if title not in columns else f"{title} (data)"] = column[rows]
        if data.texts is not None:
            columns["Text"] = np.array([class_text(text) for text in data.texts[rows]], dtype=object)
        return columns, {}


def _plain(value: Any) -> str:
    if isinstance(value, int | float | np.number):
        return format_number(float(value)) if value == value else ""
    return class_text(value)
