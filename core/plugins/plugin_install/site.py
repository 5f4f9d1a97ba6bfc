"""What the folder of plugins holds, and the records of what is asked for and what is there."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.machinery import PathFinder
from importlib.metadata import Distribution, distributions
from pathlib import Path

from plaidwork.core.errors import PluginError
from plaidwork.core.plugins.wheels import GROUP, canonical, licence_of, requirement

SITE = "site"
_RESERVED = frozenset(
    {*sys.stdlib_module_names, "pip", "plaidwork", "sitecustomize", "usercustomize", "setuptools"}
)
"""Names that Python imports by itself, or that install packages, whether they are there or not."""

Progress = Callable[[str], None]
"""Called often with what is going on; may raise, which cancels."""


@dataclass(frozen=True, slots=True)
class Part:
    """One distribution that would be installed."""

    name: str
    version: str
    source: str
    sha256: str = ""
    file: Path | None = None
    tops: tuple[str, ...] = ()
    """Modules and packages in a wheel that is at hand; those of one that is yet to be fetched are not known."""
    size: int = 0
    """Bytes that these take."""

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


@dataclass(frozen=True, slots=True)
class Offer:
    """What an installation would bring: the plugin's distribution first, then what it needs and is not there."""

    parts: tuple[Part, ...]
    site: Path
    summary: str = ""
    licence: str = ""
    replaces: str = ""
    """Version that is installed now, if any."""

    @property
    def name(self) -> str:
        return self.parts[0].name

    @property
    def version(self) -> str:
        return self.parts[0].version


@dataclass(frozen=True, slots=True)
class Installed:
    """A distribution with plugins in the folder: ``points`` are their names, ``dependencies`` what came with it."""

    name: str
    version: str
    points: tuple[str, ...]
    site: Path
    summary: str = ""
    licence: str = ""
    dependencies: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def site_folder(folder: Path | None = None) -> Path:
    """Where distributions go: ``site`` in the user's plugin folder (or in ``folder``)."""
    if folder is None:
        from plaidwork.core.plugins.folder import plugin_folder

        folder = plugin_folder()
    return folder / SITE


def host_packages(site: Path) -> dict[str, str]:
    """Distributions that Plaidwork runs with (canonical name -> version), those in the plugin folder apart."""
    found: dict[str, str] = {}
    for dist in distributions(path=own_path(site)):
        if name := field(dist, "Name"):
            found.setdefault(canonical(name), dist.version)
    return found


def own_path(site: Path) -> list[str]:
    """Where Plaidwork's own modules are looked for."""
    own = site.resolve()
    return [path for path in sys.path if Path(path or ".").resolve() not in (own, own.parent)]


def check_tops(what: str, tops: Iterable[str], site: Path) -> None:
    """Raise ``PluginError`` for a module that is called like one of Python, of Plaidwork or of what it runs with: only one
    of two could be imported. Parts of a package that several distributions share may come from anywhere."""
    for top in sorted(tops):
        spec = None if top in _RESERVED else PathFinder.find_spec(top, own_path(site))
        if top in _RESERVED or (spec is not None and spec.origin is not None):
            raise PluginError(
                f"{what} brings the module “{top}”, which Plaidwork has already.",
                "Its author has to rename the module.",
            )


def field(dist: Distribution, key: str) -> str:
    """A field of the metadata, empty where it is missing: importlib_metadata, which takes the standard library's place where it is
    installed, raises then.
    """
    return dist.metadata[key] or "" if key in dist.metadata else ""


def in_site(site: Path) -> dict[str, Distribution]:
    found = distributions(path=[str(site)])
    return {canonical(name): dist for dist in found if (name := field(dist, "Name"))}


def points_of(dist: Distribution) -> tuple[str, ...]:
    return tuple(sorted(point.name for point in dist.entry_points if point.group == GROUP))


def installed(folder: Path | None = None) -> list[Installed]:
    """Plugins in the user's plugin folder that ``install`` put there, by name."""
    site = site_folder(folder)
    here = in_site(site)
    return [record_of(dist, here, site) for _, dist in sorted(here.items()) if points_of(dist)]


def record_of(dist: Distribution, here: dict[str, Distribution], site: Path) -> Installed:
    needed = closure([canonical(dist.metadata["Name"])], here)
    return Installed(
        dist.metadata["Name"],
        dist.version,
        points_of(dist),
        site,
        field(dist, "Summary"),
        licence_of(dist.metadata),
        tuple(f"{here[name].metadata['Name']} {here[name].version}" for name in needed[1:]),
    )


def closure(roots: Sequence[str], here: dict[str, Distribution]) -> list[str]:
    """The roots and all in the folder that they need, directly or not."""
    found = [name for name in roots if name in here]
    for name in found:
        for line in here[name].requires or ():
            try:
                needed = canonical(requirement(line).name)
            except PluginError:  # nobody's name
                continue
            if needed in here and needed not in found:
                found.append(needed)
    return found
