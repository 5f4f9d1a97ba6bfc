"""The command ``plaidwork plugin``: what it lists, what it finds, and its exit codes."""

import json
import re
import sys
from pathlib import Path

import pytest

from plaidwork.core.cli import main

TESTS = Path(__file__).resolve().parents[1]


@pytest.fixture
def modules(tmp_path, monkeypatch):
    """A folder to work in; modules imported from it are forgotten afterwards."""
    before = set(sys.modules)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None)
        if file and Path(file).is_relative_to(tmp_path):
            del sys.modules[name]


def _write(folder, name, text):
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    return str(path)


RIGHT = "from conforming import Means\n\n\nclass Mine(Means):\n    pass\n"
WRONG = RIGHT + "\n    def step(self, state, data, params, rng, clock):\n        return {}[0]\n"


def test_list(capsys):
    assert main(["plugin", "list"]) == 0
    text = capsys.readouterr().out
    assert "plaid" in text
    assert "built-in" in text
    assert main(["plugin", "list", "--json"]) == 0
    records = json.loads(capsys.readouterr().out)
    found = next(record for record in records if record["name"] == "plaid")
    assert found["state"] == "ok"
    assert "infinite_plaid" in found["models"]


def test_check_of_an_installed_model(capsys):
    assert main(["plugin", "check", "infinite_plaid", "--only", "declaration"]) == 0
    text = capsys.readouterr().out
    assert "ok     declaration_json" in text
    assert "7 passed, 0 failed, 0 skipped" in text


def test_check_of_a_plugin_covers_all_its_models(capsys):
    assert main(["plugin", "check", "plaid", "--only", "upgrades", "--json"]) == 0
    records = json.loads(capsys.readouterr().out)
    assert [record["model"] for record in records] == ["infinite_plaid", "bayesian_plaid", "plaid_counts"]
    assert all(record["ok"] for record in records)


@pytest.mark.parametrize("word", ["mine.py", "mine", "mine:Mine"])
def test_check_of_a_file_and_a_module(modules, capsys, word):
    _write(modules, "mine", RIGHT)
    assert main(["plugin", "check", word, "--only", "declaration", "--only", "results"]) == 0
    assert "declaration_importable" in capsys.readouterr().out


@pytest.mark.slow
def test_the_example_in_the_documents_conforms(modules, capsys):
    text = (TESTS.parent / "docs" / "plugins.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(\"\"\"Column means.*?)```", text, re.DOTALL)
    path = _write(modules, "column_means", code)
    assert main(["plugin", "check", path]) == 0, capsys.readouterr().out


def test_a_failure_is_told_with_its_place(modules, capsys):
    path = _write(modules, "wrong", WRONG)
    assert main(["plugin", "check", path, "--only", "traces", "--seed", "4"]) == 3
    text = " ".join(capsys.readouterr().out.split())
    assert "FAILED traces" in text
    assert "right.means, step(): KeyError: 0. At wrong.py:8 in step." in text
    assert "0 passed, 1 failed" in text


@pytest.mark.parametrize(
    ("text", "code", "word"),
    [
        ("1 / 0\n", 3, "ZeroDivisionError: division by zero. At bad.py:1"),
        ("import no_such_module_anywhere\n", 3, "no_such_module_anywhere"),
        ("x = 1\n", 2, "has no model"),
        ("def plaidwork_models():\n    raise OSError('x')\n", 3, "plaidwork_models()"),
        ("def plaidwork_models():\n    return [dict]\n", 3, "dict is not a Model"),
    ],
)
def test_what_cannot_be_checked(modules, capsys, text, code, word):
    path = _write(modules, "bad", text)
    assert main(["plugin", "check", path]) == code
    assert word in capsys.readouterr().err


def test_hook_with_names(modules, capsys):
    _write(modules, "named", 'def plaidwork_models():\n    return ["conforming:Bound"]\n')
    assert main(["plugin", "check", "named", "--only", "bound_rises"]) == 0
    assert "right.bound 1.0: 1 passed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("args", "word"),
    [
        (["plugin"], "ACTION"),
        (["plugin", "check", "no_such_model"], "neither an installed model"),
        (["plugin", "check", "missing.py"], "does not exist"),
        (["plugin", "check", "conforming:Mean"], "no class Mean"),
        (["plugin", "check", "infinite_plaid", "--only", "declarations"], "Did you mean “declaration”?"),
    ],
)
def test_bad_input(capsys, args, word):
    assert main(args) == 2
    assert word in capsys.readouterr().err
