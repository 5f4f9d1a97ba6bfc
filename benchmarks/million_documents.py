"""Memory and time of the models of texts on a simulated corpus of up to a million documents, from file to results.

``python benchmarks/million_documents.py make 1e6 corpus.npz`` writes documents by words as ``scipy.sparse.save_npz`` does, with 100 different
words each of 50,000, and an outcome beside it (``corpus_outcome.npy``); it holds a few thousand documents at a time.
``python benchmarks/million_documents.py fit corpus.npz hdp_topics --chains 4 --sweeps 3`` reads the file in a process of its own, fits,
summarises, saves and opens the session, and prints seconds of processor and most memory of each step (Linux). With ``--values-in file`` the counts
stay out of memory; “anonymous” is then what the process takes, and of the files as much is in memory as there is room for. What a fit
found is printed as a checksum of its traces, which does not depend on where the counts were.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import resource
import shutil
import tempfile
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numba import njit

WORDS, DIFFERENT, TOPICS, AT_ONCE = 50_000, 100, 100, 5000
OWN, MIXED = 0.5, 3
"""Share of a topic's tokens that are of its own words; topics of a document."""


@njit(cache=True)
def draw_documents(rng, running, order, topics, words, counts):
    """Words (n, DIFFERENT) in increasing order and their counts: tokens are drawn until so many words have come.

    running (V,) are the running sums of Zipf's law; word number i of topic k is ``order[k, i]``, topic 0 that of all.
    """
    times = np.zeros(order.shape[1], np.int64)
    for d in range(words.shape[0]):
        found = 0
        while found < words.shape[1]:
            k = topics[d, rng.integers(0, topics.shape[1])] if rng.random() < OWN else 0
            w = order[k, min(np.searchsorted(running, rng.random()), running.size - 1)]
            if times[w] == 0:
                words[d, found] = w
                found += 1
            times[w] += 1
        words[d] = np.sort(words[d])
        for i in range(found):
            counts[d, i] = min(times[words[d, i]], 255)
            times[words[d, i]] = 0


def make(documents: int, path: Path, seed: int = 1) -> None:
    """Write the corpus and the outcome, block by block."""
    rng = np.random.default_rng(seed)
    weight = 1.0 / (np.arange(WORDS) + 10.0)
    running = np.cumsum(weight / weight.sum())
    order = np.array([rng.permutation(WORDS) for _ in range(TOPICS + 1)])
    outcome = np.empty(documents)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        shape, room = (documents * DIFFERENT,), Path(folder)
        indices = np.lib.format.open_memmap(room / "indices.npy", "w+", np.int32, shape)
        data = np.lib.format.open_memmap(room / "data.npy", "w+", np.float32, shape)
        for lo in range(0, documents, AT_ONCE):
            n = min(AT_ONCE, documents - lo)
            topics = rng.integers(1, TOPICS + 1, (n, MIXED))
            words, counts = np.empty((n, DIFFERENT), np.int32), np.empty((n, DIFFERENT), np.float32)
            draw_documents(rng, running, order, topics, words, counts)
            cells = slice(lo * DIFFERENT, (lo + n) * DIFFERENT)
            indices[cells], data[cells] = words.ravel(), counts.ravel()
            outcome[lo : lo + n] = (topics < 4).sum(axis=1) + rng.standard_normal(n)
        indices.flush()
        data.flush()
        np.save(room / "indptr.npy", np.arange(documents + 1, dtype=np.int32) * DIFFERENT)
        np.save(room / "shape.npy", np.array([documents, WORDS]))
        np.save(room / "format.npy", np.array(b"csr"))
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
            for name in ("indices", "indptr", "format", "shape", "data"):
                with (
                    open(room / f"{name}.npy", "rb") as source,
                    archive.open(f"{name}.npy", "w", force_zip64=True) as target,
                ):
                    shutil.copyfileobj(source, target, 1 << 24)
    np.save(path.with_name(f"{path.stem}_outcome.npy"), outcome)


def memory() -> dict[str, float]:
    """GiB of this process by the names of the kernel."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return {
        line.split(":")[0]: int(line.split()[1]) / 2**20
        for line in lines
        if line.startswith(("VmRSS", "VmHWM", "RssAnon"))
    }


class Steps:
    """Prints what each step took; memory is looked at every 20 ms."""

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        most, over = [0.0, 0.0], threading.Event()

        def look() -> None:
            while not over.wait(0.02):
                now = memory()
                most[:] = max(most[0], now["RssAnon"]), max(most[1], now["VmRSS"])

        thread = threading.Thread(target=look)
        thread.start()
        begun, cpu = time.perf_counter(), time.process_time()
        yield
        seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
        over.set()
        thread.join()
        now = memory()
        print(
            f"{name:22} cpu {cpu:8.1f} s  wall {seconds:8.1f} s  anonymous {now['RssAnon']:5.2f}, at most {most[0]:5.2f} GiB, with files {most[1]:5.2f}",
            flush=True,
        )


def fit(options: argparse.Namespace) -> None:
    """One fit from the file to the results, in this process."""
    step = Steps()
    with step("imports"):
        from plaidwork.core.data.importers.reading import read_dataset
        from plaidwork.core.inference.execution import FitJob, named_executor
        from plaidwork.core.inference.memory import memory_problem, needed
        from plaidwork.core.inference.plan import estimate, make_plan
        from plaidwork.core.plugins.registry import registry
        from plaidwork.core.session.session import Session, open_session

        model = registry().model(options.model)
    with step("kernels"):
        model.prepare()
    with step("read"):
        where = {"values_in": options.values_in} if options.values_in else {}
        inputs: dict[str, Any] = {"X": read_dataset(options.corpus, where)}
        if options.model == "supervised_ibp":
            inputs["y"] = read_dataset(options.corpus.with_name(f"{options.corpus.stem}_outcome.npy"))
    kept = (
        {"warmup": options.warmup, "draws": options.sweeps, "thin": 1}
        if model.spec.algorithm == "mcmc"
        else {"max_sweeps": options.sweeps}
    )
    schedule = model.spec.default_schedule.with_(chains=options.chains, budget=0, **kept)
    with step("checks"):
        plan = make_plan(model, inputs, dict(one.split("=") for one in options.set), schedule=schedule)
        cost = estimate(plan)
    need = needed(plan, cost)
    parts = (
        f"{name} {value / 2**30:.2f} GiB"
        for name, value in (("data", need.data), ("chains", need.chains), ("draws and results", need.draws))
    )
    print(
        f"expected: {', '.join(parts)}; {cost.seconds_per_sweep if cost else 0:.1f} s a sweep; {memory_problem(plan, cost)}"
    )
    session = Session(name="Documents")
    with step("digest, into session"):
        run = session.add_run(plan)
    job = FitJob(run, plan, named_executor(options.executor))
    with step("sweeps"):
        for _ in job:
            pass
    for record in run.chains:
        print(
            f"chain {record.chain + 1}: {record.sweep} sweeps, {record.cpu_seconds / max(record.sweep, 1):.1f} s of processor each"
        )
    traces = b"".join(record.trace.rows().tobytes() for record in run.chains)
    print(f"traces {hashlib.sha256(traces).hexdigest()[:16]}")
    with step("results"):
        job.summarise()
    with tempfile.TemporaryDirectory(dir=options.corpus.parent) as folder:
        path = options.out or Path(folder) / "session.plaidwork"
        with step("save"):
            session.save(path, replace=True)
        print(f"{path.stat().st_size / 2**30:.2f} GiB of session file")
        with step("open"):
            opened = open_session(path, any_size=True)
        with step("look at a result"):
            found = next(iter(opened.runs.values())).results
            print(
                ", ".join(
                    f"{name} {value.values.shape}"
                    for name, value in found.items()
                    if hasattr(value, "values") and value.values.size > 10**5
                )
            )
    print(
        f"at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB in this process, {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20:.2f} in one of its children"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    maker = commands.add_parser("make")
    maker.add_argument("documents", type=float)
    maker.add_argument("path", type=Path)
    fitter = commands.add_parser("fit")
    fitter.add_argument("corpus", type=Path)
    fitter.add_argument("model")
    fitter.add_argument("--chains", type=int, default=1)
    fitter.add_argument("--warmup", type=int, default=1)
    fitter.add_argument("--sweeps", type=int, default=2)
    fitter.add_argument("--set", action="append", default=[])
    fitter.add_argument("--executor", default="threads")
    fitter.add_argument("--values-in", choices=["file", "memory"], help="without: as the program decides")
    fitter.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.command == "make":
        make(int(options.documents), options.path)
    else:
        fit(options)


if __name__ == "__main__":
    main()
