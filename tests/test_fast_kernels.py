"""Kernels with ``fastmath`` are compiled alike whatever was compiled before them.

numba compiles what it writes for ``x ** 2`` or ``a.sum()`` once for a process, with the ``fastmath`` of the kernel that has it
first, and a kernel that says nothing of its own like the kernel that calls it first. Either decides last bits.
"""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from source_tree import ROOT, files, name_of, nodes_of

OWN = ("fastmath", "error_model", "forceinline")
"""What a kernel takes over from the kernel that calls it first, unless it says its own."""
PLAIN = {"math", "np.empty", "np.zeros", "np.full", "np.flatnonzero", "np.float32", "np.uintp"}
"""What fast kernels may call besides kernels: nothing that adds or multiplies."""
BUILT_IN = {"abs", "float", "len", "max", "min", "range"}


def kernels(path: Path) -> Iterator[tuple[ast.FunctionDef, dict[str, str]]]:
    """The kernels of a file, and what ``njit`` is told of each."""
    for node in nodes_of(path):
        if isinstance(node, ast.FunctionDef):
            for call in node.decorator_list:
                if isinstance(call, ast.Call) and ast.unparse(call.func) == "njit":
                    yield node, {word.arg: ast.unparse(word.value) for word in call.keywords if word.arg}


def imported(path: Path) -> dict[str, list[str]]:
    """Names that a file imports, each with the last two parts of the module that it comes from."""
    lines = (node for node in nodes_of(path) if isinstance(node, ast.ImportFrom))
    return {
        name.asname or name.name: (line.module or "").split(".")[-2:] for line in lines for name in line.names
    }


def slips(folder: str) -> list[str]:
    """What in the kernels of a folder depends on the order in which they are compiled."""
    found = [(path, *kernel) for path in files(folder) for kernel in kernels(path)]
    told_by = {(path, node.name): options for path, node, options in found}
    out = []
    for path, node, options in found:
        told = _within_reach(path, told_by)
        fast = options.get("fastmath", "False") != "False"
        for inner in (part for statement in node.body for part in ast.walk(statement)):
            if fast and isinstance(getattr(inner, "op", None), ast.Pow):
                out.append(f"{name_of(path)}: {node.name} is fast and has **")
            if not isinstance(inner, ast.Call):
                continue
            called = ast.unparse(inner.func)
            if called in told:
                left_open = [name for name in OWN if name in options and name not in told[called]]
                out += [f"{name_of(path)}: {node.name} decides {name} of {called}" for name in left_open]
            elif fast and not (
                called in BUILT_IN | PLAIN
                or called.partition(".")[0] in PLAIN
                or called.endswith((".dtype.type", ".view"))
            ):
                out.append(f"{name_of(path)}: {node.name} is fast and calls {called}")
    return out


def _within_reach(path: Path, told_by: dict[tuple[Path, str], dict[str, str]]) -> dict[str, dict[str, str]]:
    """What njit is told of the kernels that a file may call, by the name that they have there."""
    own = {name: options for (where, name), options in told_by.items() if where == path}
    came = imported(path)
    others = {
        name: options
        for (where, name), options in told_by.items()
        if name in came and list(where.with_suffix("").parts[-len(came[name]) :]) == came[name]
    }
    return others | own


FOLDERS = [
    f"plugins/{path.name}" for path in sorted((ROOT / "plugins").iterdir()) if (path / "__init__.py").exists()
]
GUESTS = [
    f"docs/examples/{path.parent.name}/src" for path in sorted((ROOT / "docs" / "examples").glob("*/src"))
]


@pytest.mark.parametrize("folder", [*FOLDERS, "core/numerics", *GUESTS])
def test_no_kernel_depends_on_what_was_compiled_before(folder):
    assert not slips(folder)


SQUARES = """
import sys
import numpy as np
from plaidwork.plugins.group_factor import kernels, local
if sys.argv[1] == "another first":
    kernels.unit_deviance(0, 1.0, 2.0)
rng = np.random.default_rng(1)
y, known = rng.standard_normal((8, 101)).astype(np.float32), np.zeros((0, 0), np.uint8)
x, spread, out = rng.standard_normal((8, 101)), rng.random((8, 101)), np.zeros((1, 8))
local.squares(0, 8, 0, y, known, np.zeros(101, np.int64), x, spread, out)
print(out.tobytes().hex())
"""


@pytest.mark.slow
def test_same_sums_whichever_kernel_was_compiled_first(tmp_path):
    found = set()
    for order in ("another first", "alone"):
        env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / order)}
        command = [sys.executable, "-c", SQUARES, order]
        found.add(subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout)
    assert len(found) == 1
