"""A note as it reads: nothing in it is loaded, and no link is followed before its address was seen."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QByteArray, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication, QTextOption
from PySide6.QtWidgets import QPlainTextEdit, QTextBrowser, QWidget

from plaidwork.core.markdown import html_of_markdown, is_address
from plaidwork.gui.dialogs import Dialog
from plaidwork.gui.language import tr
from plaidwork.gui.theme import space, theme

_HEADING = 2
"""Level of the highest heading of a note in the window; Qt draws these in three sizes from here on."""
_LINES = 4


class NoteView(QTextBrowser):
    """Shows Markdown; see :mod:`plaidwork.core.markdown` for what is understood of it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = ""
        self.setAccessibleName(tr("The note as it reads"))
        self.setPlaceholderText(tr("The note as it reads"))
        self.setOpenLinks(False)
        self.setUndoRedoEnabled(False)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.document().setDocumentMargin(space.S)
        self.anchorClicked.connect(self._ask)
        theme().changed.connect(self._restyle)
        self._restyle()

    def set_text(self, text: str) -> None:
        """Show this Markdown; what is in view stays there."""
        if text != self._text:
            self._text = text
            self._show()

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """Nothing, wherever it would come from."""
        return QByteArray()

    def _show(self) -> None:
        bar = self.verticalScrollBar()
        at = bar.value()
        self.setHtml(html_of_markdown(self._text, _HEADING))
        bar.setValue(at)

    def _restyle(self) -> None:
        muted, ground, line = (theme().color(name).name() for name in ("muted", "sunken", "border"))
        self.document().setDefaultStyleSheet(
            "p, ul, ol, pre, table, blockquote { margin-top: 4px; margin-bottom: 6px; }"
            "h2, h3, h4 { margin-top: 10px; margin-bottom: 4px; font-weight: 600; }"
            f"code, pre {{ font-family: monospace; background-color: {ground}; }}"
            "pre { white-space: pre-wrap; }"
            f"blockquote, .muted {{ color: {muted}; }}"
            "table { border-collapse: collapse; }"
            f"td, th {{ border: 1px solid {line}; padding: 3px 8px; }}"
        )
        self._show()

    def _ask(self, link: QUrl) -> None:
        """Show the address of a link, which may be copied or opened in the browser."""
        address = link.toString(QUrl.ComponentFormattingOption.FullyEncoded)
        if not is_address(address):
            return
        text = "The link is in a note. What it leads to may have been chosen by whoever made this session."
        dialog = Dialog(self.window(), "Open this address outside Plaidwork?", text)
        shown = QPlainTextEdit(address)
        shown.setReadOnly(True)
        shown.setAccessibleName(tr("Address"))
        shown.setTabChangesFocus(True)
        shown.setWordWrapMode(QTextOption.WrapMode.WrapAnywhere)
        shown.setFixedHeight(shown.fontMetrics().lineSpacing() * _LINES)
        dialog.add(shown)
        dialog.add_buttons((("cancel", "Cancel"), ("copy", "Copy address"), ("open", "Open")), "open", "copy")
        dialog.finished.connect(lambda *_: _follow(dialog.chosen, address))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()


def _follow(chosen: str, address: str) -> None:
    if chosen == "copy":
        QGuiApplication.clipboard().setText(address)
    elif chosen == "open":
        QDesktopServices.openUrl(QUrl(address))
