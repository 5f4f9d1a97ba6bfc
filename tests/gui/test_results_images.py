"""Images of factors: tiles by clicks and keys, the chosen one beside them, image shapes, files."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import View
from plaidwork.core.data.dataset import Dataset, Step
from plaidwork.core.pictures import Image, Key
from plaidwork.core.pictures.densities import densities
from plaidwork.core.views.images import separation
from plaidwork.gui.pictures.cells import image_box
from tests.gui.factor_runs import at, click
from tests.gui.image_runs import IMAGES, PLAIN_IMAGES, bar_images, bar_run, image_run


def images_on(page) -> list[Image]:
    """The images in the order shown."""
    return [mark for panel in page.loaded.panels for mark in panel.marks if isinstance(mark, Image)]


def titles_on(page) -> list[str]:
    """Their titles."""
    return [mark.name for mark in images_on(page)]


def box_on(page, position: int):
    """Where the image at a place of the order is."""
    frames = [frame for frame in page.chart.frames.frames if isinstance(frame.panel.marks[0], Image)]
    return image_box(frames[position].panel.marks[0], frames[position])


def chosen_on(page, name: str, value: str) -> None:
    """Choose and wait."""
    page.choose(name, value)
    assert page.wait(20_000)


def test_separation_and_densities():
    rng = np.random.default_rng(0)
    scores, positive = np.round(rng.normal(size=40), 1), rng.random(40) < 0.4
    pairs = [(a > b) + 0.5 * (a == b) for a in scores[positive] for b in scores[~positive]]
    assert separation(scores, positive) == pytest.approx(max(np.mean(pairs), 1 - np.mean(pairs)))
    assert np.isnan(separation(scores, np.ones(40, bool)))
    values = rng.normal(2, 1, 4000)
    curve = densities(values, np.zeros(4000, int), ("all",))[0]
    assert curve.y.sum() * (curve.x[1] - curve.x[0]) == pytest.approx(1, abs=0.01)
    exact = np.exp(-0.5 * (curve.x - 2) ** 2) / np.sqrt(2 * np.pi)
    assert np.abs(curve.y - exact).max() < 0.04


def test_where_no_factor_alone_is_sure_none_is_said_to_be_without_use(opened):
    """Together they may tell the classes apart, however wide the interval of each."""
    bench = bar_run()
    run = bench[1]
    found = run.results["coefficient_interval"]
    run.results["coefficient_interval"] = replace(
        found, values=np.stack([0 * found.values[..., 0] - 9, 0 * found.values[..., 1] + 9], axis=-1)
    )
    assert opened(bench, IMAGES)._headline.text().startswith("No factor alone is sure to help to tell ")


def test_choose_walk_and_compare(opened, qtbot):
    workbench, run = bench = bar_run()
    page = opened(bench, IMAGES)
    panel = page.side_panel()
    qtbot.addWidget(panel)
    weights = run.results["coefficients"].values[0]
    order = np.argsort(-np.abs(weights), kind="stable")
    assert titles_on(page) == [f"Factor {k + 1}" for k in order]
    low, high = run.results["coefficient_interval"].values[0].T
    sure = int(((low > 0) | (high < 0)).sum())
    assert page._headline.text().startswith(f"{sure} of 6 factors help")
    assert panel.charts[0].picture.headline == f"Factor {order[0] + 1}"
    assert panel.figures[0].value.startswith(("+", "−"))
    assert [key.text for key in panel.charts[1].picture.legend] == ["row 2", "row 4"]
    place = box_on(page, 2).center()
    click(qtbot, page.chart, place.x(), place.y())
    assert workbench.selection(run).get("layer") == (order[2],)
    assert page.wait(20_000)
    assert panel.charts[0].picture.headline == f"Factor {order[2] + 1}"
    page.chart.setFocus()
    qtbot.mouseMove(page.chart, at(place.x(), place.y()))
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Return):
        qtbot.keyClick(page.chart, key)
    assert workbench.selection(run).get("layer") == (order[1],)
    workbench.selection(run).set("layer", (int(order[0]),))
    assert page.wait(20_000)
    assert panel.charts[0].picture.headline == f"Factor {order[0] + 1}"
    chosen_on(page, "show", "one")
    assert titles_on(page) == [f"Factor {order[0] + 1}", "Mean of row 2", "Mean of row 4"]
    mean = images_on(page)[1].values
    assert int(mean.mean(axis=1).argmax()) == 1  # the bar of the first class is in its second row
    box = box_on(page, 1)
    qtbot.mouseMove(page.chart, at(box.center().x(), box.top() + box.height() * 1.5 / 8))
    assert page.told[-1].startswith("Mean of row 2, row 2, column ")
    chosen_on(page, "show", "all")
    assert page.search("factor 5") == ["Factor 5"]
    assert workbench.selection(run).get("layer") == (4,)
    assert page.wait(20_000)
    assert panel.charts[0].picture.headline == "Factor 5"
    chart = panel.charts[2]
    panel.resize(320, 800)
    panel.grab()
    frame, mark = chart.frames.frames[0], chart.frames.frames[0].panel.marks[-1]
    click(qtbot, chart, frame.x.at(3), frame.y.at(float(mark.y[3])))
    qtbot.waitUntil(lambda: workbench.selection(run).get("layer") == (int(order[3]),))
    assert page.wait(20_000)


def test_orders_scales_and_one_of_many_classes(opened, qtbot):
    bench = bar_run(classes=3)
    page = opened(bench, IMAGES)
    keys = [key.text for key in page.loaded.legend if isinstance(key, Key)]
    assert keys[:2] == ["towards row 2", "away from row 2"]
    chosen_on(page, "group", "2")
    assert page.loaded.legend[0] == Key("towards row 6", 2)
    assert [key.text for key in page.loaded.beside[2].picture.legend] == ["row 6", "others"]
    assert page._headline.text().endswith("to tell row 6 from the others")
    size = np.sqrt((bench[1].results["loadings"].values ** 2).mean(axis=1))
    chosen_on(page, "order", "size")
    assert titles_on(page) == [f"Factor {k + 1}" for k in np.argsort(-size, kind="stable")]
    chosen_on(page, "order", "number")
    assert titles_on(page) == [f"Factor {k + 1}" for k in range(6)]
    assert len({mark.limits for mark in images_on(page)}) == 1
    click(qtbot, page.control("scale")._group.button(1), 5, 5)
    assert page.wait(20_000)
    for mark in images_on(page):
        assert mark.limits[1] == pytest.approx(np.abs(mark.values).max())
    again = opened(bench, IMAGES)
    assert {choice.id: choice.value for choice in again.loaded.choices}["scale"] == "own"


def test_tiles_are_as_large_as_there_is_room_for(opened):
    page = opened(bar_run(), IMAGES, (900, 640))
    boxes = [box_on(page, k) for k in range(6)]
    assert all(box.width() == pytest.approx(box.height(), abs=1) for box in boxes)
    assert all(page.chart.rect().toRectF().contains(box) for box in boxes)
    assert boxes[0].width() > 150


def test_a_double_click_enlarges_a_tile_and_another_shows_all(opened, qtbot):
    page = opened(bar_run(), IMAGES, (900, 640))
    k = int(page.loaded.choices[0].value == "all") + 1
    for _ in range(2):  # the second time the factor is selected already, which the first click would let go
        there = at(box_on(page, k).center().x(), box_on(page, k).center().y())
        qtbot.mouseClick(page.chart, Qt.MouseButton.LeftButton, pos=there)
        qtbot.mouseDClick(page.chart, Qt.MouseButton.LeftButton, pos=there)
        assert page.wait(20_000)
        assert titles_on(page)[0] == f"Factor {page.chosen_layer() + 1}"
        assert page.workbench.selection(page.run).get("layer") == (page.chosen_layer(),)
        assert images_on(page)[0].values.shape == (8, 8)
        assert page.control("show").current == "one"
        middle = box_on(page, 0).center()
        qtbot.mouseDClick(page.chart, Qt.MouseButton.LeftButton, pos=at(middle.x(), middle.y()))
        assert page.wait(20_000)
        assert page.control("show").current == "all"


def test_images_of_unknown_shape_are_asked_for(opened):
    dataset, kind = bar_images()
    page = opened(image_run(dataset.with_(image_shape=()), kind, ["a", "b"]), PLAIN_IMAGES)
    choices = {choice.id: choice for choice in page.loaded.choices}
    assert choices["shape"].text == "8 × 8"
    assert "4 × 16" in dict(choices["shape"].options).values()
    chosen_on(page, "shape", "4x16")
    assert images_on(page)[0].values.shape == (4, 16)
    assert page._headline.text() == "6 factors as images of 4 × 16"
    assert (
        "Weight" not in dict({choice.id: choice for choice in page.loaded.choices}["order"].options).values()
    )
    chosen_on(page, "shape", "")
    assert page._caption.text().startswith("These data are not known to be images")
    assert not images_on(page)


def test_pixels_that_were_left_out_are_seen(opened, qtbot):
    dataset, kind = bar_images()
    kept = np.delete(np.arange(64), [3, 40])
    page = opened(image_run(dataset.take(1, kept, Step("subset")), kind, ["a", "b"]), PLAIN_IMAGES)
    first = images_on(page)[0].values
    assert np.flatnonzero(np.isnan(first).ravel()).tolist() == [3, 40]
    assert Key("missing", "border", "missing") in page.loaded.legend
    box = box_on(page, 0)
    qtbot.mouseMove(page.chart, at(box.left() + 3.5 * box.width() / 8, box.top() + box.height() / 16))
    assert page.told[-1].endswith("row 1, column 4: left out")


@pytest.mark.slow
def test_many_tiles_scroll_and_are_exported_whole(opened, tmp_path):
    rng = np.random.default_rng(2)
    values = rng.normal(size=(120, 784))
    names = tuple(f"i{i}" for i in range(120)), tuple(f"p{j}" for j in range(784))
    dataset = Dataset("noise", values, *names, image_shape=(28, 28))
    workbench, run = image_run(dataset, np.arange(120) % 2, ["a", "b"], 100)
    page = opened((workbench, run), IMAGES, (700, 420))
    assert page.chart.height() > 1200
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


def test_side_by_side_keeps_images_and_bars_together(opened):
    page = opened(bar_run(classes=3), IMAGES)
    chosen_on(page, "beside", "group")
    assert page.loaded.stack == 2
    assert len(page.loaded.panels) == 2 * 6 * 3
    titles = [panel.title for panel in page.loaded.panels]
    assert titles[0].startswith("row 2, Factor ")
    assert set(titles[1::2]) == {""}


def test_odd_images(opened):
    workbench, run = bar_run()
    rng = np.random.default_rng(1)
    run.results |= {
        "one": Result(rng.random((1, 5, 40)), ("factor", "y", "x")),
        "flat": Result(np.ones((2, 3, 3)), ("factor", "y", "x")),
        "empty": Result(np.full((2, 3, 3), np.nan), ("factor", "y", "x")),
        "none": Result(np.zeros((0, 3, 3)), ("factor", "y", "x")),
    }
    page = opened((workbench, run), View("image_grid", "I", "one"), (300, 200))
    assert images_on(page)[0].map == "tide"
    page.grab()
    for name in ("flat", "empty"):
        page = opened((workbench, run), View("image_grid", "I", name))
        assert page.state == ""
        page.grab()
    assert opened((workbench, run), View("image_grid", "I", "none")).state == "Nothing to show"
    wrong = View("image_grid", "I", {"values": "loadings", "weight": "one"})
    assert "could not be drawn" in opened((workbench, run), wrong).state
    shaped = opened((workbench, run), View("image_grid", "I", "loadings", options={"shape": [4, 16]}))
    assert images_on(shaped)[0].values.shape == (4, 16)
    wide = View("image_grid", "I", "loadings", options={"shape": [4, 4]})
    assert "could not be drawn" in opened((workbench, run), wide).state
