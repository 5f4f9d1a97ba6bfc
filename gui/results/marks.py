"""Colour and shape of points by a class or a number; unknown ones are hollow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from plaidwork.gui.numbers import format_number
from plaidwork.gui.results.strips import class_text
from plaidwork.gui.theme import space, theme

MOST_CLASSES = 6
_FEW = 12
"""A column of texts may have as many classes in any case."""
CROSS = -2
_OTHER, UNKNOWN = "other", "unknown"
_POLYGONS: dict[int, tuple[tuple[float, float], ...]] = {
    1: ((-1.1, -0.85), (1.1, -0.85), (0, 1.15)),
    2: ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    3: ((0, -1.25), (1.15, 0), (0, 1.25), (-1.15, 0)),
    4: ((-1.1, 0.85), (1.1, 0.85), (0, -1.15)),
    5: (
        (-0.4, -1.1), (0.4, -1.1), (0.4, -0.4), (1.1, -0.4), (1.1, 0.4), (0.4, 0.4),
        (0.4, 1.1), (-0.4, 1.1), (-0.4, 0.4), (-1.1, 0.4), (-1.1, -0.4), (-0.4, -0.4),
    ),
}  # fmt: skip
#: Colours in the order of use: neighbours differ in lightness too.
_THREADS = (0, 4, 2, 3, 1, 5)


@dataclass(frozen=True)
class Colouring:
    """What the points are coloured by.

    ``codes`` are class numbers (-1 unknown) when there are ``classes``; else ``numbers`` on a scale with ``limits``.
    """

    title: str
    texts: tuple[str, ...]
    codes: np.ndarray
    classes: tuple[str, ...] = ()
    numbers: np.ndarray | None = None
    limits: tuple[float, float] = (0.0, 1.0)
    has_other: bool = False

    def categories(self) -> list[int | str]:
        """Colour of every class by its role, as marks of pictures have it."""
        found: list[int | str] = [_THREADS[k % len(_THREADS)] for k in range(len(self.classes))]
        return [*found[:-1], "neutral"] if self.has_other else found

    def colors(self) -> list[QColor]:
        """Colour of every class in the current scheme."""
        return [
            theme().color(color) if isinstance(color, str) else theme().category(color)
            for color in self.categories()
        ]

    def shape(self, i: int) -> int:
        """Shape of a point; unknown ones on a scale get a cross, since pale dots look hollow."""
        if self.numbers is not None:
            return 0 if self.numbers[i] == self.numbers[i] else CROSS
        return int(self.codes[i])

    def color(self, i: int) -> QColor | None:
        """Colour of a point; None is unknown."""
        if self.numbers is not None:
            value = self.numbers[i]
            if value != value:
                return None
            low, high = self.limits
            step = int(np.clip((value - low) / (high - low or 1), 0, 1) * 255)
            return QColor(*(int(part) for part in theme().lut("tide")[step][:3]))
        code = int(self.codes[i])
        return None if code < 0 else self.colors()[code]


def class_color(k: int) -> QColor:
    """Colour of a class by its number, in the current scheme."""
    return theme().category(_THREADS[k % len(_THREADS)])


def plain(n: int) -> Colouring:
    """All points alike."""
    return Colouring("", ("",) * n, np.zeros(n, dtype=np.intp), ("",))


def colouring(title: str, column: np.ndarray) -> Colouring | None:
    """Classes or a scale, whichever the column is; None when it says nothing (one value, or a name for each)."""
    column = np.asarray(column)
    texts = tuple(class_text(value) for value in column)
    known = [text for text in texts if text]
    names = list(dict.fromkeys(known))
    if len(names) < 2:
        return None
    numeric = column.dtype.kind in "iuf"
    if numeric and len(names) > MOST_CLASSES:
        numbers = column.astype(np.float64)
        numbers = np.where(np.isfinite(numbers), numbers, np.nan)
        limits = (float(np.nanmin(numbers)), float(np.nanmax(numbers)))
        shown = tuple(format_number(float(v)) if v == v else "" for v in numbers)
        return Colouring(title, shown, np.zeros(len(column), dtype=np.intp), (), numbers, limits)
    if len(names) > max(_FEW, len(column) // 4):
        return None
    if numeric:
        names.sort(key=float)
    other = len(names) > MOST_CLASSES
    if other:
        names.sort(key=lambda name: -known.count(name))
        names = [*names[: MOST_CLASSES - 1], _OTHER]
    index = {name: k for k, name in enumerate(names)}
    codes = np.array([index.get(text, len(names) - 1) if text else -1 for text in texts], dtype=np.intp)
    return Colouring(title, texts, codes, tuple(names), has_other=other)


def most_telling(scores: np.ndarray, known: Mapping[str, Colouring]) -> str:
    """Title of the colouring whose classes differ most along a column of the (n, K) scores; empty when there is none.

    Measured by the share of variance between the classes, adjusted for their number.
    """
    best, title = 0.0, ""
    for name, found in known.items():
        inside = found.codes >= 0
        k, n = len(found.classes), int(inside.sum())
        if not k or n <= k + 1:
            continue
        values = np.nan_to_num(scores[inside])
        members = np.eye(k)[found.codes[inside]]
        counts = np.maximum(members.sum(axis=0), 1)[:, None]
        centred = values - values.mean(axis=0)
        total = np.maximum((centred**2).sum(axis=0), 1e-300)
        between = ((members.T @ centred) ** 2 / counts).sum(axis=0)
        share = float((1 - (1 - between / total) * (n - 1) / (n - k)).max(initial=0.0))
        if share > best:
            best, title = share, name
    return title


def paint_mark(painter: QPainter, at: QPointF, color: QColor | None, shape: int, radius: float = 4.0) -> None:
    """A filled mark with a rim of the surface; hollow without a colour."""
    if shape == CROSS:
        painter.setPen(QPen(theme().color("control"), 1.4))
        arm = radius * 0.8
        for rise in (arm, -arm):
            painter.drawLine(QPointF(at.x() - arm, at.y() - rise), QPointF(at.x() + arm, at.y() + rise))
        return
    if color is None:
        painter.setPen(QPen(theme().color("control"), 1.2))
        painter.setBrush(theme().color("surface"))
        painter.drawEllipse(at, radius, radius)
        return
    painter.setPen(QPen(theme().color("surface"), 1))
    painter.setBrush(color)
    if shape in _POLYGONS:
        grown = radius * 1.08
        painter.drawPolygon(
            QPolygonF([QPointF(at.x() + x * grown, at.y() + y * grown) for x, y in _POLYGONS[shape]])
        )
    else:
        painter.drawEllipse(at, radius, radius)


class MarkLegend(QWidget):
    """Mark and name of every class in one row, with the unknown ones."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.entries: list[tuple[int, str]] = []
        self._colouring: Colouring | None = None
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self._restyle)
        self._restyle()

    def set_colouring(self, shown: Colouring) -> None:
        """Show the classes of a colouring; a scale has none."""
        self._colouring = shown
        named = bool(shown.title) and shown.numbers is None
        self.entries = list(enumerate(shown.classes)) if named else []
        unknown = (
            np.isnan(shown.numbers).any() if shown.numbers is not None else bool((shown.codes < 0).any())
        )
        if unknown:
            self.entries.append((-1 if shown.numbers is None else CROSS, UNKNOWN))
        self.setVisible(bool(self.entries))
        self.setAccessibleName("Legend: " + ", ".join(text for _, text in self.entries))
        self.setToolTip("\n".join(text for _, text in self.entries))
        self.updateGeometry()
        self.update()

    def _restyle(self) -> None:
        self.setFont(theme().font("caption"))
        self.updateGeometry()
        self.update()

    def _width(self, text: str) -> int:
        return 16 + min(self.fontMetrics().horizontalAdvance(text), 140) + space.M

    def sizeHint(self) -> QSize:
        wide = sum(self._width(text) for _, text in self.entries)
        return QSize(wide + 2, self.fontMetrics().height() + 4)

    def minimumSizeHint(self) -> QSize:
        return QSize(60, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._colouring is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colors = self._colouring.colors()
        x = 0.0
        for code, text in self.entries:
            middle = QPointF(x + 6, self.height() / 2)
            paint_mark(painter, middle, colors[code] if code >= 0 else None, code, 4.0)
            painter.setPen(theme().color("muted"))
            room = min(140.0, self.width() - x - 16)
            if room < 10:
                break
            box = QRectF(x + 16, 0, room, self.height())
            shown = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, int(room))
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, shown)
            x += self._width(text)
        painter.end()
