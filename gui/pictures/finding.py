"""What of a picture is called by a text: places of its axes, and pieces of its marks."""

from __future__ import annotations

import numpy as np

from plaidwork.core.findings.naming import findable
from plaidwork.core.pictures import Cells, Image, Picture
from plaidwork.gui.pictures.hits import Spot, mark_of, named_pieces, readable

_POINTED = 200
"""Rows and columns that a search points at, at most."""
_SEARCHED = 20_000
"""Pieces looked through for a text, at most."""


def places_called(picture: Picture, wanted: str) -> dict[tuple[int, str], np.ndarray]:
    """Rows and columns of cells whose names hold a text (in lower case), by panel and axis."""
    found = {}
    for p, panel in enumerate(picture.panels):
        for axis, names in (("x", panel.x.names), ("y", panel.y.names)):
            if any(isinstance(mark, Cells) for mark in panel.marks):
                hits = [k for k, name in enumerate(names) if wanted in findable(name)]
                found[p, axis] = np.array(hits[:_POINTED])
    return found


def pieces_called(picture: Picture, wanted: str) -> list[tuple[Spot, str]]:
    """Pieces whose name on an axis of categories, or else whose words, hold a text (in lower case), and that name."""
    found: dict[str, Spot] = {}
    texts = []
    for p, number in readable(picture):
        panel, mark = picture.panels[p], mark_of(picture, Spot(p, number, 0))
        if panel.x.names or panel.y.names:
            for piece, name in named_pieces(mark, panel.x.names, panel.y.names):
                if wanted in findable(name):
                    found.setdefault(name, Spot(p, number, piece))
            continue
        if isinstance(mark, Cells):
            continue
        linked = (
            mark.of if mark.called is not None and mark.of is not None and mark.of.piece is None else None
        )
        order = np.arange(len(mark)) if linked is None else np.argsort(linked.index, kind="stable")
        order = order[:1] if isinstance(mark, Image) else order
        for piece in order[:_SEARCHED].tolist():
            words = mark.called_of(piece) or mark.text(piece)
            if wanted in findable(words):
                texts.append((Spot(p, number, piece), words))
    return [(spot, name) for name, spot in found.items()] or texts
