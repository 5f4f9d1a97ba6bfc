"""Images of factors: tiles by clicks and keys, the chosen one, image shapes, files."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import View
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.pictures.densities import densities
from plaidwork.gui.results.images import separation, steps_of
from plaidwork.gui.results.tile_paint import GAP, LEAST, lay_out
from tests.gui.factor_runs import at, choose, click
from tests.gui.image_runs import IMAGES, PLAIN_IMAGES, bar_images, bar_run, image_run


def test_tiles_fill_the_field():
    for count, width, height in ((1, 900, 500), (7, 400, 300), (20, 826, 594), (100, 826, 594), (3, 60, 60)):
        for aspect in (0.5, 1.0, 2.0):
            layout = lay_out(count, aspect, width, height, 20)
            last = layout.rect(count - 1, 0, 0)
            assert layout.columns * layout.rows >= count
            assert layout.height == pytest.approx(layout.width * aspect)
            if layout.columns > 1:
                assert layout.gap >= GAP - 1e-9
                assert layout.width >= LEAST - 1e-9
                assert layout.rect(layout.columns - 1, 0, 0).right() <= width + 1
            assert last.bottom() <= layout.whole + 1
    assert lay_out(20, 1.0, 826, 594, 20).whole <= 594


def test_steps_of_a_map():
    steps = steps_of(np.array([[-2.0, -1.0, 0.0, 1.0, 9.0, np.nan]]), -1.0, 1.0)
    assert steps.tolist() == [[0, 0, 127, 254, 254, 255]]


def test_separation_and_densities():
    rng = np.random.default_rng(0)
    scores, positive = np.round(rng.normal(size=40), 1), rng.random(40) < 0.4
    pairs = [(a > b) + 0.5 * (a == b) for a in scores[positive] for b in scores[~positive]]
    assert separation(scores, positive) == pytest.approx(max(np.mean(pairs), 1 - np.mean(pairs)))
    assert np.isnan(separation(scores, np.ones(40, bool)))
    values = rng.normal(2, 1, 4000)
    curve = densities(values, np.zeros(4000, int), ("all",), ["teal"])[0]
    assert curve.y.sum() * (curve.x[1] - curve.x[0]) == pytest.approx(1, abs=0.01)
    exact = np.exp(-0.5 * (curve.x - 2) ** 2) / np.sqrt(2 * np.pi)
    assert np.abs(curve.y - exact).max() < 0.04


def test_choose_enlarge_compare(opened, qtbot):
    workbench, run = bench = bar_run()
    page = opened(bench, IMAGES)
    panel = page.side_panel()
    qtbot.addWidget(panel)
    tiles, weights = page.tiles, run.results["coefficients"].values[0]
    order = np.argsort(-np.abs(weights), kind="stable")
    assert tiles.order.tolist() == order.tolist()
    assert tiles.current == order[0]
    low, high = run.results["coefficient_interval"].values[0].T
    sure = int(((low > 0) | (high < 0)).sum())
    assert page._headline.text().startswith(f"{sure} of 6 factors help")
    assert panel.title.text() == f"Factor {order[0] + 1}"
    assert panel.weight.value.startswith(("+", "−"))
    assert [curve.name for curve in panel.density.curves] == ["row 2", "row 4"]
    place = tiles.tile_rect(int(order[2])).center()
    click(qtbot, tiles, place.x(), place.y())
    assert workbench.selection(run).get("layer") == (order[2],)
    assert panel.title.text() == f"Factor {order[2] + 1}"
    qtbot.keyClick(tiles, Qt.Key.Key_Left)
    assert tiles.current == order[1]
    qtbot.keyClick(tiles, Qt.Key.Key_End)
    assert tiles.current == order[-1]
    workbench.selection(run).set("layer", (int(order[0]),))
    assert tiles.current == order[0]
    qtbot.keyClick(tiles, Qt.Key.Key_Return)
    assert tiles.enlarged
    assert len(tiles.panels()) == 1
    page.grab()
    qtbot.keyClick(tiles, Qt.Key.Key_Space)
    titles = [panel[0] for panel in tiles.panels()]
    assert titles == [f"Factor {order[0] + 1}", "Mean of row 2", "Mean of row 4"]
    _, rect, _, _, mean = tiles.panels()[1]
    assert mean.shape == (8, 8)
    assert int(mean.mean(axis=1).argmax()) == 1  # the bar of the first class is in its second row
    qtbot.mouseMove(tiles, at(rect.center().x(), rect.top() + rect.height() * 1.5 / 8))
    assert page.told[-1].startswith("Mean of row 2, row 2, column ")
    page.grab()
    qtbot.keyClick(tiles, Qt.Key.Key_Right)
    assert tiles.current == order[1]
    for enlarged in (True, False):
        qtbot.keyClick(tiles, Qt.Key.Key_Escape)
        assert tiles.enlarged == enlarged
    area, _, pitch = panel.weights._places()
    panel.resize(320, 800)
    area, _, pitch = panel.weights._places()
    click(qtbot, panel.weights, area.left() + 3.5 * pitch, area.center().y())
    assert tiles.current == order[3]
    assert page.search("factor 5") == ["Factor 5"]
    assert tiles.current == 4


def test_orders_scales_and_one_of_many_classes(opened, qtbot):
    bench = bar_run(classes=3)
    page = opened(bench, IMAGES)
    panel = page.side_panel()
    qtbot.addWidget(panel)
    assert [entry[1] for entry in page.legend._entries][:2] == ["towards row 2", "away from row 2"]
    choose(qtbot, page.group_picker, "row 6")
    assert page.legend._entries[0] == ("teal", "towards row 6")
    assert [curve.name for curve in panel.density.curves] == ["row 6", "others"]
    assert page._headline.text().endswith("to tell row 6 from the others")
    choose(qtbot, page.order_picker, "Size")
    assert page.tiles.order.tolist() == np.argsort(-page.loaded.size, kind="stable").tolist()
    choose(qtbot, page.order_picker, "Number")
    assert page.tiles.order.tolist() == list(range(6))
    before = page.grab().toImage()
    click(qtbot, page.scale._group.button(1), 5, 5)
    assert page.grab().toImage() != before
    strongest = np.abs(page.loaded.values).reshape(6, -1).argmax(axis=1)
    assert set(page.loaded.own.reshape(6, -1)[np.arange(6), strongest].tolist()) <= {0, 254}
    again = opened(bench, IMAGES)
    assert (again._order_by, again._scale, again._group) == ("number", "own", 2)


def test_images_without_a_shape_get_one(opened, qtbot, monkeypatch):
    dataset, kind = bar_images()
    bench = image_run(dataset.with_(image_shape=()), kind, ["a", "b"])
    page = opened(bench, PLAIN_IMAGES)
    assert page.state == "These data are not known to be images"
    told = []
    page.workbench.notified.connect(lambda *parts: told.append(parts))
    page.set_shape("5 × 5")
    assert "64 columns" in told[-1][2]
    monkeypatch.setattr(
        "plaidwork.gui.results.image_grid_page.QInputDialog.getText", lambda *a, **k: (k["text"], True)
    )
    page.ask_shape()
    assert page.wait(20_000)
    assert page.state == ""
    assert page.loaded.shape == (8, 8)
    assert bench[0].session.datasets["bars"].image_shape == (8, 8)
    assert page._headline.text() == "6 factors as images of 8 × 8"
    assert page.order_picker.currentText() == "Size"


def test_pixels_that_were_left_out_are_seen(opened):
    dataset, kind = bar_images()
    from plaidwork.core.data.dataset import Step

    kept = np.delete(np.arange(64), [3, 40])
    page = opened(image_run(dataset.take(1, kept, Step("subset")), kind, ["a", "b"]), PLAIN_IMAGES)
    assert np.flatnonzero(np.isnan(page.loaded.values[0]).ravel()).tolist() == [3, 40]
    assert page.legend._entries[-1] == ("border", "left out")
    rect = page.tiles.tile_rect(0)
    place = at(rect.left() + 3.5 * rect.width() / 8, rect.top() + rect.height() / 16)
    assert page.tiles.read_out(place.toPointF()).endswith("row 1, column 4: left out")


def test_many_tiles_scroll_and_are_exported_whole(opened, qtbot, tmp_path):
    rng = np.random.default_rng(2)
    values = rng.normal(size=(120, 784))
    names = tuple(f"i{i}" for i in range(120)), tuple(f"p{j}" for j in range(784))
    dataset = Dataset("noise", values, *names, image_shape=(28, 28))
    workbench, run = image_run(dataset, np.arange(120) % 2, ["a", "b"], 100)
    page = opened((workbench, run), IMAGES, (700, 420))
    tiles = page.tiles
    assert tiles.bar.isVisible()
    qtbot.keyClick(tiles, Qt.Key.Key_End)
    assert tiles.bar.value() > 0
    assert tiles.rect().toRectF().contains(tiles.tile_rect(tiles.current))
    page.grab()
    for name in ("t.png", "t.svg", "t.pdf"):
        assert page.export_picture(tmp_path / name).stat().st_size > 5000
    assert QImage(str(tmp_path / "t.png")).height() > 2 * 1200  # all rows, not those in view
    dialog = page.show_data()
    dialog.to_csv(tmp_path / "t.csv")
    dialog.close()
    lines = list(csv.reader((tmp_path / "t.csv").open()))
    assert len(lines) == 101
    assert lines[0][:5] == ["Factor", "Coefficient", "Coefficient, low", "Coefficient, high", "Size"]
    first = int(lines[1][0].split()[1]) - 1
    assert float(lines[1][5]) == run.results["loadings"].values[first, 0]


def test_odd_images(opened):
    workbench, run = bar_run()
    rng = np.random.default_rng(1)
    run.results |= {
        "one": Result(rng.random((1, 5, 40)), ("factor", "y", "x")),
        "empty": Result(np.full((2, 3, 3), np.nan), ("factor", "y", "x")),
        "none": Result(np.zeros((0, 3, 3)), ("factor", "y", "x")),
    }
    page = opened((workbench, run), View("image_grid", "I", "one"), (300, 200))
    assert page.loaded.map_name == "tide"
    page.grab()
    opened((workbench, run), View("image_grid", "I", "empty")).grab()
    assert opened((workbench, run), View("image_grid", "I", "none")).state == "Nothing to show"
    wrong = View("image_grid", "I", {"values": "loadings", "weight": "one"})
    assert "could not be drawn" in opened((workbench, run), wrong).state
    shaped = opened((workbench, run), View("image_grid", "I", "loadings", options={"shape": [4, 16]}))
    assert shaped.loaded.shape == (4, 16)
    wide = View("image_grid", "I", "loadings", options={"shape": [4, 4]})
    assert "could not be drawn" in opened((workbench, run), wide).state
