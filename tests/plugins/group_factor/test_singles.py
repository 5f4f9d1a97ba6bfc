"""Bernoulli cells in float32, as on large data: near the exact functions, and a bound that rises."""

import group_factor_tools as tools
import numpy as np
import pytest

from plaidwork.plugins.group_factor import kernels, local, singles, start


def test_the_gap_is_that_of_the_exponential():
    x = np.geomspace(1e-6, 19.9, 4001, dtype=np.float32)
    found = np.array([singles.gap(value) for value in x])
    assert str(singles.gap.nopython_signatures[0].return_type) == "float32"
    np.testing.assert_allclose(found, -np.expm1(-x.astype(float)), rtol=1e-6)
    assert singles.gap(np.float32(500)) == pytest.approx(1, abs=1e-6)


def test_local_parameters_are_those_of_double_precision():
    rng = np.random.default_rng(0)
    n = 1001
    y = rng.integers(-1, 2, n).astype(np.int8)
    x, spread = rng.normal(0, 4, n).astype(np.float32), rng.uniform(0, 0.5, n).astype(np.float32)
    T, exact = np.ones(n, np.float32), np.ones(n)
    room = np.empty(singles.STRETCH, np.float32)
    found = singles.best_zeta(y, x, spread, np.float32(0.25), np.float32(0.125), T, room)
    wanted = local.bits_local(y, x.astype(float), spread.astype(float), 0.25, 0.125, exact)
    np.testing.assert_allclose(T, exact, rtol=1e-6)
    assert (T[y < 0] == 0).all()
    zeta = np.sqrt((x + 0.25) ** 2 + spread + 0.125)
    by_hand = [2 * kernels.half_curvature(value) for value in zeta.astype(float)]
    np.testing.assert_allclose(T[y >= 0], np.array(by_hand)[y >= 0], rtol=2e-6)
    assert found == pytest.approx(wanted, rel=1e-6)
    found = singles.best_intercept(y, T, x)
    assert found == pytest.approx(local.bits_intercept(y, T, x), rel=1e-5)


@pytest.mark.parametrize("slab", ["full", "collapsed"])
def test_the_bound_rises_to_what_single_sums_can_tell(slab, monkeypatch):
    """As on large data, where rounding of many cells averages out; here there are few."""
    monkeypatch.setattr(start, "SINGLE_CELLS", 1)
    model, plan, state = tools.start({"slab": slab, "min_r2": 0.0}, 2, words=("bernoulli",) * 3)
    assert state["single"] == 1
    before, after = np.concatenate([tools.sweep_steps(model, plan, state, t) for t in range(25)]).T
    assert (after - before >= -1e-7 * abs(after[-1])).all()
    assert after[-1] > before[0]
