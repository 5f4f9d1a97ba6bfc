"""``plaidwork plugin new``: a package with a model that works and passes every check, to begin from."""

from __future__ import annotations

import keyword
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path, PurePosixPath

from plaidwork.core.errors import SettingError
from plaidwork.core.refusals import why
from plaidwork.core.resources import RESOURCES

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*\Z")
_LONGEST = 50
_FILES = {
    "pyproject.toml": "pyproject.toml.txt",
    "README.md": "README.md.txt",
    "CHOOSE-A-LICENCE.md": "CHOOSE-A-LICENCE.md.txt",
    ".gitignore": "gitignore.txt",
    ".github/workflows/tests.yml": "tests.yml.txt",
    "ci.sh": "ci.sh.txt",
    "@module@/__init__.py": "init.py.txt",
    "@module@/model.py": "model.py.txt",
    "@module@/example/example.json": "example.json.txt",
    "@module@/example/matrix.csv": "matrix.csv",
    "tests/test_conformance.py": "test_conformance.py.txt",
}
"""File of the package -> file in ``resources/plugin_template``."""


@dataclass(frozen=True, slots=True)
class Scaffold:
    """A package as written: its folder, its files (relative to it), the id of its model and its data."""

    root: Path
    files: tuple[PurePosixPath, ...]
    module: str
    model_id: str
    data: PurePosixPath


def create(name: str, folder: Path = Path()) -> Scaffold:
    """Write the package ``name`` as a new folder in ``folder``; all of it or nothing. Raises ``SettingError``."""
    names = names_for(name)
    root = folder.expanduser() / name
    if root.exists() or root.is_symlink():
        raise SettingError(f"{root} exists already.", "Choose another name, or another --folder.")
    files = {PurePosixPath(_filled(path, names)): source for path, source in _FILES.items()}
    try:
        with _made(root.parent):
            _write(files, names, root)
    except OSError as error:
        raise SettingError(f"{root} cannot be written: {why(error)}.", "Choose another --folder.") from error
    module = names["module"]
    return Scaffold(
        root.absolute(), tuple(files), module, module, PurePosixPath(module, "example", "matrix.csv")
    )


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """The folder is there; on an error those on the way to it that were not go again."""
    new = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for one in new:
            with suppress(OSError):
                one.rmdir()
        raise


def _write(files: dict[PurePosixPath, str], names: dict[str, str], root: Path) -> None:
    draft = Path(tempfile.mkdtemp(prefix=f".{root.name}-", dir=root.parent))
    try:
        for path, source in files.items():
            target = draft / path
            target.parent.mkdir(parents=True, exist_ok=True)
            text = (_templates() / source).read_text(encoding="utf-8")
            target.write_text(_filled(text, names), encoding="utf-8", newline="\n")
        draft.chmod(0o755)
        (draft / "ci.sh").chmod(0o755)
        draft.rename(root)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def names_for(name: str) -> dict[str, str]:
    """The names of distribution, module, class and title. Raises ``SettingError`` for a name that cannot be one."""
    if not _NAME.match(name) or len(name) > _LONGEST:
        raise SettingError(
            f"“{name}” cannot be the name of a package.",
            f"Use letters, digits and single hyphens, a letter first, at most {_LONGEST}: my-model.",
        )
    parts = re.split(r"[-_]", name)
    module = "_".join(parts).lower()
    if keyword.iskeyword(module) or keyword.issoftkeyword(module):
        raise SettingError(f"“{name}” is a word of Python itself.", "Choose another name.")
    if module in sys.stdlib_module_names or module in ("test", "tests", "plaidwork"):
        raise SettingError(f"“{module}” is a module of Python or Plaidwork.", "Choose another name.")
    if PathFinder.find_spec(module) is not None or _is_model(module):
        raise SettingError(f"“{module}” is installed already.", "Choose another name.")
    return {
        "name": name,
        "module": module,
        "class": "".join(part[:1].upper() + part[1:] for part in parts),
        "title": " ".join([parts[0][:1].upper() + parts[0][1:], *parts[1:]]),
    }


def _is_model(module: str) -> bool:
    from plaidwork.core.plugins.registry import registry

    return registry().has(module)


def _filled(text: str, words: dict[str, str]) -> str:
    for key, word in words.items():
        text = text.replace(f"@{key}@", word)
    return text


def _templates() -> Path:
    return RESOURCES / "plugin_template"
