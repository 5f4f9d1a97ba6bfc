"""Build the documentation site: ``python docs/build_site.py [--out DIR]``, with the extra ``docs`` installed.

It is written into ``resources/documentation``, from which the program opens it (F1) and which the wheel takes along. It needs no
other server: no fonts, scripts or pictures from elsewhere, which is checked at the end, as are all links before.
"""

from __future__ import annotations

import argparse
import logging
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOT_NEEDED = (
    "sitemap.xml",
    "sitemap.xml.gz",
    "404.html",
    "assets/javascripts/lunr",
    "search/search_index.json",
)
"""For servers, for languages other than English, and what the search has as a script besides."""
_LOADED = re.compile(
    r"""<(?:script|link|img|iframe|source)\b[^>]*?(?:src|href)=["']?((?:https?:)?//[^"'\s>]+)"""
)


def build(out: Path) -> Path:
    """The site in ``out``, which is made anew. Raises ``SystemExit`` with what is wrong."""
    os.environ.setdefault("NO_MKDOCS_2_WARNING", "1")
    os.environ["PLAIDWORK_CONFIG"] = tempfile.mkdtemp()  # nobody's own plugins
    sys.path.insert(0, str(ROOT / "docs"))
    from mkdocs.commands.build import build as build_pages
    from mkdocs.config import load_config
    from mkdocs.exceptions import Abort

    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s")
    try:
        config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(out))
        config.plugins.run_event("startup", command="build", dirty=False)
        build_pages(config)
        config.plugins.run_event("shutdown")
    except Abort as error:
        raise SystemExit(f"The site was not built: {error}") from error
    for name in NOT_NEEDED:
        path = out / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    for path in out.rglob("*.map"):
        path.unlink()
    wrong = loaded_from_elsewhere(out)
    if wrong:
        raise SystemExit("\n".join(wrong))
    return out


def loaded_from_elsewhere(site: Path) -> list[str]:
    """Pages that load something from another server, with what."""
    return [
        f"{page.relative_to(site)} loads {address}"
        for page in sorted(site.rglob("*.html"))
        for address in _LOADED.findall(page.read_text(encoding="utf-8"))
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, metavar="DIR", default=ROOT / "resources" / "documentation")
    site = build(parser.parse_args(arguments).out.resolve())
    files = [path for path in site.rglob("*") if path.is_file()]
    print(f"{site}: {len(files)} files, {sum(path.stat().st_size for path in files) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
