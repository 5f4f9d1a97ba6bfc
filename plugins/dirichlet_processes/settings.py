"""The settings, as the form shows them."""

from __future__ import annotations

from typing import Literal, TypedDict

from plaidwork.core.api import Choice, Hyperparameter, whole_numbers

NUMBERS, JOINT, CODES, COUNTS, ROWS = "gaussian", "gaussian_full", "categorical", "poisson", "multinomial"
"""Kinds of likelihood."""


class ColumnSettings(TypedDict):
    """What the columns are, and the priors of the parameters of clusters, with their types."""

    likelihoods: str
    whole_numbers: Literal["marked", "values"]
    standardise: bool
    exposure: Literal["none", "total"]
    few_values: Literal["categories", "matrix"]
    learn_base: bool
    within: float
    within_shape: float
    mean_weight: float
    level_weight: float
    rate_shape: float


class Settings(ColumnSettings):
    """Every setting of the mixture with its type."""

    correlated_columns: int
    judge_columns: bool
    learn_shape: bool
    least_shape: float
    least_within: float
    share_weight: float
    prior: Literal["dirichlet", "pitman_yor", "finite"]
    learn_alpha: bool
    alpha: float
    alpha_shape: float
    alpha_rate: float
    learn_discount: bool
    discount: float
    moves: int
    cluster_moves: int
    scans: int
    anneal: float
    rungs: int
    least_power: float
    start: Literal["varied", "together", "sequential", "means", "random"]


def likelihoods_setting(whole_rows: bool) -> Hyperparameter:
    """What each matrix is; ``whole_rows`` where the model takes laws of rows whose columns are not independent within a cluster."""
    together = Choice(
        value=JOINT, label="Numbers, columns correlated within a cluster", suits=("real", "ordinal"),
        most_columns="correlated_columns", if_together="judge_columns",
        doc="Every cluster has a full covariance matrix, so that an oblique cloud is one cluster.",
    )  # fmt: skip
    shares = Choice(
        value=ROWS, label="Counts share a total (multinomial)", suits=(),
        doc="A row is a total of counts that falls on the columns in the cluster's shares, as words of a document or reads of a sample do: "
        "clusters differ in shares, not in how much was counted. A row is known as a whole or missing.",
    )  # fmt: skip
    guess = (
        "else numbers, whose columns are correlated within a cluster where they go together in groups of similar samples (see “Judge columns”)."
        if whole_rows
        else "else numbers."
    )
    return Hyperparameter(
        "likelihoods", "text", "", label="Likelihoods", group="Data", per="views",
        doc="What the values of a matrix are. By its values: 0 and 1 are yes or no, which are categories, whole numbers from 0 on are "
        f"counts, {guess}",
        choices=(
            Choice(value="guess", label="By its values"),
            *((together,) if whole_rows else ()),
            Choice(
                value=NUMBERS, label="Numbers, columns independent within a cluster", suits=("real", "ordinal"),
                doc="Every column has a mean and a variance of its own in every cluster.",
            ),
            Choice(value=CODES, label="Yes or no, categories", suits=("binary", "categorical")),
            Choice(value=COUNTS, label="Counts (Poisson)", suits=("count",)),
            *((shares,) if whole_rows else ()),
        ),
    )  # fmt: skip


LIKELIHOODS = likelihoods_setting(whole_rows=True)
"""What each matrix is, with all there is to choose."""

COLUMNS = (
    whole_numbers("Data"),
    Hyperparameter(
        "standardise", "bool", True, label="Standardise columns", group="Data",
        doc="Numbers get mean 0 and variance 1 in every column, and the rates of counts are relative to the column's mean; results are "
        "in the unit of the data. The priors below are meant for such columns.",
    ),
    Hyperparameter(
        "exposure", "choice", "none", label="Exposure of counts", group="Data",
        choices=(
            Choice(value="none", label="The same for all samples"),
            Choice(value="total", label="The sample's total", doc="clusters differ in shares, not in how much was counted"),
        ),
        doc="What the rate of a sample is proportional to. Matters in matrices of counts.",
    ),
    Hyperparameter(
        "few_values", "choice", "categories", label="Columns with few values", group="Data", earlier="matrix",
        choices=(
            Choice(value="categories", label="Are categories"),
            Choice(value="matrix", label="Are like the rest of their matrix"),
        ),
        doc="In a matrix that is taken by its values, columns that come back to at most ten values while others do not, such as sex, "
        "stage or a yes or no, have a share of each value in every cluster, not a mean. Of counts these are columns of zeros and ones. "
        "Columns whose words were read as categories always have.",
    ),
)  # fmt: skip
"""What the columns are, besides."""

BASE = (
    Hyperparameter(
        "learn_base", "bool", True, label="Learn spread and centres", group="Clusters",
        doc="Infer what the clusters have in common: the usual variance within one and the centre of each column, how far "
        "clusters lie apart, the usual rate of each column of counts.",
    ),
    Hyperparameter(
        "within", "float", 0.2, label="Variance within a cluster", group="Clusters", minimum=1e-6, maximum=1e6, log=True,
        doc="Of numbers: what is expected at first where it is learned, else its prior mean. 1 is that of "
        "the whole column where columns are standardised.",
    ),
    Hyperparameter(
        "within_shape", "float", 2.5, label="Likeness of the spreads", group="Clusters", minimum=1.05, maximum=1e4, log=True,
        advanced=True, doc="Shape of the inverse gamma law of the variances: large makes clusters alike in spread, and where "
        "columns are correlated in their correlations too: try 15 where clusters with many correlated columns are too many.",
    ),
    Hyperparameter(
        "mean_weight", "float", 1.0, label="Weight of the common centre", group="Clusters", minimum=1e-6, maximum=1e6, log=True,
        advanced=True,
        doc="How many samples the common centre counts for in a cluster's mean: its prior mean where it is learned, else itself.",
    ),
    Hyperparameter(
        "level_weight", "float", 1.0, label="Weight of each category", group="Clusters", minimum=1e-3, maximum=1e4, log=True,
        advanced=True, doc="Dirichlet weight of each category of a column: below 1 lets clusters be nearly pure. Matters in "
        "matrices of categories.",
    ),
    Hyperparameter(
        "rate_shape", "float", 1.0, label="Likeness of the rates", group="Clusters", minimum=1e-2, maximum=1e4, log=True,
        advanced=True, doc="Shape of the gamma law of the rates of counts: large makes clusters alike. Matters in matrices of counts.",
    ),
)  # fmt: skip
"""Priors of the parameters of clusters."""

ALPHA = {"prior": ("dirichlet", "pitman_yor")}

SETTINGS = (
    LIKELIHOODS,
    Hyperparameter(
        "correlated_columns", "int", 60, label="Most columns taken as correlated", group="Data", minimum=0, maximum=1000, advanced=True,
        earlier=0, doc="Numbers whose likelihood is left to their values may be taken as correlated within a cluster where a matrix has so "
        "many columns at most, else they are independent. The time of a sweep grows with the square of their number.",
    ),
    Hyperparameter(
        "judge_columns", "bool", True, label="Judge columns", group="Data", advanced=True, earlier=False,
        doc="Numbers whose likelihood is left to their values are taken as correlated within a cluster only where their columns go together "
        "within groups of similar samples, and not merely because the groups differ in them: the evidence of k-means groups with and without "
        "correlations is compared before the fit. Off: the number of columns alone decides.",
    ),
    *COLUMNS,
    Hyperparameter(
        "prior", "choice", "dirichlet", label="Prior of the clusters", group="Number of clusters",
        choices=(
            Choice(value="dirichlet", label="Dirichlet process", doc="who belongs with whom; ever more clusters with more samples"),
            Choice(value="pitman_yor", label="Pitman-Yor process", doc="more small clusters beside a few large ones"),
            Choice(value="finite", label="Finite mixture", doc="a true number of clusters, which is asked for"),
        ),
        doc="The law of the partition before the data are seen.",
    ),
    Hyperparameter(
        "learn_alpha", "bool", True, label="Learn alpha", group="Number of clusters", when=ALPHA,
        doc="Infer the concentration alpha with the rest.",
    ),
    Hyperparameter(
        "alpha", "float", 1.0, label="Alpha", group="Number of clusters", minimum=1e-6, maximum=1e4, log=True,
        when={**ALPHA, "learn_alpha": False},
        doc="Concentration; under a Dirichlet process about alpha log(1 + n / alpha) clusters are expected.",
    ),
    Hyperparameter(
        "alpha_shape", "float", 2.0, label="Shape of alpha's prior", group="Number of clusters", minimum=0.1, maximum=1e4,
        advanced=True, when={**ALPHA, "learn_alpha": True}, doc="Gamma prior of alpha, with mean shape / rate.",
    ),
    Hyperparameter(
        "alpha_rate", "float", 2.0, label="Rate of alpha's prior", group="Number of clusters", minimum=1e-3, maximum=1e4,
        advanced=True, when={**ALPHA, "learn_alpha": True}, doc="Gamma prior of alpha, with mean shape / rate.",
    ),
    Hyperparameter(
        "learn_discount", "bool", True, label="Learn the discount", group="Number of clusters", when={"prior": "pitman_yor"},
        doc="Infer the discount with the rest; its prior is Beta(1, 3).",
    ),
    Hyperparameter(
        "discount", "float", 0.25, label="Discount", group="Number of clusters", minimum=0.0, maximum=0.99,
        when={"prior": "pitman_yor", "learn_discount": False},
        doc="Each cluster hands on so much of its weight to new ones; 0 is a Dirichlet process.",
    ),
    *BASE,
    Hyperparameter(
        "learn_shape", "bool", True, label="Learn the likeness of the spreads", group="Clusters", when={"learn_base": True}, earlier=False,
        doc="Of numbers: infer how alike the clusters are in spread, and where columns are correlated in their correlations too, with the rest. "
        "“Likeness of the spreads” is its prior median then, but for its bound. Without, clusters of many correlated columns tend to be too many.",
    ),
    Hyperparameter(
        "least_shape", "float", 2.5, label="Least likeness of the spreads", group="Clusters", minimum=1.0, maximum=1e4, advanced=True,
        when={"learn_base": True, "learn_shape": True}, earlier=1.0,
        doc="No likeness below this is inferred. At 1, which is no bound, values that come back make clusters of single values.",
    ),
    Hyperparameter(
        "least_within", "float", 1e-8, label="Least variance within a cluster", group="Clusters", minimum=0.0, maximum=1e6, advanced=True,
        earlier=0.0, doc="Of numbers whose spread is learned: the variance that is expected within a cluster is no less than this, 1 being that of the "
        "whole column where columns are standardised, and no less than that of rounding where values of a column come back (the square of the "
        "smallest step between them over 12). Columns of one value, and correlated ones that follow from others, are left out. 0: none of "
        "this, and equal values or rows on a plane may make clusters without any width.",
    ),
    Hyperparameter(
        "share_weight", "float", 0.05, label="Weight of each share", group="Clusters", minimum=1e-6, maximum=1e4, log=True, advanced=True,
        doc="Dirichlet weight of each column where counts share a total: its prior mean where it is learned, else itself. Small lets a "
        "cluster have few of the columns, as a topic has few of all words; 1 makes all shares equally probable.",
    ),
    Hyperparameter(
        "moves", "int", 4, label="Split-merge moves", group="Moves", minimum=0, maximum=1000, advanced=True,
        doc="Tries per sweep to split a cluster or to merge two; they cross between clusterings that single samples cannot.",
    ),
    Hyperparameter(
        "cluster_moves", "int", 20, label="Split-merge moves of any cluster", group="Moves", minimum=0, maximum=1000, advanced=True, earlier=0,
        doc="Further tries per sweep, for which small clusters are chosen as often as large ones; the others choose two samples, which are seldom both in small ones.",
    ),
    Hyperparameter(
        "scans", "int", 2, label="Scans before a split", group="Moves", minimum=0, maximum=100, advanced=True,
        doc="Restricted scans that improve a proposed split before it is judged, in every second move; the others have none.",
    ),
    Hyperparameter(
        "anneal", "float", 0.0, label="Annealed part of the warm-up", group="Moves", minimum=0.0, maximum=1.0, advanced=True, when={"rungs": 1},
        doc="In the first part of the warm-up, so large a share of it, the data count less, so that a chain leaves its start more easily: their density "
        "is taken to a power that rises from 0.1 to 1. After that the chain is as without. 0: the data count in full from the first sweep.",
    ),
    Hyperparameter(
        "rungs", "int", 1, label="Chain and tempered copies", group="Moves", minimum=1, maximum=32, advanced=True,
        doc="Above 1 each chain has so many copies less one, for which the data count less and less, and which change places with it: they cross "
        "between clusterings that splits and merges do not. A sweep takes as many times longer. Not for correlated columns with missing cells.",
    ),
    Hyperparameter(
        "least_power", "float", 0.1, label="Least power", group="Moves", minimum=1e-3, maximum=0.99, advanced=True,
        when={"rungs": tuple(range(2, 33))}, doc="How much the data count in the last copy: the power of their density.",
    ),
    Hyperparameter(
        "start", "choice", "varied", label="Start from", group="Moves", advanced=True,
        choices=(
            Choice(value="varied", label="Another start for each chain", doc="the four below in turn"),
            Choice(value="together", label="One cluster"),
            Choice(value="sequential", label="One sample after the other", doc="each drawn given those before it"),
            Choice(value="means", label="k-means", doc="with about √n clusters"),
            Choice(value="random", label="Eight clusters by chance"),
        ),
        doc="Clusters before the first sweep. Chains from different starts show whether they end at the same clusters.",
    ),
)  # fmt: skip
