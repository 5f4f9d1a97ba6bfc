"""Altered sessions in a window: every tab is opened, nothing crashes, hangs, is drawn as markup, or is written."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from altered_results import MARKUP
from altered_window import Opened
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget
from told_session import fixture, told_session

from plaidwork.gui.plots.image import to_rgba
from plaidwork.gui.widgets import Label
from plaidwork.gui.widgets.table_model import ColumnModel

TESTS = Path(__file__).parents[1]


def _tried(path, folder, *select):
    found = subprocess.run(
        [sys.executable, str(TESTS / "altered_window.py"), str(path), str(folder), *map(str, select)],
        capture_output=True, text=True, timeout=7200, check=False, env=_environment(folder),
    )  # fmt: skip
    lines = [line.split("\t") for line in found.stdout.splitlines()]
    assert found.returncode == 0, f"{lines[-1:]} {found.stderr[-2000:]}"
    assert not [line for line in lines if line[0] == "bad"]
    return [line for line in lines if line[0] in ("refused", "shown")]


def _environment(folder):
    return {
        **os.environ,
        "PLAIDWORK_CONFIG": str(folder / "config"),
        "PLAIDWORK_STATE": str(folder / "state"),
    }


@pytest.mark.long
@pytest.mark.parametrize(
    ("only", "first", "step"), [("/log/time", 0, 2), ("/results/", 5, 397), ("view_settings", 0, 29)]
)
def test_a_few(only, first, step, tmp_path):
    assert _tried(told_session(tmp_path), tmp_path / "out", first, step, only)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["told", "dp_mixture", "group_factor", "supervised_ibp", "gp_raters", "rank_factor", "binary_pca"]
)
def test_many(name, tmp_path):
    path = told_session(tmp_path) if name == "told" else fixture(name, tmp_path)
    only = (1, 23) if name == "told" else (2, 41, "/results/")
    assert len(_tried(path, tmp_path / "out", *only)) > 5


def test_markup_in_a_window_is_seen(qtbot):
    """The planted fault: a label that takes a name for markup, beside one that does not."""
    window = QWidget()
    qtbot.addWidget(window)
    labels = [QLabel(MARKUP, window) for _ in range(2)]
    window.show()
    seen = SimpleNamespace(window=window, faults=[])
    assert not Opened._seen(seen)
    assert not seen.faults
    labels[1].setTextFormat(Qt.TextFormat.RichText)
    Opened._seen(seen)
    assert seen.faults == ["markup in a QLabel"]


def test_a_very_long_text_is_cut_before_it_is_laid_out(qtbot):
    """As long as a label showed all, a headline of 200,000 letters took seconds."""
    label = Label("", elide=True, lines=2)
    qtbot.addWidget(label)
    label.setText("long " * 40_000)
    assert len(label.text()) < 5000
    assert label.text().endswith("…")


def test_values_that_are_all_alike_have_a_colour():
    """Images of one value took the page of their data down."""
    table = np.arange(1024, dtype=np.uint8).reshape(256, 4)
    assert to_rgba(np.ones((2, 3)), table, 1.0, 1.0).shape == (2, 3, 4)
    assert to_rgba(np.full((1, 1), 1e308), table, 1e308, 1e308)[0, 0].tolist() == table[0].tolist()


def test_a_cell_shows_the_beginning_of_a_very_long_text(qtbot):
    model = ColumnModel()
    model.set_columns({"Text": np.array(["long " * 40_000, "short"], object)})
    shown = [model.data(model.index(row, 0)) for row in range(2)]
    assert len(shown[0]) < 3000
    assert shown[1] == "short"
    assert len(model.text(0, 0)) == 200_000
