"""How words are made from texts, and which of them are kept: declared once for window, command line and checks."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from plaidwork.core.contract.hyperparameter import Choice, Hyperparameter
from plaidwork.core.data.text.stop_words import stem_languages, stop_word_list
from plaidwork.core.errors import SettingError

ROLES = ("outcome", "cluster", "group", "covariate", "annotation", "name", "skip")
"""What a column beside the texts can be; ``annotation`` unless chosen."""
_ELIDING = {"french", "italian", "catalan"}


def text_settings() -> tuple[Hyperparameter, ...]:
    """The settings that a form can show, in order; names are fields of :class:`TextOptions`."""
    stems = [Choice(value="", label="No stemming")]
    stems += [Choice(value=name, label=name.capitalize()) for name in stem_languages()]
    return (
        Hyperparameter("lower", "bool", True, "Lower case", "“The” and “the” are one word"),
        Hyperparameter(
            "punctuation",
            "choice",
            "inner",
            "Punctuation",
            choices=(
                Choice(value="inner", label="Drop, keep inside words", doc="“Don't” and “well-known” are words"),
                Choice(value="split", label="Drop, split words at it", doc="“Don't” becomes “don” and “t”"),
                Choice(value="keep", label="Keep every mark as a word"),
            ),
        ),
        Hyperparameter(
            "numbers",
            "choice",
            "drop",
            "Numbers",
            choices=(Choice(value="drop", label="Drop"), Choice(value="keep", label="Keep as words")),
        ),
        Hyperparameter("min_length", "int", 2, "Shortest word", unit="letters", minimum=1, maximum=50),
        Hyperparameter(
            "stem", "choice", "", "Stemming", "Joins forms of a word: run, runs, running", choices=tuple(stems)
        ),
        Hyperparameter(
            "ngrams", "int", 1, "Longest phrase", "2 also counts pairs of neighbours", "words",
            minimum=1, maximum=3,
        ),
        Hyperparameter(
            "min_documents", "text", "0.5 %", "In at least", "Number of documents, or share of them in %"
        ),
        Hyperparameter("max_documents", "text", "100 %", "In at most", "Number of documents, or share in %"),
        Hyperparameter(
            "max_words", "int", 0, "Most words", "Those in most documents; 0 keeps all", minimum=0
        ),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class TextOptions:
    """All choices between a text and its counts. ``SettingError`` names the one that is wrong.

    Attributes
    ----------
    lower : join words that differ in case only.
    punctuation : ``inner`` keeps apostrophes and hyphens inside words, ``split`` cuts there, ``keep`` counts marks.
    numbers : ``drop`` or ``keep`` words of digits.
    min_length : letters of the shortest word kept.
    stop_words : languages whose lists are left out. ``add_stop_words`` and ``keep_words`` change the list.
    stem : language of the stemmer, or empty.
    ngrams : length of the longest phrase, 1 to 3; phrases are of neighbours after stop words have gone.
    min_documents, max_documents : bounds on the number of documents with a word; a number, or a share (``"2 %"``).
    max_words : most words kept, those in most documents first; 0 for all.
    empty : ``drop`` leaves out documents without a word, ``keep`` keeps them.
    """

    lower: bool = True
    punctuation: str = "inner"
    numbers: str = "drop"
    min_length: int = 2
    stop_words: tuple[str, ...] = ("english",)
    add_stop_words: tuple[str, ...] = ()
    keep_words: tuple[str, ...] = ()
    stem: str = ""
    ngrams: int = 1
    min_documents: str = "0.5 %"
    max_documents: str = "100 %"
    max_words: int = 0
    empty: str = "drop"

    def __post_init__(self) -> None:
        for setting in text_settings():
            value = getattr(self, setting.name)
            if setting.kind == "text":
                value = str(value)
            object.__setattr__(self, setting.name, setting.check(value))
        for name in ("stop_words", "add_stop_words", "keep_words"):
            object.__setattr__(self, name, _texts(getattr(self, name)))
        languages = tuple(name for name in self.stop_words if name not in ("none", ""))
        object.__setattr__(self, "stop_words", languages)
        for language in languages:
            stop_word_list(language)
        for name in ("min_documents", "max_documents"):
            document_bound(getattr(self, name), 100, name)
        if self.empty not in ("drop", "keep"):
            raise SettingError(f"empty must be drop or keep. Found “{self.empty}”.")

    @classmethod
    def of(cls, options: Mapping[str, Any], counted: bool = False) -> TextOptions:
        """Those of a mapping that are text options. Data that are counted already are not filtered unless asked."""
        given = {name: options[name] for name in OPTION_NAMES if options.get(name) is not None}
        usual: dict[str, Any] = (
            {"stop_words": (), "min_documents": "1", "min_length": 1, "numbers": "keep", "empty": "keep"}
            if counted
            else {}
        )
        return cls(**{**usual, **given})

    def record(self) -> dict[str, Any]:
        """Plain values, as stored with a dataset and read back by :meth:`of`."""
        values = {name: getattr(self, name) for name in OPTION_NAMES}
        return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}

    @property
    def stop_list(self) -> frozenset[str]:
        """The words that are left out, as the user would edit them."""
        listed = {word for language in self.stop_words for word in stop_word_list(language)}
        return frozenset((listed | set(self.add_stop_words)) - set(self.keep_words))

    @property
    def elision(self) -> bool:
        """Whether words are cut at apostrophes because the language elides articles (l'homme)."""
        return self.punctuation == "inner" and bool(_ELIDING & {*self.stop_words, self.stem})

    def with_stop_list(self, words: Sequence[str]) -> dict[str, list[str]]:
        """The two options that turn the lists of the languages into exactly ``words``."""
        listed = {word for language in self.stop_words for word in stop_word_list(language)}
        wanted = set(words)
        return {"add_stop_words": sorted(wanted - listed), "keep_words": sorted(listed - wanted)}


OPTION_NAMES = tuple(item.name for item in fields(TextOptions))


def _texts(value: Any) -> tuple[str, ...]:
    """A list of words; text is cut at commas and blanks."""
    if isinstance(value, str):
        value = re.split(r"[,;\s]+", value)
    return tuple(dict.fromkeys(str(item).strip() for item in value if str(item).strip()))


_BOUND = re.compile(r"(\d+(?:\.\d+)?)\s*(%?)\Z", re.ASCII)


def document_bound(text: str, n_documents: int, name: str) -> int:
    """A bound as a number of documents: ``"5"``, ``"0.05"`` (share below 1) or ``"5 %"``.

    A lower bound (``name`` begins with ``min``) is rounded up, an upper one down; 1 at least.
    """
    match = _BOUND.match(str(text).strip())
    title = next(s.title for s in text_settings() if s.name == name)
    rule = f"{title} ({name}) needs a number of documents or a share such as 5 %."
    if match is None:
        raise SettingError(f"{rule} Found “{text}”.")
    value, percent = float(match[1]), bool(match[2])
    if percent and value > 100:
        raise SettingError(f"{rule} Found “{text}”, more than all.")
    if not percent and value >= 1:
        if value != round(value):
            raise SettingError(f"{rule} Found “{text}”.")
        return int(value)
    share = value / 100 if percent else value
    exact = share * n_documents
    bound = math.ceil(exact - 1e-9) if name.startswith("min") else math.floor(exact + 1e-9)
    return max(bound, 1)
