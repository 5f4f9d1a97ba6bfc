"""The settings of both plaid models, as the form shows them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from plaidwork.core.api import Choice, Hyperparameter
from plaidwork.plugins.plaid.setting_layers import LAYER_PRIORS, LAYERS, NOISE
from plaidwork.plugins.plaid.setting_parts import (
    ANNEALING,
    EXCHANGES,
    PRIORS,
    RECUTS,
    TOGETHER,
    count,
    learned,
    positive,
    prior,
    start_settings,
)

INFINITE_SETTINGS = (
    positive(
        "expected_blocks",
        1.0,
        "Blocks expected beforehand",
        "A guess is enough: the number is inferred. Low values keep out small blocks that fit chance.",
        "Blocks",
        when={"learn_mass": True},
    ),
    count(
        "max_blocks",
        200,
        1,
        10_000,
        "At most",
        "The prior is cut off above this number of blocks.",
        "Blocks",
        advanced=True,
    ),
    *LAYERS,
    NOISE,
    *start_settings("empty", "Blocks at the start"),
    *PRIORS,
    *LAYER_PRIORS,
    learned("learn_mass", "Learn the number prior", "Draw the mass α in every sweep; otherwise it is fixed."),
    prior(
        "mass_shape",
        1.0,
        "Number prior: shape",
        "Shape of the Gamma prior of α; its mean is set by the expected number of blocks.",
        {"learn_mass": True},
    ),
    prior(
        "mass_value",
        0.1,
        "Mass",
        "Kept fixed: α; the expected number of blocks is α times the harmonic numbers of rows and columns.",
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
        doc="How blocks come and go: by births, deaths, splits and merges, or row by row as it was published.",
    ),
    count(
        "birth_death",
        4,
        0,
        100,
        "Births and deaths",
        "Tries per sweep to add a block drawn by chance, or to remove one.",
        "Moves",
        advanced=True,
        when={"moves": "full"},
    ),
    count(
        "seeded",
        4,
        0,
        100,
        "Seeded births and deaths",
        "Tries per sweep to add a block around a row or column that is not explained yet, or to remove one.",
        "Moves",
        advanced=True,
        when={"moves": "full", "layer": "shift"},
    ),
    count(
        "split_merge",
        0,
        0,
        100,
        "Splits and merges",
        "Tries per sweep to split a block in two, or to merge two into one.",
        "Moves",
        advanced=True,
        when={"moves": "full", "layer": "shift"},
    ),
    replace(EXCHANGES, when={"moves": "full"}),
    replace(RECUTS, when={"moves": "full", "layer": "shift"}),
    replace(TOGETHER, when={"moves": "full", "layer": "shift"}),
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
    *ANNEALING,
)

RECOMBINED: dict[str, dict[str, Any]] = {
    "anneal_start": {"default": 0.1},
    "recombine": {"default": 24},
}
"""How a fixed number of blocks, where no births move blocks about, starts otherwise."""

FIXED_SETTINGS = (
    count("blocks", 5, 1, 1000, "Number of blocks", "K, an upper bound: blocks may stay empty.", "Blocks"),
    *(
        positive(
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
    *LAYERS,
    NOISE,
    *start_settings("prior", ""),
    *PRIORS,
    *LAYER_PRIORS,
    replace(EXCHANGES, default=8, earlier=0),
    RECUTS,
    replace(TOGETHER, default=4, earlier=0),
    *(replace(p, **RECOMBINED.get(p.name, {})) for p in ANNEALING),
)
