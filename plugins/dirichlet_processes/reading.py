"""The matrices of a fit as the kernels take them: numbers standardised, codes of categories, counts with exposures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from plaidwork.core.api import (
    Block,
    ModelData,
    ModelError,
    Params,
    Problem,
    SettingError,
    agree,
    choice_of_each,
    counted,
    per_matrix,
)
from plaidwork.plugins.dirichlet_processes.columns import (
    FEW,
    FEW_VALUES,
    constant,
    few_valued,
    known_of,
    least_variances,
    left_out,
    named,
    part,
    places_of,
    told,
    with_words,
    yes_or_no,
)
from plaidwork.plugins.dirichlet_processes.kernels.clusters import Items, constant_of_counts
from plaidwork.plugins.dirichlet_processes.likeness import gamma_steps
from plaidwork.plugins.dirichlet_processes.partitions import Floats
from plaidwork.plugins.dirichlet_processes.rows import counts_of, packed_rows, whole_rows
from plaidwork.plugins.dirichlet_processes.settings import (
    CODES,
    COUNTS,
    JOINT,
    LIKELIHOODS,
    NUMBERS,
    ROWS,
    ColumnSettings,
)
from plaidwork.plugins.dirichlet_processes.state import Ints, Table

TABLE_SETTINGS = ("likelihoods", "standardise", "exposure", "few_values", "within_shape")
MOST_LEVELS = 100
LEAST_EXPOSURE = 1e-9
"""Of a sample without any count: it then says nothing, as its counts are 0."""


def kinds_of(params: ColumnSettings, blocks: Sequence[Block]) -> tuple[str, ...]:
    """The likelihood of each matrix.

    Raises
    ------
    ModelError : the name of a matrix that is not there, or another number of words than matrices.
    """
    try:
        kinds = choice_of_each(LIKELIHOODS, cast(Params, params), blocks, [block.name for block in blocks])
    except SettingError as error:
        raise ModelError(error.message, error.hint) from error
    guessed = _guessed(params, blocks)
    return tuple(
        CODES if free and len(with_words(block)) == block.shape[1] else kind
        for kind, block, free in zip(kinds, blocks, guessed, strict=True)
    )


def _guessed(params: ColumnSettings, blocks: Sequence[Block]) -> list[bool]:
    """Of which matrices nobody said what they are, so that their values tell."""
    words = per_matrix(params["likelihoods"], [block.name for block in blocks])
    return [word in ("", LIKELIHOODS.choices[0].value) for word in words]


def coded_of(params: ColumnSettings, blocks: Sequence[Block], kinds: Sequence[str]) -> list[list[int]]:
    """The columns of each matrix that are categories: all of a matrix of them, else those of words, and those of few values beside others."""
    found = []
    for kind, block, free in zip(kinds, blocks, _guessed(params, blocks), strict=True):
        if kind == CODES:
            found.append(list(range(block.shape[1])))
            continue
        few: list[int] = []
        if free and params["few_values"] == "categories":
            few = (
                few_valued(block) if kind in (NUMBERS, JOINT) else yes_or_no(block) if kind == COUNTS else []
            )
        found.append(sorted({*few, *with_words(block)}) if free else [])
    return found


def columns_by_kind(
    params: ColumnSettings, blocks: Sequence[Block], least: float
) -> dict[str, list[list[int]]]:
    """The columns of each matrix that are fitted, by kind of likelihood. Raises ``ModelError``."""
    kinds = kinds_of(params, blocks)
    coded, found = coded_of(params, blocks, kinds), {}
    for one in (NUMBERS, CODES, COUNTS, JOINT, ROWS):
        found[one] = [
            codes if one == CODES else _fitted(kind, block, codes, least) if one == kind else []
            for kind, block, codes in zip(kinds, blocks, coded, strict=True)
        ]
    return found


def _fitted(kind: str, block: Block, coded: Sequence[int], least: float) -> list[int]:
    """The columns of a matrix but for categories, and those that say nothing."""
    used = [j for j in range(block.shape[1]) if j not in coded]
    out = {used[at] for at in left_out(kind, part(block, used), least)}
    return [j for j in used if j not in out]


def _levels(block: Block, j: int) -> Floats:
    """The distinct values of a column; 0 and 1 even where only one of them occurs."""
    found = np.unique(known_of(block, j))
    return np.array([0.0, 1.0]) if np.isin(found, (0.0, 1.0)).all() else found


def exposure_of(block: Block, fitted: Block, params: ColumnSettings) -> Floats:
    """(n,) total of a sample over what its known cells have on average in the fitted ones; 1 where all samples are alike."""
    if params["exposure"] == "none":
        return np.ones(block.shape[0])
    known = block.observed.astype(float)
    mean = (fitted.values * fitted.observed).sum(axis=0) / np.maximum(fitted.observed.sum(axis=0), 1.0)
    expected = known @ mean
    total = (block.values * known).sum(axis=1)
    return np.maximum(np.where(expected > 0, total / np.maximum(expected, 1e-300), 1.0), LEAST_EXPOSURE)


def _scaling(block: Block, params: ColumnSettings) -> tuple[Floats, Floats]:
    """Centre and scale of every column of numbers; a column that never changes keeps the scale 1."""
    d = block.shape[1]
    centre, scale = np.zeros(d), np.ones(d)
    for j in range(d if params["standardise"] else 0):
        known = known_of(block, j)
        if known.size:
            centre[j] = known.mean()
            sd = float(known.std())
            scale[j] = sd if sd > 1e-12 * float(np.abs(known).max()) else 1.0
    return centre, scale


def _beside(parts: Sequence[NDArray], n: int, dtype: type) -> NDArray:
    """Columns beside each other, (n, all of them), read-only."""
    out: NDArray = np.concatenate([np.zeros((n, 0), dtype), *parts], axis=1).astype(dtype, order="C")
    out.flags.writeable = False
    return out


class _Numbers(NamedTuple):
    """The columns of numbers that are fitted, of one kind: values (n, g) in units of the fit, and what ``Table`` has of them."""

    values: list[Floats]
    known: list[NDArray[np.bool_]]
    centre: list[Floats]
    scale: list[Floats]
    least: list[Floats]

    def add(self, block: Block, used: Ints, params: ColumnSettings, least: float) -> None:
        """The columns ``used`` of a matrix, standardised."""
        centre, scale = (part[used] for part in _scaling(block, params))
        observed = block.observed[:, used]
        self.values.append(np.where(observed, (block.values[:, used] - centre) / scale, 0.0))
        self.known.append(observed)
        self.centre.append(centre)
        self.scale.append(scale)
        self.least.append(least_variances(block, used.tolist(), scale, least))


def _no_numbers() -> _Numbers:
    return _Numbers([], [], [np.zeros(0)], [np.zeros(0)], [np.zeros(0)])


def read(data: ModelData, params: Params) -> Table:
    """All matrices side by side; asked for with ``data.prepared``, so that chains share one."""
    settings = cast(ColumnSettings, params)
    blocks: tuple[Block, ...] = tuple(data["views"])
    n, least = blocks[0].shape[0], float(params.get("least_within", 0.0))
    kinds, columns = kinds_of(settings, blocks), columns_by_kind(settings, blocks, least)
    places = {kind: places_of(chosen) for kind, chosen in columns.items()}
    fitted = {NUMBERS: _no_numbers(), JOINT: _no_numbers()}
    codes, counts, exposure, units, values = [], [], [], [np.zeros(0)], []
    shared: list[Floats] = []
    for v, (kind, block) in enumerate(zip(kinds, blocks, strict=True)):
        if coded := columns[CODES][v]:
            levels = [_levels(block, j) for j in coded]
            found = [np.searchsorted(one, block.values[:, j]) for j, one in zip(coded, levels, strict=True)]
            codes.append(np.where(block.observed[:, coded], np.array(found).T, -1))
            values += levels
        if kind in fitted:
            fitted[kind].add(block, np.array(columns[kind][v], np.int64), settings, least)
        elif kind == ROWS:
            shared.append(counts_of(block))
        elif kind == COUNTS:
            number, rate, unit = _counts(part(block, columns[COUNTS][v]), settings)
            counts.append(number)
            exposure.append(rate)
            units.append(unit)
    alone, joint = fitted[NUMBERS], fitted[JOINT]
    mask, joint_mask = _beside(alone.known, n, np.bool_), _beside(joint.known, n, np.bool_)
    whole = np.asarray(joint_mask.all(axis=1))
    whole.flags.writeable = False
    sizes = [len(one) for one in values] + [one.shape[1] for one in shared]
    first: Ints = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    items = Items(
        _beside(alone.values, n, np.float64), mask, _beside(codes, n, np.int64), _beside(counts, n, np.float64),
        _beside(exposure, n, np.float64), bool(mask.all()), np.array(_beside(joint.values, n, np.float64)), joint_mask, whole,
        packed_rows(n, shared, int(first[len(values)])),
    )  # fmt: skip
    scale, joint_scale = np.concatenate(alone.scale), np.concatenate(joint.scale)
    joint_first: Ints = np.concatenate([[0], np.cumsum([part.shape[1] for part in joint.values])]).astype(
        np.int64
    )
    return Table(
        items, kinds, places[NUMBERS], places[CODES], places[COUNTS],
        np.concatenate(alone.centre), scale, np.concatenate(units), tuple(values), first,
        places[JOINT], joint_first, np.concatenate(joint.centre), joint_scale,
        places[ROWS],
        float(constant_of_counts(items) - (mask * np.log(scale)).sum() - (joint_mask * np.log(joint_scale)).sum()),
        gamma_steps(settings["within_shape"], n), np.concatenate(alone.least), np.concatenate(joint.least),
    )  # fmt: skip


def _counts(block: Block, params: ColumnSettings) -> tuple[Floats, Floats, Floats]:
    """Counts (n, d), -1 where missing, their exposures (n, d), and the mean count (d,) that rates are relative to."""
    row = exposure_of(block, block, params)
    seen = (block.observed * row[:, None]).sum(axis=0)
    mean = (block.values * block.observed).sum(axis=0) / np.maximum(seen, LEAST_EXPOSURE)
    unit = np.where(mean > 0, mean, 1.0) if params["standardise"] else np.ones(block.shape[1])
    return np.where(block.observed, block.values, -1.0), row[:, None] * unit, unit


def find_problems(data: ModelData, params: ColumnSettings) -> list[Problem]:
    """Errors stop the fit; warnings are shown."""
    blocks: tuple[Block, ...] = tuple(data["views"])
    try:
        kinds = kinds_of(params, blocks)
    except ModelError as error:
        return [Problem(error.message, error.hint, "likelihoods")]
    found = []
    for kind, block, coded in zip(kinds, blocks, coded_of(params, blocks, kinds), strict=True):
        rest = part(block, [j for j in range(block.shape[1]) if kind == CODES or j not in coded])
        found += _wrong_values(kind, rest) + (_few_values(rest) if kind in (NUMBERS, JOINT) else [])
        found += told(kind, rest, float(params.get("least_within", 0.0)))  # type: ignore[arg-type]
        same = [] if kind == ROWS else constant(block)
        if same and block.shape[0] > 1:
            text = f"{named(block, same)} of “{block.name}” {agree(len(same), 'has', 'have')} one value only."
            found.append(Problem(text, "It says nothing about clusters.", "views", "warning"))
    empty = ~np.any([block.observed.any(axis=1) for block in blocks], axis=0)
    if empty.any():
        names = ", ".join(f"“{blocks[0].names[0][i]}”" for i in np.flatnonzero(empty)[:FEW])
        text = f"{int(empty.sum())} of {counted(len(empty), 'sample')} {agree(empty.sum(), 'has', 'have')} no known cell: {names}{', …' if empty.sum() > FEW else ''}."
        found.append(Problem(text, "Nothing says to which cluster they belong.", "views", "warning"))
    if blocks[0].shape[0] < 3:
        found.append(
            Problem("There are fewer than three samples.", "Clusters need more.", "views", "warning")
        )
    return found


def _few_values(block: Block) -> list[Problem]:
    """A warning where some columns of numbers, not all, come back to a few values: a law of one such value has next to no variance."""
    few = few_valued(block)
    if not few:
        return []
    text = f"{named(block, few)} of “{block.name}” {agree(len(few), 'has', 'have')} at most {FEW_VALUES} different values."
    hint = "Clusters may stand for single values: let such columns be categories (“Columns with few values”), or leave them out."
    return [Problem(text, hint, "views", "warning")]


def _wrong_values(kind: str, block: Block) -> list[Problem]:
    """What a matrix has that its likelihood cannot take: the first such cell by name."""
    if kind in (COUNTS, ROWS):
        wrong = block.observed & ((block.values < 0) | (block.values != np.floor(block.values)))
        if wrong.any():
            i, j = np.argwhere(wrong)[0]
            text = (
                f"Row “{block.names[0][i]}”, column “{block.names[1][j]}” of “{block.name}” is {block.values[i, j]:g}; "
                "counts are whole numbers from 0 on."
            )
            return [Problem(text, f"Take {NUMBERS} for this matrix.", "likelihoods")]
    if kind == ROWS:
        return _broken_rows(block)
    if kind == CODES:
        many = [j for j in range(block.shape[1]) if len(_levels(block, j)) > MOST_LEVELS]
        if many:
            count = len(_levels(block, many[0]))
            text = f"Column “{block.names[1][many[0]]}” of “{block.name}” has {counted(count, 'different value')}; categories are {MOST_LEVELS} at most."
            return [Problem(text, f"Take {NUMBERS} or {COUNTS} for this matrix.", "likelihoods")]
    return []


def _broken_rows(block: Block) -> list[Problem]:
    """Rows of counts that share a total but are known in part, by name; and what says nothing."""
    known = block.observed.sum(axis=1)
    broken = np.flatnonzero((known > 0) & ~whole_rows(block))
    if len(broken):
        i, d = broken[0], block.shape[1]
        more = len(broken) - 1
        also = f"{counted(more, 'other row')} {agree(more, 'has', 'have')}"
        text = (
            f"Row “{block.names[0][i]}” of “{block.name}” has {d - known[i]} of {counted(d, 'cell')} missing"
            f"{f', and {also} gaps too' if more else ''}; counts that share a total are known as a whole row or not at all."
        )
        return [
            Problem(text, f"Leave out such rows or columns, or take {COUNTS} for this matrix.", "likelihoods")
        ]
    found = []
    if block.shape[1] == 1:
        text = f"“{block.name}” has one column, which has all of every total."
        found.append(
            Problem(
                text,
                f"It says nothing about clusters; take {COUNTS} for this matrix.",
                "likelihoods",
                "warning",
            )
        )
    empty = np.flatnonzero(whole_rows(block) & (block.values.sum(axis=1) == 0))
    if len(empty):
        names = ", ".join(f"“{block.names[0][i]}”" for i in empty[:FEW]) + (", …" if len(empty) > FEW else "")
        text = f"{counted(len(empty), 'sample')} of “{block.name}” {agree(len(empty), 'has', 'have')} no count: {names}."
        found.append(Problem(text, "A total of 0 says nothing about clusters.", "views", "warning"))
    return found
