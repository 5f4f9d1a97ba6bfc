"""What MkDocs asks while it builds the site: pages made from the program, and places in pages that are filled from it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS))

import site_models  # noqa: E402
import site_reference  # noqa: E402

NOTES = "models/notes"


def on_config(config: Any) -> Any:
    """The models in the contents, in the order of their titles; a model of a plugin that has no page has one made."""
    for part in config.nav:
        if isinstance(part, dict) and "Models" in part:
            pages = [{spec.title: f"models/{spec.id}.md"} for spec in site_models.specs()]
            notes = [
                {site_models.notes_title(path): f"{NOTES}/{name}.md"} for name, path in site_models.notes()
            ]
            part["Models"] = ["models/index.md", *pages, {"Notes on formulas and checks": notes}]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Adds the pages that are made: of models without one of their own, notes of the models, references."""
    from mkdocs.structure.files import File

    made = {f"{NOTES}/{name}.md": path.read_text(encoding="utf-8") for name, path in site_models.notes()}
    made |= {
        f"models/{spec.id}.md": site_models.bare_page(spec)
        for spec in site_models.specs()
        if not site_models.own_page(spec).exists()
    }
    made |= {
        "reference/command-line.md": site_reference.commands(),
        "reference/python.md": site_reference.python(),
    }
    for uri, text in made.items():
        files.append(File.generated(config, uri, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Fills the places ``<!-- settings -->`` and the like; ``docs/X.md`` in the notes becomes a link."""
    uri = page.file.src_uri
    if uri == "models/index.md":
        return markdown.replace("<!-- models -->", site_models.list_of_models())
    if uri.startswith(f"{NOTES}/"):
        return re.sub(r"`docs/([\w-]+\.md)`", r"[\1](../../\1)", markdown)
    spec = {f"models/{spec.id}.md": spec for spec in site_models.specs()}.get(uri)
    return site_models.filled(markdown, spec) if spec is not None else markdown
