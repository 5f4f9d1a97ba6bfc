"""What the chains of these models keep, by name. Plain dicts at run time: checkpoints and sessions hold them as they are."""

from typing import NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray

from plaidwork.core.api_tempering import Swaps

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Precision(TypedDict):
    """``Q = (C + I)^-1`` in one of the two forms of ``kernels/sites.py``."""

    rows: Floats
    """(N, N) Q, or (N, r) of the low-rank form."""
    weight: Floats
    """(N,) of the low-rank form, empty in the dense one."""
    diagonal: Floats
    """(N,) the diagonal of Q."""


class Gram(Precision):
    """A precision and what is drawn with it."""

    log_det: float
    """``log det(C + I)``."""
    root: Floats
    """(N, N) root of ``S = I - Q`` where f is drawn in the dense form, else empty."""
    loadings: Floats
    """(N, r) G of the low-rank form, else empty."""


class Path(TypedDict):
    """A trajectory under way: ``value`` and ``slope`` of the log density at ``place``, ``speed`` in units of the metric."""

    place: Floats
    speed: Floats
    slope: Floats
    value: float
    energy: float
    """Where it set out."""
    step: float


class Search(TypedDict):
    """A mode of p(theta | y) that is sought, and the curvature there."""

    x: NotRequired[Floats]
    """(N, D) the samples, with the scales of their values where they have some, as they were when it began."""
    y: Floats
    """(K, N) the values as they were when it began."""
    place: Floats
    """(P,)"""
    value: float
    slope: Floats
    """(P,)"""
    curve: Floats
    """(P, P) what stands for the inverse of the negative Hessian on the way."""
    length: float
    """Share of the next step that is tried."""
    tried: int
    found: bool
    """Whether the mode is found."""
    bend: Floats
    """(P, P) differences of the gradient there, by columns; those made so far."""
    columns: int


class Window(TypedDict):
    """Draws of a part of the warm-up, from which the next metric comes."""

    until: int
    """Count of trajectories at which it ends."""
    seen: int
    mean: Floats
    """(P,)"""
    spread: Floats
    """(P, P) sum of the products of deviations from the mean."""


class Metric(TypedDict):
    """Hamiltonian trajectories of the covariance's parameters, see ``hmc.py``."""

    root: Floats
    """(P, P) T, ``T T'`` being the inverse of the metric."""
    log_step: float
    """Logarithm of the leapfrog step, in units of the metric."""
    count: int
    """Trajectories of the warm-up so far."""
    due: int
    """At which count the metric is made anew."""
    recent: float
    """Acceptance of late, in the warm-up."""
    path: NotRequired[Path]
    """Within a trajectory."""
    search: NotRequired[Search]
    """While the next metric is sought."""
    window: NotRequired[Window]
    """Where the metric is the draws' own covariance in the end."""


class Together(TypedDict):
    """Moves of f with the covariance's parameters, see ``together.py``: N samples, P parameters."""

    log_step: float
    """Logarithm of a leap of the trajectories."""
    bend: Floats
    """(N,) mean curvature of minus the labels' log probability."""
    centre: Floats
    """(P,) means of theta, and ``sd`` its standard deviations."""
    sd: Floats
    squares: Floats
    """(N,) sums of squared slopes since they were learnt last."""
    sums: Floats
    """(2, P) sums of theta and its squares since then."""
    count: int
    """Trajectories since then."""
    due: int
    """Draws after which they are learnt again."""
    log_size: Floats
    """(P,) logarithms of the steps of single parameters, and ``tried`` how often they learnt."""
    tried: Floats


class Steps(TypedDict):
    """Random-walk steps that learn their size in the warm-up, one for each entry that they move."""

    log_size: Floats
    """(P,) logarithms of the sizes."""
    tried: Floats
    """(P,) how often."""
    taken: Floats
    """(P,) how often accepted."""
    current: Floats
    """(1,) log density where the walk stands, NaN where it is not known."""
    together: NotRequired[Together]
    """Where f moves with them."""
    metric: NotRequired[Metric]
    """Where trajectories move the covariance's parameters, and walks only where those fail."""


class Reference(TypedDict):
    """The Gaussian reference of the moves of f, ``N(f; 0, C) exp(b'f - f'Wf / 2)``, and what it is learnt from."""

    pull: Floats
    """(N,) b."""
    bend: Floats
    """(N,) W."""
    sums: Floats
    """(3, N) sums of f, slope and curvature since the last one."""
    count: int
    """How many are in the sums."""
    due: int
    """At which count the next reference is made."""
    log_angle: float
    """Logarithm of the radians of a rotation."""
    tried: int
    taken: int


class Flow(TypedDict):
    """The map from w to f at one theta, see ``kernels/hamiltonian.py``; all empty where f is not moved as a whole."""

    map: Floats
    """(N, r) F, lower triangular in the dense form."""
    centre: Floats
    """(r,) m."""
    sd: Floats
    """(N,) of z given f."""
    turn: Floats
    """(r, r) of the low-rank form: w given z is ``turn (rows'z + e)``; else empty."""
    root: Floats
    """(N, N) root of S in the dense form, else empty."""


class Sites(Precision):
    """What sweeps over the auxiliary variables need."""

    z: Floats
    """(K, N); K = 1 for two classes."""
    log_share: Floats
    """(K or 2,) logarithms of the shares of missing labels by class."""


class Replica(Gram):
    """One copy of a chain of a classifier."""

    z: Floats
    """(K, N); K = 1 for two classes."""
    log_share: Floats
    """(K or 2,) logarithms of the shares of missing labels by class."""
    theta: Floats
    """(P,) logarithms of the covariance's parameters."""
    reference: NotRequired[Reference]
    """With ``flow`` and ``place``: only where labels name intervals."""
    flow: NotRequired[Flow]
    map_at: NotRequired[int]
    """Which of the maps is its own, within a sweep; -1 for none."""
    place: NotRequired[Floats]
    """(r,) w; empty where f is to be drawn given z first."""


class Turns(TypedDict):
    """Angles of the Hamiltonian moves of f at M widths of the null category, see ``turning.py``."""

    log_angle: Floats
    """(M,)"""
    count: Floats
    """(M,) how often each was learnt."""


class ClassesFixed(TypedDict):
    """What a chain of a classifier keeps of the data."""

    x: Floats
    """(N, D) standardised inputs of the fitted samples."""
    inducing: Floats
    """(M, D); M = 0 for the exact law."""
    code: Integers
    """(N,) classes, -1 without a label."""
    n_classes: int
    expression: NotRequired[str]
    """The sum of terms where it is chosen from the data."""
    gamma: NotRequired[float]
    """Few labels: the setting, or what the samples say."""
    root: NotRequired[Floats]
    """(N, N) root of C where the covariance is fixed."""
    map: NotRequired[Floats]
    """(N, N) the map of the Hamiltonian moves of f with that root, see ``turning.py``."""


class Labelled(TypedDict):
    """The labelled samples of the copy without null category, between the parts of drawing its z anew."""

    columns: Floats
    """(N, L) covariances of f with theirs."""
    z: Floats
    """(K, L)."""
    rows: NotRequired[Floats]
    """(L, L) precision of z."""


class ClassesFields(TypedDict):
    """A chain of a classifier, with or without unlabelled samples."""

    fixed: ClassesFixed
    widths: Floats
    """(M,) half widths of the null category, one for each copy."""
    rungs: dict[str, Replica]
    """By number of the width; the last is the copy that the model is about."""
    steps: dict[str, Steps]
    swaps: NotRequired[Swaps]
    """Few labels."""
    turns: NotRequired[Turns]
    """Few labels, where f makes trajectories."""
    f: NotRequired[dict[str, Floats]]
    """(K, N) of every copy, within a sweep."""
    labelled: NotRequired[Labelled]
    """Few labels, within a sweep."""
    maps: NotRequired[Floats]
    """(M, N, N) the maps of the moves of f of every copy where the covariance is inferred, within a sweep."""


class OrderedFixed(TypedDict):
    """What a chain of ordered classes keeps of the data, as in :class:`ClassesFixed`."""

    x: Floats
    inducing: Floats
    code: Integers
    expression: NotRequired[str]


class OrderedFields(Gram):
    """A chain of ordered classes."""

    fixed: OrderedFixed
    z: Floats
    """(N,)"""
    theta: Floats
    """(P,)"""
    cuts: Floats
    """(K - 1,) cut-points."""
    steps: Steps
    cut_steps: Steps
    joint_steps: Steps
    reference: Reference
    flow: Flow


class RatedFixed(TypedDict):
    """What a chain of several raters keeps of the data: M ratings of N objects."""

    x: Floats
    inducing: Floats
    item: Integers
    """(M,) object of each rating."""
    rater: Integers
    """(M,) its rater."""
    code: Integers
    """(M,) its grade."""
    sizes: Integers
    """(2,) numbers of raters and of grades."""
    free: Bools
    """(C,) whose offset is inferred."""


class RatedFields(Gram):
    """A chain of several raters; the precision is that of ``s f``, see ``raters_law.py``."""

    fixed: RatedFixed
    q: Floats
    """(M,) the value behind each rating."""
    f: Floats
    """(N,) the consensus."""
    together: Floats
    """(N,) ``s y``, what all ratings of an object say."""
    scale: Floats
    """(N,) s."""
    offset: Floats
    """(C,)"""
    precision: Floats
    """(C,)"""
    cuts: Floats
    """(K - 1,) cut-points."""
    theta: Floats
    """(P,)"""
    steps: Steps
    cut_steps: Steps
    joint_steps: Steps
    rater_steps: NotRequired[Steps]
    """Where raters move with q integrated out."""


class QuickFields(TypedDict):
    """A variational fit."""

    fixed: OrderedFixed
    theta: Floats
    """(P,)"""
    gram: Gram
    z: Floats
    """(K, N) means of the auxiliary variables."""
    mean: Floats
    """(K, N) means of f."""
    step: Floats
    """(P,) sizes of the search over theta."""
    best: Floats
    """(P,) the best of the values tried in this sweep, and ``top`` its value."""
    top: float


class Leaps(TypedDict):
    """What trajectories of binary components have learnt in the warm-up."""

    log_step: float
    count: int
    strength: Floats
    """(K,) sums of the squared loadings of each component, on average."""


class Leap(TypedDict):
    """A trajectory under way; its arrays hold scores (n, K), loadings (m, K) and means (m,) one after the other."""

    at: Floats
    momentum: Floats
    slope: Floats
    steps: int
    length: float
    level: float
    """Log density where it is."""
    before: float
    """Energy of the momentum at the start, and from the first unit of work on the log density there less that energy."""


class ComponentsFields(TypedDict):
    """A chain of binary components: n samples, m features, K components."""

    scores: Floats
    """(n, K)"""
    loadings: Floats
    """(m, K)"""
    mean: Floats
    """(m,)"""
    precision: Floats
    """(K,) of the loadings' priors."""
    z: Floats
    """(n, m)"""
    log_likelihood: float
    leaps: NotRequired[Leaps]
    leap: NotRequired[Leap]
