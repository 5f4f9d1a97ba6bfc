"""Noise with heavy tails: when it is fitted, its weights and densities, and what a run says of it."""

import math

import numpy as np
import plaid_tools as tools
import pytest
from scipy import integrate, stats

from plaidwork.core import fit
from plaidwork.core.api import Clock, ModelData
from plaidwork.plugins.plaid import sweep, tails
from plaidwork.plugins.plaid.kernels.blocks import statistics
from plaidwork.plugins.plaid.kernels.scan import column_sums, row_sums
from plaidwork.plugins.plaid.models import InfinitePlaid
from plaidwork.plugins.plaid.state import cells_of, measure

SHORT = {"chains": 2, "warmup": 30, "draws": 20, "thin": 1, "executor": "inline"}


def planted(noise, shape=(120, 80), count=4, shift=6.0, share=0.15, seed=2):
    """Values of blocks in noise, a function of a size."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.random((count, shape[0])) < share, rng.random((count, shape[1])) < share
    return shift * rows.T.astype(float) @ columns + noise(rng)(size=shape)


def normal(rng):
    return rng.normal


def heavy(rng):
    return lambda size: rng.standard_t(3, size)


def settings(**more):
    return InfinitePlaid.spec.check_params(more)


def test_tails_are_fitted_where_the_data_have_them():
    """And not for blocks, however strong or many, levels, gaps, answers of a few values or small matrices."""
    assert tails.has_tails(tools.block(planted(heavy)), settings())
    gaps = np.random.default_rng(1).random((120, 80)) < 0.7
    assert tails.has_tails(tools.block(planted(heavy), observed=gaps), settings())
    plain = planted(normal)
    levels = plain + 2.0 * np.random.default_rng(3).normal(size=(120, 1))
    answers = np.round(np.clip(2 + plain / 6, 1, 5))
    many = planted(normal, (200, 100), 30, 5.0)
    for values in (plain, levels, answers, many, planted(normal, (30, 25)), planted(normal, (12, 9))):
        assert not tails.has_tails(tools.block(values), settings())
    assert not tails.has_tails(tools.block(plain, observed=gaps), settings())


def test_gaps_are_no_tails_and_hide_few():
    """Components of as many numbers as there are cells follow some of these and leave others as they are."""
    rng = np.random.default_rng(6)
    for shape, known in (((20, 20), 0.2), ((20, 200), 0.1), ((100, 100), 0.05)):
        for _ in range(10):
            seen = rng.random(shape) < known
            values = np.where(seen, rng.standard_normal(shape), 0.0)
            assert tails.tail_share(tools.block(values, observed=seen)) < tails.FAR_SHARE
    seen = rng.random((100, 100)) < 0.3
    values = np.where(seen, rng.standard_t(2.5, seen.shape), 0.0)
    assert tails.tail_share(tools.block(values, observed=seen)) > tails.FAR_SHARE


def test_tails_are_fitted_as_the_setting_says():
    block = tools.block(planted(heavy))
    assert not tails.has_tails(block, settings(noise="normal"))
    assert not tails.has_tails(block, settings(layer="profile"))
    assert tails.has_tails(tools.block(planted(normal)), settings(noise="t"))
    assert settings()["noise"] == "if_needed"
    assert InfinitePlaid.spec.stored_params({})["noise"] == "normal"


def test_what_is_done_is_told_before_the_fit():
    model = InfinitePlaid()
    data = ModelData({"X": tools.block(planted(heavy))})

    def told(**more):
        (found,) = model.validate(data, settings(**more))
        assert "lies far out" in found.message
        return found

    assert "heavy tails (Student's t)" in told().hint
    assert not told().settings
    assert told(noise="normal").settings == {"noise": "if_needed"}
    assert told(layer="profile").transform == "normal_scores"
    assert not model.validate(ModelData({"X": tools.block(planted(normal))}), settings())


def given(missing=0.2):
    """Cells (13, 11) of which some are missing, their weights, and three blocks with levels."""
    rng = tools.generator(1)
    block = tools.block(rng.standard_t(3, (13, 11)) + 5.0, observed=rng.random((13, 11)) >= missing)
    cells = cells_of(block, measure(block, settings()))
    weights = rng.gamma(2.0, 0.5, (13, 11)) * cells.w
    blocks = rng.random((3, 13)) < 0.6, rng.random((3, 11)) < 0.6
    return cells, weights, blocks, (rng.standard_normal(3), 0.3)


def test_weights_of_one_give_the_sums_without_weights():
    cells, _, blocks, levels = given()
    ones = tails.weighted(cells, 1.0 * cells.w)
    for loop, picked in ((row_sums, blocks[1][0]), (column_sums, blocks[0][0])):
        for found, expected in zip(
            loop(ones, *blocks, *levels, picked, 1), loop(cells, *blocks, *levels, picked, 1), strict=True
        ):
            np.testing.assert_allclose(found, expected, atol=1e-12)
    for found, expected in zip(statistics(ones, *blocks), statistics(cells, *blocks), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)
    assert ones.sum_squares == pytest.approx(cells.sum_squares)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_sums_are_those_of_weighted_residuals(missing):
    cells, weights, (rows, columns), (theta, phi) = given(missing)
    seen = tails.weighted(cells, weights)
    inside = rows[:, :, None] & columns[:, None, :]
    others = np.einsum("k,kij->ij", theta * (np.arange(3) != 1), inside)
    residual = weights * (cells.x - cells.centre - phi - others)
    sums, numbers = row_sums(seen, rows, columns, theta, phi, columns[0], 1)
    np.testing.assert_allclose(sums, residual[:, columns[0]].sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(numbers, weights[:, columns[0]].sum(axis=1))
    sums, numbers = column_sums(seen, rows, columns, theta, phi, rows[0], 1)
    np.testing.assert_allclose(sums, residual[rows[0]].sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(numbers, weights[rows[0]].sum(axis=0))
    flat = np.concatenate([np.ones((1, 13 * 11)), inside.reshape(3, -1)])
    counts, totals = statistics(seen, rows, columns)
    np.testing.assert_allclose(counts, flat * weights.ravel() @ flat.T)
    np.testing.assert_allclose(totals, flat @ (weights * (cells.x - cells.centre)).ravel(), atol=1e-12)


def replica_of(blocks, levels, cells, freedom=3.5, tau0=0.7):
    found = {"rows": blocks[0], "columns": blocks[1], "theta": levels[0], "phi": levels[1] + cells.centre}
    return found | {"freedom": freedom, "tau0": tau0}


def test_likelihood_at_a_power_is_that_of_weights_integrated_out():
    """At 1 Student's t, below against quadrature over the weight of each cell."""
    cells, _, blocks, levels = given()
    replica = replica_of(blocks, levels, cells)
    inside = np.einsum("k,ki,kj->ij", levels[0], *blocks)
    residual = (cells.x - replica["phi"] - inside)[cells.w]
    expected = stats.t.logpdf(residual, 3.5, scale=0.7**-0.5)
    np.testing.assert_allclose(tails.log_t(residual, 0.7, 3.5), expected)
    assert tails.log_likelihood_of_tails(replica, cells, 1.0) == pytest.approx(expected.sum())

    def at_power(r):
        def density(w):
            return (
                stats.gamma.pdf(w, 1.75, scale=1 / 1.75) * stats.norm.pdf(r, scale=(w * 0.7) ** -0.5) ** 0.3
            )

        return math.log(integrate.quad(density, 0, 40, limit=200)[0])

    total = sum(at_power(r) for r in residual)
    assert tails.log_likelihood_of_tails(replica, cells, 0.3) == pytest.approx(total, rel=1e-6)


def test_the_marginal_is_near_that_of_a_grid():
    """Background and one shift integrated out over a grid, from several places where they may stand."""
    rng = tools.generator(4)
    block = tools.block(rng.standard_t(3, (30, 20)))
    cells = cells_of(block, measure(block, settings()))
    rows, columns = np.arange(30)[None] < 12, np.arange(20)[None] < 8
    model, data = InfinitePlaid(), ModelData({"X": block})
    params = settings(noise="t", scale=False)
    state = model.init(data, params, tools.generator(1))
    setting = model.setting(state, data, params, Clock(0, 0))
    state["replicas"]["0"] |= {"rows": rows, "columns": columns, "freedom": 3.0, "tau0": 1.0}
    law = setting.law(state["replicas"]["0"], 1.0)
    phis, thetas = np.linspace(-0.4, 0.4, 161), np.linspace(-0.9, 0.9, 181)
    x = block.values - cells.centre
    inside = rows[0][:, None] & columns[0]
    outside = stats.t.logpdf(x[~inside][:, None], 3.0, phis).sum(axis=0) + stats.norm.logpdf(
        phis, law.phi_mean, law.phi_precision**-0.5
    )
    both = stats.t.logpdf(x[inside][:, None, None], 3.0, phis[:, None] + thetas).sum(axis=0)
    both += outside[:, None] + stats.norm.logpdf(thetas, law.mu, law.tau**-0.5)
    expected = np.logaddexp.reduce(both, axis=None) + math.log((phis[1] - phis[0]) * (thetas[1] - thetas[0]))
    for phi, theta in ((0.0, 0.0), (0.06, 0.1), (-0.05, 0.15)):
        replica = state["replicas"]["0"] | {"phi": phi + cells.centre, "theta": np.array([theta])}
        assert tails.log_marginal_of_tails(replica, cells, law) == pytest.approx(expected, abs=0.6)


@pytest.mark.parametrize("power", [1.0, 0.4])
def test_degrees_of_freedom_have_their_conditional(power):
    """A chain of steps against the density on a grid, given all else but the weights."""
    rng = tools.generator(2)
    cells, _, blocks, levels = given()
    replica, prior = replica_of(blocks, levels, cells), tails.TailPrior(2.0, 0.1)
    grid = np.exp(np.linspace(math.log(tails.LOW), math.log(tails.HIGH), 801))
    log_p = stats.gamma.logpdf(grid, 2.0, scale=10.0) + np.log(grid)
    log_p += [tails.log_likelihood_of_tails(replica | {"freedom": f}, cells, power) for f in grid]
    p = np.exp(log_p - log_p.max())
    found = []
    for _ in range(12_000):
        replica["freedom"] = tails.draw_freedom(replica, cells, power, prior, rng)
        found.append([math.log(replica["freedom"]), math.log(replica["freedom"]) ** 2])
    exact = np.array([p @ np.log(grid), p @ np.log(grid) ** 2]) / p.sum()
    assert np.abs(tools.z_scores(np.array(found), exact)).max() < tools.LIMIT


@pytest.mark.parametrize("kind", ["infinite_plaid", "bayesian_plaid"])
def test_a_run_learns_the_tails_and_says_so(kind):
    run = fit(kind, {"X": planted(heavy)}, seed=1, **SHORT)
    freedom = np.concatenate([chain.kept_trace("freedom") for chain in run.kept().chains])
    assert 2.0 < freedom.mean() < 4.5
    assert run.kept().chains[0].draw("freedom", 3).shape == (1,)
    assert "Student's t with" in run.results["caption"]
    other = fit(kind, {"X": planted(normal)}, seed=1, **SHORT)
    assert other.kept().chains[0].draw("freedom", 3).shape == (0,)
    assert "Student" not in other.results["caption"]


def test_tails_that_are_asked_for_in_vain_are_not_said_to_be_heavy():
    """Normal noise by the degrees of freedom that were found."""
    run = fit("infinite_plaid", {"X": planted(normal)}, {"noise": "t"}, seed=1, **SHORT)
    freedom = np.concatenate([chain.kept_trace("freedom") for chain in run.kept().chains])
    assert freedom.mean() > 30.0
    assert "as good as normal" in run.results["caption"]
    assert "has heavy tails" not in run.results["caption"]


def test_a_sweep_goes_on_from_every_place(monkeypatch):
    """Also between rows whose weights are drawn; weights are gone when it has ended."""
    monkeypatch.setattr(sweep, "SLICE_CELLS", 1)
    monkeypatch.setattr(sweep, "SLICE_WEIGHTS", 100)
    model, data = InfinitePlaid(), tools.matrix(planted(heavy, (26, 22)))
    params = settings(noise="t", anneal=False, start="prior")
    rng = tools.generator(4)
    state = model.init(data, params, rng)
    at = []
    while model.step(state, data, params, rng, Clock(0, 0)) is None:
        at.append("weights" in state["replicas"]["0"])
        assert not model.contradiction(state, data, params)
    assert sum(at) > 8
    assert "weights" not in state["replicas"]["0"]


@pytest.mark.slow
def test_blocks_are_found_in_heavy_noise_and_as_well_in_normal_noise():
    """4 blocks of 2.5 scales of t(3) noise; normal noise fitted with tails has as many blocks as without."""
    rng = np.random.default_rng(5)
    rows, columns = rng.random((3, 90)) < 0.25, rng.random((3, 70)) < 0.25
    mean = 3.0 * np.einsum("k,ki,kj->ij", [1.0, -1.0, 1.0], rows, columns)
    truth = {"true_rows": 1.0 * rows.T, "true_columns": 1.0 * columns.T}
    plan = {"chains": 1, "warmup": 300, "draws": 300, "thin": 1, "executor": "inline"}
    for noise, params in ((heavy, {}), (normal, {"noise": "t"})):
        x = mean + noise(rng)(size=mean.shape)
        chain = fit("infinite_plaid", {"X": x, **truth}, params, seed=1, **plan).kept().chains[0]
        assert chain.kept_trace("nmi").mean() > 0.75
        assert 2.5 < chain.kept_trace("n_blocks").mean() < 5.5
