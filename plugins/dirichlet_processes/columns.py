"""Which columns of numbers have something to say, what they are recorded to, and what is said of columns that follow from others.

Equal values, copies of columns and rows on a plane let the density of a cluster grow without bound as its learned spread goes to 0. So
a spread has a least value (``least_variances``), and columns that never change or follow from those before them are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from plaidwork.core.api import Block, Problem, agree, counted
from plaidwork.plugins.dirichlet_processes.partitions import Floats
from plaidwork.plugins.dirichlet_processes.settings import JOINT, NUMBERS

FEW = 3
"""Columns, samples or problems of one sort that are named."""
SPARE = 2
"""Rows beyond the numbers of a linear function that must agree with it: fewer agree by themselves."""
NOISE = 1e-12
"""Steps of this share of the largest value are rounding of the machine."""
ENOUGH = 25
"""Rows from which on it says something that most have one value."""
FOLLOWS = 1e-8
"""Share of its variance up to which a column may differ from what the others say of it."""
MANY = 500
"""Columns of a matrix up to which those that follow from others are looked for."""
WIDE = 30
"""Columns of a matrix up to which pairs of them are compared."""
FEW_VALUES, LEAST_TIMES = 10, 5
"""Different values of a column up to which it may be no measurement, and how often each comes at least, on average."""


def known_of(block: Block, j: int) -> Floats:
    """The known values of a column."""
    return np.asarray(block.values[:, j][block.observed[:, j]], float)


def named(block: Block, places: Sequence[int]) -> str:
    """Some columns by name, as the subject of a sentence."""
    names = ", ".join(f"“{block.names[1][j]}”" for j in places[:FEW]) + (", …" if len(places) > FEW else "")
    return f"{agree(len(places), 'Column', counted(len(places), 'column') + ',')} {names}"


def part(block: Block, columns: Sequence[int]) -> Block:
    """Some columns of a matrix; itself where these are all."""
    if len(columns) == block.shape[1]:
        return block
    at = list(columns)
    return replace(
        block, values=block.values[:, at], observed=block.observed[:, at],
        names=(block.names[0], tuple(block.names[1][j] for j in at)),
        levels=tuple(block.levels[j] for j in at) if block.levels else (), held_out=None, truth=None,
    )  # fmt: skip


def with_words(block: Block) -> list[int]:
    """The columns whose numbers stand for words."""
    return [j for j, words in enumerate(block.levels) if words]


def few_valued(block: Block) -> list[int]:
    """The columns that come back to a few values, each of them often; none where all columns that change do, as answers of a questionnaire."""
    known = [known_of(block, j) for j in range(block.shape[1])]
    values = [len(np.unique(column)) for column in known]
    few = [j for j, n in enumerate(values) if 2 <= n <= FEW_VALUES and len(known[j]) >= LEAST_TIMES * n]
    return [] if len(few) == sum(n > 1 for n in values) else few


def yes_or_no(block: Block) -> list[int]:
    """The columns of zeros and ones, both of which occur."""
    return [j for j in range(block.shape[1]) if np.array_equal(np.unique(known_of(block, j)), (0.0, 1.0))]


def constant(block: Block) -> list[int]:
    """The columns with one known value at most."""
    return [j for j in range(block.shape[1]) if len(np.unique(known_of(block, j))) < 2]


def following(block: Block) -> list[int]:
    """The columns that are linear functions of those before them.

    Judged by the rows that are known in all columns that change; of more columns than ``MANY``, for which it takes long, none is told. O(n d^2)
    """
    never = set(constant(block))
    changing = [j for j in range(block.shape[1]) if j not in never]
    x = block.values[block.observed[:, changing].all(axis=1)][:, changing]
    if not len(x) or len(changing) > MANY:
        return []
    x = x - x.mean(axis=0)
    sd = np.sqrt((x**2).mean(axis=0))
    x = x / np.where(sd > 0, sd, 1.0)
    kept, number = np.empty((min(x.shape), len(x))), 0
    found = []
    for j, column in zip(changing, np.ascontiguousarray(x.T), strict=True):
        if len(x) < number + 2 + SPARE:  # too few rows to tell from here on
            break
        rest: Floats = column.copy()
        for _ in range(2):  # once more, for what rounding left
            rest -= kept[:number].T @ (kept[:number] @ rest)
        if (rest**2).mean() <= FOLLOWS:
            found.append(j)
        else:
            kept[number] = rest / np.sqrt((rest**2).sum())
            number += 1
    return found


def left_out(kind: str, block: Block, least: float) -> list[int]:
    """The columns of numbers that the fit goes without; the first one of a matrix never is, as something must be there."""
    if kind not in (NUMBERS, JOINT) or least <= 0.0:
        return []
    same = [j for j in constant(block) if len(known_of(block, j)) > 1]
    found = sorted({*same, *(following(block) if kind == JOINT else [])})
    return found[1:] if len(found) == block.shape[1] else found


def places_of(columns: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """(columns of one kind, 2) matrix and column, of those of each matrix."""
    found = [(v, j) for v, chosen in enumerate(columns) for j in chosen]
    return np.array(found, np.int64).reshape(-1, 2)


def least_variances(block: Block, places: Sequence[int], scale: Floats, least: float) -> Floats:
    """The variance of each column's rounding, ``least`` at least, in units of ``scale``; 0 where there is no least.

    Where values come back, what is recorded is rounded to steps, the smallest of which is h: its variance is h^2 / 12 (Sheppard 1898).
    """
    if least <= 0.0:
        return np.zeros(len(places))
    steps = np.array([_step(known_of(block, j)) for j in places])
    return np.asarray(np.maximum((steps / scale) ** 2 / 12.0, least))


def _step(known: Floats) -> float:
    """The smallest step between values, 0 where none comes back."""
    values = np.unique(known)
    if len(values) in (0, 1, len(known)):
        return 0.0
    steps = np.diff(values)
    seen = steps[steps > NOISE * np.abs(values).max()]
    return float(seen.min()) if len(seen) else 0.0


def told(kind: str, block: Block, least: float) -> list[Problem]:
    """What is said of columns that never change, follow from others, or have one value or that of another column in most rows."""
    if kind not in (NUMBERS, JOINT):
        return []
    follow = following(block) if least > 0.0 else []
    found = []
    if follow:
        text = f"{named(block, follow)} of “{block.name}” {agree(len(follow), 'follows', 'follow')} from other columns by a linear formula."
        hint = (
            "The fit goes without, as the others say the same. To choose which ones stay, leave the others out of the data."
            if kind == JOINT
            else "What they say counts more than once: leave such columns out."
        )
        found.append(Problem(text, hint, "views", "warning"))
    silent = {*follow, *constant(block)}
    others = [j for j in range(block.shape[1]) if j not in silent]
    mostly = [j for j in others if _most_equal(known_of(block, j))]
    if mostly:
        text = f"{named(block, mostly)} of “{block.name}” {agree(len(mostly), 'has', 'have')} the same value in more than half of the rows."
        hint = "Clusters may stand for that value: leave such columns out, or give whether they have it as a matrix of zeros and ones."
        found.append(Problem(text, hint, "views", "warning"))
    pairs = combinations([j for j in others if j not in mostly], 2) if block.shape[1] <= WIDE else ()
    equal = [pair for pair in pairs if _mostly_alike(block, *pair)]
    if equal:
        text = f"{named(block, equal[0])} of “{block.name}” are equal in more than half of the rows."
        hint = "Clusters may stand for these rows: leave one of the columns out, or give their difference in place of it."
        found.append(Problem(text, hint, "views", "warning"))
    return found


def _most_equal(known: Floats) -> bool:
    """Whether more than half of the values are one value. Of two values always one is so: that is no measurement in any case."""
    values, counts = np.unique(known, return_counts=True)
    return len(values) > 2 and len(known) >= ENOUGH and 2 * int(counts.max()) > len(known)


def _mostly_alike(block: Block, i: int, j: int) -> bool:
    """Whether two columns agree in more than half of the rows in which both are known."""
    both = block.observed[:, i] & block.observed[:, j]
    alike = int((block.values[both, i] == block.values[both, j]).sum())
    return both.sum() >= ENOUGH and 2 * alike > int(both.sum())
