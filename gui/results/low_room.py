"""What a low page has to say in words, a click away, so that the picture keeps the room."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QToolButton, QWidget

from plaidwork.gui.language import tr
from plaidwork.gui.page import Page
from plaidwork.gui.theme import space, theme
from plaidwork.gui.widgets import Label, tool_button
from plaidwork.gui.widgets.layouts import vertical
from plaidwork.gui.widgets.popover import open_beside

_LINES, _HIGH, _LETTERS = 20, 32, 50
"""Lines of text that a page is high, below which it is low, and from which its caption has a line more; letters that a line of the words
aside is wide."""


class WordsAside(QFrame):
    """The words of a picture in full, the finding first; a click elsewhere or Esc closes."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setAccessibleName(tr("Words of the picture"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

    def open_for(self, owner: QWidget, headline: str, *others: str) -> None:
        """Show them below a button."""
        texts = [Label(headline, "strong", wrap=True), *(Label(text, wrap=True) for text in others if text)]
        vertical(*texts, on=self, spacing=space.S, margins=space.L)
        wide = _LETTERS * texts[0].fontMetrics().averageCharWidth()
        self.setFixedWidth(min(wide, owner.screen().availableGeometry().width()))
        self.setFixedHeight(self.layout().totalHeightForWidth(self.width()))
        self.setAccessibleDescription(". ".join(filter(None, (headline, *others))))
        open_beside(self, owner)


class LowRoom(Page):
    """The part of a result page that leaves the room to the picture where the page is low, measured in lines of text."""

    _headline: Label
    _caption: Label
    low: bool = False
    _adapts = True

    def words_button(self) -> QToolButton:
        """The button that shows the words; there where the page is low."""
        self._words_button = tool_button("info", "Read all words of the picture", self._open_words)
        self._words_button.hide()
        theme().changed.connect(self.adapt_height)
        return self._words_button

    def words_below(self) -> str:
        """What stands below the picture."""
        return ""

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a low page words stand aside."""
        super().resizeEvent(event)
        self.adapt_height()

    def adapt_height(self) -> None:
        """Take words aside, or back."""
        line = self._caption.fontMetrics().lineSpacing()
        low = self._adapts and self.height() < _LINES * line
        self._caption.set_lines(3 if self.height() >= _HIGH * line else 2)
        if low != self.low:
            self.low = low
            self.set_low(low)

    def set_low(self, low: bool) -> None:
        """Leave the room to the picture, or say all again; subclasses do so with what they have around it."""
        self._headline.set_lines(1 if low else 2)
        self._words_button.setVisible(low)
        self.show_caption()

    def keep_words(self) -> None:
        """All words stay from now on, however low the page."""
        self._adapts = False
        self.adapt_height()

    def show_caption(self) -> None:
        """Show the caption where there is one, and room."""
        self._caption.setVisible(bool(self._caption.text()) and not self.low)

    def _open_words(self) -> None:
        words = self._headline.text(), self._caption.text(), self.words_below()
        WordsAside(self).open_for(self._words_button, *words)
