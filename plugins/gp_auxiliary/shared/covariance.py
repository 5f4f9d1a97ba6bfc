"""The covariance function as the settings describe it: a table for the kernels, names and priors of its parameters."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from plaidwork.core.api import ModelError
from plaidwork.plugins.gp_auxiliary.kernels import covariance as kernels
from plaidwork.plugins.gp_auxiliary.kernels import slopes
from plaidwork.plugins.gp_auxiliary.shared.radial import is_radial, radial_cross, radial_slopes
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import LawSettings

KINDS = {
    "rbf": kernels.RBF,
    "matern12": kernels.MATERN12,
    "matern32": kernels.MATERN32,
    "matern52": kernels.MATERN52,
    "rational_quadratic": kernels.RATIONAL,
    "linear": kernels.LINEAR,
    "mean_linear": kernels.LINEAR,
    "polynomial": kernels.POLYNOMIAL,
    "constant": kernels.CONSTANT,
    "white": kernels.WHITE,
    "periodic": kernels.PERIODIC,
}
"""Names of terms, as settings and expressions use them."""
SAME = "same"
"""The term that is 1 where both samples have one label, else 0: it says which summands a label has of its own."""
_MORE = ("periodic", SAME)
"""Terms that need to be told a period or labels, which the classifiers are not."""
SUMS = {
    "seasonal": "linear + rbf + periodic * rbf + rational_quadratic",
    "found_season": "linear + matern32 + periodic * rbf",
    "groups": "rbf{ard} + constant + same * rbf{ard} + same * constant",
}
"""Choices of the covariance that stand for a sum, and what stands for a season that was found in the data, which has fewer parameters and is
quicker to draw; {ard} is where a length per input goes."""
_PERIOD_SD, _SEASON_SD = 0.3, 1.5
"""Of the logarithms of a period, and of how far a function changes within one: at most, as no season is irrelevant."""

_STATIONARY = ("rbf", "matern12", "matern32", "matern52", "rational_quadratic")
_BETWEEN = re.compile(r"(?<=[a-z0-9])\s+(?=[a-z])")
"""Names of terms of two words may be typed as they are shown."""
_TERM = re.compile(r"([a-z0-9_]+)(\s*\(\s*ard\s*\))?\Z")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One logarithm of the covariance: its name, and mean and sd of its normal prior.

    ``kind`` is amplitude, gamma, bias, alpha, season (gamma of a periodic term) or period; ``column`` the input it belongs to, -1 for all of them.
    """

    name: str
    kind: str
    mean: float
    sd: float
    column: int = -1


@dataclass(frozen=True, slots=True)
class Covariance:
    """A sum of products of terms.

    Attributes
    ----------
    table : (terms, 5) int64, see ``kernels/covariance.py``.
    parameters : one for each entry of ``theta``, in its order.
    """

    table: np.ndarray
    n_groups: int
    degree: int
    parameters: tuple[Parameter, ...]

    @property
    def prior_mean(self) -> np.ndarray:
        return np.array([parameter.mean for parameter in self.parameters])

    @property
    def prior_sd(self) -> np.ndarray:
        return np.array([parameter.sd for parameter in self.parameters])

    def located(self, x: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Samples as the other methods take them, of inputs (n, D) and codes of labels (n,): the inputs alone."""
        return x

    def matrix(self, x: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """C (N, N)."""
        return np.asarray(kernels.covariance(self.table, self.n_groups, x, np.exp(theta), self.degree))

    def cross(self, x: np.ndarray, y: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """C(x, y) (N, M) of different samples."""
        if is_radial(self.table):
            return radial_cross(self.table, x, y, np.exp(theta))
        return np.asarray(
            kernels.cross_covariance(self.table, self.n_groups, x, y, np.exp(theta), self.degree)
        )

    def variance(self, x: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """(N,) prior variance of f."""
        alike = self._alike
        found = kernels.own_variance(
            self.table, self.n_groups, x[:1] if alike else x, np.exp(theta), self.degree
        )
        return np.repeat(found, len(x)) if alike else np.asarray(found)

    @property
    def _alike(self) -> bool:
        """Whether f has one variance at all samples."""
        return not np.isin(self.table[:, 0], (kernels.LINEAR, kernels.POLYNOMIAL)).any()

    def pivoted(
        self, x: np.ndarray, theta: np.ndarray, most: int, left: float
    ) -> tuple[np.ndarray, bool, np.ndarray]:
        """(G (N, r), whether it is enough, pivots (r,)) with ``C ~ G G'``, see ``kernels/covariance.py``."""
        g, enough, pivots = kernels.pivoted_loadings(
            self.table, self.n_groups, x, np.exp(theta), self.degree, most, left
        )
        return np.asarray(g), bool(enough), np.asarray(pivots)

    def slopes(self, x: np.ndarray, theta: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """(P,) ``sum W o dC / dtheta`` of symmetric weights W (N, N)."""
        return np.asarray(
            slopes.contracted(self.table, self.n_groups, x, x, True, np.exp(theta), self.degree, weights)
        )

    def cross_slopes(
        self, x: np.ndarray, y: np.ndarray, theta: np.ndarray, weights: np.ndarray
    ) -> np.ndarray:
        """(P,) ``sum W o dC(x, y) / dtheta`` of different samples, weights W (N, M)."""
        return np.asarray(
            slopes.contracted(self.table, self.n_groups, x, y, False, np.exp(theta), self.degree, weights)
        )

    def slopes_of_known(
        self, x: np.ndarray, y: np.ndarray, theta: np.ndarray, weights: np.ndarray, known: np.ndarray
    ) -> np.ndarray:
        """As :meth:`cross_slopes` where C(x, y) is ``known`` (N, M), which saves its exponentials; that may be overwritten."""
        if not is_radial(self.table):
            return self.cross_slopes(x, y, theta, weights)
        return radial_slopes(self.table, x, y, np.exp(theta), weights, known)

    def variance_slopes(self, x: np.ndarray, theta: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """(P,) ``sum w_n dC_nn / dtheta``, weights w (N,)."""
        if self._alike:
            x, weights = x[:1], weights.sum(keepdims=True)
        return np.asarray(
            slopes.contracted_variance(self.table, self.n_groups, x, np.exp(theta), self.degree, weights)
        )

    def log_prior(self, theta: np.ndarray) -> float:
        """Log density of the parameters' logarithms, but for a constant."""
        gaps = zip(theta.tolist(), self.parameters, strict=True)
        return -0.5 * sum(((value - parameter.mean) / parameter.sd) ** 2 for value, parameter in gaps)


@dataclass(frozen=True, slots=True)
class LabelledCovariance(Covariance):
    """``C = S + M o T``, M 1 where both samples have one label; samples are (n, D + 1), their inputs and the code of their label.

    Code -1 is that of a label which is not in the fit: it equals no other, and the variance of its own function stays.

    Attributes
    ----------
    own : numbers of the groups of terms that T consists of; S has the others.
    """

    own: tuple[int, ...] = ()

    def located(self, x: np.ndarray, codes: np.ndarray) -> np.ndarray:
        return np.column_stack([x, codes])

    def matrix(self, x: np.ndarray, theta: np.ndarray) -> np.ndarray:
        inputs, codes = _apart(x)
        alike = _alike(codes, codes)
        np.fill_diagonal(alike, True)
        shared, own = self._parts(theta)
        return shared[0].matrix(inputs, shared[1]) + alike * own[0].matrix(inputs, own[1])

    def cross(self, x: np.ndarray, y: np.ndarray, theta: np.ndarray) -> np.ndarray:
        (left, codes), (right, others) = _apart(x), _apart(y)
        shared, own = self._parts(theta)
        found = _alike(codes, others) * own[0].cross(left, right, own[1])
        return np.asarray(found + shared[0].cross(left, right, shared[1]))

    def variance(self, x: np.ndarray, theta: np.ndarray) -> np.ndarray:
        inputs, _codes = _apart(x)
        return Covariance(self.table, self.n_groups, self.degree, self.parameters).variance(inputs, theta)

    def slopes(self, x: np.ndarray, theta: np.ndarray, weights: np.ndarray) -> np.ndarray:
        inputs, codes = _apart(x)
        alike = _alike(codes, codes)
        np.fill_diagonal(alike, True)
        shared, own = self._parts(theta)
        found = shared[0].slopes(inputs, shared[1], weights)
        return found + own[0].slopes(inputs, own[1], alike * weights)

    def _parts(
        self, theta: np.ndarray
    ) -> tuple[tuple[Covariance, np.ndarray], tuple[Covariance, np.ndarray]]:
        """(S, its theta), (T, its theta): in either the amplitudes of the other are 0."""
        chosen = np.isin(np.arange(self.n_groups), self.own)
        found = []
        for kept in (~chosen, chosen):
            table = np.ascontiguousarray(self.table[kept[self.table[:, 1]]])
            values = theta.copy()
            values[: self.n_groups][~kept] = -np.inf
            found.append((Covariance(table, self.n_groups, self.degree, self.parameters), values))
        return found[0], found[1]


def _apart(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Inputs (n, D) and codes (n,) of samples (n, D + 1)."""
    return np.ascontiguousarray(x[:, :-1]), x[:, -1]


def _alike(codes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(n, m) whether two different samples have one label."""
    return np.asarray((codes[:, None] == others) & (codes >= 0)[:, None])


def expression_of(params: LawSettings) -> str | None:
    """The sum of products that the settings want, None where they name a single term."""
    if params["covariance"] in SUMS:
        return SUMS[params["covariance"]].format(ard="(ard)" if params["ard"] else "")
    return params["expression"] if params["covariance"] == "expression" else None


def has_term(params: LawSettings, wanted: str) -> bool:
    """Whether a sum of products that the settings want has such a term. Raises ``ModelError``."""
    text = expression_of(params)
    return text is not None and any(kind == wanted for group in parse(text, True) for kind, _ard in group)


def parse(text: str, every: bool = False) -> list[list[tuple[str, bool]]]:
    """Groups of (term, ARD) of a sum of products such as ``rbf(ard) + linear * constant``; all terms where ``every``, else those of the
    classifiers. Raises ``ModelError``."""
    known = [kind for kind in (*KINDS, SAME) if every or kind not in _MORE]
    groups = []
    for summand in text.lower().split("+"):
        group = []
        for factor in summand.split("*"):
            found = _TERM.match(_BETWEEN.sub("_", factor.strip()))
            if found is None or found[1] not in known:
                raise ModelError(
                    f"The covariance needs terms joined by + and *. Found “{factor.strip()}” in “{text}”.",
                    f"Terms: {', '.join(known)}. Write rbf(ard) for a length of its own per input.",
                )
            if found[2] and found[1] not in _STATIONARY:
                raise ModelError(f"“{found[1]}” has no lengths, so (ard) does not go with it.")
            group.append((found[1], bool(found[2])))
        groups.append(group)
    return groups


def make_covariance(params: LawSettings, columns: Sequence[str]) -> Covariance:
    """The covariance of the settings ``covariance``, ``ard``, ``expression``, ``degree`` for these inputs.

    Priors (page, section 5): log amplitude^2 around log 4, log gamma around -log D, sd 1.5 each by default; a bias has that of an amplitude.
    """
    text = expression_of(params)
    if text is not None:
        groups = parse(text, "period" in params)
    else:
        kind = params["covariance"]
        groups = [[(kind, params["ard"] and kind in _STATIONARY)]]
        if params["intercept"] and kind != "constant":
            groups.append([("constant", False)])
    several = len(groups) > 1
    parameters = [
        Parameter(
            "amplitude²" + (f" of {_product(group)}" if several else ""),
            "amplitude",
            math.log(params["amplitude"])
            - (math.log(max(len(columns), 1)) if ("mean_linear", False) in group else 0.0),
            params["amplitude_sd"],
        )
        for group in groups
    ]
    rows, own = [], []
    for number, group in enumerate(groups):
        factors = [factor for factor in group if factor[0] != SAME]
        if len(factors) < len(group):
            own.append(number)
        for kind, ard in factors or [("constant", False)]:
            column = params["season_column"] if kind == "periodic" else -1
            rows.append((KINDS[kind], number, len(parameters), int(ard), column))
            start = len(parameters)
            parameters += _term_parameters(kind, ard, params, columns, several or len(group) > 1)
            if len(group) > 1:
                parameters[start:] = _told_apart(parameters[:start], parameters[start:], group)
    table = np.array(rows, dtype=np.int64)
    if not own:
        return Covariance(table, len(groups), params["degree"], tuple(parameters))
    return LabelledCovariance(table, len(groups), params["degree"], tuple(parameters), tuple(own))


def in_words(terms: str) -> str:
    """A term, or a sum of terms, as it is shown: “mean linear”."""
    return terms.replace("_", " ")


def _product(group: Sequence[tuple[str, bool]]) -> str:
    return " × ".join(in_words(kind) for kind, _ard in group)


def _told_apart(
    before: Sequence[Parameter], found: Sequence[Parameter], group: Sequence[tuple[str, bool]]
) -> list[Parameter]:
    """Parameters of a term, with the product that it is a factor of where others have the same names."""
    taken = {parameter.name for parameter in before}
    return [
        replace(parameter, name=f"{parameter.name} in {_product(group)}")
        if parameter.name in taken
        else parameter
        for parameter in found
    ]


def _term_parameters(
    kind: str, ard: bool, params: LawSettings, columns: Sequence[str], named: bool
) -> list[Parameter]:
    of = f" of {in_words(kind)}" if named else ""
    found = []
    if kind in _STATIONARY or kind == "polynomial":
        gamma = params["gamma"] or 1.0 / max(len(columns), 1)
        if ard:
            found += [
                Parameter(f"γ{of}, {column}", "gamma", math.log(gamma), params["gamma_sd"], d)
                for d, column in enumerate(columns)
            ]
        else:
            found.append(Parameter(f"γ{of}", "gamma", math.log(gamma), params["gamma_sd"]))
    if kind == "periodic":
        found.append(Parameter(f"γ{of}", "season", 0.0, min(params["gamma_sd"], _SEASON_SD)))
        found.append(Parameter(f"standardised period{of}", "period", math.log(params["period"]), _PERIOD_SD))
    if kind == "rational_quadratic":
        found.append(Parameter(f"α{of}", "alpha", 0.0, 1.0))
    if kind == "mean_linear":  # (x'x / D + bias) times the amplitude: both priors are shifted by D
        found.append(Parameter(f"bias{of}", "bias", math.log(max(len(columns), 1)), params["amplitude_sd"]))
    if kind in ("linear", "polynomial"):
        found.append(Parameter(f"bias{of}", "bias", 0.0, params["amplitude_sd"]))
    return found
