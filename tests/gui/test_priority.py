"""The window goes first, and never for long."""

import pytest

from plaidwork.gui import priority
from plaidwork.gui.priority import Priority


class Clock:
    """A clock that goes on only where told; waiting for what stays held takes all the time allowed."""

    now = 0.0

    def wait(self, seconds):
        self.now += seconds

    def is_set(self):
        return False

    def clear(self):
        pass


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(priority, "monotonic", lambda: made.now)
    return made


@pytest.mark.parametrize("step", [0.0008, 0.02, 0.3])
def test_a_window_that_never_stops_drawing_halves_the_speed_of_a_chain_at_most(clock, step):
    held = Priority(most=0.1)
    held._free = clock
    worked = 0.0
    for _ in range(1000):
        clock.now += step
        worked += step
        held.wait()
    assert clock.now - worked <= worked + 0.1 + 1e-9


def test_a_chain_waits_for_one_redraw(clock):
    held = Priority(most=0.1)
    held._free = clock
    held.wait()
    assert clock.now == pytest.approx(0.1)
    clock.now += 0.05
    held.wait()
    assert clock.now == pytest.approx(0.2)


def test_how_long_a_redraw_took(qtbot):
    held = Priority()
    held.hold()
    held.hold()
    qtbot.waitUntil(held._free.is_set)
    assert held.redraw > 0
