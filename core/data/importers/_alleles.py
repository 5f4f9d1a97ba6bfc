"""Pairs of columns that hold the two alleles of a locus: they become one column, how many copies of the rarer allele a row has.

Codes of alleles, such as 1 to 4 for the bases, have no order and count nothing, and which of the two stands first is mostly chance. Copies are
what genetics computes with (Balding, *Nature Reviews Genetics* 7:781, 2006). Of more than two alleles each but the most frequent has a column.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from plaidwork.core.data.importers._categories import add_columns
from plaidwork.core.data.importers._layout import Layout, column_index
from plaidwork.core.data.importers._row_numbers import listed
from plaidwork.core.data.importers.base import ImportOptions, Issue, RawTable
from plaidwork.core.data.levels import COUNTED
from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.errors import DataError

_TITLE = re.compile(r"(.+?)(?:[ ._-]a|[ ._-]?allele)[ ._-]?([12])", re.IGNORECASE)
"""Locus, and which of its alleles: ``loc7.a1``, ``rs123_A2``, ``APOE allele 1``."""
_ALLELE = re.compile(r"\d+|[ABCDGIT]", re.ASCII)
"""Numbers, the four bases, A and B of a chip, deletion and insertion."""
_UNKNOWN = frozenset("0NZ?")
"""What stands for an allele that is not known."""
_MOST = 4
"""Alleles of a locus, at most; of more, as numbers of repeats, the numbers themselves say something."""
_FEWEST = 5
"""Filled cells that a column needs to be judged."""
_FEW = 0.1
"""Share of other columns beside loci up to which they describe the rows, as members of families and cases are."""


def alleles_of(
    layout: Layout, options: ImportOptions, present: Sequence[Sequence[str]], labels: Sequence[int]
) -> tuple[int, ...]:
    """The first column of each pair: those that are asked for, or whose titles and cells say so.

    ``present`` are the filled cells of each column in the first rows. Names, what is left out and the ``labels`` that somebody asked for are
    none. Raises ``DataError`` for a column that is not there, or has none behind it.
    """
    given = options.get("alleles")
    other = {layout.names, *layout.skip}
    if given is None:
        layout.detected.add("alleles")
        other |= set(labels)
        found = [i for i in range(layout.n_columns - 1) if not other & {i, i + 1} and _pair(layout, i)]
        alleles = {i: _known(present[i]) | _known(present[i + 1]) for i in found if _coded(present, i)}
        found = [index for index, seen in alleles.items() if 1 <= len(seen) <= _MOST]
        return tuple(found) if any(len(alleles[index]) > 1 for index in found) else ()
    items = (given,) if isinstance(given, (str, int)) else given
    chosen = sorted({column_index(layout, item, "alleles") for item in items})
    for index in chosen:
        if {index, index + 1} & {-1, layout.n_columns, *other} or index + 1 in chosen:
            raise DataError(
                f"The option alleles needs the first of two columns with the alleles of a locus. Found “{layout.titles[index]}”.",
                "Name the first column of each pair; the second is the next one.",
            )
    return tuple(chosen)


def _pair(layout: Layout, index: int) -> bool:
    """Whether the titles of a column and of the next say that they are the two alleles of a locus."""
    first, second = (_TITLE.fullmatch(layout.titles[place].strip()) for place in (index, index + 1))
    return bool(
        layout.header and first and second and (first[1], first[2], second[2]) == (second[1], "1", "2")
    )


def _coded(present: Sequence[Sequence[str]], index: int) -> bool:
    cells = (present[index], present[index + 1])
    return all(len(one) >= _FEWEST and all(map(_ALLELE.fullmatch, _known(one))) for one in cells)


def _known(cells: Sequence[str]) -> set[str]:
    return {_allele(cell) for cell in cells} - _UNKNOWN


def _allele(cell: str) -> str:
    return re.sub(r"\.0+\Z", "", cell.strip())


def beside_loci(layout: Layout, columns: Sequence[int]) -> list[int]:
    """The other ``columns`` of numbers, where they are few: numbers of persons and parents, sex, cases. Else none: they are measured."""
    few = len(columns) <= max(_FEW * (len(columns) + len(layout.alleles)), 1)
    return list(columns) if layout.alleles and few else []


def beside_issue(layout: Layout, columns: Sequence[int]) -> Issue:
    """That the columns beside loci are read as labels, and how they are read otherwise."""
    titles = listed([f"“{layout.titles[index]}”" for index in columns])
    return Issue(
        "info",
        f"{counted(len(columns), 'column')} beside the alleles {agree(len(columns), 'describes', 'describe')} the rows",
        f"{titles}: read as labels, not as measurements",
        column=columns[0] + 1,
        fix=("Read as numbers", "labels", [index for index in layout.labels if index not in columns]),
    )


def alleles_issue(layout: Layout, options: ImportOptions, present: Sequence[Sequence[str]]) -> Issue | None:
    """That pairs of columns are read as loci, and how they are read otherwise; None where there are none, or somebody said which."""
    if options.get("alleles") is not None or not layout.alleles:
        return None
    number = len(layout.alleles)
    seen = {_allele(cell) for index in layout.allele_columns for cell in present[index]}
    unknown = ", ".join(sorted(seen & _UNKNOWN))
    copies = "Each pair becomes a column of copies of the rarer allele"
    missing = f"Each pair becomes a column of copies of the rarer allele, missing where one is {unknown}"
    return Issue(
        "warning",
        f"{counted(number, 'pair')} of columns {agree(number, 'looks', 'look')} like alleles",
        missing if unknown else copies,
        column=layout.alleles[0] + 1,
        fix=("Read them as they are", "alleles", []),
    )


def _locus(layout: Layout, index: int) -> str:
    found = _TITLE.fullmatch(layout.titles[index].strip())
    return found[1] if found else layout.titles[index]


def add_loci(raw: RawTable, layout: Layout, cells: Mapping[int, Sequence[str]]) -> None:
    """The loci behind the other columns of a table, and which allele each counts; ``cells`` are the texts of both columns of each.

    Raises ``DataError`` for a text that is no allele.
    """
    columns: list[np.ndarray] = []
    names: list[str] = []
    of: list[str] = []
    places: list[int] = []
    for index in layout.alleles:
        one, other = (_alleles(raw, layout, place, cells[place]) for place in (index, index + 1))
        found, locus = _copies(one, other), _locus(layout, index)
        columns += found.values()
        names += [locus] if len(found) == 1 else [f"{locus} {allele}" for allele in found]
        of += found
        places += [index + 1] * len(found)
    add_columns(raw, columns, names, COUNTED, of)
    raw.column_places = [*raw.column_places, *places]


def _alleles(raw: RawTable, layout: Layout, index: int, cells: Sequence[str]) -> list[str]:
    """The alleles of a column, empty where missing. Raises ``DataError`` for a text that is none."""
    missing = {*_UNKNOWN, *(text.lower() for text in layout.missing)}
    read = {cell: _allele(cell) for cell in set(cells)}
    read = {cell: "" if {text, text.lower()} & missing else text for cell, text in read.items()}
    wrong = {cell for cell, text in read.items() if text and not _ALLELE.fullmatch(text)}
    if wrong:
        row = next(row for row, cell in enumerate(cells) if cell in wrong)
        raise DataError(
            f"{raw.path.name}, {layout.title(index)}, entry {row + 1}: expected an allele, a number or a letter such as A, C, G, T. Found “{cells[row]}”.",
            "Mend the cell, or add the text to the missing values (option “missing”).",
        )
    return [read[cell] for cell in cells]


def _copies(first: Sequence[str], second: Sequence[str]) -> dict[str, np.ndarray]:
    """How often each row has each allele but the most frequent one, (n,), NaN where one of its two is missing; where there is one allele,
    all 0."""
    pairs = Counter(zip(first, second, strict=True))
    number = Counter[str]()
    for pair, rows in pairs.items():
        number.update(dict.fromkeys(pair, rows * (1 + (pair[0] == pair[1]))) if all(pair) else {})
    usual = min(number, key=lambda allele: (-number[allele], allele), default="")
    found = {}
    for allele in sorted(set(number) - {usual}) or [""]:
        copies = {pair: float(pair.count(allele)) if all(pair) else np.nan for pair in pairs}
        found[allele] = np.array([copies[pair] for pair in zip(first, second, strict=True)])
    return found
