"""Put distributions into the folder of plugins, all or none, and take them out again."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import Distribution
from pathlib import Path

from plaidwork.core.errors import PluginError
from plaidwork.core.plugins.plugin_install.pip import run_pip, work_folder
from plaidwork.core.plugins.plugin_install.search import conflict, constrained, has_pip, look_up, unpack
from plaidwork.core.plugins.plugin_install.site import (
    Installed,
    Offer,
    Progress,
    check_tops,
    closure,
    host_packages,
    in_site,
    installed,
    points_of,
    record_of,
    site_folder,
)
from plaidwork.core.plugins.wheels import canonical, no_plugin, unmet


def install(
    what: str | Path | Offer, progress: Progress = lambda text: None, folder: Path | None = None
) -> Installed:
    """Put a plugin and what it lacks into the plugin folder; on any error nothing of it stays."""
    offer = what if isinstance(what, Offer) else look_up(what, progress, folder)
    site = offer.site
    host = host_packages(site)
    progress(f"Installing {offer.name} {offer.version}")
    with work_folder(site) as temporary:
        stage = temporary / "stage"
        if has_pip():
            _fetch(offer, stage, temporary, host, progress)
        else:
            unpack(offer, stage)
        _check_stage(stage, offer, site, host)
        if host_packages(site) != host:
            raise PluginError("The packages of Plaidwork have changed meanwhile.", "Try again.")
        progress(f"Moving {offer.name} into place")
        _put(stage, site, temporary)
    here = in_site(site)
    return record_of(here[canonical(offer.name)], here, site)


def _fetch(offer: Offer, stage: Path, temporary: Path, host: dict[str, str], progress: Progress) -> None:
    pins = temporary / "pins.txt"
    pins.write_text(_pins(offer), encoding="utf-8")
    run_pip(
        ["install", "--no-deps", "--upgrade", "--no-warn-script-location", "--no-compile",
         "--target", str(stage), *constrained(temporary, host), "--requirement", str(pins),
         *(["--no-index"] if all(part.source.startswith("file:") for part in offer.parts) else [])],
        offer.site, progress, f"Installing {offer.name} {offer.version}",
    )  # fmt: skip


def _pins(offer: Offer) -> str:
    """Lines for pip: each distribution by version and, when all are known, by checksum."""
    hashed = all(part.sha256 for part in offer.parts)
    lines = []
    for part in offer.parts:
        from_file = part.source.startswith("file:")
        line = f"{part.name} @ {part.source}" if from_file else f"{part.name}=={part.version}"
        lines.append(f"{line} --hash=sha256:{part.sha256}\n" if hashed else f"{line}\n")
    return "".join(lines)


def _check_stage(stage: Path, offer: Offer, site: Path, host: dict[str, str]) -> None:
    new = in_site(stage)
    own = new.get(canonical(offer.name))
    if own is None or not points_of(own):
        raise no_plugin(f"{offer.name} {offer.version}")
    check_tops(f"{offer.name} {offer.version}", _tops(stage), site)
    for name, dist in new.items():
        if name in host:
            raise conflict(offer.name, dist.metadata["Name"], f"=={dist.version}", host)
        if name != canonical(offer.name):  # only what was asked for counts as asked for
            _of(dist, stage, "REQUESTED").unlink(missing_ok=True)
    after = {**in_site(site), **new}
    present = {**{name: dist.version for name, dist in after.items()}, **host}
    for dist in after.values():
        missing, wrong = unmet(dist.requires or (), present)
        for need in (*wrong, *(missing if dist in new.values() else ())):
            raise PluginError(
                f"{dist.metadata['Name']} {dist.version} needs {need}, which would not be there.",
                f"{offer.name} was not installed, so that the other plugins go on working.",
            )


def _tops(stage: Path) -> set[str]:
    """Modules and packages that lie in a folder. Raises ``PluginError`` for a link, and for what Python runs at every start."""
    for path in stage.rglob("*"):
        if path.is_symlink() or (path.parent == stage and path.suffix == ".pth"):
            raise PluginError(
                f"It brings “{path.name}”, which is a link, or runs at every start.", "It was not installed."
            )
    inside = (path for path in stage.iterdir() if path.suffix != ".dist-info" and path.name != "bin")
    return {
        path.name.partition(".")[0]
        for path in inside
        if path.is_dir() or path.suffix in (".py", ".so", ".pyd")
    }


def _of(dist: Distribution, root: Path, file: str) -> Path:
    """A file in the ``dist-info`` folder of a distribution."""
    (found,) = {
        root / path.parts[0]
        for path in dist.files or ()
        if path.parts and path.parts[0].endswith(".dist-info")
    }
    return found / file


def _put(stage: Path, site: Path, temporary: Path) -> None:
    """Move the staged files in; the old ones of the same distributions go, and come back on an error."""
    old = in_site(site)
    attic = temporary / "attic"
    moved: list[tuple[Path, Path]] = []
    try:
        for name in in_site(stage):
            if name in old:
                for file in _files(old[name], site):
                    _move(file, attic / file.relative_to(site), moved)
                    _drop_compiled(file)
        for file in sorted(path for path in stage.rglob("*") if not path.is_dir()):
            if file.relative_to(stage).parts[0] != "bin":  # programs of a plugin have no place here
                _move(file, site / file.relative_to(stage), moved)
    except BaseException:
        _move_back(moved)
        raise
    finally:
        _prune(site)


def _move_back(moved: list[tuple[Path, Path]]) -> None:
    """As many as can be: one that cannot is no reason to leave the others."""
    for source, target in reversed(moved):
        with suppress(OSError):
            source.parent.mkdir(parents=True, exist_ok=True)
            target.replace(source)


def _move(source: Path, target: Path, moved: list[tuple[Path, Path]]) -> None:
    if target.exists():
        raise FileExistsError(f"{target.name} belongs to another plugin")
    target.parent.mkdir(parents=True, exist_ok=True)
    source.replace(target)
    moved.append((source, target))


def _drop_compiled(source: Path) -> None:
    """Python takes compiled code for that of a new source of the same size, written in the same second."""
    for compiled in (source.parent / "__pycache__").glob(f"{source.stem}.*.pyc"):
        compiled.unlink(missing_ok=True)


def _files(dist: Distribution, site: Path) -> Iterator[Path]:
    """Files of a distribution that are there and lie in the folder."""
    root = site.resolve()
    for path in dist.files or ():
        file = Path(os.path.normpath(root / path))
        if root in file.parents and file.is_file():
            yield site / file.relative_to(root)


def _prune(site: Path) -> None:
    """Remove caches of modules that are gone, and folders that are empty."""
    for folder, _, _ in os.walk(site, topdown=False):
        path = Path(folder)
        if path == site:
            continue
        inside = list(path.iterdir())
        if path.name == "__pycache__" and not any(path.parent.glob("*.py")):
            shutil.rmtree(path, ignore_errors=True)
        elif not inside:
            path.rmdir()
    if site.is_dir() and not any(site.iterdir()):
        site.rmdir()


def would_remove(name: str, folder: Path | None = None) -> list[str]:
    """The distribution of a plugin, and what came with it and nothing else needs. Raises ``PluginError``."""
    here = in_site(site_folder(folder))
    wanted = canonical(name)
    by_point = {point: key for key, dist in here.items() for point in points_of(dist)}
    key = wanted if wanted in here else by_point.get(name, "")
    if key not in here or not points_of(here[key]):
        known = ", ".join(str(item) for item in installed(folder)) or "none"
        raise PluginError(
            f"{name} was not installed into the plugin folder.",
            f"Installed there: {known}. Others are removed with the tool that installed them.",
        )
    requested = [k for k, dist in here.items() if k != key and (points_of(dist) or _of_requested(dist))]
    kept = set(closure(requested, here))
    if key in kept:
        users = [k for k in requested if key in closure([k], here)]
        raise PluginError(
            f"{here[key].metadata['Name']} is needed by {here[users[0]].metadata['Name']}.",
            "Uninstall that one first.",
        )
    return [name for name in closure([key], here) if name not in kept]


def _of_requested(dist: Distribution) -> bool:
    return dist.read_text("REQUESTED") is not None


def uninstall(name: str, folder: Path | None = None) -> list[str]:
    """Remove a plugin that ``install`` put there; returns what went. Raises ``PluginError``."""
    site = site_folder(folder)
    names = would_remove(name, folder)
    here = in_site(site)
    gone = [f"{here[key].metadata['Name']} {here[key].version}" for key in names]
    with work_folder(site) as temporary:
        moved: list[tuple[Path, Path]] = []
        try:
            for key in names:
                for file in list(_files(here[key], site)):
                    _move(file, temporary / "attic" / file.relative_to(site), moved)
        except BaseException:
            _move_back(moved)
            raise
    _prune(site)
    return gone
