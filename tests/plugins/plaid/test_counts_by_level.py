"""Blocks of counts and links that add in proportion to levels: against sums over all blocks, against the prior, with planted faults."""

import numpy as np
import plaid_counts_tools as counts
import plaid_tools as tools
import pytest
from plaid_tools import with_fault
from sparing import some

from plaidwork.plugins.plaid.counts import sweep
from plaidwork.plugins.plaid.counts.draws import CountDraw, log_probability
from plaidwork.plugins.plaid.counts.entries import make_entries
from plaidwork.plugins.plaid.counts.model import PlaidCounts
from plaidwork.plugins.plaid.kernels import (
    corrected_evidence,
    corrected_moves,
    corrected_small,
    corrected_tasks,
    counts_moves,
)

BY_LEVEL = {"blocks_add": "by_level"}
SWEEPS = 6000
VARIANTS = {
    "default": {},
    "small blocks alone": {"birth_death": 0, "one_to_two": 0, "seeded": 0},
    "mostly one to two": {"birth_death": 1, "one_to_two": 8, "seeded": 0, "prior_share": 0.1},
    "mostly from one member": {"birth_death": 0, "one_to_two": 0, "seeded": 8, "small_births": 1},
}
LIKELIHOODS = ("poisson", "bernoulli")


def distance(likelihood, seed, sweeps, **more):
    """Without levels the model is that of blocks that add alike, so that its exact sums hold."""
    samples = counts.sampled({"likelihood": likelihood, **BY_LEVEL, **more}, seed, sweeps)
    return np.abs(tools.z_scores(samples, counts.exact(likelihood == "bernoulli"))).max()


@pytest.mark.long
@pytest.mark.parametrize("likelihood", LIKELIHOODS)
def test_enumeration_quick(likelihood):
    assert distance(likelihood, 11, 1500) < tools.LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("likelihood", LIKELIHOODS)
def test_enumeration(likelihood, name):
    assert distance(likelihood, 5, SWEEPS, **VARIANTS[name]) < tools.LIMIT


@pytest.mark.slow
@pytest.mark.parametrize(
    "more",
    [{}, {"column_degrees": False}, {"row_degrees": False}],
    ids=["levels", "levels of rows", "levels of columns"],
)
@pytest.mark.parametrize("likelihood", LIKELIHOODS)
def test_geweke(likelihood, more):
    """Blocks, levels, their shapes and all hyper-parameters have their prior as law when data are redrawn."""
    settings = {"likelihood": likelihood, **BY_LEVEL, **more}
    assert np.abs(counts.geweke(settings, 21, 12_000)).max() < tools.LIMIT


@pytest.mark.long
@pytest.mark.parametrize("likelihood", LIKELIHOODS)
def test_geweke_quick(likelihood):
    settings = {"likelihood": likelihood, **BY_LEVEL, "small_births": 2, "birth_death": 2, "seeded": 2}
    assert np.abs(counts.geweke(settings, 5, 1000, 3000)).max() < tools.LIMIT


def apart(name, likelihood, replicates):
    """z scores of what one kind of move, or ``passes``, alone changes in draws of the joint law."""
    code = None if name == "passes" else sweep.MOVES.index(name)
    return counts.moves_apart(code, likelihood, 3, replicates, run="run_corrected_tasks", **BY_LEVEL)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*sweep.MADE[True], "passes"])
@pytest.mark.parametrize("likelihood", LIKELIHOODS)
def test_moves_alone_leave_the_joint_law_as_it_is(likelihood, name):
    assert np.abs(apart(name, likelihood, 8000)).max() < tools.LIMIT


@pytest.mark.parametrize("links", [False, True], ids=["counts", "links"])
def test_the_likelihood_is_that_of_all_observed_cells(links):
    data = tools.matrix(counts.SMALL, observed=counts.SMALL_KNOWN)
    rows, columns = np.array([[1, 1, 0], [0, 1, 1]], bool), np.array([[1, 0, 1], [1, 1, 0]], bool)
    u, v, theta = np.array([0.5, 2.0, 1.0]), np.array([1.0, 0.3, 2.0]), np.array([0.6, 1.4])
    rates = np.outer(u, v) * (0.4 + np.einsum("k,ki,kj->ij", theta, rows, columns))
    draw = CountDraw(rows, columns, theta, 0.4, u, v, links, True)
    assert draw.rates() == pytest.approx(rates, rel=1e-6)
    i, j = np.nonzero(counts.SMALL_KNOWN)
    wanted = log_probability(counts.SMALL, rates, links)
    assert draw.density(i, j, counts.SMALL[i, j]) == pytest.approx(wanted[i, j])
    settings = PlaidCounts().spec.check_params({"likelihood": "bernoulli" if links else "poisson"})
    entries = make_entries(data, settings)
    found = corrected_tasks.log_likelihood_corrected(entries, rows, columns, theta, 0.4, u, v)
    if not links:
        from scipy.special import gammaln

        wanted = wanted + gammaln(counts.SMALL + 1)
    assert found == pytest.approx(wanted[counts.SMALL_KNOWN].sum())


# faults --------------------------------------------------------------------------------------------------------------


def _task_with(**kernels):
    task = with_fault(corrected_tasks.one_task, **kernels)
    return "run_corrected_tasks", with_fault(corrected_tasks.run_corrected_tasks, one_task=task)


def _move_with(module, name, old="", new="", **names):
    return _task_with(**{name: with_fault(getattr(module, name), old, new, **names)})


def _small_with(old, new):
    """Births and deaths of small blocks, with a fault in what one row says."""
    row = with_fault(corrected_evidence.log_row_of, old, new)
    rows = with_fault(corrected_evidence.log_rows, log_row_of=row)
    change = with_fault(corrected_evidence.log_change, log_rows=rows)
    return _move_with(corrected_small, "small_birth_death", log_change=change)


def _seeds_with(old, new):
    """Births and deaths with a fault in the chance of a seed. Left out as a whole it is hardly seen: blocks that have their seed
    are then born too seldom, those that have not too often."""
    return _move_with(corrected_moves, "birth_death", log_seeds=with_fault(counts_moves.log_seeds, old, new))


FAULTS = {
    "small birth without 1/(K+1)": (
        "poisson",
        "small_births",
        lambda: _move_with(
            corrected_small,
            "small_birth_death",
            "log_weight -= math.log(n_blocks + 1.0 if birth else n_blocks)",
            "pass",
        ),
    ),
    "row of a line not scored": (
        "poisson",
        "small_births",
        lambda: _move_with(corrected_small, "small_birth_death", "log_q -= math.log(n_rows)", "pass"),
    ),
    "levels integrated out without their prior": (
        "poisson",
        "small_births",
        lambda: _small_with("(given.shape + given.sums[i]) * math.log", "given.sums[i] * math.log"),
    ),
    "levels that come with a block of links not scored": (
        "bernoulli",
        "small_births",
        lambda: _small_with("total -= log_gamma_density(level, sharp, sharp / mean)", "pass"),
    ),
    "birth without the prior of its members": (
        "bernoulli",
        "birth_death",
        lambda: _move_with(corrected_moves, "birth_death", "log_prior(z1, z2, level, law) - log_q", "-log_q"),
    ),
    "seeds not scored": (
        "poisson",
        "seeded",
        lambda: _seeds_with("math.log(rows.sum() / rows.size)", "0.0"),
    ),
    "blocks without their seed": (
        "bernoulli",
        "seeded",
        lambda: _seeds_with(" if rows[i] else np.inf", ""),
    ),
    "a row turned without the odds of the prior": (
        "bernoulli",
        "passes",
        lambda: _move_with(
            corrected_moves,
            "scan_rows",
            turn_rows=with_fault(corrected_moves.turn_rows, "log_odds + then - now", "then - now"),
        ),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", some(list(FAULTS), list(FAULTS)[2:4]))
def test_moves_alone_see(name, monkeypatch):
    likelihood, move, made = FAULTS[name]
    monkeypatch.setattr(sweep, *made())
    assert np.abs(apart(move, likelihood, 8000)).max() > 5.0


JOINT_FAULTS = {
    "step of a block's level without its prior": (
        "poisson",
        lambda: _move_with(
            corrected_moves, "scan_rows", "- law.rate * (other - theta)", "+ law.rate * (other - theta)"
        ),
    ),
    "rescaled without the blocks' levels": (
        "poisson",
        lambda: (
            "draw_corrected",
            with_fault(
                corrected_tasks.draw_corrected,
                rescale_all=with_fault(
                    corrected_tasks.rescale_all, "theta * (after / level), degrees", "theta, degrees"
                ),
            ),
        ),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", JOINT_FAULTS)
def test_geweke_sees(name, monkeypatch):
    likelihood, made = JOINT_FAULTS[name]
    monkeypatch.setattr(sweep, *made())
    assert np.abs(counts.geweke({"likelihood": likelihood, **BY_LEVEL}, 21, 12_000)).max() > 5.0


def test_every_planted_fault_fits_its_source():
    """A fault is a piece of source that is replaced: kernels that change take their faults along."""
    for *_, made in (*FAULTS.values(), *JOINT_FAULTS.values()):
        made()


def test_the_moves_that_counts_have_by_default_are_shown():
    """Small blocks come and go where blocks add by level, which for counts they do by themselves."""
    spec = PlaidCounts.spec
    (small,) = (item for item in spec.hyperparameters if item.name == "small_births")
    assert small.active(spec.check_params({}))
    assert not small.active(spec.check_params({"blocks_add": "alike"}))
