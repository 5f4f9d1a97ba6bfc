"""Mean of a block's rows, column by column: where the block stands out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from plaidwork.core.views.blocks import BlockData
from plaidwork.gui.numbers import format_fixed, nice_ticks, step_decimals
from plaidwork.gui.results.blocks import Blocks
from plaidwork.gui.theme import space, theme

_TOP = 6
_MOST_POINTS = 260
"""Columns drawn one by one; of more, neighbours are pooled."""
_MOST_CELLS = 600_000
"""Cells that quartiles are taken of; of more, every k-th row."""


@dataclass(frozen=True)
class Profile:
    """Per column shown: mean and quartiles of the block's rows, whether it belongs to the block, its names."""

    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    inside: np.ndarray
    names: tuple[str, ...]
    groups: tuple[tuple[int, int, str], ...]


def profile_of(data: BlockData, rows: np.ndarray, columns: np.ndarray, strip: str) -> Profile | None:
    """Columns grouped by the classes of the strip (or in and out of the block), highest mean first in a group."""
    if not rows.any():
        return None
    part = data.values[rows]
    mean = column_means(part)
    some = part[:: max(1, part.size // _MOST_CELLS)]
    low, high = _quartiles(some)
    classes = data.strips[strip].classes if strip in data.strips else np.full(len(mean), "", dtype=object)
    names = list(dict.fromkeys(classes.tolist()))
    code = np.array([names.index(name) for name in classes])
    order = np.lexsort((-np.nan_to_num(mean), ~columns, code))
    bounds = np.flatnonzero(np.diff(code[order])) + 1
    starts = [0, *bounds.tolist()]
    groups = [(a, b, names[code[order[a]]]) for a, b in zip(starts, [*starts[1:], len(order)])]
    if strip not in data.strips:
        split = int(columns.sum())
        groups = [(0, split, "in the block"), (split, len(order), "not in it")]
        groups = [group for group in groups if group[1] > group[0]]
    item_names = tuple(data.column_names[i] for i in order)
    return _pooled(Profile(mean[order], low[order], high[order], columns[order], item_names, tuple(groups)))


def column_means(part: np.ndarray) -> np.ndarray:
    """Mean of each column over its known cells, NaN without any."""
    known = np.isfinite(part)
    count = known.sum(axis=0)
    total = np.where(known, part, 0.0).sum(axis=0)
    return np.divide(total, count, out=np.full(part.shape[1], np.nan), where=count > 0)


def _quartiles(part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper quartile of each column over its known cells; missing cells are sorted to the end."""
    ordered = np.sort(part, axis=0)
    count = np.isfinite(part).sum(axis=0)
    columns = np.arange(part.shape[1])
    found = []
    for share in (0.25, 0.75):
        at = np.maximum(count - 1, 0) * share
        low = np.floor(at).astype(np.intp)
        high = np.minimum(low + 1, np.maximum(count - 1, 0))
        found.append(ordered[low, columns] * (1 - (at - low)) + ordered[high, columns] * (at - low))
    return found[0], found[1]


def _pooled(profile: Profile) -> Profile:
    count = len(profile.mean)
    if count <= _MOST_POINTS:
        return profile
    key = (
        np.concatenate([np.full(b - a, k) for k, (a, b, _) in enumerate(profile.groups)]) * 2
        + ~profile.inside
    )
    width = int(np.ceil(count / _MOST_POINTS))
    starts = [0]
    for i in range(1, count):
        if key[i] != key[i - 1] or i - starts[-1] >= width:
            starts.append(i)
    ends = [*starts[1:], count]

    def mean(values: np.ndarray) -> np.ndarray:
        return np.array([values[a:b].mean() for a, b in zip(starts, ends)])

    names = tuple(
        profile.names[a] if b - a == 1 else f"{profile.names[a]} to {profile.names[b - 1]}"
        for a, b in zip(starts, ends)
    )
    places = np.searchsorted(starts, [b for _, b, _ in profile.groups])
    begin = [0, *places[:-1].tolist()]
    groups = tuple((a, int(b), g[2]) for a, b, g in zip(begin, places, profile.groups))
    inside = np.array([profile.inside[a] for a in starts])
    return Profile(mean(profile.mean), mean(profile.low), mean(profile.high), inside, names, groups)


class BlockProfile(QWidget):
    """Dots (mean) on bars (quartiles), coloured for columns of the block, neutral for the others."""

    hovered = Signal(str)

    def __init__(self, blocks: Blocks, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._blocks = blocks
        self._profile: Profile | None = None
        self._block = 0
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(300, 136)

    def minimumSizeHint(self) -> QSize:
        """May be narrow."""
        return QSize(180, 136)

    def set_profile(self, profile: Profile | None, block: int) -> None:
        """Show the profile of a block."""
        self._profile, self._block = profile, block
        self.setAccessibleName(f"Profile of {self._blocks.name(block)}")
        self.update()

    def _area(self, ticks: list[str]) -> QRectF:
        metrics = self.fontMetrics()
        left = max((metrics.horizontalAdvance(text) for text in ticks), default=0) + space.S
        bottom = metrics.height() + space.XS
        return QRectF(left, _TOP, self.width() - left - 4, self.height() - _TOP - bottom)

    def _scale(self, profile: Profile) -> tuple[float, float]:
        known = np.concatenate([profile.low, profile.high])
        known = known[np.isfinite(known)]
        low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
        low, high = min(low, 0.0), max(high, 0.0)
        return (low, high) if high > low else (low - 1, high + 1)

    def paintEvent(self, event: QPaintEvent) -> None:
        profile = self._profile
        if profile is None:
            return
        colors = theme()
        self.setFont(colors.font("caption"))
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        low, high = self._scale(profile)
        ticks = nice_ticks(low, high, 3)
        decimals = step_decimals(ticks[1] - ticks[0]) if len(ticks) > 1 else 0
        texts = [format_fixed(tick, decimals) for tick in ticks]
        area = self._area(texts)

        def y_of(value: float) -> float:
            return area.bottom() - (value - low) / (high - low) * area.height()

        for tick, text in zip(ticks, texts):
            y = round(y_of(tick)) + 0.5
            painter.setPen(QPen(colors.color("axis" if tick == 0 else "grid"), 1))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            painter.setPen(colors.color("muted"))
            box = QRectF(0, y - 9, area.left() - space.XS, 18)
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        self._paint_points(painter, profile, area, y_of)
        self._paint_groups(painter, profile, area)
        painter.end()

    def _paint_points(self, painter, profile, area, y_of) -> None:
        colors, step = theme(), area.width() / len(profile.mean)
        thick = float(np.clip(step * 0.5, 1, 2))
        dot = float(np.clip(step * 0.8, 2, 6))
        for inside in (False, True):
            color = self._blocks.color(self._block) if inside else colors.color("neutral")
            pale = colors.color("border") if not inside else self._blocks.color(self._block)
            pale.setAlphaF(0.45 if inside else 1.0)
            for i in np.flatnonzero(profile.inside == inside):
                if not np.isfinite(profile.mean[i]):
                    continue
                x = area.left() + (i + 0.5) * step
                painter.setPen(QPen(pale, thick))
                painter.drawLine(QPointF(x, y_of(profile.low[i])), QPointF(x, y_of(profile.high[i])))
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(color)
                painter.drawEllipse(QPointF(x, y_of(profile.mean[i])), dot / 2, dot / 2)

    def _paint_groups(self, painter, profile, area) -> None:
        colors, step = theme(), area.width() / len(profile.mean)
        painter.setPen(QPen(colors.color("axis"), 1))
        y = area.bottom() + 0.5
        painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
        metrics = self.fontMetrics()
        ends = 0.0
        for start, stop, name in profile.groups:
            left, right = area.left() + start * step, area.left() + stop * step
            if start:
                painter.setPen(QPen(colors.color("axis"), 1))
                painter.drawLine(QPointF(left, y), QPointF(left, y + 4))
            width = metrics.horizontalAdvance(name)
            middle = min(max((left + right) / 2, area.left() + width / 2), area.right() - width / 2)
            if middle - width / 2 < ends + space.XS or width > right - left + 24:
                continue
            painter.setPen(colors.color("muted"))
            painter.drawText(QPointF(middle - width / 2, self.height() - metrics.descent() - 1), name)
            ends = middle + width / 2

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Tell the column under the pointer."""
        if self._profile is None:
            return
        ticks = [format_fixed(t, 0) for t in nice_ticks(*self._scale(self._profile), 3)]
        area = self._area(ticks)
        i = int((event.position().x() - area.left()) / area.width() * len(self._profile.mean))
        if 0 <= i < len(self._profile.mean):
            p = self._profile
            text = (
                f"{p.names[i]}: mean {format_fixed(p.mean[i], 2, sign=True)}, "
                f"quartiles {format_fixed(p.low[i], 2, sign=True)} to {format_fixed(p.high[i], 2, sign=True)}"
            )
            self.setToolTip(text)
            self.hovered.emit(text)
