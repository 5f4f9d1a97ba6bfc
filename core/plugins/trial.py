"""The first import of an added plugin, tried in a process of its own: what takes that down never reaches this program.

Once for each content of its files, version of Python and of Plaidwork; what came of it is kept in the user's cache folder
(``PLAIDWORK_PLUGIN_TRIALS`` names another file, or is ``off``). A plugin that only raises is no case for it: it is imported
here next, and its error told. Built-in plugins are never tried.
"""

from __future__ import annotations

import faulthandler
import importlib
import importlib.util
import json
import os
import secrets
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from hashlib import sha256
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

from plaidwork.core import __version__
from plaidwork.core.config import read_record, write_record
from plaidwork.core.contract.plugin_info import PluginInfo
from plaidwork.core.errors import PluginError
from plaidwork.core.quoting import shell
from plaidwork.core.subprocesses import ask_for_signal, how_ended

VARIABLE = "PLAIDWORK_PLUGIN_TRIALS"
MOST_SECONDS = 60.0
"""Longest trial; what was left behind unfinished by two starts that waited for it is not tried again either."""
_UNFINISHED = 2
_NO_MEMORY = 12
_HASHED, _SHOWN = 4 << 20, 4000
_START = (
    "import json,sys;sys.path[:]=json.loads(sys.argv[1]);from plaidwork.core.plugins.trial import main;main()"
)


class Deadly(PluginError):
    """A plugin that is not imported, because its trial took a process down; ``report`` is what that left behind."""

    def __init__(self, message: str, hint: str = "", report: str = "") -> None:
        super().__init__(message, hint, hook="import")
        self.report = report


def survive(info: PluginInfo, patience: float) -> None:
    """Return when importing the plugin is safe, as far as a trial tells; in a thread that may wait.

    Raises ``Deadly`` when it is not. ``patience`` is how long whoever starts the program waits for one plugin.
    """
    if os.environ.get(VARIABLE) == "off" or getattr(sys, "frozen", False) or not sys.executable:
        return
    key = fingerprint(info)
    known = read_record(_file()).get(info.name)
    known = known if isinstance(known, dict) and known.get("key") == key else {}
    if known.get("unfinished", 0) >= _UNFINISHED:
        known["fault"] = f"importing it did not come to an end in {_UNFINISHED} starts"
    if "fault" not in known:
        fault, report = _tried(info, patience, key, int(known.get("unfinished", 0)))
        known = {"key": key, "fault": fault, "report": report}
        _keep(info.name, known)
    if known["fault"]:
        raise Deadly(
            str(known["fault"]),
            f"It is left out until its files change. To try it again: plaidwork plugin enable {shell(info.name)}",
            str(known.get("report", "")),
        )


def forget(name: str) -> None:
    """Have a plugin tried again at its next import."""
    _keep(name, None)


def fingerprint(info: PluginInfo) -> str:
    """SHA-256 of a plugin's files, with the versions of Python and Plaidwork; nothing is imported."""
    found = sha256(f"{info.module} {info.version} {sys.version} {__version__}".encode())
    for root in _roots(info):
        paths = sorted(root.rglob("*")) if root.is_dir() else [root]
        for path in paths:
            if "__pycache__" in path.parts or not path.is_file():
                continue
            about = path.stat()
            found.update(f"{path.relative_to(root.parent)} {about.st_size}".encode())
            found.update(path.read_bytes() if about.st_size <= _HASHED else str(about.st_mtime_ns).encode())
    return found.hexdigest()


def _roots(info: PluginInfo) -> list[Path]:
    """The module's file, or the folder of its package."""
    top = info.module.partition(":")[0].partition(".")[0]
    if info.source == "folder" and info.path is not None:
        inside = [info.path, info.path / f"{top}.py", info.path / top]
        return [path for path in inside if path.is_file() or (path / "__init__.py").is_file()]
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return []
    if spec is None:
        return []
    places = [Path(place) for place in spec.submodule_search_locations or ()]
    return places or ([Path(spec.origin)] if spec.origin and Path(spec.origin).is_file() else [])


def _file() -> Path:
    return Path(os.environ.get(VARIABLE) or user_cache_path("plaidwork", appauthor=False) / "trials.json")


def _keep(name: str, what: dict[str, Any] | None) -> None:
    record = read_record(_file())
    if what is None and name not in record:
        return
    record[name] = what
    try:
        write_record(_file(), {name: what for name, what in record.items() if what is not None})
    except OSError:  # it is tried at each start then
        return


# -- this side ---------------------------------------------------------------------------------------
def _tried(info: PluginInfo, patience: float, key: str, unfinished: int) -> tuple[str, str]:
    """What was wrong, in words (nothing when it lived), and the last that the process said."""
    token = secrets.token_hex(16)
    folder = str(info.path if info.path and info.path.is_dir() else info.path.parent) if info.path else ""
    if info.source == "folder" and info.path is not None and (info.path / "__init__.py").is_file():
        folder = str(info.path.parent)
    job = {"name": info.name, "module": info.module, "token": token}
    paths = [*sys.path, *([folder] if info.source == "folder" and folder not in sys.path else [])]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START, json.dumps(paths)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=said, env={**os.environ, "PYTHONUTF8": "1", VARIABLE: "off"},
        )  # fmt: skip
        try:
            fault = _ending(
                process, job, patience, lambda: _keep(info.name, {"key": key, "unfinished": unfinished + 1})
            )
        finally:
            process.kill()
            process.wait()
        size = said.seek(0, os.SEEK_END)
        said.seek(max(0, size - _SHOWN))
        return fault, said.read().decode("utf-8", "replace").strip() if fault else ""


def _ending(process: subprocess.Popen[bytes], job: dict[str, str], patience: float, late: Any) -> str:
    asked, answer = process.stdin, process.stdout
    assert asked is not None
    assert answer is not None
    with suppress(OSError):
        asked.write(json.dumps(job).encode() + b"\n")
        asked.flush()  # and stays open: the other side ends when we do
    heard: list[bytes] = []
    reader = threading.Thread(target=lambda: heard.append(answer.read(64)), daemon=True)
    reader.start()
    reader.join(0.8 * patience)  # before the program is done without it, and may end
    if reader.is_alive():
        late()
        reader.join(max(0.0, MOST_SECONDS - 0.8 * patience))
    if reader.is_alive():
        return f"importing it did not come to an end within {MOST_SECONDS:g} s"
    if heard and heard[0].decode("ascii", "replace") == job["token"]:
        return ""
    code = process.wait()
    if code == _NO_MEMORY:
        return f"importing it needs more than {_most_memory() / 2**30:.0f} GiB of memory"
    return f"importing it takes the program down: the process that tried it {how_ended(code)}"


# -- the other side ----------------------------------------------------------------------------------
def main() -> None:
    """Import the plugin that the line on standard input names, and call its hooks; then say the word and go, whatever
    threads it has left behind."""
    job = json.loads(sys.stdin.readline())
    answer = os.dup(1)
    os.dup2(2, 1)  # what it prints is not taken for the answer
    faulthandler.enable()
    _end_with_parent()
    _bound_memory()
    try:
        _import(job)
    except MemoryError:
        os._exit(_NO_MEMORY)
    except BaseException:  # told by the program, which imports it next and has the same
        pass
    os.write(answer, job["token"].encode())
    os._exit(0)


def _import(job: dict[str, str]) -> None:
    from plaidwork.core.plugins.contributions import collect

    info = PluginInfo(job["name"], job["module"], "installed")
    collect(info, EntryPoint(job["name"], job["module"], "plaidwork").load())


def _end_with_parent() -> None:
    def wait() -> None:
        os.read(0, 1)
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
    if sys.platform == "linux":
        ask_for_signal(0)


def _most_memory() -> int:
    """Bytes of address space for an import: a quarter of the memory there is, but 4 GiB at least."""
    try:
        return max(4 << 30, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4)
    except (AttributeError, ValueError, OSError):
        return 4 << 30


def _bound_memory() -> None:
    try:
        import resource

        most, hard = _most_memory(), resource.getrlimit(resource.RLIMIT_AS)[1]
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_AS, (bound, hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, ValueError, OSError):
        return
