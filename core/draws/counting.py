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
    "series": "series",
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


def named(number: float, words: str) -> str:
    """What items are called where there are ``number`` of them: ``named(1, "readings")`` is “reading”.

    ``words`` is a plural that somebody gave, such as the label of an axis; one that is not known to be a plural stays.
    """
    return _LAST.sub(lambda found: _singular(found.group()), words) if number == 1 else words


def labelled(number: float, words: str) -> str:
    """A whole number and what the items of an axis are called: “2 308 genes”, “1 gene”."""
    return f"{format_count(number)} {named(number, words)}"


def _singular(words: str) -> str:
    for one, several in _IRREGULAR.items():
        if words.lower() == several.lower():
            return one if words.islower() else words.removesuffix("s")
    stems = [words[:-3] + "y", words[:-2], words[:-1]]
    return next((stem for stem in stems if stem and _plural(stem) == words), words)


def agree(number: float, one: str, several: str) -> str:
    """The word that goes with a number: ``agree(n, "is", "are")``."""
    return one if number == 1 else several
