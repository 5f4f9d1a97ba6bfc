"""The settings of both plaid models, as the form shows them."""

from __future__ import annotations

from typing import Any

from plaidwork.core.api import Choice, Hyperparameter

DATA_SD = "sd of the data"
MOST_REPLICAS = 32


def _positive(name: str, default: float, label: str, doc: str, group: str, **more: Any) -> Hyperparameter:
    return Hyperparameter(
        name, "float", default, label=label, doc=doc, group=group, minimum=0.0, open_minimum=True, **more
    )


def _count(name: str, default: int, low: int, high: int, label: str, doc: str, group: str, **more: Any):
    return Hyperparameter(
        name, "int", default, label=label, doc=doc, group=group, minimum=low, maximum=high, **more
    )


def _learned(name: str, label: str, doc: str) -> Hyperparameter:
    return Hyperparameter(name, "bool", True, label=label, doc=doc, group="Priors", advanced=True)


def _prior(name: str, default: float, label: str, doc: str, when: dict, positive: bool = True, **more: Any):
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
    _positive(
        "background_sd",
        1.0,
        "Uncertainty of the background",
        "Prior standard deviation of φ. Make it small for "
        "zero-heavy data, where the background is known to be near 0.",
        "Priors",
        unit=DATA_SD,
        advanced=True,
    ),
    _learned(
        "learn_noise", "Learn the noise", "Draw the noise precision τ0 in every sweep; otherwise it is fixed."
    ),
    _prior(
        "noise_shape",
        1.1,
        "Noise prior: shape",
        "Gamma(shape, rate) prior of the noise precision τ0.",
        {"learn_noise": True},
    ),
    _prior(
        "noise_rate",
        0.33,
        "Noise prior: rate",
        "In squared standard deviations of the data.",
        {"learn_noise": True},
    ),
    _prior(
        "noise_sd_value",
        1.0,
        "Noise standard deviation",
        "1/√τ0, kept fixed.",
        {"learn_noise": False},
        unit=DATA_SD,
    ),
    _learned(
        "learn_shift_mean",
        "Learn the mean shift",
        "Draw the mean μ of the blocks' shifts; otherwise it is fixed.",
    ),
    _prior(
        "shift_mean",
        0.0,
        "Mean shift expected",
        "Prior mean of μ, or μ itself when it is fixed.",
        {},
        positive=False,
        unit=DATA_SD,
    ),
    _prior(
        "shift_mean_variance",
        10.0,
        "Uncertainty of the mean shift",
        "Prior variance of μ, in squared standard deviations of the data.",
        {"learn_shift_mean": True},
    ),
    _learned(
        "learn_shift_spread",
        "Learn the spread of shifts",
        "Draw the precision τ of the shifts; otherwise it is fixed.",
    ),
    _prior(
        "shift_shape",
        1.1,
        "Shift prior: shape",
        "Gamma(shape, rate) prior of the precision τ of the shifts.",
        {"learn_shift_spread": True},
    ),
    _prior(
        "shift_rate",
        0.33,
        "Shift prior: rate",
        "In squared standard deviations of the data.",
        {"learn_shift_spread": True},
    ),
    _prior(
        "shift_sd_value",
        1.0,
        "Spread of shifts",
        "1/√τ, kept fixed.",
        {"learn_shift_spread": False},
        unit=DATA_SD,
    ),
)


def _annealing(first_weight: float) -> tuple[Hyperparameter, ...]:
    """Settings of warm starts and replicas; ``first_weight`` is the default of the first likelihood power."""
    return (
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
            first_weight,
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
        _count(
            "warm_starts",
            2,
            1,
            64,
            "Warm starts",
            "Independent copies that start warm side by side; the one of highest log joint goes on. "
            "More of them make a wrong end less likely and the warm-up longer.",
            "Tempering",
            when={"anneal": True},
        ),
        _count(
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


def _start(default: str, count_label: str) -> tuple[Hyperparameter, ...]:
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
        doc="State before the first sweep.",
    )
    return start, *(
        (
            _count(
                "start_blocks",
                5,
                0,
                1000,
                count_label,
                "How many blocks are drawn at the start.",
                "Start",
                when={"start": "prior"},
            ),
        )
        if count_label
        else ()
    )


INFINITE_SETTINGS = (
    _positive(
        "expected_blocks",
        1.0,
        "Blocks expected beforehand",
        "A guess is enough: the number is inferred. Low values keep out small blocks that fit chance.",
        "Blocks",
        when={"learn_mass": True},
    ),
    _count(
        "max_blocks",
        200,
        1,
        10_000,
        "At most",
        "The prior is cut off above this number of blocks.",
        "Blocks",
        advanced=True,
    ),
    *_start("empty", "Blocks at the start"),
    *PRIORS,
    _learned(
        "learn_mass", "Learn the number prior", "Draw the mass α in every sweep; otherwise it is fixed."
    ),
    _prior(
        "mass_shape",
        1.0,
        "Number prior: shape",
        "Shape of the Gamma prior of α; its mean is set by the expected number of blocks.",
        {"learn_mass": True},
    ),
    _prior(
        "mass_value",
        0.1,
        "Mass",
        "α, kept fixed; the expected number of blocks is α times the harmonic numbers of rows and columns.",
        {"learn_mass": False},
    ),
    Hyperparameter(
        "moves",
        "choice",
        "full",
        label="Moves",
        group="Moves",
        advanced=True,
        choices=(
            Choice(
                value="full",
                label="Whole blocks",
                doc="birth and death, seeded birth and death, split and merge",
            ),
            Choice(
                value="row_wise", label="Row by row", doc="the published move, repaired; slow, for comparison"
            ),
        ),
        doc="How blocks come and go.",
    ),
    _count(
        "birth_death",
        4,
        0,
        100,
        "Births and deaths",
        "Tries per sweep.",
        "Moves",
        advanced=True,
        when={"moves": "full"},
    ),
    _count(
        "seeded",
        4,
        0,
        100,
        "Seeded births and deaths",
        "Tries per sweep.",
        "Moves",
        advanced=True,
        when={"moves": "full"},
    ),
    _count(
        "split_merge",
        0,
        0,
        100,
        "Splits and merges",
        "Tries per sweep.",
        "Moves",
        advanced=True,
        when={"moves": "full"},
    ),
    Hyperparameter(
        "prior_share",
        "float",
        0.6,
        label="Births from the prior",
        group="Moves",
        minimum=0.01,
        maximum=0.99,
        advanced=True,
        when={"moves": "full"},
        doc="Share of births proposed from the prior instead of from the residual; it lets redundant blocks leave.",
    ),
    *_annealing(0.05),
)

FIXED_SETTINGS = (
    _count("blocks", 5, 1, 1000, "Number of blocks", "K, an upper bound: blocks may stay empty.", "Blocks"),
    *(
        _positive(
            f"{side}_{letter}",
            value,
            f"{title} prior: {letter}",
            f"Beta(a, b) prior of the share of {side}s in a block.",
            "Blocks",
            advanced=True,
        )
        for side, title in (("row", "Row share"), ("column", "Column share"))
        for letter, value in (("a", 1.0), ("b", 9.0))
    ),
    *_start("prior", ""),
    *PRIORS,
    *_annealing(0.1),
)
