"""What a fit of binary principal components found: scores, loadings, strengths, probabilities of cells."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from plaidwork.core.api import Kept, ModelData, Result, Results, Table, counted, format_percent
from plaidwork.core.api_scores import SCORES, score, score_table
from plaidwork.plugins.gp_auxiliary.components.axes import (
    Turned,
    affordable,
    picked,
    strengths,
    turned_draws,
    used_note,
)

TAILS = (0.025, 0.975)
_SMALL = 0.02
"""Share of the variance below which a component counts as not needed."""
_FITTED_CELLS = 5000


def summarise_components(kept: Kept, data: ModelData) -> Results:
    """All results of the model."""
    return components(turned_draws(kept), kept) | strength_of(kept) | measured(kept, data)


def components(turned: list[Turned], kept: Kept) -> Results:
    """Scores and loadings in common axes: means, and intervals of the loadings."""
    scores = np.mean([draw.scores for draw in turned], axis=0)
    loadings = np.stack([draw.loadings for draw in turned])
    sd = np.std([draw.scores for draw in turned], axis=0)
    ends = np.quantile(loadings, TAILS, axis=0)
    return {
        "scores": Result(scores, ("sample", "component"), label="score"),
        "scores_sd": Result(sd, ("sample", "component"), label="sd of the score"),
        "loadings": Result(loadings.mean(axis=0).T, ("component", "feature"), label="loading"),
        "loadings_interval": Result(np.moveaxis(ends, (0, 2), (2, 0)), ("component", "feature", "end")),
        "mean": Result(np.mean([draw.mean for draw in turned], axis=0), ("feature",), label="mean"),
        "scores_note": f"Means over {used_note(turned, kept)}, turned onto common axes; scores on the first are uncertain "
        f"by {np.median(sd[:, 0]):.2f} (median sd).",
        "loadings_note": "Change of the latent value when the score rises by 1; 95 % intervals over the draws.",
        "cells_note": "The strongest features of a component, samples in the order of their scores.",
    }


def strength_of(kept: Kept) -> Results:
    """Shares of the latent variance by component, strongest first in every draw."""
    shares = np.stack([strengths(x, w) for _, (x, w, _mean) in picked(kept)])
    mean, interval = shares.mean(axis=0), np.quantile(shares, TAILS, axis=0).T
    needed = int((interval[:, 0] > _SMALL).sum())
    word = "component holds" if needed == 1 else "components hold"
    first = float(mean[: max(needed, 1)].sum())
    return {
        "strength": Result(mean, ("rank",), label="share of the variance"),
        "strength_interval": Result(interval, ("rank", "end")),
        "rank_number": Result(np.arange(1, len(mean) + 1), ("rank",)),
        "strength_headline": f"{needed} {word} {format_percent(first)} of the latent variance"
        if needed
        else "No component holds a clear share of the variance",
        "strength_note": f"The rest is noise. Counted are those above {100 * _SMALL:.0f} % with 95 % probability; lines: 95 % "
        "intervals.",
        "scores_headline": f"{counted(needed, 'component')} behind "
        f"{counted(len(kept.chains[0].draw('mean', 0)), 'feature')}",
    }


def cell_probability(kept: Kept, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Probability of a 1 (n, len(columns)), averaged over draws, and the standard deviation of the cell around it."""
    _, (scores, loadings, _) = next(picked(kept))
    n, size = scores.shape
    total, count = np.zeros((n, len(columns))), 0
    # as many draws whatever columns are asked for, so that a cell does not depend on its neighbours
    for _, (x, w, mean) in picked(kept, affordable(30.0 * n * len(loadings) * size)):
        total += ndtr(mean[columns] + x @ w[columns].T)
        count += 1
    share = total / count
    return share, np.sqrt(share * (1.0 - share))


def measured(kept: Kept, data: ModelData) -> Results:
    """How well cells are predicted: those left out of the fit, if there are any, and fitted ones."""
    block = data["Y"]
    fitted = np.argwhere(block.observed)
    step = max(1, len(fitted) // _FITTED_CELLS)
    parts = [("fitted", fitted[::step], np.asarray(block.values))]
    if block.held_out is not None and block.held_out.any():
        parts.insert(0, ("test", np.argwhere(block.held_out)[: 4 * _FITTED_CELLS], np.asarray(block.truth)))
    cells = np.concatenate([places for _word, places, _values in parts])
    code = np.concatenate([values[tuple(places.T)] for _word, places, values in parts]).astype(np.int64)
    part = np.concatenate([np.full(len(places), word) for word, places, _values in parts])
    share = _probability_at(kept, cells)
    found, guesses = {}, []
    for word, _places, _values in parts:
        own, right = share[part == word], code[part == word]
        found[word] = score(right, own)
        guesses.append(score(right, np.full(len(right), right.mean())).log_loss.value)
    table = score_table(found, "Cells", "Scores of the cells")
    columns = {**table.columns, "Log loss of guessing": np.array(guesses)}
    return {
        "measures": Table(columns, label=table.label, doc=table.doc),
        "measures_note": f"{SCORES} Guessing: the same probability for all cells."
        + ("" if len(parts) > 1 else " No cell was held out of the fit."),
        "cell_code": Result(code, ("cell",)),
        "cell_probability": Result(share, ("cell",), label="probability of a 1"),
        "cell_class": Result(np.array(["0", "1"]), ("cell_class",)),
        "cell_part": Result(part, ("cell",)),
    }


def _probability_at(kept: Kept, cells: np.ndarray) -> np.ndarray:
    """(c,) mean probability of a 1 in cells (c, 2)."""
    rows, columns = cells.T
    total, count = np.zeros(len(cells)), 0
    for _, (x, w, mean) in picked(kept, affordable(60.0 * len(cells))):
        total += ndtr(mean[columns] + (x[rows] * w[columns]).sum(axis=1))
        count += 1
    return total / count
