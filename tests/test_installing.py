"""The installer for Linux: its entries are right, it installs, starts, and takes everything out again."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LINUX = ROOT / "installer" / "linux"
FROZEN = [f"frozen/{path.name}" for path in sorted((LINUX.parent / "frozen").glob("*.sh"))]
CHECKS = {
    "desktop-file-validate": [LINUX / "plaidwork.desktop"],
    "appstreamcli": ["validate", "--no-net", LINUX / "plaidwork.metainfo.xml"],
}

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the installer is for Linux")


def needs(*tools):
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")


@pytest.mark.parametrize("tool", CHECKS)
def test_entries_are_valid(tool):
    needs(tool)
    done = subprocess.run([tool, *CHECKS[tool]], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("script", ["run.sh", "steps.sh", "linux/install.sh", "linux/uninstall.sh", *FROZEN])
def test_scripts_are_shell(script):
    subprocess.run(["sh", "-n", ROOT / "installer" / script], check=True)


def type_of(data: Path, file: Path) -> list[str]:
    """Type and icon that desktops find for a file, by the database below ``data``."""
    code = (
        "import sys; from PySide6.QtCore import QMimeDatabase\n"
        "found = QMimeDatabase().mimeTypeForFile(sys.argv[1]); print(found.name(), found.iconName())"
    )
    environment = {**os.environ, "XDG_DATA_HOME": str(data), "XDG_DATA_DIRS": "/usr/share"}
    done = subprocess.run(
        [sys.executable, "-c", code, file], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_sessions_are_known_by_their_type(tmp_path):
    needs("update-mime-database")
    packages = tmp_path / "mime" / "packages"
    packages.mkdir(parents=True)
    shutil.copy(LINUX / "plaidwork.xml", packages)
    subprocess.run(["update-mime-database", tmp_path / "mime"], check=True, capture_output=True)
    file = tmp_path / "mine.plaidwork"
    file.touch()
    name = "application/x-plaidwork-session"
    assert type_of(tmp_path, file) == [name, name.replace("/", "-")]


def everything(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_install_start_uninstall(tmp_path):
    """In a folder with a blank in its name that holds another program's entries; downloads what the program needs."""
    needs("desktop-file-validate", "update-mime-database", "update-desktop-database")
    home, prefix = tmp_path / "home", tmp_path / "my programs"
    (prefix / "share" / "applications").mkdir(parents=True)
    home.mkdir()
    other = (LINUX / "plaidwork.desktop").read_text(encoding="utf-8").replace("plaidwork", "true")
    (prefix / "share" / "applications" / "other.desktop").write_text(other, encoding="utf-8")
    subprocess.run(["update-desktop-database", prefix / "share" / "applications"], check=True)
    before = everything(prefix)
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "XDG_DATA_HOME")}
    environment = {
        **kept, "HOME": str(home), "PYTHON": sys.executable, "QT_QPA_PLATFORM": "offscreen",
        "PLAIDWORK_NO_APT": "1",
    }  # fmt: skip

    def run(*command):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr

    run("sh", LINUX / "install.sh", "--prefix", prefix)
    run("desktop-file-validate", prefix / "share" / "applications" / "plaidwork.desktop")
    run(prefix / "bin" / "plaidwork", "--smoke", tmp_path / "smoke")
    name = "application/x-plaidwork-session"
    assert type_of(prefix / "share", tmp_path / "smoke.plaidwork")[0] == name
    cache = (prefix / "share" / "applications" / "mimeinfo.cache").read_text(encoding="utf-8")
    assert f"{name}=" in cache
    run("sh", prefix / "lib" / "plaidwork" / "uninstall.sh", "--purge")
    assert everything(prefix) == before
    assert not [name for name in everything(home) if "plaidwork" in name]
