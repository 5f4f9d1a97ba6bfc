"""A fit that cannot fit into memory is told before it starts, with what helps."""

import numpy as np
import pytest
import scipy.sparse
from toy import ToySampler, toy_data

from plaidwork.core.cli import fitting
from plaidwork.core.contract.model import Cost
from plaidwork.core.data.importers.reading import read_dataset
from plaidwork.core.errors import PluginError
from plaidwork.core.hdf5 import limits
from plaidwork.core.inference import memory
from plaidwork.core.inference.memory import free_memory, memory_problem, memory_told, needed
from plaidwork.core.inference.plan import estimate, make_plan
from plaidwork.core.plugins.registry import registry


def _plan(draws=30, chains=2):
    schedule = ToySampler.spec.schedule.with_(draws=draws, chains=chains)
    return make_plan(ToySampler(), {"X": toy_data()}, schedule=schedule)


def test_what_a_fit_takes_grows_with_chains_and_draws():
    cost = Cost(1000.0, 1.0)
    one, two, longer = (needed(_plan(*how), cost) for how in ((30, 1), (30, 2), (60, 2)))
    assert (one.data, two.data) == (6 * 4 * 8, 6 * 4 * 8)
    assert (one.chains, two.chains) == (1000, 2000)
    assert two.draws == 2 * one.draws > 0
    assert longer.draws == 2 * two.draws


def test_what_chains_share_and_what_a_draw_takes_may_be_said():
    one, two = (needed(_plan(30, chains), Cost(1000.0, 1.0, shared=500.0, draw=7.0)) for chains in (1, 2))
    assert (one.chains, two.chains) == (1500, 2500)
    assert (one.draws, two.draws) == (30 * 7, 60 * 7)


def test_how_many_chains_fit_is_told(monkeypatch):
    plan, cost = _plan(30, 4), Cost(1e6, 1.0, shared=5e5, draw=1.0)
    monkeypatch.setattr(memory, "free_memory", lambda: int(2.7e6))
    hint = memory_problem(plan, cost).hint
    assert hint.startswith("Fit fewer chains (there is room for 2 chains), or fewer rows")
    monkeypatch.setattr(memory, "free_memory", lambda: int(1.6e6))
    assert "(there is room for 1 chain)" in memory_problem(plan, cost).hint
    monkeypatch.setattr(memory, "free_memory", lambda: int(1.4e6))
    assert memory_problem(plan, cost).hint.startswith("Fit fewer chains, or fewer rows")


def test_draws_are_counted_as_they_are_kept():
    """As large as the buffers of a chain get; what only the fit decides is counted generously."""
    from plaidwork.core.inference.execution import execute
    from plaidwork.core.inference.executor import InlineExecutor
    from plaidwork.core.inference.run import Run

    plan = _plan(30, 1)
    run = Run.from_plan(plan)
    execute(run, plan, InlineExecutor())
    draws = run.chains[0].draws
    kept = sum(entry.nbytes for variable in plan.spec.variables for entry in draws.packed(variable.name))
    assert kept <= needed(plan, None).draws < 500 * kept


def test_a_model_that_says_nothing_is_taken_to_need_thrice_its_data():
    need = needed(_plan(chains=2), None)
    assert need.chains == 2 * 3 * need.data


@pytest.mark.parametrize(
    ("draws", "chains", "cost", "help_"),
    [
        (30, 2, 1e12, "Fit fewer chains"),
        (30, 1, 1e12, "Fit fewer rows"),
        (4000, 2, 1.0, "Keep fewer draws"),
    ],
)
def test_too_little_memory_is_told_with_what_helps(monkeypatch, draws, chains, cost, help_):
    plan = _plan(draws, chains)
    monkeypatch.setattr(memory, "free_memory", lambda: 100_000)
    problem = memory_problem(plan, Cost(cost, 1.0))
    assert problem.hint.startswith(help_)
    assert problem.severity == "warning"
    assert "1 MB are free" in problem.message
    assert memory_told(plan, Cost(cost, 1.0)).warnings[0] == problem


def test_several_fits_at_a_time_share_the_data_alone(monkeypatch):
    plan, cost = _plan(), Cost(1000.0, 1.0)
    need = needed(plan, cost)
    monkeypatch.setattr(memory, "free_memory", lambda: int(3.5 * (need.total - need.data)))
    assert memory_problem(plan, cost, 3) is None
    problem = memory_problem(plan, cost, 4)
    assert problem.message.startswith("4 such fits at a time need about 15 MB of memory")
    assert problem.hint.startswith("Make fewer fits at a time")


@pytest.mark.parametrize("free", [None, 10**15])
def test_nothing_is_said_where_there_is_room_or_nobody_knows(monkeypatch, free):
    monkeypatch.setattr(memory, "free_memory", lambda: free)
    plan = _plan()
    assert memory_told(plan, None) is plan


def test_a_container_has_less_than_the_computer(monkeypatch, tmp_path):
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.current").write_text("2000\n")
    monkeypatch.setattr(limits, "_GROUPS", tmp_path)
    assert free_memory() == 3000
    (tmp_path / "memory.max").write_text("max\n")
    assert free_memory() is None or free_memory() > 3000


def test_the_command_line_says_it_even_when_the_model_cannot(monkeypatch):
    class Broken(ToySampler):
        def estimate(self, data, params):
            raise ValueError("no idea")

    monkeypatch.setattr(memory, "free_memory", lambda: 0)
    plan = make_plan(Broken(), {"X": toy_data()})
    with pytest.raises(PluginError):
        fitting.estimate(plan)
    assert "of memory" in fitting._with_memory(plan).warnings[0].message


@pytest.mark.parametrize("where", ["memory", "file"])
def test_counts_that_need_not_be_in_memory_are_told(monkeypatch, tmp_path, where):
    counts = scipy.sparse.random(200, 100, 0.1, "csr", random_state=np.random.default_rng(1))
    counts.data = np.ceil(5 * counts.data)
    scipy.sparse.save_npz(tmp_path / "x.npz", counts)
    monkeypatch.setenv("PLAIDWORK_SCRATCH", str(tmp_path))
    model = registry().model("hdp_topics")
    plan = make_plan(
        model, {"X": read_dataset(tmp_path / "x.npz", {"values_in": where, "samples_in": "rows"})}, {}
    )
    cost = estimate(plan)
    assert (needed(plan, cost).data > 0) == (where == "memory")
    monkeypatch.setattr(memory, "free_memory", lambda: 1000)
    problem = memory_problem(plan, cost)
    assert ("(.npz, .h5ad, .mtx) can stay out of memory" in problem.hint) == (where == "memory")
    assert ".npy" not in problem.hint


def test_sparse_data_are_counted_by_their_entries():
    import scipy.sparse

    from plaidwork.core.contract.model_data import Block

    values = scipy.sparse.csr_matrix(np.eye(50))
    block = Block("X", values, values, None, (("a",) * 50, ("b",) * 50))
    assert memory._bytes(block) < 50 * 50 * 8
