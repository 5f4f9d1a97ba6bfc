"""What a build holds: licences and notices of every part, and a list of parts (SBOM) in CycloneDX JSON.

    python installer/contents.py --licences LICENCES.txt --sbom sbom.cdx.json [--folder BUNDLE]

Run by the interpreter whose environment is packed. The parts are Plaidwork, all that it needs as installed there (asked of
the environment, no network), Python itself and, with ``--folder``, the libraries of the system that lie in the bundle.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
_LICENCE = re.compile(r"(?i)(^|/)(licen[sc]e|copying|notice|authors|ofl)[^/]*$")
_EXTRAS = ("excel", "parquet", "cluster")
_SYSTEM = ("/usr/lib/", "/lib/")
_COMMON = Path("/usr/share/common-licenses")


@dataclass(frozen=True)
class Part:
    """A part of the build: name, version, licence as it names it, texts of licences by file name, address as a ``purl``."""

    name: str
    version: str
    licence: str
    texts: dict[str, str]
    purl: str


def needed(name: str = "plaidwork") -> list[Distribution]:
    """The distribution and all that it needs, directly or not, as far as installed; sorted by name."""
    from packaging.requirements import Requirement

    found: dict[str, Distribution] = {}
    waiting: list[tuple[str, tuple[str, ...]]] = [(name, _EXTRAS)]
    while waiting:
        wanted, extras = waiting.pop()
        key = re.sub(r"[-_.]+", "-", wanted).lower()
        if key in found:
            continue
        try:
            found[key] = dist = distribution(wanted)
        except PackageNotFoundError:  # of an extra that is not packed, or of another system
            continue
        for line in dist.requires or ():
            asked = Requirement(line)
            if asked.marker is None or any(asked.marker.evaluate({"extra": e}) for e in (*extras, "")):
                waiting.append((asked.name, tuple(asked.extras)))
    return [found[key] for key in sorted(found)]


def part_of(dist: Distribution) -> Part:
    """A distribution with the texts of its licences."""
    head = dist.metadata
    texts = {}
    for file in dist.files or ():
        path = str(file)
        if _LICENCE.search(path) and not path.endswith((".py", ".pyc", ".svg")) and ".dist-info/" in path:
            texts[path.rpartition(".dist-info/")[2]] = Path(str(file.locate())).read_text("utf-8", "replace")
    name, version = head["Name"], dist.version
    purl = f"pkg:pypi/{re.sub(r'[-_.]+', '-', name).lower()}@{version}"
    return Part(name, version, _licence(head), texts, purl)


def _licence(head: Any) -> str:
    """The expression, else the short text of the field, else the classifiers."""
    if head.get("License-Expression"):
        return str(head["License-Expression"])
    classified = [
        line.rpartition(" :: ")[2]
        for line in head.get_all("Classifier") or ()
        if line.startswith("License ::") and not line.endswith("OSI Approved")
    ]
    short = (head.get("License") or "").strip()
    if short and "\n" not in short and len(short) < 80:
        return short
    return " AND ".join(classified) or "see the text"


def python_part() -> Part:
    """The interpreter, which the bundle holds as a library."""
    version = ".".join(map(str, sys.version_info[:3]))
    places = (Path(sys.base_prefix, "lib", f"python{version.rpartition('.')[0]}", "LICENSE.txt"),)
    texts = {path.name: path.read_text("utf-8") for path in places if path.exists()}
    return Part("CPython", version, "PSF-2.0", texts, f"pkg:generic/cpython@{version}")


def system_parts(folder: Path) -> Iterator[Part]:
    """Debian packages whose libraries were copied into the bundle, to its top, known by the names of the files."""
    names = sorted(path.name for path in folder.glob("*.so*") if path.is_file())
    patterns = [f"*/{name}" for name in names]
    asked = subprocess.run(["dpkg-query", "-S", *patterns], capture_output=True, text=True) if names else None
    packages = {
        package.split(":")[0]
        for line in (asked.stdout.splitlines() if asked else ())
        for package, _, place in [line.partition(": ")]
        if place.startswith(_SYSTEM)
    }
    for package in sorted(packages):
        text = Path("/usr/share/doc", package, "copyright")
        shown = subprocess.run(
            ["dpkg-query", "-W", "-f", "${Version}\n", package], capture_output=True, text=True
        )
        version = shown.stdout.split("\n")[0]
        texts = {"copyright": text.read_text("utf-8", "replace")} if text.exists() else {}
        yield Part(package, version, "see the text", texts, f"pkg:deb/debian/{package}@{version}")


def named(parts: list[Part], common: Path = _COMMON) -> dict[str, str]:
    """Texts of licences that the parts name and do not hold, by file name: those that notices of Debian refer to in ``common``,
    and for the LGPL, which wheels of Qt only name, its text and that of the GPL that it builds upon. Sorted; without ``common``
    there are none."""
    notes = "\n".join(text for part in parts for text in part.texts.values())
    asked = set(re.findall(r"/usr/share/common-licenses/([A-Za-z]+[A-Za-z0-9.-]*[A-Za-z0-9])", notes))
    if any("LGPL-3.0" in part.licence for part in parts):
        asked |= {"LGPL-3", "GPL-3"}
    files = {
        common / name if (common / name).is_file() else common / name.removesuffix(".0") for name in asked
    }
    found = {path.resolve() for path in files if path.is_file()}  # GPL is another name of the newest
    return {path.name: path.read_text("utf-8", "replace") for path in sorted(found)}


def notices(parts: list[Part]) -> str:
    """All licences as one text to ship with the build."""
    lines = ["This build of Plaidwork holds the parts below, each under its own licence.", ""]
    lines += [f"{part.name} {part.version}: {part.licence}" for part in parts]
    lines += [
        "",
        "Qt and PySide6 are used under the GNU Lesser General Public License, version 3. They lie as libraries of their own in",
        "this folder and may be replaced by others that were built from the sources at https://code.qt.io. What Qt holds of",
        "others is listed at https://doc.qt.io/qt-6/licenses-used-in-qt.html.",
    ]
    texts = [
        (f"{part.name} {part.version}: {name}", text)
        for part in parts
        for name, text in sorted(part.texts.items())
    ]
    texts += [(f"Licence {name}, which parts above name", text) for name, text in named(parts).items()]
    for title, text in texts:
        lines += ["", "=" * 100, title, "=" * 100, "", text.rstrip()]
    return "\n".join(lines) + "\n"


def sbom(parts: list[Part]) -> dict[str, Any]:
    """The list as CycloneDX 1.5; equal parts give equal lists."""
    own, others = parts[0], parts[1:]
    key = uuid.uuid5(uuid.NAMESPACE_URL, " ".join(part.purl for part in parts))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{key}",
        "version": 1,
        "metadata": {"component": _component(own, "application")},
        "components": [_component(part, "library") for part in others],
        "dependencies": [
            {"ref": own.purl, "dependsOn": [part.purl for part in others]},
            *({"ref": part.purl} for part in others),
        ],
    }


def _component(part: Part, kind: str) -> dict[str, Any]:
    found = {
        "type": kind,
        "bom-ref": part.purl,
        "name": part.name,
        "version": part.version,
        "purl": part.purl,
    }
    return found | {"licenses": [{"license": {"name": part.licence}}]}


def parts_of(folder: Path | None) -> list[Part]:
    """Plaidwork first, then the others."""
    found = [part_of(dist) for dist in needed()]
    own = [part for part in found if part.name == "plaidwork"]
    system = list(system_parts(folder)) if folder is not None else []
    return own + [part for part in found if part not in own] + [python_part()] + system


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--licences", type=Path, required=True)
    parser.add_argument("--sbom", type=Path, required=True)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    parts = parts_of(options.folder)
    without = [part.name for part in parts if not part.texts and not named([part])]
    options.licences.write_text(notices(parts), encoding="utf-8")
    options.sbom.write_text(json.dumps(sbom(parts), indent=1) + "\n", encoding="utf-8")
    print(f"{len(parts)} parts")
    if without:
        print(f"Without a text of their licence, which only their name tells: {', '.join(without)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
