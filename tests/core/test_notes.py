"""Notes on what a fit has found: kept as names are, in files of every version, and in what is written of a run."""

from __future__ import annotations

from dataclasses import replace

import h5py
import pytest
from toys import Walk, matrix

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.findings.naming import name_item
from plaidwork.core.findings.notes import MOST, item_note, note_item, noted_items, notes_text, stored_notes
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.session.exporting import export_session
from plaidwork.core.session.session import Session, open_session


@pytest.fixture
def session():
    session = Session(name="notes")
    data = session.add_dataset(Dataset("numbers", matrix(6, 2), tuple("abcdef"), ("x", "y")))
    run = session.add_run(make_plan(Walk(), {"X": data}))
    run.spec = replace(
        run.spec, dims={**run.spec.dims, "factor": "factor", "part": "factor", "topic": "topic"}
    )
    return session, run


def test_a_note_is_kept_under_the_dim_that_is_named(session):
    _, run = session
    assert note_item(run, "part_2", 3, "*why*")
    assert run.item_notes == {"factor": {"3": "*why*"}}
    assert item_note(run, "factor", 3) == item_note(run, "part", 3) == "*why*"
    assert item_note(run, "topic", 3) == item_note(run, "row", 3) == ""
    assert not note_item(run, "factor", 3, "*why*")
    assert not note_item(run, "row", 3, "data")
    assert not note_item(run, "factor", -1, "x")
    assert not note_item(run, "factor", MOST, "x")
    assert note_item(run, "factor", 3, " \n")
    assert run.item_notes == {}


def test_notes_are_told_under_the_names_that_are_shown(session):
    held, run = session
    run.notes = "On all."
    for number, text in ((2, "c"), (0, "a")):
        note_item(run, "topic", number, text)
    note_item(run, "factor", 1, "f")
    name_item(run, "topic", 2, "ships")
    assert noted_items(run, held.datasets) == (("Factor 2", "f"), ("Topic 1", "a"), ("ships", "c"))
    assert notes_text(run, held.datasets).startswith("On all.\n\n## Factor 2\n\nf\n\n## Topic 1")


def test_they_are_written_among_the_files_of_a_run(session, tmp_path):
    held, run = session
    note_item(run, "topic", 0, "about it")
    export_session(held, tmp_path / "files")
    (found,) = (tmp_path / "files").rglob("notes.md")
    assert found.read_text(encoding="utf-8") == "## Topic 1\n\nabout it"


def test_a_file_without_them_is_read_and_has_no_group_for_them(session, tmp_path):
    held, run = session
    path = held.save(tmp_path / "a.plaidwork")
    with h5py.File(path) as file:
        assert "item_notes" not in file["runs"][run.id]
    assert open_session(path).runs[run.id].item_notes == {}


@pytest.mark.parametrize(
    "found",
    [None, [], "x", {"topic": []}, {"topic": {"a": "x"}}, {"topic": {"0": 1}}, {"topic": {"-1": "x", "01": "x", "²": "x", "9999": "x"}},
     {"topic": {"0": ""}}],
)  # fmt: skip
def test_what_a_file_has_in_another_form_is_left_out(found):
    assert stored_notes(found) == {}
    assert stored_notes({"topic": {"7": "kept"}, **(found if isinstance(found, dict) else {})}).get(
        "topic"
    ) in (
        None,
        {"7": "kept"},
    )


def test_a_part_of_the_chains_has_none(session):
    _, run = session
    note_item(run, "topic", 0, "x")
    assert run.of_chains([0]).item_notes == {}
