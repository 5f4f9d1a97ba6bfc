"""The bound never falls, at no factor of q, in every setting; it lies below the log norm and near it."""

import numpy as np
import pytest
import rank_factor_tools as tools
from numba import njit
from scipy.special import betaln, gammaln, kve
from sparing import every

from plaidwork.core.api import Clock
from plaidwork.plugins.rank_factor import bound, gibbs
from plaidwork.plugins.rank_factor.density import log_prior
from plaidwork.plugins.rank_factor.kernels import levels
from plaidwork.plugins.rank_factor.kernels.random import gig
from plaidwork.plugins.rank_factor.vb_state import new_q

LIKELIHOODS = {"levels": {}, "pairs": {"scheme": "pairs"}, "gaussian": {"likelihood": "gaussian"}}
SETTINGS = [
    pytest.param({**changes, "classifier": classifier, "bias": bias}, classes, id=f"{name}-{classifier}-{bias}-{classes}")
    for name, changes in LIKELIHOODS.items()
    for classifier in ("linear", "nonlinear")
    for bias, classes in ((True, 2), (False, 3))
]  # fmt: skip


def small(changes, classes=2, seed=0, n=8, d=5):
    rng = tools.generator(seed)
    x = rng.standard_normal((n, d)).round(1)
    x[rng.random(x.shape) < 0.1] = np.nan
    labels = rng.integers(-1, classes, n)
    labels[:classes] = np.arange(classes)
    data = tools.data_of(x, labels, ("a", "b", "c")[:classes])
    params = tools.params_of(
        **{"n_factors": 2, "n_components": 3, "n_levels": 4, "label_weight": 1.3, **changes}
    )
    return tools.setup_of(data, params), params


def climb(setup, params, sweeps, seed=1):
    """(largest relative fall, where, last bound) over all factors of all sweeps."""
    state, last, worst, where = new_q(setup, params, tools.generator(seed)), -np.inf, 0.0, ""
    for number in range(sweeps):
        for name, value in tools.ascent_blocks(state, setup, params, Clock(number, 0)):
            fall = (last - value) / max(1.0, abs(value))
            if not fall <= worst:
                worst, where = fall, f"{name} in sweep {number + 1}"
            last = value
    return worst, where, last


@pytest.mark.long
@pytest.mark.parametrize(("changes", "classes"), every(SETTINGS, 2))
def test_never_falls(changes, classes):
    worst, where, _ = climb(*small(changes, classes), 30)
    assert worst < 1e-10, where


@pytest.mark.slow
@pytest.mark.parametrize(("changes", "classes"), SETTINGS)
@pytest.mark.parametrize("shapes", [(0.5, 0.5), (1.0, 0.5), (2.3, 0.7), (0.2, 1.5)])
def test_never_falls_with_other_shrinkage(changes, classes, shapes):
    more = {"loading_shape": shapes[0], "loading_rate": shapes[1]}
    more |= {"coefficient_shape": shapes[0], "coefficient_rate": shapes[1]}
    worst, where, _ = climb(*small({**changes, **more}, classes, seed=4), 120)
    assert worst < 1e-8, where


MANY = [*LIKELIHOODS.values(), {"classifier": "nonlinear"}]


@pytest.mark.long
@pytest.mark.parametrize("changes", every(MANY, 4), ids=str)
def test_lies_below_the_log_norm(changes):
    """The norm of the target by simple Monte Carlo from the prior."""
    setup, params = tools.tiny(**changes)
    draws = tools.prior_draws(setup, params, 200_000, tools.generator(3))
    log_weight = tools.log_weights(setup, params, draws)
    log_norm = np.log(np.mean(np.exp(log_weight - log_weight.max()))) + log_weight.max()
    assert climb(setup, params, 40)[2] < log_norm


def normal_draw(rng, mean, packed):
    """A draw of every row and the sum of their log densities."""
    flat, covariances, total = mean.reshape(-1, mean.shape[-1]), packed.reshape(-1, packed.shape[-1]), 0.0
    out = np.empty(flat.shape)
    for i, (centre, entries) in enumerate(zip(flat, covariances, strict=True)):
        root, noise = np.linalg.cholesky(tools.full(entries, len(centre))), rng.standard_normal(len(centre))
        out[i] = centre + root @ noise
        total -= 0.5 * (noise @ noise + len(centre) * np.log(2 * np.pi)) + np.log(np.diag(root)).sum()
    return out.reshape(mean.shape), total


def log_normal(x, mean, variance):
    return float(-0.5 * (np.log(2 * np.pi * variance) + (x - mean) ** 2 / variance).sum())


def gamma_draw(rng, state, name):
    shape, rate = np.broadcast_arrays(state[f"{name}_shape"], state[f"{name}_rate"])
    x = rng.standard_gamma(shape) / rate
    return x, (shape * np.log(rate) - gammaln(shape) + (shape - 1) * np.log(x) - rate * x).sum()


@njit
def _scales(rng, eta, square, p):
    out = np.empty(eta.size)
    for i in range(eta.size):
        out[i] = gig(rng, 2.0 * eta[i], square[i], p)
    return out


def scale_draw(rng, eta, square, r):
    """xi from its generalised inverse Gaussian (tested in test_random) and its log density."""
    a, b, p = 2 * eta.ravel(), square.ravel(), r - 0.5
    x = _scales(rng, eta.ravel(), b, p)
    w = np.sqrt(a * b)
    log_norm = np.log(2 * kve(p, w)) - w + p / 2 * np.log(b / a)
    return x.reshape(eta.shape), ((p - 1) * np.log(x) - (a * x + b / x) / 2 - log_norm).sum()


def draw_of_q(rng, q, setup, params):
    """A draw of everything from q, by the names of the sampler's state, and its log density."""
    one, total = {"measured": None}, 0.0
    for name, prefix in (("a", "a"), ("z", "z"), ("beta", "beta")):
        one[name], log_q = normal_draw(rng, q[prefix], q[f"{prefix}_cov"])
        total += log_q
    names = {"eta": "eta", "phi": "phi", "phi_rate": "top", "e": "e", "b_phi": "b_phi", "b_phi_rate": "b_top"}
    names |= {"gamma": "gamma"} if setup.likelihood == "gaussian" else {}
    names |= {"psi": "psi", "alpha": "alpha"} if q["share"].shape[1] > 1 else {}
    for name, prefix in names.items():
        one[name], log_q = gamma_draw(rng, q, prefix)
        total += log_q
    one["xi"], log_q = scale_draw(rng, q["xi_eta"], q["xi_square"], params["loading_shape"])
    one["b"], log_b = scale_draw(rng, q["b_eta"], q["b_square"], params["coefficient_shape"])
    total += log_q + log_b
    one["c"] = q["c"] + np.sqrt(q["c_var"]) * rng.standard_normal(q["c"].shape)
    if setup.likelihood == "levels":
        used = np.arange(q["c"].shape[1]) < setup.levels.top[:, None]
        total += log_normal(one["c"][used], q["c"][used], q["c_var"][used])
    groups, k = q["mu"].shape
    one["t"], one["mu"] = np.zeros(len(one["z"]), int), q["mu"]
    one.setdefault("psi", np.ones(groups))
    if groups > 1:
        one["mu"] = q["mu"] + np.sqrt(q["mu_var"])[:, None] * rng.standard_normal((groups, k))
        total += log_normal(one["mu"], q["mu"], q["mu_var"][:, None])
        one["t"] = np.array([rng.choice(groups, p=row) for row in q["share"]])
        total += np.log(q["share"][np.arange(len(one["t"])), one["t"]]).sum()
        a, b = q["nu_a"][:-1], q["nu_b"][:-1]
        nu = rng.beta(a, b)
        total += ((a - 1) * np.log(nu) + (b - 1) * np.log1p(-nu) - betaln(a, b)).sum()
        one["log_nu"], one["log_rest"] = np.append(np.log(nu), 0), np.append(np.log1p(-nu), 0)
    return one, total


@pytest.mark.slow
@pytest.mark.parametrize("changes", [MANY[2], MANY[0], MANY[3]], ids=str)
def test_prior_terms_by_drawing_from_q(changes):
    """What is left of the bound without data and labels is E log prior - E log q over draws of q."""
    more = {"loading_shape": 1.5, "loading_rate": 2.0, "coefficient_shape": 1.2, "coefficient_rate": 2.5}
    setup, params = tools.tiny(**changes, **more)
    state = new_q(setup, params, tools.generator(1))
    for number in range(25):
        for _ in tools.ascent_blocks(state, setup, params, Clock(number, 0)):
            pass
    found = bound.elbo(state, setup, params, 0.0) - bound.label_bound(state, setup, params)
    if setup.likelihood == "gaussian":
        found -= bound.data_bound(state, setup)
    normals = state["a"].size + state["z"].size + state["beta"].size
    normals += int(setup.levels.top.sum()) if setup.likelihood == "levels" else 0
    normals += state["mu"].size if state["share"].shape[1] > 1 else 0
    rng, values = tools.generator(7), []
    for _ in range(800):
        one, log_q = draw_of_q(rng, state, setup, params)
        log_p = log_prior(one, setup, params) - 0.5 * normals * np.log(2 * np.pi)
        values.append(log_p - log_q)
    error = np.std(values) / np.sqrt(len(values))
    assert error < 0.3
    assert abs(np.mean(values) - found) < 4.5 * error


def test_hinge_of_a_known_argument():
    """-(u + |u|) = -2 max(0, u) when nothing varies."""
    w = np.array([[-2.0, 0.1, 0.9, 3.0]])
    level, zero, out = np.array([[0, 0, 1, 1]], np.int32), np.zeros((1, 4)), np.empty(1)
    c, top = np.array([[0.4]]), np.array([1])
    levels.bound(level, top, w, zero, c, 0 * c, 0.5, zero, zero, False, out)
    u = np.array([0.5 - 2.0 - 0.4, 0.5 + 0.1 - 0.4, 0.5 + 0.4 - 0.9, 0.5 + 0.4 - 3.0])
    assert out[0] == pytest.approx(-2 * np.maximum(u, 0).sum())


def test_slices_do_not_change_the_numbers(monkeypatch):
    setup, params = small({"classifier": "nonlinear"})
    found = []
    for size in (gibbs.SLICE, 1):
        monkeypatch.setattr(gibbs, "SLICE", size)
        state, bounds = new_q(setup, params, tools.generator(1)), []
        for number in range(12):
            bounds.append(tools.climb(state, setup, params, number)["elbo"])
        found.append(bounds)
    assert found[0] == found[1]
