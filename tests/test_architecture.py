"""Who may import whom, read from the source with ``ast``."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PRODUCT = ("core", "gui", "plugins", "resources")
STDLIB = set(sys.stdlib_module_names) | {"__future__"}


def _files(*folders):
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def _package(path):
    return ["plaidwork", *path.relative_to(ROOT).parent.parts]


def _imports(path):
    """Full names of all modules that a file imports, wherever the import stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = [] if not node.level else _package(path)[: len(_package(path)) - node.level + 1]
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield module
            if module in ("plaidwork", "plaidwork.plugins", "plaidwork.core", "plaidwork.gui"):
                yield from (f"{module}.{alias.name}" for alias in node.names)


def _under(name, *packages):
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def _ids(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", _files("core"), ids=_ids)
def test_core_imports_no_screen_and_no_model(path):
    allowed = {
        "core/cli/__init__.py": {"plaidwork.gui.app"},  # to open the window
        "core/cli/fitting.py": {"plaidwork.gui.results.render"},  # to draw a picture when asked to
        "core/plugins/finding.py": {"plaidwork.plugins"},  # where the built-in ones lie
    }.get(_ids(path), set())
    for name in _imports(path):
        bad = _under(name, "PySide6", "pyqtgraph", "shiboken6", "plaidwork.gui", "plaidwork.plugins")
        assert not bad or name in allowed, f"{path} imports {name}"


@pytest.mark.parametrize("path", _files("gui"), ids=_ids)
def test_gui_imports_no_model(path):
    for name in _imports(path):
        assert not _under(name, "plaidwork.plugins"), f"{path} imports {name}"


def _model_ids():
    found = set()
    for path in _files("plugins"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "ModelSpec":
                found |= {word.value.value for word in node.keywords if word.arg == "id"}
    return found


def test_neither_core_nor_gui_names_a_model():
    ids = _model_ids()
    for path in _files("core", "gui"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert node.value not in ids, f"{path} names the model {node.value}"


@pytest.mark.parametrize("path", _files("plugins"), ids=_ids)
def test_plugins_use_the_promised_interface(path):
    parts = path.relative_to(ROOT / "plugins").parts
    own = f"plaidwork.plugins.{parts[0]}" if len(parts) > 1 else "plaidwork.plugins"
    allowed = (own, "plaidwork.core.api", "plaidwork.core.numerics", "numpy", "numba", "scipy", *STDLIB)
    for name in _imports(path):
        assert _under(name, *allowed), f"{path} imports {name}"


@pytest.mark.parametrize("path", _files("core/numerics"), ids=_ids)
def test_numerics_are_numpy_and_numba(path):
    for name in _imports(path):
        assert _under(name, "plaidwork.core.numerics", "numpy", "numba", *STDLIB), f"{path} imports {name}"


def _kernel_files():
    return [path for path in _files("plugins") if "kernels" in path.relative_to(ROOT / "plugins").as_posix()]


@pytest.mark.parametrize("path", _kernel_files(), ids=_ids)
def test_kernels_are_numpy_and_numba(path):
    own = f"plaidwork.plugins.{path.relative_to(ROOT / 'plugins').parts[0]}"
    for name in _imports(path):
        assert _under(name, own, "plaidwork.core.numerics", "numpy", "numba", *STDLIB), (
            f"{path} imports {name}"
        )


@pytest.mark.parametrize("path", _files(*PRODUCT), ids=_ids)
def test_no_pickle(path):
    for name in _imports(path):
        assert name.split(".")[0] not in (
            "pickle",
            "cPickle",
            "dill",
            "cloudpickle",
            "joblib",
            "shelve",
            "marshal",
        )
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"allow_pickle\s*=\s*True", text)


@pytest.mark.parametrize("path", _files(*PRODUCT), ids=_ids)
def test_no_network(path):
    for name in _imports(path):
        assert not _under(name, "urllib.request", "http.client", "requests", "PySide6.QtNetwork"), (
            f"{path} imports {name}"
        )


def test_sockets_are_not_opened():
    for path in _files(*PRODUCT):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "socket":
                assert node.attr == "gethostname", f"{path} uses socket.{node.attr}"


def _modules_after(code):
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return {name.split(".")[0] for name in done.stdout.split()}


@pytest.mark.parametrize(
    "code",
    [
        "import plaidwork.core, plaidwork.core.api",
        "from plaidwork.core import fit, open_session, resume, Session",
        "from plaidwork.core.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass",
        "from plaidwork.core.cli import main\ntry: main(['fit', '--help'])\nexcept SystemExit: pass",
    ],
)
def test_core_and_help_load_neither_qt_nor_numba(code):
    assert not _modules_after(code) & {"PySide6", "shiboken6", "pyqtgraph", "numba", "llvmlite"}


def test_package_is_imported_under_one_name():
    for path in _files(*PRODUCT):
        for name in _imports(path):
            assert name.split(".")[0] not in PRODUCT, f"{path} imports {name}, not plaidwork.{name}"
