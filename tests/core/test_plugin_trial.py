"""Plugins that take a process down when they are imported: tried elsewhere, named, left out, tried again on request."""

import json
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from processes_seen import children_of, is_alive

from plaidwork.core.contract.plugin_info import PluginInfo
from plaidwork.core.plugins import trial
from plaidwork.core.plugins.registry import Registry

GOOD = """
    from plaidwork.core.api import Sample
    __version__ = "1.0"
    def plaidwork_samples():
        return []
"""
DEEDS = {
    "exits": ("import os\nos._exit(0)\n", "the process that tried it ended with code 0"),
    "crashes": (
        "import ctypes\nctypes.string_at(0)\n",
        "the process that tried it was ended by a segmentation fault (SIGSEGV)",
    ),
    "eats": (
        "import numpy as np\nfound = []\nwhile True:\n    found.append(np.zeros(1 << 25))\n",
        "GiB of memory",
    ),
    "endless": ("while True:\n    pass\n", "did not come to an end within 4 s"),
}
QUICK, SLOW = ["exits"], ["crashes", "eats", "endless"]
CASES = [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The user's plugin folder, with trials, whose record is in ``trials.json`` beside it."""
    made = tmp_path / "plugins"
    made.mkdir()
    for name, value in (
        ("PLUGINS", made),
        ("CONFIG", tmp_path / "config"),
        ("PLUGIN_TRIALS", tmp_path / "trials.json"),
    ):
        monkeypatch.setenv(f"PLAIDWORK_{name}", str(value))
    return made


def _write(folder, name, source):
    (folder / f"{name}.py").write_text(textwrap.dedent(source), encoding="utf-8")


def _guests(monkeypatch, limit=60.0):
    monkeypatch.setattr("plaidwork.core.plugins.finding.pkgutil.iter_modules", lambda path: ())
    monkeypatch.setattr("plaidwork.core.plugins.finding.entry_points", lambda group: [])
    return {info.name: info for info in Registry(limit=limit).load().plugins}


def _until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("deed", CASES)
def test_a_deadly_import_is_named_and_left_out(folder, monkeypatch, deed):
    source, words = DEEDS[deed]
    _write(folder, f"guest_{deed}", source)
    if deed == "endless":
        monkeypatch.setattr(trial, "MOST_SECONDS", 4.0)
    else:
        _write(folder, f"beside_{deed}", GOOD)
    found = _guests(monkeypatch, 1.0 if deed == "endless" else 60.0)
    info = found[f"guest_{deed}"]
    if deed == "endless":
        assert info.state == "loading"
        assert json.loads((folder.parent / "trials.json").read_text())["guest_endless"]["unfinished"] == 1
        _until(lambda: info.state != "loading")
    assert info.state == "failed"
    assert words in info.message
    assert f"plaidwork plugin enable guest_{deed}" in info.message
    assert info.fault.hook == "import"
    if deed == "crashes":
        assert "guest_crashes.py" in info.details, "where it crashed"
    assert f"guest_{deed}" not in sys.modules
    assert deed == "endless" or found[f"beside_{deed}"].state == "ok"


@pytest.mark.long
def test_what_came_of_it_is_kept_until_the_files_change(folder, monkeypatch):
    _write(folder, "guest_kept", DEEDS["exits"][0])
    tried, ending = [], trial._ending
    monkeypatch.setattr(trial, "_ending", lambda *a: tried.append(1) or ending(*a))
    assert _guests(monkeypatch)["guest_kept"].state == "failed"
    assert _guests(monkeypatch)["guest_kept"].state == "failed"
    assert len(tried) == 1
    _write(folder, "guest_kept", GOOD)
    assert _guests(monkeypatch)["guest_kept"].state == "ok"
    assert _guests(monkeypatch)["guest_kept"].state == "ok"
    assert len(tried) == 2


@pytest.mark.long
def test_it_is_tried_again_on_request(folder, tmp_path, monkeypatch):
    _write(
        folder,
        "guest_again",
        f"import os\nif os.path.exists({str(tmp_path / 'bad')!r}):\n    os._exit(3)\n{textwrap.dedent(GOOD)}",
    )
    (tmp_path / "bad").touch()
    monkeypatch.setattr("plaidwork.core.plugins.finding.pkgutil.iter_modules", lambda path: ())
    monkeypatch.setattr("plaidwork.core.plugins.finding.entry_points", lambda group: [])
    found = Registry(limit=60).load()
    assert found.plugins[0].state == "failed"
    (tmp_path / "bad").unlink()
    assert Registry(limit=60).load().plugins[0].state == "failed", "left out, though it would live now"
    assert found.enable("guest_again").state == "ok"
    assert Registry(limit=60).load().plugins[0].state == "ok"


def test_what_only_raises_is_told_by_the_program(folder, monkeypatch):
    _write(folder, "guest_raises", "raise KeyError('x')\n")
    info = _guests(monkeypatch)["guest_raises"]
    assert "KeyError: 'x'" in info.message
    assert info.fault.frame.startswith("guest_raises.py:1")


def test_left_behind_twice_is_not_tried_a_third_time(folder, tmp_path, monkeypatch):
    _write(folder, "guest_slow", "raise SystemExit\n")
    info = PluginInfo("guest_slow", "guest_slow", "folder", path=folder / "guest_slow.py")
    record = {"guest_slow": {"key": trial.fingerprint(info), "unfinished": 2}}
    (tmp_path / "trials.json").write_text(json.dumps(record))
    with pytest.raises(trial.Deadly, match="did not come to an end in 2 starts"):
        trial.survive(info, 1.0)


@pytest.mark.slow
def test_models_are_listed_beside_a_plugin_that_crashes(folder):
    _write(folder, "guest_crash", DEEDS["crashes"][0])

    def run(*words):
        return subprocess.run(
            [sys.executable, "-m", "plaidwork.core.cli", *words],
            capture_output=True,
            text=True,
            env=dict(os.environ),
            check=False,
        )

    first, second = run("models"), run("models")
    for done in (first, second):
        assert done.returncode == 0
        assert "infinite_plaid" in done.stdout
        assert "The plugin guest_crash was left out (failed)" in done.stderr
    _write(folder, "guest_crash", GOOD)
    assert run("plugin", "enable", "guest_crash").returncode == 0
    assert "guest_crash" not in run("models").stderr


def _bound_to_its_parent(pid):
    """Whether a process has asked for a signal at the end of its standard input. Others, short-lived ones that imports
    start, have not, and may be gone at any moment."""
    try:
        return Path(f"/proc/{pid}/fdinfo/0").read_text().split("flags:")[1].split()[0].endswith("20000")
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    "source", ["while True:\n    pass\n", "import ctypes\nctypes.PyDLL(None).sleep(3600)\n"]
)
def test_a_trial_ends_with_the_program(folder, source):
    _write(folder, "guest_forever", source)
    code = "from plaidwork.core.plugins.registry import Registry\nRegistry(limit=60).load()"
    parent = subprocess.Popen([sys.executable, "-c", code])
    try:
        _until(lambda: any(map(_bound_to_its_parent, children_of(parent.pid))))
        (child,) = filter(_bound_to_its_parent, children_of(parent.pid))
        time.sleep(1.0)  # now it imports
    finally:
        parent.kill()
        parent.wait()
    _until(lambda: not is_alive(child), 20)
