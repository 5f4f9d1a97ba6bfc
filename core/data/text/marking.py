"""Where the terms of a vocabulary stand in a text, cut and stemmed as when the words were counted."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from dataclasses import dataclass

from plaidwork.core.data.text.counts import KEPT, Stems, word_reasons
from plaidwork.core.data.text.options import TextOptions
from plaidwork.core.data.text.tokens import word_pattern


@dataclass(frozen=True, slots=True)
class Occurrence:
    """``text[start:end]`` stands for ``term``."""

    start: int
    end: int
    term: str


def readable(text: str) -> str:
    """The text as it is cut into words, capitals kept: composed (NFC), straight apostrophes, no soft hyphens."""
    return unicodedata.normalize("NFC", text).replace("\u2019", "'").replace("\u00ad", "")


def term_occurrences(
    text: str, terms: Collection[str], options: TextOptions, stems: Stems | None = None
) -> list[Occurrence]:
    """Places of ``terms`` (words, stems or phrases) in a `readable` text, from left to right, none overlapping.

    A phrase is taken before its words; it reaches from its first word to its last, with what was left out between.
    """
    cut = [(m.start(), m.end()) for m in word_pattern(options.punctuation, options.elision).finditer(text)]
    words = [unicodedata.normalize("NFC", text[a:b].lower()) if options.lower else text[a:b] for a, b in cut]
    reasons = word_reasons(words, options)
    kept = [i for i, reason in enumerate(reasons) if reason == KEPT]
    found = [words[i] for i in kept]
    if options.stem:
        found = list((stems or Stems()).of(options.stem, found))
    wanted = set(terms)
    longest = max((term.count(" ") + 1 for term in wanted), default=0) if options.ngrams > 1 else 1
    places, at = [], 0
    while at < len(found):
        for length in range(min(longest, len(found) - at), 0, -1):
            term = " ".join(found[at : at + length])
            if term in wanted:
                places.append(Occurrence(cut[kept[at]][0], cut[kept[at + length - 1]][1], term))
                at += length
                break
        else:
            at += 1
    return places
