"""Moves beside the ascent: out of poor optima, with or without a background by the bound, repeatable, never down."""

import numpy as np
import pytest
import supervised_ibp_tools as tools
from scipy.sparse import csr_matrix
from sparing import some

from plaidwork.core.analysing import run_analysis
from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.inference.engine import run_chain
from plaidwork.core.inference.events import Working
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.inference.run import Run
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.fitting import fit, resume
from plaidwork.core.session.session import Session, open_session
from plaidwork.plugins.supervised_ibp import effort, proposals, search
from plaidwork.plugins.supervised_ibp.bound import bound_of
from plaidwork.plugins.supervised_ibp.heldout import Topics, infer, log_density
from plaidwork.plugins.supervised_ibp.start import start_name
from plaidwork.plugins.supervised_ibp.sweep import whole_sweeps

PLANTED = {"n_topics": 4, "scale": "none", "noise": 0.5, "variances": "numbers", "weight_variance": 0.25}


def given(x, y):
    names = tuple(f"d{i}" for i in range(len(y)))
    words = tuple(f"w{j}" for j in range(x.shape[1]))
    return {"X": Dataset("X", x, names, words), "y": Dataset("y", y, names)}


def settings(**changed):
    return registry().model("supervised_ibp").spec.check_params(changed)


def right_calls(run, z):
    """Share of the training calls that are right, after the best matching of topics."""
    from scipy.optimize import linear_sum_assignment

    results = run.results
    found = results["assignments"].values[:, -z.shape[1] :] >= 0.5
    truth = z[results["half"].values == "training"] > 0
    agree = np.array([[(a == b).mean() for b in truth.T] for a in found.T])
    return agree[linear_sum_assignment(-agree)].mean()


# -- out of poor optima --------------------------------------------------------------------------
@pytest.mark.long
def test_moves_lead_out_of_a_poor_optimum():
    """Begun with two topics in one and another cut in two at random, the ascent alone stays there."""
    x, y, z, _ = tools.simulated(2, n=400, d=40)
    rng = np.random.default_rng(0)
    cut = rng.random(400) < 0.5
    merged = np.column_stack([z[:, 0], z[:, 1] * cut, z[:, 1] * ~cut, np.maximum(z[:, 2], z[:, 3])])
    data = given(x, y) | {"start": Dataset("start", merged, given(x, y)["X"].row_names, tuple("abcd"))}
    ends = {}
    for moves in (0, 60):
        run = fit(
            "supervised_ibp",
            data,
            PLANTED | {"start": "given", "background": False, "moves": moves},
            chains=1,
        )
        ends[moves] = right_calls(run, z), run.traces["elbo"][0][-1]
    assert ends[0][0] < 0.9
    assert ends[60][0] > 0.97
    assert ends[60][1] > ends[0][1] + 20


@pytest.mark.long
def test_the_bound_never_falls_and_ends_when_all_moves_were_in_vain():
    x, y, _, _ = tools.simulated(3, n=120, d=20)
    run = fit("supervised_ibp", given(x, y), PLANTED | {"moves": 30}, chains=2, max_sweeps=400)
    for record in run.chains:
        rows = {name: run.traces[name][record.chain] for name in ("elbo", "moves_left")}
        assert (np.diff(rows["elbo"]) >= -1e-9 * np.abs(rows["elbo"][1:])).all()
        assert rows["moves_left"][0] == 30
        assert record.converged
        assert rows["moves_left"][-1] == 0


@pytest.mark.long
def test_a_fit_stopped_in_the_middle_of_a_move_goes_on_as_if_it_had_not(tmp_path, monkeypatch):
    monkeypatch.setattr(search, "OVERHEAD", 2_000_000)  # so that a move takes several slices
    x, y, _, _ = tools.simulated(3, n=100, d=20)
    schedule = Schedule(chains=2, max_sweeps=30, tolerance=0.0)
    plan = make_plan(registry().model("supervised_ibp"), given(x, y), {"n_topics": 3}, schedule=schedule)
    whole, session = Run.from_plan(plan), Session()
    part = session.add_run(plan)
    for record in whole.chains:
        for _ in run_chain(plan, record):
            pass
    held = []
    for record, stop in zip(part.chains, (2, 15), strict=True):  # while topics grow, and later
        for event in run_chain(plan, record):
            if record.sweep == stop and isinstance(event, Working) and "trial" in record.state["moves"]:
                held.append("other" in record.state["moves"])
                break
        record.take_checkpoint()
    assert len(held) == 2
    session.save(tmp_path / "s.plaidwork")
    again = resume(open_session(tmp_path / "s.plaidwork"))
    for one, other in zip(whole.chains, again.chains, strict=True):
        assert one.trace.rows().tobytes() == other.trace.rows().tobytes()


def test_proposals_are_probabilities_and_leave_the_rest_as_it_is():
    x, y, _, _ = tools.simulated(1, n=60, d=15)
    corpus = tools.corpus(tools.model_data(x, y), n_topics=4, background=True)
    params = settings(n_topics=4)
    nu = np.column_stack([np.ones(len(corpus.y)), np.random.default_rng(0).random((len(corpus.y), 4))])
    state = search.state_of(corpus, params, nu)
    whole_sweeps(state, corpus, params, 1)
    rng, changed = np.random.default_rng(1), set()
    for number in range(200):
        other = proposals.proposal(state, corpus, params, rng, late=number >= 100)
        assert ((other >= 0) & (other <= 1)).all()
        moved = tuple(np.flatnonzero(np.abs(other - state["nu"]).max(axis=0) > 0))
        # one or two topics of all documents, or all of some documents
        assert len(moved) <= 2 or (moved == (1, 2, 3, 4) and not (other != state["nu"]).any(axis=1).all())
        assert (other[:, 0] == other[0, 0]).all()
        changed.add(moved)
        assert number >= 100 or (other[:, 0] == 1).all()
    assert {(k,) for k in range(5)} <= changed
    assert any(len(moved) == 2 for moved in changed)


@pytest.mark.parametrize("prior", ["finite", "stick"])
def test_sweeps_in_one_call_are_those_one_by_one(prior):
    """To the bit, from the start on, whose first sweep has stages of its own."""
    x, y, _, _ = tools.simulated(1, n=60, d=15)
    params = settings(n_topics=3, prior=prior)
    corpus = tools.corpus(tools.model_data(x, y), n_topics=3, prior=prior)
    nu = np.random.default_rng(0).random((len(corpus.y), 3 + params["background"]))
    one, other = (search.state_of(corpus, params, nu.copy()) for _ in range(2))
    whole_sweeps(one, corpus, params, 6)
    for _ in range(6):
        whole_sweeps(other, corpus, params, 1)
    assert one.keys() == other.keys()
    assert all(np.array_equal(one[name], other[name]) for name in one)


# -- with or without a background ----------------------------------------------------------------
def test_a_background_that_no_document_has_is_a_fit_without_one():
    """The same bound, and the same topics of new documents, by the same sweeps."""
    x, y, _, _ = tools.simulated(1, n=80, d=12)
    data = tools.model_data(x, y)
    both, alone = settings(n_topics=3), settings(n_topics=3, background=False)
    corpus = tools.corpus(data, **both)
    nu = np.random.default_rng(0).random((len(corpus.y), 3))
    one = search.state_of(corpus, both, np.column_stack([np.zeros(len(nu)), nu]))
    other = search.state_of(corpus, alone, nu)
    for _ in range(5):
        whole_sweeps(one, corpus, both, 1)
        whole_sweeps(other, corpus, alone, 1)
        assert bound_of(one, corpus, both) == pytest.approx(bound_of(other, corpus, alone), rel=1e-11)
    drawn = registry().model("supervised_ibp").draws(one, data, both)
    phi = drawn["weights"][:, corpus.words]
    assert not phi[0].any()
    with_row = Topics(phi, drawn["weight_cov"], one["share_a"], one["share_b"])
    without = Topics(np.ascontiguousarray(other["phi"].T), other["cov"], other["share_a"], other["share_b"])
    words = csr_matrix((corpus.values, corpus.indices, corpus.indptr), corpus.shape)
    (nu_1, evidence_1), (nu_2, evidence_2) = (
        infer(words, with_row, corpus, both),
        infer(words, without, corpus, alone),
    )
    assert nu_1 == pytest.approx(nu_2, abs=1e-9)
    assert log_density(words, with_row, corpus, both, evidence_1) == pytest.approx(
        log_density(words, without, corpus, alone, evidence_2), rel=1e-9
    )


@pytest.fixture(scope="module", params=some([0.0, 1.0], []), ids=["none planted", "planted"])
def chosen(request):
    x, y, z, beta = tools.simulated(0, n=500, d=50)
    data = given(x + request.param, y)
    return fit("supervised_ibp", data, PLANTED | {"moves": 40}, chains=2), data, z, beta, request.param > 0


def test_the_bound_chooses_whether_there_is_a_background(chosen):
    """Words without what is common to all are better off without: both kinds of data end right."""
    run, _, z, _, wanted = chosen
    results = run.results
    assert (results["restarts"].columns["Background"] == ("yes" if wanted else "no")).all()
    assert (results["topic"].values[0] == "Background") == wanted
    assert len(results["assignments"].values[0]) == 4 + wanted
    assert ("Without a background topic" in results["caption"]) == (not wanted)
    if not wanted:
        assert right_calls(run, z) > 0.97
    assert len(results["training_weights"].columns["Mean"]) == 4 + wanted


def test_effects_and_predictions_are_those_of_the_restart_shown(chosen):
    run, data, _, beta, wanted = chosen
    found = run_analysis(run, "supervised_ibp.effects", unlock=True, datasets=data).results
    assert found["effect"].values.tolist() == [f"Topic {k}" for k in range(1, 5)]
    # a topic may be its opposite beside a background
    effects = found["effects"].values
    effects, beta = (np.abs(effects), np.abs(beta)) if wanted else (effects, beta)
    assert sorted(effects) == pytest.approx(sorted(beta), abs=0.4)
    plan = make_plan(registry().model("supervised_ibp"), data, run.params)
    new = plan.model.predict(run.kept(), plan.data, plan.data, plan.params)
    assert np.corrcoef(new["expected_outcome"].values, data["y"].values)[0, 1] > 0.5


# -- how much is spent ---------------------------------------------------------------------------
def test_large_data_get_fewer_moves_or_none(monkeypatch):
    x, y, _, _ = tools.simulated(1, n=60, d=15)
    params = settings()
    corpus = tools.corpus(tools.model_data(x, y), **params)
    assert effort.n_moves(corpus, params) == 400
    assert effort.n_candidates(corpus, params) == effort.CANDIDATES
    assert start_name(corpus, params, 1) == "grown"
    one = effort.SWEEPS * effort.multiplications(corpus, 6)
    for trials, moves, candidates, start in ((200, 200, 12, "grown"), (45, 45, 4, "grown"), (20, 20, 0, "sparse"), (5, 0, 0, "sparse")):  # fmt: skip
        monkeypatch.setattr(effort, "WORK", 1.001 * trials * one)
        assert effort.n_moves(corpus, params) == moves
        assert effort.n_candidates(corpus, params) == candidates
        assert start_name(corpus, params, 1) == start


def test_runs_from_before_make_no_moves():
    stored = registry().model("supervised_ibp").spec.stored_params({"start": "turns"})
    assert stored["moves"] == 0
    assert stored["background_if_better"] is False
