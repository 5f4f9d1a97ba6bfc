"""Settings of the covariance, with the defaults and words of the regression."""

from __future__ import annotations

from dataclasses import replace

from plaidwork.core.api import Choice, Hyperparameter
from plaidwork.plugins.gp_auxiliary.shared.settings import COVARIANCE

CHOSEN = Choice(
    value="chosen",
    label="Chosen from the data",
    doc="Where values along a single input in even steps recur, as with the seasons of a year, a trend and a season: linear + matern32 + "
    "periodic * rbf. Else a squared exponential.",
)
SEASONAL = Choice(
    value="seasonal",
    label="Trend and season",
    doc="A straight line, slow changes around it, a season that may change slowly, and irregularities: "
    "linear + rbf + periodic * rbf + rational_quadratic.",
)


BY_GROUP = Choice(
    value="groups",
    label="Shared and by group",
    doc="A function that all groups share, and one of each group beside it: rbf + constant + same * rbf + same * constant.",
)


def _as_regression(item: Hyperparameter) -> Hyperparameter:
    """A setting of the covariance with the defaults and words of the regression."""
    when = {name: wanted for name, wanted in item.when.items() if name != "parameters"}
    if item.name in ("ard", "gamma", "gamma_sd", "intercept"):
        sums = {"ard": ("groups",), "intercept": ()}.get(item.name, ("seasonal", "groups"))
        when["covariance"] = (*when["covariance"], "chosen", *sums)
    item = replace(item, when=when)
    match item.name:
        case "covariance":
            doc = "How alike two samples are, and so how smooth the function may be."
            choices = (CHOSEN, *item.choices, SEASONAL, BY_GROUP)
            return replace(item, default="chosen", doc=doc, choices=choices)
        case "expression":
            return replace(
                item,
                doc=item.doc + " A periodic term recurs with “Period”; same is 1 between samples "
                "of one group, else 0.",
            )
        case "ard":
            return replace(item, default=True)
        case "intercept":
            doc = "A constant is added to the function, with a prior of its own. In a sum write + constant."
            return replace(item, label="Constant", doc=doc)
        case "amplitude":
            return replace(
                item,
                default=1.0,
                doc="Middle of the prior of the function's variance, where the values have 1.",
            )
        case "gamma":
            return replace(item, doc="Middle of its prior. 0: one over the number of inputs.")
        case "amplitude_sd":
            doc = "Standard deviation of the logarithm of each amplitude² and bias: 2 is a factor of 27 either way, at 90 %."
            return replace(item, default=2.0, doc=doc)
        case "gamma_sd":
            doc = (
                "Standard deviation of its logarithm. 0: 1.5, or 3 where each input has a length of its own."
            )
            return replace(item, default=0.0, minimum=0.0, doc=doc)
    return item


PERIOD = (
    Hyperparameter(
        "period",
        "float",
        1.0,
        label="Period",
        group="Covariance",
        doc="After how much of the input a season recurs, in its own units, such as 12 for months. Middle of a narrow prior. "
        "Matters where the covariance has a periodic term.",
        minimum=0.0,
        open_minimum=True,
        maximum=1e9,
        log=True,
        when={"covariance": ("seasonal", "expression")},
    ),
    Hyperparameter(
        "period_of",
        "text",
        "",
        label="Input that recurs",
        group="Covariance",
        doc="The name of the input that the period belongs to. Empty: the first one. Matters where the covariance has a periodic term.",
        when={"covariance": ("seasonal", "expression")},
    ),
)
_COMMON = tuple(_as_regression(item) for item in COVARIANCE if item.name != "parameters")
SHARED = (*_COMMON[:2], *PERIOD, *_COMMON[2:])
