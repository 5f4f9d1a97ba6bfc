"""The overview of several views: who has what, and guesses of what the values are."""

import numpy as np
import pytest

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.overview import guess, overview, with_samples_in_rows


def made(values, names=(), name="v", **more):
    values = np.asarray(values, dtype=float)
    rows = tuple(names or (f"s{i}" for i in range(len(values))))
    return Dataset(name, values, rows, tuple(f"f{j}" for j in range(values.shape[1])), **more)


def test_who_has_what():
    nan = np.nan
    one = made([[1, 2], [nan, 3], [nan, nan]], ("a", "b", "c"), "one")
    two = made([[5.5], [6.5], [7.5]], ("c", "d", "a"), "two")
    found = overview([one, two])
    assert found.samples == ("a", "b", "c", "d")
    np.testing.assert_allclose(found.present, [[1, 0.5, 0, 0], [1, 0, 1, 1]])
    assert (found.n_complete, found.n_alone) == (1, 3)
    first = found.views[0]
    assert (first.name, first.n_samples, first.n_features) == ("one", 2, 2)
    assert first.missing == 0.25
    assert (first.n_constant, first.n_empty) == (1, 0)


def test_samples_with_the_same_views_stand_together():
    views = [made(np.ones((3, 1)), ("a", "b", "c"), "x"), made(np.ones((2, 1)), ("d", "b"), "y")]
    found = overview(views)
    assert found.samples == ("b", "a", "c", "d")
    assert (found.present > 0).tolist() == [[True, True, True, False], [True, False, False, True]]


def test_views_of_opposite_orientation_are_joined_by_their_samples():
    drugs = made(np.ones((3, 2)), ("a", "b", "c"), "drugs")
    genes = Dataset("genes", np.ones((4, 2)), tuple("wxyz"), ("b", "d"), samples_in="columns")
    found = overview(with_samples_in_rows([genes, drugs]))
    assert set(found.samples) == set("abcd")
    assert [(view.name, view.n_samples, view.n_features) for view in found.views] == [
        ("genes", 2, 4),
        ("drugs", 3, 2),
    ]


def test_constant_and_empty_features():
    values = np.full((4, 3), np.nan)
    values[:, 0], values[:2, 1] = [1, 2, 3, 4], 7
    view = overview([made(values)]).views[0]
    assert (view.n_constant, view.n_empty) == (1, 1)


RNG = np.random.default_rng(4)


@pytest.mark.parametrize(
    ("values", "kind", "doubt"),
    [
        (RNG.normal(size=(50, 8)), "real", ""),
        (RNG.random((50, 8)) < 0.4, "binary", ""),
        (RNG.random((30, 8)) < 0.02, "binary", "counts so small"),
        (RNG.poisson(4, (50, 8)), "count", ""),
        (RNG.integers(0, 3, (50, 8)), "count", "classes and ratings"),
        (RNG.integers(1, 6, (50, 8)), "count", "classes and ratings"),
        (RNG.integers(0, 60000, (50, 8)), "count", "rounded intensities"),
        (RNG.integers(40, 90, (50, 8)), "count", "none below 40"),
        (1 + (RNG.random((50, 8)) < 0.4), "count", "two different values only, 1 and 2"),
        (-1 + 2 * (RNG.random((50, 8)) < 0.4), "real", "two different values only, −1 and 1"),
        (RNG.integers(-2, 3, (50, 8)), "real", "from −2 on"),
        (np.full((5, 2), np.nan), "real", "no values"),
    ],
)
def test_guesses(values, kind, doubt):
    found, why = guess(made(values))
    assert found == kind
    assert (doubt in why) if doubt else why == ""


def test_zeros_of_sparse_counts_are_values():
    from scipy import sparse

    values = sparse.csr_matrix(RNG.poisson(0.5, (40, 9)).astype(float))
    data = Dataset("v", values, tuple(map(str, range(40))), tuple("abcdefghi"))
    assert guess(data) == ("count", "") or "small counts" in guess(data)[1]
    assert overview([data]).views[0].missing == 0
