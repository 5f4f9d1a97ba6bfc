"""Inputs and values as the regression uses them: fitted and other samples, both standardised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from plaidwork.core.api import ModelData, ModelError, Problem, counted, random_test
from plaidwork.plugins.gp_auxiliary.covariance import (
    SAME,
    Covariance,
    Parameter,
    expression_of,
    has_term,
    parse,
)
from plaidwork.plugins.gp_auxiliary.frame import (
    COVARIANCE_KEYS,
    TEST_NAMES,
    Frame,
    covariance_of,
    input_problems,
    place_samples,
    wants_inducing,
)
from plaidwork.plugins.gp_auxiliary.gram import Prior, choose_inducing
from plaidwork.plugins.gp_auxiliary.kernels.covariance import WHITE
from plaidwork.plugins.gp_auxiliary.regression.law import extended, observed_prior
from plaidwork.plugins.gp_auxiliary.typed_settings import LawSettings, RegressionSettings

LEAST = 3
"""Fitted samples that a regression needs."""
MOST = 2000
"""Fitted samples at most: a gradient then takes most of a second, a covariance 32 MB."""
MOST_SPARSE = 20_000
"""The same by inducing points: with 200 of them a gradient takes a tenth of a second."""
_PLAIN_SD, _ARD_SD = 1.5, 3.0


@dataclass(frozen=True, slots=True)
class Samples:
    """All samples of the inputs.

    Attributes
    ----------
    frame : inputs, and which samples are fitted and which are for the test; its codes are 0 where the value is known, else -1.
    values : (n,) values as given, 0 where not known.
    centre, spread : what the values were centred and divided by.
    season : (2,) standardised period and number of the input that recurs, or (0,) without a periodic term.
    labels : names of the groups among the fitted samples.
    codes : (n,) number of each sample's group, -1 of one that no fitted sample is of; all -1 without groups.
    """

    frame: Frame
    values: np.ndarray
    centre: float
    spread: float
    season: np.ndarray
    labels: tuple[str, ...]
    codes: np.ndarray

    @property
    def known(self) -> np.ndarray:
        """(n,) whether the value is known."""
        return np.asarray(self.frame.codes >= 0)

    @property
    def y(self) -> np.ndarray:
        """(N,) values of the fitted samples, standardised."""
        return np.asarray((self.values[self.frame.used] - self.centre) / self.spread)


def make_samples(data: ModelData, params: LawSettings) -> Samples:
    """The samples as the settings want them. Raises ``ModelError`` where too few can be fitted."""
    settings = cast("RegressionSettings", params)
    values = np.asarray(data["y"].values, dtype=float)
    codes = np.where(data["y"].observed, 0, -1)
    test = np.zeros(len(codes), dtype=bool)
    if "split" in data:
        split = data["split"]
        held = [i for i, name in enumerate(split.categories) if name.strip().lower() in TEST_NAMES]
        test = np.isin(split.values, held) & split.observed
    else:
        test[random_test(codes, settings.get("test_share", 0.0))] = True
    used = ~test & (codes >= 0)
    if used.sum() < LEAST:
        raise ModelError(
            f"A regression needs at least {LEAST} samples with a known value to fit. Found {int(used.sum())}.",
            "Choose another column of values, or another “Split”.",
        )
    centre, spread = 0.0, 1.0
    if settings["standardise_y"]:
        centre, spread = float(values[used].mean()), float(values[used].std())
        if spread <= 1e-12 * max(abs(centre), 1.0):
            raise ModelError(
                f"All {int(used.sum())} values to fit are alike ({centre:g}), so there is nothing to explain.",
                "Choose another column of values.",
            )
    frame = place_samples(data["X"], codes, ("",), test, used, params)
    labels: tuple[str, ...] = ()
    if "groups" in data:
        categories = data["groups"].categories
        labels = tuple(categories[code] for code in np.unique(data["groups"].values[used]))
    season = season_of(params, frame.columns, frame.spread)
    return Samples(frame, values, centre, spread, season, labels, codes_among(labels, data, len(codes)))


def codes_among(labels: tuple[str, ...], data: ModelData, size: int) -> np.ndarray:
    """(n,) numbers of the groups of ``size`` samples among these, -1 of others and where the data have no groups."""
    if "groups" not in data:
        return np.full(size, -1, np.int64)
    block = data["groups"]
    places = [labels.index(name) if name in labels else -1 for name in block.categories]
    found = np.array([*places, -1], np.int64)[np.asarray(block.values, np.int64)]
    return np.where(block.observed, found, -1)


def season_of(params: LawSettings, columns: tuple[str, ...], spread: np.ndarray) -> np.ndarray:
    """(2,) the setting's period in units of the standardised input that recurs, and the number of that among ``columns``, whose
    spreads are (D,); (0,) without a periodic term. Raises ``ModelError`` for the name of no input."""
    settings = cast("RegressionSettings", params)
    if not has_term(params, "periodic"):
        return np.zeros(0)
    wanted = settings["period_of"].strip()
    if wanted and wanted not in columns:
        raise ModelError(
            f"No input is called “{wanted}”, so its period means nothing.",
            f"Choose one of {', '.join(columns[:6])} as “Input that recurs”, or leave it empty for the first.",
        )
    column = columns.index(wanted) if wanted else 0
    return np.array([settings["period"] / spread[column], float(column)])


def filled(params: Mapping[str, Any], season: np.ndarray) -> RegressionSettings:
    """The settings with those of the classifiers' covariance that the regression decides itself; ``season`` as of :func:`season_of`."""
    found = dict(params)
    if len(season):
        found["period"], found["season_column"] = float(season[0]), int(season[1])
    found["gamma_sd"] = found["gamma_sd"] or (_ARD_SD if _has_lengths(params) else _PLAIN_SD)
    found.setdefault("noise", "normal")
    found.setdefault("form", "dense")
    found.setdefault("inducing", 2)
    return cast("RegressionSettings", {**found, "parameters": "inferred"})


def _has_lengths(params: Mapping[str, Any]) -> bool:
    """Whether every input has a length of its own in some term."""
    text = expression_of(cast("LawSettings", params))
    if text is not None:
        return any(ard for group in parse(text, True) for _kind, ard in group)
    return bool(params["ard"])


def covariance_at(params: RegressionSettings, columns: tuple[str, ...]) -> Covariance:
    """The covariance of f."""
    settings: dict[str, object] = {key: params[key] for key in COVARIANCE_KEYS}
    settings |= {"period": params["period"], "season_column": params.get("season_column", -1)}
    return covariance_of(tuple(settings.items()), columns)


def noises_of(params: RegressionSettings, labels: tuple[str, ...]) -> tuple[Parameter, ...]:
    """The parameters of the noise: logarithms of variances, of standardised values; one for each group where the settings say so."""
    names = (
        [f"noise variance of {label}" for label in labels]
        if params["noise"] == "groups"
        else ["noise variance"]
    )
    middle = float(np.log(params["noise_variance"]))
    return tuple(Parameter(name, "noise", middle, params["noise_sd"]) for name in names)


def located(
    law: Covariance, x: np.ndarray, params: RegressionSettings, codes: np.ndarray, scale: np.ndarray | float
) -> np.ndarray:
    """Extended samples of standardised inputs (n, D), numbers of groups (n,) and scales of the noise (n,)."""
    return extended(law.located(x, codes), scale, codes if params["noise"] == "groups" else 0)


def prior_at(
    x: np.ndarray,
    params: RegressionSettings,
    columns: tuple[str, ...],
    codes: np.ndarray,
    labels: tuple[str, ...],
    scale: np.ndarray | float = 1.0,
    points: np.ndarray | None = None,
) -> Prior:
    """The law of values at standardised inputs x (n, D) of samples in these groups (n,), whose noise variances have these scales (n,);
    by inducing points (M, D) if given."""
    law = covariance_at(params, columns)
    prior = observed_prior(law, located(law, x, params, codes, scale), noises_of(params, labels))
    return prior if points is None or not len(points) else replace(prior, inducing=points)


def points_of(x: np.ndarray, params: RegressionSettings) -> np.ndarray:
    """(M, D) inducing points among standardised inputs x (N, D) of the fitted samples; M = 0 for the exact law."""
    if not wants_inducing(len(x), params):
        return np.zeros((0, x.shape[1]))
    return choose_inducing(x, params["inducing"])


def find_problems(data: ModelData, given: RegressionSettings) -> list[Problem]:
    """What is wrong with inputs and settings."""
    try:
        has_term(given, SAME)
    except ModelError as error:
        return [Problem(error.message, error.hint, where="expression")]
    try:
        samples = make_samples(data, given)
    except ModelError as error:
        return [Problem(error.message, error.hint, where="y")]
    params = filled(given, samples.season)
    found = input_problems(data["X"], samples.frame, params)
    count, sparse = int(samples.frame.used.sum()), wants_inducing(int(samples.frame.used.sum()), params)
    if count > MOST and not sparse:
        found.append(
            Problem(
                f"{counted(count, 'sample')} are too many: each step would take {2e-10 * count**3:.0f} seconds. At most {MOST} are fitted "
                "without inducing points.",
                "The quick look takes inducing points; or mark some of the samples as “test” by a “Split”.",
                "y",
            )
        )
    if count > MOST_SPARSE:
        found.append(
            Problem(
                f"{counted(count, 'sample')} are too many: at most {MOST_SPARSE} are fitted.",
                "Leave some of them out.",
                "y",
            )
        )
    if sparse and (covariance_at(params, samples.frame.columns).table[:, 0] == WHITE).any():
        found.append(
            Problem(
                "A white term cannot be told from the noise by inducing points.",
                "Leave “white” out of the sum, or choose “Dense”.",
                "expression",
            )
        )
    if sparse and has_term(given, SAME):
        found.append(
            Problem(
                "Functions of the groups' own cannot be computed by inducing points.",
                "Choose “Dense”, or a covariance without “same”.",
                "covariance",
            )
        )
    return found + _group_problems(samples, params, "groups" in data) + _far_values(samples, data)


def _group_problems(samples: Samples, params: RegressionSettings, given: bool) -> list[Problem]:
    """Groups that are wanted and not there, or there and not wanted, or too few."""
    wanted = has_term(params, SAME) or params["noise"] == "groups"
    if wanted and not given:
        said = "A function or a noise of each group needs groups, and none are chosen."
        return [Problem(said, "Choose a column of labels as “Groups”.", "groups")]
    if given and not wanted:
        said = "Groups are chosen, but neither “Covariance” nor “Noise” takes them into account."
        hint = "Choose “Shared and by group” as covariance, or “By group” as noise."
        return [Problem(said, hint, "groups", "warning")]
    if wanted and len(samples.labels) == 1:
        said = f"All samples to fit are of one group, “{samples.labels[0]}”: what is shared cannot be told from its own."
        return [Problem(said, "", "groups", "warning")]
    return []


def _far_values(samples: Samples, data: ModelData) -> list[Problem]:
    """A value so far from the others that it rules the scale."""
    values = samples.values[samples.frame.used]
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    away = np.abs(values - middle)
    if not (high > low and away.max() > 100.0 * (high - low)):
        return []
    worst = int(np.argmax(away))
    place = int(np.flatnonzero(samples.frame.used)[worst])
    names = data["y"].names[0]
    name = f"“{names[place]}”" if names else f"sample {place + 1}"
    return [
        Problem(
            f"The value {values[worst]:.4g} of {name} is far from all others, half of which lie from {low:.4g} to {high:.4g}.",
            "Check the file: a decimal point may have been lost.",
            "y",
            "warning",
        )
    ]
