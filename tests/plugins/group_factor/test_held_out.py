"""Cells kept from the fit of simulated data, against the truth that made them, with K known and K too large."""

import group_factor_tools as tools
import numpy as np
import pytest
from scipy.special import expit, gammaln
from sparing import some

from plaidwork.core.plugins.registry import registry
from plaidwork.plugins.group_factor.imputation import best_chain, last_of
from plaidwork.plugins.group_factor.results import expected
from plaidwork.plugins.group_factor.views import read_views

N, K, NOISE = 300, 5, 0.7


def simulated(seed):
    """Views with a tenth of the cells out, which these are, the complete views, the true x of each, and the scores."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((N, K))
    x = [
        z @ (1.2 * rng.standard_normal((K, d)) * (rng.random((K, d)) < 0.4)) + 0.5 * rng.standard_normal(d)
        for d in (80, 120, 80)
    ]
    full = [
        x[0] + NOISE * rng.standard_normal(x[0].shape),
        (rng.random(x[1].shape) < expit(x[1])).astype(float),
        rng.poisson(np.logaddexp(0, x[2])).astype(float),
    ]
    out = [rng.random(part.shape) < 0.1 for part in full]
    given = [np.where(hidden, np.nan, part) for part, hidden in zip(full, out, strict=True)]
    return given, out, full, x, z


def loss(word, y, mean):
    """Mean squared error of numbers, mean negative log likelihood of bits and counts."""
    if word == "gaussian":
        return ((y - mean) ** 2).mean()
    if word == "bernoulli":
        return -np.log(np.where(y > 0, mean, 1 - mean)).mean()
    return (mean - y * np.log(mean) + gammaln(y + 1)).mean()


@pytest.mark.long
@pytest.mark.parametrize("n_factors", some([K, 2 * K], [2 * K]))
@pytest.mark.parametrize("seed", some([1, 2], [1]))
def test_held_out_cells_are_told_nearly_as_well_as_by_the_truth(seed, n_factors):
    """Of the way from a constant per feature to the truth, at least 0.97 (numbers), 0.9 (bits) and 0.93 (counts)."""
    given, out, full, x, z = simulated(seed)
    run = tools.run(given, {"n_factors": n_factors, "likelihoods": ",".join(tools.WORDS)})
    assert run.results["scores"].values.shape[1] == K
    assert tools.recovery(run.results["scores"].values, z) >= 0.99
    plan = run.session.plan_of(run, registry())
    views = read_views(plan.data, plan.params)
    mean, sd = expected(views, last_of(best_chain(run.kept())))
    assert np.isfinite(mean).all()
    assert np.isfinite(sd).all()
    truth = x[0], expit(x[1]), np.logaddexp(0, x[2])
    for m, (word, least) in enumerate(zip(tools.WORDS, (0.97, 0.9, 0.93), strict=True)):
        hidden = out[m]
        y = full[m][hidden]
        plain = np.broadcast_to(np.nanmean(given[m], axis=0), hidden.shape)[hidden]
        ours, best, none = (
            loss(word, y, guess) for guess in (mean[views.place(m)].T[hidden], truth[m][hidden], plain)
        )
        share = (none - ours) / (none - best)
        assert share <= 1.01, word
        assert share >= least, word
