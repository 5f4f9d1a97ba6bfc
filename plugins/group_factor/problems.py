"""What is wrong with the views, or worth knowing, before a fit starts."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import (
    Block,
    ModelData,
    ModelError,
    Problem,
    counted,
    format_percent,
    mean_of,
    unlike_scales,
)
from plaidwork.plugins.group_factor.inputs import (
    NAMES,
    as_fitted,
    blocks_of,
    likelihoods_of,
    places_of,
    view_names,
)
from plaidwork.plugins.group_factor.reading import (
    USUAL_SPREAD,
    Moments,
    moments,
    scales_features,
    scales_view,
    spread_of,
    usable_columns,
)
from plaidwork.plugins.group_factor.settings import SMALL_COUNTS
from plaidwork.plugins.group_factor.smooth import MOST, span_of
from plaidwork.plugins.group_factor.state import Settings

MANY = 4
"""Problems named of one sort."""


def problems_of(
    blocks: tuple[Block, ...], params: Settings, group: np.ndarray | None = None
) -> list[Problem]:
    """What is wrong with the views, or worth knowing."""
    try:
        likelihoods = likelihoods_of(blocks, params)
    except ModelError as error:
        return [Problem(error.message, error.hint, "likelihoods")]
    group = np.zeros(blocks[0].shape[0], np.int64) if group is None else group
    found: list[Problem] = []
    fitted = 0
    summed = False
    for name, block, word in zip(view_names(blocks), blocks, likelihoods, strict=True):
        if wrong := _needs_memory(name, block, word, params) or _wrong_value(name, block, word):
            found.append(wrong)
            continue
        fitted_block, law = as_fitted(block, word)
        usable = usable_columns(fitted_block, law, group)
        fitted += len(usable)
        found += _left_out(name, fitted_block, law, usable, group)
        found += _large_counts(name, block, word)
        if law == "gaussian":
            known = moments(fitted_block, group)
            found += _unlike_units(name, fitted_block, params, usable, known)
            found += _far_spread(name, known, usable, params)
            full = known.count[:, usable].sum(axis=0) == block.shape[0]
            summed |= bool(len(usable) and full.all())
    if any(problem.severity == "error" for problem in found):
        return found
    if blocks[0].shape[0] < 2:
        found.append(Problem("At least two samples are needed. Found 1.", "", "views"))
    if not fitted:
        found.append(
            Problem(
                "No feature varies: there is nothing to explain.", "Check the views and likelihoods.", "views"
            )
        )
    if params["steps"] == "stochastic" and fitted and not summed:
        text = "No view is Gaussian without gaps, so the weights cannot follow after every batch of samples."
        found.append(Problem(text, "Choose “Once a sweep” under “Weights are updated”.", "steps", "warning"))
    some = [np.ones(1, bool) if block.stays else block.observed.any(axis=1) for block in blocks]
    empty = ~np.any(np.broadcast_arrays(*some), axis=0)
    if empty.any() and fitted:
        found.append(
            Problem(
                f"{_some([blocks[0].names[0][i] for i in np.flatnonzero(empty)], 'sample')} without a known cell in any view.",
                "Such samples get factor values of 0; leave them out if they should not be shown.",
                "views",
                "warning",
            )
        )
    return found


def problems_of_places(data: ModelData, params: Settings) -> list[Problem]:
    """What is wrong with the samples' time or place, or does not go with it."""
    places = places_of(data)
    if places is None:
        return []
    found = []
    if len(places) > MOST:
        text = (
            f"Factors that are smooth along time or place take {MOST} samples at most. Found {len(places)}."
        )
        found.append(Problem(text, "Leave “Time or place” out, or fit some of the samples.", "along"))
    if span_of(places) <= 0:
        found.append(Problem("All samples have the same time or place.", "Leave it out.", "along"))
    if params["grow"]:
        text = "Factors cannot be added where they are smooth along time or place."
        found.append(Problem(text, "Switch off “Add factors” (grow).", "grow"))
    if params["steps"] != "exact":
        text = "Weights are updated once a sweep where factors are smooth along time or place."
        found.append(Problem(text, "Choose “Once a sweep” under “Weights are updated”.", "steps"))
    if any(block.stays for block in blocks_of(data)):
        text = "Factors that are smooth along time or place need all views in memory."
        found.append(Problem(text, "Import the file with its values in memory (values_in=memory).", "views"))
    return found


def _needs_memory(name: str, block: Block, word: str, params: Settings) -> Problem | None:
    """What a view that stays in its file cannot be used for."""
    if not block.stays or (word == "gaussian" and not params["grow"]):
        return None
    what = "the search for more factors" if word == "gaussian" else f"a view that is {NAMES[word]}"
    return Problem(
        f"The view “{name}” stays in its file, and {what} needs it in memory.",
        "Switch off “Add factors” (grow)." if word == "gaussian" else
        "Say “gaussian” under Likelihoods, or import the file with its values in memory (values_in=memory), if they fit.",
        "grow" if word == "gaussian" else "likelihoods",
    )  # fmt: skip


def _wrong_value(name: str, block: Block, word: str) -> Problem | None:
    values = block.values
    if word == "gaussian":
        return None
    bad = (values != 0) & (values != 1) if word == "bernoulli" else (values < 0) | (values % 1 != 0)
    bad &= block.observed
    if not bad.any():
        return None
    row, column = (int(i) for i in np.argwhere(bad)[0])
    wanted = "0 or 1" if word == "bernoulli" else "whole numbers from 0 on"
    return Problem(
        f"The view “{name}” is {NAMES[word]} and needs {wanted}. Found {values[row, column]:g} at sample "
        f"“{block.names[0][row]}”, feature “{block.names[1][column]}”.",
        "Choose another likelihood for it, or mend the data.",
        "views",
    )


def _left_out(
    name: str, block: Block, word: str, usable: np.ndarray, group: np.ndarray | None
) -> list[Problem]:
    n_features = block.shape[1]
    if len(usable) == n_features:
        return []
    out = np.setdiff1d(np.arange(n_features), usable)
    which = _some([block.names[1][i] for i in out], "feature")
    constant = "constant in every sample group" if group is not None and group.any() else "constant"
    why = f"{constant} or without a known cell" if word == "gaussian" else "without a known cell"
    return [Problem(f"{name}: {which} left out, {why}.", "", "views", "warning")]


def _large_counts(name: str, block: Block, word: str) -> list[Problem]:
    """How counts are fitted that are too large for the bound of the Poisson likelihood."""
    mean = mean_of(block) if word in ("poisson", "log") else 0.0
    if mean <= SMALL_COUNTS:
        return []
    if word == "log":
        text = f"The counts of {name} have a mean of {mean:.3g}, so log(1 + count) is fitted."
        hint = "Choose “Counts (Poisson)” under “Likelihoods” for them as they are, “Numbers” for ratings."
    else:
        text = (
            f"The counts of {name} have a mean of {mean:.3g}; the bound of the Poisson likelihood is loose for such counts, and factors may "
            "not be found."
        )
        hint = "Choose “Counts as logarithms” under “Likelihoods”."
    return [Problem(text, hint, "likelihoods", "warning")]


def _far_spread(name: str, known: Moments, usable: np.ndarray, params: Settings) -> list[Problem]:
    """What is done where the values of a view are far larger or smaller than the priors expect, or what would help."""
    if not len(usable) or params["scale_views"] or scales_features(known, usable, params):
        return []
    (low, high), spread = USUAL_SPREAD, spread_of(known, usable)
    if low <= spread <= high or not spread:
        return []
    if scales_view(known, usable, params):
        text = f"{name} has a standard deviation of {spread:.3g}, so all its values are divided by that."
        hint = "Choose “Never” under “Scale features” to fit the values as they are."
        return [Problem(text, hint, "scale_features", "warning")]
    text = (
        f"{name} has a standard deviation of {spread:.3g}; the priors are made for values around 1, and factors may "
        "not be found."
    )
    return [Problem(text, "Switch on “Scale views”.", "scale_views", "warning")]


def _unlike_units(
    name: str, block: Block, params: Settings, usable: np.ndarray, known: Moments
) -> list[Problem]:
    """What is done where few features have nearly all of the variance, as features of unlike units do, or what would help."""
    if params["scale_features"] == "all" or not unlike_scales(known.usual[usable]):
        return []
    largest = usable[int(np.argmax(known.usual[usable]))]
    share = format_percent(float(known.usual[largest] / known.usual[usable].sum()))
    text = f"{share} of the variance of {name} is that of “{block.names[1][largest]}”"
    if params["scale_features"] == "unlike":
        text += ", so every feature is divided by its standard deviation."
        hint = "Choose “Never” under “Scale features” where all have one unit."
    else:
        text += ": factors would describe little else."
        hint = "Choose “Where units are unlike” under “Scale features”."
    return [Problem(text, hint, "scale_features", "warning")]


def _some(names: list[str], noun: str) -> str:
    shown = ", ".join(f"“{name}”" for name in names[:MANY]) + (", …" if len(names) > MANY else "")
    return f"{counted(len(names), noun)} ({shown})"
