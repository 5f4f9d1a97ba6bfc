"""The figures of a report, drawn by the paper of the window; and the report as PDF."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QBuffer, QMarginsF, QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QFont,
    QFontMetricsF,
    QImage,
    QPageLayout,
    QPageSize,
    QPainter,
    QPdfWriter,
    QTextBlock,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextTableCell,
)

from plaidwork.core.contract.spec import View
from plaidwork.core.inference.run import Run
from plaidwork.core.pictures import Cells, Picture, Prose, describe
from plaidwork.core.report import BESIDE, PAGE, Drawing, Figure, Report, html_of
from plaidwork.core.session.session import Session
from plaidwork.core.views.drawing import is_picture
from plaidwork.core.views.printing import printed_view
from plaidwork.core.views.sources import Sources
from plaidwork.gui.pictures.paper import Paper, picture_image, snug, svg_of
from plaidwork.gui.pictures.style import paper_style
from plaidwork.gui.results.render import ensure_application, render_view

WIDE, HALF = (PAGE, 470), (BESIDE, 300)
"""Sizes of a figure across the page, and of one of two beside each other, in 1/96 inch."""
_PRINTED, _FOOT, _NUMBER = 656, 24, 12
"""Width of what is printed on A4, height of its foot and of the number of a page in it, in 1/96 inch."""
_UNITS, _SHARP = 96, 4.0
"""Units of an inch, and dots of a unit where letters are placed."""
_POINTS, _DPI = 9.0, 220.0
_SMALLEST = 0.65
"""Share of its size to which an image shrinks at most, so that no page stays half empty for it: 9 points become 6."""
_SLACK = 12
"""Room left at the foot of a page that an image fills by itself."""
_HEAVY = 600_000
"""Bytes of a vector drawing beyond which a figure is an image of dots."""
_COLUMNS = 40
"""Columns of cells from which on a matrix is drawn across the page."""
_MM, _HIGHEST = 25.4 / 96, 1.6
"""Millimetres of a unit, and height to width of a figure beside another at most."""


def drawer(vector: bool = True) -> Callable[[Session, Run, View, bool], Figure | None]:
    """Draws figures as SVG, or as PNG where that is much smaller or ``vector`` is not set.

    To be asked for on the GUI thread. A view that is no picture yet is drawn there only, as it stands in the window.
    """
    ensure_application()

    def draw(session: Session, run: Run, view: View, wide: bool) -> Figure | None:
        size = WIDE if wide else HALF
        if is_picture(view.kind):
            picture = printed_view(Sources(session, run, view))
            return _figure(picture, WIDE if _needs_page(picture, size) else size, vector)
        if threading.current_thread() is not threading.main_thread():
            return None
        image = render_view(session, run, view, WIDE, "light", 2.0)
        return Figure("", "", "", Drawing("image/png", _png(image), *WIDE, view.title))

    return draw


def _needs_page(picture: Picture, size: tuple[int, int]) -> bool:
    """Whether a picture is a text, has cells in many columns, or would be so high at this width that it is better drawn
    across the page."""
    marks = [(panel, mark) for panel in picture.panels for mark in panel.marks]
    texts = any(isinstance(mark, Prose) for _, mark in marks)
    cells = [mark for panel, mark in marks if isinstance(mark, Cells) and not (panel.equal or panel.strip)]
    many = any(mark.values.shape[1] > _COLUMNS for mark in cells)
    return texts or many or _paper(picture, size).units.height() > _HIGHEST * size[0]


def _paper(picture: Picture, size: tuple[int, int]) -> Paper:
    return snug(picture, Paper(size[0] * _MM, size[1] * _MM, _POINTS, "light", _DPI, titled=False))


def _figure(picture: Picture, size: tuple[int, int], vector: bool) -> Figure | None:
    """A picture without the words that the page tells; None where there is nothing to see."""
    if not picture.panels:
        return None
    bare = replace(picture, doubt="", origin="")
    paper = _paper(bare, size)
    data, media = (svg_of(bare, paper) if vector else b""), "image/svg+xml"
    if not vector or len(data) > _HEAVY:
        data, media = _png(picture_image(bare, paper)), "image/png"
    words = describe(bare, rows=0).split("\n")[0]
    drawing = Drawing(media, data, size[0], round(paper.units.height()), words)
    slight = picture.matrix is None and len(next(iter(picture.table.values()), (0, 0))) == 1
    return Figure(picture.headline, picture.caption, picture.notes, drawing, slight)


def _png(image: QImage) -> bytes:
    buffer = QBuffer()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(buffer.data().data())


def write_pdf(report: Report, path: Path) -> Path:
    """Write a report whose figures are PNG as PDF, A4, with numbered pages; as a whole, or leave what was there. ``OSError``."""
    part = path.with_name(f"{path.name}.part")
    writer = QPdfWriter(str(part))
    writer.setTitle(report.title)
    writer.setResolution(round(_SHARP * _UNITS))
    margins = QMarginsF(18, 16, 18, 12)
    page = QPageLayout(
        QPageSize(QPageSize.PageSizeId.A4),
        QPageLayout.Orientation.Portrait,
        margins,
        QPageLayout.Unit.Millimeter,
    )
    writer.setPageLayout(page)
    document = QTextDocument()
    document.setDocumentMargin(0)
    document.setDefaultFont(paper_style(_POINTS).font("body"))
    document.setHtml(html_of(report, _PRINTED))
    try:
        _print(document, writer)
        del writer  # which ends the file
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path


def _keep_together(document: QTextDocument, high: float) -> None:
    """Nothing is torn apart at the foot of a page: a heading and what it is of, an image with the words above and the note below.

    An image for which little is missing becomes a little smaller; else a new page begins before.
    """
    block = document.begin()
    while block.isValid():
        start, end = block, block
        firsts = _beside(document, block)
        while _holds_image(block) and not firsts and not _is_strong(start) and _is_note(start.previous()):
            start = start.previous()
        if _holds_image(block) and not firsts and _is_note(block.next()) and not _is_strong(block.next()):
            end = block.next()
        if block.blockFormat().headingLevel() and block.next().isValid():
            end = _begun(document, block.next())
        if _announces(block):
            end = block.next()
        top = min(_box(document, one).top() for one in firsts or (start,))
        bottom = max(_box(document, one).bottom() for one in _lasts(document, block) or (end,))
        foot = (top // high + 1) * high
        if (firsts or start != end) and bottom - (0 if firsts else 1) >= foot:
            words = _words(document, start, block, end)
            if not _shrunk(block, foot - top - words):
                _break_before(start)
                _shrunk(block, high - words - _SLACK)  # where it fills a page by itself
            document.markContentsDirty(0, document.characterCount())
        block = block.next()


def _words(document: QTextDocument, start: QTextBlock, image: QTextBlock, end: QTextBlock) -> float:
    """Height of the words from one block to another, without that of the image."""
    high = 0.0
    while start.isValid() and start.position() <= end.position():
        if start != image:
            form = start.blockFormat()
            high += _box(document, start).height() + form.topMargin() + form.bottomMargin()
        start = start.next()
    return high


def _shrunk(block: QTextBlock, room: float) -> bool:
    """Whether the image across the page in a block could be made so low, its letters still to be read; then it is."""
    if not _holds_image(block) or QTextCursor(block).currentTable() is not None:
        return False
    cursor = QTextCursor(block)
    cursor.movePosition(QTextCursor.MoveOperation.NextCharacter, QTextCursor.MoveMode.KeepAnchor)
    image = cursor.charFormat().toImageFormat()
    form, descent = block.blockFormat(), QFontMetricsF(block.charFormat().font()).descent()
    share = (room - form.topMargin() - form.bottomMargin() - descent - 2) / max(image.height(), 1)
    if not _SMALLEST <= share < 1:
        return False
    image.setWidth(image.width() * share)
    image.setHeight(image.height() * share)
    cursor.setCharFormat(image)
    return True


def _is_note(block: QTextBlock) -> bool:
    """Whether a block beside an image is what is said of it: its headline above, or plain words."""
    plain = block.isValid() and bool(block.text()) and not block.blockFormat().headingLevel()
    shaded = block.blockFormat().background().style() != Qt.BrushStyle.NoBrush  # the verdict
    return plain and not (shaded or _holds_image(block)) and QTextCursor(block).currentTable() is None


def _box(document: QTextDocument, block: QTextBlock) -> QRectF:
    return document.documentLayout().blockBoundingRect(block)


def _begun(document: QTextDocument, block: QTextBlock) -> QTextBlock:
    """What has to stand on the page of the heading before a block: its words, or the head and two rows of a table."""
    while not block.text() and block.next().isValid() and QTextCursor(block).currentTable() is None:
        block = block.next()
    table = QTextCursor(block).currentTable()
    if table is None:
        return block
    return document.findBlock(table.cellAt(min(2, table.rows() - 1), 0).firstPosition())


def _beside(document: QTextDocument, block: QTextBlock) -> list[QTextBlock]:
    """The first block of each cell of the table that an image stands in; none for one across the page."""
    return [document.findBlock(cell.firstPosition()) for cell in _cells(block)]


def _lasts(document: QTextDocument, block: QTextBlock) -> list[QTextBlock]:
    """The last block of each cell of that table."""
    return [document.findBlock(cell.lastPosition()) for cell in _cells(block)]


def _cells(block: QTextBlock) -> list[QTextTableCell]:
    table = QTextCursor(block).currentTable() if _holds_image(block) else None
    return [] if table is None else [table.cellAt(0, column) for column in range(table.columns())]


def _announces(block: QTextBlock) -> bool:
    """Whether a block says what the command below it does."""
    return block.text().endswith(":") and block.next().isValid() and not QTextCursor(block).currentTable()


def _break_before(block: QTextBlock) -> None:
    """Begin a new page before a block, or before the table that it is in."""
    cursor = QTextCursor(block)
    table = cursor.currentTable()
    form = table.format() if table is not None else block.blockFormat()
    form.setPageBreakPolicy(QTextFormat.PageBreakFlag.PageBreak_AlwaysBefore)
    if table is not None:
        table.setFormat(form)
    else:
        cursor.setBlockFormat(form)


def _holds_image(block: QTextBlock) -> bool:
    return "\ufffc" in block.text()


def _is_strong(block: QTextBlock) -> bool:
    """Whether it is the headline of a figure."""
    return block.length() > 1 and QTextCursor(block).blockCharFormat().fontWeight() >= 600


def _print(document: QTextDocument, writer: QPdfWriter) -> None:
    """All pages, each with its number below; laid out in 1/96 inch, in which the sizes of a report are."""
    painter = QPainter()
    if not painter.begin(writer):
        raise OSError("could not write the report")
    painter.scale(_SHARP, _SHARP)
    wide, high = writer.width() / _SHARP, writer.height() / _SHARP - _FOOT
    document.setPageSize(QSizeF(wide, high))
    _keep_together(document, high)
    style, font = paper_style(_POINTS), QFont(document.defaultFont())
    for number in range(document.pageCount()):
        if number:
            writer.newPage()
        painter.save()
        painter.translate(0, -number * high)
        document.drawContents(painter, QRectF(0, number * high, wide, high))
        painter.restore()
        font.setPixelSize(_NUMBER)
        painter.setFont(font)
        painter.setPen(style.color("muted"))
        foot = QRectF(0, high, wide, _FOOT)
        painter.drawText(foot, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom, str(number + 1))
    painter.end()
