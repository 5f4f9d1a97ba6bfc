"""Joint distribution test (Geweke 2004): a chain that redraws the data must have the prior as its law."""

import numpy as np
import plaid_tools as tools
import pytest

from plaidwork.plugins.plaid.models import BayesianPlaid, InfinitePlaid

INFINITE = {**tools.GEWEKE, "expected_blocks": 1.5, "mass_shape": 3.0, "max_blocks": 3}
FIXED = {**tools.GEWEKE, "blocks": 2, "row_b": 2.0, "column_b": 1.5}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "settings"),
    [
        (InfinitePlaid, INFINITE),
        (InfinitePlaid, {**INFINITE, "moves": "row_wise"}),
        (BayesianPlaid, {**FIXED, "exchanges": 1}),
        (InfinitePlaid, {**INFINITE, **tools.LAYERED, "exchanges": 1}),
        (InfinitePlaid, {**INFINITE, **tools.LAYERED, "row_noise": True}),
        (BayesianPlaid, {**FIXED, **tools.LAYERED, "row_noise": True, "effects": True}),
        (InfinitePlaid, {**INFINITE, **tools.EFFECTS, "exchanges": 1}),
        (InfinitePlaid, {**INFINITE, **tools.HEAVY, "split_merge": 1}),
        (InfinitePlaid, {**INFINITE, **tools.HEAVY, "moves": "row_wise"}),
        (BayesianPlaid, {**FIXED, **tools.HEAVY, **tools.EFFECTS, "exchanges": 1}),
    ],
    ids=[
        "infinite",
        "row by row",
        "fixed",
        "profiles",
        "row noise",
        "effects",
        "shifts and effects",
        "heavy tails",
        "row by row, heavy tails",
        "effects, heavy tails",
    ],
)
def test_geweke(model, settings):
    assert np.abs(tools.geweke(model(), settings, 21, 20_000)).max() < tools.LIMIT
