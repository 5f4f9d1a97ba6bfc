"""Samples kept from a fit to measure its predictions."""

from __future__ import annotations

import numpy as np

__all__ = ["random_test"]


def random_test(codes: np.ndarray, share: float) -> np.ndarray:
    """Places of a share of the labelled samples of each class, at random; one of each class at least is left.

    Parameters
    ----------
    codes : (n,) class of each sample, -1 where not labelled; those are never taken.
    share : 0 to 1. The same labels give the same places.
    """
    rng, found = np.random.Generator(np.random.PCG64DXSM(0)), [np.arange(0)]
    for code in range(int(codes.max(initial=-1)) + 1):
        here = rng.permutation(np.flatnonzero(codes == code))
        found.append(here[: max(0, min(round(share * len(here)), len(here) - 1))])
    return np.sort(np.concatenate(found))
