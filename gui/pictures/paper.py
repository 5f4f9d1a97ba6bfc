"""A picture on paper: PNG at any resolution, SVG with texts that stay texts, PDF; and as a thumbnail."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QBuffer, QMarginsF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPageLayout, QPageSize, QPaintDevice, QPainter, QPdfWriter

from plaidwork.core.pictures import Picture
from plaidwork.gui.pictures.frame import lay_out, least_height
from plaidwork.gui.pictures.paint import paint_picture
from plaidwork.gui.pictures.style import Style, paper_style
from plaidwork.gui.theme import theme
from plaidwork.gui.tokens import space

FORMATS = ("png", "svg", "pdf")
_INCH, _UNITS, _MOST = 25.4, 96.0, 2000.0
"""Millimetres of an inch, units in which everything is laid out for an inch, and millimetres of the largest paper."""
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
    """The paper, higher where the panels of a grid would not find room on it."""
    style = paper_style(paper.points, paper.scheme)
    needed = least_height(picture, paper.units.width() - 2 * space.XL, style)
    high = min((needed + _around(picture, paper, style)) / _UNITS * _INCH, _MOST) if needed else 0.0
    return replace(paper, height=max(paper.height, high))


def _around(picture: Picture, paper: Paper, style: Style) -> float:
    """Height of the edges and of the words above and below the panels."""
    room = QRectF(0, 0, paper.units.width() - 2 * space.XL, 1)
    titled = (picture.headline, picture.caption, picture.notes) if paper.titled else ("", "", "")
    used = 2.0 * space.XL + space.S
    for text, role in zip((*titled, picture.doubt, picture.origin), ("title", *["caption"] * 4), strict=True):
        used += style.metrics(role).boundingRect(room, _WRAPPED, text).height() + space.S if text else 0.0
    return used


def paint_paper(painter: QPainter, picture: Picture, paper: Paper) -> None:
    """Ground, texts and picture, in units of 1/96 inch."""
    style, sheet = paper_style(paper.points, paper.scheme), QRectF(0, 0, 0, 0)
    sheet.setSize(paper.units)
    painter.fillRect(sheet, style.color("surface"))
    edge = min(float(space.XL), sheet.width() / 20)
    room = sheet.adjusted(edge, edge, -edge, -edge)
    top = room.top()
    for text, role, color in (
        (picture.headline if paper.titled else "", "title", "text"),
        (picture.doubt, "caption", "warn"),
        (picture.caption if paper.titled else "", "caption", "muted"),
    ):
        room.setTop(room.top() + _paint_text(painter, text, room, style, role, color))
    if room.top() > top:
        room.setTop(room.top() + space.S)
    for text in (picture.origin, picture.notes if paper.titled else ""):
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
    return re.sub(r'font-family="([^"]*)"', _with_generic, text).encode("utf-8")


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
