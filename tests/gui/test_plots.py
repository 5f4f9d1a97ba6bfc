"""Axis, line plot, matrix image and export."""

from __future__ import annotations

import time

import numpy as np
import pytest
from PySide6.QtGui import QImage

from plaidwork.gui.plots import (
    LegendEntry,
    MatrixImage,
    Plot,
    PlotAxis,
    area_average,
    color_limits,
    save_picture,
    shrink,
    to_rgba,
)
from plaidwork.gui.theme import theme


@pytest.fixture
def plot(qtbot):
    made = Plot("Log joint probability", "rises, then wanders", whole_x=True)
    made.set_labels("sweep", "log joint")
    qtbot.addWidget(made)
    made.resize(600, 320)
    return made


def test_axis_ticks_share_decimals_and_have_true_minus(qapp):
    axis = PlotAxis("left")
    [(step, ticks)] = axis.tickValues(-17.25, -16.6, 300)
    assert 3 <= len(ticks) <= 8
    texts = axis.tickStrings(ticks, 1.0, step)
    assert all(t.startswith("\u2212") for t in texts)
    assert len({len(t.partition(".")[2]) for t in texts}) == 1


def test_axis_whole_names_and_log(qapp):
    axis = PlotAxis("bottom", whole=True)
    [(_, ticks)] = axis.tickValues(0, 3, 900)
    assert ticks == [0, 1, 2, 3]
    axis.set_names(["EWS", "BL"])
    [(step, ticks)] = axis.tickValues(-0.5, 1.5, 300)
    assert axis.tickStrings(ticks, 1, step) == ["EWS", "BL"]
    axis.set_names(None)
    axis.setLogMode(x=True, y=False)
    [(step, ticks)] = axis.tickValues(-8, 2, 600)
    assert "10⁻⁸" in axis.tickStrings(ticks, 1, step)
    [(step, ticks)] = axis.tickValues(np.log10(0.9), np.log10(2.1), 300)
    assert axis.tickStrings(ticks, 1, step) == ["1.0", "1.2", "1.5", "2.0"]
    [(step, ticks)] = axis.tickValues(np.log10(0.011), np.log10(0.019), 300)
    assert len(set(axis.tickStrings(ticks, 1, step))) == len(ticks) > 2


def test_lines_legend_and_read_out(plot):
    line = plot.add_line("Chain 1", 0, np.arange(100), np.arange(100) * 2.0)
    assert plot.legend.isHidden()
    plot.add_line("Chain 2", 1, np.arange(100), -np.arange(100) * 1.0)
    assert [e.name for e in plot.legend.entries] == ["Chain 1", "Chain 2"]
    assert not plot.legend.isHidden()
    plot.grab()
    assert plot.read_out(50.2, 99.0) == "Chain 1, sweep 50: 100"
    line.set_data([0, 1, 2], [0, np.nan, 4])
    plot.grab()
    assert len(plot.data()["sweep"]) == 103
    with pytest.raises(ValueError, match="Chain 1"):
        line.set_data([0], [1, 2])
    plot.clear()
    assert plot.lines == []
    assert plot.data() == {}


def test_thinning_keeps_extremes_and_gaps():
    from plaidwork.gui.plots.thin import thin

    x = np.arange(100_000.0)
    y = np.random.default_rng(0).normal(size=x.size)
    y[54_321] = 50
    few_x, few_y = thin(x, y, 500)
    assert len(few_x) == len(few_y) <= 1600
    assert few_y.max() == 50
    assert few_y.min() == y.min()
    assert np.all(np.diff(few_x) >= 0)
    y[70_000] = np.nan
    assert np.isnan(thin(x, y, 500)[1]).sum() == 1
    near_x, _ = thin(x, y, 500, (1000, 1100))
    assert near_x[0] <= 1000
    assert near_x[-1] >= 1100
    assert len(near_x) < 110
    back, _ = thin(x[::-1], y, 500)
    assert len(back) == x.size


def test_long_traces_draw_fast_and_zoom_in_exactly(plot):
    values = np.random.default_rng(0).normal(size=(4, 50_000))
    lines = [plot.add_line(f"Chain {c + 1}", c, np.arange(50_000), values[c]) for c in range(4)]
    plot.show()
    plot.grab()
    start = time.process_time()
    for line, y in zip(lines, values):
        line.set_data(np.arange(50_000), y)
    plot.grab()
    assert time.process_time() - start < 0.5
    plot.view_box.setRange(xRange=(100, 200), padding=0)
    x, y = lines[0].curve.getOriginalDataset()
    np.testing.assert_array_equal(y[x == 150], values[0, 150:151])
    plot.reset_zoom()
    (low, high), _ = plot.view_box.viewRange()
    assert low <= 0
    assert high >= 49_999


def test_shading_and_limits_follow_the_theme(plot):
    plot.add_line("a", 0, np.arange(100), np.sin(np.arange(100)))
    plot.set_shading((0, 40))
    plot.add_limit(0.5)
    plot.add_limit(60, vertical=True)
    _, word = plot._shade
    for mode in ("dark", "light"):
        theme().set_mode(mode)
        assert word.fill.color() == theme().color("hover"), "lines behind the word do not cross it"
    assert word.zValue() > max(line.curve.zValue() for line in plot._lines)
    light = plot.grab().toImage()
    theme().set_mode("dark")
    dark = plot.grab().toImage()
    assert dark != light
    assert dark.pixelColor(599, 319).name().upper() == theme().hex("surface")
    theme().set_mode("light")
    assert plot.grab().toImage() == light
    plot.set_shading(None)
    plot.grab()


def test_menu_offers_export_and_data(plot, qtbot):
    menu = plot.menu()
    texts = [a.text() for a in menu.actions() if a.text()]
    assert texts[:2] == ["Export picture…", "Show data"]
    with qtbot.waitSignal(plot.data_requested):
        menu.actions()[1].trigger()


def test_double_click_shows_all_again(plot, qtbot):
    from PySide6.QtCore import QPoint, Qt

    plot.add_line("a", 0, [0, 10], [0, 10])
    plot.show()
    plot.view_box.setRange(xRange=(4, 5), yRange=(4, 5), padding=0)
    qtbot.mouseDClick(plot.canvas.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(200, 100))
    (low, high), _ = plot.view_box.viewRange()
    assert low <= 0
    assert high >= 10


def test_picture_files(plot, tmp_path):
    plot.add_line("a", 0, [0, 1], [0, 1])
    plot.grab()
    save_picture(plot, tmp_path / "p.svg")
    assert "<svg" in (tmp_path / "p.svg").read_text(encoding="utf-8")
    save_picture(plot, tmp_path / "p.png", scale=2)
    assert QImage(str(tmp_path / "p.png")).width() == 2 * plot.width()
    with pytest.raises(ValueError, match=r"\.svg or \.png"):
        save_picture(plot, tmp_path / "p.gif")
    with pytest.raises(OSError, match="could not write"):
        save_picture(plot, tmp_path / "no" / "p.png")


def test_area_average_skips_missing():
    values = np.array([[1.0, 3.0], [np.nan, 5.0], [np.nan, np.nan], [np.nan, np.nan]])
    small, by_row, by_column = area_average(values, 2)
    assert (by_row, by_column) == (2, 1)
    np.testing.assert_array_equal(small, [[1, 4], [np.nan, np.nan]])
    same, *factors = area_average(values)
    assert factors == [1, 1]
    np.testing.assert_array_equal(same, values)


def test_color_limits():
    rng = np.random.default_rng(1)
    low, high = color_limits(rng.normal(size=10_000), True)
    assert low == -high
    assert high == 2.6
    assert color_limits(np.array([2.0, 5.0]), False) == (2, 5)
    assert color_limits(np.array([np.nan]), True) == (-1, 1)
    assert color_limits(np.array([3.0, 3.0]), False) == (2.5, 3.5)


def test_colours_centre_ends_and_missing(qapp):
    table = theme().lut("loom")
    picture = to_rgba(np.array([[-9.0, 0.0, 9.0, np.nan]]), table, -2, 2)
    np.testing.assert_array_equal(picture[0, 0], table[0])
    np.testing.assert_array_equal(picture[0, 2], table[255])
    assert np.abs(picture[0, 1].astype(int) - table[127]).max() < 4
    assert picture[0, 3, 3] == 0


def test_matrix_places_row_zero_at_the_top(qtbot):
    made = MatrixImage()
    qtbot.addWidget(made)
    made.resize(200, 200)
    made.show()
    values = np.full((2, 2), -1.0)
    values[0, 1] = 1.0
    made.set_matrix(values, ["g1", "g2"], ["s1", "s2"], limits=(-1, 1))
    made.unit = "sd"
    image = made.grab().toImage()
    top_right, bottom_left = image.pixelColor(150, 50), image.pixelColor(50, 150)
    assert top_right.red() > top_right.blue()
    assert bottom_left.blue() > bottom_left.red()
    assert made.read_out(1.5, 0.5) == "g1, s2: 1 sd"
    assert made.read_out(5, 5) == ""
    assert made.clipped == (False, False)
    assert not made.has_missing
    with pytest.raises(ValueError, match="two dimensions"):
        made.set_matrix(np.zeros(3))


def test_matrix_large_missing_and_empty(qtbot):
    made = MatrixImage(map_name="tide", square=True)
    qtbot.addWidget(made)
    made.resize(300, 300)
    values = np.random.default_rng(0).normal(size=(5000, 500))
    values[:100] = np.nan
    start = time.process_time()
    made.set_matrix(values)
    assert time.process_time() - start < 1.5
    assert made.has_missing
    assert made.read_out(0.5, 0.5) == "Row 1, column 1: missing"
    made.grab()
    for case in (np.zeros((0, 0)), np.full((3, 3), np.nan), np.zeros((1, 1)), np.eye(4, dtype=int)):
        made.set_matrix(case)
        theme().set_mode("dark")
        made.grab()
        theme().set_mode("light")


def test_matrix_is_averaged_at_the_size_shown(qtbot):
    made = MatrixImage()
    qtbot.addWidget(made)
    made.resize(200, 200)
    made.show()
    stripes = np.tile([[1.0], [-1.0]], (800, 400))
    made.set_matrix(stripes, limits=(-1, 1))
    image = made.grab().toImage()
    color, ground = image.pixelColor(100, 100), theme().lut("loom")[127]
    assert abs(color.red() - int(ground[0])) < 12
    made.view_box.setRange(xRange=(0, 4), yRange=(0, 4), padding=0)
    close = made.grab().toImage()
    assert close.pixelColor(100, 25).red() != close.pixelColor(100, 75).red()


def test_legend_leaves_out_what_has_no_room(qtbot):
    from plaidwork.gui.plots import Legend

    made = Legend()
    qtbot.addWidget(made)
    made.set_entries(
        [LegendEntry(f"name {k}", k, kind) for k, kind in enumerate(("line", "dash", "dot", "box"))]
    )
    made.resize(made.sizeHint())
    made.grab()
    made.resize(60, 20)
    made.grab()
    assert made.minimumSizeHint().width() == 0


def test_grey_lines_lie_below_the_coloured_ones(qtbot):
    made = Plot()
    qtbot.addWidget(made)
    lines = [made.add_line(f"Chain {k + 1}", k, [0, 1], [0, 1]) for k in range(8)]
    assert all(lines[k].curve.zValue() < lines[0].curve.zValue() for k in (6, 7))


def test_matrix_shrunk_elsewhere_is_shown_as_one_shrunk_here(qtbot):
    values = np.random.default_rng(0).normal(size=(700, 90))
    values[:40] = np.nan
    pictures = []
    for given in (values, shrink(values)):
        made = MatrixImage()
        qtbot.addWidget(made)
        made.resize(200, 200)
        made.set_matrix(given, limits=(-1, 1))
        pictures.append(made.grab().toImage())
    assert pictures[0] == pictures[1]
    np.testing.assert_allclose(shrink(values[100:104, :4]).levels[4, 4], [[values[100:104, :4].mean()]])
