"""What a fit is said to take is what it takes."""

import numpy as np
import pytest

from plaidwork.core import fit
from plaidwork.core.data.objects import as_dataset
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.plugins.registry import registry


@pytest.mark.parametrize(
    "settings", [{}, {"layer": "profile"}, {"layer": "profile", "row_noise": True, "effects": True}]
)
def test_the_bytes_of_a_draw_are_estimated(settings):
    """With 20 blocks assumed, and the few that there are here: at most what is told, and not a small part of it where no block counts."""
    x = np.random.default_rng(1).normal(size=(60, 40))
    run = fit(
        "infinite_plaid", {"X": x}, settings, seed=1, chains=1, warmup=5, draws=20, thin=1, executor="inline"
    )
    view = run.kept().chains[0]
    entries = [entry for variable in run.spec.variables for entry in view.packed(variable.name)]
    kept = sum(entry.nbytes for entry in entries) / view.n_draws
    plan = make_plan(registry().model("infinite_plaid"), {"X": as_dataset("X", x)}, settings)
    told = registry().model("infinite_plaid").estimate(plan.data, plan.params).draw
    assert kept <= told
    if "effects" in settings:
        assert told < 10 * kept
