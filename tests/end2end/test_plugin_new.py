"""``plaidwork plugin new``, all the way: built, installed into a fresh environment, tested, fitted there and in the window."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from plaidwork.core import open_session
from plaidwork.core.cli import main
from plaidwork.core.plugins.plugin_install import install
from plaidwork.core.plugins.registry import Registry

pytestmark = pytest.mark.slow

MODEL = "my_means"


def _run(*words: str | Path, cwd: Path) -> str:
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The folder that the command writes."""
    folder = tmp_path_factory.mktemp("new")
    assert main(["plugin", "new", "my-means", "--folder", str(folder)]) == 0
    return folder / "my-means"


@pytest.fixture(scope="module")
def wheel(package, tmp_path_factory):
    """The package as a wheel; put together by hand where neither a build tool nor the network is there."""
    out = tmp_path_factory.mktemp("wheel")
    words = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(out), str(package)]
    if find_spec("hatchling"):
        words += ["--no-build-isolation", "--no-index"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    found = list(out.glob("*.whl"))
    if done.returncode == 0 and found:
        return found[0]
    return _by_hand(package, out / "my_means-0.1.0-py3-none-any.whl")


def _by_hand(package: Path, target: Path) -> Path:
    project = tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = f"{MODEL}-{project['version']}.dist-info"
    head = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    needs = "".join(f"Requires-Dist: {need}\n" for need in project["dependencies"])
    points = "".join(f"{n} = {v}\n" for n, v in project["entry-points"]["plaidwork"].items())
    texts = {
        f"{info}/METADATA": head + needs,
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[plaidwork]\n{points}",
    }
    for path in sorted((package / MODEL).rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            texts[path.relative_to(package).as_posix()] = path.read_text(encoding="utf-8")
    texts[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*texts, f"{info}/RECORD"])
    with zipfile.ZipFile(target, "w") as archive:
        for name, text in texts.items():
            archive.writestr(name, text)
    return target


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """A fresh environment that sees Plaidwork and what it needs, with the package installed into it."""
    folder = tmp_path_factory.mktemp("fresh") / "env"
    _run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    made = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    site = _run(made, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip()
    host = sysconfig.get_path("purelib")
    # not --system-site-packages: this Python may itself be a virtual environment
    Path(site, "host.pth").write_text(f"import site; site.addsitedir({host!r})\n", encoding="utf-8")
    _run(made, "-m", "pip", "install", "-q", "--no-deps", "--no-index", wheel, cwd=folder)
    assert Path(site, MODEL, "model.py").is_file()
    return made


def test_the_wheel_has_the_package_and_no_tests(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert f"{MODEL}/example/matrix.csv" in names
    assert not [name for name in names if "test" in name]


def test_its_tests_pass_in_the_fresh_environment(python, package):
    text = _run(python, "-P", "-m", "pytest", "-p", "no:cacheprovider", cwd=package)
    assert "failed" not in text
    assert "error" not in text


def test_it_is_listed_checked_and_fitted_from_the_command_line(python, package, tmp_path):
    def plaidwork(*words: str) -> str:
        return _run(python, "-P", "-m", "plaidwork.core.cli", *words, cwd=tmp_path)

    records = {record["name"]: record for record in json.loads(plaidwork("plugin", "list", "--json"))}
    assert records[MODEL]["state"] == "ok"
    assert records[MODEL]["models"] == [MODEL]
    assert "0 failed" in plaidwork("plugin", "check", MODEL, "--only", "declaration")
    data = package / MODEL / "example" / "matrix.csv"
    quick = ("--chains", "2", "--warmup", "30", "--draws", "100")
    plaidwork("fit", MODEL, "--input", f"X={data}", *quick, "--out", "first.plaidwork")
    (run,) = open_session(tmp_path / "first.plaidwork").runs.values()
    assert run.status == "done"
    assert run.results["mean"].values == pytest.approx([-3, -1.5, 0, 0.5, 2, 4], abs=0.6)
    assert "equal in 2 chains" in plaidwork("verify", "first.plaidwork")


def test_it_is_installed_fitted_and_drawn_in_the_window(wheel, qapp, qtbot, tmp_path, monkeypatch):
    from PySide6.QtCore import Qt

    from plaidwork.core.session.session import Session
    from plaidwork.gui.main_window import MainWindow
    from plaidwork.gui.results.broken_page import BrokenPage
    from plaidwork.gui.results.registry import make_view
    from plaidwork.gui.settings import Settings
    from plaidwork.gui.tasks import wait_for_tasks
    from plaidwork.gui.workbench import Workbench

    monkeypatch.setenv("PLAIDWORK_PLUGINS", str(tmp_path / "plugins"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    install(wheel)
    plugins = Registry().load()
    assert plugins.plugin(MODEL).state == "ok", plugins.plugin(MODEL).details
    (sample,) = [sample for sample in plugins.samples if sample.model == MODEL]
    window = MainWindow(Workbench(plugins), Settings(tmp_path / "config"))
    window.resize(1280, 800)
    window.show()
    try:
        window.commands.open_example(sample)
        qtbot.waitUntil(lambda: window.setup_page is not None, timeout=30_000)
        assert window.setup_page.spec.id == MODEL
        assert window.setup_page.inputs()["X"] == ["my-means example"]
        with qtbot.waitSignal(window.workbench.runs_changed, timeout=20_000):
            window.activateWindow()
            qtbot.wait(100)
            qtbot.keyClick(window, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        run = window.current_run()
        qtbot.waitUntil(lambda: bool(run.results) and not run.active, timeout=60_000)
        assert run.status == "done", run.log
        (view,) = run.spec.views
        page = make_view(window.workbench, run, view, window)
        assert not isinstance(page, BrokenPage)
        qtbot.waitUntil(lambda: page.loaded is not None, timeout=20_000)
        page.deleteLater()
    finally:
        window.workbench.wait(10_000)
        wait_for_tasks()
        qapp.processEvents()
        window.workbench.set_session(Session())
        window.close()
        window.deleteLater()
        wait_for_tasks()
        for name in [name for name in sys.modules if name.split(".")[0] == MODEL]:
            del sys.modules[name]
