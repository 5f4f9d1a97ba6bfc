"""Confusion, ROC, calibration and error rates of one half of the samples."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from plaidwork.core.api import Block, Result, Results, Table
from plaidwork.plugins.rank_factor.posterior import Posterior
from plaidwork.plugins.rank_factor.setup import Setup

BINS = 5
GRID = np.linspace(0.0, 1.0, 101)


def halves(setup: Setup) -> dict[str, np.ndarray]:
    """Places of the labelled samples of each half; the half that counts comes last."""
    found = {"Training": setup.train, "Test": setup.test}
    return {
        name: part[setup.codes[part] >= 0] for name, part in found.items() if (setup.codes[part] >= 0).any()
    }


def chosen_class(posterior: Posterior) -> np.ndarray:
    """(n,) predicted class: by the mean value of the classifiers."""
    f = posterior.decision
    return (f[:, 0] > 0).astype(np.int64) if f.shape[1] == 1 else f.argmax(axis=1)


def area(score: np.ndarray, positive: np.ndarray) -> float:
    """Area under the ROC curve; NaN when there is only one sort."""
    m = int(positive.sum())
    if m in (0, len(positive)):
        return float("nan")
    ranks = rankdata(score)
    return float((ranks[positive].sum() - m * (m + 1) / 2) / (m * (len(score) - m)))


def roc_curve(score: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """(101,) share of true positives at each share of false ones, ties together."""
    if positive.all() or not positive.any():
        return GRID
    order = np.argsort(-score, kind="stable")
    last = np.append(np.flatnonzero(np.diff(score[order])), len(score) - 1)
    hit = np.concatenate([[0], np.cumsum(positive[order])[last]]) / positive.sum()
    false = np.concatenate([[0], np.cumsum(~positive[order])[last]]) / (~positive).sum()
    return np.interp(GRID, false, hit)


def wilson(share: np.ndarray, count: np.ndarray) -> np.ndarray:
    """(n, 2) 95 % interval of a share."""
    z2 = 1.959963984540054**2
    middle = (share + z2 / (2 * count)) / (1 + z2 / count)
    half = np.sqrt(z2 * (share * (1 - share) / count + z2 / (4 * count**2))) / (1 + z2 / count)
    return np.stack([middle - half, middle + half], axis=1)


def classification(posterior: Posterior, setup: Setup, block: Block) -> Results:
    """Everything about the labels."""
    parts = halves(setup)
    name, here = list(parts.items())[-1]
    codes, chosen = setup.codes, chosen_class(posterior)
    n = len(setup.classes)
    confusion = np.zeros((n, n), np.int64)
    np.add.at(confusion, (codes[here], chosen[here]), 1)
    probability = posterior.probability
    shown = [1] if n == 2 else list(range(n))
    scores = posterior.decision if n > 2 else np.repeat(posterior.decision, 2, axis=1)
    curves = np.stack([roc_curve(scores[here, code], codes[here] == code) for code in shown])
    wrong = int((chosen[here] != codes[here]).sum())
    areas = [area(scores[here, code], codes[here] == code) for code in shown]
    known = [one for one in areas if np.isfinite(one)]
    under = f"area {np.mean(known):.3f}" if known else "one class only"
    positive = f"“{setup.classes[1]}”" if n == 2 else "Each class"
    classes = np.array(setup.classes)
    return {
        "headline": f"{wrong} of {len(here)} {name.lower()} samples wrong ({100 * wrong / len(here):.1f} %)",
        "roc_title": f"{positive} against the rest, {name.lower()} samples: {under}",
        "calibration_title": f"How often {f'“{positive}”' if n == 2 else 'the predicted class'} was right, by its probability",
        "true_class": Result(classes, ("true_class",), label="True class"),
        "predicted_class": Result(classes, ("predicted_class",), label="Predicted class"),
        "confusion": Result(confusion, ("true_class", "predicted_class"), label="Samples"),
        "roc_class": Result(classes[shown], ("roc_class",), label="Class"),
        "roc_x": Result(GRID, ("false_positives",), label="False positives"),
        "roc": Result(curves, ("roc_class", "false_positives"), label="True positives"),
        **_calibration(probability[here], codes[here]),
        "metrics": _metrics(parts, scores, probability, codes, chosen, shown),
        "predictions": _predictions(posterior, setup, block, chosen),
        "evaluated_sample": Result(np.array(block.names[0])[here], ("evaluated_sample",), label="Sample"),
        "evaluated_truth": Result(classes[codes[here]], ("evaluated_sample",), label="True class"),
        "evaluated_probability": Result(
            probability[here], ("evaluated_sample", "true_class"), label="Probability"
        ),
    }


def _calibration(probability: np.ndarray, codes: np.ndarray) -> Results:
    """Probability of the second of two classes (else of the predicted class) against how often it was so."""
    if probability.shape[1] == 2:
        given, so = probability[:, 1], codes == 1
    else:
        given, so = probability.max(axis=1), probability.argmax(axis=1) == codes
    place = np.minimum((given * BINS).astype(int), BINS - 1)
    count = np.bincount(place, minlength=BINS)
    used = np.flatnonzero(count)
    share = np.bincount(place, weights=so, minlength=BINS)[used] / count[used]
    mean = np.bincount(place, weights=given, minlength=BINS)[used] / count[used]
    return {
        "calibration": Result(share, ("calibration_bin",), label="Share that was so"),
        "calibration_x": Result(mean, ("calibration_bin",), label="Mean probability given"),
        "calibration_count": Result(count[used], ("calibration_bin",), label="Samples"),
        "calibration_interval": Result(
            wilson(share, count[used]), ("calibration_bin", "side"), label="95 % interval"
        ),
    }


def _metrics(parts, scores, probability, codes, chosen, shown) -> Table:
    columns: dict[str, list] = {
        title: [] for title in ("Half", "Samples", "Wrong", "Error", "AUC", "Brier score")
    }
    for name, here in parts.items():
        wrong = int((chosen[here] != codes[here]).sum())
        truth = codes[here][:, None] == np.arange(probability.shape[1])
        areas = [area(scores[here, code], codes[here] == code) for code in shown]
        known = [one for one in areas if np.isfinite(one)]
        row = (
            name, len(here), wrong, wrong / len(here), np.mean(known) if known else float("nan"),
            float(((probability[here] - truth) ** 2).sum(axis=1).mean()),
        )  # fmt: skip
        for column, value in zip(columns.values(), row, strict=True):
            column.append(value)
    return Table(
        {title: np.array(column) for title, column in columns.items()},
        label="Errors",
        doc="AUC: mean over classes against the rest. Brier score: mean squared error of the class probabilities.",
    )


def _predictions(posterior: Posterior, setup: Setup, block: Block, chosen: np.ndarray) -> Table:
    """Every sample: half, label, predicted class, its probability and the classifiers' values."""
    n = len(chosen)
    half = np.full(n, "Training")
    half[setup.test] = "Test"
    classes = np.array([*setup.classes, ""])
    columns = {
        "Sample": np.array(block.names[0]),
        "Half": half,
        "Label": classes[setup.codes],
        "Predicted": classes[chosen],
        "Probability": posterior.probability[np.arange(n), chosen],
    }
    titles = ("Value",) if posterior.decision.shape[1] == 1 else tuple(f"Value of {c}" for c in setup.classes)
    columns |= {title: posterior.decision[:, g] for g, title in enumerate(titles)}
    return Table(columns, label="Predictions", doc="Value: mean of the classifier; its sign decides.")
