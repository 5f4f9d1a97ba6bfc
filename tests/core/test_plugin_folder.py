"""Plugins in folders: single files, packages, unpacked distributions; and the counter of failed starts."""

import os
import subprocess
import sys

import pytest

from plaidwork.core.cli import main
from plaidwork.core.errors import SettingError
from plaidwork.core.plugins import finding, starts
from plaidwork.core.plugins.folder import add_plugin_folder, plugin_folder, plugin_folders
from plaidwork.core.plugins.registry import Registry

MODEL = '''
__version__ = "3.1"
__license__ = "MIT"
from plaidwork.core.api import *

class Level(Model):
    """Keeps the mean."""
    spec = ModelSpec(id="ID", version="0.1", title="Level", summary="Level.", inputs=(Input("X"),),
                     variables=(Variable("level"),), traces=(Trace("lp", primary=True),),
                     schedule=Schedule(chains=1, warmup=1, draws=3))
    def init(self, data, params, rng):
        return {"level": float(data["X"].values.mean())}
    def step(self, state, data, params, rng, clock):
        return {"lp": 0.0}
    def draws(self, state, data, params):
        return {"level": state["level"]}
    def summarise(self, kept, data, params):
        return {"level": Result(kept.stack("level").mean(axis=1), ("chain",))}

def plaidwork_models():
    return [Level]
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The user's plugin folder; nothing else is found, and the path is as before afterwards."""
    made = tmp_path / "plugins"
    made.mkdir()
    monkeypatch.setenv("PLAIDWORK_PLUGINS", str(made))
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setattr(finding.pkgutil, "iter_modules", lambda path: ())
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield made
    for name in set(sys.modules) - before:
        if str(made.parent) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def _states(found):
    return {info.name: info.state for info in found.plugins if info.source == "folder"}


def _dist(folder, name, module_name, id):
    (folder / module_name).mkdir(parents=True)
    (folder / module_name / "__init__.py").write_text(MODEL.replace("ID", id))
    info = folder / f"{name}-1.4.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.4\nLicense-Expression: GPL-3.0\n"
    )
    (info / "entry_points.txt").write_text(f"[plaidwork]\n{name} = {module_name}\n")
    (info / "RECORD").write_text(f"{module_name}/__init__.py,,\n{info.name}/METADATA,,\n")


def test_single_file_package_and_distribution(folder):
    (folder / "one_file_plugin.py").write_text(MODEL.replace("ID", "one.file"))
    (folder / "a_package_plugin").mkdir()
    (folder / "a_package_plugin" / "__init__.py").write_text(MODEL.replace("ID", "a.package"))
    _dist(folder, "unpacked", "unpacked_module", "un.packed")
    _dist(folder / "site", "inner", "inner_module", "in.ner")
    for ignored in ("_private.py", ".hidden.py", "notes.txt"):
        (folder / ignored).write_text("raise RuntimeError")
    (folder / "data").mkdir()
    found = Registry().load()
    assert _states(found) == dict.fromkeys(("one_file_plugin", "a_package_plugin", "unpacked", "inner"), "ok")
    assert {spec.id for spec in found.specs()} == {"one.file", "a.package", "un.packed", "in.ner"}
    one, dist = found.plugin("one_file_plugin"), found.plugin("unpacked")
    assert (one.version, one.licence, one.api, one.path) == (
        "3.1",
        "MIT",
        (1, 0),
        folder / "one_file_plugin.py",
    )
    assert (dist.version, dist.licence) == ("1.4", "GPL-3.0")
    assert found.plugin_folder() == folder
    assert {info.name for info in Registry().load().plugins if info.source == "installed"}.isdisjoint(
        _states(found)
    )


def test_plugin_dir_adds_a_folder(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("PLAIDWORK_PLUGIN_DIRS", "")
    other = tmp_path / "other"
    other.mkdir()
    (other / "from_elsewhere.py").write_text(MODEL.replace("ID", "else.where"))
    add_plugin_folder(other)
    add_plugin_folder(other)
    assert plugin_folders() == [folder, other]
    assert _states(Registry().load()) == {"from_elsewhere": "ok"}
    with pytest.raises(SettingError, match="does not exist"):
        add_plugin_folder(tmp_path / "nowhere")


def test_default_folder_is_the_users(monkeypatch):
    monkeypatch.delenv("PLAIDWORK_PLUGINS")
    assert plugin_folder().name == "plugins"
    assert "plaidwork" in str(plugin_folder()).lower()


def test_broken_ones_are_named_and_the_others_load(folder):
    (folder / "no_hook.py").write_text("x = 1")
    (folder / "json.py").write_text(MODEL)
    (folder / "breaks_here.py").write_text("\n\nx = nothing\n")
    (folder / "works_fine.py").write_text(MODEL.replace("ID", "works"))
    found = Registry().load()
    assert _states(found) == {
        "no_hook": "failed",
        "json": "failed",
        "breaks_here": "failed",
        "works_fine": "ok",
    }
    assert "no_hook has no hook" in found.plugin("no_hook").message
    assert "Another module is called “json”" in found.plugin("json").message
    assert "(breaks_here.py:3, <module>)" in found.plugin("breaks_here").message


def test_nothing_in_a_folder_takes_the_place_of_a_package_of_the_host(folder):
    (folder / "one_file_plugin.py").write_text(MODEL.replace("ID", "one.file"))
    Registry().load()
    assert sys.path[-1] == str(folder)


def test_damaged_metadata_do_not_matter(folder):
    (folder / "bad-1.dist-info").mkdir()
    (folder / "bad-1.dist-info" / "entry_points.txt").write_bytes(b"\xff\xfe\x00[[[\n= =")
    (folder / "bad-1.dist-info" / "METADATA").write_bytes(b"\x00\x01")
    (folder / "works_too.py").write_text(MODEL.replace("ID", "works.too"))
    for _ in range(2):  # the second time the folder is on the path
        found = Registry().load()
        assert _states(found) == {"bad-1": "failed", "works_too": "ok"}
        assert "metadata cannot be read" in found.plugin("bad-1").message


def test_safe_mode_loads_nothing_from_folders_until_it_is_left(folder):
    (folder / "works_later.py").write_text(MODEL.replace("ID", "works.later"))
    found = Registry(safe_mode=True).load()
    assert found.plugins == []
    found.leave_safe_mode()
    assert found.has("works.later")


def test_rescan_and_forget(folder):
    found = Registry().load()
    (folder / "came_later.py").write_text(MODEL.replace("ID", "came.later"))
    assert [info.name for info in found.rescan()] == ["came_later"]
    assert found.has("came.later")
    assert found.rescan() == []
    found.forget("came_later")
    assert not found.has("came.later")
    assert "came_later" not in [info.name for info in found.plugins]


@pytest.mark.slow
def test_command_line_uses_switches_and_folders(folder, tmp_path):
    """In processes of their own: --plugin-dir, PLAIDWORK_DISABLE, plugin disable and enable, chains in processes."""
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "levels.py").write_text(MODEL.replace("ID", "levels.model"))
    (tmp_path / "x.csv").write_text("name,a,b\nr,1,2\ns,3,4\nt,5,7\n")

    def run(*words, **more):
        return subprocess.run(
            [sys.executable, "-m", "plaidwork.core.cli", *words],
            env=os.environ | more, capture_output=True, text=True, check=False,
        )  # fmt: skip

    where = ("--plugin-dir", str(tmp_path / "more"))
    out = str(tmp_path / "o.plaidwork")
    fit = (
        "fit",
        "levels.model",
        "--input",
        f"X={tmp_path / 'x.csv'}",
        "--out",
        out,
        "--executor",
        "processes",
    )
    done = run(*fit, *where)
    assert done.returncode == 0, done.stderr
    assert "levels.model" not in run("models").stdout
    assert "levels.model" in run("models", *where).stdout
    assert "levels.model" not in run("models", *where, PLAIDWORK_DISABLE="levels").stdout
    assert run("plugin", "disable", "levels", *where).returncode == 0
    assert "disabled" in run("plugin", "list", *where).stdout
    done = run(*fit, "--force", *where)
    assert done.returncode == 2
    assert "Plugins that are not loaded: levels" in done.stderr
    assert run("plugin", "enable", "levels").returncode == 0, "known from the settings, though not found"
    assert "levels.model" in run("models", *where).stdout
    (tmp_path / "more" / "levels.py").write_text(
        MODEL.replace("ID", "levels.model").replace('"lp": 0.0', '"lp": 1 / 0')
    )
    done = run(*fit, "--force", *where)
    assert done.returncode == 3
    assert "plugin levels 3.1 failed in step(): ZeroDivisionError" in done.stderr
    assert "plaidwork plugin disable levels" in done.stderr


def test_a_switch_needs_no_import(folder, tmp_path, capsys):
    (folder / "stops_everything.py").write_text("import os; os._exit(7)")
    assert main(["plugin", "disable", "stops_everything"]) == 0
    assert _states(Registry().load()) == {"stops_everything": "disabled"}
    assert main(["plugin", "disable", "stops_everythin"]) == 2
    assert "Did you mean “stops_everything”" in capsys.readouterr().err


# -- starts -------------------------------------------------------------------------------------
def test_third_start_after_two_that_died_offers_safe_mode(folder, tmp_path):
    assert not starts.begin_start()
    assert not starts.begin_start()
    assert starts.begin_start()
    assert starts.begin_start()
    starts.start_succeeded()
    assert not starts.begin_start()
    starts.start_succeeded()
    assert not starts.starts_file().exists()


def test_damaged_counter_counts_from_nothing(folder):
    for text in ("{", "[1]", '{"unfinished": "many"}', '{"unfinished": -4}'):
        starts.starts_file().parent.mkdir(exist_ok=True)
        starts.starts_file().write_text(text)
        assert not starts.begin_start()


def test_counter_that_cannot_be_written_stops_nothing(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "file"))
    assert not starts.begin_start()
    starts.start_succeeded()
