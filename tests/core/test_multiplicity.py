"""Adjusted p: one family whatever its shape, worked out by hand, and what was not tested left out."""

import numpy as np
import pytest

from plaidwork.core.api_scores import benjamini_hochberg, holm

P = np.array([[0.01, np.nan, 0.04], [0.03, 0.8, 0.04]])


@pytest.mark.parametrize(
    ("adjusted", "expected"),
    [
        (benjamini_hochberg, [[0.05, np.nan, 0.05], [0.05, 0.8, 0.05]]),
        (holm, [[0.05, np.nan, 0.12], [0.12, 0.8, 0.12]]),
    ],
)
def test_adjusted_p_leave_out_what_was_not_tested(adjusted, expected):
    np.testing.assert_allclose(adjusted(P), expected)
    assert np.isnan(adjusted(np.array([np.nan]))).all()
    assert adjusted(np.empty((0, 2))).shape == (0, 2)
