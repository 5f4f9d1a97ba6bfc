"""What differs between two sessions, in words and as a command."""

import json

import numpy as np
import pytest
from toys import Walk, matrix

from plaidwork.core.cli import main
from plaidwork.core.contract.model import Result
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.session.differing import differences
from plaidwork.core.session.session import Session, open_session
from plaidwork.core.study import Study


def _session(seed=1, title="Walk 1", draws=8):
    session = Session("S")
    values = np.asarray(matrix())
    rows, columns = (tuple(f"{word}{i}" for i in range(n)) for word, n in zip("rc", values.shape))
    data = session.add_dataset(
        Dataset("numbers", values, rows, columns, row_table={"age": np.arange(len(rows))})
    )
    plan = make_plan(Walk(), {"X": data}, {}, schedule=Walk.spec.schedule.with_(draws=draws), seed=seed)
    execute(session.add_run(plan, title), plan, InlineExecutor())
    return session


@pytest.fixture
def path(tmp_path):
    return _session().save(tmp_path / "a.plaidwork")


def _texts(one, other):
    return [f"{item.kind} {item.name}: {item.text}" for item in differences(one, other)]


def test_a_session_and_itself_hold_the_same(path):
    assert _texts(open_session(path), open_session(path)) == []
    assert _texts(_session(), _session()) == []  # another id, the same run


def test_data_that_differ(path):
    one, other = open_session(path), open_session(path)
    data = other.datasets["numbers"]
    values = data.values.copy()
    values[0, 0] += 1
    names = ("first", *data.row_names[1:])
    other.datasets["numbers"] = data.with_(
        values=values, row_names=names, row_table={"age": data.row_table["age"] + 1}
    )
    other.add_dataset(data.with_(name="more"))
    found = _texts(one, other)
    assert f"data numbers: 1 of {values.size} values differ." in found
    assert f"data numbers: 1 of {len(names)} names of rows differ." in found
    assert "data numbers: Annotation of rows differs: age." in found
    assert "data more: Only the second has it." in found
    other.datasets["numbers"] = Dataset("numbers", np.eye(2), "ab", "cd")
    assert any("in the first, 2 × 2 in the second" in text for text in _texts(one, other))


def test_runs_that_differ(path):
    one, other = open_session(path), open_session(path)
    (run,) = other.runs.values()
    run.params = {**run.params, "stride": 2.0}
    run.results["words"] = "other"
    run.results["level"] = Result(np.zeros(3))
    run.chains[1].trace.rows()
    found = _texts(one, other)
    assert "run Walk 1: Stride: 0.5 in the first, 2.0 in the second." in found
    assert any("Results differ" in text and "words" in text and "level" in text for text in found)
    apart = _texts(_session(), _session(seed=2, title="Walk 1"))
    assert apart == ["run Walk 1: Only the first has it.", "run Walk 1: Only the second has it."]


def test_chains_part_where_they_part(path):
    one, other = open_session(path), open_session(path)
    rows = next(iter(other.runs.values())).chains[1].trace
    rows.rows()[3, 0] += 1e-9
    assert any("Chain 2 parts at sweep 4 of" in text for text in _texts(one, other))


def test_longer_chains_do_not_part():
    found = _texts(_session(), _session(draws=12))
    assert not any("parts at" in text for text in found)
    assert "run Walk 1: Draws: 8 in the first, 12 in the second." in found


def test_searches_and_notes_that_differ(path):
    one, other = open_session(path), open_session(path)
    other.notes = "more"
    next(iter(other.runs.values())).item_notes = {"step": {"0": "why"}}
    Study.grid(
        Walk(), {"X": [other.datasets["numbers"]]}, {"stride": [1, 2]}, title="Strides", metrics=()
    ).add_to(other)
    found = _texts(one, other)
    assert "search Strides: Only the second has it." in found
    assert "session notes: The notes differ." in found
    assert any("The notes on what was found differ." in text for text in found)


@pytest.mark.long
def test_the_command_says_so_and_its_code_too(path, tmp_path, capsys):
    assert main(["diff", str(path), str(path)]) == 0
    assert "Both hold the same." in capsys.readouterr().out
    other = open_session(path)
    other.notes = "more"
    second = other.save(tmp_path / "b.plaidwork")
    assert main(["diff", str(path), str(second)]) == 3
    assert capsys.readouterr().out == "session  notes: The notes differ.\n"
    assert main(["diff", str(path), str(second), "--json"]) == 3
    assert json.loads(capsys.readouterr().out) == [
        {"kind": "session", "name": "notes", "text": "The notes differ."}
    ]
