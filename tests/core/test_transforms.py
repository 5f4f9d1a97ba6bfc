"""Transformations: arithmetic, gaps, records, refusals; annotations by name."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_matrix
from scipy.stats import norm

from plaidwork.core.data.annotate import annotate_columns
from plaidwork.core.data.dataset import Dataset, Step
from plaidwork.core.data.importers import read_dataset
from plaidwork.core.data.joining import default_names
from plaidwork.core.data.transforms import TRANSFORMS, apply_step, apply_steps
from plaidwork.core.errors import DataError

NAN = np.nan


def make(values, sparse=False, **more):
    values = np.asarray(values, dtype=float)
    return Dataset(
        "x",
        csr_matrix(values) if sparse else values,
        tuple(f"r{i}" for i in range(values.shape[0])),
        tuple(f"c{i}" for i in range(values.shape[1])) if values.ndim == 2 else (),
        **more,
    )


def run(data, name, **options):
    return apply_step(data, {"name": name, "options": options})


def dense(data):
    return data.values.toarray() if data.is_sparse else data.values


X = [[1.0, 2.0, 4.0], [8.0, NAN, 32.0]]


@pytest.mark.parametrize(("name", "function"), [("log", np.log), ("log2", np.log2), ("log1p", np.log1p)])
def test_logarithms(name, function):
    data = run(make(X, unit="counts"), name)
    np.testing.assert_array_equal(data.values, function(np.array(X)))
    assert data.unit == f"{name} counts"
    assert str(data.steps[0]) == name


def test_log_names_the_first_cell_that_is_not_positive():
    with pytest.raises(
        DataError,
        match=r"x, row “r1”, column “c0”: the logarithm needs positive values. Found “-2”. 1 more like it.",
    ):
        run(make([[1, 2], [-2, 0]]), "log")
    with pytest.raises(DataError, match=r"needs values above -1. Found “-1”"):
        run(make([[1, 2], [-1, 0]]), "log1p")
    with pytest.raises(DataError, match=r"needs values above -1. Found “-1”"):
        run(make([[1, 2], [-1, 0]], sparse=True), "log1p")


def test_log_of_a_vector_names_the_row():
    with pytest.raises(DataError, match="x, row “r1”: the logarithm"):
        run(make([1, 0]), "log")


matrices = hnp.arrays(
    float,
    hnp.array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=6),
    elements=st.one_of(st.just(NAN), st.integers(-50, 50).map(lambda v: v / 4)),
)


@settings(max_examples=60, deadline=None)
@given(matrices, st.sampled_from(["rows", "columns", "all"]))
def test_centred_means_are_zero_and_gaps_stay(values, axis):
    data = run(make(values), "centre", axis=axis)
    along = {"rows": 1, "columns": 0, "all": None}[axis]
    np.testing.assert_array_equal(np.isnan(data.values), np.isnan(values))
    assert np.abs(np.nansum(data.values, axis=along)).max() < 1e-10


@settings(max_examples=60, deadline=None)
@given(matrices, st.sampled_from(["rows", "columns", "all"]))
def test_standardised_spread_is_one(values, axis):
    along = {"rows": 1, "columns": 0, "all": None}[axis]
    known = np.where(np.isnan(values), -np.inf, values), np.where(np.isnan(values), np.inf, values)
    if (known[0].max(axis=along) == known[1].min(axis=along)).any():
        with pytest.raises(DataError, match="constant and cannot be standardised"):
            run(make(values), "standardise", axis=axis)
        return
    data = run(make(values), "standardise", axis=axis)
    np.testing.assert_array_equal(np.isnan(data.values), np.isnan(values))
    number = (~np.isnan(values)).sum(axis=along)
    squares = np.nansum(data.values**2, axis=along)
    np.testing.assert_allclose(squares, np.maximum(number - 1, 0), atol=1e-9)


def test_standardise_names_what_is_constant():
    with pytest.raises(DataError, match=r"x: row “r1” is constant and cannot be standardised.") as caught:
        run(make([[1, 2], [3, 3]]), "standardise", axis="rows")
    assert caught.value.hint == "Leave out constant rows first."
    assert str(run(make([[1, 2], [3, 4]]), "standardise").steps[0]) == "rows standardised"


@settings(max_examples=60, deadline=None)
@given(matrices, st.sampled_from(["rows", "columns", "all"]))
def test_normal_scores_keep_order_and_gaps(values, axis):
    found = run(make(values), "normal_scores", axis=axis).values
    np.testing.assert_array_equal(np.isnan(found), np.isnan(values))
    lines = {
        "rows": zip(values, found),
        "columns": zip(values.T, found.T),
        "all": [(values.ravel(), found.ravel())],
    }
    for before, after in lines[axis]:
        before, after = before[~np.isnan(before)], after[~np.isnan(after)]
        np.testing.assert_array_equal(
            np.sign(np.subtract.outer(before, before)), np.sign(np.subtract.outer(after, after))
        )


def test_normal_scores_are_those_of_blom():
    found = run(make([[10.0, NAN, 1000.0], [-5.0, 20.0, 20.0]]), "normal_scores")
    expected = [
        [norm.ppf((2 - 0.375) / 5.25), NAN, norm.ppf((5 - 0.375) / 5.25)],
        [norm.ppf((1 - 0.375) / 5.25)] + 2 * [norm.ppf((3.5 - 0.375) / 5.25)],
    ]
    np.testing.assert_allclose(found.values, expected)
    assert str(found.steps[0]) == "normal scores of all values"


def test_binarise():
    data = run(make(X), "binarise", threshold=3)
    np.testing.assert_array_equal(data.values, [[0, 0, 1], [1, NAN, 1]])
    assert data.kind == "binary"
    assert str(data.steps[0]) == "1 above 3"


def test_top_variance_keeps_order_and_annotations():
    data = make(
        [[0, 9, 0], [1, 1, 1], [0, 30, NAN]],
        row_table={"about": np.array(["a", "b", "c"])},
        row_label="genes",
    )
    kept = run(data, "top_variance", axis="rows", n=2)
    assert kept.row_names == ("r0", "r2")
    assert list(kept.row_table["about"]) == ["a", "c"]
    assert str(kept.steps[0]) == "2 genes that vary most"
    assert run(data, "top_variance", axis="columns", n=1).column_names == ("c1",)
    with pytest.raises(DataError, match=r"has 3 genes. Found “4” to keep"):
        run(data, "top_variance", axis="rows", n=4)


def test_transpose_twice_is_the_same():
    data = make(X, row_table={"t": np.array([1.0, 2.0])}, row_label="genes", column_label="samples")
    once = run(data, "transpose")
    assert (once.row_label, once.column_names, list(once.column_table)) == ("samples", ("r0", "r1"), ["t"])
    assert run(once, "transpose").digest() == data.digest()


def test_drop_missing_and_constant():
    data = make([[1, NAN, 3], [NAN, NAN, NAN], [5, 6, 3], [7, 8, 3]])
    assert run(data, "drop_missing", axis="rows").row_names == ("r0", "r2", "r3")
    assert run(data, "drop_missing", axis="rows", share=0).row_names == ("r2", "r3")
    assert run(data, "drop_missing", axis="columns", share=0.5).column_names == ("c0", "c2")
    assert run(data, "drop_constant", axis="columns").column_names == ("c0", "c1")
    with pytest.raises(DataError, match="all 3 columns would be left out"):
        run(data, "drop_missing", axis="columns", share=0)


def test_select():
    data = make(X)
    assert run(data, "select", axis="columns", names=["c2", "c0"]).column_names == ("c2", "c0")
    assert run(data, "select", axis="columns", names="c2; c0\nc2").column_names == ("c2", "c0")
    assert run(data, "select", axis="rows", names=["r0"], mode="drop").row_names == ("r1",)
    with pytest.raises(DataError, match="“x” has no column “c9”"):
        run(data, "select", axis="columns", names=["c9"])
    with pytest.raises(DataError, match="no name was given"):
        run(data, "select")


SPARSE = [[0, 2, 0, 0], [0, 0, 0, 5], [1, 0, 0, 7], [3, 0, 0, 0]]


@pytest.mark.parametrize(
    ("name", "options", "stays"),
    [
        ("log1p", {}, True),
        ("binarise", {"threshold": 1}, True),
        ("binarise", {"threshold": -1}, False),
        ("top_variance", {"axis": "columns", "n": 2}, True),
        ("top_variance", {"axis": "rows", "n": 2}, True),
        ("transpose", {}, True),
        ("select", {"axis": "columns", "names": ["c3", "c1"]}, True),
        ("drop_constant", {"axis": "columns"}, True),
        ("drop_missing", {"axis": "columns"}, True),
        ("centre", {"axis": "rows"}, False),
        ("standardise", {"axis": "all"}, False),
        ("normal_scores", {"axis": "all"}, False),
    ],
)
def test_sparse_gives_the_same_as_dense(name, options, stays):
    sparse, full = run(make(SPARSE, sparse=True), name, **options), run(make(SPARSE), name, **options)
    np.testing.assert_allclose(dense(sparse), dense(full))
    assert (sparse.row_names, sparse.column_names) == (full.row_names, full.column_names)
    assert sparse.is_sparse == stays


def test_huge_sparse_is_never_made_dense():
    wide = csr_matrix((20_000, 6_000))
    data = Dataset("wide", wide, default_names("row", 20_000), default_names("column", 6_000))
    with pytest.raises(DataError, match="would fill all 120\u202f000\u202f000 cells"):
        run(data, "centre", axis="all")


def test_steps_are_recorded_replayed_and_undone():
    data = make(np.exp(np.random.default_rng(0).normal(size=(6, 5))))
    done = apply_steps(
        data, [{"name": "log"}, Step("top_variance", {"n": 3}), Step("standardise", {"axis": "rows"})]
    )
    assert [str(step) for step in done.steps] == ["log", "3 rows that vary most", "rows standardised"]
    assert done.steps[1].options == {"axis": "rows", "n": 3, "text": "3 rows that vary most"}
    assert apply_steps(data, done.steps).digest() == done.digest()
    undone = apply_steps(data, done.steps[:-1])
    assert undone.shape == (3, 5)
    assert not data.steps
    assert not data.values.flags.writeable


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"name": "logg"}, "There is no transformation “logg”"),
        ({"name": "log", "options": {"base": 2}}, "Logarithm: there is no option “base”"),
        ({"name": "centre", "options": {"axis": "sideways"}}, "Centre: .*must be one of rows, columns, all"),
        ({"name": "top_variance", "options": {"n": 0}}, "Keep what varies most: .*at least 1"),
        ({"name": "drop_missing", "options": {"share": 2}}, "0 to 1"),
    ],
)
def test_steps_are_checked(step, message):
    with pytest.raises(DataError, match=message):
        apply_step(make(X), step)


def test_vectors_and_labels():
    vector = make([1.0, 2.0, NAN])
    np.testing.assert_array_equal(run(vector, "centre", axis="all").values, [-0.5, 0.5, NAN])
    assert run(vector, "drop_missing", axis="rows").row_names == ("r0", "r1")
    for name, options in (("centre", {"axis": "rows"}), ("transpose", {}), ("top_variance", {"n": 1})):
        with pytest.raises(DataError, match="is a vector"):
            run(vector, name, **options)
    labels = Dataset("y", np.array([0, 1, -1]), ("a", "b", "c"), kind="categorical", categories=("u", "v"))
    assert run(labels, "drop_missing", axis="rows", share=0).row_names == ("a", "b")
    with pytest.raises(DataError, match="holds labels, not numbers"):
        run(labels, "log")


def test_overflow_is_told():
    with pytest.raises(DataError, match="too large"):
        run(make([[1e308, -1e308], [1.7e308, -1.7e308]]), "centre", axis="columns")


def test_catalogue_makes_forms():
    for name, transform in TRANSFORMS.items():
        assert transform.name == name
        assert transform.title
        assert transform.doc.endswith(".")
        assert transform.check({}) == {option.name: option.default for option in transform.options}


# --- annotations --------------------------------------------------------------------------------------------


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "samples.csv"
    path.write_text("sample,class,age\nc2,B,30\nc0,A,NA\nzz,A,5\n")
    return path


def test_annotate(table):
    data, report = annotate_columns(make(X), table)
    assert list(data.column_table["class"]) == ["A", "", "B"]
    np.testing.assert_array_equal(data.column_table["age"], [NAN, NAN, 30])
    assert (report.axis, report.n_matched, report.n_names) == ("columns", 2, 3)
    assert report.text == "2 of 3 names match"
    assert report.titles == ("class", "age")
    assert data.source.options["annotations"][0]["file"] == "samples.csv"
    assert data.digest() == make(X).digest()


def test_annotate_rows(table):
    table.write_text("gene;about\nr1;second\nr0;first\n")
    data, report = annotate_columns(make(X), table)
    assert list(data.row_table["about"]) == ["first", "second"]
    assert report.axis == "rows"


def test_annotate_without_a_match(table):
    table.write_text("sample,class\nq1,B\nq0,A\n")
    with pytest.raises(DataError, match=r"no name occurs among the rows of “x”. First names: “q1” and “r0”"):
        annotate_columns(make(X), table)
    with pytest.raises(DataError, match="does not exist"):
        annotate_columns(make(X), table.with_name("none.csv"))


def test_annotations_as_an_import_option(table, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("gene,c0,c1,c2\na,1.5,2,3\nb,4,5,6\n")
    data = read_dataset(path, {"annotations": [{"file": "samples.csv", "axis": "columns"}]})
    assert list(data.column_table["class"]) == ["A", "", "B"]
