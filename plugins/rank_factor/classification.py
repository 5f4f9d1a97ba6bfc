"""Classes and their probabilities, error rates of the training and of the test samples."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import Block, Result, Results, Table, format_percent
from plaidwork.core.api_scores import score, score_table
from plaidwork.plugins.rank_factor.posterior import Posterior
from plaidwork.plugins.rank_factor.setup import Setup


def halves(setup: Setup) -> dict[str, np.ndarray]:
    """Places of the labelled samples of each part; the part that counts comes last."""
    found = {"Training": setup.train, "Test": setup.test}
    return {
        name: part[setup.codes[part] >= 0] for name, part in found.items() if (setup.codes[part] >= 0).any()
    }


def classification(posterior: Posterior, setup: Setup, block: Block) -> Results:
    """Everything about the labels."""
    parts = halves(setup)
    name = list(parts)[-1]
    codes, chosen = setup.codes, posterior.probability.argmax(axis=1)
    scores = {which: score(codes[part], posterior.probability[part]) for which, part in parts.items()}
    part = np.full(len(codes), "fitted")
    part[setup.test] = "test"
    return {
        "headline": scores[name].text(f"{name.lower()} samples"),
        "class": Result(np.array(setup.classes), ("class",), label="Class"),
        "sample_code": Result(
            codes, ("sample",), label="Number of the class", doc="from 0; -1 without a label"
        ),
        "part": Result(part, ("sample",), label="Part"),
        "probability": Result(posterior.probability, ("sample", "class"), label="Probability"),
        "metrics": score_table(scores, "Part", "Errors"),
        "predictions": _predictions(posterior, setup, block, chosen),
    }


ALIKE, NEAR = 0.95, 0.05
"""Share of the samples that all chains must give one class, and mean difference of two chains' probabilities, for predictions to be used."""


def chains_alike(by_chain: np.ndarray, setup: Setup) -> str:
    """What the chains' predictions have in common, from their probabilities (c, n, C), and whether they can be used, in sentences; of the
    test samples where there are some. Empty for one chain."""
    samples, which = (
        (setup.test, "of the test samples") if len(setup.test) else (setup.train, "of the fitted samples")
    )
    if len(by_chain) < 2:
        return ""
    probability = by_chain[:, samples]
    chosen = probability.argmax(axis=2)
    same = float((chosen == chosen[0]).all(axis=0).mean())
    first, second = np.triu_indices(len(probability), 1)
    apart = float(np.abs(probability[first] - probability[second]).max(axis=2).mean())
    use, share = same >= ALIKE and apart <= NEAR, format_percent(same)
    if use:
        return (
            f"All chains choose the same class for {share} {which}, and the probabilities of two chains differ by "
            f"{apart:.2f} on average: the predictions of all chains together can be used."
        )
    return (
        f"All chains choose the same class for {share} {which}, and the probabilities of two chains differ by "
        f"{apart:.2f} on average: the predictions of all chains together cannot be used yet."
    )


def _predictions(posterior: Posterior, setup: Setup, block: Block, chosen: np.ndarray) -> Table:
    """Every sample: part, label, predicted class, its probability and the classifiers' values."""
    n = len(chosen)
    part = np.full(n, "Training")
    part[setup.test] = "Test"
    classes = np.array([*setup.classes, ""])
    columns = {
        "Sample": np.array(block.names[0]),
        "Part": part,
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
