"""Base of the pages that hold class probabilities against known classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtWidgets import QWidget

from plaidwork.core.draws.assessment import class_probabilities
from plaidwork.core.pictures.words import plural
from plaidwork.core.views.sources import SourceError, Sources
from plaidwork.gui.numbers import format_count, format_probability
from plaidwork.gui.results.chart import ItemPicker
from plaidwork.gui.results.option_row import Labelled
from plaidwork.gui.results.page import ResultPage
from plaidwork.gui.widgets import Label

_FIRST_PARTS = ("test", "held out", "validation")
"""Parts shown first where there are several."""


@dataclass(frozen=True)
class Judged:
    """(n,) codes and (n, C) probabilities of the items whose class is known.

    ``part`` (n,) number of the part of each item among ``parts``, those in the order shown.
    """

    codes: np.ndarray
    probability: np.ndarray
    classes: tuple[str, ...]
    part: np.ndarray
    parts: tuple[str, ...]
    n_unknown: int
    word: str
    doc: str

    def of(self, part: int) -> Judged:
        """The items of one part."""
        inside = self.part == part
        return Judged(
            self.codes[inside],
            self.probability[inside],
            self.classes,
            self.part[inside],
            self.parts,
            self.n_unknown,
            self.word,
            self.doc,
        )


class AssessedPage(ResultPage):
    """Roles ``labels`` (n,) class numbers, below 0 where unknown, ``probability`` (n, C), or (n,) of the second of two
    classes, ``names`` (C,) of the classes, ``part`` (n,) as "test" or "fitted".

    Option: ``positive`` (number of the class from 1, or its name): the class shown first; by default the second of two,
    else the most frequent.
    """

    each_class = True
    """Whether a class is chosen."""

    def __init__(self, workbench: Any, run: Any, view: Any, parent: QWidget | None = None) -> None:
        self._class, self._part = -1, -1
        super().__init__(workbench, run, view, parent)

    def _build_common(self) -> None:
        self.class_picker, self.part_picker = ItemPicker(), ItemPicker()
        self.class_picker.currentIndexChanged.connect(self.choose_class)
        self.part_picker.currentIndexChanged.connect(self.choose_part)
        self._class_field = Labelled("Class", self.class_picker)
        self._part_field = Labelled("Of", self.part_picker)
        self._foot = Label("", "body", "muted", elide=True)

    # -- loading --------------------------------------------------------------------------------
    def load(self, sources: Sources) -> Judged:
        result = sources.result("probability", (1, 2))
        p = class_probabilities(result.values)
        n, size = p.shape
        codes = np.nan_to_num(sources.array("labels", (n,)), nan=-1).astype(np.intp)
        if (codes >= size).any():
            raise SourceError(
                f"The labels go up to {codes.max()}; there are {size} classes, numbered from 0."
            )
        dims = result.dims or ("item", "class")
        names = sources.dim_names(dims[-1] if len(dims) == 2 else "class", size)
        if sources.has("names"):
            names = tuple(sources.texts("names"))
            if len(names) != size:
                raise SourceError(f"{len(names)} names are given for {size} classes.")
        part = np.zeros(n, dtype=np.intp)
        parts: tuple[str, ...] = ("",)
        if sources.has("part"):
            texts = sources.texts("part")
            if len(texts) != n:
                raise SourceError(f"The part has {len(texts)} entries; there are {n} items.")
        known = (codes >= 0) & np.isfinite(p).all(axis=1)
        if sources.has("part"):
            found = dict.fromkeys(text for text, yes in zip(texts, known, strict=True) if yes)
            parts = tuple(sorted(found, key=lambda text: text.casefold() not in _FIRST_PARTS)) or ("",)
            part = np.array([parts.index(text) if text in parts else -1 for text in texts], dtype=np.intp)
        word = dims[0].replace("_", " ")
        return Judged(
            codes[known], p[known], names, part[known], parts, int((~known).sum()), word, result.doc
        )

    def show_loaded(self, loaded: Judged) -> None:
        if not len(loaded.codes):
            self.show_state(
                "search",
                "No item has a known class",
                "Probabilities can be judged only where the class is known.",
            )
            return
        size = len(loaded.classes)
        if self._class < 0:
            self._class = self._first_class(loaded)
        self._class = min(self._class, size - 1)
        self._part = min(max(self._part, 0), len(loaded.parts) - 1)
        self.class_picker.set_names(loaded.classes, self._class)
        self._class_field.setVisible(self.each_class and size > 1)
        self.part_picker.set_names(loaded.parts, self._part)
        self._part_field.setVisible(len(loaded.parts) > 1)
        self._draw()

    def _first_class(self, loaded: Judged) -> int:
        wanted = self.view.options.get("positive", 2 if len(loaded.classes) == 2 else None)
        if wanted is None:  # a curve of two items of a class says nothing
            return int(np.bincount(loaded.codes, minlength=len(loaded.classes)).argmax())
        if isinstance(wanted, int):
            return max(0, wanted - 1)
        return loaded.classes.index(wanted) if wanted in loaded.classes else 0

    def _draw(self) -> None:
        raise NotImplementedError

    @property
    def judged(self) -> Judged:
        """The items of the part shown."""
        found: Judged = self.loaded.of(self._part)
        return found

    # -- choices --------------------------------------------------------------------------------
    def choose_class(self, number: int) -> None:
        """Show one class against the others."""
        if self.loaded is not None and 0 <= number < len(self.loaded.classes):
            self._class = number
            self.class_picker.choose(number)
            self._redraw()

    def choose_part(self, number: int) -> None:
        """Show the items of one part."""
        if self.loaded is not None and 0 <= number < len(self.loaded.parts):
            self._part = number
            self.part_picker.choose(number)
            self._redraw()

    def _redraw(self) -> None:
        if not self.state:
            self._draw()
            self.update_head()

    @property
    def what(self) -> str:
        """``test samples``: what is judged."""
        part = self.loaded.parts[self._part]
        return f"{part + ' ' if part else ''}{plural(self.loaded.word)}"

    # -- words ----------------------------------------------------------------------------------
    def _items(self) -> str:
        """``120 test samples, 30 without a class left out``."""
        data: Judged = self.loaded
        count = int((data.part == self._part).sum())
        text = f"{format_count(count)} {self.what}"
        if data.n_unknown:
            text += f"; {format_count(data.n_unknown)} without a known class left out"
        return text

    def default_caption(self) -> str:
        return self.loaded.doc if self.loaded else ""


def with_interval(found: tuple[float, float, float], decimals: int = 2) -> str:
    """``0.91 (0.85 to 0.96)``; without the interval where there is none."""
    value, low, high = found
    if value != value:
        return "not known"
    text = format_probability(value, decimals)
    ends = f"{format_probability(low, decimals)} to {format_probability(high, decimals)}"
    return text if low != low else f"{text} ({ends})"
