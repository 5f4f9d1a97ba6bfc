"""Whether a few columns have as good as all variance, whatever single outliers add (core/data/column_scales.py)."""

import numpy as np
import pytest

from plaidwork.core.data.column_scales import unlike_scales, usual_variances

RNG = np.random.default_rng(2)
LIKE = RNG.normal(size=(178, 13))
UNLIKE = LIKE * np.r_[np.ones(12), 300.0]


def outlier(values, column, size):
    """One value far beyond the others, as a lost decimal point makes it."""
    values = values.copy()
    values[0, column] = size
    return values


@pytest.mark.parametrize("size", [0.0, 30.0, 1e3, 1e9])
def test_one_outlier_does_not_decide(size):
    """Neither that like columns are unlike, nor that unlike ones are like: plain variances say both from some size on."""
    assert not unlike_scales(usual_variances(outlier(LIKE, 3, size)))
    two = outlier(outlier(UNLIKE, 3, size), 4, size)
    assert unlike_scales(usual_variances(two))
    if size == 1e3:
        assert unlike_scales(outlier(LIKE, 3, size).var(axis=0))
    if size > 1e3:
        assert unlike_scales(usual_variances(outlier(UNLIKE, 3, size)))


def test_they_are_the_variances_of_what_is_usual():
    """Within a tenth for normal values; columns of mostly one value keep theirs, of which a median deviation sees nothing."""
    np.testing.assert_allclose(usual_variances(LIKE), LIKE.var(axis=0), rtol=0.1)
    rare = (RNG.random((400, 3)) < 0.2).astype(float)
    np.testing.assert_allclose(usual_variances(rare), rare.var(axis=0))
    gaps = np.where(RNG.random(LIKE.shape) < 0.3, np.nan, LIKE)
    found = usual_variances(gaps)
    np.testing.assert_array_equal(usual_variances(np.nan_to_num(gaps), ~np.isnan(gaps)), found)
    np.testing.assert_allclose(found[0], usual_variances(gaps[~np.isnan(gaps[:, 0]), :1])[0])


def test_the_smallest_tables():
    assert usual_variances(np.zeros((0, 2))).tolist() == [0.0, 0.0]
    assert usual_variances(np.full((3, 1), np.nan)).tolist() == [0.0]
    assert usual_variances(np.array([[1.0], [3.0]])).tolist() == [1.0]
    assert usual_variances(np.array([[1.0], [3.0], [900.0]])).tolist() == [0.0], "the one in the middle"
    assert not unlike_scales(np.array([1.0, 900.0])), "of two columns nothing is said"
    assert not unlike_scales(np.zeros(5))


def test_a_table_of_laboratory_values_has_unlike_units_though_no_few_have_all_variance():
    """Potassium beside CRP and heart rate: the effective number of features is 3.4 of 11."""
    sd = np.array([1.4, 2.9, 29, 2.9, 0.4, 24, 0.8, 0.7, 15, 18, 15])
    assert 1 / ((sd**2 / (sd**2).sum()) ** 2).sum() > 3
    assert unlike_scales(sd**2)
    assert not unlike_scales(np.r_[sd, np.ones(40) * 5] ** 2), (
        "of very many columns some may well vary little"
    )
    assert not unlike_scales(np.array([1.0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0.0]) ** 2), "a constant says nothing"
