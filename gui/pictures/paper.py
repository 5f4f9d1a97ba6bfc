"""A picture on paper: PNG at any resolution, SVG with texts that stay texts, PDF; and as a thumbnail."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from html import unescape
from pathlib import Path

from PySide6.QtCore import QBuffer, QMarginsF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import (
    QFont,
    QFontMetricsF,
    QGuiApplication,
    QImage,
    QPageLayout,
    QPageSize,
    QPaintDevice,
    QPainter,
    QPdfWriter,
)

from plaidwork.core.pictures import Picture
from plaidwork.gui.pictures.frame import lay_out
from plaidwork.gui.pictures.heights import least_height, most_height, shortage
from plaidwork.gui.pictures.paint import paint_picture
from plaidwork.gui.pictures.style import Style, paper_style
from plaidwork.gui.theme import theme
from plaidwork.gui.tokens import space

FORMATS = ("png", "svg", "pdf")
_INCH, _UNITS, _LOWEST, _MOST = 25.4, 96.0, 20.0, 2000.0
"""Millimetres of an inch, units in which everything is laid out for an inch, and millimetres of the lowest and of the
largest paper."""
_LEAST, _EACH = 9, 4
"""Lines of text that the panels of a picture are high at least, and those that each after the first adds."""
_TALL, _TRIES = 1.5, 8
"""Height to width up to which panels below each other make a paper higher, and in how many steps: each gives room to all."""
_TEXT = re.compile(
    r'<text(?P<rest>[^>]* font-family="(?P<family>[^"]*)" font-size="(?P<size>[0-9.]+)" font-weight="(?P<weight>[0-9]+)"[^>]*)>'
    r"(?P<words>[^<]*)</text>"
)
_WRAPPED = Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap


@dataclass(frozen=True)
class Paper:
    """Width and height in mm, points of the axis texts, "light" or "dark", dots per inch of a PNG, whether the headline
    and caption stand above and the notes below. A doubt and an origin that the picture has are told in any case."""

    width: float = 170.0
    height: float = 105.0
    points: float = 8.0
    scheme: str = "light"
    dpi: float = 300.0
    titled: bool = True

    def __post_init__(self) -> None:
        if not (20 <= self.width <= _MOST and 20 <= self.height <= _MOST):
            raise ValueError(f"A picture is 20 to 2000 mm wide and high. Found {self.width} x {self.height}.")
        if not (3 <= self.points <= 60 and 30 <= self.dpi <= 2400):
            raise ValueError(
                f"Texts have 3 to 60 points, pictures 30 to 2400 dots per inch. Found {self.points} and {self.dpi}."
            )
        if self.scheme not in ("light", "dark"):
            raise ValueError(f"The colours are light or dark. Found “{self.scheme}”.")

    @property
    def units(self) -> QSizeF:
        """Size in units of the layout."""
        return QSizeF(self.width / _INCH * _UNITS, self.height / _INCH * _UNITS)


def paper_like(size: QSize, scheme: str = "", scale: float = 2.0) -> Paper:
    """The paper that shows a picture as the window does: its pixels become 1/96 inch, ``scale`` dots each."""
    points = theme().font("caption").pointSizeF()
    wide, high = (max(length / _UNITS * _INCH, 20.0) for length in (size.width(), size.height()))
    return Paper(wide, high, points, scheme or theme().scheme, _UNITS * scale)


def roomy(picture: Picture, paper: Paper) -> Paper:
    """The paper, higher where its words, or the panels of a grid, would not find room on it."""
    style, wide = paper_style(paper.points, paper.scheme), paper.units.width() - 2 * _edge(paper)
    around = _around(picture, paper)
    lines = _LEAST + _EACH * (len(picture.panels) - 1) if picture.panels and not picture.grid else 0
    needed = max(least_height(picture, wide, style), lines * style.metrics().height())
    given = paper.units.height() - around
    high = max(given, needed)
    for _ in range(_TRIES if picture.panels and picture.grid is None else 0):
        short = shortage(lay_out(picture, QRectF(0, 0, wide, high), style), style)
        if short < 0.5 * style.metrics().height() or high >= _TALL * wide:
            break
        high = min(high + short, _TALL * wide)
    return paper if high == given else replace(paper, height=min((high + around) / _UNITS * _INCH, _MOST))


def snug(picture: Picture, paper: Paper) -> Paper:
    """The paper, lower where the picture would leave room below it, but as high as it has to be."""
    if not picture.panels:
        return paper
    style, wide = paper_style(paper.points, paper.scheme), paper.units.width() - 2 * _edge(paper)
    used = (most_height(picture, wide, style) + _around(picture, paper)) / _UNITS * _INCH
    return roomy(picture, replace(paper, height=max(min(paper.height, used), _LOWEST)))


def _around(picture: Picture, paper: Paper) -> float:
    """Height of the edges and of the words above and below a picture."""
    style, wide = paper_style(paper.points, paper.scheme), paper.units.width() - 2 * _edge(paper)
    texts = (*_above(picture, paper), *((text, "caption", "") for text in _below(picture, paper)))
    sheet = QRectF(0, 0, wide, _MOST)
    highs = [
        style.metrics(role).boundingRect(sheet, _WRAPPED, text).height() for text, role, _ in texts if text
    ]
    return 2 * _edge(paper) + 2 * space.S + sum(high + space.XS for high in highs)


def _edge(paper: Paper) -> float:
    return min(float(space.XL), paper.units.width() / 20)


def _above(picture: Picture, paper: Paper) -> tuple[tuple[str, str, str], ...]:
    """Texts above the panels, with their type and colour."""
    return (
        (picture.headline if paper.titled else "", "title", "text"),
        (picture.doubt, "caption", "warn"),
        (picture.caption if paper.titled else "", "caption", "muted"),
    )


def _below(picture: Picture, paper: Paper) -> tuple[str, ...]:
    """Texts below the panels, from the bottom up."""
    return picture.origin, picture.notes if paper.titled else ""


def paint_paper(painter: QPainter, picture: Picture, paper: Paper) -> None:
    """Ground, texts and picture, in units of 1/96 inch."""
    style, sheet = paper_style(paper.points, paper.scheme), QRectF(0, 0, 0, 0)
    sheet.setSize(paper.units)
    painter.fillRect(sheet, style.color("surface"))
    edge = _edge(paper)
    room = sheet.adjusted(edge, edge, -edge, -edge)
    top = room.top()
    for text, role, color in _above(picture, paper):
        room.setTop(room.top() + _paint_text(painter, text, room, style, role, color))
    if room.top() > top:
        room.setTop(room.top() + space.S)
    for text in _below(picture, paper):
        _paint_below(painter, text, room, style)
    if picture.panels:
        paint_picture(painter, picture, lay_out(picture, room, style), style)
    else:
        _paint_text(painter, ". ".join(filter(None, picture.empty)), room, style, "body", "muted")


def _paint_below(painter: QPainter, text: str, room: QRectF, style: Style) -> None:
    """Wrapped at the bottom of a room, which ends above it then."""
    if text:
        high = style.metrics().boundingRect(room, _WRAPPED, text).height()
        below = QRectF(room.left(), room.bottom() - high, room.width(), high)
        _paint_text(painter, text, below, style, "caption", "muted")
        room.setBottom(below.top() - space.S)


def _paint_text(painter: QPainter, text: str, room: QRectF, style: Style, role: str, color: str) -> float:
    """Wrapped at the top of a room; the height used."""
    if not text:
        return 0.0
    painter.setFont(style.font(role))
    painter.setPen(style.color(color))
    used = style.metrics(role).boundingRect(room, _WRAPPED, text)
    painter.drawText(room, _WRAPPED, text)
    return used.height() + 2


def picture_image(picture: Picture, paper: Paper) -> QImage:
    """The paper as image of so many dots per inch; higher than asked for where a grid of panels needs it."""
    paper = roomy(picture, paper)
    scale, units = paper.dpi / _UNITS, paper.units
    image = QImage(round(units.width() * scale), round(units.height() * scale), QImage.Format.Format_RGB32)
    per_metre = round(_UNITS / _INCH * 1000)
    image.setDotsPerMeterX(per_metre)  # while it is painted, a point is 96/72 units
    image.setDotsPerMeterY(per_metre)
    image.setDevicePixelRatio(scale)
    image.fill(paper_style(paper.points, paper.scheme).color("surface"))
    painter = QPainter(image)
    paint_paper(painter, picture, paper)
    painter.end()
    image.setDevicePixelRatio(1.0)
    image.setDotsPerMeterX(round(paper.dpi / _INCH * 1000))
    image.setDotsPerMeterY(round(paper.dpi / _INCH * 1000))
    return image


def thumbnail(picture: Picture, wide: int = 192, high: int = 120, scheme: str = "light") -> QImage:
    """A small image of so many pixels, without words around it: drawn at twice the size with all its texts."""
    paper = Paper(2 * wide / _UNITS * _INCH, 2 * high / _UNITS * _INCH, 8.0, scheme, _UNITS, titled=False)
    large = picture_image(picture, paper)
    kept, smooth = Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
    return large.scaled(wide, high, kept, smooth)


def copy_picture(image: QImage) -> None:
    """Put an image on the clipboard; on the GUI thread."""
    QGuiApplication.clipboard().setImage(image)


def write_picture(picture: Picture, path: str | Path, paper: Paper) -> Path:
    """Write PNG, SVG or PDF by the ending of the name. Raises ``OSError`` or ``ValueError``."""
    path = Path(path)
    kind = path.suffix.lower().lstrip(".") or "png"
    if kind not in FORMATS:
        raise ValueError(f"A picture is written as {', '.join(FORMATS)}. Found “{path.name}”.")
    path.parent.mkdir(parents=True, exist_ok=True)
    {"png": _png, "svg": _svg, "pdf": _pdf}[kind](picture, path, roomy(picture, paper))
    return path


def _png(picture: Picture, path: Path, paper: Paper) -> None:
    if not picture_image(picture, paper).save(str(path)):
        raise OSError(f"could not write {path}")


def _svg(picture: Picture, path: Path, paper: Paper) -> None:
    path.write_bytes(svg_of(picture, paper))


def svg_of(picture: Picture, paper: Paper) -> bytes:
    """The paper as SVG, in UTF-8."""
    from PySide6.QtSvg import QSvgGenerator

    generator, units, buffer = QSvgGenerator(), paper.units, QBuffer()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    generator.setOutputDevice(buffer)
    generator.setResolution(round(_UNITS))
    generator.setSize(units.toSize())
    generator.setViewBox(QRectF(0, 0, units.width(), units.height()))
    generator.setTitle(picture.headline)
    generator.setDescription(picture.caption)
    _vector(generator, picture, paper)
    text = bytes(buffer.data().data()).decode("utf-8")
    text = _TEXT.sub(_as_wide, text)
    return re.sub(r'font-family="([^"]*)"', _with_generic, text).encode("utf-8")


def _as_wide(found: re.Match[str]) -> str:
    """A text with the width that it was laid out with, which it keeps in whatever font a reader has."""
    size, weight, words = float(found["size"]), int(found["weight"]), unescape(found["words"])
    font = QFont(found["family"].split(",")[0])
    font.setPointSizeF(size * 72 / _UNITS)
    font.setWeight(QFont.Weight(weight))
    wide = QFontMetricsF(font).horizontalAdvance(words)
    length = f' textLength="{wide:.2f}" lengthAdjust="spacingAndGlyphs"' if words.strip() else ""
    return f"<text{length}{found['rest']}>{found['words']}</text>"


def _with_generic(found: re.Match[str]) -> str:
    """A family that a reader has not is replaced by one of its own without serifs."""
    return f'font-family="{found[1]}, Helvetica, Arial, sans-serif"'


def _pdf(picture: Picture, path: Path, paper: Paper) -> None:
    writer = QPdfWriter(str(path))
    writer.setTitle(picture.headline)
    writer.setResolution(round(_UNITS))
    page = QPageSize(QSizeF(paper.width, paper.height), QPageSize.Unit.Millimeter)
    writer.setPageLayout(QPageLayout(page, QPageLayout.Orientation.Portrait, QMarginsF(0, 0, 0, 0)))
    _vector(writer, picture, paper)


def _vector(device: QPaintDevice, picture: Picture, paper: Paper) -> None:
    painter = QPainter()
    if not painter.begin(device):
        raise OSError("could not write the picture")
    paint_paper(painter, picture, paper)
    painter.end()
