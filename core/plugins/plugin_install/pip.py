"""Run pip beside the program, understand what it says, and tidy up after it."""

from __future__ import annotations

import errno
import hashlib
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from plaidwork.core.errors import PluginError
from plaidwork.core.plugins.plugin_install.site import Progress
from plaidwork.core.refusals import why

LINES_KEPT = 12
POLL_SECONDS = 0.1
LEFT_SECONDS = 86400.0
_STEERING = ("PIP_TARGET", "PIP_USER", "PIP_PREFIX", "PIP_ROOT", "PIP_NO_DEPS", "PIP_REPORT", "PIP_DRY_RUN")
"""Settings of pip that would lead it somewhere else; where packages come from stays as it is set up."""


@contextmanager
def work_folder(site: Path) -> Iterator[Path]:
    """A folder beside the plugins, on the same disk, that is gone afterwards. What the system refuses meanwhile is a
    ``PluginError``."""
    with refused(site):
        site.parent.mkdir(parents=True, exist_ok=True)
        _clean_up(site.parent)
        made = Path(tempfile.mkdtemp(prefix=".installing-", dir=site.parent))
        try:
            yield made
        finally:
            shutil.rmtree(made, ignore_errors=True)


@contextmanager
def refused(site: Path) -> Iterator[None]:
    """What the system refuses, a full disk for one, as a ``PluginError`` that names the file."""
    try:
        yield
    except OSError as error:
        raise PluginError(f"The plugin folder cannot be written: {why(error)}.", f"It is {site}.") from error


def run_pip(arguments: Sequence[str], site: Path, progress: Progress, doing: str) -> None:
    """Run pip, which sees the host's packages and knows of those in the folder, none of whose modules it could import.

    Raises ``PluginError`` with its reason.
    """
    command = [sys.executable, "-P", "-m", "pip", "--no-input", "--disable-pip-version-check", *arguments]
    environment = {key: value for key, value in os.environ.items() if key not in _STEERING}
    before = environment.get("PYTHONPATH", "")
    environment |= {"PIP_REQUIRE_VIRTUALENV": "0", "PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryDirectory(prefix="plaidwork-") as known:
        _copy_metadata(site, Path(known))
        environment["PYTHONPATH"] = os.pathsep.join([*([before] if before else []), known])
        _run(command, environment, site, progress, doing)


def _copy_metadata(site: Path, target: Path) -> None:
    """What pip reads of installed distributions, and nothing that could be imported."""
    for info in site.glob("*.dist-info"):
        (target / info.name).mkdir()
        for name in ("METADATA", "WHEEL", "RECORD", "INSTALLER", "REQUESTED", "entry_points.txt"):
            if (info / name).is_file():
                shutil.copyfile(info / name, target / info.name / name)


def _run(
    command: Sequence[str], environment: Mapping[str, str], site: Path, progress: Progress, doing: str
) -> None:
    process = subprocess.Popen(
        command, env=environment, cwd=site.parent, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", errors="replace",
    )  # fmt: skip
    lines: list[str] = []
    try:
        for line in _output_lines(process):
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


def _output_lines(process: subprocess.Popen[str]) -> Iterator[str]:
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
    text = line.strip().split(" (from ")[0]
    return text if text.startswith(("Collecting", "Downloading", "Installing")) else ""


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
    if os.strerror(errno.ENOSPC) in text:
        return PluginError(
            "The disk is full: pip could not write what it fetched.",
            f"Free some space where the plugins go, or in {tempfile.gettempdir()}.",
        )
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


def sha256(path: Path) -> str:
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
