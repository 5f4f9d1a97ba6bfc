"""What a fit found: class probabilities, their scores on the test samples, maps, the covariance."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import cast

import numpy as np

from plaidwork.core.api import Block, Kept, ModelData, ModelError, Result, Results, Table, agree, counted
from plaidwork.core.api_scores import SCORES, Scores, score, score_table
from plaidwork.core.numerics.used_draws import draws_text
from plaidwork.plugins.gp_auxiliary.classes.averaging import WORK, Averaged, average, largest_error, names_of
from plaidwork.plugins.gp_auxiliary.classes.maps import (
    LATENT,
    SPREAD,
    along_input,
    latent_band,
    latent_dim,
    map_places,
    mapped,
)
from plaidwork.plugins.gp_auxiliary.classes.ordinal import widths_of
from plaidwork.plugins.gp_auxiliary.classes.posterior import cut_points, parameters
from plaidwork.plugins.gp_auxiliary.classes.slopes import slope_sizes
from plaidwork.plugins.gp_auxiliary.shared.frame import Frame, classes_of, make_prior
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import CutSettings, LawSettings


def summarise_draws(kept: Kept, frame: Frame, data: ModelData, params: LawSettings, null: float) -> Results:
    """All results of a classifier, ordered or not."""
    if kept.n_draws == 0:
        return {"headline": "No draw is kept yet."}
    prior = make_prior(frame.fitted, params, False, frame.columns)
    slopes = slope_sizes(kept, prior)
    plan, count = map_places(kept, prior, frame, slopes), len(frame.classes)
    fixed = params["parameters"] == "fixed"
    own = average(kept, prior, frame.x, count, null, fixed, work=2 * WORK)
    line, ends = len(plan.line), len(plan.line) + len(plan.grid)
    places = np.concatenate([plan.line, plan.grid])
    found = average(kept, prior, places, count, null, fixed, slice(0, line))
    along, over = found.part(0, line), found.part(line, ends)
    results: Results = {}
    share = own.conditional()
    results["probability"] = Result(share.T, ("sample", "class"), label="probability")
    results["class"] = Result(np.array(frame.classes), ("class",))
    labels = np.where(frame.codes >= 0, np.array(frame.classes)[np.maximum(frame.codes, 0)], "")
    known = {"Part": parts(frame), "Label": labels}
    results["predictions"] = predictions(own, frame, tuple(data["X"].names[0]), known)
    results["prediction_note"] = error_note(own)
    results |= measured(share, frame)
    results |= along_input(along, plan, frame)
    results |= mapped(along if plan.single else over, plan, frame, np.asarray(data["X"].observed))
    results |= parameters(kept, prior, frame, fixed, slopes)
    if "cuts" in names_of(kept):
        results |= cut_points(kept, frame, own.f[0], widths_of(cast("CutSettings", params)))
    return results


def error_note(found: Averaged) -> str:
    """How the probabilities were averaged, and what their errors are."""
    if found.draws == 1:
        return "By the approximation, f integrated out; there is no Monte Carlo error."
    largest = largest_error(found)
    return (
        f"Averaged over {draws_text(found.draws, found.kept)}, f integrated out. ± is the Monte Carlo error, one standard error, from chains "
        f"and batches of draws{'; ' if largest else ''}{largest}{'; – where all draws agree' if (found.error == 0).any() else ''}."
    )


def predictions(
    found: Averaged,
    frame: Frame,
    names: tuple[str, ...],
    known: Mapping[str, np.ndarray] = MappingProxyType({}),
) -> Table:
    """A row per sample: what is ``known`` of it, the most probable class, and every class's probability with its Monte
    Carlo error, unknown (NaN) where all draws say the same."""
    share = found.conditional()
    top, each = share.argmax(axis=0), np.arange(share.shape[1])
    columns = {"Sample": np.array(names) if names else (each + 1).astype(str), **known}
    columns |= {"Predicted": np.array(frame.classes)[top], "Probability": share[top, each]}
    several, error = found.draws > 1, np.where(found.error > 0, found.error, np.nan)
    if several:
        columns["± Monte Carlo"] = error[top, each]
    for k, name in enumerate(frame.classes):
        columns[f"P({name})"] = share[k]
        if several:
            columns[f"± P({name})"] = error[k]
    if found.null.max() > 0:
        columns["P(null)"] = found.null
    return Table(columns, label="Predictions")


def measured(share: np.ndarray, frame: Frame) -> Results:
    """Scores on the test samples, and for comparison on the fitted ones, of class probabilities (C, n)."""
    return {
        **scored(part_scores(share, frame)),
        "sample_code": Result(frame.codes, ("sample",)),
        "part": Result(parts(frame), ("sample",)),
    }


def part_scores(share: np.ndarray, frame: Frame) -> dict[str, Scores]:
    """Scores of the test samples and of the fitted ones, as far as there are labelled ones, of probabilities (C, n)."""
    masks = {"Test": frame.test & (frame.codes >= 0), "Fitted": frame.used & (frame.codes >= 0)}
    return {word: score(frame.codes[mask], share[:, mask].T) for word, mask in masks.items() if mask.any()}


def scored(found: Mapping[str, Scores]) -> Results:
    """The table of scores, and of the first part of the samples the numbers by which fits are ranked and the headline."""
    word, first = next(iter(found.items()))
    return {
        "measures": score_table(found, "Samples"),
        "log_loss": Result(np.array(first.log_loss.value), label=f"log loss, {word.lower()} samples"),
        "errors": Result(np.array(first.errors.value), label=f"errors, {word.lower()} samples"),
        "measures_note": SCORES,
        "headline": first.text(f"{word.lower()} samples"),
    }


def parts(frame: Frame) -> np.ndarray:
    """(n,) what each sample is for: test, fitted or unlabelled."""
    return np.where(frame.test, "test", np.where(frame.codes < 0, "unlabelled", "fitted"))


def new_inputs(frame: Frame, new_data: ModelData) -> tuple[np.ndarray, np.ndarray]:
    """Inputs (m, D) of new samples in the order of the fit, the usual value where one is missing, and their names. Raises ``ModelError``
    for other inputs."""
    block = new_data["X"]
    names = tuple(str(name) for name in block.names[1])
    values, known = np.asarray(block.values), np.asarray(block.observed)
    if names and frame.columns and set(frame.columns) <= set(names):
        order = [names.index(name) for name in frame.columns]
        values, known = values[:, order], known[:, order]
    elif block.shape[1] != len(frame.columns):
        missing = [name for name in frame.columns if name not in names]
        raise ModelError(
            f"The new samples lack {len(missing)} of {counted(len(frame.columns), 'input')}: {', '.join(missing[:5])}.",
            "Inputs are found by name.",
        )
    return frame.filled(values, known), np.array(block.names[0] or np.arange(1, len(values) + 1), dtype=str)


def predict_new(kept: Kept, frame: Frame, new_data: ModelData, params: LawSettings, null: float) -> Results:
    """Class probabilities of new samples with their Monte Carlo errors. Raises ``ModelError`` for other inputs."""
    values, names = new_inputs(frame, new_data)
    found = averaged_at(kept, frame, frame.scale(values), params, null, work=4 * WORK)
    share, known = found.conditional(), {}
    text = f"{counted(values.shape[0], 'new sample')}"
    if "y" in new_data:
        codes = codes_of(new_data["y"], frame.classes)
        inside = codes >= 0
        strange = int(np.asarray(new_data["y"].observed).sum()) - int(inside.sum())
        if strange:
            text += f"; {counted(strange, 'label')} {agree(strange, 'is', 'are')} of no class of the fit"
        known["Label"] = np.where(inside, np.array(frame.classes)[np.maximum(codes, 0)], "")
        if inside.any():
            text += f"; {score(codes[inside], share[:, inside].T).text('labelled ones')}"
    return {
        "headline": text,
        "caption": error_note(found),
        "predictions": predictions(found, frame, tuple(names.tolist()), known),
        "probability": Result(share.T, ("sample", "class"), label="probability"),
    }


def codes_of(block: Block, classes: tuple[str, ...]) -> np.ndarray:
    """(m,) classes of new samples among those of the fit, by their names; -1 where unknown to it or not given."""
    codes, names = classes_of(block)
    place = np.array([classes.index(name) if name in classes else -1 for name in names] + [-1])
    return place[codes]


def averaged_at(
    kept: Kept,
    frame: Frame,
    x: np.ndarray,
    params: LawSettings,
    null: float,
    bands: bool = False,
    work: float = WORK,
) -> Averaged:
    """Probabilities at standardised inputs x (m, D), with intervals of them if ``bands``."""
    prior = make_prior(frame.fitted, params, False, frame.columns)
    fixed = params["parameters"] == "fixed"
    return average(kept, prior, x, len(frame.classes), null, fixed, slice(0, len(x) if bands else 0), work)


def response_at(
    kept: Kept, frame: Frame, rows: np.ndarray, params: LawSettings, null: float, wanted: frozenset[str]
) -> dict[str, Result]:
    """What maps and curves over chosen inputs show, at rows (m, D) of the inputs."""
    found = averaged_at(kept, frame, frame.scale(rows), params, null, "probability_interval" in wanted)
    f = ("sample", latent_dim(found, frame))
    results = {
        "probability": Result(found.conditional().T, ("sample", "class"), label="probability"),
        "null": Result(found.null, ("sample",), label="probability"),
        "f": Result(found.f.T, f, label=LATENT),
        "f_sd": Result(found.f_sd.mean(axis=0), ("sample",), label=SPREAD),
        "f_interval": Result(np.moveaxis(latent_band(found), 1, 0), (*f, "end")),
    }
    if "probability_interval" in wanted:
        band = np.moveaxis(found.band, 1, 0)
        results["probability_interval"] = Result(band, ("sample", "class", "end"))
    return results
