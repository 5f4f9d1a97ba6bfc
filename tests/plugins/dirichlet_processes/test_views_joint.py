"""Faults of bases and concentrations of several views: the joint-distribution test (Geweke 2004) finds them, also with missing cells."""

import pytest
from plaid_tools import with_fault

from plaidwork.core.checks import CheckFailed, checks_for
from plaidwork.plugins.dirichlet_processes.multi_view import sweep
from plaidwork.plugins.dirichlet_processes.multi_view.kernels import finish
from plaidwork.plugins.dirichlet_processes.multi_view.model import MultiViewClusters

GAPS = "numbers and counts with gaps"
FAULTS = {
    "K d / 2 forgotten in the weight of the centre": ("draw_numbers", "1.0 + 0.5 * number * width", "1.0"),
    "the prior forgotten in the scale of the variances": ("draw_numbers", "SHAPE_B0 + number * a0", "number * a0"),
    "rates without the clusters": ("draw_rates", "1.0 + number * a", "1.0 + a"),
    "the cells that are known forgotten in a variance": ("draw_numbers", "a0 + 0.5 * c.known[k, j]", "a0 + 0.5 * c.size[k]"),
}  # fmt: skip


FULL = ("the cells that are known forgotten in a variance",)
"""Found by 40 chains of 1000 sweeps alone."""


def geweke(level="quick"):
    (check,) = [
        one
        for one in checks_for(MultiViewClusters, only=("geweke",), level=level)
        if str(one) == f"geweke[{GAPS}]"
    ]
    return check


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["", *FAULTS])
def test_faults_are_found(fault, monkeypatch):
    """20 chains of 60 sweeps against 1000 draws of the prior; the right sampler fails in one of ten thousand seeds."""
    if not fault:
        geweke()()
        return
    name, old, new = FAULTS[fault]
    wrong = with_fault(finish.end_sweep, **{name: with_fault(getattr(finish, name), old, new)})
    monkeypatch.setattr(sweep, "end_sweep", wrong)
    with pytest.raises(CheckFailed):
        geweke("full" if fault in FULL else "quick")()
