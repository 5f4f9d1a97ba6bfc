"""``plaidwork plugin new``: all files or none, with names that work."""

import ast
import json
import re
import tomllib
from pathlib import Path

import pytest

from plaidwork.core.cli import main
from plaidwork.core.errors import SettingError
from plaidwork.core.plugins import scaffold
from plaidwork.core.plugins.scaffold import create, names_for


def test_the_package_is_whole_and_filled_in(tmp_path):
    made = create("my-means", tmp_path)
    assert made.root == tmp_path / "my-means"
    found = {path.relative_to(made.root).as_posix() for path in made.root.rglob("*") if path.is_file()}
    assert found == {path.as_posix() for path in made.files}
    for path in made.root.rglob("*"):
        if path.is_file():
            assert not re.search(r"@(name|module|class|title)@", path.read_text(encoding="utf-8")), path
            if path.suffix == ".py":
                ast.parse(path.read_text(encoding="utf-8"))
    project = tomllib.loads((made.root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] == "my-means"
    assert project["entry-points"]["plaidwork"] == {"my_means": "my_means"}
    example = json.loads((made.root / "my_means/example/example.json").read_text(encoding="utf-8"))
    assert example["model"] == made.model_id == "my_means"
    assert (made.root / made.data).is_file()
    assert (made.root / "ci.sh").stat().st_mode & 0o100
    assert not list(tmp_path.glob(".my-means*"))


def test_the_model_is_short_and_has_a_kernel(tmp_path):
    made = create("my-means", tmp_path)
    model = (made.root / "my_means" / "model.py").read_text(encoding="utf-8")
    assert len(model.splitlines()) < 100
    assert "@njit(cache=True, nogil=True)" in model
    assert "class MyMeans(Model[State]):" in model
    assert 'title="My means"' in model


def test_every_template_is_used():
    folder = scaffold._templates()
    assert {path.name for path in folder.iterdir()} == {"README.md", *scaffold._FILES.values()}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "cannot be the name"),
        ("9lives", "cannot be the name"),
        ("a--b", "cannot be the name"),
        ("../up", "cannot be the name"),
        ("with space", "cannot be the name"),
        ("mödel", "cannot be the name"),
        ("a" * 60, "cannot be the name"),
        ("class", "a word of Python"),
        ("json", "a module of Python"),
        ("tests", "a module of Python or Plaidwork"),
        ("Plaidwork", "a module of Python or Plaidwork"),
        ("numpy", "installed already"),
        ("infinite-plaid", "installed already"),
    ],
)
def test_names_that_cannot_work_are_refused(tmp_path, name, words):
    with pytest.raises(SettingError, match=words):
        create(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_names_by_kind():
    assert names_for("my-rankFactor_2") == {
        "name": "my-rankFactor_2",
        "module": "my_rankfactor_2",
        "class": "MyRankFactor2",
        "title": "My rankFactor 2",
    }


def test_an_existing_folder_is_left_alone(tmp_path):
    (tmp_path / "my-means").mkdir()
    with pytest.raises(SettingError, match="exists already"):
        create("my-means", tmp_path)
    assert list((tmp_path / "my-means").iterdir()) == []


def test_an_error_leaves_nothing_half_written(tmp_path, monkeypatch):
    written = []
    write = Path.write_text

    def full(path, *args, **options):
        written.append(path)
        if len(written) == 5:
            raise OSError(28, "No space left on device")
        return write(path, *args, **options)

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(SettingError, match=r"my-means cannot be written: the disk is full\. Choose another"):
        create("my-means", tmp_path / "new" / "folder")
    assert len(written) == 5
    assert list(tmp_path.iterdir()) == []


def test_the_command_says_what_comes_next(tmp_path, capsys):
    assert main(["plugin", "new", "my-means", "--folder", str(tmp_path / "deep")]) == 0
    text = capsys.readouterr().out
    assert "my_means/model.py" in text
    assert "plaidwork fit my_means --input X=my_means/example/matrix.csv" in text
    assert main(["plugin", "new", "my-means", "--folder", str(tmp_path / "deep")]) == 2
