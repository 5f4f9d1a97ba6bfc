"""Words of a document, several at once: what they pull and what they are given, against sums one after the other."""

import numpy as np
import pytest
from plaid_tools import with_fault

from plaidwork.plugins.supervised_ibp import documents


def found_and_wanted(count, odds=documents._odds, put_back=documents._put_back):
    """Log odds and sums of a document of ``count`` words, some of them twice, by the product and one after the other."""
    rng = np.random.default_rng(count)
    indices, values = rng.integers(0, 6, count).astype(np.int32), rng.normal(size=count)
    rows, raw = rng.normal(size=(6, 5)), rng.normal(size=(6, 5))
    base, pull, step = rng.normal(size=(3, 5))
    cover, cover_pull, f = rng.normal(size=2), rng.normal(size=(2, 5)), np.empty(5)
    after = raw.copy()
    odds(0, count, indices, values, rows, base, 0.3, pull, cover, cover_pull, f)
    put_back(0, count, indices, values, step, after)
    wanted, sums = base + 0.3 * pull - cover @ cover_pull, raw.copy()
    for j, x in zip(indices, values, strict=True):
        wanted = wanted + x * rows[j]
        sums[j] += x * step
    return np.abs(f - wanted).max(), np.abs(after - sums).max()


@pytest.mark.parametrize("count", [0, 1, 3, 4, 7, 8, 9, 12, 21])
def test_any_number_of_words(count):
    assert max(found_and_wanted(count)) < 1e-12


def test_faults_are_seen():
    odds = with_fault(documents._odds, "x7 * rows[j7, k]", "x7 * rows[j6, k]")
    assert found_and_wanted(21, odds=odds)[0] > 1e-3
    late = with_fault(documents._put_back, "range(fours, end)", "range(fours + 1, end)")
    assert found_and_wanted(9, put_back=late)[1] > 1e-3
    once = with_fault(documents._put_back, "raw[j3, k] += x3 * s", "raw[j3, k] = x3 * s")
    assert found_and_wanted(8, put_back=once)[1] > 1e-3
