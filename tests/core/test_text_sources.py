"""Tables with texts, folders and counts as sparse datasets; bad input with its message."""

import csv
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from plaidwork.core.data.importers import read_dataset
from plaidwork.core.data.text import Counter, TextOptions, find_issues, guess_kind, load_documents
from plaidwork.core.errors import DataError
from plaidwork.core.session.session import Session, open_session

ALL = {"stop_words": "none", "min_documents": "1"}
TABLE = """id,rating,day,body
a1,good,1,"The film, the best film of all"
b2,bad,2,"A film that nobody likes, not one"
c3,good,,"Best music ever; I like it all"
"""


def counted(data, row, word):
    return data.values[data.row_names.index(row), data.column_names.index(word)]


@pytest.mark.parametrize(
    ("name", "encoding"),
    [("r.csv", "utf-8"), ("r.csv.gz", "utf-8-sig"), ("r.tsv", "utf-8"), ("r.csv", "utf-16")],
)
def test_a_table_with_texts(write, name, encoding):
    text = TABLE
    if name.endswith("tsv"):
        text = "\n".join("\t".join(row) for row in csv.reader(TABLE.splitlines()))
    data = read_dataset(write(text, name, encoding), {"text_source": "texts", **ALL})
    assert scipy.sparse.issparse(data.values)
    assert data.kind == "count"
    assert data.row_names == ("a1", "b2", "c3")
    assert (counted(data, "a1", "film"), counted(data, "b2", "film"), counted(data, "c3", "film")) == (
        2,
        1,
        0,
    )
    assert list(data.row_table) == ["rating", "day", "words", "body"]
    assert data.row_table["body"][2] == "Best music ever; I like it all"
    assert np.isnan(data.row_table["day"][2])
    assert data.row_table["words"].tolist() == [7, 6, 6]
    place = data.column_names.index("film")
    assert (data.column_table["documents"][place], data.column_table["count"][place]) == (2, 3)
    assert data.source.options["roles"] == {"body": "text"}


def test_the_options_of_the_source_repeat_the_import(write):
    path = write(TABLE)
    given = {
        "text_column": "body",
        "stem": "english",
        "roles": {"rating=good": "outcome"},
        "min_documents": "1",
    }
    data = read_dataset(path, given)
    again = read_dataset(path, data.source.options)
    assert again.digest() == data.digest()
    assert again.source == data.source


def test_texts_and_counts_stay_sparse_in_a_session(write, tmp_path):
    data = read_dataset(
        write(TABLE, "reviews.csv"), {"text_column": "body", **ALL, "roles": {"rating=good": "outcome"}}
    )
    session = Session()
    session.add_dataset(data)
    found = open_session(session.save(tmp_path / "s.plaidwork")).datasets["reviews"]
    assert scipy.sparse.issparse(found.values)
    assert found.digest() == data.digest()
    assert found.row_table["body"].tolist() == data.row_table["body"].tolist()
    assert found.source.options["roles"] == data.source.options["roles"]


def test_a_folder(tmp_path):
    for name, text in (
        ("x/b.txt", "one two"),
        ("y/a.txt", "two two"),
        ("note.md", "no"),
        (".hid/c.txt", "no"),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8-sig")
    data = read_dataset(tmp_path, {"text_source": "folder", **ALL})
    assert data.row_names == ("x/b", "y/a")
    assert data.values.toarray().tolist() == [[1, 1], [0, 2]]
    assert data.row_table["folder"].tolist() == ["x", "y"]
    with pytest.raises(DataError, match="text_source=folder"):
        read_dataset(tmp_path)


def triplets(write, vocabulary=True):
    write("word,term\n0,NA\n1,film\n2,rare\n", "t_vocab.csv")
    write("doc,party,day\n10,left,1\n11,right,2\n12,left,3\n", "t_docs.csv")
    return write("doc,word,count\n10,1,2\n10,0,1\n12,1,1\n12,1,3\n", "t_counts.csv")


def test_triplets_with_files_beside_them(write):
    path = triplets(write)
    assert guess_kind(path, {}) == "triplets"
    data = read_dataset(path, {"text_source": "triplets", "lower": False, "roles": {"party=left": "outcome"}})
    assert data.column_names == ("NA", "film")  # no document has “rare”
    assert data.row_names == ("10", "11", "12")
    assert data.values.toarray().tolist() == [[1, 2], [0, 0], [0, 4]]
    assert data.row_table["party"].tolist() == ["left", "right", "left"]
    alone = read_dataset(path, {"text_source": "triplets", "terms_file": "", "documents_file": ""})
    assert alone.values.toarray().tolist() == [[1, 2], [0, 4]]
    assert read_dataset(path, alone.source.options).digest() == alone.digest()
    smaller = read_dataset(path, {"text_source": "triplets", "empty": "drop"})
    assert smaller.row_names == ("10", "12")


def test_numbers_of_lines_from_one(write):
    write("alpha\nbeta\n", "u_vocab.txt")
    path = write("doc,term,n\nd,1,1\ne,2,5\n", "u_counts.csv")
    data = read_dataset(path, {"text_source": "triplets"})
    assert data.column_names == ("alpha", "beta")
    assert data.values.toarray().tolist() == [[1, 0], [0, 5]]


def test_a_table_of_counts_with_an_outcome(write):
    path = write("score,film,music\n70,1,0\n20,0,3\n")
    data = read_dataset(path, {"text_source": "table", "roles": {"score": "outcome"}})
    assert data.column_names == ("film", "music")
    assert data.row_table["score"].tolist() == [70, 20]
    with pytest.raises(DataError, match=r"“score”.*whole numbers from 0\. Found “0\.5”"):
        read_dataset(write("score,film\n0.5,1\n1,2\n"), {"text_source": "table"})


def test_matrix_market_with_names_beside_it(write, tmp_path):
    path = tmp_path / "m.mtx"
    scipy.io.mmwrite(path, scipy.sparse.csr_matrix([[1, 0, 2], [0, 3, 0]]))
    write("x\ny\nz\n", "m_vocab.txt")
    data = read_dataset(path, {"text_source": "matrix"})
    assert data.column_names == ("x", "y", "z")
    assert data.row_names == ("document 1", "document 2")
    write("x\ny\n", "m_vocab.txt")
    with pytest.raises(DataError, match="2 names for 3 words"):
        read_dataset(path, {"text_source": "matrix"})
    turned = read_dataset(path, {"text_source": "matrix", "turned": True})
    assert turned.values.toarray().tolist() == [[1, 0], [0, 3], [2, 0]]


BAD = "body,y\nfirst words here now,1\n,2\nNA,3\nthe of and,4\nmore words that stay,5\nMore  words that stay,6\n"


def issues(path, **given):
    documents = load_documents(path, given)
    options = TextOptions.of({"min_documents": "1", **given})
    return find_issues(documents, Counter(documents).count(options), options, given)


def test_empty_documents_and_repeats_are_told_and_kept_apart(write):
    path = write(BAD)
    told = {issue.message: issue.detail for issue in issues(path, text_column="body")}
    assert told == {
        "2 documents have no text": "Left out. First: row 3",
        "1 document has no word left": "Left out. First: row 5",
        "1 document repeats the text of another": "First: row 6 and row 7",
    }
    data = read_dataset(path, {"text_column": "body", "min_documents": "1"})
    assert data.row_names == ("document 1", "document 5", "document 6")
    assert data.row_table["same text"].tolist() == [0, 1, 1]
    assert data.source.options["roles"]["same text"] == "cluster"
    assert "no text" in data.notes
    kept = read_dataset(path, {"text_column": "body", "min_documents": "1", "empty": "keep"})
    assert kept.shape[0] == 6
    own = read_dataset(path, {"text_column": "body", "min_documents": "1", "roles": {"y": "cluster"}})
    assert "same text" not in own.row_table


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"same": "outcome"}, "outcome “same” is constant.*4"),
        ({"party": "outcome"}, "outcome “party” is text.*“left” and “right”.*party=right"),
        ({"many": "outcome"}, "outcome “many” is text"),
        ({"party=up": "outcome"}, "“up” does not occur"),
        ({"none": "group"}, "no column “none”.*Columns: same, party, many"),
        ({"same": "cluster"}, "cluster “same” is constant"),
        ({"party=left": "outcome", "many": "outcome"}, "More than one column"),
    ],
)
def test_roles_that_cannot_be(write, roles, message):
    path = write("same,party,many,body\n4,left,x,here are some words\n4,right,y,there are more words now\n")
    with pytest.raises(DataError, match=message):
        read_dataset(path, {"text_column": "body", **ALL, "roles": roles})


def test_an_outcome_with_missing_cells_is_told_and_can_be_left_out(write):
    path = write("y,body\n1,here are some words\n,there are more words\n3,and again a text\n")
    (issue,) = issues(path, text_column="body", roles={"y": "outcome"})
    assert (issue.message, issue.detail) == ("1 document has no outcome", "First: row 3")
    assert issue.fix[1:] == ("missing_outcome", "drop")
    given = {"text_column": "body", **ALL, "roles": {"y": "outcome"}, "missing_outcome": "drop"}
    assert read_dataset(path, given).row_table["y"].tolist() == [1, 3]


def test_filters_that_leave_nothing_say_which(write):
    with pytest.raises(DataError, match=r"leave no word.*are in fewer than 50 documents"):
        read_dataset(write(TABLE), {"text_column": "body", "min_documents": "50"})
    with pytest.raises(DataError, match="No document has a word"):
        read_dataset(write("body,y\n... !!,1\n?? ,2\n"), {"text_column": "body"})


def test_bytes_that_are_no_utf8_are_placed_and_can_be_read_otherwise(write, tmp_path):
    path = write("id,body\n1,ein schöner Tag im Mai\n2,„so“ sagt man hier\n", encoding="cp1252")
    with pytest.raises(DataError, match=r"not UTF-8: byte 0xF6 at position 18, row 2.*Windows-1252"):
        read_dataset(path, {"text_column": "body"})
    data = read_dataset(path, {"text_column": "body", "encoding": "windows-1252", **ALL})
    assert "schöner" in data.column_names
    assert data.row_table["body"][1].startswith("„so“")
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "good.txt").write_text("gut", encoding="utf-8")
    (folder / "other.txt").write_bytes("erste\nschön".encode("latin-1"))
    with pytest.raises(DataError, match=r"other.txt is not UTF-8: byte 0xF6 at position 10, row 2"):
        read_dataset(folder, {"text_source": "folder"})
    assert read_dataset(folder, {"text_source": "folder", "encoding": "latin-1", **ALL}).shape[0] == 2


@pytest.mark.parametrize(
    ("text", "given", "message"),
    [
        ("a,b\n1,2\n3,4\n", {"text_source": "texts"}, "no column that looks like text"),
        (TABLE, {"text_column": "boddy"}, "“boddy” that is not in the file"),
        (TABLE, {"text_column": "body", "names": "rating"}, "names must be there and differ"),
        ("id,body\n1,unquoted, with a comma here\n2,no comma in this one\n3,nor in this one\n", {"text_column": "body"},
         "row 2: 3 fields found, 2 expected"),
        ("doc,word,count\n1,2,x\n", {"text_source": "triplets"}, "row 2.*expected a count, found “x”"),
        ("id,body\n", {"text_column": "body"}, "no documents"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_told(write, text, given, message):
    with pytest.raises(DataError, match=message):
        read_dataset(write(text), given)


def test_rows_of_another_length_can_be_left_out(write):
    path = write("id,body\n1,unquoted, with a comma here\n2,no comma in this one\n3,nor is one here\n")
    data = read_dataset(path, {"text_column": "body", "ragged": "drop", **ALL})
    assert data.row_names == ("2", "3")
    assert "1 row of another length left out" in data.notes


def test_the_reviews_that_come_along():
    path = Path(__file__).parents[2] / "resources" / "examples" / "movie-reviews" / "reviews.csv.gz"
    data = read_dataset(path, {"text_source": "texts", "roles": {"positive": "outcome"}})
    assert data.shape[0] == 500
    assert data.row_table["positive"].sum() == 250
    assert data.row_names[0].startswith("cv")
    assert {"film", "movie"} <= set(data.column_names)
    assert not data.notes
