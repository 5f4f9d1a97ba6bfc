"""The points of a picture on a page, as a user meets them."""

from __future__ import annotations

import numpy as np

from plaidwork.core.pictures import Line, Points
from plaidwork.gui.pictures.swarm import pixels_of


def points_on(page) -> Points:
    """The mark of the items."""
    return next(mark for mark in page.loaded.panels[0].marks if isinstance(mark, Points) and mark.read)


def places_on(page) -> np.ndarray:
    """(n, 2) pixels of all items, in their order."""
    frame, mark = page.chart.frames.frames[0], points_on(page)
    found = np.empty((len(mark), 2))
    found[mark.of.index] = np.column_stack(pixels_of(mark, frame))
    return found


def values_on(page, axis: str) -> np.ndarray:
    """(n,) numbers of all items along an axis, in their order."""
    mark = points_on(page)
    found = np.empty(len(mark))
    found[mark.of.index] = getattr(mark, axis)
    return found


def axes_of(page) -> tuple[str, str]:
    """Names of both axes."""
    panel = page.loaded.panels[0]
    return panel.x.title, panel.y.title


def lines_on(page) -> list[Line]:
    """Dark lines through the panel."""
    return [mark for mark in page.loaded.panels[0].marks if isinstance(mark, Line) and mark.color == "text"]


def legend_on(page) -> list[str]:
    """Texts of the legend."""
    return [key.text for key in page.loaded.legend]
