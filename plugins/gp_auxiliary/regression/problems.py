"""What is wrong with inputs and settings of a regression."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import ModelData, ModelError, Problem, counted
from plaidwork.plugins.gp_auxiliary.kernels.covariance import WHITE
from plaidwork.plugins.gp_auxiliary.regression.growing import growing_problems
from plaidwork.plugins.gp_auxiliary.regression.output_problems import output_problems
from plaidwork.plugins.gp_auxiliary.regression.samples import (
    Samples,
    covariance_at,
    filled,
    make_samples,
)
from plaidwork.plugins.gp_auxiliary.regression.season_found import season_problems
from plaidwork.plugins.gp_auxiliary.shared.covariance import SAME, has_term
from plaidwork.plugins.gp_auxiliary.shared.frame import law_problems, wants_inducing
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import RegressionSettings

MOST = 2000
"""Fitted samples at most: a gradient then takes most of a second, a covariance 32 MB."""
MOST_SPARSE = 100_000
"""The same by inducing points: with 300 of them a gradient then takes a second and a quarter of a GB."""


def find_problems(data: ModelData, given: RegressionSettings) -> list[Problem]:
    """What is wrong with inputs and settings."""
    try:
        has_term(given, SAME)
    except ModelError as error:
        return [Problem(error.message, error.hint, where="expression")]
    try:
        samples = make_samples(data, given)
    except ModelError as error:
        return [Problem(error.message, error.hint, where="y")]
    params = filled(given, samples.season)
    found = law_problems(data["X"], samples.frame, params)
    count, sparse = int(samples.frame.used.sum()), wants_inducing(int(samples.frame.used.sum()), params)
    if count > MOST and not sparse:
        found.append(
            Problem(
                f"{counted(count, 'sample')} are too many: each step would take {2e-10 * count**3:.0f} seconds. At most {MOST} are fitted "
                "without inducing points.",
                "The quick look takes inducing points; or mark some of the samples as “test” by a “Split”.",
                "y",
            )
        )
    if count > MOST_SPARSE:
        found.append(
            Problem(
                f"{counted(count, 'sample')} are too many: at most {MOST_SPARSE} are fitted.",
                "Leave some of them out.",
                "y",
            )
        )
    if sparse and (covariance_at(params, samples.frame.columns).table[:, 0] == WHITE).any():
        found.append(
            Problem(
                "A white term cannot be told from the noise by inducing points.",
                "Leave “white” out of the sum, or choose “Dense”.",
                "expression",
            )
        )
    if sparse and has_term(given, SAME):
        found.append(
            Problem(
                "Functions of the groups' own cannot be computed by inducing points.",
                "Choose “Dense”, or a covariance without “same”.",
                "covariance",
            )
        )
    found += output_problems(samples, params, sparse)
    found += _group_problems(samples, params, "groups" in data) + _far_values(samples, data)
    return found + growing_problems(samples, data) + season_problems(samples, data, given)


def _group_problems(samples: Samples, params: RegressionSettings, given: bool) -> list[Problem]:
    """Groups that are wanted and not there, or there and not wanted, or too few."""
    wanted = has_term(params, SAME) or params["noise"] == "groups"
    if wanted and not given:
        said = "A function or a noise of each group needs groups, and none are chosen."
        return [Problem(said, "Choose a column of labels as “Groups”.", "groups")]
    if given and not wanted:
        said = "Groups are chosen, but neither “Covariance” nor “Noise” takes them into account."
        hint = "Choose “Shared and by group” as covariance, or “By group” as noise."
        return [Problem(said, hint, "groups", "warning")]
    if wanted and len(samples.labels) == 1:
        said = f"All samples to fit are of one group, “{samples.labels[0]}”: what is shared cannot be told from its own."
        return [Problem(said, "", "groups", "warning")]
    return []


def _far_values(samples: Samples, data: ModelData) -> list[Problem]:
    """Values so far from the others of their output that they rule the scale."""
    if not samples.outputs:
        return _far_value(samples, data, "")
    return [
        problem
        for p, name in enumerate(samples.outputs)
        for problem in _far_value(samples.of_output(p), data, f" of “{name}”")
    ]


def _far_value(samples: Samples, data: ModelData, of: str) -> list[Problem]:
    """The farthest value, of an output in words."""
    fitted = samples.frame.used & samples.known
    values = samples.values[fitted]
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    away = np.abs(values - middle)
    if not (high > low and away.max() > 100.0 * (high - low)):
        return []
    worst = int(np.argmax(away))
    place = int(np.flatnonzero(fitted)[worst])
    names = data["y"].names[0]
    name = f"“{names[place]}”" if names else f"sample {place + 1}"
    return [
        Problem(
            f"The value {values[worst]:.4g}{of} of {name} is far from all others, half of which lie from {low:.4g} to {high:.4g}.",
            "Check the file: a decimal point may have been lost.",
            "y",
            "warning",
        )
    ]
