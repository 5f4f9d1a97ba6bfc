"""A model that crashes, never ends, or breaks the contract in a sweep: its chain fails, named, and the others go on."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest
from hostile import SLOW, Hostile
from processes_seen import children_of, is_alive
from toys import SCHEDULE, matrix

from plaidwork.core.data.objects import as_dataset
from plaidwork.core.inference import processes
from plaidwork.core.inference.events import Failed, Finished, Swept
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import Control, InlineExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.inference.processes import ProcessExecutor
from plaidwork.core.inference.run import Run


def _plan(deed, chains=2):
    return make_plan(
        Hostile(), {"X": as_dataset("X", matrix())}, {"deed": deed}, schedule=SCHEDULE.with_(chains=chains)
    )


def _run(deed, executor, progress=None, chains=2):
    plan, events = _plan(deed, chains), []
    run = Run.from_plan(plan)

    def hear(run, event):
        events.append(event)
        if progress is not None:
            progress(event)

    execute(run, plan, executor, hear)
    return run, [event for event in events if isinstance(event, Failed)]


@pytest.mark.parametrize(
    ("deed", "hook", "words"),
    [
        ("write", "step", ("it changed its input “X”, values", "after sweep 8 of Walk")),
        ("extra", "step", ("it returned the trace “level2”, which Walk does not declare",)),
        ("shape", "draws", ("Walk, sweep 9", "Variable “place” has shape (99,)")),
        ("nan", "draws", ("Walk, sweep 9", "Variable “level” is nan", "finite numbers")),
    ],
)
def test_what_breaks_the_contract_is_the_plugins_error(deed, hook, words, monkeypatch):
    monkeypatch.setattr("plaidwork.core.inference.untouched.LEAST_SECONDS", 0.0)
    monkeypatch.setattr("plaidwork.core.inference.untouched.COST", 0.0)
    run, failures = _run(deed, InlineExecutor(), chains=1)
    (failed,) = failures
    assert run.status == "failed"
    assert failed.fault.hook == hook
    assert failed.fault.plugin == "toy.hostile"
    for word in words:
        assert word in failed.message
    assert run.chains[0].draws.count >= 2, "what was kept before stays"


def test_data_are_looked_at_when_a_chain_ends():
    _, failures = _run("write", InlineExecutor(), chains=1)
    assert "changed its input" in failures[0].message


@pytest.mark.slow
@pytest.mark.parametrize(
    ("deed", "how"), [("crash", "was ended by a segmentation fault (SIGSEGV)"), ("exit", "ended with code 5")]
)
def test_a_chain_that_dies_in_a_step_fails_alone(deed, how, monkeypatch):
    monkeypatch.setenv(SLOW, "0.1")  # what it kept has been sent by then
    run, (failed,) = _run(deed, ProcessExecutor())
    assert failed.chain == 0
    assert failed.fault.hook == "step"
    assert how in failed.message
    assert run.status == "failed"
    first, second = run.chains
    assert first.broken
    assert first.draws.count >= 2
    assert second.done
    assert second.draws.count == SCHEDULE.draws


@pytest.mark.slow
@pytest.mark.parametrize("deed", ["endless", "compiled"])
def test_a_step_without_end_can_be_stopped(deed, monkeypatch):
    monkeypatch.setenv(SLOW, "0.1")
    monkeypatch.setattr(processes, "STOP_SECONDS", 1.0)
    control, plan, events = Control(), _plan(deed, chains=1), []

    def hear(run, event):
        events.append(event)
        if isinstance(event, Swept) and event.sweep == 7:
            threading.Timer(2.0, control.stop).start()  # within the eighth, which has no end

    run = Run.from_plan(plan)
    execute(run, plan, ProcessExecutor(control), hear)
    ended = [event for event in events if isinstance(event, Finished)]
    assert run.status == "stopped"
    assert [event.forced for event in ended] == [True]
    assert run.chains[0].draws.count >= 2


PARENT = """
    import sys
    sys.path[:0] = {path!r}
    from hostile import Hostile
    from toys import SCHEDULE, matrix
    from plaidwork.core.data.objects import as_dataset
    from plaidwork.core.inference.executor import Control
    from plaidwork.core.inference.plan import make_plan
    from plaidwork.core.inference.process_pool import ProcessPool
    from plaidwork.core.inference.processes import ProcessExecutor
    from plaidwork.core.inference.run import Run

    if __name__ == "__main__":
        plan = make_plan(
            Hostile(), {{"X": as_dataset("X", matrix())}}, {{"deed": {deed!r}}}, schedule=SCHEDULE.with_(chains=2)
        )
        run = Run.from_plan(plan)
        handle = {executor}.start(plan, run.chains, lambda event: print(event, flush=True))
        handle.wait()
        import time
        time.sleep(600)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    "executor", ["ProcessExecutor(Control())", "ProcessPool(2).executor()"], ids=["own", "pool"]
)
@pytest.mark.parametrize("deed", ["", "endless", "compiled"])
def test_no_process_outlives_a_killed_parent(deed, executor, tmp_path):
    script = tmp_path / "parent.py"
    folders = [str(Path(__file__).parents[1])]
    script.write_text(textwrap.dedent(PARENT.format(path=folders, deed=deed, executor=executor)))
    environment = {**os.environ, SLOW: "0" if not deed else "0.02"}
    parent = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env=environment
    )
    try:
        for line in parent.stdout:
            if line.startswith("Finished") and "chain=1" in line:
                break
        time.sleep(0.5)
        children = children_of(parent.pid)
        assert len(children) >= 2, "the chains' processes are there"
    finally:
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait()
        parent.stdout.close()
    end = time.monotonic() + 20
    while any(map(is_alive, children)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not [pid for pid in children if is_alive(pid)]
