"""The commands of Start here and of the guides, as they are typed, on the bundled examples."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from plaidwork.core.cli import main
from plaidwork.core.cli.options import command_parser
from plaidwork.core.session.session import open_session

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "resources" / "examples"
FILES = {
    "start-here": ["votes/votes.csv"],
    "guides/blocks": ["tumour-genes/srbct_khan2001_x.csv.gz"],
    "guides/omics": ["leukaemia/cll_drugs.csv.gz", "leukaemia/cll_mutations.csv.gz"],
    "guides/words": ["movie-reviews/reviews.csv.gz"],
    "guides/raters": [],
    "guides/few-labels": [],
}
"""The files that each page works on."""


def commands(page: str) -> list[list[str]]:
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    lines = "".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL)).splitlines()
    return [shlex.split(line) for line in lines]


def test_every_guide_is_here():
    found = {f"guides/{path.stem}" for path in (ROOT / "docs" / "guides").glob("*.md")} - {"guides/index"}
    assert found == set(FILES) - {"start-here"}


@pytest.mark.parametrize("page", FILES)
def test_the_commands_are_understood_and_the_files_are_named(page):
    parser, told = command_parser(), (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    assert commands(page)
    for program, *words in commands(page):
        assert program == "plaidwork"
        parser.parse_args(words)
    for name in FILES[page]:
        assert (EXAMPLES / name).exists()
        assert Path(name).name in told


@pytest.mark.slow
@pytest.mark.parametrize("page", FILES)
def test_the_commands_lead_to_results(page, tmp_path, monkeypatch, qapp):
    for name in FILES[page]:
        shutil.copy(EXAMPLES / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    for _, *words in commands(page):
        assert main(words) == 0, words
    fitted = [run for path in tmp_path.glob("*.plaidwork") for run in open_session(path).runs.values()]
    assert fitted
    assert all(run.status == "done" and run.results for run in fitted)
