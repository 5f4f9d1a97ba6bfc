"""What a fit found: class probabilities, their scores on the test samples, maps, the covariance."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from plaidwork.core.api import Kept, ModelData, ModelError, Params, Result, Results, Table
from plaidwork.plugins.gp_auxiliary.frame import Frame, make_prior
from plaidwork.plugins.gp_auxiliary.gram import Prior
from plaidwork.plugins.gp_auxiliary.predict import Predictor, many_class, ordered, two_class

GRID = 50
_WORK = 3e10
"""Multiplications that a summary may cost: about a minute of one core at worst, seconds usually."""


@dataclass(frozen=True, slots=True)
class Averaged:
    """Class probabilities at m places, averaged over draws.

    Attributes
    ----------
    share : (C, m) probability of each class.
    null : (m,) probability of the null category; zeros without one.
    error : (m,) Monte Carlo standard error of the most probable class, from the chains; NaN for one chain.
    f : (K, m) mean of f, ``f_sd`` (K, m) its standard deviation.
    draws : how many draws were averaged.
    """

    share: np.ndarray
    null: np.ndarray
    error: np.ndarray
    f: np.ndarray
    f_sd: np.ndarray
    draws: int

    def conditional(self) -> np.ndarray:
        """(C, m) probabilities of a place known not to be null: the ratio of the averages (page, section 2.3)."""
        total = self.share.sum(axis=0)
        return np.where(total > 1e-12, self.share / np.maximum(total, 1e-12), 1.0 / len(self.share))


def average(
    kept: Kept, prior: Prior, x_new: np.ndarray, n_classes: int, null: float, fixed_theta: bool
) -> Averaged:
    """Probabilities at x_new (m, D) over as many draws as the work allows, evenly from all chains."""
    cost = (
        len(x_new) * len(prior.x) * (len(prior.x) if prior.dense else len(prior.inducing)) + len(prior.x) ** 3
    )
    most = 400 if fixed_theta else int(np.clip(_WORK / max(cost, 1.0), 12, 400))
    totals, moments, counts = [], [], 0
    predictor = None
    for chain in kept.chains:
        share = np.zeros((n_classes + 1, len(x_new)))
        first, second = 0.0, 0.0
        picked = _evenly(chain.n_draws, max(most // len(kept.chains), 2))
        for draw in picked:
            z, theta = chain.draw("z", draw), chain.draw("theta", draw)
            if predictor is None or not fixed_theta:
                predictor = Predictor(prior, theta, x_new)
            mean = predictor.mean(np.ascontiguousarray(z))
            cuts = chain.draw("cuts", draw) if "cuts" in _names(kept) else None
            share += _probabilities(mean, predictor.variance, null, cuts)
            first = first + mean
            second = second + mean**2 + predictor.variance
        if len(picked):
            totals.append(share / len(picked))
            moments.append((first / len(picked), second / len(picked)))
            counts += len(picked)
    by_chain = np.stack(totals)
    share = by_chain.mean(axis=0)
    top = share[:-1].argmax(axis=0)
    of_top = by_chain[:, top, np.arange(len(top))]
    error = np.full(len(top), math.nan)
    if len(by_chain) > 1:
        error = of_top.std(axis=0, ddof=1) / math.sqrt(len(by_chain))
    mean = np.mean([m for m, _ in moments], axis=0)
    square = np.mean([s for _, s in moments], axis=0)
    return Averaged(share[:-1], share[-1], error, mean, np.sqrt(np.maximum(square - mean**2, 0.0)), counts)


def _names(kept: Kept) -> set[str]:
    return {variable.name for variable in kept.spec.variables}


def _evenly(count: int, most: int) -> np.ndarray:
    return (
        np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))
        if count
        else np.zeros(0, int)
    )


def _probabilities(
    mean: np.ndarray, variance: np.ndarray, null: float, cuts: np.ndarray | None
) -> np.ndarray:
    """(C + 1, m): the classes, and last the null category."""
    if cuts is not None:
        share = ordered(mean[0], variance, cuts)
        return np.vstack([share, np.zeros_like(mean[0])])
    if len(mean) == 1:
        minus, none, plus = two_class(mean[0], variance, null)
        return np.stack([minus, plus, none])
    share = many_class(mean, variance, null)
    return np.vstack([share, np.maximum(1.0 - share.sum(axis=0), 0.0)])


# -- what a run shows ----------------------------------------------------------------------------


def summarise_draws(kept: Kept, frame: Frame, data: ModelData, params: Params, null: float) -> Results:
    """All results of a classifier, ordered or not."""
    if kept.n_draws == 0:
        return {"headline": "No draw is kept yet."}
    prior = make_prior(frame.fitted, params, False, frame.columns)
    fixed = params["parameters"] == "fixed"
    found = average(kept, prior, frame.x, len(frame.classes), null, fixed)
    results: Results = {}
    share = found.conditional()
    results["probability"] = Result(share.T, ("sample", "class"), label="probability")
    results["class"] = Result(np.array(frame.classes), ("class",))
    results["predictions"] = predictions(found, share, frame, tuple(data["X"].names[0]))
    results["prediction_note"] = (
        f"Averaged over {found.draws} draws, f integrated out. The error is that of the average over the chains."
    )
    results |= measured(share, frame)
    results |= mapped(kept, prior, frame, null, fixed)
    results |= parameters(kept, prior, frame)
    if "cuts" in _names(kept):
        results |= cut_points(kept, frame)
    results["headline"] = headline(results, frame)
    return results


def predictions(found: Averaged, share: np.ndarray, frame: Frame, names: tuple[str, ...]) -> Table:
    """A row per sample: its label, the most probable class and every class's probability."""
    top = share.argmax(axis=0)
    classes = np.array(frame.classes)
    part = np.where(frame.test, "test", np.where(frame.codes < 0, "unlabelled", "fitted"))
    columns = {
        "Sample": np.array(names) if names else np.arange(1, len(top) + 1).astype(str),
        "Part": part,
        "Label": np.where(frame.codes >= 0, classes[np.maximum(frame.codes, 0)], ""),
        "Predicted": classes[top],
        "Probability": share[top, np.arange(len(top))],
        "Error": found.error,
    }
    columns |= {f"P({name})": share[k] for k, name in enumerate(frame.classes)}
    if found.null.max() > 0:
        columns["P(null)"] = found.null
    return Table(columns, label="Predictions")


def scores_of(share: np.ndarray, codes: np.ndarray) -> dict[str, float]:
    """Share of errors and mean log loss of class probabilities (C, m) against codes (m,)."""
    own = np.maximum(share[codes, np.arange(len(codes))], 1e-300)
    return {"errors": float((share.argmax(axis=0) != codes).mean()), "log_loss": float(-np.log(own).mean())}


def measured(share: np.ndarray, frame: Frame) -> Results:
    """Errors and log loss on the test samples, and for comparison on the fitted ones, with the confusion of classes."""
    rows = []
    for word, mask in (("Test", frame.test), ("Fitted", frame.used)):
        mask = mask & (frame.codes >= 0)
        if mask.any():
            score = scores_of(share[:, mask], frame.codes[mask])
            rows.append((word, int(mask.sum()), score["errors"], score["log_loss"]))
    words, sizes, errors, losses = zip(*rows)
    results: Results = {
        "scores": Table(
            {
                "Samples": np.array(words),
                "Number": np.array(sizes),
                "Errors": np.array(errors),
                "Log loss": np.array(losses),
            },
            label="Scores",
        )
    }
    judged = (frame.test if frame.test.any() else frame.used) & (frame.codes >= 0)
    size = len(frame.classes)
    confusion = np.zeros((size, size))
    np.add.at(confusion, (frame.codes[judged], share[:, judged].argmax(axis=0)), 1.0)
    results["confusion"] = Result(confusion, ("class", "predicted_class"), label="samples")
    results["judged_codes"] = Result(frame.codes[judged], ("judged",))
    results["judged_probability"] = Result(share[:, judged].T, ("judged", "class"), label="probability")
    return results


def shown_inputs(kept: Kept, prior: Prior) -> tuple[int, int]:
    """The two inputs of the map: the most relevant ones where each has a length of its own, else the first two."""
    size = prior.x.shape[1]
    if size == 1:
        return 0, 0
    gammas = [i for i, p in enumerate(prior.covariance.parameters) if p.kind == "gamma" and p.column >= 0]
    if len(gammas) < size:
        return 0, 1
    theta = np.mean([np.mean(chain.stack("theta"), axis=0) for chain in kept.chains if chain.n_draws], axis=0)
    order = sorted(gammas[:size], key=lambda i: -theta[i])
    first, second = sorted(prior.covariance.parameters[i].column for i in order[:2])
    return first, second


def grid_axis(values: np.ndarray, count: int) -> np.ndarray:
    """(count,) places from a tenth below the smallest to a tenth above the largest value."""
    low, high = float(values.min()), float(values.max())
    margin = 0.1 * (high - low) if high > low else 1.0
    return np.linspace(low - margin, high + margin, count)


def mapped(kept: Kept, prior: Prior, frame: Frame, null: float, fixed: bool) -> Results:
    """Class probabilities over two inputs, the others at their medians; one input: a curve of f instead."""
    first, second = shown_inputs(kept, prior)
    middle = np.median(frame.fitted, axis=0)
    axis = grid_axis(frame.x[:, first], 4 * GRID if first == second else GRID)
    line = np.repeat(middle[None], len(axis), axis=0)
    line[:, first] = axis
    along = average(kept, prior, line, len(frame.classes), null, fixed)
    shown = axis * frame.spread[first] + frame.centre[first]
    band = np.stack([along.f - 2 * along.f_sd, along.f + 2 * along.f_sd], axis=-1)
    results: Results = {
        "slice": Result(along.f, ("latent", "place"), label="f"),
        "slice_interval": Result(band, ("latent", "place", "end")),
        "slice_x": Result(shown, ("place",), label=frame.columns[first]),
        "slice_probability": Result(along.conditional(), ("class", "place"), label="probability"),
        "slice_note": f"f along “{frame.columns[first]}”, two standard deviations on either side"
        + (", the other inputs at their medians." if len(middle) > 1 else "."),
    }
    if first == second:
        share = along.conditional()
        note = f"Probability of “{frame.classes[-1]}” along “{frame.columns[first]}”."
        names = np.array([f"{value:.3g}" for value in shown])
        return results | maps(
            share[:, None], along.null[None], (shown, np.zeros(1)), (names, np.array([""])), note
        )
    other = grid_axis(frame.x[:, second], GRID)
    places = np.repeat(middle[None], len(axis) * len(other), axis=0)
    places[:, first] = np.tile(axis, len(other))
    places[:, second] = np.repeat(other, len(axis))
    found = average(kept, prior, places, len(frame.classes), null, fixed)
    shape = (len(frame.classes), len(other), len(axis))
    upright = other * frame.spread[second] + frame.centre[second]
    note = (
        f"Probability of “{frame.classes[-1]}” by “{frame.columns[first]}” (across) and "
        f"“{frame.columns[second]}” (down)"
        + (", the other inputs at their medians." if len(middle) > 2 else ".")
    )
    names = tuple(np.array([f"{value:.3g}" for value in place]) for place in (shown, upright))
    return results | maps(
        found.conditional().reshape(shape), found.null.reshape(shape[1:]), (shown, upright), names, note
    )


def maps(
    share: np.ndarray,
    null: np.ndarray,
    axes: tuple[np.ndarray, np.ndarray],
    names: tuple[np.ndarray, ...],
    note: str,
) -> Results:
    """The results of a map: share (C, y, x) and null (y, x) by the places ``axes`` (x, y)."""
    return {
        "map": Result(share[-1], ("map_y", "map_x"), label="probability"),
        "class_maps": Result(share, ("class", "map_y", "map_x"), label="probability"),
        "null_map": Result(null, ("map_y", "map_x"), label="probability"),
        "map_across": Result(axes[0], ("map_x",)),
        "map_down": Result(axes[1], ("map_y",)),
        "map_x_names": Result(names[0], ("map_x",)),
        "map_y_names": Result(names[1], ("map_y",)),
        "map_note": note,
    }


def parameters(kept: Kept, prior: Prior, frame: Frame) -> Results:
    """The covariance's parameters with their prior, and the relevance of the inputs."""
    theta = np.concatenate([chain.stack("theta") for chain in kept.chains if chain.n_draws])
    found = prior.covariance.parameters
    values = np.exp(theta)
    low, middle, high = np.quantile(values, [0.05, 0.5, 0.95], axis=0)
    ends = [np.exp([p.mean - 1.645 * p.sd, p.mean + 1.645 * p.sd]) for p in found]
    results: Results = {
        "covariance": Table(
            {
                "Parameter": np.array([p.name for p in found]),
                "Median": middle,
                "5 %": low,
                "95 %": high,
                "Prior 5 %": np.array([end[0] for end in ends]),
                "Prior 95 %": np.array([end[1] for end in ends]),
            },
            label="Covariance",
        ),
        "covariance_note": "γ = 1 / length², in units of the standardised inputs.",
    }
    lengths = [i for i, p in enumerate(found) if p.kind == "gamma"]
    own = [i for i in lengths if found[i].column >= 0] or lengths
    relevance = np.sqrt(values[:, own])
    names = [frame.columns[found[i].column] if found[i].column >= 0 else "all inputs" for i in own]
    results["relevance"] = Result(np.median(relevance, axis=0), ("relevance_of",), label="1 / length")
    results["relevance_interval"] = Result(
        np.quantile(relevance, [0.05, 0.95], axis=0).T.reshape(-1, 2), ("relevance_of", "end")
    )
    results["relevance_names"] = Result(np.array(names, dtype=str), ("relevance_of",))
    return results


def cut_points(kept: Kept, frame: Frame) -> Results:
    """The cut-points between neighbouring classes with 90 % intervals."""
    cuts = np.concatenate([chain.stack("cuts") for chain in kept.chains if chain.n_draws])
    names = [f"{low} | {high}" for low, high in zip(frame.classes[:-1], frame.classes[1:])]
    return {
        "cut_points": Result(cuts.mean(axis=0), ("cut",), label="cut-point"),
        "cut_interval": Result(np.quantile(cuts, [0.05, 0.95], axis=0).T, ("cut", "end")),
        "cut_names": Result(np.array(names), ("cut",)),
    }


def headline(results: Results, frame: Frame) -> str:
    """What the fit says in one line."""
    table = results["scores"]
    assert isinstance(table, Table)
    part = "test" if table.columns["Samples"][0] == "Test" else "fitted"
    error, loss = float(table.columns["Errors"][0]), float(table.columns["Log loss"][0])
    number = int(table.columns["Number"][0])
    return f"{len(frame.classes)} classes; {100 * error:.1f} % of {number} {part} samples wrong, log loss {loss:.3f}."


def predict_new(kept: Kept, frame: Frame, new_data: ModelData, params: Params, null: float) -> Results:
    """Class probabilities of new samples with their Monte Carlo errors. Raises ``ModelError`` for other inputs."""
    block = new_data["X"]
    names = tuple(str(name) for name in block.names[1])
    if names and frame.columns and set(frame.columns) <= set(names):
        values = np.asarray(block.values)[:, [names.index(name) for name in frame.columns]]
    elif block.shape[1] == len(frame.columns):
        values = np.asarray(block.values)
    else:
        missing = [name for name in frame.columns if name not in names]
        raise ModelError(
            f"The new samples lack {len(missing)} of {len(frame.columns)} inputs: {', '.join(missing[:5])}.",
            "Inputs are found by name.",
        )
    prior = make_prior(frame.fitted, params, False, frame.columns)
    found = average(
        kept, prior, frame.scale(values), len(frame.classes), null, params["parameters"] == "fixed"
    )
    share = found.conditional()
    top = share.argmax(axis=0)
    columns = {
        "Sample": np.array(block.names[0]) if block.names[0] else np.arange(1, len(top) + 1).astype(str),
        "Predicted": np.array(frame.classes)[top],
        "Probability": share[top, np.arange(len(top))],
        "Error": found.error,
    }
    columns |= {f"P({name})": share[k] for k, name in enumerate(frame.classes)}
    return {
        "predictions": Table(columns, label="Predictions"),
        "probability": Result(share.T, ("sample", "class"), label="probability"),
    }
