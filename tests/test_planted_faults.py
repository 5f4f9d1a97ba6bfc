"""A planted fault stays in its own test: the right kernels of the same process do not call it."""

import itertools
import sys
from importlib import import_module

import numpy as np
import pytest
from numba import config
from numba.core import bytecode
from plaid_tools import with_fault

KERNELS = '''
import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def part(values):
    """Too long for the compiler to put it in the place of its calls."""
    total = 1.0
    for a in range(len(values)):
        for b in range(a + 1):
            if a == b:
                total += values[a] * values[b]
            else:
                total -= values[b] / (1.0 + values[a] ** 2) + np.sin(values[a])
        for b in range(a, len(values)):
            total *= 1.0 + 0.1 * np.cos(values[b])
    return total


@njit(nogil=True, cache=True)
def whole(values, others):
    return part(values) - 2.0 * part(others)
'''


@pytest.fixture
def kernels(tmp_path, monkeypatch):
    """Imports the module above anew, with numba's count of functions as in a process that has just begun."""
    (tmp_path / "counted_kernels.py").write_text(KERNELS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "cache"))

    def load():
        monkeypatch.setattr(bytecode.FunctionIdentity, "_unique_ids", itertools.count(10**9))
        monkeypatch.delitem(sys.modules, "counted_kernels", raising=False)
        return import_module("counted_kernels")

    return load


@pytest.mark.long
def test_a_right_kernel_from_the_cache_does_not_call_a_faulty_one(kernels):
    values, others = np.linspace(0.0, 1.0, 5), np.linspace(1.0, 2.0, 4)
    expected = kernels().whole(values, others)
    module = kernels()
    wrong = with_fault(module.whole, part=with_fault(module.part, "total = 1.0", "total = 7.0"))
    assert abs(wrong(values, others) - expected) > 1.0
    assert module.whole(values, others) == expected
