"""Counts and links: the sampler against sums over all blocks of a 3 x 3 matrix, against its prior, and with planted faults."""

import numpy as np
import plaid_counts_tools as counts
import plaid_tools as tools
import pytest
from plaid_tools import with_fault
from scipy.stats import kstest, poisson
from sparing import some

from plaidwork.plugins.plaid.counts import sweep
from plaidwork.plugins.plaid.kernels import (
    counts_draw,
    counts_levels,
    counts_lines,
    counts_moves,
    counts_pairs,
    counts_scan,
    counts_tasks,
)

SWEEPS = 12_000
VARIANTS = {
    "default": {},
    "births and deaths alone": {"one_to_two": 0},
    "mostly one to two": {"birth_death": 1, "one_to_two": 8, "prior_share": 0.1},
    "mostly from one member": {"birth_death": 0, "one_to_two": 0, "seeded": 12},
}


def distance(settings, seed, sweeps):
    links = settings["likelihood"] == "bernoulli"
    samples = counts.sampled(settings, seed, sweeps)
    return np.abs(tools.z_scores(samples, counts.exact(links))).max()


@pytest.mark.long
@pytest.mark.parametrize("likelihood", some(["poisson", "bernoulli"], ["bernoulli"]))
def test_enumeration_quick(likelihood):
    assert distance({"likelihood": likelihood}, 11, 2000) < tools.LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("likelihood", ["poisson", "bernoulli"])
def test_enumeration(likelihood, name):
    assert distance({"likelihood": likelihood, **VARIANTS[name]}, 5, SWEEPS) < tools.LIMIT


@pytest.mark.slow
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"column_degrees": False},
        {"level_births": 8, "birth_death": 2},
        {"seeded": 0, "level_scans": 0, "birth_death": 10},
        {"level_births": 0, "block_shape": 1.0, "seeded": 0, "level_scans": 0},
    ],
    ids=["degrees", "degrees of rows", "births with levels", "as before seeds", "as before levels"],
)
@pytest.mark.parametrize("likelihood", ["poisson", "bernoulli"])
def test_geweke(likelihood, more):
    """Blocks, levels, degrees, their shapes and all hyper-parameters have their prior as law when data are redrawn."""
    assert np.abs(counts.geweke({"likelihood": likelihood, **more}, 21, 20_000)).max() < tools.LIMIT


@pytest.mark.long
@pytest.mark.parametrize("likelihood", some(["poisson", "bernoulli"], ["poisson"]))
def test_geweke_quick(likelihood):
    """As :func:`test_geweke`, mostly by moves that draw levels with a block."""
    more = {"level_births": 4, "birth_death": 0, "one_to_two": 0, "seeded": 4}
    assert np.abs(counts.geweke({"likelihood": likelihood, **more}, 5, 700, 3000)).max() < tools.LIMIT


@pytest.mark.parametrize("rate", [1e-9, 0.3, 5.0, 30.0])
def test_counts_behind_links_are_poisson_above_0(rate):
    rng = tools.generator(5)
    found = np.array([counts_draw.positive_poisson(rng, rate) for _ in range(4000)])
    assert found.min() >= 1
    values = np.arange(1, found.max() + 1)
    wanted = poisson.pmf(values, rate) / -np.expm1(-rate)
    share = np.array([(found == value).mean() for value in values])
    error = np.sqrt(wanted * (1 - wanted) / len(found))
    assert (np.abs(share - wanted) < 4.5 * error + 1e-3).all()


def test_degrees_given_their_shape_are_conjugate():
    """With a shape that cannot move, draws follow Gamma(d + y, d + exposure): Kolmogorov-Smirnov, p above 1e-4."""
    rng, events = tools.generator(2), np.array([3.0, 0.0])
    exposed, many = np.array([2.0, 0.7]), 4000
    draws = np.array(
        [counts_draw.draw_degrees(rng, events, exposed, 1.0, 1e9, 1e9 / 1.5, 1.0)[1] for _ in range(many)]
    )[200:]
    for item in range(2):
        shape, rate = 1.5 + events[item], 1.5 + exposed[item]
        assert kstest(draws[::5, item], "gamma", args=(shape, 0, 1 / rate)).pvalue > 1e-4


WITH_LEVELS, PASSES, SEEDED = (sweep.MOVES.index(name) for name in ("level_births", "level_scans", "seeded"))


MANY = (24_000, 8)
"""Replicates and tries."""


MOVES_APART = [
    (likelihood, code) for likelihood in ("poisson", "bernoulli") for code in (WITH_LEVELS, PASSES, SEEDED)
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("likelihood", "code"), some(MOVES_APART, [("bernoulli", PASSES), ("poisson", SEEDED)])
)
def test_moves_alone_leave_the_joint_law_as_it_is(likelihood, code):
    assert np.abs(counts.moves_apart(code, likelihood, 3, 4000)).max() < tools.LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("code", [PASSES, SEEDED], ids=sweep.MOVES[3:5])
@pytest.mark.parametrize("likelihood", ["poisson", "bernoulli"])
def test_many_moves_alone_leave_the_joint_law_as_it_is(likelihood, code):
    """As above, as often as the planted faults need that are small on a matrix of 4 x 3."""
    assert np.abs(counts.moves_apart(code, likelihood, 3, *MANY)).max() < tools.LIMIT


# faults --------------------------------------------------------------------------------------------------------------


def _tasks_with(**kernels):
    return "run_count_tasks", with_fault(counts_tasks.run_count_tasks, **kernels)


def _birth_with(old, new):
    return _tasks_with(birth_death=with_fault(counts_moves.birth_death, old, new))


def _scan_with(old="", new="", **names):
    return _tasks_with(scan_block=with_fault(counts_scan.scan_block, old, new, **names))


def _pair_with(function, old, new):
    move = with_fault(getattr(counts_pairs, function), old, new)
    return _tasks_with(one_to_two=with_fault(counts_pairs.one_to_two, **{function: move}))


def _lines_with(old, new):
    """The tasks with a fault in the births and deaths that draw levels with a block."""
    return _tasks_with(level_birth_death=with_fault(counts_levels.level_birth_death, old, new))


def _line_with(old, new):
    """The tasks with a fault in the probability of one level, in births and deaths that draw levels."""
    line = with_fault(counts_levels.log_line, old, new)
    scores = with_fault(counts_levels.score_lines, log_line=line)
    lines = with_fault(counts_levels.log_lines, score_lines=scores)
    return _tasks_with(level_birth_death=with_fault(counts_levels.level_birth_death, log_lines=lines))


def _levels_with(old="", new="", **names):
    given = with_fault(counts_draw.draw_given_rates, old, new, **names)
    return "draw_levels", with_fault(counts_draw.draw_levels, draw_given_rates=given)


# that missing cells are no zeros is held exactly by test_evidence_is_the_change_of_the_likelihood
FAULTS = {
    "birth without 1/(K+1)": (
        "poisson", {"one_to_two": 0},
        lambda: _birth_with("log_ratio -= math.log(n_blocks + 1.0 if birth else n_blocks)", "pass"),
    ),
    "level of a new block not scored": (
        "poisson", {"one_to_two": 0},
        lambda: _tasks_with(birth_death=with_fault(
            counts_moves.birth_death,
            draw_block=with_fault(counts_moves.draw_block, "log_q + log_gamma_density(theta, shape, rate)", "log_q"),
        )),
    ),
    "split without 1/(K+1)": (
        "bernoulli", {"one_to_two": 10},
        lambda: _pair_with("split_block", " + math.log(n_blocks + 1.0)", ""),
    ),
    "merge scored without the second block": (
        "poisson", {"one_to_two": 10},
        lambda: _pair_with("merge_blocks", "log_back += score_block", "score_block"),
    ),
    "scan without the cells at 0": (
        "poisson", {},
        lambda: _scan_with(evidence=with_fault(counts_scan.evidence, "return gain - theta * picked.sum()", "return gain")),
    ),
    "links scanned as counts": (
        "bernoulli", {},
        lambda: _scan_with(evidence=with_fault(
            counts_scan.evidence, add_gains=with_fault(counts_scan.add_gains, "theta, entries.links)", "theta, False)")
        )),
    ),
    "a link stands for one event": (
        "bernoulli", {},
        lambda: _levels_with(share_out=with_fault(
            counts_draw.share_out, "positive_poisson(rng, total) if entries.links else entries.values[e]", "entries.values[e]"
        )),
    ),
    "level without its cells": (
        "poisson", {},
        lambda: _levels_with("/ (law.rate + area)", "/ (law.rate + 0.8 * area)"),
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_enumeration_sees(name, monkeypatch):
    likelihood, more, made = FAULTS[name]
    monkeypatch.setattr(sweep, *made())
    assert distance({"likelihood": likelihood, **more}, 5, SWEEPS) > 5.0


JOINT_FAULTS = {
    "levels that come with a block not scored": lambda: _lines_with(" + log_without - log_with", ""),
    "levels that come with a block without their prior": lambda: _line_with(
        "log_gamma_density(degree, shape, shape) - degree", "-degree"
    ),
    "entries of new levels left out": lambda: _line_with(
        "total += entries.values[e] * math.log(rate)", "pass"
    ),
    "degrees forget the background's level": lambda: _levels_with(
        "exposed = level * exposure(entries.by_columns, v, u.size)",
        "exposed = exposure(entries.by_columns, v, u.size)",
    ),
    "rescaled without the degrees' prior": lambda: _levels_with(
        rescale=with_fault(
            counts_draw.rescale, "- total * math.exp(other)", "- 0.5 * total * math.exp(other)"
        )
    ),
    "shape without the events": lambda: _levels_with(
        draw_degrees=with_fault(
            counts_draw.draw_degrees,
            log_shape=with_fault(
                counts_draw.log_shape, "math.lgamma(shape + events[i])", "math.lgamma(shape)"
            ),
        )
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", JOINT_FAULTS)
def test_geweke_sees(name, monkeypatch):
    monkeypatch.setattr(sweep, *JOINT_FAULTS[name]())
    more = {"level_births": 8, "birth_death": 2}
    assert np.abs(counts.geweke({"likelihood": "poisson", **more}, 21, 20_000)).max() > 5.0


def _pass_with(function, old, new):
    """The tasks with a fault in the passes in which rows and columns change their levels with their membership."""
    part = with_fault(getattr(counts_lines, function), old, new)
    if function == "turn_lines":
        function, part = "scan_lines", with_fault(counts_lines.scan_lines, turn_lines=part)
    return _tasks_with(scan_with_levels=with_fault(counts_lines.scan_with_levels, **{function: part}))


def _seeds_with(old, new, move=counts_moves.birth_death):
    """The tasks with a fault in the chance of a seed, in the births and deaths of one kind."""
    part = with_fault(move, log_seeds=with_fault(counts_moves.log_seeds, old, new))
    return _tasks_with(**{move.__name__: part})


MOVE_FAULTS = {
    "levels of a block that left stay": (
        WITH_LEVELS,
        lambda: _lines_with(
            "dropped(theta, k),\n            without,", "dropped(theta, k),\n            present,"
        ),
    ),
    "levels of a block that came stay": (
        WITH_LEVELS,
        lambda: _lines_with(
            "appended(theta, theta_k),\n            present,",
            "appended(theta, theta_k),\n            without,",
        ),
    ),
    "levels that come with a block not scored": (
        WITH_LEVELS,
        JOINT_FAULTS["levels that come with a block not scored"],
    ),
    "seeds not scored": (SEEDED, lambda: _seeds_with("math.log(rows.sum() / rows.size)", "0.0")),
    "blocks without their seed": (SEEDED, lambda: _seeds_with(" if rows[i] else np.inf", "")),
    "seeds of births with levels not scored": (
        SEEDED,
        lambda: _seeds_with("math.log(rows.sum() / rows.size)", "0.0", counts_levels.level_birth_death),
    ),
    "level of a row that enters or leaves not scored": (
        PASSES,
        lambda: _pass_with(
            "turn_lines", "log_ratio += log_gamma_density(degrees[item], own, rate) -", "log_ratio += 0.0 *"
        ),
    ),
    "cells at 0 of a row that enters left out": (
        PASSES,
        lambda: _pass_with("turn_lines", " - theta * cells)", ")"),
    ),
    "step of a block's level without its prior": (
        PASSES,
        lambda: _pass_with("shift_level", "law.shape * math.log(other / theta)", "math.log(other / theta)"),
    ),
    "step of a block's level without the levels' density": (
        PASSES,
        lambda: _pass_with("shift_level", "log_ratio -= propose_lines", "propose_lines"),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MOVE_FAULTS)
def test_moves_alone_see(name, monkeypatch):
    code, made = MOVE_FAULTS[name]
    monkeypatch.setattr(sweep, *made())
    assert np.abs(counts.moves_apart(code, "poisson", 3, *MANY)).max() > 5.0


def test_every_planted_fault_fits_its_source():
    """A fault is a piece of source that is replaced: kernels that change take their faults along, told before the slow tests."""
    for *_, made in (*FAULTS.values(), *((made,) for made in JOINT_FAULTS.values()), *MOVE_FAULTS.values()):
        made()
