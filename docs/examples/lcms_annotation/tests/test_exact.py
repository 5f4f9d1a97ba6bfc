"""Long chains on a few peaks against all that could be; faults planted in the moves must show."""

from __future__ import annotations

import numpy as np
import pytest
from broken import FAULTS, put_in
from cases import CASES, MODEL
from exact import configurations, expected, log_density, sample, smallest_p

from plaidwork_lcms_annotation.moves import log_joint
from plaidwork_lcms_annotation.state import law_of, new_state, ready, terms_of, work_of

ERROR_LEVEL = 1e-4
"""Probability that a right sampler fails one of these tests."""
COUNTS = {"plain": 52, "replicates": 227, "ambiguous": 1215}


@pytest.mark.parametrize("case", CASES)
def test_log_joint_is_exact(case):
    """The trace is the log density of data and configuration, up to the unit of the masses (log m/z here)."""
    data, params = CASES[case]()
    terms, every = terms_of(data, params), configurations(data, params)
    assert len(every) == COUNTS[case]
    for labels, formulas, positions in every[:: max(1, len(every) // 60)]:
        state = new_state(labels, positions, params)
        ready(state, terms)
        lists = terms.lists
        found = log_joint(work_of(state), terms.seen, lists.candidates, lists.theory, law_of(state, terms))
        assert found == pytest.approx(log_density((labels, formulas, positions), data, params), abs=1e-8)


@pytest.mark.parametrize("case", CASES)
def test_frequencies_of_what_is_possible(case):
    data, params = CASES[case]()
    assert smallest_p(MODEL, data, params, 2000) > ERROR_LEVEL


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("only", [(), ("peaks",), ("peaks", "blocks"), ("peaks", "formulas")])
def test_frequencies_in_long_chains(case, only):
    data, params = CASES[case]()
    assert smallest_p(MODEL, data, params, 40_000, seed=3, only=only) > ERROR_LEVEL


@pytest.mark.parametrize(
    "fault",
    [pytest.param(f, marks=pytest.mark.slow if FAULTS[f].sweeps > 1000 else ()) for f in FAULTS],
)
def test_a_broken_move_is_seen(fault, monkeypatch):
    put_in(monkeypatch, fault)
    data, params = CASES[FAULTS[fault].case]()
    assert smallest_p(MODEL, data, params, FAULTS[fault].sweeps, only=FAULTS[fault].only) < ERROR_LEVEL


def test_unbroken_python_is_not_called_broken(monkeypatch):
    """The copy in which faults are planted is right without one."""
    put_in(monkeypatch, "")
    data, params = CASES["ambiguous"]()
    assert smallest_p(MODEL, data, params, 400) > ERROR_LEVEL


def test_the_ambiguous_case_is_so():
    """Some levels lie between 0.2 and 0.7, or faults would hide."""
    means, _ = expected(*CASES["ambiguous"]())
    assert sum(0.2 < mean < 0.7 for name, mean in means.items() if "level" in name) >= 2


def test_order_of_peaks_and_formulas_does_not_matter():
    """Exact probabilities of permuted data are those of the data, permuted."""
    from exact import model_data

    data, params = CASES["ambiguous"]()
    values, texts = data["peaks"].values, list(data["formulas"].categories)
    turned = model_data(values[::-1], texts[::-1])
    one, two = (expected(part, params)[0] for part in (data, turned))
    n = len(values)
    for i in range(n):
        for j in range(i):
            there = f"{n - 1 - j} with {n - 1 - i}"
            assert one.get(f"{i} with {j}", 0.0) == pytest.approx(two.get(there, 0.0), abs=1e-9)
    assert one["formula 0 at level 2"] == pytest.approx(two["formula 1 at level 2"], abs=1e-9)


def test_same_seed_same_draws():
    data, params = CASES["ambiguous"]()
    one, two = (np.array([part[2] for part in sample(MODEL, data, params, 50, seed=5)]) for _ in range(2))
    assert (one == two).all()
