"""Does the window stay free while four chains run? Gaps between the beats of a 10 ms timer on the GUI thread.

Run: python benchmarks/window.py [--seconds 3] [--minutes 5.5] [--only processes]

One table: sizes of the data, display (a real X server where Xvfb or a screen is there, and offscreen), page in front, and who
runs the chains. The chains that the window uses with the traces in front are measured three times. Wall-clock time says little
while other programs compute, so beside every gap stands what it was made of: work of the GUI thread, and waiting for a processor (the
kernel's account of the thread, Linux); the rest is waiting for the interpreter lock, for the display, or for the timer itself.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

import numpy as np

SHAPES = ((100, 200), (1000, 1000), (5000, 2000))
LATE = 0.030
"""Seconds after a beat from which the GUI thread is asked what it does."""


# -- in a process with a window ---------------------------------------------------------------------
def planted(shape, seed=0):
    """Noise with six blocks."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=shape)
    for _ in range(6):
        rows = rng.permutation(shape[0])[: shape[0] // 8]
        columns = rng.permutation(shape[1])[: shape[1] // 8]
        values[np.ix_(rows, columns)] += 3.0
    return values


class Beats:
    """A 10 ms timer on the GUI thread: when it came, what the thread had worked and waited by then (milliseconds)."""

    def __init__(self):
        from PySide6.QtCore import QTimer

        self._account = _account_of_this_thread()
        self._main, self._timer = threading.get_ident(), QTimer()
        self._beats, self._doing = [], {}
        self._timer.timeout.connect(self._beat)
        self._over = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()
        self._timer.start(10)

    def _beat(self):
        self._beats.append((1e3 * time.perf_counter(), 1e3 * time.thread_time(), self._account()))

    def _watch(self):
        """Where the GUI thread is while a beat is late."""
        while not self._over.wait(LATE / 2):
            number = len(self._beats)
            if number and 1e3 * time.perf_counter() - self._beats[-1][0] > 1e3 * LATE:
                frame = sys._current_frames()[self._main]
                own = [
                    f"{Path(line.filename).stem}.{line.name}"
                    for line in traceback.extract_stack(frame)
                    if Path(line.filename).resolve() != Path(__file__).resolve()
                ]
                self._doing.setdefault(number, []).append(" < ".join(own[::-1][:3]))
            frame = None

    def end(self):
        """Quantiles and the longest gap, as a dict."""
        self._timer.stop()
        self._over.set()
        steps = np.diff(np.array(self._beats), axis=0) if len(self._beats) > 1 else np.zeros((1, 3))
        gaps, work, waits = steps.T
        at = int(np.argmax(gaps))
        doing = self._doing.get(at + 1, [])
        return {
            "p99": float(np.quantile(gaps, 0.99)),
            "longest": float(gaps[at]),
            "work": float(work[at]),
            "waits": float(waits[at]),
            "p99_without": float(np.quantile(gaps - waits, 0.99)),
            "longest_without": float((gaps - waits).max()),
            "busy": float(100 * work.sum() / gaps.sum()) if gaps.sum() else 0.0,
            "doing": max(doing, key=doing.count) if doing else "",
        }


def _account_of_this_thread():
    """Milliseconds for which this thread could have run and had no processor; 0 where the system does not say."""
    try:
        file = open(f"/proc/self/task/{threading.get_native_id()}/schedstat", "rb", buffering=0)  # noqa: SIM115
    except OSError:
        return lambda: 0.0
    return lambda: int(os.pread(file.fileno(), 64, 0).split()[1]) / 1e6


def until(condition, seconds=60.0):
    """Run the event loop until something holds; the seconds it took."""
    from PySide6.QtCore import QEventLoop, QTimer

    loop, timer, begun = QEventLoop(), QTimer(), time.perf_counter()
    timer.timeout.connect(
        lambda: loop.quit() if condition() or time.perf_counter() - begun > seconds else None
    )
    timer.start(2)
    loop.exec()
    return time.perf_counter() - begun


def rest(seconds):
    """Run the event loop for so long."""
    until(lambda: False, seconds)


class Bench:
    """A window whose chains run as threads or processes."""

    def __init__(self, chains):
        os.environ["PLAIDWORK_CONFIG"] = tempfile.mkdtemp()
        from plaidwork.core.plugins.registry import Registry
        from plaidwork.gui.app import _load_ahead, make_application, make_window
        from plaidwork.gui.garbage import settle
        from plaidwork.gui.run_places import RunPlaces, chain_pool
        from plaidwork.gui.settings import Settings
        from plaidwork.gui.workbench import Workbench

        self.app = make_application(Settings())
        self.pool = chain_pool() if chains == "processes" else None
        self.window = make_window(
            Settings(), Workbench(Registry(safe_mode=True), places=RunPlaces(pool=self.pool))
        )
        self.workbench = self.window.workbench
        self.window.show()
        self.app.processEvents()
        self.visible = time.process_time()
        _load_ahead(self.window)
        self.model = self.workbench.registry.model("infinite_plaid")
        self.model.prepare()
        settle()
        self.workbench.expect("infinite_plaid", 4)
        rest(3.0)

    def idle(self, seconds):
        """Gaps of a window in which nothing happens."""
        beats = Beats()
        rest(seconds)
        return beats.end()

    def fit(self, shape, front, seconds):
        """Gaps during a fit of four chains, from the first sweep on; its start and stop."""
        from plaidwork.core.contract.schedule import Schedule
        from plaidwork.core.data.objects import as_dataset
        from plaidwork.core.inference.plan import make_plan
        from plaidwork.gui.session_tree import DATA

        data = self.workbench.session.datasets.get(f"{shape}") or as_dataset(f"{shape}", planted(shape))
        schedule = Schedule(chains=4, warmup=100, draws=100_000)
        plan = make_plan(self.model, {"X": data}, schedule=schedule)
        _ = plan.data_hash  # as the set-up does, in the background
        self.window.show_workspace()
        beats = Beats()
        rest(0.1)
        self.window.commands._start_plan(plan, "")
        run = self.window.current_run()
        first = until(lambda: run.sweeps_done > 0)
        started = beats.end()
        if front == "data":
            self.window.tree.select(DATA, data.name)
        rest(0.5)
        before, beats = run.sweeps_done, Beats()
        rest(seconds)
        found = beats.end() | {"sweeps": (run.sweeps_done - before) / seconds}
        self.workbench.stop(run)
        found |= {"first": first, "start": started["longest"], "start_doing": started["doing"]}
        found["stop"] = until(lambda: not self.workbench.active_runs())
        until(lambda: bool(run.results) or run.n_draws == 0, 10.0)
        self.workbench.remove_run(run)
        return found


def measure(chains, seconds, fits):
    """One window; prints a line of JSON for everything measured."""
    bench = Bench(chains)

    def tell(**found):
        print(json.dumps(found), flush=True)

    tell(kind="window", visible=bench.visible)
    if chains == "processes":
        tell(kind="idle", load="nothing", **bench.idle(seconds))
        others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4)]
        tell(kind="idle", load="4 busy programs", **bench.idle(seconds))
        for other in others:
            other.kill()
            other.wait()
    for shape, front in fits:
        tell(kind="fit", shape=shape, front=front, **bench.fit(tuple(shape), front, seconds))
    if bench.pool is not None:
        bench.pool.close()
    os._exit(0)  # what is open needs no answer


# -- around it --------------------------------------------------------------------------------------
def plan_of(chains, repeats):
    """Fits of one window: the traces in front first, ``repeats`` times in a row."""
    live = [(shape, "live") for shape in SHAPES for _ in range(repeats if chains == "processes" else 1)]
    return live + [(shape, "data") for shape in SHAPES]


def displays():
    """Name and environment of each display; an X server is started where there is none."""
    base = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    base.pop("DISPLAY", None)
    if shutil.which("Xvfb"):
        reading, writing = os.pipe()
        size = ["-screen", "0", "1600x1000x24", "-nolisten", "tcp"]
        server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(writing), *size], pass_fds=[writing], stderr=subprocess.DEVNULL
        )
        os.close(writing)
        number = os.read(reading, 16).decode().strip()
        yield "X", {**base, "QT_QPA_PLATFORM": "xcb", "DISPLAY": f":{number}"}
        server.terminate()
        server.wait()
    elif os.environ.get("DISPLAY"):
        yield "X", {**base, "QT_QPA_PLATFORM": "xcb", "DISPLAY": os.environ["DISPLAY"]}
    else:
        print("No X display: neither Xvfb nor a screen is there.")
    yield "offscreen", base


def rows(display, environment, chains, options, end):
    """What one window measured, line by line, until the time is up."""
    command = [sys.executable, __file__, "--inside", chains, "--seconds", str(options.seconds)]
    command += ["--repeats", str(options.repeats)]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        timer = threading.Timer(max(1.0, end - time.monotonic()), child.kill)
        timer.start()
        told = 0
        for line in child.stdout:
            if line.startswith("{"):
                told += 1
                yield json.loads(line)
        timer.cancel()
        if not told:
            print(f"{display}, {chains}: no window. {child.stderr.read()[-600:]}")


def show(display, chains, found, notes):
    """A row of the table; what the longest gaps were goes to the notes."""
    if found["kind"] == "window":
        print(f"{display}: window visible after {found['visible']:.2f} s of processor")
        return
    size = "x".join(map(str, found["shape"])) if found["kind"] == "fit" else "idle"
    front = found["front"] if found["kind"] == "fit" else f"({found['load']})"
    cells = [
        found[key] for key in ("p99", "longest", "work", "waits", "p99_without", "longest_without", "busy")
    ]
    line = f"{display:9} {size:9} {chains if found['kind'] == 'fit' else '':9} {front:17}"
    line += "".join(f"{value:9.0f}" for value in cells)
    if found["kind"] == "fit":
        line += f"{1e3 * found['first']:9.0f}{found['start']:9.0f}{1e3 * found['stop']:9.0f}{found['sweeps']:9.1f}"
        if found["start_doing"]:
            notes.append(
                f"{display} {size} {chains}: {found['start']:.0f} ms at the start in {found['start_doing']}"
            )
    if found["doing"]:
        notes.append(f"{display} {size} {chains} {front}: {found['longest']:.0f} ms in {found['doing']}")
    print(line, flush=True)


HEADS = (
    "p99",
    "longest",
    "its work",
    "its wait",
    "p99 -w",
    "long. -w",
    "busy %",
    "1st swp",
    "at start",
    "stop",
    "sweeps/s",
)


def main():
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--seconds", type=float, default=3.0, help="of each measurement")
    options.add_argument("--minutes", type=float, default=5.5, help="after which the rest is left out")
    options.add_argument("--repeats", type=int, default=3, help="fits in a row with the traces in front")
    options.add_argument("--only", choices=("processes", "threads"), help="who runs the chains")
    options.add_argument("--inside", choices=("processes", "threads"), help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.inside:
        measure(given.inside, given.seconds, plan_of(given.inside, given.repeats))
    end, notes = time.monotonic() + 60 * given.minutes, []
    print(
        f"Load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors. Milliseconds; -w: without waiting for a processor."
    )
    print(
        f"{'display':9} {'matrix':9} {'chains in':9} {'in front':17}"
        + "".join(f"{head:>9}" for head in HEADS)
    )
    for display, environment in displays():
        for chains in ("processes", "threads"):
            if given.only in (None, chains):
                for found in rows(display, environment, chains, given, end):
                    show(display, chains, found, notes)
    print(f"Load {os.getloadavg()[0]:.1f}. Wanted: p99 33, longest 100.")
    print("\n".join(["What the GUI thread did in the longest gaps:", *notes]) if notes else "")


if __name__ == "__main__":
    main()
