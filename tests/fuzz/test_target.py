"""The standing target: it runs, and finds what is wrong."""

import pytest
from fuzz.samples import make
from fuzz.target import opener, with_hypothesis
from hypothesis.errors import HypothesisException


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def _sound(folder):
    return make("csv", folder / "sound")[0].read_bytes()


def test_readers_hold(tmp_path):
    tried = with_hypothesis("csv", _sound(tmp_path), opener("csv", tmp_path), 0, examples=25)
    assert tried >= 25


def test_a_reader_that_fails_is_found_and_brought_to_its_smallest_form(tmp_path):
    seen = []

    def fails(kind, path):
        data = path.read_bytes()
        if b"\0" in data:
            seen.append(data)
            raise IndexError("planted")

    with pytest.raises((IndexError, HypothesisException), match="planted"):
        with_hypothesis("csv", _sound(tmp_path), opener("csv", tmp_path, fails), 0, examples=200)
    assert len(seen[-1]) <= len(_sound(tmp_path)) + 1
