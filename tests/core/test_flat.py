"""Memory and open files stay what they are, however often a session is opened and saved and however long a chain runs."""

import gc
import os
import re
import sys
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
    """Bytes and files that the calls after the first ones have added."""
    for _ in range(first):
        act()
    before = _used()
    for _ in range(then):
        act()
    after = _used()
    return after[0] - before[0], after[1] - before[1]


def test_openings_and_saves(tmp_path):
    path = sound_file(tmp_path / "s.plaidwork")

    def act():
        open_session(path).save()

    grown, files = _grown(act, 10, 30)
    assert files == 0
    assert grown < 5 * _MEGABYTE  # a session of this size takes more than 170 kB


def test_sweeps():
    values = matrix()
    rows, columns = ([f"{word}{i}" for i in range(n)] for word, n in zip("rc", values.shape))
    schedule = Walk.spec.schedule.with_(draws=5, thin=2000, chains=1)
    plan = make_plan(Walk(), {"X": Dataset("numbers", values, rows, columns)}, {}, schedule=schedule)

    def act():
        execute(Run.from_plan(plan), plan, InlineExecutor())

    grown, files = _grown(act, 1, 3)
    assert files == 0
    assert grown < 5 * _MEGABYTE
