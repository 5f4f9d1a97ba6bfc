"""Loops of kernels that several threads share, in place of those of the kernel (``in_python`` of the host)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from plaidwork.core.api import share

PART = 60_000
"""Nanoseconds of work that are worth waking a thread, which takes some 20,000."""


def shared(kernel: Callable[..., Any], nanoseconds: Callable[..., float]) -> Callable[..., None]:
    """The kernel ``(…, lo, hi)`` of units lo to hi, each by itself, worked in parts by the threads of the chain.

    Parameters
    ----------
    nanoseconds : of a unit, from the arguments before ``lo``
    """

    def work(*given: Any) -> None:
        *data, lo, hi = given
        least = max(1, int(PART / max(nanoseconds(*data), 1e-3)))
        share(lambda first, last: kernel(*data, lo + first, lo + last), hi - lo, least)

    return work
