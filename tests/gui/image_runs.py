"""A finished run whose factors are images, made by numpy: loadings, weights and scores of two or three kinds of bars."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plaidwork.core.contract.model import Result, Results
from plaidwork.core.contract.spec import Input, View
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.inference.run import Run
from plaidwork.core.session.session import Session
from plaidwork.gui.workbench import Workbench
from tests.gui.result_runs import ToyModel

IMAGES = View(
    "image_grid",
    "Loading images",
    {
        "values": "loadings",
        "weight": "coefficients",
        "interval": "coefficient_interval",
        "weight_names": "classifier",
        "scores": "scores",
        "classes": "sample_class",
        "images": "data:X",
    },
)
PLAIN_IMAGES = View("image_grid", "Loading images", "loadings")


class ImageModel(ToyModel):
    """Samples by pixels; never fits."""

    spec = replace(
        ToyModel.spec,
        id="toy.images",
        inputs=(Input("X", dims=("sample", "feature"), missing=True),),
        dims={"factor": "factors"},
        views=(IMAGES, PLAIN_IMAGES),
    )


def bar_images(n: int = 90, classes: int = 2, side: int = 8) -> tuple[Dataset, np.ndarray]:
    """Noisy images with a bar whose row tells the class: the data, and the class of each."""
    rng = np.random.default_rng(1)
    kind = rng.integers(0, classes, n)
    images = rng.normal(0, 0.4, (n, side, side))
    images[np.arange(n), 1 + 2 * kind] += 2.0
    names = tuple(f"image {i + 1}" for i in range(n)), tuple(f"pixel {j + 1}" for j in range(side * side))
    values = images.reshape(n, -1)
    return Dataset("bars", values, *names, row_label="images", image_shape=(side, side)), kind


def image_results(values: np.ndarray, labels: np.ndarray, names: list[str], count: int) -> Results:
    """Singular vectors as loadings, differences of the class means as weights, their intervals by two errors."""
    centred = values - values.mean(axis=0)
    u, s, v = np.linalg.svd(centred, full_matrices=False)
    scores = u[:, :count] * np.sqrt(len(values))
    loadings = v[:count] * s[:count, None] / np.sqrt(len(values))
    rows = [1] if len(names) == 2 else range(len(names))
    weights, errors = [], []
    for c in rows:
        mine, rest = scores[labels == c], scores[labels != c]
        weights.append(mine.mean(axis=0) - rest.mean(axis=0))
        errors.append(np.sqrt(mine.var(axis=0) / len(mine) + rest.var(axis=0) / len(rest)))
    weight, half = np.array(weights), 2 * np.array(errors)
    return {
        "loadings": Result(loadings, ("factor", "feature"), label="Loading"),
        "coefficients": Result(weight, ("classifier", "factor"), label="Coefficient"),
        "coefficient_interval": Result(np.stack([weight - half, weight + half], axis=-1)),
        "classifier": Result(np.array([names[c] for c in rows]), ("classifier",)),
        "scores": Result(scores, ("sample", "factor"), label="Score"),
        "sample_class": Result(np.array(names)[labels], ("sample",), label="Class"),
        "factor": Result(np.array([f"Factor {k + 1}" for k in range(count)]), ("factor",)),
    }


def image_run(
    dataset: Dataset, labels: np.ndarray, names: list[str], count: int = 6
) -> tuple[Workbench, Run]:
    """Workbench and finished run."""
    session = Session(name="Images")
    run: Run = session.add_run(make_plan(ImageModel(), {"X": dataset}))
    run.results = image_results(np.asarray(dataset.values), labels, names, count)
    run.results_draws, run.status = 300, "done"
    workbench = Workbench()
    workbench.set_session(session)
    return workbench, run


def bar_run(classes: int = 2, count: int = 6) -> tuple[Workbench, Run]:
    """A run of the bars, with classes named after their row."""
    dataset, kind = bar_images(classes=classes)
    return image_run(dataset, kind, [f"row {2 + 2 * c}" for c in range(classes)], count)
