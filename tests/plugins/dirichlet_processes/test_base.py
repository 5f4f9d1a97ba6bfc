"""What the clusters have in common: updates that the joint-distribution test (Geweke 2004) must find wrong when they are."""

import numpy as np
import pytest
from plaid_tools import with_fault

from plaidwork.core.checks import CheckFailed, checks_for
from plaidwork.plugins.dirichlet_processes import base, joint, sweep
from plaidwork.plugins.dirichlet_processes.base import first_base, prior_base, update_base
from plaidwork.plugins.dirichlet_processes.kernels import scatter
from plaidwork.plugins.dirichlet_processes.model import DirichletProcessMixture

CORRELATED = "correlated columns with gaps"
PITMAN_YOR, COUNTED = "correlated columns with gaps, Pitman-Yor", "counts and numbers with gaps, finite"
BOUNDED = "spread near its least"
FAULTS = {
    "the least variance forgotten": ("least_b0(params, table.least)", "0.0 * table.least", BOUNDED),
    "the least scatter forgotten": ("number * nu0, inverse, least)", "number * nu0, inverse, 0.0 * least)", BOUNDED),
    "K / 2 forgotten in the weight of the centre": (
        "shape = 1.0 + 0.5 * number * int(here.sum())", "shape = 1.0", "numbers",
    ),
    "the prior forgotten in the scale of the variances": ("SHAPE_B0 + number * a0", "number * a0", "numbers"),
    "the prior of the centre forgotten": ("precision = 1.0 + weight", "precision = weight", "numbers"),
    "the clusters' degrees forgotten in Psi0": ("d + MORE + number * nu0", "d + MORE", CORRELATED),
    "K d / 2 forgotten in the weight of correlated centres": ("1.0 + 0.5 * number * d", "1.0", CORRELATED),
    "rates without the clusters": ("rng.gamma(1.0 + number * a,", "rng.gamma(1.0 + a,", "counts, Pitman-Yor"),
    "rates of counts with gaps without the clusters": ("rng.gamma(1.0 + number * a,", "rng.gamma(1.0 + a,", COUNTED),
    "the prior of the centre forgotten beside counts": ("precision = 1.0 + weight", "precision = weight", COUNTED),
    "the clusters' degrees forgotten, Pitman-Yor": ("d + MORE + number * nu0", "d + MORE", PITMAN_YOR),
}  # fmt: skip


def geweke(trial):
    (check,) = [
        one for one in checks_for(DirichletProcessMixture, only=("geweke",)) if str(one) == f"geweke[{trial}]"
    ]
    return check


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_the_base_are_found(fault, monkeypatch):
    old, new, trial = FAULTS[fault]
    geweke(trial)()
    if trial in (CORRELATED, PITMAN_YOR) or "least scatter" in fault:
        monkeypatch.setattr(joint, "update_scatter", with_fault(scatter.update_scatter, old, new))
    else:
        monkeypatch.setattr(sweep, "update_base", with_fault(base.update_base, old, new))
    with pytest.raises(CheckFailed):
        geweke(trial)()


def test_base_is_drawn_from_its_prior_where_it_is_learned():
    params = DirichletProcessMixture.spec.check_params({"within": 0.3})
    rng = np.random.default_rng(1)
    drawn = [prior_base(params, 1, 3, 2, rng) for _ in range(4000)]
    usual = first_base(params, 1, 3, 2)
    for name in ("k0", "b0", "rate"):
        mean = np.mean([one[name] for one in drawn], axis=0)
        assert mean == pytest.approx(usual[name], rel=0.07), name
    fixed = prior_base({**params, "learn_base": False}, 1, 3, 2, rng)
    assert all(np.array_equal(fixed[name], usual[name]) for name in usual)


def test_base_follows_many_clusters():
    """With 4000 clusters known exactly the base is where they say."""
    from dp_tools import matrices, settings

    from plaidwork.plugins.dirichlet_processes.kernels.forms import Clusters, empty_clusters
    from plaidwork.plugins.dirichlet_processes.reading import read

    params = settings(likelihoods="gaussian", learn_base=True)
    table = read(matrices(X=np.zeros((2, 1))), params)
    c, rng, k = Clusters(**empty_clusters(4000, 1, 0, 0, 0)), np.random.default_rng(2), 4000
    mu, count = 2.0 + rng.normal(size=k), 10_000
    c.size[:], c.known[:, 0], c.mean[:, 0], c.square[:, 0] = count, count, mu, 0.5 * count
    found = first_base(params, 1, 1, 0)
    for _ in range(10):
        update_base(rng, c, k, found, params, table)
    assert found["m0"][0] == pytest.approx(2.0, abs=0.06)
    assert found["k0"][0] == pytest.approx(0.5, rel=0.08)
    assert found["b0"][0] == pytest.approx(2.5 * 0.5, rel=0.05)
