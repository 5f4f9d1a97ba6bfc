"""Joins: by name in the order of the first, by position without names, and the report."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.joining import align, default_names, has_default_names
from plaidwork.core.errors import DataError


def rows(*names):
    return Dataset("d", np.zeros(len(names)), names)


def columns(*names):
    return Dataset("d", np.zeros((1, len(names))), ("only",), names)


def test_default_names():
    assert default_names("row", 2) == ("row 1", "row 2")
    assert has_default_names(default_names("column", 12))
    assert not has_default_names(("row 2", "row 1"))
    assert not has_default_names(("row 1", "row 3"))
    assert not has_default_names(("a",))
    assert not has_default_names(())


def test_join_by_name():
    index, report = align({"x": (rows("a", "b", "c", "d"), 0), "y": (columns("d", "z", "b"), 1)})
    assert index["x"].tolist() == [1, 3]
    assert index["y"].tolist() == [2, 0]
    assert report.n_matched == 2
    assert report.left_out == {"x": ("a", "c"), "y": ("z",)}
    assert not report.complete
    assert report.text == "2 names match; x leaves out 2 (a, c); y leaves out 1 (z)."


def test_nothing_to_do():
    index, report = align({"x": (rows("a", "b"), 0), "y": (rows("a", "b"), 0)})
    assert index == {"x": None, "y": None}
    assert report.complete
    assert report.text == "2 of 2 names match."
    assert align({"x": (rows("a"), 0)})[0] == {"x": None}
    assert align({})[1].n_matched == 0


def test_only_the_order_differs():
    index, report = align({"x": (rows("a", "b"), 0), "y": (rows("b", "a"), 0)})
    assert index["x"] is None
    assert index["y"].tolist() == [1, 0]
    assert report.complete


def test_join_by_position():
    x = Dataset("x", np.zeros((2, 3)), default_names("row", 2), default_names("column", 3))
    y = Dataset("y", np.zeros(3), default_names("row", 3))
    index, report = align({"x": (x, 1), "y": (y, 0)})
    assert index == {"x": None, "y": None}
    assert report.by_position
    assert report.n_matched == 3
    with pytest.raises(DataError, match=r"must have equal length. Found 2 in “x”, 3 in “y”"):
        align({"x": (x, 0), "y": (y, 0)})


def test_no_name_in_common():
    with pytest.raises(DataError, match=r"No name occurs in “x”, “y” and “z”. First names: x: “a”"):
        align({"x": (rows("a", "b"), 0), "y": (rows("c"), 0), "z": (rows("a"), 0)})
    with pytest.raises(DataError, match="“y” was imported without names"):
        align({"x": (rows("a"), 0), "y": (rows("row 1"), 0)})


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=1), min_size=2, max_size=4))
def test_joined_names_are_equal(lists):
    data = {str(i): (rows(*names), 0) for i, names in enumerate(lists)}
    common = set.intersection(*map(set, lists))
    if not common:
        with pytest.raises(DataError):
            align(data)
        return
    index, report = align(data)
    joined = [
        tuple(names) if index[str(i)] is None else tuple(names[j] for j in index[str(i)])
        for i, names in enumerate(lists)
    ]
    assert set(joined) == {tuple(name for name in lists[0] if name in common)}
    assert report.n_matched == len(common)
    for i, names in enumerate(lists):
        assert set(report.left_out[str(i)]) == set(names) - common
