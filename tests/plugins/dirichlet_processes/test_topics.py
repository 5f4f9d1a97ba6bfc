"""Planted topics are found from few and from many; bad counts are named; new documents get their topics; chains repeat."""

import numpy as np
import pytest
from hdp_tools import MODEL, planted, settings, sweep
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_matrix

from plaidwork.core import fit
from plaidwork.core.api import ModelError
from plaidwork.plugins.dirichlet_processes.topics.corpus import corpus_of, find_problems, read
from plaidwork.plugins.dirichlet_processes.topics.kernels.held_out import complete
from plaidwork.plugins.dirichlet_processes.topics.kernels.tables import draw_tables, log_rising
from plaidwork.plugins.dirichlet_processes.topics.model import main_topics
from plaidwork.plugins.dirichlet_processes.topics.results import coherence
from plaidwork.plugins.dirichlet_processes.topics.simulate import as_data
from plaidwork.plugins.dirichlet_processes.topics.starts import start_topics
from plaidwork.plugins.dirichlet_processes.topics.state import used_topics

LEARNED = {"learn": True}


def run_chain(counts, sweeps, warmup, seed=5, **changed):
    """State and last traces of one chain."""
    data, params = as_data(counts), settings(**LEARNED, **changed)
    rng = np.random.default_rng(seed)
    state = MODEL.init(data, params, rng)
    for number in range(sweeps):
        traces = sweep(state, data, params, rng, number, warmup)
    return state, traces


def least_cosine(state, phi):
    """The smallest cosine of a planted topic to the one it is paired with."""
    words = state["counts"][:, : used_topics(state)].T + state["law"][2]
    unit = words / np.linalg.norm(words, axis=1, keepdims=True)
    cosine = unit @ (phi / np.linalg.norm(phi, axis=1, keepdims=True)).T
    return float(cosine[linear_sum_assignment(-cosine)].min())


def test_planted_topics():
    counts, phi, _ = planted(documents=80, words=80, topics=4)
    state, _ = run_chain(counts, 120, 120, start_topics=8)
    assert 4 <= main_topics(state) <= 8
    assert least_cosine(state, phi) > 0.97


@pytest.mark.slow
@pytest.mark.parametrize("start", [1, 5, 30])
def test_planted_topics_from_one_and_from_many(start):
    counts, phi, _ = planted()
    state, traces = run_chain(counts, 350, 300, start_topics=start, moves=2, left_out=0.1)
    assert 10 <= main_topics(state) <= 11
    assert least_cosine(state, phi) >= 0.98
    corpus = corpus_of(as_data(counts), settings(**LEARNED, left_out=0.1))
    chosen = np.unique(corpus.out_docs)
    seen = csr_matrix(
        (np.ones(len(corpus.words)), (np.repeat(np.arange(300), corpus.lengths), corpus.words)), (300, 500)
    )[chosen]
    seen.sum_duplicates()
    shares = np.zeros((len(chosen), 10))
    true = np.ascontiguousarray(np.maximum(phi, 1e-12).T)
    complete(seen.indices, seen.data, seen.indptr, true, np.full(10, 0.2), 30, shares)
    place = np.searchsorted(chosen, corpus.out_docs)
    probability = (shares[place] * true[corpus.out_words]).sum(axis=1)
    assert traces["perplexity"] <= 1.06 * np.exp(-np.log(probability).mean())


def test_words_left_out_are_told_better_than_by_their_frequency():
    counts, _, _ = planted(documents=60, words=60, topics=3)
    _, traces = run_chain(counts, 60, 40, left_out=0.3)
    corpus = read(as_data(counts), {"left_out": 0.3})
    share = np.bincount(corpus.words, minlength=60) + 0.5
    plain = np.exp(-np.log(share[corpus.out_words] / share.sum()).mean())
    assert traces["perplexity"] < 0.7 * plain
    docs = len(np.unique(corpus.out_docs))
    assert 0.1 < docs / 60 < 0.5
    assert len(corpus.out_words) == docs * 50


def test_bad_counts_are_named():
    counts = np.ones((3, 4))
    counts[1, 2] = 1.5
    (problem,) = find_problems(as_data(counts))
    assert problem.message == "Document “d2” has 1.5 of the word “w3”; whole numbers from 0 on are needed."
    with pytest.raises(ModelError, match="of the word “w3”"):
        MODEL.init(as_data(counts), settings(), np.random.default_rng(1))
    (problem,) = find_problems(as_data(np.zeros((3, 4))))
    assert problem.severity == "error"
    counts = np.array([[2.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    notes = [problem.message for problem in find_problems(as_data(counts))]
    assert notes == [
        "1 document has no word: their topics are those expected of any document.",
        "1 word is in no document.",
    ]


def test_quick_sweeps_keep_the_topics_there_are():
    counts, _, _ = planted(documents=30, words=40, topics=3)
    data, params = as_data(counts), settings(quick_sweeps=50, moves=0, start_topics=12)
    rng = np.random.default_rng(2)
    state = MODEL.init(data, params, rng)
    sweep(state, data, params, rng, 0)
    used = used_topics(state)
    for number in range(1, 20):
        sweep(state, data, params, rng, number)
        assert used_topics(state) == used
        assert state["totals"][:used].min() >= 1
    seen = np.zeros_like(state["counts"])
    np.add.at(seen, (corpus_of(data, params).words, state["topic"]), 1)
    assert np.array_equal(seen, state["counts"])


def test_tables_have_their_law():
    rng, n, c = np.random.default_rng(3), 9, 0.7
    found = np.array([draw_tables(rng, n, c) for _ in range(20_000)])
    chance = c / (c + np.arange(n))
    assert found.mean() == pytest.approx(
        chance.sum(), abs=4 * np.sqrt((chance * (1 - chance)).sum() / 20_000)
    )
    assert found.var() == pytest.approx((chance * (1 - chance)).sum(), rel=0.05)
    assert log_rising(5, 0.3) == pytest.approx(np.log(0.3 + np.arange(5)).sum())
    assert log_rising(400, 0.3) == pytest.approx(np.log(0.3 + np.arange(400)).sum())


def test_chains_begin_with_different_numbers_of_topics():
    assert [start_topics(800_000, settings(start_topics=0), chain) for chain in range(4)] == [50, 99, 99, 149]
    assert start_topics(3, settings(start_topics=50), 0) == 3


def test_coherence_is_one_together_and_negative_apart():
    counts = csr_matrix(np.array([[1, 2, 0], [1, 1, 0], [0, 0, 3], [0, 0, 1]]))
    found = coherence(counts, np.array([[0, 1], [0, 2]]))
    assert found == pytest.approx([1.0, -1.0])


def test_results_and_new_documents():
    counts, _, _ = planted(documents=60, words=50, topics=3, seed=6)
    run = fit(
        "hdp_topics",
        {"X": counts[:50].astype(float)},
        {"start_topics": 3},
        seed=2,
        chains=2,
        warmup=40,
        draws=15,
    )
    found = run.results
    number = len(found["topic"].values)
    assert number >= 3
    assert found["headline"].startswith(f"{number} topics hold 99 % of the words")
    assert found["document_shares"].values.shape == (50, number)
    shares, interval = found["topic_shares"].values, found["topic_interval"].values
    common = shares > 0.02
    assert np.all((interval[common, 0] < shares[common]) & (shares[common] < interval[common, 1]))
    width = (interval[..., 1] - interval[..., 0])[common]
    alone = 3.29 * np.sqrt(shares * (1 - shares) / (5000 * found["prevalence"].values[:, None]))[common]
    assert 0.9 < np.median(width / alone) < 2  # of known topics, and somewhat more as they are not known
    assert np.all(found["presence"].values[:3] > 0.9)
    from plaidwork.core.analysing import run_analysis

    record = run_analysis(run, "hdp_topics.new_samples", {"new_X": counts[50:].astype(float)})
    shares = record.results["shares"].values
    assert shares.shape == (10, number + 1)
    assert shares.sum(axis=1) == pytest.approx(np.ones(10))
    assert shares[:, -1].max() < 0.4
