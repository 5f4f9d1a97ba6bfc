"""``--smoke``: the whole program once, as installers try it."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QObject
from PySide6.QtGui import QImage

from plaidwork.gui import smoke as smoke_module
from plaidwork.gui.smoke import Smoke

ROOT = Path(__file__).resolve().parents[2]


class Held(QObject):
    """As much of a window as the last step asks for."""

    def __init__(self):
        super().__init__()
        session = SimpleNamespace(runs={"1": object()})
        self.closed = False
        self.workbench = SimpleNamespace(session=session, set_session=lambda _: None)

    def close(self):
        self.closed = True


@pytest.mark.parametrize(("dot", "code"), [(0, 0), (1, 1)])
def test_a_picture_that_differs_by_a_dot_fails(qapp, tmp_path, monkeypatch, capsys, dot, code):
    window = Held()
    smoke = Smoke(window, tmp_path / "smoke")
    smoke._timer.stop()
    (tmp_path / "smoke.png").touch()
    before, after = (QImage(4, 4, QImage.Format.Format_RGB32) for _ in range(2))
    before.fill(0)
    after.fill(0)
    after.setPixel(2, 2, dot)
    smoke._drawn = before
    monkeypatch.setattr(smoke, "_draw", lambda: after)
    smoke._opened()
    assert (smoke.exit_code, window.closed) == (code, True)
    assert ("another picture" in capsys.readouterr().err) == bool(code)


def test_one_that_takes_too_long_ends_without_a_question(qapp, tmp_path, monkeypatch, capsys):
    """The window would ask whether to wait for chains that are at work, and the test never ended."""
    window = Held()
    smoke = Smoke(window, tmp_path / "smoke")
    smoke._timer.stop()
    smoke._waited = 600_000
    ended = []
    monkeypatch.setattr(smoke_module, "end_at_once", ended.append)
    smoke._step()
    assert ended == [1]
    assert not window.closed
    assert "longer than ten minutes" in capsys.readouterr().err


@pytest.mark.slow
def test_it_starts_fits_saves_and_reads_again(tmp_path):
    done = subprocess.run(
        [sys.executable, ROOT / "main.py", "--smoke", tmp_path / "smoke"],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "PLAIDWORK_CONFIG": str(tmp_path / "config")},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "smoke.plaidwork").exists()
    assert not QImage(str(tmp_path / "smoke.png")).isNull()
