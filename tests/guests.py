"""Guests of docs/examples, installed beside Plaidwork in a folder of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[1] / "docs" / "examples"


def install(name: str, folder: Path) -> Path:
    """The folder ``site`` in an empty one, with the guest as a distribution; no network, nothing of the host's packages touched."""
    source, target = folder / "source", folder / "site"
    shutil.copytree(EXAMPLES / name, source, ignore=shutil.ignore_patterns("__pycache__", ".*cache"))
    if find_spec("hatchling"):
        words = ["install", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
        words += ["--disable-pip-version-check", "--target", str(target), str(source)]
        subprocess.run([sys.executable, "-m", "pip", *words], check=True, capture_output=True)
    else:
        target.mkdir()
        _by_hand(source, target)
    return target


def _by_hand(source: Path, target: Path) -> None:
    """What an installer leaves behind: the package, and its names and entry points beside it."""
    project = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    package = project["name"].replace("-", "_")
    shutil.copytree(source / "src" / package, target / package)
    info = target / f"{package}-{project['version']}.dist-info"
    info.mkdir()
    head = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (info / "METADATA").write_text(head, encoding="utf-8")
    lines = [f"[{group}]" for group in project["entry-points"]]
    lines += [f"{name} = {value}" for name, value in project["entry-points"]["plaidwork"].items()]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def command(installed: Path, *words: str) -> str:
    """What a command of Plaidwork prints in a fresh process that has the guest installed."""
    found = subprocess.run(
        [sys.executable, "-m", "plaidwork.core.cli", *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(installed), os.environ.get("PYTHONPATH", "")))},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout
