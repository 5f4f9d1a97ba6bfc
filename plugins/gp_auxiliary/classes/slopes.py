"""How fast f changes along each input where the covariance is linear, so that f is a plane: sizes of its slopes.

With ``C = v x'x + c`` f = X w + b, w ~ N(0, v I), b ~ N(0, c), and given z, which is f with a noise of variance 1, the slopes are
normal with precision ``X'X + I / v`` (Rasmussen and Williams 2006, section 2.1), b being one of them.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from plaidwork.core.api import Kept
from plaidwork.plugins.gp_auxiliary.classes.averaging import names_of
from plaidwork.plugins.gp_auxiliary.kernels.covariance import CONSTANT, LINEAR
from plaidwork.plugins.gp_auxiliary.shared.covariance import Covariance
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior

_DRAWS, _LEAST, _WORK = 400, 25, 2e10
"""Draws of the slopes, at most and at least, and multiplications that they may cost."""


def is_plane(law: Covariance) -> bool:
    """Whether f is linear in the inputs: a linear term, and constants beside it, none of them multiplied."""
    kinds = law.table[:, 0]
    return bool(
        len(kinds) == law.n_groups and (kinds == LINEAR).any() and np.isin(kinds, (LINEAR, CONSTANT)).all()
    )


def slope_sizes(kept: Kept, prior: Prior) -> np.ndarray | None:
    """(t, D) draws of the size of the slope of f along each input, the root mean square over the latent functions; None where f is not
    linear, or the values z that it was fitted to are not kept.

    Of several latent functions what they share is taken off, as it changes no class. Of one draw (an approximation) many are made.
    """
    if not is_plane(prior.covariance) or "z" not in names_of(kept):
        return None
    chains = [chain for chain in kept.chains if chain.n_draws]
    theta = np.concatenate([chain.stack("theta") for chain in chains])
    z = np.concatenate([chain.stack("z") for chain in chains])
    x, rng = prior.x, np.random.default_rng(0)
    cost = min(x.shape) ** 3 + x.size * min(x.shape)
    wanted = int(np.clip(_WORK / cost, _LEAST, _DRAWS))
    found = []
    for t in np.linspace(0, len(theta) - 1, wanted).round().astype(int):
        slopes = _drawn(x, z[t], *_scales(prior.covariance, x.shape[1], theta[t]), rng)
        if len(slopes) > 1:
            slopes = slopes - slopes.mean(axis=0)
        found.append(np.sqrt((slopes**2).mean(axis=0)))
    return np.array(found)


def _scales(law: Covariance, size: int, theta: np.ndarray) -> tuple[float, float]:
    """Variances of a slope and of the constant: the covariance at the origin, and what a step along an input adds."""
    at_origin, at_one = law.variance(np.eye(2, size, k=-1), theta)
    return max(float(at_one - at_origin), 1e-300), max(float(at_origin), 1e-300)


def _drawn(
    x: np.ndarray, z: np.ndarray, slope: float, constant: float, rng: np.random.Generator
) -> np.ndarray:
    """(K, D) slopes given z (K, N) at inputs x (N, D), their prior variance and that of the constant."""
    noise = rng.standard_normal((x.shape[1] + 1, len(z)))
    inputs = np.column_stack([x, np.ones(len(x))])
    variance = np.append(np.full(x.shape[1], slope), constant)
    if inputs.shape[1] <= len(x):
        root = np.linalg.cholesky(inputs.T @ inputs + np.diag(1.0 / variance))
        middle = cho_solve((root, True), inputs.T @ z.T)
        return (middle + solve_triangular(root, noise, lower=True, trans=1))[:-1].T
    # more inputs than samples: each slope by itself, from the covariance of the samples
    scaled = variance[:, None] * inputs.T
    turned = cho_solve(cho_factor(inputs @ scaled + np.eye(len(x)), lower=True), scaled.T)
    sd = np.sqrt(np.maximum(variance - (scaled.T * turned).sum(axis=0), 0.0))
    return (turned.T @ z.T + sd[:, None] * noise)[:-1].T
