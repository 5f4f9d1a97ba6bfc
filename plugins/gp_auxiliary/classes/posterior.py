"""What the draws say of the covariance's parameters and of the cut-points, beside their priors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr
from scipy.stats import norm

from plaidwork.core.api import Kept, Result, Results, Table, counted, format_probability
from plaidwork.plugins.gp_auxiliary.classes.maps import LATENT
from plaidwork.plugins.gp_auxiliary.classes.ordinal import CutWidths
from plaidwork.plugins.gp_auxiliary.shared.covariance import Parameter
from plaidwork.plugins.gp_auxiliary.shared.frame import Frame
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior

_SPREADS = np.linspace(-3.5, 3.5, 141)
_PLACES, _SIMULATED = 201, 2000

CLEAR = 0.9
"""Probability from which one input is said to change f fastest."""
_OF_F = "f is the function of the inputs behind the classes. Dots: medians; lines: 90 % intervals."


def parameters(
    kept: Kept, prior: Prior, frame: Frame, fixed: bool, slopes: np.ndarray | None = None
) -> Results:
    """The covariance's parameters, with their prior unless they are ``fixed``, and the relevance of the inputs: by their lengths, or by
    the sizes (t, D) of the ``slopes`` of a linear f."""
    theta = np.concatenate([chain.stack("theta") for chain in kept.chains if chain.n_draws])
    found = prior.covariance.parameters
    values = np.exp(theta)
    columns = {"Given": values[0]} if fixed else _beside_prior(values, found)
    results: Results = {
        "covariance": Table({"Parameter": np.array([p.name for p in found]), **columns}, label="Covariance"),
        "covariance_note": "γ = 1 / length², in units of the standardised inputs."
        if frame.standardised
        else "γ = 1 / length², in units of the inputs.",
    }
    theta_x = np.stack([p.mean + _SPREADS * p.sd for p in found])
    density = np.stack([norm.pdf(x, p.mean, p.sd) for x, p in zip(theta_x, found, strict=True)])
    results["theta_x"] = Result(theta_x, ("parameter", "place"))
    results["theta_prior"] = Result(density, ("parameter", "place"), label="prior density")
    results["parameter"] = Result(np.array([p.name for p in found]), ("parameter",))
    return results | (_lengths(values, found, frame) if slopes is None else _slopes(slopes, frame))


def _slopes(sizes: np.ndarray, frame: Frame) -> Results:
    """The relevance of the inputs of a linear f: how far it goes along each, by draws (t, D)."""
    alone = "f is a straight line along the one input"
    return {
        "covariance_note": "A linear part alone: amplitude² is the prior variance of the slopes of f, per unit of the standardised inputs."
        if frame.standardised
        else "A linear part alone: amplitude² is the prior variance of the slopes of f, per unit of the inputs.",
        "relevance_headline": fastest(sizes, frame.columns) if len(frame.columns) > 1 else alone,
        **_relevance(sizes, "change of f along the input"),
        "relevance_names": Result(np.array(frame.columns, dtype=str), ("relevance_of",)),
    }


def _relevance(values: np.ndarray, label: str) -> Results:
    """Medians and 90 % intervals of draws (t, R)."""
    return {
        "relevance": Result(np.median(values, axis=0), ("relevance_of",), label=label, doc=_OF_F),
        "relevance_interval": Result(
            np.quantile(values, [0.05, 0.95], axis=0).T.reshape(-1, 2), ("relevance_of", "end")
        ),
    }


def _lengths(values: np.ndarray, found: Sequence[Parameter], frame: Frame) -> Results:
    """The relevance of the inputs by their lengths; ``values`` (t, P) are draws of the parameters."""
    results: Results = {}
    lengths = [i for i, p in enumerate(found) if p.kind == "gamma"]
    own = [i for i in lengths if found[i].column >= 0] or lengths
    relevance = np.sqrt(values[:, own])
    results["relevance_headline"] = "This covariance has no length"
    if own and found[own[0]].column < 0:
        several = len(frame.columns) > 1
        results["relevance_headline"] = "One length for all inputs" if several else "One input has one length"
    elif own:
        results["relevance_headline"] = fastest(relevance, tuple(frame.columns[found[i].column] for i in own))
    every = "all inputs" if len(frame.columns) > 1 else frame.columns[0]
    names = [frame.columns[found[i].column] if found[i].column >= 0 else every for i in own]
    if len(set(names)) < len(names):
        names = [f"{name}, {_term_of(found[i], frame)}" for name, i in zip(names, own, strict=True)]
    results |= _relevance(relevance, "1 / length")
    results["relevance_names"] = Result(np.array(names, dtype=str), ("relevance_of",))
    return results


def _term_of(parameter: Parameter, frame: Frame) -> str:
    """The term of a sum that a γ is of, as its name has it, without the input."""
    column = f", {frame.columns[parameter.column]}" if parameter.column >= 0 else ""
    return parameter.name.partition(" of ")[2].replace(column, "", 1)


def _beside_prior(values: np.ndarray, found: Sequence[Parameter]) -> dict[str, np.ndarray]:
    """Columns of medians and 90 % intervals of the draws (t, P) of parameters, and the intervals of their priors."""
    low, middle, high = np.quantile(values, [0.05, 0.5, 0.95], axis=0)
    ends = np.exp([(p.mean - 1.645 * p.sd, p.mean + 1.645 * p.sd) for p in found])
    return {"Median": middle, "5 %": low, "95 %": high, "Prior 5 %": ends[:, 0], "Prior 95 %": ends[:, 1]}


def fastest(relevance: np.ndarray, names: tuple[str, ...]) -> str:
    """Which input changes f fastest, if that is clear from draws (t, P) of 1 / length; each input has one."""
    first = int(np.argmax(np.median(relevance, axis=0)))
    if len(names) == 1:
        return f"“{names[0]}” is the only input with a length"
    if len(relevance) == 1:
        return f"“{names[first]}” has the shortest length"
    share = float((relevance.argmax(axis=1) == first).mean())
    if share == 1:
        return f"“{names[first]}” changes f fastest, in all {counted(len(relevance), 'draw')}"
    if share < CLEAR:
        return f"No input clearly changes f fastest: “{names[first]}” does with probability {format_probability(share)}"
    return f"“{names[first]}” changes f fastest (probability {format_probability(share)})"


def cut_points(kept: Kept, frame: Frame, latent: np.ndarray, widths: CutWidths) -> Results:
    """The cut-points between neighbouring classes with 90 % intervals and priors, and the classes along f.

    ``latent`` (n,) is the mean of f at the samples.
    """
    cuts = np.concatenate([chain.stack("cuts") for chain in kept.chains if chain.n_draws])
    names = [f"{low} | {high}" for low, high in zip(frame.classes[:-1], frame.classes[1:])]
    middle, interval = cuts.mean(axis=0), np.quantile(cuts, [0.05, 0.95], axis=0).T
    x, density = cut_prior(len(names), widths)
    wide = int(np.argmax(np.diff(middle))) if len(middle) > 1 else -1
    first = f"“{frame.classes[wide + 1]}” holds the widest range of f" if wide >= 0 else "One cut-point"
    low = min(float(latent.min()), float(middle[0]) - 1.0)
    high = max(float(latent.max()), float(middle[-1]) + 1.0)
    f = np.linspace(low, high, _PLACES)
    found = [_shares_at(cuts, place) for place in f]
    return {
        "cut_points": Result(middle, ("cut",), label="cut-point, in units of the noise"),
        "cut_interval": Result(interval, ("cut", "end")),
        "cut_names": Result(np.array(names), ("cut",)),
        "cut_headline": (
            f"{first}, from {middle[wide]:.2f} to {middle[wide + 1]:.2f}"
            if wide >= 0
            else f"{first}, at {middle[0]:.2f}"
        ).replace("-", "−"),
        "cut_note": "Where neighbouring classes part on the scale of f. Means and 90 % intervals.",
        "cut_prior_x": Result(x, ("cut", "place")),
        "cut_prior": Result(density, ("cut", "place"), label="prior density"),
        "latent_x": Result(f, ("place",), label=LATENT),
        "latent_shares": Result(
            np.stack([mean for mean, _ in found], axis=1), ("class", "place"), label="probability"
        ),
        "latent_interval": Result(np.stack([ends for _, ends in found], axis=1), ("class", "place", "end")),
        "latent_rug": Result(latent, ("sample",)),
        "latent_note": "Dashed: cut-points. Ticks on the axis: the samples, at the mean of f.",
    }


def _shares_at(cuts: np.ndarray, place: float) -> tuple[np.ndarray, np.ndarray]:
    """Mean (K,) and 90 % ends (K, 2) over the draws of cut-points (s, K - 1) of the classes' probabilities at one f."""
    below = ndtr(cuts - place)
    edge = np.zeros((len(cuts), 1))
    shares = np.diff(np.concatenate([edge, below, edge + 1.0], axis=1), axis=1)
    return shares.mean(axis=0), np.quantile(shares, [0.05, 0.95], axis=0).T


def cut_prior(count: int, widths: CutWidths) -> tuple[np.ndarray, np.ndarray]:
    """Places (K - 1, t) and prior densities of the cut-points there, the first given and the others simulated.

    A cut-point is normal given the gaps below it, so its density is an average of normal ones over simulated gaps.
    """
    gaps = np.exp(widths.gap * np.random.default_rng(0).standard_normal((_SIMULATED, max(count - 1, 0))))
    shift = np.concatenate([np.zeros((len(gaps), 1)), np.cumsum(gaps, axis=1)], axis=1)[:, :count]
    places = [
        np.linspace(-3 * widths.first, 3 * widths.first + np.quantile(shift[:, k], 0.995), _PLACES)
        for k in range(count)
    ]
    return np.stack(places), np.stack(
        [norm.pdf(x[:, None], shift[:, k], widths.first).mean(axis=1) for k, x in enumerate(places)]
    )
