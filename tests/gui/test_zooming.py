"""Which part of a picture is shown: computed from where its panels stand, without a window."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QPointF, QRectF

from plaidwork.gui.pictures.frame import WHOLE, Layout, Zoom
from plaidwork.gui.pictures.zooming import bringing, dragged, largest, panel_at, shifted, zoomed_about


def frame(top, height, zoom="xy", values=100):
    """A panel of 100 pixels across, y upwards."""
    scaling = SimpleNamespace(shares=lambda places: places / values)
    panel = SimpleNamespace(zoom=zoom, y=SimpleNamespace(down=False), scaling=lambda axis: scaling)
    area = QRectF(0, top, 100, height)
    y = SimpleNamespace(start=area.bottom(), end=area.top())
    return SimpleNamespace(panel=panel, area=area, x=SimpleNamespace(start=0, end=100), y=y)


@pytest.fixture
def layout():
    return Layout((frame(0, 50), frame(100, 200), frame(400, 20, "")), (), QRectF(0, 0, 100, 420))


def test_the_panel_under_a_point_and_the_largest_one(layout):
    assert [panel_at(layout, QPointF(50, y)) for y in (25, 52, 75, 200, 410)] == [0, 0, None, 1, None]
    assert largest(layout) == 1


def test_zooming_keeps_the_value_under_the_pointer_and_moves_only_its_panel(layout):
    found = zoomed_about(layout, Zoom(), QPointF(25, 250), 1)
    assert found.x == pytest.approx((0.05, 0.85))
    assert found.y == {1: pytest.approx((0.05, 0.85))}
    assert zoomed_about(layout, found, QPointF(25, 250), -9).whole
    assert zoomed_about(layout, Zoom(), QPointF(25, 410), 1) is None


def test_moving_by_keys_and_by_hand_stays_within_the_whole(layout):
    part = Zoom((0.2, 0.6), {1: (0.0, 0.5)})
    assert shifted(layout, part, 0, 1) == part, "it is at the lower end"
    closer = Zoom((0.2, 0.3), {1: (0.4, 0.6)})
    assert shifted(layout, closer, 1, 0).x == pytest.approx((0.21, 0.31)), "a tenth of what is shown"
    assert shifted(layout, closer, 0, -1).y == {1: pytest.approx((0.42, 0.62))}
    assert dragged(layout, part, 1, QPointF(-10, 20)) == Zoom(
        pytest.approx((0.24, 0.64)), {1: pytest.approx((0.05, 0.55))}
    )
    assert dragged(layout, part, 1, QPointF(500, 0)).x == (0.0, pytest.approx(0.4))


def test_a_value_is_brought_into_view_and_so_near_that_its_name_has_room(layout):
    part = Zoom((0.2, 0.6), {1: (0.0, 0.5)})
    assert bringing(layout, part, 1, "x", 30.0) == part
    assert bringing(layout, part, 1, "x", 70.0) == replace(part, x=pytest.approx((0.305, 0.705)))
    near = bringing(layout, Zoom(), 1, "y", 50.0, room=20.0)
    assert (near.x, near.y) == (WHOLE, {1: pytest.approx((0.45, 0.55))})
