"""Labels given f: their log probability, and draws of z. Of large data block by block, see ``blocks.py``; the kernels are in ``kernels/sites.py``."""

from __future__ import annotations

import numpy as np

from plaidwork.plugins.gp_auxiliary.kernels import sites
from plaidwork.plugins.gp_auxiliary.shared.blocks import generators, in_blocks, is_large, summed


def log_intervals(
    f: np.ndarray, low: np.ndarray, high: np.ndarray, free: np.ndarray, null: float, minus: float, plus: float
) -> float:
    """Log likelihood of f (N,) with z integrated out, for intervals (N,)."""

    def work(part: slice) -> tuple[float]:
        return (sites.log_intervals(f[part], low[part], high[part], free[part], null, minus, plus),)

    (found,) = summed(work, len(f))
    return float(found)


def log_winners(f: np.ndarray, code: np.ndarray, null: float, log_share: np.ndarray) -> float:
    """Log likelihood of f (K, N) with z integrated out, for classes (N,)."""

    def work(part: slice) -> tuple[float]:
        return (sites.log_winners(_columns(f, part), code[part], null, log_share),)

    (found,) = summed(work, len(code))
    return float(found)


def draw_intervals(
    rng: np.random.Generator, f: np.ndarray, z: np.ndarray, low: np.ndarray, high: np.ndarray, free: np.ndarray, null: float,
    minus: float, plus: float,
) -> None:  # fmt: skip
    """Draw z (N,) given f (N,), in place, for intervals (N,)."""
    own_rng = generators(rng, len(z))

    def work(part: slice) -> None:
        sites.draw_intervals(
            own_rng(part), f[part], z[part], low[part], high[part], free[part], null, minus, plus
        )

    in_blocks(work, len(z))


def draw_winners(
    rng: np.random.Generator,
    f: np.ndarray,
    z: np.ndarray,
    code: np.ndarray,
    null: float,
    log_share: np.ndarray,
) -> None:
    """Draw z (K, N) given f (K, N), in place, for classes (N,)."""
    if not is_large(len(code)):
        sites.draw_winners(rng, f, z, code, null, log_share)
        return
    own_rng = generators(rng, len(code))

    def work(part: slice) -> None:
        its = _columns(z, part)
        sites.draw_winners(own_rng(part), _columns(f, part), its, code[part], null, log_share)
        z[:, part] = its

    in_blocks(work, len(code))


def _columns(values: np.ndarray, part: slice) -> np.ndarray:
    """(K, n) a block of values (K, N), as the kernels take it."""
    return np.ascontiguousarray(values[:, part])
