"""States, tables, heat maps, bars, broken sources and pictures without a window."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication
from sparing import every

from plaidwork.core.contract.model import Result, Table
from plaidwork.core.contract.spec import View
from plaidwork.core.pictures.pyramid import Pyramid
from plaidwork.core.views.strips import categorical
from plaidwork.gui.language import set_language
from plaidwork.gui.results import VIEW_KINDS, make_view, view_icon
from plaidwork.gui.results.picture_page import PicturePage
from plaidwork.gui.theme import theme
from tests.gui.factor_runs import cell_at, cells_of, click, wheel
from tests.gui.result_runs import BLOCK_SOURCE, VIEWS, toy_run


@pytest.fixture
def opened(qtbot):
    kept = []

    def open_view(workbench, run, view):
        page = make_view(workbench, run, view)
        qtbot.addWidget(page)
        page.resize(900, 600)
        page.show()
        assert page.wait(20_000)
        QApplication.processEvents()
        assert page.wait(20_000)
        kept.append(workbench)
        return page

    return open_view


# -- states -------------------------------------------------------------------------------------
@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.kind)
def test_every_kind_before_there_are_results(opened, view):
    workbench, run = toy_run()
    results, run.results = run.results, {}
    page = opened(workbench, run, view)
    assert page.state == "No result yet"
    run.results = results
    workbench.results_changed.emit(run.id)
    assert page.wait(20_000)
    assert page.state == ""
    run.status = "running"
    workbench.run_changed.emit(run.id)
    assert not page._doubt.isHidden()
    run.status = "done"
    workbench.run_changed.emit(run.id)
    assert page._doubt.isHidden()


def test_states_of_a_run_without_results(opened):
    workbench, run = toy_run()
    run.results, run.status = {}, "running"
    assert opened(workbench, run, VIEWS[0]).state == "Nothing to show yet"
    run.status = "failed"
    run.say("The matrix is singular.", "error")
    page = opened(workbench, run, VIEWS[1])
    assert page.state == "The fit failed before it kept anything"
    assert "singular" in page._pane._text.text()


BROKEN = [
    (View("biclusters", "B", BLOCK_SOURCE | {"rows": "nowhere"}), "no result named “nowhere”"),
    (View("biclusters", "B", {"matrix": "data:X"}), "does not say what its rows are"),
    (View("biclusters", "B", BLOCK_SOURCE | {"rows": "column_probability"}), "30 rows; the matrix has 40"),
    (View("biclusters", "B", BLOCK_SOURCE | {"fit": "shift"}), "need the shape 40 × 30. Found 3"),
    (View("biclusters", "B", BLOCK_SOURCE | {"matrix": "data:Y"}), "no input named “Y”"),
    (View("biclusters", "B", BLOCK_SOURCE | {"cols": "block_table"}), "are a table; an array is needed"),
    (View("heatmap", "H", {"values": "shift"}), "need 2 axes. Found an array of shape 3"),
    (View("heatmap", "H", {"values": "draws:theta"}), "keeps no variable named “theta”"),
    (View("bars", "K", {"values": "headline"}), "are a text; an array is needed"),
    (View("table", "T", {"values": "nothing"}), "no result named “nothing”"),
    (View("hologram", "X", {"values": "shift"}), "“hologram”"),
]


@pytest.mark.parametrize(("view", "words"), BROKEN, ids=[words for _, words in BROKEN])
def test_broken_sources_say_why(opened, view, words):
    page = opened(*toy_run(), view)
    assert page.state == "This picture could not be drawn"
    assert words in page._pane._text.text()
    assert page.show_data() is None
    assert page.side_panel() is None or page.side_panel().grab()
    if page.side_panel() is not None:
        page.side_panel().setParent(page)


def test_an_error_inside_a_page_is_shown_with_details(opened, monkeypatch):
    from plaidwork.gui.results.table_page import TablePage

    def fail(self, loaded):
        raise RuntimeError("boom")

    monkeypatch.setattr(TablePage, "show_loaded", fail)
    page = opened(*toy_run(), VIEWS[1])
    assert page.state == "This picture could not be drawn"
    assert "RuntimeError: boom" in page._pane._text.text()


def test_data_that_are_gone(opened):
    workbench, run = toy_run()
    workbench.session.datasets.clear()
    page = opened(workbench, run, VIEWS[0])
    assert "“toy” is not in the session any more" in page._pane._text.text()


def test_a_page_may_go_while_it_loads(qtbot):
    workbench, run = toy_run()
    page = make_view(workbench, run, VIEWS[0])
    page.deleteLater()
    QApplication.processEvents()
    from plaidwork.gui.tasks import wait_for_tasks

    assert wait_for_tasks()
    QApplication.processEvents()


def test_every_kind_has_an_icon_and_a_page():
    for name, kind in VIEW_KINDS.items():
        page = kind.load()
        assert page is PicturePage or page.icon_name == kind.icon
        assert view_icon(View(name, "x", "y")) == kind.icon


# -- table --------------------------------------------------------------------------------------
def test_table_sorts_filters_copies_and_exports(opened, qtbot, tmp_path):
    page = opened(*toy_run(), VIEWS[1])
    assert page._headline.text() == "Blocks, largest first"
    table, model = page.table, page.table.model
    head = table.view.horizontalHeader()
    at = head.sectionViewportPosition(1) + 10
    qtbot.mouseClick(head.viewport(), Qt.MouseButton.LeftButton, pos=head.rect().center().__class__(at, 12))
    cells = [model.columns()["Cells"][model.source_row(r)] for r in range(model.rowCount())]
    assert cells == sorted(cells)
    page.find_in_page()
    qtbot.keyClicks(page.table._filter, "block 2")
    assert model.rowCount() == 1
    table.copy()
    assert QApplication.clipboard().text().splitlines()[0] == "Block\tCells\tShift (sd)"
    dialog = page.show_data()
    dialog.to_csv(tmp_path / "t.csv")
    assert len(list(csv.reader((tmp_path / "t.csv").open()))) == 4
    dialog.close()


def test_cells_that_are_words_of_the_program_are_told_and_names_stay(opened):
    workbench, run = toy_run()
    columns = {"Samples": ["Fitted", "Test"], "Feature": ["Fitted", "no"], "Errors": [1.0, 2.0]}
    run.results["measures"] = Table(columns, label="Scores", words=("Samples",))
    set_language("de")
    try:
        model = opened(workbench, run, View("table", "Scores", {"values": "measures"})).table.model
        cells = [[model.text(row, column) for row in (0, 1)] for column in (0, 1)]
    finally:
        set_language("en")
    assert cells == [["Angepasst", "Test"], ["Fitted", "no"]], (
        "of the second column these are names from the data"
    )


def test_what_a_table_is_called_stands_above_it_with_a_capital(opened):
    """What it is may begin small, as it stands within sentences too."""
    workbench, run = toy_run()
    table = run.results["block_table"]
    run.results["block_table"] = replace(table, label="blocks of all genes")
    assert opened(workbench, run, VIEWS[1])._headline.text() == "Blocks of all genes"


def test_a_long_caption_has_a_third_line_in_a_high_page(opened):
    workbench, run = toy_run()
    run.results["block_table"] = replace(run.results["block_table"], doc="What is told of all blocks. " * 9)
    page = opened(workbench, run, VIEWS[1])
    page.resize(760, 700)
    QApplication.processEvents()
    assert not page._caption.cut(page._caption.width())
    page.resize(760, 480)
    QApplication.processEvents()
    assert page._caption.cut(page._caption.width())


def test_table_of_an_array(opened):
    workbench, run = toy_run()
    page = opened(workbench, run, View("table", "Shifts", {"values": "row_probability"}))
    assert list(page.table.model.columns())[:2] == ["Block", "gene 1"]
    assert page.default_caption() == f"{len(page.loaded)} blocks", "its lines are counted by what they are"
    run.results["links"] = Table({"Gene": np.array(["a", "a", "b"])})
    assert opened(workbench, run, View("table", "Links", "links")).default_caption() == "3 rows"
    run.results["genes"] = Table({"Gene": np.array(["a", "c", "b"])})
    assert opened(workbench, run, View("table", "Genes", "genes")).default_caption() == "3 genes"
    run.results["block_table"] = Table({"Block": np.array([], dtype=object)})
    assert opened(workbench, run, VIEWS[1]).state == "This table is empty"


# -- heat map -----------------------------------------------------------------------------------
def test_heatmap_names_values_and_orders(opened, qtbot, tmp_path):
    workbench, run = toy_run()
    page = opened(workbench, run, View("heatmap", "P", {"values": "row_probability"}))
    told = []
    page.hovered.connect(told.append)
    qtbot.mouseMove(page.chart, cell_at(page, 0, 3))
    assert told[-1].startswith("block 1, gene 4: ")
    assert cells_of(page).map == "tide"
    click(qtbot, page.control("order")._group.button(1), 5, 5)
    assert page.wait(20_000)
    names = page.loaded.panels[0].x.names
    assert sorted(names, key=lambda name: int(name.split()[1])) == [f"gene {i + 1}" for i in range(40)]
    assert names != tuple(f"gene {i + 1}" for i in range(40))
    assert page.search("gene 12") == ["gene 12"]
    assert page.chart.pointed[0, "x"].tolist() == [names.index("gene 12")]
    wheel(page.chart, 300, 200, 120)
    assert page.chart.zoomed
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert not page.chart.zoomed
    page.chart.show_spot(None)
    qtbot.keyClick(page.chart, Qt.Key.Key_Right)
    qtbot.keyClick(page.chart, Qt.Key.Key_Down)
    assert told[-1].startswith(f"{page.loaded.panels[0].y.names[1]}, {names[0]}: ")
    dialog = page.show_data()
    dialog.to_csv(tmp_path / "h.csv")
    lines = list(csv.reader((tmp_path / "h.csv").open()))
    assert lines[0][1] == names[0]
    assert (len(lines), len(lines[0])) == (4, 41)
    dialog.close()


def test_heatmap_scales(opened):
    workbench, run = toy_run()
    run.results["d"] = Result(np.linspace(-3, 2, 30).reshape(5, 6), ("a", "b"), unit="sd")
    mark = cells_of(opened(workbench, run, View("heatmap", "D", "d")))
    assert mark.map == "loom"
    assert mark.limits[0] == -mark.limits[1]
    options = {"scale": "sequential", "minimum": 0, "maximum": 1}
    mark = cells_of(opened(workbench, run, View("heatmap", "D", "d", options=options)))
    assert (mark.limits, mark.map) == ((0, 1), "tide")
    run.results["d"] = Result(np.zeros((0, 4)))
    assert opened(workbench, run, View("heatmap", "D", "d")).state == "Nothing to show"


# -- bars ---------------------------------------------------------------------------------------
def test_bars_from_a_table_and_from_arrays(opened, qtbot, tmp_path):
    workbench, run = toy_run()
    page = opened(workbench, run, VIEWS[3])
    assert page._headline.text() == "Number of blocks: most probably 3 (probability 0.71)"
    run.results["p"] = Result(np.array([0.25, 0.75]), ("size",), label="Probability")
    run.results["k"] = Result(np.array([4, 5]), ("size",), label="Number of blocks")
    options = {"x_label": "number of blocks"}
    page = opened(workbench, run, View("bars", "K", {"values": "p", "x": "k"}, options=options))
    assert page.loaded.panels[0].x.names == ("4", "5")
    told = []
    page.hovered.connect(told.append)
    qtbot.keyClick(page.chart, Qt.Key.Key_Right)
    qtbot.keyClick(page.chart, Qt.Key.Key_Right)
    assert told[-1] == "Number of blocks 5: 0.75"
    assert page.search("4") == ["4"]
    assert told[-1] == "Number of blocks 4: 0.25"
    assert page.search("six") == []
    dialog = page.show_data()
    dialog.to_csv(tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_text().splitlines() == [
        "number of blocks,Probability",
        "4,0.25",
        "5,0.75",
    ]
    dialog.close()
    run.results["p"] = Result(np.array([-1.5, 2.0, np.nan]), ("thing",), label="effect", unit="sd")
    page = opened(workbench, run, View("bars", "E", {"values": "p"}))
    page.grab()
    run.results["p"] = Result(np.zeros(0))
    nothing = opened(workbench, run, View("bars", "E", {"values": "p"}))
    assert nothing.state == "Nothing to show"
    assert nothing.printed.empty == (nothing.state, "The run has found nothing for this picture.")


# -- out ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.kind)
@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_export_picture(opened, tmp_path, view, kind):
    page = opened(*toy_run(), view)
    path = page.export_picture(tmp_path / f"picture.{kind}")
    start = path.read_bytes()[:400]
    assert {"png": b"\x89PNG", "svg": b"<svg", "pdf": b"%PDF"}[kind] in start
    if kind == "png":
        assert QImage(str(path)).width() >= 2 * page._content.width() * 0.7


def test_export_refuses_other_kinds(opened, tmp_path):
    page = opened(*toy_run(), VIEWS[3])
    with pytest.raises(ValueError, match=r"png, svg, pdf. Found “x\.bmp”"):
        page.export_picture(tmp_path / "x.bmp")


@pytest.mark.long
@pytest.mark.parametrize("scheme", every(["dark", "light"], 2))
def test_render_without_a_window(qapp, tmp_path, scheme):
    from plaidwork.gui.results.render import render_view_png

    workbench, run = toy_run()
    for number, view in enumerate(VIEWS):
        path = render_view_png(workbench.session, run, view, tmp_path / f"{number}.png", (1000, 640), scheme)
        image = QImage(str(path))
        assert (image.width(), image.height()) == (2000, 1280)
        theme().set_mode(scheme)
        assert image.pixelColor(4, 4) == theme().color("surface")
        theme().set_mode("light")
    assert theme().mode == "light"
    with pytest.raises(ValueError, match="light or dark"):
        render_view_png(workbench.session, run, VIEWS[0], tmp_path / "x.png", scheme="blue")


# -- parts --------------------------------------------------------------------------------------
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (7, 5), (1300, 40), (1025, 1025)])
def test_pyramid_averages_areas(shape, missing):
    rng = np.random.default_rng(2)
    values = rng.normal(size=shape)
    if missing:
        values[rng.random(shape) < 0.2] = np.nan
    pyramid = Pyramid(values)
    n, m = shape
    one = pyramid.sample((0, n), (0, m), 1, 1)
    whole = np.nan if np.isnan(values).all() else np.nanmean(values)
    assert one.cells[0, 0] == pytest.approx(whole, abs=0.02)
    exact = pyramid.sample((0, n), (0, m), n, m)
    known = np.isfinite(values)
    assert np.allclose(exact.spread(exact.cells)[known], values[known], atol=1e-5)
    for h, w in ((n * 3, m * 2), (max(n // 3, 1), max(m // 2, 1)), (50, 50)):
        sample = pyramid.sample((0, n), (0, m), h, w)
        assert sample.spread(sample.cells).shape == (h, w)
        coarse = pyramid.sample((0, n), (0, m), h, w, coarse=True)
        assert coarse.spread(coarse.cells).shape == (h, w)


def test_strips_take_few_classes_only():
    n = 30
    table = {
        "class": np.array(["a", "b", None] * 10, dtype=object),
        "many": np.array([f"g{i}" for i in range(n)], dtype=object),
        "six": np.array([f"c{i % 6}" for i in range(n)], dtype=object),
        "code": np.array([1.0, 2.0, np.nan] * 10),
        "real": np.linspace(0, 1, n),
        "same": np.array(["x"] * n, dtype=object),
    }
    strips = categorical(table)
    assert set(strips) == {"class", "six", "code"}
    assert [text for _, text in strips["six"].legend] == ["c0", "c1", "c2", "3 others"]
    assert strips["class"].shades[2] == -1


def test_a_number_that_never_differs_has_no_probability(opened):
    workbench, run = toy_run()
    run.results["block_counts"] = Table(
        {"Number of blocks": np.array([3, 4]), "Probability": np.array([1.0, 0.0])}, label="Blocks"
    )
    assert opened(workbench, run, VIEWS[3])._headline.text() == "Number of blocks: always 3"
