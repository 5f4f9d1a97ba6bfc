"""Each sampler leaves the joint law of parameters and labels as it is; faults that this finds: test_power."""

from __future__ import annotations

import numpy as np
import pytest
from gp_joint import joint
from sparing import some

LIMIT = 4.5
"""Standard errors: about 15 functions a test, so a right sampler fails one in 10,000 times; the seeds are fixed."""


NAMES = (
    "two classes", "two classes, inducing points", "two classes, moves of f", "null category", "three classes", "three classes, null",
    "ordered", "ordered, narrow priors", "ordered, inducing points", "two classes, trajectories", "two classes, trajectories, inducing points",
    "three classes, trajectories", "four classes, trajectories", "ordered, trajectories",
)  # fmt: skip


@pytest.mark.parametrize("name", some(NAMES, ("ordered",)))
def test_every_sampler_leaves_the_joint_law(name):
    count = 600 if "inducing" in name else 2000
    assert np.abs(joint(name).run(11, count, count)).max() < LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_sampler_leaves_the_joint_law_longer(name):
    assert np.abs(joint(name).run(12, 20_000, 20_000)).max() < LIMIT
