"""Draws declared as counts take few bytes in memory and in the file, and come back as they were."""

from dataclasses import replace

import numpy as np
import pytest
from toy import ToyRegistry, ToySampler, toy_data

from plaidwork.core.contract.spec import Variable
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.session.session import Session, open_session
from plaidwork.core.session.store import inference


class Counting(ToySampler):
    """With counts, a row of them for each layer, that are large in one draw."""

    spec = replace(
        ToySampler.spec,
        variables=(
            *ToySampler.spec.variables,
            Variable("seen", ("K", "row"), "count", ragged=True),
            Variable("all_seen", ("row",), "count"),
        ),
    )

    def draws(self, state, data, params):
        seen = np.full(state["layers"]["rho"].shape, 300 if state["sweep"] % 2 else 7)
        return {**super().draws(state, data, params), "seen": seen, "all_seen": np.arange(seen.shape[1])}


@pytest.fixture
def run():
    session = Session("counts")
    data = session.add_dataset(toy_data())
    plan = make_plan(Counting(), {"X": data}, schedule=Counting.spec.schedule)
    found = session.add_run(plan)
    execute(found, plan, InlineExecutor())
    return found


def test_they_take_few_bytes_and_come_back(run, tmp_path, monkeypatch):
    kinds = {one.dtype for chain in run.kept().chains for one in chain.iterate("seen") if one.size}
    assert kinds == {np.dtype(np.uint8), np.dtype(np.uint16)}
    assert {one.dtype for one in run.kept().chains[0].iterate("all_seen")} == {np.dtype(np.uint8)}
    monkeypatch.setattr(inference, "_AT_ONCE", 20)  # several pieces
    run.session.save(tmp_path / "c.plaidwork")
    monkeypatch.setattr("plaidwork.core.plugins.registry.registry", ToyRegistry)
    (again,) = open_session(tmp_path / "c.plaidwork").runs.values()
    for name, size in (("seen", 2), ("all_seen", 1)):
        for one, other in zip(run.kept().chains, again.kept().chains, strict=True):
            for before, after in zip(one.iterate(name), other.iterate(name), strict=True):
                np.testing.assert_array_equal(before, after)
                assert after.dtype == np.dtype(f"u{size}")


def test_stacked_they_are_whole_numbers_with_a_mark_where_there_is_none(run):
    stacked = run.kept().stack("seen")
    assert stacked.dtype == np.int64
    assert set(np.unique(stacked)) == {-1, 7, 300}
