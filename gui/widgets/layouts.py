"""Layouts as expressions: `vertical`, `horizontal`, and an empty `grid_layout`.

A part is a widget or a layout, with its stretch and alignment in a tuple when it has any; a whole number is so much
empty space, and ``STRETCH`` takes what is left.
"""

from __future__ import annotations

from enum import Enum
from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QBoxLayout,
    QGraphicsLayout,
    QGridLayout,
    QHBoxLayout,
    QLayout,
    QVBoxLayout,
    QWidget,
)


class _Room(Enum):
    STRETCH = "stretch"


STRETCH = _Room.STRETCH
"""Takes the room that nobody else wants."""

Item = QWidget | QLayout
Part = Item | int | _Room | tuple[Item, int] | tuple[Item, int, Qt.AlignmentFlag]
Margins = int | tuple[int, int, int, int] | None
"""Pixels at all sides, or at the left, top, right and bottom; None leaves them to the style."""
_ANY = Qt.AlignmentFlag(0)
_Box = TypeVar("_Box", bound=QBoxLayout)
_Framed = TypeVar("_Framed", bound=QWidget | QLayout | QGraphicsLayout)


def vertical(
    *parts: Part, on: QWidget | None = None, spacing: int | None = None, margins: Margins = 0
) -> QVBoxLayout:
    """The parts below each other, ``spacing`` pixels apart (None: as the style has it), on a widget if one is given."""
    return _filled(QVBoxLayout(), parts, on, spacing, margins)


def horizontal(
    *parts: Part, on: QWidget | None = None, spacing: int | None = None, margins: Margins = 0
) -> QHBoxLayout:
    """The parts beside each other, ``spacing`` pixels apart (None: as the style has it), on a widget if one is given."""
    return _filled(QHBoxLayout(), parts, on, spacing, margins)


def grid_layout(
    *,
    on: QWidget | None = None,
    spacing: int | tuple[int | None, int | None] | None = None,
    margins: Margins = 0,
) -> QGridLayout:
    """An empty grid; ``spacing`` in pixels, or between columns and between rows (None: as the style has it)."""
    made = QGridLayout()
    across, down = spacing if isinstance(spacing, tuple) else (spacing, spacing)
    if across is not None:
        made.setHorizontalSpacing(across)
    if down is not None:
        made.setVerticalSpacing(down)
    with_margins(made, margins)
    if on is not None:
        on.setLayout(made)
    return made


def with_margins(item: _Framed, margins: Margins) -> _Framed:
    """A layout or widget with these margins around what is in it."""
    if isinstance(margins, int):
        margins = (margins, margins, margins, margins)
    if margins is not None:
        item.setContentsMargins(*margins)
    return item


def add(layout: QBoxLayout, *parts: Part) -> None:
    """Put more parts at the end of a vertical or horizontal layout."""
    for part in parts:
        if isinstance(part, _Room):
            layout.addStretch(1)
        elif isinstance(part, int):
            layout.addSpacing(part)
        else:
            item, stretch, alignment = _how(part)
            if isinstance(item, QWidget):
                layout.addWidget(item, stretch, alignment)
            else:
                layout.addLayout(item, stretch)
                layout.setAlignment(item, alignment)


def _how(
    part: Item | tuple[Item, int] | tuple[Item, int, Qt.AlignmentFlag],
) -> tuple[Item, int, Qt.AlignmentFlag]:
    """Item, stretch and alignment."""
    if not isinstance(part, tuple):
        return part, 0, _ANY
    return (part[0], part[1], _ANY) if len(part) == 2 else part


def _filled(
    layout: _Box, parts: tuple[Part, ...], on: QWidget | None, spacing: int | None, margins: Margins
) -> _Box:
    if on is not None:
        on.setLayout(layout)
    with_margins(layout, margins)
    if spacing is not None:
        layout.setSpacing(spacing)
    add(layout, *parts)
    return layout
