"""Passes of stochastic steps: one batch of all documents is an exact sweep, the bound after a pass is exact, a fit stops and goes on bit for bit."""

import numpy as np
import pytest
import supervised_ibp_tools as tools
from plaid_tools import with_fault

from plaidwork.core.api import Clock, Dataset, ModelData, Schedule
from plaidwork.core.contract.stages import advance
from plaidwork.core.draws.chain import copy_state
from plaidwork.core.inference.fitting_state import Expected
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.plugins.registry import registry
from plaidwork.plugins.supervised_ibp import stochastic
from plaidwork.plugins.supervised_ibp.corpus import corpus_of
from plaidwork.plugins.supervised_ibp.state import KEPT

MODEL = registry().model("supervised_ibp")
STEPS = {"steps": "stochastic", "batch_documents": 60, "stochastic_passes": 3}


def planted(n=900, d=60, k=4, seed=3):
    """Documents by words, and their outcome."""
    rng = np.random.default_rng(seed)
    z = rng.random((n, k)) < 0.3
    x = rng.poisson(0.3 + z @ rng.gamma(0.4, 1.5, (k, d)))
    return x, z @ np.linspace(-1, 2, k) + 0.5 * rng.standard_normal(n)


def begun(n_groups=1, **changed) -> tuple[ModelData, dict, dict]:
    x, y = planted()
    more = {"group": (np.arange(len(y)) % n_groups, "abc"[:n_groups])} if n_groups > 1 else {}
    data = tools.model_data(x, y, **more)
    given = {"n_topics": 4, "moves": 0, "start": "sparse", "test_share": 0.0, "parts": 1, **changed}
    params = MODEL.spec.check_params(given)
    return data, params, MODEL.init(data, params, np.random.default_rng(1))


def swept(fit, sweeps, rng=None, first=0):
    """The bound after every sweep, as traced and computed anew."""
    data, params, state = fit
    rng, found = rng or np.random.default_rng(2), []
    for sweep in range(first, first + sweeps):
        while not advance(MODEL, state, data, params, rng, Clock(sweep, 0)):
            pass
        traced = MODEL.traces(state, data, params)["elbo"]
        found.append((traced, MODEL.objective(state, data, params)))
    return np.array(found)


@pytest.mark.parametrize("prior", ["finite", "stick"])
def test_one_batch_of_all_documents_is_an_exact_sweep(prior):
    exact, steps = begun(prior=prior), begun(prior=prior, **{**STEPS, "batch_documents": 10**6})
    assert swept(steps, 3)[:, 0] == pytest.approx(swept(exact, 3)[:, 0], rel=1e-12)
    for name in ("nu", "phi", "coef", "share_a"):
        assert steps[2][name] == pytest.approx(exact[2][name], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("n_groups", [1, 3])
def test_a_step_of_size_1_with_all_documents_has_the_exact_sums(n_groups):
    data, params, state = begun(n_groups)
    swept((data, params, state), 1)
    corpus = corpus_of(data, params)
    state["steps"] = {
        "order": np.zeros(1, int),
        "kept": {name: np.full_like(state[name], 7.0) for name in KEPT},
    }
    stochastic.step(state, corpus, params, 0, len(corpus.y), 1.0)
    for name in KEPT:
        assert state["steps"]["kept"][name] == pytest.approx(state[name], rel=1e-9, abs=1e-9), name


def test_steps_become_smaller_and_there_is_one_of_1_for_one_batch():
    sizes = [stochastic.step_size(taken, 15, 0.6) for taken in range(45)]
    assert (np.diff(sizes) < 0).all()
    assert stochastic.step_size(0, 1, 0.6) == 1.0


def test_every_document_is_met_once_in_a_pass(monkeypatch):
    met = []
    whole = stochastic.step

    def seen(state, corpus, params, lo, hi, rate):
        met.append((lo, hi))
        whole(state, corpus, params, lo, hi, rate)

    monkeypatch.setattr(stochastic, "step", seen)
    swept(begun(**STEPS), 1)
    assert sorted(met) == [(lo, lo + 60) for lo in range(0, 900, 60)]
    assert met != sorted(met)


@pytest.mark.parametrize("changed", [{}, {"prior": "stick"}, {"family": "joint"}, {"n_groups": 3}])
def test_the_bound_after_a_pass_is_exact_and_exact_sweeps_never_lower_it(changed):
    bounds = swept(begun(**{**STEPS, **changed}), 10)
    assert bounds[:, 0] == pytest.approx(bounds[:, 1], rel=1e-10)
    assert (np.diff(bounds[3:, 0]) >= -1e-8 * np.abs(bounds[3:-1, 0])).all()


def test_first_passes_get_further_than_exact_sweeps():
    exact, steps = swept(begun(), 2)[:, 0], swept(begun(**STEPS), 2)[:, 0]
    assert (steps > exact + 10).all(), (steps, exact)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("step", "times * found - kept", "found - kept"),
        (
            "step",
            "add_slice(state, read_slice(state, corpus, params, lo, hi))",
            "read_slice(state, corpus, params, lo, hi)",
        ),
    ],
)
def test_a_fault_is_seen(name, old, new, monkeypatch):
    """Either the bound after a pass is not the exact one, or the passes get no further."""

    def sound():
        bounds = swept(begun(**STEPS), 2)
        same = np.allclose(bounds[:, 0], bounds[:, 1], rtol=1e-9)
        return same and bool((bounds[:, 0] > exact + 10).all())

    exact = swept(begun(), 2)[:, 0]
    assert sound()
    monkeypatch.setattr(stochastic, name, with_fault(getattr(stochastic, name), old, new))
    assert not sound()


def test_what_follows_a_batch_follows_from_the_sums_of_the_steps(monkeypatch):
    data, params, state = begun(**STEPS)
    swept((data, params, state), 1)
    exact = {name: state[name].copy() for name in KEPT}
    state["steps"] = {"order": np.zeros(1, int), "kept": {name: exact[name] + 1 for name in KEPT}}

    def sound():
        seen = {}
        stochastic._follow(state, lambda: seen.update({name: state[name].copy() for name in KEPT}))
        return all(
            (seen[name] == exact[name] + 1).all() and (state[name] == exact[name]).all() for name in KEPT
        )

    assert sound()
    monkeypatch.setattr(
        stochastic, "_follow", with_fault(stochastic._follow, 'state["steps"]["kept"]', "exact")
    )
    assert not sound()


def test_a_fit_that_stops_amid_a_pass_goes_on_to_the_same_numbers():
    whole = begun(**STEPS)
    bounds = swept(whole, 4)
    data, params, state = begun(**STEPS)
    rng = np.random.default_rng(2)
    for _ in range(9):
        assert not advance(MODEL, state, data, params, rng, Clock(0, 0))
    assert "steps" in state
    assert MODEL.contradiction(state, data, params) == ""
    again = copy_state(state)
    assert swept((data, params, again), 4, rng).tobytes() == bounds.tobytes()
    broken = {**state, "steps": {**state["steps"], "order": state["steps"]["order"] * 0}}
    assert "order of its batches" in MODEL.contradiction(broken, data, params)
    del broken["steps"]
    assert "are missing" in MODEL.contradiction(broken, data, params)


def test_a_state_amid_a_pass_is_taken_from_a_session_and_one_that_contradicts_itself_is_not():
    x, y = planted()
    names = [f"d{i}" for i in range(len(y))]
    inputs = {
        "X": Dataset("X", x.astype(float), names, [f"w{j}" for j in range(x.shape[1])], kind="count"),
        "y": Dataset("y", y, names),
    }
    given = {"n_topics": 4, "moves": 0, "start": "sparse", "test_share": 0.0, **STEPS}
    plan = make_plan(MODEL, inputs, given)
    state, rng = MODEL.init(plan.data, plan.params, np.random.default_rng(1)), np.random.default_rng(2)
    for _ in range(9):
        assert not advance(MODEL, state, plan.data, plan.params, rng, Clock(0, 0))

    def why(**changed):
        return Expected(plan, 0, Schedule()).why_not(
            {**copy_state(state), "steps": {**state["steps"], **changed}}, 0
        )

    assert why() == ""
    kept = state["steps"]["kept"]
    assert "the order of its batches" in why(order=state["steps"]["order"][1:])
    assert why(kept={**kept, "raw": kept["raw"][1:]})
    assert why(kept={**kept, "gram": kept["gram"].astype("f4")})


def test_no_stage_of_a_pass_depends_on_threads():
    data, params, state = begun(**STEPS)
    found = MODEL.stages(state, data, params, np.random.default_rng(1), Clock(0, 0))
    assert stochastic.BATCHES in [stage.name for stage in found]
    assert not any(stage.parallel for stage in found)


def test_a_fit_does_not_end_before_an_exact_sweep():
    params = begun(**STEPS)[1]
    traces = {"elbo": np.zeros(3), "change": np.zeros(3), "moves_left": np.zeros(3)}
    assert not MODEL.may_stop(traces, params)
    longer = {name: np.zeros(4) for name in traces}
    assert MODEL.may_stop(longer, params)
