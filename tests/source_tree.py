"""The program's own source, parsed once for all tests that read it."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PRODUCT = ("core", "gui", "plugins", "resources")


@cache
def files(*folders):
    """All Python files below the folders (default: all that is installed)."""
    return tuple(sorted(path for folder in folders or PRODUCT for path in (ROOT / folder).rglob("*.py")))


def name_of(path):
    """``core/fit/plan.py``, as messages name a file."""
    return path.relative_to(ROOT).as_posix()


@cache
def text_of(path):
    return path.read_text(encoding="utf-8")


@cache
def nodes_of(path):
    """Every node of a file's syntax tree."""
    return tuple(ast.walk(ast.parse(text_of(path))))


def _package(path):
    return ["plaidwork", *path.relative_to(ROOT).parent.parts]


def _base(node, path):
    """The module that a ``from … import`` names, relative ones resolved."""
    above = [] if not node.level else _package(path)[: len(_package(path)) - node.level + 1]
    return ".".join([*above, *([node.module] if node.module else [])])


@cache
def imports_of(path):
    """Full names of all modules that a file imports, wherever the import stands."""
    found = []
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = _base(node, path)
            found.append(module)
            if module in ("plaidwork", "plaidwork.plugins", "plaidwork.core", "plaidwork.gui"):
                found += [f"{module}.{alias.name}" for alias in node.names]
    return tuple(found)


def under(name, *packages):
    """Whether a module is one of the packages or lies in one."""
    return any(name == package or name.startswith(f"{package}.") for package in packages)
