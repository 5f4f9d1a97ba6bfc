"""Does the window stay free? CPU time until it shows, timer gaps while four chains run, time until a stop is obeyed.

Run: python benchmarks/window.py (without a screen it draws offscreen).
"""

import os
import sys
import tempfile
import time

if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")) and sys.platform == "linux":
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["PLAIDWORK_CONFIG"] = tempfile.mkdtemp()

import numpy as np
from PySide6.QtCore import QEventLoop, QTimer

from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.data.objects import as_dataset
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.plugins.registry import Registry
from plaidwork.gui.app import _load_ahead, make_application, make_window
from plaidwork.gui.settings import Settings
from plaidwork.gui.workbench import Workbench

SHAPES = ((100, 200), (1000, 1000), (5000, 2000))


def planted(shape, seed=0):
    """Noise with six blocks."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=shape)
    for _ in range(6):
        rows = rng.permutation(shape[0])[: shape[0] // 8]
        columns = rng.permutation(shape[1])[: shape[1] // 8]
        values[np.ix_(rows, columns)] += 3.0
    return values


def gaps(seconds):
    """Seconds between the beats of a 10 ms timer."""
    beats, loop, timer = [], QEventLoop(), QTimer()
    timer.timeout.connect(lambda: beats.append(time.perf_counter()))
    timer.start(10)
    QTimer.singleShot(round(seconds * 1000), loop.quit)
    loop.exec()
    return np.diff(beats) if len(beats) > 1 else np.array([seconds])


def until(condition, seconds=60.0):
    """Run the event loop until something holds; the seconds it took."""
    loop, timer, begun = QEventLoop(), QTimer(), time.perf_counter()
    timer.timeout.connect(
        lambda: loop.quit() if condition() or time.perf_counter() - begun > seconds else None
    )
    timer.start(2)
    loop.exec()
    return time.perf_counter() - begun


def main():
    app = make_application(Settings())
    window = make_window(Settings(), Workbench(Registry(safe_mode=True)))
    window.show()
    app.processEvents()
    print(f"window visible after {time.process_time():.2f} s of CPU time")
    _load_ahead(window)
    model = window.workbench.registry.model("infinite_plaid")
    model.prepare()
    print("     matrix   gap max    p99   stop answered")
    for shape in SHAPES:
        plan = make_plan(
            model,
            {"X": as_dataset("X", planted(shape))},
            schedule=Schedule(chains=4, warmup=100, draws=100_000),
        )
        window.show_workspace()
        window.commands._start_plan(plan, "")
        run = window.current_run()
        until(lambda run=run: run.sweeps_done > 0)
        found = gaps(6.0)
        window.workbench.stop(run)
        stopped = until(lambda: not window.workbench.active_runs())
        until(lambda run=run: bool(run.results) or run.n_draws == 0)
        name = f"{shape[0]} x {shape[1]}"
        largest, most = 1e3 * found.max(), 1e3 * np.quantile(found, 0.99)
        print(f"{name:>11}  {largest:6.0f} ms {most:4.0f} ms  {stopped:10.2f} s", flush=True)
    os._exit(0)  # what is open needs no answer


if __name__ == "__main__":
    main()
