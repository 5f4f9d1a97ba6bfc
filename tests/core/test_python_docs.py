"""docs/python.md: what it shows runs, and it names every option."""

import inspect
import re
from pathlib import Path

import pytest

from plaidwork.core.cli.options import command_parser
from plaidwork.core.contract.schedule import SCHEDULE_WORDS, Schedule
from plaidwork.core.session import fitting as one_call

pytest.importorskip("pandas")
TEXT = (Path(__file__).resolve().parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
RENAMED = {"input": "inputs", "set": "hyperparameters", "import_option": "import_options"}
"""Options of the command line that have another name in Python."""
ELSEWHERE = {"help", "out", "force", "json", "plugin_dir", "leave"}
"""What a call has no need of: the run is returned, and saved by ``run.save``; a fit is left by ``left_fits.leave``."""


@pytest.mark.long
def test_what_the_page_shows_runs(tmp_path, monkeypatch):
    whole = one_call.fit

    def short(*given, **options):
        return whole(*given, **{**options, "warmup": 5, "draws": 5, "thin": 1, "chains": 1})

    monkeypatch.setattr(one_call, "fit", short)
    monkeypatch.chdir(tmp_path)
    space = {}
    for code in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL):
        exec(compile(code, "docs/python.md", "exec"), space)
    table = space["found"].results["new_class"].columns
    assert set(map(len, table.values())) == {5}
    assert space["found"].results["new_probability"].values.shape == (5, 2)
    assert list(next(iter(table.values()))) == list(space["newcomers"].index)
    assert space["session"].datasets["X"].row_names[0] == "p0"


def test_the_command_line_and_python_take_the_same_words():
    (group,) = (a for a in command_parser()._actions if hasattr(a, "choices") and a.choices)
    typed = {action.dest for action in group.choices["fit"]._actions} - ELSEWHERE
    called = set(inspect.signature(one_call.fit).parameters)
    assert {RENAMED.get(word, word) for word in typed} == called - {"session", "progress"}
    assert set(SCHEDULE_WORDS) == set(Schedule.__dataclass_fields__) <= called
    for word in called:
        assert re.search(rf"`{word}\b", TEXT) or word in ("model", "inputs"), word
