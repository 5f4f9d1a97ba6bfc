"""How fast large sessions are saved and opened, beside what the disk itself does: ``python benchmarks/session.py [GB] [FOLDER]``.

Half of the bytes are data, half a result of a run. All is measured in the same run, each once, after thrice as many bytes were
written and removed: memory that a virtual machine has never used before takes longer than the disk. Opening is with a warm cache of
files, and its memory is what the process that opens has more than before; then the data, half of the file, are read.

While the autosave goes on, another thread looks at the clock every 2 ms: the longest gap between two looks, without what it waited for a
processor (the kernel's account, Linux), is how long a window would have waited. The same for sessions of a twentieth of
the size that consist of other things than large matrices.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.recovery import write_recovery
from plaidwork.core.session.session import Session

_OPENS = """
import json, re, sys, time
from functools import partial
from pathlib import Path
from plaidwork.core.session.session import open_session
import plaidwork.core.session.store.session_file
def most():
    status = Path("/proc/self/status")
    return int(re.search(r"VmHWM:[^0-9]*([0-9]+)", status.read_text())[1]) * 1024 if status.exists() else 0
before, start = most(), time.perf_counter()
session = open_session(sys.argv[1])
opened, used, start = time.perf_counter() - start, most() - before, time.perf_counter()
session.datasets["data"].values
print(json.dumps({"open": opened, "memory": used, "read": time.perf_counter() - start}))
"""


def main(size: float, folder: Path) -> None:
    """Print one line for each figure; files of thrice ``size`` bytes are written to ``folder`` for the time it takes."""
    session = _session(size)
    with tempfile.TemporaryDirectory(dir=folder) as made:
        _write(Path(made) / "warm", round(3 * size))
        (Path(made) / "warm").unlink()
        path = Path(made) / "s.plaidwork"
        saved = _timed(lambda: session.save(path))
        size = path.stat().st_size
        written = _timed(lambda: _write(Path(made) / "bytes", size))
        rescued, gap = _watched(lambda: write_recovery(session, Path(made)))
        others = {
            name: _watched(partial(write_recovery, make(size / 20), Path(made)))[1]
            for name, make in OTHERS.items()
        }
        done = subprocess.run(
            [sys.executable, "-c", _OPENS, str(path)], capture_output=True, text=True, check=True
        )
        opened = json.loads(done.stdout)
    print(f"file                 {size / 1e9:8.2f} GB")
    for name, seconds in (("sequential write", written), ("save", saved), ("autosave", rescued)):
        print(f"{name:20} {seconds:8.2f} s  {size / 1e6 / seconds:7.0f} MB/s")
    for name, seconds in {"the data above": gap, **others}.items():
        print(f"gap, {name:15} {1e3 * seconds:8.0f} ms")
    print(f"open                 {opened['open']:8.2f} s")
    print(f"memory of opening    {opened['memory'] / 1e9:8.2f} GB")
    print(f"read the data        {opened['read']:8.2f} s")


def _session(size: float) -> Session:
    """A session of about so many bytes."""
    rng = np.random.default_rng(1)
    rows = max(20, round(size / 2 / 8 / 2000))
    names = tuple(f"r{number}" for number in range(rows))
    session = Session("large")
    values = rng.normal(size=(rows, 2000))
    data = session.add_dataset(Dataset("data", values, names, tuple(f"c{n}" for n in range(2000))))
    model = registry().model("bayesian_plaid")
    small = data.with_(name="small", values=values[:20], row_names=names[:20])
    plan = make_plan(
        model, {model.spec.inputs[0].name: small}, schedule=Schedule(chains=1, warmup=0, draws=1)
    )
    run = session.add_run(plan)
    run.results = {"fitted": Result(rng.normal(size=(rows, 2000)), ("x", "y"))}
    return session


def _names(size: float) -> Session:
    """Names of very many rows."""
    session, rows = Session("names"), round(size / 40)
    names = tuple(f"sample {number}" for number in range(rows))
    session.add_dataset(Dataset("data", np.zeros((rows, 1)), names, ("c",)))
    return session


def _words(size: float) -> Session:
    """Texts, in a column of annotations and in a choice of a view."""
    session = _names(size / 2)
    data = session.datasets["data"]
    words = np.array([f"word {number % 1000}" for number in range(len(data.row_names))], dtype=object)
    session.datasets["data"] = data.with_(row_table={"word": words})
    session.views["words"] = {"words": words.tolist(), "numbers": np.linspace(0, 1, len(words)).tolist()}
    return session


def _draws(size: float) -> Session:
    """Very many small draws."""
    session = _session(1)
    run = session.runs[next(iter(session.runs))]
    chain, rng = run.chains[0], np.random.default_rng(1)
    count = round(size / 2000)
    entries = {
        variable.name: [
            rng.normal(size=(2,) * len(variable.dims))
            if variable.dtype != "bool"
            else rng.integers(0, 255, (2, 1)).astype(np.uint8)
        ]
        * count
        for variable in run.spec.variables
    }
    shapes = {v.name: (2,) * (len(v.dims) - v.ragged) for v in run.spec.variables}
    chain.draws.extend_packed(entries, shapes)
    chain.trace.extend(np.zeros((count, len(chain.trace.names))))
    chain.sweep, chain.stateless = count, True
    return session


OTHERS = {"names": _names, "words": _words, "small draws": _draws}


def _watched(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds that it takes, and the longest that another thread had to wait for the interpreter meanwhile."""
    over, longest = threading.Event(), [0.0]

    def look() -> None:
        waited = _account_of_this_thread()
        last, before = time.perf_counter(), waited()
        while not over.wait(0.002):
            now, waits = time.perf_counter(), waited()
            longest[0] = max(longest[0], now - last - (waits - before))
            last, before = now, waits

    other = threading.Thread(target=look)
    other.start()
    try:
        seconds = _timed(work)
    finally:
        over.set()
        other.join()
    return seconds, longest[0]


def _account_of_this_thread() -> Callable[[], float]:
    """Seconds for which this thread could have run and had no processor; 0 where the system does not say."""
    try:
        file = open(f"/proc/self/task/{threading.get_native_id()}/schedstat", "rb", buffering=0)  # noqa: SIM115
    except OSError:
        return lambda: 0.0
    return lambda: int(os.pread(file.fileno(), 64, 0).split()[1]) / 1e9


def _write(path: Path, size: int) -> None:
    block = os.urandom(1 << 24)
    with path.open("wb") as file:
        for _ in range(size // len(block)):
            file.write(block)
        file.flush()
        os.fsync(file.fileno())


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    arguments = sys.argv[1:]
    main(float(arguments[0]) * 1e9 if arguments else 1e9, Path(arguments[1] if arguments[1:] else "."))
