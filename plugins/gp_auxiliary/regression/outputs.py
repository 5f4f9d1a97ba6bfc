"""Several outputs: ``cov(vec Y) = B (x) C + S (x) I`` of values Y (N, P), C of the inputs with amplitudes² that add up to 1.

A *cell* is the value of one output of one sample; the first samples' cells are those of the first output. As the law of a single
output (``law.py``), this one is given to evidence and moves with 1 taken off its diagonal.

Complete: with ``S = L L'``, ``L^-1 B L^-T = U diag(b) U'`` and ``C = V diag(l) V'`` the cells of ``V' Y L^-T U`` are independent with
variances ``d_ij = b_j l_i + 1`` (Stegle, Lippert, Mooij, Lawrence, Borgwardt 2011, Advances in Neural Information Processing Systems
24), so that two eigendecompositions take the place of a matrix of N P cells. With cells missing the matrix of those that are known is dense.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_triangular

from plaidwork.plugins.gp_auxiliary.regression.between import Between
from plaidwork.plugins.gp_auxiliary.regression.law import EXTRA
from plaidwork.plugins.gp_auxiliary.shared.covariance import Covariance, Parameter
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior

FIRST = 1
"""Parameters of the covariance of the inputs that B makes superfluous: its first amplitude². The others are relative to it, and all are
divided by their sum: so B says how large the outputs' functions are, which the data know better than the size of one term."""
RATIO_SD = 1.5
"""Of the logarithm of a ratio at most: the data say little of a term far smaller than the others, and chains would go far out there."""


@dataclass(frozen=True, slots=True)
class OutputsCovariance(Covariance):
    """The law of cells; they are given as (m, D + 2): what ``f`` takes, the number of the sample, the number of the output.

    Its parameters are those of C but for the first amplitude, of B, and of S.
    """

    f: Covariance
    functions: Between
    noise: Between

    def apart(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The parameters of C with all of its amplitudes, of B, and of S."""
        n_c, n_s = len(self.f.parameters) - FIRST, self.noise.count
        by_c = np.concatenate([np.zeros(FIRST), theta[:n_c]])
        by_c[: self.f.n_groups] -= np.logaddexp.reduce(by_c[: self.f.n_groups])
        return by_c, theta[n_c:-n_s], theta[-n_s:]

    def between(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """B and S (P, P)."""
        _c, b, s = self.apart(theta)
        return self.functions.matrix(b), self.noise.matrix(s)

    def matrix(self, x: np.ndarray, theta: np.ndarray) -> np.ndarray:
        x_s, number, output = _apart(x)
        b, s = self.between(theta)
        c = self.f.matrix(x_s, self.apart(theta)[0])
        found = b[output[:, None], output] * c[number[:, None], number]
        found += s[output[:, None], output] * (number[:, None] == number)
        found.flat[:: len(found) + 1] -= 1.0
        return np.asarray(found)

    def slopes(self, x: np.ndarray, theta: np.ndarray, weights: np.ndarray) -> np.ndarray:
        x_s, number, output = _apart(x)
        by_c, by_b, _by_s = self.apart(theta)
        c, b = self.f.matrix(x_s, by_c), self.functions.matrix(by_b)
        size, count = self.functions.size, len(x_s)
        of_samples, of_outputs = (np.eye(n)[code] for n, code in ((count, number), (size, output)))
        w_c = of_samples.T @ (b[output[:, None], output] * weights) @ of_samples
        w_b = of_outputs.T @ (c[number[:, None], number] * weights) @ of_outputs
        w_s = of_outputs.T @ ((number[:, None] == number) * weights) @ of_outputs
        return self.pull(x_s, theta, w_c, w_b, w_s)

    def pull(
        self, x: np.ndarray, theta: np.ndarray, w_c: np.ndarray, w_b: np.ndarray, w_s: np.ndarray
    ) -> np.ndarray:
        """(parameters,) ``sum W_C o dC + sum W_B o dB + sum W_S o dS`` of the samples x (N, D) as ``f`` takes them."""
        by_c, by_b, by_s = self.apart(theta)
        c, terms = self.f.slopes(x, by_c, np.ascontiguousarray(w_c)), self.f.n_groups
        c[:terms] -= np.exp(by_c[:terms]) * c[:terms].sum()
        return np.concatenate([c[FIRST:], self.functions.pull(by_b, w_b), self.noise.pull(by_s, w_s)])


def _apart(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of cells (m, D + 2): their samples (N, D) as the covariance of the inputs takes them, the number of each cell's among those, and its
    output (m,)."""
    _numbers, first, number = np.unique(x[:, -2], return_index=True, return_inverse=True)
    return np.ascontiguousarray(x[first, :-EXTRA]), number.ravel(), x[:, -1].astype(np.intp)


def cells_of(x: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """(m, D + 2) cells (m, 2), sample and output of each, of samples x (N, D) as the covariance of the inputs takes them."""
    return np.column_stack([x[cells[:, 0]], cells])


@dataclass(frozen=True, slots=True)
class Whitened:
    """What makes the outputs of complete samples independent.

    Attributes
    ----------
    forth : (P, P) ``L^-T U``: values (N, P) times it have independent columns, of covariance ``b_j C + I``.
    back : (P, P) its inverse.
    b : (P,) their amplitudes².
    log_det : of S.
    """

    forth: np.ndarray
    back: np.ndarray
    b: np.ndarray
    log_det: float


def whitened(functions: np.ndarray, noise: np.ndarray) -> Whitened:
    """Of B and S (P, P). Raises ``LinAlgError`` where rounding leaves S indefinite."""
    root = np.linalg.cholesky(noise)
    half = solve_triangular(root, functions, lower=True)
    b, u = np.linalg.eigh(solve_triangular(root, half.T, lower=True))
    forth = solve_triangular(root, u, lower=True, trans=1)
    return Whitened(forth, u.T @ root.T, np.maximum(b, 0.0), 2.0 * float(np.log(np.diag(root)).sum()))


@dataclass(frozen=True, slots=True)
class Spectral:
    """The law of complete samples at one theta, by the eigenvalues of C and of the whitened B.

    Attributes
    ----------
    turn : how the outputs are made independent.
    values, vectors : (N,) l and (N, N) V of C.
    d : (N, P) variances.
    y : (N, P) cells of ``V' Y L^-T U``.
    """

    turn: Whitened
    values: np.ndarray
    vectors: np.ndarray
    d: np.ndarray
    y: np.ndarray

    @classmethod
    def of(cls, c: np.ndarray, functions: np.ndarray, noise: np.ndarray, y: np.ndarray) -> Spectral:
        """Of C (N, N), B and S (P, P), and cells y (N P,). Raises ``LinAlgError``."""
        turn = whitened(functions, noise)
        values, vectors = np.linalg.eigh(c)
        values = np.maximum(values, 0.0)
        turned = vectors.T @ (y.reshape(len(noise), -1).T @ turn.forth)
        return cls(turn, values, vectors, np.outer(values, turn.b) + 1.0, turned)

    @property
    def log_density(self) -> float:
        """Of the cells in nats, but for a constant."""
        squares = float((self.y * self.y / self.d).sum())
        return -0.5 * (squares + float(np.log(self.d).sum()) + len(self.values) * self.turn.log_det)

    def weights(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """By which the slopes of C (N, N), B and S (P, P) are summed for that of the log density."""
        b, forth, a = self.turn.b, self.turn.forth, self.y / self.d
        lost = self.vectors * ((b / self.d).sum(axis=1))
        solved = self.vectors @ a
        w_c = 0.5 * ((solved * b) @ solved.T - lost @ self.vectors.T)
        w_b = (a * self.values[:, None]).T @ a - np.diag((self.values[:, None] / self.d).sum(axis=0))
        w_s = a.T @ a - np.diag((1.0 / self.d).sum(axis=0))
        return w_c, 0.5 * forth @ w_b @ forth.T, 0.5 * forth @ w_s @ forth.T


@dataclass(frozen=True, slots=True)
class GridPrior(Prior):
    """The law of complete samples: x holds the cells of all samples, output by output; evidence and gradient are those of `Spectral`."""

    outputs: int = 1

    @property
    def samples(self) -> np.ndarray:
        """(N, D) samples as the covariance of the inputs takes them."""
        return np.ascontiguousarray(self.x[: len(self.x) // self.outputs, :-EXTRA])

    def spectral(self, theta: np.ndarray, y: np.ndarray) -> Spectral | None:
        """At theta for cells y (N P,); None where rounding leaves a matrix indefinite."""
        law = outputs_law(self)
        c = law.f.matrix(self.samples, law.apart(theta)[0])
        try:
            return Spectral.of(c, *law.between(theta), y)
        except np.linalg.LinAlgError:
            return None

    def own_evidence(self, theta: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
        found = self.spectral(theta, y[0])
        if found is None:
            return -math.inf, np.zeros(len(theta))
        return found.log_density, outputs_law(self).pull(self.samples, theta, *found.weights())

    def log_density(self, theta: np.ndarray, z: np.ndarray) -> float:
        found = self.spectral(theta, z[0])
        return -math.inf if found is None else found.log_density

    def gradient_seconds(self) -> float:
        return 3.0 * Prior(self.covariance, self.samples, self.inducing).gradient_seconds()


def outputs_law(prior: Prior) -> OutputsCovariance:
    """The law of cells of a prior that :func:`outputs_prior` made."""
    assert isinstance(prior.covariance, OutputsCovariance)
    return prior.covariance


def outputs_prior(
    law: Covariance,
    x: np.ndarray,
    cells: np.ndarray,
    functions: tuple[Between, tuple[Parameter, ...]],
    noise: tuple[Between, tuple[Parameter, ...]],
) -> Prior:
    """The law of cells (m, 2), sample and output of each, of samples x (N, D) as the covariance of the inputs takes them, with B and S and
    their parameters. Where all cells are there, output by output, it is computed by samples."""
    parameters = (*relative(law), *functions[1], *noise[1])
    made = OutputsCovariance(law.table, law.n_groups, law.degree, parameters, law, functions[0], noise[0])
    size, nothing = functions[0].size, np.zeros((0, x.shape[1] + EXTRA))
    if is_complete(cells, len(x), size):
        return GridPrior(made, cells_of(x, cells), nothing, outputs=size)
    return Prior(made, cells_of(x, cells), nothing)


def relative(law: Covariance) -> tuple[Parameter, ...]:
    """The parameters of the covariance of the inputs without its first amplitude², the others as ratios to that."""
    first = law.parameters[0]
    of = first.name.partition(" of ")[2]
    ratios = [
        replace(
            parameter,
            name=f"{parameter.name} over that of {of}",
            mean=parameter.mean - first.mean,
            sd=min(parameter.sd, RATIO_SD),
        )
        for parameter in law.parameters[FIRST : law.n_groups]
    ]
    return (*ratios, *law.parameters[law.n_groups :])


def all_cells(samples: int, outputs: int) -> np.ndarray:
    """(N P, 2) sample and output of all cells, output by output."""
    return np.column_stack([np.tile(np.arange(samples), outputs), np.repeat(np.arange(outputs), samples)])


def is_complete(cells: np.ndarray, samples: int, outputs: int) -> bool:
    """Whether these (m, 2) are all cells of so many samples and outputs."""
    return len(cells) == samples * outputs
