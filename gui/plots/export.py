"""Pictures of widgets as SVG or PNG files."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QWidget

from plaidwork.gui.save_path import ask_save_path, proposed_name
from plaidwork.gui.theme import theme

FILTERS = "SVG drawing (*.svg);;PNG picture (*.png)"
_SCALE = 3


def save_picture(widget: QWidget, path: str | Path, *, scale: int = _SCALE) -> None:
    """Write what `widget` shows; ".svg" as drawing, ".png" at `scale` times its size."""
    path = Path(path)
    if path.suffix.lower() == ".svg":
        _save_svg(widget, path)
    elif path.suffix.lower() == ".png":
        _save_png(widget, path, scale)
    else:
        raise ValueError(f"picture file must end in .svg or .png, got {path.name!r}")


def ask_and_save_picture(widget: QWidget, name: str = "picture") -> Path | None:
    """Ask for a file and write the picture; None when the user leaves."""
    path = ask_save_path(widget.window(), "Export picture", proposed_name(name, suffix=".svg"), FILTERS)
    if path is not None:
        save_picture(widget, path)
    return path


def _save_svg(widget: QWidget, path: Path) -> None:
    from PySide6.QtSvg import QSvgGenerator

    generator = QSvgGenerator()
    generator.setFileName(str(path))
    generator.setSize(widget.size())
    generator.setViewBox(QRect(QPoint(0, 0), widget.size()))
    generator.setTitle(widget.accessibleName() or "Plaidwork picture")
    painter = QPainter()
    if not painter.begin(generator):
        raise OSError(f"could not write {path}")
    painter.fillRect(QRect(QPoint(0, 0), widget.size()), theme().color("surface"))
    widget.render(painter, QPoint(0, 0), renderFlags=QWidget.RenderFlag.DrawChildren)
    painter.end()
    if not path.exists():
        raise OSError(f"could not write {path}")


def _save_png(widget: QWidget, path: Path, scale: int) -> None:
    size = QSize(widget.width() * scale, widget.height() * scale)
    image = QImage(size, QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(scale)
    image.fill(theme().color("surface"))
    widget.render(image, QPoint(0, 0), renderFlags=QWidget.RenderFlag.DrawChildren)
    if not image.save(str(path)):
        raise OSError(f"could not write {path}")
