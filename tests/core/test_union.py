"""Inputs that take many matrices and keep the items that only some of them have."""

import numpy as np
import pytest

from plaidwork.core.contract.hyperparameter import DeclarationError
from plaidwork.core.contract.spec import Input
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.joining import unite
from plaidwork.core.errors import DataError


def data(name, rows, **more):
    values = np.arange(2.0 * len(rows)).reshape(-1, 2)
    return Dataset(name, values, tuple(rows), ("u", "v"), **more)


def test_rows_of_all_are_kept_and_absent_ones_are_missing():
    one, two = unite([data("a", "pqr"), data("b", "rs")])
    assert one.row_names == two.row_names == ("p", "q", "r", "s")
    assert np.isnan(one.values[3]).all()
    assert np.isnan(two.values[:2]).all()
    assert two.values[2].tolist() == [0.0, 1.0]
    assert "2 rows without values added" in str(two.steps[-1])


def test_annotations_have_gaps():
    table = {"kind": np.array(["x", "y"]), "age": np.array([1, 2])}
    two = unite([data("a", "pq"), data("b", "qr", row_table=table)])[1]
    assert two.row_table["kind"].tolist() == ["", "x", "y"]
    assert np.isnan(two.row_table["age"][0])


def test_equal_rows_stay_as_they_are():
    given = [data("a", "pq"), data("b", "pq")]
    assert unite(given) == given


def test_no_row_in_common():
    with pytest.raises(DataError, match=r"“b \(2\)” has no row name in common"):
        unite([data("a", "pq"), data("b", "rs"), data("c", "pq")])


def test_rows_without_names_must_be_equal_in_number():
    one, two = (data(name, [f"row {i + 1}" for i in range(n)]) for name, n in (("a", 2), ("b", 3)))
    with pytest.raises(DataError, match="equal in number"):
        unite([one, two])


def test_union_goes_with_many_and_missing():
    with pytest.raises(DeclarationError, match="union goes with many and missing"):
        Input("X", union=True)
