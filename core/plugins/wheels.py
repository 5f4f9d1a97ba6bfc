"""What a wheel file says about itself, read without unpacking or running anything of it."""

from __future__ import annotations

import platform
import stat
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from email.parser import HeaderParser
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any

from plaidwork.core.errors import PluginError

GROUP = "plaidwork"
MOST_METADATA = 4_000_000
"""Bytes of a metadata file that are read; no honest one is longer."""


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel as its metadata tell: ``points`` are the plugins it brings, by name, ``needs`` its requirements."""

    path: Path
    name: str
    version: str
    summary: str
    licence: str
    needs: tuple[str, ...]
    points: Mapping[str, str]
    tops: tuple[str, ...]
    python: str
    """Versions of Python it is for, as a specifier; empty when it does not say."""
    pure: bool
    """Whether unpacking is all that installing it takes."""
    size: int = 0
    """Bytes that it takes unpacked."""


def read_wheel(path: Path) -> Wheel:
    """Metadata of a wheel. Raises ``PluginError`` for what is no wheel, or one without a plugin for Plaidwork."""
    if path.suffix != ".whl":
        raise PluginError(f"{path.name} is not a wheel.", "A wheel is a file that ends in .whl.")
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(path, archive)
    except FileNotFoundError as error:
        raise PluginError(f"{path} does not exist.") from error
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError, RuntimeError) as error:
        raise PluginError(
            f"{path.name} is not a wheel: it cannot be read ({error}).", "Fetch the file again."
        ) from error


def _read(path: Path, archive: zipfile.ZipFile) -> Wheel:
    names = archive.namelist()
    folders = sorted({name.split("/")[0] for name in names if name.split("/")[0].endswith(".dist-info")})
    if len(folders) != 1 or f"{folders[0]}/METADATA" not in names:
        raise PluginError(f"{path.name} is not a wheel: it has no metadata.", "Fetch the file again.")
    _check_members(path, archive)
    head = HeaderParser().parsestr(_text(archive, f"{folders[0]}/METADATA"))
    if not head["Name"] or not head["Version"]:
        raise PluginError(f"{path.name} is not a wheel: it has no name or no version.")
    points: dict[str, str] = {}
    if f"{folders[0]}/entry_points.txt" in names:
        points = entry_points_of(_text(archive, f"{folders[0]}/entry_points.txt"))
    if not points:
        raise no_plugin(f"{head['Name']} {head['Version']}")
    return Wheel(
        path=path,
        name=head["Name"],
        version=head["Version"],
        summary=head["Summary"] or "",
        licence=licence_of(head),
        needs=tuple(head.get_all("Requires-Dist") or ()),
        points=points,
        tops=tuple(sorted({_top(name) for name in names if not name.startswith(f"{folders[0]}/")} - {""})),
        python=head["Requires-Python"] or "",
        pure=path.stem.endswith("-none-any") and not any(".data/" in name for name in names),
        size=sum(member.file_size for member in archive.infolist()),
    )


def _check_members(path: Path, archive: zipfile.ZipFile) -> None:
    """Raise ``PluginError`` for a member that would lie elsewhere, is a link, or runs at every start of Python."""
    for member in archive.infolist():
        name = member.filename
        parts = PurePosixPath(name).parts
        if name.startswith("/") or "\\" in name or ":" in name or ".." in parts:
            raise PluginError(
                f"{path.name} would write outside its folder: “{name}”.", "It was not installed."
            )
        kind = stat.S_IFMT(member.external_attr >> 16)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise PluginError(
                f"{path.name} has something in it that is no file: “{name}”, a link maybe.",
                "It was not installed.",
            )
        if len(parts) == 1 and name.endswith(".pth"):
            raise PluginError(
                f"{path.name} brings “{name}”, which Python runs at every start.", "It was not installed."
            )


def no_plugin(what: str) -> PluginError:
    return PluginError(
        f"{what} brings no plugin for Plaidwork.",
        "A plugin names itself under the entry point group “plaidwork”.",
    )


def _text(archive: zipfile.ZipFile, name: str) -> str:
    if archive.getinfo(name).file_size > MOST_METADATA:
        raise ValueError(f"{name} is too long")
    return archive.read(name).decode("utf-8")


def _top(name: str) -> str:
    first, *rest = PurePosixPath(name).parts
    if first.endswith(".data"):
        return rest[1] if rest[:1] in (["purelib"], ["platlib"]) and len(rest) > 2 else ""
    return first.split(".")[0] if not rest else first


def entry_points_of(text: str, group: str = GROUP) -> dict[str, str]:
    """Names and targets of one group of an ``entry_points.txt``."""
    found, section = {}, ""
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("["):
            section = line.strip("[] ")
        elif section == group and "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            found[name.strip()] = value.strip()
    return found


def licence_of(head: Any) -> str:
    """The licence in a few words: the SPDX expression, else the first line of the field, else the classifier."""
    for key in ("License-Expression", "License"):
        lines = str(head.get(key) or "").strip().splitlines()
        if lines and len(lines[0]) <= 60 and lines[0] != "UNKNOWN":
            return lines[0]
    for line in head.get_all("Classifier") or ():
        if line.startswith("License ::"):
            return str(line).rsplit("::", 1)[1].strip()
    return ""


# -- requirements ------------------------------------------------------------------------------------


def canonical(name: str) -> str:
    """A distribution's name as it is compared: ``Foo_Bar`` and ``foo-bar`` are one."""
    return "-".join(part for part in name.lower().replace("_", "-").replace(".", "-").split("-") if part)


def _packaging(module: str) -> Any:
    """``packaging``, which comes with every pip."""
    for name in (f"packaging.{module}", f"pip._vendor.packaging.{module}"):
        try:
            return import_module(name)
        except ImportError:
            continue
    raise PluginError(
        "This Python has no pip, which installs plugins.", "Install it with: python -m ensurepip"
    )


def requirement(text: str) -> Any:
    """A requirement line as ``packaging`` reads it. Raises ``PluginError`` for what is none."""
    requirements = _packaging("requirements")
    try:
        return requirements.Requirement(text)
    except requirements.InvalidRequirement as error:
        raise PluginError(
            f"“{text}” is not the name of a package.", "Give a name, such as my-plugin or my-plugin==1.2."
        ) from error


def fits_python(specifier: str) -> bool:
    """Whether this Python is among those that a wheel is for."""
    specifiers = _packaging("specifiers")
    try:
        return bool(specifiers.SpecifierSet(specifier).contains(platform.python_version(), prereleases=True))
    except specifiers.InvalidSpecifier:
        return False


def unmet(
    needs: Iterable[str], present: Mapping[str, str], extras: Iterable[str] = ()
) -> tuple[list[Any], list[Any]]:
    """Requirements that ``present`` (canonical name -> version) lacks, and those it contradicts."""
    missing: list[Any] = []
    wrong: list[Any] = []
    for line in needs:
        need = requirement(line)
        if need.marker is not None and not any(
            need.marker.evaluate({"extra": extra}) for extra in ("", *extras)
        ):
            continue
        version = present.get(canonical(need.name))
        if version is None:
            missing.append(need)
        elif not need.specifier.contains(version, prereleases=True):
            wrong.append(need)
    return missing, wrong
