"""The settings of these models by name, as type checkers know them."""

from typing import Literal, NotRequired, TypedDict, TypeVar


class LawSettings(TypedDict):
    """Settings of the Gaussian processes, see ``settings.py``; a model has some of those that may be missing."""

    covariance: str
    expression: str
    ard: bool
    degree: int
    intercept: bool
    parameters: NotRequired[Literal["inferred", "fixed"]]
    amplitude: float
    amplitude_sd: float
    gamma: float
    gamma_sd: float
    standardise: bool
    form: NotRequired[Literal["auto", "dense", "inducing"]]
    inducing: NotRequired[int]
    moves: NotRequired[Literal["hamiltonian", "walk"]]
    metric: NotRequired[Literal["draws", "mode"]]
    walks: NotRequired[int]
    period: NotRequired[float]
    season_column: NotRequired[int]
    test_share: NotRequired[float]
    linear_alone: NotRequired[bool]
    by_left_out: NotRequired[bool]
    chosen_by: NotRequired[Literal["propagation", "variational"]]
    start_spread: NotRequired[float]


class RegressionSettings(LawSettings):
    """Settings of the regression beside those of the covariance, which ``filled`` completes."""

    standardise_y: bool
    noise_variance: float
    noise_sd: float
    noise: NotRequired[Literal["normal", "groups", "student", "varying"]]
    period_of: NotRequired[str]
    outputs: NotRequired[Literal["correlated", "apart"]]
    outputs_noise: NotRequired[Literal["correlated", "apart"]]


class ClassesSettings(LawSettings):
    """Classification, with or without unlabelled samples; either has some of those that may be missing."""

    site_sweeps: int
    trajectories: NotRequired[int]
    stretch: NotRequired[Literal["trajectories", "summands", "whole"]]
    null_width: NotRequired[float]
    many_inputs: NotRequired[bool]
    rungs: NotRequired[int]
    rounds: NotRequired[int]
    of_three: NotRequired[Literal["trajectories", "slices"]]
    given_widths: NotRequired[str]
    slices: NotRequired[int]
    classes: NotRequired[Literal["all", "labelled"]]
    shares: NotRequired[Literal["equal", "inferred"]]


class CutSettings(LawSettings):
    """Cut-points between grades."""

    cut_points: Literal["inferred", "fixed", "given"]
    given_cuts: str
    gap: float
    cut_sd: float
    cut_gap_sd: float


class OrderedSettings(CutSettings):
    """Ordered classes."""

    trajectories: int
    stretch: Literal["together", "none"]
    cut_moves: Literal["followed", "alone"]


class RatedSettings(CutSettings):
    """Several raters."""

    site_sweeps: int
    reference: str
    precision_shape: float
    precision_rate: float


class ComponentsSettings(TypedDict):
    """Binary principal components."""

    factors: int
    ard: bool
    loading_sd: float
    precision_shape: float
    precision_rate: float
    mean_sd: float
    leaps: int


SettingsT = TypeVar("SettingsT", bound=LawSettings)
