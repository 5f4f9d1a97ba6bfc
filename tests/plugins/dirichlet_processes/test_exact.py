"""The chain's frequencies of all partitions against their enumeration, for every prior, likelihood and kind of move."""

import itertools

import numpy as np
import pytest
from dp_tools import MODEL, chain, column_evidence, matrices, partitions, posterior, settings, smallest_p
from plaid_tools import with_fault
from scipy.stats import t as student

from plaidwork.plugins.dirichlet_processes.base import first_base
from plaidwork.plugins.dirichlet_processes.kernels import clusters, scan, split_merge
from plaidwork.plugins.dirichlet_processes.kernels.forms import Clusters, empty_clusters
from plaidwork.plugins.dirichlet_processes.partitions import log_new, log_partition
from plaidwork.plugins.dirichlet_processes.reading import read
from plaidwork.plugins.dirichlet_processes.state import law_of

GAP = np.nan
NUMBERS = [[0.1, 1.0], [0.5, 0.2], [2.0, GAP], [2.2, -1.0], [GAP, 0.3]]
CODES = [[0, 1], [0, 1], [1, 2], [1, GAP], [0, 0]]
COUNTS = [[0, 3], [1, 4], [6, 1], [5, GAP], [2, 2]]
DATA = {
    "gaussian": {"a": NUMBERS},
    "categorical": {"a": CODES},
    "poisson": {"a": COUNTS},
    "gaussian, categorical, poisson": {"a": NUMBERS, "b": CODES, "c": COUNTS},
    "gaussian_full": {"a": NUMBERS},
}
PRIORS = ("dirichlet", "pitman_yor", "finite")
ENOUGH = 1e-3
"""A right sampler's smallest p value, corrected for their number, is below it in one of a thousand seeds."""
FOUND = 1e-6
"""A fault has to show more clearly than that."""


def case(likelihoods, prior, **changed):
    return matrices(**DATA[likelihoods]), settings(
        likelihoods=likelihoods, prior=prior, discount=0.3, alpha=0.8, **changed
    )


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("n", [1, 4, 7])
def test_probabilities_of_all_partitions_sum_to_one(prior, n):
    params = settings(prior=prior)
    table = log_new(params, n, 0.8, 0.3)
    total = sum(np.exp(log_partition(params, np.bincount(one), 0.8, 0.3, table)) for one in partitions(n))
    assert total == pytest.approx(1.0, abs=1e-8)


@pytest.mark.parametrize("likelihoods", list(DATA)[:-1])
def test_predictive_law_is_a_ratio_of_evidence(likelihoods):
    data, params = case(likelihoods, "dirichlet")
    table = read(data, params)
    base = first_base(params, len(table.kinds), table.widths[0], table.widths[3])
    law = law_of(table, base, params, log_new(params, 5, 0.8, 0.3), 0.3)
    c = Clusters(**empty_clusters(1, *table.widths))
    clusters.reset(c, 0, law, table.items.complete)
    for i in range(5):
        before = clusters.log_marginal(c, 0, law)
        expected = clusters.log_predictive(c, 0, table.items, i, law)
        clusters.add(c, 0, table.items, i, law)
        alone = read(
            matrices(**{name: np.array(x)[i : i + 1] for name, x in DATA[likelihoods].items()}), params
        ).constant
        assert clusters.log_marginal(c, 0, law) - before + alone == pytest.approx(expected, abs=1e-10)
    known = [
        (kind, b, j) for kind, b in zip(table.kinds, data["views"], strict=True) for j in range(b.shape[1])
    ]
    whole = sum(
        column_evidence(b.values[b.observed[:, j], j], int(b.values[:, j].max()) + 1, kind, params)
        for kind, b, j in known
    )
    assert clusters.log_marginal(c, 0, law) + table.constant == pytest.approx(whole, abs=1e-9)


def gaps_alike(density=clusters.log_predictive):
    """Whether rows with gaps have the density of Student laws, where columns have from 1 to 50 members, and of a value far out."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=(60, 4))
    values[rng.random(values.shape) < [0.1, 0.4, 0.5, 0.9]] = GAP
    values[7], values[8, 1] = [1e6, GAP, -3e5, GAP], 30.0
    data, params = matrices(a=values), settings(likelihoods="gaussian", prior="dirichlet")
    table = read(data, params)
    base = first_base(params, 1, 4, 0)
    law = law_of(table, base, params, log_new(params, 60, 0.8, 0.3), 0.3)
    c = Clusters(**empty_clusters(1, *table.widths))
    clusters.reset(c, 0, law, False)
    for i in range(10, 60):
        clusters.add(c, 0, table.items, i, law)
    m, k0 = c.known[0], law.k0
    assert m.min() < 10 < 30 < m.max()
    b = law.b0 + 0.5 * c.square[0] + 0.5 * k0 * m / (k0 + m) * (c.mean[0] - law.m0) ** 2
    a, k = law.a0 + 0.5 * m, k0 + m
    centre, scale = law.m0 + m / k * (c.mean[0] - law.m0), np.sqrt(b * (k + 1.0) / (a * k))
    each = np.where(table.items.known, student.logpdf(table.items.numbers, 2.0 * a, centre, scale), 0.0)
    found = [density(c, 0, table.items, i, law) for i in range(60)]
    return np.allclose(found, each.sum(axis=1), rtol=1e-12, atol=1e-10)


def test_rows_with_gaps_have_the_density_of_student_laws():
    assert gaps_alike()


GAPS = {
    "a column with one member more": ("m - least", "m - least + 1"),
    "powers of many members forgotten": ("second += 0.5 * more * math.log(grown)", "second += 0.0"),
    "the power of the column with most members": ("least = min(least", "least = max(least"),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", GAPS)
def test_faults_of_rows_with_gaps_are_found(fault):
    numbers = with_fault(clusters.predict_numbers, *GAPS[fault])
    density = with_fault(clusters.log_density, predict_numbers=numbers)
    assert not gaps_alike(with_fault(clusters.log_predictive, log_density=density))


def test_taking_rows_out_again_leaves_what_was():
    data, params = case("gaussian, categorical, poisson", "dirichlet")
    table = read(data, params)
    base = first_base(params, 3, 2, 2)
    law = law_of(table, base, params, log_new(params, 5, 0.8, 0.3), 0.3)
    c = Clusters(**empty_clusters(1, *table.widths))
    clusters.reset(c, 0, law, False)
    for i in (0, 1, 2):
        clusters.add(c, 0, table.items, i, law)
    before = [array[0].copy() for array in c]
    for i in (3, 4):
        clusters.add(c, 0, table.items, i, law)
    for i in (3, 4):
        clusters.remove(c, 0, table.items, i, law)
    for old, new in zip(before, c, strict=True):
        assert new[0] == pytest.approx(old, abs=1e-12)


@pytest.mark.long
def test_log_joint_is_the_density_of_data_and_partition():
    data, params = case("gaussian, categorical, poisson", "finite")
    labels, probability = posterior(data, params)
    place = {one: i for i, one in enumerate(labels)}
    found, joint = chain(MODEL, data, params, 60, 2)
    at = [place[tuple(one)] for one in found.tolist()]
    assert joint - np.log(probability[at]) == pytest.approx(
        np.full(60, joint[0] - np.log(probability[at[0]])), abs=1e-7
    )


def test_all_kinds_of_columns_together():
    data, params = case("gaussian, categorical, poisson", "pitman_yor", moves=3, scans=1)
    assert smallest_p(MODEL, data, params, 600) > ENOUGH


@pytest.mark.slow
@pytest.mark.parametrize(("likelihoods", "prior", "moves"), [*itertools.product(DATA, PRIORS, (0, 3))])
def test_frequencies_of_all_partitions(likelihoods, prior, moves):
    data, params = case(likelihoods, prior, moves=moves, cluster_moves=moves, scans=1)
    assert smallest_p(MODEL, data, params, 6000) > ENOUGH


@pytest.mark.long
@pytest.mark.parametrize("prior", PRIORS)
def test_frequencies_by_moves_of_any_cluster(prior, monkeypatch):
    data, params = case("gaussian", prior, moves=0, cluster_moves=6, scans=1)
    many_moves(monkeypatch)
    assert smallest_p(MODEL, data, params, 6000) > ENOUGH


CLUSTER_FAULTS = {
    "a split as likely to be chosen as its merge": ("log_gain", "if by_cluster:", "if False:"),
    "the number of clusters before the split": ("log_gain", "(number + 1.0)", "(number + 0.0)"),
    "rows of a cluster with the one that was chosen": ("log_gain", "(rows - 1.0)", "rows"),
    "the sizes of the sides left out": ("log_gain", "* pair.size[FIRST] * pair.size[SECOND]", ""),
    "every third time a split": ("pick", "rng.random() < 0.5", "rng.random() < 0.33"),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", CLUSTER_FAULTS)
def test_faults_of_moves_of_any_cluster_are_found(fault, monkeypatch):
    data, params = case("gaussian", "pitman_yor", moves=0, cluster_moves=6, scans=1)
    many_moves(monkeypatch, *CLUSTER_FAULTS[fault])
    assert smallest_p(MODEL, data, params, 12_000) < FOUND


def many_moves(monkeypatch, part="", old="", new=""):
    """Sweeps of many moves and few labels, so that faults of moves show: labels are drawn in every fourth sweep."""
    drawn = itertools.count()
    right = scan.draw_labels
    monkeypatch.setattr(
        scan, "draw_labels", lambda *given: right(*given) if next(drawn) % 4 == 0 else given[-1]
    )
    if part == "make_moves":
        wrong = with_fault(split_merge.make_moves, old, new)
    elif part:
        wrong = with_fault(split_merge.make_moves, **{part: with_fault(getattr(split_merge, part), old, new)})
    else:
        return
    monkeypatch.setattr(split_merge, "make_moves", wrong)


FAULTS = {
    "the prior's weight of a new cluster left out": ("log_gain", "law.log_new[number] + ", ""),
    "sizes as if the prior were a Dirichlet process": ("log_gain", "s = law.shift", "s = 0.0"),
    "the proposal left out": ("make_moves", "gain -= log_q", "gain -= 0.0"),
    "merges refused early that may be accepted": ("make_moves", "level >= -gain", "level >= -gain - 0.5"),
    "the larger cluster alone in place of both": ("put_together", "if z[i] == small", "if z[i] < 0"),
    "the probability of the other side": (
        "place_others",
        "gap if side[p] == 0 else -gap",
        "-gap if side[p] == 0 else gap",
    ),
    "a merge accepted like a split": ("make_moves", "gain if move.split else -gain", "gain"),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["", *FAULTS])
def test_faults_of_a_move_are_found(fault, monkeypatch):
    data, params = case("gaussian", "pitman_yor", moves=3, cluster_moves=0, scans=1)
    many_moves(monkeypatch, *FAULTS.get(fault, ()))
    p = smallest_p(MODEL, data, params, 12_000)
    assert p < FOUND if fault else p > ENOUGH


LABEL_FAULTS = {
    "the size of a cluster without the discount": ("c.size[k] + law.shift", "c.size[k]"),
    "a new cluster weighed as if the row's own were there": (
        "law.log_new[at[NUMBER]]",
        "law.log_new[at[NUMBER] + 1]",
    ),
    "rows that are alone cannot be joined": (
        "if c.size[k] > 0:\n                slots",
        "if c.size[k] > 1:\n                slots",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", LABEL_FAULTS)
def test_faults_of_a_label_are_found(fault, monkeypatch):
    data, params = case("gaussian", "pitman_yor", moves=0, cluster_moves=0)
    monkeypatch.setattr(scan, "draw_labels", with_fault(scan.draw_labels, *LABEL_FAULTS[fault]))
    assert smallest_p(MODEL, data, params, 12_000) < FOUND
