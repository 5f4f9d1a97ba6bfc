"""Installs plugins into a folder of their own; the packages that Plaidwork runs with are never changed.

Two steps, so that what is asked is what is done: ``look_up`` says which distributions would come, fixed by their
checksums, and ``install`` fetches exactly these into a temporary folder and moves them in place when all is well.
The versions of the host's packages are constraints of the search, and none of them is fetched again.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.machinery import PathFinder
from importlib.metadata import Distribution, distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from plaidwork.core.errors import PluginError
from plaidwork.core.wheels import (
    GROUP,
    Wheel,
    canonical,
    fits_python,
    licence_of,
    no_plugin,
    read_wheel,
    requirement,
    unmet,
)

SITE = "site"
LINES_KEPT = 12
POLL_SECONDS = 0.1
LEFT_SECONDS = 86400.0
_STEERING = ("PIP_TARGET", "PIP_USER", "PIP_PREFIX", "PIP_ROOT", "PIP_NO_DEPS", "PIP_REPORT", "PIP_DRY_RUN")
"""Settings of pip that would lead it somewhere else; where packages come from stays as it is set up."""

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
    """A distribution with plugins in the folder: ``points`` are their names, ``brought`` what came with it."""

    name: str
    version: str
    points: tuple[str, ...]
    site: Path
    summary: str = ""
    licence: str = ""
    brought: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def site_folder(folder: Path | None = None) -> Path:
    """Where distributions go: ``site`` in the user's plugin folder (or in ``folder``)."""
    if folder is None:
        from plaidwork.core.plugins.folder import plugin_folder

        folder = plugin_folder()
    return folder / SITE


# -- what is there -----------------------------------------------------------------------------------


def host_packages(site: Path) -> dict[str, str]:
    """Distributions that Plaidwork runs with (canonical name -> version), those in the plugin folder apart."""
    own = site.resolve()
    paths = [path for path in sys.path if Path(path or ".").resolve() not in (own, own.parent)]
    found: dict[str, str] = {}
    for dist in distributions(path=paths):
        if dist.metadata["Name"]:
            found.setdefault(canonical(dist.metadata["Name"]), dist.version)
    return found


def _in_site(site: Path) -> dict[str, Distribution]:
    found = distributions(path=[str(site)])
    return {canonical(dist.metadata["Name"]): dist for dist in found if dist.metadata["Name"]}


def _points(dist: Distribution) -> tuple[str, ...]:
    return tuple(sorted(point.name for point in dist.entry_points if point.group == GROUP))


def installed(folder: Path | None = None) -> list[Installed]:
    """Plugins in the user's plugin folder that ``install`` put there, by name."""
    site = site_folder(folder)
    here = _in_site(site)
    return [_installed(dist, here, site) for _, dist in sorted(here.items()) if _points(dist)]


def _installed(dist: Distribution, here: dict[str, Distribution], site: Path) -> Installed:
    needed = _closure([canonical(dist.metadata["Name"])], here)
    return Installed(
        dist.metadata["Name"],
        dist.version,
        _points(dist),
        site,
        dist.metadata["Summary"] or "",
        licence_of(dist.metadata),
        tuple(f"{here[name].metadata['Name']} {here[name].version}" for name in needed[1:]),
    )


def _closure(roots: Sequence[str], here: dict[str, Distribution]) -> list[str]:
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


# -- look up -----------------------------------------------------------------------------------------


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
    _check_tops(wheel, site)
    _, wrong = unmet(wheel.needs, host)
    if wrong:
        raise _conflict(f"{wheel.name} {wheel.version}", wrong[0].name, str(wrong[0].specifier), host)
    here = {name: dist.version for name, dist in _in_site(site).items()}
    missing, other = unmet(wheel.needs, {**here, **host})
    path = wheel.path.absolute()
    own = Part(wheel.name, wheel.version, path.as_uri(), _sha256(path), path)
    if not has_pip():
        _check_unpackable(wheel, [*missing, *other])
        return _offer([own], site, wheel.summary, wheel.licence)
    words = [str(path), *(["--no-index"] if not missing and not other else [])]
    parts = _resolve(words, canonical(wheel.name), site, host, progress)
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


def _unpack(offer: Offer, stage: Path) -> None:
    """What pip does for a pure Python wheel."""
    path = offer.parts[0].file
    if path is None or _sha256(path) != offer.parts[0].sha256:
        raise PluginError("A file is not the one that was looked up.", "Look it up again.")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(stage)
    (info,) = stage.glob("*.dist-info")
    with (info / "RECORD").open("a", encoding="utf-8", newline="\n") as record:
        for name, text in (("INSTALLER", "plaidwork\n"), ("REQUESTED", "")):
            (info / name).write_text(text, encoding="utf-8")
            record.write(f"{info.name}/{name},,\n")


def _check_tops(wheel: Wheel, site: Path) -> None:
    """A module of the host is never hidden by that of a plugin, nor the other way round."""
    own = site.resolve()
    paths = [path for path in sys.path if Path(path or ".").resolve() not in (own, own.parent)]
    wanted = {target.partition(":")[0].split(".")[0] for target in wheel.points.values()}
    for top in wheel.tops:
        if top == "plaidwork" or (top in wanted and PathFinder.find_spec(top, paths) is not None):
            raise PluginError(
                f"{wheel.name} {wheel.version} brings the module “{top}”, which Plaidwork has already.",
                "Its author has to rename the module.",
            )


def _offer(parts: list[Part], site: Path, summary: str = "", licence: str = "") -> Offer:
    before = _in_site(site).get(canonical(parts[0].name))
    return Offer(tuple(parts), site, summary, licence, before.version if before is not None else "")


def _resolve(
    what: str | Sequence[str], name: str, site: Path, host: dict[str, str], progress: Progress
) -> list[Part]:
    """What pip would install beside the host and the folder; the one of this name first."""
    words = [what] if isinstance(what, str) else list(what)
    with _temporary(site) as temporary:
        report = temporary / "report.json"
        _pip(
            ["install", "--dry-run", "--upgrade", "--upgrade-strategy", "only-if-needed",
             "--report", str(report), *_constrained(temporary, host), *words],
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
            raise _conflict(name, part.name, f"=={part.version}", host)
    parts.sort(key=lambda part: (canonical(part.name) != name, canonical(part.name)))
    if not parts or canonical(parts[0].name) != name:
        raise PluginError(f"{words[0]} is installed already, in its newest version that fits.")
    return parts


def _constrained(temporary: Path, host: dict[str, str]) -> list[str]:
    constraints = temporary / "host.txt"
    constraints.write_text("".join(f"{n}=={v}\n" for n, v in sorted(host.items())), encoding="utf-8")
    return ["--only-binary", ":all:", "--constraint", str(constraints)]


def _conflict(what: str, name: str, wanted: str, host: dict[str, str]) -> PluginError:
    return PluginError(
        f"{what} needs {name}{wanted}, Plaidwork runs with {name} {host[canonical(name)]}.",
        "It was not installed, because the packages of Plaidwork are never changed. Look for another version of it.",
    )


# -- install -----------------------------------------------------------------------------------------


def install(
    what: str | Path | Offer, progress: Progress = lambda text: None, folder: Path | None = None
) -> Installed:
    """Put a plugin and what it lacks into the plugin folder; on any error nothing of it stays."""
    offer = what if isinstance(what, Offer) else look_up(what, progress, folder)
    site = offer.site
    host = host_packages(site)
    progress(f"Installing {offer.name} {offer.version}")
    with _temporary(site) as temporary:
        stage = temporary / "stage"
        if has_pip():
            _fetch(offer, stage, temporary, host, progress)
        else:
            _unpack(offer, stage)
        _check_stage(stage, offer, site, host)
        if host_packages(site) != host:
            raise PluginError("The packages of Plaidwork have changed meanwhile.", "Try again.")
        progress(f"Moving {offer.name} into place")
        _put(stage, site, temporary)
    here = _in_site(site)
    return _installed(here[canonical(offer.name)], here, site)


def _fetch(offer: Offer, stage: Path, temporary: Path, host: dict[str, str], progress: Progress) -> None:
    pins = temporary / "pins.txt"
    pins.write_text(_pins(offer), encoding="utf-8")
    _pip(
        ["install", "--no-deps", "--upgrade", "--no-warn-script-location", "--no-compile",
         "--target", str(stage), *_constrained(temporary, host), "--requirement", str(pins),
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
    new = _in_site(stage)
    own = new.get(canonical(offer.name))
    if own is None or not _points(own):
        raise no_plugin(f"{offer.name} {offer.version}")
    for name, dist in new.items():
        if name in host:
            raise _conflict(offer.name, dist.metadata["Name"], f"=={dist.version}", host)
        if name != canonical(offer.name):  # only what was asked for counts as asked for
            _of(dist, stage, "REQUESTED").unlink(missing_ok=True)
    after = {**_in_site(site), **new}
    present = {**{name: dist.version for name, dist in after.items()}, **host}
    for dist in after.values():
        missing, wrong = unmet(dist.requires or (), present)
        for need in (*wrong, *(missing if dist in new.values() else ())):
            raise PluginError(
                f"{dist.metadata['Name']} {dist.version} needs {need}, which would not be there.",
                f"{offer.name} was not installed, so that the other plugins go on working.",
            )


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
    old = _in_site(site)
    attic = temporary / "attic"
    moved: list[tuple[Path, Path]] = []
    try:
        for name in _in_site(stage):
            if name in old:
                for file in _files(old[name], site):
                    _move(file, attic / file.relative_to(site), moved)
        for file in sorted(path for path in stage.rglob("*") if not path.is_dir()):
            if file.relative_to(stage).parts[0] != "bin":  # programs of a plugin have no place here
                _move(file, site / file.relative_to(stage), moved)
    except OSError as error:
        for source, target in reversed(moved):
            source.parent.mkdir(parents=True, exist_ok=True)
            target.replace(source)
        raise PluginError(f"The plugin folder cannot be written: {error}.", f"It is {site}.") from error
    finally:
        _prune(site)


def _move(source: Path, target: Path, moved: list[tuple[Path, Path]]) -> None:
    if target.exists():
        raise FileExistsError(f"{target.name} belongs to another plugin")
    target.parent.mkdir(parents=True, exist_ok=True)
    source.replace(target)
    moved.append((source, target))


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


# -- uninstall ---------------------------------------------------------------------------------------


def would_remove(name: str, folder: Path | None = None) -> list[str]:
    """The distribution of a plugin, and what came with it and nothing else needs. Raises ``PluginError``."""
    here = _in_site(site_folder(folder))
    wanted = canonical(name)
    by_point = {point: key for key, dist in here.items() for point in _points(dist)}
    key = wanted if wanted in here else by_point.get(name, "")
    if key not in here or not _points(here[key]):
        known = ", ".join(str(item) for item in installed(folder)) or "none"
        raise PluginError(
            f"{name} was not installed into the plugin folder.",
            f"Installed there: {known}. Others are removed with the tool that installed them.",
        )
    asked = [k for k, dist in here.items() if k != key and (_points(dist) or _of_requested(dist))]
    kept = set(_closure(asked, here))
    if key in kept:
        users = [k for k in asked if key in _closure([k], here)]
        raise PluginError(
            f"{here[key].metadata['Name']} is needed by {here[users[0]].metadata['Name']}.",
            "Uninstall that one first.",
        )
    return [name for name in _closure([key], here) if name not in kept]


def _of_requested(dist: Distribution) -> bool:
    return dist.read_text("REQUESTED") is not None


def uninstall(name: str, folder: Path | None = None) -> list[str]:
    """Remove a plugin that ``install`` put there; returns what went. Raises ``PluginError``."""
    site = site_folder(folder)
    names = would_remove(name, folder)
    here = _in_site(site)
    gone = [f"{here[key].metadata['Name']} {here[key].version}" for key in names]
    with _temporary(site) as temporary:
        moved: list[tuple[Path, Path]] = []
        try:
            for key in names:
                for file in list(_files(here[key], site)):
                    _move(file, temporary / "attic" / file.relative_to(site), moved)
        except OSError as error:
            for source, target in reversed(moved):
                target.replace(source)
            raise PluginError(f"{name} cannot be removed: {error}.", f"The folder is {site}.") from error
    _prune(site)
    return gone


# -- pip ---------------------------------------------------------------------------------------------


@contextmanager
def _temporary(site: Path) -> Iterator[Path]:
    """A folder beside the plugins, on the same disk, that is gone afterwards."""
    try:
        site.parent.mkdir(parents=True, exist_ok=True)
        _clean_up(site.parent)
        made = Path(tempfile.mkdtemp(prefix=".installing-", dir=site.parent))
    except OSError as error:
        raise PluginError(f"The plugin folder cannot be written: {error}.", f"It is {site}.") from error
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _pip(words: Sequence[str], site: Path, progress: Progress, doing: str) -> None:
    """Run pip, which sees the host's packages and those in the folder. Raises ``PluginError`` with its reason."""
    command = [sys.executable, "-P", "-m", "pip", "--no-input", "--disable-pip-version-check", *words]
    environment = {key: value for key, value in os.environ.items() if key not in _STEERING}
    before = environment.get("PYTHONPATH", "")
    environment["PYTHONPATH"] = os.pathsep.join([*([before] if before else []), str(site)])
    environment |= {"PIP_REQUIRE_VIRTUALENV": "0", "PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.Popen(
        command, env=environment, cwd=site.parent, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", errors="replace",
    )  # fmt: skip
    lines: list[str] = []
    try:
        for line in _told(process):
            if line:
                lines.append(line)
                doing = _readable(line) or doing
            progress(doing)
    except BaseException:
        process.kill()
        process.wait()
        raise
    if process.wait() != 0:
        raise _refusal(lines)


def _told(process: subprocess.Popen[str]) -> Iterator[str]:
    """Lines of output as they come; an empty one now and then while nothing comes."""
    found: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        assert process.stdout is not None
        with process.stdout as stream:
            for line in stream:
                found.put(line.rstrip())
        found.put(None)

    threading.Thread(target=read, daemon=True).start()
    while True:
        try:
            line = found.get(timeout=POLL_SECONDS)
        except queue.Empty:
            yield ""
            continue
        if line is None:
            return
        yield line


def _readable(line: str) -> str:
    words = line.strip().split(" (from ")[0]
    return words if words.startswith(("Collecting", "Downloading", "Installing")) else ""


def _refusal(lines: list[str]) -> PluginError:
    """The reason that pip gives, in words."""
    text = "\n".join(lines)
    if "No module named pip" in text:
        return PluginError(
            "This Python has no pip, which installs plugins.", "Install it with: python -m ensurepip"
        )
    if "is not a supported wheel on this platform" in text:
        return PluginError(
            "The wheel was made for another system or another version of Python.",
            f"This is Python {sys.version_info.major}.{sys.version_info.minor} on {sys.platform}.",
        )
    if "DO NOT MATCH THE HASHES" in text:
        return PluginError("A file is not the one that was looked up.", "Look it up again.")
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    if "ResolutionImpossible" in text or any("conflict" in line for line in errors):
        reasons = [line.strip() for line in lines if " depends on " in line or "(constraint)" in line]
        return PluginError(
            "Its requirements do not fit the packages that Plaidwork runs with: "
            + ("; ".join(reasons[:LINES_KEPT]) or "versions conflict")
            + ".",
            "It was not installed, because the packages of Plaidwork are never changed.",
        )
    reason = next((line for line in errors if "No matching distribution" in line), "")
    if reason:
        name = reason.rsplit(" ", 1)[-1]
        return PluginError(
            f"No package “{name}” was found that fits this system.",
            "Check the name and the connection; only wheels are installed, not source archives.",
        )
    return PluginError(f"pip failed: {(errors or lines or ['it said nothing'])[-1].strip()}")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _clean_up(folder: Path) -> None:
    """Remove what an interrupted installation (a power cut) left behind long ago."""
    for left in folder.glob(".installing-*"):
        try:
            if time.time() - left.stat().st_mtime > LEFT_SECONDS:
                shutil.rmtree(left, ignore_errors=True)
        except OSError:
            continue
