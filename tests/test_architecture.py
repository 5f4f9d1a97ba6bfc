"""Who may import whom, read from the source with ``ast``."""

import ast
import importlib
import re
import subprocess
import sys

import pytest
from source_tree import (
    PRODUCT,
    ROOT,
    circles,
    files,
    graph_of,
    imports_of,
    name_of,
    nodes_of,
    text_of,
    under,
)

EXTENSIONS = sorted((ROOT / "core").glob("api_*.py"))
STDLIB = set(sys.stdlib_module_names) | {"__future__"}


def _wrong_imports(paths, wrong):
    """``file imports module`` for every import of the files for which ``wrong(path, module)`` holds."""
    return [
        f"{name_of(path)} imports {name}" for path in paths for name in imports_of(path) if wrong(path, name)
    ]


def test_core_imports_no_screen_and_no_model():
    allowed = {
        ("core/cli/__init__.py", "plaidwork.gui.app"),  # to open the window
        ("core/cli/fitting.py", "plaidwork.gui.results.render"),  # to draw a picture when asked to
        ("core/cli/reporting.py", "plaidwork.gui.results.report"),  # to draw the figures of a report
        ("core/plugins/finding.py", "plaidwork.plugins"),  # where the built-in ones lie
    }
    outside = ("PySide6", "pyqtgraph", "shiboken6", "plaidwork.gui", "plaidwork.plugins")
    assert not _wrong_imports(
        files("core"), lambda path, name: under(name, *outside) and (name_of(path), name) not in allowed
    )


def test_no_circle_of_modules_in_core():
    assert not [sorted(circle) for circle in circles(graph_of("core"))]


def test_a_circle_is_found():
    graph = {"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": set()}
    assert circles(graph) == {frozenset("abc")}


def test_gui_imports_no_model():
    assert not _wrong_imports(files("gui"), lambda path, name: under(name, "plaidwork.plugins"))


def _model_ids():
    return {
        word.value.value
        for path in files("plugins")
        for node in nodes_of(path)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "ModelSpec"
        for word in node.keywords
        if word.arg == "id"
    }


def test_neither_core_nor_gui_names_a_model():
    ids = _model_ids()
    assert len(ids) >= 10
    assert not [
        f"{name_of(path)} names the model {node.value}"
        for path in files("core", "gui")
        for node in nodes_of(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in ids
    ]


def _own(path):
    """The package of the plugin that a file belongs to."""
    parts = path.relative_to(ROOT / "plugins").parts
    return f"plaidwork.plugins.{parts[0]}" if len(parts) > 1 else "plaidwork.plugins"


def test_plugins_use_the_promised_interface():
    interface = ("plaidwork.core.api", *(f"plaidwork.core.{path.stem}" for path in EXTENSIONS))
    promised = (*interface, "plaidwork.core.numerics", "numpy", "numba", "scipy", *STDLIB)
    assert EXTENSIONS
    assert not _wrong_imports(files("plugins"), lambda path, name: not under(name, _own(path), *promised))


@pytest.mark.parametrize("path", [ROOT / "core" / "api.py", *EXTENSIONS], ids=lambda path: path.stem)
def test_the_interface_says_what_it_exports(path):
    """All that is imported is exported, for type checkers too, and within a theme the names are sorted."""
    module = importlib.import_module(f"plaidwork.core.{path.stem}")
    imported = [
        alias.asname or alias.name
        for node in nodes_of(path)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    assert sorted(module.__all__) == sorted(imported)
    listed = text_of(path).split("__all__ = [")[1]
    for theme in re.split(r"^ *#.*$", listed, flags=re.MULTILINE):
        names = re.findall(r'"(\w+)"', theme)
        assert names == sorted(names, key=lambda name: (not name.isupper(), name))


def test_numerics_are_numpy_and_numba():
    allowed = ("plaidwork.core.numerics", "numpy", "numba", *STDLIB)
    assert not _wrong_imports(files("core/numerics"), lambda path, name: not under(name, *allowed))


def test_kernels_are_numpy_and_numba():
    kernels = [path for path in files("plugins") if "kernels" in path.relative_to(ROOT).as_posix()]
    allowed = ("plaidwork.core.numerics", "numpy", "numba", *STDLIB)
    assert kernels
    assert not _wrong_imports(kernels, lambda path, name: not under(name, _own(path), *allowed))


def _foreign_privates(nodes):
    """``other._private`` wherever no class of the file itself has that name."""
    own = {n.name for n in nodes if isinstance(n, ast.FunctionDef)}
    privates = [n for n in nodes if isinstance(n, ast.Attribute) and n.attr.startswith("_")]
    mine = [n for n in privates if getattr(n.value, "id", "") in ("self", "cls")]
    own |= {n.attr for n in mine if isinstance(n.ctx, ast.Store)}
    return [
        f"{node.lineno}: {ast.unparse(node)}"
        for node in privates
        if node not in mine and node.attr not in own and not node.attr.startswith("__")
        if ast.unparse(node.value) != "super()"
    ]


def _asked_by_name(nodes):
    """``hasattr(x, "name")`` and ``getattr(x, "name", …)``: parts looked for instead of declared."""
    calls = [
        n for n in nodes if isinstance(n, ast.Call) and getattr(n.func, "id", "") in ("getattr", "hasattr")
    ]
    return [f"{n.lineno}: {ast.unparse(n)}" for n in calls if isinstance(n.args[1], ast.Constant)]


def test_no_module_of_the_window_reaches_into_the_private_parts_of_another():
    assert not [f"{name_of(p)}:{found}" for p in files("gui") for found in _foreign_privates(nodes_of(p))]


def test_the_window_asks_for_what_is_declared_not_for_names():
    """Styles get options of many classes from Qt, custom views hold widgets of plugins, figures any widget."""
    strangers = ("gui/style/", "gui/results/custom_page.py", "gui/results/figure.py")
    paths = [path for path in files("gui") if not name_of(path).startswith(strangers)]
    assert not [f"{name_of(path)}:{found}" for path in paths for found in _asked_by_name(nodes_of(path))]


def test_reaching_and_asking_by_name_are_found():
    source = "class A:\n def f(self, page):\n  page._stack.clear(page._own)\n  return hasattr(page, 'tick')\n def _own(self): ...\n"
    nodes = tuple(ast.walk(ast.parse(source)))
    assert _foreign_privates(nodes) == ["3: page._stack"]
    assert _asked_by_name(nodes) == ["4: hasattr(page, 'tick')"]


def test_no_pickle():
    words = ("pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal")
    assert not _wrong_imports(files(), lambda path, name: under(name, *words))
    assert not [name_of(p) for p in files() if re.search(r"allow_pickle\s*=\s*True", text_of(p))]


def test_no_network():
    words = ("urllib.request", "http.client", "requests", "PySide6.QtNetwork")
    assert not _wrong_imports(files(), lambda path, name: under(name, *words))
    assert not [
        f"{name_of(path)} uses socket.{node.attr}"
        for path in files()
        for node in nodes_of(path)
        if isinstance(node, ast.Attribute)
        and getattr(node.value, "id", "") == "socket"
        and node.attr != "gethostname"
    ]


_QUOTED_ELSEWHERE = {
    "core/quoting.py": {"writer", "escape", "dumps"},
    "core/cli/printing.py": {"print"},
    "gui/pictures/prose.py": {"QTextDocument"},  # lays out plain text, which it never takes for markup
    "gui/results/report.py": {
        "setHtml",
        "QTextDocument",
    },  # prints the page of core/report, which went through quoting.markup
    # shows what core/markdown.py makes of notes, all of whose texts went through quoting.markup
    "gui/notes/view.py": {"QTextBrowser", "setHtml"},
    "gui/widgets/label.py": {"QLabel"},
    "gui/style/__init__.py": {"QLabel"},  # makes those of Qt itself plain
}
"""Who may do what takes text for something else, or shows it as such."""

_RISKY = {
    "QLabel", "QMessageBox", "QErrorMessage", "QTextBrowser", "QTextDocument", "QStaticText", "QGraphicsTextItem", "QWhatsThis",
    "setHtml", "insertHtml", "appendHtml", "setMarkdown", "insertMarkdown",
}  # fmt: skip


def _markup_and_tables(name, nodes):
    """Uses of what shows or writes text without quoting it, but for those that the file may have."""
    found = []
    for node in nodes:
        word = getattr(node, "attr", None) or getattr(node, "id", None)
        called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        risky = word in _RISKY or called in ("csv.writer", "csv.DictWriter", "html.escape", "escape")
        risky = risky or (called == "print" and name.startswith(("core/cli/", "gui/")))
        word = called.rsplit(".", 1)[-1] or word
        if risky and word not in _QUOTED_ELSEWHERE.get(name, ()):
            found.append(f"{node.lineno}: {word}")
    return found


def test_text_of_files_is_quoted_by_one_module():
    assert not [
        f"{name_of(p)}:{f}" for p in files("core", "gui") for f in _markup_and_tables(name_of(p), nodes_of(p))
    ]


def test_text_that_is_not_quoted_is_found():
    source = (
        "from PySide6.QtWidgets import QLabel\nQLabel('x').setHtml(title)\ncsv.writer(file)\nprint(title)\n"
    )
    nodes = tuple(ast.walk(ast.parse(source)))
    found = {"2: QLabel", "2: setHtml", "3: writer", "4: print"}
    assert set(_markup_and_tables("gui/x.py", nodes)) == found
    assert not _markup_and_tables("core/cli/printing.py", tuple(ast.walk(ast.parse("print(1)"))))


def test_package_is_imported_under_one_name():
    assert not _wrong_imports(files(), lambda path, name: name.split(".")[0] in PRODUCT)


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
