"""All results of a fit, from the one form that both algorithms give (``posterior``)."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import Block, ModelData, Result, Results, Table, counted
from plaidwork.plugins.rank_factor.classification import chains_alike, classification
from plaidwork.plugins.rank_factor.fit_of_features import agreement, cell_fit, order_fit, shown_feature
from plaidwork.plugins.rank_factor.posterior import Posterior
from plaidwork.plugins.rank_factor.setup import Setup
from plaidwork.plugins.rank_factor.similarity import network, top_places
from plaidwork.plugins.rank_factor.state import Settings

IN_USE = 0.05
"""Share of the strongest factor's size from which a factor counts as in use."""
MOST_LISTED = 20_000


def summarise_posterior(posterior: Posterior, data: ModelData, setup: Setup, params: Settings) -> Results:
    """Results by name; see ``spec`` for the views that show them."""
    block: Block = data["X"]
    names = np.array(block.names[1])
    feature = shown_feature(posterior, setup, block, params)
    size = np.sqrt((posterior.loadings**2).mean(axis=1))
    labels = np.array([f"Factor {k + 1}" for k in range(len(size))])
    return {
        **classification(posterior, setup, block),
        **_still_holds(posterior, setup),
        "caption": _caption(posterior, setup, params, size),
        "factor": Result(labels, ("factor",), label="Factor"),
        "feature": Result(names, ("feature",), label="Feature"),
        "sample": Result(np.array(block.names[0]), ("sample",), label="Sample"),
        "loadings": Result(posterior.loadings, ("factor", "feature"), label="Loading"),
        "loading_interval": Result(
            posterior.loading_interval, ("factor", "feature", "side"), label="95 % interval"
        ),
        "loading_images": _images(posterior, params),
        "top_features": _top_features(posterior, labels, names, params),
        "scores": Result(posterior.scores, ("sample", "factor"), label="Factor score"),
        "scores_sd": Result(posterior.scores_sd, ("sample", "factor"), label="SD of factor score"),
        "sample_class": Result(
            np.array([*setup.classes, "no label"])[setup.codes], ("sample",), label="Class"
        ),
        "factors": _factor_table(posterior, setup, labels, size, params),
        **_classifiers(posterior, setup, params),
        **network(posterior, setup.rows, names, params),
        **order_fit(posterior, setup, block, feature),
        **cell_fit(posterior, setup, block, feature),
        "agreement": agreement(posterior, setup, block, params),
    }


def _still_holds(posterior: Posterior, setup: Setup) -> Results:
    text = "" if posterior.by_chain is None else chains_alike(posterior.by_chain, setup)
    return {"still_holds": text} if text else {}


def _images(posterior: Posterior, params: Settings) -> Result:
    """Loadings as images; flat where only the data know the shape."""
    if not params["image_shape"]:
        return Result(posterior.loadings, ("factor", "feature"), label="Loading")
    height, width = (int(side) for side in params["image_shape"])
    return Result(
        posterior.loadings.reshape(-1, height, width),
        ("factor", "image_row", "image_column"),
        label="Loading",
    )


def _caption(posterior: Posterior, setup: Setup, params: Settings, size: np.ndarray) -> str:
    kind = {"gaussian": "values", "levels": "ranks with thresholds", "pairs": "ranks between samples"}
    used = int((size > IN_USE * max(size.max(), 1e-300)).sum())
    text = f"From {kind[setup.likelihood]}; {used} of {counted(len(size), 'factor')} in use"
    if len(posterior.group_size) > 1:
        text += f"; {counted(int((posterior.group_size > 0.01).sum()), 'group')} of samples"
    if params["classifier"] == "process":
        text += "; the labels shaped the boundary and no factor"
    if not len(setup.test):
        text += "; no test samples, so the errors are those of the fitted ones"
    return text + (f". Averaged over {posterior.averaged}." if posterior.averaged else ".")


def _top_features(posterior: Posterior, labels: np.ndarray, names: np.ndarray, params: Settings) -> Table:
    n_top = max(1, min(params["n_top"], MOST_LISTED // len(labels)))
    deciding = np.abs(posterior.coefficients).max(axis=0)
    first = np.argsort(-deciding, kind="stable")
    places = top_places(posterior.loadings, n_top)[first]
    factor = np.repeat(first, places.shape[1])
    at = factor, places.ravel()
    return Table(
        {
            "Factor": labels[factor],
            "Rank": np.tile(np.arange(1, places.shape[1] + 1), len(labels)),
            "Feature": names[at[1]],
            "Loading": posterior.loadings[at],
            "Low": posterior.loading_interval[at][:, 0],
            "High": posterior.loading_interval[at][:, 1],
            "Shrinkage": posterior.shrinkage[at],
        },
        label="Strongest loadings",
        doc="Factors with the largest coefficients first. Mean, 95 % interval; shrinkage near 1: held at 0.",
    )


def _weight_name(params: Settings) -> str:
    """What the weights of the factors in a classifier are."""
    return "Mean slope" if params["classifier"] == "process" else "Coefficient"


def _factor_table(
    posterior: Posterior, setup: Setup, labels: np.ndarray, size: np.ndarray, params: Settings
) -> Table:
    columns = {"Factor": labels, "Size of loadings": size}
    titles, weight = _classifier_names(setup), _weight_name(params)
    columns |= {f"{weight}, {title}": posterior.coefficients[g] for g, title in enumerate(titles)}
    columns[f"Strongest {weight.lower()}"] = np.abs(posterior.coefficients).max(axis=0)
    return Table(columns, label="Factors")


def _classifier_names(setup: Setup) -> list[str]:
    return [setup.classes[1]] if len(setup.classes) == 2 else list(setup.classes)


def _classifiers(posterior: Posterior, setup: Setup, params: Settings) -> Results:
    """Coefficients by class, and by group of samples and class."""
    titles, label = _classifier_names(setup), _weight_name(params)
    shape = "boundary" if params["classifier"] == "process" else "plane"
    groups, g, k = posterior.beta.shape
    several = groups > 1
    both = [f"{title}, group {t + 1}" if several else title for t in range(groups) for title in titles]
    group_names = [f"Group {t + 1}" if several else "All samples" for t in range(groups)]
    used = int((posterior.group_size > 0.01).sum())
    return {
        "groups_title": f"{counted(used, 'group')} of samples, each with a plane of its own"
        if several
        else f"One {shape} for all samples",
        "classifier": Result(np.array(titles), ("classifier",), label="Class against the rest"),
        "coefficients": Result(posterior.coefficients, ("classifier", "factor"), label=label),
        "coefficient_interval": Result(
            posterior.coefficient_interval, ("classifier", "factor", "side"), label="95 % interval"
        ),
        "group_classifier": Result(np.array(both), ("group_classifier",), label="Group and class"),
        "group_coefficients": Result(
            posterior.beta.reshape(groups * g, k), ("group_classifier", "factor"), label="Coefficient"
        ),
        "group_coefficient_interval": Result(
            posterior.beta_interval.reshape(groups * g, k, 2),
            ("group_classifier", "factor", "side"),
            label="95 % interval",
        ),
        "offsets": Result(posterior.offsets, ("group", "classifier"), label="Offset"),
        "planes": Result(
            np.concatenate([posterior.beta, posterior.offsets[:, :, None]], axis=2),
            ("group", "classifier", "factor_and_offset"),
            label=label,
            doc="The offset last (0 where the boundary is no plane).",
        ),
        "group": Result(np.array(group_names), ("group",), label="Group"),
        "group_size": Result(posterior.group_size, ("group",), label="Share of samples"),
        "group_mean": Result(posterior.group_mean, ("group", "factor"), label="Centre of the group"),
        "group_sd": Result(1.0 / np.sqrt(posterior.group_precision), ("group",), label="SD of the group"),
    }
