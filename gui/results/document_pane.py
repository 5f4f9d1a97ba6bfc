"""One document: its name, what is known of it, its text with words marked."""

from __future__ import annotations

from PySide6.QtGui import QColor
from PySide6.QtWidgets import QFrame, QTextBrowser, QWidget

from plaidwork.core.data.text.counts import Stems
from plaidwork.core.data.text.marking import Occurrence, readable, term_occurrences
from plaidwork.core.data.text.options import TextOptions
from plaidwork.core.quoting import markup
from plaidwork.gui.results.documents import TopicWords
from plaidwork.gui.theme import space, theme
from plaidwork.gui.widgets import Label
from plaidwork.gui.widgets.layouts import vertical

_LONGEST = 200_000
"""Letters shown of a text."""


class DocumentPane(QWidget):
    """Name, facts and text of a document."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = Label("", "strong", elide=True)
        self._facts = Label("", "caption", "muted", elide=True)
        self.text = QTextBrowser()
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        self.text.setOpenLinks(False)
        self.text.setAccessibleName("Text of the document")
        self.text.document().setDocumentMargin(0)
        self._stems = Stems()
        self.places: tuple[Occurrence, ...] = ()
        vertical(
            self._name,
            self._facts,
            space.XS,
            (self.text, 1),
            on=self,
            spacing=space.XS,
            margins=(space.L, 0, 0, 0),
        )

    def set_head(self, name: str, facts: str) -> None:
        """Name the document and say what is known of it."""
        self._name.setText(name)
        self._facts.setText(facts)
        self._facts.setToolTip(facts)

    def show_note(self, text: str) -> None:
        """A sentence instead of a text."""
        self.places = ()
        self.text.setHtml(f'<p style="color:{theme().hex("muted")}">{markup(text)}</p>')

    def show_text(self, text: str, words: TopicWords, options: TextOptions, found: str = "") -> None:
        """The text with these words marked by the sign of their weight, and every place of ``found`` outlined."""
        if not text:
            self.show_note("This document has no text.")
            return
        shown = readable(text)[:_LONGEST]
        self.places = tuple(term_occurrences(shown, words.terms, options, self._stems))
        weight = dict(zip(words.terms, words.weights, strict=True))
        html = _marked(shown, self.places, weight, found)
        if len(text) > _LONGEST:
            html += f'<p style="color:{theme().hex("muted")}">The text goes on; the first {_LONGEST} letters are shown.</p>'
        self.text.setHtml(html)


def word_ground(adds: bool) -> QColor:
    """Colour behind a marked word: blue where it adds to the factor, amber where it takes from it."""
    ink, ground = theme().category(0 if adds else 4), theme().color("surface")
    parts = zip(ink.getRgb()[:3], ground.getRgb()[:3], strict=True)  # type: ignore[index]
    share = 0.36 if theme().is_dark else 0.28
    return QColor(*(round(share * a + (1 - share) * b) for a, b in parts))


def _marked(text: str, places: tuple[Occurrence, ...], weight: dict[str, float], found: str) -> str:
    colors = theme()
    styles = {
        True: f"background:{word_ground(True).name()};font-weight:600",
        False: f"background:{word_ground(False).name()};text-decoration:underline",
    }
    parts, at = [], 0
    for occurrence in places:
        parts.append(_found(text[at : occurrence.start], found))
        inside = markup(text[occurrence.start : occurrence.end])
        parts.append(f'<span style="{styles[weight[occurrence.term] > 0]}">{inside}</span>')
        at = occurrence.end
    parts.append(_found(text[at:], found))
    body = "".join(parts).replace("\n", "<br>")
    return f'<div style="color:{colors.hex("text")};line-height:140%">{body}</div>'


def _found(text: str, wanted: str) -> str:
    """Escaped text with what a search has found in reverse colours."""
    if not wanted:
        return markup(text)
    parts, at, low = [], 0, text.lower()
    if len(low) != len(text):  # a letter whose small form is longer
        return markup(text)
    style = f"background:{theme().hex('text')};color:{theme().hex('surface')}"
    while (start := low.find(wanted.lower(), at)) >= 0:
        parts.append(markup(text[at:start]))
        parts.append(f'<span style="{style}">{markup(text[start : start + len(wanted)])}</span>')
        at = start + len(wanted)
    return "".join([*parts, markup(text[at:])])
