"""The views as the fit uses them: likelihoods, features that can be fitted, centred values, what is wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaidwork.core.api import Block, ModelData, ModelError, Problem, SettingError, counted, per_matrix
from plaidwork.plugins.group_factor.intercepts import one_by_group
from plaidwork.plugins.group_factor.kernels import BERNOULLI, BOHNING, GAUSSIAN, POISSON
from plaidwork.plugins.group_factor.state import Settings

NAMES = {"gaussian": "Gaussian", "bernoulli": "Bernoulli", "poisson": "Poisson"}
"""Likelihoods as they are written in a text."""
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
    columns : per view the columns that are fitted. mean : (G, D) what was taken off in a sample group. unit : (D,) divisor.
    groups : names of the G sample groups. group : (N,) the group of a sample.
    null : (D,) best constant on the scale of x, or (G, D) where groups have intercepts of their own.
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
    groups: tuple[str, ...]
    group: np.ndarray

    def place(self, index: int) -> slice:
        """Where the features of a view lie."""
        found = np.flatnonzero(self.view == index)
        return slice(int(found[0]), int(found[-1]) + 1) if len(found) else slice(0, 0)

    def by_sample(self, values: np.ndarray, here: slice) -> np.ndarray:
        """(d, N) the (G, D) numbers of these features, each sample with its group's; (d, 1) where there is one group."""
        chosen = values[:, here].T
        return chosen if len(self.groups) == 1 else chosen[:, self.group]


def groups_of(data: ModelData) -> tuple[tuple[str, ...], np.ndarray]:
    """Names of the sample groups that occur, and the group (N,) of every sample; one without a name when none are given."""
    if "groups" not in data:
        return ("",), np.zeros(blocks_of(data)[0].shape[0], np.int64)
    block = data["groups"]
    present, group = np.unique(block.values, return_inverse=True)
    return tuple(block.categories[code] for code in present), group.astype(np.int64)


def group_means(values: np.ndarray, known: np.ndarray, group: np.ndarray, n_groups: int) -> np.ndarray:
    """(G, d) means of the known among (d, N) values by sample group; 0 where there is none."""
    member = (group[:, None] == np.arange(n_groups)).astype(float)
    return ((values * known) @ member / np.maximum(known @ member, 1)).T


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


def read_views(data: ModelData, params: Settings) -> Views:
    """Bring the views into the form of the kernels. Raises ``ModelError`` for what cannot be fitted."""
    blocks = blocks_of(data)
    groups, group = groups_of(data)
    for problem in problems_of(blocks, params, group):
        if problem.severity == "error":
            raise ModelError(problem.message, problem.hint)
    likelihoods = likelihoods_of(blocks, params["likelihoods"])
    by_group = one_by_group(params, len(groups))
    parts: list[list[np.ndarray]] = [[] for _ in range(7)]
    features: list[list[str]] = []
    for block, word in zip(blocks, likelihoods, strict=True):
        usable = usable_columns(block, word, group)
        known = np.ascontiguousarray(block.observed[:, usable].T, dtype=float)
        values = np.ascontiguousarray(block.values[:, usable].T) * known
        count = known.sum(axis=1)
        mean, unit = values.sum(axis=1) / count, np.ones(len(usable))
        shift = np.zeros((len(groups), len(usable)))
        if word == "gaussian":
            if params["centre_views"]:
                shift = group_means(values, known, group, len(groups))
            values = (values - shift.T[:, group]) * known
            if params["scale_views"] and len(usable):
                unit[:] = np.sqrt((values**2).sum() / known.sum()) or 1.0
                values /= unit[:, None]
            null, kind = np.zeros((len(groups), len(usable)) if by_group else len(usable)), GAUSSIAN
        else:
            null = best_constant(mean, count, word)
            if by_group:
                own = np.array([known @ (group == g) for g in range(len(groups))])
                rates = np.where(own > 0, group_means(values, known, group, len(groups)), mean)
                null = best_constant(rates, own, word)
            kind = POISSON if word == "poisson" else BERNOULLI
            if kind == BERNOULLI and params["bernoulli_bound"] == "bohning":
                kind = BOHNING
        made = (values, known, shift, unit, null, np.full(len(usable), kind), usable)
        for part, item in zip(parts, made, strict=True):
            part.append(item)
        features.append([block.names[1][column] for column in usable])
    raws, masks, means, units, nulls, kinds, columns = parts
    names = view_names(blocks)
    return Views(
        names,
        likelihoods,
        np.ascontiguousarray(np.concatenate(raws)),
        np.ascontiguousarray(np.concatenate(masks)),
        np.repeat(np.arange(len(blocks)), [len(part) for part in columns]),
        np.concatenate(kinds),
        tuple(columns),
        np.concatenate(means, axis=1),
        np.concatenate(units),
        np.concatenate(nulls, axis=-1),
        _named_apart(names, features),
        tuple(blocks[0].names[0]),
        groups,
        group,
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


def usable_columns(block: Block, word: str, group: np.ndarray | None = None) -> np.ndarray:
    """Columns with something to learn: a known cell, and for Gaussian views more than one value in some sample group."""
    if word != "gaussian":
        return np.flatnonzero(block.observed.any(axis=0))
    varies = np.zeros(block.shape[1], bool)
    for g in range(1 if group is None else int(group.max(initial=0)) + 1):
        here = slice(None) if group is None or not group.any() else group == g
        known, values = block.observed[here], block.values[here]
        varies |= values.max(axis=0, initial=-np.inf, where=known) > values.min(
            axis=0, initial=np.inf, where=known
        )
    return np.flatnonzero(varies)


def problems_of(
    blocks: tuple[Block, ...], params: Settings, group: np.ndarray | None = None
) -> list[Problem]:
    """What is wrong with the views, or worth knowing."""
    try:
        likelihoods = likelihoods_of(blocks, params["likelihoods"])
    except ModelError as error:
        return [Problem(error.message, error.hint, "likelihoods")]
    found: list[Problem] = []
    fitted = 0
    for name, block, word in zip(view_names(blocks), blocks, likelihoods, strict=True):
        if wrong := _wrong_value(name, block, word):
            found.append(wrong)
            continue
        usable = usable_columns(block, word, group)
        fitted += len(usable)
        found += _left_out(name, block, word, usable, group)
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
        f"The view “{name}” is {NAMES[word]} and needs {wanted}. Found {values[row, column]:g} at sample "
        f"“{block.names[0][row]}”, feature “{block.names[1][column]}”.",
        "Choose another likelihood for it, or mend the data.",
        "views",
    )


def _left_out(
    name: str, block: Block, word: str, usable: np.ndarray, group: np.ndarray | None
) -> list[Problem]:
    n_features = block.shape[1]
    if len(usable) == n_features:
        return []
    out = np.setdiff1d(np.arange(n_features), usable)
    which = _some([block.names[1][i] for i in out], "feature")
    constant = "constant in every sample group" if group is not None and group.any() else "constant"
    why = f"{constant} or without a known cell" if word == "gaussian" else "without a known cell"
    return [Problem(f"{name}: {which} left out, {why}.", "", "views", "warning")]


def _unsafe(name: str, block: Block, word: str, params: Settings) -> list[Problem]:
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
    return f"{counted(len(names), noun)} ({shown})"
