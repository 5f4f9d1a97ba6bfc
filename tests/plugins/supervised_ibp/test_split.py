"""Training and test half: what is tied stays together, and the fit never looks at the test half."""

import numpy as np
import pytest
import supervised_ibp_tools as tools
from scipy.sparse import csr_matrix
from sparing import every

from plaidwork.core.session.fitting import fit
from plaidwork.plugins.supervised_ibp.corpus import corpus_of
from plaidwork.plugins.supervised_ibp.split import equal_documents, random_split, units_of


def counts(seed=0, n=80, d=15):
    rng = np.random.default_rng(seed)
    return rng.poisson(1.5, (n, d)).astype(float), rng.standard_normal(n)


def test_equal_documents_are_found_and_empty_ones_are_not_equal():
    x, _ = counts()
    x[10] = x[3]
    x[20] = x[3]
    x[[5, 6]] = 0
    number = equal_documents(csr_matrix(x))
    assert number[3] == number[10] == number[20]
    assert len(set(number.tolist())) == 78


def test_ties_of_several_kinds_go_on_from_one_to_the_next():
    same = np.array([0, 1, 1, 2, 3, 4])
    cluster = np.array([7, 7, 8, 9, -1, -1])
    assert units_of([same, cluster], 6).tolist() == [0, 0, 0, 1, 2, 3]
    assert units_of([], 3).tolist() == [0, 1, 2]


def test_without_ties_it_is_the_standard_split():
    test = random_split(np.arange(101), 0.5, 1)
    order = np.random.default_rng(1).permutation(101)
    assert sorted(np.flatnonzero(~test).tolist()) == sorted(order[:50].tolist())
    assert random_split(np.arange(50), 0.0, 1).sum() == 0


def test_duplicates_and_clusters_stay_together():
    x, y = counts(n=200)
    rng = np.random.default_rng(2)
    x[100:] = x[rng.integers(0, 100, 100)]
    cluster = rng.integers(-1, 60, 200)
    data = tools.model_data(x, y, cluster=(cluster, tuple(f"a{i}" for i in range(60))))
    corpus = corpus_of(data, tools.params())
    half = np.zeros(200, int)
    half[corpus.test] = 1
    for number in np.unique(cluster[cluster >= 0]):
        assert len(set(half[cluster == number])) == 1
    rows = {}
    for i, row in enumerate(map(bytes, x)):
        rows.setdefault(row, set()).add(int(half[i]))
    assert all(len(found) == 1 for found in rows.values())
    assert len(np.intersect1d(corpus.train, corpus.test)) == 0
    apart = corpus_of(data, tools.params(together=False))
    assert len(apart.units) == 200


def test_a_given_split_is_used():
    x, y = counts()
    given = (np.arange(80) >= 50).astype(float)
    corpus = corpus_of(tools.model_data(x, y, split=given), tools.params())
    assert corpus.test.tolist() == list(range(50, 80))


def test_documents_without_outcome_are_in_neither_half():
    from plaidwork.core.data.dataset import Dataset

    x, y = counts()
    y[[1, 2, 70]] = np.nan
    names = tuple(f"d{i}" for i in range(80))
    given = {"X": Dataset("X", x, names, tuple(f"w{i}" for i in range(15))), "y": Dataset("y", y, names)}
    run = fit("supervised_ibp", given, {"n_topics": 2}, chains=1, max_sweeps=5)
    assert (run.results["half"].values == "left out").sum() == 3


def _equal(one, other):
    """NaN, as of a background topic, is equal to itself."""
    one = np.asarray(one)
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


@pytest.mark.long
@pytest.mark.parametrize("settings", every([{"transform": "tfidf", "screen": 8}, {}, {"intercept": True}], 3))
def test_nothing_of_the_test_half_is_in_the_fit(settings):
    """Other words and outcomes of the test documents: the same fit and results, bit for bit."""
    x, y = counts(n=120)
    split = np.zeros(120)
    split[::2] = 1
    rng = np.random.default_rng(9)
    other_x, other_y = x.copy(), y.copy()
    other_x[::2] = rng.poisson(5.0, (60, 15))
    other_y[::2] = 50 * rng.standard_normal(60)
    cover = rng.standard_normal((120, 2))
    other_cover = cover.copy()
    other_cover[::2] += 10
    runs = [
        fit(
            "supervised_ibp",
            {"X": a, "y": b, "split": split, "covariates": c},
            {"n_topics": 3, **settings},
            chains=3,
            max_sweeps=40,
        )
        for a, b, c in ((x, y, cover), (other_x, other_y, other_cover))
    ]
    for one, other in zip(runs[0].chains, runs[1].chains, strict=True):
        assert one.trace.rows().tobytes() == other.trace.rows().tobytes()
    for name, result in runs[0].results.items():
        twin = runs[1].results[name]
        if isinstance(result, str):
            assert result == twin
        elif hasattr(result, "columns"):
            assert all(_equal(result.columns[c], twin.columns[c]) for c in result.columns)
        else:
            assert np.array_equal(result.values, twin.values)
