"""Answers in words: read as numbers in the order that is given, and found where their order is known."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any

from plaidwork.core.data.importers._layout import Layout
from plaidwork.core.data.importers.base import Added, Fix, Issue
from plaidwork.core.data.levels import first_number
from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.errors import DataError
from plaidwork.core.resources import RESOURCES

_APART = re.compile(r"_+|(?<=[a-zäöüß])(?=[A-ZÄÖÜ])|(?<=\w)-(?=\w)")
"""What keeps words apart besides blanks."""
_MOST, _FEWEST = 11, 5
"""Answers of one question at most, and filled cells that a column needs to be judged."""
_ALIKE = 3
"""Columns with the same answers that make a questionnaire, where their order is not known."""


@cache
def _known() -> tuple[dict[str, int], ...]:
    """Places of answers whose order everybody agrees on, by answer, scale by scale; words for the same answer have the same place."""
    lines = (RESOURCES / "answers.txt").read_text(encoding="utf-8").splitlines()
    scales = [line.split(" < ") for line in lines if not line.startswith("#")]
    return tuple(
        {word: place for place, step in enumerate(scale) for word in step.split("|")} for scale in scales
    )


def as_key(text: str) -> str:
    """What is compared of an answer: upper and lower case, and how words are kept apart, make no difference (*StronglyAgree*)."""
    return " ".join(_APART.sub(" ", text).split()).casefold()


def parse_answers(value: Any) -> dict[str, int]:
    """Numbers by answer, of ``never < sometimes < often; no < yes``: from 1, of two answers 0 and 1. Raises ``DataError``."""
    found: dict[str, int] = {}
    for part in filter(None, map(str.strip, str(value or "").split(";"))):
        words = [as_key(word) for word in part.split("<")]
        fault = _fault(part, words)
        if fault:
            raise DataError(fault, "Write them lowest first, as in: never < sometimes < often; no < yes")
        numbers = {word: place + first_number(words) for place, word in enumerate(words)}
        twice = next((word for word, number in numbers.items() if found.get(word, number) != number), "")
        if twice:
            raise DataError(
                f"The option answers gives “{twice}” two numbers, {found[twice]} and {numbers[twice]}.",
                "Read the columns with these answers as two tables.",
            )
        found |= numbers
    return found


def _fault(part: str, words: Sequence[str]) -> str:
    if len(words) < 2 or not all(words):
        return f"The option answers needs two answers or more with < between them. Found “{part}”."
    twice = next((word for word in words if words.count(word) > 1), "")
    return f"The option answers has “{twice}” twice in “{part}”." if twice else ""


def in_numbers(cells: Sequence[str], answers: Mapping[str, int]) -> list[str]:
    """The cells with a number in place of every answer; all others as they are."""
    return [str(answers[key]) if (key := as_key(cell)) in answers else cell for cell in cells]


def answers_issue(layout: Layout, present: Sequence[Sequence[str]]) -> Issue | None:
    """Columns of answers in words that are read as labels, and how to measure them; None where there are none.

    ``present`` are the filled cells of each column in the first rows.
    """
    words = {index: _words(present[index]) for index in layout.labels if index not in layout.categories}
    words = {index: found for index, found in words.items() if found}
    scales: dict[int, dict[str, str]] = {}
    columns: list[int] = []
    for index, found in words.items():
        place = _scale_with(found)
        if place is not None:
            scales.setdefault(place, {}).update(found)
            columns.append(index)
    scales = {place: found for place, found in scales.items() if _in_one_order(place, found)}
    columns = [i for i in columns if any(words[i].keys() <= found.keys() for found in scales.values())]
    if columns:
        texts = [" < ".join(_ordered(place, found)) for place, found in scales.items()]
        return _issue(
            layout, columns, "; ".join(texts), ("Read them as numbers", "answers", "; ".join(texts))
        )
    columns = _questionnaire(words)
    if not columns:
        return None
    shown = ", ".join(f"“{text}”" for text in sorted(words[columns[0]].values())[:4])
    detail = f"{shown}, …: give their order under “Answers in order”, as in: never < sometimes < often"
    return _issue(
        layout, columns, detail, ("Measure them as categories", "categories", Added(tuple(columns)))
    )


def _words(cells: Sequence[str]) -> dict[str, str]:
    """The different answers by their key; none where there are too many, or one only, or too few cells."""
    found = {as_key(cell): " ".join(cell.split()) for cell in reversed(cells)}
    fits = len(cells) >= _FEWEST and 2 <= len(found) <= _MOST
    return found if fits and not any(";" in key or "<" in key for key in found) else {}


def _scale_with(keys: Collection[str]) -> int | None:
    """The number of the first known scale that has all of these answers."""
    return next((k for k, known in enumerate(_known()) if all(key in known for key in keys)), None)


def _in_one_order(place: int, found: Collection[str]) -> bool:
    """Whether no two of the answers stand at the same place of a known scale, so that all have a number of their own."""
    places = [_known()[place][key] for key in found]
    return len(set(places)) == len(places)


def _ordered(place: int, found: Mapping[str, str]) -> list[str]:
    return [text for _, text in sorted(found.items(), key=lambda item: _known()[place][item[0]])]


def _places(words: Collection[str]) -> dict[str, int]:
    """The place of each word within a known scale; empty where there is none that has all of them, at places of their own."""
    keys = {as_key(word): word for word in words}
    scale = _scale_with(keys)
    if scale is None or len(keys) < len(words) or not _in_one_order(scale, keys):
        return {}
    return {word: _known()[scale][key] for key, word in keys.items()}


def are_ordered(words: Collection[str]) -> bool:
    """Whether everybody agrees on the order of some answers."""
    return bool(_places(words))


def in_known_order(words: Collection[str]) -> tuple[str, ...]:
    """Words in the order that everybody agrees on, where there is one, else in that of texts."""
    places = _places(words)
    return tuple(sorted(words, key=lambda word: (places.get(word, 0), word.casefold(), word)))


def _questionnaire(words: Mapping[int, Mapping[str, str]]) -> list[int]:
    """The largest group of columns that have the same answers, three answers or more; of several columns only."""
    alike: dict[frozenset[str], list[int]] = {}
    for index, found in words.items():
        if len(found) > 2:
            alike.setdefault(frozenset(found), []).append(index)
    largest = max(alike.values(), key=len, default=[])
    return largest if len(largest) >= _ALIKE else []


def _issue(layout: Layout, columns: Sequence[int], detail: str, fix: Fix) -> Issue:
    number = len(columns)
    titles = [layout.titles[index] for index in columns]
    return Issue(
        "warning" if number > len(layout.value_columns) else "info",
        f"{counted(number, 'column')} {agree(number, 'holds', 'hold')} answers in words, and {agree(number, 'is', 'are')} read as labels",
        detail,
        column=columns[0] + 1,
        fix=fix,
        places=tuple(chain((detail,), (f"column “{title}”" for title in titles[:50]))) if number > 1 else (),
    )
