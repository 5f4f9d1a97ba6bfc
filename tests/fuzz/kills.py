"""``PYTHONPATH=tests python -m fuzz.kills``: ends commands (and the window) with kill -9 at random moments, and looks at what is left.

A fit is killed, resumed, killed again, until it is done; then saves and exports of it. Work is kept every half second here, and chains are
checkpointed every fifth of a second, in place of the minute and the 20 seconds of the program. ``--as-shipped`` keeps the program's own
times, and kills fits and windows after one and a half to four minutes.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from plaidwork.core.cli import main as command
from plaidwork.core.cli import saving
from plaidwork.core.errors import PlaidworkError
from plaidwork.core.hdf5 import atomic
from plaidwork.core.inference import executor
from plaidwork.core.session.recovery import discard, find_recoveries
from plaidwork.core.session.session import Session, open_session

EVERY, CHECKPOINT = 0.5, 0.2
KINDS = ("fit", "save", "export", "window")
_FIT = ["fit", "infinite_plaid", "--draws", "600", "--chains", "2", "--seed", "5"]
_LONG = ["--draws", "100000", "--thin", "1000", "--chains", "1"]
"""A fit that is not done when it is killed after minutes."""


@dataclass
class Found:
    """What was counted: ``faults`` says in words what must not be."""

    kills: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    lost: float = 0.0
    """Most seconds between the last time that work was kept and the kill."""
    early: float = 0.0
    """Most seconds from the start of a program to a kill before which it had kept nothing."""
    left: int = 0
    """Temporary files that were there right after a kill."""
    every: tuple[float, ...] = (EVERY,)
    """Seconds after which work is kept: of commands, and of the window."""
    equal: int = 0
    """Fits that had been killed and ended with the draws of one that nobody disturbed."""

    @property
    def text(self) -> str:
        kills = ", ".join(f"{number} of {what}" for what, number in sorted(self.kills.items()))
        return (
            f"{sum(self.kills.values())} kills ({kills}); at most {self.lost:.2f} s since work was kept "
            f"(every {' or '.join(f'{seconds:g}' for seconds in self.every)} s), "
            f"{self.early:.2f} s since the start where nothing was kept yet; "
            f"{self.left} temporary files right after, none after the next start; {self.equal} fits to their end with equal draws; "
            f"faults: {len(self.faults)}"
        )


def _child(act: Callable[[], object]) -> int:
    """Call ``act`` in a copy of this process; its number."""
    process = os.fork()
    if process:
        return process
    try:
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, 1)
        os.dup2(sink, 2)
        act()
    finally:
        os._exit(0)


def _killed(act: Callable[[], object], seconds: float) -> bool:
    """Whether it had to be killed after so many seconds; False when it had ended before."""
    process, ends = _child(act), time.monotonic() + seconds
    while time.monotonic() < ends:
        if os.waitpid(process, os.WNOHANG)[0]:
            return False
        time.sleep(0.005)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return True


class Trial:
    """Kills of all commands on one session file."""

    def __init__(self, folder: Path, rng: random.Random, found: Found) -> None:
        self.folder, self.rng, self.found = folder, rng, found
        self.out, self.table = folder / "out.plaidwork", folder / "x.csv"
        self._reference: Session | None = None

    def prepare(self) -> None:
        """A table, and the session that a fit gives that nobody disturbs; models are loaded and compiled."""
        rows = np.random.default_rng(1).normal(size=(20, 8)).round(2)
        lines = [
            "name," + ",".join(f"c{j}" for j in range(8)),
            *(f"r{i}," + ",".join(map(str, row)) for i, row in enumerate(rows)),
        ]
        self.table.write_text("\n".join(lines) + "\n")
        whole = self.folder / "whole.plaidwork"
        command([*_FIT, "--input", f"X={self.table}", "--out", str(whole), "--json", "--executor", "inline"])
        self._reference = open_session(whole)

    def fit(self, most: int) -> int:
        """Kill a fit, and what goes on with it, at most so often, and let it end then; how often it was."""
        self.out.unlink(missing_ok=True)
        self._forget()
        for kills in range(most):
            kept, began = self._sweeps(), time.time()
            words = self._words(kept)
            if not _killed(lambda words=words: command(words), self.rng.uniform(0.05, 2.5)):
                self._ended()
                return kills
            self._count(words[0], began)
            if self._sweeps() < kept:
                self.found.faults.append(f"{kept} sweeps were kept, {self._sweeps()} are")
        words = self._words(self._sweeps())
        if _killed(lambda: command(words), 600):
            self.found.faults.append("a fit does not come to its end")
        self._ended()
        return most

    def shipped(self, what: str) -> None:
        """Kill a long fit, of the command line or in the window, that keeps work when the program would."""
        self.out.unlink(missing_ok=True)
        self._forget()
        words = [*_FIT, "--input", f"X={self.table}", "--out", str(self.out), "--force", "--json"]
        if what == "window":
            command([*words, "--draws", "5", "--executor", "inline"])
        began, seconds = time.time(), self.rng.uniform(90, 240)
        act = partial(command, [*words, *_LONG]) if what == "fit" else partial(drive_window, self.out, False)
        if not _killed(act, seconds):
            self.found.faults.append(f"the {what} had ended by itself")
        self._count(what, began)
        print(f"{what} killed after {seconds:.0f} s: {self.found.text}", flush=True)

    def _words(self, kept: int) -> list[str]:
        """The command that begins the fit, or goes on with what was kept of it."""
        if kept:
            return ["resume", str(self.out), "--json"]
        return [*_FIT, "--input", f"X={self.table}", "--out", str(self.out), "--force", "--json"]

    def save(self) -> None:
        """Kill somebody who saves again and again."""

        def act() -> None:
            session = open_session(self.out)
            for _ in range(1000):
                session.save()

        before = len(open_session(self.out).runs)
        _killed(act, self.rng.uniform(0.05, 0.8))
        self._count("save")
        if len(open_session(self.out).runs) != before:
            self.found.faults.append("a run is missing after a save that was killed")

    def export(self) -> None:
        """Kill an export as files or as annotated data, then do it again."""
        digest = hashlib.sha256(self.out.read_bytes()).digest()
        target = self.folder / self.rng.choice(("plain", "run.h5ad"))
        words = ["export", str(self.out), "--to", str(target), "--force"]
        _killed(lambda: command(words), self.rng.uniform(0.02, 1.0))
        self._count("export")
        if hashlib.sha256(self.out.read_bytes()).digest() != digest:
            self.found.faults.append("an export has changed the session")
        if target.suffix and target.exists():
            import h5py

            with h5py.File(target) as file:
                if "obs" not in file or "var" not in file:
                    self.found.faults.append("half an .h5ad is left")
        if self.rng.random() < 0.2 and command(words):
            self.found.faults.append("an export after one that was killed fails")

    def window(self) -> None:
        """Kill the window while it fits, keeps work, saves and exports."""
        self._forget()
        began = time.time()
        kept = self._sweeps()
        _killed(lambda: drive_window(self.out), self.rng.uniform(1.0, 5.0))
        self._count("window", began)
        if self._sweeps() < kept:
            self.found.faults.append("the window has lost what was saved")

    def _count(self, what: str, began: float | None = None) -> None:
        """After a kill: everything opens; what was lost; what is left."""
        ended = time.time()
        self.found.kills[what] += 1
        recovery = Path(os.environ["XDG_STATE_HOME"]) / "plaidwork" / "recovery"
        stray = [*self.folder.glob(".*-tmp"), *recovery.glob(".*-tmp")]
        self.found.left += len(stray)
        newest = began or 0.0
        for entry in find_recoveries():
            try:
                newest = max(newest, entry.path.stat().st_mtime)
                entry.open()
            except PlaidworkError as error:
                self.found.faults.append(f"{what}: unsaved work does not open: {error}")
        if self.out.exists():
            newest = max(newest, self.out.stat().st_mtime)
            try:
                open_session(self.out)
            except PlaidworkError as error:
                self.found.faults.append(f"{what}: the session does not open: {error}")
        if began is not None and newest > began:
            self.found.lost = max(self.found.lost, ended - newest)
        elif began is not None:
            self.found.early = max(self.found.early, ended - began)
        if [*recovery.glob(".*-tmp")]:
            self.found.faults.append("temporary files of unsaved work stay after a start")
        atomic.sweep_beside(self.out)
        if [*self.folder.glob(".out*-tmp")]:
            self.found.faults.append("temporary files beside the session stay after a save")

    def _forget(self) -> None:
        """As somebody who takes the file: what a killed window kept of a longer fit is neither asked for nor gone on with."""
        for entry in find_recoveries():
            discard(entry.key)

    def _sweeps(self) -> int:
        """Sweeps that the next start would find."""
        found = saving.unsaved(self.out)
        if found is None and not self.out.exists():
            return 0
        session = open_session(self.out) if found is None else found.open()
        return sum(run.sweeps_done for run in session.runs.values())

    def _ended(self) -> None:
        """A fit has come to its end: compare its draws."""
        (run,), (other,) = open_session(self.out).runs.values(), self._reference.runs.values()
        if all(
            np.array_equal(run.draws[name], other.draws[name], equal_nan=True)
            for name in ("alpha", "theta", "phi")
        ):
            self.found.equal += 1
        else:
            self.found.faults.append("a fit that was killed has other draws")
        if find_recoveries():
            self.found.faults.append("unsaved work stays after a save")


def drive_window(path: Path, busy: bool = True) -> None:
    """Open a session in a window and go on with its fit; a ``busy`` one keeps, saves and exports all the time."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication

    from plaidwork.core.plugins.registry import registry
    from plaidwork.core.session.exporting import export_session
    from plaidwork.gui.main_window import MainWindow
    from plaidwork.gui.settings import Settings
    from plaidwork.gui.tasks import run_task
    from plaidwork.gui.workbench import Workbench

    app = QApplication.instance() or QApplication([])
    window = MainWindow(Workbench(registry()), Settings(path.parent / "config"))
    window.show()
    timers = []

    def every(milliseconds: int, act: Callable[[], object]) -> None:
        timer = QTimer(interval=milliseconds)
        timer.timeout.connect(act)
        timer.start()
        timers.append(timer)

    def opened() -> None:
        (run,) = window.workbench.session.runs.values()
        window.workbench.resume(run, draws=100_000)
        if not busy:
            return
        every(200, window.commands.autosave)
        every(300, lambda: window.workbench.file.save())
        session, target = window.workbench.session, path.parent / "from the window"
        every(
            500,
            lambda: run_task(lambda task: export_session(session, target), failed=lambda *_: None),
        )

    window.workbench.file.open(path, opened)
    app.exec()


def run_kills(folder: Path, kills: int, seed: int = 1, kinds: Sequence[str] = KINDS) -> Found:
    """So many kills: rounds of up to eight of a fit, then two each of saves, exports and the window, of the kinds that are wanted."""
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    os.environ["PLAIDWORK_CONFIG"] = str(folder / "config")
    before = saving.EVERY, executor.CHECKPOINT_SECONDS, atomic._OLD
    saving.EVERY, executor.CHECKPOINT_SECONDS, atomic._OLD = EVERY, CHECKPOINT, 0.0
    try:
        found = Found()
        trial = Trial(folder, random.Random(seed), found)
        trial.prepare()
        while (left := kills - sum(found.kills.values())) > 0:
            if "fit" in kinds or not trial.out.exists():
                trial.fit(min(left, 8) if "fit" in kinds else 0)
            for what in KINDS[1:]:
                for _ in range(min(2, kills - sum(found.kills.values())) if what in kinds else 0):
                    getattr(trial, what)()
        return found
    finally:
        saving.EVERY, executor.CHECKPOINT_SECONDS, atomic._OLD = before


def run_shipped(folder: Path, kills: int, seed: int, kinds: Sequence[str]) -> Found:
    """So many kills of fits and windows that keep work when the program would."""
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    os.environ["PLAIDWORK_CONFIG"] = str(folder / "config")
    found = Found(every=(saving.EVERY,))
    trial = Trial(folder, random.Random(seed), found)
    trial.prepare()
    wanted = [what for what in ("fit", "window") if what in kinds]
    for number in range(kills):
        trial.shipped(wanted[number % len(wanted)])
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", choices=KINDS, help="only these; repeat it for more")
    parser.add_argument(
        "--as-shipped",
        action="store_true",
        help="fits and windows that keep work as seldom as the program does",
    )
    options = parser.parse_args()
    run = run_shipped if options.as_shipped else run_kills
    with tempfile.TemporaryDirectory() as name:
        found = run(Path(name), options.kills, options.seed, options.only or KINDS)
    print("\n".join([*found.faults, found.text]))
    return 1 if found.faults else 0


if __name__ == "__main__":
    sys.exit(main())
