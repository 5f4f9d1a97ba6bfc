"""A page as a picture file: headline, legend, picture and foot, without controls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QMarginsF, QPoint, QRect, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QFontMetrics, QImage, QPageLayout, QPageSize, QPainter, QPdfWriter, QRegion
from PySide6.QtWidgets import QWidget

from plaidwork.gui.theme import space, theme

SCALE = 2.0
FORMATS = ("png", "svg", "pdf")
_WRAPPED = int(Qt.AlignmentFlag.AlignLeft) | int(Qt.TextFlag.TextWordWrap)


class Figure:
    """Parts below each other on the surface colour; each part is a widget as it stands on the screen."""

    def __init__(self, title: str, caption: str, parts: Sequence[Sequence[QWidget]]) -> None:
        """``parts`` are rows of widgets; the last widget of a row stands at the right."""
        self.title, self.caption = title, caption
        self.rows = [[widget for widget in row if not widget.isHidden()] for row in parts]
        self.rows = [row for row in self.rows if row]

    def size(self) -> QSize:
        """Logical pixels."""
        width = max((max(w.width() for w in row) for row in self.rows), default=400) + 2 * space.XL
        height = (
            2 * space.XL + self._head() + sum(max(w.height() for w in row) + space.S for row in self.rows)
        )
        return QSize(width, height)

    def _words(self) -> list[tuple[str, str, str, int]]:
        """Text, type, colour and height of what stands above, lines broken at words."""
        found: list[tuple[str, str, str, int]] = []
        wide = max((max(w.width() for w in row) for row in self.rows), default=400)
        for text, role, color in ((self.title, "title", "text"), (self.caption, "caption", "muted")):
            if text:
                metrics = QFontMetrics(theme().font(role))
                high = metrics.boundingRect(QRect(0, 0, wide, 10_000), _WRAPPED, text).height()
                found.append((text, role, color, high))
        return found

    def _head(self) -> int:
        return sum(high + 2 for *_, high in self._words()) + space.M

    def paint(self, painter: QPainter) -> None:
        """Draw at the origin, in logical pixels."""
        whole = self.size()
        painter.fillRect(QRectF(0, 0, whole.width(), whole.height()), theme().color("surface"))
        y = space.XL
        for text, role, color, high in self._words():
            painter.setFont(theme().font(role))
            painter.setPen(theme().color(color))
            painter.drawText(QRect(space.XL, y, whole.width() - 2 * space.XL, high), _WRAPPED, text)
            y += high + 2
        y = space.XL + self._head()
        for row in self.rows:
            for widget in row:
                right = widget is row[-1] and len(row) > 1
                x = whole.width() - space.XL - widget.width() if right else space.XL
                _render(widget, painter, x, y)
            y += max(widget.height() for widget in row) + space.S


def _render(widget: QWidget, painter: QPainter, x: int, y: int) -> None:
    painter.save()
    painter.translate(x, y)
    flags = QWidget.RenderFlag.DrawChildren
    widget.render(painter, QPoint(0, 0), QRegion(), flags)
    painter.restore()


def figure_image(figure: Figure, scale: float = SCALE) -> QImage:
    """The figure as image."""
    whole = figure.size()
    image = QImage(whole * scale, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(scale)
    painter = QPainter(image)
    figure.paint(painter)
    painter.end()
    return image


def write_figure(figure: Figure, path: str | Path) -> Path:
    """Write PNG (twice the screen's pixels), SVG or PDF, by the ending. Raises ``OSError`` or ``ValueError``."""
    path = Path(path)
    kind = path.suffix.lower().lstrip(".") or "png"
    writers: dict[str, Callable[[Figure, Path], None]] = {"png": _png, "svg": _svg, "pdf": _pdf}
    if kind not in writers:
        raise ValueError(f"A picture is written as {', '.join(FORMATS)}. Found “{path.name}”.")
    path.parent.mkdir(parents=True, exist_ok=True)
    writers[kind](figure, path)
    return path


def _png(figure: Figure, path: Path) -> None:
    if not figure_image(figure).save(str(path)):
        raise OSError(f"could not write {path}")


def _svg(figure: Figure, path: Path) -> None:
    from PySide6.QtSvg import QSvgGenerator

    whole = figure.size()
    generator = QSvgGenerator()
    generator.setFileName(str(path))
    generator.setSize(whole)
    generator.setViewBox(QRectF(0, 0, whole.width(), whole.height()))
    generator.setTitle(figure.title)
    _vector(figure, generator, path)


def _pdf(figure: Figure, path: Path) -> None:
    whole = figure.size()
    writer = QPdfWriter(str(path))
    writer.setTitle(figure.title)
    writer.setResolution(96)
    page = QPageSize(QSizeF(whole) * 0.75, QPageSize.Unit.Point)
    writer.setPageLayout(QPageLayout(page, QPageLayout.Orientation.Portrait, QMarginsF(0, 0, 0, 0)))
    _vector(figure, writer, path)


def _vector(figure: Figure, device, path: Path) -> None:
    painter = QPainter()
    if not painter.begin(device):
        raise OSError(f"could not write {path}")
    figure.paint(painter)
    painter.end()
