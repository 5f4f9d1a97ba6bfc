"""``plaidwork text``: a preview, a session, Matrix Market, and its messages."""

import json

import pytest
import scipy.sparse

from plaidwork.core.cli import main
from plaidwork.core.data.importers import read_dataset
from plaidwork.core.session.session import open_session

REVIEWS = """id,rating,body
a1,good,"The film, the best film of all"
b2,bad,"A film that nobody likes, not one"
c3,good,
d4,good,"Best music ever; I like the film"
"""


@pytest.fixture
def reviews(tmp_path):
    path = tmp_path / "reviews.csv"
    path.write_text(REVIEWS, encoding="utf-8")
    return str(path)


def test_preview(reviews, capsys):
    assert main(["text", reviews, "--stem", "english", "--outcome", "rating=good"]) == 0
    told = capsys.readouterr()
    assert "3 documents × 7 words" in told.out
    assert "rating=good (outcome), body (text)" in told.out
    assert "\nfilm           4          3\n" in told.out
    assert told.err == "plaidwork: 1 document has no text. Left out. First: row 4.\n"


def test_session_and_json(reviews, tmp_path, capsys):
    out = tmp_path / "s.plaidwork"
    words = tmp_path / "more.txt"
    words.write_text("film\n", encoding="utf-8")
    args = ["--stop-word-file", str(words), "--covariate", "rating", "--skip", "id", "--json"]
    assert main(["text", reviews, *args, "--out", str(out)]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["event"], record["documents"], record["path"]) == ("text", 3, str(out))
    data = open_session(out).datasets["reviews"]
    assert scipy.sparse.issparse(data.values)
    assert "film" not in data.column_names
    assert data.source.options["roles"]["rating"] == "covariate"
    assert main(["text", reviews, "--out", str(out)]) == 2
    assert "exists already" in capsys.readouterr().err


def test_matrix_market_can_be_read_back(reviews, tmp_path):
    out = tmp_path / "m.mtx"
    assert main(["text", reviews, "--out", str(out)]) == 0
    data = read_dataset(out, {"text_source": "matrix"})
    direct = read_dataset(reviews, {"text_source": "texts"})
    assert data.digest() == direct.digest()
    assert data.row_table["rating"].tolist() == ["good", "bad", "good"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--outcome", "rating"], "is text"),
        (["--min-documents", "9"], "The filters leave no word"),
        (["--stem", "klingon"], "Stemming (stem) must be one of"),
        (["--out", "x.csv"], "neither a session nor"),
        (["--text-column", "boddy"], "“boddy”"),
    ],
)
def test_bad_input_is_one_line(reviews, capsys, args, message):
    assert main(["text", reviews, *args]) == 2
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert last.startswith("plaidwork: ")
    assert message in last
