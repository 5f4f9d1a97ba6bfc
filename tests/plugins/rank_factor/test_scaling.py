"""Moves of scales: their densities against the target along the move, the Jacobian and the Haar measure included."""

import numpy as np
import pytest
import rank_factor_tools as tools
from plaid_tools import with_fault
from sparing import some

from plaidwork.plugins.rank_factor import interweaving, mixture, rows, scaling
from plaidwork.plugins.rank_factor.density import log_data, log_labels, log_prior, log_volume

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


def check_variances():
    def terms(state, params):
        return interweaving.variance_terms(state["a"], state["xi"], state["phi"], state["phi_rate"])

    check_shrinkage(terms, {"xi": 2, "eta": -2, "phi": 2})


def check_rates():
    def terms(state, params):
        r = params["loading_shape"]
        return interweaving.rate_terms(state["xi"], state["eta"], state["phi"], state["phi_rate"], r)

    check_shrinkage(terms, {"eta": -2, "phi": 2})


def check_shrinkage(terms, moves):
    """s^2 of the order p has the density s^(2 p - 1) exp(...) ds, which is the target along the move by ds / s."""
    setup, params, state = moving()
    for k in range(2):
        steep, back, order = terms(state, params)
        new, jacobian = scaled(state, moves, (slice(None), k))
        gain = log_target(new, setup, params) - log_target(state, setup, params) + jacobian
        claimed = 2.0 * order * np.log(S) - 0.5 * (steep[k] * (S**2 - 1) + back[k] * (S**-2 - 1))
        assert claimed == pytest.approx(gain, rel=1e-9, abs=1e-9)


def check_planes():
    """Against the target with Phi~ integrated out: the target along the move, by quadrature over Phi~."""
    setup, params, state = moving(3)
    for g in range(3):
        values, squares = plane_values(setup, params, state, g)
        phi = state["b_phi"][0, g]
        gain = interweaving.plane_gain(np.log(S), values, phi, squares, params["label_weight"])
        gain -= interweaving.plane_gain(0.0, values, phi, squares, params["label_weight"])
        new = copied(state)
        for name, power in (("beta", 1), ("b", 2), ("e", -2), ("b_phi", 2)):
            new[name][0, g] *= S**power
        size = state["beta"].shape[2]
        jacobian = (size * (1 + 2 - 2) + 2) * np.log(S)
        true = marginal(new, setup, params, g) - marginal(state, setup, params, g) + jacobian
        assert gain == pytest.approx(true, rel=1e-6, abs=1e-6)


def plane_values(setup, params, state, g):
    f = mixture.decisions(state["z"], state["beta"])[:, 0, g]
    squares = (state["beta"][0, g] ** 2).sum() / params["coefficient_size"] ** 2
    return (setup.y[:, g] * f)[setup.y[:, g] != 0], squares


def marginal(state, setup, params, g):
    """Log of the integral of the target over Phi~ of classifier g."""
    state, log_rate = copied(state), np.linspace(-30.0, 8.0, 4001)
    found = np.empty(len(log_rate))
    for i, value in enumerate(np.exp(log_rate)):
        state["b_phi_rate"][0, g] = value
        found[i] = log_labels(state, setup, params) + log_prior(state, setup, params)
    return np.logaddexp.reduce(found + log_rate)


@pytest.mark.parametrize(
    "check", some([check_variances, check_rates, check_planes], [check_variances, check_rates])
)
def test_scales_of_shrinkage(check):
    check()


def test_a_slice_has_its_density():
    """1 / (1 + s^2) times s, ds / s: half a Cauchy, of which a quarter is below tan(pi / 8); independent to within 5 errors."""
    rng, found, x = tools.generator(2), [], 0.0
    for _ in range(4000):
        x += interweaving._slice(lambda step, at=x: at + step - np.log1p(np.exp(2.0 * (at + step))), rng)
        found.append([x < np.log(np.tan(np.pi * q / 2)) for q in (0.25, 0.5, 0.75, 0.95)])
    z = tools.z_scores(np.array(found, float), (np.array([0.25, 0.5, 0.75, 0.95]), np.zeros(4)))
    assert np.abs(z).max() < 5.0


def test_scales_of_columns_have_the_prior_of_a_half_normal():
    """The prior along a column's scale is exp(-Phi Phi~ s^2) whatever the shapes; the rest is a normal likelihood."""
    setup, params, state = moving()
    for k in range(2):
        new, jacobian = scaled(state, {"a": 1, "xi": 2, "eta": -2, "phi": 2}, (slice(None), k))
        gain = log_prior(new, setup, params) - log_prior(state, setup, params) + jacobian - np.log(S)
        bound = 0.5 * tools.bound_of_loadings(params) * (state["a"][:, k] ** 2).sum()
        assert gain == pytest.approx(-(state["phi"][k] * state["phi_rate"] + bound) * (S**2 - 1), rel=1e-9)


def test_a_log_density_has_coordinates_without_a_unit():
    """What it gains along a scale is what the moved coordinates gain in volume, whatever the shapes."""
    state = moving()[2]
    for k in range(2):
        loadings = {"a": 1, "xi": 2, "eta": -2, "phi": 2}
        planes = {"beta": 1, "b": 2, "e": -2}
        for moves in (loadings, planes, {"a": 1, "xi": 2}, {"eta": -2}, {"phi": 2}):
            new, jacobian = scaled(state, moves, (slice(None), k))
            assert log_volume(new) - log_volume(state) == pytest.approx(jacobian, rel=1e-9)


def check_columns():
    """The precision of the scales of the columns, less what the rows say, is that of their prior along the move."""
    setup, params, state = moving()
    rows.begin_rows(state, setup)
    rows.add_scales(
        state, rows.draw_part(state, setup, params, tools.generator(1), 0, 2, rows.outer_packed(state["z"]))
    )
    prior = np.diag(tools.full(scaling.column_precision(state, params) - state["scale_precision"], 2))
    bound = tools.bound_of_loadings(params) * (state["a"] ** 2).sum(axis=0)
    np.testing.assert_allclose(prior, 2 * state["phi"] * state["phi_rate"] + bound, rtol=1e-9)


def check_bound():
    """Loadings of which neither data nor shrinkage say anything have the bound's own law; 8,000 squares, within 5 errors."""
    setup, params, state = moving()
    (d, _, _), k, rng = setup.shape, 2, tools.generator(4)
    squares = []
    for _ in range(2000):
        state["xi"] = np.full((d, k), 1e12)
        rows._loadings(state, params, rng, 0, d, np.zeros((d, 3)), np.zeros((d, k)))
        squares.append(tools.bound_of_loadings(params) * state["a"] ** 2)
    assert abs(np.mean(squares) - 1.0) < 5.0 * np.sqrt(2.0 / np.size(squares))


def test_loadings_are_drawn_with_their_bound():
    check_bound()


def test_scales_of_columns_know_their_prior():
    check_columns()


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
    rows.add_scales(state, rows.draw_part(state, setup, params, rng, 0, 2, zz))
    a, phi, rate = state["a"].copy(), state["phi"].copy(), state["phi_rate"]
    scaling.draw_column_scales(state, params, rng)
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
    "values left out of the variances' order": (check_variances, "variance_terms", "(1.0 - len(x))", "(0.0 - len(x))"),
    "variances taken for rates": (check_variances, "variance_terms", "(x**2 / v)", "(x**2 * v)"),
    "no shape in the rates' order": (check_rates, "rate_terms", "2.0 * shape", "1.0 * shape"),
    "half the rates": (check_rates, "rate_terms", "2.0 * (h * v)", "1.0 * (h * v)"),
    "no measure of the planes": (check_planes, "plane_gain", "log_s - math", "0.0 * log_s - math"),
    "planes without their prior": (check_planes, "plane_gain", "math.log1p(phi * s**2)", "math.log1p(phi * s)"),
    "planes without a bound": (check_planes, "plane_gain", "0.5 * squares", "0.0 * squares"),
    "planes without the labels' weight": (check_planes, "plane_gain", "2.0 * weight", "2.0"),
    "scores' scales without the bound": (check_scales, "scale_terms", "loading_precision(params) *", "0.0 *"),
    "rows' scales without the bound": (check_rows, "row_gain", "loading_precision(params) *", "0.0 *"),
    "loadings drawn without the bound": (check_bound, "_loadings", "+ loading_precision(params)", ""),
    "columns' scales without the bound": (check_columns, "column_precision", "loading_precision(params) *", "0.0 *"),
    "rates of the loadings": (check_rows, "row_gain", "(s**-2.0 - 1.0)", "0.5 * (s**-2.0 - 1.0)"),
}  # fmt: skip


@pytest.mark.parametrize(
    "name", some(list(FAULTS), [name for name, (check, *_) in FAULTS.items() if check is not check_planes])
)
def test_slips_are_seen(name, monkeypatch):
    check, target, old, new = FAULTS[name]
    module = next(part for part in (scaling, interweaving, rows) if hasattr(part, target))
    monkeypatch.setattr(module, target, with_fault(getattr(module, target), old, new))
    with pytest.raises(AssertionError):
        check(2) if check is check_scales else check()
