"""The inputs as the samplers use them: fitted and other samples, standardised, classes as codes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, cast, get_args

import numpy as np

from plaidwork.core.api import Block, ModelData, ModelError, Problem, agree, counted, held_levels, random_test
from plaidwork.plugins.gp_auxiliary.shared.covariance import Covariance, make_covariance, parse
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior, choose_inducing
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import LawSettings

DENSE_UP_TO = 2000
"""Samples up to which ``form = "auto"`` is dense: 2 ms a sweep, 32 MB (page, section 5)."""
DENSE_AT_MOST = 6000
_Key = Literal[
    "covariance", "expression", "ard", "degree", "intercept", "amplitude", "amplitude_sd", "gamma", "gamma_sd"
]
COVARIANCE_KEYS: tuple[_Key, ...] = get_args(_Key)
FAR = 100.0
"""Interquartile ranges from the median at which a value is taken for an error of the file."""


@dataclass(frozen=True, slots=True)
class Frame:
    """All samples of the inputs.

    Attributes
    ----------
    x : (n, D) inputs, standardised by the fitted samples if the settings say so.
    codes : (n,) class of each sample, -1 where not labelled.
    classes : names of the classes, in their order.
    test : (n,) bool, samples kept apart: never fitted, their labels only to measure the predictions.
    used : (n,) bool, samples in the fit.
    centre, spread : (D,) what ``x`` was centred and divided by.
    columns : names of the inputs.
    usual : (D,) mean of the known values of the fitted samples, which stands where a value is missing.
    """

    x: np.ndarray
    codes: np.ndarray
    classes: tuple[str, ...]
    test: np.ndarray
    used: np.ndarray
    centre: np.ndarray
    spread: np.ndarray
    columns: tuple[str, ...]
    usual: np.ndarray

    def filled(self, values: np.ndarray, known: np.ndarray) -> np.ndarray:
        """Inputs (m, D) with the usual value where one is missing; both arrays in the order of ``columns``."""
        return values if known.all() else np.where(known, values, self.usual)

    def scale(self, values: np.ndarray) -> np.ndarray:
        """New inputs (m, D) on the scale of ``x``."""
        return np.ascontiguousarray((values - self.centre) / self.spread)

    @property
    def standardised(self) -> bool:
        """Whether ``x`` has other units than the inputs as they were given."""
        return bool(self.centre.any() or (self.spread != 1.0).any())

    @property
    def fitted(self) -> np.ndarray:
        """(N, D) inputs of the samples in the fit."""
        return np.ascontiguousarray(self.x[self.used])


def classes_of(block: Block) -> tuple[np.ndarray, tuple[str, ...]]:
    """Codes (n,) with -1 for missing, and the names in order: numbers by size, texts as the data have them."""
    values, known = np.asarray(block.values), np.asarray(block.observed)
    categories = block.categories
    codes = np.full(len(values), -1, dtype=np.int64)
    if not categories:
        levels = np.unique(values[known])
        codes[known] = np.searchsorted(levels, values[known])
        return codes, tuple(f"{level:g}" for level in levels)
    present = [code for code in range(len(categories)) if (values[known] == code).any()]
    names = [categories[code] for code in present]
    try:
        order = sorted(range(len(names)), key=lambda i: float(names[i]))
    except ValueError:
        order = list(range(len(names)))
    for place, i in enumerate(order):
        codes[known & (values == present[i])] = place
    return codes, tuple(names[i] for i in order)


def make_frame(data: ModelData, params: LawSettings, semi: bool = False) -> Frame:
    """The samples as the settings want them; with ``semi`` unlabelled ones are in the fit too."""
    block = data["X"]
    codes, classes = classes_of(data["y"])
    test = np.zeros(len(codes), dtype=bool)
    if "split" in data:
        split = data["split"]
        held = held_levels(split.categories)
        test = np.isin(split.values, held) & split.observed
    else:
        test[random_test(codes, params.get("test_share", 0.0))] = True
    used = ~test if semi else ~test & (codes >= 0)
    if not used.any():
        if test.all():
            raise ModelError(
                f"Every sample ({len(test)}) is marked as test, so there is nothing to fit.",
                "Choose another column as “Split”, or none.",
            )
        count = int((~test).sum())
        raise ModelError(
            f"No sample to fit has a label; there are {count}.", "Choose another column of labels."
        )
    return place_samples(block, codes, classes, test, used, params)


def with_classes_of(frame: Frame, block: Block) -> Frame:
    """The frame with the classes, after its own, that a labels block names of samples in the fit that have no label.

    Only the names are taken: who is of such a class stays unknown.
    """
    codes, names = classes_of(block)
    named = set(codes[frame.used & (frame.codes < 0)].tolist())
    more = tuple(name for code, name in enumerate(names) if code in named and name not in frame.classes)
    return replace(frame, classes=frame.classes + more)


def place_samples(
    block: Any,
    codes: np.ndarray,
    classes: tuple[str, ...],
    test: np.ndarray,
    used: np.ndarray,
    params: LawSettings,
) -> Frame:
    """The frame of these inputs: standardised by the samples in the fit, if the settings say so."""
    values, known = np.asarray(block.values, dtype=float), np.asarray(block.observed)
    usual, width = _moments(values[used], known[used])
    centre, spread = np.zeros(values.shape[1]), np.ones(values.shape[1])
    if params["standardise"]:
        centre, spread = usual, np.where(width <= 1e-12 * np.maximum(np.abs(usual), 1.0), 1.0, width)
    frame = Frame(values, codes, classes, test, used, centre, spread, tuple(block.names[1]), usual)
    return replace(frame, x=frame.scale(frame.filled(values, known)))


def _moments(values: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation (D,) of the known values (n, D) of each input; 0 and 0 where there is none."""
    if known.all():
        return values.mean(axis=0), values.std(axis=0)
    count = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, values, 0.0).sum(axis=0) / count
    return mean, np.sqrt(np.where(known, (values - mean) ** 2, 0.0).sum(axis=0) / count)


def make_prior(x: np.ndarray, params: LawSettings, draws_f: bool, columns: tuple[str, ...] = ()) -> Prior:
    """The law of f at the fitted samples x (N, D), dense or by inducing points."""
    inducing = np.zeros((0, x.shape[1]))
    if wants_inducing(len(x), params):
        inducing = choose_inducing(x, params["inducing"])
    return prior_of(x, inducing, params, draws_f, columns)


def wants_inducing(n_fitted: int, params: LawSettings) -> bool:
    """Whether the low-rank form is used."""
    return params["form"] == "inducing" or (params["form"] == "auto" and n_fitted > DENSE_UP_TO)


def prior_of(
    x: np.ndarray, inducing: np.ndarray, params: LawSettings, draws_f: bool, columns: tuple[str, ...] = ()
) -> Prior:
    names = columns or tuple(str(d + 1) for d in range(x.shape[1]))
    return Prior(
        covariance_of(tuple((key, params[key]) for key in COVARIANCE_KEYS), names), x, inducing, draws_f
    )


@lru_cache(maxsize=64)
def covariance_of(settings: tuple[tuple[str, Any], ...], names: tuple[str, ...]) -> Covariance:
    """The covariance of these settings: asked for at every sweep, so it is remembered."""
    return make_covariance(cast("LawSettings", dict(settings)), names)


def find_problems(data: ModelData, params: LawSettings, semi: bool, least_classes: int) -> list[Problem]:
    """What is wrong with inputs and settings that all these models share."""
    found = []
    _codes, classes = classes_of(data["y"])
    if len(classes) < least_classes:
        have = f"only “{classes[0]}”" if classes else "no label at all"
        found.append(
            Problem(
                f"The labels need at least {counted(least_classes, 'class')}. Found {have}.",
                "Choose another column of labels.",
                "y",
            )
        )
        return found
    try:
        frame = make_frame(data, params, semi)
    except ModelError as error:
        return [Problem(error.message, error.hint, where="y")]
    fitted = set(frame.codes[frame.used].tolist()) - {-1}
    if len(fitted) < least_classes:
        only = f"only “{classes[fitted.pop()]}”" if fitted else "no label"
        found.append(
            Problem(
                f"The samples to fit need at least {counted(least_classes, 'class')}. Found {only} among {int(frame.used.sum())}.",
                "The other classes are those of test samples: choose another column as “Split”.",
                "y",
            )
        )
        return found
    for code, name in enumerate(classes):
        if code not in fitted:
            found.append(
                Problem(
                    f"No fitted sample is of class “{name}”: what is said of it comes from the prior.",
                    where="y",
                    severity="warning",
                )
            )
    return found + input_problems(data["X"], frame, params)


def _too_large(n_used: int, params: LawSettings) -> Problem:
    """That the dense form is out of reach, and what the other one takes: bytes and seconds as measured on one core."""
    walks, points = params.get("walks", 2), params["inducing"]
    gigabytes, seconds = 24.0 * n_used**2 / 1e9, 1e-10 * walks * n_used**3
    low_gigabytes, low_seconds = 24.0 * n_used * points / 1e9, 2e-9 * walks * n_used * points**2
    return Problem(
        f"{counted(n_used, 'sample')} are too many for the dense computation: {gigabytes:.1f} GB and about {seconds:.0f} seconds a "
        f"draw in each chain; at most {DENSE_AT_MOST} samples.",
        f"Choose “Inducing points” or “Automatic” under Computation: {low_gigabytes:.2f} GB and about {low_seconds:.1f} "
        f"seconds a draw with {counted(points, 'point')}.",
        "form",
    )


def input_problems(block: Any, frame: Frame, params: LawSettings) -> list[Problem]:
    """What is wrong with the inputs of classifiers, the covariance and the form of the computation."""
    return [*law_problems(block, frame, params), *_twins(block, frame)]


def law_problems(block: Any, frame: Frame, params: LawSettings) -> list[Problem]:
    """What is wrong with the inputs, the covariance and the form of the computation, wherever equal inputs are nothing special."""
    found = []
    n_used = int(frame.used.sum())
    if params["form"] == "dense" and n_used > DENSE_AT_MOST:
        found.append(_too_large(n_used, params))
    still = [name for name, d in zip(frame.columns, frame.x[frame.used].T) if np.ptp(d) == 0]
    if still:
        shown = ", ".join(still[:3]) + (f" and {len(still) - 3} more" if len(still) > 3 else "")
        found.append(
            Problem(f"The same value in every fitted sample: {shown}. It has no effect.", "", "X", "warning")
        )
    found += _far_problems(block, frame) + _gap_problems(block, frame)
    if params["covariance"] == "expression":
        try:
            parse(params["expression"], "period" in params)
        except ModelError as error:
            found.append(Problem(str(error), where="expression"))
    return found


def _twins(block: Any, frame: Frame) -> list[Problem]:
    """Samples with the inputs of another one."""
    rows = block.names[0]
    _unique, first, place = np.unique(frame.x, axis=0, return_index=True, return_inverse=True)
    twins = np.flatnonzero(first[place.ravel()] != np.arange(len(frame.x)))
    if not len(twins):
        return []
    one = int(twins[0])
    other = int(first[place.ravel()[one]])
    pair = f"“{rows[one]}” and “{rows[other]}”" if rows else f"{one + 1} and {other + 1}"
    said = f"{counted(len(twins), 'sample')} {agree(len(twins), 'has', 'have')} the inputs of another one, as {pair}."
    if len(twins) == 1:
        said = f"Two samples have the same inputs: {pair}."
    return [Problem(f"{said} They are kept: equal inputs, equal f.", where="X", severity="warning")]


def _far_problems(block: Any, frame: Frame) -> list[Problem]:
    """Inputs with values so far from the others that they rule the scale, as where decimal points were lost."""
    rows = block.names[0]
    values = frame.filled(np.asarray(block.values, dtype=float), np.asarray(block.observed))
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75], axis=0)
    away = np.abs(values - middle) > FAR * (high - low)
    far = []
    for column in np.flatnonzero(away.any(axis=0) & (high > low)):
        first = int(np.argmax(np.abs(values[:, column] - middle[column])))
        name = f"“{rows[first]}”" if rows else f"sample {first + 1}"
        count = int(away[:, column].sum())
        far.append(
            f"“{frame.columns[column]}” in {counted(count, 'sample')}, as {values[first, column]:.4g} in "
            f"{name} where half of all lie from {low[column]:.4g} to {high[column]:.4g}"
        )
    if not far:
        return []
    more = f"; and {counted(len(far) - 3, 'more input')}" if len(far) > 3 else ""
    return [
        Problem(
            f"Values far from all others rule the scale of an input: {'; '.join(far[:3])}{more}.",
            "Check the file: decimal points may have been lost.",
            "X",
            "warning",
        )
    ]


def _gap_problems(block: Any, frame: Frame) -> list[Problem]:
    """What stands where values are missing."""
    gaps = (~np.asarray(block.observed)).sum(axis=0)
    if not gaps.any():
        return []
    most = [int(column) for column in np.argsort(-gaps, kind="stable") if gaps[column]]
    shown = ", ".join(f"{gaps[column]} of “{frame.columns[column]}”" for column in most[:3])
    more = f" and of {counted(len(most) - 3, 'more input')}" if len(most) > 3 else ""
    return [
        Problem(
            f"{counted(int(gaps.sum()), 'value')} {agree(int(gaps.sum()), 'is', 'are')} missing ({shown}{more}): the mean of the input "
            "stands in place of each, as if it had been measured.",
            "Samples with missing values can be left out (transformation “Leave out what is missing”).",
            "X",
            "warning",
        )
    ]


def order_problems(data: ModelData) -> list[Problem]:
    """What is to be known of the order of grades: texts have none, and a whole number that no sample has is passed over."""
    _codes, classes = classes_of(data["y"])
    try:
        numbers = [float(name) for name in classes]
    except ValueError:
        shown = " < ".join(f"“{name}”" for name in classes[:8])
        return [
            Problem(
                f"The classes are texts; they are taken in the order {shown}.",
                "For another order use numbers, or names that begin with one and sort rightly.",
                "y",
                "warning",
            )
        ]
    whole = all(number == round(number) for number in numbers)
    if not whole or len(numbers) < 2 or numbers[-1] - numbers[0] > 50:
        return []
    lost = sorted(set(range(int(numbers[0]), int(numbers[-1]) + 1)) - {int(number) for number in numbers})
    if not lost:
        return []
    listed = ", ".join(str(number) for number in lost[:5])
    return [
        Problem(
            f"No sample has the grade {listed}: the grades beside it count as neighbours.", "", "y", "warning"
        )
    ]
