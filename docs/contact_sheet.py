"""All views of the bundled examples on one sheet in light and one in dark, from the real program.

``python docs/contact_sheet.py [EXAMPLE …]`` fits the examples (all, two short chains each), keeps their sessions in
``--sessions DIR`` and takes those that are there already, and writes ``docs/pictures/sheet-light.png`` and ``-dark.png``.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from draw_view_kinds import DOCUMENT, png_of

FOLDER = DOCUMENT.parent / "pictures"
DRAWN, TILE, ACROSS, GAP, HEAD, LINE = (640, 400), (208, 130), 8, 12, 30, 18
"""Pixels of a view as it is drawn and on the sheet, tiles in a row, and pixels between them, of a heading and of a title."""
COLOURS = 160


def session_of(name: str, folder: Path) -> Any:
    """The fitted example; fitted now unless its session lies in the folder."""
    from plaidwork.core.cli import main as run_command
    from plaidwork.core.session.session import open_session

    path = folder / f"{name}.plaidwork"
    if not path.exists():
        short = ["--chains", "2", "--warmup", "100", "--draws", "200"]
        if run_command(["example", name, "--out", str(path), *short]):
            raise SystemExit(f"{name} could not be fitted.")
    return open_session(path)


def tiles(session: Any, scheme: str) -> Iterator[tuple[str, Any]]:
    """Title and small image of every view of every run."""
    from PySide6.QtCore import Qt

    from plaidwork.core.views.printing import drawn_views, view_name
    from plaidwork.gui.results.render import render_view

    kept, smooth = Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
    for run in session.runs.values():
        tables = [view for view in run.spec.views if view.kind == "table" and view.offered(run.params)]
        for view in [*drawn_views(session, run), *tables]:
            image = render_view(session, run, view, DRAWN, scheme, 1.0).copy(
                0, 0, *DRAWN
            )  # of a high one its top
            yield view_name(view), image.scaled(*TILE, kept, smooth)


def sheet(rows: Sequence[tuple[str, Sequence[tuple[str, Any]]]], scheme: str) -> Any:
    """The image of all examples, each under its title."""
    from PySide6.QtCore import QRect, Qt
    from PySide6.QtGui import QImage, QPainter

    from plaidwork.gui.pictures.style import Style

    style, wide, high = Style(scheme), GAP + ACROSS * (TILE[0] + GAP), GAP
    for _, found in rows:
        high += HEAD + -(-len(found) // ACROSS) * (TILE[1] + LINE + GAP)
    image = QImage(wide, high, QImage.Format.Format_RGB32)
    image.fill(style.color("window"))
    painter, top = QPainter(image), GAP
    for title, found in rows:
        painter.setFont(style.font("strong"))
        painter.setPen(style.color("text"))
        painter.drawText(QRect(GAP, top, wide - 2 * GAP, HEAD), Qt.AlignmentFlag.AlignVCenter, title)
        top += HEAD
        painter.setFont(style.font("caption"))
        painter.setPen(style.color("muted"))
        for at, (name, tile) in enumerate(found):
            left = GAP + at % ACROSS * (TILE[0] + GAP)
            down = top + at // ACROSS * (TILE[1] + LINE + GAP)
            painter.drawImage(left, down, tile)
            shown = painter.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, TILE[0])
            painter.drawText(QRect(left, down + TILE[1], TILE[0], LINE), Qt.AlignmentFlag.AlignVCenter, shown)
        top += -(-len(found) // ACROSS) * (TILE[1] + LINE + GAP)
    painter.end()
    return image


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("examples", nargs="*", metavar="EXAMPLE")
    parser.add_argument("--sessions", type=Path, metavar="DIR")
    parser.add_argument("--out", type=Path, metavar="DIR", default=FOLDER)
    options = parser.parse_args(arguments)
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ["PLAIDWORK_CONFIG"] = tempfile.mkdtemp()  # nobody's own settings
    from plaidwork.core.plugins.registry import registry
    from plaidwork.gui.results.render import ensure_application

    ensure_application()
    folder = options.sessions or Path(tempfile.mkdtemp())
    known = {sample.id: sample.title for sample in registry().samples}
    names = options.examples or list(known)
    sessions = [(known[name], session_of(name, folder)) for name in names]
    for scheme in ("light", "dark"):
        found = png_of(
            sheet([(title, list(tiles(session, scheme))) for title, session in sessions], scheme), COLOURS
        )
        path = options.out / f"sheet-{scheme}.png"
        path.write_bytes(found)
        print(f"{path.name:<16}{len(found) / 1000:8.1f} kB")


if __name__ == "__main__":
    main()
