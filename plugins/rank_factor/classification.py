"""Classes and their probabilities, error rates of both halves of the samples."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from plaidwork.core.api import Block, Result, Results, Table
from plaidwork.plugins.rank_factor.posterior import Posterior
from plaidwork.plugins.rank_factor.setup import Setup


def halves(setup: Setup) -> dict[str, np.ndarray]:
    """Places of the labelled samples of each half; the half that counts comes last."""
    found = {"Training": setup.train, "Test": setup.test}
    return {
        name: part[setup.codes[part] >= 0] for name, part in found.items() if (setup.codes[part] >= 0).any()
    }


def area(score: np.ndarray, positive: np.ndarray) -> float:
    """Area under the ROC curve; NaN when there is only one sort."""
    m = int(positive.sum())
    if m in (0, len(positive)):
        return float("nan")
    ranks = rankdata(score)
    return float((ranks[positive].sum() - m * (m + 1) / 2) / (m * (len(score) - m)))


def classification(posterior: Posterior, setup: Setup, block: Block) -> Results:
    """Everything about the labels."""
    parts = halves(setup)
    name, here = list(parts.items())[-1]
    codes, chosen = setup.codes, posterior.probability.argmax(axis=1)
    n = len(setup.classes)
    shown = [1] if n == 2 else list(range(n))
    wrong = int((chosen[here] != codes[here]).sum())
    part = np.full(len(codes), "fitted")
    part[setup.test] = "test"
    return {
        "headline": f"{wrong} of {len(here)} {name.lower()} samples wrong ({100 * wrong / len(here):.1f} %)",
        "class": Result(np.array(setup.classes), ("class",), label="Class"),
        "sample_code": Result(
            codes, ("sample",), label="Number of the class", doc="from 0; -1 without a label"
        ),
        "part": Result(part, ("sample",), label="Part"),
        "probability": Result(posterior.probability, ("sample", "class"), label="Probability"),
        "metrics": _metrics(parts, posterior.probability, codes, chosen, shown),
        "predictions": _predictions(posterior, setup, block, chosen),
    }


def _metrics(parts, probability, codes, chosen, shown) -> Table:
    columns: dict[str, list] = {
        title: [] for title in ("Half", "Samples", "Wrong", "Error", "AUC", "Brier score")
    }
    for name, here in parts.items():
        wrong = int((chosen[here] != codes[here]).sum())
        truth = codes[here][:, None] == np.arange(probability.shape[1])
        areas = [area(probability[here, code], codes[here] == code) for code in shown]
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
    return Table(
        columns,
        label="Predictions",
        doc="The class with the highest probability. Value: mean of the classifier.",
    )
