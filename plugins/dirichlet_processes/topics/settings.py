"""The settings, as the form shows them."""

from __future__ import annotations

from typing import Any, TypedDict

from plaidwork.core.api import Hyperparameter


class TopicSettings(TypedDict):
    """Every setting with its type."""

    learn: bool
    alpha: float
    gamma: float
    eta: float
    alpha_shape: float
    alpha_rate: float
    gamma_shape: float
    gamma_rate: float
    eta_shape: float
    eta_rate: float
    left_out: float
    start_topics: int
    moves: int
    quick_sweeps: int


def _fixed(name: str, default: float, label: str, doc: str) -> Hyperparameter:
    return Hyperparameter(
        name, "float", default, label=label, group="Number of topics", minimum=1e-4, maximum=1e3, log=True,
        when={"learn": False}, doc=doc,
    )  # fmt: skip


def _prior(name: str, label: str, shape: float, rate: float) -> tuple[Hyperparameter, Hyperparameter]:
    """Shape and rate of the gamma prior of a concentration."""
    words: dict[str, Any] = {
        "group": "Number of topics",
        "advanced": True,
        "when": {"learn": True},
        "log": True,
    }
    return (
        Hyperparameter(
            f"{name}_shape", "float", shape, label=f"Shape of {label}'s prior", minimum=0.1, maximum=1e4,
            doc=f"Gamma prior of {label}, with mean shape / rate.", **words,
        ),
        Hyperparameter(
            f"{name}_rate", "float", rate, label=f"Rate of {label}'s prior", minimum=1e-3, maximum=1e4,
            doc=f"Gamma prior of {label}, with mean shape / rate.", **words,
        ),
    )  # fmt: skip


SETTINGS = (
    Hyperparameter(
        "learn", "bool", True, label="Learn the concentrations", group="Number of topics",
        doc="Infer how many topics a document has, how many there are, and how many words a topic has, with the rest.",
    ),
    _fixed("alpha", 1.0, "Alpha", "Concentration of a document's topics: small gives few topics in a document."),
    _fixed("gamma", 1.0, "Gamma", "Concentration of the topics: small gives few topics in all."),
    _fixed("eta", 0.05, "Eta", "Weight of each word in a topic: small gives topics of few words."),
    *_prior("alpha", "alpha", 1.0, 1.0),
    *_prior("gamma", "gamma", 1.0, 1.0),
    *_prior("eta", "eta", 1.0, 20.0),
    Hyperparameter(
        "left_out", "float", 0.1, label="Share of documents with words left out", group="Checking", minimum=0.0, maximum=0.5,
        doc="Of this share of the documents, taken by chance, every second word is left out of the fit. How well these words are told gives the "
        "perplexity, by which fits are compared. 0 uses all words.",
    ),
    Hyperparameter(
        "start_topics", "int", 0, label="Topics at the start", group="Moves", minimum=0, maximum=2000, advanced=True,
        doc="Every token begins in one of so many topics, taken by chance. 0 takes a number that suits the corpus, half as "
        "many in the first chain and half as many again in the fourth, so that chains that agree have found it.",
    ),
    Hyperparameter(
        "moves", "int", 2, label="Split-merge moves", group="Moves", minimum=0, maximum=1000, advanced=True,
        doc="Tries per sweep to split a topic or to merge two; they cross between sets of topics that single tokens cannot. With "
        "more than 100,000 tokens every tenth sweep alone has them after the warm-up.",
    ),
    Hyperparameter(
        "quick_sweeps", "int", 0, label="Quick sweeps between full ones", group="Moves", minimum=0, maximum=50, advanced=True,
        doc="Sweeps that draw the words of the topics first and then take time for the topics of the document alone. No topic comes "
        "or goes in them. They pay with some hundred topics.",
    ),
)  # fmt: skip
