"""Heat map of the strongest columns and imputed cells: pictures, choices by keys and clicks, files."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt

from plaidwork.core.contract.model import Result
from plaidwork.core.draws.draws import DrawBuffer
from plaidwork.gui.results.factor_heat import places_of
from plaidwork.gui.results.strips import NumberStrip, Profile, Strip
from plaidwork.gui.theme import theme
from tests.gui.factor_runs import FittedModel, choose, click, find, fitted_run

HEAT, IMPUTED, SWARM = FittedModel.spec.views


def columns_of(run, workbench):
    """Values of all 52 columns in the order of the weights."""
    drugs, mutations = (workbench.session.datasets[name].values for name in run.inputs["views"])
    return np.hstack([np.roll(drugs, -1, axis=1), mutations])


@pytest.mark.parametrize("view", [HEAT, IMPUTED, SWARM], ids=lambda view: view.kind)
def test_pictures_after_a_live_switch_and_in_a_small_window(opened, tmp_path, view):
    page = opened(fitted_run(), view)
    light = page.grab().toImage()
    theme().set_mode("dark")
    assert page.grab().toImage() != light
    theme().set_mode("light")
    assert page.grab().toImage() == light
    assert page.minimumSizeHint().width() <= 760
    for kind, start in (("png", b"\x89PNG"), ("svg", b"<svg"), ("pdf", b"%PDF")):
        assert start in page.export_picture(tmp_path / f"a.{kind}").read_bytes()[:400]


@pytest.mark.parametrize("view", [HEAT, SWARM], ids=lambda view: view.kind)
def test_nothing_found(opened, view):
    workbench, run = fitted_run()
    run.results |= {
        "scores": Result(np.zeros((180, 0)), ("patient", "factor")),
        "weights": Result(np.zeros((0, 52)), ("factor", "variable")),
    }
    page = opened((workbench, run), view)
    assert page.state == "Nothing to show"
    page.search("x")
    workbench.selection(run).set("layer", (0,))


@pytest.mark.parametrize("view", [HEAT, IMPUTED, SWARM], ids=lambda view: view.kind)
def test_before_there_are_results(opened, view):
    workbench, run = fitted_run()
    results, run.results = run.results, {}
    draws, run.chains[0].draws = run.chains[0].draws, DrawBuffer(run.spec.variables)
    page = opened((workbench, run), view)
    assert page.state == "No result yet"
    run.results, run.chains[0].draws = results, draws
    workbench.results_changed.emit(run.id)
    assert page.wait(20_000)
    assert page.state == ""


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
    assert other.wait(20_000)
    assert other.control("factor").currentText() == "factor 2"
    assert other.loaded.panels[0].y.label == "factor 2"
    choose(qtbot, other.control("factor"), "factor 3")
    assert other.wait(20_000)
    assert page.wait(20_000)
    assert page.made.wanted.factor == 2
    assert page._headline.text().startswith("Factor 3: ")
    item = int(page.made.order[4])
    place = page.canvas.point_of(1, item)
    click(qtbot, page.canvas, place.x(), place.y())
    assert selection.get("row") == (item,)
    assert other.chart.selected["row"] == {item}
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
    workbench.notified.connect(lambda *words: told.append(words))
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
