"""How fast large sessions are saved and opened, beside what the disk itself does: ``python benchmarks/session.py [GB] [FOLDER]``.

Half of the bytes are data, half a result of a run. All is measured in the same run, each once, after thrice as many bytes were
written and removed: memory that a virtual machine has never used before takes longer than the disk. Opening is with a warm cache of
files, and its memory is what the process that opens has more than before; then the data, half of the file, are read.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
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
        rescued = _timed(lambda: write_recovery(session, Path(made)))
        done = subprocess.run(
            [sys.executable, "-c", _OPENS, str(path)], capture_output=True, text=True, check=True
        )
        opened = json.loads(done.stdout)
    print(f"file                 {size / 1e9:8.2f} GB")
    for name, seconds in (("sequential write", written), ("save", saved), ("autosave", rescued)):
        print(f"{name:20} {seconds:8.2f} s  {size / 1e6 / seconds:7.0f} MB/s")
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
