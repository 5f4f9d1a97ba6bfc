"""What the kernels of blocks with a column profile are handed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Plane(NamedTuple):
    """The data of one stretch of a sweep, as precisions weigh them.

    Attributes
    ----------
    y : (N1, N2) float64, C order: data from ``Cells.centre``, row and column effects taken off; 0 where not observed
    w : (N1, N2) bool, C order, True where observed
    t : (N1,) precision of the noise of each row times the power of the likelihood
    within : variance of a block's profile around its shift, ``1 / tau_b``; 0 makes blocks constant
    """

    y: np.ndarray
    w: np.ndarray
    t: np.ndarray
    within: float
