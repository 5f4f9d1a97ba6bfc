"""Parallel tempering over the width of the null category: copies of a chain at widths from 0 up, which swap places.

At width 0 with equal shares of missing labels an unlabelled sample says nothing, so that copy moves freely between the
groupings; at the full width a chain alone stays in one (Lawrence & Jordan 2004; the page on this model, section 2.3).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from plaidwork.core.api import Clock
from plaidwork.core.api_tempering import Swaps, adapt, begin_counting, exchange
from plaidwork.plugins.gp_auxiliary.classes.replica import Labels
from plaidwork.plugins.gp_auxiliary.shared.given import numbers_of
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior, dense_precision, is_dense
from plaidwork.plugins.gp_auxiliary.shared.state import Labelled, Replica, Sites
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import ClassesSettings

_TRIES = 9.5
"""Places on an ellipse, the first among them, of which the last is taken."""


def ladder(params: ClassesSettings) -> np.ndarray:
    """(M,) half widths of the null category, evenly from 0 to the one asked for, or as given; one alone without tempering."""
    if params.get("given_widths", "").strip():
        return np.array(numbers_of(params["given_widths"]), dtype=np.float64)
    width = float(params.get("null_width", 0.0))
    count = int(params.get("rungs", 1)) if width > 0 else 1
    return np.linspace(0.0, width, count) if count > 1 else np.array([width])


def swap_and_space(
    rng: np.random.Generator,
    rungs: dict[str, Replica],
    f: list[np.ndarray],
    widths: np.ndarray,
    labels: Labels,
    swaps: Swaps,
    clock: Clock,
    given: bool,
) -> list[np.ndarray]:
    """:func:`swap_neighbours`; in the warm-up now and then space the widths anew, unless they are ``given``.

    ``widths`` (M,), rungs and swaps are changed in place. After the warm-up the widths stay, and what is counted begins
    anew.
    """
    begin_counting(swaps, clock.sweep, clock.warmup)
    f = swap_neighbours(rng, rungs, f, widths, labels, swaps)
    adapt(widths, swaps, clock.sweep, clock.warmup, given)
    return f


def redraw_z(
    rng: np.random.Generator, copy: Replica, f: np.ndarray, m: int, widths: np.ndarray, labels: Labels
) -> None:
    """z of the copy at rung m given its f (K, N)."""
    labels.redraw(rng, copy, f, widths[m])


def swap_neighbours(
    rng: np.random.Generator,
    rungs: dict[str, Replica],
    f: list[np.ndarray],
    widths: np.ndarray,
    labels: Labels,
    swaps: Swaps,
) -> list[np.ndarray]:
    """Let neighbouring copies swap f, parameters and shares, z integrated out; f (K, N) of every rung thereafter.

    The ratio is that of the labels' probabilities at the two widths (page, section 2.3). z of a copy must be drawn anew thereafter.
    """

    def log_likelihood(copy: int, rung: int) -> float:
        return labels.log_likelihood(rungs[str(copy)]["log_share"], widths[rung])(f[copy])

    order = exchange(rng, len(widths), log_likelihood, swaps)
    copies = [rungs[str(source)] for source in order]
    for m, copy in enumerate(copies):
        rungs[str(m)] = copy
    return [f[source] for source in order]


def explore(
    rng: np.random.Generator,
    f: np.ndarray,
    copy: Replica,
    root: np.ndarray | None,
    labels: Labels,
    width: float,
    slices: int,
) -> np.ndarray:
    """f (K, N) of a copy after ``slices`` moves along ellipses, z integrated out.

    The labels are few, and a null category is weak evidence where f is far from 0, so that f goes far; sweeps over z move
    it by the noise's width.
    """
    log_likelihood = labels.log_likelihood(copy["log_share"], width)
    for _ in range(slices):
        other = np.stack([draw_prior(rng, copy, root) for _ in f])
        f = along_ellipse(rng, f, other, log_likelihood)
    return f


def along_ellipse(
    rng: np.random.Generator, f: np.ndarray, other: np.ndarray, log_likelihood: Callable[[np.ndarray], float]
) -> np.ndarray:
    """f (K, N) moved on the ellipse through it and ``other`` (K, N), a draw of its prior (Murray, Adams & MacKay 2010)."""
    level = log_likelihood(f) + math.log(rng.random())
    angle = 2.0 * math.pi * rng.random()
    low, high = angle - 2.0 * math.pi, angle
    while True:
        proposed = f * math.cos(angle) + other * math.sin(angle)
        if log_likelihood(proposed) > level:
            return proposed
        if angle < 0.0:
            low = angle
        else:
            high = angle
        angle = low + (high - low) * rng.random()


def likelihood_seconds(size: int, n_classes: int) -> float:
    """About how long the labels' probability of so many samples takes, of four classes or more: places and classes of ``kernels/many.py``."""
    return 3e-5 + 8.5e-8 * n_classes**1.5 * size


def slice_seconds(size: int, n_classes: int) -> float:
    """About how long :func:`along_ellipse` takes, with ``other``."""
    return _TRIES * likelihood_seconds(size, n_classes) + 2.5e-10 * n_classes * size**2


def covariances_of_labelled(replica: Replica, root: np.ndarray | None, labels: Labels) -> Labelled:
    """The first of four parts of drawing z of the copy at width 0 with the unlabelled samples integrated out.

    With equal shares of missing labels they say nothing there, so that p(z) is p(z of the labelled) times the prior of
    the rest given them: sweeps over the few labelled samples, :func:`sweep_labelled`, and one draw of f from the prior
    corrected by what they say, :func:`draw_rest`. Sweeps over all samples would move f by a noise's width at a time.
    ``root`` (N, N) is :func:`root_of_prior` of the copy.
    """
    known = np.flatnonzero(~labels.free)
    return {"columns": _columns(replica, root, known), "z": np.ascontiguousarray(replica["z"][:, known])}


def precision_of_labelled(labels: Labels, given: Labelled) -> None:
    """The second part: the precision of z of the labelled samples, into ``given``."""
    rows, _log_det = dense_precision(np.ascontiguousarray(given["columns"][~labels.free]))
    given["rows"] = rows


def sweep_labelled(
    rng: np.random.Generator, replica: Replica, labels: Labels, given: Labelled, times: int
) -> None:
    """The third part: ``times`` sweeps over z of the labelled samples, in place."""
    own = Labels(labels.code[~labels.free], labels.n_classes)
    few: Sites = {
        "z": given["z"],
        "log_share": replica["log_share"],
        "rows": given["rows"],
        "diagonal": np.diag(given["rows"]).copy(),
        "weight": np.zeros(0),
    }
    own.sweep(rng, few, times, 0.0)


def draw_rest(
    rng: np.random.Generator, replica: Replica, root: np.ndarray | None, labels: Labels, given: Labelled
) -> None:
    """The last part: z of all samples given that of the labelled, by a draw of f from the prior corrected by them
    (Matheron's rule)."""
    known, columns = np.flatnonzero(~labels.free), given["columns"]
    f = np.empty_like(replica["z"])
    for k in range(len(f)):
        free_f = draw_prior(rng, replica, root)
        gap = given["z"][k] - free_f[known] - rng.standard_normal(len(known))
        f[k] = free_f + columns @ (given["rows"] @ gap)
    labels.redraw(rng, replica, f, 0.0)
    replica["z"][:, known] = given["z"]


def root_of_prior(prior: Prior, copy: Replica) -> np.ndarray | None:
    """(N, N) root of C at the parameters of a copy, 1e-8 of its scale (far below the noise's 1) added; None for a copy with
    loadings, which are one."""
    if not is_dense(copy):
        return None
    c = prior.covariance.matrix(prior.x, copy["theta"])
    c[np.diag_indices_from(c)] += 1e-8 * max(float(c.diagonal().max()), 1e-300)
    return np.asarray(np.linalg.cholesky(c))


def root_of_copy(copy: Replica) -> np.ndarray:
    """(N, N) root of the covariance that a copy with loadings stands for, as :func:`root_of_prior` of a dense one."""
    g = copy["loadings"]
    c = g @ g.T + np.diag(np.maximum(1.0 / copy["weight"] - 1.0, 0.0))
    c[np.diag_indices_from(c)] += 1e-8 * max(float(c.diagonal().max()), 1e-300)
    return np.asarray(np.linalg.cholesky(c))


def draw_prior(rng: np.random.Generator, replica: Replica, root: np.ndarray | None) -> np.ndarray:
    """f (N,) from its prior; ``root`` as from :func:`root_of_prior`."""
    if root is not None:
        return np.asarray(root @ rng.standard_normal(root.shape[1]))
    g, own = replica["loadings"], np.maximum(1.0 / replica["weight"] - 1.0, 0.0)
    return np.asarray(g @ rng.standard_normal(g.shape[1]) + np.sqrt(own) * rng.standard_normal(len(g)))


def _columns(replica: Replica, root: np.ndarray | None, known: np.ndarray) -> np.ndarray:
    """(N, L) covariances of f with f of the samples ``known``."""
    if root is not None:
        return np.asarray(root @ root[known].T)
    g, own = replica["loadings"], np.maximum(1.0 / replica["weight"] - 1.0, 0.0)
    columns = np.asarray(g @ g[known].T)
    columns[known, np.arange(len(known))] += own[known]
    return columns
