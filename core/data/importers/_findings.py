"""What is worth saying about a matrix that was read: kind, gaps, constant lines, skew, repeated names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plaidwork.core.contract.hyperparameter import ValueKind
from plaidwork.core.data.importers.base import Added, Fix, Issue
from plaidwork.core.draws.counting import agree, counted

SKEW_LIMIT = 2.0
_LISTED, _LISTED_PLACES = 50, 8
"""Repeated names that are listed, and places of each."""
_FAR, _SHARE, _FEWEST = 100.0, 0.1, 20
"""How many times the next smaller value one is that lies far off, how many of a column may, and of how many."""
_COLUMNS = 100
"""Columns that may each have a unit of its own; of more the values are taken together."""
_ROUNDED = 1e-9
"""By how much a correlation of a feature with itself may differ from 1 as it was computed."""
_WIDE = 4
"""Columns of rows in which one value everywhere is no accident."""
_MOST_JUDGED = 20_000_000
"""Values that are sorted; more take too long."""


def distinct_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names with `` (2)``, `` (3)`` behind repeated ones; those that occur once stay as they are."""
    taken = set(names)
    seen: dict[str, int] = {}
    out = []
    for name in names:
        number = seen.get(name, 0) + 1
        seen[name] = number
        candidate = name
        while number > 1 and candidate in taken:
            candidate = f"{name} ({number})"
            number += 1
        taken.add(candidate)
        out.append(candidate)
    return tuple(out)


def repeated(names: Sequence[str]) -> list[str]:
    """Names that occur more than once, in order of first repetition."""
    seen: set[str] = set()
    twice: dict[str, None] = {}
    for name in names:
        if name in seen:
            twice[name] = None
        seen.add(name)
    return list(twice)


def _first(names: Sequence[str], limit: int = 3) -> str:
    shown = ", ".join(f"“{name}”" for name in names[:limit])
    return f"{shown}{', …' if len(names) > limit else ''}"


def line_issues(values: np.ndarray, names: Sequence[str], axis: int) -> list[Issue]:
    """Lines (rows at axis 0, columns at axis 1) without any value, and lines with one value only."""
    what = ("row", "column")[axis]
    along = 1 - axis
    if not values.size:
        return []
    missing = np.isnan(values)
    empty = missing.all(axis=along)
    low = np.where(missing, np.inf, values).min(axis=along)
    high = np.where(missing, -np.inf, values).max(axis=along)
    constant = (low == high) & ((~missing).sum(axis=along) > 1)  # of a single value nothing can be said
    if axis == 0 and values.shape[1] < _WIDE:
        constant[:] = False
    found = []
    if empty.any():
        which = [names[index] for index in np.flatnonzero(empty).tolist()]
        verb = agree(len(which), "has", "have")
        found.append(
            Issue(
                "warning",
                f"{counted(len(which), what)} {verb} no value at all",
                _first(which),
                fix=(f"Leave {agree(len(which), 'it', 'them')} out", f"drop_empty_{what}s", True),
            )
        )
    if constant.any():
        which = [names[index] for index in np.flatnonzero(constant).tolist()]
        verb = agree(len(which), "has", "have")
        found.append(
            Issue(
                "warning",
                f"{counted(len(which), what)} {verb} the same value everywhere",
                _first(which),
                fix=(f"Leave {agree(len(which), 'it', 'them')} out", f"drop_constant_{what}s", True),
            )
        )
    return found


def copied_issues(
    values: np.ndarray, rows: Sequence[str], columns: Sequence[str], places: Sequence[int] = ()
) -> list[Issue]:
    """Columns with the same values as an earlier one, and rows of measurements that are those of another, (n, m) values.

    ``places`` are the columns of the file, from 1, in which the values stand: by these copies can be left out. Rows of whole numbers may
    well be alike, and so may those of few columns.
    """
    if values.ndim != 2 or len(values) < _FEWEST or values.size > _MOST_JUDGED:
        return []
    found = []
    copies = [(j, k) for j, k in _copies(values.T) if np.unique(values[~np.isnan(values[:, j]), j]).size > 2]
    if copies:
        lines = tuple(f"“{_in_line(columns[j])}” as “{_in_line(columns[k])}”" for j, k in copies)
        fix: Fix | None = None
        if places:
            words = f"Leave {agree(len(copies), 'it', 'them')} out"
            fix = (words, "skip", Added(tuple(places[j] - 1 for j, _ in copies)))
        message = f"{counted(len(copies), 'column')} {agree(len(copies), 'has', 'have')} the same values as an earlier one"
        found.append(_copied(message, lines, fix))
    fractions = np.isfinite(values) & (values != np.floor(values))
    if values.shape[1] > 2 and fractions.any(axis=0).sum() > 2:
        twice = [(i, k) for i, k in _copies(values) if not np.isnan(values[i]).all()]
        if twice:
            lines = tuple(f"“{_in_line(rows[i])}” as “{_in_line(rows[k])}”" for i, k in twice)
            message = f"{counted(len(twice), 'row')} {agree(len(twice), 'has', 'have')} the same values as an earlier one"
            found.append(_copied(message, lines, None))
    return found


def _in_line(name: str) -> str:
    """A name without the runs of spaces that some files fill fields with."""
    return " ".join(name.split())


def _copied(message: str, lines: tuple[str, ...], fix: Fix | None) -> Issue:
    more = len(lines) - _LISTED
    places = (*lines[:_LISTED], *([f"and {more} more"] if more > 0 else []))
    return Issue(
        "warning",
        message,
        lines[0],
        fix=fix,
        places=places if len(lines) > 1 else (),
    )


def _copies(lines: np.ndarray) -> list[tuple[int, int]]:
    """Each line that is equal to an earlier one, gaps included, with the first such."""
    seen: dict[bytes, int] = {}
    found = []
    for place, line in enumerate(lines):
        first = seen.setdefault((line + 0.0).tobytes(), place)  # 0 and -0 are the same
        if first != place:
            found.append((place, first))
    return found


def samples_issue(where: str) -> Issue:
    """Where the samples are was guessed from names of genes or samples, which is said."""
    return Issue(
        "info",
        f"The samples seem to be the {where}, by their names and those of the features",
        "Choose under “Samples are” if that is not so",
    )


def skew_issue(values: np.ndarray, kind: ValueKind) -> Issue | None:
    """Positive, strongly skewed values: logarithms are offered."""
    if kind == "binary":
        return None
    known = values[~np.isnan(values)]
    if known.size < 20 or known.min() < 0 or not np.isfinite(known).all():
        return None
    with np.errstate(all="ignore"):
        skew = float((((known - known.mean()) / known.std()) ** 3).mean())
    if not skew >= SKEW_LIMIT or _in_units_of_their_own(values):
        return None
    zero = known.min() == 0
    detail = f"{_shown(known.min())} to {_shown(known.max())}, skewness {skew:.1f}"
    return Issue(
        "info",
        "No value is negative, and they are strongly skewed"
        if zero
        else "All values are positive and strongly skewed",
        detail,
        fix=(
            f"Take logarithms{' of 1 + value' if zero else ''}, recorded and undoable",
            "log",
            "log1p" if zero else "log",
        ),
    )


def _in_units_of_their_own(values: np.ndarray) -> bool:
    """Whether few columns are each hardly skewed: together they are only for being measured in different units."""
    if values.ndim != 2 or len(values) < _FEWEST or not 2 <= values.shape[1] <= _COLUMNS:
        return False
    known = ~np.isnan(values)
    number = np.maximum(known.sum(axis=0), 1)
    with np.errstate(all="ignore"):
        apart = np.where(known, values - np.where(known, values, 0.0).sum(axis=0) / number, 0.0)
        skews = (apart**3).sum(axis=0) / number / ((apart**2).sum(axis=0) / number) ** 1.5
    skews = skews[np.isfinite(skews)]
    return bool(skews.size) and float(np.median(skews)) < SKEW_LIMIT / 2


def correlations_issue(values: np.ndarray) -> Issue | None:
    """Correlations of features with each other in place of their values: there are no samples to fit."""
    square = values.ndim == 2 and values.shape[0] == values.shape[1] > 2
    if not square or not np.allclose(np.diag(values), 1.0, rtol=0.0, atol=_ROUNDED):
        return None
    if not np.allclose(values, values.T, rtol=0.0, atol=1e-3):
        return None
    others = np.abs(values[~np.eye(len(values), dtype=bool)])
    if others.max() >= 1.0 or (others == np.floor(others)).all():
        return None
    return Issue(
        "warning",
        "The table seems to hold correlations, not values of samples",
        "Models are fitted to the samples that the correlations were computed from, not to these",
    )


def whole_issue(kind: ValueKind, columns: int) -> Issue | None:
    """Whole numbers of so many columns that are not taken for counts."""
    if kind != "ordinal":
        return None
    return Issue(
        "info",
        "The whole numbers look like grades or measurements, not like counts",
        "none of them is 0, and they vary less than counts do"
        if columns == 1
        else "many columns never fall to 0, or nearly all end at the same number",
        fix=("Take them as counts", "kind", "count"),
    )


def far_issue(values: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> Issue | None:
    """Values a hundred times and more beyond all others of their column, as a lost decimal point makes them.

    Judged are columns of at least 20 known values of which more than half are not zero: a gap of that width among the
    sizes, with at most a tenth of the values above it. O(n log n).
    """
    if values.ndim != 2 or len(values) < _FEWEST or values.size > _MOST_JUDGED:
        return None
    sizes = np.sort(np.abs(values), axis=0)  # missing ones come last
    known = np.isfinite(sizes)
    count = known.sum(axis=0)
    low, high = sizes[:-1], sizes[1:]
    place = np.arange(len(low))[:, None]
    usual = np.take_along_axis(sizes, np.maximum(count - 1, 0)[None] // 2, axis=0)
    with np.errstate(all="ignore"):
        gap = (high >= _FAR * low) & known[1:] & (place + 1 >= (1 - _SHARE) * count) & (usual > 0)
    gap &= count >= _FEWEST
    limit = np.where(gap.any(axis=0), np.take_along_axis(low, gap.argmax(axis=0)[None], axis=0)[0], np.inf)
    found = np.argwhere(np.isfinite(values) & (np.abs(values) > limit))
    if not len(found):
        return None
    lines = tuple(
        f"{_named('row', rows[i])}, {_named('column', columns[j])}: {_shown(values[i, j])}; the others reach {limit[j]:.4g}"
        for i, j in found[:_LISTED].tolist()
    )
    more = len(found) - len(lines)
    return Issue(
        "warning",
        f"{counted(len(found), 'value')} {agree(len(found), 'lies', 'lie')} far beyond the others of "
        f"{agree(len(found), 'its column', 'their columns')}",
        f"First: {lines[0]}. Has a decimal point been lost?",
        places=(*lines, *([f"and {more} more"] if more else [])),
    )


def _named(what: str, name: str) -> str:
    """“row “x”” of a line that has a name, and “row 3” of one that is only numbered."""
    return name if name.startswith(f"{what} ") else f"{what} “{name}”"


def _shown(value: float) -> str:
    """Four digits, or the whole number where there are more."""
    return f"{value:.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}"


def name_issue(names: Sequence[str], what: str, numbers: Sequence[int] = ()) -> Issue | None:
    """Names that occur more than once, each with how often and where; a number behind them tells them apart.

    ``numbers`` are the rows or columns of the file in which the names stand; without, they are counted from 1.
    """
    lines = repeated_lines(names, what, numbers)
    if not lines:
        return None
    more = len(lines) - _LISTED
    number = len(lines)
    return Issue(
        "error",
        f"{counted(number, 'row name')} {agree(number, 'occurs', 'occur')} more than once"
        if what == "row"
        else f"{counted(number, 'column name')} {agree(number, 'occurs', 'occur')} more than once",
        f"{lines[0]}{', …' if len(lines) > 1 else ''}",
        fix=("Add a number to tell them apart", "rename_duplicates", True),
        places=(*lines[:_LISTED], *([f"and {more} more"] if more > 0 else [])),
    )


def repeated_lines(names: Sequence[str], what: str, numbers: Sequence[int] = ()) -> list[str]:
    """``“x”: 3 times, columns 2, 5 and 9`` for every name that occurs more than once."""
    places: dict[str, list[int]] = {name: [] for name in repeated(names)}
    for index, name in enumerate(names):
        if name in places:
            places[name].append(numbers[index] if numbers else index + 1)
    lines = []
    for name, found in places.items():
        shown = ", ".join(map(str, found[:_LISTED_PLACES]))
        if len(found) <= _LISTED_PLACES:
            shown = " and ".join(shown.rsplit(", ", 1))
        shown = f"{what}s {shown}{', …' if len(found) > _LISTED_PLACES else ''}"
        lines.append(
            f"“{name}”: twice, {shown}" if len(found) == 2 else f"“{name}”: {len(found)} times, {shown}"
        )
    return lines
