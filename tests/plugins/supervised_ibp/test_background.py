"""A background topic: in every document, in the words and the outcome, never among the effects.

With it a topic and its opposite (the documents without it) explain the words alike, so signs are not compared.
"""

import numpy as np
import pytest
import supervised_ibp_tools as tools
from scipy.sparse import csr_matrix
from sparing import every

from plaidwork.core.analysing import run_analysis
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.fitting import fit
from plaidwork.core.session.session import open_session
from plaidwork.plugins.supervised_ibp.heldout import Topics, infer


@pytest.fixture(scope="module")
def fitted():
    x, y, z, _ = tools.simulated(0, n=600, d=30)
    names = tuple(f"doc{i}" for i in range(600))
    given = {"X": Dataset("X", x + 5, names, tuple(f"w{i}" for i in range(30))), "y": Dataset("y", y, names)}
    settings = tools.PACKAGE | {
        "n_topics": 4, "scale": "none", "noise": 0.5, "show": "bound", "background": True,
    }  # fmt: skip
    return fit("supervised_ibp", given, settings, chains=4), given, z


def test_it_takes_up_what_is_common_to_all(fitted):
    run, given, z = fitted
    results = run.results
    assert results["topic"].values.tolist() == ["Background", "Topic 1", "Topic 2", "Topic 3", "Topic 4"]
    assert (results["assignments"].values[:, 0] == 1).all()
    train = results["half"].values == "training"
    fitted_words = results["assignments"].values @ results["topic_weights"].values
    rest = given["X"].values[train] - fitted_words
    assert rest.mean() == pytest.approx(0.0, abs=0.02)
    assert rest.var() == pytest.approx(0.5, rel=0.05)  # the noise
    agree = np.abs(np.corrcoef(results["assignments"].values[:, 1:].T, z[train].T)[:4, 4:])
    assert (agree.max(axis=0) > 0.75).all()
    assert results["topics"].columns["Exclusivity"][0] == 0
    assert results["topics"].columns["Topic"][0].startswith("Background: ")
    assert "Background" not in results["representative"].columns["Topic"]
    assert len(results["topics_per_document"].columns["Topics"]) == 5
    assert "Background (training)" in results["training_weights"].columns["Training coefficient"]
    assert results["headline"].startswith("4 of 4 topics in use")


def test_it_has_no_effect(fitted):
    run, given, _ = fitted
    found = run_analysis(run, "supervised_ibp.effects", unlock=True, datasets=given).results
    assert found["effect"].values.tolist() == ["Topic 1", "Topic 2", "Topic 3", "Topic 4"]
    assert sorted(np.abs(found["effects"].values)) == pytest.approx([0.5, 0.5, 0.75, 1.0], abs=0.4)


def test_new_documents_have_it_too(fitted):
    run, given, _ = fitted
    plan = make_plan(registry().model("supervised_ibp"), given, run.params)
    found = plan.model.predict(run.kept(), plan.data, plan.data, plan.params)
    assert found["assignments"].values.shape == (600, 4)
    rest = found["expected_outcome"].values - given["y"].values
    assert abs(rest.mean()) < 0.2
    assert rest.var() < 0.9 * given["y"].values.var()


@pytest.mark.slow
def test_it_is_kept_in_a_session(fitted, tmp_path):
    run, _, _ = fitted
    run.session.save(tmp_path / "s.plaidwork")
    again = next(iter(open_session(tmp_path / "s.plaidwork").runs.values()))
    for one, other in zip(run.kept().chains, again.kept().chains, strict=True):
        for name, size in (("assignments", 5), ("share_a", 4)):
            assert one.draw(name, 0).shape[-1] == size
            assert one.draw(name, 0).tobytes() == other.draw(name, 0).tobytes()


@pytest.mark.parametrize("method", ["exact", "mean-field"])
def test_held_out_topics_are_those_beside_it(method):
    """The same as with the words of the background taken off each document, up to what it shares with a topic."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((30, 12))
    corpus = tools.plain_corpus(x, rng.standard_normal(30))
    phi, spread = rng.standard_normal((4, 12)), 0.02 * np.eye(4)
    shares = 2 + 5 * rng.random(3), 5 + 9 * rng.random(3)
    settings = tools.params(n_topics=3, background=True)
    with_it, _ = infer(csr_matrix(x), Topics(phi, spread, *shares), corpus, settings, method=method)
    alone = Topics(phi[1:], spread[1:, 1:], *shares)
    without, _ = infer(csr_matrix(x - phi[0]), alone, corpus, tools.params(n_topics=3), method=method)
    assert with_it == pytest.approx(without, abs=1e-7)


@pytest.mark.parametrize("start", every(["svd", "sparse", "stick-draw", "uniform"], 2))
def test_every_start_has_it(start):
    x, y, _, _ = tools.simulated(1, n=80, d=10)
    names = tuple(map(str, range(80)))
    given = {"X": Dataset("X", x, names, tuple("abcdefghij")), "y": Dataset("y", y, names)}
    run = fit(
        "supervised_ibp",
        given,
        {"n_topics": 2, "background": True, "start": start, "prior": "stick"},
        chains=1,
        max_sweeps=30,
    )
    assert (run.results["assignments"].values[:, 0] == 1).all()
    bound = run.chains[0].trace.rows()[:, 0]
    assert (np.diff(bound) >= -1e-9 * np.abs(bound[1:])).all()
