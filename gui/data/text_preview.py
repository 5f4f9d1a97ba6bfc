"""The right side of the window for texts: key figures, the words with their counts, the documents."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QStackedWidget, QWidget

from plaidwork.core.draws.counting import counted
from plaidwork.gui.data.text_state import TextPreview, is_stop_word
from plaidwork.gui.data.thumbs import ClassBars, HistogramThumb
from plaidwork.gui.language import tr
from plaidwork.gui.numbers import format_count, format_percent
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Card, DataTable, KeyFigure, Label, SegmentedControl, button
from plaidwork.gui.widgets.layouts import STRETCH, horizontal, vertical

WORDS, DOCUMENTS = "words", "documents"
SIDE, SIDE_FROM = 236, 700
_SHORT = {
    "stop word": "stop words",
    "number": "numbers",
    "in too few documents": "too rare",
    "in too many documents": "too common",
    "beyond the most words": "too many",
}
_FORMATS = {
    "Count": lambda value: format_count(value),
    "Documents": lambda value: format_count(value),
    "Words": lambda value: format_count(value),
    "Share": lambda value: format_percent(value, 1),
}


class TextPreviewPane(QWidget):
    """What the options make of the texts.

    Signals
    -------
    word_toggled : a word is to be left out, or to be kept again
    """

    word_toggled = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._preview: TextPreview | None = None
        self.figures = {
            "documents": KeyFigure("Documents"),
            "words": KeyFigure("Words kept"),
            "share": KeyFigure("Counts above 0"),
            "length": KeyFigure("Words in a document"),
        }
        self.switch = SegmentedControl([(WORDS, "Words"), (DOCUMENTS, "Documents")], WORDS)
        self.switch.changed.connect(self._switched)
        self.hint = Label("", "body", "muted", elide=True)
        self.toggle_button = button("Leave out", self._toggle)
        self.toggle_button.setObjectName("toggle_word")
        self.words = DataTable(filter_line=True)
        self.words.row_selected.connect(lambda _: self._tell_word())
        self.words.row_activated.connect(lambda _: self._toggle())
        self.documents = DataTable(filter_line=True)
        self.lengths = HistogramThumb()
        self.reasons = ClassBars()
        self._none = Label("None", "caption", "muted")
        self._stack = QStackedWidget()
        for table in (self.words, self.documents):
            self._stack.addWidget(table)
        self._build()
        self._tell_word()

    def _build(self) -> None:
        top = horizontal(*((figure, 1) for figure in self.figures.values()), spacing=space.XL)
        line = horizontal(self.switch, (self.hint, 1), self.toggle_button, spacing=space.M)
        frame = Card()
        vertical(self._stack, on=frame)
        self._side = QWidget()
        self._side.setFixedWidth(SIDE)
        # a low window cuts it off
        self._side.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Ignored)
        vertical(
            Label("Length of documents", "strong"),
            self.lengths,
            space.M,
            Label("Words left out", "strong"),
            self.reasons,
            self._none,
            STRETCH,
            on=self._side,
            spacing=space.XS,
        )
        middle = horizontal((frame, 1), self._side, spacing=space.XL)
        vertical(top, line, (middle, 1), on=self, spacing=space.M)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The side goes first."""
        super().resizeEvent(event)
        self._side.setVisible(event.size().width() >= SIDE_FROM)

    def show_preview(self, preview: TextPreview) -> None:
        """Show another count; the words selected stay selected."""
        chosen = self.selected_word
        self._preview = preview
        self._show_figures(preview)
        self.words.set_columns(preview.terms, formats=_FORMATS)
        head = self.words.view.horizontalHeader()
        head.resizeSection(0, 200)
        for index, width in ((1, 92), (2, 96), (3, 84), (4, 164)):
            head.resizeSection(index, width)
        self.documents.set_columns(preview.texts, formats=_FORMATS)
        self.documents.view.horizontalHeader().resizeSection(0, 150)
        self.lengths.set_counts(preview.bins, preview.edges, "words kept")
        left_out = {_SHORT.get(word, word): number for word, number in preview.left_out().items()}
        self.reasons.set_classes(left_out)
        self.reasons.setVisible(bool(left_out))
        self._none.setVisible(not left_out)
        if chosen:
            self.select_word(chosen)
        self._tell_word()

    def _show_figures(self, preview: TextPreview) -> None:
        documents, words = preview.size
        out = len(preview.kept) - documents
        note = f"{format_count(out)} left out" if out else "none left out"
        self.figures["documents"].set_value(format_count(documents), note)
        total = len(preview.counts.terms)
        self.figures["words"].set_value(format_count(words), f"of {format_count(total)}")
        entries = int(preview.counts.matrix.nnz)
        cells = documents * words
        self.figures["share"].set_value(
            format_percent(entries / cells, 1) if cells else "–", f"{counted(entries, 'count')}"
        )
        lengths = preview.lengths
        if lengths.size:
            low, high = format_count(int(lengths.min())), format_count(int(lengths.max()))
            self.figures["length"].set_value(
                format_count(float(np.median(lengths))), f"median; {low} to {high}"
            )
        else:
            self.figures["length"].set_value("–", "")

    # -- words ----------------------------------------------------------------------------------
    @property
    def selected_word(self) -> str:
        """The word selected, or empty."""
        rows = self.words.selected_rows()
        return str(self._preview.terms["Word"][rows[0]]) if self._preview is not None and rows else ""

    def select_word(self, word: str) -> None:
        """Select a word, if it is in the table."""
        if self._preview is None:
            return
        found = np.flatnonzero(self._preview.terms["Word"] == word)
        if len(found):
            self.words.select_row(int(found[0]))

    def _toggle(self) -> None:
        if self.toggle_button.isEnabled() and self.selected_word:
            self.word_toggled.emit(self.selected_word)

    def _tell_word(self) -> None:
        preview, rows = self._preview, self.words.selected_rows()
        shown = self.switch.current == WORDS
        self.toggle_button.setVisible(shown)
        if not shown:
            number = len(preview.texts["Document"]) if preview is not None else 0
            every = preview is not None and number == len(preview.kept)
            self.hint.setText(f"{'All' if every else 'The first'} {counted(number, 'document')}")
            return
        word = self.selected_word
        if preview is None or not word:
            more = (
                f"; {format_count(preview.hidden)} rare ones are not listed"
                if preview and preview.hidden
                else ""
            )
            self.hint.setText(f"Select a word to leave it out{more}")
            self.toggle_button.setText(tr("Leave out"))
            self.toggle_button.setEnabled(False)
            return
        reason = str(preview.terms["Use"][rows[0]])
        stop = is_stop_word(preview, rows[0])
        short = word if len(word) <= 24 else f"{word[:23]}…"
        self.toggle_button.setText(tr(f"Keep “{short}”" if stop else f"Leave out “{short}”"))
        self.toggle_button.setEnabled(stop or reason == "kept")
        self.hint.setText("" if reason == "kept" else f"Left out: {reason}")

    def _switched(self, key: str) -> None:
        self._stack.setCurrentWidget(self.words if key == WORDS else self.documents)
        self._tell_word()
