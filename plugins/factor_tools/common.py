"""What both analyses share: a setting, words for numbers, and factor values the right way round."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plaidwork.core.api import Hyperparameter, ModelError, Result

SIGNIFICANCE = Hyperparameter(
    "significance",
    "float",
    0.05,
    minimum=0,
    maximum=1,
    open_minimum=True,
    label="Significance level",
    doc="Findings with an adjusted p up to this are marked as significant.",
)


def p_text(p: float) -> str:
    """``p = 0.013``, ``p < 1e-300``."""
    return "p < 1e-300" if p < 1e-300 else f"p = {p:.2g}"


def listed(parts: Sequence[str], most: int) -> str:
    """The first few, and how many more."""
    more = f" and {len(parts) - most} more" if len(parts) > most else ""
    return ", ".join(parts[:most]) + more


def scores_by_item(result: Result, dim: str) -> tuple[np.ndarray, str]:
    """Scores as (items, factors) float64 and the name of the factors' dim. Raises ``ModelError``."""
    values = np.asarray(result.values, dtype=np.float64)
    if values.ndim != 2 or dim not in result.dims:
        raise ModelError(
            f"The scores have the dims {', '.join(result.dims) or 'none'} and the shape {values.shape}; needed are "
            f"{dim} and factors."
        )
    axis = result.dims.index(dim)
    if not values.shape[1 - axis]:
        raise ModelError("The run found no factor.", "There is nothing to compare.")
    return (values if axis == 0 else values.T), result.dims[1 - axis]
