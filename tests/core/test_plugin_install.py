"""Plugins are installed into a folder of their own; on any error nothing stays, and the host is never changed."""

import errno
import os
import stat
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from wheels_made import either_way, make_wheel, model_source, without_pip  # noqa: F401

from plaidwork.core.errors import PluginError
from plaidwork.core.plugins.plugin_install import (
    host_packages,
    install,
    installed,
    look_up,
    pip,
    put,
    search,
    site,
    site_folder,
    uninstall,
    would_remove,
)
from plaidwork.core.plugins.wheels import canonical, entry_points_of, read_wheel, unmet


@pytest.fixture(autouse=True)
def offline(monkeypatch, tmp_path):
    """pip looks nowhere but into a folder of the test."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    (tmp_path / "index").mkdir()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "plugins"


def _files(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def unpacked(wheel, folder=None):
    """Installed as where there is no pip, which is quicker: for what is there before the step that a test is about."""
    with pytest.MonkeyPatch.context() as patch:
        without_pip(patch)
        return install(wheel, folder=folder)


# -- reading a wheel -----------------------------------------------------------------------------------


def test_a_wheel_says_what_it_is(tmp_path):
    wheel = read_wheel(make_wheel(tmp_path, needs=("numpy>=1.26",)))
    assert (wheel.name, wheel.version, wheel.licence) == ("guest-level", "0.1.0", "MIT")
    assert wheel.points == {"level": "guest_level"}
    assert wheel.needs == ("numpy>=1.26",)
    assert wheel.tops == ("guest_level",)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("guest.zip", b"", "is not a wheel"),
        ("guest-1-py3-none-any.whl", b"no zip at all", "cannot be read"),
        ("guest-1-py3-none-any.whl", None, "does not exist"),
    ],
)
def test_what_is_no_wheel_is_refused(tmp_path, name, content, words):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(PluginError, match=words):
        read_wheel(path)


def test_an_archive_without_metadata_is_no_wheel(tmp_path):
    path = tmp_path / "guest-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("guest.py", "")
    with pytest.raises(PluginError, match="no metadata"):
        read_wheel(path)


def test_a_wheel_that_writes_elsewhere_is_refused(tmp_path):
    path = make_wheel(tmp_path, files={"../evil.py": "x = 1"})
    with pytest.raises(PluginError, match="outside its folder"):
        read_wheel(path)


def test_a_wheel_without_a_plugin_is_refused(tmp_path):
    with pytest.raises(PluginError, match="brings no plugin for Plaidwork"):
        read_wheel(make_wheel(tmp_path, point=None))


def test_a_long_metadata_file_is_not_read(tmp_path):
    path = make_wheel(tmp_path, extra="Keywords: " + "a" * 5_000_000 + "\n")
    with pytest.raises(PluginError, match="too long"):
        read_wheel(path)


def test_entry_points_of_one_group():
    text = "[console_scripts]\nx = a:b\n[plaidwork]\n# no\none = first\ntwo=second:Thing\n"
    assert entry_points_of(text) == {"one": "first", "two": "second:Thing"}


def test_names_are_compared_in_one_form():
    assert canonical("Foo_Bar.baz") == canonical("foo--bar-baz") == "foo-bar-baz"


def test_requirements_of_other_systems_do_not_count():
    missing, wrong = unmet(["a>=2", "b", "c; sys_platform == 'nowhere'", "d; extra == 'more'"], {"a": "1"})
    assert ([n.name for n in missing], [n.name for n in wrong]) == (["b"], ["a"])


# -- installing ----------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_local_wheel_is_installed_offline_and_removed_again(tmp_path, folder):
    before = host_packages(site_folder(folder))
    told = []
    offer = look_up(make_wheel(tmp_path, needs=("numpy>=1.26", "plaidwork")), told.append, folder)
    assert [str(part) for part in offer.parts] == ["guest-level 0.1.0"]
    assert (offer.site, offer.licence, offer.replaces) == (folder / "site", "MIT", "")
    assert not folder.exists() or not _files(folder)  # only looked up

    done = install(offer, told.append, folder)
    assert (str(done), done.points, done.dependencies) == ("guest-level 0.1.0", ("level",), ())
    assert "site/guest_level.py" in _files(folder)
    assert not any(name.startswith("site/numpy") for name in _files(folder))
    assert installed(folder) == [done]
    assert host_packages(site_folder(folder)) == before
    assert any("guest-level" in text for text in told)
    assert not list(folder.glob(".installing-*"))

    assert uninstall("level", folder) == ["guest-level 0.1.0"]
    assert _files(folder) == []
    assert installed(folder) == []


@pytest.mark.slow
def test_what_is_missing_comes_along_and_goes_along(tmp_path, folder):
    index = tmp_path / "index"
    make_wheel(index, "helper", "1.5", point=None, needs=("numpy", "deeper"))
    make_wheel(index, "deeper", "2.0", point=None)
    make_wheel(index, "guest_level", "0.1.0", needs=("helper>=1",))
    make_wheel(index, "guest_other", "0.1.0", needs=("deeper",), point="other")
    done = install("guest-level", folder=folder)
    assert done.dependencies == ("helper 1.5", "deeper 2.0")
    install("guest-other", folder=folder)
    assert [item.name for item in installed(folder)] == ["guest-level", "guest-other"]
    assert would_remove("guest-level", folder) == ["guest-level", "helper"]  # deeper serves the other one
    uninstall("guest-level", folder)
    assert {name.split("/")[1].split("-")[0] for name in _files(folder)} == {
        "deeper", "deeper.py", "guest_other", "guest_other.py"
    }  # fmt: skip


@pytest.mark.slow
def test_a_newer_version_takes_the_place_of_the_old_one(tmp_path, folder):
    unpacked(make_wheel(tmp_path, files={"guest_data/old.txt": "old"}), folder)
    cache = folder / "site" / "guest_data" / "__pycache__"
    cache.mkdir()
    (cache / "left.nbi").write_bytes(b"")
    offer = look_up(make_wheel(tmp_path, version="0.2.0"), folder=folder)
    assert offer.replaces == "0.1.0"
    install(offer, folder=folder)
    assert [str(item) for item in installed(folder)] == ["guest-level 0.2.0"]
    assert not (folder / "site" / "guest_data").exists()


@pytest.mark.slow
def test_a_dependency_of_another_plugin_is_not_broken(tmp_path, folder):
    index = tmp_path / "index"
    make_wheel(index, "helper", "1.0", point=None)
    install(make_wheel(tmp_path, needs=("helper<2",)), folder=folder)
    make_wheel(index, "helper", "2.0", point=None)
    before = _files(folder)
    with pytest.raises(PluginError, match=r"guest-level 0.1.0 needs helper<2"):
        install(make_wheel(tmp_path, "guest_other", needs=("helper>=2",), point="other"), folder=folder)
    assert _files(folder) == before


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"needs": ("numpy<1",)}, "needs numpy<1, Plaidwork runs with numpy"),
        pytest.param(
            {"needs": ("no-such-package-anywhere",)},
            "No package “no-such-package-anywhere” was found",
            marks=pytest.mark.slow,
        ),
        ({"tag": "cp27-cp27m-win32"}, "another system or another version of Python"),
        ({"files": {"plaidwork/core/api.py": ""}}, "brings the module “plaidwork”"),
        ({"name": "numpy"}, "is installed beside Plaidwork already"),
        ({"point": None}, "brings no plugin"),
    ],
)
def test_a_refusal_says_why_and_leaves_nothing(tmp_path, folder, options, words):
    before = host_packages(site_folder(folder))
    with pytest.raises(PluginError, match=words):
        install(make_wheel(tmp_path, **options), folder=folder)
    assert not folder.exists() or _files(folder) == []
    assert not list(folder.glob(".installing-*"))
    assert host_packages(site_folder(folder)) == before


@pytest.mark.slow
def test_a_conflict_further_down_is_refused(tmp_path, folder):
    make_wheel(tmp_path / "index", "helper", "1.0", point=None, needs=("numpy<1",))
    with pytest.raises(PluginError, match="do not fit the packages that Plaidwork runs with") as caught:
        install(make_wheel(tmp_path, needs=("helper",)), folder=folder)
    assert "numpy" in str(caught.value)


@pytest.mark.long
@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("numpy", "installed beside Plaidwork already"),
        ("no-such-package-anywhere", "was found"),
        ("not a name!", "is not the name of a package"),
        ("no/such/guest-1-py3-none-any.whl", "does not exist"),
        ("guest@https:x", "not installed from an address"),
    ],
)
def test_names_that_cannot_be_installed(folder, what, words):
    with pytest.raises(PluginError, match=words):
        look_up(what, folder=folder)


@pytest.mark.slow
def test_a_package_that_is_no_plugin_is_not_installed(tmp_path, folder):
    make_wheel(tmp_path / "index", "helper", "1.0", point=None)
    with pytest.raises(PluginError, match=r"helper 1\.0 brings no plugin"):
        install("helper", folder=folder)
    assert _files(folder) == []


@pytest.mark.slow
def test_the_same_again_is_told(tmp_path, folder):
    unpacked(make_wheel(tmp_path / "index"), folder)
    with pytest.raises(PluginError, match="installed already"):
        install("guest-level", folder=folder)


@pytest.mark.usefixtures("either_way")
def test_a_file_that_changed_after_the_question_is_refused(tmp_path, folder):
    offer = look_up(make_wheel(tmp_path), folder=folder)
    make_wheel(tmp_path, source=model_source(title="Another"))
    with pytest.raises(PluginError, match="not the one that was looked up"):
        install(offer, folder=folder)
    assert _files(folder) == []


@pytest.mark.slow
def test_a_file_of_another_plugin_is_not_overwritten(tmp_path, folder):
    unpacked(make_wheel(tmp_path, files={"shared.py": "x = 1"}), folder)
    before = _files(folder)
    other = make_wheel(tmp_path, "guest_other", files={"shared.py": "x = 2"}, point="other")
    with pytest.raises(PluginError, match="belongs to another plugin"):
        install(other, folder=folder)
    assert _files(folder) == before
    assert (folder / "site" / "shared.py").read_text() == "x = 1"


class _Enough(Exception):
    pass


@pytest.mark.long
def test_cancelling_ends_pip_and_leaves_nothing(tmp_path, folder):
    offer = look_up(make_wheel(tmp_path), folder=folder)

    told = []

    def progress(text):
        told.append(text)
        if len(told) > 2:  # pip is at work
            raise _Enough

    with pytest.raises(_Enough):
        install(offer, progress, folder)
    assert not list(folder.rglob("*.py"))
    assert not list(folder.glob(".installing-*"))


@pytest.mark.slow
def test_an_error_while_moving_brings_the_old_version_back(tmp_path, folder, monkeypatch):
    unpacked(make_wheel(tmp_path), folder)
    before = {name: (folder / name).read_bytes() for name in _files(folder)}
    offer = look_up(make_wheel(tmp_path, version="0.2.0"), folder=folder)
    move, count = put._move, []

    def full(source, target, moved):
        count.append(source)
        if "stage" in source.parts and source.suffix == ".py":
            raise OSError(28, "No space left on device")
        move(source, target, moved)

    monkeypatch.setattr(put, "_move", full)
    with pytest.raises(PluginError, match="cannot be written: the disk is full"):
        install(offer, folder=folder)
    assert count
    assert {name: (folder / name).read_bytes() for name in _files(folder)} == before


def _full(path: Path, only: str):
    """An ``OSError`` for a file whose name ends so."""
    if path.name.endswith(only):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))


@pytest.mark.parametrize("only", [".py", "RECORD", "INSTALLER"])
def test_a_full_disk_while_unpacking_leaves_nothing(tmp_path, folder, no_pip, monkeypatch, only):
    offer = look_up(make_wheel(tmp_path), folder=folder)
    extract, write = zipfile.ZipFile._extract_member, Path.write_text

    def extracted(self, member, target, password):
        _full(Path(getattr(member, "filename", member)), only)
        return extract(self, member, target, password)

    def written(self, *values, **named):
        _full(self, only)
        return write(self, *values, **named)

    monkeypatch.setattr(zipfile.ZipFile, "_extract_member", extracted)
    monkeypatch.setattr(Path, "write_text", written)
    with pytest.raises(PluginError, match=r"^The plugin folder cannot be written: the disk is full\. It is "):
        install(offer, folder=folder)
    assert not list(folder.rglob("*"))
    assert not list(tmp_path.glob(".installing-*"))


def test_what_pip_says_of_a_full_disk_is_said_in_words():
    text = "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"
    said = str(pip._refusal(["Collecting guest", text]))
    assert said.startswith("The disk is full: pip could not write what it fetched. Free some space")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(tmp_path, folder):
    folder.mkdir()
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    with pytest.raises(PluginError, match="cannot be written"):
        install(make_wheel(tmp_path), folder=folder)


def test_a_file_in_place_of_the_folder(tmp_path, folder):
    folder.write_text("")
    with pytest.raises(PluginError, match="cannot be written"):
        install(make_wheel(tmp_path), folder=folder)


def test_without_pip_the_message_says_so(tmp_path, folder, monkeypatch):
    (tmp_path / "bare").write_text("#!/bin/sh\necho 'No module named pip'\nexit 1\n")
    (tmp_path / "bare").chmod(0o755)
    wheel = make_wheel(tmp_path)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bare"))
    with pytest.raises(PluginError, match="has no pip"):
        look_up(wheel, folder=folder)


def test_uninstalling_what_is_not_there(tmp_path, folder):
    with pytest.raises(PluginError, match="was not installed into the plugin folder"):
        uninstall("plaid", folder)


@pytest.mark.long
def test_what_another_plugin_needs_stays(tmp_path, folder):
    unpacked(make_wheel(tmp_path), folder)
    unpacked(make_wheel(tmp_path, "guest_other", needs=("guest-level",), point="other"), folder)
    with pytest.raises(PluginError, match="guest-level is needed by guest-other"):
        uninstall("guest-level", folder)


def test_left_overs_of_a_power_cut_go_after_a_day(tmp_path, folder):
    old, new = folder / ".installing-old", folder / ".installing-new"
    for path in (old, new):
        path.mkdir(parents=True)
    os.utime(old, (0, 0))
    unpacked(make_wheel(tmp_path), folder)
    assert (old.exists(), new.exists()) == (False, True)


@pytest.mark.slow
def test_a_name_is_brought_up_to_date(tmp_path, folder):
    index = tmp_path / "index"
    unpacked(make_wheel(index, needs=("numpy",)), folder)
    make_wheel(index, version="0.2.0", needs=("numpy",))
    offer = look_up("guest-level", folder=folder)
    assert (offer.version, offer.replaces, len(offer.parts)) == ("0.2.0", "0.1.0", 1)


@pytest.mark.slow
def test_a_broken_distribution_in_the_folder_is_no_obstacle(tmp_path, folder):
    broken = folder / "site" / "broken-1.dist-info"
    broken.mkdir(parents=True)
    (broken / "METADATA").write_text("nothing")
    install(make_wheel(tmp_path), folder=folder)
    assert [item.name for item in installed(folder)] == ["guest-level"]


def test_fields_that_are_missing_raise_where_importlib_metadata_is_installed(monkeypatch):
    class Strict(dict):
        """As importlib_metadata has it."""

    named = SimpleNamespace(metadata=Strict(Name="One_Two"), version="1")
    nameless = SimpleNamespace(metadata=Strict(Version="2"), version="2")
    monkeypatch.setattr(site, "distributions", lambda **where: [nameless, named])
    assert list(site.in_site(Path("anywhere"))) == ["one-two"]
    assert site.field(named, "Summary") == ""


# -- without pip ---------------------------------------------------------------------------------------


@pytest.fixture
def no_pip(monkeypatch):
    without_pip(monkeypatch)
    for module in (search, put):
        monkeypatch.setattr(module, "run_pip", lambda *a: pytest.fail("pip was run"))


@pytest.mark.long
def test_a_pure_wheel_is_unpacked(tmp_path, folder, no_pip):
    done = install(make_wheel(tmp_path, needs=("numpy>=1.26", "plaidwork")), folder=folder)
    assert done.points == ("level",)
    assert "site/guest_level-0.1.0.dist-info/REQUESTED" in _files(folder)
    install(make_wheel(tmp_path, version="0.2.0"), folder=folder)
    assert [str(item) for item in installed(folder)] == ["guest-level 0.2.0"]
    uninstall("level", folder)
    assert _files(folder) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tag": "cp311-cp311-linux_x86_64"}, "is not pure Python"),
        ({"needs": ("no-such-package-anywhere",)}, "needs no-such-package-anywhere, which is not here"),
        ({"extra": "Requires-Python: >=4\n"}, "needs Python >=4"),
        ({"extra": "Requires-Python: nonsense\n"}, "needs Python nonsense"),
    ],
)
def test_what_cannot_be_unpacked_says_why(tmp_path, folder, no_pip, options, words):
    with pytest.raises(PluginError, match=words):
        install(make_wheel(tmp_path, **options), folder=folder)
    assert not folder.exists()


def test_a_name_needs_pip(folder, no_pip):
    with pytest.raises(PluginError, match="has no pip, which fetches packages by name"):
        look_up("guest-level", folder=folder)


def test_an_unpacked_file_is_the_one_that_was_asked_about(tmp_path, folder, no_pip):
    offer = look_up(make_wheel(tmp_path), folder=folder)
    make_wheel(tmp_path, source=model_source(title="Another"))
    with pytest.raises(PluginError, match="not the one that was looked up"):
        install(offer, folder=folder)


# -- together with the registry ------------------------------------------------------------------------


@pytest.mark.long
def test_the_registry_finds_replaces_and_forgets_what_is_installed(tmp_path, folder, monkeypatch):
    from plaidwork.core.plugins.registry import Registry

    monkeypatch.setenv("PLAIDWORK_PLUGINS", str(folder))
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    # what Python compiled of 0.1.0 must not stand for 0.2.0
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    plugins = Registry().load()
    assert not plugins.has("guest.level")

    unpacked(make_wheel(tmp_path))
    (info,) = plugins.rescan()
    assert (info.name, info.version, info.state, info.licence) == ("level", "0.1.0", "ok", "MIT")
    assert plugins.model("guest.level").spec.version == "0.1.0"

    unpacked(make_wheel(tmp_path, version="0.2.0"))
    plugins.forget("level")
    (info,) = plugins.rescan()
    assert (info.version, plugins.model("guest.level").spec.version) == ("0.2.0", "0.2.0")

    uninstall("level")
    plugins.forget("level")
    assert plugins.rescan() == []
    assert not plugins.has("guest.level")
    assert "guest_level" not in sys.modules
