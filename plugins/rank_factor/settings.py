"""The settings, as the form shows them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from plaidwork.core.api import Choice, Hyperparameter

RANK = {"likelihood": "rank"}
MIXTURE = {"classifier": "nonlinear"}
PLANES = {"classifier": ("linear", "nonlinear")}
PROCESS = {"classifier": "process"}


def _number(
    name: str, default: float, low: float, high: float, label: str, doc: str, group: str, **more: Any
) -> Hyperparameter:
    kind: Literal["int", "float"] = "int" if isinstance(default, int) else "float"
    return Hyperparameter(
        name, kind, default, label=label, doc=doc, group=group, minimum=low, maximum=high, **more
    )  # fmt: skip


def _positive(name: str, default: float, high: float, label: str, doc: str, group: str, **more: Any):
    return _number(name, float(default), 0.0, high, label, doc, group, open_minimum=True, **more)


def _prior(name: str, default: float, label: str, doc: str, **more: Any) -> Hyperparameter:
    return _positive(name, default, 10.0, label, doc, "Priors", advanced=True, **more)


SETTINGS = (
    Hyperparameter(
        "likelihood", "choice", "rank", label="Data enter by", group="Model",
        choices=(
            Choice(value="rank", label="Ranks", doc="only the order of a feature's values counts"),
            Choice(value="gaussian", label="Values", doc="normal noise around the factors, features standardised"),
        ),
        doc="Ranks need no assumption about the scale of a feature and are not moved by outliers.",
    ),
    Hyperparameter(
        "scheme", "choice", "levels", label="Comparisons", group="Model", when=RANK,
        choices=(
            Choice(value="levels", label="With thresholds", doc="samples against thresholds between the levels"),
            Choice(value="pairs", label="Between samples", doc="samples of neighbouring levels; slower"),
        ),
        doc="What the order of the values is turned into.",
    ),
    _number("n_levels", 8, 0, 1000, "Levels", "Features with more distinct values are cut into so many groups of like "
            "size. 0 keeps every value.", "Model", when=RANK),
    Hyperparameter(
        "classifier", "choice", "linear", label="Classifier", group="Model",
        choices=(
            Choice(value="linear", label="Linear", doc="one plane through the factor scores"),
            Choice(value="nonlinear", label="Mixture of planes", doc="a plane for each group of samples"),
            Choice(value="process", label="Gaussian process", doc="a smooth boundary of any shape, through scores that the "
                   "labels did not shape; fewest errors with hundreds of samples, more with few"),
        ),
        doc="How the labels follow from the factor scores.",
    ),
    _number("n_factors", 30, 1, 200, "Factors", "How many there may be; those that the data do not need shrink to nothing.", "Model"),
    _number("n_components", 8, 2, 50, "Groups at most", "Of samples, each with its own classifier.", "Model",
            when=MIXTURE),
    _positive("label_weight", 3.0, 1000.0, "Weight of the labels", "The labels are few beside the data; more than 1 makes "
              "the factors separate the classes better.", "Model"),
    Hyperparameter(
        "bias", "bool", True, label="Offset of the classifiers", group="Model", advanced=True, when=PLANES,
        doc="Let a classifier prefer a class when all scores are 0.",
    ),
    _positive("boundary_length", 0.7, 100.0, "Length of the boundary", "How far the boundary's values go together, as a share of the "
              "usual distance of two samples: less lets it bend more.", "Model", when=PROCESS),
    _positive("boundary_size", 2.0, 100.0, "Size of the boundary's values", "Prior standard deviation; a sample whose value is 1 or "
              "more is on the right side with margin.", "Model", advanced=True, when=PROCESS),
    _number("coefficient_size", 5.0, 0.0, 1e6, "Coefficients: at most about", "Standard deviation of a normal factor on each coefficient, beside the "
            "shrinkage: labels that are all right with margin hold the coefficients from below only. 0: none.", "Priors", advanced=True,
            when={"classifier": "linear"}, earlier=0.0),
    _number("loading_size", 1.5, 0.0, 1e6, "Loadings: at most about", "Standard deviation of a normal factor on each loading, in margins, beside the "
            "shrinkage: a feature that a factor has to itself holds its loading from below only. 0: none.", "Priors", advanced=True,
            when={**RANK, "classifier": "linear"}, earlier=0.0),
    Hyperparameter(
        "within_features", "bool", True, label="No more factors than features", group="Model", advanced=True, earlier=False,
        doc="Further factors would load on nothing and follow the labels alone.",
    ),
    Hyperparameter(
        "interweave", "bool", True, label="Move scales of the shrinkage together", group="Model", advanced=True, earlier=False,
        when={"classifier": ("linear", "process")},
        doc="One more step in a sweep for each scale of the priors, and for the size of each linear classifier: chains "
        "settle sooner, the answer is the same. Not with a mixture of planes.",
    ),
    Hyperparameter(
        "classes", "text", "", label="Classes", group="Samples",
        doc="Labels that are allowed, with commas, in the order of the results; of two the second is the positive one. "
        "Empty: all that occur.",
    ),
    Hyperparameter(
        "test_name", "text", "test", label="Test samples are called", group="Samples",
        doc="The word in “Split”, in whichever case, that keeps a sample from the fit; it is then predicted. Where no sample is called “test”, "
        "validation, holdout and the like count too.",
    ),
    _number("test_share", 0.0, 0.0, 0.9, "Share for the test", "Of the labelled samples of each class, drawn at random: they "
            "are predicted, not fitted. Counts only without a “Split”.", "Samples"),
    Hyperparameter(
        "image_shape", "array", (), label="Image shape", group="Results",
        doc="Rows and columns when the features are the pixels of images, row by row.",
    ),
    _number("n_top", 200, 1, 2000, "Features listed per factor", "How many features of each factor the table of the strongest loadings lists.", "Results"),
    _number("similarity", 0.8, 0.1, 0.999, "Similar from", "Cosine of two features' loadings from which they are linked.",
            "Results"),
    Hyperparameter(
        "shown_feature", "text", "", label="Feature of the rank fit", group="Results",
        doc="Name of the feature whose fitted values are shown against the data. Empty: the one with the strongest loading.",
    ),
    _positive("margin", 2.0, 100.0, "Margin", "Distance by which neighbouring levels should be apart. More lets the data weigh more against the priors.", "Priors",
              advanced=True, when=RANK),
    _positive("threshold_sd", 10.0, 1e4, "Spread of the thresholds", "Standard deviation of the thresholds between levels before the data are seen.", "Priors",
              advanced=True, when={**RANK, "scheme": "levels"}),
    _prior("loading_shape", 0.5, "Loadings: shape r", "With r = s = 1/2 the prior is the horseshoe."),
    _prior("loading_rate", 0.5, "Loadings: shape s", "Larger values make the smallest loadings less small; the rate of the variance is Gamma(s)."),
    _prior("coefficient_shape", 0.5, "Classifier: shape r", "With r = s = 1/2 the prior is the horseshoe.", when=PLANES),
    _prior("coefficient_rate", 0.5, "Classifier: shape s", "Larger values make the smallest coefficients less small; the rate of the variance is Gamma(s).", when=PLANES),
    _prior("precision_shape", 1.0, "Groups: shape of the precision", "Precisions of the groups of samples are Gamma(shape, rate); more makes groups alike in spread.", when=MIXTURE),
    _prior("precision_rate", 1.0, "Groups: rate of the precision", "Second number of that prior: a larger rate expects groups that spread more widely.", when=MIXTURE),
    _prior("mass_shape", 1.0, "Groups: shape of the mass", "The mass says how readily groups appear, and is Gamma(shape, rate): a larger shape expects more groups.", when=MIXTURE),
    _prior("mass_rate", 1.0, "Groups: rate of the mass", "Second number of that prior: a larger rate expects fewer groups of samples.", when=MIXTURE),
    _prior("noise_shape", 1.0, "Noise: shape", "Variances of the features' noise are inverse gamma; more makes them more alike.", when={"likelihood": "gaussian"}),
    _prior("noise_rate", 1.0, "Noise: rate", "Second number of that prior: a larger rate expects more noise.", when={"likelihood": "gaussian"}),
)  # fmt: skip


SAMPLED_ALONE = ("coefficient_size", "loading_size", "interweave")


def _without_process(setting: Hyperparameter) -> Hyperparameter:
    kept = tuple(choice for choice in setting.choices if choice.value != "process")
    return replace(setting, choices=kept, when={} if setting.when == PLANES else setting.when)


FAST_SETTINGS = tuple(
    _without_process(setting)
    for setting in SETTINGS
    if setting.when != PROCESS and setting.name not in SAMPLED_ALONE
)
"""Those of the ascent, which knows planes alone."""
