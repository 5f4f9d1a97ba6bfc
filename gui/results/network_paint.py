"""How a network is painted: links, nodes and names, and where the nodes are around a chosen one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QImage,
    QPaintEngine,
    QPainter,
    QPainterPath,
    QPen,
)

from plaidwork.gui.results.chart import elided
from plaidwork.gui.results.marks import colors_of, paint_mark
from plaidwork.gui.results.network import Shown
from plaidwork.gui.theme import space, theme

LABELS = 30
"""Nodes that are named at once."""
MANY_NODES, _MANY_LINKS = 900, 3000
_MOST_NAME = 150
_RIM = tuple((1.6 * math.cos(k * math.pi / 4), 1.6 * math.sin(k * math.pi / 4)) for k in range(8))
"""Where a name is drawn in the colour of the ground before it is drawn itself."""
_VECTOR = (QPaintEngine.Type.SVG, QPaintEngine.Type.Pdf, QPaintEngine.Type.Picture)


@dataclass(frozen=True)
class Links:
    """Lines to draw, weakest first: ends (e, 4) in pixels, widths, opacity, dashed, and whether they are of the focus."""

    lines: np.ndarray
    widths: np.ndarray
    opacity: np.ndarray
    dashed: np.ndarray
    strong: np.ndarray


def lines_of(shown: Shown, at: np.ndarray, focus: int) -> Links:
    """Lines of the links shown, between the pixels (n, 2) of the nodes; NaN where a node is not shown."""
    network = shown.network
    links = shown.links[::-1]
    ends = network.ends[links]
    lines = np.column_stack([at[ends[:, 0]], at[ends[:, 1]]])
    weights = network.weights[links]
    size = np.abs(weights)
    low, high = (float(size.min()), float(size.max())) if len(size) else (0.0, 1.0)
    share = (size - low) / ((high - low) or 1.0)
    many = len(links)
    strong = (ends == focus).any(axis=1)
    widths = 0.8 + share * (2.6 if many <= _MANY_LINKS else 0.6)
    opacity = np.full(many, float(np.clip(0.8 * (400 / max(many, 1)) ** 0.5, 0.16, 0.8)))
    if focus >= 0:
        widths = np.where(strong, 1.2 + 2.6 * share, 0.8)
        opacity = np.where(strong, 0.95, 0.3)
    if network.confidence is not None:
        opacity = opacity * (0.12 + 0.88 * np.clip(np.nan_to_num(network.confidence[links]), 0, 1))
    seen = np.isfinite(lines).all(axis=1)
    if focus >= 0:
        order = np.argsort(strong[seen], kind="stable")
        seen = np.flatnonzero(seen)[order]
    return Links(lines[seen], widths[seen], opacity[seen], (weights < 0)[seen], strong[seen])


def prepare() -> None:
    """Compile what draws the lines, in a worker thread, so that the first picture does not have to wait for it."""
    from plaidwork.core.numerics.lines import draw_discs, draw_lines

    one, colors = np.zeros(1), np.zeros((1, 3), np.uint8)
    draw_lines(np.zeros((1, 1, 4), np.uint8), np.zeros((1, 4)), one, colors, one, np.zeros(1, bool), 1.0)
    draw_discs(np.zeros((1, 1, 4), np.uint8), np.zeros((1, 3)), colors)


@dataclass(frozen=True)
class Discs:
    """Very many nodes as plain discs: (n, 3) places and radii in pixels, (n, 3) colours."""

    places: np.ndarray
    colors: np.ndarray


def discs_of(shown: Shown, at: np.ndarray, radius: np.ndarray) -> Discs | None:
    """The nodes as discs, the most important last; None where there are few enough for marks."""
    nodes = _visible(shown, at)
    if len(nodes) <= MANY_NODES:
        return None
    kinds, codes = _kinds(shown), shown.network.colours.codes[nodes]
    table = np.array([*(_rgb(color) for color in kinds), _rgb(theme().color("control"))], dtype=np.uint8)
    return Discs(np.column_stack([at[nodes], radius[nodes]]), table[np.where(codes < 0, len(kinds), codes)])


def _visible(shown: Shown, at: np.ndarray) -> np.ndarray:
    """Nodes that have a place, the most important last."""
    nodes = shown.nodes[::-1]
    return nodes[np.isfinite(at[nodes]).all(axis=1)]


def _kinds(shown: Shown) -> list[QColor]:
    """Colours of the groups of nodes."""
    colours = shown.network.colours
    return colors_of(colours) if colours.title else [theme().color("blue")]


def paint_links(
    painter: QPainter, links: Links, discs: Discs | None, width: float, height: float, ratio: float
) -> None:
    """All lines, and the nodes where they are discs: one image on the screen, shapes in vector files."""
    if painter.paintEngine().type() in _VECTOR:
        _vector_links(painter, links)
        if discs is not None:
            _vector_discs(painter, discs)
        return
    from plaidwork.core.numerics.lines import draw_discs, draw_lines

    wide, high = max(1, round(width * ratio)), max(1, round(height * ratio))
    ground = theme().color("surface")
    pixels = np.empty((high, wide, 4), dtype=np.uint8)
    pixels[:] = (ground.blue(), ground.green(), ground.red(), 255)
    plain, strong = (_rgb(theme().color(name)) for name in ("control", "text"))
    colors = np.where(links.strong[:, None], strong, plain).astype(np.uint8)
    lines = np.ascontiguousarray(links.lines * ratio)
    draw_lines(pixels, lines, links.widths * ratio, colors, links.opacity, links.dashed, float(ratio))
    if discs is not None:
        draw_discs(pixels, np.ascontiguousarray(discs.places * ratio), discs.colors)
    image = QImage(pixels.data, wide, high, 4 * wide, QImage.Format.Format_RGB32)
    painter.drawImage(QRectF(0, 0, width, height), image)


def _rgb(color: QColor) -> tuple[int, int, int]:
    return color.red(), color.green(), color.blue()


def _vector_links(painter: QPainter, links: Links) -> None:
    painter.save()
    for line, width, opacity, dashed, strong in zip(
        links.lines.tolist(), links.widths, links.opacity, links.dashed, links.strong
    ):
        color = theme().color("text" if strong else "control")
        color.setAlphaF(float(opacity))
        style = Qt.PenStyle.DashLine if dashed else Qt.PenStyle.SolidLine
        painter.setPen(QPen(color, float(width), style, Qt.PenCapStyle.FlatCap))
        painter.drawLine(QLineF(*line))
    painter.restore()


def _vector_discs(painter: QPainter, discs: Discs) -> None:
    painter.save()
    painter.setPen(Qt.PenStyle.NoPen)
    for (x, y, r), color in zip(discs.places.tolist(), discs.colors.tolist()):
        painter.setBrush(QColor(*color))
        painter.drawEllipse(QPointF(x, y), r, r)
    painter.restore()


def radii(shown: Shown, focus: bool, area: float) -> np.ndarray:
    """(n,) radius of each node in a picture of ``area`` pixels, by strength, or by its links where none is given."""
    network = shown.network
    count = len(shown.nodes)
    base = 8.0 if focus else float(np.clip(0.13 * (area / max(count, 1)) ** 0.5, 2.0, 7.5))
    size = (
        shown.degree.astype(np.float64)
        if network.strength is None
        else np.abs(np.nan_to_num(network.strength))
    )
    most = float(size[shown.nodes].max(initial=0.0)) or 1.0
    return base * (0.55 + 0.75 * np.sqrt(np.clip(size / most, 0, 1)))


def paint_nodes(painter: QPainter, shown: Shown, at: np.ndarray, radius: np.ndarray) -> None:
    """Nodes as marks of their group, the most important last."""
    colours, kinds = shown.network.colours, _kinds(shown)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for i in _visible(shown, at).tolist():
        code = int(colours.codes[i])
        ink = kinds[code] if code >= 0 else None
        paint_mark(painter, QPointF(*at[i].tolist()), ink, code if colours.title else 0, float(radius[i]))


def place_names(
    names: Sequence[tuple[int, str, bool | None]], at: np.ndarray, radius: np.ndarray, room: QRectF
) -> list[tuple[int, QRectF, str]]:
    """Places of names beside their nodes, none over another or over a named node.

    ``names`` are (node, text, at its right side: True or False, or None for the side where it fits), most important first.
    """
    metrics = QFontMetricsF(theme().font("caption"))
    taken = [
        QRectF(at[i, 0] - radius[i], at[i, 1] - radius[i], 2 * radius[i], 2 * radius[i]) for i, _, _ in names
    ]
    found = []
    for i, text, right in names:
        shown = elided(metrics, text, _MOST_NAME)
        wide, high = metrics.horizontalAdvance(shown) + 2, metrics.height()
        x, y, r = float(at[i, 0]), float(at[i, 1]), float(radius[i]) + 3
        beside = {
            True: QRectF(x + r, y - high / 2, wide, high),
            False: QRectF(x - r - wide, y - high / 2, wide, high),
        }
        tries = [beside[right]] if right is not None else [beside[True], beside[False]]
        tries += [QRectF(x - wide / 2, y - r - high, wide, high), QRectF(x - wide / 2, y + r, wide, high)]
        for box in tries:
            if room.contains(box) and not any(box.intersects(other) for other in taken):
                taken.append(box)
                found.append((i, box, shown))
                break
    return found


def paint_names(painter: QPainter, names: list[tuple[int, QRectF, str]], bold: int = -1) -> None:
    """Names with a rim of the surface, so that they can be read over links and nodes."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for i, box, text in names:
        font = theme().font("caption")
        font.setWeight(QFont.Weight.DemiBold if i == bold else QFont.Weight.Normal)
        metrics = QFontMetricsF(font)
        left = box.center().x() - metrics.horizontalAdvance(text) / 2
        point = QPointF(left, box.center().y() + (metrics.ascent() - metrics.descent()) / 2)
        painter.setFont(font)
        if painter.paintEngine().type() in _VECTOR:
            path = QPainterPath()
            path.addText(point, font, text)
            rim = QPen(theme().color("surface"), 4, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
            rim.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
            painter.strokePath(path, rim)
            painter.fillPath(path, theme().color("text"))
            continue
        painter.setPen(
            theme().color("surface")
        )  # glyphs that are kept are far quicker than outlines of paths
        for x, y in _RIM:
            painter.drawText(point + QPointF(x, y), text)
        painter.setPen(theme().color("text"))
        painter.drawText(point, text)


def around(shown: Shown, node: int, width: float, height: float) -> np.ndarray:
    """(n, 2) pixels with a node in the middle and its neighbours on a ring, the nearer the stronger; NaN for the others.

    They follow each other in the directions that they have in the whole layout.
    """
    network = shown.network
    at = np.full((len(network.names), 2), np.nan)
    middle = np.array([width / 2, height / 2])
    at[node] = middle
    links = shown.links_of(node)
    others = shown.other(links, node)
    if not len(others):
        return at
    away = network.places[others] - network.places[node]
    order = np.argsort(np.arctan2(away[:, 1], away[:, 0]), kind="stable")
    links, others = links[order], others[order]
    size = np.abs(network.weights[links])
    low, high = float(size.min()), float(size.max())
    far = 0.68 + 0.32 * (high - size) / ((high - low) or 1.0)
    angle = 2 * np.pi * (np.arange(len(others)) + 0.5) / len(others)
    reach = np.array([max(width / 2 - _MOST_NAME - space.XL, 60), max(height / 2 - 3 * space.L, 40)])
    at[others] = middle + far[:, None] * reach * np.column_stack([np.cos(angle), np.sin(angle)])
    return at
