"""Parallel tempering over the width of the null category: copies of a chain at widths from 0 up, which swap places.

At width 0 with equal shares of missing labels an unlabelled sample says nothing, so that copy moves freely between the
groupings; at the full width a chain alone stays in one (Lawrence & Jordan 2004; the page on this model, section 2.3).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from plaidwork.core.api import Clock
from plaidwork.plugins.gp_auxiliary.given import numbers_of
from plaidwork.plugins.gp_auxiliary.gram import Prior, dense_precision, is_dense
from plaidwork.plugins.gp_auxiliary.replica import Labels
from plaidwork.plugins.gp_auxiliary.state import Labelled, Replica, Sites, Swaps
from plaidwork.plugins.gp_auxiliary.typed_settings import ClassesSettings

LEAST_REJECTED = 0.02
"""A gap of the ladder counts as at least that hard, so that no two rungs fall together."""


def ladder(params: ClassesSettings) -> np.ndarray:
    """(M,) half widths of the null category, evenly from 0 to the one asked for, or as given; one alone without tempering."""
    if params.get("given_widths", "").strip():
        return np.array(numbers_of(params["given_widths"]), dtype=np.float64)
    width = float(params.get("null_width", 0.0))
    count = int(params.get("rungs", 1)) if width > 0 else 1
    return np.linspace(0.0, width, count) if count > 1 else np.array([width])


def new_swaps(size: int) -> Swaps:
    """Nothing counted yet for ``size`` copies."""
    return _empty(np.arange(size))


def _empty(label: np.ndarray) -> Swaps:
    size = len(label)
    pairs = max(size - 1, 1)
    return {
        "label": label,
        "tried": np.zeros(pairs),
        "taken": np.zeros(pairs),
        "stage": np.zeros(size, dtype=np.int64),
        "trips": np.zeros(size, dtype=np.int64),
    }


def rates(swaps: Swaps) -> np.ndarray:
    """(M - 1,) share of taken swaps of each pair of neighbours; 0 where none was tried."""
    return np.asarray(swaps["taken"] / np.maximum(swaps["tried"], 1))


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
    if clock.sweep == clock.warmup:
        swaps.update(_empty(swaps["label"]))
    f = swap_neighbours(rng, rungs, f, widths, labels, swaps)
    if (
        not given
        and clock.warming
        and clock.sweep + 1 in (clock.warmup // 8, clock.warmup // 4, clock.warmup // 2)
    ):
        widths[:] = spaced(widths, rates(swaps))
        swaps.update(_empty(swaps["label"]))
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

    The ratio is that of the labels' probabilities at the two widths (page, section 2.3). Pairs that begin at even and
    at odd rungs take turns in a fixed order, which carries copies along (Syed, Bouchard-Cote, Deligiannidis & Doucet
    2022). z of a copy must be drawn anew thereafter.
    """
    size = len(widths)
    order = list(range(size))

    def log_likelihood(copy: int, width: float) -> float:
        return labels.log_likelihood(rungs[str(copy)]["log_share"], width)(f[copy])

    for first in (0, 1):
        for m in range(first, size - 1, 2):
            low, high = order[m], order[m + 1]
            ratio = log_likelihood(low, widths[m + 1]) + log_likelihood(high, widths[m])
            ratio -= log_likelihood(low, widths[m]) + log_likelihood(high, widths[m + 1])
            swaps["tried"][m] += 1
            if math.log(rng.random()) < ratio:
                swaps["taken"][m] += 1
                order[m], order[m + 1] = high, low
    copies = [rungs[str(source)] for source in order]
    for m, copy in enumerate(copies):
        rungs[str(m)] = copy
    swaps["label"] = swaps["label"][order]
    _count_trips(swaps)
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


def _count_trips(swaps: Swaps) -> None:
    """A round trip of a copy: from width 0 to the full width and back."""
    label, stage = swaps["label"], swaps["stage"]
    if stage[label[0]] == 2:
        swaps["trips"][label[0]] += 1
    stage[label[0]] = 1
    if stage[label[-1]] == 1:
        stage[label[-1]] = 2


def spaced(widths: np.ndarray, taken: np.ndarray) -> np.ndarray:
    """(M,) widths with the same ends, at which every pair would refuse about as many swaps.

    The refusals add up along the ladder to a barrier that hardly depends on the rungs: it is cut into equal parts (Syed
    et al. 2022, algorithm 2, with linear interpolation). taken (M - 1,) are the rates at the present widths.
    """
    barrier = np.concatenate([[0.0], np.cumsum(np.maximum(1.0 - taken, LEAST_REJECTED))])
    return np.interp(np.linspace(0.0, barrier[-1], len(widths)), barrier, widths)


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
