"""What a fit says of noise that is not normal with one variance: weights of the samples, the noise along the inputs."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import Kept, Result, Results, Table, agree, counted, format_number
from plaidwork.plugins.gp_auxiliary.regression.moments import Moments
from plaidwork.plugins.gp_auxiliary.regression.noise import degrees_prior_ends
from plaidwork.plugins.gp_auxiliary.regression.samples import Samples

_SMALL = 0.2
"""Weight below which a sample hardly counts; of normal noise all have 1."""


def student_results(kept: Kept, samples: Samples, table: Table) -> tuple[Results, np.ndarray]:
    """The table of parameters with the degrees of freedom, words of the noise, and the mean weight w (N,) of each fitted sample."""
    chains = [chain for chain in kept.chains if chain.n_draws]
    degrees = np.concatenate([chain.stack("shape")[:, 0] for chain in chains])
    weights = np.mean([np.mean(1.0 / chain.stack("scale"), axis=0) for chain in chains], axis=0)
    low, middle, high = np.quantile(degrees, [0.05, 0.5, 0.95])
    ends = degrees_prior_ends()
    row = {"Parameter": "degrees of freedom", "Median": middle, "5 %": low, "95 %": high}
    row |= {"Prior 5 %": ends[0], "Prior 95 %": ends[1]}
    columns = {title: np.append(found, row[title]) for title, found in table.columns.items()}
    light = int((weights < _SMALL).sum())
    said = f"noise with heavy tails, {format_number(float(middle), 2)} degrees of freedom"
    if light:
        said += f"; {counted(light, 'sample')} hardly {agree(light, 'counts', 'count')}"
    return {"covariance": Table(columns, label=table.label), "noise_text": said}, weights


def varying_results(found: Moments, shape: tuple[int, int], samples: Samples) -> Results:
    """The noise sd along each input shown, of the places (L, t) that the moments begin with."""
    sd = samples.spread * np.sqrt(found.noise[:, : shape[0] * shape[1]]).reshape(-1, *shape)
    low, middle, high = np.quantile(sd, [0.05, 0.5, 0.95], axis=0)
    own = np.median(np.sqrt(found.left_out_noise), axis=0) * samples.spread
    ends = format_number(float(own.min()), 3), format_number(float(own.max()), 3)
    dims = ("along", "place")
    return {
        "noise_along": Result(middle, dims, label="noise sd"),
        "noise_interval": Result(np.stack([low, high], axis=-1), (*dims, "end")),
        "noise_text": f"noise sd from {ends[0]} to {ends[1]}",
        "noise_note": "Median and band of 90 % of the noise's standard deviation, the other inputs at their medians.",
    }
