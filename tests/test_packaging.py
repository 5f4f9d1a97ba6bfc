"""The wheel holds what the program needs and nothing else."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def wheel_file(tmp_path_factory):
    """A wheel built from a copy of the checkout."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("needs a git checkout")
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in listed.stdout.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, source / name)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--disable-pip-version-check"]
    if find_spec("hatchling"):
        command.append("--no-build-isolation")
    command += ["-w", out, source]
    subprocess.run(command, check=True, capture_output=True)
    (path,) = out.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def wheel(wheel_file):
    """Names in the wheel."""
    return zipfile.ZipFile(wheel_file).namelist()


@pytest.mark.long
def test_wheel_has_one_package(wheel):
    from plaidwork.core import __version__

    tops = {name.split("/")[0] for name in wheel}
    assert tops == {"plaidwork", f"plaidwork-{__version__}.dist-info"}
    assert {name.split("/")[1] for name in wheel if name.startswith("plaidwork/")} == {
        "core",
        "gui",
        "plugins",
        "resources",
    }


def test_wheel_has_every_module_and_resource(wheel):
    listed = subprocess.run(
        ["git", "ls-files", "-z", "core", "gui", "plugins", "resources"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    files = [name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]
    assert not {f"plaidwork/{name}" for name in files} - set(wheel)
    for suffix in (".svg", ".otf", "example.json"):
        assert any(name.startswith("plaidwork/resources/") and name.endswith(suffix) for name in wheel)


def test_wheel_has_no_caches_and_no_tests(wheel):
    assert not [name for name in wheel if re.search(r"__pycache__|\.py[co]$|\.nb[ic]$|/tests?/|\.dev", name)]


def test_wheel_says_that_it_is_typed(wheel):
    """The marker stands in the package that authors import: ``plaidwork`` itself has no file of its own."""
    assert "plaidwork/core/py.typed" in wheel


@pytest.mark.slow
@pytest.mark.parametrize("whose", ["scaffold", "dirichlet_mixture", "lcms_annotation"])
def test_plugins_of_authors_pass_strict_types(wheel_file, whose, tmp_path):
    """As an author has it: the installed package, another folder, ``mypy --strict``."""
    pytest.importorskip("mypy")
    zipfile.ZipFile(wheel_file).extractall(tmp_path / "installed")
    if whose == "scaffold":
        from plaidwork.core.plugins.scaffold import create

        folder = create("my-means", tmp_path).root
    else:
        example = ROOT / "docs" / "examples" / whose
        folder = shutil.copytree(example, tmp_path / "example", ignore=shutil.ignore_patterns(".*_cache"))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "installed")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Success: no issues found" in done.stdout


def test_qt_is_pinned_below_the_release_that_aborts():
    pins = {line.replace(" ", "") for line in PROJECT["dependencies"] if line.startswith("PySide6")}
    assert pins == {
        "PySide6-Essentials>=6.8,<6.12;python_version<'3.12'",
        "PySide6-Essentials>=6.8;python_version>='3.12'",
    }


def test_installed_qt_obeys_the_pin():
    from importlib.metadata import version

    if sys.version_info < (3, 12):
        assert tuple(int(part) for part in version("PySide6-Essentials").split(".")[:2]) < (6, 12)


def test_only_the_agreed_dependencies():
    names = {re.match(r"[\w-]+", line)[0] for line in PROJECT["dependencies"]}
    expected = {
        "PySide6-Essentials",
        "pyqtgraph",
        "numpy",
        "scipy",
        "numba",
        "h5py",
        "pluggy",
        "threadpoolctl",
        "platformdirs",
        "snowballstemmer",
        "contourpy",
        "markdown-it-py",
        "pillow",
    }
    assert names == expected


def test_version_is_told_once():
    from plaidwork.core import __version__

    assert "version" not in PROJECT
    assert PROJECT["dynamic"] == ["version"]
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("group", ["scripts", "gui-scripts"])
def test_scripts_lead_somewhere(group):
    for target in PROJECT[group].values():
        module, _, name = target.partition(":")
        path = ROOT.joinpath(*module.split(".")[1:])
        source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        assert f"def {name}(" in source.read_text(encoding="utf-8")


@pytest.mark.slow
def test_two_builds_are_equal_and_an_index_takes_them(tmp_path):
    """Wheel and sdist, each built twice from copies of other times and places."""
    pytest.importorskip("build")
    made = []
    for which in ("one", "two"):
        source = tmp_path / which / "source"
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
        for name in filter(None, listed.stdout.decode().split("\0")):
            if (ROOT / name).is_file():
                (source / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, source / name)
        subprocess.run(
            [sys.executable, "-m", "build", "--no-isolation", "-o", tmp_path / which / "dist", source],
            env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"},
            check=True,
            capture_output=True,
        )
        made.append({path.name: path.read_bytes() for path in (tmp_path / which / "dist").iterdir()})
    first, second = made
    assert sorted(Path(name).suffix for name in first) == [".gz", ".whl"]
    assert first == second
    pytest.importorskip("twine")
    files = (tmp_path / "one" / "dist").iterdir()
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *files], check=True)
