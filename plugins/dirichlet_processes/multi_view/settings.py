"""The settings, as the form shows them."""

from __future__ import annotations

from typing import Any, Literal

from plaidwork.core.api import Choice, Hyperparameter
from plaidwork.plugins.dirichlet_processes.settings import BASE, COLUMNS, ColumnSettings, likelihoods_setting


class ViewSettings(ColumnSettings):
    """Every setting with its type."""

    learn: bool
    block_alpha: float
    alpha: float
    gamma: float
    block_alpha_shape: float
    block_alpha_rate: float
    alpha_shape: float
    alpha_rate: float
    gamma_shape: float
    gamma_rate: float
    block_moves: int
    moves: int
    scans: int
    start: Literal["varied", "together", "means", "random"]


GROUP = "Number of clusters"


def _fixed(name: str, label: str, doc: str) -> Hyperparameter:
    return Hyperparameter(
        name, "float", 1.0, label=label, group=GROUP, minimum=1e-4, maximum=1e3, log=True, when={"learn": False}, doc=doc,
    )  # fmt: skip


def _prior(name: str, label: str) -> tuple[Hyperparameter, Hyperparameter]:
    """Shape and rate of the gamma prior of a concentration."""
    words: dict[str, Any] = {"group": GROUP, "advanced": True, "when": {"learn": True}, "log": True}
    return (
        Hyperparameter(
            f"{name}_shape", "float", 1.0, label=f"Shape of the prior of {label}", minimum=0.1, maximum=1e4,
            doc=f"Gamma prior of {label}, with mean shape / rate.", **words,
        ),
        Hyperparameter(
            f"{name}_rate", "float", 1.0, label=f"Rate of the prior of {label}", minimum=1e-3, maximum=1e4,
            doc=f"Gamma prior of {label}, with mean shape / rate.", **words,
        ),
    )  # fmt: skip


SETTINGS = (
    likelihoods_setting(whole_rows=False),
    *COLUMNS,
    Hyperparameter(
        "learn", "bool", True, label="Learn the concentrations", group=GROUP,
        doc="Infer how many clusters a view has, how many blocks there are, and how far blocks differ, with the rest.",
    ),
    _fixed("block_alpha", "Concentration of blocks", "Concentration of the blocks of samples: small gives few of them."),
    _fixed("alpha", "Alpha", "Concentration of the clusters of a block: small ties the views, large lets blocks be alike."),
    _fixed("gamma", "Gamma", "Concentration of the clusters of a view: small gives few clusters."),
    *_prior("block_alpha", "the blocks' alpha"),
    *_prior("alpha", "alpha"),
    *_prior("gamma", "gamma"),
    *BASE,
    Hyperparameter(
        "block_moves", "int", 5, label="Split-merge moves of blocks", group="Moves", minimum=0, maximum=1000, advanced=True,
        doc="Tries per sweep to split a block of samples or to merge two, with the clusters as they are.",
    ),
    Hyperparameter(
        "moves", "int", 2, label="Split-merge moves of clusters", group="Moves", minimum=0, maximum=1000, advanced=True,
        doc="Tries per sweep and view to split a cluster or to merge two; they cross between clusterings that single samples cannot.",
    ),
    Hyperparameter(
        "scans", "int", 2, label="Scans before a split", group="Moves", minimum=0, maximum=100, advanced=True,
        doc="Restricted scans that improve a proposed split before it is judged, in every second move of clusters; the others have none.",
    ),
    Hyperparameter(
        "start", "choice", "varied", label="Start from", group="Moves", advanced=True,
        choices=(
            Choice(value="varied", label="Another start for each chain", doc="the three below in turn"),
            Choice(value="together", label="One cluster in every view"),
            Choice(value="means", label="k-means in every view", doc="with about √n clusters"),
            Choice(value="random", label="Eight clusters by chance"),
        ),
        doc="Clusters before the first sweep. Chains from different starts show whether they end at the same clusters.",
    ),
)  # fmt: skip
