"""Signs of eigenvectors, which every library chooses as it likes."""

from __future__ import annotations

import numpy as np


def signed(vectors: np.ndarray) -> np.ndarray:
    """Columns (n, k), each with its largest entry above 0; among entries as large but for rounding the first decides.

    So that a start from eigenvectors is the same, but for rounding, whatever processor and library computed it.
    """
    size = np.abs(vectors)
    first = (size >= (1 - 1e-6) * size.max(axis=0)).argmax(axis=0)
    return np.asarray(vectors * np.where(vectors[first, np.arange(vectors.shape[1])] < 0, -1.0, 1.0))
