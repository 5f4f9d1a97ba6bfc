"""How a fit that has ended is told of before and after it is known whether its chains have settled."""

import pytest

from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.draws.diagnostics import Verdict
from plaidwork.core.inference.plan import make_plan
from plaidwork.gui.session_tree import run_icon
from plaidwork.gui.workbench import Workbench
from tests import toys
from tests.gui.window_tools import dataset, plan, window_on
from tests.registries import registry_of


@pytest.fixture
def window(qapp, tmp_path, monkeypatch):
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("PLAIDWORK_STATE", str(tmp_path / "state"))
    with window_on(Workbench(registry_of(toys.Walk, toys.Steady)), tmp_path) as made:
        made.workbench.add_dataset(dataset())
        yield made


def _ended(window, qtbot, fitted):
    with qtbot.waitSignal(window.workbench.results_changed, timeout=20_000):
        window.commands._start_plan(fitted, "")
    run = window.current_run()
    qtbot.waitUntil(lambda: window.messages.has(f"end {run.id}"), timeout=20_000)
    return run


@pytest.mark.parametrize("settled", [True, False], ids=["settled", "doubtful"])
def test_nothing_is_green_before_it_is_known_whether_the_chains_agree(window, qtbot, monkeypatch, settled):
    told = []
    monkeypatch.setattr(window.workbench, "verdict", lambda run: told[-1] if told else None)
    run = _ended(window, qtbot, plan(draws=20))
    message = window.messages.current
    assert (message.kind, message.title) == ("info", f"{run.title} finished")
    assert run_icon(window.workbench, run) == ("check", "muted")
    told.append(Verdict("ok" if settled else "error", "Settled" if settled else "The chains disagree", ""))
    window.workbench.run_changed.emit(run.id)
    assert message.kind == ("ok" if settled else "warn")
    assert message.title.endswith("finished" if settled else "finished, but the chains disagree")
    assert run_icon(window.workbench, run) == (("check", "ok") if settled else ("warning", "warn"))


def test_a_fit_that_says_itself_that_it_has_not_settled_warns_at_once(window, qtbot, monkeypatch):
    monkeypatch.setattr(window.workbench, "verdict", lambda run: None)
    schedule = Schedule(chains=4, warmup=10, draws=200, budget=1e-6)
    fitted = make_plan(toys.Steady(), {"X": dataset()}, {"memory": 0.9}, schedule=schedule, seed=3)
    _ended(window, qtbot, fitted)
    message = window.messages.current
    assert "without having settled" in message.text
    assert message.kind == "warn"


def test_a_single_draw_is_told_in_the_singular(window, qtbot):
    schedule = Schedule(chains=1, warmup=1, draws=1)
    _ended(window, qtbot, make_plan(toys.Walk(), {"X": dataset()}, schedule=schedule))
    assert "1 draw in " in window.messages.current.text
