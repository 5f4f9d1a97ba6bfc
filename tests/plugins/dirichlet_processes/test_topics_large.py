"""Large corpora: nothing of eight bytes for each token, and the numbers of what was read and drawn at once before."""

import tracemalloc

import numpy as np
import pytest
from hdp_tools import MODEL, settings
from scipy.sparse import csr_matrix
from scipy.special import gammaln

from plaidwork.core.api import Block, Clock, ModelData
from plaidwork.plugins.dirichlet_processes.topics import corpus as corpora
from plaidwork.plugins.dirichlet_processes.topics import starts
from plaidwork.plugins.dirichlet_processes.topics.corpus import SEED, counts_of, find_problems, read
from plaidwork.plugins.dirichlet_processes.topics.keeping import kept_topics
from plaidwork.plugins.dirichlet_processes.topics.kernels.collapsed import BLOCK, slot_at, weigh
from plaidwork.plugins.dirichlet_processes.topics.kernels.tables import log_documents
from plaidwork.plugins.dirichlet_processes.topics.results import coherence
from plaidwork.plugins.dirichlet_processes.topics.simulate import as_data


def sparse_data(documents, words, each, seed=1):
    """Documents of ``each`` different words, as a sparse input."""
    rng = np.random.default_rng(seed)
    places = np.sort(rng.random((documents, words)).argsort(axis=1)[:, :each], axis=1).astype(np.int32)
    counts = rng.integers(1, 4, documents * each).astype(float)
    values = csr_matrix(
        (counts, places.ravel(), np.arange(documents + 1, dtype=np.int32) * each), (documents, words)
    )
    names = tuple(f"d{i}" for i in range(documents)), tuple(f"w{i}" for i in range(words))
    return ModelData({"X": Block("X", values, np.ones((1, 1), bool), None, names)})


@pytest.mark.parametrize("left_out", [0.0, 0.5])
def test_tokens_are_those_of_the_plain_way(left_out):
    """Every second token of the chosen documents in an order by chance, by sorting all tokens."""
    counts = np.random.default_rng(2).poisson(0.7, (30, 20))
    counts[4] = 0
    found = read(as_data(counts), {"left_out": left_out})
    docs, words = np.repeat(np.indices(counts.shape).reshape(2, -1), counts.ravel(), axis=1)
    out, rng = np.zeros(len(words), bool), np.random.default_rng(SEED)
    if left_out:
        chosen = rng.random(30) < left_out
        order = np.lexsort((rng.random(len(words)), docs))
        first = np.searchsorted(docs, np.arange(30))
        out[order] = (np.arange(len(words)) - first[docs[order]]) % 2 == 1
        out &= chosen[docs]
        assert 0 < out.sum() < len(out) / 2
    np.testing.assert_array_equal(found.words, words[~out])
    np.testing.assert_array_equal(found.lengths, np.bincount(docs[~out], minlength=30))
    np.testing.assert_array_equal(found.out_docs, docs[out])
    np.testing.assert_array_equal(found.out_words, words[out])


@pytest.mark.parametrize("topics", [3, 40])
def test_first_topics_are_those_of_one_call(monkeypatch, topics):
    monkeypatch.setattr(
        starts, "AT_ONCE", 7
    )  # an odd number: half of a draw of 64 bits is kept from piece to piece
    counts = np.random.default_rng(3).poisson(1.0, (8, 6))
    data, params = as_data(counts), settings(start_topics=topics)
    state = MODEL.init(data, params, np.random.default_rng(4))
    tokens = int(counts.sum())
    plain = np.random.default_rng(4).integers(0, min(topics, tokens), tokens)
    np.testing.assert_array_equal(state["topic"], np.unique(plain, return_inverse=True)[1])
    assert state["topic"].dtype == np.uint16
    np.testing.assert_array_equal(
        state["totals"][: len(np.unique(plain))], np.unique(plain, return_counts=True)[1]
    )


def test_counts_that_are_in_order_are_not_copied():
    data = sparse_data(50, 40, 10)
    assert np.shares_memory(counts_of(data["X"]).data, data["X"].values.data)
    twice = csr_matrix((np.array([1.0, 2.0, 0.0]), np.array([1, 1, 0]), np.array([0, 3])), (1, 3))
    found = counts_of(Block("X", twice, np.ones((1, 1), bool), None, (("a",), ("b", "c", "d"))))
    np.testing.assert_array_equal(found.toarray(), [[0, 3, 0]])
    assert twice.nnz == 3


def test_a_wrong_count_is_found_beyond_the_first_piece(monkeypatch):
    monkeypatch.setattr(corpora, "AT_ONCE", 16)
    data = sparse_data(20, 40, 10)
    data["X"].values.data[123] = 1.5
    (problem,) = find_problems(data)
    assert problem.message.startswith("Document “d12” has 1.5 of the word")


@pytest.mark.long
def test_memory_goes_with_the_tokens_as_the_estimate_says():
    """Peak of what numpy takes for reading, checking, the first state and a kept draw, in bytes of a token."""
    data, params = sparse_data(20_000, 400, 20), settings(left_out=0.1, start_topics=5)
    small = sparse_data(200, 400, 20)
    for part in (small, data):
        tracemalloc.start()
        find_problems(part)
        corpus = read(part, params)
        state = MODEL.init(part, params, np.random.default_rng(1))
        kept = kept_topics(state, corpus)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    tokens = data["X"].values.data.sum()
    fixed = 24 * 20_000 + 8 * 400 * 200 + (1 << 20) * 20  # documents, words, and what is looked at together
    assert peak - fixed < 10 * tokens
    assert kept["topic_documents"].dtype == np.uint8
    cost = MODEL.estimate(data, params)
    assert 2 * tokens < cost.memory < 60 * tokens
    assert cost.shared > corpus.words.nbytes


def test_states_of_before_go_on_with_the_same_draws():
    data, params = as_data(np.random.default_rng(5).poisson(1.0, (6, 8))), settings()
    state = MODEL.init(data, params, np.random.default_rng(6))
    before = {**state, "topic": state["topic"].astype(np.int32)}
    after = MODEL.upgrade_state(before, 1, data, params)
    assert after["topic"].dtype == np.uint16
    np.testing.assert_array_equal(after["topic"], state["topic"])


def test_states_of_before_have_their_slots_filled_up_to_blocks():
    """Slots came by sixteen; within a sweep there are words of topics and tables beside the counts."""
    data, params = as_data(np.random.default_rng(5).poisson(1.0, (6, 8))), settings()
    state = MODEL.init(data, params, np.random.default_rng(6))
    few = {name: state[name][..., :32].copy() for name in ("counts", "totals", "beta")}
    more = {
        "phi": np.ones((8, 32), np.float32),
        "running": np.ones((8, 32), np.float32),
        "sums": np.ones(32),
        "tables": np.ones(32, int),
    }
    after = MODEL.upgrade_state({**state, **few, **more}, 2, data, params)
    assert {len(after[name]) for name in ("totals", "beta", "sums", "tables")} == {BLOCK}
    for name in few:
        assert np.array_equal(after[name], state[name])
    for name in more:
        assert np.array_equal(after[name][..., :32], more[name])
        assert not after[name][..., 32:].any()
    assert MODEL.contradiction(after, data, params) == ""
    rng = np.random.default_rng(7)
    while MODEL.step(after, data, params, rng, Clock(0, 0)) is None:
        pass


def test_a_slot_is_found_by_the_running_sum_of_the_weights():
    """In three blocks with empty slots among them; a mark beyond the sum, as rounding may make one, has the last slot."""
    rng, used = np.random.default_rng(8), 2 * BLOCK + 20
    share = np.where(rng.random(3 * BLOCK) < 0.7, rng.random(3 * BLOCK), 0.0).astype(np.float32)
    share[used:] = 0.0
    counts, sums, eta = (
        rng.integers(0, 9, (4, 3 * BLOCK)).astype(np.float32),
        np.empty(3, np.float32),
        np.float32(0.1),
    )
    weights = share * (counts[2].astype(float) + eta)
    assert weigh(share, counts, 2, eta, sums, 3) == pytest.approx(weights.sum(), rel=1e-6)
    edges = np.cumsum(weights)
    for k in np.flatnonzero(weights):
        assert slot_at(edges[k] - 0.5 * weights[k], share, counts, 2, eta, sums, 3) == k
    assert slot_at(1.01 * edges[-1], share, counts, 2, eta, sums, 3) == np.flatnonzero(weights)[-1]


@pytest.mark.parametrize("tiny", [1.0, 1e-95, 1e-300])
def test_density_of_topics_is_that_of_gamma_functions(tiny):
    """Also where weights are next to nothing, and of documents that are long, in one piece and in two."""
    rng, alpha = np.random.default_rng(9), 3.0
    lengths = np.array([0, 1, 40, 3000, 7])
    starts = np.concatenate([[0], np.cumsum(lengths)])
    beta = np.array([0.5, 0.3, 0.1 * tiny, 0.05 * tiny, 0.0])
    topics = rng.choice(4, size=lengths.sum(), p=[0.6, 0.37, 0.02, 0.01]).astype(np.uint16)
    own = np.zeros((len(lengths), 4))
    np.add.at(own, (np.repeat(np.arange(len(lengths)), lengths), topics), 1.0)
    right = (gammaln(alpha * beta[:4] + own) - gammaln(alpha * beta[:4])).sum()
    right -= (gammaln(alpha + lengths) - gammaln(alpha)).sum()
    assert log_documents(starts, topics, beta, alpha, 0, 5) == pytest.approx(right, rel=1e-12)
    parts = log_documents(starts, topics, beta, alpha, 0, 2) + log_documents(
        starts, topics, beta, alpha, 2, 5
    )
    assert parts == pytest.approx(right, rel=1e-12)


def test_coherence_is_that_of_the_pairs_written_out():
    counts = csr_matrix(np.random.default_rng(7).poisson(0.6, (50, 12)).astype(float))
    top = np.array([[0, 3, 5], [3, 7, 11]])
    there = counts.toarray() > 0
    for row, value in zip(top, coherence(counts, top), strict=True):
        scores = []
        for i, j in ((0, 1), (0, 2), (1, 2)):
            both = (there[:, row[i]] & there[:, row[j]]).mean()
            single = there[:, row[i]].mean() * there[:, row[j]].mean()
            scores.append(np.log(both / single) / -np.log(both))
        assert value == pytest.approx(np.mean(scores))
