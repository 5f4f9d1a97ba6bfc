"""The package stays on the public interface."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import plaidwork_lcms_annotation as package

HERE = Path(__file__).parent
MODULES = sorted(Path(package.__file__).parent.glob("*.py"))


def imported(path):
    """Modules of Plaidwork that a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        yield from (name for name in names if name.split(".")[0] == "plaidwork")


@pytest.mark.parametrize("path", [*MODULES, *sorted(HERE.glob("*.py"))], ids=lambda path: path.name)
def test_nothing_but_the_public_interface(path):
    allowed = {"plaidwork.core.api", "plaidwork.core.api_draws", "plaidwork.core.api_pictures"} | (
        {"plaidwork.core.checks"} if path.parent == HERE else set()
    )
    assert set(imported(path)) <= allowed
