"""Inputs and values as the regression uses them: fitted and other samples, both standardised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from plaidwork.core.api import ModelData, ModelError, counted, held_levels, random_test
from plaidwork.plugins.gp_auxiliary.regression.between import Between, forms_of
from plaidwork.plugins.gp_auxiliary.regression.law import FLOOR, extended, observed_prior
from plaidwork.plugins.gp_auxiliary.regression.outputs import outputs_prior
from plaidwork.plugins.gp_auxiliary.regression.seasons import first_season
from plaidwork.plugins.gp_auxiliary.shared.covariance import (
    Covariance,
    Parameter,
    expression_of,
    has_term,
    parse,
)
from plaidwork.plugins.gp_auxiliary.shared.frame import (
    COVARIANCE_KEYS,
    Frame,
    covariance_of,
    place_samples,
    wants_inducing,
)
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior, choose_inducing
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import LawSettings, RegressionSettings

LEAST = 3
"""Fitted samples that a regression needs."""
_PLAIN_SD, _ARD_SD = 1.5, 3.0
_A_PERIOD = 8
"""Inducing points in each period that follow a season."""


@dataclass(frozen=True, slots=True)
class Samples:
    """All samples of the inputs.

    Attributes
    ----------
    frame : inputs, and which samples are fitted and which are for the test; its codes are 0 where the value is known, else -1.
    values : (n,) values as given, 0 where not known; (n, P) of P outputs.
    centre, spread : what the values were centred and divided by; (P,) of P outputs.
    season : (2,) standardised period and number of the input that recurs, or (0,) without a periodic term: as the settings say, or as
        the fitted samples have it.
    labels : names of the groups among the fitted samples.
    codes : (n,) number of each sample's group, -1 of one that no fitted sample is of; all -1 without groups.
    outputs : names of several outputs; none of a single one.
    observed : (n, P) which of their values are known; (n, 0) of a single one.
    """

    frame: Frame
    values: np.ndarray
    centre: Any
    spread: Any
    season: np.ndarray
    labels: tuple[str, ...]
    codes: np.ndarray
    outputs: tuple[str, ...]
    observed: np.ndarray

    @property
    def known(self) -> np.ndarray:
        """(n,) whether the value is known, one of several outputs at least."""
        return np.asarray(self.frame.codes >= 0)

    @property
    def y(self) -> np.ndarray:
        """(N,) values of the fitted samples, standardised; (m,) of the cells of several outputs."""
        y = np.asarray((self.values[self.frame.used] - self.centre) / self.spread)
        return y[tuple(self.cells.T)] if self.outputs else y

    @property
    def cells(self) -> np.ndarray:
        """(m, 2) number among the fitted samples and output of each known value, output by output; (0, 2) of a single output."""
        output, number = np.nonzero(self.observed[self.frame.used].T)
        return np.column_stack([number, output])

    def of_output(self, number: int) -> Samples:
        """The samples with the values of one of several outputs alone."""
        frame = replace(self.frame, codes=np.where(self.observed[:, number], 0, -1))
        centre, spread = float(self.centre[number]), float(self.spread[number])
        values = np.ascontiguousarray(self.values[:, number])
        return replace(
            self,
            frame=frame,
            values=values,
            centre=centre,
            spread=spread,
            outputs=(),
            observed=self.observed[:, :0],
        )


def make_samples(data: ModelData, params: LawSettings) -> Samples:
    """The samples as the settings want them. Raises ``ModelError`` where too few can be fitted."""
    settings = cast("RegressionSettings", params)
    values = np.asarray(data["y"].values, dtype=float)
    outputs: tuple[str, ...] = tuple(data["y"].names[1]) if values.ndim == 2 else ()
    observed = np.asarray(data["y"].observed).reshape(len(values), -1)
    codes = np.where(observed.any(axis=1), 0, -1)
    test = np.zeros(len(codes), dtype=bool)
    if "split" in data:
        split = data["split"]
        held = held_levels(split.categories)
        test = np.isin(split.values, held) & split.observed
    else:
        test[random_test(codes, settings.get("test_share", 0.0))] = True
    used = ~test & (codes >= 0)
    if used.sum() < LEAST:
        raise ModelError(
            f"A regression needs at least {LEAST} samples with a known value to fit. Found {int(used.sum())}.",
            "Choose another column of values, or another “Split”.",
        )
    columns = values.reshape(len(values), -1).T
    scales = [
        _scale_of(column[used & known], name, settings)
        for column, known, name in zip(columns, observed.T, outputs or ("",), strict=True)
    ]
    centre, spread = np.array(scales).T if outputs else scales[0]
    frame = place_samples(data["X"], codes, ("",), test, used, params)
    labels: tuple[str, ...] = ()
    if "groups" in data:
        categories = data["groups"].categories
        labels = tuple(categories[code] for code in np.unique(data["groups"].values[used]))
    season = season_of(params, frame.columns, frame.spread)
    groups = codes_among(labels, data, len(codes))
    known = observed if outputs else observed[:, :0]
    samples = Samples(frame, values, centre, spread, season, labels, groups, outputs, known)
    if settings["covariance"] != "chosen":
        return samples
    return replace(samples, season=season_to_fit(samples, data, filled(params, season)))


def _scale_of(values: np.ndarray, output: str, settings: RegressionSettings) -> tuple[float, float]:
    """What the known values of the fitted samples (m,) are centred and divided by. Raises ``ModelError``."""
    of = f" of “{output}”" if output else ""
    if output and len(values) < LEAST:
        raise ModelError(
            f"Every output needs at least {LEAST} values to fit. Found {len(values)}{of}.",
            "Leave that column out.",
        )
    if not settings["standardise_y"]:
        return 0.0, 1.0
    centre, spread = float(values.mean()), float(values.std())
    if spread <= 1e-12 * max(abs(centre), 1.0):
        raise ModelError(
            f"All {counted(len(values), 'value')}{of} to fit are alike ({centre:g}), so there is nothing to explain.",
            "Choose another column of values.",
        )
    return centre, spread


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


def season_to_fit(samples: Samples, data: ModelData, params: RegressionSettings) -> np.ndarray:
    """A season as ``season_of`` has it, where the values of the fitted samples recur and the computation can follow."""
    period, _output = season_in(samples, data)
    wanted = points_of_season(samples, period) if period else 0
    sparse = wants_inducing(int(samples.frame.used.sum()), params)
    if not period or (sparse and params["inducing"] < wanted):
        return np.zeros(0)
    return np.array([period / samples.frame.spread[0], 0.0])


def season_in(samples: Samples, data: ModelData) -> tuple[float, int]:
    """After how much of a single input the values of the fitted samples recur, in its units, and the number of the first output that
    does; 0 and 0 where none does. Samples whose input is missing stand at the mean of the others and have no say."""
    frame = samples.frame
    if len(frame.columns) > 1:
        return 0.0, 0
    x = frame.x[:, 0] * frame.spread[0] + frame.centre[0]
    known = samples.observed if samples.outputs else samples.known[:, None]
    told = frame.used[:, None] & np.asarray(data["X"].observed)
    values = np.where(known & told, samples.values.reshape(known.shape), np.nan)
    return first_season(x, values, data["X"].unit, frame.columns[0])


def points_of_season(samples: Samples, period: float) -> int:
    """Inducing points that follow a season of so much of the single input."""
    whole = float(np.ptp(samples.frame.fitted[:, 0]) * samples.frame.spread[0])
    return int(np.ceil(_A_PERIOD * whole / period))


def filled(params: Mapping[str, Any], season: np.ndarray) -> RegressionSettings:
    """The settings with those of the classifiers' covariance that the regression decides itself; ``season`` as of :func:`season_of`."""
    found = dict(params)
    if found["covariance"] == "chosen":
        found["covariance"] = "found_season" if len(season) else "rbf"
    if len(season):
        found["period"], found["season_column"] = float(season[0]), int(season[1])
    found["gamma_sd"] = found["gamma_sd"] or (_ARD_SD if _has_lengths(found) else _PLAIN_SD)
    found.setdefault("noise", "normal")
    found.setdefault("form", "dense")
    found.setdefault("inducing", 2)
    found.setdefault("outputs", "correlated")
    found.setdefault("outputs_noise", "correlated")
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
    cells: np.ndarray | None = None,
    outputs: tuple[str, ...] = (),
) -> Prior:
    """The law of values at standardised inputs x (n, D) of samples in these groups (n,), whose noise variances have these scales (n,);
    by inducing points (M, D) if given. Of several ``outputs`` that of their cells (m, 2)."""
    law = covariance_at(params, columns)
    if cells is not None and outputs:
        return outputs_at(law, law.located(x, codes), params, cells, outputs)
    prior = observed_prior(law, located(law, x, params, codes, scale), noises_of(params, labels))
    return prior if points is None or not len(points) else replace(prior, inducing=points)


def outputs_at(
    law: Covariance, x: np.ndarray, params: RegressionSettings, cells: np.ndarray, outputs: tuple[str, ...]
) -> Prior:
    """The law of cells (m, 2) of several outputs, of samples x as the covariance of the inputs takes them."""
    forms = forms_of(len(outputs), params["outputs"], params["outputs_noise"])
    functions, noise = Between(len(outputs), forms[0]), Between(len(outputs), forms[1], FLOOR)
    middles = float(np.log(params["amplitude"])), float(np.log(params["noise_variance"]))
    of_functions = functions.parameters(
        "amplitude²", "amplitude", "functions", outputs, middles[0], params["amplitude_sd"]
    )
    of_noise = noise.parameters("noise variance", "noise", "noise", outputs, middles[1], params["noise_sd"])
    return outputs_prior(law, x, cells, (functions, of_functions), (noise, of_noise))


def points_of(x: np.ndarray, params: RegressionSettings) -> np.ndarray:
    """(M, D) inducing points among standardised inputs x (N, D) of the fitted samples; M = 0 for the exact law."""
    if not wants_inducing(len(x), params):
        return np.zeros((0, x.shape[1]))
    return choose_inducing(x, params["inducing"])
