"""First paint, pan and export of large pictures: our canvas, and the same marks as items of pyqtgraph. ``python benchmarks/pictures.py``"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
import pyqtgraph as pg
from PySide6.QtWidgets import QWidget

from plaidwork.core.pictures import Axis, Cells, Line, Links, Panel, Picture, Points
from plaidwork.gui.pictures.canvas import PictureCanvas
from plaidwork.gui.pictures.frame import Zoom
from plaidwork.gui.pictures.paper import Paper, write_picture
from plaidwork.gui.results.render import ensure_application

SIZE = (1024, 640)
REPEATS = 5


def pictures(rng: np.random.Generator) -> dict[str, Picture]:
    """The large ones that the window has to bear."""
    x, y = rng.normal(size=(2, 1_000_000))
    values = rng.normal(size=(5000, 2000)).astype(np.float32)
    ends, starts = rng.normal(size=(2, 20_000, 2))
    marks = {
        "1,000,000 points": Points(x, y),
        "5000 x 2000 cells": Cells(values, 0, 2000, 0, 5000, "loom", (-3, 3)),
        "20,000 links": Links(starts[:, 0], starts[:, 1], ends[:, 0], ends[:, 1], color="control"),
        "a line of 1,000,000": Line(np.arange(1_000_000), np.cumsum(x)),
    }
    return {
        name: Picture(name, panels=(Panel((mark,), Axis("x"), Axis("y")),)) for name, mark in marks.items()
    }


def items(picture: Picture) -> list[pg.GraphicsObject]:
    """The same marks as pyqtgraph draws them."""
    (mark,) = picture.panels[0].marks
    if isinstance(mark, Points):
        return [pg.ScatterPlotItem(x=mark.x, y=mark.y, size=4, pen=None, brush=pg.mkBrush("#2B35A8"))]
    if isinstance(mark, Cells):
        item = pg.ImageItem(mark.values, axisOrder="row-major", levels=mark.limits, autoDownsample=True)
        item.setLookupTable(np.linspace(0, 255, 256).astype(np.uint8)[:, None].repeat(3, axis=1))
        return [item]
    if isinstance(mark, Links):
        x, y = (
            np.column_stack([getattr(mark, a), getattr(mark, b)]).ravel()
            for a, b in (("x0", "x1"), ("y0", "y1"))
        )
        return [pg.PlotDataItem(x, y, connect="pairs", pen=pg.mkPen("#838C99"))]
    assert isinstance(mark, Line)
    item = pg.PlotDataItem(mark.x, mark.y, pen=pg.mkPen("#2B35A8", width=2))
    item.setDownsampling(auto=True, method="peak")
    return [item]


def timed(act: Callable[[], object]) -> float:
    """Milliseconds of the processor that a call takes, whatever else runs."""
    started = process_time()
    act()
    return 1000 * (process_time() - started)


def pan(widget: QWidget, shift: Callable[[int], object]) -> float:
    """Milliseconds of a step of a drag, the median of several."""

    def step(k: int) -> None:
        shift(k)
        widget.grab()

    return float(np.median([timed(lambda k=k: step(k)) for k in range(REPEATS)]))


def ours(picture: Picture) -> tuple[float, float]:
    """First paint and a step of a pan, on the canvas."""
    canvas = PictureCanvas()
    canvas.resize(*SIZE)
    canvas.show()

    def first() -> None:
        canvas.set_picture(picture)
        canvas.grab()

    def shift(k: int) -> None:
        window = (0.2 + 0.01 * k, 0.7 + 0.01 * k)
        canvas.zoom = Zoom(window, {0: window})
        canvas.redraw()

    found = timed(first), pan(canvas, shift)
    canvas.close()
    return found


def theirs(picture: Picture) -> tuple[float, float]:
    """The same with items of pyqtgraph."""
    plot = pg.PlotWidget()
    plot.resize(*SIZE)
    plot.show()

    def first() -> None:
        for item in items(picture):
            plot.addItem(item)
        plot.grab()

    first_paint = timed(first)
    (x0, x1), (y0, y1) = plot.viewRange()

    def shift(k: int) -> None:
        low, high = 0.2 + 0.01 * k, 0.7 + 0.01 * k
        plot.setRange(
            xRange=(x0 + low * (x1 - x0), x0 + high * (x1 - x0)),
            yRange=(y0 + low * (y1 - y0), y0 + high * (y1 - y0)),
            padding=0,
        )

    found = first_paint, pan(plot, shift)
    plot.close()
    return found


def main() -> None:
    ensure_application()
    print(f"{'':22}{'canvas':>16}{'pyqtgraph':>20}{'export of ours':>30}")
    print(f"{'ms':22}{'first':>8}{'pan':>8}{'first':>12}{'pan':>8}{'PNG':>12}{'SVG':>8}{'PDF':>8}")
    for name, picture in pictures(np.random.default_rng(1)).items():
        row = [*ours(picture), *theirs(picture)]
        row += exports(picture)
        first, step, other, other_step, *files = (f"{value:.0f}" for value in row)
        print(
            f"{name:22}{first:>8}{step:>8}{other:>12}{other_step:>8}{files[0]:>12}{files[1]:>8}{files[2]:>8}"
        )


def exports(picture: Picture) -> list[float]:
    """Milliseconds of a file of each kind."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"p.{kind}" for kind in ("png", "svg", "pdf")]
        return [timed(lambda path=path: write_picture(picture, path, Paper())) for path in paths]


if __name__ == "__main__":
    main()
