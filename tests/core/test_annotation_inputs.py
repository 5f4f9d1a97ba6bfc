"""Annotation columns as vectors, labels and matrices; in jobs and on the command line."""

import numpy as np
import pytest

from plaidwork.core.cli import pairs
from plaidwork.core.contract.spec import Input, ModelSpec
from plaidwork.core.data.annotation_inputs import column_choices, column_dataset, parse_column, usual_choice
from plaidwork.core.data.dataset import Dataset, Source
from plaidwork.core.errors import DataError
from plaidwork.core.job import ColumnInput, FileInput, Job, job_text, read_job

VECTOR = Input("y", "vector", "real", ("row",), label="Outcome")
LABELS = Input("group", "labels", "categorical", ("row",))
MATRIX = Input("covariates", "matrix", "real", ("row", "covariate"), required=False)


def data(roles=()):
    return Dataset(
        "D: x",
        np.eye(4),
        tuple("abcd"),
        tuple("wxyz"),
        row_table={
            "score": np.array([1.5, np.nan, 3, 4]),
            "party": np.array(["left", "right", "", "left"]),
            "on": np.array([0, 1, 1, 0]),
            "body": np.array(["one", "two", "three", "four"], dtype=object),
        },
        column_table={"weight": np.arange(4.0)},
        source=Source("d.csv", options={"roles": {"body": "text", **dict(roles)}}),
    )


def column(text, item, **options):
    found = data(**options)
    ref = parse_column(text, ["D", "D: x"])
    assert str(ref) == text
    return column_dataset(found, ref, item)


def test_vector():
    made = column("D: x:row:score", VECTOR)
    assert made.row_names == tuple("abcd")
    assert np.array_equal(made.values, [1.5, np.nan, 3, 4], equal_nan=True)
    assert made.name == "D: x: score"
    assert column("D: x:column:weight", VECTOR).row_names == tuple("wxyz")
    level = column("D: x:row:party=left", VECTOR)
    assert np.array_equal(level.values, [1, 0, np.nan, 1], equal_nan=True)
    assert level.kind == "binary"


def test_labels_and_matrix():
    made = column("D: x:row:party", LABELS)
    assert made.categories == ("left", "right")
    assert made.values.tolist() == [0, 1, -1, 0]
    assert column("D: x:row:on", LABELS).categories == ("0", "1")
    matrix = column("D: x:row:on;party", MATRIX)
    assert matrix.column_names == ("on", "party=right")
    assert np.array_equal(matrix.values[:, 1], [0, 1, np.nan, 0], equal_nan=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [("none", "no column “none”. It has “score”, .*“w”"),
     ("party", "is text.*“left” and “right”.*party=right"),
     ("party=up", "no value “up”")],
)  # fmt: skip
def test_wrong_columns_are_told(text, message):
    with pytest.raises(DataError, match=message):
        column(f"D: x:row:{text}", VECTOR)


def test_what_a_form_offers():
    titles = [ref.titles for ref in column_choices(data(), VECTOR)]
    assert titles == ["score", "party=left", "party=right", "on"]
    assert [ref.titles for ref in column_choices(data(), LABELS)] == ["score", "party", "on"]
    assert column_choices(data(), MATRIX) == []
    assert usual_choice(data(), VECTOR) is None
    roles = {"party=right": "outcome", "on": "covariate", "party": "covariate"}
    assert str(usual_choice(data(roles), VECTOR)) == "D: x:row:party=right"
    assert usual_choice(data(roles), MATRIX).titles == "on;party"
    halves = Input("split", "labels", "categorical", ("row",), label="Split", required=False)
    assert usual_choice(data(), halves) is None
    named = data().with_(
        row_table={"class": np.array(["a", "b", "a", "a"]), "Split": np.array(["x", "x", "x", "x"])}
    )
    classes = Input("y", "labels", "categorical", ("row",), label="Labels")
    assert str(usual_choice(named, classes)) == "D: x:row:class"
    assert usual_choice(named, halves) is None  # says nothing
    named = named.with_(row_table={**named.row_table, "Split": np.array(["x", "y", "x", "x"])})
    assert str(usual_choice(named, halves)) == "D: x:row:Split"
    parts = named.with_(row_table={"set": np.array(["train", "test", "train", "train"])})
    assert str(usual_choice(parts, halves)) == "D: x:row:set"
    parts = named.with_(row_table={"set": np.array(["a", "b", "a", "a"])})
    assert usual_choice(parts, halves) is None, "nothing says which are for the test"
    arms = named.with_(row_table={"set": np.array(["control", "test", "control", "test"])})
    assert usual_choice(arms, halves) is None, "arms of an experiment are no split"
    binary = Input("split", "vector", "binary", ("row",))
    assert [ref.titles for ref in column_choices(data(), binary)] == ["party=left", "party=right", "on"]


def test_beside_a_column_that_says_which_are_for_a_test_the_only_other_classes_are_chosen():
    table = {"quality": np.tile([3.0, 4.0], 2), "set": np.array(["train", "test", "train", "train"])}
    made, classes = (
        data().with_(row_table=table, source=Source("d.csv")),
        Input("y", "labels", "categorical", ("row",), label="Labels"),
    )
    assert str(usual_choice(made, classes)) == "D: x:row:quality"
    for other in ({"user": np.array(["a", "b", "a", "b"])}, {"set": np.array(["a", "b", "a", "a"])}):
        assert usual_choice(made.with_(row_table=table | other), classes) is None


def titled_class(labels) -> Dataset:
    """A table of three measurements beside a column called class."""
    labels = np.asarray(labels)
    return Dataset(
        "t",
        np.zeros((len(labels), 3)),
        tuple(f"r{k}" for k in range(len(labels))),
        tuple("abc"),
        row_table={"class": labels},
        source=Source("t.csv"),
    )


def test_labels_of_too_many_levels_are_groups_and_no_outcome():
    """Letters are classes, 133 school classes of 17 pupils each are not, in words or in numbers; either may still be chosen."""
    classes = Input("y", "labels", "categorical", ("row",), label="Classes")
    letters = titled_class(np.tile(list("abcdefghijklmnopqrstuvwxyz"), 60))
    assert str(usual_choice(letters, classes)) == "t:row:class"
    schools = np.repeat(np.arange(133.0) * 100 + 180, 17)
    for values in (schools, [f"school {k:g}" for k in schools], np.roll(schools, 5)):
        assert usual_choice(titled_class(values), classes) is None
        assert usual_choice(titled_class(values), VECTOR) is None
        assert [ref.titles for ref in column_choices(titled_class(values), classes)] == ["class"]
    few = letters.row_table["class"].copy()
    few[100:] = ""
    assert str(usual_choice(titled_class(few), classes)) == "t:row:class", "most of them have no label yet"
    streets = [f"street {k}" for k in range(11)] + ["none", "none"]
    assert usual_choice(titled_class(streets), classes) is None, "hardly two have the same"


def test_numbers_called_class_that_stand_anywhere_are_amounts_to_explain():
    """As in old collections of tables, where what is to be explained is called so whatever it is."""
    amounts = np.random.default_rng(0).integers(6, 900, 209).astype(float)
    assert str(usual_choice(titled_class(amounts), VECTOR)) == "t:row:class"
    classes = Input("y", "labels", "categorical", ("row",), label="Classes")
    assert usual_choice(titled_class(amounts), classes) is None


def test_job_with_a_column(tmp_path):
    (tmp_path / "x.csv").write_text("name,y,a\nr,1,2\ns,3,4\n", encoding="utf-8")
    spec = ModelSpec(id="m.n", version="1", title="M", summary="", inputs=(Input("X"), VECTOR))
    job = Job(
        model="m.n",
        inputs={"y": (ColumnInput("X:row:y"),), "X": (FileInput(tmp_path / "x.csv", {"labels": ["y"]}),)},
    )
    path = tmp_path / "job.toml"
    path.write_text(job_text(job, tmp_path), encoding="utf-8")
    again = read_job(path)
    assert again.inputs["y"] == job.inputs["y"]
    assert again.load(spec)["y"][0].values.tolist() == [1, 3]
    assert again.files == {"X": [tmp_path / "x.csv"]}
    wrong = Job(model="m.n", inputs={"X": job.inputs["X"], "y": (ColumnInput("Z:row:y"),)})
    with pytest.raises(DataError, match="Inputs with data: X"):
        wrong.load(spec)


def test_typed_inputs(tmp_path):
    file = tmp_path / "X:row:y"
    file.write_text("")
    files, columns = pairs.input_files(["X=a.csv", "y=X:row:y", f"Z={file}", "w=Y:row:y"])
    assert columns == {"y": "X:row:y"}
    assert [str(path) for path in files["w"]] == ["Y:row:y"]
    assert set(files) == {"X", "Z", "w"}


SEVERAL = Input("y", "vector", "real", ("row",), several="output")


def test_several_columns_of_a_vector():
    """One column is a vector as before; several are a matrix of numbers with the samples in its rows, and texts are refused."""
    assert column("D: x:row:score", SEVERAL).shape == (4,)
    made = column("D: x:row:score;on;score", SEVERAL)
    assert (made.column_names, made.samples_in) == (("score", "on"), "rows")
    assert np.array_equal(made.values[:, 0], [1.5, np.nan, 3, 4], equal_nan=True)
    assert column("D: x:row:on;party=left", SEVERAL).values[:, 1].tolist()[:2] == [1, 0]
    with pytest.raises(DataError, match="is text"):
        column("D: x:row:score;party", SEVERAL)
    with pytest.raises(DataError, match="no column"):
        column("D: x:row:score;on", VECTOR)
