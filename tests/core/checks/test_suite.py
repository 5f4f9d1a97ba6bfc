"""The suite as a whole: what it returns, how checks are chosen, and that each has a planted fault."""

import json
import re
from pathlib import Path

import pytest
from conforming import Bound, Means
from sparing import every

from plaidwork.core.api import Model
from plaidwork.core.checks import CheckFailed, Report, check_model, checks_for, known_checks
from plaidwork.core.checks._report import run_checks
from plaidwork.core.errors import SessionError, SettingError


@pytest.mark.parametrize("check", every([*checks_for(Means), *checks_for(Bound)], 2), ids=str)
def test_right_models_conform(check):
    check()


def test_report():
    seen = []
    report = check_model(Means, only=["declaration", "upgrades", "samples"], progress=seen.append)
    assert report.ok
    assert report.rows == seen
    assert {row.outcome for row in report.rows} == {"passed", "skipped"}
    assert "right.means 1.0: 8 passed, 0 failed, 1 skipped" in report.text()
    assert "the model has no sample()" in report.text()
    assert json.loads(json.dumps(report.json()))["checks"][0]["id"] == "declaration_json"


class Failing(Means):
    def step(self, state, data, params, rng, clock):
        raise RuntimeError("never works")


def test_report_of_a_failure():
    report = check_model(Failing, only=["traces"])
    assert not report.ok
    assert [row.id for row in report.failures] == ["traces"]
    assert "right.means, step(): RuntimeError: never works. At test_suite.py:" in report.text().replace(
        "\n           ", " "
    )


class FailingByShape(Means):
    """One fault whose words differ from check to check."""

    def step(self, state, data, params, rng, clock):
        raise RuntimeError(f"no sweep of {data['X'].shape}")


class TwoFaults(FailingByShape):
    def predict(self, kept, data, new_data, params):
        raise KeyError("weights")

    def simulate(self, params, shapes, rng):
        raise KeyError("centre")


@pytest.mark.long
def test_one_fault_is_told_once():
    report = check_model(FailingByShape, only=["results", "repeatable", "degenerate"])
    failed = [row for row in report.failures if row.message.startswith("right.means, ")]
    assert len(failed) == len(report.failures) > 20
    assert [row.id for row in report.faults] == ["traces"]
    assert {row.same_as for row in failed[1:]} == {"traces"}  # in threads and for other data as well
    text = report.text()
    assert text.count("RuntimeError") == 1
    assert f"{len(failed)} failed by 1 fault," in text
    assert "degenerate data give sound numbers or an error for the user (see above: traces)" in text
    told = json.loads(json.dumps(report.json()))["checks"]
    assert {check["same_as"] for check in told} == {"", "traces"}


def test_different_faults_are_told_each():
    report = check_model(TwoFaults, only=["traces", "draws", "simulates"])
    assert len(report.faults) == 1  # the data of all three are simulated
    assert "KeyError: 'centre'" in report.faults[0].message
    report = check_model(FailingByShape, only=["traces", "draws", "wrong_settings"])
    assert [row.same_as for row in report.failures] == ["", "traces"]


def test_a_check_that_breaks_is_a_row():
    class Broken:
        id, title = "broken", "breaks"

        def __call__(self):
            raise ZeroDivisionError("x")

    report = run_checks(Report("m", "1", "quick", 1), [Broken()])
    assert [(row.id, row.outcome) for row in report.rows] == [("broken", "failed")]
    assert "the check broke with ZeroDivisionError" in report.text()


def test_choosing():
    every = {check.id for check in checks_for(Means)}
    prior = {check.id for check in checks_for(Means, only=["prior"])}
    assert prior == {"geweke[default]", "calibration[default]"}
    assert {check.id for check in checks_for(Means, skip=["prior"])} == every - prior
    assert [check.id for check in checks_for(Means, only=["geweke[default]"])] == ["geweke[default]"]
    assert checks_for(Bound, only=["geweke"], skip=["prior"]) == []
    with pytest.raises(SettingError, match="Did you mean “geweke”"):
        checks_for(Means, only=["gewecke"])
    with pytest.raises(SettingError, match="quick, full"):
        checks_for(Means, level="slow")


def test_what_is_no_model():
    with pytest.raises(SessionError, match="not installed"):
        check_model("no.such.model")
    with pytest.raises(CheckFailed, match="not a Model"):
        check_model(dict)
    with pytest.raises(CheckFailed, match="no method draws, init, summarise, stages"):
        check_model(type("Half", (Model,), {"spec": Means.spec}))

    def broken(self):
        raise OSError("no file")

    with pytest.raises(CheckFailed, match="OSError: no file"):
        check_model(type("Broken", (Means,), {"__init__": broken}))


def test_every_check_is_documented_and_has_a_planted_fault():
    files = [path for path in Path(__file__).parent.glob("test_*.py") if path != Path(__file__)]
    planted = set(re.findall(r'"(\w+)"', "".join(path.read_text(encoding="utf-8") for path in files)))
    documents = (Path(__file__).parents[3] / "docs" / "plugins.md").read_text(encoding="utf-8")
    for name, _group, title, doc in known_checks():
        assert name in planted, f"{name} has no planted fault"
        assert f"`{name}` | {' '.join(doc.replace('``', '`').split())} |" in documents, name
        assert title
