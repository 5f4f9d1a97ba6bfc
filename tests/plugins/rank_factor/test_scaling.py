"""Moves of scales: their densities against the target along the move, the Jacobian and the Haar measure included."""

import numpy as np
import pytest
import rank_factor_tools as tools
from plaid_tools import with_fault

from plaidwork.plugins.rank_factor import rows, scaling
from plaidwork.plugins.rank_factor.density import log_data, log_labels, log_prior

SHAPES = {"loading_shape": 0.8, "loading_rate": 0.7, "coefficient_shape": 0.6, "coefficient_rate": 1.3}
S = 1.37


def moving(classes=2, **changes):
    """(setup, params, state after some sweeps)."""
    setup, params = tools.tiny(classes, **SHAPES, **changes)
    rng = tools.generator(5)
    state = gibbs_state(setup, params, rng)
    return setup, params, state


def gibbs_state(setup, params, rng, sweeps=4):
    from plaidwork.plugins.rank_factor.start import new_state

    state = new_state(setup, params, rng)
    for sweep in range(sweeps):
        tools.sweep(state, setup, params, rng, sweep, 100)
    return state


def copied(state):
    return {name: np.copy(value) if isinstance(value, np.ndarray) else value for name, value in state.items()}


def log_target(state, setup, params):
    if setup.likelihood == "levels":
        w = state["a"] @ state["z"].T
        found = np.empty((len(w), 4))
        eps = rows.step_margin(setup, params)
        rows.level_kernels.measure(setup.levels.values, setup.levels.top, w, state["c"], eps, found)
        state["measured"] = found
    return log_data(state, setup) + log_labels(state, setup, params) + log_prior(state, setup, params)


def scaled(state, moves, at=...):
    """A copy with each named part times S to its power, and the log of the Jacobian."""
    new, total = copied(state), 0.0
    for name, power in moves.items():
        part = new[name][at] if name in ("a", "xi", "eta", "z", "c") else new[name]
        size = np.size(part)
        if name in ("beta", "b", "e"):
            size = np.size(new[name][:, :, at[1]])
            new[name][:, :, at[1]] *= S**power
        elif name == "phi":
            size = 1
            new["phi"][at[1]] *= S**power
        else:
            new[name][at] *= S**power
        total += power * size * np.log(S)
    return new, total


def check_scales(classes):
    setup, params, state = moving(classes)
    steep, back, power = scaling.scale_terms(state, params)
    for k in range(2):
        moves = {"a": 1, "xi": 2, "eta": -2, "phi": 2, "z": -1, "beta": 1, "b": 2, "e": -2}
        new, jacobian = scaled(state, moves, (slice(None), k))
        gain = log_target(new, setup, params) - log_target(state, setup, params) + jacobian - np.log(S)
        claimed = (power - 1) * np.log(S) - 0.5 * (steep[k] * (S**2 - 1) + back[k] * (S**-2 - 1))
        assert claimed == pytest.approx(gain, rel=1e-9, abs=1e-9)


def check_rows():
    setup, params, state = moving()
    params = {**params, "threshold_sd": 0.9}
    for i in range(2):
        top = setup.levels.top[i : i + 1]
        new, jacobian = scaled(state, {"a": 1, "xi": 2, "eta": -2}, (i, slice(None)))
        new["c"][i, : top[0]] *= S
        jacobian += top[0] * np.log(S)
        gain = log_target(new, setup, params) - log_target(state, setup, params) + jacobian
        hinge = new["measured"][i, 1] - state["measured"][i, 1]
        claimed = scaling.row_gain(state, params, np.array([i]), top, np.log([S]), np.array([hinge]))
        assert claimed[0] == pytest.approx(gain, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
def test_scales_of_factors(classes):
    check_scales(classes)


def test_scales_of_rows():
    check_rows()


def test_scales_of_columns_have_the_prior_of_a_half_normal():
    """The prior along a column's scale is exp(-Phi Phi~ s^2) whatever the shapes; the rest is a normal likelihood."""
    setup, params, state = moving()
    for k in range(2):
        new, jacobian = scaled(state, {"a": 1, "xi": 2, "eta": -2, "phi": 2}, (slice(None), k))
        gain = log_prior(new, setup, params) - log_prior(state, setup, params) + jacobian - np.log(S)
        assert gain == pytest.approx(-state["phi"][k] * state["phi_rate"] * (S**2 - 1), rel=1e-9)


def test_columns_move_by_least_squares_without_noise(monkeypatch):
    """Values: the mean of s is that of a regression of x on the columns of a z', which the sums over the rows are."""
    setup, params, state = moving(likelihood="gaussian")
    seen = {}

    def keep(precision, s, k):
        seen["precision"], seen["linear"] = tools.full(precision, k), s.copy()

    monkeypatch.setattr(scaling, "draw_normal", lambda rng, p, h, k: keep(p, h, k))
    before = copied(state)
    rng = tools.generator(1)
    rows.begin_rows(state, setup)
    zz = rows.outer_packed(state["z"])
    rows.draw_part(state, setup, params, rng, 0, 2, zz)
    a, phi, rate = state["a"].copy(), state["phi"].copy(), state["phi_rate"]
    scaling.draw_column_scales(state, rng)
    part = a[:, None, :] * before["z"]  # (d, N, K)
    weight = state["gamma"][:, None] * setup.known
    expected = np.einsum("ink,in,inl->kl", part, weight, part)
    np.testing.assert_allclose(seen["precision"], expected + np.diag(2 * phi * rate), rtol=1e-9)
    np.testing.assert_allclose(seen["linear"], np.einsum("ink,in->k", part, weight * setup.x), rtol=1e-9)


FAULTS = {
    "power of the scores": (check_scales, "scale_terms", "1.0 - n", "0.0 - n"),
    "no rates of the classifiers": (check_scales, "scale_terms", '2.0 * state["b_phi"][0] @', '0.0 * state["b_phi"][0] @'),
    "power of the thresholds": (check_rows, "row_gain", "(top - 2.0", "(0 * top - 2.0"),
    "prior of the thresholds": (check_rows, "row_gain", "0.5 * (s**2 - 1.0)", "0.0 * (s**2 - 1.0)"),
    "rates of the loadings": (check_rows, "row_gain", "(s**-2.0 - 1.0)", "0.5 * (s**-2.0 - 1.0)"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_slips_are_seen(name, monkeypatch):
    check, target, old, new = FAULTS[name]
    monkeypatch.setattr(scaling, target, with_fault(getattr(scaling, target), old, new))
    with pytest.raises(AssertionError):
        check(2) if check is check_scales else check()
