"""Settings of what a cell is made of besides blocks: profiles, effects, noise, and their priors."""

from __future__ import annotations

from typing import Any

from plaidwork.core.api import Choice, Hyperparameter
from plaidwork.plugins.plaid.setting_parts import prior

LAYERS = (
    Hyperparameter(
        "layer",
        "choice",
        "shift",
        label="Blocks are",
        group="Blocks",
        choices=(
            Choice(value="shift", label="One shift", doc="the same in all cells of a block"),
            Choice(
                value="profile",
                label="A profile over the columns",
                doc="each column of a block has a value of its own, spread around the block's shift",
            ),
        ),
        doc="A profile predicts measured data such as gene expression better; "
        "one shift suits data in which blocks are flat.",
    ),
    Hyperparameter(
        "row_noise",
        "bool",
        False,
        label="Noise of its own for each row",
        group="Blocks",
        when={"layer": "profile"},
        doc="Rows differ in how noisy they are: precision τ0 times a weight with a Gamma(2, 2) prior for each row.",
    ),
    Hyperparameter(
        "effects",
        "bool",
        False,
        label="Row and column effects in any case",
        group="Blocks",
        doc="A level of its own for each row and each column, besides the blocks. For data that were not standardised.",
    ),
    Hyperparameter(
        "effects_if_needed",
        "bool",
        True,
        label="Row and column effects where the data need them",
        group="Blocks",
        when={"effects": False, "layer": "shift"},
        earlier=False,
        doc="Levels of whole rows and columns are fitted where a fifth of the variance or more lies between the medians of the rows, or of the "
        "columns. From 20 rows and columns on.",
    ),
)


NOISE = Hyperparameter(
    "noise",
    "choice",
    "if_needed",
    label="Noise",
    group="Blocks",
    when={"layer": "shift"},
    earlier="normal",
    choices=(
        Choice(value="normal", label="Normal", doc="values far out become small blocks"),
        Choice(
            value="if_needed",
            label="With heavy tails where the data need them",
            doc="normal, or Student's t where three cells in a thousand or more lie far out once the largest components are taken off",
        ),
        Choice(
            value="t",
            label="With heavy tails",
            doc="Student's t, whose degrees of freedom are learned: near normal noise where they are many",
        ),
    ),
    doc="How values scatter around the blocks. With heavy tails single values far out are noise and need no blocks; a sweep takes about three times as long.",
)


def _precision(name: str, label: str, doc: str, when: dict[str, Any]) -> tuple[Hyperparameter, ...]:
    """Shape and rate of the Gamma prior of a precision."""
    return (
        prior(f"{name}_shape", 1.1, f"{label}: shape", f"Gamma(shape, rate) prior of {doc}.", when),
        prior(f"{name}_rate", 0.33, f"{label}: rate", "In squared standard deviations of the data.", when),
    )


LAYER_PRIORS = (
    *_precision(
        "profile", "Profile prior", "the precision of a profile around its shift", {"layer": "profile"}
    ),
    *_precision(
        "effect",
        "Effect prior",
        "the precision of row and of column effects",
        {"effects": True},
    ),
    prior(
        "freedom_shape",
        2.0,
        "Degrees of freedom: shape",
        "Gamma(shape, rate) prior of the degrees of freedom of the noise, where it has heavy tails; from 1 to 200.",
        {"layer": "shift", "noise": ("if_needed", "t")},
    ),
    prior(
        "freedom_rate",
        0.1,
        "Degrees of freedom: rate",
        "The mean of the prior is shape over rate.",
        {"layer": "shift", "noise": ("if_needed", "t")},
    ),
)
