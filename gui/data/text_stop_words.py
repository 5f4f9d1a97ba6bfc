"""The list of stop words, to be read and edited."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtWidgets import QDialog, QPlainTextEdit, QWidget

from plaidwork.core.data.text.stop_words import stop_word_languages, stop_word_list
from plaidwork.core.draws.counting import counted
from plaidwork.gui.language import tr
from plaidwork.gui.setup.editors import QuietCombo
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Label, button
from plaidwork.gui.widgets.layouts import horizontal, vertical


class StopWordsDialog(QDialog):
    """One word or phrase per line; after ``accept`` they are in ``words``."""

    def __init__(self, words: Iterable[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Stop words"))
        self.words: list[str] = []
        self.edit = QPlainTextEdit("\n".join(sorted(words)))
        self.edit.setAccessibleName(tr("Stop words, one per line"))
        self.edit.setTabChangesFocus(True)
        self._count = Label("", "caption", "muted")
        self.language = QuietCombo()
        self.language.setAccessibleName(tr("List to add"))
        for name in stop_word_languages():
            self.language.addItem(tr(name.capitalize()), name)
        self.add_button = button("Add this list", self.add_list)
        self.cancel_button = button("Cancel", self.reject)
        self.use_button = button("Use these words", self.accept, kind="primary")
        self.use_button.setObjectName("use_stop_words")
        self.edit.textChanged.connect(self._tell)
        more = horizontal((self.language, 1), self.add_button, spacing=space.S)
        foot = horizontal((self._count, 1), self.cancel_button, self.use_button, spacing=space.S)
        vertical(
            Label("Stop words", "headline"),
            Label("Words that are left out, one per line. Phrases too.", "body", "muted"),
            (self.edit, 1),
            more,
            foot,
            on=self,
            spacing=space.M,
            margins=(space.DIALOG_EDGE, space.L, space.DIALOG_EDGE, space.L),
        )
        self.resize(420, 560)
        self._tell()

    def current(self) -> list[str]:
        """The words in the field, each once."""
        lines = (" ".join(line.split()) for line in self.edit.toPlainText().splitlines())
        return list(dict.fromkeys(line for line in lines if line))

    def add_list(self) -> None:
        """Add the words of the chosen language."""
        more = stop_word_list(str(self.language.currentData()))
        self.edit.setPlainText("\n".join(sorted({*self.current(), *more})))

    def _tell(self) -> None:
        number = len(self.current())
        self._count.setText(counted(number, "word"))

    def accept(self) -> None:
        """Take the words."""
        self.words = self.current()
        super().accept()
