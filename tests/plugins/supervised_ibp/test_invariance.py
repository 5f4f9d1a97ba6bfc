"""What must not matter: storage, order, names of topics, one group, slices; and documents at the edge."""

import numpy as np
import pytest
import supervised_ibp_tools as tools
from scipy.sparse import csr_matrix

from plaidwork.core.api import ModelError
from plaidwork.core.plugins.registry import registry
from plaidwork.plugins.supervised_ibp import sweep
from plaidwork.plugins.supervised_ibp.bound import elbo_of
from plaidwork.plugins.supervised_ibp.corpus import corpus_of
from plaidwork.plugins.supervised_ibp.start import begun, seek


def texts(seed=0, n=60, d=20, k=3):
    rng = np.random.default_rng(seed)
    z = rng.random((n, k)) < 0.4
    x = rng.poisson(0.3 + z @ (2 * (rng.random((k, d)) < 0.3))).astype(float)
    return x, z @ np.array([2.0, -1.0, 0.5])[:k] + rng.standard_normal(n), z


def climb(corpus, nu, settings, sweeps=30):
    state, bounds = tools.state_of(corpus, nu.copy(), settings), []
    while len(bounds) < sweeps:
        traces = tools.advance(state, corpus, settings)
        if traces is not None:
            bounds.append(traces["elbo"])
    return state, np.array(bounds)


def begin(data, seed=1, **settings):
    chosen = tools.params(**{"n_topics": 3, **settings})
    corpus = corpus_of(data, chosen)
    return corpus, np.random.default_rng(seed).random((corpus.shape[0], chosen["n_topics"])), chosen


@pytest.mark.parametrize("settings", [{}, {"transform": "tfidf"}, {"transform": "log1p", "scale": "centre"}])
def test_a_sparse_matrix_gives_what_the_dense_one_gives(settings):
    x, y, _ = texts()
    ends = [climb(*begin(tools.model_data(m, y), **settings)) for m in (x, csr_matrix(x))]
    assert ends[0][1].tobytes() == ends[1][1].tobytes()
    for name, value in ends[0][0].items():
        assert np.array_equal(value, ends[1][0][name])


@pytest.mark.parametrize("scale", ["standardise", "centre", "none"])
@pytest.mark.parametrize("transform", ["count", "log1p", "binary", "tfidf"])
def test_the_words_are_those_of_a_dense_computation(scale, transform):
    x, y, _ = texts()
    x[:, 4] = 1.0  # constant
    x[:, 5] = 0.0  # never
    corpus, _, _ = begin(tools.model_data(x, y), scale=scale, transform=transform)
    half = x[corpus.train]
    with np.errstate(divide="ignore"):
        made = {
            "count": half,
            "log1p": np.log1p(half),
            "binary": (half > 0).astype(float),
            "tfidf": half * np.log(len(half) / np.maximum((half > 0).sum(axis=0), 1)),
        }[transform]
    kept = np.setdiff1d(np.flatnonzero(made.std(axis=0) > 0), [4, 5])
    assert corpus.words.tolist() == kept.tolist()
    made = made[:, kept]
    if scale != "none":
        made = made - made.mean(axis=0)
    if scale == "standardise":
        made = made / made.std(axis=0, ddof=1)
    assert tools.dense(corpus) == pytest.approx(made, abs=1e-12)
    assert corpus.square == pytest.approx((made**2).sum(), rel=1e-12)


def test_the_order_of_documents_does_not_matter():
    x, y, _ = texts()
    corpus, nu, settings = begin(tools.model_data(x, y), test_share=0.0)
    order = np.random.default_rng(3).permutation(60)
    turned, _, _ = begin(tools.model_data(x[order], y[order]), test_share=0.0)
    one, bounds = climb(corpus, nu, settings)
    other, again = climb(turned, nu[order], settings)
    assert again == pytest.approx(bounds, rel=1e-11)
    assert other["nu"] == pytest.approx(one["nu"][order], abs=1e-8)


def test_the_order_of_topics_leaves_the_bound():
    x, y, _ = texts()
    corpus, nu, settings = begin(tools.model_data(x, y))
    state, _ = climb(corpus, nu, settings, 5)
    before = elbo_of(state, corpus, settings)
    order = [2, 0, 1]
    for name in ("phi", "rows", "nu"):
        state[name] = np.ascontiguousarray(state[name][:, order])
    for name in ("share_a", "share_b", "coef", "offset"):
        state[name] = state[name][order]
    for name in ("outer", "cov", "coef_cov"):
        state[name] = state[name][np.ix_(order, order)]
    assert elbo_of(state, corpus, settings) == pytest.approx(before, rel=1e-13)


def test_one_group_is_no_group():
    x, y, _ = texts()
    plain = begin(tools.model_data(x, y))
    grouped = begin(tools.model_data(x, y, group=(np.zeros(60, np.int64), ("all",))))
    assert climb(*grouped)[1].tobytes() == climb(*plain)[1].tobytes()


def test_slices_are_the_whole(monkeypatch):
    x, y, _ = texts()
    given = begin(
        tools.model_data(x, y, covariates=np.random.default_rng(0).standard_normal((60, 2))), intercept=True
    )
    whole, bounds = climb(*given)
    monkeypatch.setattr(sweep, "SLICE", 700)
    sliced, again = climb(*given)
    assert again == pytest.approx(bounds, rel=1e-12)
    assert sliced["nu"] == pytest.approx(whole["nu"], abs=1e-9)
    state, calls = tools.state_of(*given), 0
    while tools.advance(state, given[0], given[2]) is None:
        calls += 1
    assert calls > 10


def test_parts_of_a_sweep_are_those_of_the_documents_and_reach_the_bound_sooner(monkeypatch):
    x, y, _ = texts(n=400, d=15)
    corpus, nu, settings = begin(tools.model_data(x, y))
    k = 3
    parts = sweep.parts_of(corpus, {**settings, "parts": 7}, k)
    assert [end for _, end in parts] == [200 * part // 7 for part in range(1, 8)]
    assert [first for first, _ in parts] == [0, *(end for _, end in parts[:-1])]
    assert sweep.n_parts(corpus, settings, k) == 1  # small data
    monkeypatch.setattr(sweep, "LARGE", 1)
    assert sweep.n_parts(corpus, settings, k) > 1
    monkeypatch.setattr(sweep, "MOST_PARTS", 3)
    assert sweep.n_parts(corpus, settings, k) == 3
    assert sweep.n_parts(corpus, {**settings, "texteffect": True}, k) == 1
    monkeypatch.undo()
    whole = climb(corpus, nu, settings, 6)[1]
    parts = climb(corpus, nu, {**settings, "parts": 5}, 6)[1]
    assert (np.diff(parts) >= -1e-9 * np.abs(parts[1:])).all()
    assert parts[2] > whole[2]
    monkeypatch.setattr(sweep, "SLICE", 700)
    assert climb(corpus, nu, {**settings, "parts": 5}, 6)[1] == pytest.approx(parts, rel=1e-12)


@pytest.mark.parametrize("entries", [10**9, 40])
def test_the_search_for_a_start_finds_the_singular_vectors(entries):
    x, y, _ = texts(n=120)
    corpus, _, settings = begin(tools.model_data(x, y), start="svd")
    state, calls = begun(corpus, {}, settings, np.random.default_rng(0)), 0
    while not seek(state, corpus, entries):
        calls += 1
    odds = np.log(state["nu"] / (1 - state["nu"]))
    free = (np.abs(odds) < 29).all(axis=1)  # where nothing was cut off
    assert free.sum() > 30
    true = np.linalg.svd(tools.dense(corpus), full_matrices=False)[0][:, :3]
    true = np.column_stack([np.ones(60), true])[free]
    rest = odds[free] - true @ np.linalg.lstsq(true, odds[free], rcond=None)[0]
    assert np.abs(rest).max() < 0.02 * odds.std()
    assert (calls == 12) == (entries > 40)
    assert 0.1 < (state["nu"] > 0.5).mean() < 0.2  # the upper 15 %


def test_one_topic():
    x, y, _ = texts()
    state, bounds = climb(*begin(tools.model_data(x, y), n_topics=1))
    assert (np.diff(bounds) >= -1e-9 * np.abs(bounds[1:])).all()
    assert state["nu"].shape == (30, 1)


def test_an_empty_topic_and_two_equal_ones_stay_sound():
    x, y, _ = texts()
    corpus, nu, settings = begin(tools.model_data(x, y))
    nu[:, 0], nu[:, 1] = 0.0, nu[:, 2]
    state, bounds = climb(corpus, nu, settings, 60)
    assert np.isfinite(bounds).all()
    assert (np.diff(bounds) >= -1e-9 * np.abs(bounds[1:])).all()
    assert np.isfinite(state["coef_cov"]).all()


def test_more_words_than_documents():
    x, y, _ = texts(n=20, d=300)
    _, bounds = climb(*begin(tools.model_data(x, y)))
    assert (np.diff(bounds) >= -1e-9 * np.abs(bounds[1:])).all()


def test_words_are_screened_on_the_training_half():
    x, y, z = texts(n=200, d=40)
    x[:, 7] = z[:, 0]  # goes along with the outcome
    data = tools.model_data(x, y)
    corpus, _, _ = begin(data, screen=5)
    assert len(corpus.words) == 5
    assert 7 in corpus.words
    changed = y.copy()
    changed[corpus.test] = 100 * np.random.default_rng(0).standard_normal(len(corpus.test))
    assert begin(tools.model_data(x, changed), screen=5)[0].words.tolist() == corpus.words.tolist()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda x, y: (x, np.ones(60)), "outcome is 1 in all 30"),
        (lambda x, y: (np.ones((60, 20)), y), "20 are the same in all"),
        (lambda x, y: (np.eye(60), y), "No word is left"),
        (lambda x, y: (x[:2], y[:2]), "Too few training documents: 1"),
        (lambda x, y: (-x, y), "counts of 0 or more"),
        (lambda x, y: (np.where(x == x.max(), np.inf, x), y), "infinite"),
    ],
)
def test_what_cannot_be_fitted_is_told(change, words):
    x, y = change(*texts()[:2])
    settings = tools.params(min_documents=2, transform="log1p")
    with pytest.raises(ModelError, match=words):
        corpus_of(tools.model_data(x, y), settings)
    problems = registry().model("supervised_ibp").validate(tools.model_data(x, y), settings)
    assert [problem.severity for problem in problems] == ["error"]


def test_what_is_noteworthy_is_told():
    x, y, _ = texts()
    x[:30, :] = np.where(np.arange(30)[:, None] < 8, 0, x[:30])
    y[50] = np.nan
    data = tools.model_data(x, y)
    block = data["y"]
    observed = np.isfinite(y)
    data = tools.model_data(x, y)
    object.__setattr__(block, "observed", observed)
    data._blocks["y"] = block
    told = registry().model("supervised_ibp").validate(data, tools.params())
    assert {problem.severity for problem in told} == {"warning"}
    text = " ".join(problem.message for problem in told)
    assert "covariate: 1 document." in text
    assert "None of the words" in text
