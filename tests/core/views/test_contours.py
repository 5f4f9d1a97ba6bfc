"""Contours of maps that are known."""

from __future__ import annotations

import numpy as np
import pytest

from plaidwork.core.views.contours import contours, label_position, refined, regions

X, Y = np.linspace(-2, 2, 41), np.linspace(-1, 1, 31)


def test_circles_are_round():
    values = np.hypot(X[None, :], Y[:, None])
    fine, x, y = refined(values, X, Y)
    assert fine.shape == (121, 161)
    assert fine[::4, ::4] == pytest.approx(values, abs=2e-3)
    (found,) = contours(fine, x, y, (0.7,))
    assert found.level == 0.7
    (line,) = found.lines
    assert np.hypot(*line.T) == pytest.approx(0.7, abs=5e-4)
    assert line[0] == pytest.approx(line[-1])


def test_saddle_has_two_pieces_and_flat_none():
    values = X[None, :] * Y[:, None]
    (found,) = contours(values, X, Y, (0.4,))
    assert len(found.lines) == 2
    assert contours(np.full((5, 6), 0.3), X[:6], Y[:5], (0.5,))[0].lines == ()
    assert contours(np.full((5, 6), np.nan), X[:6], Y[:5], (0.5,))[0].lines == ()
    assert contours(np.ones((1, 6)), X[:6], Y[:1], (0.5,))[0].lines == ()


def test_finer_stays_within_limits_and_leaves_holes():
    rng = np.random.default_rng(1)
    values = (rng.random((20, 20)) > 0.5).astype(float)
    fine, _, _ = refined(values, X[:20], Y[:20])
    assert (fine.min(), fine.max()) == (0, 1)
    values[3, 4] = np.nan
    fine, x, y = refined(values, X[:20], Y[:20])
    assert np.isnan(fine[12, 16])
    assert np.isfinite(fine).mean() > 0.9
    assert contours(fine, x, y, (0.5,))[0].lines


def test_labels_keep_away():
    line = np.stack([np.arange(100.0), np.zeros(100)], axis=1)
    assert label_position(line, np.array([[20.0, 0.0]]), 10)[0] > 90
    assert label_position(line, np.stack([np.arange(0, 100, 5.0), np.zeros(20)], axis=1), 10) is None
    assert label_position(np.zeros((0, 2)), np.zeros((0, 2)), 10) is None


def test_regions_with_a_hole():
    values = -np.abs(np.hypot(X[None, :], Y[:, None]) - 0.6)
    outlines = regions(values, X, Y, -0.2)
    assert len(outlines) == 2
    areas = sorted(abs(0.5 * np.sum(p[:-1, 0] * p[1:, 1] - p[1:, 0] * p[:-1, 1])) for p in outlines)
    assert areas == pytest.approx([np.pi * 0.4**2, np.pi * 0.8**2], rel=0.02)
    assert regions(values, X, Y, 0.5) == ()


def test_uneven_places_become_even():
    x = np.array([-2.0, -1.5, 0.0, 0.2, 2.0])
    fine, fine_x, _ = refined(np.tile(3 * x, (4, 1)), x, Y[:4])
    assert np.ptp(np.diff(fine_x)) < 1e-12
    assert fine[0, 0] == -6
    assert fine[0, -1] == 6
    assert (np.diff(fine[0]) > -1e-9).all()
