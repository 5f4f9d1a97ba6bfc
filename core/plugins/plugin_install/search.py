"""Look up what an installation would bring: every distribution, fixed by its checksum."""

from __future__ import annotations

import json
import os
import platform
import sys
import zipfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from plaidwork.core.errors import PluginError
from plaidwork.core.plugins.plugin_install.pip import run_pip, sha256, work_folder
from plaidwork.core.plugins.plugin_install.site import (
    Offer,
    Part,
    Progress,
    check_tops,
    host_packages,
    in_site,
    site_folder,
)
from plaidwork.core.plugins.wheels import Wheel, canonical, fits_python, read_wheel, requirement, unmet


def look_up(what: str | Path, progress: Progress = lambda text: None, folder: Path | None = None) -> Offer:
    """What installing a wheel file or a package by name would bring. Nothing is installed.

    A name, or a wheel that needs something which is not there, is looked up where this computer's pip looks.
    """
    site = site_folder(folder)
    host = host_packages(site)
    path = Path(what).expanduser()
    wheel = read_wheel(path) if _is_file(what) else None
    if wheel is not None:
        return _look_up_wheel(wheel, site, host, progress)
    need = requirement(str(what))
    if need.url:
        raise PluginError(
            "Packages are not installed from an address.", "Fetch the wheel, then install the file."
        )
    if canonical(need.name) in host:
        raise PluginError(
            f"{need.name} {host[canonical(need.name)]} is installed beside Plaidwork already.",
            "What Plaidwork runs with is not changed from here.",
        )
    if not has_pip():
        raise PluginError(
            "This Plaidwork has no pip, which fetches packages by name.",
            "Fetch the wheel of the plugin, then install the file.",
        )
    progress(f"Looking for {need.name}")
    parts = _resolve(str(need), canonical(need.name), site, host, progress)
    return _offer(parts, site)


def _is_file(what: str | Path) -> bool:
    text = str(what)
    return isinstance(what, Path) or text.endswith(".whl") or "/" in text or os.sep in text


def _look_up_wheel(wheel: Wheel, site: Path, host: dict[str, str], progress: Progress) -> Offer:
    progress(f"Reading {wheel.path.name}")
    if canonical(wheel.name) in host:
        raise PluginError(
            f"{wheel.name} {host[canonical(wheel.name)]} is installed beside Plaidwork already.",
            "What Plaidwork runs with is not changed from here.",
        )
    check_tops(f"{wheel.name} {wheel.version}", wheel.tops, site)
    _, wrong = unmet(wheel.needs, host)
    if wrong:
        raise conflict(f"{wheel.name} {wheel.version}", wrong[0].name, str(wrong[0].specifier), host)
    here = {name: dist.version for name, dist in in_site(site).items()}
    missing, other = unmet(wheel.needs, {**here, **host})
    path = wheel.path.absolute()
    own = Part(wheel.name, wheel.version, path.as_uri(), sha256(path), path, wheel.tops, wheel.size)
    if not has_pip():
        _check_unpackable(wheel, [*missing, *other])
        return _offer([own], site, wheel.summary, wheel.licence)
    arguments = [str(path), *(["--no-index"] if not missing and not other else [])]
    parts = _resolve(arguments, canonical(wheel.name), site, host, progress)
    others = [part for part in parts if canonical(part.name) != canonical(wheel.name)]
    return _offer([own, *others], site, wheel.summary, wheel.licence)


def has_pip() -> bool:
    """Whether this Python has pip; the built program has none, and unpacks pure Python wheels by itself."""
    return not getattr(sys, "frozen", False) and find_spec("pip") is not None


def _check_unpackable(wheel: Wheel, missing: Sequence[Any]) -> None:
    title = f"{wheel.name} {wheel.version}"
    if not wheel.pure:
        raise PluginError(
            f"{title} is not pure Python.", "This Plaidwork has no pip, and unpacks pure Python wheels only."
        )
    if not fits_python(wheel.python):
        raise PluginError(f"{title} needs Python {wheel.python}, this is {platform.python_version()}.")
    if missing:
        raise PluginError(
            f"{title} needs {missing[0]}, which is not here.",
            "This Plaidwork has no pip to fetch it; install the wheel of that first.",
        )


def unpack(offer: Offer, stage: Path) -> None:
    """What pip does for a pure Python wheel."""
    path = offer.parts[0].file
    if path is None or sha256(path) != offer.parts[0].sha256:
        raise PluginError("A file is not the one that was looked up.", "Look it up again.")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(stage)
    (info,) = stage.glob("*.dist-info")
    with (info / "RECORD").open("a", encoding="utf-8", newline="\n") as record:
        for name, text in (("INSTALLER", "plaidwork\n"), ("REQUESTED", "")):
            (info / name).write_text(text, encoding="utf-8")
            record.write(f"{info.name}/{name},,\n")


def _offer(parts: list[Part], site: Path, summary: str = "", licence: str = "") -> Offer:
    before = in_site(site).get(canonical(parts[0].name))
    return Offer(tuple(parts), site, summary, licence, before.version if before is not None else "")


def _resolve(
    what: str | Sequence[str], name: str, site: Path, host: dict[str, str], progress: Progress
) -> list[Part]:
    """What pip would install beside the host and the folder; the one of this name first."""
    arguments = [what] if isinstance(what, str) else list(what)
    with work_folder(site) as temporary:
        report = temporary / "report.json"
        run_pip(
            ["install", "--dry-run", "--upgrade", "--upgrade-strategy", "only-if-needed",
             "--report", str(report), *constrained(temporary, host), *arguments],
            site, progress, f"Looking for {name}",
        )  # fmt: skip
        record = json.loads(report.read_text(encoding="utf-8"))
    parts = []
    for item in record["install"]:
        info, head = item["download_info"], item["metadata"]
        sha = info.get("archive_info", {}).get("hashes", {}).get("sha256", "")
        parts.append(Part(head["name"], head["version"], info["url"], sha))
    for part in parts:
        if canonical(part.name) in host:
            raise conflict(name, part.name, f"=={part.version}", host)
    parts.sort(key=lambda part: (canonical(part.name) != name, canonical(part.name)))
    if not parts or canonical(parts[0].name) != name:
        raise PluginError(f"{arguments[0]} is installed already, in its newest version that fits.")
    return parts


def constrained(temporary: Path, host: dict[str, str]) -> list[str]:
    constraints = temporary / "host.txt"
    constraints.write_text("".join(f"{n}=={v}\n" for n, v in sorted(host.items())), encoding="utf-8")
    return ["--only-binary", ":all:", "--constraint", str(constraints)]


def conflict(what: str, name: str, wanted: str, host: dict[str, str]) -> PluginError:
    return PluginError(
        f"{what} needs {name}{wanted}, Plaidwork runs with {name} {host[canonical(name)]}.",
        "It was not installed, because the packages of Plaidwork are never changed. Look for another version of it.",
    )
