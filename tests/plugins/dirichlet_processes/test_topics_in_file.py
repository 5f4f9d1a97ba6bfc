"""Counts that stay out of memory: the draws and results of the same fit in memory, bit for bit, and the words in no memory of the process."""

import numpy as np
import pytest
from mapped_tools import check_same, is_mapped
from scipy.sparse import csr_matrix, save_npz

from plaidwork.core.data import mapped
from plaidwork.core.data.importers.reading import read_dataset
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.fitting import fit
from plaidwork.plugins.dirichlet_processes.topics.corpus import corpus_of, counts_of


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A file of documents by words, with zeros that are stored."""
    monkeypatch.setattr(mapped, "AT_ONCE", 300)
    monkeypatch.setenv("PLAIDWORK_SCRATCH", str(tmp_path / "scratch"))
    rng = np.random.default_rng(3)
    x = csr_matrix(rng.poisson(0.3, (150, 40)).astype(np.int32))
    x.data[::37] = 0
    save_npz(tmp_path / "x.npz", x)
    return tmp_path / "x.npz"


def words(path, where):
    data = read_dataset(path, {"values_in": where, "sparse": True, "samples_in": "rows"})
    assert data.stays == (where == "file")
    return {"X": data}


@pytest.mark.parametrize("left_out", [0.0, 0.3])
def test_the_words_of_the_tokens_are_those_in_memory_and_take_none(path, left_out):
    model, found = registry().model("hdp_topics"), {}
    for where in ("file", "memory"):
        plan = make_plan(model, words(path, where), {"left_out": left_out})
        found[where] = corpus_of(plan.data, plan.params)
        if where == "file":
            assert is_mapped(counts_of(plan.data["X"]).data)
            assert model.estimate(plan.data, plan.params).shared < 5 * len(found[where].words)
    here, there = found["file"], found["memory"]
    for name in ("words", "starts", "out_docs", "out_words"):
        assert getattr(here, name).tobytes() == getattr(there, name).tobytes(), name
    assert is_mapped(here.words)
    assert not is_mapped(there.words)


@pytest.mark.long
def test_the_fit_is_that_in_memory(path):
    here, there = (
        fit("hdp_topics", words(path, where), {"left_out": 0.2}, chains=2, warmup=8, draws=8)
        for where in ("file", "memory")
    )
    check_same(here, there)
