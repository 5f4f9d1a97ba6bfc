"""Proportional hazards, concordance and survival curves of times that may be censored. SciPy is loaded on first use.

Sources: Cox (1972), Journal of the Royal Statistical Society B 34, 187-220; ties as Efron (1977), Journal of the American
Statistical Association 72, 557-565; test of proportional hazards: Grambsch and Therneau (1994), Biometrika 81, 515-526;
concordance: Harrell and others (1982), JAMA 247, 2543-2546, its variance by the infinitesimal jackknife; curves: Kaplan and Meier
(1958), with Greenwood's variance on the log-log scale.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from plaidwork.core.api_scores import Interval

LARGEST = 20.0
"""Coefficients of standardised covariates beyond this are taken for infinite."""
_SWEEPS, _HALVINGS = 60, 30
_TOLERANCE = 1e-10
_AT_ONCE = 4_000_000
"""Pairs that the concordance compares at a time."""


@dataclass(frozen=True, slots=True)
class Times:
    """When something happened to n items, or until when it had not: in the order of the times.

    Attributes
    ----------
    time : (n,) ascending. event : (n,) bool, False where censored.
    death : (d,) places of the events. group : (d,) which distinct time each is at; first : (g,) first place at risk then.
    share : (d,) of the events of that time that Efron takes as gone, 0 for the first of them.
    order : (n,) places of the items as they were given.
    """

    time: np.ndarray
    event: np.ndarray
    death: np.ndarray
    group: np.ndarray
    first: np.ndarray
    share: np.ndarray
    order: np.ndarray


def times_of(time: np.ndarray, event: np.ndarray) -> Times:
    """Times (n,) and events (n,) bool, put in order; at least one event."""
    order = np.argsort(time, kind="stable")
    t, e = time[order], event[order]
    death = np.flatnonzero(e)
    at, group, count = np.unique(t[death], return_inverse=True, return_counts=True)
    rank = np.arange(len(death)) - np.searchsorted(t[death], t[death])
    return Times(t, e, death, group, np.searchsorted(t, at), rank / count[group], order)


@dataclass(frozen=True, slots=True)
class CoxFit:
    """Log hazard ratios of p covariates.

    Attributes
    ----------
    beta : (p,). covariance : (p, p), inverse of the information. level, null : log partial likelihood, there and at 0.
    residuals : (d, p) Schoenfeld's, of every event.
    infinite : whether the likelihood has no maximum, so that ``beta`` is where the search was ended.
    """

    beta: np.ndarray
    covariance: np.ndarray
    level: float
    null: float
    residuals: np.ndarray
    infinite: bool


@dataclass(frozen=True, slots=True)
class _Pieces:
    level: float
    slope: np.ndarray
    information: np.ndarray
    residuals: np.ndarray


def _pieces(times: Times, x: np.ndarray, beta: np.ndarray) -> _Pieces:
    """Log partial likelihood with its derivatives; ``x`` (n, p) in the order of the times."""
    eta = x @ beta
    eta -= eta.max()
    risk, groups, death = np.exp(eta), len(times.first), times.death
    at_risk = np.cumsum(risk[::-1])[::-1][times.first]
    weighted = np.cumsum((risk[:, None] * x)[::-1], axis=0)[::-1][times.first]
    gone = np.bincount(times.group, risk[death], groups)
    gone_weighted = _sums((risk[:, None] * x)[death], times.group, groups)
    total = at_risk[times.group] - times.share * gone[times.group]
    mean = (weighted[times.group] - times.share[:, None] * gone_weighted[times.group]) / total[:, None]
    # what item i counts in all risk sets together: those up to its time, less what Efron takes away at its own event
    upto = np.concatenate([[0.0], np.cumsum(np.bincount(times.group, 1 / total, groups))])
    counts = upto[np.searchsorted(times.first, np.arange(len(x)), side="right")]
    counts[death] -= np.bincount(times.group, times.share / total, groups)[times.group]
    return _Pieces(
        float(eta[death].sum() - np.log(total).sum()),
        x[death].sum(axis=0) - mean.sum(axis=0),
        (x * (risk * counts)[:, None]).T @ x - mean.T @ mean,
        x[death] - _mean_by(mean, times.group, groups)[times.group],
    )  # fmt: skip


def _sums(values: np.ndarray, group: np.ndarray, groups: int) -> np.ndarray:
    found = np.zeros((groups, values.shape[1]))
    np.add.at(found, group, values)
    return found


def _mean_by(values: np.ndarray, group: np.ndarray, groups: int) -> np.ndarray:
    return _sums(values, group, groups) / np.bincount(group, minlength=groups)[:, None]


def cox(times: Times, x: np.ndarray) -> CoxFit:
    """The maximum of the partial likelihood by Newton's method; ``x`` (n, p) in the order given, standardised.

    Raises ``numpy.linalg.LinAlgError`` where covariates say the same.
    """
    x = x[times.order] - x.mean(axis=0)
    beta = np.zeros(x.shape[1])
    here = start = _pieces(times, x, beta)
    for _ in range(_SWEEPS):
        step = np.linalg.solve(here.information, here.slope) if len(beta) else beta
        for _ in range(_HALVINGS):
            there = _pieces(times, x, beta + step)
            if there.level >= here.level - 1e-12 * abs(here.level):
                break
            step = step / 2
        gained, beta, here = there.level - here.level, beta + step, there
        if abs(gained) <= _TOLERANCE * (abs(here.level) + 1e-3) or np.abs(beta).max(initial=0) > LARGEST:
            break
    far = bool(np.abs(beta).max(initial=0) > LARGEST)
    covariance = np.full((len(beta),) * 2, np.nan) if far else np.linalg.inv(here.information)
    return CoxFit(beta, covariance, here.level, start.level, here.residuals, far)


def proportional_p(times: Times, fit: CoxFit) -> np.ndarray:
    """(p,) p that each log hazard ratio does not change with the rank of the time, by its scaled residuals."""
    from scipy.stats import chi2

    d = len(times.death)
    rank = np.arange(d, dtype=float)
    at = _mean_by(rank[:, None], times.group, len(times.first))[times.group, 0]
    at = at - at.mean()
    spread = d * np.diag(fit.covariance) * (at**2).sum()
    with np.errstate(all="ignore"):
        return np.asarray(chi2.sf((d * (at @ fit.residuals @ fit.covariance)) ** 2 / spread, 1))


def concordance(time: np.ndarray, event: np.ndarray, risk: np.ndarray, level: float) -> Interval:
    """Share of the pairs of items in which the one at higher risk has its event first; equal risks count half.

    A pair counts when it is known which came first. The interval is that of the logit, by the standard error; NaN without pairs,
    and without an interval where the share is 0 or 1.
    """
    from scipy.stats import norm

    n = len(time)
    good, pairs = np.zeros(n), np.zeros(n)
    places = np.flatnonzero(event)
    for part in np.array_split(places, max(1, math.ceil(len(places) * n / _AT_ONCE))):
        later = (time > time[part, None]) | ((time == time[part, None]) & ~event)
        won = later * (0.5 * (risk < risk[part, None]) + 0.5 * (risk <= risk[part, None]))
        good[part] += won.sum(axis=1)
        pairs[part] += later.sum(axis=1)
        good += won.sum(axis=0)
        pairs += later.sum(axis=0)
    total = pairs.sum() / 2
    if not total:
        return Interval(math.nan, math.nan, math.nan)
    share = float(good.sum() / 2 / total)
    error = float(np.sqrt((((good - share * pairs) / total) ** 2).sum()))
    if not 0 < share < 1:
        return Interval(share, math.nan, math.nan)
    centre, half = math.log(share / (1 - share)), norm.ppf(0.5 + level / 2) * error / (share * (1 - share))
    low, high = (1 / (1 + math.exp(-(centre + side * half))) for side in (-1, 1))
    return Interval(share, low, high)


@dataclass(frozen=True, slots=True)
class Curve:
    """Survival at rising times, each (t,): the curve just after, its interval, and until when items were watched."""

    time: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    end: float

    @property
    def median(self) -> float:
        """First time at which at most half are left; NaN when more are left at the end."""
        reached = np.flatnonzero(self.value <= 0.5 + 1e-12)
        return float(self.time[reached[0]]) if len(reached) else math.nan

    def at(self, times: np.ndarray) -> np.ndarray:
        """(t, 3) value and interval just after the times; NaN after the end."""
        place = np.searchsorted(self.time, times, side="right")
        found = np.column_stack(
            [np.concatenate([[1.0], part])[place] for part in (self.value, self.low, self.high)]
        )
        found[times > self.end] = np.nan
        return found


def kaplan_meier(time: np.ndarray, event: np.ndarray, level: float) -> Curve:
    """The product-limit estimate at the times of the events, with pointwise intervals."""
    from scipy.stats import norm

    at, count = np.unique(time[event], return_counts=True)
    risk = len(time) - np.searchsorted(np.sort(time), at)
    value = np.cumprod(1 - count / risk)
    with np.errstate(all="ignore"):
        variance = np.cumsum(count / (risk * (risk - count)))
        logs = np.log(value)
        half = norm.ppf(0.5 + level / 2) * np.sqrt(variance) / np.abs(logs)
        low, high = value ** np.exp(half), value ** np.exp(-half)
    none = value <= 0  # nobody is left: the formula has no interval there
    return Curve(
        at, value, np.where(none, np.nan, low), np.where(none, np.nan, high), float(time.max(initial=0))
    )
