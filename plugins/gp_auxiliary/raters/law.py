"""Ratings of several raters: what they say of f together, as one unit-noise observation per object.

Rating i of object n by rater c rests on ``q_i ~ N(f_n + delta_c, 1 / g_c)``. Given all q the ratings of an object say of
f_n what one value ``y_n = sum_i g (q_i - delta) / w_n`` of precision ``w_n = sum_i g`` says. With ``s = sqrt(w)`` the values
``s y`` have unit noise around ``s f``, whose covariance is ``s_n s_m C_nm``: the forms of ``gram.py`` serve as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaidwork.plugins.gp_auxiliary.shared.covariance import Covariance
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior
from plaidwork.plugins.gp_auxiliary.shared.state import RatedFixed


@dataclass(frozen=True, slots=True)
class ScaledCovariance(Covariance):
    """The covariance of ``s f``; samples are given as (n, D + 1), their inputs and s last."""

    def matrix(self, x: np.ndarray, theta: np.ndarray) -> np.ndarray:
        scale = x[:, -1]
        return Covariance.matrix(self, _inputs(x), theta) * scale[:, None] * scale

    def cross(self, x: np.ndarray, y: np.ndarray, theta: np.ndarray) -> np.ndarray:
        return Covariance.cross(self, _inputs(x), _inputs(y), theta) * x[:, -1][:, None] * y[:, -1]

    def variance(self, x: np.ndarray, theta: np.ndarray) -> np.ndarray:
        return Covariance.variance(self, _inputs(x), theta) * x[:, -1] ** 2

    def slopes(self, x: np.ndarray, theta: np.ndarray, weights: np.ndarray) -> np.ndarray:
        scale = x[:, -1]
        return Covariance.slopes(self, _inputs(x), theta, weights * scale[:, None] * scale)

    def cross_slopes(
        self, x: np.ndarray, y: np.ndarray, theta: np.ndarray, weights: np.ndarray
    ) -> np.ndarray:
        scaled = weights * x[:, -1][:, None] * y[:, -1]
        return Covariance.cross_slopes(self, _inputs(x), _inputs(y), theta, scaled)

    def variance_slopes(self, x: np.ndarray, theta: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return Covariance.variance_slopes(self, _inputs(x), theta, weights * x[:, -1] ** 2)


def _inputs(x: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(x[:, :-1])


def with_scale(x: np.ndarray, scale: np.ndarray | float = 1.0) -> np.ndarray:
    """(n, D + 1) samples with their scales; 1 for those of which f itself is wanted."""
    return np.column_stack([x, np.broadcast_to(scale, len(x))])


@dataclass(frozen=True, slots=True)
class Ratings:
    """Who rated what, and how.

    Attributes
    ----------
    item : (M,) number of the object, among those in the fit.
    rater, code : (M,) numbers of the rater and of the grade, from 0.
    n_raters, n_grades : how many there are; a rater may have no rating.
    """

    item: np.ndarray
    rater: np.ndarray
    code: np.ndarray
    n_raters: int
    n_grades: int

    @classmethod
    def of(cls, fixed: RatedFixed) -> Ratings:
        """From what a chain's state keeps."""
        return cls(fixed["item"], fixed["rater"], fixed["code"], *map(int, fixed["sizes"]))

    @property
    def per_rater(self) -> np.ndarray:
        """(C,) number of ratings."""
        return np.bincount(self.rater, minlength=self.n_raters)

    def by_rater(self, values: np.ndarray) -> np.ndarray:
        """(C,) sums of values (M,)."""
        return np.bincount(self.rater, values, minlength=self.n_raters)

    def scale(self, precision: np.ndarray, size: int) -> np.ndarray:
        """s (N,) of the objects, by the precisions (C,) of those who rated them."""
        return np.sqrt(np.bincount(self.item, precision[self.rater], minlength=size))

    def together(
        self, q: np.ndarray, offset: np.ndarray, precision: np.ndarray, scale: np.ndarray
    ) -> np.ndarray:
        """``s y`` (N,) of q (M,) at offsets and precisions (C,)."""
        weighted = precision[self.rater] * (q - offset[self.rater])
        return np.bincount(self.item, weighted, minlength=len(scale)) / scale


def scaled_prior(prior: Prior, scale: np.ndarray) -> Prior:
    """The law of ``s f`` at the objects of ``prior``."""
    law = prior.covariance
    return Prior(
        ScaledCovariance(law.table, law.n_groups, law.degree, law.parameters),
        with_scale(prior.x, scale),
        with_scale(prior.inducing),
        prior.draws_f,
    )
