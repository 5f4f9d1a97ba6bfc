"""Walk through a release: what a machine can check is checked, what a person has to do is asked.

    python installer/release.py            # from the root of a clean checkout
    python installer/release.py --list     # the steps, without doing any

A step that fails ends the walk; begun again, it starts from the first step. Nothing is uploaded.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "dist"
NEWS = ROOT / "docs" / "news"


def version() -> str:
    """The version as ``core/__init__.py`` tells it."""
    text = (ROOT / "core" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', text, re.M)
    assert found is not None
    return found[1]


def run(*command: str | Path) -> str:
    """A command in the checkout; an empty text when it has succeeded, else what went wrong."""
    source_date = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    environment = os.environ | {"SOURCE_DATE_EPOCH": source_date.stdout.strip()}
    code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
    return f"{' '.join(map(str, command))} ended with code {code}." if code else ""


def clean() -> str:
    """Nothing that is not committed goes into a release."""
    found = subprocess.run(
        ["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return f"The checkout has changes:\n{found.stdout}" if found.stdout else ""


def told() -> str:
    """The version stands in the list of changes, with all news, and in the citation, and has no tag yet."""
    wrong = []
    if not re.search(
        rf"^## {re.escape(version())}\b", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M
    ):
        wrong.append("CHANGELOG.md has no part for it.")
    if any(NEWS.glob("*.change.md")):
        wrong.append(
            f"docs/news has news: towncrier build --yes --version {version()}, which puts them into CHANGELOG.md; commit that."
        )
    if f"\nversion: {version()}\n" not in (ROOT / "CITATION.cff").read_text(encoding="utf-8"):
        wrong.append("CITATION.cff names another version.")
    tags = subprocess.run(["git", "tag"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    if f"v{version()}" in tags:
        wrong.append("It has a tag already: raise __version__ in core/__init__.py.")
    return " ".join(wrong)


def wheel() -> str:
    """Wheel and sdist, as an index takes them."""
    for old in (*OUT.glob("plaidwork-*.whl"), *OUT.glob("plaidwork-*.tar.gz")):
        old.unlink()
    wrong = run(sys.executable, "-m", "build", "-o", OUT)
    return wrong or run(
        sys.executable, "-m", "twine", "check", "--strict", *sorted(OUT.glob("plaidwork-*[lz]"))
    )


def debian() -> str:
    """The package that was built for this version, tried where nothing else is installed."""
    return run("sh", "installer/frozen/try_deb.sh", OUT / f"plaidwork_{version()}_amd64.deb")


STEPS: list[tuple[str, Callable[[], str] | None]] = [
    ("The checkout is clean", clean),
    ("The version is told everywhere", told),
    ("Everything that a commit must pass", lambda: run(ROOT / ".ci" / "run")),
    ("Wheel and sdist", wheel),
    ("The oldest set of what the program needs", lambda: run(sys.executable, "installer/try_versions.py", "oldest")),
    ("The newest set of what the program needs", lambda: run(sys.executable, "installer/try_versions.py", "newest")),
    ("The frozen folder and the Debian package, tried", lambda: run("sh", "installer/frozen/build.sh")),
    ("The package on a Debian 12 of its own: installed, started, removed (as root, with debootstrap)", debian),
    ("Look at dist/work/frozen/smoke.png: the window stands as it should, in words and colours", None),
    ("Read LICENCES.txt in the frozen folder: every part has its licence", None),
    ("On a Debian 12 with a desktop: apt install ./dist/plaidwork_*.deb, open a session by a double click", None),
    ("Follow docs/start-here.md with the installed program", None),
    ("Tag it: git tag -s vVERSION, and push the tag", None),
    ("Upload: python -m twine upload dist/*.whl dist/*.tar.gz, and put the other files beside the notes", None),
]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--list", action="store_true", help="the steps, without doing any")
    options = parser.parse_args()
    for number, (title, check) in enumerate(STEPS, 1):
        print(f"{number:2d}. {title.replace('VERSION', version())}", flush=True)
        if options.list:
            continue
        if check is None:
            if input("    Done? [y/N] ").strip().lower() not in ("y", "yes"):
                print("Ended here.")
                return 1
            continue
        wrong = check()
        if wrong:
            print(f"    {wrong}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
