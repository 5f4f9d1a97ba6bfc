"""The views as the fit uses them: likelihoods, features that can be fitted, centred values, what is wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaidwork.core.api import Block, ModelData, ModelError, Params, Problem, SettingError, per_matrix
from plaidwork.plugins.group_factor.kernels import BERNOULLI, BOHNING, GAUSSIAN, POISSON

MANY = 4
"""Problems named of one sort."""


@dataclass(frozen=True)
class Views:
    """All views side by side; D features that are fitted, N samples, M views.

    Attributes
    ----------
    names : of the views, each once. likelihoods : one per view.
    raw : (D, N) values, Gaussian ones centred (and scaled), 0 where not observed.
    observed : (D, N) 0 or 1.
    view, kind : (D,) index of the view; kind of bound (``kernels``).
    columns : per view the columns that are fitted. mean, unit : (D,) what was taken off and divided by.
    null : (D,) best constant on the scale of x.
    features, samples : names.
    """

    names: tuple[str, ...]
    likelihoods: tuple[str, ...]
    raw: np.ndarray
    observed: np.ndarray
    view: np.ndarray
    kind: np.ndarray
    columns: tuple[np.ndarray, ...]
    mean: np.ndarray
    unit: np.ndarray
    null: np.ndarray
    features: tuple[str, ...]
    samples: tuple[str, ...]

    def place(self, index: int) -> slice:
        """Where the features of a view lie."""
        found = np.flatnonzero(self.view == index)
        return slice(int(found[0]), int(found[-1]) + 1) if len(found) else slice(0, 0)


def blocks_of(data: ModelData) -> tuple[Block, ...]:
    return tuple(data["views"])


def view_names(blocks: tuple[Block, ...]) -> tuple[str, ...]:
    """Names of the views, made different where they are not."""
    names: list[str] = []
    for position, block in enumerate(blocks):
        name = block.name or f"view {position + 1}"
        names.append(name if name not in names else f"{name} ({position + 1})")
    return tuple(names)


def guess(block: Block) -> str:
    """The likelihood that the values allow: 0 and 1, whole numbers from 0 on, anything."""
    largest, step = -1.0, max(1, 100_000 // max(1, block.shape[1]))
    for lo in range(0, block.shape[0], step):  # a few samples at a time: no copy of the whole view
        values = block.values[lo : lo + step][block.observed[lo : lo + step]]
        if ((values < 0) | (values != np.floor(values))).any():
            return "gaussian"
        largest = max(largest, float(values.max(initial=-1.0)))
    if largest < 0:
        return "gaussian"
    return "bernoulli" if largest <= 1 else "poisson"


def likelihoods_of(blocks: tuple[Block, ...], text: str) -> tuple[str, ...]:
    """Likelihood of every view: given by ``name = word`` parts, by a list of words in order, or guessed.

    Raises
    ------
    ModelError : a name that is not known, or as many words as there are no views.
    """
    try:
        found = per_matrix(text, view_names(blocks))
    except SettingError as error:
        raise ModelError(f"“Likelihoods”: {error.message}", error.hint) from error
    return tuple(
        guess(block) if word in ("", "guess") else word for word, block in zip(found, blocks, strict=True)
    )


def read_views(data: ModelData, params: Params) -> Views:
    """Bring the views into the form of the kernels. Raises ``ModelError`` for what cannot be fitted."""
    blocks = blocks_of(data)
    for problem in problems_of(blocks, params):
        if problem.severity == "error":
            raise ModelError(problem.message, problem.hint)
    words = likelihoods_of(blocks, params["likelihoods"])
    parts: list[list[np.ndarray]] = [[] for _ in range(7)]
    features: list[list[str]] = []
    for block, word in zip(blocks, words, strict=True):
        usable = usable_columns(block, word)
        known = np.ascontiguousarray(block.observed[:, usable].T, dtype=float)
        values = np.ascontiguousarray(block.values[:, usable].T) * known
        count = known.sum(axis=1)
        mean, unit = values.sum(axis=1) / count, np.ones(len(usable))
        if word == "gaussian":
            values = (values - mean[:, None]) * known
            if params["scale_views"] and len(usable):
                unit[:] = np.sqrt((values**2).sum() / known.sum()) or 1.0
                values /= unit[:, None]
            null, kind = np.zeros(len(usable)), GAUSSIAN
        else:
            null = best_constant(mean, count, word)
            kind = POISSON if word == "poisson" else BERNOULLI
            if kind == BERNOULLI and params["bernoulli_bound"] == "bohning":
                kind = BOHNING
            mean = np.zeros(len(usable))
        made = (values, known, mean, unit, null, np.full(len(usable), kind), usable)
        for part, item in zip(parts, made, strict=True):
            part.append(item)
        features.append([block.names[1][column] for column in usable])
    raws, masks, means, units, nulls, kinds, columns = parts
    names = view_names(blocks)
    return Views(
        names,
        words,
        np.ascontiguousarray(np.concatenate(raws)),
        np.ascontiguousarray(np.concatenate(masks)),
        np.repeat(np.arange(len(blocks)), [len(part) for part in columns]),
        np.concatenate(kinds),
        tuple(columns),
        np.concatenate(means),
        np.concatenate(units),
        np.concatenate(nulls),
        _named_apart(names, features),
        tuple(blocks[0].names[0]),
    )


def _named_apart(views: tuple[str, ...], features: list[list[str]]) -> tuple[str, ...]:
    """Feature names, with the view's where two views have the same."""
    seen: dict[str, int] = {}
    for names in features:
        for name in names:
            seen[name] = seen.get(name, 0) + 1
    return tuple(
        name if seen[name] == 1 else f"{name} ({view})"
        for view, names in zip(views, features, strict=True)
        for name in names
    )


def best_constant(mean: np.ndarray, count: np.ndarray, word: str) -> np.ndarray:
    """Maximum likelihood constant on the scale of x, kept finite for features without events."""
    if word == "bernoulli":
        share = np.clip(mean, 1e-6, 1 - 1e-6)
        return np.log(share) - np.log1p(-share)
    rate = np.maximum(mean, 1e-6)
    return rate + np.log(-np.expm1(-rate))


def usable_columns(block: Block, word: str) -> np.ndarray:
    """Columns with something to learn: a known cell, and for Gaussian views more than one value."""
    known = block.observed
    usable = known.any(axis=0)
    if word == "gaussian":
        low = np.where(known, block.values, np.inf).min(axis=0)
        high = np.where(known, block.values, -np.inf).max(axis=0)
        usable &= high > low
    return np.flatnonzero(usable)


def problems_of(blocks: tuple[Block, ...], params: Params) -> list[Problem]:
    """What is wrong with the views, or worth knowing."""
    try:
        words = likelihoods_of(blocks, params["likelihoods"])
    except ModelError as error:
        return [Problem(error.message, error.hint, "likelihoods")]
    found: list[Problem] = []
    fitted = 0
    for name, block, word in zip(view_names(blocks), blocks, words, strict=True):
        if wrong := _wrong_value(name, block, word):
            found.append(wrong)
            continue
        usable = usable_columns(block, word)
        fitted += len(usable)
        found += _left_out(name, block, word, usable)
        found += _unsafe(name, block, word, params)
    if any(problem.severity == "error" for problem in found):
        return found
    if blocks[0].shape[0] < 2:
        found.append(Problem("At least two samples are needed. Found 1.", "", "views"))
    if not fitted:
        found.append(
            Problem(
                "No feature varies: there is nothing to explain.", "Check the views and likelihoods.", "views"
            )
        )
    empty = ~np.any([block.observed.any(axis=1) for block in blocks], axis=0)
    if empty.any() and fitted:
        found.append(
            Problem(
                f"{_some([blocks[0].names[0][i] for i in np.flatnonzero(empty)], 'sample')} without a known cell in any view.",
                "Such samples get factor values of 0; leave them out if they should not be shown.",
                "views",
                "warning",
            )
        )
    return found


def _wrong_value(name: str, block: Block, word: str) -> Problem | None:
    values = block.values
    if word == "gaussian":
        return None
    bad = (values != 0) & (values != 1) if word == "bernoulli" else (values < 0) | (values % 1 != 0)
    bad &= block.observed
    if not bad.any():
        return None
    row, column = (int(i) for i in np.argwhere(bad)[0])
    wanted = "0 or 1" if word == "bernoulli" else "whole numbers from 0 on"
    return Problem(
        f"The view “{name}” is {word} and needs {wanted}. Found {values[row, column]:g} at sample "
        f"“{block.names[0][row]}”, feature “{block.names[1][column]}”.",
        "Choose another likelihood for it, or mend the data.",
        "views",
    )


def _left_out(name: str, block: Block, word: str, usable: np.ndarray) -> list[Problem]:
    n_features = block.shape[1]
    if len(usable) == n_features:
        return []
    out = np.setdiff1d(np.arange(n_features), usable)
    which = _some([block.names[1][i] for i in out], "feature")
    why = "constant or without a known cell" if word == "gaussian" else "without a known cell"
    return [Problem(f"{name}: {which} left out, {why}.", "", "views", "warning")]


def _unsafe(name: str, block: Block, word: str, params: Params) -> list[Problem]:
    values = block.values[block.observed]
    found = []
    if word == "poisson" and not params["likelihoods"].strip() and len(values) and values.max() > 1000:
        found.append(
            Problem(
                f"{name} holds whole numbers up to {values.max():g} and is taken for counts (Poisson).",
                "For ratings or intensities say “gaussian” under Likelihoods; large counts fit better as logarithms.",
                "likelihoods",
                "warning",
            )
        )
    if word == "gaussian" and not params["scale_views"] and len(values) > 1:
        with np.errstate(over="ignore"):
            spread = float(values.std())
        if not 1e-3 <= spread <= 1e3 and spread > 0:
            found.append(
                Problem(
                    f"{name} has a standard deviation of {spread:.3g}; the priors are made for values around 1.",
                    "Switch on “Scale views”.",
                    "scale_views",
                    "warning",
                )
            )
    return found


def _some(names: list[str], noun: str) -> str:
    shown = ", ".join(f"“{name}”" for name in names[:MANY]) + (", …" if len(names) > MANY else "")
    return f"{len(names)} {noun}{'s' if len(names) > 1 else ''} ({shown})"
