"""Texts as whole numbers: the word at every place, each word written once."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from plaidwork.core.data.importers.base import Progress
from plaidwork.core.data.text.options import TextOptions

_EVERY = 64


@dataclass(frozen=True, slots=True)
class Tokens:
    """``ids`` (T,) int64 into ``words``, document by document; document n has ``ids[starts[n]:starts[n + 1]]``."""

    ids: np.ndarray
    starts: np.ndarray
    words: tuple[str, ...]

    @property
    def n_documents(self) -> int:
        return len(self.starts) - 1

    @property
    def documents(self) -> np.ndarray:
        """(T,) int64, the document of every place."""
        return np.repeat(np.arange(self.n_documents), np.diff(self.starts))


def token_key(options: TextOptions) -> tuple[object, ...]:
    """Equal for options that cut texts into the same words."""
    return options.lower, options.punctuation, options.elision


def tokenise(texts: Sequence[str], options: TextOptions, progress: Progress | None = None) -> Tokens:
    """Cut texts into words. O(letters); about 2 million words a second.

    Texts are brought to Unicode's composed form (NFC); curly apostrophes become straight, soft hyphens go. Letters
    of all scripts form words, with the marks that belong to them; scripts without blanks are not cut.
    """
    pattern = word_pattern(options.punctuation, options.elision)
    number: defaultdict[str, int] = defaultdict()
    number.default_factory = number.__len__
    parts: list[np.ndarray] = []
    starts = np.zeros(len(texts) + 1, dtype=np.int64)
    for index, text in enumerate(texts):
        if progress is not None and index % _EVERY == 0:
            progress(index / max(len(texts), 1))
        found = pattern.findall(_tidy(text, options.lower))
        parts.append(np.fromiter((number[word] for word in found), np.int64, len(found)))
        starts[index + 1] = starts[index] + len(found)
    ids = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
    return Tokens(ids, starts, tuple(number))


def _tidy(text: str, lower: bool) -> str:
    text = unicodedata.normalize("NFC", text).replace("\u2019", "'").replace("\u00ad", "")
    # lower() may decompose (the Turkish capital I with a dot)
    return unicodedata.normalize("NFC", text.lower()) if lower else text


@cache
def word_pattern(punctuation: str, elision: bool) -> re.Pattern[str]:
    number = r"\d+(?:[.,]\d+)*(?![\w])"
    word = rf"[^\W_](?:[^\W_]|[{_marks()}])*"
    if punctuation == "inner":
        inner = "-\u2010\u2011" if elision else "'\\-\u2010\u2011"
        word = rf"{word}(?:[{inner}]{word})*"
    other = r"|[^\w\s]" if punctuation == "keep" else ""
    return re.compile(f"{number}|{word}{other}")


@cache
def _marks() -> str:
    """Combining marks as ranges of a character class: vowel signs of Indic scripts, accents, points."""
    codes = [code for code in range(0x300, 0xFE30) if unicodedata.category(chr(code)) in ("Mn", "Mc")]
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"{chr(low)}-{chr(high)}" for low, high in ranges)


def is_number_word(word: str) -> bool:
    """Whether a word consists of digits (with separators)."""
    return word[0].isdigit() and not any(letter.isalpha() for letter in word)
