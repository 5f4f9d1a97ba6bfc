"""What a fit found: class probabilities, their scores on the test samples, maps, the covariance."""

from __future__ import annotations

import itertools

import numpy as np

from plaidwork.core.api import Kept, ModelData, ModelError, Params, Result, Results, Table
from plaidwork.plugins.gp_auxiliary.averaging import Averaged, average, names_of
from plaidwork.plugins.gp_auxiliary.frame import Frame, make_prior
from plaidwork.plugins.gp_auxiliary.gram import Prior
from plaidwork.plugins.gp_auxiliary.maps import along_input, map_places, mapped


def summarise_draws(kept: Kept, frame: Frame, data: ModelData, params: Params, null: float) -> Results:
    """All results of a classifier, ordered or not."""
    if kept.n_draws == 0:
        return {"headline": "No draw is kept yet."}
    prior = make_prior(frame.fitted, params, False, frame.columns)
    plan = map_places(kept, prior, frame)
    places = np.concatenate([frame.x, plan.line, plan.grid])
    fixed = params["parameters"] == "fixed"
    found = average(kept, prior, places, len(frame.classes), null, fixed)
    ends = np.cumsum([0, len(frame.x), len(plan.line), len(plan.grid)])
    own, along, over = (found.part(start, stop) for start, stop in itertools.pairwise(ends))
    results: Results = {}
    share = own.conditional()
    results["probability"] = Result(share.T, ("sample", "class"), label="probability")
    results["class"] = Result(np.array(frame.classes), ("class",))
    results["predictions"] = predictions(own, share, frame, tuple(data["X"].names[0]))
    results["prediction_note"] = (
        f"Averaged over {found.draws} draws, f integrated out. The error is that of the average over the chains."
    )
    results |= measured(share, frame)
    results |= along_input(along, plan, frame)
    results |= mapped(along if plan.single else over, plan, frame)
    results |= parameters(kept, prior, frame)
    if "cuts" in names_of(kept):
        results |= cut_points(kept, frame)
    first, note = grouping(kept, frame, params)
    results["headline"] = first.removesuffix(".") if first.endswith(".") else first + headline(results, frame)
    results["scores_note"] = (
        "Errors are shares of samples; log loss is the mean of -log P(own class). " + note
    )
    return results


def predictions(found: Averaged, share: np.ndarray, frame: Frame, names: tuple[str, ...]) -> Table:
    """A row per sample: its label, the most probable class and every class's probability."""
    top = share.argmax(axis=0)
    classes = np.array(frame.classes)
    columns = {
        "Sample": np.array(names) if names else np.arange(1, len(top) + 1).astype(str),
        "Part": parts(frame),
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
    """Errors and log loss on the test samples, and for comparison on the fitted ones."""
    rows = []
    for word, mask in (("Test", frame.test), ("Fitted", frame.used)):
        mask = mask & (frame.codes >= 0)
        if mask.any():
            score = scores_of(share[:, mask], frame.codes[mask])
            rows.append((word, int(mask.sum()), score["errors"], score["log_loss"]))
    words, sizes, errors, losses = zip(*rows)
    return {
        "scores": Table(
            {
                "Samples": np.array(words),
                "Number": np.array(sizes),
                "Errors": np.array(errors),
                "Log loss": np.array(losses),
            },
            label="Scores",
        ),
        "sample_code": Result(frame.codes, ("sample",)),
        "part": Result(parts(frame), ("sample",)),
    }


def parts(frame: Frame) -> np.ndarray:
    """(n,) what each sample is for: test, fitted or unlabelled."""
    return np.where(frame.test, "test", np.where(frame.codes < 0, "unlabelled", "fitted"))


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
    results["relevance_headline"] = "This covariance has no length"
    if own and found[own[0]].column < 0:
        results["relevance_headline"] = "One length for all inputs"
    elif own:
        first = int(np.argmax(np.median(relevance, axis=0)))
        results["relevance_headline"] = f"“{frame.columns[found[own[first]].column]}” changes f fastest"
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
    return f"{len(frame.classes)} classes; {100 * error:.1f} % of {number} {part} samples wrong, log loss {loss:.3f}"


def grouping(kept: Kept, frame: Frame, params: Params) -> tuple[str, str]:
    """For unlabelled samples that take part: whether the chains agree on a grouping (a headline, or nothing) and how
    they went through the possible ones."""
    if params.get("noise") != "null":
        return "", ""
    single = params["rungs"] == 1 or params["null_width"] == 0
    if single:
        note = "Exploratory: one copy a chain, which stays in the grouping that it found first."
    else:
        rates = [chain.trace("swap")[-1] for chain in kept.chains if chain.n_sweeps]
        trips = int(sum(chain.trace("trips")[-1] for chain in kept.chains if chain.n_sweeps))
        note = f"Lowest swap rate {min(rates):.2f}, {trips} round trip{'' if trips == 1 else 's'}."
    apart, free = disagreement(kept, frame)
    if apart:
        return f"The modes are not mixed: chains disagree on {apart} of {free} unlabelled samples.", note
    return "Exploratory: " if single else "", note


def disagreement(kept: Kept, frame: Frame) -> tuple[int, int]:
    """How many unlabelled samples two chains put into a class with probabilities that differ by over 0.3, of how many."""
    free = frame.codes[frame.used] < 0
    chains = [chain.stack("z")[:, :, free] for chain in kept.chains if chain.n_draws >= 50]
    if len(chains) < 2 or not free.any():
        return 0, int(free.sum())
    n_classes = len(frame.classes)
    shares = []
    for z in chains:
        winners = (z[:, 0] > 0).astype(int) if z.shape[1] == 1 else z.argmax(axis=1)
        shares.append([(winners == k).mean(axis=0) for k in range(n_classes)])
    apart = np.ptp(np.array(shares), axis=0).max(axis=0) > 0.3
    return int(apart.sum()), int(free.sum())


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
