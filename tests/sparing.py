"""Cases of a test of which some run every time, and all among the slow tests; and what need not run again here.

A case is a value, or a tuple of values, or ``pytest.param``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from platformdirs import user_cache_path

import plaidwork.core


def some(cases: Sequence[Any], quick: Collection[Any]) -> list[Any]:
    """The cases; those that are not among ``quick`` are slow tests."""
    assert all(case in cases for case in quick), "a quick case is none of the cases"
    return [case if case in quick else _slow(case) for case in cases]


def every(cases: Sequence[Any], step: int) -> list[Any]:
    """The cases, one in ``step`` quick; of a product, a step prime to the number of values of each part meets all."""
    return [case if place % step == 0 else _slow(case) for place, case in enumerate(cases)]


def _slow(case: Any) -> Any:
    if hasattr(case, "values") and hasattr(case, "marks"):
        return case._replace(marks=[*case.marks, pytest.mark.slow])
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)


def unless_passed(model: type, name: str, check: Callable[[], object]) -> None:
    """Call a check of a model, or skip when it has passed on this machine for the same sources and libraries.

    ``name`` tells the check from the others of the model; a plugin may have several models. The marks may be deleted
    at any time.
    """
    passed = (
        user_cache_path("plaidwork") / "passed" / sources(Path(sys.modules[model.__module__].__file__).parent)
    )
    whose = f"{model.__module__}.{model.__qualname__} {name}"
    mark = passed / sha256(whose.encode()).hexdigest()[:20]
    if mark.exists():
        pytest.skip("has passed with these sources")
    check()
    passed.mkdir(parents=True, exist_ok=True)
    mark.touch()


@cache
def sources(plugin: Path) -> str:
    """A name for the sources of a plugin, of the core and of the tests' own tools, and for the libraries."""
    hasher = sha256(" ".join(map(version, ("numpy", "scipy", "numba"))).encode() + sys.version.encode())
    core, tests = Path(plaidwork.core.__file__).parent, Path(__file__).parent
    for path in sorted(
        [*plugin.rglob("*.py"), *core.rglob("*.py"), *tests.glob("*.py"), *tests.glob("plugins/*.py")]
    ):
        hasher.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return hasher.hexdigest()[:20]
