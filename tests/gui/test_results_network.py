"""Networks: what is shown, neighbours by clicks and keys, tables beside, files."""

from __future__ import annotations

import csv
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import View
from plaidwork.core.session.session import open_session
from plaidwork.gui.results.network import ALL
from tests.gui.factor_runs import at, click, find, wheel
from tests.gui.network_runs import LISTED, MATRIX, TWO_KINDS, network_run


def node_place(page, node: int) -> tuple[float, float]:
    """Pixel of a node."""
    x, y = page.map.pixels()[node]
    return float(x), float(y)


def test_sliders_count_what_is_left(opened, qtbot):
    _, run = bench = network_run()
    page = opened(bench, LISTED)
    ends, weights = (run.results[name].values for name in ("links", "link_weight"))
    part = np.arange(33)
    for a, b in np.tile(ends, (33, 1)):
        part[[a, b]] = part[[a, b]].min()
    groups = len(set(part[ends].ravel()))
    assert page._headline.text() == f"32 genes, {len(ends)} links, {groups} separate groups"
    page.threshold.slider.setFocus()
    for _ in range(5):
        qtbot.keyClick(page.threshold.slider, Qt.Key.Key_PageUp)
    least = page._least
    strong = np.abs(weights) >= least
    assert 0 < strong.sum() < len(ends)
    assert len(page.shown.links) == strong.sum()
    assert set(page.shown.nodes) == set(ends[strong].ravel())
    qtbot.keyClick(page.top.slider, Qt.Key.Key_Home)
    order = np.argsort(-np.abs(weights), kind="stable")
    seen, kept = np.zeros(33, int), 0
    for e in order:
        kept += strong[e] and min(seen[ends[e]]) < 1
        seen[ends[e]] += 1
    assert page._top == 1
    assert len(page.shown.links) == kept
    assert f"{kept} links" in page._headline.text()
    again = opened(bench, LISTED)
    assert len(again.shown.links) == kept
    qtbot.keyClick(page.top.slider, Qt.Key.Key_End)
    assert page._top == ALL


def test_neighbours_of_a_node(opened, qtbot):
    workbench, run = bench = network_run()
    page = opened(bench, LISTED)
    panel = page.side_panel()
    qtbot.addWidget(panel)
    ends = run.results["links"].values
    near = set(ends[(ends == 9).any(axis=1)].ravel()) - {9}
    qtbot.mouseMove(page.map, page.map.rect().topLeft())
    x, y = node_place(page, 9)
    qtbot.mouseMove(page.map, at(x, y))
    assert page.told[-1].startswith(f"gene 10: {len(near)} links, loading ")
    click(qtbot, page.map, x, y)
    assert page.map.focus == 9
    assert page._headline.text() == f"gene 10 is linked to {len(near)} genes"
    pixels = page.map.pixels()
    assert set(np.flatnonzero(np.isfinite(pixels).all(axis=1))) == near | {9}
    assert np.allclose(pixels[9], [page.map.width() / 2, page.map.height() / 2])
    links = page.shown.links_of(9)
    others = page.shown.other(links, 9)
    reach = np.abs((pixels[others] - pixels[9]) / [page.map.width(), page.map.height()])
    assert np.hypot(*reach[0]) < np.hypot(*reach[-1])  # the strongest is nearer than the weakest
    assert workbench.selection(run).get("column") == (9,)
    assert panel.title.text() == "gene 10"
    assert panel.near.model.rowCount() == len(near)
    assert page.back.isVisible()
    page.grab()
    place = panel.near.view.visualRect(panel.near.model.index(1, 0)).center()
    qtbot.mouseClick(panel.near.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.waitUntil(lambda: page.map.focus == others[1], timeout=20_000)
    qtbot.keyClick(page.map, Qt.Key.Key_Right)
    qtbot.keyClick(page.map, Qt.Key.Key_Return)
    assert page.map.focus not in (-1, others[1])
    qtbot.keyClick(page.map, Qt.Key.Key_Escape)
    assert page.map.focus == -1
    assert not page.back.isVisible()
    assert workbench.selection(run).get("column") == ()
    find(qtbot, panel.picker, "gene 12")
    qtbot.waitUntil(lambda: page.map.focus == 11, timeout=20_000)
    qtbot.mouseClick(page.back, Qt.MouseButton.LeftButton)
    assert page.map.focus == -1
    workbench.selection(run).set("column", (3,))
    assert page.map.focus == 3
    assert page.search("gene 2")[0].startswith("gene 2")
    assert page.loaded.names[page.map.focus].startswith("gene 2")


def test_keys_zoom_and_layouts(opened, qtbot):
    page = opened(network_run(), LISTED)
    before = page.map.pixels()
    wheel(page.map, 300, 200, 120)
    assert page.map.zoomed
    assert not np.allclose(page.map.pixels(), before, equal_nan=True)
    qtbot.keyClick(page.map, Qt.Key.Key_Escape)
    assert np.allclose(page.map.pixels(), before, equal_nan=True)
    qtbot.keyClick(page.map, Qt.Key.Key_Plus)
    qtbot.keyClick(page.map, Qt.Key.Key_Home)
    assert not page.map.zoomed
    qtbot.keyClick(page.map, Qt.Key.Key_Right)
    assert page.map.current == page.shown.nodes[0]
    click(qtbot, page.layout_choice._group.button(1), 5, 5)
    away = np.linalg.norm(page.map.places[page.shown.nodes], axis=1)
    assert np.allclose(away, 1)
    page.grab()
    seed, places = page.loaded.seed, page.loaded.places
    page.lay_out_again()
    qtbot.waitUntil(lambda: page.loaded.seed == seed + 1, timeout=20_000)
    assert page.layout_choice.current == "force"
    assert not np.allclose(page.loaded.places, places)


def test_the_layout_is_kept(opened, tmp_path):
    workbench, run = bench = network_run()
    places = opened(bench, LISTED).loaded.places
    workbench.session.save(tmp_path / "n.plaidwork")
    stored = next(iter(open_session(tmp_path / "n.plaidwork").runs.values()))
    kept = stored.view_settings["network"]["Gene network"]
    assert np.allclose(kept["places"], places, atol=1e-4)
    run.view_settings = stored.view_settings
    assert np.array_equal(opened(bench, LISTED).loaded.places, np.asarray(kept["places"]))
    ends = run.results["links"].values
    run.results = (
        run.results
        | {  # a later summary lacks a few links: the picture changes little
            name: Result(run.results[name].values[:-3], run.results[name].dims)
            for name in ("links", "link_weight", "link_share")
        }
    )
    moved = opened(bench, LISTED).loaded.places
    linked = np.unique(ends[:-3])
    assert np.linalg.norm(moved - places, axis=1)[linked].mean() < 0.4


def test_files_of_a_network(opened, tmp_path):
    _, run = bench = network_run()
    run.results["gene"] = Result(
        np.array(["a<b & \x07c", *run.results["gene"].values[1:]]), ("gene",), label="Gene"
    )
    page = opened(bench, LISTED)
    root = ElementTree.parse(page.export_graphml(tmp_path / "n.graphml")).getroot()
    space = "{http://graphml.graphdrawing.org/xmlns}"
    nodes, edges = list(root.iter(f"{space}node")), list(root.iter(f"{space}edge"))
    assert (len(nodes), len(edges)) == (len(page.shown.nodes), len(page.shown.links))
    assert {data.get("key") for data in nodes[0]} == {"label", "x", "y", "group", "strength"}
    assert nodes[0][0].text == "a<b & ␇c"
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
    assert len(page.loaded.ends) == 33 * 32 // 2
    a, b = page.loaded.ends[0]
    assert abs(together[a, b]) == np.abs(together).max() == abs(page.loaded.weights[0])
    page = opened(bench, TWO_KINDS)
    assert page.loaded.first == 4
    assert page.loaded.names[:5] == ("Factor 1", "Factor 2", "Factor 3", "Factor 4", "gene 1")
    assert page.loaded.colours.classes == ("factor", "gene")
    x, y = node_place(page, 1)
    click(qtbot, page.map, x, y)
    assert workbench.selection(run).get("layer") == (1,)
    qtbot.keyClick(page.map, Qt.Key.Key_Escape)
    page.choose(4)
    assert workbench.selection(run).get("column") == (0,)


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


def test_large_networks_are_moved_as_they_were_drawn(opened, qtbot, tmp_path):
    page = opened(large_run(), replace(LISTED, options={"threshold": 0.0}))
    network = page.map
    assert len(page.shown.links) > 1500
    assert network.settled
    whole = network.grab().toImage()
    wheel(network, 300, 200, 120)
    assert network.zoomed
    assert not network.settled  # the last picture, larger
    assert network.grab().toImage() != whole
    qtbot.waitUntil(lambda: network.settled, timeout=20_000)
    drawn = network.grab().toImage()
    network._redraw()
    assert network.grab().toImage() == drawn
    qtbot.keyClick(network, Qt.Key.Key_0)
    qtbot.waitUntil(lambda: network.settled, timeout=20_000)
    assert network.grab().toImage() == whole
    for kind in ("png", "svg"):
        assert page.export_picture(tmp_path / f"a.{kind}").stat().st_size > 10_000


def test_a_moved_picture_lies_where_it_will_be_drawn(opened, qtbot):
    """A node that stands alone is at the same place before and after the picture is drawn anew."""
    page = opened(large_run(), replace(LISTED, options={"threshold": 0.0}))
    network = page.map
    wheel(network, 300, 200, 120)
    wheel(network, 300, 200, 120)
    moved = network.grab().toImage().convertToFormat(QImage.Format.Format_Grayscale8)
    qtbot.waitUntil(lambda: network.settled, timeout=20_000)
    drawn = network.grab().toImage().convertToFormat(QImage.Format.Format_Grayscale8)

    def numbers(image):
        flat = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
        return flat[40:-40, 40:-40].astype(float)

    a, b = numbers(moved), numbers(drawn)
    here = np.corrcoef(a.ravel(), b.ravel())[0, 1]
    beside = np.corrcoef(a[:, 12:].ravel(), b[:, :-12].ravel())[0, 1]
    assert here > beside + 0.1
