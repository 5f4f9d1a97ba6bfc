"""Hazard ratios of factors, one at a time or together, with tests and concordance.

Factor values are their posterior means, as regression calibration has it: draws of them have not seen the times, and pull ratios
towards 1. (Simulated, 300 items, posterior variance 0.4, log ratio 0.7: 0.65 by means, 0.37 by draws.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from plaidwork.core.api import Params
from plaidwork.core.api_scores import Interval, benjamini_hochberg
from plaidwork.plugins.factor_tools import cox
from plaidwork.plugins.factor_tools.survival_times import Watched

SAME = "it says the same as others in the model"
CONSTANT = "it has one value only"
SEPARATES = "its values separate the events completely"
BESIDE = "something else in the model separates the events completely"
NAN = float("nan")
NOTHING = Interval(NAN, NAN, NAN)


@dataclass(frozen=True, slots=True)
class Hazard:
    """One factor: its log hazard ratio for a standard deviation with interval, p three ways, and why there is none."""

    log_ratio: Interval = NOTHING
    p: float = NAN
    wald: float = NAN
    proportional: float = NAN
    concordance: Interval = NOTHING
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Hazards:
    """All factors; ``adjusted`` (K,) are their p adjusted together, ``whole`` the concordance of the model of all, if asked."""

    factors: tuple[Hazard, ...]
    adjusted: np.ndarray
    whole: Interval | None


def hazards_of(watched: Watched, params: Params, report: Callable[[float], None]) -> Hazards:
    """Every factor by itself or beside all others (setting ``model``), beside what is adjusted for in any case."""
    times = cox.times_of(watched.time, watched.event)
    usable = [k for k in range(watched.scores.shape[1]) if np.isfinite(watched.scores[:, k]).all()]
    found = [Hazard(reason=CONSTANT) for _ in range(watched.scores.shape[1])]
    whole = None
    if params["model"] == "together":
        whole = _together(watched, times, usable, found, params["interval"], report)
    else:
        base = _fit(times, watched.others)
        for done, k in enumerate(usable):
            found[k] = _one(watched, times, base, k, params["interval"])
            report((done + 1) / len(usable))
    p = np.array([one.p for one in found])
    return Hazards(tuple(found), benjamini_hochberg(p), whole)


def _fit(times: cox.Times, x: np.ndarray) -> cox.CoxFit | None:
    """The fit, or None where covariates say the same."""
    if np.linalg.matrix_rank(x) < x.shape[1] or x.shape[1] >= len(x):
        return None
    try:
        return cox.cox(times, x)
    except np.linalg.LinAlgError:
        return None


def _one(watched: Watched, times: cox.Times, base: cox.CoxFit | None, k: int, level: float) -> Hazard:
    x = watched.scores[:, k]
    full = _fit(times, np.column_stack([x, watched.others]))
    if full is None or base is None:
        return Hazard(reason=SAME)
    concordance = _oriented(watched, x, level)
    return _hazard(times, full, base.level, 0, concordance, level)


def _together(
    watched: Watched,
    times: cox.Times,
    usable: Sequence[int],
    found: list[Hazard],
    level: float,
    report: Callable[[float], None],
) -> Interval | None:
    """Fill in the factors beside all others; the concordance of all together."""
    x = np.column_stack([watched.scores[:, usable], watched.others])
    full = _fit(times, x)
    for place, k in enumerate(usable):
        rest = None if full is None else _fit(times, np.delete(x, place, axis=1))
        found[k] = Hazard(reason=SAME)
        if full is not None and rest is not None:
            concordance = _oriented(watched, watched.scores[:, k], level)
            found[k] = _hazard(times, full, rest.level, place, concordance, level)
        report((place + 1) / len(usable))
    if full is None or full.infinite:
        return None
    return cox.concordance(watched.time, watched.event, x @ full.beta, level)


def _hazard(
    times: cox.Times, fit: cox.CoxFit, without: float, place: int, concordance: Interval, level: float
) -> Hazard:
    """What a fit says of the covariate at ``place``; ``without``: the level of the model that lacks it."""
    from scipy.stats import chi2, norm

    p = float(chi2.sf(max(0.0, 2 * (fit.level - without)), 1))
    if fit.infinite:
        own = abs(fit.beta[place]) > cox.LARGEST / 2
        return Hazard(p=p, concordance=concordance, reason=SEPARATES if own else BESIDE)
    beta, error = float(fit.beta[place]), float(np.sqrt(fit.covariance[place, place]))
    half = float(norm.ppf(0.5 + level / 2)) * error
    return Hazard(
        Interval(beta, beta - half, beta + half),
        p,
        float(2 * norm.sf(abs(beta) / error)),
        float(cox.proportional_p(times, fit)[place]),
        concordance,
    )


def _oriented(watched: Watched, x: np.ndarray, level: float) -> Interval:
    """Concordance of a factor, high or low values as the higher hazard, whichever is at least 0.5."""
    found = cox.concordance(watched.time, watched.event, x, level)
    return found if not found.value < 0.5 else Interval(1 - found.value, 1 - found.high, 1 - found.low)
