"""Runs as annotated data: what goes where, read back by anndata, by our own reader and by the letter of MuData."""

from dataclasses import replace

import h5py
import numpy as np
import pytest
from toys import Walk, matrix

from plaidwork.core.api import Result
from plaidwork.core.contract.spec import Input
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.importers import read_dataset
from plaidwork.core.errors import DataError, SessionError
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.session.exporting import export_annotated
from plaidwork.core.session.session import Session

RNG = np.random.default_rng(2)


@pytest.fixture(scope="module")
def anndata():
    """Loaded by the process that runs these tests alone: it takes seconds."""
    return pytest.importorskip("anndata")


class Turned(Walk):
    """Features by samples, with an outcome of the samples."""

    spec = replace(
        Walk.spec,
        id="toy.turned",
        inputs=(
            Input("X", dims=("gene", "patient"), samples="patient", missing=True),
            Input("y", "labels", "categorical", dims=("patient",), samples="patient", required=False),
        ),
        variables=(),
        views=(),
    )


class Views(Walk):
    """Several matrices of the same samples."""

    spec = replace(
        Walk.spec,
        id="toy.views",
        inputs=(
            Input(
                "views", dims=("patient", "feature"), samples="patient", missing=True, many=True, union=True
            ),
        ),
        variables=(),
        views=(),
    )


def dataset(name, rows, columns, **more):
    values = RNG.normal(size=(len(rows), len(columns)))
    values[0, 0] = np.nan
    return Dataset(name, values, tuple(rows), tuple(columns), **more)


def run_of(model, inputs, results):
    run = Session(name="S").add_run(make_plan(model, inputs, seed=7))
    run.status, run.results = "done", results
    return run


@pytest.fixture
def single():
    """A run on 4 genes by 6 patients."""
    patients, genes = [f"p{i}" for i in range(6)], ["g/1", "g2", "g3", "g4"]
    data = dataset(
        "rna",
        genes,
        patients,
        column_table={"age": np.arange(6.0)},
        row_table={"chr": np.array(list("xyxy"))},
    )
    y = Dataset(
        "class",
        np.array([0, 1, 0, 1, 1, 0]),
        tuple(patients),
        (),
        kind="categorical",
        categories=("ill", "well"),
    )
    return run_of(
        Turned(),
        {"X": data, "y": y},
        {
            "scores": Result(RNG.normal(size=(2, 6)), ("factor", "patient")),
            "risk": Result(RNG.random(6), ("patient",)),
            "loadings": Result(RNG.normal(size=(2, 4)), ("factor", "gene")),
            "chosen": Result(np.array([True, False, True, True]), ("gene",)),
            "fit": Result(RNG.normal(size=(4, 6)), ("gene", "patient")),
            "share": Result(np.array([0.7, 0.2]), ("factor",)),
            "band": Result(RNG.normal(size=(2, 4, 2)), ("factor", "gene", "side")),
            "factor": Result(np.array(["First", "Second"]), ("factor",)),
            "headline": "Two factors",
        },
    )


@pytest.mark.long
def test_one_matrix_is_read_by_anndata(anndata, single, tmp_path):
    path = export_annotated(single, tmp_path / "a.h5ad")
    found, results = anndata.read_h5ad(path), single.results
    assert list(found.obs_names) == [f"p{i}" for i in range(6)]
    assert list(found.var_names) == ["g/1", "g2", "g3", "g4"]
    np.testing.assert_array_equal(found.X, single.session.datasets["rna"].values.T)
    np.testing.assert_array_equal(found.obsm["X_toy_turned"], results["scores"].values.T)
    np.testing.assert_array_equal(found.varm["toy_turned_loadings"], results["loadings"].values.T)
    np.testing.assert_array_equal(found.layers["toy_turned_fit"], results["fit"].values.T)
    np.testing.assert_array_equal(found.obs["toy_turned_risk"], results["risk"].values)
    np.testing.assert_array_equal(found.var["toy_turned_chosen"], results["chosen"].values)
    assert found.obs["age"].tolist() == [0, 1, 2, 3, 4, 5]
    assert found.obs["class"].tolist() == ["ill", "well", "ill", "well", "well", "ill"]
    assert found.var["chr"].tolist() == list("xyxy")
    about = found.uns["plaidwork_run"]
    assert (about["model"], about["seed"], about["title"]) == ("toy.turned", 7, single.title)
    assert about["settings"] == {name: value for name, value in single.params.items() if value is not None}
    assert about["plaidwork_version"]
    assert list(about["names"]["factor"]) == ["First", "Second"]
    np.testing.assert_array_equal(about["results"]["share"], [0.7, 0.2])
    assert about["results"]["headline"] == "Two factors"


def test_it_is_read_again_as_data(single, tmp_path):
    data = read_dataset(export_annotated(single, tmp_path / "a.h5ad"))
    np.testing.assert_array_equal(data.values, single.session.datasets["rna"].values.T)
    np.testing.assert_array_equal(data.row_table["toy_turned_risk"], single.results["risk"].values)


@pytest.fixture
def several():
    """Two views; the second lacks a patient, has another, and shares a feature with the first; one feature was not used."""
    one = dataset("rna", ["p1", "p2", "p3"], ["a", "b"], row_table={"age": np.arange(3.0)})
    two = dataset("protein", ["p3", "p2", "p9"], ["a", "c", "d"])
    names = ["a (rna)", "b", "a (protein)", "d"]
    return run_of(
        Views(),
        {"views": [one, two]},
        {
            "scores": Result(np.arange(8.0).reshape(4, 2), ("patient", "factor")),
            "loadings": Result(np.arange(8.0).reshape(2, 4), ("factor", "variable")),
            "variable": Result(np.array(names), ("variable",)),
            "variable_view": Result(np.array(["rna", "rna", "protein", "protein"]), ("variable",)),
        },
    )


def test_several_matrices_keep_their_samples_and_features(anndata, several, tmp_path):
    path = export_annotated(several, tmp_path / "a.h5mu")
    assert path.read_bytes()[:24] == b"MuData (format-version=0"
    with h5py.File(path) as file:
        assert (file.attrs["encoding-type"], file.attrs["axis"]) == ("MuData", 0)
        assert list(file["mod"].attrs["mod-order"]) == ["rna", "protein"]
        modalities = {name: anndata.io.read_elem(file["mod"][name]) for name in ("rna", "protein")}
        top = {
            name: anndata.io.read_elem(file[name])
            for name in ("obs", "var", "obsm", "obsmap", "varmap", "uns")
        }
    samples = list(top["obs"].index)
    assert sorted(samples) == ["p1", "p2", "p3", "p9"]
    scores = dict(zip(samples, several.results["scores"].values.tolist()))
    np.testing.assert_array_equal(top["obsm"]["X_toy_views"], several.results["scores"].values)
    assert list(top["var"].index) == ["a", "b", "a", "c", "d"]
    for name, rows in (
        ("rna", ["p1", "p2", "p3"]),
        ("protein", ["p2", "p3", "p9"]),
    ):  # in the order of the fit
        assert list(modalities[name].obs_names) == rows
        assert modalities[name].obsm["X_toy_views"].tolist() == [scores[row] for row in rows]
        place = top["obsmap"][name].ravel()
        assert {samples[i]: rows[at - 1] for i, at in enumerate(place) if at} == {row: row for row in rows}
        np.testing.assert_array_equal(top["obsm"][name].ravel(), place > 0)
    assert modalities["rna"].varm["toy_views_loadings"].tolist() == [[0, 4], [1, 5]]
    np.testing.assert_array_equal(
        modalities["protein"].varm["toy_views_loadings"], [[2, 6], [np.nan, np.nan], [3, 7]]
    )
    assert top["varmap"]["protein"].ravel().tolist() == [0, 0, 1, 2, 3]
    assert top["uns"]["plaidwork_run"]["seed"] == 7
    again = read_dataset(path, {"modality": "protein"})
    fitted = several.session.datasets["protein"].values
    np.testing.assert_array_equal(again.values, fitted[~np.isnan(fitted).all(axis=1)])


def test_what_cannot_be_written_is_said(single, several, tmp_path):
    with pytest.raises(SessionError, match=r"fitted to 2 matrices, and \.h5ad holds one"):
        export_annotated(several, tmp_path / "a.h5ad")
    with pytest.raises(SessionError, match=r"suffix \.h5ad or \.h5mu"):
        export_annotated(several, tmp_path / "a.csv")
    with pytest.raises(SessionError, match="Could not write"):
        export_annotated(several, tmp_path / "none" / "a.h5mu")
    data = single.session.datasets["rna"]
    single.session.datasets["rna"] = data.with_(values=data.values + 1)
    with pytest.raises(DataError, match="have changed"):
        export_annotated(single, tmp_path / "a.h5ad")
    single.results = {}
    with pytest.raises(SessionError, match="no results"):
        export_annotated(single, tmp_path / "a.h5ad")
    assert list(tmp_path.iterdir()) == []


def test_rows_are_samples_where_nothing_says_otherwise(anndata, tmp_path):
    data = Dataset("X", matrix(6, 3), tuple("abcdef"), tuple("xyz"))
    run = run_of(Walk(), {"X": data}, {"mean": Result(np.arange(6.0), (Walk.spec.inputs[0].dims[0],))})
    found = anndata.read_h5ad(export_annotated(run, tmp_path / "a.h5ad"))
    assert found.shape == (6, 3)
    assert found.obs["toy_walk_mean"].tolist() == [0, 1, 2, 3, 4, 5]
    turned = data.with_(samples_in="columns")
    run = run_of(Walk(), {"X": turned}, run.results)
    found = anndata.read_h5ad(export_annotated(run, tmp_path / "b.h5ad"))
    assert found.shape == (3, 6)
    assert found.var["toy_walk_mean"].tolist() == [0, 1, 2, 3, 4, 5]
