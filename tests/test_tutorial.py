"""Every code block of docs/tutorial-plugin.md is run, in its order, in one folder."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

TEXT = (Path(__file__).resolve().parents[1] / "docs" / "tutorial-plugin.md").read_text(encoding="utf-8")
BLOCKS = [(kind, code) for kind, code in re.findall(r"```(\w+)\n(.*?)```", TEXT, re.DOTALL)]
PLACE = re.compile(r"# (file|append): (\S+)\n")
SLOW = "plaidwork plugin check mine/groups.py"
"""The whole suite; here without its longest checks."""


def _run(words: list[str], folder: Path) -> None:
    found = subprocess.run(
        words,
        cwd=folder,
        env={**os.environ, "PYTHONWARNINGS": "error::RuntimeWarning"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert found.returncode == 0, f"{shlex.join(words[:6])}\n{found.stdout[-3000:]}\n{found.stderr[-3000:]}"


def _do(kind: str, code: str, folder: Path) -> None:
    """Write the file that a block is, or run it."""
    if place := PLACE.match(code):
        path = folder / place[2]
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w" if place[1] == "file" else "a", encoding="utf-8") as stream:
            stream.write(code[place.end() :])
        return
    if kind == "python":
        _run([sys.executable, "-c", code], folder)
        return
    assert kind == "sh", kind
    for line in code.splitlines():
        words = shlex.split(line)
        assert words[0] == "plaidwork"
        if line == SLOW:
            words += ["--skip", "timing", "--skip", "mid_sweep", "--skip", "degenerate"]
        _run([sys.executable, "-m", "plaidwork.core.cli", *words[1:]], folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where every block was run, one after the other."""
    where = tmp_path_factory.mktemp("tutorial")
    for kind, code in BLOCKS:
        _do(kind, code, where)
    return where


@pytest.mark.slow
@pytest.mark.xdist_group("tutorial")
def test_every_block_runs(folder):
    assert [kind for kind, _ in BLOCKS].count("python") >= 7


@pytest.mark.slow
def test_the_finished_model_passes_every_check(tmp_path):
    folder = tmp_path  # on its own: the other tests may not have been run
    for kind, code in BLOCKS:
        if PLACE.match(code):
            _do(kind, code, folder)
    _run([sys.executable, "-m", "plaidwork.core.cli", *SLOW.split()[1:]], folder)


def test_the_first_model_is_short():
    first = next(code for _, code in BLOCKS if code.startswith("# file: mine/groups.py"))
    assert len([line for line in first.splitlines() if line.strip()]) <= 80


@pytest.mark.slow
@pytest.mark.xdist_group("tutorial")
def test_the_package_test_runs(folder):
    """The test of section 6, beside the module."""
    path = folder / "groups-package" / "tests"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(path)]
    found = subprocess.run(
        command,
        cwd=path,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join((str(folder / "mine"), os.environ.get("PYTHONPATH", ""))),
        },
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert found.returncode == 0, found.stdout[-3000:]
