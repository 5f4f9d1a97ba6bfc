"""Objects of Python as data: names are kept, joined by, and told when there are none; labels in every form."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse
from toys import Walk

from plaidwork.core import open_session
from plaidwork.core.api import Input, ModelSpec, Result
from plaidwork.core.cli import fitting as commands
from plaidwork.core.cli import main
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.fit_inputs import entries_of, load_inputs
from plaidwork.core.errors import DataError, DataWarning, SettingError
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.inference.plan import joined_inputs, make_plan
from plaidwork.core.job import FileInput, Job, job_text
from plaidwork.core.session import fitting as one_call
from plaidwork.core.study import Study
from tests.registries import registry_of

pd = pytest.importorskip("pandas")


class Taker(Walk):
    """Takes one input of each sort, and keeps nothing of them but the joined data."""

    spec = ModelSpec(
        id="toy.taker",
        version="1",
        title="Taker",
        summary="Takes.",
        inputs=(
            Input("X", dims=("sample", "column"), missing=True),
            Input("y", "labels", "categorical", dims=("sample",), missing=True, required=False),
            Input("age", "vector", dims=("sample",), missing=True, required=False),
            Input("words", "matrix", "count", dims=("sample", "word"), sparse=True, required=False),
            Input("grades", "matrix", "ordinal", dims=("sample", "rater"), missing=True, required=False),
            Input("views", dims=("sample", "f"), many=True, union=True, missing=True, required=False),
        ),
        dims=Walk.spec.dims,
        hyperparameters=Walk.spec.hyperparameters,
        variables=Walk.spec.variables,
        traces=Walk.spec.traces,
        schedule=Walk.spec.schedule,
    )


NAMES = tuple(f"s{i}" for i in range(6))
VALUES = np.random.default_rng(3).normal(size=(6, 3))


def frame(**more):
    return pd.DataFrame(VALUES, index=list(NAMES), columns=list("abc")).assign(**more)


def joined(inputs, **options):
    """The datasets as a model gets them. Raises a ``DataWarning`` for what would be said aloud."""
    given = load_inputs(Taker.spec, entries_of(Taker.spec, inputs, **options))
    assert not [one for one in given.messages if one.warn], given.messages
    return joined_inputs(Taker.spec, given.data)


def texts(dataset):
    return [dataset.categories[code] if code >= 0 else None for code in dataset.values]


@pytest.fixture
def fit(monkeypatch):
    monkeypatch.setattr(one_call, "registry", lambda: registry_of(Taker))
    return lambda inputs, **options: one_call.fit("toy.taker", inputs, executor="inline", **options)


# -- names and joining ------------------------------------------------------------------------------------
@pytest.mark.long
def test_frames_in_another_order_are_joined_by_name(fit):
    run = fit({"X": frame(), "views": {"mrna": frame(), "drugs": frame().iloc[::-1] * 2}})
    data = run.session.datasets
    assert set(data) == {"X", "mrna", "drugs"}
    assert data["drugs"].row_names == data["mrna"].row_names == NAMES
    np.testing.assert_array_equal(data["drugs"].values, 2 * data["mrna"].values)
    assert data["mrna"].column_names == ("a", "b", "c")


def test_a_list_of_frames_is_joined_by_name_too():
    first, second = joined({"X": frame(), "views": [frame(), frame().sample(frac=1, random_state=1)]})[
        "views"
    ]
    np.testing.assert_array_equal(first.values, second.values)


@pytest.mark.long
def test_without_names_but_equally_many_is_said(fit):
    with pytest.warns(
        DataWarning, match="“y” has no names: its 6 rows were taken to be those of “X”"
    ) as caught:
        run = fit({"X": frame(), "y": list("abcabc")})
    assert caught[0].filename == __file__
    assert [line.text for line in run.log if line.level == "warning"] == [str(caught[0].message)]
    assert run.session.datasets["y"].row_names == NAMES


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"y": list("abc")}, "3 rows of “y” have no names.* among the 6 of “X” .*“s0”"),
        (
            {"age": pd.Series(range(6), list(NAMES[::-1])), "y": list("abcabc")},
            "those of “X” and “age” differ",
        ),
    ],
)
def test_without_names_otherwise_is_refused(more, words):
    with pytest.raises(DataError, match=words):
        joined({"X": frame(), **more})


def test_a_plain_count_is_no_name_but_joins_tables_that_are_numbered_from_it():
    plain = pd.DataFrame(VALUES)
    found = joined({"X": plain, "y": pd.Series(list("xyz"), index=[5, 0, 2])})
    np.testing.assert_array_equal(found["X"][0].values, VALUES[[0, 2, 5]])
    assert texts(found["y"][0]) == ["y", "z", "x"]
    assert joined({"X": plain})["X"][0].row_names[0] == "row 1"


@pytest.mark.long
def test_what_has_no_partner_is_said(fit):
    with pytest.warns(DataWarning, match="X: 2 left out.*: s4, s5"):
        fit({"X": frame(), "age": pd.Series(range(4), index=list(NAMES[:4]))})


@pytest.mark.long
def test_the_command_line_says_it_too(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(commands, "registry", lambda: registry_of(Taker))
    frame().to_csv(tmp_path / "x.csv")
    frame()[["a"]].iloc[:4].to_csv(tmp_path / "age.csv")
    out = tmp_path / "s.plaidwork"
    files = [f"--input={name}={tmp_path / name}.csv" for name in ("X", "age")]
    files[0] = files[0].replace("X.csv", "x.csv")
    assert main(["fit", "toy.taker", *files, "--out", str(out), "--executor", "inline"]) == 0
    assert "x: 2 left out, for they have no name in common" in capsys.readouterr().err
    (run,) = open_session(out).runs.values()
    assert any("2 left out" in line.text for line in run.log)


def test_a_name_that_comes_twice_is_an_error():
    with pytest.raises(DataError, match="row name “s0” occurs more than once"):
        joined({"X": pd.DataFrame(VALUES[:2], index=["s0", "s0"])})
    twice = pd.DataFrame(VALUES[:2], index=["s0", "s0"])
    assert joined({"X": twice}, import_options={"rename_duplicates": True})["X"][0].row_names[1] == "s0 (2)"


# -- labels -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["b", "a", None, "b", "a", "b"], ["b", "a", None, "b", "a", "b"]),
        (np.array(["b", "a", "b", "b", "a", "b"]), ["b", "a", "b", "b", "a", "b"]),
        (np.array([3, 1, 3, 1, 2, 1]), ["3", "1", "3", "1", "2", "1"]),
        ([1234567, 1234568] * 3, ["1234567", "1234568"] * 3),
        ([True, False] * 3, ["1", "0"] * 3),
        (pd.Series([1, None, 2, 1, 2, 1], dtype="Int64"), ["1", None, "2", "1", "2", "1"]),
        (pd.DataFrame({"c": list("xyxyxy")}), list("xyxyxy")),
    ],
)
def test_labels_from_lists_arrays_and_columns(given, expected):
    assert texts(joined({"X": VALUES, "y": given})["y"][0]) == expected


def test_a_categorical_keeps_its_order():
    grades = pd.Series(
        pd.Categorical(["lo", "hi", "mid"] * 2, categories=["lo", "mid", "hi", "never"]), NAMES
    )
    found = joined({"X": frame(), "y": grades})["y"][0]
    assert (found.name, found.categories) == ("y", ("lo", "mid", "hi"))
    rated = pd.DataFrame({"r1": grades.astype(str), "r2": grades.to_numpy()}, index=list(NAMES))
    assert joined({"X": frame(), "grades": rated})["grades"][0].kind == "ordinal"


def test_none_leaves_an_input_out():
    assert set(joined({"X": VALUES, "y": None})) == {"X"}


def test_labels_of_a_numeric_dataset():
    data = Dataset("y", [1.0, 2, 1, 2, 1, np.nan], NAMES)
    assert texts(joined({"X": frame(), "y": data})["y"][0]) == ["1", "2", "1", "2", "1", None]


@pytest.mark.parametrize("address", ["kind", "X:row:kind"])
@pytest.mark.parametrize("values", [list("uvuvuv"), [1, 2, 1, 2, 1, 2]])
def test_a_column_of_the_frame_is_taken_out_of_the_data(address, values):
    found = joined({"X": frame(kind=values), "y": address})
    assert found["X"][0].column_names == ("a", "b", "c")
    assert texts(found["y"][0]) == [str(value) for value in values]


def test_a_title_with_a_value_and_a_title_that_is_nowhere():
    with_text = frame(kind=list("uvuvuv"))
    assert joined({"X": with_text, "age": "kind=v"})["age"][0].values.tolist() == [0, 1] * 3
    with pytest.raises(DataError, match=r"“sort” for y is no file, and no column.*“kind”"):
        joined({"X": with_text, "y": "sort"})
    with pytest.raises(DataError, match=r"labels\.csv does not exist"):
        joined({"X": with_text, "y": "labels.csv"})


def test_texts_where_numbers_are_needed():
    with pytest.raises(DataError, match=r"“age” needs numbers. age holds texts, the first is “old”"):
        joined({"X": VALUES, "age": ["old", "young"] * 3})


# -- kinds of objects -----------------------------------------------------------------------------------------
@pytest.mark.long
def test_columns_of_text_become_annotations_and_are_named(fit):
    with pytest.warns(DataWarning, match="X: read as labels, not used as numbers: site"):
        run = fit({"X": frame(site=list("xyzxyz"))})
    data = run.session.datasets["X"]
    assert list(data.row_table["site"]) == list("xyzxyz")
    assert data.column_names == ("a", "b", "c")


def test_a_word_among_numbers_names_its_cell():
    bad = frame(d=[1, 2, "n.d.", 4, 5, 6])
    with pytest.raises(DataError, match=r"row “s2”, column “d”: found “n.d.” among numbers"):
        joined({"X": bad})
    assert joined({"X": bad}, import_options={"X.skip": "d"})["X"][0].shape == (6, 3)


def test_missing_values_of_all_sorts():
    data = frame(d=pd.array([1, None, 3, 4, 5, 6], dtype="Int64"), e=[None, 2.5, 3, 4, 5, 6])
    assert joined({"X": data})["X"][0].n_missing == 2
    hidden = np.ma.masked_array(VALUES, mask=VALUES > 0)
    assert joined({"X": hidden})["X"][0].n_missing == (VALUES > 0).sum()


def test_kinds_are_those_of_files():
    counts = np.arange(12).reshape(6, 2)
    found = joined({"X": VALUES, "words": counts, "views": [counts % 2]})
    assert [found[name][0].kind for name in ("X", "words", "views")] == ["real", "count", "binary"]


@pytest.mark.parametrize("values", [VALUES, np.arange(18).reshape(6, 3), np.arange(18).reshape(6, 3) % 2])
def test_a_file_and_a_frame_are_the_same_data(values, tmp_path):
    data = pd.DataFrame(values, index=list(NAMES), columns=list("abc"))
    data.to_csv(tmp_path / "x.csv")
    assert joined({"X": data})["X"][0].digest() == joined({"X": tmp_path / "x.csv"})["X"][0].digest()


def test_a_sparse_matrix_stays_sparse_where_the_model_takes_one():
    words = scipy.sparse.coo_matrix(np.arange(12).reshape(6, 2))
    plan = make_plan(
        Taker(), load_inputs(Taker.spec, entries_of(Taker.spec, {"X": words, "words": words})).data
    )
    assert scipy.sparse.issparse(plan.data["words"].values)
    assert plan.inputs["words"][0].kind == "count"
    np.testing.assert_array_equal(plan.data["X"].values, words.toarray())
    with pytest.raises(
        DataError, match=r"whole numbers from 0 on. Found -1 in words, row “row 1”, column “column 2”"
    ):
        joined({"X": VALUES, "words": words - 2 * scipy.sparse.eye(6, 2, k=1)})


def annotated(names=NAMES, **more):
    obs = pd.DataFrame({"cell": pd.Categorical(["p", "q"] * 3), "ok": [True] * 6}, index=list(names))
    var = pd.DataFrame({"symbol": ["A", "B", "C"]}, index=["g1", "g2", "g3"])
    made = {"layers": {}, "raw": None, "X": VALUES, **more}
    return SimpleNamespace(obs=obs, var=var, obs_names=obs.index, var_names=var.index, **made)


def test_annotated_data_keep_obs_and_var():
    data = annotated(X=scipy.sparse.csr_matrix(VALUES), layers={"log": VALUES / 2})
    found = joined({"X": data, "y": "cell"})
    assert found["X"][0].row_names == NAMES
    assert list(found["X"][0].row_table["ok"]) == ["yes"] * 6
    assert list(found["X"][0].column_table["symbol"]) == ["A", "B", "C"]
    assert (found["X"][0].row_label, found["X"][0].column_label) == ("samples", "features")
    assert texts(found["y"][0]) == ["p", "q"] * 3
    half = joined({"X": data}, import_options={"X.layer": "log"})["X"][0]
    np.testing.assert_array_equal(half.values, VALUES / 2)
    with pytest.raises(DataError, match=r"no matrix “raw”. It has: X, log"):
        joined({"X": data}, import_options={"X.layer": "raw"})


def test_the_real_anndata_is_recognised():
    anndata = pytest.importorskip("anndata")
    like = annotated()
    found = joined({"X": anndata.AnnData(VALUES, obs=like.obs, var=like.var), "y": "X:row:cell"})
    assert found["X"][0].row_names == NAMES
    assert found["X"][0].column_names == ("g1", "g2", "g3")


def test_modalities_are_views_joined_by_name():
    shared = pd.DataFrame({"site": list("xyzxyz")}, index=list(NAMES))
    data = SimpleNamespace(
        mod={"rna": annotated(), "protein": annotated(NAMES[::-1], X=VALUES[::-1])}, obs=shared
    )
    rna, protein = joined({"X": frame(), "views": data})["views"]
    assert (rna.name, protein.name) == ("rna", "protein")
    np.testing.assert_array_equal(rna.values, protein.values)
    assert list(protein.row_table["site"]) == list("xyzxyz")
    assert len(joined({"X": frame(), "views": data}, import_options={"modality": "rna"})["views"]) == 1


def test_labelled_arrays_keep_coordinates():
    xarray = pytest.importorskip("xarray")
    made = xarray.DataArray(
        VALUES,
        dims=("sample", "gene"),
        coords={"sample": list(NAMES), "batch": ("sample", list("kkkmmm"))},
        name="expression",
        attrs={"units": "mV"},
    )
    data = joined({"X": made, "age": made[::-1, 0].drop_vars("batch")})
    assert (data["X"][0].name, data["X"][0].unit, data["X"][0].row_names) == ("expression", "mV", NAMES)
    assert list(data["X"][0].row_table["batch"]) == list("kkkmmm")
    np.testing.assert_array_equal(data["age"][0].values, VALUES[:, 0])
    several = xarray.Dataset({"one": made, "two": made * 2})
    assert [view.name for view in joined({"X": frame(), "views": several})["views"]] == ["one", "two"]


def test_a_frame_without_index_has_names_in_a_column():
    columns = {"gene": np.array(list(NAMES)), "a": VALUES[:, 0], "b": VALUES[:, 1]}

    class Polars:
        columns = ["gene", "a", "b"]
        dtypes = ["String", "Float64", "Float64"]

        def __len__(self):
            return 6

        def get_column(self, title):
            return columns[title]

    data = joined({"X": Polars()}, import_options={"names": "gene"})["X"][0]
    assert (data.row_names, data.column_names) == (NAMES, ("a", "b"))


def test_an_array_with_three_axes_is_images():
    data = joined({"X": np.arange(24.0).reshape(6, 2, 2)})["X"][0]
    assert (data.shape, data.image_shape) == ((6, 4), (2, 2))


@pytest.mark.parametrize("thing", [1, object(), [["a", "b"]], np.zeros((1, 1, 1, 1)), [1.0, 2.0], lambda: 1])
def test_what_is_no_data_is_refused_in_a_sentence(thing):
    with pytest.raises(DataError, match="X"):
        joined({"X": thing})


# -- values ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("value", "words"),
    [(np.inf, "expected a finite number, found infinity"), (-1e200, "-1e+200 is too large")],
)
@pytest.mark.parametrize("sort", ["array", "frame", "sparse", "file"])
def test_infinite_and_enormous_numbers_are_refused_with_their_place(value, words, sort, tmp_path):
    values = np.abs(VALUES)
    values[4, 1] = value
    data = pd.DataFrame(values, index=list(NAMES), columns=list("abc"))
    given = {"array": values, "frame": data, "sparse": scipy.sparse.csr_matrix(values)}.get(sort)
    place = "row “row 5”, column “column 2”" if sort in ("array", "sparse") else "row “s4”, column “b”"
    if sort == "file":
        data.to_csv(tmp_path / "big.csv")
        given = tmp_path / "big.csv"
        if np.isinf(value):
            words, place = "inf", "big.csv, row 6"  # the reader sees it first, and knows the line
    with pytest.raises(DataError) as caught:
        joined({"X": given})
    assert place in str(caught.value)
    assert words in str(caught.value)


def test_infinite_numbers_can_be_read_as_missing():
    values = VALUES.copy()
    values[0, 0] = np.inf
    assert joined({"X": values}, import_options={"infinite": "missing"})["X"][0].n_missing == 1


# -- options, files, jobs, studies ------------------------------------------------------------------------------
def test_options_and_steps_are_addressed_as_on_the_command_line(tmp_path):
    frame().to_csv(tmp_path / "x.csv", sep=";")
    inputs = {"X": tmp_path / "x.csv", "views": [frame()]}
    steps = ["X.centre:axis=columns", {"name": "top_variance", "options": {"n": 2, "axis": "columns"}}]
    found = joined(inputs, import_options={"X.delimiter": ";"}, transform=steps)
    assert [step.name for step in found["X"][0].steps] == ["centre", "top_variance"]
    assert [step.name for step in found["views"][0].steps] == ["top_variance"]
    labelled = joined({"X": frame(), "y": pd.Series(list("ab") * 3, list(NAMES))}, transform="centre")
    assert labelled["X"][0].steps
    assert not labelled["y"][0].steps
    with pytest.raises(SettingError, match=r"“y.log” is for the input y"):
        joined({"X": frame(kind=list("uvuvuv")), "y": "kind"}, transform="y.log")
    with pytest.raises(SettingError, match=r"“Z.log” is for the input Z, which is not given"):
        joined(inputs, transform="Z.log")
    with pytest.raises(SettingError, match="Nothing that is given is read with the option “delimiter”"):
        joined({"X": frame()}, import_options={"delimiter": ";"})


def test_files_of_one_input_are_joined_as_on_the_command_line(tmp_path):
    frame().to_csv(tmp_path / "mrna.csv")
    frame().iloc[::-1].to_csv(tmp_path / "drugs.csv")
    pd.DataFrame({"age": range(6), "site": list("xyzxyz")}, index=list(NAMES)).to_csv(
        tmp_path / "patients.csv"
    )
    files = [str(tmp_path / f"{name}.csv") for name in ("mrna", "drugs", "patients")]
    found = joined({"X": frame(), "views": files, "y": "views:row:site"})
    assert [view.name for view in found["views"]] == ["mrna", "drugs"]
    assert texts(found["y"][0]) == list("xyzxyz")


def test_a_job_takes_objects_but_is_not_written_with_them(tmp_path):
    job = Job(model="toy.taker", inputs={"X": frame(kind=list("uvuvuv")), "y": "kind"})
    assert job.load(Taker.spec)["y"][0].row_names == NAMES
    with pytest.raises(SettingError, match="The input X is no file"):
        job_text(job)
    frame().to_csv(tmp_path / "x.csv")
    assert Job(model="toy.taker", inputs={"X": (FileInput(tmp_path / "x.csv"),)}).files


def test_a_study_takes_objects():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        study = Study.grid(Taker(), {"X": frame(kind=list("uvuvuv")), "y": "kind"}, {"stride": [0.1, 1]})
    study.run(InlineExecutor)
    assert study.best.run.kept().n_draws
    assert isinstance(study.best.run.results["place"], Result)
    assert study.inputs["X"][0].row_names == NAMES
