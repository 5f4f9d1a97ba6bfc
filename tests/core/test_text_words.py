"""Cutting texts into words, filters and counts, against counts made by hand."""

from collections import Counter as Count
from itertools import pairwise

import numpy as np
import pytest

from plaidwork.core.data.text.build import Counter
from plaidwork.core.data.text.counts import REASONS, count_words
from plaidwork.core.data.text.documents import Documents
from plaidwork.core.data.text.options import TextOptions, document_bound
from plaidwork.core.data.text.stop_words import stem_languages, stop_word_languages, stop_word_list
from plaidwork.core.data.text.tokens import tokenise
from plaidwork.core.errors import SettingError

PLAIN = {"stop_words": (), "min_documents": "1", "min_length": 1, "numbers": "keep"}


def words(text, **options):
    found = tokenise([text], TextOptions(**{**PLAIN, **options}))
    return [found.words[i] for i in found.ids]


def table(texts, **options):
    counts = count_words(
        tokenise(texts, TextOptions(**{**PLAIN, **options})), TextOptions(**{**PLAIN, **options})
    )
    names = [counts.terms[i] for i in counts.kept]
    return [dict(zip(names, row.astype(int).tolist())) for row in counts.matrix.toarray()], counts


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("The cat, the CAT!", {}, "the cat the cat"),
        ("The cat", {"lower": False}, "The cat"),
        ("Don't stop a well-known one—now", {}, "don't stop a well-known one now"),
        ("Don’t", {}, "don't"),
        ("don't well-known", {"punctuation": "split"}, "don t well known"),
        ("Hm... no?", {"punctuation": "keep"}, "hm . . . no ?"),
        ("1,000.5 in 2020 and covid19 3d", {}, "1,000.5 in 2020 and covid19 3d"),
        ("l'homme d'Orsay", {"stop_words": "french"}, "l homme d orsay"),
        ("snake_case", {}, "snake case"),
        ("Straße ÉTÉ e\u0301te\u0301", {}, "straße été été"),
        ("हिन्दी भाषा", {}, "हिन्दी भाषा"),
        ("co\u00adoperate", {}, "cooperate"),
        ("", {}, ""),
    ],
)
def test_words(text, options, expected):
    assert " ".join(words(text, **options)) == expected


def test_counts_are_those_of_a_plain_loop():
    rng = np.random.default_rng(3)
    texts = [" ".join(rng.choice(list("abcdefgh"), rng.integers(0, 30))) for _ in range(40)]
    rows, counts = table(texts, ngrams=3)
    documents: Count = Count()
    for text, row in zip(texts, rows):
        cut = text.split()
        grams = Count(cut) + Count(map(" ".join, pairwise(cut)))
        grams += Count(" ".join(cut[i : i + 3]) for i in range(len(cut) - 2))
        assert {name: n for name, n in row.items() if n} == grams
        documents.update(set(grams))
    assert counts.matrix.has_sorted_indices
    assert dict(zip(counts.terms, counts.documents.tolist())) == documents


def test_phrases_skip_stop_words_and_stay_inside_a_document():
    rows, _ = table(["state of the art", "art state"], stop_words="english", ngrams=2)
    assert rows == [
        {"art": 1, "art state": 0, "state": 1, "state art": 1},
        {"art": 1, "art state": 1, "state": 1, "state art": 0},
    ]


def test_stems_join_and_stop_words_go_before():
    rows, counts = table(["running runs run being", "the runner"], stop_words="english", stem="english")
    assert rows == [{"run": 3, "runner": 0}, {"run": 0, "runner": 1}]
    reason = {counts.terms[i]: REASONS[code] for i, code in enumerate(counts.reason)}
    assert reason["being"] == reason["the"] == "stop word"


def test_every_reason():
    texts = ["the rare a1 7 x often", "often some", "often some", "often beyond beyond"]
    rows, counts = table(
        texts, stop_words="english", keep_words="some", numbers="drop", min_length=2, min_documents="2",
        max_documents="75 %",
    )  # fmt: skip
    reason = {counts.terms[i]: REASONS[code] for i, code in enumerate(counts.reason)}
    assert reason == {
        "the": "stop word", "rare": "in too few documents", "a1": "in too few documents", "7": "number",
        "x": "too short", "often": "in too many documents", "some": "kept", "beyond": "in too few documents",
    }  # fmt: skip
    assert rows[1] == {"some": 1}
    assert counts.bounds == (2, 3)
    assert counts.lengths.tolist() == [0, 1, 1, 0]


def test_most_words_are_those_in_most_documents():
    rows, counts = table(["b c", "b c d", "a d"], max_words=2)
    assert list(rows[0]) == ["b", "c"]
    assert sorted(counts.terms[i] for i in np.flatnonzero(counts.reason == 6)) == ["a", "d"]


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [("5", "min_documents", 5), ("2 %", "min_documents", 3), ("0.02", "min_documents", 3), ("0 %", "min_documents", 1),
     ("50%", "max_documents", 60), ("0.999", "max_documents", 119), ("100 %", "max_documents", 120)],
)  # fmt: skip
def test_bounds(text, name, expected):
    assert document_bound(text, 120, name) == expected


@pytest.mark.parametrize("wrong", ["", "many", "-1", "101 %", "2.5", "1e3"])
def test_a_bound_that_is_none_is_told(wrong):
    with pytest.raises(SettingError, match=r"In at least.*needs a number of documents"):
        TextOptions(min_documents=wrong)


@pytest.mark.parametrize(
    ("option", "value"), [("ngrams", 4), ("stem", "klingon"), ("stop_words", "klingon"), ("empty", "burn")]
)
def test_wrong_options_name_themselves(option, value):
    with pytest.raises(SettingError, match=str(value)):
        TextOptions(**{option: value})


def test_options_come_back_from_their_record():
    options = TextOptions(
        stop_words="german, english", add_stop_words=["film"], ngrams=2, max_documents="80 %"
    )
    assert TextOptions.of(options.record()) == options
    edited = options.with_stop_list(["film", "der", "new"])
    assert TextOptions.of({**options.record(), **edited}).stop_list == {"film", "der", "new"}


def test_stop_lists_and_stemmers_of_many_languages():
    assert len(stop_word_languages()) >= 13
    for language in stop_word_languages():
        listed = stop_word_list(language)
        assert len(set(listed)) == len(listed) > 50
        assert list(listed) == [word.lower() for word in listed]
        assert language in stem_languages()
    assert {"the", "don't", "they're"} <= set(stop_word_list("english"))


def test_counting_again_with_other_filters_cuts_nothing_again(monkeypatch):
    documents = Documents("d", ("1", "2"), "texts", None, ("a b", "b c"), absent=np.zeros(2, bool))
    counter = Counter(documents)
    counter.count(TextOptions(**PLAIN))
    monkeypatch.setattr("plaidwork.core.data.text.build.tokenise", None)
    assert counter.count(TextOptions(**{**PLAIN, "min_documents": "2"})).kept.size == 1


def test_progress_can_stop():
    def stop(share):
        if share > 0.01:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        tokenise(["a"] * 1000, TextOptions(), stop)


@pytest.mark.long
def test_nothing_is_made_dense():
    # a dense matrix of 20 000 documents by 60 000 words would take 9.6 GB
    rng = np.random.default_rng(0)
    vocabulary = np.array([f"w{i}x" for i in range(60_000)])
    texts = [" ".join(vocabulary[rng.integers(0, 60_000, 20)]) for _ in range(20_000)]
    counts = count_words(tokenise(texts, TextOptions(**PLAIN)), TextOptions(**PLAIN))
    assert counts.matrix.shape[0] == 20_000
    assert counts.matrix.nnz <= 400_000
