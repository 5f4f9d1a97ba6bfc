"""Group factor analysis against mofapy2: seconds per sweep, seconds to recovery, memory; and what one core could do.

    python benchmarks/group_factor_speed.py [--peer-python PYTHON] [--peer-seconds 600] [--small]

Three views of 1000 x 2000 bits from ten factors, fitted with 15. The peer is no dependency of the project: `python -m venv
peer; peer/bin/pip install mofapy2`, then `--peer-python peer/bin/python`. All have one thread; times are CPU seconds, the least
of several sweeps, as the machine may be shared.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

FACTORS, FITTED, SWEEPS, WANTED = 10, 15, 30, 0.99
TARGETS = {"float64": 4.0, "float32": 7.0}


def make_views(n: int, d: int, seed: int = 0) -> tuple[list[np.ndarray], np.ndarray]:
    """Three (n, d) views of bits and the (n, FACTORS) scores; a tenth to a third of the weights are not 0."""
    rng = np.random.default_rng(seed)
    z, views = rng.standard_normal((n, FACTORS)), []
    for _ in range(3):
        on = rng.random((FACTORS, d)) < rng.uniform(0.1, 0.3, (FACTORS, 1))
        x = z @ (rng.standard_normal((FACTORS, d)) * on) + rng.normal(-0.5, 0.7, d)
        views.append((rng.random((n, d)) < 1 / (1 + np.exp(-x))).astype(float))
    return views, z


def recovery(scores: np.ndarray, truth: np.ndarray) -> float:
    """Mean absolute correlation of the true factors with those found, matched one to one."""
    from scipy.optimize import linear_sum_assignment

    k = truth.shape[1]
    alive = scores[:, scores.std(axis=0) > 1e-12]
    found = np.zeros((max(k, alive.shape[1]), k))
    found[: alive.shape[1]] = np.abs(np.corrcoef(alive.T, truth.T)[: alive.shape[1], alive.shape[1] :])
    rows, columns = linear_sum_assignment(-found)
    return float(found[rows, columns].sum() / k)


def peer_worker(path: str, dtype: str, limit: float) -> None:
    """Runs under the peer's Python: prints one line of JSON."""
    import contextlib
    import io

    from mofapy2.run.entry_point import entry_point

    stored = np.load(path)
    truth, views = stored["z"], [stored[f"v{m}"] for m in range(3)]
    times: list[float] = []
    found: dict[str, float] = {}

    class Enough(Exception):
        pass

    with contextlib.redirect_stdout(io.StringIO()):
        peer = entry_point()
        peer.set_data_options(use_float32=dtype == "float32")
        peer.set_data_matrix([[view] for view in views], likelihoods=["bernoulli"] * 3)
        peer.set_model_options(factors=FITTED, spikeslab_weights=True, ard_weights=True)
        peer.set_train_options(iter=2000, convergence_mode="slow", seed=1, quiet=True, freqELBO=1)
        started = time.process_time()
        peer.build()
        spent = [time.process_time() - started, time.process_time()]
        bound = peer.model.calculateELBO

        def watched(*args, **kwargs):
            value = bound(*args, **kwargs)
            now = time.process_time()
            times.append(now - spent[1])
            spent[0] += now - spent[1]
            reached = recovery(np.asarray(peer.model.nodes["Z"].getExpectation(), float), truth)
            found["reached"] = max(found.get("reached", 0.0), reached)
            if reached >= WANTED:
                found.setdefault("seconds", spent[0])
                found.setdefault("sweeps", len(times))
            if ("seconds" in found and len(times) > 5) or spent[0] > limit:
                raise Enough
            spent[1] = time.process_time()
            return value

        peer.model.calculateELBO = watched
        with contextlib.suppress(Enough):
            peer.run()
    print(json.dumps({"sweep": min(times[1:]), "spent": spent[0], "done": len(times), **found}))


def alone(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run in a process whose libraries have one thread."""
    one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **one})


def run_peer(python: str, views: list[np.ndarray], z: np.ndarray, dtype: str, limit: float) -> dict | None:
    """What :func:`peer_worker` found, or None with a line that says why not."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "data.npz")
        np.savez(path, z=z, **{f"v{m}": view for m, view in enumerate(views)})
        done = alone([python, __file__, "--peer-worker", path, dtype, str(limit)])
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1:] or ["no message"]
        print(f"  mofapy2 skipped: {reason[0]} (pip install mofapy2 in an environment, then --peer-python)")
        return None
    return json.loads(done.stdout.strip().splitlines()[-1])


class Ours:
    """One chain over the views."""

    def __init__(self, views: list[np.ndarray], dtype: str) -> None:
        from plaidwork.core.api import Block, ModelData
        from plaidwork.core.plugins.registry import registry

        def names(word: str, size: int) -> tuple[str, ...]:
            return tuple(f"{word}{i}" for i in range(size))

        self.data = ModelData(
            {
                "views": tuple(
                    Block(f"v{m}", y, np.ones(y.shape, bool), None, (names("s", len(y)), names(f"f{m}_", y.shape[1])))
                    for m, y in enumerate(views)
                )
            }
        )  # fmt: skip
        self.model = registry().model("group_factor")
        self.params = self.model.spec.check_params({"n_factors": FITTED, "dtype": dtype})

    def begin(self) -> None:
        self.rng = np.random.default_rng(1)
        self.state, self.at = self.model.init(self.data, self.params, self.rng), 0

    def sweep(self) -> float:
        """CPU seconds of the next sweep."""
        from plaidwork.core.api import Clock

        started = time.thread_time()
        while self.model.step(self.state, self.data, self.params, self.rng, Clock(self.at, 0)) is None:
            pass
        self.at += 1
        return time.thread_time() - started

    def warm(self) -> None:
        """Compile for this type of cell."""
        small = Ours([view[:40, :30].copy() for view in self._views()], self.params["dtype"])
        small.model.prepare()
        small.begin()
        for _ in range(12):
            small.sweep()

    def _views(self) -> list[np.ndarray]:
        return [block.values for block in self.data["views"]]


def peak_memory(ours: Ours) -> tuple[float, str]:
    """Bytes above what is there before the start, at the peak of a start and 12 sweeps."""
    ours.state = {}
    status, reset = Path("/proc/self/status"), Path("/proc/self/clear_refs")

    def line(name: str) -> float:
        return 1024.0 * int(status.read_text().split(f"{name}:")[1].split()[0])

    try:
        reset.write_text("5")
        before = line("VmRSS")
    except OSError:
        return float("nan"), "not measured on this system"
    ours.begin()
    for _ in range(12):
        ours.sweep()
    return line("VmHWM") - before, "resident set"


def seconds_to_recovery(ours: Ours, truth: np.ndarray) -> tuple[float, int]:
    """CPU seconds, start included, until the scores correlate with the truth, and sweeps."""
    started = time.thread_time()
    ours.begin()
    spent = time.thread_time() - started
    for done in range(1, 301):
        spent += ours.sweep()
        if recovery(ours.state["z"].T, truth) >= WANTED:
            return spent, done
    return float("nan"), 300


def rates(dtype: str) -> tuple[float, float]:
    """Multiplications and additions of the BLAS on one core a second, and bytes read a second."""
    rng = np.random.default_rng(0)
    a, b = rng.random((1024, 1024)).astype(dtype), rng.random((1024, 1024)).astype(dtype)
    large = np.ones(32_000_000, np.float32)
    flops, bandwidth = 0.0, 0.0
    for _ in range(20):
        started = time.thread_time()
        _ = a @ b
        flops = max(flops, 2 * 1024**3 / (time.thread_time() - started))
        started = time.thread_time()
        large.max()
        bandwidth = max(bandwidth, large.nbytes / (time.thread_time() - started))
    return flops, bandwidth


def two_chains(views: list[np.ndarray], dtype: str) -> float:
    """CPU seconds of a sweep while another chain runs in another thread."""
    chains, times = [Ours(views, dtype) for _ in range(2)], []
    for chain in chains:
        chain.begin()
        chain.sweep()

    def work(chain: Ours) -> None:
        times.extend([chain.sweep() for _ in range(8)])

    threads = [threading.Thread(target=work, args=(chain,)) for chain in chains]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return float(np.median(times))


def report(dtype: str, views: list[np.ndarray], z: np.ndarray, python: str, limit: float) -> None:
    ours = Ours(views, dtype)
    ours.warm()
    size = [str(len(views[0])), str(views[0].shape[1])]
    memory, how = json.loads(alone([sys.executable, __file__, "--memory", dtype, *size]).stdout)
    ours.begin()
    first, times = ours.sweep(), [ours.sweep() for _ in range(SWEEPS)]
    plain = min(times[:9])
    n, d = len(views[0]), sum(view.shape[1] for view in views)
    print(f"\n{dtype}: {n} x {d} bits, {FITTED} factors")
    print(
        f"  sweep               {plain:.3f} s of CPU; mean of {SWEEPS} with the search for weak factors {np.mean(times):.3f} s"
    )
    print(f"  components, sweep 1 {first:.3f} s")
    seconds, sweeps = seconds_to_recovery(ours, z)
    print(f"  recovery {WANTED}       {seconds:.2f} s, {sweeps} sweeps")
    print(
        f"  peak extra memory   {memory / (4 * n * d):.2f} float32 arrays of N x D ({memory / 1e6:.0f} MB, {how}); 3 allowed"
    )
    # by factor and cell: <x> 2 and its update 9, for weights and for values of factors; <x> and its variance 6; zeta some 40
    flops = n * d * (28.0 * FITTED + 40)
    read = n * d * (4.0 * np.dtype(dtype).itemsize + 3)  # T and y in each of three stages, T written in one
    speed, bandwidth = json.loads(alone([sys.executable, __file__, "--rates", dtype]).stdout)
    least = flops / speed + read / bandwidth
    print(f"  limit of one core   {flops / 1e9:.1f} GFlop at {speed / 1e9:.0f} GFlop/s (BLAS) + {read / 1e6:.0f} MB at "
          f"{bandwidth / 1e9:.0f} GB/s = {least:.3f} s; a sweep takes {plain / least:.1f} times that")  # fmt: skip
    both = two_chains(views, dtype)
    print(f"  beside a second chain, a sweep takes {both:.3f} s of CPU")
    peer = run_peer(python, views, z, dtype, limit)
    if peer is None:
        return
    ratio = peer["sweep"] / plain
    print(
        f"  mofapy2             {peer['sweep']:.3f} s a sweep: {ratio:.1f} times ours (wanted {TARGETS[dtype]:g})"
    )
    if "seconds" in peer:
        print(
            f"  mofapy2, recovery   {peer['seconds']:.1f} s, {peer['sweeps']} sweeps: {peer['seconds'] / seconds:.0f} times ours (wanted 20)"
        )
    else:
        print(f"  mofapy2, recovery   not when it ended after {peer['spent']:.0f} s ({peer['done']} sweeps, at best {peer['reached']:.4f}): "
              f"more than {peer['spent'] / seconds:.0f} times ours (wanted 20)")  # fmt: skip


def main() -> None:
    if sys.argv[1:2] == ["--peer-worker"]:
        peer_worker(sys.argv[2], sys.argv[3], float(sys.argv[4]))
        return
    if sys.argv[1:2] == ["--memory"]:  # in a process of its own: what an earlier fit gave back is used again
        ours = Ours(make_views(int(sys.argv[3]), int(sys.argv[4]))[0], sys.argv[2])
        ours.warm()
        print(json.dumps(peak_memory(ours)))
        return
    if sys.argv[1:2] == ["--rates"]:
        print(json.dumps(rates(sys.argv[2])))
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("--peer-seconds", type=float, default=600.0)
    parser.add_argument("--small", action="store_true", help="300 x 3 x 300, to try it")
    given = parser.parse_args()
    views, z = make_views(*((300, 300) if given.small else (1000, 2000)))
    for dtype in ("float64", "float32"):
        report(dtype, views, z, given.peer_python, given.peer_seconds)


if __name__ == "__main__":
    main()
