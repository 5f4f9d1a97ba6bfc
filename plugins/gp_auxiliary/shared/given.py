"""Numbers that a setting gives as a text: cut-points, widths of the null category."""

from __future__ import annotations

import math
from itertools import pairwise

from plaidwork.core.api import Problem, counted


def numbers_of(text: str) -> list[float] | None:
    """The numbers of “-1, 0.5; 2”; None where a part is not one."""
    try:
        found = [float(part) for part in text.replace(";", ",").split(",") if part.strip()]
    except ValueError:
        return None
    return found if all(map(math.isfinite, found)) else None


def ascending_problem(what: str, text: str, count: int | None, where: str) -> Problem | None:
    """What is wrong with ascending numbers, ``count`` of them where it is known."""
    found = numbers_of(text)
    wanted = "ascending numbers" if count is None else f"{counted(count, 'ascending number')}"
    right = found is not None and found and all(low < high for low, high in pairwise(found))
    if right and found is not None and count in (None, len(found)):
        return None
    return Problem(f"{what} need {wanted}. Found “{text}”.", "Write them with commas between.", where)
