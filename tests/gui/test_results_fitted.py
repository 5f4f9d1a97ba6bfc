"""Heat map of the strongest columns, imputed cells, beeswarm and restarts: pictures, choices by keys and clicks, files."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from plaidwork.core.model import Result, Table
from plaidwork.core.spec import View
from plaidwork.gui.results import make_view
from plaidwork.gui.results.beeswarm_chart import spread
from plaidwork.gui.results.factor_heat import places_of
from plaidwork.gui.results.strips import NumberStrip, Profile, Strip
from tests.gui.factor_runs import FittedModel, choose, click, factor_run, find, fitted_run, wheel

HEAT, IMPUTED, SWARM = FittedModel.spec.views


@pytest.fixture
def opened(qtbot):
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


def columns_of(run, workbench):
    """Values of all 52 columns in the order of the weights."""
    drugs, mutations = (workbench.session.datasets[name].values for name in run.inputs["views"])
    return np.hstack([np.roll(drugs, -1, axis=1), mutations])


# -- heat map of a factor -----------------------------------------------------------------------
def test_strongest_columns_in_the_order_of_the_scores(opened, qtbot):
    bench = workbench, run = fitted_run()
    page = opened(bench, HEAT)
    values = columns_of(run, workbench)
    weights, scores = run.results["weights"].values[0], run.results["scores"].values[:, 0]
    made = page.made
    largest = np.argsort(-np.abs(weights[:40]))[: len(made.items)]
    assert set(made.items) == set(largest)
    assert (np.diff(weights[made.items]) <= 0).all()
    assert np.array_equal(made.raw, values[:, made.items].T, equal_nan=True)
    assert (np.diff(scores[made.order]) >= 0).all()
    assert np.array_equal(made.pyramid.values, made.raw[:, made.order].astype(np.float32), equal_nan=True)
    assert page.canvas.picture.pyramid.has_missing
    assert page._missing.isVisible()
    assert isinstance(page.canvas.picture.strips[0], Profile)
    assert page._headline.text().startswith("Factor 1: the ")
    choose(qtbot, page.group_picker, "mutations")
    assert page.wait(20_000)
    assert set(page.made.items) <= set(range(40, 52))
    row = int(np.argwhere(np.isnan(page.made.raw).any(axis=1))[0, 0])
    gap = int(np.argwhere(np.isnan(page.made.raw[row]))[0, 0])
    qtbot.mouseMove(page.canvas, page.canvas.point_of(row, gap).toPoint())
    assert ": missing; factor 1 " in page.told[-1]


def test_denoised_and_imputed_values(opened, qtbot):
    page = opened(fitted_run(), HEAT)
    raw = page.made.raw
    click(qtbot, page.mode._group.button(1), 5, 5)
    assert page.wait(20_000)
    made = page.made
    expected = np.array([(i + 1) % 40 for i in made.items])[:, None] + 0.001 * np.arange(180)
    assert np.allclose(made.shown, expected)
    assert not made.pyramid.has_missing
    click(qtbot, page.mode._group.button(2), 5, 5)
    assert page.wait(20_000)
    assert np.allclose(page.made.shown, np.where(np.isnan(raw), expected, raw))
    gap = np.argwhere(np.isnan(raw))[0]
    qtbot.mouseMove(page.canvas, page.canvas.point_of(*map(int, gap)).toPoint())
    assert ": missing, expected " in page.told[-1]
    assert " ± 0.5" in page.told[-1]
    click(qtbot, page.scale._group.button(1), 5, 5)
    assert page.wait(20_000)
    known = np.where(np.isnan(raw), np.nan, page.made.shown)
    assert np.allclose(np.nanmean(known, axis=1), 0)
    assert np.allclose(np.nanstd(known, axis=1), 1)
    assert page.canvas.picture.lut == "loom"


def test_heat_map_follows_and_sets_the_factor(opened, qtbot):
    workbench, run = bench = fitted_run()
    page, other = opened(bench, HEAT), opened(bench, SWARM)
    selection = workbench.selection(run)
    qtbot.keyClick(page, Qt.Key.Key_BracketRight)
    assert page.wait(20_000)
    assert selection.get("layer") == (1,)
    assert other.picker.currentText() == "factor 2"
    assert other.chart.points.y_name == "factor 2"
    choose(qtbot, other.picker, "factor 3")
    assert page.wait(20_000)
    assert page.made.wanted.factor == 2
    assert page._headline.text().startswith("Factor 3: ")
    item = int(page.made.order[4])
    place = page.canvas.point_of(1, item)
    click(qtbot, page.canvas, place.x(), place.y())
    assert selection.get("row") == (item,)
    assert other.chart.marked == (item,)
    assert page.canvas.marked_columns == (item,)
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert selection.get("row") == ()


def test_strips_of_classes_and_numbers(opened, qtbot, tmp_path):
    page = opened(fitted_run(), HEAT)
    assert isinstance(page.canvas.picture.strips[1], Strip)
    find(qtbot, page.strip_picker, "age")
    strip = page.canvas.picture.strips[1]
    assert isinstance(strip, NumberStrip)
    assert len(page.legend._entries) == 2
    page.grab()
    find(qtbot, page.strip_picker, "gene 3")
    assert page.canvas.picture.strips[1].title == "gene 3"
    find(qtbot, page.strip_picker, "nothing")
    assert len(page.canvas.picture.strips) == 1
    page.export_picture(tmp_path / "h.svg")
    dialog = page.show_data()
    dialog.to_csv(tmp_path / "h.csv")
    lines = list(csv.reader((tmp_path / "h.csv").open()))
    assert len(lines) == 1 + len(page.made.items)
    assert lines[0][1] == page.loaded.items[page.made.order[0]]
    dialog.close()


def test_data_that_changed_or_have_other_items_say_so(opened):
    workbench, run = bench = fitted_run()
    drugs = workbench.session.datasets["drugs"]
    workbench.session.datasets["drugs"] = drugs.with_(values=drugs.values * 2)
    for view in (HEAT, IMPUTED):
        page = opened(bench, view)
        assert page.state == "This picture could not be drawn"
        assert "have changed since it was fitted" in page._pane._text.text()
    workbench.session.datasets["drugs"] = drugs
    run.results["scores"] = Result(np.zeros((3, 3)), ("patient", "factor"))
    page = opened(bench, HEAT)
    assert "other items than the 3" in page._pane._text.text()


def test_without_the_model_only_values_as_measured(opened):
    _, run = bench = fitted_run()
    run.spec = replace(run.spec, id="toy.gone")
    page = opened(bench, HEAT)
    assert page.state == ""
    assert not page._mode_field.isVisible()
    page = opened(bench, IMPUTED)
    assert "has to be installed" in page._pane._text.text()


def test_columns_are_found_by_group_and_name():
    blocks = [type("Block", (), {"name": n, "names": ((), c), "shape": (1, len(c))}) for n, c in [("a", ("x", "y")), ("b", ("y",))]]  # fmt: skip
    assert places_of(blocks, ["y (b)", "x", "z"], ["b", "a", "a"]) == [(1, 0), (0, 0), (-1, -1)]
    assert places_of(blocks[:1], ["one", "two"], None) == [(0, 0), (0, 1)]


# -- imputation ---------------------------------------------------------------------------------
def test_imputed_cells_and_their_export(opened, qtbot, tmp_path):
    workbench, run = bench = fitted_run()
    page = opened(bench, IMPUTED)
    drugs, mutations = (workbench.session.datasets[name].values for name in run.inputs["views"])
    gaps = np.isnan(drugs)
    columns = page.table.model.columns()
    assert len(columns["Patient"]) == gaps.sum()
    first = np.argwhere(gaps.T)[0]
    assert columns["Feature"][0] == f"drug {first[0] + 1}"
    assert columns["Patient"][0] == f"patient {first[1] + 1}"
    assert columns["Expected"][0] == pytest.approx(first[0] + 0.001 * first[1])
    assert set(columns["SD"]) == {0.5}
    choose(qtbot, page.picker, "mutations")
    assert page.wait(20_000)
    assert len(page.table.model.columns()["Patient"]) == np.isnan(mutations).sum()
    page.export_cells(tmp_path / "all.csv")
    assert page.wait(20_000)
    lines = list(csv.reader((tmp_path / "all.csv").open()))
    assert lines[0] == ["data", "patient", "feature", "expected", "sd"]
    assert len(lines) == 1 + gaps.sum() + np.isnan(mutations).sum()
    assert list(tmp_path.iterdir()) == [tmp_path / "all.csv"]
    told = []
    workbench.told.connect(lambda *words: told.append(words))
    page.export_cells(tmp_path / "nowhere" / "all.csv")
    assert page.wait(20_000)
    assert told[-1][0] == "error"


def test_only_the_first_cells_are_listed(opened, monkeypatch):
    monkeypatch.setattr("plaidwork.gui.results.imputed_page.MOST_ROWS", 25)
    page = opened(fitted_run(), IMPUTED)
    assert len(page.table.model.columns()["SD"]) == 25
    assert "the first 25 are listed" in page._foot.text()


def test_nothing_missing(opened):
    assert opened(fitted_run(missing=0.0), IMPUTED).state == "Nothing is missing"


# -- beeswarm -----------------------------------------------------------------------------------
def test_points_of_a_swarm_do_not_touch():
    rng = np.random.default_rng(1)
    y = rng.normal(300, 60, 220)
    x = spread(y, 500, 9)
    away = np.hypot(x[:, None] - x, y[:, None] - y) + 99 * np.eye(220)
    assert away.min() >= 9 - 1e-6
    assert np.abs(x).max() <= 250
    assert np.abs(spread(np.full(300, 5.0), 100, 9)).max() <= 50
    assert np.abs(spread(rng.normal(300, 60, 9000), 400, 7)).max() <= 200
    assert spread(np.zeros(0), 100, 9).shape == (0,)


def test_beeswarm_splits_by_classes(opened, qtbot, tmp_path):
    workbench, run = bench = factor_run()
    page = opened(bench, View("beeswarm", "B", {"values": "scores"}))
    assert page.split_picker.currentText() == "IGHV"
    swarm = page.chart.swarm
    assert set(swarm.classes) == {"mutated", "unmutated", "unknown"}
    assert swarm.classes[-1] == "unknown"
    known = next(iter(workbench.session.datasets.values())).row_table["IGHV"]
    scores = run.results["scores"].values[:, 0]
    for name, count, centre in zip(swarm.classes, swarm.counts(), swarm.centres(), strict=True):
        mine = scores[[(v or "unknown") == name for v in known]]
        assert count == len(mine)
        assert centre == pytest.approx(np.median(mine))
    click(qtbot, page.centre._group.button(1), 5, 5)
    assert page.chart.swarm.centres()[0] == pytest.approx(scores[page.chart.swarm.x == 0].mean())
    x, y = page.chart._places()
    top = int(np.argmax(y))
    qtbot.mouseMove(page.chart, page.chart.rect().topLeft())
    click(qtbot, page.chart, x[top], y[top])
    assert workbench.selection(run).get("row") == (top,)
    find(qtbot, page.split_picker, "nothing")
    assert page.chart.swarm.classes == ("",)
    find(qtbot, page.colour_picker, "drug 3")
    assert page.bar.isVisible()
    find(qtbot, page.split_picker, "site")
    assert len(page.chart.swarm.classes) == 6
    wheel(page.chart, 300, 200, 120)
    assert page.chart.zoomed
    assert page.chart.scales()[0].low == -0.5
    page.export_picture(tmp_path / "b.pdf")


# -- restarts -----------------------------------------------------------------------------------
def restarts_run():
    """Two restarts of 3 and 4 factors: the second has them in another order, one with the other sign, and one more."""
    workbench, run = factor_run()
    rng = np.random.default_rng(3)
    z = rng.normal(size=(3, 500))
    other = np.vstack([-z[2], rng.normal(size=500), z[0], z[1] + 0.8 * rng.normal(size=500)])
    run.results |= {
        "both": Result(np.corrcoef(np.vstack([z, other])), ("found", "found_2")),
        "restart": Result(np.array([2, 2, 2, 1, 1, 1, 1]), ("found",)),
        "labels": Result(np.array([*"ABC", *"wxyz"]), ("found",)),
        "best": Result(np.array([2]), ("best",)),
    }
    return workbench, run


PAIRED = View(
    "restarts", "Restarts", {"values": "both", "restart": "restart", "names": "labels", "shown": "best"}
)


def test_factors_of_restarts_are_paired(opened, qtbot, tmp_path):
    workbench, run = bench = restarts_run()
    page = opened(bench, PAIRED)
    assert page.one_picker.currentText() == "Restart 2, shown in all views"
    assert [page.pair.columns[j] for j in page.pair.index] == ["y", "z", "w"]
    assert page.canvas.picture.column_order.tolist() == [2, 3, 0, 1]
    assert page._headline.text() == "2 of 3 factors of restart 2 come back in restart 1"
    place = page.canvas.point_of(2, 0)
    qtbot.mouseMove(page.canvas, place.toPoint())
    assert page.told[-1] == "C of restart 2, w of restart 1: correlation −1.00, partners"
    click(qtbot, page.canvas, place.x(), place.y())
    assert workbench.selection(run).get("layer") == (2,)
    assert page.canvas.marked_rows == (2,)
    dialog = page.show_data()
    dialog.to_csv(tmp_path / "r.csv")
    assert [line[:2] for line in csv.reader((tmp_path / "r.csv").open())][1:] == [
        ["A", "y"],
        ["B", "z"],
        ["C", "w"],
    ]
    dialog.close()
    choose(qtbot, page.one_picker, "Restart 1")
    assert page.canvas.marked_rows == ()
    assert page._headline.text() == "Restart 1 beside itself"
    page.export_picture(tmp_path / "r.png")


def test_one_restart_alone(opened):
    workbench, run = restarts_run()
    run.results["restart"] = Result(np.full(7, 2), ("found",))
    assert opened((workbench, run), PAIRED).state == "One restart alone cannot be compared"


# -- variance -----------------------------------------------------------------------------------
def test_variance_by_group_and_scale(opened, qtbot):
    workbench, run = factor_run()
    shares = np.array([[0.4, 0.005]])
    run.results |= {
        "few": Result(shares, ("view", "factor")),
        "parts": Result(np.stack([shares / 2, shares * 2]), ("group", "view", "factor")),
        "parts_of": Result(np.array(["early", "late"]), ("group",)),
    }
    source = {"values": "few", "by_group": "parts", "groups": "parts_of"}
    page = opened((workbench, run), View("variance", "V", source))
    weak, strong = (page.chart.shares.color(v).getRgb() for v in (0.005, 0.0))
    assert sum(abs(a - b) for a, b in zip(weak, strong)) > 20
    page.grab()
    choose(qtbot, page.group_picker, "late")
    assert page.chart.shares.values.tolist() == (shares * 2).tolist()
    assert page._headline.text().endswith("in the samples “late”")
    click(qtbot, page.scale._group.button(1), 5, 5)
    assert not page.chart.shares.root
    page.grab()


def test_heat_map_of_factors_marks_the_chosen_one(opened, qtbot):
    workbench, run = factor_run()
    page = opened((workbench, run), View("heatmap", "H", "scores", options={"layer": "column"}))
    selection = workbench.selection(run)
    selection.set("layer", (3,))
    assert page.canvas.marked_columns == (3,)
    place = page.canvas.point_of(20, 5)
    click(qtbot, page.canvas, place.x(), place.y())
    assert selection.get("layer") == (5,)


def test_rows_of_a_table_are_the_factors(opened, qtbot):
    workbench, run = factor_run()
    run.results["by_factor"] = Table({"Factor": np.array(["one", "two", "three"]), "Share": np.arange(3.0)})
    page = opened((workbench, run), View("table", "T", "by_factor", options={"layer": True}))
    selection = workbench.selection(run)
    selection.set("layer", (2,))
    assert page.table.selected_rows() == [2]
    place = page.table.view.visualRect(page.table.model.index(1, 0)).center()
    qtbot.mouseClick(page.table.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert selection.get("layer") == (1,)
    selection.set("layer", (7,))
    assert page.table.selected_rows() == []


def test_numbers_in_cells_where_they_fit(opened):
    run = restarts_run()
    page = opened(run, PAIRED)
    with_numbers = page.grab().toImage()
    page.canvas.picture = replace(page.canvas.picture, decimals=None)
    assert page.grab().toImage() != with_numbers
