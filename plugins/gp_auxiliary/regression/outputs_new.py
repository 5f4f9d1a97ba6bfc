"""Several outputs of new samples, and densities of all values of a sample at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from plaidwork.core.api import (
    ChainView,
    Kept,
    ModelData,
    ModelError,
    Result,
    Results,
    Table,
    counted,
    format_number,
)
from plaidwork.core.numerics.used_draws import draws_text
from plaidwork.plugins.gp_auxiliary.regression.mixture import Mixture
from plaidwork.plugins.gp_auxiliary.regression.moments import Fitted
from plaidwork.plugins.gp_auxiliary.regression.outputs_moments import (
    log_densities,
    mixed_density,
    outputs_moments,
    size_of,
    solve_outputs,
)
from plaidwork.plugins.gp_auxiliary.regression.samples import Samples, codes_among
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import RegressionSettings


def predict_outputs(
    kept: Kept,
    samples: Samples,
    new_data: ModelData,
    params: RegressionSettings,
    x: np.ndarray,
    names: np.ndarray,
) -> Results:
    """Functions and observations at standardised inputs x (n, D) of new samples. Raises ``ModelError`` for other outputs."""
    size, fitted = len(samples.outputs), Fitted.of(samples, params)
    found = outputs_moments(kept, fitted, x, codes_among(samples.labels, new_data, len(x)))
    f, new = found.mean, found.observations(slice(None))
    flat = (len(f), -1)
    function = Mixture.even(f.reshape(flat), np.diagonal(found.covariance, axis1=2, axis2=3).reshape(flat))
    law = Mixture.even(new.mean.reshape(flat), np.diagonal(new.covariance, axis1=2, axis2=3).reshape(flat))

    def values(standardised: np.ndarray) -> np.ndarray:
        return np.asarray(samples.centre + samples.spread * standardised.reshape(-1, size))

    mean, ends = values(law.centre()), [values(end) for end in law.interval().T]
    columns: dict[str, np.ndarray] = {
        "Sample": np.repeat(names, size),
        "Output": np.tile(np.array(samples.outputs, dtype=str), len(names)),
    }
    text = f"{counted(len(names), 'new sample')}, {counted(size, 'output')}"
    if "y" in new_data:
        given, known = _given(new_data["y"], samples)
        columns["Observed"] = np.where(known, given, np.nan).ravel()
        if known.any():
            of = known.any(axis=1)
            single = log_densities(new, (given - samples.centre) / samples.spread, known)
            density = mixed_density(single, np.zeros(single.shape)) - known @ np.log(samples.spread)
            rmse = np.sqrt(np.mean((given - mean) ** 2, axis=0, where=known))
            told = ", ".join(
                f"{name} {format_number(float(value), 3)}"
                for name, value in zip(samples.outputs[:3], rmse[:3], strict=True)
            )
            nlpd = format_number(float(-density[of].mean()), 3)
            text += f"; {int(of.sum())} with values: log loss {nlpd}; typical error of {told}"
    columns |= {
        "Predicted": mean.ravel(),
        "sd of the function": (samples.spread * function.sd().reshape(-1, size)).ravel(),
        "sd of an observation": (samples.spread * law.sd().reshape(-1, size)).ravel(),
        "5 %": ends[0].ravel(),
        "95 %": ends[1].ravel(),
    }
    return {
        "headline": text,
        "caption": f"Averaged over {draws_text(len(found.mean), found.kept)}. Intervals of 90 % for a new observation.",
        "predictions": Table(columns, label="Predictions"),
        "predicted": Result(mean, ("sample", "output"), label="predicted value"),
    }


def _given(block: Any, samples: Samples) -> tuple[np.ndarray, np.ndarray]:
    """Values (n, P) of new samples in the order of the outputs, and which are known. Raises ``ModelError``."""
    values, known = np.asarray(block.values, dtype=float), np.asarray(block.observed)
    names = tuple(block.names[1]) if values.ndim == 2 else ()
    if set(names) >= set(samples.outputs):
        order = [names.index(name) for name in samples.outputs]
        return np.where(known, values, 0.0)[:, order], known[:, order]
    raise ModelError(
        f"The new values need a column for each of {', '.join(f'“{name}”' for name in samples.outputs)}. Found "
        f"{', '.join(f'“{name}”' for name in names) or 'one column'}.",
        "Choose those columns, or none.",
    )


def outputs_left_out(
    chain: ChainView, draws: np.ndarray, samples: Samples, params: RegressionSettings, work: float, least: int
) -> np.ndarray:
    """(s, n) log densities, in units of the values, of all known values of each fitted sample given the others and a draw's parameters; NaN of
    other samples."""
    fitted, used = Fitted.of(samples, params), samples.frame.used
    taken = draws[
        np.unique(
            np.linspace(0, len(draws) - 1, max(least, int(work / float(size_of(fitted)) ** 3))).astype(int)
        )
    ]
    known = samples.observed[used]
    y = ((samples.values - samples.centre) / samples.spread)[used]
    found = np.full((len(taken), len(used)), np.nan)
    for s, number in enumerate(taken.tolist()):
        law = solve_outputs(fitted.prior(), np.asarray(chain.draw("theta", number)), fitted).left_out()
        law = type(law)(law.mean[None], law.covariance[None])
        found[s, used] = log_densities(law, y, known)[0] - known @ np.log(samples.spread)
    return found
