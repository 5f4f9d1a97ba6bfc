"""What a state and the settings hold, by name. N training documents, D kept words, K topics, P covariates, L groups."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict, get_args

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Prior = Literal["finite", "stick"]
Sum = Literal["raw", "gram", "total", "ny", "spread", "cover_nu", "tally"]
Transform = Literal["count", "log1p", "binary", "tfidf"]
TopicArray = Literal[
    "nu", "phi", "rows", "raw", "offset", "outer", "cov", "gram", "total", "ny", "spread", "cover_nu"
]  # fmt: skip
"""Arrays with an axis of topics."""
SUMS: tuple[Sum, ...] = get_args(Sum)
"""Sums of the pass over documents."""
KEPT: tuple[Sum, ...] = tuple(name for name in SUMS if name != "tally")
"""Those that stochastic steps move towards those of a batch."""


class Settings(TypedDict):
    """The settings, in canonical type."""

    n_topics: int
    alpha: float
    noise: float
    prior: Prior
    reorder: bool
    background: bool
    start: Literal["grown", "turns", "svd", "sparse", "stick-draw", "uniform", "given"]
    show: Literal["bound-in-range", "exclusivity", "bound"]
    test_share: float
    split_seed: int
    together: bool
    transform: Literal["auto", "count", "log1p", "binary", "tfidf"]
    scale: Literal["standardise", "centre", "none"]
    min_documents: int
    screen: int
    intercept: bool
    covariate_variance: float
    family: Literal["factorised", "joint"]
    parts: int
    steps: Literal["exact", "stochastic"]
    stochastic_passes: int
    batch_documents: int
    step_decay: float
    texteffect: bool
    weight_variance: float
    variances: Literal["shares", "numbers"]
    tau_shape: float
    tau_rate: float
    top_words: int
    moves: int
    background_if_better: bool


class Steps(TypedDict):
    """A pass of stochastic steps, while it lasts (``stochastic.py``)."""

    order: NDArray[np.int64]
    """Of the batches."""
    kept: dict[Sum, Floats]
    """Sums that follow the batches, by name."""


class Search(TypedDict):
    """The search for singular vectors of the words, S of them: where it stands, and all that is random of it."""

    sought: int
    """Next document."""
    basis: Floats
    """(D, S)"""
    back: Floats
    """(D, S)"""
    left: Floats
    """(N, S)"""
    passes: int
    rotation: Floats
    """(K, K)"""
    spare: Floats
    """(N, K - S) at random, where there are fewer vectors than topics."""


SearchName = Literal["sought", "basis", "back", "left", "passes", "rotation", "spare"]
SEARCH: tuple[SearchName, ...] = get_args(SearchName)


class Moves(TypedDict):
    """The search for better topics (``search.py``)."""

    most: int
    """Moves in vain after which it is over."""
    vain: int
    """Moves since the last that raised the bound."""
    tried: int
    topic: int
    """Next topic to be grown, K when all are."""
    candidate: int
    """Number of the candidate for it."""
    swept: int
    """Sweeps of the trial."""
    last: float
    """Its bound at the last look."""
    trial: NotRequired[Fields]
    walk: NotRequired[Fields]
    """What proposals are made from, where that is not the fit itself."""
    leader: NotRequired[Fields]
    """The best candidate so far."""
    other: NotRequired[Fields]
    """Topics that are grown without a background."""


class Fields(TypedDict):
    """A state: q, and the sums that its updates need (NOTES.md has the symbols)."""

    begun: bool
    """The start is over."""
    joint: bool
    """The weights of a word are joint by now."""
    settled: bool
    last: float
    """Bound at the end of the last sweep of a fit that waits for the joint family."""
    nu: Floats
    """(N, K) E[z]."""
    share_a: Floats
    """(K,) q of the shares, of topics other than the background."""
    share_b: Floats
    phi: Floats
    """(D, K) means of the weights."""
    rows: Floats
    """(D, K) the same over sd s2x."""
    offset: Floats
    """(K,) what centring takes off the log odds."""
    outer: Floats
    """(K, K) phi' phi."""
    cov: Floats
    """(K, K) covariance of a word's weights."""
    fit: float
    """<H, phi>."""
    coef: Floats
    """(P + L K,) mean of the coefficients."""
    coef_cov: Floats
    tau_shape: float
    tau_rate: float
    raw: Floats
    """(D, K) sums of x nu."""
    gram: Floats
    """(L, K, K) of nu nu'."""
    total: Floats
    """(L, K) of nu."""
    ny: Floats
    """(L, K) of y nu."""
    spread: Floats
    """(L, K) of nu (1 - nu)."""
    cover_nu: Floats
    """(L, P, K) of u nu."""
    tally: Floats
    """(2,) entropy of q(z); largest change of a nu."""
    moves: NotRequired[Moves]
    steps: NotRequired[Steps]
    sought: NotRequired[int]  # and what else a Search has, before the first sweep
    basis: NotRequired[Floats]
    back: NotRequired[Floats]
    left: NotRequired[Floats]
    passes: NotRequired[int]
    rotation: NotRequired[Floats]
    spare: NotRequired[Floats]
