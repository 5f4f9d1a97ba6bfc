"""Covariances between outputs, from logarithms: a matrix (P, P), its parameters with their priors, and its gradient.

``B = diag(s) R diag(s)``. Every variance ``s_p^2`` has the prior that the amplitude² of a single output has, or its noise variance.
The correlations R come from numbers ``r = tanh(t / 2)`` in (-1, 1), so that t is the logarithm of ``(1 + r) / (1 - r)``:

- full: partial correlations by rows of the Cholesky factor (Lewandowski, Kurowicka, Joe 2009, Journal of Multivariate Analysis 100:1989),
  ``L_pq = r_pq prod_{k<q} (1 - r_pk^2)^{1/2}``, whose diagonal is positive;
- one: one common factor, ``R_pq = r_p r_q`` off the diagonal; the first ``r_p`` is positive, as the sign of all of them means nothing;
- apart: R = I.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from plaidwork.plugins.gp_auxiliary.shared.covariance import Parameter

FULL_UP_TO = 4
"""Outputs up to which all correlations are free; of more the functions have one common factor, and the noise is independent."""
TIE_SD = 1.5
"""Of the logarithm of (1 + r) / (1 - r): the correlation of two outputs is then about even over (-1, 1)."""
Form = Literal["full", "one", "apart"]


@dataclass(frozen=True, slots=True)
class Between:
    """A covariance of P outputs.

    Attributes
    ----------
    size : P.
    form : how the outputs are correlated, see above.
    floor : added to every variance.
    """

    size: int
    form: Form
    floor: float = 0.0

    @property
    def n_ties(self) -> int:
        """How many parameters the correlations have."""
        return {"full": self.size * (self.size - 1) // 2, "one": self.size, "apart": 0}[self.form]

    @property
    def count(self) -> int:
        """Number of parameters: P logarithms of variances, then those of the correlations."""
        return self.size + self.n_ties

    def parameters(
        self, variance: str, kind: str, of: str, outputs: tuple[str, ...], mean: float, sd: float
    ) -> tuple[Parameter, ...]:
        """Names and priors; ``variance`` and ``kind`` are what a variance is called, ``of`` what is correlated."""
        found = [Parameter(f"{variance} of {name}", kind, mean, sd) for name in outputs]
        if self.form == "full":
            found += [
                Parameter(f"correlation of {of}, {outputs[q]} and {outputs[p]}", "tie", 0.0, TIE_SD)
                for p in range(self.size)
                for q in range(p)
            ]
        elif self.form == "one":
            kinds = ["share", *["tie"] * (self.size - 1)]
            found += [
                Parameter(f"correlation of {of} with their common factor, {name}", kind, 0.0, TIE_SD)
                for name, kind in zip(outputs, kinds, strict=True)
            ]
        return tuple(found)

    def variances(self, theta: np.ndarray) -> np.ndarray:
        """(P,) of theta (count,)."""
        return np.asarray(self.floor + np.exp(theta[: self.size]))

    def correlations(self, theta: np.ndarray) -> np.ndarray:
        """(P, P) R."""
        ties = theta[self.size :]
        if self.form == "apart":
            return np.eye(self.size)
        if self.form == "one":
            found = np.outer(*[self._loadings(ties)] * 2)
            np.fill_diagonal(found, 1.0)
            return found
        root = self._root(ties)
        found = root @ root.T
        np.fill_diagonal(found, 1.0)
        return found

    def matrix(self, theta: np.ndarray) -> np.ndarray:
        """(P, P) B at theta (count,)."""
        sd = np.sqrt(self.variances(theta))
        return np.asarray(sd[:, None] * self.correlations(theta) * sd)

    def pull(self, theta: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """(count,) ``sum W o dB / dtheta`` of symmetric weights W (P, P)."""
        variances = self.variances(theta)
        sd = np.sqrt(variances)
        scaled = sd[:, None] * weights * sd
        by_variance = (scaled * self.correlations(theta)).sum(axis=1) * np.exp(theta[: self.size]) / variances
        ties = theta[self.size :]
        if self.form == "apart":
            return np.asarray(by_variance)
        if self.form == "one":
            off = scaled - np.diag(np.diag(scaled))
            by_tie = 2.0 * (off @ self._loadings(ties)) * self._steepness(ties)
            return np.concatenate([by_variance, by_tie])
        return np.concatenate([by_variance, self._pull_root(ties, 2.0 * scaled)])

    def _loadings(self, ties: np.ndarray) -> np.ndarray:
        """(P,) correlations with the common factor."""
        found = np.tanh(0.5 * ties)
        found[0] = 0.5 * (1.0 + found[0])
        return np.asarray(found)

    def _steepness(self, ties: np.ndarray) -> np.ndarray:
        """(P,) derivatives of the loadings."""
        found = 0.5 / np.cosh(0.5 * ties) ** 2
        found[0] *= 0.5
        return np.asarray(found)

    def _root(self, ties: np.ndarray) -> np.ndarray:
        """(P, P) L of R = L L'."""
        root = np.eye(self.size)
        at = 0
        for p in range(1, self.size):
            left = 1.0
            for q in range(p):
                r = np.tanh(0.5 * ties[at])
                root[p, q] = r * left
                left /= np.cosh(0.5 * ties[at])  # the root of 1 - r^2
                at += 1
            root[p, p] = left
        return root

    def _pull_root(self, ties: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """``sum (W L) o dL / dt`` for weights W (P, P), twice those of R."""
        root = self._root(ties)
        slope = weights @ root
        found = np.zeros(len(ties))
        at = 0
        for p in range(1, self.size):
            for q in range(p):
                r = np.tanh(0.5 * ties[at])
                later = float(slope[p, q + 1 : p + 1] @ root[p, q + 1 : p + 1])
                left = np.prod(
                    1.0 / np.cosh(0.5 * ties[at - q : at])
                )  # of the row's length 1, before this entry
                found[at] = 0.5 * (slope[p, q] * left * (1.0 - r * r) - later * r)
                at += 1
        return found


def forms_of(size: int, functions: str, noise: str) -> tuple[Form, Form]:
    """Forms of B and S of so many outputs, by the settings ``outputs`` and ``outputs_noise``."""
    few = size <= FULL_UP_TO
    return (
        "apart" if functions == "apart" else "full" if few else "one",
        "apart" if noise == "apart" or not few else "full",
    )


def correlation_of(theta: np.ndarray) -> np.ndarray:
    """Correlations that logarithms of (1 + r) / (1 - r) stand for."""
    return np.asarray(np.tanh(0.5 * theta))
