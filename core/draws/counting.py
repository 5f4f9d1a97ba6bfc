"""Numbers of things in words: “1 chain”, “12 300 draws”, “2 matrices”; verbs that go with them. There is no other way."""

from __future__ import annotations

import re

from plaidwork.core.draws.numbers import format_count

_IRREGULAR = {
    "mouse": "mice",
    "person": "people",
    "cpg": "CpGs",
    "snp": "SNPs",
    "matrix": "matrices",
    "analysis": "analyses",
    "axis": "axes",
    "basis": "bases",
}
_LAST = re.compile(r"\w+$")


def plural(word: str) -> str:
    """Several of what a word, or the last of several words, names; words in the plural stay."""
    return _LAST.sub(lambda found: _plural(found.group()), word)


def _plural(word: str) -> str:
    if word.lower() in _IRREGULAR:
        return _IRREGULAR[word.lower()]
    if word.endswith("ss") or re.search(r"(?:ch|sh|x)$", word):
        return f"{word}es"
    if re.search(r"[^aeiou]y$", word):
        return f"{word[:-1]}ies"
    return word if word.endswith("s") else f"{word}s"


def counted(number: float, word: str, words: str = "") -> str:
    """A whole number and what it counts: ``counted(1, "row")`` is “1 row”, ``counted(3, "row")`` “3 rows”.

    ``words`` is the plural where `plural` does not know it.
    """
    return f"{format_count(number)} {agree(number, word, words or plural(word))}"


def agree(number: float, one: str, several: str) -> str:
    """The word that goes with a number: ``agree(n, "is", "are")``."""
    return one if number == 1 else several
