"""The look of all controls: a proxy over Fusion that reads the tokens of the theme.

Variants by dynamic property: ``primary`` (the one filled button of a window), ``quiet``
(a button without outline) and ``invalid`` (a field or text area with a wrong value). Set a
property on a live widget with `set_variant`, which repaints it.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
    QProxyStyle,
    QStyle,
    QStyleHintReturn,
    QStyleOption,
    QStyleOptionComplex,
    QWidget,
)

from plaidwork.gui.style._complex import COMPLEX, PARTS, drop_menu_arrow
from plaidwork.gui.style._controls import CONTROLS, upright
from plaidwork.gui.style._metrics import FROM_CONTENT, HINTS, contents_size, line_edit_contents, pixel_metric
from plaidwork.gui.style._primitives import PRIMITIVES
from plaidwork.gui.theme import theme

__all__ = ["PlaidStyle", "install_style", "set_variant"]

_TABS = (QStyle.ControlElement.CE_TabBarTabShape, QStyle.ControlElement.CE_TabBarTabLabel)


class PlaidStyle(QProxyStyle):
    """Looks up each element in the tables of this package; what is missing stays Fusion."""

    def __init__(self) -> None:
        super().__init__("Fusion")

    def polish(self, thing: Any) -> Any:
        """Labels that Qt makes itself (tool tips, boxes) show text as it is: a name in a file is no markup."""
        if isinstance(thing, QLabel):
            thing.setTextFormat(Qt.TextFormat.PlainText)
        return super().polish(thing)

    def pixelMetric(
        self, metric: QStyle.PixelMetric, option: QStyleOption | None = None, widget: Any = None
    ) -> int:
        """Sizes of parts."""
        own = pixel_metric(metric, widget)
        return super().pixelMetric(metric, option, widget) if own is None else own

    def styleHint(
        self,
        hint: QStyle.StyleHint,
        option: QStyleOption | None = None,
        widget: Any = None,
        returnData: QStyleHintReturn | None = None,
    ) -> int:
        """Behaviour."""
        own = HINTS.get(hint)
        return super().styleHint(hint, option, widget, returnData) if own is None else own

    def sizeFromContents(
        self, kind: QStyle.ContentsType, option: QStyleOption, size: QSize, widget: Any = None
    ) -> QSize:
        """Size hints."""
        hint = size if kind in FROM_CONTENT else super().sizeFromContents(kind, option, size, widget)
        return contents_size(kind, option, hint, widget)

    def subControlRect(
        self,
        control: QStyle.ComplexControl,
        option: QStyleOptionComplex,
        part: QStyle.SubControl,
        widget: Any = None,
    ) -> QRect:
        """Places of the parts of a control."""
        own = PARTS[control](option, part, widget) if control in PARTS else None
        return super().subControlRect(control, option, part, widget) if own is None else own

    def subElementRect(self, element: QStyle.SubElement, option: QStyleOption, widget: Any = None) -> QRect:
        """Places of the contents of simple controls."""
        if element == QStyle.SubElement.SE_LineEditContents:
            return line_edit_contents(option, widget)
        return super().subElementRect(element, option, widget)

    def generatedIconPixmap(self, mode: QIcon.Mode, pixmap: Any, option: QStyleOption) -> QPixmap:
        """Icons and swatches in selected rows keep their colours."""
        if mode == QIcon.Mode.Selected:
            return pixmap
        return super().generatedIconPixmap(mode, pixmap, option)

    def drawPrimitive(
        self,
        element: QStyle.PrimitiveElement,
        option: QStyleOption,
        painter: QPainter,
        widget: Any = None,
    ) -> None:
        """Panels and indicators."""
        draw = PRIMITIVES.get(element)
        if draw is None:
            super().drawPrimitive(element, option, painter, widget)
        else:
            draw(option, painter, widget)

    def drawControl(
        self,
        element: QStyle.ControlElement,
        option: QStyleOption,
        painter: QPainter,
        widget: Any = None,
    ) -> None:
        """Labels and simple controls."""
        draw = CONTROLS.get(element)
        if draw is None or (element in _TABS and not upright(option)):
            super().drawControl(element, option, painter, widget)
        else:
            draw(option, painter, widget)

    def drawComplexControl(
        self,
        control: QStyle.ComplexControl,
        option: Any,
        painter: QPainter,
        widget: Any = None,
    ) -> None:
        """Controls made of parts."""
        if control == QStyle.ComplexControl.CC_ToolButton:
            drop_menu_arrow(option)
        draw = COMPLEX.get(control)
        if draw is None:
            super().drawComplexControl(control, option, painter, widget)
        else:
            draw(option, painter, widget)


_style: PlaidStyle | None = None


def install_style(app: QApplication) -> PlaidStyle:
    """Put the style on `app`, after ``theme().install(app)``; the reference is kept here."""
    global _style
    if _style is None:
        _style = PlaidStyle()
        app.setStyle(_style)
        app.setPalette(theme().palette())
        app.setFont(theme().font("body"))
    return _style


def set_variant(widget: QWidget, name: str, on: bool = True) -> None:
    """Set ``primary``, ``quiet`` or ``invalid`` on a widget and repaint it."""
    if name not in ("primary", "quiet", "invalid"):
        raise ValueError(f"variant must be primary, quiet or invalid, got {name!r}")
    if bool(widget.property(name)) != on:
        widget.setProperty(name, on)
        widget.updateGeometry()
        widget.update()
