"""Try the program with the oldest or the newest set of what it needs, as pyproject.toml allows it.

    python installer/try_versions.py oldest [--folder DIR] [--python 3.11]
    python installer/try_versions.py newest [--python 3.13]

Makes a fresh environment in a folder that goes afterwards (or stays, with ``--folder``), installs the checkout with that set,
and runs ``plaidwork --smoke`` there: it starts, fits, saves and reads again. Ends with the versions that were tried. Downloads
about 300 MB.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = ("excel", "parquet")


def oldest(project: dict[str, object]) -> list[str]:
    """A pin for the lower bound of each requirement, markers kept: ``numpy>=1.26,<3`` -> ``numpy==1.26.*``.

    The last release of a series that is named by two numbers: its first one often lacks mends that all have had since.
    """
    pins = []
    optional = project["optional-dependencies"]
    assert isinstance(optional, dict)
    for line in [*project["dependencies"], *(x for extra in EXTRAS for x in optional[extra])]:  # type: ignore[misc]
        wanted, _, marker = line.partition(";")
        name, low = re.match(r"\s*([\w.-]+)\s*>=\s*([\d.]+)", wanted).groups()  # type: ignore[union-attr]
        exact = low if low.count(".") >= 2 else f"{low}.*"
        pins.append(f"{name}=={exact}" + (f" ; {marker.strip()}" if marker else ""))
    return pins


def tried(which: str, python: str, folder: Path) -> int:
    """Install and run; the exit code of the run."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"PLAIDWORK_CONFIG": str(folder / "config")}
    environment.setdefault("QT_QPA_PLATFORM", "offscreen")
    subprocess.run([python, "-m", "venv", "--clear", folder / "environment"], check=True, env=environment)
    programs = folder / "environment" / ("Scripts" if os.name == "nt" else "bin")
    command = [programs / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    if which == "oldest":
        (folder / "oldest.txt").write_text("\n".join(oldest(project)) + "\n", encoding="utf-8")
        command += ["-c", folder / "oldest.txt"]
    else:
        command += ["--upgrade", "--upgrade-strategy", "eager"]
    begun = time.monotonic()
    subprocess.run([*command, f"{ROOT}[{','.join(EXTRAS)}]"], check=True, env=environment)
    installed = time.monotonic()
    done = subprocess.run(
        [programs / "plaidwork", "--smoke", folder / "smoke"], env=environment, cwd=folder, check=False
    )
    ended = time.monotonic()
    shown = subprocess.run(
        [programs / "python", "-m", "pip", "freeze", "--exclude", "plaidwork"], env=environment,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    print(shown.stdout, end="")
    word = "works" if done.returncode == 0 else "FAILS"
    version = subprocess.run([python, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    print(
        f"The {which} set {word} with {version}: {installed - begun:.0f} s to install, {ended - installed:.0f} s to run"
    )
    return done.returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("which", choices=("oldest", "newest"))
    parser.add_argument("--folder", type=Path, help="where the environment is made, and stays")
    parser.add_argument("--python", default=sys.executable, help="interpreter, or a version such as 3.13")
    options = parser.parse_args()
    python = f"python{options.python}" if re.fullmatch(r"3\.\d+", options.python) else options.python
    if options.folder is not None:
        options.folder.mkdir(parents=True, exist_ok=True)
        return tried(options.which, python, options.folder.resolve())
    with tempfile.TemporaryDirectory() as folder:
        return tried(options.which, python, Path(folder))


if __name__ == "__main__":
    sys.exit(main())
