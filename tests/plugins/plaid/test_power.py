"""The exactness tests have power: each fault below is put into one update, and the check must see it."""

import numpy as np
import plaid_tools as tools
import pytest
from plaid_tools import with_fault

from plaidwork.plugins.plaid import base, effects, profile_sweep, sweep, tails
from plaidwork.plugins.plaid.kernels import (
    birth_death,
    evidence,
    joint_draw,
    pairs,
    profile_moves,
    profile_scan,
    row_wise,
    scan,
    seeded,
    split_merge,
    tasks,
)
from plaidwork.plugins.plaid.kernels import tails as tail_kernels
from plaidwork.plugins.plaid.models import BayesianPlaid, InfinitePlaid

pytestmark = pytest.mark.slow
SWEEPS = 12_000
SMALL_WINDOW = with_fault(seeded.window_rows, "WEIGHED_CELLS", "3")
GEWEKE = {**tools.GEWEKE, "expected_blocks": 1.5, "mass_shape": 3.0, "max_blocks": 3}


def _tasks_with(**kernels):
    return with_fault(tasks.run_tasks, **kernels)


def _scan_with(old, new):
    side = with_fault(scan.scan_side, old, new)
    last = with_fault(scan.scan_columns, scan_side=side)
    one = with_fault(scan.scan_block, scan_side=side, scan_columns=last)
    return _tasks_with(scan_blocks=with_fault(scan.scan_blocks, scan_block=one))


def _row_wise_with(old, new):
    one = with_fault(row_wise.replace_singletons, old, new)
    return with_fault(row_wise.row_wise, replace_singletons=one)


def _profile_moves_with(old, new):
    moves = with_fault(profile_moves.profile_birth_death, old, new)
    return with_fault(profile_moves.run_profile_tasks, profile_birth_death=moves)


def _profile_rows_with(old="", new="", **names):
    rows = with_fault(profile_scan.row_pass, draw_rows=with_fault(profile_scan.draw_rows, old, new, **names))
    one = with_fault(profile_scan.scan_profile_block, row_pass=rows)
    return with_fault(profile_moves.run_profile_tasks, scan_profile_block=one)


def _levels_with(old, new):
    chol = with_fault(evidence.factor, old, new)
    return _tasks_with(draw_levels=with_fault(joint_draw.draw_levels, factor=chol))


MEMBERSHIP_FAULTS = {
    "birth without 1/(K+1)": (
        {}, sweep, "run_tasks",
        lambda: _tasks_with(
            birth_death=with_fault(birth_death.birth_death, " - math.log(rest_rows.shape[0] + 1)", "")
        ),
    ),
    "death scored without the prior half": (
        {}, sweep, "run_tasks",
        lambda: _tasks_with(
            birth_death=with_fault(
                birth_death.birth_death, "log_q = log_proposal(z1, z2, log_q, prior_share)", "pass"
            )
        ),
    ),
    "seed cells not counted": (
        {}, sweep, "run_tasks",
        lambda: _tasks_with(
            seeded_birth_death=with_fault(
                seeded.seeded_birth_death, "math.log(float(z1.sum()) * float(z2.sum())) + ", ""
            )
        ),
    ),
    "window of rows not counted": (
        {}, sweep, "run_tasks",
        lambda: _tasks_with(
            seeded_birth_death=with_fault(
                seeded.seeded_birth_death, " * size / n_rows", "", window_rows=SMALL_WINDOW
            )
        ),
    ),
    "number of splits off": (
        {"birth_death": 1, "seeded": 0, "split_merge": 6}, sweep, "run_tasks",
        lambda: _tasks_with(
            split_merge=with_fault(
                split_merge.split_merge,
                log_splits=with_fault(split_merge.log_splits, " + math.log1p(-(2.0 ** (1 - m)))", " + 1.0"),
            )
        ),
    ),
    "exchange that does not undo itself": (
        {"birth_death": 1, "seeded": 0, "exchanges": 12}, sweep, "run_tasks",
        lambda: _tasks_with(
            exchange=with_fault(
                pairs.exchange, propose_pair=with_fault(pairs.propose_pair, "side[second] ^= side[first]", "side[second] |= side[first]")
            )
        ),
    ),
    "profile birth without 1/(K+1)": (
        tools.PROFILE, profile_sweep, "run_profile_tasks",
        lambda: _profile_moves_with("- math.log(rest_rows.shape[0] + 1) ", ""),
    ),
    "profile row counted with itself": (
        tools.PROFILE, profile_sweep, "run_profile_tasks", lambda: _profile_rows_with("law.a1 + members - z1[i]", "law.a1 + members")
    ),
    "swap with the wrong sign": (
        {"replicas": 3, "warmest": 0.2}, base, "swap_replicas",
        lambda: with_fault(sweep.swap_replicas, "setting.powers[r - 1] - setting.powers[r]", "setting.powers[r] - setting.powers[r - 1]"),
    ),
    "heavy tails, swap with the wrong sign": (
        {**tools.TAILS, "max_blocks": 2, "replicas": 3, "warmest": 0.2}, sweep, "swap_gain_of_tails",
        lambda: with_fault(sweep.swap_gain_of_tails, "gains[0] - gains[1]", "gains[1] - gains[0]"),
    ),
    "row-wise rate of the program": (
        {"moves": "row_wise"}, sweep, "row_wise",
        lambda: _row_wise_with("law.alpha * harmonic(other.shape[1])", "law.alpha"),
    ),
    "row-wise singletons kept": (
        {"moves": "row_wise"}, sweep, "row_wise",
        lambda: _row_wise_with(
            "drop_singletons(along, other, theta, i)", "along, other, theta, np.zeros(other.shape[1])"
        ),
    ),
}  # fmt: skip

NUMBER_FAULTS = {
    "shifts drawn without their prior": (
        sweep, "run_tasks", lambda: _levels_with("total = own * mean + ", "total = 0.0 * mean + ")
    ),
    "mass with the rate of the prior": (
        sweep, "draw_mass", lambda: with_fault(sweep.draw_mass, "rng, n_blocks, harmonics", "rng, n_blocks, 0.0")
    ),
    "mass without the cut": (sweep, "draw_mass", lambda: with_fault(sweep.draw_mass, "< log_ratio", "< 1.0")),
    "noise counts every cell twice": (
        sweep, "draw_scalars",
        lambda: with_fault(sweep.draw_scalars, "0.5 * power * cells.n_observed", "power * cells.n_observed"),
    ),
    "spread without its blocks": (
        sweep, "draw_shift_prior",
        lambda: with_fault(sweep.draw_shift_prior, "0.5 * theta.size", "0.0 * theta.size"),
    ),
    "row weights without their prior": (
        profile_sweep, "draw_layer_scalars",
        lambda: with_fault(profile_sweep.draw_layer_scalars, "rate = 0.5 * (ROW_FREEDOM + ", "rate = 0.5 * (1.0 + "),
    ),
    "effects drawn with half their precision": (
        profile_sweep, "draw_effects",
        lambda: with_fault(effects.draw_effects, "rng.standard_normal(len(t)) / np.sqrt(precision)", "rng.standard_normal(len(t)) / np.sqrt(0.5 * precision)"),
    ),
    "a level shared with half its spread": (
        profile_sweep, "share_level",
        lambda: with_fault(
            effects.share_level, _shared=with_fault(effects._shared, "math.sqrt(whole)", "math.sqrt(4.0 * whole)")
        ),
    ),
    "one shift, effects drawn with half their precision": (
        sweep, "draw_effects",
        lambda: with_fault(effects.draw_effects, "rng.standard_normal(len(t)) / np.sqrt(precision)", "rng.standard_normal(len(t)) / np.sqrt(0.5 * precision)"),
    ),
    "one shift, squares too large beside effects": (
        sweep, "_draw_effects", lambda: with_fault(sweep._draw_effects, "float((residual**2).sum())", "1.3 * float((residual**2).sum())")
    ),
    "one shift, column effects twice as large for their precision": (
        sweep, "draw_effects",
        lambda: with_fault(
            effects.draw_effects, '_draw_precision(effects["column_effects"], prior', '_draw_precision(2.0 * effects["column_effects"], prior'
        ),
    ),
    "heavy tails, weights drawn as of two cells": (
        sweep, "draw_weights", lambda: with_fault(tail_kernels.draw_weights, "shape = 0.5 * (freedom + power)", "shape = 0.5 * (freedom + 2.0 * power)")
    ),
    "heavy tails, squares without the weights": (
        tails, "weigh", lambda: with_fault(tail_kernels.weigh, "second += pull * (x - cells.centre)", "second += (x - cells.centre) * (x - cells.centre)")
    ),
    "heavy tails, degrees of freedom without the slope of their logarithm": (
        sweep, "draw_freedom", lambda: with_fault(tails.draw_freedom, "+ math.log(f)\n", "\n")
    ),
    "profiles drawn without spread": (
        profile_sweep, "draw_layer_scalars",
        lambda: with_fault(profile_sweep.draw_layer_scalars, "0.5 * inside.sum()", "inside.sum()"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MEMBERSHIP_FAULTS)
def test_enumeration_sees(name, monkeypatch):
    settings, module, target, build = MEMBERSHIP_FAULTS[name]
    monkeypatch.setattr(module, target, build())
    settings = {**tools.TINY_INFINITE, **settings}
    exact = tools.exact_infinite(InfinitePlaid.spec.check_params(settings))
    samples = tools.sampled(InfinitePlaid(), settings, 5, SWEEPS)
    assert np.abs(tools.z_scores(samples, exact)).max() > 5.0


def test_enumeration_of_a_fixed_number_sees_the_entry_counted_with_itself(monkeypatch):
    monkeypatch.setattr(sweep, "run_tasks", _scan_with("b + size - 1 - members", "b + size - members"))
    settings = {**tools.TINY_FIXED, "exchanges": 0}
    exact = tools.exact_fixed(BayesianPlaid.spec.check_params(settings))
    samples = tools.sampled(BayesianPlaid(), settings, 7, SWEEPS)
    assert np.abs(tools.z_scores(samples, exact)).max() > 5.0


def test_enumeration_of_a_fixed_number_sees_a_profile_without_its_shift(monkeypatch):
    evidence = with_fault(profile_scan.log_block_evidence, " + 0.5 * mean * mean / precision", "")
    monkeypatch.setattr(profile_sweep, "run_profile_tasks", _profile_rows_with(log_block_evidence=evidence))
    settings = {**tools.TINY_FIXED, **tools.PROFILE, "exchanges": 0}
    exact = tools.exact_fixed(BayesianPlaid.spec.check_params(settings))
    samples = tools.sampled(BayesianPlaid(), settings, 7, SWEEPS)
    assert np.abs(tools.z_scores(samples, exact)).max() > 5.0


@pytest.mark.parametrize("name", NUMBER_FAULTS)
def test_geweke_sees(name, monkeypatch):
    module, target, build = NUMBER_FAULTS[name]
    monkeypatch.setattr(module, target, build())
    more = {**tools.LAYERED, "row_noise": True, "effects": True} if module is profile_sweep else {}
    more = tools.EFFECTS if name.startswith("one shift") else more
    more = {**tools.HEAVY, "freedom_shape": 2.0} if name.startswith("heavy tails") else more
    assert np.abs(tools.geweke(InfinitePlaid(), {**GEWEKE, **more}, 21, 20_000)).max() > 5.0


def test_window_of_rows_is_exact(monkeypatch):
    """The window that large matrices use, at a size at which the answer is known."""
    kernel = with_fault(seeded.seeded_birth_death, window_rows=SMALL_WINDOW)
    monkeypatch.setattr(sweep, "run_tasks", _tasks_with(seeded_birth_death=kernel))
    exact = tools.exact_infinite(InfinitePlaid.spec.check_params(tools.TINY_INFINITE))
    samples = tools.sampled(InfinitePlaid(), tools.TINY_INFINITE, 5, SWEEPS)
    assert np.abs(tools.z_scores(samples, exact)).max() < tools.LIMIT
