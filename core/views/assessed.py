"""Class probabilities against known classes: what the views that judge them are drawn from."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from plaidwork.core.draws.assessment import class_probabilities
from plaidwork.core.draws.counting import counted
from plaidwork.core.draws.numbers import format_count, format_probability
from plaidwork.core.pictures import Items, Picture, ViewChoices
from plaidwork.core.views.sources import SourceError, Sources, data_axis

_FINEST = 4
"""Decimals of an area near 1, at most."""
_FIRST_PARTS = ("test", "held out", "validation")
"""Parts shown first where there are several."""
UNLABELLED = "unlabelled"
"""The part of the items whose class is not known, where these are shown too."""


@dataclass(frozen=True)
class Judged:
    """(n,) codes and (n, C) probabilities of the items whose class is known; of unlabelled ones, where they are shown, the code is -1.

    ``part`` (n,) number of the part of each item among ``parts``, those in the order shown. ``items`` (n,) their numbers
    among all, of the ``kind`` of the selection ("row", "column" or empty).
    """

    codes: np.ndarray
    probability: np.ndarray
    classes: tuple[str, ...]
    part: np.ndarray
    parts: tuple[str, ...]
    n_unknown: int
    word: str
    doc: str
    items: np.ndarray
    kind: str = ""

    def of(self, part: int) -> Judged:
        """The items of one part."""
        inside = self.part == part
        kept = {name: getattr(self, name)[inside] for name in ("codes", "probability", "part", "items")}
        return replace(self, **kept)

    def linked(self, order: np.ndarray) -> Items | None:
        """What marks in this order stand for."""
        return Items(self.kind, self.items[order]) if self.kind else None

    def counted(self, part: int) -> str:
        """``120 test samples; 30 without a known class left out``."""
        name = self.parts[part]
        text = counted(int((self.part == part).sum()), f"{name} {self.word}".strip())
        if self.n_unknown:
            text += f"; {format_count(self.n_unknown)} without a known class left out"
        return text


def judged(sources: Sources, unlabelled: bool = False) -> Judged:
    """Roles ``labels`` (n,) class numbers, below 0 where unknown, ``probability`` (n, C), or (n,) of the second of two
    classes, and perhaps ``names`` (C,) and ``part`` (n,): items of different parts are judged apart. ``unlabelled``: items
    without a known class are a part of their own, in place of being left out."""
    result = sources.result("probability", (1, 2))
    p = class_probabilities(result.values)
    n, size = p.shape
    codes = np.nan_to_num(sources.array("labels", (n,)), nan=-1).astype(np.intp)
    if (codes >= size).any():
        raise SourceError(
            f"The labels go up to {codes.max()}; there are {counted(size, 'class')}, numbered from 0."
        )
    dims = result.dims or ("item", "class")
    names = sources.dim_names(dims[-1] if len(dims) == 2 else "class", size)
    if sources.has("names"):
        names = tuple(sources.texts("names"))
        if len(names) != size:
            raise SourceError(f"{len(names)} names are given for {counted(size, 'class')}.")
    told = np.isfinite(p).all(axis=1)
    known = (codes >= 0) & told
    part, parts = _parts(sources, known)
    shown = told if unlabelled else known
    if (shown & ~known).any():
        part, parts = _with_unlabelled(part, parts, known, int(shown.sum()))
    return Judged(
        np.where(known, codes, -1)[shown],
        p[shown],
        names,
        part[shown],
        parts,
        int((~shown).sum()),
        dims[0].replace("_", " "),
        result.doc,
        np.flatnonzero(shown),
        data_axis(sources, dims[0], n),
    )


def _with_unlabelled(
    part: np.ndarray, parts: tuple[str, ...], known: np.ndarray, shown: int
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Parts with that of the unlabelled items: the first one where these are more than all others, as with few labels, else the last."""
    if not known.any():
        return np.zeros(len(known), dtype=np.intp), (UNLABELLED,)
    parts = tuple(name or "labelled" for name in parts)
    # a model may judge some unlabelled ones, by what it was not told
    name = UNLABELLED if UNLABELLED not in parts else f"other {UNLABELLED}"
    if shown > 2 * known.sum():
        return np.where(known, part + 1, 0), (name, *parts)
    return np.where(known, part, len(parts)), (*parts, name)


def _parts(sources: Sources, known: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """Number of the part of each item, and the names of the parts with known items."""
    n = len(known)
    if not sources.has("part"):
        return np.zeros(n, dtype=np.intp), ("",)
    texts = sources.texts("part")
    if len(texts) != n:
        raise SourceError(f"The part has {counted(len(texts), 'entry')}; there are {counted(n, 'item')}.")
    found = dict.fromkeys(text for text, yes in zip(texts, known, strict=True) if yes)
    parts = tuple(sorted(found, key=lambda text: text.casefold() not in _FIRST_PARTS)) or ("",)
    return np.array([parts.index(text) if text in parts else -1 for text in texts], dtype=np.intp), parts


def first_class(data: Judged, sources: Sources) -> int:
    """Number of the class shown at first: the option ``positive`` (a name or a number from 1), the second of two, or the
    most frequent, since a curve of two items of a class says nothing."""
    wanted = sources.view.options.get("positive", 2 if len(data.classes) == 2 else None)
    if wanted is None:
        return int(np.bincount(data.codes, minlength=len(data.classes)).argmax())
    if isinstance(wanted, int):
        return min(max(0, wanted - 1), len(data.classes) - 1)
    return data.classes.index(wanted) if wanted in data.classes else 0


def choose_class(data: Judged, sources: Sources, choices: ViewChoices) -> int:
    """The class that is shown against the others."""
    return choices.among("class", "Class", data.classes, first_class(data, sources))


def choose_part(data: Judged, choices: ViewChoices) -> int:
    """The part whose items are judged."""
    return choices.among("part", "Of", data.parts, each="part of the samples")


def nothing_known(title: str) -> Picture:
    """What is shown when there is nothing to judge by."""
    why = "Probabilities can be judged only where the class is known."
    return Picture(title, empty=("No item has a known class", why))


def with_interval(found: tuple[float, float, float], decimals: int = 2) -> str:
    """``0.91 (0.85 to 0.96)``, near 1 with more decimals; without the interval where there is none."""
    value, low, high = found
    if value != value:
        return "not known"
    while decimals < _FINEST and format_probability(value, decimals).startswith((">", "<")):
        decimals += 1
    text = format_probability(value, decimals)
    ends = f"{format_probability(low, decimals)} to {format_probability(high, decimals)}"
    return text if low != low else f"{text} ({ends})"
