"""Noise with heavy tails: Student's t, a weight for the precision of each cell that is drawn anew in every sweep."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from plaidwork.core.api import Block
from plaidwork.plugins.plaid.fields import Floats, Replica, Settings
from plaidwork.plugins.plaid.kernels.blocks import statistics
from plaidwork.plugins.plaid.kernels.profile_evidence import cholesky, solve_forward
from plaidwork.plugins.plaid.kernels.records import Cells, Law
from plaidwork.plugins.plaid.kernels.tails import tail_sums, weigh
from plaidwork.plugins.plaid.rooms import ROOMS

LOW, HIGH = 1.0, 200.0
"""Degrees of freedom: from a Cauchy law to what nobody tells from a normal one."""
FREEDOM = 4.0
"""Degrees of freedom before the first draw."""
STEPS = (0.5, 1.0)
"""Sds of the two steps of log freedom, whose unit is drawn log-uniformly from 4 / sqrt(cells) to 1: its posterior is as narrow as the first where
tails are heavy, and as wide as the prior where they are not."""

NORMAL_MEDIAN = 0.6745
"""Median of the absolute value of a standard normal number."""
MANY = 0.25
"""Share of the observed cells with one value above which nothing is said of the tails of the noise."""
FAR, FAR_SHARE = 5.0, 0.003
"""Standard deviations of the noise beyond which a cell lies far out, and the share of such cells from which the noise has heavy tails: normal
noise has .0000006, gene expression taken for blocks .001 to .002, Student's t with three degrees of freedom .005."""
_SIDE, _COMPONENTS = 500, 10
"""Rows and columns by which that is judged, spread evenly, and principal components at most that stand for blocks, of which the rest is noise: no
more than as many of whose numbers there is one for each observed cell, as ten of 20 x 20. More follow single cells where most are missing."""


class TailPrior(NamedTuple):
    """Gamma(shape, rate) prior of the degrees of freedom, cut to those from ``LOW`` to ``HIGH``."""

    shape: float
    rate: float

    def draw(self, rng: np.random.Generator) -> float:
        """Degrees of freedom from the prior."""
        while True:
            found = float(rng.standard_gamma(self.shape)) / self.rate
            if LOW <= found <= HIGH:
                return found

    def log_density(self, freedom: float) -> float:
        """Up to the constant of the cut."""
        a, b = self.shape, self.rate
        return a * math.log(b) - math.lgamma(a) + (a - 1.0) * math.log(freedom) - b * freedom


def tail_prior(params: Settings) -> TailPrior:
    """The prior of the degrees of freedom."""
    return TailPrior(params["freedom_shape"], params["freedom_rate"])


def share_of_one_value(block: Block) -> tuple[float, float]:
    """The median of the observed cells and the share of them that equal it: a value that most cells have is the median."""
    known = block.values.ravel() if block.observed.all() else block.values[block.observed]
    value = float(np.median(known))
    return value, float(np.count_nonzero(known == value) / known.size)


def far_out(block: Block) -> float:
    """The share of the cells that lie more than 5 standard deviations (by the median) from 0 once rows, columns and components are taken off."""
    rows, columns = (slice(None, None, max(1, -(-n // _SIDE))) for n in block.shape)
    values, known = block.values[rows, columns], block.observed[rows, columns]
    if min(values.shape) < 2 * _COMPONENTS:
        return 0.0
    values = np.where(known, values, np.median(values[known]) if known.any() else 0.0)
    values = values - values.mean(axis=0)
    values -= values.mean(axis=1, keepdims=True)
    u, s, v = np.linalg.svd(values, full_matrices=False)
    told = min(_COMPONENTS, int(known.sum()) // sum(known.shape))
    rest = values - (u[:, :told] * s[:told]) @ v[:told]
    sizes = np.abs(rest[known])
    spread = float(np.median(sizes)) / NORMAL_MEDIAN if sizes.size else 0.0
    return float((sizes > FAR * spread).mean()) if spread > 1e-9 * float(s[0]) else 0.0


def tail_share(block: Block) -> float:
    """:func:`far_out`, 0 where many cells have one value, of which all others would seem to lie far out."""
    return 0.0 if share_of_one_value(block)[1] > MANY else far_out(block)


def has_tails(block: Block, params: Settings) -> bool:
    """Whether the noise is fitted with heavy tails: where that is asked for, or where the data have such."""
    if params["layer"] != "shift" or params["noise"] != "if_needed":
        return params["layer"] == "shift" and params["noise"] == "t"
    return tail_share(block) >= FAR_SHARE


def weighted(cells: Cells, weights: Floats) -> Cells:
    """The matrix as the kernels take it where each cell's precision has a weight. O(N1 N2)."""
    wx = ROOMS.of("wx", cells.x.shape)
    total, first, second = weigh(cells, weights, wx)
    wx = wx.view()
    wx.flags.writeable = False
    w = weights.view()
    w.flags.writeable = False
    return cells._replace(w=w, wx=wx, full=False, n_observed=total, total=first, sum_squares=second)


def log_t(residual: Floats, tau0: float | Floats, freedom: float) -> Floats:
    """Log density of Student's t at residuals, its scale 1 / sqrt(tau0)."""
    norm = math.lgamma(0.5 * (freedom + 1.0)) - math.lgamma(0.5 * freedom) - 0.5 * math.log(math.pi * freedom)
    found: Floats = norm + 0.5 * np.log(tau0) - 0.5 * (freedom + 1.0) * np.log1p(tau0 * residual**2 / freedom)
    return found


def log_power(replica: Replica, cells: Cells, power: float, total: float) -> float:
    """Log likelihood at a power, the weights integrated out; ``total`` is the sum of ``log(1 + power tau0 r^2 / freedom)``.

    At power b a cell counts as ``int Gamma(w) N(r; 0, 1 / (w tau0))^b dw``; at b = 1 that is Student's t.
    """
    freedom, tau0 = replica["freedom"], replica["tau0"]
    each = 0.5 * power * math.log(tau0 / (math.pi * freedom))
    each += math.lgamma(0.5 * (freedom + power)) - math.lgamma(0.5 * freedom)
    return cells.n_observed * each - 0.5 * (freedom + power) * total


def log_likelihood_of_tails(replica: Replica, cells: Cells, power: float) -> float:
    """Log likelihood at the replica's background, shifts and noise, at a power of it; ``cells`` are those the blocks are fitted to."""
    totals, _ = sums_of_tails(replica, cells, np.array([power * replica["tau0"] / replica["freedom"]]))
    return log_power(replica, cells, power, float(totals[0]))


def draw_freedom(
    replica: Replica, cells: Cells, power: float, prior: TailPrior, rng: np.random.Generator
) -> float:
    """Degrees of freedom with the weights integrated out, so that weights have to be drawn next: two Metropolis steps of log freedom.

    Given the weights they would hardly move where they are many. Of the second step both places are looked at that the first may lead to, so
    that the data are read once. ``cells`` are those the blocks are fitted to.
    """
    steps = np.array(STEPS) * rng.standard_normal(2)
    steps *= np.minimum(4.0 / math.sqrt(max(cells.n_observed, 16.0)), 1.0) ** rng.random(2)
    y = math.log(replica["freedom"]) + np.array([0.0, steps[0], steps[1], steps.sum()])
    freedom = np.exp(np.clip(y, math.log(LOW), math.log(HIGH)))
    totals, _ = sums_of_tails(replica, cells, power * replica["tau0"] / freedom)
    heights = [
        log_power(replica | {"freedom": f}, cells, power, t) + prior.log_density(f) + math.log(f)
        if math.log(LOW) <= at <= math.log(HIGH)
        else -math.inf
        for at, f, t in zip(y.tolist(), freedom.tolist(), totals.tolist(), strict=True)
    ]
    now = 0
    for step in (1, 2):
        if -rng.standard_exponential() < heights[now + step] - heights[now]:
            now += step
    return float(freedom[now]) if now else replica["freedom"]


def sums_of_tails(replica: Replica, cells: Cells, scales: Floats) -> tuple[Floats, Floats]:
    """``tail_sums`` of the residuals of a replica, given its degrees of freedom by the ``scales``."""
    blocks = replica["rows"], replica["columns"], replica["theta"]
    found: tuple[Floats, Floats] = tail_sums(cells, *blocks, replica["phi"] - cells.centre, scales)
    return found


def log_marginal_of_tails(replica: Replica, cells: Cells, law: Law) -> float:
    """Log density of the data, background and shifts integrated out by Laplace's method from where they stand.

    With the gradient g of the log density there and the expected information I of t noise, ``tau0 (f + 1) / (f + 3)`` for each cell,
    ``log p(X, b) + g' I^-1 g / 2 - log|I / 2 pi| / 2``: how high a chain stands does not depend on the draw of b then.
    """
    freedom, size = replica["freedom"], len(replica["theta"]) + 1
    levels = np.append(replica["phi"] - cells.centre, replica["theta"])
    totals, pulls = sums_of_tails(replica, cells, np.array([law.tau0 / freedom]))
    precision = np.full(size, law.tau)
    precision[0] = law.phi_precision
    gaps = levels - law.mu
    gaps[0] = levels[0] - law.phi_mean
    counts, _ = statistics(cells, replica["rows"], replica["columns"])
    chol = cholesky(law.tau0 * (freedom + 1.0) / (freedom + 3.0) * counts + np.diag(precision))
    half = solve_forward(chol, law.tau0 * (freedom + 1.0) / freedom * pulls - precision * gaps)
    found = log_power(replica, cells, 1.0, float(totals[0])) + 0.5 * float(half @ half - precision @ gaps**2)
    return found + 0.5 * float(np.log(precision).sum()) - float(np.log(np.diag(chol)).sum())
