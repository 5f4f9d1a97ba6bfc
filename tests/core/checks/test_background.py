"""The suite in a process of its own: progress, cancelling, and a process that dies."""

import pytest

from plaidwork.core.checks import Report, Row
from plaidwork.core.checks.background import check_in_process, kept_result
from plaidwork.core.errors import ModelError
from plaidwork.gui.plugins.facts import check_report


@pytest.fixture
def guest(tmp_path, monkeypatch):
    """A plugin folder with one model; returns a function that writes another source into it."""
    from wheels_made import model_source

    monkeypatch.setenv("PLAIDWORK_PLUGINS", str(tmp_path))
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "config"))
    path = tmp_path / "level_guest.py"
    path.write_text(model_source(), encoding="utf-8")
    return lambda old, new: path.write_text(
        path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8"
    )


@pytest.mark.long
def test_a_report_with_progress(guest):
    told = []
    (report,) = check_in_process(
        ["guest.level"], listener=lambda *what: told.append(what), only=["declaration", "traces"]
    )
    assert report.ok, report.text()
    assert told[0] == (0, 0, "")
    assert told[-1][0] == told[-1][1] == len(report.rows) == 8
    kept = kept_result([report])
    assert (kept["ok"], kept["passed"], kept["models"]) == (True, 8, ["guest.level"])


@pytest.mark.slow
def test_a_process_that_dies_is_told(guest):
    guest('return {"level": 0.0}', "import os; os._exit(7)")
    with pytest.raises(ModelError, match="ended without a result"):
        check_in_process(["guest.level"], only=["traces"])


def test_raising_ends_the_process(guest):
    import multiprocessing

    class Enough(Exception):
        pass

    def told(*what):
        raise Enough

    with pytest.raises(Enough):
        check_in_process(["guest.level"], listener=told)
    assert not multiprocessing.active_children()


@pytest.mark.slow
def test_an_unknown_model(guest):
    with pytest.raises(ModelError, match="is not installed"):
        check_in_process(["no.such"])


def test_failures_are_kept_with_their_reason():
    rows = [
        Row("a", "A", "passed", 0.1),
        Row("b", "B", "failed", 0.1, "why", "do"),
        Row("c", "C", "skipped", 0.1),
        Row("d", "D", "failed", 0.1, "why", "do", same_as="b"),
    ]
    kept = kept_result([Report("m", "1", "quick", 1, rows)])
    assert (kept["ok"], kept["passed"], kept["failed"], kept["skipped"]) == (False, 1, 2, 1)
    reason = {"model": "m", "message": "why", "hint": "do"}
    assert kept["failures"] == [
        {**reason, "id": "b", "title": "B", "same_as": ""},
        {**reason, "id": "d", "title": "D", "same_as": "b"},
    ]
    assert check_report(kept).splitlines() == ["B (b)", "    why do", "D (d)", "    see above: b"]
