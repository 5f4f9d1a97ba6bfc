"""Settings that both plaid models have: of the blocks, priors, start and tempering, as the form shows them."""

from __future__ import annotations

from typing import Any

from plaidwork.core.api import Choice, Hyperparameter

DATA_SD = "sd of the data"
MOST_REPLICAS = 32


def positive(name: str, default: float, label: str, doc: str, group: str, **more: Any) -> Hyperparameter:
    return Hyperparameter(
        name, "float", default, label=label, doc=doc, group=group, minimum=0.0, open_minimum=True, **more
    )


def count(name: str, default: int, low: int, high: int, label: str, doc: str, group: str, **more: Any):
    return Hyperparameter(
        name, "int", default, label=label, doc=doc, group=group, minimum=low, maximum=high, **more
    )


def learned(name: str, label: str, doc: str) -> Hyperparameter:
    return Hyperparameter(name, "bool", True, label=label, doc=doc, group="Priors", advanced=True)


def prior(name: str, default: float, label: str, doc: str, when: dict, positive: bool = True, **more: Any):
    rule: dict[str, Any] = {"minimum": 0.0, "open_minimum": True} if positive else {}
    return Hyperparameter(
        name, "float", default, label=label, doc=doc, group="Priors", advanced=True, when=when, **rule, **more
    )


PRIORS = (
    Hyperparameter(
        "scale",
        "bool",
        True,
        label="Fit the priors to the scale of the data",
        group="Priors",
        doc="Prior means, spreads and rates are given in standard deviations of the data. Switch off to give them "
        "in the unit of the data. Results are in the unit of the data either way.",
    ),
    Hyperparameter(
        "background_at",
        "choice",
        "median",
        label="Background expected at",
        group="Priors",
        choices=(
            Choice(value="median", label="Median of the data"),
            Choice(value="mean", label="Mean of the data"),
            Choice(value="value", label="A given value"),
        ),
        doc="Where the level outside all blocks (φ) lies a priori.",
    ),
    Hyperparameter(
        "background_mean",
        "float",
        0.0,
        label="Expected background",
        group="Priors",
        when={"background_at": "value"},
        doc="Prior mean of the background φ, in the unit of the data. 0 suits counts and zero-heavy data.",
    ),
    positive(
        "background_sd",
        1.0,
        "Uncertainty of the background",
        "Prior standard deviation of φ. Make it small for "
        "zero-heavy data, where the background is known to be near 0.",
        "Priors",
        unit=DATA_SD,
        advanced=True,
    ),
    learned(
        "learn_noise", "Learn the noise", "Draw the noise precision τ0 in every sweep; otherwise it is fixed."
    ),
    prior(
        "noise_shape",
        1.1,
        "Noise prior: shape",
        "Gamma(shape, rate) prior of the noise precision τ0.",
        {"learn_noise": True},
    ),
    prior(
        "noise_rate",
        0.33,
        "Noise prior: rate",
        "In squared standard deviations of the data.",
        {"learn_noise": True},
    ),
    prior(
        "noise_sd_value",
        1.0,
        "Noise standard deviation",
        "How far values scatter around the blocks, in the unit of the fit; 1/√τ0, kept fixed.",
        {"learn_noise": False},
        unit=DATA_SD,
    ),
    learned(
        "learn_shift_mean",
        "Learn the mean shift",
        "Draw the mean μ of the blocks' shifts; otherwise it is fixed.",
    ),
    prior(
        "shift_mean",
        0.0,
        "Mean shift expected",
        "Prior mean of μ, or μ itself when it is fixed.",
        {},
        positive=False,
        unit=DATA_SD,
    ),
    prior(
        "shift_mean_variance",
        10.0,
        "Uncertainty of the mean shift",
        "Prior variance of μ, in squared standard deviations of the data.",
        {"learn_shift_mean": True},
    ),
    learned(
        "learn_shift_spread",
        "Learn the spread of shifts",
        "Draw the precision τ of the shifts; otherwise it is fixed.",
    ),
    prior(
        "shift_shape",
        1.1,
        "Shift prior: shape",
        "Gamma(shape, rate) prior of the precision τ of the shifts.",
        {"learn_shift_spread": True},
    ),
    prior(
        "shift_rate",
        0.33,
        "Shift prior: rate",
        "In squared standard deviations of the data.",
        {"learn_shift_spread": True},
    ),
    prior(
        "shift_sd_value",
        1.0,
        "Spread of shifts",
        "How far the blocks' shifts lie from 0, in the unit of the fit; 1/√τ, kept fixed.",
        {"learn_shift_spread": False},
        unit=DATA_SD,
    ),
)


EXCHANGES = count(
    "exchanges",
    0,
    0,
    100,
    "Exchanges between blocks",
    "Tries per sweep to let two blocks swap their rows or columns, or to replace those of one by the difference of both.",
    "Moves",
    advanced=True,
)


RECUTS = count(
    "recuts",
    32,
    0,
    10_000,
    "Pairs cut another way",
    "Pairs of blocks per sweep of which it is tried to cut what they cover together another way: a block less a part of it becomes a block, or two "
    "side by side. Pairs that it does not fit cost next to nothing.",
    "Moves",
    advanced=True,
    when={"layer": "shift"},
    earlier=0,
)


TOGETHER = count(
    "together",
    0,
    0,
    8,
    "Blocks drawn at once",
    "In each sweep rows and columns are also drawn into so many blocks at once, picked at random: they can then change between "
    "blocks that make up for each other. The time doubles with each.",
    "Moves",
    advanced=True,
    when={"layer": "shift"},
)


ANNEALING = (
    Hyperparameter(
        "anneal",
        "bool",
        True,
        label="Start warm",
        group="Tempering",
        doc="During most of the warm-up the data count only in part, so that a bad start is forgotten. Draws kept are exact.",
    ),
    Hyperparameter(
        "anneal_start",
        "float",
        0.05,
        label="First weight of the data",
        group="Tempering",
        minimum=0.0,
        maximum=1.0,
        advanced=True,
        when={"anneal": True},
        doc="Likelihood power β of the first sweep; it rises geometrically to 1. 0 chooses it from the size of the matrix.",
    ),
    Hyperparameter(
        "anneal_share",
        "float",
        0.7,
        label="Share of the warm-up",
        group="Tempering",
        minimum=0.01,
        maximum=1.0,
        advanced=True,
        when={"anneal": True},
        doc="Part of the warm-up sweeps over which the weight rises to 1.",
    ),
    count(
        "warm_starts",
        0,
        0,
        64,
        "Warm starts",
        "Independent copies that start warm side by side; the one of highest log joint goes on. "
        "More of them make a wrong end less likely and the warm-up longer. 0 chooses their number from the size of the matrix: "
        "6 up to 80,000 cells, of larger ones fewer; for a fixed number of blocks 24 up to 20,000.",
        "Tempering",
        when={"anneal": True},
        earlier=2,
    ),
    count(
        "recombine",
        12,
        0,
        1000,
        "Rounds of recombination",
        "In each round every warm start takes about half of its blocks from another, is warmed to a part and cooled again, and "
        "goes on when that was better. Data of which many sums of blocks fit nearly alike need it.",
        "Tempering",
        when={"anneal": True},
        earlier=0,
    ),
    count(
        "replicas",
        1,
        1,
        MOST_REPLICAS,
        "Parallel replicas",
        "Warmer copies that exchange states with the chain that is kept "
        "(parallel tempering). 1 switches it off; the time grows in proportion.",
        "Tempering",
    ),
    Hyperparameter(
        "warmest",
        "float",
        0.3,
        label="Weight of the data in the warmest replica",
        group="Tempering",
        minimum=0.0,
        open_minimum=True,
        maximum=1.0,
        advanced=True,
        when={"replicas": tuple(range(2, MOST_REPLICAS + 1))},
        doc="Likelihood power β of the last replica; the others lie between, geometrically.",
    ),
)


def start_settings(default: str, count_label: str) -> tuple[Hyperparameter, ...]:
    start = Hyperparameter(
        "start",
        "choice",
        default,
        label="Start from",
        group="Start",
        choices=(
            Choice(value="empty", label="No blocks"),
            Choice(value="prior", label="Random blocks", doc="drawn from the prior"),
            Choice(value="given", label="Given blocks", doc="the inputs “Start rows” and “Start columns”"),
        ),
        doc="The blocks before the first sweep. Chains from different starts show whether they end at the same blocks.",
    )
    return start, *(
        (
            count(
                "start_blocks",
                5,
                0,
                1000,
                count_label,
                "How many blocks are drawn at the start; the fit adds and removes some.",
                "Start",
                when={"start": "prior"},
            ),
        )
        if count_label
        else ()
    )
