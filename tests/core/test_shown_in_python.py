"""What a Python prompt shows of a session and its runs."""

from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.session.session import Session
from tests import toys


def test_a_run_and_a_session_are_a_line_each():
    session = Session(name="Mine")
    assert repr(session) == "Session('Mine': 0 data sets, 0 runs)"
    values = toys.matrix(8, 4)
    names = tuple(f"r{i}" for i in range(8)), tuple(f"c{i}" for i in range(4))
    data = session.add_dataset(Dataset("numbers", values, *names))
    plan = make_plan(toys.Walk(), {"X": data}, schedule=Schedule(chains=2, warmup=1, draws=3))
    run = session.add_run(plan)
    assert repr(run) == "Run('Walk 1': Walk, ready, 0 draws)"
    execute(run, plan, InlineExecutor())
    assert repr(run) == "Run('Walk 1': Walk, done, 6 draws)"
    assert repr(session) == "Session('Mine': 1 data set, 1 run)"
