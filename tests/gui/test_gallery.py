"""Every kind of view has its entry and its picture in docs/view-kinds.md, and the code there is what the picture shows."""

import importlib.util
import io
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from plaidwork.core.checks import checks_for
from plaidwork.core.contract.view_kinds import COMMON_KINDS, VIEW_KINDS
from plaidwork.core.contract.view_kinds_families import FAMILY_KINDS
from plaidwork.core.plugins import registry

DOCS = Path(__file__).resolve().parents[2] / "docs"
_spec = importlib.util.spec_from_file_location("draw_view_kinds", DOCS / "draw_view_kinds.py")
gallery = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(gallery)
CODES = gallery.entries()
MOST_BYTES = 30_000


@pytest.mark.parametrize(
    ("document", "pattern"), [("plugins.md", r"^\| `(\w+)` \|"), ("view-kinds.md", r"^### `(\w+)`$")]
)
def test_documents_tell_kinds_for_any_model_from_those_for_families(document, pattern):
    text = (DOCS / document).read_text(encoding="utf-8")
    for kinds, others in ((COMMON_KINDS, FAMILY_KINDS), (FAMILY_KINDS, COMMON_KINDS)):
        parts = re.split(r"^(?:## For families of models|\| Kind for a family .*)$", text, flags=re.MULTILINE)
        part = parts[0 if kinds is COMMON_KINDS else 1]
        listed = set(re.findall(pattern, part, re.MULTILINE))
        assert {kind.name for kind in kinds} <= listed
        assert not listed & {kind.name for kind in others}


def test_every_kind_has_its_entry_in_a_few_lines():
    assert {kind for kind in CODES if kind} == set(VIEW_KINDS)
    for kind in VIEW_KINDS:
        assert 1 <= len(CODES[kind].strip().splitlines()) <= 12, kind
        assert gallery.declared(kind, CODES)["view"].kind == kind


@pytest.mark.parametrize("kind", VIEW_KINDS)
def test_every_entry_declares_what_its_view_needs(kind, monkeypatch):
    space = gallery.declared(kind, CODES)
    model = gallery.toy_model(space)
    monkeypatch.setattr(registry, "_shared", gallery.registry_of(model, space.get("factory")))
    checks = {check.id: check for check in checks_for(model, only=["declaration_views", "views"])}
    checks["declaration_views"]()
    bench = checks["views"].run.args[0]
    bench.plan = bench.make({"X": [space["X"]]})
    checks["views"]()


@pytest.mark.parametrize("kind", VIEW_KINDS)
def test_every_picture_is_there_and_small(kind):
    path = DOCS / "pictures" / "views" / f"{kind}.png"
    if not (DOCS / "pictures").is_dir():
        pytest.skip("the source distribution goes without pictures")
    assert path.stat().st_size < MOST_BYTES
    assert Image.open(path).size == gallery.SIZE


@pytest.mark.parametrize("kind", ["bars", "custom", "imputed"])
def test_the_program_draws_an_entry(qtbot, kind, monkeypatch):
    """One of each way to the data: results, a widget of the plugin's own, fitted values."""
    monkeypatch.setattr(registry, "_shared", None)
    found = Image.open(io.BytesIO(gallery.draw(kind, CODES))).convert("L")
    assert found.size == gallery.SIZE
    assert np.asarray(found).std() > 5  # not an empty page
