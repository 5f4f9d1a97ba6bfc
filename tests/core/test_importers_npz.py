"""npz files with training and test halves, labels and image shapes."""

import numpy as np
import pytest
from scipy.io import savemat

from plaidwork.core.data.importers import find_reader, read_dataset
from plaidwork.core.errors import DataError

RNG = np.random.default_rng(0)


def halves(path, pixels=6, **more):
    """Seven training and five test images of 2 × 3 pixels with the labels ±1."""
    arrays = {
        "image_shape": np.array([2, 3]),
        "X_train": RNG.normal(size=(7, pixels)).astype(np.float32),
        "y_train": np.array([1, -1, 1, -1, 1, 1, -1], np.int8),
        "X_test": RNG.normal(size=(5, pixels)).astype(np.float32),
        "y_test": np.array([-1, 1, 1, -1, 1], np.int8),
    }
    np.savez(path, **{**arrays, **more})
    return {**arrays, **more}


def test_halves_become_one_matrix(tmp_path):
    path = tmp_path / "digits.npz"
    arrays = halves(path)
    data = read_dataset(path)
    assert (data.name, data.shape, data.image_shape) == ("digits", (12, 6), (2, 3))
    assert (data.row_label, data.row_names[0], data.column_names[-1]) == (
        "images",
        "image 1",
        "row 2, column 3",
    )
    np.testing.assert_array_equal(data.values, np.concatenate([arrays["X_train"], arrays["X_test"]]))
    assert list(data.row_table["split"]) == ["train"] * 7 + ["test"] * 5
    expected = np.concatenate([arrays["y_train"], arrays["y_test"]]).astype(str)
    np.testing.assert_array_equal(data.row_table["label"], expected)
    again = read_dataset(path, data.source.options)  # what a session keeps makes the same
    assert again.digest() == data.digest()


def test_preview_of_halves(tmp_path):
    path = tmp_path / "digits.npz"
    halves(path)
    shown = find_reader(path).preview(path, {})
    assert shown.options["array"] == "X_train + X_test"
    assert [value for value, _ in shown.choices["array"]][:2] == ["X_train + X_test", "X_train"]
    assert shown.header[:4] == ("", "label", "split", "row 1, column 1")
    assert shown.roles[:4] == ("name", "label", "label", "value")
    assert shown.cells[0][:3] == ("image 1", "1", "train")
    assert shown.issues[0].message == "7 train and 5 test rows were put together"
    assert (shown.n_rows, shown.n_columns, shown.words) == (12, 6, ("images", "pixels"))


def test_other_spellings_and_stacks(tmp_path):
    path = tmp_path / "mnist.npz"
    images = RNG.integers(0, 255, (9, 4, 5), dtype=np.uint8)
    np.savez(path, x_train=images[:6], y_train=np.arange(6) % 3, x_test=images[6:], y_test=np.arange(3))
    data = read_dataset(path)
    assert (data.shape, data.image_shape, set(data.row_table["label"])) == ((9, 20), (4, 5), {"0", "1", "2"})
    np.savez(path, train_images=images[:6], train_labels=np.arange(6.0), test_images=images[6:])
    data = read_dataset(path)
    assert list(data.row_table["label"]) == ["0", "1", "2", "3", "4", "5", "", "", ""]
    np.savez(path, X_train=images[:4], X_val=images[4:6], X_test=images[6:])
    data = read_dataset(path)
    assert list(data.row_table["split"]) == ["train"] * 4 + ["validation"] * 2 + ["test"] * 3
    assert "label" not in data.row_table


def test_labels_beside_one_matrix(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, X=RNG.normal(size=(4, 3)), y=np.array(["b", "a", "", "a"]), theta=np.arange(4))
    data = read_dataset(path)
    assert {title: list(column) for title, column in data.row_table.items()} == {"label": ["b", "a", "", "a"]}
    halves(path)
    half = read_dataset(path, {"array": "X_test"})
    assert (half.name, half.shape, half.image_shape) == ("X_test", (5, 6), (2, 3))
    assert list(half.row_table["label"]) == ["-1", "1", "1", "-1", "1"]


def test_parts_that_do_not_fit(tmp_path):
    path = tmp_path / "a.npz"
    halves(path, X_test=RNG.normal(size=(5, 8)))
    with pytest.raises(DataError, match=r"a\.npz: X_test has 8 columns, X_train has 6 columns"):
        read_dataset(path)
    halves(path, y_test=np.ones(4, np.int8))
    with pytest.raises(DataError, match=r"a\.npz: y_test has 4 entries; X_test has 5 rows"):
        read_dataset(path)
    assert read_dataset(path, {"array": "X_train"}).shape == (7, 6)
    halves(path, image_shape=np.array([2, 4]))
    with pytest.raises(
        DataError, match=r"image_shape says 2 × 4 = 8 pixels; X_train \+ X_test has 6 columns"
    ):
        read_dataset(path)
    (issue,) = find_reader(path).preview(path, {}).issues
    assert issue.severity == "error"
    assert issue.fix == ("Read the rows as plain numbers", "image_shape", "none")
    assert read_dataset(path, {"image_shape": "none"}).image_shape == ()
    halves(path, image_shape=np.array([2.5, 4]))
    with pytest.raises(DataError, match=r"image_shape has to hold height and width\. Found \[2\.5, 4\.0\]"):
        read_dataset(path)


def test_halves_of_a_matlab_file(tmp_path):
    path = tmp_path / "d.mat"
    x, y = RNG.normal(size=(12, 4)), np.arange(12) % 3
    savemat(path, {"X_train": x[:8], "y_train": y[:8], "X_test": x[8:], "y_test": y[8:]})
    data = read_dataset(path)
    assert (data.name, data.shape) == ("d", (12, 4))
    np.testing.assert_array_equal(data.values, x)
    assert list(data.row_table["label"]) == [str(code) for code in y]
    assert list(data.row_table["split"]) == ["train"] * 8 + ["test"] * 4
    assert read_dataset(path, data.source.options).digest() == data.digest()
    shown = find_reader(path).preview(path, {})
    assert shown.options["array"] == "X_train + X_test"
    assert (shown.header[:3], shown.cells[-1][1:3]) == (("", "label", "split"), ("2", "test"))
    assert shown.issues[0].message == "Training and test rows were put together"
    half = read_dataset(path, {"array": "X_test"})
    assert (half.shape, list(half.row_table)) == ((4, 4), ["y_test"])
    savemat(path, {"X_train": x[:8], "y_train": y[:7], "X_test": x[8:], "y_test": y[8:]})
    with pytest.raises(DataError, match=r"d\.mat: y_train has 7 entries; X_train has 8 rows"):
        read_dataset(path)
