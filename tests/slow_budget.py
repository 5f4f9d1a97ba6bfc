"""Plugin for ``pytest -m slow -p slow_budget``: as many slow tests as fit, in an order that a seed turns.

``PLAIDWORK_SLOW_MINUTES`` bounds the time after which no further test starts; ``PLAIDWORK_SLOW_SEED`` (any text)
decides the order, so that other seeds reach the tests that were left out.
"""

import os
import random
import time

import pytest

_begun = time.monotonic()
_left_out: list[str] = []


def _seconds() -> float:
    return 60 * float(os.environ.get("PLAIDWORK_SLOW_MINUTES", "inf"))


def pytest_collection_modifyitems(items):
    random.Random(os.environ.get("PLAIDWORK_SLOW_SEED", "0")).shuffle(items)


def pytest_runtest_setup(item):
    if time.monotonic() - _begun > _seconds():
        _left_out.append(item.nodeid)
        pytest.skip("no time left; another seed runs it")


def pytest_terminal_summary(terminalreporter):
    seed = os.environ.get("PLAIDWORK_SLOW_SEED", "0")
    terminalreporter.write_line(
        f"slow tests in the order of seed {seed}; left out for time: {len(_left_out)}"
    )
    for name in _left_out:
        terminalreporter.write_line(f"  {name}")
