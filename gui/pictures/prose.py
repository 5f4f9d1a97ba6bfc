"""Texts that are read, laid out by Qt."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import (
    QColor,
    QFont,
    QPainter,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)

from plaidwork.core.pictures import Panel, Prose, Span
from plaidwork.gui.pictures.style import Style, mixed

_LEADING = 140.0
"""Per cent of the height of a line."""
_STRONGEST = {"light": 0.42, "dark": 0.55}
"""How much of its colour the strongest ground of a word has."""


def prose_of(panel: Panel) -> Prose | None:
    """The text of a panel that has one."""
    return next((mark for mark in panel.marks if isinstance(mark, Prose)), None)


def prose_height(mark: Prose, wide: float, style: Style) -> float:
    """Height of a text in so wide a panel."""
    return float(document_of(mark, wide, style).size().height())


def paint_prose(mark: Prose, painter: QPainter, area: QRectF, style: Style) -> None:
    """The text from the top of an area on."""
    painter.save()
    painter.translate(area.topLeft())
    document_of(mark, area.width(), style).drawContents(painter)
    painter.restore()


def document_of(mark: Prose, wide: float, style: Style) -> QTextDocument:
    """The text as Qt lays it out; nothing in it is taken for markup."""
    found = QTextDocument()
    found.setUndoRedoEnabled(False)
    found.setDocumentMargin(0)
    found.setDefaultFont(style.font("body"))
    lines, plain, at = QTextBlockFormat(), QTextCharFormat(), 0
    lines.setLineHeight(_LEADING, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
    plain.setForeground(style.color(mark.color_of(0)))
    cursor = QTextCursor(found)
    cursor.beginEditBlock()  # else every piece has the whole text laid out anew
    cursor.setBlockFormat(lines)
    for span in mark.spans:
        cursor.insertText(mark.words[at : span.start], plain)
        cursor.insertText(mark.words[span.start : span.end], _format(span, plain, style))
        at = span.end
    cursor.insertText(mark.words[at:], plain)
    cursor.endEditBlock()
    found.setTextWidth(wide)
    return found


def _format(span: Span, plain: QTextCharFormat, style: Style) -> QTextCharFormat:
    """The ground and the letters of marked words."""
    found = QTextCharFormat(plain)
    if span.found:
        found.setBackground(style.color("text"))
        found.setForeground(style.color("surface"))
        return found
    found.setBackground(_ground(span, style))
    found.setFontWeight(QFont.Weight.DemiBold)
    found.setFontUnderline(span.underlined)
    return found


def _ground(span: Span, style: Style) -> QColor:
    """The colour of a span, mixed with that of the sheet."""
    share = _STRONGEST[style.scheme] * min(max(span.strength, 0.0), 1.0)
    return mixed(style.color(span.color), style.color("surface"), share)
