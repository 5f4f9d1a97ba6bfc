"""Height and width of images travel with the data."""

import numpy as np
import pytest

from plaidwork.core.data.dataset import PIXEL, Dataset, Step
from plaidwork.core.data.importers import read_dataset
from plaidwork.core.data.transforms import apply_steps
from plaidwork.core.errors import DataError
from plaidwork.core.session.session import Session, open_session


def images(shape=(3, 4)) -> Dataset:
    m = 12
    values = np.arange(5.0 * m).reshape(5, m) % 7
    values[:, 2] = 1.0
    return Dataset("I", values, tuple("abcde"), tuple(f"p{j}" for j in range(m)), image_shape=shape)


def test_shape_has_to_fit():
    assert images().pixels.tolist() == list(range(12))
    assert images(()).pixels is None
    with pytest.raises(DataError, match="20 pixels, but there are 12 columns"):
        images((4, 5))
    with pytest.raises(DataError, match="height × width"):
        images((12,))
    with pytest.raises(DataError, match="from 1 to 12"):
        images().with_(column_table={PIXEL: np.arange(12)})


def test_pixels_left_out_keep_their_place(tmp_path):
    kept = apply_steps(images(), [Step("drop_constant", {"axis": "columns"})])
    assert kept.image_shape == (3, 4)
    assert kept.pixels.tolist() == [j for j in range(12) if j != 2]
    again = kept.take(1, np.array([5, 0]), Step("subset"))
    assert again.pixels.tolist() == [6, 0]
    assert images().take(0, np.array([1]), Step("subset")).image_shape == (3, 4)
    session = Session()
    session.add_dataset(kept)
    session.save(tmp_path / "s.plaidwork")
    stored = open_session(tmp_path / "s.plaidwork").datasets["I"]
    assert stored.image_shape == (3, 4)
    assert stored.pixels.tolist() == kept.pixels.tolist()
    assert stored.digest() == images().with_(image_shape=()).take(1, kept.pixels, Step("x")).digest()


def test_turned_images_are_none():
    turned = apply_steps(images(), [Step("transpose")])
    assert turned.image_shape == ()


def test_numpy_files_give_the_shape(tmp_path):
    np.save(tmp_path / "z.npy", np.arange(24.0).reshape(2, 3, 4))
    found = read_dataset(tmp_path / "z.npy")
    assert (found.image_shape, found.row_label, found.column_label) == ((3, 4), "images", "pixels")
    assert read_dataset(tmp_path / "z.npy", {"transpose": True}).image_shape == ()
    np.savez(tmp_path / "d.npz", X=np.arange(24.0).reshape(2, 12), image_shape=np.array([3, 4]))
    assert read_dataset(tmp_path / "d.npz").image_shape == (3, 4)
    np.savez(tmp_path / "w.npz", X=np.arange(24.0).reshape(2, 12), image_shape=np.array([3, 5]))
    with pytest.raises(DataError, match=r"w.npz: image_shape says 3 × 5 = 15 pixels; X has 12 columns"):
        read_dataset(tmp_path / "w.npz")
    assert read_dataset(tmp_path / "w.npz", {"image_shape": "none"}).image_shape == ()
