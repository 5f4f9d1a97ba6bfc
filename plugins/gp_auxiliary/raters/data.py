"""The ratings as the data give them, and what is wrong with them.

Two layouts: objects by raters, a grade in each cell; or one rating a row, with a column of grades and the raters' names
beside it. In the second one rows with the same inputs are one object.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from plaidwork.core.api import Block, ModelData, ModelError, Problem, counted
from plaidwork.plugins.gp_auxiliary.raters.law import Ratings
from plaidwork.plugins.gp_auxiliary.shared.frame import Frame, input_problems, place_samples
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import RatedSettings

MOST_GRADES = 30


@dataclass(frozen=True, slots=True)
class Table:
    """Objects and ratings, in either layout.

    Attributes
    ----------
    objects : inputs (n, D) of the objects with their names.
    item, rater, code : (M,) numbers of object, rater and grade of every rating.
    raters, grades : their names; the grades from low to high.
    """

    objects: Block
    item: np.ndarray
    rater: np.ndarray
    code: np.ndarray
    raters: tuple[str, ...]
    grades: tuple[str, ...]

    @property
    def per_rater(self) -> np.ndarray:
        return np.bincount(self.rater, minlength=len(self.raters))


def read_table(data: ModelData) -> Table:
    """The ratings of the inputs. Raises ``ModelError`` where raters are named beside more than one column of grades."""
    block, codes, grades = data["ratings"], *levels_of(data["ratings"])
    if "rater" not in data:
        item, rater = np.nonzero(codes >= 0)
        return Table(data["X"], item, rater, codes[item, rater], tuple(block.names[1]), grades)
    if codes.shape[1] != 1:
        raise ModelError(
            f"Raters beside the rows need one column of grades. Found {counted(codes.shape[1], 'column')}.",
            "Leave “Rater of each row” empty where every rater has a column.",
        )
    who = data["rater"]
    known = (codes[:, 0] >= 0) & who.observed
    objects, place = distinct(data["X"])
    return Table(
        objects, place[known], np.asarray(who.values)[known], codes[known, 0], who.categories, grades
    )


def levels_of(block: Block) -> tuple[np.ndarray, tuple[str, ...]]:
    """Grades (n, C) as codes from 0, -1 where missing, and their names from low to high."""
    values, known = np.asarray(block.values), np.asarray(block.observed)
    codes = np.full(values.shape, -1, dtype=np.int64)
    levels = np.unique(values[known])
    codes[known] = np.searchsorted(levels, values[known])
    named = block.categories
    return codes, tuple(named[int(level)] if named else f"{level:g}" for level in levels)


def distinct(block: Block) -> tuple[Block, np.ndarray]:
    """The objects that rows (m, D) stand for, in their order, named by their inputs; and the object (m,) of every row."""
    values, given = np.asarray(block.values, dtype=float), np.asarray(block.observed)
    _rows, first, place = np.unique(
        np.hstack([values, given]), axis=0, return_index=True, return_inverse=True
    )
    order = np.argsort(first)
    back = np.argsort(order)
    found, known = np.ascontiguousarray(values[first[order]]), given[first[order]]
    titles = block.names[1]
    names = tuple(
        ", ".join(
            f"{title} {f'{value:.6g}' if there else 'missing'}" for title, value, there in zip(titles, *row)
        )
        for row in zip(found, known)
    )
    return replace(block, values=found, observed=known, names=(names, block.names[1])), back[place.ravel()]


def place_ratings(table: Table, params: RatedSettings) -> tuple[Frame, Ratings]:
    """The objects as the sampler uses them. Raises ``ModelError`` without a rating."""
    size = len(table.objects.values)
    rated = np.bincount(table.item, minlength=size) > 0
    if not rated.any():
        raise ModelError("No object has a rating, so there is nothing to fit.")
    none = np.full(size, -1, dtype=np.int64)
    frame = place_samples(table.objects, none, table.grades, np.zeros(size, dtype=bool), rated, params)
    number = np.cumsum(rated) - 1
    return frame, Ratings(number[table.item], table.rater, table.code, len(table.raters), len(table.grades))


def free_offsets(raters: Sequence[str], params: RatedSettings) -> np.ndarray:
    """(C,) bool: whose offset is inferred; that of the reference is 0."""
    wanted = params["reference"].strip()
    return np.array([not wanted or name != wanted for name in raters], dtype=bool)


def find_rated_problems(data: ModelData, params: RatedSettings) -> list[Problem]:
    """What is wrong with inputs and settings of the model of several raters."""
    try:
        table = read_table(data)
    except ModelError as error:
        return [Problem(error.message, error.hint, "rater")]
    problem = _grades(table.grades) or _reference(table.raters, params)
    if problem:
        return [problem]
    try:
        frame, _ratings = place_ratings(table, params)
    except ModelError as error:
        return [Problem(str(error), where="ratings")]
    found = []
    silent = [name for name, count in zip(table.raters, table.per_rater) if not count]
    if silent:
        shown = ", ".join(silent[:3]) + (f" and {len(silent) - 3} more" if len(silent) > 3 else "")
        text = f"No rating at all: {shown}. What is said of them comes from the prior."
        found.append(Problem(text, where="ratings", severity="warning"))
    if np.bincount(table.item).max() < 2:
        text = "No object has two ratings: only the inputs tell raters apart."
        found.append(Problem(text, where="ratings", severity="warning"))
    return found + input_problems(table.objects, frame, params)


def _reference(raters: Sequence[str], params: RatedSettings) -> Problem | None:
    wanted = params["reference"].strip()
    if not wanted or wanted in raters:
        return None
    known = ", ".join(raters[:6]) + (", …" if len(raters) > 6 else "")
    hint = f"The raters are {known}. Leave it empty for their average."
    return Problem(f"No rater is called “{wanted}”.", hint, "reference")


def _grades(levels: tuple[str, ...]) -> Problem | None:
    if len(levels) < 2:
        have = f"only “{levels[0]}”" if levels else "no rating at all"
        return Problem(
            f"The ratings need at least 2 grades. Found {have}.", "Choose other ratings.", "ratings"
        )
    if len(levels) > MOST_GRADES:
        return Problem(
            f"The ratings have {counted(len(levels), 'different value')}; at most {MOST_GRADES} grades can be told apart.",
            "Round them to fewer grades.",
            "ratings",
        )
    return None
