"""What a session file tells besides states and draws is looked at before anything is made of it: an altered one is refused with a
sentence that names the entry, or drawn with one in the place of what does not fit. Nothing crashes, hangs or takes memory."""

import json
import subprocess
import sys
import time
from contextlib import nullcontext
from functools import cache
from pathlib import Path

import h5py
import pytest
from altered_results import alterations, opened, pictures, unsealed, write
from told_session import FIXTURES, fixture, told_session

from plaidwork.core.errors import SessionError
from plaidwork.core.session.session import Session
from plaidwork.core.session.store.places import recovery_file, recovery_key
from plaidwork.core.session.store.session_file import load
from plaidwork.core.views.sources import Sources

TESTS = Path(__file__).parents[1]
NAMES = sorted(path.name.removesuffix(".plaidwork.xz") for path in FIXTURES.glob("version_*/*.plaidwork.xz"))
_PARTS = 8
"""In which all alterations of a session are tried."""


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    folder = tmp_path_factory.mktemp("told")
    return unsealed(told_session(folder), folder / "base.plaidwork")


def _tried(script, path, folder, *select, seconds=3600):
    """What became of alterations of a session, in a process of its own; those with a fault are shown."""
    found = subprocess.run(
        [sys.executable, str(TESTS / script), str(path), str(folder), *map(str, select)],
        capture_output=True, text=True, timeout=seconds, check=False,
    )  # fmt: skip
    lines = [line.split("\t") for line in found.stdout.splitlines()]
    assert found.returncode == 0, f"{lines[-1:]} {found.stderr[-2000:]}"
    assert not [line for line in lines if line[0] == "bad"]
    return [line for line in lines if line[0] in ("refused", "shown")]


@cache
def _changes(base):
    return alterations(base)


def _named(base, entry, name, out):
    """A file with the alteration of the first entry that ends so."""
    change = next(c for where, called, c in _changes(base) if where.endswith(entry) and called == name)
    return write(base, change, out)


WORDS = {
    ("/analyses/one/results/profile", "longer along 0"): "",
    ("/analyses/one/results/profile", "one axis more"): "has the shape (1, 2, 16) and the axes",
    ("/results/blocks/Rows", "shorter along 0"): "is int64 of the shape (1,), expected (2,), like each column before it",
    ("/results/blocks/Rows", "one axis more"): "of the shape (1, 2)",
    ("/results/headline", "one axis more"): "expected a text",
    ("/results/blocks@kind", "gone"): "has the unknown kind",
    ("/results/fit@name", "gone"): "the attribute “name” of “/runs/",
    ("/results/fit@name", ""): "expected a name of its own",
    ("/results/fit@order", "-1"): "expected a whole number from 0 to",
    ("/results/fit@about", "label = [[1]]"): "“label” is a list of length 1, expected a text",
    ("/table@about", "decimals.Share = 1000000000000"): "has 1000000000000 decimals",
    ("/analyses/one/about", "views.0.kind = -1"): "“views.1.kind” is -1, expected a text",
    ("/log/text", "numbers"): "expected texts, as many in each",
    ("/data/labels/obs/labels/codes", "large"): "has classes from -1 to 8589934592, there are 2, numbered from 0",
    ("/data/images/uns/plaidwork", "image_shape.0 = 1000000000000"): "pixels, at most",
    ("/data/X/obs/_index", "numbers"): "expected a list of texts",
    ("/inputs", "X.0 = -1"): "/inputs” is not what was expected: “X.1” is -1, expected a text",
    ("/declaration", "views.0.source.fit = []"): "“views.1.source.fit” is a list of length 0, expected a text",
    ("/schedule", "draws = -1"): "draws must be a whole number from 1 to 10000000",
    ("/schedule", " = {}"): "/schedule” places the last draw of chain 1 at sweep ",
}  # fmt: skip
"""For an entry and what is done to it: words of the refusal; empty where the file opens and a view says what does not fit."""


@pytest.mark.parametrize(("entry", "name"), WORDS)
def test_a_sentence_names_the_entry(entry, name, base, tmp_path):
    path, words = _named(base, entry, name, tmp_path / "altered.plaidwork"), WORDS[entry, name]
    if words:
        with pytest.raises(SessionError) as caught:
            load(path, Session, probed=True)
        assert caught.value.message.startswith("“altered.plaidwork” cannot be opened: ")
        assert words in caught.value.message
        assert "Error:" not in caught.value.message
    else:
        faults, said = pictures(load(path, Session, probed=True))
        assert not faults
        assert any(
            "The results in the file do not fit this view: “profile_interval” has shape" in text
            for text in said
        )


def test_a_few_alterations_of_everything(base, tmp_path):
    found = _tried("altered_results.py", base, tmp_path, 5, 1597)
    assert len(found) > 5
    assert {line[0] for line in found} == {"refused", "shown"}


@pytest.mark.long
@pytest.mark.parametrize(("only", "step"), [("/results/", 41), ("/analyses/", 83), ("/data/", 61)])
def test_more_alterations(only, step, base, tmp_path):
    assert len(_tried("altered_results.py", base, tmp_path, 7, step, only)) > 10


@pytest.mark.slow
@pytest.mark.parametrize("part", range(_PARTS))
def test_every_alteration(part, tmp_path):
    """Of the session with everything: in parts of about two minutes, so that they fit into a time."""
    assert len(_tried("altered_results.py", told_session(tmp_path), tmp_path / "out", part, _PARTS)) > 100


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_alteration_of_results(name, tmp_path):
    """Of earlier sessions, every third."""
    assert (
        len(_tried("altered_results.py", fixture(name, tmp_path), tmp_path / "out", 0, 3, "/results/")) > 100
    )


# -- what is chosen and named is left out where it is not of its form ----------------------------------
def _with(base, out, **records):
    def change(file):
        run = next(iter(file["runs"].values()))
        for name, record in records.items():
            if name in run:
                del run[name]
            run.create_dataset(name, data=json.dumps(record), dtype=h5py.string_dtype())

    return write(base, change, out)


def test_a_name_of_an_item_that_is_far_off_makes_no_list(base, tmp_path):
    """The number of an item was as long as a list of names."""
    names = {"block": {"0": "Kept", "99999999999": "Far", "-1": "Before", "01": "Twice", "1": 7}, "other": 3}
    out = _with(base, tmp_path / "altered.plaidwork", item_names=names)
    start = time.perf_counter()
    session = load(out, Session, probed=True)
    (run,) = session.runs.values()
    assert run.item_names == {"block": {"0": "Kept"}}
    assert not pictures(session)[0]
    assert time.perf_counter() - start < 30


def test_choices_that_are_none_are_left_out(base, tmp_path):
    given = {"choices": [1], "selection": 3, "analyses": {"one": {"choices": {"a": 1, "b": {"c": 2}}}, "two": 5}, "heatmap": "x",
             "mean": {"order": "cluster"}, "unlocked": [1, {"action": "unlocked"}]}  # fmt: skip
    session = load(_with(base, tmp_path / "altered.plaidwork", view_settings=given), Session, probed=True)
    (run,) = session.runs.values()
    assert run.view_settings == {
        "choices": {}, "analyses": {"one": {"choices": {"b": {"c": 2}}}, "two": {}}, "mean": {"order": "cluster"},
        "unlocked": [{"action": "unlocked"}],
    }  # fmt: skip


# -- the planted faults: without the looks it would be seen -----------------------------------------------
def test_a_view_says_from_what_it_could_not_be_drawn(tmp_path, monkeypatch):
    """A picture indexes with a result; without the words that stand around every view it tells of the program alone."""
    base = unsealed(fixture("dp_mixture", tmp_path), tmp_path / "base.plaidwork")
    session = load(
        _named(base, "/results/labels", "very negative", tmp_path / "altered.plaidwork"), Session, probed=True
    )
    faults, said = pictures(session)
    assert not faults
    (words,) = [text for text in said if "cannot be drawn from the results in the file" in text]
    assert "“labels” (24 numbers)" in words
    monkeypatch.setattr("plaidwork.core.views.drawing.explained", lambda sources: nullcontext())
    (fault,) = pictures(session)[0]
    assert "IndexError: " in fault


def test_a_number_that_no_picture_has_is_told_of_the_file(base, tmp_path, monkeypatch):
    path = _named(base, "/analyses/one/results/profile_interval", "infinite", tmp_path / "altered.plaidwork")
    words = "This view cannot be drawn from the results in the file: “profile” (2 × 16 numbers), “profile_interval” (2 × 16 × 2 numbers)."
    assert any(words in text for text in pictures(load(path, Session, probed=True))[1])
    monkeypatch.setattr("plaidwork.core.views.drawing.explained", lambda sources: nullcontext())
    said = pictures(load(path, Session, probed=True))[1]
    assert any("infinite" in text for text in said)


def test_a_shape_that_a_view_does_not_look_at_is_told(base, tmp_path, monkeypatch):
    path = _named(base, "/analyses/one/results/profile", "longer along 0", tmp_path / "altered.plaidwork")
    words = "The results in the file do not fit this view: “profile_interval” has shape (2, 16, 2); interval needs"
    assert sum(words in text for text in pictures(load(path, Session, probed=True))[1]) == 2
    monkeypatch.setattr("plaidwork.core.views.sources.misfit_of", lambda view, results: "")
    assert not any(words in text for text in pictures(load(path, Session, probed=True))[1])


def test_results_of_this_process_are_not_looked_at(base, monkeypatch):
    session = load(base, Session, probed=True)
    (run,) = session.runs.values()
    seen = []
    monkeypatch.setattr(
        "plaidwork.core.views.sources.misfit_of", lambda view, results: seen.append(view.title) or ""
    )
    view = next(view for view in run.spec.views if view.source.get("values") in run.results)
    Sources(session, run, view).get("values")
    run.results = dict(run.results)
    Sources(session, run, view).get("values")
    assert seen == [view.title]


def test_what_is_wrong_is_counted(base, tmp_path, capsys):
    """The counting itself: a fault, a file that is written to, and an error that is no sentence."""
    out = tmp_path / "base.plaidwork"
    out.write_bytes(base.read_bytes())

    def look(session):
        with (tmp_path / "altered.plaidwork").open("ab") as file:
            file.write(b" ")
        return [], []

    opened(out, look, lambda number, entry: entry.endswith("notes/session"))
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("bad")]
    assert lines
    assert all(line.endswith("written") for line in lines)


@pytest.mark.parametrize("given", ["../../elsewhere", "", "x" * 200])
def test_a_session_is_not_called_by_a_path(given, base, tmp_path):
    """Unsaved work lies in a file that is named by the session; a save under another name failed after it had written."""

    def change(file):
        file.attrs["uuid"] = given

    session = load(write(base, change, tmp_path / "altered.plaidwork"), Session, probed=True)
    assert session.uuid != given
    assert recovery_file(recovery_key(session.uuid)).parent.name == "recovery"
    assert session.save(tmp_path / "other.plaidwork").exists()
