"""Which part of a picture is shown after zooming, moving, or bringing a value into view."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF

from plaidwork.gui.pictures.frame import WHOLE, Layout, Window, Zoom

_CLOSEST = 1e-4
_NOTCH = 0.8
_BESIDE = 4
"""Pixels beside a panel that are taken for it."""


def scaled(window: Window, share: float, factor: float) -> Window:
    """The part of a scale after zooming about a share of what is shown."""
    low, high = window
    at, long = low + share * (high - low), min(max((high - low) * factor, _CLOSEST), 1.0)
    return within(at - share * long, long)


def moved(window: Window, by: float) -> Window:
    """The part of a scale after moving by a share of what is shown."""
    long = window[1] - window[0]
    return within(window[0] + by * long, long)


def within(low: float, long: float) -> Window:
    """A window of this length within the whole."""
    low = min(max(low, 0.0), 1.0 - long)
    return WHOLE if long >= 1 else (low, low + long)


def largest(layout: Layout) -> int:
    """The panel that keys zoom and move."""
    frames = layout.frames
    return max(range(len(frames)), key=lambda p: frames[p].area.height())


def panel_at(layout: Layout, at: QPointF) -> int | None:
    """The panel under a point, where it can be zoomed."""
    for p, frame in enumerate(layout.frames):
        if frame.area.adjusted(-_BESIDE, -_BESIDE, _BESIDE, _BESIDE).contains(at):
            return p if frame.panel.zoom else None
    return None


def zoomed_about(layout: Layout, zoom: Zoom, at: QPointF, notches: float) -> Zoom | None:
    """The part after zooming in (positive) or out about a point; None where there is nothing to zoom."""
    p = panel_at(layout, at)
    if p is None:
        return None
    frame, factor, across = layout.frames[p], _NOTCH**notches, zoom.x
    if "x" in frame.panel.zoom:
        across = scaled(across, (at.x() - frame.area.left()) / frame.area.width(), factor)
    up = dict(zoom.y)
    if "y" in frame.panel.zoom:
        share = (at.y() - frame.y.start) / (frame.y.end - frame.y.start)
        up[p] = scaled(up.get(p, WHOLE), share, factor)
    return Zoom(across, up)


def shifted(layout: Layout, zoom: Zoom, right: int, down: int) -> Zoom:
    """The part after moving that of the largest panel by so many tenths of it."""
    p = largest(layout)
    window = zoom.y.get(p, WHOLE)
    sign = 1 if layout.frames[p].panel.y.down else -1
    up = moved(window, sign * down / 10)
    return Zoom(moved(zoom.x, right / 10), {**zoom.y, p: up} if up != window else dict(zoom.y))


def dragged(layout: Layout, zoom: Zoom, panel: int, away: QPointF) -> Zoom:
    """The part after moving the content of a panel by so many pixels; ``zoom`` is what was shown before."""
    frame, up = layout.frames[panel], dict(zoom.y)
    if panel in up:
        up[panel] = moved(up[panel], -away.y() / (frame.y.end - frame.y.start))
    return Zoom(moved(zoom.x, -away.x() / frame.area.width()), up)


def bringing(layout: Layout, zoom: Zoom, panel: int, axis: str, value: float, room: float = 0.0) -> Zoom:
    """The part moved so that it holds a value; with ``room`` so near, too, that a step of the scale has so many pixels.

    All panels share the scale of x of the first.
    """
    frame = layout.frames[panel]
    pixels, window = (frame.x, zoom.x) if axis == "x" else (frame.y, zoom.y.get(panel, WHOLE))
    whole = (frame.panel if axis == "y" else layout.frames[0].panel).scaling(axis)
    low, high = whole.shares(np.array([value - 0.5, value + 0.5])).tolist()
    long = window[1] - window[0]
    if room:
        long = min(long, (high - low) * abs(pixels.end - pixels.start) / room)
        shown = within((low + high - long) / 2, long)
    else:
        shown = within(window[0] + min(low - window[0], 0.0) + max(high - window[1], 0.0), long)
    if axis == "x":
        return Zoom(shown, dict(zoom.y))
    return Zoom(zoom.x, {**zoom.y, panel: shown} if shown != window else dict(zoom.y))
