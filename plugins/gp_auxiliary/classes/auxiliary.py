"""The auxiliary variable of single samples: where the labels and the null category leave it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from plaidwork.core.api import Kept, Result, Results, counted, format_number
from plaidwork.core.numerics.used_draws import draws_text, rounds
from plaidwork.plugins.gp_auxiliary.shared.frame import Frame, make_prior
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior, times_q
from plaidwork.plugins.gp_auxiliary.shared.state import Gram
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import LawSettings

_STEPS = 60
"""Places on either side of the null category."""
_MOST_SAMPLES = 200
_WORK, _FEWEST, _MOST = 4e9, 24, 400
"""Multiplications that the precisions may cost, and how many draws make the density at least and at most: a mixture of a
few hundred normals is smooth."""
_LOG_ROOT = 0.5 * np.log(2.0 * np.pi)


@dataclass(frozen=True, slots=True)
class Cut:
    """Normals that the labels have cut, of s draws and n samples: ``side v ~ N(mean, sd^2)``, known to be above ``null``.

    Attributes
    ----------
    mean, sd, side, value : (s, n); ``side`` is 1 or -1, ``value`` is v in the draw itself, which lies in the region.
    null : half width of the null category; of three or more classes, the lead that the winner needs.
    kept : how many draws there are.
    """

    mean: np.ndarray
    sd: np.ndarray
    side: np.ndarray
    value: np.ndarray
    null: float
    kept: int

    def density(self, above: np.ndarray, side: int) -> np.ndarray:
        """(n, g) density on one side of the null category, ``above`` (g,) from 0: the mean of the draws' exact ones."""
        total = np.zeros((self.mean.shape[1], len(above)))
        log_kept = log_ndtr((self.mean - self.null) / self.sd) + np.log(self.sd) + _LOG_ROOT
        for mean, sd, own, log_share in zip(self.mean, self.sd, self.side, log_kept, strict=True):
            rows = np.flatnonzero(own == side)
            apart = (above - mean[rows, None]) / sd[rows, None]
            total[rows] += np.exp(-0.5 * apart**2 - log_share[rows, None])
        return total / len(self.mean)


def auxiliary_results(
    kept: Kept, frame: Frame, names: tuple[str, ...], null: float, params: LawSettings
) -> Results:
    """Density of z of some samples: two classes z itself, more the lead of the winner over the next.

    It is the picture by which the auxiliary variable trick is explained: the noise around f, cut where the label says,
    and empty in the null category.
    """
    used = np.flatnonzero(frame.used)
    order = np.argsort(frame.codes[used] < 0, kind="stable")  # labelled ones first
    if len(order) > _MOST_SAMPLES:
        order = order[np.linspace(0, len(order) - 1, _MOST_SAMPLES).round().astype(np.intp)]
    prior, single = make_prior(frame.fitted, params, False, frame.columns), len(frame.classes) == 2
    cut = cut_normals(kept, prior, null, params["parameters"] == "fixed", order)
    what = f"z, above 0 for “{frame.classes[1]}”" if single else "lead of z of the winner"
    x, density = _drawn(cut, single)
    labels = [frame.classes[code] if code >= 0 else "no label" for code in frame.codes[used[order]]]
    own = [names[i] if names else str(i + 1) for i in used[order]]
    ends = [-null if single else 0.0, null]
    stretches = np.array([ends] if null > 0 else []).reshape(-1, 2)
    return {
        "auxiliary": Result(density, ("auxiliary_name", "auxiliary_place"), label="density"),
        "auxiliary_x": Result(x, ("auxiliary_place",), label=what),
        "auxiliary_name": Result(np.array([f"{a}, {b}" for a, b in zip(own, labels)]), ("auxiliary_name",)),
        "auxiliary_null": Result(stretches, ("stretch", "bound"), label="null category"),
        "auxiliary_headline": _headline(cut, single),
        "auxiliary_note": _note(cut, single, len(order), len(used)),
    }


def cut_normals(kept: Kept, prior: Prior, null: float, fixed: bool, order: np.ndarray) -> Cut:
    """What the auxiliary variables of all others, and the side that it is on, leave of each sample's own, f integrated out.

    ``z_n | z_-n ~ N(z_n - (Qz)_n / Q_nn, 1 / Q_nn)`` on the label's side (page, sections 1 and 2), which needs no draw of f.
    Of three or more classes the winner's z is cut above the next one's: its lead is a normal that is cut at ``null``.
    ``order`` (n,) are the samples among those of the fit.
    """
    chains = [chain for chain in kept.chains if chain.n_draws]
    size, rank = len(prior.x), len(prior.x) if prior.dense else len(prior.inducing)
    dear = float(size * rank) if fixed else float(size * rank**2)
    first = min(max(_FEWEST, int(_WORK / dear)), _MOST)
    parts = next(rounds([chain.n_draws for chain in chains], first))
    gram: Gram | None = None
    found: list[tuple[np.ndarray, ...]] = []
    for chain, draws in zip(chains, parts, strict=True):
        for draw in draws.tolist():
            if gram is None or not fixed:
                gram = prior.gram(chain.draw("theta", draw))
            z = np.ascontiguousarray(chain.draw("z", draw))
            variance = 1.0 / gram["diagonal"][order]
            mean = z[:, order] - times_q(z.T, gram).T[:, order] * variance
            found.append(_one_draw(z[:, order], mean, np.sqrt(variance)))
    mean, sd, side, value = (np.stack(values) for values in zip(*found, strict=True))
    return Cut(mean, sd, side, value, null, sum(chain.n_draws for chain in chains))


def _one_draw(z: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> tuple[np.ndarray, ...]:
    """Mean and sd (n,) of what is cut, its side and its value, from z and its conditional means (K, n)."""
    if len(z) == 1:
        side = np.where(z[0] > 0, 1, -1)
        return side * mean[0], sd, side, side * z[0]
    winner, each = z.argmax(axis=0), np.arange(z.shape[1])
    next_one = np.sort(z, axis=0)[-2]
    return mean[winner, each] - next_one, sd, np.ones(len(each), dtype=np.int64), z[winner, each] - next_one


def _drawn(cut: Cut, single: bool) -> tuple[np.ndarray, np.ndarray]:
    """Places (g,) and densities (n, g), with two values where a density is cut, so that it falls straight down."""
    null, reach = cut.null, float(np.quantile(cut.value, 0.99)) * 1.1 + 0.5
    above = np.linspace(null, reach, _STEPS)
    right = cut.density(above, 1)
    low = np.array([-null if single else 0.0, null] if null > 0 else [])
    inside = np.zeros((len(right), len(low)))
    if not single:
        return np.concatenate([low, above]), np.hstack([inside, right])
    left = cut.density(above, -1)
    return np.concatenate([-above[::-1], low, above]), np.hstack([left[:, ::-1], inside, right])


def _headline(cut: Cut, single: bool) -> str:
    """How far z is from 0, or the winner from the next."""
    middle = format_number(float(np.median(cut.value)), 2)
    if single:
        return f"Half of all z are more than {middle} from 0" + (
            f", none within {cut.null:g}" if cut.null else ""
        )
    return f"Half of all winners lead by more than {middle}" + (f", all by {cut.null:g}" if cut.null else "")


def _note(cut: Cut, single: bool, drawn: int, count: int) -> str:
    """What the curves are, of which samples and draws."""
    what = "z" if single else "the winner's z less that of the next class"
    note = (
        f"By sample, {what}: f plus noise of sd 1, cut where the label says. The exact density given the other "
        f"samples, averaged over {draws_text(len(cut.mean), cut.kept)}."
    )
    if drawn < count:
        note += f" {drawn} of {counted(count, 'sample')}, evenly among them."
    if cut.null > 0:
        note += f" Nothing lies within {cut.null:g} of {'0' if single else 'a tie'}: the null category."
    return note
