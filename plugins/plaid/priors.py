"""Prior numbers in the unit of the data, their densities, and the conjugate updates (section 2.6)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import gammaincc, gammaln

from plaidwork.plugins.plaid.fields import Constants, InfiniteSettings, Scalars, Settings


class Gamma(NamedTuple):
    """Gamma(shape, rate), or a fixed value when ``learned`` is false."""

    shape: float
    rate: float
    learned: bool
    value: float

    def log_density(self, x: float) -> float:
        if not self.learned:
            return 0.0
        a, b = self.shape, self.rate
        return a * math.log(b) - math.lgamma(a) + (a - 1.0) * math.log(x) - b * x

    def draw(self, rng: np.random.Generator, shape: float = 0.0, rate: float = 0.0) -> float:
        """A draw with the evidence added to shape and rate; the fixed value when it is not learned."""
        if not self.learned:
            return self.value
        return max(float(rng.standard_gamma(self.shape + shape)) / (self.rate + rate), 1e-300)


class Priors(NamedTuple):
    """All priors but that of the memberships; ``noise`` and ``spread`` are precisions."""

    noise: Gamma
    spread: Gamma
    mass: Gamma
    shift_mean: float
    shift_mean_precision: float
    learn_shift_mean: bool
    background_mean: float
    background_precision: float


NO_MASS = Gamma(1.0, 1.0, False, 1.0)
"""Of the model without a mass."""


def mass_prior(params: InfiniteSettings, constants: Constants) -> Gamma:
    """Prior of the mass; its mean expects so many blocks."""
    rate = params["mass_shape"] * constants["harmonics"] / params["expected_blocks"]
    return Gamma(params["mass_shape"], rate, params["learn_mass"], params["mass_value"])


def priors_of(params: Settings, constants: Constants, mass: Gamma) -> Priors:
    """Priors in the unit of the data: a length is multiplied by the unit, a precision divided by its square."""
    unit = constants["unit"]
    square = unit * unit

    def precision(shape: float, rate: float, learned: bool, sd: float) -> Gamma:
        return Gamma(shape, rate * square, learned, 1.0 / (square * sd**2))

    return Priors(
        noise=precision(
            params["noise_shape"], params["noise_rate"], params["learn_noise"], params["noise_sd_value"]
        ),
        spread=precision(
            params["shift_shape"],
            params["shift_rate"],
            params["learn_shift_spread"],
            params["shift_sd_value"],
        ),
        mass=mass,
        shift_mean=params["shift_mean"] * unit,
        shift_mean_precision=1.0 / (params["shift_mean_variance"] * square),
        learn_shift_mean=params["learn_shift_mean"],
        background_mean=constants["background"],
        background_precision=1.0 / (params["background_sd"] * unit) ** 2,
    )


def log_poisson_below(mean: float, most: int) -> float:
    """``log P(K <= most)`` for K ~ Poisson(mean): the norm of the prior cut off at ``max_blocks``."""
    return math.log(max(float(gammaincc(most + 1.0, mean)), 1e-300))


def draw_mass(
    rng: np.random.Generator, old: float, n_blocks: int, harmonics: float, prior: Gamma, most: int
) -> float:
    """``alpha ~ Gamma(a + K, b + H_N1 H_N2)``, corrected for the cut at ``most`` blocks by one Metropolis step."""
    if not prior.learned:
        return prior.value
    new = prior.draw(rng, n_blocks, harmonics)
    log_ratio = log_poisson_below(old * harmonics, most) - log_poisson_below(new * harmonics, most)
    return new if math.log(rng.random()) < log_ratio else old


def draw_shift_prior(
    rng: np.random.Generator, theta: np.ndarray, tau: float, priors: Priors
) -> tuple[float, float]:
    """``mu ~ N((t m + tau sum theta) / (t + K tau), 1 / (t + K tau))``, then tau; prior draws when K = 0."""
    mu = priors.shift_mean
    if priors.learn_shift_mean:
        precision = priors.shift_mean_precision + theta.size * tau
        mean = (priors.shift_mean_precision * mu + tau * theta.sum()) / precision
        mu = float(mean + rng.standard_normal() / math.sqrt(precision))
    return mu, priors.spread.draw(rng, 0.5 * theta.size, 0.5 * float(((theta - mu) ** 2).sum()))


def log_scalars(replica: Scalars, priors: Priors) -> float:
    """Log prior density of the learned hyper-parameters."""
    total = priors.noise.log_density(replica["tau0"]) + priors.spread.log_density(replica["tau"])
    total += priors.mass.log_density(replica["alpha"])
    if priors.learn_shift_mean:
        t = priors.shift_mean_precision
        total += 0.5 * (math.log(t / (2 * math.pi)) - t * (replica["mu"] - priors.shift_mean) ** 2)
    return total


def log_infinite(rows: np.ndarray, columns: np.ndarray, alpha: float, harmonics: float, most: int) -> float:
    """``log p(Z1, Z2, K | alpha)`` of the two-way IBP on labelled lists, cut off at ``most`` blocks."""
    total = -alpha * harmonics + len(rows) * math.log(alpha) - math.lgamma(len(rows) + 1)
    total -= log_poisson_below(alpha * harmonics, most)
    for z in (rows, columns):
        n, m = z.shape[1], z.sum(axis=1)
        total += float((gammaln(n - m + 1) + gammaln(m) - gammaln(n + 1)).sum())
    return total


def log_fixed(z: np.ndarray, a: float, b: float) -> float:
    """Log probability of one side of the fixed model, the shares integrated out: Beta-Bernoulli."""
    n, m = z.shape[1], z.sum(axis=1)
    one = gammaln(a + m) + gammaln(b + n - m) - gammaln(a + b + n)
    return float((one + gammaln(a + b) - gammaln(a) - gammaln(b)).sum())
