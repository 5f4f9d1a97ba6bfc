"""What both plaid models declare: inputs, settings, variables, traces and views."""

from __future__ import annotations

from plaidwork.core.api import Input, ModelSpec, Schedule, Trace, Variable, View
from plaidwork.plugins.plaid.settings import FIXED_SETTINGS, INFINITE_SETTINGS

ISHIGURO = (
    "Ishiguro, K., Sato, I., Nakano, M., Kimura, A., Ueda, N. (2016). Infinite plaid models for infinite "
    "bi-clustering. AAAI Conference on Artificial Intelligence."
)
CALDAS = (
    "Caldas, J., Kaski, S. (2008). Bayesian biclustering with the plaid model. IEEE International Workshop on "
    "Machine Learning for Signal Processing."
)

INPUTS = (
    Input(
        "X",
        "matrix",
        "real",
        dims=("row", "column"),
        missing=True,
        holdout="cells",
        label="Matrix",
        doc="Numbers on one common scale; cells may be missing.",
        least=(80, 80),
        one_scale=True,
    ),
    Input(
        "start_rows",
        "matrix",
        "binary",
        dims=("row", "start_block"),
        required=False,
        label="Start rows",
        doc="Rows of each block at the start (1 = in the block).",
    ),
    Input(
        "start_columns",
        "matrix",
        "binary",
        dims=("column", "start_block"),
        required=False,
        label="Start columns",
        doc="Columns of each block at the start.",
    ),
    Input(
        "true_rows",
        "matrix",
        "binary",
        dims=("row", "true_block"),
        required=False,
        label="True rows",
        doc="Known rows of each block, to measure the agreement.",
    ),
    Input(
        "true_columns",
        "matrix",
        "binary",
        dims=("column", "true_block"),
        required=False,
        label="True columns",
        doc="Known columns of each block.",
    ),
)

MASS = Variable("alpha", label="Mass α", doc="mass of the two-way Indian buffet process")
VARIABLES = (
    Variable("Z1", ("block", "row"), "bool", ragged=True, label="Rows in block"),
    Variable("Z2", ("block", "column"), "bool", ragged=True, label="Columns in block"),
    Variable(
        "theta", ("block",), ragged=True, label="Shift", doc="shift of each block (θ), unit of the data"
    ),
    Variable("phi", label="Background", doc="level outside all blocks (φ), unit of the data"),
    Variable("tau0", label="Noise precision", doc="τ0, 1 / unit²"),
    Variable("mu", label="Mean shift", doc="prior mean of the shifts (μ), unit of the data"),
    Variable("tau", label="Shift precision", doc="prior precision of the shifts (τ), 1 / unit²"),
    Variable("log_joint", label="Log joint", doc="background, shifts and profiles integrated out"),
    Variable(
        "profile",
        ("profile", "column"),
        ragged=True,
        label="Column profile",
        doc="value of each block in each column, 0 outside it; empty when blocks are one shift",
    ),
    Variable(
        "row_weight",
        ("noise", "row"),
        ragged=True,
        label="Noise weight",
        doc="of each row, times τ0 its precision; empty unless asked for",
    ),
    Variable("row_effect", ("effect", "row"), ragged=True, label="Row effect", doc="empty unless asked for"),
    Variable(
        "column_effect",
        ("effect", "column"),
        ragged=True,
        label="Column effect",
        doc="empty unless asked for",
    ),
    Variable(
        "freedom",
        ("tails",),
        ragged=True,
        label="Degrees of freedom",
        doc="of Student's t noise, whose scale is 1/√τ0; empty with normal noise",
    ),
)

FIRST_TRACES = (
    Trace(
        "log_joint",
        "Log joint",
        hint="should level off; chains should end at one height",
        goal="up",
        primary=True,
    ),
    Trace("n_blocks", "Blocks", hint="number of blocks with rows and columns", kind="count"),
    Trace("covered", "Covered", hint="share of cells in any block", kind="share"),
    Trace("phi", "Background", hint="level outside all blocks"),
    Trace(
        "noise_sd",
        "Noise",
        hint="standard deviation around the blocks, with heavy tails their scale; falls as blocks are found",
    ),
    Trace("tau0", "Noise precision", hint="one over the noise variance"),
    Trace(
        "freedom",
        "Degrees of freedom",
        hint="of the noise, where it has heavy tails; from 30 on it is as good as normal",
        y_log=True,
        when={"layer": "shift", "noise": ("if_needed", "t")},
    ),
)
MASS_TRACE = Trace("alpha", "Mass", hint="how readily the prior makes blocks")
LAST_TRACES = (
    Trace("mu", "Mean shift", hint="centre of the blocks' shifts"),
    Trace("tau", "Shift precision", hint="large when the shifts are alike"),
    Trace(
        "held_out",
        "Held-out",
        hint="log density per held-out cell, averaged since the warm-up; higher predicts better",
        goal="up",
        judged=False,
    ),
    Trace("nmi", "NMI", hint="agreement with the true blocks, 1 is perfect", goal="up"),
)
SWAP_TRACE = Trace("swap", "Replica swaps", hint="share of exchanges accepted", kind="acceptance")
EXCHANGE_TRACE = Trace("exchange", "Exchanges", hint="share accepted", kind="acceptance")
MOVE_TRACES = (
    Trace("birth_death", "Births and deaths", hint="share accepted", kind="acceptance"),
    Trace("seeded", "Seeded births and deaths", hint="share accepted", kind="acceptance"),
    Trace("split_merge", "Splits and merges", hint="share accepted", kind="acceptance"),
    EXCHANGE_TRACE,
    Trace("row_wise", "Row-wise move", hint="share accepted", kind="acceptance"),
)

_PROBABILITY = {"scale": "sequential", "minimum": 0, "maximum": 1}
_SHARED = {**_PROBABILITY, "order": "by block"}
VIEWS = (
    View(
        "biclusters",
        "Blocks",
        {
            "matrix": "data:X",
            "rows": "block_rows",
            "cols": "block_columns",
            "blocks": "blocks",
            "fit": "fit",
            "coverage": "coverage",
            "row_list": "row_memberships",
            "column_list": "column_memberships",
        },
        headline="headline",
        caption="caption",
    ),
    View("table", "Rows", {"values": "row_memberships"}, group="Memberships"),
    View("table", "Columns", {"values": "column_memberships"}, group="Memberships"),
    *(
        View(
            "heatmap",
            f"{side.capitalize()}s",
            {"values": f"{side}_comembership"},
            options=_SHARED,
            group="Co-membership",
            headline=f"{side}s_headline",
            caption="shared_caption",
        )
        for side in ("row", "column")
    ),
    View(
        "bars",
        "Number of blocks",
        {"values": "k_probability", "x": "k_values"},
        options={"x_label": "number of blocks", "y_label": "probability"},
    ),
    View("table", "Chains", {"values": "chains"}),
)

DIMS = {
    "block": "block",
    "layer": "block",
    "profile": "block",
    "noise": "set of weights",
    "effect": "set of effects",
    "tails": "noise with heavy tails",
}

INFINITE_PLAID = ModelSpec(
    id="infinite_plaid",
    version="1.0.0",
    title="Infinite plaid",
    summary="Overlapping blocks of rows and columns whose values are shifted; **how many** is inferred.",
    tags=("biclustering", "overlapping", "nonparametric"),
    inputs=INPUTS,
    hyperparameters=INFINITE_SETTINGS,
    dims=DIMS,
    variables=(*VARIABLES, MASS),
    traces=(*FIRST_TRACES, MASS_TRACE, *LAST_TRACES, *MOVE_TRACES, SWAP_TRACE),
    views=VIEWS,
    state_version=2,
    schedule=Schedule(chains=4, warmup=500, draws=2000),
    citation=ISHIGURO,
    help=(
        "Every cell is the background plus the shifts of the blocks it lies in, plus Gaussian noise. Blocks may overlap, "
        "and rows and columns may be in none. Instead of one shift a block may have a profile: a value of its own for "
        "each of its columns.\n\n"
        "The paper does not write down the joint prior of the two membership matrices. This program takes the limit of "
        "finitely many independent blocks with both sides non-empty: the number of blocks is Poisson, and a side of a "
        "block has m members with probability proportional to 1/m. Row and column conditionals are then those of the "
        "paper. This is our choice.\n\n"
        "Blocks have no fixed labels. The list shows the draw of highest log joint; every other draw is matched to it. "
        "Chains clearly below the best are left out of it and named in the table of chains. Co-membership needs no labels "
        "and pools all chains; how far two halves of the chains correlate in it is said beside it. On real data, where "
        "many sums of blocks fit nearly alike, it says more than any one list."
    ),
)

BAYESIAN_PLAID = ModelSpec(
    id="bayesian_plaid",
    version="1.0.0",
    title="Bayesian plaid",
    summary="Overlapping blocks of rows and columns whose values are shifted; their number is given.",
    tags=("biclustering", "overlapping"),
    inputs=INPUTS,
    hyperparameters=FIXED_SETTINGS,
    dims=DIMS,
    variables=VARIABLES,
    traces=(*FIRST_TRACES, *LAST_TRACES, EXCHANGE_TRACE, SWAP_TRACE),
    views=VIEWS,
    state_version=2,
    schedule=Schedule(chains=4, warmup=700, draws=2000),
    citation=CALDAS,
    help=(
        "Every cell is the background plus the shifts of the blocks it lies in, plus Gaussian noise. The number of blocks "
        "is an upper bound: a block may stay empty. A block is one shift, or has a profile over its columns; row and "
        "column effects are an option."
    ),
)
