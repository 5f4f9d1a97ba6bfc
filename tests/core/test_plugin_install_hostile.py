"""Wheels that would take over the program: refused by name, before anything of them is written."""

import os
import stat
import subprocess
import sys
import zipfile

import pytest
from wheels_made import either_way, make_wheel  # noqa: F401

from plaidwork.core.cli import main
from plaidwork.core.errors import PluginError
from plaidwork.core.plugins.plugin_install import install, look_up
from plaidwork.core.plugins.plugin_install.pip import run_pip
from plaidwork.core.plugins.wheels import read_wheel


@pytest.mark.parametrize(
    "name", ["pip", "sitecustomize", "usercustomize", "numpy", "json", "pytest", "plaidwork"]
)
@pytest.mark.parametrize("package", [False, True])
def test_a_module_that_would_shadow_another_is_refused(tmp_path, name, package):
    file = f"{name}/__init__.py" if package else f"{name}.py"
    wheel = make_wheel(tmp_path, files={file: ""})
    with pytest.raises(PluginError, match=f"brings the module “{name}”, which Plaidwork has already"):
        look_up(wheel, folder=tmp_path / "plugins")


def _with_member(wheel, name, mode):
    with zipfile.ZipFile(wheel, "a") as archive:
        member = zipfile.ZipInfo(name)
        member.external_attr = mode << 16
        archive.writestr(member, "/etc/passwd")
    return wheel


@pytest.mark.parametrize(
    ("name", "mode", "words"),
    [
        ("guest/link", stat.S_IFLNK | 0o777, "no file"),
        ("guest/pipe", stat.S_IFIFO | 0o666, "no file"),
        ("../outside.py", stat.S_IFREG | 0o644, "outside"),
        ("/outside.py", stat.S_IFREG | 0o644, "outside"),
        ("C:outside.py", stat.S_IFREG | 0o644, "outside"),
        ("guest.pth", stat.S_IFREG | 0o644, "at every start"),
    ],
)
def test_a_member_that_is_no_plain_file_inside_is_refused(tmp_path, name, mode, words):
    wheel = _with_member(make_wheel(tmp_path), name, mode)
    with pytest.raises(PluginError, match=words):
        read_wheel(wheel)


def test_modules_in_the_plugin_folder_are_not_on_the_path_of_pip(tmp_path, monkeypatch):
    site = tmp_path / "plugins" / "site"
    site.mkdir(parents=True)
    for name in ("pip", "sitecustomize", "usercustomize", "json"):
        (site / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nraise SystemExit(1)\n")
    run_pip(["--version"], site, lambda text: None, "Asking")
    assert not (tmp_path / "ran").exists()
    environment = {**os.environ, "PYTHONPATH": str(site)}
    subprocess.run([sys.executable, "-c", "import json"], env=environment, check=False)
    assert (tmp_path / "ran").exists(), "they would have run"


@pytest.mark.usefixtures("either_way")
def test_what_comes_and_from_where_is_told_before_anything_is_written(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PLAIDWORK_PLUGINS", str(tmp_path / "plugins"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda text: "no")
    wheel = make_wheel(tmp_path)
    assert main(["plugin", "install", str(wheel)]) == 4
    text = capsys.readouterr().out
    assert f"from    {wheel.as_uri()}" in text
    assert f"sha256  {look_up(wheel).parts[0].sha256}" in text
    assert "writes  guest_level and its record" in text
    assert not (tmp_path / "plugins" / "site").exists()


@pytest.mark.slow
def test_a_dependency_is_known_to_pip_though_it_cannot_import_it(tmp_path):
    folder = tmp_path / "plugins"
    os.environ["PIP_NO_INDEX"] = "1"
    try:
        install(make_wheel(tmp_path, "guest_base", point="base"), folder=folder)
        offer = look_up(
            make_wheel(tmp_path, "guest_more", needs=("guest-base",), point="more"), folder=folder
        )
    finally:
        del os.environ["PIP_NO_INDEX"]
    assert [part.name for part in offer.parts] == ["guest-more"]
