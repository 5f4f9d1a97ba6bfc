"""The guest for LC-MS peaks of docs/examples, installed beside Plaidwork: found, checked, fitted to its example, looked at."""

from __future__ import annotations

import json

import pytest
from guests import command, install
from PySide6.QtGui import QImage

from plaidwork.core import open_session

NAME, PACKAGE = "lcms_annotation", "plaidwork_lcms_annotation"
PICTURES = ("Compound against theory", "Map", "Adducts", "Errors")
RESULTS = {"formulas", "peaks_table", "levels", "typical_ion"}


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    return install(NAME, tmp_path_factory.mktemp("lcms"))


@pytest.fixture(scope="module")
def session_file(installed, tmp_path_factory):
    """The example, fitted at its defaults."""
    path = tmp_path_factory.mktemp("fitted") / "metabolites.plaidwork"
    command(installed, "example", "metabolites", "--out", str(path))
    return path


@pytest.mark.long
def test_found_by_entry_point_with_its_example(installed):
    assert (installed / PACKAGE / "samples" / "metabolites" / "peaks.csv").is_file()
    records = json.loads(command(installed, "plugin", "list", "--json"))
    found = next(record for record in records if record["name"] == NAME)
    assert found["state"] == "ok"
    assert found["models"] == [NAME]
    assert "metabolites" in command(installed, "example")


@pytest.mark.slow
def test_it_passes_the_checks_for_plugins(installed):
    command(installed, "plugin", "check", PACKAGE)


@pytest.mark.slow
def test_its_example_settles_at_the_defaults(session_file):
    (run,) = open_session(session_file).runs.values()
    assert run.status == "done"
    assert run.diagnosis().verdict.word == "Settled"
    assert run.results["headline"].startswith("30 of 998 listed formulas are likely with two ions or more")
    assert set(run.results) >= RESULTS


@pytest.mark.slow
def test_its_pictures_are_drawn(installed, session_file, tmp_path):
    """Every view but the tables, pictures of the guest's own among them."""
    words = [word for title in PICTURES for word in ("--picture", title)]
    command(installed, "export", str(session_file), "--to", str(tmp_path / "out"), *words)
    drawn = sorted((tmp_path / "out").rglob("*.png"))
    assert len(drawn) == len(PICTURES)
    for path in drawn:
        image = QImage(str(path))
        seen = {image.pixel(x, y) for x in range(0, image.width(), 3) for y in range(0, image.height(), 3)}
        assert len(seen) > 10, path.name  # neither blank nor a line of words
