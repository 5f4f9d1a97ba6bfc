"""Rows of counts that share a total: their law against scipy's, chains against the enumeration, faults that must show."""

import numpy as np
import pytest
from dp_tools import (
    LEARNED,
    LOG_WEIGHTS,
    MODEL,
    Chain,
    adjusted_rand,
    chain,
    fit_by_hand,
    log_weights,
    matrices,
    p_value,
    posterior,
    rows_evidence,
    settings,
    smallest_p,
)
from plaid_tools import with_fault
from scipy import stats

from plaidwork.core.api import Clock
from plaidwork.core.checks import checks_for
from plaidwork.core.data.dataset import Dataset
from plaidwork.plugins.dirichlet_processes import leaving_out, rows
from plaidwork.plugins.dirichlet_processes.base import first_base, update_base
from plaidwork.plugins.dirichlet_processes.kernels import clusters, newcomers, scan
from plaidwork.plugins.dirichlet_processes.kernels import rows as kernels
from plaidwork.plugins.dirichlet_processes.kernels.forms import Clusters, empty_clusters
from plaidwork.plugins.dirichlet_processes.model import DirichletProcessMixture
from plaidwork.plugins.dirichlet_processes.partitions import log_new
from plaidwork.plugins.dirichlet_processes.reading import read
from plaidwork.plugins.dirichlet_processes.state import law_of

GAP = np.nan
COUNTS = np.array([[3, 0, 1], [2, 1, 0], [0, 4, 1], [1, 3, 9], [GAP, GAP, GAP], [0, 1, 0]])
NUMBERS = np.array([[0.1], [0.5], [2.0], [2.2], [GAP], [1.0]])
ENOUGH = 1e-3
"""A right sampler's smallest p value, corrected for their number, is below it in one of a thousand seeds."""
FOUND = 1e-6
"""A fault has to show more clearly than that."""
OFTEN = 0.01
"""Probability of a partition that a batch of 300 sweeps sees three times."""
PRIORS = ("dirichlet", "pitman_yor", "finite")


def case(**changed):
    given = {"likelihoods": "multinomial", "share_weight": 0.6, "alpha": 0.8, "discount": 0.3, **changed}
    return matrices(a=COUNTS), settings(**given)


def slot(x, weight=0.6):
    """Rows, their law and a free slot; beside a column of categories, whose levels come first."""
    params = settings(likelihoods="multinomial, categorical", share_weight=weight)
    table = read(matrices(a=x, b=np.zeros((len(x), 1))), params)
    base = first_base(params, 2, 0, 0)
    base["k0"][0] = weight
    law = law_of(table, base, params, log_new(params, len(x), 0.8, 0.3), 0.3)
    c = Clusters(**empty_clusters(1, *table.widths))
    clusters.reset(c, 0, law, True)
    return table, law, c


def test_predictive_law_is_a_ratio_of_evidence_and_scipys():
    x = np.random.default_rng(4).poisson([0.3, 9.0, 2.0, 15.0], (8, 4)).astype(float)
    x[2], x[3] = GAP, 0.0
    table, law, c = slot(x)
    seen = np.zeros(4)
    for i, row in enumerate(x):
        before = clusters.log_marginal(c, 0, law)
        found = clusters.log_predictive(c, 0, table.items, i, law)
        clusters.add(c, 0, table.items, i, law)
        ratio = clusters.log_marginal(c, 0, law) - before + table.items.rows.ways[i, 0]
        assert found == pytest.approx(ratio, abs=1e-12)
        known = np.nan_to_num(row)
        expected = stats.dirichlet_multinomial.logpmf(known.astype(int), 0.6 + seen, int(known.sum()))
        expected += np.log((1 + i) / (2 + i))  # the category
        assert found == pytest.approx(expected, abs=1e-12)
        seen += known
    whole = rows_evidence(np.zeros(7, int), x[[0, 1, 3, 4, 5, 6, 7]], np.array(0.6)) - np.log(9)
    assert clusters.log_marginal(c, 0, law) + table.constant == pytest.approx(whole, abs=1e-11)


def test_rows_leave_without_a_trace():
    table, law, c = slot(COUNTS)
    for i in (0, 1, 2):
        clusters.add(c, 0, table.items, i, law)
    before = [array[0].copy() for array in c]
    for i in (3, 4, 5):
        clusters.add(c, 0, table.items, i, law)
    assert c.levels[0].tolist() == [6.0, 0.0, 6.0, 9.0, 11.0]
    for i in (3, 4, 5):
        clusters.remove(c, 0, table.items, i, law)
    assert all(np.array_equal(old, new[0]) for old, new in zip(before, c, strict=True))


def test_long_rows_neither_overflow_nor_underflow():
    """Of a million counts of 2000 columns, with a tiny weight: within a billionth of the ratio of evidence."""
    rng = np.random.default_rng(1)
    x = rng.multinomial([1_000_000, 3000, 2000], rng.dirichlet(np.full(2000, 0.3))).astype(float)
    for weight in (1e-6, 0.05, 1e4):
        table, law, c = slot(x, weight)
        for i in range(3):
            before = clusters.log_marginal(c, 0, law)
            found = clusters.log_predictive(c, 0, table.items, i, law)
            clusters.add(c, 0, table.items, i, law)
            expected = clusters.log_marginal(c, 0, law) - before + table.items.rows.ways[i, 0]
            assert found == pytest.approx(expected, rel=1e-9)


def test_log_joint_is_the_density_of_data_partition_and_weight():
    data, params = case(learn_base=True)
    state = MODEL.init(data, params, np.random.default_rng(1))
    rng = np.random.default_rng(3)
    for sweep in range(20):
        while (traces := MODEL.step(state, data, params, rng, Clock(sweep, 0))) is None:
            pass
        z, a = tuple(state["labels"].tolist()), state["base"]["k0"][0]
        fixed = {**params, "learn_base": False, "share_weight": a}
        expected = log_weights(z, data, fixed, of=6) - np.log(0.6) - a / 0.6
        expected -= np.log(0.8 * 1.8 * 2.8 * 3.8 * 4.8 * 5.8)
        assert traces["log_joint"] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("learned", [False, True])
def test_frequencies_of_partitions_in_short(learned):
    data, params = case(learn_base=learned, moves=2, scans=1)
    assert smallest_p(MODEL, data, params, 1500, least=0.03) > ENOUGH


@pytest.mark.slow
@pytest.mark.parametrize("moves", [0, 3])
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("learned", [False, True])
def test_frequencies_of_all_partitions(learned, prior, moves):
    data, params = case(prior=prior, moves=moves, scans=1, learn_base=learned)
    assert smallest_p(MODEL, data, params, 12_000, least=OFTEN) > ENOUGH


@pytest.mark.slow
@pytest.mark.parametrize("moves", [0, 3])
def test_frequencies_beside_numbers(moves):
    params = settings(
        likelihoods="multinomial, gaussian", share_weight=0.6, moves=moves, scans=1, alpha=0.8, prior="finite"
    )
    assert smallest_p(MODEL, matrices(a=COUNTS, b=NUMBERS), params, 12_000, least=OFTEN) > ENOUGH


def weights_seen(data, params, number, seed=2):
    """(number,) log weights of shares of a chain."""
    rng = np.random.Generator(np.random.PCG64DXSM(seed))
    state, found = MODEL.init(data, params, rng), np.empty(number)
    for sweep in range(number):
        while MODEL.step(state, data, params, rng, Clock(sweep, 0)) is None:
            pass
        found[sweep] = np.log(state["base"]["k0"][0])
    return found


def off_weight(number):
    """p value that the log weight has the mean that enumeration and quadrature give."""
    data, params = case(learn_base=True, moves=0, cluster_moves=0)
    labels, probability = posterior(data, params)
    known = np.flatnonzero(data["views"][0].observed.all(axis=1))
    x, mean = data["views"][0].values[known], 0.0
    for z, p in zip(labels, probability, strict=True):
        w = (
            rows_evidence(np.array(z)[known], x, np.exp(LOG_WEIGHTS))
            + LOG_WEIGHTS
            - np.exp(LOG_WEIGHTS) / 0.6
        )
        w = np.exp(w - w.max())
        mean += p * (w * LOG_WEIGHTS).sum() / w.sum()
    return p_value(weights_seen(data, params, number), mean)


WEIGHT_FAULTS = {
    "": ("", ""),
    "the weight of a logarithm left out": ("+ u - a / mean", "- a / mean"),
    "the prior left out": ("+ u - a / mean", "+ u"),
    "the totals left out": ("gammaln(a * width) - gammaln(a * width + totals)", "0.0 * totals"),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", WEIGHT_FAULTS)
def test_the_weight_of_a_share_and_its_faults(fault, monkeypatch):
    if fault:
        wrong = with_fault(rows.density_of_weight, *WEIGHT_FAULTS[fault])
        monkeypatch.setattr(rows, "density_of_weight", wrong)
    p = off_weight(8000)
    assert p < FOUND if fault else p > ENOUGH


def with_wrong_rows(old, new):
    """``log_known`` with a fault in the law of rows."""
    wrong = with_fault(kernels.predict_rows, old, new)
    return with_fault(clusters.log_known, log_density=with_fault(clusters.log_density, predict_rows=wrong))


ROW_FAULTS = {
    "the total left out": (" + math.lgamma(every) - math.lgamma(every + items.rows.totals[i, j])", ""),
    "equal counts as if each were the first": ("product *= seen + t", "product *= seen"),
    "the columns' number left out of the prior's total": (
        "weight * (law.first[codes + j + 1] - law.first[codes + j])",
        "weight",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", ROW_FAULTS)
def test_faults_of_the_law_of_rows_are_found(fault, monkeypatch):
    draw = with_fault(scan.draw_labels, log_known=with_wrong_rows(*ROW_FAULTS[fault]))
    monkeypatch.setattr(scan, "draw_labels", draw)
    data, params = case(moves=0, cluster_moves=0)
    assert smallest_p(MODEL, data, params, 12_000, least=OFTEN) < FOUND


def test_a_density_without_the_coefficient_is_found(monkeypatch):
    """Labels do not need it, densities do."""
    data, params = case()
    state = MODEL.init(data, params, np.random.default_rng(1))
    state["labels"][:] = [0, 0, 1, 1, 0, 1]
    kept = Chain([{**MODEL.draws(state, data, params), "cluster_of": state["labels"], "n_clusters": 2}])
    right = MODEL.log_likelihood(kept, np.array([0]), data, params, 0, np.arange(6), None)[0]
    wrong = with_fault(newcomers.leave_out, log_known=with_wrong_rows("items.rows.ways[i, j] + ", ""))
    monkeypatch.setattr(leaving_out, "leave_out", wrong)
    found = MODEL.log_likelihood(kept, np.array([0]), data, params, 0, np.arange(6), None)[0]
    ways = read(data, params).items.rows.ways[:, 0]
    assert right[[0, 1, 2, 3, 5]] - found[[0, 1, 2, 3, 5]] == pytest.approx(ways[[0, 1, 2, 3, 5]], abs=1e-9)
    assert np.isnan(right[4])
    assert ways.max() > 1.0


def test_the_weight_follows_many_clusters():
    """With 500 clusters of 200 counts each drawn at a weight of 0.3 it is found within four standard errors, some 2 %."""
    rng = np.random.default_rng(6)
    shares = rng.dirichlet(np.full(10, 0.3), 500)
    x = rng.multinomial(200, shares).astype(float)
    params = settings(likelihoods="multinomial", learn_base=True)
    table = read(matrices(a=x), params)
    c = Clusters(**empty_clusters(500, *table.widths))
    c.size[:], c.levels[:], c.coded[:] = 1, x, 200
    base, found = first_base(params, 1, 0, 0), []
    for _ in range(60):
        update_base(rng, c, 500, base, params, table)
        found.append(base["k0"][0])
    assert np.mean(found[10:]) == pytest.approx(0.3, rel=0.05)


def documents(seed, n=120, words=200):
    """Short texts, 15 to 60 words, of four subjects that share half of their common words."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, n)
    common = rng.dirichlet(np.full(words, 0.3))
    shares = 0.5 * common + 0.5 * rng.dirichlet(np.full(words, 0.05), 4)
    return rng.multinomial(rng.integers(15, 61, n), shares[truth]).astype(float), truth


@pytest.mark.parametrize("seed", [1, 2])
def test_planted_subjects_of_short_texts(seed):
    x, truth = documents(seed)
    x[7] = GAP
    data, params = matrices(X=x), settings(**LEARNED, likelihoods="multinomial")
    found = fit_by_hand(data, params, chains=4, warmup=40, draws=20)
    keep = np.arange(len(x)) != 7
    assert adjusted_rand(found["labels"].values[keep], truth[keep]) >= 0.95
    assert found["profile"].values.sum(axis=1) == pytest.approx(np.ones(len(found["cluster"].values)))
    assert ((found["profile_interval"].values >= 0) & (found["profile_interval"].values <= 1)).all()


@pytest.mark.slow
@pytest.mark.parametrize("start", ["together", "sequential", "means", "random"])
def test_planted_subjects_from_every_start(start):
    """How much was counted says nothing, and with Poisson counts would."""
    x, truth = documents(3, n=300)
    params = settings(**LEARNED, likelihoods="multinomial", start=start)
    found = fit_by_hand(matrices(X=x), params, chains=1, warmup=150, draws=100)
    assert adjusted_rand(found["labels"].values, truth) >= 0.95


def test_a_chain_repeats_itself():
    data, params = case(learn_base=True)
    one, two = (chain(MODEL, data, params, 20, 5)[1] for _ in range(2))
    assert np.array_equal(one, two)


@pytest.mark.long
def test_all_views_open_and_single_samples_are_told():
    """The whole way of a fit: checks of the conformance suite with such data, one row missing, beside numbers."""
    counts, truth = documents(4, n=30, words=12)
    counts[3] = GAP
    scores = truth[:, None] + np.random.default_rng(2).normal(size=(30, 2))
    names = [tuple(f"{letter}{i}" for i in range(30)) for letter in "swx"]
    given = [
        Dataset("words", counts, names[0], names[1][:12]),
        Dataset("scores", scores, names[0], names[2][:2]),
    ]
    ids = [
        "traces",
        "draws",
        "results",
        "views",
        "pictures",
        "same_seed",
        "state_round_trip",
        "densities",
        "predicts",
    ]
    checks = checks_for(DirichletProcessMixture, only=ids)
    bench = checks[0].run.args[0]
    bench.plan = bench.make({"views": given}, {"likelihoods": "words = multinomial"})
    for check in checks:
        check()
    assert {check.id for check in checks} >= set(ids)
    assert bench.results["column_names"].values.tolist()[-1] == "w11 (words)"
