"""Whole fits: found again, gone on with, recovered from simulated data, and never dense."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
import supervised_ibp_tools as tools
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_matrix

from plaidwork.core.analysing import run_analysis
from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.draws.numbers import format_percent
from plaidwork.core.errors import DataError
from plaidwork.core.inference.engine import run_chain
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.inference.run import Run
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.fitting import fit, resume
from plaidwork.core.session.session import Session, open_session


def given(x, y):
    names = tuple(f"doc{i}" for i in range(len(y)))
    return {
        "X": Dataset("X", x, names, tuple(f"w{i}" for i in range(x.shape[1]))),
        "y": Dataset("y", y, names),
    }


@pytest.mark.slow
def test_a_fit_that_was_saved_goes_on_as_if_it_had_not(tmp_path):
    x, y, _, _ = tools.simulated(3, n=200, d=20)
    schedule = Schedule(chains=3, max_sweeps=60, tolerance=0.0)
    plan = make_plan(
        registry().model("supervised_ibp"),
        given(x, y),
        {"n_topics": 4, "family": "joint", "moves": 0, "start": "turns"},
        schedule=schedule,
    )
    whole, session = Run.from_plan(plan), Session()
    part = session.add_run(plan)
    for record in whole.chains:
        for _ in run_chain(plan, record):
            pass
    for record in part.chains:
        for _ in run_chain(plan, record):
            if record.sweep == 25:
                break
        record.take_checkpoint()
    session.save(tmp_path / "s.plaidwork")
    again = resume(open_session(tmp_path / "s.plaidwork"))
    for one, other in zip(whole.chains, again.chains, strict=True):
        assert one.trace.rows().tobytes() == other.trace.rows().tobytes()
        for variable in whole.spec.variables:
            last = [record.draws.get(variable.name, record.draws.count - 1) for record in (one, other)]
            assert last[0].tobytes() == last[1].tobytes()


def test_restarts_begin_in_turn_and_are_told_apart():
    x, y, _, _ = tools.simulated(3, n=100, d=12)
    run = fit("supervised_ibp", given(x, y), tools.PACKAGE | {"n_topics": 3, "show": "bound"}, chains=4)
    table = run.results["restarts"].columns
    assert table["Start"].tolist() == [
        "Singular vectors",
        "Sparse",
        "Draw from the prior",
        "Singular vectors",
    ]
    bounds = table["Bound"]
    (at,) = np.flatnonzero(table["Shown"] == "yes")
    assert bounds[at] == bounds.max()
    assert all(record.converged for record in run.chains)


def test_training_coefficients_are_never_called_effects():
    x, y, _, _ = tools.simulated(3, n=100, d=12)
    run = fit("supervised_ibp", given(x, y), {"n_topics": 3, "moves": 20}, chains=1)
    table = run.results["training_weights"]
    assert all("(training)" in name for name in table.columns["Training coefficient"])
    assert "Not effects" in run.results["training_caption"]
    assert "Effect" not in " ".join(table.columns)
    assert not any("effect" in name for name in run.results)


def test_a_constant_outcome_is_told_before_the_fit():
    x, _, _, _ = tools.simulated(3, n=40, d=8)
    with pytest.raises(DataError, match="outcome is 2 in all 20 training"):
        fit("supervised_ibp", given(x, np.full(40, 2.0)))


def test_new_documents_get_the_topics_of_the_fit():
    x, y, _, _ = tools.simulated(0, n=400, d=30)
    settings = {
        "n_topics": 4,
        "scale": "none",
        "noise": 0.5,
        "show": "bound",
        "moves": 40,
    }  # as planted
    run = fit("supervised_ibp", given(x, y), settings, chains=1)
    plan = make_plan(registry().model("supervised_ibp"), given(x, y), settings)
    found = plan.model.predict(run.kept(), plan.data, plan.data, plan.params)
    assert found["assignments"].values.shape == (400, 4)
    assert np.corrcoef(found["expected_outcome"].values, y)[0, 1] > 0.5


def matched(found, truth):
    """Share of right calls after the best matching of topics, and the matching."""
    agree = np.array([[(a == b).mean() for b in truth.T] for a in found.T])
    rows, columns = linear_sum_assignment(-agree)
    return agree[rows, columns].mean(), dict(zip(columns.tolist(), rows.tolist(), strict=True))


def recovered(seed, n=2000):
    """Right calls in both halves of n documents, and which intervals cover the true effect."""
    x, y, z, beta = tools.simulated(seed, n=n)
    half = n // 2
    split = (np.arange(n) >= half).astype(float)
    settings = {"n_topics": 4, "scale": "none", "noise": 0.5, "show": "bound", "moves": 40}  # as planted
    data = given(x, y) | {"split": Dataset("split", split, tuple(f"doc{i}" for i in range(n)))}
    run = fit("supervised_ibp", data, settings, chains=2)
    training, _ = matched(run.results["assignments"].values >= 0.5, z[:half] > 0)
    found = run_analysis(run, "supervised_ibp.effects", unlock=True, datasets=data).results
    test, match = matched(found["test_assignments"].values >= 0.5, z[half:] > 0)
    interval = found["effect_interval"].values[[match[k] for k in range(4)]]
    return training, test, (interval[:, 0] <= beta) & (beta <= interval[:, 1])


@pytest.mark.slow
def test_topics_and_effects_are_recovered():
    training, test, covered = recovered(0, n=600)
    assert training >= 0.98
    assert test >= 0.975
    assert covered.sum() >= 3


@pytest.mark.slow
def test_recovery_over_ten_seeds():
    """Specification: worst training calls 98.9 %, held-out 98.5 %; intervals cover 95 %."""
    found = [recovered(seed) for seed in range(10)]
    assert found[0][2].sum() >= 3
    assert min(one[0] for one in found) >= 0.98
    assert min(one[1] for one in found) >= 0.975
    more = [recovered(seed)[2] for seed in range(10, 40)]
    coverage = np.mean([one[2] for one in found] + more)
    assert 0.90 <= coverage <= 0.99


@pytest.mark.slow
def test_nothing_is_ever_dense():
    """30,000 documents by 60,000 words (14 GB dense, 29 GB squared) in 100 MB, from the start to the effects."""
    rng = np.random.default_rng(0)
    n, d, per = 30_000, 60_000, 6
    columns = (d * rng.random(n * per) ** 3).astype(np.int32)
    x = csr_matrix((np.ones(n * per), (np.repeat(np.arange(n), per), columns)), (n, d))
    y = rng.standard_normal(n)
    data = given(x, y)
    settings = {"n_topics": 2, "start": "svd"}
    tracemalloc.start()
    run = fit("supervised_ibp", data, settings, chains=1, max_sweeps=2)
    run_analysis(run, "supervised_ibp.effects", unlock=True, datasets=data)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 100e6


def test_support_is_what_a_topic_explains_of_a_document():
    """The difference of the expected squares with and without the topic, for each document and topic."""
    from plaidwork.plugins.supervised_ibp import results as shown
    from plaidwork.plugins.supervised_ibp.corpus import corpus_of

    x, y, _, _ = tools.simulated(3, n=60, d=12)
    plan = make_plan(registry().model("supervised_ibp"), given(x, y), {"n_topics": 3})
    run = fit("supervised_ibp", given(x, y), {"n_topics": 3, "moves": 20}, chains=1)
    corpus = corpus_of(plan.data, plan.params)
    found = shown.fit_of(run.kept().chains[0], corpus, plan.params)
    support = shown.topic_support(corpus, found)
    for k in range(3):
        gains = []
        for z in (0.0, 1.0):
            nu = found.nu.copy()
            nu[:, k] = z
            gains.append(shown.document_gain(corpus, replace(found, nu=nu), plan.params)[1])
        assert support[:, k] == pytest.approx(gains[1] - gains[0], abs=1e-8)


def test_headlines_name_their_numbers():
    x, y, _, _ = tools.simulated(3, n=100, d=12)
    run = fit("supervised_ibp", given(x, y), {"n_topics": 3, "moves": 0, "start": "turns"}, chains=2)
    found = run.results
    sizes = (found["assignments"].values[:, 1:] > 0.5).sum(axis=0)  # the background is first
    assert f"is in {sizes.max()} of 50 training documents" in found["sizes_headline"]
    rest = found["residuals"].values[:, 1]
    outcome = found["training_outcome"].values
    share = 1 - (rest**2).sum() / ((outcome - outcome.mean()) ** 2).sum()
    assert f"explains {format_percent(share)} of" in found["outcome_headline"]
    assert found["restarts_headline"].startswith("Restart ")
