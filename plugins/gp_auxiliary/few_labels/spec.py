"""What the Gaussian process model with unlabelled samples declares."""

from __future__ import annotations

from dataclasses import replace

from plaidwork.core.api import Choice, Hyperparameter, Input, ModelSpec, Schedule, Trace, Variable, View
from plaidwork.plugins.gp_auxiliary.classes.spec import (
    ALBERT,
    AUXILIARY,
    DIMS,
    ROGERS,
    SPLIT,
    TRACES,
    VARIABLES,
    VIEWS,
    X,
    labels,
)
from plaidwork.plugins.gp_auxiliary.shared.settings import COVARIANCE, NULL, SAMPLING

LAWRENCE = (
    "Lawrence, N. D., Jordan, M. I. (2004). Semi-supervised learning via Gaussian processes. Advances in Neural "
    "Information Processing Systems 17.\n"
    "Rogers, S., Girolami, M. (2007). Multi-class semi-supervised learning with the ε-truncated multinomial probit "
    "Gaussian process. JMLR Workshop and Conference Proceedings 1, 17-32."
)
SYED = (
    "Syed, S., Bouchard-Côté, A., Deligiannidis, G., Doucet, A. (2022). Non-reversible parallel tempering: a scalable "
    "highly parallel MCMC scheme. Journal of the Royal Statistical Society B 84, 321-350."
)

TRUTH = Input(
    "truth",
    "labels",
    "categorical",
    dims=("sample",),
    samples="sample",
    missing=True,
    required=False,
    label="Classes to score by",
    doc="Known classes of unlabelled samples. They are never fitted: they only measure the predictions.",
)


MANY_INPUTS = Hyperparameter(
    "many_inputs",
    "bool",
    True,
    earlier=False,
    label="Longer for many inputs",
    group="Covariance",
    doc="Where γ comes from the samples, of more than two inputs: the length times (inputs / 2)^¼. With many inputs all samples are about as far "
    "from each other, and with the shorter length what is not labelled may all go to one class.",
    advanced=True,
    when={"gamma": 0.0},
)


def _covariance(item: Hyperparameter) -> Hyperparameter:
    """Other defaults than for labelled samples alone: see NOTES.md, “Defaults with unlabelled samples”."""
    if item.name == "parameters":
        return replace(
            item,
            default="fixed",
            choices=(
                Choice(value="fixed", label="Fixed", doc="As given below."),
                Choice(
                    value="inferred",
                    label="Inferred",
                    doc="Drawn along with the rest. The null category likes long lengths, whatever the classes.",
                ),
            ),
        )
    if item.name == "amplitude":
        return replace(item, default=25.0)
    if item.name == "gamma":
        return replace(
            item,
            doc="0: from the samples, a tenth of all pairs of which are nearer than the length. The middle of its prior "
            "when it is inferred.",
        )
    return item


def _sampling(item: Hyperparameter) -> Hyperparameter:
    return replace(item, default=1) if item.name == "site_sweeps" else item


SWAPS = (
    Trace("swap", "lowest swap rate", kind="acceptance"),
    Trace(
        "returned",
        "round trips a sweep",
        kind="acceptance",
        hint="of copies between no null category and the full one",
    ),
    Trace("upper", "unlabelled in the upper classes", kind="share", hint="which grouping the chain is in"),
)

TEMPERING = (
    View(
        "table",
        "Groupings",
        {"values": "modes"},
        headline="modes_headline",
        caption="modes_note",
        group="Groupings",
    ),
    View(
        "bars",
        "Swap rates",
        {"values": "swap_table"},
        headline="swap_headline",
        caption="swap_note",
        group="Groupings",
    ),
    View(
        "curve",
        "Way of a copy",
        {"values": "way", "x": "way_x"},
        headline="way_headline",
        caption="way_note",
        options={"x_label": "draw", "y_label": "half width of the null category"},
        group="Groupings",
    ),
    View(
        "table",
        "Chains",
        {"values": "chains"},
        headline="modes_headline",
        caption="chains_note",
        group="Groupings",
    ),
)

_AFTER = next(i for i, view in enumerate(VIEWS) if view.kind == "surface") + 1

SEMI_SAMPLER = Schedule(chains=4, warmup=300, draws=800)

SEMI = ModelSpec(
    id="gp_semi_classes",
    version="1.1",
    title="Gaussian process, few labels",
    summary="A few labelled and many unlabelled samples: the boundary between two or more classes goes where no samples "
    "are.",
    tags=("classification", "Gaussian process", "semi-supervised"),
    inputs=(
        X,
        replace(
            labels("Two classes or more. A sample without a label, an empty cell, is unlabelled."), few=True
        ),
        TRUTH,
        SPLIT,
    ),
    hyperparameters=(
        *NULL,
        *(_covariance(item) for item in COVARIANCE),
        MANY_INPUTS,
        *(_sampling(item) for item in SAMPLING),
    ),
    dims=DIMS
    | {
        "rung": "copies of the chain, by the width of their null category",
        "pair": "neighbouring rungs",
    },
    variables=(
        *VARIABLES,
        Variable("width", ("rung",), label="Half width of the null category"),
        Variable("copy", ("rung",), dtype="int", label="Copy at each rung"),
        Variable("swap_rate", ("pair",), label="Swaps taken so far", doc="share, since the warm-up"),
        Variable(
            "trips", ("rung",), dtype="int", label="Round trips so far", doc="of each copy, since the warm-up"
        ),
    ),
    traces=(*TRACES, *SWAPS),
    views=(
        *VIEWS[:_AFTER],
        *TEMPERING,
        AUXILIARY,
        *VIEWS[_AFTER:],
    ),
    schedule=SEMI_SAMPLER,
    state_version=2,
    citation=f"{LAWRENCE}\n{SYED}\n{ROGERS}\n{ALBERT}",
)
