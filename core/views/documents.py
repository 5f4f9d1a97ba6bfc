"""The documents that say most of a factor, with the words of the factor marked in their texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from plaidwork.core.data.text.counts import Stems
from plaidwork.core.data.text.marking import readable, term_occurrences
from plaidwork.core.draws.counting import plural
from plaidwork.core.draws.numbers import format_count, format_number
from plaidwork.core.findings.naming import findable
from plaidwork.core.pictures import (
    Axis,
    Items,
    Key,
    Listing,
    Panel,
    Picture,
    Prose,
    Span,
    ViewChoices,
)
from plaidwork.core.pictures.choices import MANY
from plaidwork.core.pictures.words import capital, headed
from plaidwork.core.views.colouring import class_text
from plaidwork.core.views.documents_data import Documents, TopicWords, read_documents
from plaidwork.core.views.sources import Sources

_LISTED, _OFFERED, _FIRST = 200, 5000, 5
"""Documents in the list, documents that may be chosen by name, and documents of which passages are shown, at most."""
_PASSAGE, _PART = 420, 12_000
"""Letters of a passage of a text, and of a part of one that is read whole."""
_SEARCHED = 30_000_000
"""Letters that a search reads at most."""
_LONG, _TOLD = 40, 8
"""Letters of a text that is no class, and facts told of a document, at most."""
_ADDS, _TAKES = 0, 4
"""Categories of words that belong to a factor, and of words that it lacks."""
_EDGE = Axis(ticks=False, line=False, low=0, high=1)
_BEGINNINGS = "first"


def load(sources: Sources, choices: ViewChoices) -> Picture:
    """Roles ``scores`` (n, K), ``strength`` (n, K) that breaks their ties, ``words`` (K, m) or (m, K), ``names`` (m,) of the
    words, ``documents`` (n,) names and ``outcome`` (n,). The texts are the annotation of the data that was read as text.

    Options: ``dim`` (dim of the input that the documents are of, where they are some of it), ``top`` (words marked, 20),
    ``passages`` (how many are shown at first, 5).
    """
    options = sources.view.options
    data = read_documents(sources, options)
    if not data.scores.size:
        why = "The run has found nothing for this picture."
        return Picture(sources.view.title, empty=("Nothing to show", why))
    telling = np.flatnonzero(np.nanmax(data.scores, axis=0) > np.nanmin(data.scores, axis=0))
    first = int(telling[0]) if len(telling) else 0  # the first that not all documents have alike
    factor = choices.among("factor", "Show", data.factors, first, of="layer")
    words = TopicWords((), ())
    if data.words is not None:
        top = choices.number("top", "Words marked", 1, 60, max(1, int(options.get("top", 20))))
        words = data.top_words(factor, int(top))
    wanted = choices.text("words", "Containing")
    rows = data.order(factor)
    if wanted:
        rows = _holding(data, rows, wanted)
    rows = rows[:_LISTED]
    shown = max(1, int(options.get("passages", _FIRST)))
    return _Reading(data, factor, words, wanted, rows).picture(choices, shown)


def _holding(data: Documents, rows: np.ndarray, wanted: str) -> np.ndarray:
    """The documents, in this order, whose name or text holds some words; a search ends after so many letters."""
    hits, read, low = [], 0, wanted.casefold()
    for i in rows.tolist():
        text = class_text(data.texts[i]) if data.texts is not None else ""
        read += len(text)
        if low in findable(data.names[i]) or low in text.casefold():
            hits.append(i)
        if read > _SEARCHED:
            break
    return np.array(hits, dtype=np.intp)


class _Reading:
    """The documents of a factor as they are listed, and what is marked in them."""

    def __init__(
        self, data: Documents, factor: int, words: TopicWords, wanted: str, rows: np.ndarray
    ) -> None:
        self.data, self.factor, self.words, self.wanted, self.rows = data, factor, words, wanted, rows
        self._stems = Stems()
        most = max(map(abs, words.weights), default=1.0)
        self._strength = {
            term: (0.35 + 0.65 * abs(weight) / most, weight > 0)
            for term, weight in zip(words.terms, words.weights, strict=True)
        }

    def picture(self, choices: ViewChoices, most: int) -> Picture:
        """The chosen document whole, or passages of the first ones."""
        data, rows = self.data, self.rows
        if len(rows):
            panels = self._chosen(choices, most)
        else:
            why = f"No {data.word} contains “{self.wanted}”"
            panels = (self._panel_of(Prose(why, color="muted"), "", ()),)
        return Picture(
            self._headline(),
            data.doc,
            panels,
            self._notes(len(panels)),
            self._legend(),
            self._table(),
            layers=data.layer_dim,
            beside=(self._list(),),
        )

    def _chosen(self, choices: ViewChoices, most: int) -> tuple[Panel, ...]:
        data = self.data
        some = min(most, len(self.rows))
        offered = self.rows.tolist()
        if len(data.names) <= _OFFERED:
            offered += sorted(set(range(len(data.names))) - set(offered))
        first = f"passages of the first {some}" if some > 1 else "a passage"
        names = [(_BEGINNINGS, first), *((str(i), data.names[i]) for i in offered)]
        sections = ((capital(plural(data.word)), len(names)),)
        kind = data.selection_kind
        asked = choices.pick("document", "Read", names, kind=MANY, of=kind, sections=sections, opens=True)
        if asked == _BEGINNINGS:
            return tuple(self._passage(i) for i in self.rows[:some].tolist())
        return (self._whole(int(asked), choices),)

    # -- texts ----------------------------------------------------------------------------------
    def _passage(self, i: int) -> Panel:
        """The part of a text with most of the words of the factor, or what the search has found."""
        text = self._text(i)
        spans = self._spans(text)
        start, end = _densest(text, spans)
        before, after = "… " if start else "", " …" if end < len(text) else ""
        shown = text[start:end]
        by = len(before) - start
        moved = tuple(
            replace(span, start=span.start + by, end=span.end + by)
            for span in spans
            if start <= span.start and span.end <= end
        )
        return self._panel(i, before + shown.replace("\n", " ") + after, moved)

    def _whole(self, i: int, choices: ViewChoices) -> Panel:
        text, start = self._text(i), 0
        if len(text) > _PART:
            count = -(-len(text) // _PART)
            part = int(choices.number("part", f"Part of {count}", 1, count, 1))
            start = _word_before(text, (part - 1) * _PART)
            end = _word_before(text, part * _PART)
            text = text[start:end]
        return self._panel(i, text, self._spans(text))

    def _text(self, i: int) -> str:
        data = self.data
        return readable(class_text(data.texts[i])) if data.texts is not None else data.counted_words(i)

    def _spans(self, text: str) -> tuple[Span, ...]:
        """Words of the factor and, where they meet none, places of what is looked for; in order."""
        found = [
            Span(place.start, place.end, _ADDS if adds else _TAKES, strength, not adds)
            for place in term_occurrences(text, self.words.terms, self.data.options, self._stems)
            for strength, adds in [self._strength[place.term]]
        ]
        low, at, wanted = text.lower(), 0, self.wanted.lower()
        if wanted and len(low) == len(text):  # else there is a letter whose small form is longer
            places = []
            while (at := low.find(wanted, at)) >= 0:
                places.append(Span(at, at + len(wanted), found=True))
                at += len(wanted)
            found = [
                span for span in found if not any(span.start < p.end and p.start < span.end for p in places)
            ]
            found = sorted([*found, *places], key=lambda span: span.start)
        return tuple(found)

    def _panel(self, i: int, text: str, spans: tuple[Span, ...]) -> Panel:
        """The text of a document under its name and what is known of it."""
        data = self.data
        facts = self._facts(i)
        values = tuple(" · ".join(facts[:count]) for count in range(len(facts), 0, -1))
        told = f"{data.names[i]}: {facts[0].lower()}"
        held: dict[str, Any] = {
            "read": (told,),
            "called": (data.names[i],),
            "of": Items(data.selection_kind, np.array([i])),
            "choice": ("document", (str(i),)),
        }
        if text:
            return self._panel_of(Prose(text, spans, **held), data.names[i], values)
        why = f"This {data.word} has no text."
        if data.texts is None:
            why = (
                f"The texts are not in the data. Import {data.data_name or 'the data'} with the column that holds "
                f"them (“text”), or add that column as an annotation of the {plural(data.word)}."
            )
        return self._panel_of(Prose(why, color="muted", **held), data.names[i], values)

    @staticmethod
    def _panel_of(mark: Prose, title: str, values: tuple[str, ...]) -> Panel:
        return Panel((mark,), _EDGE, _EDGE, title, values, reads="whole", zoom="", lines=False)

    def _facts(self, i: int) -> list[str]:
        """Score, outcome and annotations of a document."""
        data = self.data
        facts = [f"{data.score_name} {data.score_text(data.scores[i, self.factor])}"]
        if data.strength is not None:
            facts.append(f"{data.strength_name} {format_number(float(data.strength[i, self.factor]), 3)}")
        if data.outcome is not None:
            facts.append(f"{data.outcome_name} {_plain(data.outcome[i])}")
        for title, column in data.annotations.items():
            text = _plain(column[i])
            if text and len(text) <= _LONG:
                facts.append(f"{title} {text}")
        return facts[:_TOLD]

    # -- words and numbers ----------------------------------------------------------------------
    def _headline(self) -> str:
        top = self.data.top_words(self.factor, 60)
        pairs = zip(top.terms, top.weights, strict=True)
        words = ", ".join([term for term, weight in pairs if weight > 0][:6])
        return f"{headed(self.data.factors[self.factor])}{': ' if words else ''}{words}"

    def _notes(self, shown: int) -> str:
        data = self.data
        count = format_count(len(data.names))
        if self.wanted:
            told = f"{format_count(len(self.rows))} of {count} {plural(data.word)} contain “{self.wanted}”"
        elif shown > 1:
            shown_of = "Passages" if data.counts is None else "Words"
            told = f"{shown_of} of the first {shown} of {count} {plural(data.word)}, highest {data.score_name.lower()} first"
        else:
            told = f"{format_count(len(self.rows))} of {count} {plural(data.word)} are listed"
        marked = "; the stronger the ground of a word, the larger its weight" if self.words.terms else ""
        if data.counts is not None:
            marked += "; texts are read here when the data have them in a column “text”"
        return told + marked

    def _legend(self) -> tuple[Key, ...]:
        data = self.data
        if data.words is None or (data.texts is None and data.counts is None):
            return ()
        one = data.factor_word
        lacks = (Key(f"word that the {one} lacks", _TAKES),) if (data.words < 0).any() else ()
        return (Key(f"word of the {one}", _ADDS), *lacks)

    def _columns(self) -> dict[str, Any]:
        data, rows = self.data, self.rows
        columns: dict[str, Any] = {
            capital(data.word): np.array(data.names, dtype=object)[rows],
            data.score_name: data.scores[rows, self.factor],
        }
        if data.strength is not None:
            columns[data.strength_name] = data.strength[rows, self.factor]
        if data.outcome is not None:
            columns[data.outcome_name] = data.outcome[rows]
        return columns

    def _list(self) -> Listing:
        data, rows, columns = self.data, self.rows, self._columns()
        columns.pop(data.strength_name, None)
        formats: dict[str, Callable[[Any], str]] = {data.score_name: data.score_text}
        title = f"{capital(plural(data.word))}, highest {data.score_name.lower()} first"
        chosen = ("document", tuple(map(str, rows.tolist())))
        return Listing(title, columns, Items(data.selection_kind, rows), chosen, formats)

    def _table(self) -> dict[str, Any]:
        data, columns = self.data, self._columns()
        for title, column in data.annotations.items():
            columns[title if title not in columns else f"{title} (data)"] = column[self.rows]
        if data.texts is not None:
            texts = [class_text(text) for text in data.texts[self.rows]]
            columns["Text"] = np.array(texts, dtype=object)
        return columns


def _densest(text: str, spans: tuple[Span, ...]) -> tuple[int, int]:
    """Ends of the passage with most marked words, or with the first place of what was looked for."""
    if len(text) <= _PASSAGE * 1.25:
        return 0, len(text)
    meant = [span for span in spans if span.found] or list(spans)
    if not meant:
        return 0, _word_before(text, _PASSAGE)
    starts = np.array([span.start for span in meant])
    total = np.concatenate([[0.0], np.cumsum([span.strength for span in meant])])
    ends = np.searchsorted(starts, starts + _PASSAGE - 60)
    best = int(np.argmax(total[ends] - total[: len(starts)]))
    start = 0 if starts[best] < 60 else _word_before(text, int(starts[best]) - 40)
    return start, _word_before(text, start + _PASSAGE)


def _word_before(text: str, at: int) -> int:
    """The beginning of a word not after a place; the end of the text beyond it."""
    if at >= len(text):
        return len(text)
    found = max(text.rfind(" ", 0, at), text.rfind("\n", 0, at)) + 1
    return found if found > at - 60 else at


def _plain(value: Any) -> str:
    if isinstance(value, int | float | np.number):
        return format_number(float(value)) if value == value else ""
    return class_text(value)
