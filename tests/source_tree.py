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
    """``core/study/grid.py``, as messages name a file."""
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


def module_of(path):
    """``plaidwork.core.study.grid``; the name of the package for its ``__init__.py``."""
    parts = ["plaidwork", *path.relative_to(ROOT).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _running(node):
    """The nodes below one but those that only a type checker reads."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            continue
        yield child
        yield from _running(child)


@cache
def graph_of(*folders):
    """Module -> modules of the same folders that it imports when it runs, at its head or within a function."""
    paths = {module_of(path): path for path in files(*folders)}
    found = {}
    for module, path in paths.items():
        wanted = found[module] = set()
        for node in _running(ast.parse(text_of(path))):
            if isinstance(node, ast.Import):
                wanted |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                base = _base(node, path)
                whole = (f"{base}.{alias.name}" for alias in node.names)
                wanted |= {name if name in paths else base for name in whole}
        wanted.intersection_update(paths)
        wanted.discard(module)
    return found


def circles(graph):
    """Sets of modules each of which is reached from each other one."""

    def reached(start):
        seen, todo = set(), [start]
        while todo:
            for name in graph[todo.pop()] - seen:
                seen.add(name)
                todo.append(name)
        return seen

    beyond = {name: reached(name) for name in graph}
    return {frozenset(one for one in beyond[name] if name in beyond[one]) for name in graph} - {frozenset()}
