"""The shape of the laws of variances and covariances, learned: against its law on a grid, in joint-distribution tests, and where it is used."""

import numpy as np
import pytest
from altered import put
from dp_tools import (
    MODEL,
    Chain,
    Chains,
    column_evidence,
    joint_evidence,
    matrices,
    settings,
)
from plaid_tools import with_fault
from scipy import integrate, stats

from plaidwork.core.checks import CheckFailed, checks_for
from plaidwork.core.errors import SessionError
from plaidwork.core.session.fitting import fit, resume
from plaidwork.core.session.session import Session
from plaidwork.core.session.store.session_file import load
from plaidwork.plugins.dirichlet_processes import likeness, sweep
from plaidwork.plugins.dirichlet_processes.base import first_base
from plaidwork.plugins.dirichlet_processes.kernels import likeness as kernel
from plaidwork.plugins.dirichlet_processes.kernels import scan
from plaidwork.plugins.dirichlet_processes.reading import read
from plaidwork.plugins.dirichlet_processes.state import clusters_of

GAP = np.nan
LABELS = np.array([0, 0, 0, 1, 1, 1, 1, 2])
NUMBERS = np.array([[0.1], [0.5], [GAP], [2.0], [2.2], [-0.4], [0.3], [1.9]])
CORRELATED = np.random.default_rng(4).normal(size=(8, 2)) @ [[1.0, 0.8], [0.0, 0.4]]
LEARNED = {"learn_base": True, "learn_shape": True}
BOTH = "gaussian, gaussian_full"
ENOUGH, FOUND = 1e-3, 1e-6
"""A right sampler has a smaller p value than the first for one seed in a thousand; a fault has to show more clearly than the second."""


def clustered(**changed):
    """A chain at ``LABELS`` with its clusters added up, and the table of the data."""
    params = settings(likelihoods=BOTH, **LEARNED, **changed)
    data = matrices(a=NUMBERS, b=CORRELATED)
    state = MODEL.init(data, params, np.random.default_rng(1))
    state["labels"] = LABELS.copy()
    one = sweep.Updates(state, read(data, params), params, np.random.default_rng(2))
    one.begin()
    one.count(0, len(LABELS))
    return one, params


def law_of_log(u, params):
    """Log density of ``log(a0 - 1)`` at the expected spread of the settings, from scipy's formulas; but for a constant."""
    at = {**params, "within_shape": 1.0 + np.exp(u)}
    total = -0.5 * (u - np.log(params["within_shape"] - 1.0)) ** 2
    for k in range(3):
        here = np.flatnonzero(k == LABELS)
        x = NUMBERS[here, 0]
        total += column_evidence(x[~np.isnan(x)], 0, "gaussian", at) + joint_evidence(CORRELATED[here], at)
    return float(total)


def ranks(update, draws=3000, least=1.0):
    """Where draws of ``log(a0 - 1)``, one of five kept, are in their law by quadrature: uniform if ``update`` is right."""
    one, params = clustered(least_shape=least)
    grid = np.linspace(np.log(least - 1.0) if least > 1.0 else -5.0, 6.0, 1101)
    density = np.array([law_of_log(u, params) for u in grid])
    below = integrate.cumulative_simpson(np.exp(density - density.max()), x=grid, initial=0)
    rng, found = np.random.Generator(np.random.PCG64DXSM(3)), []
    for _ in range(5 * draws):
        update(rng, clusters_of(one.state), 3, one.state["base"], params, one.table)
        found.append(np.log(one.state["base"]["shape"] - 1.0))
    return stats.kstest(np.interp(found[::5], grid, below / below[-1]), "uniform").pvalue


@pytest.mark.long
@pytest.mark.parametrize("least", [1.0, 2.0])
def test_draws_follow_the_law_on_a_grid(least):
    assert ranks(likeness.update_shape, least=least) > ENOUGH


TYPES = {"Base": dict, "Table": object}
"""Names that only type checkers know."""
EVIDENCE = {
    "the prior forgotten": ("update_shape", "- 0.5 * (u - middle) ** 2", "- 0.0 * (u - middle)"),
    "the common centre forgotten": ("spreads_of", " + k0 * known / (k0 + known) * gap * gap", ""),
    "Psi0 counted twice": ("spreads_of", "times_own(lower) - psi", "times_own(lower)"),
    "b0 does not follow": ("update_shape", "math.exp(u) * spreads.usual", '1.0 * base["b0"]'),
    "Psi0 does not follow": ("update_shape", "2.0 * math.exp(u) * spreads.scatter", '1.0 * base["psi"]'),
}


@pytest.mark.long
@pytest.mark.parametrize("fault", EVIDENCE)
def test_faults_of_a_draw_are_found(fault):
    name, old, new = EVIDENCE[fault]
    wrong = with_fault(getattr(likeness, name), old, new, **TYPES)
    update = wrong if name == "update_shape" else with_fault(likeness.update_shape, **TYPES, **{name: wrong})
    assert ranks(update) < FOUND


@pytest.mark.long
def test_a_bound_that_is_forgotten_is_found():
    wrong = with_fault(likeness.update_shape, "max(middle - REACH, least)", "middle - REACH", **TYPES)
    assert ranks(wrong, least=2.0) < FOUND


def off_prior(density, draw, least):
    """How far the bounded density is from one of mass 1, and the p value of draws in it."""
    params = settings(**LEARNED, within_shape=2.5, least_shape=least)
    u = np.linspace(np.log(least - 1.0) if least > 1.0 else -7.0, 8.0, 3001)
    height = np.array([np.exp(density({"shape": 1.0 + np.exp(one)}, params) + one) for one in u])
    below = integrate.cumulative_simpson(height, x=u, initial=0)
    rng = np.random.default_rng(8)
    draws = [np.log(draw(params, rng) - 1.0) for _ in range(2000)]
    assert min(draws) >= u[0]
    return abs(below[-1] - 1.0), stats.kstest(np.interp(draws, u, below / below[-1]), "uniform").pvalue


@pytest.mark.parametrize("least", [1.0, 1.2, 2.5, 30.0])
def test_the_bounded_prior_has_mass_1_and_its_draws_are_in_it(least):
    mass, p = off_prior(likeness.log_prior_shape, likeness.prior_shape, least)
    assert mass < 1e-6
    assert p > ENOUGH
    wrong = with_fault(likeness.log_prior_shape, " - inside", "", **TYPES)
    assert (off_prior(wrong, likeness.prior_shape, least)[0] > 0.01) == (least > 1.0)


KERNEL = {
    "gammas of the prior forgotten": ("evidence_of_numbers", " - math.lgamma(a0)", ""),
    "the prior's determinant forgotten": ("evidence_of_correlated", "total += 0.5 * nu * len(s.rest) * found", "total += 0.0"),
    "rows forgotten in the power": ("evidence_of_correlated", "0.5 * (nu + s.size[k]) * found", "0.5 * nu * found"),
}  # fmt: skip


@pytest.mark.parametrize("fault", [None, *KERNEL])
def test_evidence_changes_with_the_shape_as_that_of_the_clusters(fault):
    """Differences between shapes, clusters of the fit added up anew at each; the base is not at its prior mean."""
    one, _ = clustered()
    base = one.state["base"]
    base["m0"][:], base["b0"][:], base["k0"][:] = 0.4, 0.7, [0.3, 1.7]
    base["joint_m0"][:], base["psi"][:] = [0.5, -0.2], [0.9, 0.3, 0.3, 0.6]
    one.begin()
    one.count(0, len(LABELS))
    spreads = likeness.spreads_of(clusters_of(one.state), 3, base, one.table)
    names = ("evidence_of_numbers", "evidence_of_correlated")
    parts = {name: getattr(kernel, name) for name in names}
    if fault:
        name, old, new = KERNEL[fault]
        parts[name] = with_fault(parts[name], old, new)
    found, expected = [], []
    for a0 in (1.3, 2.5, 9.0):
        found.append(sum(part(spreads, a0) for part in parts.values()))
        base["b0"], base["psi"] = (a0 - 1.0) * spreads.usual, 2.0 * (a0 - 1.0) * spreads.scatter
        base["shape"] = a0
        one.begin()
        one.count(0, len(LABELS))
        expected.append(scan.evidence(clusters_of(one.state), 3, one.law))
    off = np.abs(np.diff(found) - np.diff(expected)).max()
    assert off < 1e-9 if fault is None else off > 1e-3


def test_expected_spread_is_held_and_the_triangles_follow():
    one, params = clustered()
    base, c = one.state["base"], clusters_of(one.state)
    rng = np.random.default_rng(5)
    for _ in range(20):
        likeness.update_shape(rng, c, 3, base, params, one.table)
    assert base["shape"] != params["within_shape"]
    assert base["b0"] / (base["shape"] - 1.0) == pytest.approx(params["within"])
    assert base["psi"] / (2.0 * (base["shape"] - 1.0)) == pytest.approx(
        [params["within"], 0, 0, params["within"]]
    )
    moved = c.joint_root[:3].copy()
    one.begin()
    one.count(0, len(LABELS))
    assert moved == pytest.approx(c.joint_root[:3], rel=1e-9)


def test_the_base_is_drawn_at_the_shape_that_was_drawn(monkeypatch):
    """A base drawn at the setting leaves the joint test's moments nearly as they are: by its arguments."""
    one, params = clustered()
    seen = []
    monkeypatch.setattr(
        sweep, "update_base", lambda rng, c, number, base, given, table: seen.append((given, base["shape"]))
    )
    one.finish(0, 1)
    ((given, shape),) = seen
    assert given["within_shape"] == shape == one.state["base"]["shape"] != params["within_shape"]
    assert {**given, "within_shape": 0.0} == {**params, "within_shape": 0.0}


GEWEKE = {
    "the prior forgotten": ("update_shape", "- 0.5 * (u - middle) ** 2", "- 0.0 * (u - middle)", "likeness learned"),
    "the triangles do not follow": (
        "update_shape", "lower_root(psi + ", "lower_root(0.01 * psi + ", "likeness of correlated columns learned",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("fault", GEWEKE)
def test_joint_test_passes_and_finds_faults(fault, monkeypatch):
    name, old, new, trial = GEWEKE[fault]
    (check,) = [one for one in checks_for(type(MODEL), only=("geweke",)) if str(one) == f"geweke[{trial}]"]
    check()
    monkeypatch.setattr(sweep, name, with_fault(getattr(likeness, name), old, new, **TYPES))
    with pytest.raises(CheckFailed):
        check()


def drawn(shape, **changed):
    """A draw at this shape, and its settings."""
    params, data = settings(likelihoods=BOTH, **changed), matrices(a=NUMBERS, b=CORRELATED)
    state = MODEL.init(data, params, np.random.default_rng(1))
    state["base"].update(first_base({**params, "within_shape": shape}, 2, 1, 0, (2,)))
    if "shape" in state["base"]:
        state["base"]["shape"] = shape
    found = {**MODEL.draws(state, data, params), "cluster_of": LABELS, "n_clusters": 3}
    return Chain([found]), data, params


def test_a_learned_shape_is_that_of_predictions_profiles_and_rows_left_out():
    """As the same number in the setting."""
    one, data, learned = drawn(7.0, within_shape=2.5, **LEARNED)
    other, _, fixed = drawn(7.0, within_shape=7.0, learn_base=True)
    new = matrices(a=[[0.2], [1.0]], b=[[0.3, 0.1], [2.0, -1.0]])
    for index in (0, 1):
        pair = [
            MODEL.log_likelihood(chain, np.array([0]), data, params, index, np.array([0, 4]), None)
            for chain, params in ((one, learned), (other, fixed))
        ]
        assert np.array_equal(*pair)
    for made in (
        lambda chain, params: MODEL.predict(Chains([chain]), data, new, params)["assignments"].columns[
            "Log density"
        ],
        lambda chain, params: MODEL.summarise(Chains([chain]), data, params)["profile_interval"].values,
    ):
        assert np.array_equal(made(one, learned), made(other, fixed))


@pytest.mark.parametrize(("changed", "there"), [({}, True), ({"learn_shape": False}, False), ({"learn_base": False}, False)])  # fmt: skip
def test_it_is_there_where_it_is_learned(changed, there):
    data, params = matrices(a=NUMBERS), settings(likelihoods="gaussian", **{**LEARNED, **changed})
    state = MODEL.init(data, params, np.random.default_rng(1))
    assert ("shape" in state["base"]) == there
    codes, params = matrices(a=[[0.0], [1.0], [1.0]]), settings(likelihoods="categorical", **LEARNED)
    assert "shape" not in MODEL.init(codes, params, np.random.default_rng(1))["base"]


def test_runs_of_before_have_it_fixed():
    assert MODEL.spec.stored_params({})["learn_shape"] is False


@pytest.mark.parametrize("shape", [0.5, np.nan])
def test_an_altered_shape_is_refused(shape, tmp_path):
    session, words = Session(), {"chains": 1, "warmup": 4, "executor": "inline"}
    run = fit("dp_mixture", {"views": [CORRELATED]}, {"learn_shape": True}, draws=2, session=session, **words)
    put(run.chains[0].saved.state, ("base", "shape"), shape)
    again = load(session.save(tmp_path / "s.plaidwork"), Session, probed=True)
    with pytest.raises(SessionError, match=r"base\.shape"):
        resume(again, draws=2, executor="inline")
