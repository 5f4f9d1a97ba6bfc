"""Each sampler leaves the joint law of parameters and labels as it is, and the test finds it when one does not."""

from __future__ import annotations

import math

import numpy as np
import pytest
from gp_joint import ClassifierJoint, OrdinalJoint
from plaid_tools import with_fault

from plaidwork.plugins.gp_auxiliary import ordinal, replica
from plaidwork.plugins.gp_auxiliary.classify import Classes
from plaidwork.plugins.gp_auxiliary.kernels import sites
from plaidwork.plugins.gp_auxiliary.ordinal import OrderedClasses

BASE = {"walks": 3, "intercept": False}
FIXED = {"parameters": "fixed"}
"""The covariance is dense and f is moved as a whole; where a dense one is inferred, z is swept site by site."""
SITES = {"site_sweeps": 1}
NULL = {"noise": "null", "null_width": 0.6, "shares": "inferred"}
LIMIT = 4.5
"""Standard errors: about 15 functions a test, so a right sampler fails one in 10,000 times; the seeds are fixed."""


def inputs(size: int) -> np.ndarray:
    return np.ascontiguousarray(np.random.default_rng(0).standard_normal((size, 2)))


def joint(name: str) -> ClassifierJoint | OrdinalJoint:
    low = {"form": "inducing", "inducing": 3}
    return {
        "two classes": lambda: ClassifierJoint(Classes(), BASE | SITES, inputs(6), 2),
        "two classes, inducing points": lambda: ClassifierJoint(Classes(), BASE | SITES | low, inputs(6), 2),
        "two classes, moves of f": lambda: ClassifierJoint(Classes(), BASE | FIXED, inputs(6), 2),
        "null category": lambda: ClassifierJoint(Classes(), BASE | SITES | NULL, inputs(4), 2),
        "three classes": lambda: ClassifierJoint(Classes(), BASE | SITES, inputs(5), 3),
        "three classes, null": lambda: ClassifierJoint(Classes(), BASE | SITES | NULL, inputs(3), 3),
        "ordered": lambda: OrdinalJoint(OrderedClasses(), BASE, inputs(6), 3),
        "ordered, inducing points": lambda: OrdinalJoint(OrderedClasses(), BASE | low, inputs(6), 3),
    }[name]()


NAMES = (
    "two classes", "two classes, inducing points", "two classes, moves of f", "null category", "three classes", "three classes, null",
    "ordered", "ordered, inducing points",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_every_sampler_leaves_the_joint_law(name):
    count = 600 if "inducing" in name else 2000
    assert np.abs(joint(name).run(11, count, count)).max() < LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_sampler_leaves_the_joint_law_longer(name):
    assert np.abs(joint(name).run(12, 20_000, 20_000)).max() < LIMIT


@pytest.mark.slow
def test_ordered_classes_of_forty_samples():
    """Of the size at which the page saw a wrong order of the updates; such a fault is not found here, see NOTES.md."""
    big = OrdinalJoint(OrderedClasses(), BASE | {"parameters": "fixed"}, inputs(40), 4)
    assert np.abs(big.run(13, 6000, 12_000)).max() < LIMIT


# -- power -----------------------------------------------------------------------------------------


def wrong_shares(rng, copy, labels):
    """The prior of the shares counted twice."""
    winners = labels.winners(copy["z"])
    for k in range(labels.n_classes):
        missing = int(((winners == k) & labels.free).sum())
        known = int((labels.code == k).sum())
        copy["log_share"][k] = math.log(rng.beta(2.0 + missing, 2.0 + known))


def swept(patch, **parts):
    """Sweeps with other parts."""
    patch.setattr(replica.sites, "sweep_many", with_fault(sites.sweep_many, **parts))


FAULTS = {  # shares left out of the winner of three classes change the joint law too little: see test_kernels
    "scale": (
        "two classes",
        lambda patch: swept(patch, scale_z=with_fault(sites.scale_z, "0.5 * z.size", "0.5 * (z.size - 1)")),
    ),
    "shares": ("null category", lambda patch: patch.setattr(replica, "draw_shares", wrong_shares)),
    "side without the null": (
        "null category",
        lambda patch: swept(
            patch, sweep_intervals=with_fault(sites.sweep_intervals, "(mean - null) / sd", "mean / sd")
        ),
    ),
    "exponent of the joint scale": (
        "ordered",
        lambda patch: patch.setattr(
            ordinal, "move_together", with_fault(ordinal.move_together, "(len(z) + 1)", "(len(z) - 1)")
        ),
    ),
    "prior of the cut-points": (
        "ordered",
        lambda patch: patch.setattr(ordinal, "log_cuts", lambda cuts: -0.5 * (cuts[0] / 3.0) ** 2),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault, monkeypatch):
    name, put = FAULTS[fault]
    put(monkeypatch)
    assert np.abs(joint(name).run(12, 20_000, 20_000)).max() > 5
