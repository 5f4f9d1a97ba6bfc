"""Files that are damaged in ways that libraries do not expect, and links that lead elsewhere: told in words."""

import os
import zipfile

import numpy as np
import pytest
from scipy import io, sparse

from plaidwork.core.data.importers.reading import find_reader, read_dataset
from plaidwork.core.errors import DataError


def _refused(path, words, options=None):
    with pytest.raises(DataError, match=words):
        read_dataset(path, options)
    return path


def test_zero_bytes_among_entries_are_told_before_they_end_the_program(tmp_path):
    path = tmp_path / "a.mtx"
    path.write_bytes(b"%%MatrixMarket matrix coordinate integer general\n%\n2 2 2\n1 1 1\n2 2\0 1\n")
    _refused(path, "line 5: expected numbers, found the byte 0x00")
    assert find_reader(path).preview(path, {}).issues[0].severity == "error"


def test_a_type_that_matlab_does_not_have_is_told_before_it_ends_the_program(tmp_path):
    path = tmp_path / "a.mat"
    io.savemat(path, {"X": np.arange(6.0).reshape(2, 3)})
    assert read_dataset(path).shape == (2, 3)
    data = bytearray(path.read_bytes())
    at = data.index(bytes([9, 0, 0, 0, 48, 0, 0, 0]))
    data[at] = 8
    path.write_bytes(data)
    _refused(path, "damaged: it has an element of type 8")


@pytest.mark.parametrize("compressed", [False, True])
def test_indices_beyond_a_sparse_variable_are_told(tmp_path, compressed):
    path = tmp_path / "a.mat"
    matrix = sparse.csc_matrix(np.eye(3))
    matrix.indices = np.array([0, 1, 70_000], np.int32)
    io.savemat(path, {"X": matrix}, do_compression=compressed)
    _refused(path, "damaged")


def test_axes_of_length_0_hide_nothing(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.zeros((0, 5)))
    data = path.read_bytes().replace(b"(0, 5), }" + b" " * 11, b"(0, 3" + b"0" * 9 + b"), }  ")
    path.write_bytes(data)
    _refused(path, "would grow")


def test_letters_that_there_are_not(tmp_path):
    path = tmp_path / "a.npz"
    names = np.array(["a", "b"]).view("u4")
    names[0] = 0x7FFFFFFF
    np.savez(path, X=np.eye(2), row_names=names.view("<U1"))
    _refused(path, "letters that there are not")


@pytest.mark.skipif(os.name == "nt", reason="links")
def test_links_that_lead_out_of_a_folder_of_texts_are_left_out(tmp_path):
    folder, secret = tmp_path / "texts", tmp_path / "secret.txt"
    folder.mkdir()
    secret.write_text("a secret of somebody else")
    for name in "ab":
        (folder / f"{name}.txt").write_text("the dog went home")
    os.symlink(secret, folder / "c.txt")
    os.symlink(folder / "a.txt", folder / "d.txt")
    found = read_dataset(folder, {"text_source": "folder"})
    assert found.row_names == ("a", "b", "d")
    assert "secret" not in found.column_names
    assert "1 file is a link to a place outside of the folder, and is left out" in found.notes


@pytest.mark.skipif(os.name == "nt", reason="links")
def test_links_that_lead_out_of_a_folder_of_images_are_left_out(tmp_path):
    from PIL import Image

    folder = tmp_path / "pictures"
    folder.mkdir()
    for place in (folder / "a.png", tmp_path / "secret.png"):
        Image.new("L", (4, 4)).save(place)
    os.symlink(tmp_path / "secret.png", folder / "b.png")
    assert read_dataset(folder).row_names == ("a.png",)


@pytest.mark.parametrize("place", ["E199999999999", "ZZZZ1", "e199999999999", "XFD1048577"])
def test_a_cell_beyond_the_end_of_a_sheet_is_told_before_it_ends_the_program(tmp_path, place):
    pytest.importorskip("python_calamine")
    openpyxl = pytest.importorskip("openpyxl")
    path, other = tmp_path / "a.xlsx", tmp_path / "b.xlsx"
    book = openpyxl.Workbook()
    for row in (["name", "x", "y"], ["a", 1, 2], ["b", 3, 4]):
        book.active.append(row)
    book.save(path)
    assert read_dataset(path).shape == (2, 2)
    with zipfile.ZipFile(path) as sound, zipfile.ZipFile(other, "w") as made:
        for name in sound.namelist():
            made.writestr(name, sound.read(name).replace(b'r="C3"', f'r="{place}"'.encode()))
    _refused(other, "a cell in row")
