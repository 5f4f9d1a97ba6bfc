"""What a model finds does not depend on the unit of its data: the same fit of values multiplied by a constant says the same."""

import re

import numpy as np
import pytest

from plaidwork.core import fit

RNG = np.random.default_rng(0)
GROUP = RNG.integers(0, 3, 90)
POINTS = RNG.normal(0, 0.5, (90, 6)) + np.array([[0] * 6, [3] * 3 + [0] * 3, [0] * 3 + [3] * 3])[GROUP]
CURVE = np.sin(POINTS[:, 0]) + 0.1 * RNG.normal(size=90)
LABELS = [f"c{k}" for k in GROUP]
PLAID = RNG.normal(0, 1, (60, 25))
PLAID[:20, :8] += 3
PLAID[30:50, 12:20] -= 3
SHORT = {"chains": 2, "warmup": 100, "draws": 100}

CASES = {
    "dp_mixture": (lambda c: {"views": [POINTS * c]}, SHORT),
    "multi_view_clusters": (lambda c: {"views": [POINTS[:, :3] * c, POINTS[:, 3:]]}, SHORT),
    "infinite_plaid": (lambda c: {"X": PLAID * c}, SHORT),
    "bayesian_plaid": (lambda c: {"X": PLAID * c}, SHORT),
    "group_factor": (lambda c: {"views": [POINTS * c]}, {}),
    "rank_factor": (lambda c: {"X": POINTS * c, "y": LABELS}, SHORT),
    "rank_factor_vb": (lambda c: {"X": POINTS * c, "y": LABELS}, {}),
    "gp_classes": (lambda c: {"X": POINTS * c, "y": LABELS}, SHORT),
    "gp_quick_classes": (lambda c: {"X": POINTS * c, "y": LABELS}, {}),
    "gp_regression": (lambda c: {"X": POINTS[:, :1] * c, "y": CURVE * c}, SHORT),
    "gp_quick_regression": (lambda c: {"X": POINTS[:, :1] * c, "y": CURVE * c}, {}),
}
"""Inputs in units of 1 / c, and a short schedule."""
SHARE = re.compile(r"\d+ (?:of \d+|%|clusters?|blocks?|factors?)|[\d.]+ nats")
"""What of a headline has no unit."""


@pytest.mark.long
@pytest.mark.parametrize("model", CASES)
def test_the_unit_of_the_data_changes_nothing(model):
    """To what the headline says; last digits may differ, so the smallest units are a million apart and not more."""
    inputs, schedule = CASES[model]
    said = [
        SHARE.findall(fit(model, inputs(unit), seed=1, executor="threads", **schedule).results["headline"])
        for unit in (1.0, 2.0**17, 2.0**-13)
    ]
    assert said[0], "something is said"
    assert said[1] == said[0]
    assert said[2] == said[0]
