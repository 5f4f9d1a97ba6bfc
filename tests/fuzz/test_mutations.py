"""Files changed at random, and files made to do harm: refused or opened, and nothing else, within bounds of memory and time.

Many more: ``PYTHONPATH=tests python -m fuzz`` (CONTRIBUTING.md).
"""

import json
import shutil
import subprocess
import sys
import time

import pytest
from fuzz import counting
from fuzz.bombs import BOMBS
from fuzz.counting import KINDS, Outcome, Reader, cases, line, run
from fuzz.samples import make
from fuzz.traced import Log, prefix
from sparing import some

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits and counts of Linux")
_BEFORE = 100_000
"""Numbers from here on are those of the tests; the command begins at 0."""
_QUICK = ("columns without a row", "cells far from each other")


@pytest.fixture
def reader(tmp_path):
    made = Reader(tmp_path)
    yield made
    made.close()


def _sound(found):
    assert not [item for item in found if item.bad], "\n".join(str(item) for item in found if item.bad)


@pytest.mark.long
def test_a_few_files_of_every_format(tmp_path, reader):
    for kind in KINDS[1:]:
        _sound(list(run(kind, range(_BEFORE, _BEFORE + 2), tmp_path, reader)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_files(kind, tmp_path, reader):
    found = list(run(kind, range(_BEFORE, _BEFORE + 300), tmp_path, reader))
    _sound(found)
    assert {item.outcome for item in found} == {"opened", "refused"}, line(kind, found)


@pytest.mark.slow
def test_sound_files_open(tmp_path, reader):
    for kind in KINDS:
        for path in make(kind, tmp_path / kind.replace(" ", "-")):
            assert reader.open(kind, path)["outcome"] == "opened", kind


@pytest.mark.long
@pytest.mark.parametrize("name", some(list(BOMBS), _QUICK))
def test_what_would_grow_without_bound_is_refused(tmp_path, reader, name):
    kind, file, write = BOMBS[name]
    (tmp_path / "case").mkdir()
    write(tmp_path / "case" / file)
    found = Outcome(kind, 0, name, **reader.open(kind, tmp_path / "case" / file))
    assert found.outcome == "refused", found
    assert found.bytes < counting.BYTES, found
    assert "Traceback" not in found.details


def test_a_case_is_made_again_from_its_number(tmp_path):
    def bytes_of(number, folder):
        (case,) = cases("csv", [number], folder, 7)
        return case[1], case[2].read_bytes()

    assert bytes_of(3, tmp_path / "a") == bytes_of(3, tmp_path / "b") != bytes_of(4, tmp_path / "c")


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_what_python_is_not_told_of_is_seen_by_strace(tmp_path):
    """A file that a library opens, also by a link, and a program that is started; none of what lies in the folder of the case."""
    (tmp_path / "case").mkdir()
    (tmp_path / "case" / "own.txt").write_text("x")
    (tmp_path / "case" / "link.txt").symlink_to("/etc/passwd")
    code = "import ctypes; c = ctypes.CDLL(None); [c.open(name.encode(), 0) for name in ('case/own.txt', 'case/link.txt')]; c.system(b'true')"
    log = Log(tmp_path / "calls.txt")
    subprocess.run([*prefix(log.path), sys.executable, "-c", code], cwd=tmp_path, check=True)
    for _ in range(100):  # who watches ends after whom it watched
        found = log.path.read_text() if log.path.exists() else ""
        if found.count("link.txt") and "execve" in found.partition("link.txt")[2]:
            break
        time.sleep(0.05)
    assert log.foreign(tmp_path / "case", first=True)[:2] == ["/etc/passwd", "execve"]


_WRONG = """
import json, os, sys, time
for line in sys.stdin:
    case = json.loads(line)
    if case["path"].endswith("dies"):
        os.kill(os.getpid(), 11)
    if case["path"].endswith("hangs"):
        time.sleep(60)
    print(json.dumps({"outcome": "opened", "bytes": 2 << 30 if case["path"].endswith("large") else 0}), flush=True)
"""


def test_what_is_wrong_is_counted(tmp_path, monkeypatch):
    """The counting itself, with a process that dies, hangs and takes memory when it is told to."""
    from subprocess import PIPE, Popen

    monkeypatch.setattr(counting, "SECONDS", 0.5)
    monkeypatch.setattr(
        Reader, "_start", lambda self: Popen([sys.executable, "-c", _WRONG], stdin=PIPE, stdout=PIPE)
    )
    reader = Reader(tmp_path)
    found = [
        Outcome("csv", number, "", **reader.open("csv", tmp_path / name))
        for number, name in enumerate(("sound", "dies", "sound", "hangs", "large"))
    ]
    reader.close()
    assert [item.outcome for item in found] == ["opened", "crashed", "opened", "hung", "opened"]
    assert [item.bad for item in found] == [False, True, False, True, True]
    assert json.loads(json.dumps(line("csv", found))).split(" | ")[:7] == [
        "csv",
        "5",
        "0",
        "3",
        "0",
        "1",
        "1",
    ]
