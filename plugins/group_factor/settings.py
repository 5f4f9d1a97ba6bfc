"""The settings, as the form shows them."""

from __future__ import annotations

from typing import Any, Literal

from plaidwork.core.api import Choice, Hyperparameter, whole_numbers


def _prior(name: str, default: float, label: str, doc: str, **more: Any) -> Hyperparameter:
    return Hyperparameter(
        name,
        "float",
        default,
        label=label,
        doc=doc,
        group="Priors",
        minimum=0.0,
        open_minimum=True,
        advanced=True,
        **more,
    )


def _number(
    name: str, default: float, low: float, high: float, label: str, doc: str, group: str, **more: Any
):
    kind: Literal["int", "float"] = "int" if isinstance(default, int) else "float"
    return Hyperparameter(
        name, kind, default, label=label, doc=doc, group=group, minimum=low, maximum=high, **more
    )  # fmt: skip


SMALL_COUNTS = 3.5
"""Mean of the counts of a view up to which the bound of the Poisson likelihood is tight enough to find factors (see NOTES.md)."""
LIKELIHOODS = Hyperparameter(
    "likelihoods", "text", "", label="Likelihoods", group="Views", per="views",
    doc="What the values of a view are. By its values: 0 and 1 are yes or no, whole numbers from 0 on counts (large ones as logarithms), "
    "else numbers.",
    choices=(
        Choice(value="guess", label="By its values"),
        Choice(value="gaussian", label="Numbers (Gaussian)", suits=("real", "ordinal")),
        Choice(value="bernoulli", label="Yes or no (Bernoulli)", suits=("binary",)),
        Choice(
            value="log", label="Counts as logarithms (Gaussian)", doc="of 1 + count", suits=("count",), above_mean="log_above"
        ),
        Choice(value="poisson", label="Counts (Poisson)", suits=("count",)),
    ),
)  # fmt: skip
"""What the values of each view are."""

SETTINGS = (
    _number("n_factors", 10, 1, 100, "Factors", "At the start; weak ones are dropped during the fit.", "Factors"),
    _number(
        "min_r2", 0.005, 0.0, 0.1, "Drop factors below",
        "Share of the deviance that a factor has to explain in some view. 0 drops only factors without any weight.",
        "Factors",
    ),
    Hyperparameter(
        "grow", "bool", False, label="Add factors", group="Factors", advanced=True,
        doc="While the bound rises enough, from sweep 100 on: components of what the factors leave over become factors too, two "
        "at a time.",
    ),
    _number(
        "grow_gain", 100.0, 0.0, 1e6, "Rise of the bound for more", "Nats that new factors have to gain, or they are taken back.",
        "Factors", advanced=True, when={"grow": True},
    ),
    _number("most_factors", 25, 1, 200, "Factors at most", "From so many factors on none is added any more.", "Factors", advanced=True, when={"grow": True}),
    LIKELIHOODS,
    whole_numbers("Views"),
    _number(
        "log_above", SMALL_COUNTS, 0.0, 1e9, "Counts as logarithms above",
        "Mean of the counts of a view above which log(1 + count) is fitted where no likelihood is said; 0: never. The bound of the Poisson "
        "likelihood is loose for large counts and hides factors.", "Views", advanced=True, earlier=0.0,
    ),
    Hyperparameter(
        "scale_views", "bool", False, label="Scale views", group="Views",
        doc="Divide each Gaussian view by its standard deviation.", when={"scale_features": ("unlike", "none")},
    ),
    Hyperparameter(
        "scale_features", "choice", "unlike", label="Scale features", group="Views", earlier="none",
        doc="Divide each feature of a Gaussian view by its standard deviation. Without that factors describe the features with the largest "
        "numbers. Weights are then of standardised features.",
        choices=(
            Choice(
                value="unlike", label="Where it is needed",
                doc="Where two or three features have nearly all of the variance, or in a table of up to 50 features some have next to none, apart from a "
                "few outliers. Else a view with a standard deviation below 0.1 or above 5 is divided by that.",
            ),
            Choice(value="all", label="Always"),
            Choice(value="none", label="Never"),
        ),
    ),
    Hyperparameter(
        "centre_views", "bool", True, label="Centre views", group="Views", advanced=True,
        doc="Take the mean of each Gaussian feature off, in every sample group. Off: values are taken as they are, for views "
        "that are centred already.",
    ),
    Hyperparameter(
        "intercept", "bool", True, label="Intercepts", group="Views", advanced=True,
        doc="A base rate of each feature in Bernoulli and Poisson views.",
    ),
    Hyperparameter(
        "group_intercepts", "bool", True, label="Intercepts by sample group", group="Views", advanced=True, earlier=False,
        when={"intercept": True},
        doc="Each sample group has base rates of its own, where groups are given; else groups that differ in nothing but "
        "their rates get a factor.",
    ),
    Hyperparameter(
        "bernoulli_bound", "choice", "jaakkola", label="Bernoulli bound", group="Views", advanced=True,
        choices=(
            Choice(value="jaakkola", label="Jaakkola", doc="tighter"),
            Choice(value="bohning", label="Böhning", doc="constant curvature"),
        ),
        doc="Quadratic bound of the Bernoulli likelihood.",
    ),
    Hyperparameter(
        "slab", "choice", "full", label="Spike and slab", group="Factors", advanced=True,
        choices=(
            Choice(value="full", label="Full", doc="a weight keeps its prior where it is switched off (as MOFA)"),
            Choice(value="collapsed", label="Collapsed", doc="a weight is 0 where it is switched off"),
        ),
        doc="Form of the approximation of switched-off weights.",
    ),
    Hyperparameter(
        "init", "choice", "varimax", label="Start from", group="Start",
        choices=(
            Choice(value="varimax", label="Rotated principal components", doc="fastest"),
            Choice(value="pca", label="Principal components"),
            Choice(value="random", label="Random factors"),
            Choice(value="given", label="Given values", doc="the input “Start values”"),
        ),
        doc="Factor values before the first sweep. Restarts from different places show whether they end at the same solution.",
    ),
    _number(
        "start_noise", 0.2, 0.0, 10.0, "Noise at the start",
        "Standard deviation of noise added to the components, so that restarts differ.", "Start", advanced=True,
        when={"init": ("varimax", "pca", "given")},
    ),
    Hyperparameter(
        "intercept_start", "choice", "rates", label="Intercepts at the start", group="Start", advanced=True,
        choices=(
            Choice(value="rates", label="Base rates", doc="those of the feature"),
            Choice(value="zero", label="Zero"),
        ),
        doc="Base rates of the features before the first sweep: their share or mean in the data, or zero.", when={"intercept": True},
    ),
    _number(
        "start_variance", 1.0, 0.001, 10.0, "Variance at the start",
        "Of the factor values before the first sweep. Small values hold on to the start; 1 is that of the prior.", "Start",
        advanced=True, earlier=0.02,
    ),
    Hyperparameter(
        "dtype", "choice", "float32", label="Cells in memory", group="Views", advanced=True,
        choices=(
            Choice(value="float32", label="Single precision", doc="half the memory, and faster"),
            Choice(value="float64", label="Double precision"),
        ),
        doc="Numbers of samples by features. Sums, factor values and weights are in double precision always.",
    ),
    Hyperparameter(
        "steps", "choice", "exact", label="Weights are updated", group="Large data", advanced=True,
        choices=(
            Choice(value="exact", label="Once a sweep", doc="when all samples have been met: the bound never falls"),
            Choice(
                value="stochastic", label="After every batch of samples, at first",
                doc="with decreasing steps, so that the first passes over many samples get further; exact sweeps then end the fit",
            ),
        ),
        doc="The weights of Gaussian views without gaps.",
    ),
    _number(
        "stochastic_passes", 3, 1, 1000, "Stochastic passes", "Passes over all samples before the first exact sweep.", "Large data",
        advanced=True, when={"steps": "stochastic"},
    ),
    _number(
        "batch_samples", 1024, 1, 10**9, "Samples of a batch", "Neighbours in the data; the order of the batches is random.", "Large data",
        advanced=True, when={"steps": "stochastic"},
    ),
    _number(
        "step_decay", 0.6, 0.5, 1.0, "Decay of the steps",
        "Step number t has the size (B + t) to the power of minus this, B the batches of a pass.", "Large data", advanced=True,
        when={"steps": "stochastic"},
    ),
    _number("drop_start", 10, 1, 1000, "Drop from sweep", "First sweep before which factors may leave.", "Factors", advanced=True),
    _number("drop_every", 5, 1, 1000, "Drop every", "Sweeps between two looks at weak factors.", "Factors", advanced=True),
    _number("theta_start", 0, 0, 100, "Learn sparsity from sweep", "Until then the share of active weights is 1/2.", "Factors", advanced=True),
    _prior("weight_shape", 1e-3, "Weight precision: shape", "Gamma prior of the precision of weights, by factor and view."),
    _prior("weight_rate", 1e-3, "Weight precision: rate", "Second number of that prior, near 0 as the shape: the data decide how large weights are."),
    _prior("sparsity_a", 1.0, "Active weights: a", "Beta(a, b) prior of the share of active weights, by factor and view."),
    _prior("sparsity_b", 1.0, "Active weights: b", "Second number of that prior: a larger b expects fewer active weights."),
    _prior("noise_shape", 1e-3, "Noise precision: shape", "Gamma prior of the noise precision of Gaussian features."),
    _prior("noise_rate", 1e-3, "Noise precision: rate", "Second number of that prior, near 0 as the shape: the data decide how much is noise."),
    _prior("intercept_variance", 25.0, "Intercept variance", "Prior variance of the base rates, on the scale of log odds or log counts.", when={"intercept": True}),
)  # fmt: skip
