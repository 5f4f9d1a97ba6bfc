"""Values of new samples, densities of single values, and what compiles the kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from plaidwork.core.api import (
    Block,
    ChainView,
    Clock,
    Kept,
    Model,
    ModelData,
    Result,
    Results,
    Table,
    counted,
    format_number,
    passes,
)
from plaidwork.core.numerics.used_draws import draws_text, spread
from plaidwork.plugins.gp_auxiliary.classes.results import new_inputs
from plaidwork.plugins.gp_auxiliary.regression.law import law_of
from plaidwork.plugins.gp_auxiliary.regression.mixture import Mixture
from plaidwork.plugins.gp_auxiliary.regression.moments import Fitted, moments_of, observed, solve
from plaidwork.plugins.gp_auxiliary.regression.outputs_new import outputs_left_out, predict_outputs
from plaidwork.plugins.gp_auxiliary.regression.samples import Samples, codes_among
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import RegressionSettings

WORK = 3e11
"""Multiplications that the precisions of all draws of a chain may cost: half a minute of one core."""
_LEAST_DRAWS = 25


def predict_new(kept: Kept, samples: Samples, new_data: ModelData, params: RegressionSettings) -> Results:
    """Function and observation at new samples. Raises ``ModelError`` for other inputs."""
    frame = samples.frame
    values, names = new_inputs(frame, new_data)
    if samples.outputs:
        return predict_outputs(kept, samples, new_data, params, frame.scale(values), names)
    codes = codes_among(samples.labels, new_data, len(values))
    found = moments_of(kept, Fitted.of(samples, params), frame.scale(values), codes)
    function = Mixture.even(found.mean, found.variance)
    law = found.observation(slice(None))
    mean, ends = (samples.centre + samples.spread * part for part in (law.centre(), law.interval()))
    columns: dict[str, np.ndarray] = {"Sample": names}
    text = f"{counted(len(names), 'new sample')}"
    if "y" in new_data:
        block = new_data["y"]
        known = np.asarray(block.observed)
        given = np.where(known, np.asarray(block.values, dtype=float), np.nan)
        columns["Observed"] = given
        if known.any():
            gap = (given - mean)[known]
            density = law.log_density((np.where(known, given, 0.0) - samples.centre) / samples.spread)
            nlpd = float(np.log(samples.spread) - density[known].mean())
            text += (
                f"; {int(known.sum())} with a value: typical error {format_number(float(np.sqrt((gap**2).mean())), 3)}, "
                f"log loss {format_number(nlpd, 3)}"
            )
    columns |= {
        "Predicted": mean,
        "sd of the function": samples.spread * function.sd(),
        "sd of an observation": samples.spread * law.sd(),
        "5 %": ends[:, 0],
        "95 %": ends[:, 1],
    }
    return {
        "headline": text,
        "caption": f"Averaged over {draws_text(len(found.mean), found.kept)}. Intervals of 90 % for a new observation.",
        "predictions": Table(columns, label="Predictions"),
        "predicted": Result(mean, ("sample",), label="predicted value"),
    }


def log_density_left_out(
    chain: ChainView, draws: np.ndarray, samples: Samples, params: RegressionSettings
) -> np.ndarray:
    """(s, n) log densities, in units of the values, of each fitted value given all others and a draw's parameters; NaN of others."""
    if samples.outputs:
        return outputs_left_out(chain, draws, samples, params, WORK, _LEAST_DRAWS)
    frame, y = samples.frame, samples.y
    fitted = Fitted.of(samples, params)
    most = max(_LEAST_DRAWS, int(WORK / float(len(y)) ** 3))
    taken = draws[np.sort(spread(len(draws))[:most])]
    found = np.full((len(taken), len(frame.x)), np.nan)
    for s, number in enumerate(taken.tolist()):
        draw = fitted.at(chain, number)
        prior = fitted.prior(draw.scale)
        mean, variance = solve(prior, draw.theta, y).left_out(y)
        own = law_of(prior).noise(prior.x, draw.theta)
        rest = np.maximum(variance - own, 0.0)
        student = fitted.law.kind == "student"
        noise, degrees = (own / draw.scale, draw.shape) if student else (own, np.zeros(0))
        law = observed(mean[None], rest[None], noise[None], degrees, np.zeros((1, len(y))))
        found[s, frame.used] = law.log_density(y) - np.log(samples.spread)
    return found


def tiny_fit(model: Model[Any, Any]) -> None:
    """Compile the kernels by sweeps of six samples, which also call those of the predictions."""
    rng = np.random.Generator(np.random.PCG64DXSM(0))
    x, y = rng.standard_normal((6, 2)), rng.standard_normal(6)
    for array in (x, y):
        array.setflags(write=False)
    names = tuple(f"s{i}" for i in range(6))
    data = ModelData(
        {
            "X": Block("X", x, np.ones((6, 2), dtype=bool), None, (names, ("a", "b"))),
            "y": Block("y", y, np.ones(6, dtype=bool), None, (names,)),
        }
    )
    for covariance in ("rbf", "seasonal"):  # whole arrays, and kernels
        params = model.spec.check_params({"covariance": covariance})
        state = model.init(data, params, rng)
        for _ in passes(model, state, data, params, rng, Clock(0, 1)):
            pass
