"""The sheet of all views of the bundled examples: every view has its tile, light is not dark."""

import importlib.util
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QImage

from tests.gui.factor_runs import factor_run

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture
def module(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(DOCS), *sys.path])
    spec = importlib.util.spec_from_file_location("contact_sheet", DOCS / "contact_sheet.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def tile(module, color):
    image = QImage(*module.TILE, QImage.Format.Format_RGB32)
    image.fill(QColor(color))
    return image


def test_tiles_stand_in_rows_under_the_title_of_their_example(qapp, module):
    few = [("One", [("a", tile(module, "#ff0000"))]), ("Two", [("b", tile(module, "#00ff00"))] * 9)]
    light, dark = module.sheet(few, "light"), module.sheet(few, "dark")
    wide, high = module.TILE
    step = high + module.LINE + module.GAP
    assert light.width() == module.GAP + module.ACROSS * (wide + module.GAP)
    assert light.height() == module.GAP + 2 * module.HEAD + 3 * step
    first = module.GAP + module.HEAD + high // 2
    assert light.pixelColor(module.GAP + 20, first).name() == "#ff0000"
    assert light.pixelColor(module.GAP + 20, first + module.HEAD + 2 * step).name() == "#00ff00"
    assert light.pixelColor(1, 1).lightness() > 200 > 60 > dark.pixelColor(1, 1).lightness()


def test_every_view_has_a_tile(qapp, module):
    workbench, run = factor_run()
    titles = [title for title, _ in module.tiles(workbench.session, "light")]
    assert len(titles) == len([view for view in run.spec.views if view.kind not in ("text", "custom")])


@pytest.mark.long
def test_a_sheet_is_made_of_sessions_that_are_there(qapp, module, monkeypatch, tmp_path, capsys):
    workbench, _ = factor_run()
    workbench.session.save(tmp_path / "two-moons.plaidwork")
    small = [("a view", tile(module, "#ff0000"))]
    monkeypatch.setattr(module, "tiles", lambda session, scheme: iter(small))
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "config"))
    module.main(["two-moons", "--sessions", str(tmp_path), "--out", str(tmp_path)])
    assert (tmp_path / "sheet-light.png").stat().st_size > 500
    assert "sheet-dark.png" in capsys.readouterr().out
