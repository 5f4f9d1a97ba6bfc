"""Scripts of a release: what ships is listed with its licences, pins are those of pyproject.toml, the version is told alike."""

import importlib.util
import json
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def script():
    """A script of ``installer/`` as a module."""

    def load(name):
        spec = importlib.util.spec_from_file_location(name, ROOT / "installer" / f"{name}.py")
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    before = set(sys.modules)
    yield load
    for name in {"contents", "try_versions", "release"} - before:
        sys.modules.pop(name, None)


@pytest.mark.long
def test_all_that_ships_is_listed_with_its_licence(script, tmp_path, monkeypatch, capsys):
    pytest.importorskip("packaging")
    contents = script("contents")
    licences, listed = tmp_path / "LICENCES.txt", tmp_path / "sbom.cdx.json"
    monkeypatch.setattr(sys, "argv", ["contents.py", "--licences", str(licences), "--sbom", str(listed)])
    assert contents.main() == 0
    sbom = json.loads(listed.read_text(encoding="utf-8"))
    assert (sbom["bomFormat"], sbom["metadata"]["component"]["name"]) == ("CycloneDX", "plaidwork")
    names = {part["name"].lower().replace("-", "_") for part in sbom["components"]}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {line.split(">")[0].lower().replace("-", "_") for line in project["dependencies"]} < names
    assert {"shiboken6", "llvmlite", "cpython"} < names  # what these need in turn
    assert all(part["licenses"][0]["license"]["name"] for part in sbom["components"])
    text = licences.read_text(encoding="utf-8")
    assert "GNU Lesser General Public License" in text
    assert "Copyright (c) 2005" in text  # the text of numpy's own licence
    again = tmp_path / "again.json"
    monkeypatch.setattr(sys, "argv", ["contents.py", "--licences", str(licences), "--sbom", str(again)])
    contents.main()
    assert again.read_bytes() == listed.read_bytes()


def test_licences_that_are_only_named_are_there(script, tmp_path):
    contents = script("contents")
    for name in ("GPL-2", "GPL-3", "LGPL-3", "Apache-2.0", "Artistic"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    (tmp_path / "GPL").symlink_to("GPL-3")
    place = "/usr/share/common-licenses"
    text = f"see '{place}/GPL-2.0', {place}/GPL. Or {place}/Apache-2.0."
    part = contents.Part("a", "1", "see the text", {"copyright": text}, "")
    qt = contents.Part("Qt", "6", "LGPL-3.0-only OR GPL-2.0-only", {}, "")
    assert list(contents.named([part], tmp_path)) == ["Apache-2.0", "GPL-2", "GPL-3"]
    assert list(contents.named([qt], tmp_path)) == ["GPL-3", "LGPL-3"]
    assert contents.named([part, qt], tmp_path / "none") == {}


def test_the_oldest_set_is_the_lower_bound(script):
    project = {
        "dependencies": ["numpy>=1.26,<3", "Qt>=6.8.1,<7; python_version < '3.12'"],
        "optional-dependencies": {"excel": ["python-calamine>=0.3"], "parquet": []},
    }
    assert script("try_versions").oldest(project) == [
        "numpy==1.26.*",
        "Qt==6.8.1 ; python_version < '3.12'",
        "python-calamine==0.3.*",
    ]


def test_the_version_stands_in_changes_and_citation(script, monkeypatch, tmp_path):
    release = script("release")
    monkeypatch.setattr(release, "NEWS", tmp_path)
    from plaidwork.core import __version__

    assert release.version() == __version__
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    monkeypatch.setattr(release, "version", lambda: "99.0")
    assert release.told() == "CHANGELOG.md has no part for it. CITATION.cff names another version."
    (tmp_path / "+more.change.md").write_text("More.\n")
    assert "docs/news has news: towncrier build --yes --version 99.0" in release.told()


def test_news_are_sentences():
    """Each begins with a capital or a name, and ends with a stop: they become the list of changes as they are."""
    news = {
        path.name: path.read_text(encoding="utf-8").strip()
        for path in (ROOT / "docs" / "news").glob("*.change.md")
    }
    assert all(text.endswith(".") and not text.startswith(("-", "#")) for text in news.values()), news
