"""Long chains on five items against all 52 partitions; faults planted in the kernels must show."""

from __future__ import annotations

import numpy as np
import pytest
from broken import FAULTS, broken_model
from exact import block, log_evidence, log_partition, partitions, smallest_p

from plaidwork.core.api import Clock
from plaidwork_dirichlet_mixture.model import DirichletMixture

MODEL = DirichletMixture()
FIVE = np.array([[0.0, 0.2], [0.9, 0.3], [1.9, 2.0], [2.2, 1.2], [0.6, -1.1]])
GAPS = FIVE.copy()
GAPS[0, 1] = GAPS[3, 0] = np.nan
BASE = {"standardise": False, "within": 0.6, "within_weight": 3.0, "mean_weight": 0.3}
ALONE, LEARNED = {"learn_alpha": False, "alpha": 1.0}, {"learn_alpha": True, "alpha_rate": 1.5}
GIBBS, MOVES = {"split_merge": 0}, {"split_merge": 2, "launch_scans": 2}
FULL, DIAGONAL = {"covariance": "full"}, {"covariance": "diagonal"}
CASES = {
    "full": (FIVE, FULL, GIBBS, ALONE),
    "full, moves": (FIVE, FULL, MOVES, LEARNED),
    "full, moves without scans": (FIVE, FULL, {"split_merge": 2, "launch_scans": 0}, ALONE),
    "many moves": (FIVE, FULL, {"split_merge": 8, "launch_scans": 0}, ALONE),
    "diagonal": (FIVE, DIAGONAL, GIBBS, LEARNED),
    "diagonal, moves": (FIVE, DIAGONAL, MOVES, ALONE),
    "gaps": (GAPS, DIAGONAL, GIBBS, ALONE),
    "gaps, moves": (GAPS, DIAGONAL, MOVES, LEARNED),
}
ERROR_LEVEL = 1e-4
"""Probability that a right sampler fails one of these tests."""


def settings(*parts):
    merged = dict(BASE)
    for part in parts:
        merged |= part
    return MODEL.spec.check_params(merged)


def test_there_are_52_partitions():
    assert len(partitions(5)) == 52
    assert np.exp([log_partition(one, 1.3) for one in partitions(5)]).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("case", CASES)
def test_frequencies_of_partitions(case):
    values, *parts = CASES[case]
    assert smallest_p(MODEL, block(values), settings(*parts), 20_000) > ERROR_LEVEL


@pytest.mark.parametrize(
    "fault",
    [pytest.param(f, marks=pytest.mark.slow if FAULTS[f].sweeps > 5000 else ()) for f in FAULTS],
)
def test_a_broken_update_is_seen(fault):
    case, sweeps = FAULTS[fault].case, FAULTS[fault].sweeps
    values, *parts = CASES[case]
    assert smallest_p(broken_model(fault), block(values), settings(*parts), sweeps) < ERROR_LEVEL


def test_unbroken_python_is_not_called_broken():
    """The copy in which faults are planted is right without one."""
    values, *parts = CASES["full, moves"]
    assert smallest_p(broken_model(""), block(values), settings(*parts), 1200) > ERROR_LEVEL


@pytest.mark.parametrize("form", [FULL, DIAGONAL])
@pytest.mark.parametrize("standardise", [False, True])
def test_log_joint_is_exact(form, standardise):
    """The trace is the log density of data, partition and alpha, in the unit of the data."""
    data, params = block(100 * FIVE + 7), settings(form, ALONE, {"standardise": standardise, "within": 2.0})
    rng = np.random.default_rng(3)
    state = MODEL.init(data, params, rng)
    for sweep in range(20):
        traces = MODEL.step(state, data, params, rng, Clock(sweep, 0))
        scaled = block((data["X"].values - state["centre"]) / state["scale"])
        expected = log_evidence(state["labels"], scaled, params) + log_partition(state["labels"], 1.0)
        expected -= 5 * np.log(state["scale"]).sum()
        assert traces["log_joint"] == pytest.approx(expected, rel=1e-10)


def test_both_forms_agree_on_one_column():
    data = block(FIVE[:, :1])
    one, two = (log_evidence((0, 0, 1, 1, 0), data, settings(form)) for form in (FULL, DIAGONAL))
    assert one == pytest.approx(two)
