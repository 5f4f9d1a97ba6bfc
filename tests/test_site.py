"""The documentation site: links, anchors and pictures, pages of the models, readings of the pictures, and the build itself."""

import re
import subprocess
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest
import site_models
from build_site import loaded_from_elsewhere

from plaidwork.core.contract.view_kinds import VIEW_KINDS
from plaidwork.core.plugins.registry import registry

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *DOCS.glob("guides/*.md"), *DOCS.glob("models/*.md"), ROOT / "README.md"])
CODE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)


def anchors(text: str) -> set[str]:
    """Where links into a page may lead: its headings as GitHub and the site write them, or as they say."""
    found = set()
    for heading in re.findall(r"^#+ (.+)$", CODE.sub("", text), re.MULTILINE):
        named = re.search(r"\{ #([\w-]+) \}", heading)
        plain = re.sub(r"\[([^\]]+)\]\([^)]*\)|[`*]", r"\1", heading).lower()
        found.add(named[1] if named else re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-"))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_anchors_that_are_there(page):
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        file, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target) or not anchor or anchor in ("only-light", "only-dark"):
            continue
        place = page if not file else (page.parent / file).resolve()
        assert anchor in anchors(place.read_text(encoding="utf-8")), target


def test_the_check_of_anchors_sees_a_wrong_one():
    assert anchors("# The end: what now?\n\n```\n# no heading\n```\n## Curve { #curve }") == {
        "the-end-what-now",
        "curve",
    }


def test_every_picture_stands_in_light_and_dark():
    for page in PAGES:
        found = re.findall(
            r"\((pictures/guides/|\.\./pictures/guides/)([\w-]+)-(light|dark)\.png#only-(\w+)\)",
            page.read_text("utf-8"),
        )
        assert all(scheme == only for _, _, scheme, only in found)
        assert {name for _, name, scheme, _ in found if scheme == "light"} == {
            name for _, name, scheme, _ in found if scheme == "dark"
        }


def test_models_without_a_page_are_told():
    """A list, not a failure: their pages are made from the declarations."""
    missing = site_models.without_page()
    if missing:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.warn(f"No page in docs/models yet: {', '.join(missing)}", stacklevel=1)
    for page in (DOCS / "models").glob("*.md"):
        assert page.stem == "index" or registry().has(page.stem), f"{page.name} is of no model"


@pytest.mark.parametrize("spec", registry().specs(), ids=lambda spec: spec.id)
def test_a_page_of_a_model_tells_all_that_is_declared(spec):
    own = site_models.own_page(spec)
    pages = [site_models.bare_page(spec), *([own.read_text(encoding="utf-8")] if own.exists() else [])]
    for text in pages:
        for place in site_models.PLACES:
            assert f"<!-- {place} -->" in text, place
        page = site_models.filled(text, spec)
        assert "<!--" not in page
        for setting in spec.hyperparameters:
            assert f"`{setting.name}`" in page
        for view in spec.views:
            assert f"reading-pictures.md#{view.kind}" in page
    if own.exists():
        for heading in ("What it assumes", "When to use it, and when not", "How to report it"):
            assert f"## {heading}\n" in pages[1]
        assert "$$" in pages[1]


def test_every_kind_of_picture_has_its_reading():
    text = (DOCS / "reading-pictures.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\{ #(\w+) \}$", text, re.MULTILINE)) == set(VIEW_KINDS)


def test_tables_keep_text_that_markdown_would_read():
    assert site_models.cell("a | b\n <c> $d") == r"a \| b &lt;c> \$d"
    assert [site_models.value_text(value) for value in (True, "", 0.5, (1.0, 2.0), "x")] == [
        "on",
        "empty",
        "`0.5`",
        "`1, 2`",
        "`x`",
    ]


def test_what_a_page_loads_from_elsewhere_is_seen(tmp_path):
    (tmp_path / "good.html").write_text(
        '<a href="https://example.org">x</a><script src="a.js"></script>', encoding="utf-8"
    )
    assert loaded_from_elsewhere(tmp_path) == []
    (tmp_path / "bad.html").write_text('<link rel="icon" href="https://example.org/x.png">', encoding="utf-8")
    assert loaded_from_elsewhere(tmp_path) == ["bad.html loads https://example.org/x.png"]


@pytest.mark.slow
@pytest.mark.skipif(find_spec("material") is None, reason="needs the extra docs")
def test_the_site_is_built_without_a_warning_and_loads_nothing_from_elsewhere(tmp_path):
    command = [sys.executable, DOCS / "build_site.py", "--out", tmp_path / "site"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    page = (tmp_path / "site" / "models" / "infinite_plaid.html").read_text(encoding="utf-8")
    assert "<math" in page
    assert "expected_blocks" in page
    assert "<!-- " not in page
