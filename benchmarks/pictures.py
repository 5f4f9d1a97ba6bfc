"""How long pictures take: every kind of view, and large marks on our canvas and as items of pyqtgraph.

Run: python benchmarks/pictures.py [--sessions DIR] [--minutes 4]

Milliseconds of the processor, whatever else runs. A view is loaded in the background (``load``), painted for the first time, and
dragged (``pan``): with the toy data of docs/view-kinds.md at their size, with 2000 samples of 500 features, and in the bundled
example where it takes longest (fitted for a few sweeps, or taken from the sessions that docs/contact_sheet.py left).
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from time import monotonic, process_time
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
import pyqtgraph as pg
from PySide6.QtWidgets import QWidget

from plaidwork.core.cli import main as run_command
from plaidwork.core.contract.spec import View
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.inference.run import Run
from plaidwork.core.pictures import Axis, Cells, Line, Links, Panel, Picture, Points
from plaidwork.core.plugins import registry
from plaidwork.core.session.session import Session, open_session
from plaidwork.core.views.drawing import is_picture, picture_of
from plaidwork.core.views.sources import Sources
from plaidwork.gui.pictures.canvas import PictureCanvas
from plaidwork.gui.pictures.frame import Zoom
from plaidwork.gui.pictures.paper import Paper, write_picture
from plaidwork.gui.results.render import ensure_application, render_view

SIZE = (1024, 640)
REPEATS = 5
TOYS = "n, m, K = 80, 24, 4"
LARGE = "n, m, K = 2000, 500, 4"
EXAMPLES = (
    "leukaemia", "tumour-genes", "movie-reviews", "three-classes", "four-raters", "votes", "digits-3-5", "two-moons",
    "tumour-classes",
)  # fmt: skip
DOCS = Path(__file__).resolve().parents[1] / "docs"
Times = tuple[float, float, float]
"""Load, first paint, step of a pan; NaN where there is no such thing."""


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


# -- every kind of view -----------------------------------------------------------------------------
def gallery() -> Any:
    """The script that draws the pictures of docs/view-kinds.md."""
    spec = importlib.util.spec_from_file_location("draw_view_kinds", DOCS / "draw_view_kinds.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def view_times(session: Session, run: Run, view: View) -> Times:
    """What a view takes in the window."""
    if not is_picture(view.kind):
        return float("nan"), timed(lambda: render_view(session, run, view, SIZE, "light", 1.0)), float("nan")
    found: list[Picture] = []
    load = timed(lambda: found.append(picture_of(Sources(session, run, view))))
    return (load, *ours(found[0]))


def toy_times(module: Any, kind: str, codes: dict[str, str], size: str) -> Times:
    """A kind with the data of the documents, made larger."""
    space = module.declared(kind, {**codes, "": codes[""].replace(TOYS, size)})
    model = module.toy_model(space)
    registry._shared = module.registry_of(model, space.get("factory"))
    session = Session(name="Views")
    run = session.add_run(make_plan(model(), {"X": space["X"]}))
    run.chains[0].draws.append({"level": 0.0})
    run.results, run.results_draws, run.status = space["results"], 300, "done"
    return view_times(session, run, space["view"])


def example_sessions(folder: Path, end: float) -> Iterator[tuple[str, Session]]:
    """The bundled examples, fitted briefly unless they lie in the folder, until the time is up."""
    for name in EXAMPLES:
        path = folder / f"{name}.plaidwork"
        if not path.exists():
            if monotonic() > end:
                print(f"No time for {name}.")
                continue
            short = ["--chains", "2", "--warmup", "20", "--draws", "20"]
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                run_command(["example", name, "--out", str(path), *short])
        if path.exists():
            yield name, open_session(path)


def example_times(folder: Path, end: float) -> dict[str, tuple[str, Times]]:
    """By kind: the example whose picture takes longest, and what it takes."""
    found: dict[str, tuple[str, Times]] = {}
    for name, session in example_sessions(folder, end):
        for run in session.runs.values():
            for view in [view for view in run.spec.views if view.kind != "text" and view.offered(run.params)]:
                times = tried(partial(view_times, session, run, view))
                if times and np.nansum(times) > np.nansum(found.get(view.kind, ("", (0.0,) * 3))[1]):
                    found[view.kind] = name, times
    return found


def tried(act: Callable[[], Times]) -> Times | None:
    """None for a view that lacks what it shows, as toy data that cannot be made larger."""
    try:
        return act()
    except Exception:
        return None


def views(folder: Path, end: float) -> None:
    """The table of all kinds."""
    shared = registry.registry()
    module = gallery()
    codes = module.entries()
    examples = example_times(folder, end)
    print(f"{'ms':18}{'toy data':>24}{'2000 x 500':>24}{'largest example':>24}")
    print(f"{'':18}" + 3 * f"{'load':>8}{'first':>8}{'pan':>8}")
    for kind in [kind for kind in codes if kind]:
        cells = [tried(partial(toy_times, module, kind, codes, size)) for size in (TOYS, LARGE)]
        name, times = examples.get(kind, ("", None))
        print(f"{kind:18}" + "".join(shown(each) for each in (*cells, times)) + f"  {name}", flush=True)
    registry._shared = shared


def shown(times: Times | None) -> str:
    """Three numbers of a table."""
    if times is None:
        return f"{'-':>8}" * 3
    return "".join(f"{'-' if np.isnan(value) else format(value, '.0f'):>8}" for value in times)


def marks() -> None:
    """The table of large marks."""
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sessions", type=Path, metavar="DIR", help="fitted examples")
    parser.add_argument("--minutes", type=float, default=4.0)
    options = parser.parse_args()
    end = monotonic() + 60 * options.minutes
    os.environ["PLAIDWORK_CONFIG"] = tempfile.mkdtemp()
    ensure_application()
    print(f"Load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors.")
    marks()
    views(options.sessions or Path(tempfile.mkdtemp()), end - 120)
    print(f"Load {os.getloadavg()[0]:.1f}.")


if __name__ == "__main__":
    main()
