"""Bad texts and outcomes, as someone who types `plaidwork fit` sees them: one clear line each."""

import numpy as np
import pytest

from plaidwork.core.cli import main
from plaidwork.core.session.session import open_session

WORDS = ["plot", "actor", "scene", "music", "script", "camera", "joke", "hero"]


def written(path, change=lambda rows: rows, encoding="utf-8"):
    """A table of 60 reviews of random words, changed."""
    rng = np.random.default_rng(0)
    rows = [[f"r{i}", str(i % 7), " ".join(rng.choice(WORDS, 12))] for i in range(60)]
    lines = ["id,stars,body", *(",".join(row) for row in change(rows))]
    path.write_text("\n".join(lines) + "\n", encoding=encoding)


def typed(*more, text="body"):
    options = [f"X.text_column={text}", "X.names=id", "X.min_documents=1"]
    given = [word for option in options for word in ("--import-option", option)]
    inputs = ["--input", "X=texts.csv", "--input", "y=X:row:stars"]
    return main(["fit", "supervised_ibp", *inputs, *given, "--out", "s.plaidwork", "--chains", "1", "--max-sweeps", "3", *more])  # fmt: skip


def constant(rows):
    return [[name, "4", text] for name, _, text in rows]


def as_text(rows):
    return [[name, "good" if i % 2 else "bad", text] for i, (name, _, text) in enumerate(rows)]


def all_alike(rows):
    return [[name, stars, "plot actor"] for name, stars, _ in rows]


@pytest.mark.parametrize(
    ("change", "more", "words"),
    [
        (constant, (), ["The outcome is 4 in all 30 training documents"]),
        (as_text, (), ["stars", "is text", "good", "bad"]),
        (list, ("--set", "min_documents=40"), ["No word is left of 8", "in fewer than 40 training"]),
        (list, ("--import-option", "X.max_documents=0.1 %"), ["filters leave no word"]),
        (all_alike, ("--set", "together=false"), ["2 are the same in all", "No word is left of 2"]),
    ],
)
def test_what_cannot_be_fitted_is_one_line(tmp_path, monkeypatch, capsys, change, more, words):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "texts.csv", change)
    assert typed(*more) == 2
    told = capsys.readouterr().err.strip().splitlines()[-1]
    assert told.startswith("plaidwork: ")
    for word in words:
        assert word in told
    assert not (tmp_path / "s.plaidwork").exists()


def test_bytes_that_are_not_utf_8_are_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "texts.csv", lambda rows: [[*rows[0][:2], "café"], *rows[1:]], "latin-1")
    assert typed() == 2
    assert "texts.csv" in capsys.readouterr().err


def test_documents_without_words_or_text_are_told_and_the_fit_goes_on(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def some(rows):
        return [[n, s, "" if i == 3 else "the and" if i < 3 else t] for i, (n, s, t) in enumerate(rows)]

    written(tmp_path / "texts.csv", some)
    assert typed("--import-option", "X.empty=keep", "--set", "test_share=0") == 0
    told = capsys.readouterr().err
    assert "None of the words in" in told
    run = next(iter(open_session("s.plaidwork").runs.values()))
    assert run.results["assignments"].values.shape[0] in (59, 60)


def test_equal_texts_are_on_one_side_of_the_split(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(
        tmp_path / "texts.csv", lambda rows: [[n, s, rows[i % 20][2]] for i, (n, s, _) in enumerate(rows)]
    )
    assert typed() == 0
    half = next(iter(open_session("s.plaidwork").runs.values())).results["half"].values
    assert {"training", "test"} == set(half)
    for i in range(20):
        assert len({half[i], half[i + 20], half[i + 40]}) == 1
