"""The Gaussian conditionals against finite differences of the augmented log density, written out independently."""

import numpy as np
import pytest
import rank_factor_tools as tools

from plaidwork.plugins.rank_factor import gibbs, mixture, rows
from plaidwork.plugins.rank_factor.kernels import pairs as pair_kernels
from plaidwork.plugins.rank_factor.kernels.solve import outer_packed, packed_size
from plaidwork.plugins.rank_factor.start import new_state

SETTINGS = [
    {"likelihood": likelihood, "scheme": scheme, "classifier": classifier, "bias": bias}
    for likelihood, scheme in (("rank", "levels"), ("rank", "pairs"), ("gaussian", "levels"))
    for classifier in ("linear", "nonlinear")
    for bias in (True, False)
]


def problem(classes=3, **changes):
    """A state in the midst of a sweep: kappa drawn, sums over the rows made, everything else at random."""
    rng = tools.generator(3)
    x = rng.standard_normal((9, 5)).round(1)
    x[rng.random(x.shape) < 0.15] = np.nan
    labels = rng.integers(-1, classes, 9)
    labels[:classes] = np.arange(classes)
    data = tools.data_of(x, labels, ("a", "b", "c")[:classes])
    params = tools.params_of(
        **{"n_factors": 3, "n_components": 3, "n_levels": 4, "label_weight": 1.7, **changes}
    )
    setup = tools.setup_of(data, params)
    state = new_state(setup, params, rng)
    for name in ("beta", "mu", "a"):
        state[name] = 0.7 * rng.standard_normal(state[name].shape)
    for name in ("psi", "gamma", "xi", "b"):
        state[name] = np.exp(0.3 * rng.standard_normal(state[name].shape))
    if params["classifier"] == "linear":
        state["mu"][:], state["psi"][:] = 0, 1
    mixture.draw_label_terms(state, setup, params, rng)
    return setup, params, state, rng


def kappas(setup, state, rng):
    """Weights of every comparison, as (i, below, above) arrays or one list of pairs."""
    if setup.likelihood == "pairs":
        return np.exp(rng.standard_normal(len(setup.pairs.low)))
    has = setup.levels.values
    below = np.exp(rng.standard_normal(has.shape)) * (has > 0)
    return below, np.exp(rng.standard_normal(has.shape)) * (has >= 0) * (has < setup.levels.top[:, None])


def augmented(setup, params, state, kappa):
    """Log density of everything Gaussian given kappa; -(u + lambda)^2 / (2 lambda) for every hinge."""
    w, eps, total = state["a"] @ state["z"].T, rows.step_margin(setup, params), 0.0

    def hinge(u, kap):
        return -0.5 * kap * (u + 1 / kap) ** 2

    if setup.likelihood == "gaussian":
        total -= 0.5 * (state["gamma"][:, None] * setup.known * (setup.x - w) ** 2).sum()
    elif setup.likelihood == "pairs":
        for i in range(len(w)):
            at = setup.pairs.start[i]
            for e, (lo, hi) in enumerate(tools.reference_pairs(setup.levels.values[i])):
                total += hinge(eps + w[i, lo] - w[i, hi], kappa[at + e])
    else:
        for i, n in np.argwhere(setup.known):
            j = setup.levels.values[i, n]
            if j > 0:
                total += hinge(eps + state["c"][i, j - 1] - w[i, n], kappa[0][i, n])
            if j < setup.levels.count[i] - 1:
                total += hinge(eps + w[i, n] - state["c"][i, j], kappa[1][i, n])
    own = mixture.decisions(state["z"], state["beta"])[np.arange(len(state["t"])), state["t"]]
    for n, g in np.argwhere(setup.y != 0):
        u = params["label_weight"] * (1 - setup.y[n, g] * own[n, g])
        total += hinge(u, state["label_kappa"][n, g])
    t = state["t"]
    total -= 0.5 * (state["psi"][t, None] * (state["z"] - state["mu"][t]) ** 2).sum()
    total -= 0.5 * (state["a"] ** 2 / state["xi"]).sum() + 0.5 * (state["beta"] ** 2 / state["b"]).sum()
    if params["classifier"] == "linear":
        total -= 0.5 * (state["beta"] ** 2).sum() / params["coefficient_size"] ** 2
    total -= 0.5 * tools.bound_of_loadings(params) * (state["a"] ** 2).sum()
    used = np.arange(state["c"].shape[1]) < (setup.levels.top[:, None] if setup.likelihood == "levels" else 0)
    return total - 0.5 * (state["c"][used] ** 2).sum() / params["threshold_sd"] ** 2


def quadratic(of, x):
    """(precision, linear term) of a function that is quadratic, at 0, by differences that are exact but for rounding."""
    k, base = len(x), of(0 * x)
    unit = np.eye(k)
    slope = np.array([(of(e) - of(-e)) / 2 for e in unit])
    precision = np.array([[-(of(e + f) - of(e) - of(f) + base) for f in unit] for e in unit])
    return precision, slope


def at(state, name, index):
    """The log density as a function of one vector of the state."""

    def change(setup, params, kappa):
        def of(x):
            old = state[name][index].copy()
            state[name][index] = x
            value = augmented(setup, params, state, kappa)
            state[name][index] = old
            return value

        return of

    return change


def row_sums(setup, params, state, kappa):
    """What the rows say to the scores, with the given kappa, by the product's own functions."""
    rows.begin_rows(state, setup)
    d = len(state["a"])
    if setup.likelihood == "pairs":
        state["kappa"], state["w"] = kappa, state["z"] @ state["a"].T
        p = np.empty((d, len(state["z"])))
        pairs = setup.pairs
        pair_kernels.touching(0, d, pairs.start, pairs.low, pairs.high, kappa, p)
        rows.add_rows(state, setup, 0, d, p, None)
    elif setup.likelihood == "levels":
        p, h = rows.level_kernels.buffers(setup.known.shape, 2)
        eps = rows.step_margin(setup, params)
        rows.level_kernels.cell_terms(setup.levels.values, *kappa, state["c"], eps, p, h)
        rows.add_rows(state, setup, 0, d, p, h)
        return p, h
    else:
        p, h = state["gamma"][:, None] * setup.known, state["gamma"][:, None] * setup.x
        rows.add_rows(state, setup, 0, d, p, h)
        return p, h
    return p, None


def close(found, expected):
    precision, linear = found
    scale = max(1.0, np.abs(expected[0]).max())
    assert np.abs(precision - expected[0]).max() < 1e-8 * scale
    assert np.abs(linear - expected[1]).max() < 1e-8 * max(scale, np.abs(expected[1]).max())


@pytest.mark.parametrize("changes", SETTINGS, ids=lambda c: "-".join(map(str, c.values())))
@pytest.mark.parametrize("classes", [2, 3])
def test_scores(changes, classes):
    setup, params, state, rng = problem(classes, **changes)
    kappa = kappas(setup, state, rng) if setup.likelihood != "gaussian" else None
    row_sums(setup, params, state, kappa)
    k, eps = state["z"].shape[1], rows.step_margin(setup, params)
    precision, linear = gibbs.score_part(state, setup, params, 0, len(state["z"]))
    for n in range(len(state["z"])):
        if setup.pairs is not None:
            p = setup.pairs
            pair_kernels.sample_linear(
                n, p.first, p.row, p.other, p.pair, p.sign, kappa, state["w"], state["a"], eps, linear[n]
            )
        expected = quadratic(at(state, "z", n)(setup, params, kappa), state["z"][n])
        close((tools.full(precision[n], k), linear[n]), expected)


@pytest.mark.parametrize("changes", SETTINGS[::4], ids=lambda c: "-".join(map(str, c.values())))
def test_loadings(changes):
    setup, params, state, rng = problem(**changes)
    kappa = kappas(setup, state, rng) if setup.likelihood != "gaussian" else None
    d, k = state["a"].shape
    if setup.pairs is not None:
        precision, linear = np.zeros((d, packed_size(k))), np.zeros((d, k))
        p, eps = setup.pairs, rows.step_margin(setup, params)
        pair_kernels.row_terms(0, d, p.start, p.low, p.high, kappa, state["z"], eps, precision, linear)
    else:
        p, h = row_sums(setup, params, state, kappa)
        precision, linear = p @ outer_packed(state["z"]), h @ state["z"]
    for i in range(d):
        expected = quadratic(at(state, "a", i)(setup, params, kappa), state["a"][i])
        prior = np.diag(1 / state["xi"][i] + tools.bound_of_loadings(params))
        close((tools.full(precision[i], k) + prior, linear[i]), expected)


@pytest.mark.parametrize("changes", SETTINGS[:4], ids=lambda c: "-".join(map(str, c.values())))
def test_classifiers(changes):
    setup, params, state, rng = problem(**changes)
    kappa = kappas(setup, state, rng)
    precision, linear = mixture.coefficient_terms(state, setup, params)
    groups, g, k = state["beta"].shape
    for at_row, (t, column) in enumerate(np.ndindex(groups, g)):
        expected = quadratic(at(state, "beta", (t, column))(setup, params, kappa), state["beta"][t, column])
        prior = np.diag(1 / state["b"][t, column] + mixture.size_precision(params))
        close((tools.full(precision[at_row], k) + prior, linear[at_row]), expected)


def test_thresholds():
    setup, params, state, rng = problem()
    below, above = kappas(setup, state, rng)
    precision = np.full(state["c"].shape, params["threshold_sd"] ** -2)
    linear, eps = np.zeros(state["c"].shape), rows.step_margin(setup, params)
    w = state["a"] @ state["z"].T
    rows.level_kernels.threshold_terms(setup.levels.values, w, below, above, eps, precision, linear)
    for i in range(len(w)):
        for j in range(setup.levels.top[i]):
            expected = quadratic(
                at(state, "c", (i, slice(j, j + 1)))(setup, params, (below, above)), state["c"][i, j : j + 1]
            )
            close((precision[i, j], linear[i, j]), expected)


def test_scores_of_pairs_are_drawn_one_after_the_other():
    """With noise taken out every sample ends at its conditional mean given those before it as they are by then."""
    setup, params, state, rng = problem(scheme="pairs")
    kappa = kappas(setup, state, rng)
    row_sums(setup, params, state, kappa)
    k, old = state["z"].shape[1], state["z"].copy()
    gibbs.draw_part(state, setup, params, tools.generator(5), 0, len(old))
    new, noise = state["z"].copy(), tools.generator(5)
    state["z"][:] = old
    for n in range(len(old)):
        precision, linear = quadratic(at(state, "z", n)(setup, params, kappa), state["z"][n])
        root = np.linalg.cholesky(precision)
        drawn = np.linalg.solve(precision, linear) + np.linalg.solve(root.T, noise.standard_normal(k))
        assert np.abs(drawn - new[n]).max() < 1e-7
        state["z"][n] = drawn
    np.testing.assert_allclose(state["w"], new @ state["a"].T, atol=1e-10)
