"""What a state and the settings hold, by name; at runtime both are plain dicts. Symbols as in NOTES.md.

G sample groups, K factors, N samples, D features of all M views, one view after the other.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict, get_args

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Slab = Literal["full", "collapsed"]

ByFactor = Literal[
    "z", "v", "zz", "loc", "var", "var0", "gamma", "w", "ww", "score_shape", "score_rate", "alpha_shape",
    "alpha_rate", "theta_a", "theta_b", "cross",
]  # fmt: skip
"""Arrays whose first axis are the factors."""
BY_FACTOR: tuple[ByFactor, ...] = get_args(ByFactor)


class Settings(TypedDict):
    """The hyperparameters, see ``settings.py``."""

    n_factors: int
    min_r2: float
    grow: bool
    grow_gain: float
    most_factors: int
    likelihoods: str
    whole_numbers: Literal["marked", "values"]
    log_above: float
    scale_views: bool
    scale_features: Literal["unlike", "all", "none"]
    centre_views: bool
    intercept: bool
    group_intercepts: bool
    intercept_start: Literal["rates", "zero"]
    bernoulli_bound: Literal["jaakkola", "bohning"]
    slab: Slab
    init: Literal["varimax", "pca", "random", "given"]
    start_noise: float
    start_variance: float
    dtype: Literal["float32", "float64"]
    steps: Literal["exact", "stochastic"]
    stochastic_passes: int
    batch_samples: int
    step_decay: float
    drop_start: int
    drop_every: int
    theta_start: int
    weight_shape: float
    weight_rate: float
    sparsity_a: float
    sparsity_b: float
    noise_shape: float
    noise_rate: float
    intercept_variance: float


class Cells(TypedDict, total=False):
    """Of one view, (D_m, N) each but the last three, see ``cells.py`` for which a view has; the type follows the setting ``dtype``."""

    y: np.ndarray
    known: NDArray[np.uint8]
    T: np.ndarray
    B: np.ndarray
    shift: Floats
    """(G, D_m) taken off the columns of the file"""
    unit: Floats
    """(1,) by which they are divided"""
    columns: Ints
    """(D_m,) that are fitted"""


_Passes = TypedDict("_Passes", {"pass": int})  # a key that is a word of Python


class Search(_Passes):
    """A search for leading components, while it lasts; L directions are followed."""

    phase: Literal["pass", "loadings", "turn"]
    at: int
    turns: int
    last: float
    some: NotRequired[int]
    """1: while it goes over some of the samples"""
    basis: Floats
    """(L, N), or some of the samples"""
    sum: Floats
    """the same"""
    loadings: NotRequired[Floats]
    """(D, L)"""
    rotation: NotRequired[Floats]
    """(L, L)"""
    image: NotRequired[Floats]
    """(D, L) while it is summed up over blocks of samples"""


class StartWork(Search):
    """That of the start."""

    fill: Floats
    """(K, N) values of the factors that get no component."""
    noise: Floats
    """(K, N) added to what is found."""


class Growth(TypedDict):
    """Factors that are being added, while it lasts."""

    over: int
    """1: no more are tried."""
    bound: float
    """Before the last ones joined."""
    before: dict[str, np.ndarray]
    """What has to be restored of the state if they do not pay."""
    cells: dict[str, Cells]
    """The same of the local parameters, by number of the view."""
    search: NotRequired[Search]
    """For the next ones."""


class Smooth(TypedDict):
    """Of factor values that are smooth along time or place, see ``smooth.py``."""

    places: Floats
    """(N, p) of the samples"""
    linear: Floats
    """(N, K) sums of (B - T <mu>) <w>, made anew in a sweep"""
    gram: Floats
    """(N, width) Gram matrices of the weights, made anew in a sweep"""
    gain: Floats
    """(K, N) precision that the data gave each factor value at its last update"""
    length: Ints
    """(K,) place on the grid of lengths"""
    share: Ints
    """(K,) place on the grid of smooth shares"""
    kl: Floats
    """(K,) KL of q(z) from its prior"""


class Steps(TypedDict):
    """A pass of stochastic steps, while it lasts."""

    order: Ints
    """of the batches"""
    gram: Floats
    """(G, width) the sums of products of factor values that the weights follow, see ``products``"""
    cross: Floats
    """(K, G, D) the same of the products with the values"""
    total: Floats
    """(G, D) and of their squares"""
    sums: Floats
    """(K, G, D) sums of y <z> of this pass so far"""


class Predictor(TypedDict):
    """What q(z) of samples and the local parameters are found from, and what is found; of new samples too."""

    single: int
    """1: sums over cells are float32."""
    float: np.ndarray
    """Empty; its type is that of the cells."""
    group: Ints
    """(N,) the sample's group."""
    kinds: Ints
    """(M,) of the views, see ``kernels``."""
    level: NDArray[np.bool_]
    """(M,) whether T is one number per feature and group."""
    first: Ints
    """(M + 1,) first feature of each view, and D."""
    cells: dict[str, Cells]
    """By number of the view."""
    z: Floats
    """(K, N) <z>"""
    v: Floats
    """(K, N) Var z"""
    zz: Floats
    """(K, N) <z^2>"""
    w: Floats
    """(K, D) <w>"""
    ww: Floats
    """(K, D) <w^2>"""
    mu: Floats
    """(D,) intercepts, or (G, D)"""
    mu_var: Floats
    """as ``mu``"""
    scale: Floats
    """(G, D) <tau>, 1 where not Gaussian"""
    score_shape: Floats
    """(K, G)"""
    score_rate: Floats
    """(K, G)"""
    const: Floats
    """(D,) constant of the quadratic bound, summed over samples"""
    lik: Floats
    """(D,) part of the bound"""


class OfFeatures(TypedDict):
    """Intercepts, noise precisions and constants of all features."""

    mu: Floats
    """(D,), or (G, D) where groups have intercepts of their own, as the next"""
    mu_var: Floats
    tau_shape: Floats
    """(G, D)"""
    tau_rate: Floats
    """(G, D)"""
    scale: Floats
    null: Floats
    """as ``mu``: best constant on the scale of x"""
    centre: Floats
    """as ``mu``: mean of what is in ``y``"""


class Fields(Predictor, OfFeatures):
    """The whole state."""

    dropped: int
    """Factors that have left."""
    kind: Ints
    """(D,) kind of the feature's view"""
    view: Ints
    """(D,) its number"""
    loc: Floats
    """(K, D) mean of q(what given s = 1)"""
    var: Floats
    """(K, D) its variance"""
    var0: Floats
    """(K, D) variance of q(what given s = 0)"""
    gamma: Floats
    """(K, D) inclusion probability"""
    alpha_shape: Floats
    """(K, M)"""
    alpha_rate: Floats
    """(K, M)"""
    theta_a: Floats
    """(K, M)"""
    theta_b: Floats
    """(K, M)"""
    cross: Floats
    """(K, G, D) sums of y <z> of Gaussian features without gaps"""
    total: Floats
    """(G, D) sums of y^2 of these"""
    stale: int
    """1: factor values were set from outside, and these sums are to be made anew."""
    squares: Floats
    """(G, D) expected squared errors of Gaussian features"""
    deviance: Floats
    """(G, K + 3, M), see ``local.deviances``"""
    smooth: NotRequired[Smooth]
    start: NotRequired[StartWork]
    growth: NotRequired[Growth]
    steps: NotRequired[Steps]
