"""The figures of a report, drawn by the paper of the window; and the report as PDF."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QBuffer, QMarginsF
from PySide6.QtGui import QImage, QPageLayout, QPageSize, QPdfWriter, QTextDocument

from plaidwork.core.contract.spec import View
from plaidwork.core.inference.run import Run
from plaidwork.core.pictures import Picture, Prose, describe
from plaidwork.core.report import BESIDE, PAGE, Drawing, Figure, Report, html_of
from plaidwork.core.session.session import Session
from plaidwork.core.views.drawing import is_picture
from plaidwork.core.views.printing import printed_view
from plaidwork.core.views.sources import Sources
from plaidwork.gui.pictures.paper import Paper, picture_image, snug, svg_of
from plaidwork.gui.results.render import ensure_application, render_view

WIDE, HALF = (PAGE, 470), (BESIDE, 300)
"""Sizes of a figure across the page, and of one of two beside each other, in 1/96 inch."""
_PRINTED = 656
"""Width of what is printed on A4, in 1/96 inch."""
_POINTS, _DPI = 9.0, 220.0
_HEAVY = 600_000
"""Bytes of a vector drawing beyond which a figure is an image of dots."""
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
    """Whether a picture is a text, or would be so high at this width that it is better drawn across the page."""
    texts = any(isinstance(mark, Prose) for panel in picture.panels for mark in panel.marks)
    return texts or _paper(picture, size).units.height() > _HIGHEST * size[0]


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
    writer.setResolution(300)
    margins = QMarginsF(18, 16, 18, 16)
    page = QPageLayout(
        QPageSize(QPageSize.PageSizeId.A4),
        QPageLayout.Orientation.Portrait,
        margins,
        QPageLayout.Unit.Millimeter,
    )
    writer.setPageLayout(page)
    document = QTextDocument()
    document.setHtml(html_of(report, _PRINTED))
    document.print_(writer)
    del writer  # which ends the file
    try:
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path
