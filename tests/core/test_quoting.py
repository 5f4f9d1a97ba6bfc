"""Text of a file is text wherever it is put: in scripts, job files, tables, shells and on terminals."""

import ast
import csv
import io
import json
import shlex
import subprocess
import sys
import tomllib
from xml.etree import ElementTree

import numpy as np
import pytest
from toys import Walk, matrix

from plaidwork.core import quoting
from plaidwork.core.cli import printing
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import SettingError
from plaidwork.core.session import fitting as one_call
from plaidwork.core.session.exporting import export_run, export_session, job_toml, python_script
from plaidwork.core.session.session import Session
from tests.registries import registry_of

HOSTILE = (
    '"""\nimport os; os._exit(7)\n"""',
    "'''; raise SystemExit(7) #",
    "\\",
    'a\\"""',
    "x\nraise SystemExit(7)",
    "x\u2028raise SystemExit(7)",
    "\x1b]0;title\x07\x1b[2J",
    "{__import__('os')._exit(7)}",
    "=cmd|' /C calc'!A0",
    "<img src=file:///etc/passwd>",
    "$(touch x); `touch y`",
    "\ud800 lone",
    "\u202egnp.exe",
)


@pytest.fixture
def toys(monkeypatch):
    found = registry_of(Walk)
    monkeypatch.setattr(one_call, "registry", lambda: found)


@pytest.mark.parametrize("text", HOSTILE)
def test_literals_give_the_value_back_and_nothing_else(text):
    value = {"a": [text, 1, 2.5, None, True, (text,), float("inf")], text: ()}
    source = quoting.literal(value)
    tree = ast.parse(source.replace('float("inf")', "1e999"), mode="eval")
    assert not [node for node in ast.walk(tree) if isinstance(node, (ast.Call, ast.Name))]
    assert source.isprintable()
    assert ast.literal_eval(source.replace('float("inf")', "1e999")) == value


def test_only_literals_become_code():
    class Own(str):
        def __repr__(self):
            return "__import__('os')._exit(7)"

    class Number(float):
        __repr__ = Own.__repr__

    assert quoting.literal(Own("x")) == "'x'"
    assert quoting.literal(Number(2.0)) == "2.0"
    assert quoting.literal(np.float64(0.5)) == "0.5"
    with pytest.raises(SettingError, match="cannot be written into a script"):
        quoting.literal(object())


@pytest.mark.parametrize("text", [text for text in HOSTILE if "\ud800" not in text])
def test_toml_gives_the_value_back(text):
    read = tomllib.loads(
        f"{quoting.toml_key(text)} = {quoting.toml({'k': [text, 1, 0.5, True]})}\nlast = 1\n"
    )
    assert read == {text: {"k": [text, 1, 0.5, True]}, "last": 1}


@pytest.mark.parametrize("text", HOSTILE)
def test_other_places_take_text_for_text(text):
    found = ElementTree.fromstring(f'<a b="{quoting.markup(text)}">{quoting.markup(text)}</a>')
    assert found.text == quoting.lines(text)
    assert found.get("b") == found.text.replace("\n", " ")
    assert len(found) == 0
    assert shlex.split(f"x {quoting.shell(text)} y") == ["x", quoting.line(text), "y"]
    assert quoting.line(text).isprintable()
    assert quoting.lines(text).replace("\n", "").isprintable()
    if "\ud800" not in text:
        assert json.loads(quoting.json_text([text])) == [text]
    quoting.json_text([text]).encode()


def test_menus_show_an_ampersand():
    assert quoting.menu("R&D") == "R&&D"


def test_terminals_get_symbols(capsys):
    printing.tell("name \x1b[31m\x07\nnext\ttab \x9b2J")
    printing.warn("\x1b]0;owned\x07")
    printing.tell_json({"name": "\x1b[2J\x9b"})
    found = capsys.readouterr()
    assert found.out.splitlines() == ["name ␛[31m␇", "next\ttab ␦2J", '{"name": "\\u001b[2J\\u009b"}']
    assert found.err == "␛]0;owned␇\n"


def test_cells_that_would_be_computed_are_guarded_and_numbers_stay():
    def written(**words):
        file = io.StringIO()
        out = quoting.CsvWriter(file, **words)
        out.row(["=1+1", "+a", "-log10", "@x", "\tz", "-1.5", "+3e5", "-inf", -2.0, 3, "a=b", ""])
        return next(csv.reader(io.StringIO(file.getvalue(), newline=""))), out.guarded

    plain = ["=1+1", "+a", "-log10", "@x", "\tz", "-1.5", "+3e5", "-inf", "-2.0", "3", "a=b", ""]
    guarded = [f"'{cell}" for cell in plain[:5]] + plain[5:]
    assert written() == written(guard=True) == (guarded, 5)
    assert written(guard=False) == (plain, 0)


def test_the_choice_is_remembered(tmp_path, monkeypatch):
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path))
    assert quoting.guards_tables()
    quoting.guard_tables(False)
    assert not quoting.guards_tables()
    assert quoting.CsvWriter(io.StringIO()).guarded == 0


def _hostile_run(title):
    values = matrix(6, 3)
    data = Dataset("=data", values, ("=1", "-2", "@c", "d", "e", "f"), ("+a", "b", "c"))
    session = Session(name="S")
    run = one_call.fit("toy.walk", {"X": data}, seed=4, chains=1, draws=3, session=session)
    run.title = title
    return run, session


@pytest.mark.parametrize("title", HOSTILE)
def test_no_title_runs_as_code(tmp_path, toys, title):
    run, session = _hostile_run(title)
    tree = ast.parse(python_script(run, session, tmp_path / "again.py").read_text(encoding="utf-8"))
    kinds = [type(node).__name__ for node in tree.body]
    assert kinds == ["Expr", "ImportFrom", "ImportFrom", "ImportFrom", "Assign", "FunctionDef", "If"]
    assert isinstance(tree.body[0].value, ast.Constant)


@pytest.mark.long
def test_the_script_of_a_hostile_title_repeats_the_run(tmp_path, toys):
    """The file that ran as code: imported in a process of its own it must do nothing but define ``main``."""
    run, session = _hostile_run('"""\nopen("owned", "w")\n"""')
    python_script(run, session, tmp_path / "again.py")
    done = subprocess.run([sys.executable, "-c", "import again"], cwd=tmp_path, check=False, timeout=120)
    assert done.returncode == 0
    assert not (tmp_path / "owned").exists()


def test_names_in_jobs_and_scripts_are_not_guarded_those_in_exports_are(tmp_path, toys):
    run, session = _hostile_run("Walk")
    tables = [
        job_toml(run, session, tmp_path / "a.toml").with_name("a-data"),
        python_script(run, session, tmp_path / "b.py").with_name("b-data"),
    ]
    for folder in tables:
        (table,) = folder.glob("*.csv")
        assert table.read_text(encoding="utf-8").startswith("name,+a,b,c\n=1,")
    told = []
    export_session(session, tmp_path / "all", tell=told.append)
    assert "'=1," in (tmp_path / "all" / "data" / "data.csv").read_text(encoding="utf-8")
    assert "apostrophe" in told[0]
    export_session(session, tmp_path / "raw", guard=False, tell=told.append)
    assert "'=1" not in (tmp_path / "raw" / "data" / "data.csv").read_text(encoding="utf-8")
    assert len(told) == 1
    export_run(run, tmp_path / "one", session)


def test_quoting_loads_no_numpy():
    code = "import sys, plaidwork.core.quoting; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
