"""Entries drawn for several blocks at once: the exact posterior of a 3 x 3 matrix, and planted faults."""

import numpy as np
import plaid_tools as tools
import pytest
from plaid_tools import with_fault
from sparing import every

from plaidwork.plugins.plaid import sweep
from plaidwork.plugins.plaid.kernels import joint_scan, tasks
from plaidwork.plugins.plaid.models import BayesianPlaid, InfinitePlaid

FIXED = {**tools.TINY_FIXED, "exchanges": 0, "recuts": 0, "together": 2}
INFERRED = {**tools.TINY_INFINITE, "together": 3}


def distance(kind, settings, seed, sweeps):
    """Largest |z| between a chain and sums over all blocks."""
    params = kind.spec.check_params(settings)
    exact = tools.exact_fixed(params) if kind is BayesianPlaid else tools.exact_infinite(params)
    return np.abs(tools.z_scores(tools.sampled(kind(), settings, seed, sweeps), exact)).max()


@pytest.mark.parametrize(
    "sweeps", [3000, pytest.param(24_000, marks=pytest.mark.slow)], ids=["short", "long"]
)
@pytest.mark.parametrize(
    ("kind", "settings"),
    every([(BayesianPlaid, FIXED), (InfinitePlaid, INFERRED)], 2),
    ids=["fixed", "inferred"],
)
def test_enumeration(kind, settings, sweeps):
    assert distance(kind, settings, 7, sweeps) < tools.LIMIT


def drawn_with(old, new, name="scan_items_together"):
    """The tasks of a sweep with a fault in the scan of several blocks."""
    if name == "draw_item":
        items = with_fault(joint_scan.draw_items, draw_item=with_fault(joint_scan.draw_item, old, new))
    else:
        items = with_fault(joint_scan.draw_items, old, new)
    scan = with_fault(joint_scan.scan_items_together, draw_items=items)
    return with_fault(tasks.run_tasks, joint_scan=with_fault(joint_scan.joint_scan, scan_items_together=scan))


FAULTS = {
    "shared cells left out": lambda: drawn_with("value -= shared[low, c]", "pass", "draw_item"),
    "own cells counted twice": lambda: drawn_with("- 0.5 * shared[c, c]", "- shared[c, c]", "draw_item"),
    "prior of the other side": lambda: drawn_with("(law.a1, law.b1) if by_rows", "(law.a2, law.b2) if by_rows"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_seen(name, monkeypatch):
    monkeypatch.setattr(sweep, "run_tasks", FAULTS[name]())
    assert distance(BayesianPlaid, FIXED, 7, 24_000) > 5.0
