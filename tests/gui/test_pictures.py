"""The canvas and paper of pictures: places, reading, walking, selecting, zooming, files, texts that stay apart."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter

from plaidwork.core import pictures as p
from plaidwork.core.errors import PictureError
from plaidwork.core.pictures.pyramid import Sample
from plaidwork.gui.palettes import contrast, lut
from plaidwork.gui.pictures.axes import apart, fitting, placed
from plaidwork.gui.pictures.canvas import PictureCanvas
from plaidwork.gui.pictures.frame import Pixels, Zoom, beside, lay_out
from plaidwork.gui.pictures.heights import least_height
from plaidwork.gui.pictures.hits import Spot, position, spot_at
from plaidwork.gui.pictures.keys import RAMP
from plaidwork.gui.pictures.lines import runs, thinned
from plaidwork.gui.pictures.marks import bar_boxes
from plaidwork.gui.pictures.paint import paint_picture
from plaidwork.gui.pictures.paper import Paper, paper_like, picture_image, svg_of, thumbnail, write_picture
from plaidwork.gui.pictures.regions import region_parts, tag_places
from plaidwork.gui.pictures.style import paper_style, screen_style
from plaidwork.gui.pictures.swarm import pixels_of, spread
from plaidwork.gui.pictures.texts import beside_places, free_places
from plaidwork.gui.theme import theme
from tests.gui.factor_runs import wheel

X = np.linspace(0, 10, 50)
ITEMS = p.Items("row", np.arange(12) + 100)
POINTS = p.Points(
    np.linspace(0.5, 9.5, 12),
    np.linspace(-0.8, 0.8, 12),
    color=tuple(range(12)),
    shapes=tuple(k % 7 - 1 for k in range(12)),
    read=lambda i: f"point {i}",
    of=ITEMS,
)
COUNTS = p.Bars(
    np.linspace(0.5, 9.5, 12),
    np.zeros(12),
    np.arange(1, 13),
    0.5,
    labels=tuple(str(k) for k in range(1, 13)),
    strongest=11,
    read=tuple(f"bar {k}" for k in range(12)),
    of=ITEMS,
)


def every_mark() -> p.Picture:
    """A picture with a mark of every kind in two panels."""
    gaps = np.where(X > 8, np.nan, np.cos(X))
    top = p.Panel(
        (
            p.Cells(np.arange(12.0).reshape(3, 4), 0, 4, -1, -0.5, limits=(0, 11)),
            p.Bands(X, np.sin(X) - 0.2, np.sin(X) + 0.2),
            p.Line(X, np.sin(X), read=tuple(f"sine {i}" for i in range(50))),
            p.Line(X, gaps, color=1, steps=True, dashed=True),
            p.Intervals([1, 2], [-0.5, np.nan], [0.5, 1], color="text", halo=True),
            p.Outlines([1], [-0.5], [3], [0.5], color=2),
            p.Links([1, 2], [0, 0], [5, 6], [0.5, -0.5], [1, 3], color="control"),
            p.Texts([5], [0.9], ("a word",)),
            p.Rule([2.5]),
            p.Rule([0.4], axis="y"),
            p.Rug(X),
            POINTS,
        ),
        p.Axis(ticks=False, low=0, high=10),
        p.Axis("level", "sd"),
        title="A title",
        ends=(p.End(0.1, "one name", 0), p.End(0.12, "another name", 1)),
    )
    low = p.Panel((COUNTS,), p.Axis("time", "h"), p.Axis("items", zero=True), height=4, reads="inside")
    signs = ("square", "line", "dashed", "point")
    keys = (
        *(p.Key(sign, k, sign) for k, sign in enumerate(signs)),
        p.Key("missing", "border", "missing"),
    )
    return p.Picture("Everything at once", "A caption.", (top, low), "A note.", keys, {"x": X})


@pytest.fixture
def canvas(qtbot):
    """A canvas that shows every kind of mark; ``told`` and ``picks`` hold what it said."""
    found = PictureCanvas()
    qtbot.addWidget(found)
    found.set_picture(every_mark())
    found.resize(800, 500)
    found.show()
    found.told, found.picks = [], []
    found.hovered.connect(found.told.append)
    found.picked.connect(lambda *item: found.picks.append(item))
    found.grab()
    return found


def pixel(canvas: PictureCanvas, spot: Spot) -> QPointF:
    """Where a piece is."""
    mark = canvas.picture.panels[spot.panel].marks[spot.mark]
    return position(mark, canvas.frames.frames[spot.panel], spot.piece)


def gray(image: QImage) -> np.ndarray:
    """Lightness of every pixel."""
    flat = image.convertToFormat(QImage.Format.Format_Grayscale8)
    lines = np.frombuffer(flat.constBits(), np.uint8).reshape(flat.height(), -1)
    return lines[:, : flat.width()].astype(float)


# -- places -------------------------------------------------------------------------------------
@pytest.mark.parametrize("wide", [400, 1024, 2560])
@pytest.mark.parametrize("high", [240, 900])
def test_nothing_is_outside_of_the_picture(qapp, wide, high):
    whole = QRectF(0, 0, wide, high)
    layout = lay_out(every_mark(), whole, screen_style())
    line = screen_style().metrics().height()
    for frame in layout.frames:
        assert whole.contains(frame.area)
        assert frame.area.width() > 0.4 * wide
        assert frame.area.left() > 2 * line  # ticks and name
    below = layout.frames[-1].area.bottom()
    assert below + 2 * line <= high or high < 300
    assert all(whole.contains(place.box) for place in layout.legend)
    assert layout.frames[0].area.left() == layout.frames[1].area.left()


def test_equal_axes_and_widest_panels(qapp):
    square = p.Panel((p.Line([0, 2], [0, 1]),), p.Axis(low=0, high=2), p.Axis(low=0, high=1), equal=True)
    wide = p.Panel((p.Line([0, 2], [0, 1]),), widest=1.5)
    few = p.Panel((p.Bars([0, 1], [0, 0], [1, 2], 1.0),), p.Axis(low=-0.5, high=1.5), most=20)
    for panel, ratio in ((square, 2.0), (wide, 1.5)):
        (frame,) = lay_out(p.Picture("h", panels=(panel,)), QRectF(0, 0, 900, 300), screen_style()).frames
        assert frame.area.width() / frame.area.height() == pytest.approx(ratio)
    filling = p.Picture("h", panels=(replace(square, fills=True),))
    (frame,) = lay_out(filling, QRectF(0, 0, 900, 300), screen_style()).frames
    assert frame.area.right() > 850
    assert frame.x.at(1) - frame.x.at(0) == pytest.approx(frame.y.at(0) - frame.y.at(1))
    (frame,) = lay_out(p.Picture("h", panels=(few,)), QRectF(0, 0, 900, 300), screen_style()).frames
    assert frame.area.width() == pytest.approx(40)


def test_a_map_with_equal_units_stays_readable_above_other_panels(qapp):
    """It is as wide as it is high: in a low window the page scrolls instead."""
    style = screen_style()
    square = p.Panel((p.Line([0, 1], [0, 1]),), p.Axis(low=0, high=1), p.Axis(low=0, high=1), equal=True)
    below = p.Panel((p.Line([0, 1], [0, 1]),), p.Axis("x", low=0, high=1), p.Axis(low=0, high=1), height=5)
    picture = p.Picture("h", panels=(square, below))
    needed = least_height(picture, 900, style)
    frame, cut = lay_out(picture, QRectF(0, 0, 900, needed), style).frames
    assert frame.area.width() == pytest.approx(frame.area.height())
    assert frame.area.height() >= 11 * style.metrics().height()
    assert cut.area.bottom() < needed
    for panels in ((square,), (replace(square, equal=False), replace(below, height=2))):
        assert least_height(p.Picture("h", panels=panels), 900, style) == 0


def test_the_panel_below_a_map_with_equal_units_stands_beside_it_in_a_low_room(qapp):
    """Square above its cut, the map had a quarter of the width of a low window, and the rest was empty."""
    style, across = screen_style(), p.Axis("x", low=0, high=1)
    lines = (p.Line([0, 1], [0, 1]),)
    square = p.Panel(
        lines, p.Axis(low=0, high=1, ticks=False), p.Axis(low=0, high=1), equal=True, beside=across
    )
    cut = p.Panel(lines, replace(across, label="x, along"), p.Axis(low=0, high=1), height=5)
    picture = p.Picture("h", panels=(square, cut))
    first, second = lay_out(picture, QRectF(0, 0, 900, 360), style).frames
    assert first.area.width() == pytest.approx(first.area.height())
    assert first.area.height() > 300
    assert first.panel.x.label == "x"
    assert second.area.left() > first.area.right()
    assert second.area.top() == pytest.approx(first.area.top())
    assert second.area.bottom() == pytest.approx(first.area.bottom())
    assert second.area.right() <= 900
    for frame in lay_out(picture, QRectF(0, 0, 900, 360), style, Zoom((0.2, 0.6))).frames:
        assert frame.area.top() == pytest.approx(second.area.top())
        assert (frame.x.scaling.low, frame.x.scaling.high) == pytest.approx((0.2, 0.6))
    needed = least_height(picture, 900, style)
    first, second = lay_out(picture, QRectF(0, 0, 900, needed), style).frames
    assert first.area.height() >= 11 * style.metrics().height()
    assert max(first.area.bottom(), second.area.bottom()) < needed
    for panels, high in (((square, cut), 1200), ((replace(square, beside=None), cut), 360)):
        above, below = lay_out(p.Picture("h", panels=panels), QRectF(0, 0, 900, high), style).frames
        assert below.area.top() > above.area.bottom()


def test_names_of_a_square_matrix_are_written_once_where_they_take_much_of_a_low_room(qapp):
    """Those below took a third of the height of similarities, and the other third was all that was seen of them."""
    style, names = screen_style(), tuple(f"probe set {i:06d}" for i in range(40))
    cells = p.Cells(np.eye(40), -0.5, 39.5, -0.5, 39.5)
    across = p.Axis(scale="category", names=names, turned=True)
    panel = p.Panel((cells,), across, p.Axis(scale="category", names=names, down=True), equal=True)

    def high(shown, room, zoom=None):
        (frame,) = lay_out(p.Picture("", panels=(shown,)), QRectF(0, 0, 900, room), style, zoom).frames
        return frame.panel.x.ticks, frame.area.height()

    other = replace(panel, x=replace(across, names=names[::-1]))
    assert high(panel, 300)[0] is False
    assert high(panel, 300)[1] > high(other, 300)[1] + 60
    assert high(panel, 2000)[0]
    assert high(panel, 300, Zoom((0.2, 0.6), {0: (0.0, 0.4)}))[0], "a part has other names below than beside"
    assert high(other, 300)[0]


def test_a_map_with_equal_units_alone_is_readable_where_it_scrolls(qapp):
    """Square and low, it was a stamp in the corner."""
    style = screen_style()
    square = p.Panel((p.Line([0, 1], [0, 1]),), p.Axis("x", low=0, high=1), p.Axis(low=0, high=1), equal=True)
    picture = p.Picture("h", panels=(square,))
    needed = least_height(picture, 900, style, scrolls=True)
    (frame,) = lay_out(picture, QRectF(0, 0, 900, needed), style).frames
    assert frame.area.height() >= 5.5 * style.metrics().height()
    assert least_height(picture, 900, style) == 0


def test_a_panel_of_any_height_has_most_of_a_small_room(qapp):
    """A map above curves of eight lines was a strip of one colour in a low window."""
    style = screen_style()
    free = p.Panel((p.Line([0, 1], [0, 1]),), p.Axis(low=0, high=1, ticks=False), p.Axis(low=0, high=1))
    below = p.Panel((p.Line([0, 1], [0, 1]),), p.Axis("x", low=0, high=1), p.Axis(low=0, high=1), height=8)
    picture, line = p.Picture("h", panels=(free, below)), style.metrics().height()
    needed = least_height(picture, 900, style, scrolls=True)
    for high in (needed, 1.2 * needed):
        map_, cut = (frame.area for frame in lay_out(picture, QRectF(0, 0, 900, high), style).frames)
        assert map_.height() >= 5.5 * line
        assert map_.height() == pytest.approx(2 * cut.height(), rel=0.02)
    map_, cut = (frame.area for frame in lay_out(picture, QRectF(0, 0, 900, 50 * line), style).frames)
    assert cut.height() == pytest.approx(8 * line)


@pytest.mark.parametrize("wide", range(60, 400, 20))
def test_ticks_that_would_meet_are_fewer_and_even(qapp, wide):
    """No tick is left out between two others."""
    panel = p.Panel((p.Line([0, 1], [0, 1]),), p.Axis(low=-0.25, high=0.95), p.Axis(ticks=False))
    (frame,) = lay_out(p.Picture("", panels=(panel,)), QRectF(0, 0, wide, 200), screen_style()).frames
    found = apart(frame, screen_style())
    lefts, ends = [left for _, left, _ in found], [left + width for _, left, width in found]
    assert all(left > end for left, end in zip(lefts[1:], ends))
    steps = np.diff([tick.value for tick, _, _ in found])
    assert len(found) >= 2 or wide < 80
    assert np.allclose(steps, steps[0]) if len(steps) else True


@pytest.mark.parametrize("wide", [100, 300, 360, 500, 1100])
def test_bars_that_touch_leave_no_gap(qapp, wide):
    """However narrow they are; 360 bars."""
    bars = p.Bars(np.arange(360), np.zeros(360), np.ones(360), 1.0, 1e9)
    panel = p.Panel((bars,), p.Axis(low=-0.5, high=359.5), p.Axis(low=0, high=1))
    (frame,) = lay_out(p.Picture("", panels=(panel,)), QRectF(0, 0, wide, 200), screen_style()).frames
    boxes = bar_boxes(bars, frame, np.arange(360))
    assert all(other.left() <= one.right() for one, other in pairwise(boxes))


def test_words_at_the_right_of_their_place_stay_inside(qapp):
    words = p.Texts([0.2, 1.0], [0, 0], ("a number", "a number"), side="right")
    panel = p.Panel((words,), p.Axis(low=0, high=1))
    (frame,) = lay_out(p.Picture("", panels=(panel,)), QRectF(0, 0, 400, 200), screen_style()).frames
    first, last = (box for _, box, _ in beside_places(words, frame, screen_style()))
    assert first.left() == pytest.approx(frame.x.at(0.2) + 4)
    assert last.right() <= frame.area.right() + 4


def test_of_tags_that_meet_only_the_first_is_painted(qapp):
    words = p.Texts([0.5, 0.51, 0.9], [0, 0, 0], ("0.75", "0.9", "0.1"), tagged=True)
    panel = p.Panel((words,), p.Axis(low=0, high=1))
    (frame,) = lay_out(p.Picture("", panels=(panel,)), QRectF(0, 0, 400, 200), screen_style()).frames
    assert [text for _, _, text in beside_places(words, frame, screen_style())] == ["0.75", "0.1"]


def test_lines_beside_a_panel_keep_off_the_names_at_its_end(qapp):
    ends = (p.End(0.5, "of 120", "muted"),)
    panel = p.Panel((p.Line([0, 1], [0, 1]),), equal=True, ends=ends, aside=("Found", "a: 98 %"))
    (frame,) = lay_out(p.Picture("", panels=(panel,)), QRectF(0, 0, 700, 300), screen_style()).frames
    room, wide = beside(frame, screen_style()), screen_style().metrics().horizontalAdvance("of 120")
    assert room.left() >= frame.area.right() + 8 + wide


def test_names_of_a_square_map_stand_upright_where_they_have_no_room(qapp):
    names = tuple(f"Background {k}" for k in range(6))
    axis = p.Axis(scale="category", names=names, turned=True)
    cells = p.Cells(np.eye(6), -0.5, 5.5, -0.5, 5.5)
    square = p.Panel((cells,), axis, replace(axis, turned=False, down=True), equal=True)
    (frame,) = lay_out(p.Picture("", panels=(square,)), QRectF(0, 0, 900, 400), screen_style()).frames
    assert frame.upright > 0
    wide = replace(square, equal=False)
    (frame,) = lay_out(p.Picture("", panels=(wide,)), QRectF(0, 0, 900, 400), screen_style()).frames
    assert not frame.upright


def test_names_at_the_end_never_pile_up(qapp):
    tops = placed([10.0, 11.0, 12.0, 200.0, 199.0], 14, 0, 204)
    order = np.argsort([10.0, 11.0, 12.0, 200.0, 199.0], kind="stable")
    assert (np.diff(np.array(tops)[order]) >= 14).all()
    assert min(tops) >= 0
    assert max(tops) + 14 <= 204
    ends = tuple(p.End(k, str(k), 0) for k in range(40))
    kept = fitting(ends, Pixels(p.Scaling("linear", 0, 39), 300, 0), 140, 14)
    assert len(kept) == 10
    assert {kept[0].at, kept[-1].at} == {0, 39}


# -- reading ------------------------------------------------------------------------------------
def test_the_pointer_reads_the_nearest_mark(canvas, qtbot):
    qtbot.mouseMove(canvas, pixel(canvas, Spot(0, 11, 3)).toPoint())
    assert canvas.told[-1] == "point 3"
    qtbot.mouseMove(canvas, pixel(canvas, Spot(1, 0, 5)).toPoint())
    assert canvas.told[-1] == "bar 5"
    qtbot.mouseMove(canvas, QPointF(2, 2).toPoint())
    assert canvas.told[-1] == ""


def test_marks_of_one_item_are_lit_together(canvas, qtbot):
    plain = canvas.grab().toImage()
    top, low = pixel(canvas, Spot(0, 11, 4)), canvas.frames.frames[1].area
    qtbot.mouseMove(canvas, top.toPoint())
    lit = canvas.grab().toImage()
    below = low.toAlignedRect()
    assert lit.copy(below) != plain.copy(below)


def test_keys_walk_over_pieces_and_marks(canvas, qtbot):
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right):
        qtbot.keyClick(canvas, key)
    assert canvas.told[-1] == "sine 1"
    qtbot.keyClick(canvas, Qt.Key.Key_Down)
    assert canvas.told[-1] == "point 1"
    qtbot.keyClick(canvas, Qt.Key.Key_PageDown)
    assert canvas.told[-1] == "point 11"
    qtbot.keyClick(canvas, Qt.Key.Key_Down)
    qtbot.keyClick(canvas, Qt.Key.Key_Left)
    assert canvas.told[-1] == "bar 10"
    qtbot.keyClick(canvas, Qt.Key.Key_Return)
    assert canvas.picks == [("row", (110,))]


def test_every_cell_band_and_bar_is_found_where_it_is(qapp):
    cells = p.Cells(np.arange(20.0).reshape(4, 5), 0, 5, 0, 4, read=str, limits=(0, 20))
    bands = tuple(p.Bands([0, 1, 2], [k] * 3, [k + 1] * 3, read=str) for k in range(3))
    stack = tuple(p.Bars([0, 1, 2], [k] * 3, [k + 1] * 3, 1.0, read=str) for k in range(3))
    for marks in ((cells,), bands, stack):
        picture = p.Picture("h", panels=(p.Panel(marks, reads="inside"),))
        layout = lay_out(picture, QRectF(0, 0, 400, 300), screen_style())
        for k, mark in enumerate(marks):
            for piece in range(len(mark)):
                x, y = mark.middles()
                up = y[piece] - (0.5 if isinstance(mark, p.Bars) else 0)
                frame = layout.frames[0]
                at = QPointF(frame.x.at(float(x[piece])), frame.y.at(float(up)))
                assert spot_at(picture, layout, at) == Spot(0, k, piece)


# -- selecting, zooming -------------------------------------------------------------------------
def test_a_click_selects_what_a_mark_stands_for(canvas, qtbot):
    place = pixel(canvas, Spot(0, 11, 7)).toPoint()
    qtbot.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=place)
    qtbot.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=QPointF(3, 3).toPoint())
    assert canvas.picks == [("row", (107,)), ("", ())]
    plain = canvas.grab().toImage()
    canvas.set_selected({"row": (107,)})
    assert canvas.grab().toImage() != plain
    canvas.set_selected({"row": ()})
    assert canvas.grab().toImage() == plain


def test_wheel_drag_keys_and_double_click_move_the_view(canvas, qtbot):
    at = pixel(canvas, Spot(0, 11, 6))
    value = canvas.frames.frames[0].x.value(at.x())
    wheel(canvas, at.x(), at.y(), 120)
    assert canvas.zoomed
    frame = canvas.frames.frames[0]
    assert frame.x.value(at.x()) == pytest.approx(value, abs=0.02)
    assert frame.x.scaling.high - frame.x.scaling.low == pytest.approx(8)
    assert canvas.frames.frames[1].x == frame.x or canvas.frames.frames[1].x.scaling == frame.x.scaling
    before = frame.x.scaling.low
    qtbot.mousePress(canvas, Qt.MouseButton.MiddleButton, pos=at.toPoint())
    qtbot.mouseMove(canvas, (at + QPointF(30, 0)).toPoint())
    qtbot.mouseRelease(canvas, Qt.MouseButton.MiddleButton, pos=(at + QPointF(30, 0)).toPoint())
    assert canvas.frames.frames[0].x.scaling.low < before
    assert not canvas.picks
    qtbot.mouseDClick(canvas, Qt.MouseButton.MiddleButton, pos=at.toPoint())
    assert not canvas.zoomed
    for key in (Qt.Key.Key_Plus, Qt.Key.Key_Plus, Qt.Key.Key_Minus):
        qtbot.keyClick(canvas, key)
    assert canvas.zoomed
    canvas.grab()
    qtbot.keyClick(canvas, Qt.Key.Key_0)
    assert not canvas.zoomed
    wheel(canvas, at.x(), at.y(), -120)
    assert not canvas.zoomed


def test_a_switch_of_colours_paints_anew(canvas):
    light = canvas.grab().toImage()
    theme().set_mode("dark")
    dark = canvas.grab().toImage()
    theme().set_mode("light")
    assert dark != light
    assert canvas.grab().toImage() == light


def test_the_accessible_text_is_that_of_the_picture(canvas):
    assert canvas.accessibleName().startswith("Everything at once. A caption. level, sd:")
    assert canvas.accessibleDescription() == p.describe(canvas.picture)


# -- paper --------------------------------------------------------------------------------------
@pytest.mark.parametrize("dpi", [96, 300])
def test_png_has_the_size_that_was_asked_for(qapp, tmp_path, dpi):
    path = write_picture(every_mark(), tmp_path / "p.png", Paper(100, 80, dpi=dpi))
    image = QImage(str(path))
    assert image.width() == pytest.approx(100 / 25.4 * dpi, abs=1)
    assert image.height() == pytest.approx(80 / 25.4 * dpi, abs=1)
    assert image.dotsPerMeterX() == pytest.approx(dpi / 0.0254, abs=1)


def test_resolution_changes_no_proportions(qapp):
    """The same picture at three times the dots, made small again, is nearly the same picture."""
    small, large = (picture_image(every_mark(), Paper(120, 80, dpi=dpi)) for dpi in (96, 288))
    again = large.scaled(small.size(), mode=Qt.TransformationMode.SmoothTransformation)
    one, other = gray(small), gray(again)
    assert np.abs(one - other).mean() < 6


def test_svg_keeps_its_texts_with_a_generic_family(qapp, tmp_path):
    text = write_picture(every_mark(), tmp_path / "p.svg", Paper()).read_text(encoding="utf-8")
    words = " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", text))
    for wanted in (
        "Everything at once",
        "A caption.",
        "level, sd",
        "time, h",
        "another name",
        "missing",
        "A note.",
    ):
        assert wanted in words
    families = set(re.findall(r'font-family="([^"]*)"', text))
    assert families
    assert all(family.endswith("sans-serif") for family in families)


def test_pdf_titles_and_schemes(qapp, tmp_path):
    pdf = write_picture(every_mark(), tmp_path / "p.pdf", Paper(170, 105)).read_bytes()
    assert pdf.startswith(b"%PDF")
    box = re.search(rb"/MediaBox \[(\S+) (\S+) (\S+) (\S+)\]", pdf)
    assert [float(end) * 25.4 / 72 for end in box.groups()] == pytest.approx([0, 0, 170, 105], abs=0.4)
    bare = write_picture(every_mark(), tmp_path / "b.svg", Paper(titled=False)).read_text(encoding="utf-8")
    assert "A caption." not in re.sub(r"<(title|desc)>.*?</\1>", "", bare, flags=re.DOTALL)
    light, dark = (picture_image(every_mark(), Paper(scheme=scheme)) for scheme in ("light", "dark"))
    assert light.pixelColor(2, 2).lightness() > 200
    assert dark.pixelColor(2, 2).lightness() < 60
    assert paper_style(16).metrics().height() == pytest.approx(2 * paper_style(8).metrics().height(), rel=0.1)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_on_paper_are_read_on_its_ground(qapp, scheme):
    """Those in the colours of categories too."""
    ends = tuple(p.End(k, f"end {k}", k) for k in range(8))
    words = p.Texts(np.zeros(8), np.arange(8.0), tuple("abcdefgh"), color=tuple(range(8)))
    coloured = p.Panel((words,), p.Axis(low=-1, high=1), ends=ends)
    picture = replace(every_mark(), panels=(*every_mark().panels, coloured))
    text = svg_of(picture, Paper(height=300, scheme=scheme)).decode("utf-8")
    assert "end 7" in text
    ground = paper_style(8, scheme).color("surface").name()
    words = re.findall(r'<text[^>]* fill="(#\w{6})"', text)
    assert len(words) > 10
    assert all(contrast(ink, ground) >= 4.5 for ink in set(words))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_low_and_high_numbers_have_the_colours_of_the_legend(qapp, scheme):
    """Cells, points that are told by numbers, many of them as well, and the bar of the legend: low at the left of all."""
    table = lut("tide", scheme)[:, :3].astype(int)
    cells = p.Cells(np.array([[0.0, 1.0]]), 0, 2, 0, 1, "tide", (0, 1))
    few = p.Points([0.5, 1.5], [0.5, 0.5], 20.0, levels=np.array([0.0, 1.0]), limits=(0, 1), map="tide")
    at, up = (place.ravel() for place in np.meshgrid(np.linspace(0, 2, 90), np.linspace(0, 1, 60)))
    many = p.Points(at, up, 6.0, levels=(at > 1) * 1.0, limits=(0, 1), map="tide")
    axes = p.Axis(low=0, high=2, ticks=False, line=False), p.Axis(low=0, high=1, ticks=False)
    for mark in (cells, few, many):
        picture = p.Picture("", panels=(p.Panel((mark,), *axes, lines=False),))
        image = QImage(400, 200, QImage.Format.Format_RGB32)
        painter, frame = QPainter(image), lay_out(picture, QRectF(0, 0, 400, 200), paper_style(8, scheme))
        paint_picture(painter, picture, frame, paper_style(8, scheme))
        painter.end()
        (one,) = frame.frames
        for value, end in ((0.5, 0), (1.5, -1)):
            found = image.pixelColor(round(one.x.at(value)), round(one.y.at(0.5))).getRgb()[:3]
            assert np.abs(np.array(found) - table[end]).max() <= 1, (type(mark), end)


def test_the_bar_of_the_legend_begins_with_the_colour_of_its_low_end(qapp):
    ramp = p.Ramp("share", "tide", ("0", "0.5", "1"))
    picture = p.Picture(
        "",
        panels=(
            p.Panel(
                (p.Line([0, 1], [0, 1]),),
            ),
        ),
        legend=(ramp,),
    )
    image = QImage(400, 200, QImage.Format.Format_RGB32)
    style, painter = paper_style(8), QPainter(image)
    layout = lay_out(picture, QRectF(0, 0, 400, 200), style)
    paint_picture(painter, picture, layout, style)
    painter.end()
    box, table = layout.legend[0].box, lut("tide", "light")[:, :3].astype(int)
    for across, end in ((box.right() - RAMP + 2, 0), (box.right() - 3, -1)):
        found = image.pixelColor(round(across), round(box.top()) + 3).getRgb()[:3]
        assert np.abs(np.array(found) - table[end]).max() <= 12, end


def test_a_grid_of_panels_gets_the_paper_that_it_needs(qapp):
    panels = tuple(p.Panel((p.Line([0, 1], [0, 1]),), title=str(k)) for k in range(30))
    picture = p.Picture("h", panels=panels, grid=(200, 120))
    image = picture_image(picture, Paper(120, 60, dpi=96))
    assert image.width() == pytest.approx(120 / 25.4 * 96, abs=1)
    assert image.height() > 15 * 120
    flat = picture_image(p.Picture("h", panels=panels[:2]), Paper(120, 70, dpi=96))
    assert flat.height() == pytest.approx(70 / 25.4 * 96, abs=1)


@pytest.mark.parametrize(
    "wrong", [{"width": 1}, {"points": 100}, {"dpi": 5}, {"scheme": "blue"}, {"height": 1e6}]
)
def test_paper_that_cannot_be(wrong):
    with pytest.raises(ValueError, match="Found"):
        Paper(**wrong)


def test_files_of_another_kind_and_pictures_of_nothing(qapp, tmp_path):
    with pytest.raises(ValueError, match="png, svg, pdf"):
        write_picture(every_mark(), tmp_path / "p.gif", Paper())
    nothing = p.Picture("Blocks", empty=("Nothing found", "No block has members"))
    assert write_picture(nothing, tmp_path / "n.svg", paper_like(QSize(400, 300))).stat().st_size > 500
    small = thumbnail(every_mark(), 96, 60)
    assert (small.width(), small.height()) == (96, 60)


# -- many ---------------------------------------------------------------------------------------
def test_thinned_lines_keep_ends_and_spikes():
    rng = np.random.default_rng(1)
    x, y = np.linspace(0, 300, 50_000), rng.normal(size=50_000)
    y[[123, 40_000]] = 50, -60
    kept = thinned(x, y)
    assert len(kept) <= 4 * 301
    assert {0, 123, 40_000, 49_999} <= set(kept.tolist())
    assert len(thinned(x[:100], y[:100])) == 100
    assert len(thinned(x[::-1], y)) == 50_000
    assert runs(np.array([True, False, True, True])) == [slice(0, 1), slice(2, 4)]


def test_cells_that_meet_in_a_pixel_are_averaged():
    values = np.arange(4000.0).reshape(40, 100)

    def sampled(high: int, wide: int) -> Sample:
        return p.Cells(values, 0, 100, 0, 40).pyramid.sample((0, 40), (0, 100), high, wide)

    assert sampled(80, 200).spread(sampled(80, 200).cells).shape == (80, 200)
    found = sampled(4, 10).cells
    assert found.shape == (4, 10)
    assert found[1, 2] == pytest.approx(values[10:20, 20:30].mean())
    values[10:20, 20:29] = np.nan
    assert sampled(4, 10).cells[1, 2] == pytest.approx(values[10:20, 29].mean())
    values[10:20, 20:30] = np.nan
    assert sampled(4, 10).known[1, 2] == 0


def test_very_many_points_are_where_they_should_be(qapp):
    """An image of 20,000 points has ink where points are and none elsewhere."""
    x = np.full(20_000, 0.25)
    marks = (p.Points(x, np.linspace(0.1, 0.9, 20_000), color="text"),)
    ends = {"low": 0, "high": 1, "ticks": False}
    picture = p.Picture("h", panels=(p.Panel(marks, p.Axis(**ends), p.Axis(**ends), lines=False),))
    image = picture_image(picture, Paper(100, 100, dpi=96, titled=False))
    (frame,) = lay_out(picture, QRectF(0, 0, 100, 100), screen_style()).frames
    inside = gray(image)[40:-40, 20:-20] < 100
    columns = np.flatnonzero(inside.mean(axis=0) > 0.7) + 20
    assert 2 <= len(columns) <= 6
    assert np.mean(columns) / image.width() == pytest.approx(0.27, abs=0.05)
    assert frame.area.width() > 50


# -- lasso, tags, ramps -------------------------------------------------------------------------
def cloud(qtbot, n: int, **more) -> PictureCanvas:
    """A canvas with points on a circle, each an item of its own."""
    angle = np.linspace(0, 2 * np.pi, n, endpoint=False)
    points = p.Points(
        np.cos(angle),
        np.sin(angle),
        called=tuple(f"item {i}" for i in range(n)),
        read=lambda i: f"item {i}: at",
        of=p.Items("row", np.arange(n)[::-1]),
        **more,
    )
    found = PictureCanvas()
    qtbot.addWidget(found)
    found.set_picture(p.Picture("A circle", panels=(p.Panel((points,), equal=True, fills=True),)))
    found.resize(700, 400)
    found.show()
    found.gathers = []
    found.gathered.connect(lambda *item: found.gathers.append(item))
    return found


def drawn_around(qtbot, canvas, corners, keys=Qt.KeyboardModifier.NoModifier):
    """Draw a lasso through places of the first panel."""
    frame = canvas.frames.frames[0]
    path = [QPointF(frame.x.at(x), frame.y.at(y)).toPoint() for x, y in corners]
    qtbot.mousePress(canvas, Qt.MouseButton.LeftButton, keys, path[0])
    for place in path[1:]:
        qtbot.mouseMove(canvas, place)
    canvas.grab()
    qtbot.mouseRelease(canvas, Qt.MouseButton.LeftButton, keys, path[-1])


@pytest.mark.parametrize("n", [36, 7200])
def test_a_lasso_gathers_the_items_inside(qtbot, n):
    canvas = cloud(qtbot, n)
    drawn_around(qtbot, canvas, [(0.02, -1.02), (1.02, -1.02), (1.02, 1.02), (0.02, 1.02)])
    drawn_around(qtbot, canvas, [(-0.1, -0.1), (0.1, -0.1), (0.1, 0.1)], Qt.KeyboardModifier.ShiftModifier)
    x = np.cos(np.linspace(0, 2 * np.pi, n, endpoint=False))
    (kind, items, more), (_, nothing, besides) = canvas.gathers
    assert (kind, more, nothing, besides) == ("row", False, (), True)
    wanted = set((n - 1 - np.flatnonzero(x > 0.03)).tolist())
    assert wanted <= set(items)
    assert len(items) <= len(wanted) + 0.02 * n + 2
    before = canvas.grab().toImage()
    canvas.set_selected({"row": items})
    assert canvas.grab().toImage() != before


def test_equal_axes_that_fill_have_one_unit_zoomed_too(qtbot):
    canvas = cloud(qtbot, 36)
    for turn in (0, 120):
        wheel(canvas, 350, 180, turn)
        frame = canvas.frames.frames[0]
        units = [
            abs(axis.end - axis.start) / (axis.scaling.high - axis.scaling.low) for axis in (frame.x, frame.y)
        ]
        assert units[0] == pytest.approx(units[1])
    assert canvas.zoomed


def test_numbers_choose_colours_and_unknown_ones_are_crosses(qtbot, tmp_path):
    levels = np.linspace(0, 1, 36)
    levels[3] = np.nan
    canvas = cloud(qtbot, 36, levels=levels)
    text = write_picture(canvas.picture, tmp_path / "a.svg", Paper()).read_text(encoding="utf-8")
    assert text.count("<path") + text.count("<circle") + text.count("<ellipse") > 30
    plain = canvas.grab().toImage()
    canvas.set_picture(cloud(qtbot, 36, levels=levels[::-1]).picture)
    assert canvas.grab().toImage() != plain


def test_a_swarm_keeps_its_points_apart(qapp):
    rng = np.random.default_rng(1)
    y = rng.normal(size=300)
    swarm = p.Swarm(np.repeat([0, 1], 150), y, 7.0, read=lambda i: f"item {i}")
    axis = p.Axis(scale="category", names=("a", "b"), below=("n = 150", "n = 150"))
    picture = p.Picture("s", panels=(p.Panel((swarm,), axis, reads="near", zoom="y"),))
    frame = lay_out(picture, QRectF(0, 0, 900, 500), screen_style()).frames[0]
    x, y = pixels_of(swarm, frame)
    away = np.hypot(x[:, None] - x, y[:, None] - y) + 99 * np.eye(300)
    assert away.min() >= 8 - 1e-6
    assert (np.abs(x[:150] - frame.x.at(0)) < 225).all()
    found = spot_at(picture, lay_out(picture, QRectF(0, 0, 900, 500), screen_style()), QPointF(x[7], y[7]))
    assert found.piece == 7


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


def test_cells_as_tiles_are_walked_row_by_row_and_outlined_together(qtbot):
    tiles = p.Cells(
        np.arange(6.0).reshape(2, 3) / 5,
        -0.5,
        2.5,
        -0.5,
        1.5,
        labels=tuple(f"{k}\nof 6" for k in range(6)),
        gap=2,
        read=tuple(f"cell {k}" for k in range(6)),
        of=p.Items("row", [5, 6, 7, 8], [0, 0, 4, 5]),
    )
    names = p.Axis(
        "across", scale="category", names=("a long name", "b", "c"), short=("a", "b", "c"), above=True
    )
    ends = (p.End(0, "below", 1, 0.5), p.End(1, "above", 2, np.nan))
    panel = p.Panel(
        (tiles,), names, p.Axis(scale="category", names=("x", "y")), ends=ends, ends_title="all", highest=40
    )
    bars = p.Panel((p.Bars([0, 1, 2], [0] * 3, [1, 2, 3], read=("p", "q", "r")),), p.Axis(ticks=False))
    found = p.Picture("Tiles", panels=(panel, bars), legend=(p.Ramp("share", ends=("0", "1", "2")),))
    widget = PictureCanvas()
    qtbot.addWidget(widget)
    widget.resize(500, 400)
    told = []
    widget.hovered.connect(told.append)
    widget.set_picture(found)
    frames = widget.frames.frames
    assert frames[0].area.height() == 80
    assert frames[1].area.height() > 120
    for key in ("Right", "Right", "Down", "Left", "Down", "Up"):
        qtbot.keyClick(widget, getattr(Qt.Key, f"Key_{key}"))
    assert told == ["cell 3", "cell 4", "cell 1", "cell 0", "p", "cell 0"]
    assert tiles.items(0) == ("row", (5, 6))
    assert tiles.items(1) is None
    widget.show()
    plain = widget.grab().toImage()
    widget.set_selected({"row": (5, 7)})
    assert widget.grab().toImage() != plain
    assert picture_image(found, Paper()).width() > 1000


def test_items_of_pieces_are_refused_where_there_are_none():
    with pytest.raises(PictureError, match="items of 9"):
        p.Points([1, 2], [1, 2], of=p.Items("row", [1], [8]))


def test_links_as_an_image_and_as_lines_are_the_same(qtbot):
    """Many links are drawn by a kernel, few by the painter: as much ink at the same places."""
    rng = np.random.default_rng(2)
    ends = rng.uniform(0, 1, (4, 300))
    few = p.Links(*ends, np.full(300, 1.5), np.full(300, 0.5), np.arange(300) % 2, color="text")
    axis = p.Axis(ticks=False, low=0, high=1)
    images = []
    for links in (
        few,
        p.Links(
            *(np.tile(end, 2) for end in ends),
            np.full(600, 1.5),
            np.repeat([0.5, 0.0], 300),
            np.tile(np.arange(300) % 2, 2),
            color="text",
        ),
    ):
        widget = PictureCanvas()
        qtbot.addWidget(widget)
        widget.resize(400, 300)
        widget.set_picture(p.Picture("L", panels=(p.Panel((links,), axis, axis, lines=False),)))
        image = widget.grab().toImage().convertToFormat(QImage.Format.Format_Grayscale8)
        images.append(
            np.frombuffer(image.constBits(), np.uint8).reshape(300, -1)[20:-30, 20:-20].astype(float)
        )
    painted, drawn = 255 - images[0], 255 - images[1]
    assert drawn.sum() == pytest.approx(painted.sum(), rel=0.1)
    assert np.corrcoef(painted.ravel(), drawn.ravel())[0, 1] > 0.8


def test_words_on_free_sides_keep_apart(qtbot):
    x = np.linspace(0.2, 0.8, 40)
    words = p.Texts(
        x, np.full(40, 0.5), tuple(f"word {k}" for k in range(40)), "free", clear=np.full(40, 3.0)
    )
    picture = p.Picture("W", panels=(p.Panel((words,), p.Axis(low=0, high=1), p.Axis(low=0, high=1)),))
    style = screen_style()
    frame = lay_out(picture, QRectF(0, 0, 500, 300), style).frames[0]
    boxes = [box for _, box, _ in free_places(words, frame, style)]
    assert 3 < len(boxes) < 40
    assert not any(a.intersects(b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert all(frame.area.adjusted(-6, -6, 6, 6).contains(box) for box in boxes)


# -- regions ------------------------------------------------------------------------------------
def regions(chosen: int = -1) -> p.Picture:
    """Two blocks of a matrix of 20 x 30, the second in two parts."""
    rows, columns = np.zeros((2, 20), bool), np.zeros((2, 30), bool)
    rows[0, :8], columns[0, 2:12] = True, True
    rows[1, 12:], columns[1, 15:20], columns[1, 24:] = True, True, True
    marks = (
        p.Cells(np.zeros((20, 30)), -0.5, 29.5, -0.5, 19.5, read=lambda i: f"cell {i}"),
        p.Regions(rows, columns, ("first", "second"), ("1", "2"), chosen, color=(0, 1)),
    )
    panel = p.Panel(
        marks,
        p.Axis(scale="category", names=tuple(f"c{k}" for k in range(30)), turned=True),
        p.Axis(scale="category", names=tuple(f"r{k}" for k in range(20)), down=True),
        reads="inside",
    )
    return p.Picture("Blocks", panels=(panel,))


def test_regions_are_outlined_where_they_are_and_tags_stand_apart(qapp):
    picture, style = regions(), screen_style()
    (frame,) = lay_out(picture, QRectF(0, 0, 800, 500), style).frames
    mark = picture.panels[0].marks[1]
    (first,) = region_parts(mark, frame, 0)
    assert first.top() == round(frame.area.top())  # the first row is at the top
    assert first.width() == pytest.approx(frame.area.width() / 3, abs=1)
    assert len(region_parts(mark, frame, 1)) == 2
    tags = tag_places(mark, frame, style)
    assert {k: text for k, (_, text) in tags.items()} == {0: "first", 1: "second"}
    assert not tags[0][0].intersects(tags[1][0])
    chosen = tag_places(regions(1).panels[0].marks[1], frame, style)
    assert {k: text for k, (_, text) in chosen.items()} == {0: "1", 1: "second"}
    inside = lay_out(picture, QRectF(0, 0, 800, 500), style, Zoom((0.7, 1.0), {0: (0.0, 0.3)})).frames[0]
    assert region_parts(mark, inside, 0) == []


def test_outlines_of_regions_share_no_hue_with_the_map(qapp):
    image = picture_image(regions(), Paper(120, 80, dpi=96, titled=False))
    style = paper_style(8.0)
    inks = {image.pixelColor(x, y).rgb() for x in range(image.width()) for y in range(image.height())}
    assert style.color("text").rgb() in inks
    faded = picture_image(regions(1), Paper(120, 80, dpi=96, titled=False))
    assert faded != image
