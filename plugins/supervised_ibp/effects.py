"""Effects of binary topics on an outcome by least squares, with standard errors of several kinds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr
from scipy.special import ndtr, ndtri

from plaidwork.core.api import counted

RANK = 1e-9
"""A column that the others leave less than this share of its length is a combination of them."""


@dataclass(frozen=True)
class Estimates:
    """Estimates of the columns of a regression, NaN where there is none.

    Attributes
    ----------
    value, error : (Q,) coefficient and standard error. interval : (Q, 2).
    count : (Q,) documents with the treatment (for an intercept or group: without any, or in it).
    note : (Q,) why there is no estimate, empty where there is one.
    """

    value: np.ndarray
    error: np.ndarray
    interval: np.ndarray
    count: np.ndarray
    note: np.ndarray


def independent(nuisance: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which columns of each can be told apart, by pivoted QR: bool (P,) and (Q,).

    Columns of ``wanted`` are looked at after ``nuisance`` is taken out of them.
    """
    first = _rank_columns(nuisance, np.linalg.norm(nuisance, axis=0))
    size = np.linalg.norm(wanted, axis=0)
    rest = wanted
    if first.any():
        basis = np.linalg.qr(nuisance[:, first])[0]
        rest = wanted - basis @ (basis.T @ wanted)
    return first, _rank_columns(rest, size)


def _rank_columns(columns: np.ndarray, size: np.ndarray) -> np.ndarray:
    found = np.zeros(columns.shape[1], bool)
    if columns.shape[1] == 0:
        return found
    live = np.linalg.norm(columns, axis=0) > RANK * np.maximum(size, 1e-300)
    places = np.flatnonzero(live)
    if not len(places):
        return found
    _, triangle, order = qr(columns[:, places] / size[places], mode="economic", pivoting=True)
    good = np.abs(np.diag(triangle)) > RANK
    found[places[order[: len(good)][good]]] = True
    return found


def covariance(x: np.ndarray, rest: np.ndarray, kind: str, cluster: np.ndarray | None = None) -> np.ndarray:
    """Covariance (Q, Q) of least squares coefficients with residuals ``rest`` (N,).

    ``classical``: s^2 (X'X)^-1. ``hc2``: squared residuals over 1 - leverage (MacKinnon and White 1985). ``cluster``:
    sums over clusters, times G / (G - 1) (N - 1) / (N - Q) (Liang and Zeger 1986).
    """
    n, q = x.shape
    inverse = np.linalg.inv(x.T @ x)
    if kind == "classical":
        return float(rest @ rest) / max(n - q, 1) * inverse
    if kind == "hc2":
        left = 1 - np.einsum("nq,qr,nr->n", x, inverse, x, optimize=True)
        weight = np.where(left > 1e-10, rest**2 / np.maximum(left, 1e-10), 0.0)
        middle = (x * weight[:, None]).T @ x
    else:
        assert cluster is not None
        _, number = np.unique(cluster, return_inverse=True)
        groups = int(number.max()) + 1
        sums = np.zeros((groups, q))
        np.add.at(sums, number, x * rest[:, None])
        middle = sums.T @ sums * groups / max(groups - 1, 1) * (n - 1) / max(n - q, 1)
    out: np.ndarray = inverse @ middle @ inverse
    return out


def bootstrap(
    x: np.ndarray,
    y: np.ndarray,
    units: np.ndarray,
    resamples: int,
    seed: int,
    report: Callable[[float], None] | None = None,
) -> np.ndarray:
    """(resamples, Q) coefficients of documents drawn anew, whole units at a time; NaN where columns cannot be told apart."""
    _, number = np.unique(units, return_inverse=True)
    n_units = int(number.max()) + 1
    rng = np.random.default_rng(seed)
    out = np.full((resamples, x.shape[1]), np.nan)
    for i in range(resamples):
        weight = np.bincount(rng.integers(n_units, size=n_units), minlength=n_units)[number]
        weighted = x * weight[:, None]
        gram = weighted.T @ x
        size = np.sqrt(np.diag(gram))
        if size.all() and np.linalg.cond(gram / np.outer(size, size)) < 1e12:
            out[i] = np.linalg.solve(gram, weighted.T @ y)
        if report is not None and i % 50 == 0:
            report(i / resamples)
    return out


def p_values(value: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Two-sided, by the normal distribution; NaN where there is no estimate."""
    with np.errstate(divide="ignore", invalid="ignore"):
        out: np.ndarray = 2 * ndtr(-np.abs(value / error))
    return out


def regress(
    y: np.ndarray,
    topics: np.ndarray,
    *,
    group: np.ndarray | None = None,
    n_groups: int = 1,
    covariates: np.ndarray | None = None,
    least: int = 5,
    kind: str = "hc2",
    level: float = 0.95,
    cluster: np.ndarray | None = None,
    resamples: int = 2000,
    seed: int = 1,
    report: Callable[[float], None] | None = None,
) -> Estimates:
    """The outcome on an intercept per group, topics of every group, and covariates.

    Parameters
    ----------
    y : (N,) outcome. topics : (N, K) bool. group : (N,) from 0. covariates : (N, P), centred here.
    least : a topic in fewer documents (of the group), or lacking in fewer, has no estimate.
    kind : ``hc2``, ``classical``, ``cluster`` or ``bootstrap`` (percentile interval; whole clusters when given).

    Returns
    -------
    estimates of the L intercepts (the mean without topics: none where every document has one), then of the topics of the
    first group, of the second ...
    """
    n, k = topics.shape
    group = np.zeros(n, np.int64) if group is None else group
    inside = group[:, None] == np.arange(n_groups)
    treated = np.concatenate([topics & inside[:, [g]] for g in range(n_groups)], axis=1)
    intercepts = inside.astype(float)
    extra = np.empty((n, 0)) if covariates is None else covariates - covariates.mean(axis=0)
    sizes, count = inside.sum(axis=0), treated.sum(axis=0)
    untreated = np.array([int((inside[:, g] & ~topics.any(axis=1)).sum()) for g in range(n_groups)])
    owner = np.repeat(np.arange(n_groups), k)
    note = np.full(n_groups + n_groups * k, "", dtype="<U80")
    note[:n_groups][sizes == 0] = "no document of the group"
    note[n_groups:][count < least] = f"in fewer than {counted(least, 'document')}"
    note[n_groups:][count > sizes[owner] - least] = f"lacking in fewer than {counted(least, 'document')}"
    note[n_groups:][count == 0] = "in no document"
    able = note == ""
    nuisance = np.concatenate([intercepts[:, able[:n_groups]], extra], axis=1)
    wanted = np.flatnonzero(able[n_groups:])
    first, good = independent(nuisance, treated[:, wanted].astype(float))
    note[n_groups + wanted[~good]] = "a combination of other topics"
    places = np.concatenate([np.flatnonzero(able[:n_groups]), n_groups + wanted[good]])
    x = np.concatenate([nuisance[:, first], treated[:, wanted[good]].astype(float)], axis=1)
    own = np.concatenate([np.arange(able[:n_groups].sum()), first.sum() + np.arange(good.sum())])
    value, error, interval = _estimates(x, y, kind, level, cluster, resamples, seed, report)
    out = np.full((4, len(note)), np.nan)
    out[:, places] = np.vstack([value[own], error[own], interval[own].T])
    lacking = np.flatnonzero((untreated == 0) & (sizes > 0))  # what would be there is said by no document
    out[:, lacking], note[lacking] = np.nan, "no document without a topic"
    return Estimates(out[0], out[1], out[2:].T.copy(), np.concatenate([untreated, count]), note)


def _estimates(
    x: np.ndarray, y: np.ndarray, kind: str, level: float, cluster: np.ndarray | None, resamples: int, seed: int,
    report: Callable[[float], None] | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Coefficients, standard errors and intervals of least squares."""
    value = np.linalg.lstsq(x, y, rcond=None)[0]
    if kind == "bootstrap":
        units = np.arange(len(y)) if cluster is None else cluster
        drawn = bootstrap(x, y, units, resamples, seed, report)
        drawn = drawn[~np.isnan(drawn).any(axis=1)]
        if len(drawn) < 2:
            empty = np.full(len(value), np.nan)
            return value, empty, np.column_stack([empty, empty])
        low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return value, drawn.std(axis=0, ddof=1), np.column_stack([low, high])
    error = np.sqrt(np.maximum(np.diag(covariance(x, y - x @ value, kind, cluster)), 0.0))
    half = float(ndtri((1 + level) / 2)) * error
    return value, error, np.column_stack([value - half, value + half])
