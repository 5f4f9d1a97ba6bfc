"""Heat map of the strongest columns and imputed cells: pictures, choices by keys and clicks, files."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from sparing import every

from plaidwork.core.contract.model import Result
from plaidwork.core.draws.draws import DrawBuffer
from plaidwork.core.pictures import Key
from plaidwork.core.views.factor_heatmap import places_of
from plaidwork.gui.theme import theme
from tests.gui.factor_runs import FittedModel, cell_at, cells_of, choose, click, find, fitted_run

HEAT, IMPUTED, SWARM = FittedModel.spec.views


def columns_of(run, workbench):
    """Values of all 52 columns in the order of the weights."""
    drugs, mutations = (workbench.session.datasets[name].values for name in run.inputs["views"])
    return np.hstack([np.roll(drugs, -1, axis=1), mutations])


@pytest.mark.parametrize("view", every([HEAT, IMPUTED, SWARM], 3), ids=lambda view: view.kind)
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
def order_of(page) -> np.ndarray:
    """Patients in the order shown."""
    return cells_of(page).columns.index


def test_strongest_columns_in_the_order_of_the_scores(opened, qtbot):
    bench = workbench, run = fitted_run()
    page = opened(bench, HEAT)
    values = columns_of(run, workbench)
    weights, scores = run.results["weights"].values[0], run.results["scores"].values[:, 0]
    rows, mark = page.loaded.matrix.rows, cells_of(page)
    largest = np.argsort(-np.abs(weights[:40]))[:20]
    names = [str(name) for name in run.results["feature_names"].values]
    items = np.array([names.index(name) for name in rows])
    assert set(items) == set(largest)
    assert (np.diff(weights[items]) <= 0).all()
    assert np.array_equal(mark.values, values[order_of(page)][:, items].T, equal_nan=True)
    assert (np.diff(scores[order_of(page)]) >= 0).all()
    assert Key("missing", "border", "missing") in page.loaded.legend
    profile = page.loaded.panels[0].marks[0]
    assert np.allclose(profile.low + profile.high, scores[order_of(page)])
    assert page._headline.text().startswith("Factor 1: the 20 strongest of drugs")
    choose(qtbot, page.control("group"), "mutations")
    assert page.wait(20_000)
    assert all(name.startswith(("gene", "drug 1")) for name in page.loaded.matrix.rows)
    row, gap = np.argwhere(np.isnan(cells_of(page).values))[0]
    qtbot.mouseMove(page.chart, cell_at(page, int(row), int(gap)))
    assert ": missing; factor 1 " in page.told[-1]


def test_denoised_and_imputed_values(opened, qtbot):
    bench = _, run = fitted_run()
    page = opened(bench, HEAT)
    raw = cells_of(page).values
    names = [str(name) for name in run.results["feature_names"].values]
    items = [names.index(name) for name in page.loaded.matrix.rows]
    click(qtbot, page.control("values")._group.button(1), 5, 5)
    assert page.wait(20_000)
    expected = np.array([(i + 1) % 40 for i in items])[:, None] + 0.001 * order_of(page)
    assert np.allclose(cells_of(page).values, expected)
    click(qtbot, page.control("values")._group.button(2), 5, 5)
    assert page.wait(20_000)
    assert np.allclose(cells_of(page).values, np.where(np.isnan(raw), expected, raw))
    row, gap = np.argwhere(np.isnan(raw))[0]

    def told_of_the_gap():  # wherever the cell is once the page is laid out for the new legend
        qtbot.mouseMove(page.chart, QPoint(1, 1))
        qtbot.mouseMove(page.chart, cell_at(page, int(row), int(gap)))
        assert ": missing, expected " in page.told[-1]

    qtbot.waitUntil(told_of_the_gap, timeout=5_000)
    assert " ± 0.5" in page.told[-1]
    click(qtbot, page.control("scale")._group.button(1), 5, 5)
    assert page.wait(20_000)
    known = np.where(np.isnan(raw), np.nan, cells_of(page).values)
    assert np.allclose(np.nanmean(known, axis=1), 0)
    assert np.allclose(np.nanstd(known, axis=1), 1)
    assert cells_of(page).map == "loom"


def test_heat_map_follows_and_sets_the_factor(opened, qtbot):
    workbench, run = bench = fitted_run()
    page = opened(bench, HEAT)
    selection = workbench.selection(run)
    choose(qtbot, page.control("factor"), "factor 2")
    assert page.wait(20_000)
    assert selection.get("layer") == (1,)
    qtbot.keyClick(page, Qt.Key.Key_BracketRight)
    assert page.wait(20_000)
    assert selection.get("layer") == (2,)
    assert page._headline.text().startswith("Factor 3: ")
    selection.set("layer", (1,))
    assert page.wait(20_000)
    assert page._headline.text().startswith("Factor 2: ")
    item = int(order_of(page)[4])
    place = cell_at(page, 1, 4)
    click(qtbot, page.chart, place.x(), place.y())
    assert selection.get("row") == (item,)
    assert page.chart.selected["row"] == {item}
    assert page._notes.text().startswith(f"patient {item + 1}: factor 2 ")
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert selection.get("row") == ()


def test_a_factor_without_weights_says_so_and_another_can_be_chosen(opened):
    _, run = bench = fitted_run()
    weights = run.results["weights"].values.copy()
    weights[0, :40] = 0
    run.results["weights"] = replace(run.results["weights"], values=weights)
    page = opened(bench, HEAT)
    assert page._headline.text() == "Factor 1 has no weight of drugs"
    assert page.control("factor").isVisible()
    page.choose("factor", "1")
    assert page.wait(20_000)
    assert page._headline.text().startswith("Factor 2: the 20 strongest")


def test_strips_of_classes_and_numbers(opened, qtbot, tmp_path):
    page = opened(fitted_run(), HEAT)
    assert len(page.loaded.panels) == 3
    find(qtbot, page.control("strip"), "age")
    assert page.wait(20_000)
    strip = page.loaded.panels[1]
    assert strip.ends[0].text == "age"
    known = strip.marks[0].values[np.isfinite(strip.marks[0].values)]
    assert (known.min(), known.max()) == (0, 1)
    greys = [key.color for key in page.loaded.legend if str(getattr(key, "color", "")).startswith("grey")]
    assert greys == ["grey3", "grey0"]
    qtbot.mouseMove(page.chart, cell_at(page, 0, 7, 1) - QPoint(0, 3))
    assert f"patient {order_of(page)[7] + 1}: age " in page.told[-1]
    page.grab()
    find(qtbot, page.control("strip"), "gene 3")
    assert page.wait(20_000)
    assert page.loaded.panels[1].ends[0].text == "gene 3"
    find(qtbot, page.control("strip"), "nothing")
    assert page.wait(20_000)
    assert len(page.loaded.panels) == 2
    page.export_picture(tmp_path / "h.svg")
    dialog = page.show_data()
    dialog.to_csv(tmp_path / "h.csv")
    lines = list(csv.reader((tmp_path / "h.csv").open()))
    assert len(lines) == 21
    assert lines[0][1] == f"patient {order_of(page)[0] + 1}"
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
    assert "values" not in [choice.id for choice in page.loaded.choices]
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
    columns = page.loaded.table
    assert len(columns["Patient"]) == gaps.sum()
    first = np.argwhere(gaps.T)[0]
    assert columns["Feature"][0] == f"drug {first[0] + 1}"
    assert columns["Patient"][0] == f"patient {first[1] + 1}"
    assert columns["Expected"][0] == pytest.approx(first[0] + 0.001 * first[1])
    assert set(columns["SD"]) == {0.5}
    below, above = page.loaded.panels[0].marks
    assert np.array_equal(below.values, drugs, equal_nan=True)
    assert np.array_equal(np.isfinite(above.values), gaps)
    assert above.clear
    qtbot.mouseMove(page.chart, cell_at(page, int(first[1]), int(first[0])))
    assert page.told[-1].startswith(f"patient {first[1] + 1}, drug {first[0] + 1}: missing, expected ")
    assert page.told[-1].endswith(" ± 0.5")
    dialog = page.show_data()
    dialog.to_csv(tmp_path / "listed.csv")
    assert len(list(csv.reader((tmp_path / "listed.csv").open()))) == 1 + gaps.sum()
    (tmp_path / "listed.csv").unlink()
    dialog.close()
    choose(qtbot, page.control("block"), "mutations")
    assert page.wait(20_000)
    assert len(page.loaded.table["Patient"]) == np.isnan(mutations).sum()
    page.write_file(page.loaded.files[0], tmp_path / "all.csv")
    assert page.wait(20_000)
    lines = list(csv.reader((tmp_path / "all.csv").open()))
    assert lines[0] == ["data", "patient", "feature", "expected", "sd"]
    assert len(lines) == 1 + gaps.sum() + np.isnan(mutations).sum()
    assert list(tmp_path.iterdir()) == [tmp_path / "all.csv"]
    told = []
    workbench.notified.connect(lambda *words: told.append(words))
    page.write_file(page.loaded.files[0], tmp_path / "nowhere" / "all.csv")
    assert page.wait(20_000)
    assert told[-1][0] == "error"


def test_only_the_first_cells_are_listed(opened, monkeypatch):
    monkeypatch.setattr("plaidwork.core.views.imputed.MOST_CELLS", 25)
    page = opened(fitted_run(), IMPUTED)
    assert len(page.loaded.table["SD"]) == 25
    assert "the first 25 are filled in and listed" in page._notes.text()


def test_nothing_missing(opened):
    assert opened(fitted_run(missing=0.0), IMPUTED).state == "Nothing is missing"
