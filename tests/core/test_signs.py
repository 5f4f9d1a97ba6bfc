"""Signs of eigenvectors do not depend on who computed them."""

import numpy as np

from plaidwork.core.numerics.signs import signed


def test_signs_are_of_the_largest_entry():
    vectors = np.linalg.qr(np.random.default_rng(1).normal(size=(6, 4)))[0]
    flipped = vectors * np.array([1, -1, -1, 1])
    np.testing.assert_array_equal(signed(vectors), signed(flipped))
    assert (signed(vectors)[np.abs(vectors).argmax(axis=0), np.arange(4)] > 0).all()


def test_ties_but_for_rounding_go_by_the_first():
    pair = np.array([[0.5, -0.5], [-0.5, 0.5 + 1e-16]])
    np.testing.assert_allclose(signed(pair), [[0.5, 0.5], [-0.5, -0.5]])
    assert (signed(np.zeros((3, 2))) == 0).all()
