"""IDX files, MATLAB files and folders of images: values, shapes, labels, and what is wrong with bad ones."""

import gzip
import struct

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat
from scipy.sparse import csc_matrix

from plaidwork.core.data.importers import find_reader, read_dataset
from plaidwork.core.data.importers.image_folder import holds_images
from plaidwork.core.errors import DataError

RNG = np.random.default_rng(0)
DIGITS = RNG.integers(0, 256, (7, 4, 5)).astype(np.uint8)
LABELS = np.array([3, 5, 3, 3, 5, 5, 3], np.uint8)


def idx(array, kind=0x08, type_=">u1") -> bytes:
    head = bytes([0, 0, kind, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.astype(type_).tobytes()


def test_idx_images_take_the_labels_beside(tmp_path):
    path = tmp_path / "train-images-idx3-ubyte.gz"
    path.write_bytes(gzip.compress(idx(DIGITS)))
    assert read_dataset(path).row_table == {}
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(idx(LABELS))
    found = read_dataset(path)
    assert found.image_shape == (4, 5)
    assert np.array_equal(found.values, DIGITS.reshape(7, 20))
    assert found.row_table["label"].tolist() == [str(label) for label in LABELS]
    assert found.column_names[6] == "row 2, column 2"
    assert read_dataset(path, {"labels": False}).row_table == {}
    labels = read_dataset(tmp_path / "train-labels-idx1-ubyte")
    assert (labels.kind, labels.categories) == ("categorical", ("3", "5"))
    preview = find_reader(path).preview(path, {})
    assert (preview.n_rows, preview.n_columns) == (7, 20)
    assert preview.roles[:3] == ("name", "label", "value")
    assert preview.words == ("images", "pixels")
    assert preview.cells[1][:3] == ("image 2", "5", str(DIGITS[1, 0, 0]))


@pytest.mark.parametrize(
    ("kind", "type_"), [(0x09, ">i1"), (0x0B, ">i2"), (0x0C, ">i4"), (0x0D, ">f4"), (0x0E, ">f8")]
)
def test_idx_types(tmp_path, kind, type_):
    values = (DIGITS / 3 - 20).astype(type_)
    path = tmp_path / "x.idx"
    path.write_bytes(idx(values, kind, type_))
    assert np.array_equal(read_dataset(path).values, values.reshape(7, 20).astype(float))


def test_bad_idx(tmp_path):
    path = tmp_path / "images-idx3-ubyte"
    whole = idx(DIGITS)
    for content, said in (
        (whole[:-1], "announces 7 entries"),
        (whole + b"x", "holds more"),
        (whole[:9], "ends within its head"),
        (b"GIF89a", "no IDX file"),
        (b"", "no IDX file"),
        (bytes([0, 0, 8, 3]) + struct.pack(">3I", 2**31, 2**31, 2**31), "can be read"),
        (idx(np.full((1, 1, 1), np.inf), 0x0E, ">f8"), "infinity"),
    ):
        path.write_bytes(content)
        with pytest.raises(DataError, match=said):
            read_dataset(path)
    path.write_bytes(b"GIF89a")
    assert find_reader(path).preview(path, {}).issues[0].severity == "error"
    path.write_bytes(whole)
    (tmp_path / "labels-idx1-ubyte").write_bytes(idx(LABELS[:3]))
    with pytest.raises(DataError, match="has the shape 3; images-idx3-ubyte holds 7 images"):
        read_dataset(path)
    packed = tmp_path / "z-images-idx3-ubyte.gz"
    packed.write_bytes(gzip.compress(whole)[:-20])
    with pytest.raises(DataError, match=r"damaged|holds"):
        read_dataset(packed)


def test_matlab_matrix_images_and_labels(tmp_path):
    path = tmp_path / "digits.mat"
    savemat(path, {"X": np.moveaxis(DIGITS, 0, -1), "y": LABELS[:, None], "note": "text"})
    found = read_dataset(path)
    assert (found.name, found.image_shape) == ("digits", (4, 5))
    assert np.array_equal(found.values, DIGITS.reshape(7, 20))
    assert found.row_table["y"].tolist() == [str(label) for label in LABELS]
    assert read_dataset(path, {"images_along": "first"}).shape == (4, 35)
    savemat(path, {"A": RNG.normal(size=(6, 4)), "B": RNG.normal(size=(5, 3)), "S": csc_matrix(np.eye(6))})
    with pytest.raises(DataError, match=r"cannot be told: A \(6 × 4\), B \(5 × 3\)"):
        read_dataset(path)
    preview = find_reader(path).preview(path, {})
    assert [name for name, _ in preview.choices["array"]] == ["A", "B", "S"]
    assert find_reader(path).preview(path, {"array": "A"}).n_columns == 4
    assert read_dataset(path, {"array": "B", "transpose": True}).shape == (3, 5)
    assert read_dataset(path, {"array": "S"}).is_sparse


def test_bad_matlab(tmp_path):
    path = tmp_path / "x.mat"
    path.write_bytes(b"MATLAB 7.3 MAT-file" + b" " * 200)
    with pytest.raises(DataError, match=r"version 7.3"):
        read_dataset(path)
    path.write_bytes(b"nonsense" * 40)
    with pytest.raises(DataError, match="no MATLAB file"):
        read_dataset(path)
    savemat(path, {"s": {"a": 1}, "t": "text"})
    with pytest.raises(DataError, match=r"no matrix of numbers. It has: s \(struct\), t \(char\)"):
        read_dataset(path)
    savemat(path, {"Z": np.ones((3, 4)) * 1j, "X": np.ones((3, 3))})
    with pytest.raises(DataError, match="expected real numbers"):
        read_dataset(path, {"array": "Z"})
    with pytest.raises(DataError, match="no numbers named “Q”"):
        read_dataset(path, {"array": "Q"})
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"damaged|no numbers named|no MATLAB"):
        read_dataset(path, {"array": "X"})


def image_folder(path, kinds=("png", "bmp", "pgm")):
    for number, (image, label) in enumerate(zip(DIGITS, LABELS)):
        folder = path / f"digit {label}"
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(folder / f"i{number}.{kinds[number % len(kinds)]}")
    return path


def test_folder_of_images(tmp_path):
    path = image_folder(tmp_path / "digits")
    (path / "read me.txt").write_text("not an image")
    (path / ".hidden.png").write_bytes(b"x")
    assert holds_images(path)
    found = read_dataset(path)
    order = [int(name.split("/i")[1].split(".")[0]) for name in found.row_names]
    assert sorted(order) == list(range(7))
    assert np.array_equal(found.values, DIGITS.reshape(7, 20)[order])
    assert found.row_table["label"].tolist() == [f"digit {LABELS[i]}" for i in order]
    assert found.image_shape == (4, 5)
    assert read_dataset(path).source.sha256 == found.source.sha256
    assert read_dataset(path, {"size": [2, 3]}).image_shape == (2, 3)
    preview = find_reader(path).preview(path, {})
    assert (preview.n_rows, preview.n_columns) == (7, 20)
    colour = tmp_path / "colour"
    colour.mkdir()
    Image.new("RGB", (3, 2), (255, 0, 0)).save(colour / "a.png")
    Image.fromarray(np.full((2, 3), 40_000, np.uint16)).save(colour / "b.png")
    assert read_dataset(colour).values[:, 0].tolist() == [76.0, 40_000.0]
    assert read_dataset(colour).row_table == {}


def test_bad_folders(tmp_path):
    path = image_folder(tmp_path / "digits")
    Image.new("L", (6, 6)).save(path / "z.png")
    with pytest.raises(
        DataError, match=r"1 image of 8 has another size than 4 × 5. First: z.png \(6 × 6 pixels\)"
    ):
        read_dataset(path)
    with pytest.raises(DataError, match="size needs height and width"):
        read_dataset(path, {"size": [0, 5]})
    (path / "z.png").write_bytes(b"not an image")
    with pytest.raises(DataError, match=r"z.png is no image, or is damaged"):
        read_dataset(path)
    Image.new("L", (3000, 1)).save(path / "z.png")
    with pytest.raises(DataError, match="2048 a side"):
        read_dataset(path)
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "a.txt").write_text("text")
    assert not holds_images(empty)
    with pytest.raises(DataError, match="folder without images"):
        read_dataset(empty)
