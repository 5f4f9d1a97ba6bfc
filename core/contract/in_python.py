"""Kernels whose loops several threads share: the same source, run by the interpreter down to these loops.

A compiled kernel cannot hand a part of its work to another thread of the host. So over large data the functions between the sweep and the
sums over the data are run as Python, with loops that are shared in place of some; all else that they call stays compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any


def in_python(kernel: Any, **others: Callable[..., Any]) -> Callable[..., Any]:
    """The source of ``kernel`` run by the interpreter, with ``others`` in place of the functions of these names."""
    source = kernel.py_func
    unknown = others.keys() - set(source.__code__.co_names)
    if unknown:
        raise AttributeError(f"not called by {source.__name__}: {', '.join(sorted(unknown))}")
    return FunctionType(
        source.__code__, {**source.__globals__, **others}, source.__name__, source.__defaults__
    )
