"""What Start gives: words by their values, variances as shares, the restart that is shown, what the test half will have."""

from types import SimpleNamespace

import numpy as np
import pytest
import supervised_ibp_tools as tools
from scipy.sparse import csr_matrix
from scipy.special import logsumexp

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.findings.unlocking import standing
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.fitting import fit
from plaidwork.plugins.supervised_ibp import crossfit as crossfits
from plaidwork.plugins.supervised_ibp.analyses import EFFECTS
from plaidwork.plugins.supervised_ibp.corpus import corpus_of, prepared_rows, variances_of
from plaidwork.plugins.supervised_ibp.crossfit import Expected, crossfit, expected_test, folds_of, part_of
from plaidwork.plugins.supervised_ibp.heldout import Topics, infer, log_density
from plaidwork.plugins.supervised_ibp.prior import log_shares
from plaidwork.plugins.supervised_ibp.results import Fit, shown
from plaidwork.plugins.supervised_ibp.wording import caution


def planted(seed, n=300, d=40):
    """Counts (n, d), outcomes, topics (n, 2) in a third of the documents each."""
    rng = np.random.default_rng(seed)
    z = rng.random((n, 2)) < 0.33
    words = np.zeros((2, d))
    words[0, :8], words[1, 8:16] = 2.0, 2.0
    return rng.poisson(0.4 + z @ words), z @ [1.0, -1.0] + rng.normal(size=n), z


def inputs(x, y):
    names = tuple(f"d{i}" for i in range(len(x)))
    return {
        "X": Dataset("X", x, names, tuple(f"w{j}" for j in range(x.shape[1]))),
        "y": Dataset("y", y, names),
    }


@pytest.fixture(scope="module")
def fitted():
    x, y, z = planted(1)
    given = inputs(x, y)
    return fit("supervised_ibp", given, {"n_topics": 2, "moves": 40}, seed=1, chains=2), z


def defaults(**changed):
    return registry().model("supervised_ibp").spec.check_params(changed)


@pytest.mark.parametrize(
    ("values", "transform"),
    [([0.0, 3.0], "log1p"), ([0.0, 1.0], "log1p"), ([0.0, 1.5], "count"), ([-1.0, 2.0], "count")],
)
def test_logarithms_are_of_counts_alone(values, transform):
    x = np.random.default_rng(0).choice(values, (40, 6))
    data = tools.model_data(x, np.arange(40.0), split=np.arange(40) % 2)
    corpus = corpus_of(data, defaults())
    assert corpus.transform == transform
    rows = prepared_rows(data, corpus, corpus.test, defaults()).toarray()
    wanted = np.log1p(x) if transform == "log1p" else x
    assert rows == pytest.approx(wanted[1::2][:, corpus.words])


def test_what_is_done_to_counts_is_decided_without_the_test_half():
    x = np.random.default_rng(0).poisson(1.0, (40, 6)).astype(float)
    x[1::2] += 0.5
    data = tools.model_data(x, np.arange(40.0), split=np.arange(40) % 2)
    assert corpus_of(data, defaults()).transform == "log1p"


@pytest.mark.parametrize("scale", ["standardise", "centre", "none"])
def test_variances_are_shares_of_that_of_a_word(scale):
    x, y, _ = planted(0, n=60)
    data = tools.model_data(x, y, split=np.arange(60) % 2)
    settings = defaults(scale=scale, noise=0.5, weight_variance=2.0)
    corpus = corpus_of(data, settings)
    dense = np.log1p(x[::2])[:, corpus.words] / corpus.scale
    assert variances_of(corpus, settings) == pytest.approx(
        np.array([0.5, 2.0]) * dense.var(axis=0, ddof=1).mean()
    )
    assert variances_of(corpus, settings | {"variances": "numbers"}) == (0.5, 2.0)


@pytest.mark.slow
def test_the_unit_of_the_words_does_not_matter():
    """Not with shares; with numbers it does."""
    x, y, _ = planted(0, n=80)
    ends = {}
    for variances in ("shares", "numbers"):
        for unit in (1.5, 1.5 * 2.0**-8):
            run = fit(
                "supervised_ibp",
                inputs(unit * x, y),
                {"n_topics": 2, "variances": variances, "transform": "count", "background": False},
                chains=1,
                max_sweeps=30,
            )
            ends[variances, unit] = run.results["assignments"].values
    assert ends["shares", 1.5] == pytest.approx(ends["shares", 1.5 * 2.0**-8], abs=1e-6)
    assert np.abs(ends["numbers", 1.5] - ends["numbers", 1.5 * 2.0**-8]).max() > 0.1


def test_a_run_from_before_means_numbers():
    assert registry().model("supervised_ibp").spec.stored_params({"noise": 0.8})["variances"] == "numbers"


def test_a_preset_of_the_package_that_is_not_is_told():
    x, y, _ = planted(0, n=60)
    told = registry().model("supervised_ibp").validate(tools.model_data(x, y), defaults(texteffect=True))
    (problem,) = [one for one in told if one.where == "texteffect"]
    assert problem.severity == "warning"
    for word in ("Word counts", "Scaling", "Background topic", "Variance of the weights"):
        assert word in problem.message
    like = defaults(**tools.PACKAGE | {"texteffect": True})
    assert not registry().model("supervised_ibp").validate(tools.model_data(x, y), like)


def some_fit(bound, *shares, exclusive=0.0):
    """A restart of 200 documents with topics in these shares of them."""
    nu = np.column_stack([np.arange(200) < 200 * share for share in (1.0, *shares)]).astype(float)
    chain = SimpleNamespace(kept_trace=lambda name: np.array([bound]))
    return Fit(
        chain,
        nu,
        np.ones((nu.shape[1], 3)),
        np.eye(nu.shape[1]),
        np.zeros(1),
        np.full(nu.shape[1], exclusive),
        1,
    )


def test_the_restart_shown_has_the_highest_bound_among_those_with_topics_in_range():
    rare, common, sound, lower = (
        some_fit(4, 0.015, 0.3),
        some_fit(3, 0.3, 0.95),
        some_fit(2, 0.02, 0.9),
        some_fit(1, 0.5),
    )
    assert [fit.in_range for fit in (rare, common, sound, lower)] == [False, False, True, True]
    assert some_fit(0, 0.0, 0.3).in_range  # a topic that is not in use does not count
    assert not some_fit(0, 0.0).in_range
    assert shown([lower, rare, sound, common], defaults()) is sound
    assert shown([common, rare], defaults()) is rare
    assert shown([lower, rare, sound], defaults(show="bound")) is rare


def test_no_restart_in_range_is_told():
    x, y, _ = planted(0, n=60)
    run = fit("supervised_ibp", inputs(x, y), {"n_topics": 2}, chains=1, max_sweeps=3)
    assert "no restart has all its topics" not in run.results["caption"]
    run = fit("supervised_ibp", inputs(np.eye(60, 12) * 30, y), {"n_topics": 1}, chains=1, max_sweeps=30)
    assert "no restart has all its topics in 2 to 90 %" in run.results["caption"]


@pytest.mark.long
def test_a_part_of_a_corpus_is_its_rows(fitted):
    x, y, _ = planted(3, n=80)
    data = tools.model_data(x, y, split=np.arange(80) % 2)
    corpus = corpus_of(data, defaults())
    rows = np.arange(40)[::3]
    part = part_of(corpus, rows)
    assert tools.dense(part) == pytest.approx(tools.dense(corpus)[rows])
    assert part.square == pytest.approx((tools.dense(corpus)[rows] ** 2).sum())
    assert part.y.tolist() == corpus.y[rows].tolist()


def test_a_cross_fit_is_the_fit_without_a_fold_and_topics_from_words_alone():
    x, y, z = planted(4, n=120)
    data = tools.model_data(x, y, split=np.arange(120) % 2)
    settings = defaults(n_topics=2)
    corpus = corpus_of(data, settings)
    nu = 0.1 + 0.8 * z[corpus.train]
    (found, density), fold = crossfit(corpus, nu, settings), folds_of(corpus, settings)
    assert sorted(np.bincount(fold)) == [12] * 5
    rest, own = np.flatnonzero(fold != 2), np.flatnonzero(fold == 2)
    part = part_of(corpus, rest)
    state = tools.state_of(part, nu[rest], settings)
    for _ in range(crossfits.MOST_SWEEPS):
        while tools.advance(state, part, settings) is None:
            pass
    topics = crossfits.Topics(state["phi"].T.copy(), state["cov"], state["share_a"], state["share_b"])
    words = csr_matrix((corpus.values, corpus.indices, corpus.indptr), corpus.shape)[own]
    nu, evidence = infer(words, topics, corpus, settings)
    assert found[own] == pytest.approx(nu, abs=1e-9)
    assert density[own] == pytest.approx(log_density(words, topics, corpus, settings, evidence), rel=1e-9)


@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize("scale", ["standardise", "centre"])
def test_the_log_density_of_words_is_the_sum_over_topics(scale, background):
    """Of exp E log N(x; z A, s2x) under q(A) times the bound of p(z), with the Jacobian of the scaling."""
    x, y, _ = planted(7, n=60, d=6)
    data = tools.model_data(x, y, split=np.arange(60) % 2)
    settings = defaults(n_topics=3, scale=scale, background=background)
    corpus = corpus_of(data, settings)
    rng, k = np.random.default_rng(0), 3 + background
    half = rng.standard_normal((k, k))
    topics = Topics(
        rng.standard_normal((k, 6)), half @ half.T / 9, rng.gamma(2.0, size=3), rng.gamma(2.0, size=3)
    )
    words = csr_matrix((corpus.values, corpus.indices, corpus.indptr), corpus.shape)
    noise, dense = variances_of(corpus, settings)[0], tools.dense(corpus)
    gram = topics.phi @ topics.phi.T + 6 * topics.cov
    log_in, log_out = log_shares("finite", topics.share_a, topics.share_b)
    terms = []
    for free in np.ndindex(2, 2, 2):
        z = np.array([1.0] * background + list(free))
        square = (dense**2).sum(axis=1) - 2 * dense @ topics.phi.T @ z + z @ gram @ z
        prior = np.where(np.array(free) > 0, log_in, log_out).sum()
        terms.append(
            prior - 3 * np.log(2 * np.pi * noise) - square / (2 * noise) - np.log(corpus.scale).sum()
        )
    evidence = infer(words, topics, corpus, settings)[1]
    assert log_density(words, topics, corpus, settings, evidence) == pytest.approx(
        logsumexp(terms, axis=0), rel=1e-9
    )


def test_equal_documents_are_in_one_fold():
    x, y, _ = planted(5, n=60)
    x[1::2] = x[::2]
    corpus = corpus_of(tools.model_data(x, y), defaults(test_share=0.0))
    fold = folds_of(corpus, defaults(test_share=0.0))
    assert (fold[1::2] == fold[::2]).all()


def test_expected_documents_are_near_those_of_the_test_half(fitted):
    """Binomial standard error of a count: below 6 of 150; four of them."""
    run, z = fitted
    expected = run.results["topics"].columns["Expected test documents"]
    assert np.isnan(expected[0])  # the background is in all
    test = run.results["half"].values == "test"
    assert sorted(expected[1:]) == pytest.approx(sorted(z[test].sum(axis=0)), abs=24)
    assert run.results["caution"] == ""
    assert (run.results["topics"].columns["For an effect"][1:] == "enough").all()


def test_a_topic_by_chance_is_expected_in_fewer_documents_than_the_training_half_says():
    """Noise alone: what is found in the training half is hardly found again."""
    rng = np.random.default_rng(6)
    data = tools.model_data(rng.poisson(0.3, (120, 60)), rng.normal(size=120))
    settings = defaults(n_topics=3)
    corpus = corpus_of(data, settings)
    nu = (rng.random((60, 3)) < 0.3).astype(float)
    expected = expected_test(corpus, crossfit(corpus, nu, settings)[0])
    assert expected.n == 60
    assert expected.count.max() < 0.5 * nu.sum(axis=0).min()
    assert expected.few.all()


def test_few_expected_documents_speak_against_opening(fitted):
    expected = Expected(np.array([19.0, 21.0, 130.0, 131.0]), 150)
    assert expected.few.tolist() == [True, False, False, True]
    text = caution(expected)
    assert "topic 1 (19), topic 4 (131)" in text
    assert "Of 150 test documents" in text
    assert caution(Expected(np.array([99.0, 101.0]), 1000)).count("topic 1 (99)") == 1
    assert caution(Expected(np.array([101.0]), 1000)) == caution(None) == ""
    run, _ = fitted
    run.results["caution"], before = text, run.results["caution"]
    data = list(run.session.datasets.values())
    assert standing(EFFECTS, run, data).text.endswith("split the documents better.")
    run.results["caution"] = before
