"""What the model of counts and links declares: inputs, variables, traces and views."""

from __future__ import annotations

from dataclasses import replace

from plaidwork.core.api import ModelSpec, Schedule, Trace, Variable
from plaidwork.plugins.plaid.counts.settings import COUNT_SETTINGS
from plaidwork.plugins.plaid.spec import INPUTS, ISHIGURO, VIEWS

CITATION = (
    f"{ISHIGURO}\nKarrer, B., Newman, M. E. J. (2011). Stochastic blockmodels and community structure in networks. "
    "Physical Review E 83, 016107.\nZhou, M. (2015). Infinite edge partition models for overlapping "
    "community detection and link prediction. AISTATS."
)

MATRIX = replace(
    INPUTS[0],
    dtype="count",
    sparse=True,
    least=(40, 40),
    about="links",
    doc="Counts, or links as 0 and 1, mostly 0; cells may be missing. A sparse matrix stays sparse.",
)

VARIABLES = (
    Variable("Z1", ("block", "row"), "bool", ragged=True, label="Rows in block"),
    Variable("Z2", ("block", "column"), "bool", ragged=True, label="Columns in block"),
    Variable(
        "theta",
        ("block",),
        ragged=True,
        label="Shift",
        doc="what a block adds to the rate of each of its cells (times the levels of row and column, where it adds in proportion to them)",
    ),
    Variable("level", label="Background", doc="rate outside all blocks where both levels are 1"),
    Variable(
        "row_degree",
        ("row_levels", "row"),
        ragged=True,
        label="Row level",
        doc="factor in the background; empty unless asked for",
    ),
    Variable(
        "column_degree",
        ("column_levels", "column"),
        ragged=True,
        label="Column level",
        doc="factor in the background; empty unless asked for",
    ),
    Variable("alpha", label="Mass α", doc="mass of the two-way Indian buffet process"),
    Variable("rate", label="Prior rate", doc="shape over what a block is expected to add"),
    Variable("log_joint", label="Log joint", doc="without the factorials of the counts"),
)

TRACES = (
    Trace(
        "log_joint",
        "Log joint",
        hint="should level off; chains should end at one height",
        goal="up",
        primary=True,
    ),
    Trace("n_blocks", "Blocks", hint="number of blocks with rows and columns", kind="count"),
    Trace(
        "covered",
        "Covered",
        hint="share of cells in any block, also in one that adds next to nothing",
        kind="share",
        judged=False,
    ),
    Trace("background", "Background", hint="mean rate of a cell outside all blocks"),
    Trace(
        "explained", "In blocks", hint="share of the expected sum of all cells that blocks add", kind="share"
    ),
    Trace(
        "row_spread",
        "Spread of rows",
        hint="standard deviation of the rows' levels in the background, 1 on average",
    ),
    Trace(
        "column_spread",
        "Spread of columns",
        hint="standard deviation of the columns' levels in the background, 1 on average",
    ),
    Trace("alpha", "Mass", hint="how readily the prior makes blocks"),
    Trace(
        "held_out",
        "Held-out",
        hint="log probability per held-out cell, averaged since the warm-up; higher predicts better",
        goal="up",
        judged=False,
    ),
    Trace("nmi", "NMI", hint="agreement with the true blocks, 1 is perfect", goal="up"),
    Trace("birth_death", "Births and deaths", hint="share accepted", kind="acceptance"),
    Trace("one_to_two", "One to two and back", hint="share accepted", kind="acceptance"),
)

PLAID_COUNTS = ModelSpec(
    id="plaid_counts",
    version="1.0.0",
    title="Plaid of counts and links",
    summary="Overlapping blocks of rows and columns with **more counts or links** than their levels explain; how many is inferred.",
    tags=("biclustering", "overlapping", "nonparametric", "counts", "networks"),
    inputs=(MATRIX, *INPUTS[1:]),
    hyperparameters=COUNT_SETTINGS,
    dims={
        "block": "block",
        "layer": "block",
        "row_levels": "set of row levels",
        "column_levels": "set of column levels",
    },
    variables=VARIABLES,
    traces=TRACES,
    views=VIEWS,
    schedule=Schedule(chains=4, warmup=300, draws=1000),
    citation=CITATION,
    help=(
        "A count is Poisson. Its rate is the product of a level of the row, a level of the column and the sum of a background and of "
        "what the blocks add that the cell lies in. Of 0/1 data a cell is 1 when such a count is above 0; there what a block adds is "
        "the same to each of its cells, unless “Blocks add” says otherwise. Blocks may overlap; rows "
        "and columns may be in none. As zeros cost nothing, the time goes with the cells above 0, and a sparse matrix is never "
        "made dense by the fit.\n\n"
        "The prior of the blocks is that of the infinite plaid model: their number is Poisson, and a side of a block has m "
        "members with probability proportional to 1/m.\n\n"
        "Counts that vary more than Poisson ones given any blocks (the same few cells in the thousands) are split into many "
        "small blocks. “0/1: whether there is any” then finds the larger pattern.\n\n"
        "Blocks have no fixed labels. The list shows the draw of highest log joint; every other draw is matched to it. "
        "Co-membership needs no labels and pools all chains."
    ),
)
