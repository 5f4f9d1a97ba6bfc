"""The commands of docs/text.md, as they are typed, on the bundled reviews."""

import csv
import re
import shlex
import shutil
from pathlib import Path

import pytest

from plaidwork.core.cli import main
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.session import Session, open_session

ROOT = Path(__file__).parents[2]
# a whole study, which all look at
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("text tutorial")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder in which all commands were run, one after the other."""
    where = tmp_path_factory.mktemp("texts")
    shutil.copy(ROOT / "resources" / "examples" / "movie-reviews" / "reviews.csv.gz", where)
    text = (ROOT / "docs" / "text.md").read_text(encoding="utf-8")
    lines = "".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL)).splitlines()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(where)
        for line in lines:
            program, *words = shlex.split(line)
            assert program == "plaidwork"
            assert main(words) == 0, line
    assert len(lines) == 7
    return where


def test_the_commands_lead_to_effects(folder):
    run = next(iter(open_session(folder / "topics.plaidwork").runs.values()))
    assert run.status == "done"
    assert run.results["assignments"].values.shape[0] == 250
    with (folder / "effects" / "effect_table.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6
    assert all(row["Note"] or row["Effect"] for row in rows)
    assert any(row["Effect"] for row in rows[1:])


def test_what_is_read_of_a_session_is_what_was_counted(folder):
    """The same fit as from the file itself with the same options."""
    sample = next(sample for sample in registry().samples if sample.id == "movie-reviews")
    counted = open_session(folder / "reviews.plaidwork").datasets["reviews"]
    assert counted.digest() == sample.load()["X"].with_(name="reviews").digest()
    fitted = open_session(folder / "topics.plaidwork")
    assert fitted.datasets["reviews"].digest() == counted.digest()
    assert fitted.datasets["reviews"].source.options == counted.source.options


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--input", "X=two.plaidwork"], "holds 2 datasets"),
        (["--input", "X=two.plaidwork", "--import-option", "X.data=three"], "holds no data “three”"),
        (["--input", "X=two.plaidwork", "--import-option", "X.sheet=1"], "has been read already"),
        (["--input", "X=broken.plaidwork"], "broken.plaidwork"),
    ],
)
def test_a_session_that_says_too_little_is_told(folder, given, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    counted = open_session(folder / "reviews.plaidwork").datasets["reviews"]
    session = Session()
    for name in ("one", "two"):
        session.add_dataset(counted.with_(name=name))
    session.save("two.plaidwork")
    Path("broken.plaidwork").write_text("no session", encoding="utf-8")
    more = ["--input", "y=X:row:positive", "--out", "x.plaidwork"]
    assert main(["fit", "supervised_ibp", *given, *more]) == 2
    assert words in capsys.readouterr().err
    if "holds 2" in words:
        chosen = ["--import-option", "X.data=two", "--max-sweeps", "2", "--chains", "1"]
        assert main(["fit", "supervised_ibp", *given, *chosen, *more]) == 0
        assert "two" in open_session("x.plaidwork").datasets
