"""Offscreen Qt with the look installed; a test that leaves a window open fails."""

from __future__ import annotations

import gc
import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget


@pytest.fixture(scope="session")
def qapp(qapp):
    """The application with theme and style, light unless a test switches."""
    from plaidwork.gui.garbage import collect_here
    from plaidwork.gui.style import install_style
    from plaidwork.gui.theme import theme

    theme().set_mode("light")
    theme().install(qapp)
    install_style(qapp)
    collect_here(qapp)
    return qapp


def _release_buttons() -> None:
    """A double click by QTest leaves its button pressed, and sliders take no click while another is held."""
    held = QApplication.mouseButtons()
    if held == Qt.MouseButton.NoButton:
        return
    pad = QWidget()
    for one in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton, Qt.MouseButton.RightButton):
        if held & one:
            QTest.mouseRelease(pad, one)


def _windows() -> set[QWidget]:
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    return {w for w in QApplication.topLevelWidgets() if w.parent() is None}


@pytest.fixture(autouse=True)
def tidy(qapp):
    """Back to the light scheme, and no window left over."""
    from plaidwork.gui.theme import theme

    before = _windows()
    yield
    _release_buttons()
    theme().set_mode("light")
    left = _windows() - before
    if left:
        left = set()
        gc.collect()
        left = _windows() - before
    names = ", ".join(sorted(f"{type(w).__name__} {w.objectName()!r}" for w in left))
    assert not left, f"windows left over: {names}"
    # A menu or dialog that stays open takes the clicks of every later test of this process.
    catching = [QApplication.activePopupWidget(), QApplication.activeModalWidget(), QWidget.mouseGrabber()]
    held = [f"{type(w).__name__} {w.objectName()!r}" for w in catching if w is not None]
    assert not held, f"still takes clicks: {held}"


@pytest.fixture
def opened(qtbot):
    """Opens a view of a run, given as (workbench, run), and waits until it is drawn; ``told`` holds the read-outs."""
    from plaidwork.gui.results import make_view

    kept = []

    def open_view(bench, view, size=(900, 620)):
        workbench, run = bench
        page = make_view(workbench, run, view)
        qtbot.addWidget(page)
        page.resize(*size)
        page.show()
        assert page.wait(20_000)
        QApplication.processEvents()
        page.told = []
        page.hovered.connect(page.told.append)
        kept.append(workbench)
        return page

    return open_view
