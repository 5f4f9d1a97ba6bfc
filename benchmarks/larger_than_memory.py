"""Group factor analysis of a matrix that is larger than memory: peak memory, seconds a sweep, recovery of planted factors.

Writes a simulated matrix of float32 to a temporary file, some samples at a time, and fits it in a process of its own that may not
have more than ``--limit`` GiB of memory of its own (``RLIMIT_DATA``, where the system knows that)::

    python benchmarks/larger_than_memory.py                                         # 20,000 x 2,000, to the end
    python benchmarks/larger_than_memory.py --samples 200000 --features 20000 --sweeps 5 --limit 4     # 16 GB
    python benchmarks/larger_than_memory.py --in-memory                             # the same fit with all of it in memory
    python benchmarks/larger_than_memory.py --packed shuffle                        # from an .h5ad file in packed chunks

``--init random`` leaves out the search for components before the first sweep, which goes through the file 21 times: to see what a sweep
takes, not to find factors.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

AT_ONCE = 4096
"""Samples that are simulated at a time."""
PACKED: dict[str, dict[str, Any]] = {
    "no": {},
    "gzip": {"compression": "gzip"},
    "shuffle": {"compression": "gzip", "compression_opts": 1, "shuffle": True},
    "lzf": {"compression": "lzf"},
}


def simulated(n: int, d: int, k: int, seed: int) -> tuple[np.ndarray, Iterator[np.ndarray]]:
    """(n, k) planted factors, each with weights on some three in ten features, and the (n, d) values made of them, some rows at a time."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((n, k), dtype=np.float32)
    w = rng.standard_normal((k, d), dtype=np.float32) * (rng.random((k, d)) < 0.3)
    mean = rng.standard_normal(d, dtype=np.float32)

    def rows() -> Iterator[np.ndarray]:
        for lo in range(0, n, AT_ONCE):
            part = z[lo : lo + AT_ONCE] @ w + mean
            yield part + rng.standard_normal(part.shape, dtype=np.float32)

    return z, rows()


def write(path: Path, args: argparse.Namespace) -> None:
    """Write the values as npy, or packed in an .h5ad file, and the factors beside them."""
    n, d = args.samples, args.features
    z, parts = simulated(n, d, args.factors, 1)
    np.save(truth_of(path), z)
    if not args.packed:
        with path.open("wb") as file:
            npy.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (n, d)})
            for part in parts:
                file.write(part.astype("<f4").data)
        return
    import h5py

    with h5py.File(path, "w") as file:
        for name, size in (("obs", n), ("var", d)):
            names = file.create_group(name).create_dataset(
                "_index", data=[f"{name} {i}" for i in range(size)]
            )
            names.parent.attrs["_index"] = "_index"
        cells = file.create_dataset("X", (n, d), "f4", chunks=True, **PACKED[args.packed])
        for place, part in enumerate(parts):
            cells[place * AT_ONCE : place * AT_ONCE + len(part)] = part
        print(f"chunks of {cells.chunks}", flush=True)


def truth_of(path: Path) -> Path:
    return path.with_suffix(".truth.npy")


def memory() -> dict[str, int]:
    """Bytes of this process by kind: anonymous memory, and pages of files."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines if line.startswith("Rss")}


class Watch(threading.Thread):
    """The most memory of each kind, looked at twenty times a second."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most: dict[str, int] = {}

    def run(self) -> None:
        while True:
            for kind, size in memory().items():
                self.most[kind] = max(size, self.most.get(kind, 0))
            time.sleep(0.05)


def recovery(found: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Of each true factor the largest absolute correlation with a found one."""
    return np.abs(np.corrcoef(truth.T, found.T)[: truth.shape[1], truth.shape[1] :]).max(axis=1)


def fit_in_child(args: argparse.Namespace) -> None:
    """Fit ``args.file`` and print what it took."""
    if args.limit:
        import resource

        size = int(args.limit * 2**30)
        resource.setrlimit(resource.RLIMIT_DATA, (size, size))
    from plaidwork.core.data.importers.reading import read_dataset
    from plaidwork.core.inference.events import Started, Swept
    from plaidwork.core.session.fitting import fit

    watch = Watch()
    watch.start()
    began = time.monotonic(), time.process_time()

    def tell(what: str) -> None:
        sizes = ", ".join(f"{kind} {size / 2**20:.0f} MiB" for kind, size in watch.most.items())
        wall, cpu = time.monotonic() - began[0], time.process_time() - began[1]
        print(f"{what}: {wall:.0f} s, {cpu:.0f} s of CPU; peak so far: {sizes}", flush=True)

    where = "memory" if args.in_memory else "file"
    dataset = read_dataset(args.file, {"values_in": where, "samples_in": "rows"})
    tell("read")

    def on_event(_: object, event: object) -> None:
        if isinstance(event, Started):
            tell("state made")
        elif isinstance(event, Swept) and (event.sweep <= 5 or event.sweep % 10 == 0):
            tell(f"sweep {event.sweep}")

    settings = {"n_factors": args.factors + 4, "init": args.init}
    plain = {"max_sweeps": args.sweeps} if args.sweeps else {}
    run = fit("group_factor", {"views": [dataset]}, settings, chains=1, progress=on_event, **plain)
    tell("fitted, with results")
    sweeps = len(run.chains[0].trace.rows())
    bound = run.chains[0].trace.rows()[:, 0]
    scores = np.asarray(run.results["scores"].values)
    print(f"{sweeps} sweeps; bound {bound[-1]:.6g}; falls of the bound: {int((np.diff(bound) < 0).sum())}")
    print(run.results["headline"])
    found = recovery(scores, np.load(truth_of(Path(args.file))))
    print(f"recovery of the planted factors: {np.round(np.sort(found), 4).tolist()}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--features", type=int, default=2_000)
    parser.add_argument("--factors", type=int, default=8, help="planted ones; the fit begins with four more")
    parser.add_argument("--sweeps", type=int, default=0, help="the most sweeps; 0: until it stops by itself")
    parser.add_argument("--init", default="varimax")
    parser.add_argument(
        "--limit", type=float, default=0.0, help="GiB of memory of its own that the fit may have"
    )
    parser.add_argument("--in-memory", action="store_true")
    parser.add_argument(
        "--packed", choices=PACKED, help="an .h5ad file in chunks, packed so, in place of an npy file"
    )
    parser.add_argument("--folder", type=Path, help="where the file is written, and removed from again")
    parser.add_argument("--file", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.file:
        fit_in_child(args)
        return
    with tempfile.TemporaryDirectory(prefix="plaidwork-large-", dir=args.folder) as folder:
        path = Path(folder) / f"large.{'h5ad' if args.packed else 'npy'}"
        write(path, args)
        print(f"{args.samples} x {args.features} float32: {path.stat().st_size / 1e9:.2f} GB", flush=True)
        subprocess.run([sys.executable, __file__, *sys.argv[1:], "--file", str(path)], check=True)


if __name__ == "__main__":
    main()
