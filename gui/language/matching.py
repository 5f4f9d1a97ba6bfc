"""Finds the translation of a finished English text among texts with places for what is put in (``%1``). No Qt here.

The rooms below the window write whole English sentences and know of no language; so do plugins, worker processes and
session files. The window therefore translates what it shows, where it shows it: a text is looked up as it is, then as a
text with places, then sentence by sentence, then part by part. A sentence that is not known stays English as a whole,
never half of it; what stands in quotation marks is a name and is not touched.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

_PLACE = re.compile(r"%(\d)")
_WORD = re.compile(r"[^\W\d_]{2,}")
_TOUCHED = re.compile(r"[^\W\d_]*%\d[^\W\d_]*")
_QUOTED = re.compile(r"“[^”]*”")
_SENTENCE = re.compile(r"(?<=[.!?…])\s+(?=[^a-z\s])")
_PARTS = re.compile(r"(\t| · | — | – | \| |; |: |, |   +| \(|\)|\. )")
_LAST_NUMBER = re.compile(r"^%?\d+ (?=\w+$)| \d+$")
_END = re.compile(r"[.:…?!]+$")
_GLUE, _WEAK, _LONGEST_VALUE = 5, 12, 160
"""Letters of a text below which what fills it has to be plain, or known; characters of what fills a place."""
_LONGEST, _LONGEST_PIECE, _TOGETHER = 4000, 500, 4
"""Characters of a text that is translated and of a piece that is looked up; sentences that are looked up together."""


@dataclass(frozen=True)
class _Form:
    places: tuple[str, ...]
    between: tuple[str, ...]
    """What stands before the first place, between two, and after the last."""
    translation: str
    letters: int
    words: frozenset[str]
    names: frozenset[str]
    """Places in quotation marks, which hold what somebody called something."""

    def values(self, text: str) -> dict[str, str] | None:
        """What fills the places, the shortest from the left on; None when the text is another."""
        first, *middle, last = self.between
        at, end = len(first), len(text) - len(last)
        if at >= end or not text.startswith(first) or not text.endswith(last):
            return None
        found: dict[str, str] = {}
        stops = [*middle, None]
        for place, stop in zip(self.places, stops, strict=True):
            to = end if stop is None else text.find(stop, at + 1, end)
            value = text[at:to]
            if to < 0 or not 0 < len(value) <= _LONGEST_VALUE or found.setdefault(place, value) != value:
                return None
            if _SENTENCE.search(value) or (place in self.names and "”" in value):
                return None  # it would begin in one sentence, or name, and end in another
            at = to + len(stop or "")
        return found


class Matcher:
    """Translations of texts by their sources; both have their places as ``%1`` to ``%9``."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._plain = {source: text for source, text in texts.items() if not _PLACE.search(source)}
        forms = [_form(source, text) for source, text in texts.items() if _PLACE.search(source)]
        common = Counter(word for form in forms for word in form.words)
        self._forms: dict[str, list[_Form]] = {}
        for form in forms:
            if form.words:
                rarest = min(form.words, key=lambda word: (common[word], -len(word), word))
                self._forms.setdefault(rarest, []).append(form)
        self.translate = lru_cache(maxsize=16384)(self._translate)
        self._whole = lru_cache(maxsize=16384)(self._find_whole)  # values are asked for by many forms

    def _translate(self, text: str) -> str:
        """The text in the other language, as far as it is known."""
        if len(text) > _LONGEST or not _WORD.search(text):
            return text
        if "\n" in text:
            return "\n".join(map(self.translate, text.split("\n")))
        bare = text.strip()
        if bare != text:
            return text.replace(bare, self.translate(bare))
        found = self._whole(text)
        return self._by_sentences(text) if found is None else found

    def _find_whole(self, text: str) -> str | None:
        """The translation of a text that is known as a whole."""
        if len(text) > _LONGEST_PIECE:
            return None
        for tried, restored in _variants(text):
            found = self._plain.get(tried)
            if found is None:
                found = self._by_form(tried)
            if found is not None:
                return restored(found)
        return None

    def _by_form(self, text: str) -> str | None:
        words = set(_WORD.findall(text))
        forms = [form for word in words for form in self._forms.get(word, ()) if form.words <= words]
        for form in sorted(forms, key=lambda form: -form.letters):
            held = form.values(text)
            if held is None:
                continue
            values = [value for place, value in held.items() if place not in form.names]
            long_enough = form.letters >= max(_WEAK, sum(map(_letters, values)))
            may_stand = self._may_stand if form.letters >= _GLUE else self._is_plain
            small = len(form.words) > 1  # beside one word alone it would be “noisy” of “noisy readings”
            if long_enough or all(may_stand(v) or (small and " " not in v) for v in values):
                return _filled(
                    form.translation,
                    {k: v if k in form.names else self.translate(v) for k, v in held.items()},
                )
        return None

    def _may_stand(self, value: str) -> bool:
        """Whether a value needs no translation or has one: a number, a name of one word or in quotation marks, a run."""
        return self._is_plain(value) or self._known(value) is not None

    def _is_plain(self, value: str) -> bool:
        """The same beside no more than “of” or “by”, which would else be found between two halves of a sentence.

        A small word is none, beside one word: “noisy readings” is what somebody calls something, and no number of readings.
        """
        if not _letters(value) or _LAST_NUMBER.sub("", value) in self._plain:
            return True
        return " " not in value and (not value.islower() or any(map(str.isdigit, value)))

    def _known(self, text: str) -> str | None:
        """The translation of all of a text, in one or in parts."""
        return self._whole(text) or self._in_parts(text)

    def _by_sentences(self, text: str) -> str:
        """The longest runs of sentences that are known; the others stay."""
        cuts = [0, *(match.end() for match in _SENTENCE.finditer(text)), len(text)]
        told, at = "", 0
        while at < len(cuts) - 1:
            for end in range(min(len(cuts) - 1, at + _TOGETHER), at, -1):
                piece = text[cuts[at] : cuts[end]]
                bare = piece.rstrip()
                found = self._whole(bare)
                if found is not None:
                    break
            else:
                end = at + 1
                found = self._in_parts(bare)
            told += (bare if found is None else found) + piece[len(bare) :]
            at = end
        return told

    def _in_parts(self, text: str) -> str | None:
        """The parts between stops, where each is known or a name; None where one is not, or where there is one only."""
        pieces = [piece for piece in _pieces(text) if piece]
        if len(pieces) < 2:
            return None
        told = ""
        for piece in pieces:
            if _QUOTED.fullmatch(piece) or _PARTS.fullmatch(piece) or not _WORD.search(piece):
                told += piece
                continue
            bare = piece.strip()
            found = self._whole(bare)
            if found is None and " " in bare:
                return None
            told += piece if found is None else piece.replace(bare, found)
        return told


def _form(source: str, translation: str) -> _Form:
    pieces = _PLACE.split(source)
    places, between = pieces[1::2], pieces[::2]
    return _Form(
        tuple(places),
        tuple(between),
        translation,
        sum(map(len, _WORD.findall(_PLACE.sub(" ", source)))),
        frozenset(_WORD.findall(_TOUCHED.sub(" ", source))),
        frozenset(
            place
            for place, before, after in zip(places, between, between[1:], strict=False)
            if before.endswith("“") and after.startswith("”")
        ),
    )


def _letters(value: str) -> int:
    """Letters of what fills a place, but for names."""
    return sum(map(len, _WORD.findall(_QUOTED.sub("", value))))


def _filled(translation: str, told: Mapping[str, str]) -> str:
    return _PLACE.sub(lambda place: told.get(place.group(1), ""), translation)


def _variants(text: str) -> Iterator[tuple[str, Callable[[str], str]]]:
    """A text as it is, without the stop at its end, and with its first letter small: with what brings each back."""
    yield text, _same
    end = _END.search(text)
    bare = text[: end.start()] if end else text
    stop = end.group() if end else ""
    if stop and bare:
        yield bare, lambda found: found + stop
    if not stop:
        yield f"{text}.", lambda found: found.removesuffix(".")
    first = text[:1]
    if first.isupper():
        yield first.lower() + text[1:], _upper
        if stop and bare:
            yield first.lower() + bare[1:], lambda found: _upper(found) + stop


def _same(found: str) -> str:
    return found


def _upper(found: str) -> str:
    return found[:1].upper() + found[1:]


def _pieces(text: str) -> Iterator[str]:
    at = 0
    for quoted in _QUOTED.finditer(text):
        yield from _PARTS.split(text[at : quoted.start()])
        yield quoted.group()
        at = quoted.end()
    yield from _PARTS.split(text[at:])
