"""Terms are found in the text as they were counted: case, stems, phrases, stop words."""

from __future__ import annotations

import pytest

from plaidwork.core.data.text.counts import count_words
from plaidwork.core.data.text.marking import readable, term_occurrences
from plaidwork.core.data.text.options import TextOptions
from plaidwork.core.data.text.tokens import tokenise

TEXT = "Borders, BORDER control: the illegal immigration isn’t  fixed. Immigrants' border; 12 men"


def found(terms, **options):
    text = readable(TEXT)
    return [(text[p.start : p.end], p.term) for p in term_occurrences(text, terms, TextOptions(**options))]


def test_words_in_any_case():
    assert found({"border", "isn't"}, stop_words=()) == [
        ("BORDER", "border"),
        ("isn't", "isn't"),
        ("border", "border"),
    ]
    assert found({"border"}, lower=False) == [("border", "border")]


def test_stems():
    assert found({"border", "immigr"}, stem="english") == [
        ("Borders", "border"),
        ("BORDER", "border"),
        ("immigration", "immigr"),
        ("Immigrants", "immigr"),
        ("border", "border"),
    ]


def test_phrases_before_their_words():
    assert found({"control illegal", "illegal", "border"}, ngrams=2) == [
        ("BORDER", "border"),
        ("control: the illegal", "control illegal"),
        ("border", "border"),
    ]


@pytest.mark.parametrize("options", [{}, {"stem": "english"}, {"ngrams": 2}, {"punctuation": "split"}])
def test_as_often_as_counted(options):
    """Each term alone is found as often as it was counted, but phrases that overlap themselves."""
    made = TextOptions(min_documents="1", **options)
    counts = count_words(tokenise([TEXT], made), made)
    text = readable(TEXT)
    for i in counts.kept:
        assert len(term_occurrences(text, {counts.terms[i]}, made)) == counts.count[i], counts.terms[i]


def test_nothing_to_find():
    assert found(set()) == []
    assert term_occurrences("", {"word"}, TextOptions()) == []
