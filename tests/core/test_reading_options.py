"""One declaration of the ways to read a file: what it says is what readers, Python and the command line take."""

import ast
import json
from pathlib import Path

import pytest

import plaidwork.core.data.importers as importers
from plaidwork.core.cli.options import command_parser
from plaidwork.core.cli.pairs import import_options
from plaidwork.core.data.importers import read_dataset, read_datasets
from plaidwork.core.data.importers.reading import builtin_readers
from plaidwork.core.data.reading_options import (
    COMMON,
    READING_OPTIONS,
    checked_options,
    options_of,
    reading_option,
)
from plaidwork.core.errors import DataError
from plaidwork.core.job import FileInput


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("id,a,b\nx,1.5,2\ny,2.5,3\n")
    return path


def test_every_reader_declares_its_options():
    ids = {reader.id for reader in builtin_readers()}
    assert {name for option in READING_OPTIONS for name in option.readers} == ids
    for name in ids:
        names = [option.name for option in options_of(name)]
        assert len(names) == len(set(names)), "an option twice"


def test_every_option_that_a_reader_asks_for_is_declared():
    asked = set()
    for file in Path(importers.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            is_get = (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "get"
            )
            owner = node.func.value if is_get else node.value if isinstance(node, ast.Subscript) else None
            key = node.args[0] if is_get and node.args else getattr(node, "slice", None)
            if isinstance(owner, ast.Name) and owner.id == "options" and isinstance(key, ast.Constant):
                asked.add(key.value)
    texts = {"text_column", "text_source"}
    assert asked - {option.name for option in READING_OPTIONS} - texts - set(COMMON) == set()


def test_the_help_of_the_command_line_lists_them_all(capsys):
    with pytest.raises(SystemExit):
        command_parser().parse_args(["fit", "--help"])
    shown = capsys.readouterr().out
    assert [option.name for option in READING_OPTIONS if f"\n  {option.name} " not in shown] == []


@pytest.mark.parametrize("read", [read_dataset, read_datasets])
def test_python_refuses_options_that_are_not_declared(table, read):
    with pytest.raises(DataError, match="no reading option “delimeter” for this format") as caught:
        read(table, {"delimeter": ";"})
    assert caught.value.hint == "Did you mean delimiter?"
    with pytest.raises(DataError, match="sheet is not for this format"):
        read(table, {"sheet": "A"})


def test_a_job_refuses_them_too(table):
    with pytest.raises(DataError, match="no reading option “seperator”"):
        FileInput(table, {"seperator": ";"}).read()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("skip_rows", -1, "a whole number from 0"),
        ("transpose", "often", "true or false"),
        ("labels", [True], "columns: titles, or numbers from 0"),
        ("column", 1.5, "a column: its title, or its number from 0"),
        ("percent", "maybe", "one of number, share"),
        ("thousands", "dot", "one of none, comma, point, blank, space, apostrophe"),
        ("header", "yes", "one of true, false"),
    ],
)
def test_values_are_checked_by_the_declaration(table, name, value, words):
    with pytest.raises(DataError, match=f"The option {name} must be {words}"):
        read_dataset(table, {name: value})


def test_a_choice_that_only_another_format_has_is_refused(table):
    with pytest.raises(DataError, match="The option repeated must be one of mean"):
        read_dataset(table, {"repeated": "sum"})


@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [
        ("delimiter", "tab", "\t"),
        ("decimal", "comma", ","),
        ("thousands", "apostrophe", "'"),
        ("log", "true", "log"),
    ],
)
def test_values_can_be_spelled_out_on_the_command_line(table, name, typed, value):
    found = import_options([f"{name}={typed}"], {"X": [table]})["X"]
    assert checked_options("delimited", found) == {name: value}
    assert reading_option(name).parsed(value) == value


def test_every_declared_choice_passes_its_own_check():
    for option in READING_OPTIONS:
        for value, _ in option.choices:
            assert option.parsed(json.loads(json.dumps(value))) == value


def test_options_of_the_command_line_go_to_the_files_that_know_them(table, tmp_path):
    other = tmp_path / "y.npz"
    files = {"X": [table], "y": [other]}
    found = import_options(["decimal=comma", "transpose=true", "y.array=labels", "colour=grey"], files)
    assert found["X"] == {"decimal": "comma", "transpose": True, "colour": "grey"}
    assert found["y"] == {"transpose": True, "array": "labels", "colour": "grey"}
