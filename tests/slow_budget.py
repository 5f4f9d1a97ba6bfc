"""Plugin for ``pytest -m slow -p slow_budget``: as many slow tests as fit, in an order that a seed turns.

``PLAIDWORK_SLOW_MINUTES`` bounds the time after which no further test starts; ``PLAIDWORK_SLOW_SEED`` (any text)
decides the order, so that other seeds reach the tests that were left out. Works with ``-n`` too, in every process.
"""

import os
import time
from collections import Counter
from hashlib import sha256

import pytest

_END = "PLAIDWORK_SLOW_END"
_NO_TIME = "no time left; another seed runs it"


def pytest_configure():
    """The end is the same for every process: also for one that replaces a crashed one, which begins late."""
    seconds = 60 * float(os.environ.get("PLAIDWORK_SLOW_MINUTES", "inf"))
    os.environ.setdefault(_END, str(time.time() + seconds))


def pytest_collection_modifyitems(items):
    """Each test has a place of its own: a test more or less leaves the order of the others as it is."""
    seed = os.environ.get("PLAIDWORK_SLOW_SEED", "0")
    items.sort(key=lambda item: sha256(f"{seed} {item.nodeid}".encode()).digest())


def pytest_runtest_setup(item):
    if time.time() > float(os.environ[_END]):
        pytest.skip(_NO_TIME)


def pytest_terminal_summary(terminalreporter):
    skipped = terminalreporter.stats.get("skipped", ())
    files = (report.nodeid.split("::")[0] for report in skipped if _NO_TIME in str(report.longrepr))
    left_out = Counter(files)
    seed = os.environ.get("PLAIDWORK_SLOW_SEED", "0")
    terminalreporter.write_line(
        f"slow tests in the order of seed {seed}; left out for time: {left_out.total()}"
    )
    for name, count in sorted(left_out.items()):
        terminalreporter.write_line(f"  {count:4d} of {name}")
