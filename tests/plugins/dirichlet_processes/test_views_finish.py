"""The kernel of the end of a sweep draws what numpy draws, to the last bit."""

import copy

import numpy as np
import pytest
from mv_tools import MODEL, matrices
from plaid_tools import with_fault

from plaidwork.core.api import Clock
from plaidwork.plugins.dirichlet_processes.base import update_base
from plaidwork.plugins.dirichlet_processes.kernels.scan import evidence
from plaidwork.plugins.dirichlet_processes.multi_view import sweep as end
from plaidwork.plugins.dirichlet_processes.multi_view.kernels import finish, sums
from plaidwork.plugins.dirichlet_processes.multi_view.kernels.numbering import number_blocks, number_clusters
from plaidwork.plugins.dirichlet_processes.multi_view.kernels.weights import seat_blocks
from plaidwork.plugins.dirichlet_processes.multi_view.state import (
    clusters_at,
    law_of_view,
    links_of,
    tables_of,
)
from plaidwork.plugins.dirichlet_processes.partitions import draw_alpha, draw_shared_alpha

PARAMS = MODEL.spec.check_params({"likelihoods": "gaussian, categorical, poisson", "start": "random"})


def test_sums_are_those_of_numpy():
    rng = np.random.default_rng(1)
    for n in (0, 1, 7, 8, 9, 127, 128, 129, 136, 300, 1023, 5000):
        x = rng.gamma(0.3, size=n) * 10.0 ** rng.integers(-6, 6, n)
        assert sums.sum_of(x) == x.sum(), n
    for rows, columns in ((1, 1), (9, 1), (200, 1), (1, 5), (9, 2), (200, 9)):
        x, out = rng.gamma(0.3, size=(rows, columns)), np.empty(columns)
        sums.column_sum(x, out)
        assert np.array_equal(out, x.sum(axis=0)), (rows, columns)


def by_numpy(state, tables, rng):
    """The end of a sweep with the draws of other models."""
    links, n = links_of(state), len(state["block"])
    number_blocks(state["block"], links)
    law = PARAMS["block_alpha_shape"], PARAMS["block_alpha_rate"]
    state["block_alpha"] = draw_alpha(rng, state["block_alpha"], n, int((links.members > 0).sum()), *law)
    for v, table in enumerate(tables.tables):
        c, lo, hi = clusters_at(state, tables, v), links.first[v], links.first[v + 1]
        used = np.empty(hi - lo, np.int64)
        k = number_clusters(state["cluster"][v], links, v, used)
        for array in c:
            array[:k] = array[used[:k]]
            array[k:] = 0
        seats = np.zeros(k, np.int64)
        seat_blocks(rng, links, v, seats)
        gamma, present, total = float(links.gamma[v]), links.present[:, v], int(seats.sum())
        links.gamma[v] = draw_alpha(rng, gamma, total, k, PARAMS["gamma_shape"], PARAMS["gamma_rate"])
        law = PARAMS["alpha_shape"], PARAMS["alpha_rate"]
        links.alpha[v] = draw_shared_alpha(rng, float(links.alpha[v]), present, total, *law)
        parts = rng.standard_gamma(np.append(seats, links.gamma[v]))
        parts /= parts.sum()
        links.beta[lo : lo + k], links.rest[v] = parts[:-1], parts[-1]
        update_base(rng, c, k, state["base"][v], PARAMS, table)
        state["log_evidence"][v] = evidence(c, k, law_of_view(state["base"][v], table, PARAMS))


def ends_alike(kernel=finish.end_sweep):
    """Whether both ways end twenty sweeps with the same state and random numbers."""
    rng = np.random.default_rng(2)
    numbers = rng.normal(size=(60, 5)) + 4.0 * rng.integers(0, 3, 60)[:, None]
    numbers[rng.random(numbers.shape) < 0.1] = np.nan
    counts = rng.poisson(2.0 + 6.0 * rng.integers(0, 2, 60)[:, None], (60, 2)).astype(float)
    counts[7] = np.nan
    data = matrices(a=numbers, b=rng.integers(0, 3, (60, 2)).astype(float), c=counts)
    state, tables = MODEL.init(data, PARAMS, rng), tables_of(data, PARAMS)
    for number in range(20):
        *first, last = MODEL.stages(state, data, PARAMS, rng, Clock(number, 20))
        for stage in first:
            if stage.begin:
                stage.begin()
            stage.work(0, stage.size)
        other, twin = copy.deepcopy(state), copy.deepcopy(rng)
        by_numpy(other, tables, twin)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(end, "end_sweep", kernel)
            last.work(0, 1)
        for name in ("block", "cluster", "block_alpha", "log_evidence"):
            if not np.array_equal(state[name], other[name]):
                return False
        parts = [(state["links"], other["links"]), (state["clusters"], other["clusters"])]
        for one, two in [*parts, *zip(state["base"], other["base"], strict=True)]:
            if not all(np.array_equal(one[name], two[name]) for name in one):
                return False
        if rng.random() != twin.random():
            return False
    return True


def test_the_kernel_draws_what_numpy_draws():
    assert ends_alike()


FAULTS = {
    "the spread of a cluster off by little": ("draw_numbers", "0.5 * k0 * count / k_c", "0.5 * (k0 * count / k_c + 1e-12)"),
    "rates of another shape": ("draw_rates", "1.0 + number * a", "1.0 + number + a"),
    "gamma with the tables of one more": ("draw_weights", "links.gamma[v], total,", "links.gamma[v], total + 1,"),
    "free blocks draw": ("draw_shared", "if size > 0:\n            ended", "if size >= 0:\n            ended"),
    "means that stay where they are": ("sort_clusters", "c.mean, used, number, moved", "c.mean, used, number, False"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_the_kernel_are_found(fault):
    name, old, new = FAULTS[fault]
    wrong = with_fault(getattr(finish, name), old, new)
    if name == "draw_shared":
        name, wrong = "draw_weights", with_fault(finish.draw_weights, draw_shared=wrong)
    assert not ends_alike(with_fault(finish.end_sweep, **{name: wrong}))
