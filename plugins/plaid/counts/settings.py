"""The settings of the model of counts and links, as the form shows them."""

from __future__ import annotations

from plaidwork.core.api import Choice, Hyperparameter
from plaidwork.plugins.plaid.setting_parts import count, learned, positive, prior, start_settings


def _degrees(side: str) -> Hyperparameter:
    return Hyperparameter(
        f"{side}_degrees",
        "bool",
        True,
        label=f"{side.capitalize()}s differ in level",
        group="Background",
        doc=f"Every {side} has a factor of its own in the background, so that a busy {side} is no block. "
        f"Switch off when all {side}s are alike, or when there may be one block only: levels of rows and columns explain "
        f"a single block as well as the block does.",
    )


BLOCKS_ADD = Hyperparameter(
    "blocks_add",
    "choice",
    "auto",
    label="Blocks add",
    group="Blocks",
    choices=(
        Choice(
            value="auto",
            label="By the data",
            doc="in proportion to the levels for counts, the same to each cell for links",
        ),
        Choice(
            value="by_level",
            label="In proportion to the levels",
            doc="a busy row has more in a block as it has outside (degree-corrected)",
        ),
        Choice(value="alike", label="The same to each cell", doc="whatever the levels of its row and column"),
    ),
    doc="What a block adds to the rate of a cell: its shift times the levels of row and column, or the shift alone. Without "
    "levels both are the same.",
    earlier="alike",
)

COUNT_SETTINGS = (
    Hyperparameter(
        "likelihood",
        "choice",
        "auto",
        label="Cells are",
        group="Cells",
        choices=(
            Choice(value="auto", label="As in the data", doc="0/1 where no cell is above 1, else counts"),
            Choice(value="poisson", label="Counts", doc="Poisson, given the blocks"),
            Choice(
                value="bernoulli",
                label="0/1: whether there is any",
                doc="only whether a cell is above 0; for links, and for counts that vary more than Poisson ones",
            ),
        ),
        doc="What a cell tells. With 0/1 a cell is 1 when a Poisson count with the sum of its rates is above 0.",
    ),
    positive(
        "expected_blocks",
        0.3,
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
    _degrees("row"),
    _degrees("column"),
    BLOCKS_ADD,
    *start_settings("empty", "Blocks at the start"),
    prior(
        "degree_shape",
        0.5,
        "Levels prior: shape",
        "Shape of the Gamma prior of how alike the levels are.",
        {},
    ),
    prior(
        "degree_rate",
        0.005,
        "Levels prior: rate",
        "Rate of that prior. A row's (column's) level is Gamma(d, d) around 1, d from 1 on; it is large when they are alike.",
        {},
    ),
    prior(
        "background_shape",
        0.5,
        "Background prior: shape",
        "Shape of the Gamma prior of the background's rate.",
        {},
    ),
    prior(
        "background_rate",
        0.5,
        "Background prior: rate",
        "Second number of that prior: a larger rate expects lower counts outside the blocks.",
        {},
    ),
    learned(
        "learn_block_rate",
        "Learn the blocks' prior",
        "Draw the prior mean of what blocks add in every sweep; otherwise it is fixed.",
    ),
    prior(
        "block_rate",
        1.0,
        "Expected in a block",
        "What a block is expected to add to the rate of each of its cells; the guess from which it is learned.",
        {},
    ),
    prior(
        "block_shape",
        2.0,
        "Expected in a block: shape",
        "Shape of the Gamma prior of what a block adds: above 1 blocks that add next to nothing are unlikely, at 1 (exponential) "
        "they are the most likely ones.",
        {},
        earlier=1.0,
    ),
    prior(
        "block_rate_shape",
        1.0,
        "Blocks' prior: shape",
        "Shape of the Gamma prior of one over what a block adds; large values hold on to the guess.",
        {"learn_block_rate": True},
    ),
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
    count(
        "birth_death",
        4,
        0,
        100,
        "Births and deaths",
        "Tries per sweep to add a block or to remove one; more find blocks sooner and take longer.",
        "Moves",
        advanced=True,
    ),
    count(
        "one_to_two",
        1,
        0,
        100,
        "One block to two and back",
        "Tries per sweep to put two blocks in the place of one, or one in the place of two. 0/1 data need it.",
        "Moves",
        advanced=True,
    ),
    count(
        "level_births",
        4,
        0,
        100,
        "Births and deaths with levels",
        "Tries per sweep to add or remove a block and to draw the levels of its rows or columns with it: a block that stands for "
        "busy rows can then leave.",
        "Moves",
        advanced=True,
        when={"blocks_add": "alike"},
        earlier=0,
    ),
    count(
        "level_scans",
        2,
        0,
        100,
        "Passes with levels",
        "Passes per sweep over a random block in which each row and column is tried on its other side, in or out, with a new "
        "level: blocks that stand for busy rows or columns can then shrink and grow.",
        "Moves",
        advanced=True,
        when={"blocks_add": "alike"},
        earlier=0,
    ),
    count(
        "seeded",
        4,
        0,
        100,
        "Births and deaths from one member",
        "Tries per sweep to add a block that is found from one row or column, or to remove one as it would be found from one of "
        "its own: small blocks that fit chance can then leave as fast as they come.",
        "Moves",
        advanced=True,
        earlier=0,
    ),
    count(
        "small_births",
        8,
        0,
        100,
        "Births and deaths of small blocks",
        "Rounds per sweep of eight tries to add or remove a block of a few cells, or of a part of one row or column: small blocks "
        "that fit chance come and go. Only blocks that add by level are moved so.",
        "Moves",
        advanced=True,
        when={"blocks_add": ("auto", "by_level")},
        earlier=0,
    ),
    Hyperparameter(
        "prior_share",
        "float",
        0.6,
        label="Blocks from the prior",
        group="Moves",
        minimum=0.01,
        maximum=0.99,
        advanced=True,
        doc="Share of the blocks proposed from the prior instead of from the data; it lets redundant blocks leave.",
    ),
    count(
        "warm_starts",
        4,
        1,
        64,
        "Warm starts",
        "Independent copies at the beginning of the warm-up; the one of highest log joint goes on.",
        "Start",
        advanced=True,
    ),
    Hyperparameter(
        "warm_share",
        "float",
        0.6,
        label="Share of the warm-up",
        group="Start",
        minimum=0.01,
        maximum=1.0,
        advanced=True,
        doc="Part of the warm-up sweeps that all copies make, and in which the levels are held back at first.",
    ),
)
