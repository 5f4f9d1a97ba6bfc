"""The bundled examples load, say where they are from, and have a picture."""

import json
import struct

import numpy as np
import pytest
from sparing import some

from plaidwork.core.data.joining import align
from plaidwork.core.data.samples import bundled_samples, load_sample
from plaidwork.core.errors import DataError

SAMPLES = bundled_samples()


def test_order_of_the_welcome_page():
    assert len({sample.id for sample in SAMPLES}) == len(SAMPLES) >= 3
    assert [sample.order for sample in SAMPLES] == sorted(sample.order for sample in SAMPLES)
    assert all(sample.id == sample.folder.name for sample in SAMPLES)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.id)
def test_every_example(sample):
    assert sample.title
    assert sample.line
    assert sample.model
    assert sample.licence
    assert sample.source
    assert "licen" in (sample.folder / "README.md").read_text(encoding="utf-8").lower()
    content = sample.picture_path.read_bytes()
    assert len(content) <= 60_000
    assert struct.unpack(">II", content[16:24]) == (600, 340)
    for name, entries in sample.load().items():
        for data in entries if isinstance(entries, list) else [entries]:
            if data.is_sparse:
                assert data.values.nnz, name
            else:
                known = ~np.isnan(data.values)
                assert known.any(axis=0).all(), name
                assert known.mean() > 0.5 or data.values.ndim == 1, name  # labels may be few
            assert data.source is None or data.source.sha256


@pytest.mark.parametrize(("name", "blocks"), [("three-blocks", 3), ("four-blocks", 4)])
def test_truth_fits_the_matrix(name, blocks):
    data = next(sample for sample in SAMPLES if sample.id == name).load()
    assert data["X"].shape == (100, 200)
    assert data["true_rows"].shape == (100, blocks)
    assert data["true_columns"].shape == (200, blocks)
    assert data["true_rows"].kind == data["true_columns"].kind == "binary"
    for axis, truth in ((0, "true_rows"), (1, "true_columns")):
        index, report = align({"X": (data["X"], axis), truth: (data[truth], 0)})
        assert index == {"X": None, truth: None}
        assert report.by_position
    fitted = data["true_rows"].values @ np.diag(np.ones(blocks)) @ data["true_columns"].values.T
    assert np.corrcoef(fitted.ravel(), data["X"].values.ravel())[0, 1] > 0.6


def test_tumour_genes():
    data = next(sample for sample in SAMPLES if sample.id == "tumour-genes").load()["X"]
    assert data.described == "160 genes × 83 samples"
    assert [str(step) for step in data.steps] == ["log", "160 genes that vary most", "rows standardised"]
    assert sorted(set(data.column_table["class"])) == ["BL", "EWS", "NB", "RMS"]
    assert "description" in data.row_table
    assert abs(data.values.mean(axis=1)).max() < 1e-12


def test_leukaemia():
    """Patients with CLL only; what is known of them and of the drugs comes along."""
    drugs, mutations = next(sample for sample in SAMPLES if sample.id == "leukaemia").load()["views"]
    assert (drugs.shape, mutations.shape) == ((184, 320), (184, 63))
    assert (drugs.name, drugs.row_label, mutations.name) == ("drugs", "patients", "mutations")
    assert drugs.row_names == mutations.row_names
    assert (drugs.kind, mutations.kind) == ("real", "binary")
    assert np.nansum(mutations.values, axis=0).min() >= 3
    for data in (drugs, mutations):
        assert {"IGHV", "sex", "age", "trisomy12"} <= set(data.row_table)
        assert sorted(set(data.row_table["IGHV"])) == ["", "M", "U"]
    assert {"drug", "pathway"} <= set(drugs.column_table)


def test_digits_are_images_with_a_test_half():
    data = next(sample for sample in SAMPLES if sample.id == "digits-3-5").load()
    assert data["X"].shape == (365, 64)
    assert data["X"].image_shape == (8, 8)
    assert (data["X"].values.min(), data["X"].values.max()) == (0, 16)
    assert data["y"].categories == ("five", "three")
    assert np.bincount(data["y"].values).tolist() == [182, 183]
    test = data["split"].values == data["split"].categories.index("test")
    assert test.sum() == 125


def test_tumour_classes_share_the_files_of_another_example():
    data = next(sample for sample in SAMPLES if sample.id == "tumour-classes").load()
    assert data["X"].shape == (83, 400)
    assert data["y"].categories == ("BL", "EWS", "NB", "RMS")
    assert (data["split"].values == data["split"].categories.index("test")).sum() == 20


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "most"), some([("digits-3-5", 0.15), ("tumour-classes", 0.3)], [("digits-3-5", 0.15)])
)
def test_examples_with_a_test_half_are_predicted(name, most):
    from plaidwork.core.session.fitting import fit

    sample = next(sample for sample in SAMPLES if sample.id == name)
    run = fit(sample.model, sample.load(), sample.params, seed=1, chains=1, warmup=150, draws=100, thin=1)
    errors = run.results["metrics"].columns
    assert errors["Part"][-1] == "Test"
    assert errors["Errors"][-1] <= most


@pytest.mark.slow
def test_one_factor_of_the_leukaemia_example_separates_ighv():
    from group_factor_tools import auc

    from plaidwork.core.session.fitting import fit

    sample = next(sample for sample in SAMPLES if sample.id == "leukaemia")
    data = sample.load()
    run = fit(sample.model, data, sample.params, seed=sample.seed, **sample.schedule)
    scores, about = run.results["scores"].values, data["views"][0].row_table
    for title, one, least in (("IGHV", "M", 0.87), ("trisomy12", "yes", 0.80)):
        known = about[title] != ""
        areas = [auc(score[known], (about[title] == one)[known]) for score in scores.T]
        assert max(areas) >= least, title


def write(folder, **changes):
    record = {
        "id": "e",
        "title": "E",
        "line": "l",
        "model": "m",
        "size": "s",
        "files": {"X": {"file": "x.csv"}},
    }
    (folder / "example.json").write_text(json.dumps({**record, **changes}))
    return folder


def test_own_examples_may_have_lists(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1.5,2\n3,4\n")
    entry = {"file": "x.csv", "steps": [{"name": "transpose"}], "fields": {"name": "turned"}}
    data = load_sample(write(tmp_path, files={"views": [entry, {"file": "x.csv"}]})).load()["views"]
    assert [item.name for item in data] == ["turned", "x"]
    assert data[0].row_names == ("a", "b")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"colour": "red"}, "colour"),
        ({"files": {"X": {"path": "x.csv"}}}, "input X: unknown: path"),
        ({"files": {"X": {"options": {}}}}, "input X: no file is named"),
        ({"files": {"X": {"file": "x.csv", "fields": {"values": 1}}}}, "unknown: values"),
        ({"files": ["x.csv"]}, "cannot be read"),
    ],
)
def test_wrong_examples(tmp_path, changes, message):
    with pytest.raises(DataError, match=message):
        load_sample(write(tmp_path, **changes))


def test_folder_without_example(tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        load_sample(tmp_path)
