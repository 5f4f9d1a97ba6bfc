"""A process that opens one file after the other as the program does, and tells what became of each.

``python -m fuzz.reading``: a line of JSON in (``kind``, ``path``), a line of JSON out (:class:`fuzz.counting.Outcome`). It has limits of
memory; who started it watches the time.
"""

from __future__ import annotations

import json
import os
import re
import sys
import traceback
import warnings
from pathlib import Path
from time import perf_counter
from typing import Any

from fuzz.places import is_own

from plaidwork.core.data.importers import _damage
from plaidwork.core.data.importers.reading import find_reader, read_dataset, read_datasets
from plaidwork.core.errors import PlaidworkError
from plaidwork.core.hdf5.limits import Limits
from plaidwork.core.session.session import Session
from plaidwork.core.session.store import session_file

_MOST = 3 << 30
_STATUS = Path("/proc/self/status")
TEXTS = {"text_source": "folder"}


def open_file(kind: str, path: Path) -> None:
    """All that happens to a file that somebody opens or imports. Raises ``PlaidworkError`` for one that is refused."""
    if kind == "session":  # what the process does that reads a stranger's file first, and then the program
        session_file.content_size(path)
        session_file.load(path, Session, Limits(), probed=True)
        return
    if kind == "texts":
        read_dataset(path, TEXTS)
        return
    shown = find_reader(path).preview(path, {})
    assert shown.path == path
    read_dataset(path)
    read_datasets(path)


class _Watch:
    """Files that were opened though they lie outside the folder of the case, and whatever else no reader should do."""

    _NEVER = ("os.system", "os.exec", "os.fork", "os.posix_spawn", "subprocess.Popen", "socket.connect", "pickle.find_class", "shutil.rmtree")  # fmt: skip

    def __init__(self) -> None:
        self.folder, self.seen, self.on = "", [], False
        sys.addaudithook(self._look)

    def _look(self, event: str, values: tuple[Any, ...]) -> None:
        if not self.on:
            return
        if event in self._NEVER:
            self.seen.append(event)
        elif event == "open" and isinstance(values[0], (str, bytes)):
            name = os.path.realpath(os.fsdecode(values[0]))
            if not is_own(name, self.folder):
                self.seen.append(name)


def _bound() -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    used = (
        int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        if _STATUS.exists()
        else 0
    )
    resource.setrlimit(resource.RLIMIT_AS, (used + _MOST, used + _MOST))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _memory(word: str) -> int:
    """Bytes in use now (``VmRSS``) or at most (``VmHWM``)."""
    return (
        1024 * int(re.search(rf"{word}:[^0-9]*([0-9]+)", _STATUS.read_text())[1]) if _STATUS.exists() else 0
    )


def _judge(kind: str, path: Path, watch: _Watch) -> dict[str, Any]:
    if _STATUS.exists():
        Path("/proc/self/clear_refs").write_text("5")  # the most so far is forgotten
    before, began = _memory("VmRSS"), perf_counter()
    watch.folder, watch.seen, watch.on = os.path.realpath(path.parent), [], True
    outcome = details = ""
    try:
        open_file(kind, path)
        outcome = "opened"
    except PlaidworkError as error:
        outcome, details = "refused", str(error)
    except BaseException:  # anything that a user would see as a crash
        outcome, details = "error", traceback.format_exc()
    watch.on = False
    return {
        "outcome": outcome,
        "details": details,
        "seconds": perf_counter() - began,
        "bytes": max(0, _memory("VmHWM") - before),
        "foreign": watch.seen,
    }


def main() -> None:
    """Serve until there are no more files."""
    session_file.machine_limits = _damage.machine_limits = lambda ours=False: Limits()
    sys.setrecursionlimit(1000)
    warnings.simplefilter("ignore")
    for kind in ("xlsx", "ods", "parquet"):  # what is loaded once counts for no file
        __import__({"xlsx": "python_calamine", "ods": "zipfile", "parquet": "pyarrow.parquet"}[kind])
    import PIL.Image
    import scipy.io

    assert scipy.io
    PIL.Image.init()
    watch = _Watch()
    _bound()
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is no answer
    for line in sys.stdin:
        case = json.loads(line)
        out.write(json.dumps(_judge(case["kind"], Path(case["path"]), watch)) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
