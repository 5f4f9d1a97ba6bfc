"""Networks: what is shown, neighbours by clicks and keys, lists beside, layouts that are kept, files."""

from __future__ import annotations

import csv
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import View
from plaidwork.core.pictures import Cells, Links, Points
from plaidwork.core.session.session import open_session
from plaidwork.gui.pictures import moving
from tests.gui.factor_runs import at, choose, click, wheel
from tests.gui.network_runs import LISTED, MATRIX, TWO_KINDS, network_run


def node_place(page, node: int) -> tuple[float, float]:
    """Pixel of a node."""
    (frame,) = page.chart.frames.frames
    for mark in frame.panel.marks:
        if mark.choice is not None and str(node) in mark.choice[1]:
            x, y = mark.middle(mark.choice[1].index(str(node)))
            return frame.x.at(x), frame.y.at(y)
    raise AssertionError(f"no node {node}")


def marks(page, kind) -> list:
    """Marks of a kind."""
    return [mark for mark in page.loaded.panels[0].marks if isinstance(mark, kind)]


def nodes(page) -> set[int]:
    """Numbers of the nodes that are drawn."""
    return {int(value) for mark in marks(page, Points) for value in mark.choice[1]}


def again(page) -> None:
    assert page.wait(20_000)


def test_choices_count_what_is_left(opened, qtbot):
    _, run = bench = network_run()
    page = opened(bench, LISTED)
    ends, weights = (run.results[name].values for name in ("links", "link_weight"))
    part = np.arange(33)
    for a, b in np.tile(ends, (33, 1)):
        part[[a, b]] = part[[a, b]].min()
    groups = len(set(part[ends].ravel()))
    assert page._headline.text() == f"32 genes, {len(ends)} links, {groups} separate groups"
    slider = page.control("least").slider
    slider.setFocus()
    for _ in range(5):
        qtbot.keyClick(slider, Qt.Key.Key_PageUp)
    again(page)
    strong = np.abs(weights) >= page.control("least").value - 1e-9
    assert 0 < strong.sum() < len(ends)
    assert len(marks(page, Links)[0]) == strong.sum()
    assert nodes(page) == set(ends[strong].ravel())
    click(qtbot, page.control("top")._group.button(1), 5, 5)
    again(page)
    order = np.argsort(-np.abs(weights), kind="stable")
    seen, kept = np.zeros(33, int), 0
    for e in order:
        kept += strong[e] and min(seen[ends[e]]) < 1
        seen[ends[e]] += 1
    assert len(marks(page, Links)[0]) == kept
    assert f"{kept} links" in page._headline.text()
    assert len(marks(opened(bench, LISTED), Links)[0]) == kept


def test_neighbours_of_a_node(opened, qtbot):
    workbench, run = bench = network_run()
    page = opened(bench, LISTED)
    panel = page.side_panel()
    qtbot.addWidget(panel)
    ends = run.results["links"].values
    near = set(ends[(ends == 9).any(axis=1)].ravel()) - {9}
    x, y = node_place(page, 9)
    qtbot.mouseMove(page.chart, at(x, y))
    assert page.told[-1].startswith(f"gene 10: {len(near)} links, loading ")
    click(qtbot, page.chart, x, y)
    again(page)
    assert page._headline.text() == f"gene 10 is linked to {len(near)} genes"
    assert nodes(page) == near | {9}
    assert page.control("around").currentText() == "gene 10"
    assert workbench.selection(run).get("column") == (9,)
    assert panel.titles[0].startswith("gene 10: ")
    near_list, all_list = page.loaded.beside
    assert len(near_list.columns["Linked to"]) == len(near)
    weights = np.abs(near_list.columns["Correlation"])
    assert (np.diff(weights) <= 0).all()
    away = [
        np.hypot(*marks(page, Points)[0].middle(marks(page, Points)[0].choice[1].index(v)))
        for v in near_list.choice[1]
    ]
    assert away[0] < away[-1]  # the strongest is nearer than the weakest
    page.grab()
    table = panel.tables[0]
    second = near_list.choice[1][1]
    place = table.view.visualRect(table.model.index(1, 0)).center()
    qtbot.mouseClick(table.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.waitUntil(lambda: page._choice("around").value == second, timeout=20_000)
    assert len(all_list.columns["Links"]) == 32
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    again(page)
    assert page.control("around").currentText() == "all"
    assert workbench.selection(run).get("column") == ()
    qtbot.keyClick(page.chart, Qt.Key.Key_Right)
    qtbot.keyClick(page.chart, Qt.Key.Key_Return)
    again(page)
    assert page.control("around").currentText() != "all"
    assert page.search("gene 2")[0].startswith("gene 2")
    again(page)
    assert page.control("around").currentText().startswith("gene 2")


def test_a_selection_made_elsewhere_opens_the_neighbours(opened):
    workbench, run = network_run()
    page = opened((workbench, run), LISTED)
    workbench.selection(run).set("column", (9,))
    again(page)
    assert page.control("around").currentText() == "gene 10"
    assert page._headline.text().startswith("gene 10 is linked to ")
    workbench.selection(run).set("column", (3, 4))
    assert page.control("around").currentText() == "gene 10"
    workbench.selection(run).set("column", (3,))
    again(page)
    assert page.control("around").currentText() == "gene 4"
    page.leave()
    again(page)
    assert page.control("around").currentText() == "all"
    assert workbench.selection(run).get("column") == ()


def test_zoom_and_layouts(opened, qtbot):
    page = opened(network_run(), LISTED)
    wheel(page.chart, 300, 200, 120)
    assert page.chart.zoomed
    qtbot.keyClick(page.chart, Qt.Key.Key_Escape)
    assert not page.chart.zoomed
    click(qtbot, page.control("layout")._group.button(1), 5, 5)
    again(page)
    points = marks(page, Points)[0]
    assert np.allclose(np.hypot(points.x, points.y), 1)
    page.grab()
    click(qtbot, page.control("layout")._group.button(0), 5, 5)
    again(page)
    before = marks(page, Points)[0]
    page.choose("seed", 2.0)
    again(page)
    assert page.loaded.kept["seed"] == 2
    assert not np.allclose(marks(page, Points)[0].x, before.x)


def test_the_layout_is_kept(opened, tmp_path):
    workbench, run = bench = network_run()
    places = np.asarray(opened(bench, LISTED).loaded.kept["places"])
    workbench.session.save(tmp_path / "n.plaidwork")
    stored = next(iter(open_session(tmp_path / "n.plaidwork").runs.values()))
    kept = stored.view_settings["network"]["Gene network"]
    assert np.allclose(kept["places"], places, atol=1e-4)
    run.view_settings = stored.view_settings
    assert np.array_equal(opened(bench, LISTED).loaded.kept["places"], np.asarray(kept["places"]))
    ends = run.results["links"].values
    run.results = (
        run.results
        | {  # a later summary lacks a few links: the picture changes little
            name: Result(run.results[name].values[:-3], run.results[name].dims)
            for name in ("links", "link_weight", "link_share")
        }
    )
    moved = np.asarray(opened(bench, LISTED).loaded.kept["places"])
    linked = np.unique(ends[:-3])
    assert np.linalg.norm(moved - places, axis=1)[linked].mean() < 0.4


@pytest.mark.parametrize(
    "kept", ["nothing", {"seed": "x", "places": [[1], 2], "names": 3}, {"seed": -4, "places": "?"}]
)
def test_a_layout_of_a_strange_file_is_made_anew(opened, kept):
    _, run = bench = network_run()
    run.view_settings["network"] = {"Gene network": kept}
    assert opened(bench, LISTED).state == ""


def test_files_of_a_network(opened, tmp_path, monkeypatch):
    _, run = bench = network_run()
    run.results["gene"] = Result(
        np.array(["a<b & \x07c", *run.results["gene"].values[1:]]), ("gene",), label="Gene"
    )
    page = opened(bench, LISTED)
    path = tmp_path / "n.graphml"
    monkeypatch.setattr("plaidwork.gui.results.printed_page.ask_save_path", lambda *_: path)
    page.ask_file(page.loaded.files[0])
    assert page.wait(20_000)
    root = ElementTree.parse(path).getroot()
    space = "{http://graphml.graphdrawing.org/xmlns}"
    found, edges = list(root.iter(f"{space}node")), list(root.iter(f"{space}edge"))
    assert (len(found), len(edges)) == (len(nodes(page)), len(marks(page, Links)[0]))
    assert {data.get("key") for data in found[0]} == {"label", "x", "y", "group", "strength"}
    assert found[0][0].text == "a<b & ␇c"
    weights = {float(edge[0].text) for edge in edges}
    assert weights == set(run.results["link_weight"].values.tolist())
    dialog = page.show_data()
    dialog.to_csv(tmp_path / "n.csv")
    dialog.close()
    lines = list(csv.reader((tmp_path / "n.csv").open()))
    assert lines[0] == ["Gene", "Other gene", "Correlation", "Share of draws"]
    assert len(lines) == 1 + len(edges)
    for name in ("n.png", "n.svg", "n.pdf"):
        page.export_picture(tmp_path / name)
    svg = (tmp_path / "n.svg").read_text()
    assert svg.count("<polyline") + svg.count("<path") > len(edges)
    assert "stroke-dasharray" in svg
    assert "<image" not in svg


def test_matrix_and_two_kinds(opened, qtbot):
    workbench, run = bench = network_run()
    page = opened(bench, MATRIX)
    together = run.results["similarity"].values
    assert len(page.loaded.table["Correlation"]) == 33 * 32 // 2
    assert abs(page.loaded.table["Correlation"][0]) == np.abs(together).max()
    click(qtbot, page.control("layout")._group.button(2), 5, 5)
    again(page)
    (cells,) = marks(page, Cells)
    assert cells.values.shape == (33, 33)
    page.grab()
    page = opened(bench, TWO_KINDS)
    assert [key.text for key in page.loaded.legend] == ["factor", "gene"]
    x, y = node_place(page, 1)
    click(qtbot, page.chart, x, y)
    again(page)
    assert workbench.selection(run).get("layer") == (1,)
    assert page._headline.text().startswith("Factor 2 is linked to ")
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    again(page)
    x, y = node_place(page, 4)
    click(qtbot, page.chart, x, y)
    again(page)
    assert workbench.selection(run).get("column") == (0,)
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    again(page)
    choose(qtbot, page.control("group"), "Factor 3")
    again(page)
    assert nodes(page) - {2} <= set(range(4, 40))
    assert len(marks(page, Links)[0]) == (run.results["loadings"].values[2] != 0).sum()


def test_networks_that_cannot_be_drawn(opened):
    _, run = bench = network_run()
    run.results |= {
        "none": Result(np.zeros((0,)), ("link",)),
        "no_ends": Result(np.zeros((0, 2), int), ("link", "side")),
        "lopsided": Result(np.triu(np.ones((5, 5)), 1), ("a", "a")),
        "one": Result(np.array([0.4]), ("link",)),
        "pair": Result(np.array([[0, 1]]), ("link", "side")),
        "beyond": Result(np.array([[0, 99]]), ("link", "side")),
    }
    empty = {"values": "none", "edges": "no_ends", "names": "gene"}
    assert opened(bench, View("network", "N", empty)).state == "No links"
    for source in (
        {"values": "lopsided"},
        {"values": "one"},
        {"values": "one", "edges": "beyond", "names": "gene"},
        {"values": "one", "edges": "pair", "names": "gene", "strength": "one"},
    ):
        assert "could not be drawn" in opened(bench, View("network", "N", source)).state
    page = opened(bench, View("network", "N", {"values": "one", "edges": "pair"}), (300, 200))
    assert page._headline.text() == "2 nodes, 1 link"
    page.grab()


def large_run(n=1200, links=2500):
    """A run with more nodes and links than are drawn while they are moved."""
    rng = np.random.default_rng(0)
    workbench, run = network_run()
    ends = np.unique(np.sort(rng.integers(0, n, (links, 2)), axis=1), axis=0)
    ends = ends[ends[:, 0] != ends[:, 1]]
    run.results = {
        **run.results,
        "links": Result(ends, ("link", "side")),
        "link_weight": Result(rng.uniform(0.1, 1, len(ends)), ("link",), label="Cosine"),
        "link_share": Result(rng.uniform(0, 1, len(ends)), ("link",), label="Share of draws"),
        "gene": Result(np.array([f"GENE{i} with a long description" for i in range(n)]), ("gene",)),
        "gene_strength": Result(rng.gamma(1, 1, n), ("gene",), label="Loading"),
        "gene_factor": Result(np.array([f"factor {i % 7}" for i in range(n)]), ("gene",)),
    }
    return workbench, run


def numbers(image: QImage) -> np.ndarray:
    """Bytes of an image, row by row."""
    return (
        np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine()).astype(int)
    )


def same(a: QImage, b: QImage) -> bool:
    """Whether two paintings of one picture are alike to the bit."""
    return bool((numbers(a) == numbers(b)).all())


@pytest.mark.slow
def test_large_networks_are_moved_as_they_were_drawn(opened, qtbot, tmp_path, monkeypatch):
    monkeypatch.setattr(moving, "SLOW", 0.0)
    page = opened(large_run(), replace(LISTED, options={"threshold": 0.0}))
    canvas = page.chart
    qtbot.wait(50)  # the row of choices takes its height
    assert len(marks(page, Links)[0]) > 1500
    assert canvas.settled
    whole = canvas.grab().toImage()
    wheel(canvas, 300, 200, 120)
    assert canvas.zoomed
    assert not canvas.settled  # the last picture, larger
    assert not same(canvas.grab().toImage(), whole)
    qtbot.waitUntil(lambda: canvas.settled, timeout=20_000)
    drawn = canvas.grab().toImage()
    canvas.redraw()
    assert same(canvas.grab().toImage(), drawn)
    qtbot.keyClick(canvas, Qt.Key.Key_0)
    qtbot.waitUntil(lambda: canvas.settled, timeout=20_000)
    assert same(canvas.grab().toImage(), whole)
    for kind in ("png", "svg"):
        assert page.export_picture(tmp_path / f"a.{kind}").stat().st_size > 10_000


@pytest.mark.long
def test_a_moved_picture_lies_where_it_will_be_drawn(opened, qtbot, monkeypatch):
    """What is drawn is at the same place before and after the picture is painted anew."""
    monkeypatch.setattr(moving, "SLOW", 0.0)
    page = opened(large_run(), replace(LISTED, options={"threshold": 0.0}))
    canvas = page.chart
    qtbot.wait(50)
    canvas.grab()
    wheel(canvas, 300, 200, 120)
    wheel(canvas, 300, 200, 120)
    moved = canvas.grab().toImage().convertToFormat(QImage.Format.Format_Grayscale8)
    qtbot.waitUntil(lambda: canvas.settled, timeout=20_000)
    drawn = canvas.grab().toImage().convertToFormat(QImage.Format.Format_Grayscale8)

    a, b = (numbers(image)[40:-40, 40:-40].astype(float) for image in (moved, drawn))
    here = np.corrcoef(a.ravel(), b.ravel())[0, 1]
    beside = np.corrcoef(a[:, 12:].ravel(), b[:, :-12].ravel())[0, 1]
    assert here > beside + 0.1
