"""Memory and open files stay what they are, however often a session is opened and saved and however long a chain runs."""

import gc
import itertools
import multiprocessing
import os
import re
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from crafted import sound_file
from toys import Walk, matrix

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.inference.run import Run
from plaidwork.core.session.session import open_session

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="counts of Linux")]
_MEGABYTE = 1 << 20


def _used():
    """Bytes in memory, and open files."""
    gc.collect()
    status = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(r"VmRSS:\s*(\d+)", status)[1]), len(os.listdir("/proc/self/fd"))


def _grown(act, first, then):
    """Bytes and files that the calls after the first ones have added; a line for each fifth of them is shown by ``pytest -s``."""
    for _ in range(first):
        act()
    before = after = _used()
    for done in range(1, then + 1):
        act()
        if done % max(1, then // 5) == 0:
            after = _used()
            print(f"{first + done:5} times: {after[0] / _MEGABYTE:7.1f} MB, {after[1]} open files")
    return after[0] - before[0], after[1] - before[1]


def _by_itself(measure, *args):
    """What it returns in a fresh process: what earlier tests left in this one may go while it counts."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(measure, *args).result()


def _openings_and_saves(path):
    count = itertools.count()

    def act():
        session = open_session(path)
        if next(count) % 10 == 0:
            session.save()

    return _grown(act, 20, 480)


def _sweeps():
    values = matrix()
    rows, columns = ([f"{word}{i}" for i in range(n)] for word, n in zip("rc", values.shape))
    schedule = Walk.spec.schedule.with_(draws=5, thin=2000, chains=1)
    plan = make_plan(Walk(), {"X": Dataset("numbers", values, rows, columns)}, {}, schedule=schedule)

    def act():
        execute(Run.from_plan(plan), plan, InlineExecutor())

    return _grown(act, 1, 3)


def test_openings_and_saves(tmp_path):
    """500 openings, every tenth of them saved again."""
    grown, files = _by_itself(_openings_and_saves, sound_file(tmp_path / "s.plaidwork"))
    assert files == 0
    assert grown < 5 * _MEGABYTE  # one that is kept takes more than 170 kB


def test_sweeps():
    grown, files = _by_itself(_sweeps)
    assert files == 0
    assert grown < 5 * _MEGABYTE
