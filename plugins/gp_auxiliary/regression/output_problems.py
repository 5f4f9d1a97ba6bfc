"""What is wrong with several outputs."""

from __future__ import annotations

from plaidwork.core.api import Problem, counted
from plaidwork.plugins.gp_auxiliary.regression.outputs import is_complete
from plaidwork.plugins.gp_auxiliary.regression.samples import Samples
from plaidwork.plugins.gp_auxiliary.regression.spec import MOST_OUTPUTS
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import RegressionSettings

MOST_CELLS = 6000
"""Known values at most where some are missing: their covariance then takes 288 MB, a gradient half a minute."""


def output_problems(samples: Samples, params: RegressionSettings, sparse: bool) -> list[Problem]:
    """Too many outputs or cells, and what several outputs do not go with."""
    if not samples.outputs:
        return []
    found = []
    if len(samples.outputs) > MOST_OUTPUTS:
        found.append(
            Problem(
                f"{counted(len(samples.outputs), 'output')} are too many: at most {MOST_OUTPUTS} are fitted together.",
                "Choose fewer columns as “Values”.",
                "y",
            )
        )
    cells = samples.cells
    whole = is_complete(cells, int(samples.frame.used.sum()), len(samples.outputs))
    if not whole and len(cells) > MOST_CELLS:
        found.append(
            Problem(
                f"Where values of some outputs are missing, at most {MOST_CELLS} known values are fitted. Found {len(cells)}.",
                "Leave out samples of which a value is missing, mark some as “test” by a “Split”, or fit the outputs one by one, by inducing "
                "points if need be.",
                "y",
            )
        )
    if params["noise"] != "normal":
        found.append(
            Problem(
                "Several outputs go with normal noise only, of one covariance.",
                "Choose “Normal” as “Noise”, or fit one output at a time.",
                "noise",
            )
        )
    if sparse:
        found.append(
            Problem(
                "Several outputs cannot be computed by inducing points.",
                "Choose “Dense”, or fit one output at a time.",
                "form",
            )
        )
    return found
