"""Class probabilities item by item as a picture: items without a known class are a part of their own."""

from __future__ import annotations

import numpy as np
import pytest

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import View
from tests.core.views.drawn import drawn

VIEW = View("shares", "S", {"labels": "codes", "probability": "share", "names": "class"})
PARTS = View("shares", "S", {**VIEW.source, "part": "half"})
SHARE = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.7, 0.3], [0.1, 0.9], [np.nan, np.nan]])


def results(codes):
    return {
        "share": Result(SHARE, ("patient", "class")),
        "codes": Result(np.array(codes), ("patient",)),
        "class": Result(np.array(["a", "b"]), ("class",)),
        "half": Result(np.array(["fitted", "test", "fitted", "test", "fitted", "fitted"]), ("patient",)),
    }


def test_with_few_labels_the_others_come_first():
    picture = drawn(VIEW, results([0, -1, -1, -1, -1, -1]), shape=(6, 5))
    (panel,) = picture.panels  # no strip of known classes
    assert picture.headline == "The most probable class has a probability of 75 % on average"
    assert picture.notes == "4 unlabelled patients; 1 without a known class left out"
    assert picture.table["Most probable class"].tolist() == ["a", "a", "b", "b"]
    assert panel.x.title == "patients"
    assert panel.marks[0].read(0) == "Patient without a known class: a 0.70, b 0.30"
    assert panel.marks[0].of.index.tolist() == [3, 2, 1, 4]
    known = drawn(VIEW, results([0, -1, -1, -1, -1, -1]), {"part": "1"}, shape=(6, 5))
    assert known.headline == "The known class has a probability of 90 % on average"
    assert known.notes.startswith("1 labelled patient;")
    assert len(known.panels) == 2


def test_a_few_without_a_class_are_the_last_part():
    found = results([0, 1, 0, 0, -1, -1])
    picture = drawn(PARTS, found, shape=(6, 5))
    assert picture.notes.startswith("2 test patients")
    assert drawn(PARTS, found, {"part": "2"}, shape=(6, 5)).notes.startswith("1 unlabelled patient;")


@pytest.mark.parametrize(
    ("codes", "notes"), [([0, 1, 0, 0, 1, 1], "5 patients; 1 "), ([-1] * 6, "5 unlabelled patients; 1 ")]
)
def test_all_or_none_are_known(codes, notes):
    assert drawn(VIEW, results(codes), shape=(6, 5)).notes.startswith(notes)


def test_a_part_of_that_name_stays_apart():
    found = results([0, 1, 0, 0, -1, -1])
    found["half"] = Result(np.array(["unlabelled", "fitted"] * 3), ("patient",))
    texts = [drawn(PARTS, found, {"part": str(k)}, shape=(6, 5)).notes.partition(";")[0] for k in range(3)]
    assert texts == ["2 unlabelled patients", "2 fitted patients", "1 other unlabelled patient"]
