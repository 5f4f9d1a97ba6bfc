"""Gene sets from a GMT file, and which of their genes are among the features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plaidwork.core.api import AttachedFile, DataError

MOST_SETS = 100_000
MOST_GENES = 10_000_000
"""Most genes of all sets together."""
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class GeneSets:
    """Sets of distinct genes by name, in the order of the file."""

    names: tuple[str, ...]
    members: tuple[tuple[str, ...], ...]

    def __len__(self) -> int:
        return len(self.names)

    @property
    def genes(self) -> tuple[str, ...]:
        """All genes, each once, in the order of the file."""
        return tuple(dict.fromkeys(gene for genes in self.members for gene in genes))


def read_gmt(file: AttachedFile) -> GeneSets:
    """Parse a GMT file: a line per set with its name, a description and its genes, between tabs.

    A gene that a set has twice counts once; blank lines are passed over. Raises ``DataError`` naming the line, what
    was found and what was expected.
    """
    names: dict[str, int] = {}
    members: list[tuple[str, ...]] = []
    total = 0
    for number, line in enumerate(file.text().splitlines(), start=1):
        if not line.strip():
            continue
        name, *rest = (field.strip() for field in line.rstrip("\n\r").split("\t"))
        genes = tuple(dict.fromkeys(gene for gene in rest[1:] if gene))
        problem = _problem(name, rest, genes, line)
        if problem:
            raise DataError(
                f"{file.name}, line {number}: {problem}",
                "A line of a GMT file is the name of a set, a description and its genes, with tabs between.",
            )
        if name in names:
            raise DataError(
                f"{file.name}, line {number}: the set “{name[:_SHOWN]}” is there already, in line {names[name]}.",
                "Every set needs a name of its own.",
            )
        names[name] = number
        members.append(genes)
        total += len(genes)
        if len(members) > MOST_SETS or total > MOST_GENES:
            raise DataError(
                f"{file.name}, line {number}: more than {MOST_SETS:,} sets, or {MOST_GENES:,} genes in all.",
                "Take a part of the file.",
            )
    if not members:
        raise DataError(f"{file.name} holds no gene set.", "It has blank lines only.")
    return GeneSets(tuple(names), tuple(members))


def _problem(name: str, rest: list[str], genes: tuple[str, ...], line: str) -> str:
    """What is wrong with a line, or empty."""
    if "\0" in line:
        return "found a zero byte, expected text."
    if not rest:
        return f"expected three fields or more with tabs between, found one: “{line.strip()[:_SHOWN]}”."
    if not name:
        return "expected the name of a set before the first tab, found nothing."
    if not genes:
        return f"expected genes after the description of “{name[:_SHOWN]}”, found none."
    return ""


@dataclass(frozen=True, slots=True)
class Matched:
    """Sets as places among features.

    Attributes
    ----------
    places : for each set the sorted places of its features, int64.
    genes : how many different genes of the sets are among the features.
    only_case : how many more would be if upper and lower case were the same.
    """

    places: tuple[np.ndarray, ...]
    genes: int
    only_case: int

    @property
    def sizes(self) -> np.ndarray:
        """(S,) features of each set."""
        return np.array([len(places) for places in self.places], dtype=np.int64)


def match(sets: GeneSets, features: Sequence[str], ignore_case: bool) -> Matched:
    """Look up the genes of all sets among the features, by name."""
    exact = _index(features, fold=False)
    folded = _index(features, fold=True)
    where = folded if ignore_case else exact
    places = []
    for genes in sets.members:
        keys = (gene.casefold() for gene in genes) if ignore_case else iter(genes)
        found = {index for key in keys for index in where.get(key, ())}
        places.append(np.array(sorted(found), dtype=np.int64))
    genes = sets.genes
    strictly = sum(gene in exact for gene in genes)
    loosely = sum(gene.casefold() in folded for gene in genes)
    return Matched(
        tuple(places), loosely if ignore_case else strictly, 0 if ignore_case else loosely - strictly
    )


def _index(features: Sequence[str], fold: bool) -> dict[str, list[int]]:
    where: dict[str, list[int]] = {}
    for index, feature in enumerate(features):
        where.setdefault(feature.casefold() if fold else feature, []).append(index)
    return where
