"""Counts that stay out of memory: the bounds, states and results of the same fit in memory, bit for bit, and no copy of them there."""

import numpy as np
import pytest
from mapped_tools import check_same, is_mapped
from scipy.sparse import csr_matrix, save_npz

from plaidwork.core.data import mapped
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.importers.reading import read_dataset
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.fitting import fit
from plaidwork.plugins.supervised_ibp.corpus import corpus_of, prepared_rows
from plaidwork.plugins.supervised_ibp.crossfit import part_of

FITS = [
    {"moves": 5},
    {"moves": 0, "transform": "tfidf", "screen": 20},
    {"moves": 0, "test_share": 0.0, "scale": "centre", "start": "svd", "transform": "count"},
]


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """A file of documents by words, with zeros that are stored, and the outcome."""
    monkeypatch.setattr(mapped, "AT_ONCE", 300)
    monkeypatch.setenv("PLAIDWORK_SCRATCH", str(tmp_path / "scratch"))
    rng = np.random.default_rng(3)
    z = rng.random((200, 3)) < 0.4
    x = csr_matrix(rng.poisson(0.15 + z @ rng.gamma(0.3, 1.0, (3, 50))).astype(np.float32))
    x.data[::37] = 0
    save_npz(tmp_path / "x.npz", x, compressed=False)
    return tmp_path / "x.npz", z @ [1, 2, -1.0] + 0.3 * rng.standard_normal(200)


def inputs(stored, where):
    path, y = stored
    data = read_dataset(path, {"values_in": where, "sparse": True, "samples_in": "rows"})
    assert data.stays == (where == "file")
    return {"X": data, "y": Dataset("y", y, data.row_names)}


@pytest.mark.long
@pytest.mark.parametrize("params", FITS)
def test_the_fit_is_that_in_memory(stored, params):
    fits = [
        fit("supervised_ibp", inputs(stored, where), {"n_topics": 3, **params}, chains=2, max_sweeps=12)
        for where in ("file", "memory")
    ]
    check_same(*fits)


@pytest.mark.slow
def test_processes_too(stored):
    fits = [
        fit(
            "supervised_ibp",
            inputs(stored, "file"),
            {"n_topics": 3, "moves": 5},
            chains=2,
            max_sweeps=12,
            executor=how,
        )
        for how in ("processes", "threads")
    ]
    for one, other in zip(fits[0].chains, fits[1].chains, strict=True):
        assert one.trace.rows().tobytes() == other.trace.rows().tobytes()


@pytest.mark.parametrize("params", FITS)
def test_nothing_of_the_length_of_the_words_is_in_memory(stored, params):
    """A copy in memory, as ``csr[rows]`` or ``astype`` make it, would be no map."""
    plan = make_plan(registry().model("supervised_ibp"), inputs(stored, "file"), {"n_topics": 3, **params})
    assert plan.data["X"].mapped
    corpus = corpus_of(plan.data, plan.params)
    fold = part_of(corpus, np.arange(0, len(corpus.y), 2))
    held = prepared_rows(plan.data, corpus, np.arange(5), plan.params)
    for found in (corpus.documents.csr, fold.documents.csr, held):
        assert is_mapped(found.data)
        assert is_mapped(found.indices)
