"""Pictures of views without a window: for the command line and reports."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QMessageLogContext, QSize, Qt, QtMsgType, qInstallMessageHandler
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QWidget

from plaidwork.core.contract.spec import View
from plaidwork.core.inference.run import Run
from plaidwork.core.pictures import Picture
from plaidwork.core.quoting import lines
from plaidwork.core.session.session import Session
from plaidwork.core.views.drawing import is_picture
from plaidwork.core.views.printing import origin_of, printed_view
from plaidwork.core.views.sources import Sources
from plaidwork.gui.pictures.paper import Paper, write_picture
from plaidwork.gui.widgets.layouts import horizontal

if TYPE_CHECKING:
    from plaidwork.gui.results.page import ResultPage

_PANEL = 340

_kept_app: QApplication | None = None


def ensure_application() -> QApplication:
    """The application, made for drawing off the screen when there is none."""
    global _kept_app
    app = QApplication.instance()
    if isinstance(app, QApplication):
        return app
    if app is not None:
        raise RuntimeError("an application without widgets is running")
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from plaidwork.gui.style import install_style
    from plaidwork.gui.theme import theme

    _quiet()
    _kept_app = QApplication(["plaidwork"])
    theme().install(_kept_app)
    install_style(_kept_app)
    return _kept_app


def _quiet() -> None:
    """Keep to itself what Qt says about windows that nobody sees; all else is said as before."""
    previous: Any = None

    def say(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
        if "propagateSizeHints" in text:
            return
        if previous is not None:
            previous(kind, context, text)
        else:
            sys.stderr.write(f"{lines(text)}\n")

    previous = qInstallMessageHandler(say)


@contextmanager
def _in_scheme(scheme: str) -> Any:
    from plaidwork.gui.theme import theme

    if scheme not in ("light", "dark", ""):
        raise ValueError(f"scheme must be light or dark, got {scheme!r}")
    before = theme().mode
    if scheme:
        theme().set_mode(scheme)
    try:
        yield
    finally:
        theme().set_mode(before)


def _page(session: Session, run: Run, view: View) -> ResultPage:
    from plaidwork.gui.results.registry import make_view
    from plaidwork.gui.workbench import Workbench

    workbench = Workbench()
    workbench.session = session
    page = make_view(workbench, run, view)
    workbench.setParent(page)  # the workbench goes with its page
    return page


def render_view(
    session: Session,
    run: Run,
    view: View,
    size: tuple[int, int] = (1280, 800),
    scheme: str = "light",
    scale: float = 2.0,
) -> QImage:
    """A view with its headline, ``size`` logical pixels at ``scale`` device pixels each: a picture as on paper, another
    page with its side panel."""
    ensure_application()
    with _in_scheme(scheme):
        page = _page(session, run, view)
        frame = QWidget()
        frame.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
        row = horizontal((page, 1), on=frame, spacing=0)
        panel = page.side_panel() if size[0] >= 900 else None
        if panel is not None:
            panel.setFixedWidth(_PANEL)
            row.addWidget(panel)
        _settle(frame, page, QSize(*size))
        image = page.on_paper(QSize(*size), scale) or _grab(frame, page, QSize(*size), scale)
        frame.close()
        frame.deleteLater()
    return image


def render_view_png(
    session: Session,
    run: Run,
    view: View,
    path: str | Path,
    size: tuple[int, int] = (1280, 800),
    scheme: str = "light",
    scale: float = 2.0,
) -> Path:
    """Write a view as PNG; works without a display. Raises ``OSError`` when the file cannot be written."""
    path = Path(path)
    image = render_view(session, run, view, size, scheme, scale)
    path.parent.mkdir(parents=True, exist_ok=True)
    if not image.save(str(path)):
        raise OSError(f"could not write {path}")
    return path


def write_view(
    session: Session, run: Run, view: View, path: Path, origin: bool = False, **paper: Any
) -> Path:
    """Write a view as PNG, SVG or PDF, by the ending; ``paper`` are fields of :class:`Paper`, and ``origin`` adds what it
    was made from. Works without a display. Raises ``OSError``, ``ValueError``.

    A view that is no picture yet is written as its page stands in the window, with the size and dots of the paper.
    """
    ensure_application()
    sheet = Paper(**paper)
    if is_picture(view.kind):
        return write_picture(sheet_of(session, run, view, origin), path, sheet)
    units = sheet.units.toSize() if {"width", "height"} & set(paper) else QSize(1280, 800)
    scale = min(sheet.dpi / 96, 4.0)
    if path.suffix.lower() == ".png":
        return render_view_png(session, run, view, path, units.toTuple(), sheet.scheme, scale)
    with _in_scheme(sheet.scheme):
        page = _page(session, run, view)
        _settle(page, page, units)
        written = page.export_picture(path)
        page.deleteLater()
    return written


def sheet_of(session: Session, run: Run, view: View, origin: bool) -> Picture:
    """The picture of a view as it leaves the program; no widget is made."""
    picture = printed_view(Sources(session, run, view))
    return replace(picture, origin=origin_of(session, run)) if origin else picture


def _settle(frame: QWidget, page: ResultPage, size: QSize) -> None:
    frame.resize(size)
    frame.show()
    page.wait(60_000)
    QApplication.sendPostedEvents()
    page.wait(60_000)
    page.put_on_paper()
    QApplication.sendPostedEvents()


def _grab(widget: QWidget, page: ResultPage, size: QSize, scale: float) -> QImage:
    widget.resize(size)
    image = QImage(size * scale, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(scale)
    from plaidwork.gui.theme import theme

    image.fill(theme().color("surface"))
    widget.render(image)
    return image
