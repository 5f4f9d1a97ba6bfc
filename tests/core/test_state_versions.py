"""Runs whose model keeps its state in another form by now: upgraded as a whole, or looked at as they are."""

from dataclasses import replace

import numpy as np
import pytest
from toys import Walk, matrix

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import ModelError, PluginError, SessionError
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.session.session import Session, open_session
from tests.registries import registry_of


class Later(Walk):
    """The walk with another word for its place."""

    spec = replace(Walk.spec, state_version=Walk.spec.state_version + 1)
    calls = 0

    def upgrade_state(self, state, from_version, data, params):
        Later.calls += 1
        if Later.calls == self.fails_at:
            raise ModelError("Not this one.")
        return {("position" if name == "place" else name): value for name, value in state.items()}

    fails_at = 0


@pytest.fixture
def path(tmp_path):
    session, values = Session("S"), matrix()
    rows, columns = ([f"{word}{i}" for i in range(n)] for word, n in zip("rc", values.shape))
    data = session.add_dataset(Dataset("numbers", values, rows, columns))
    plan = make_plan(Walk(), {"X": data}, {}, schedule=Walk.spec.schedule.with_(draws=8))
    execute(session.add_run(plan), plan, InlineExecutor())
    return session.save(tmp_path / "s.plaidwork")


def _states(run):
    return [(set(record.state), set(record.saved.state)) for record in run.chains]


def test_states_and_checkpoints_are_upgraded_together_and_saved_so(path, tmp_path):
    """What is saved before the first new checkpoint fits the version that it names."""
    session = open_session(path)
    (run,) = session.runs.values()
    place = run.chains[0].state["place"].copy()
    session.plan_of(run, registry_of(Later))
    assert run.spec.state_version == Later.spec.state_version
    assert all("position" in one and "position" in other for one, other in _states(run))
    assert "place" not in run.chains[0].saved.state
    (again,) = open_session(session.save(tmp_path / "t.plaidwork")).runs.values()
    assert again.spec.state_version == Later.spec.state_version
    assert np.array_equal(again.chains[0].state["position"], place)


def test_one_state_that_cannot_be_upgraded_leaves_all_as_they_are(path, monkeypatch):
    session = open_session(path)
    (run,) = session.runs.values()
    before = _states(run)
    monkeypatch.setattr(Later, "fails_at", 3)
    monkeypatch.setattr(Later, "calls", 0)
    with pytest.raises(ModelError, match="Not this one"):
        session.plan_of(run, registry_of(Later))
    assert _states(run) == before
    assert run.spec.state_version == Walk.spec.state_version
    assert run.n_draws
    assert run.results


class Strict(Later):
    """Takes something of an old state that it need not have."""

    spec = replace(Later.spec)

    def upgrade_state(self, state, from_version, data, params):
        return {**state, "place": state["somewhere"]}


def test_a_state_of_a_file_that_cannot_be_turned_is_told_of_the_file(path):
    """Not of the plugin, as long as the state may be somebody else's; the run stays as it is."""
    session = open_session(path)
    (run,) = session.runs.values()
    before = _states(run)
    with pytest.raises(SessionError) as caught:
        session.plan_of(run, registry_of(Strict))
    assert caught.value.message.startswith(
        f"Chain 1 of {run.title} cannot go on: its stored state is of version "
    )
    assert "(KeyError: 'somewhere')" in caught.value.message
    assert "The file is damaged, or somebody changed it" in caught.value.hint
    assert _states(run) == before
    for record in run.chains:  # made in this process: it is the plugin's fault
        record.foreign = False
    with pytest.raises(PluginError, match="failed in upgrade_state"):
        session.plan_of(run, registry_of(Strict))
