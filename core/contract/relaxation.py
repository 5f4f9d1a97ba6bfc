"""Steps beyond the ascent of a variational model: what a model says of its arrays, so that the host can take them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Relaxation:
    """Arrays of a state that the host may carry on in the direction of the last sweep.

    Attributes
    ----------
    means : names of arrays of any numbers, carried on along the line.
    logs : names of arrays of positive numbers (variances, rates), carried on in their logarithm.
    fixed : names of entries, at any depth of the state, that no sweep changes: they need no copy.
    """

    means: tuple[str, ...] = ()
    logs: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
