"""What kind numbers are, by the numbers themselves."""

from __future__ import annotations

import numpy as np

from plaidwork.core.contract.hyperparameter import ValueKind


def infer_kind(values: np.ndarray) -> ValueKind:
    """``binary`` for 0 and 1 only, ``count`` for whole numbers from 0, else ``real``; NaN is passed over.

    O(n) with an early way out after the first lines, so that large real matrices cost nothing.
    """
    flat = values.reshape(-1)
    binary = True
    seen = False
    for start in range(0, flat.size, 1 << 20):
        part = flat[start : start + (1 << 20)]
        part = part[~np.isnan(part)]
        if not part.size:
            continue
        seen = True
        if part.min() < 0 or not np.isfinite(part).all() or (part != np.floor(part)).any():
            return "real"
        binary = binary and part.max() <= 1
    if not seen:
        return "real"
    return "binary" if binary else "count"
