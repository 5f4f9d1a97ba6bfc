"""A whole session from its file."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py

from plaidwork.core.contract.hyperparameter import DeclarationError
from plaidwork.core.contract.typed import UnfitError
from plaidwork.core.errors import PlaidworkError, SessionError
from plaidwork.core.hdf5 import gate, schema
from plaidwork.core.hdf5.h5 import Reader, number_of, text_of
from plaidwork.core.hdf5.limits import Limits, machine_limits
from plaidwork.core.hdf5.parts import ChangedPartError, Parts, PartsFile
from plaidwork.core.hdf5.seal import Seen, digest_of, look, probe
from plaidwork.core.hdf5.values import read_value
from plaidwork.core.refusals import why
from plaidwork.core.session.actions import read_actions
from plaidwork.core.session.store.datasets import read_stored
from plaidwork.core.session.store.linked import links_of
from plaidwork.core.session.store.mark import FileMark
from plaidwork.core.session.store.places import stored_uuid
from plaidwork.core.session.store.runs import read_run

if TYPE_CHECKING:
    from plaidwork.core.session.session import Session


def content_size(path: Path, *, any_size: bool = False) -> int:
    """Bytes of all arrays and texts of a stranger's file that passes the gate, unpacked once. Raises ``SessionError``."""
    limits = machine_limits()
    try:
        largest = gate.check_heaps(path)
        with h5py.File(path, "r") as file:
            return gate.check(
                file, limits.raised() if any_size else limits, largest_text=largest, unpack=True
            )
    except OSError as error:
        raise _not_opened(path, error) from error
    except (
        RuntimeError,
        KeyError,
        ValueError,
        TypeError,
        UnicodeError,
    ) as error:  # what h5py makes of damage
        raise SessionError(f"“{path.name}” is damaged: {error}.", _HINT) from error


def load(
    path: str | Path,
    make: type[Session],
    limits: Limits | None = None,
    *,
    any_size: bool = False,
    probed: bool = False,
) -> Session:
    """Read a session file into a session that ``make`` makes.

    A file that this installation did not write is read by a process of its own first, unless ``probed``. With
    ``any_size`` it may be as large as it likes. Raises ``SessionError``, ``LimitError`` for one that is only too large.
    """
    path = Path(path)
    if not path.is_file():
        raise SessionError(f"{path} does not exist.", "Check the name and the folder.")
    try:
        stamp, seen = _stamp(path), look(path)
        session = None
        if seen.parts is not None and not probed:
            session = _load_parts(path, make, seen.parts)
            seen = seen if session is not None else Seen(False, digest_of(path))
    except OSError as error:
        raise _not_opened(path, error) from error
    ours = session is not None or (seen.ours and not probed)
    if session is None:
        session = _load_whole(path, make, limits, any_size=any_size, probed=probed, ours=ours)
    if _stamp(path) != stamp:
        raise SessionError(f"“{path.name}” was changed while it was read.", "Open it again.")
    session.path = path.absolute()
    for link in session.links.values():
        link.place(session.path.parent, ours=ours)
    session.mark = FileMark.of(path, seen.digest)
    return session


def _load_parts(path: Path, make: type[Session], parts: Parts) -> Session | None:
    """Of a large file that this installation wrote: all but the large arrays, which are read when they are needed.

    None when it was changed or damaged since: then it is read as a stranger's.
    """
    with suppress(ChangedPartError):
        source = PartsFile(path, parts)
        with source.opened() as file:
            return _checked(path, file, make, machine_limits(ours=True), None, parts=source)
    return None


def _load_whole(
    path: Path, make: type[Session], limits: Limits | None, *, any_size: bool, probed: bool, ours: bool
) -> Session:
    try:
        if not probed and not ours and h5py.is_hdf5(path):
            probe(path, any_size=any_size)
        limits = limits or machine_limits(ours=ours)
        largest = gate.check_heaps(path)
        file = h5py.File(path, "r")
    except SessionError as error:
        text = error.message if path.name in error.message else f"“{path.name}” is damaged: {error.message}"
        raise type(error)(text, error.hint or _HINT) from error
    except OSError as error:
        raise _not_opened(path, error) from error
    with file:
        return _checked(path, file, make, limits.raised() if any_size else limits, largest, ours=ours)


def _checked(
    path: Path,
    file: h5py.File,
    make: type[Session],
    limits: Limits,
    largest: int | None,
    *,
    ours: bool = True,
    parts: PartsFile | None = None,
) -> Session:
    """Look through the file, then read it."""
    reader = None
    try:
        gate.check(file, limits, largest_text=largest)
        read_only = _check_head(file)
        reader = Reader(file, sealed=ours, parts=parts)
        reader.check_attributes()
        session = _read(reader, make)
        reader.check_rest()
    except ChangedPartError:
        raise
    except SessionError as error:
        text = f"“{path.name}” cannot be opened: {error.message}"
        raise type(error)(text, error.hint or _HINT) from error
    except MemoryError as error:
        raise SessionError(
            f"“{path.name}” cannot be opened: it needs more memory than is free.",
            "Close other programs, or open it on a computer with more memory.",
        ) from error
    except Exception as error:
        told = isinstance(error, (PlaidworkError, DeclarationError, UnfitError))
        found = (str(error) if told else f"{type(error).__name__}: {error}").rstrip(".")
        location = "the head of the file" if reader is None else f"“{reader.at}”"
        raise SessionError(
            f"“{path.name}” cannot be opened: {location} is damaged or not what was expected ({found}).",
            _HINT,
        ) from error
    session.read_only = read_only
    return session


def _stamp(path: Path) -> tuple[int, int, int, int]:
    """Which file it is, and when it was changed."""
    found = path.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


_HINT = "The file saved before it may still be there, with “.bak” at the end of its name."


def _not_opened(path: Path, error: OSError) -> SessionError:
    if isinstance(error, PermissionError):
        return SessionError(
            f"“{path.name}” cannot be read: you have no right to.", "Check the rights of the file."
        )
    try:
        with path.open("rb") as stream:
            head = stream.read(8)
    except OSError:
        return SessionError(f"“{path.name}” cannot be read: {why(error)}.")
    if not head:
        return SessionError(f"“{path.name}” is empty, expected a Plaidwork session.", _HINT)
    if head != b"\x89HDF\r\n\x1a\n":
        return SessionError(
            f"“{path.name}” is not a Plaidwork session: it is no HDF5 file.",
            "A session ends in .plaidwork. To use the numbers of this file, import it as data.",
        )
    return SessionError(f"“{path.name}” is damaged or cut off: {error}.", _HINT)


def _check_head(file: h5py.File) -> str:
    """The reason why the file must not be written, or empty."""
    found = file.attrs.get("format")
    if found != schema.FORMAT:
        raise SessionError(
            f"it is an HDF5 file of the format {found!r}, expected {schema.FORMAT!r}.",
            "It is not a Plaidwork session.",
        )
    version = schema.parse_version(file.attrs.get("format_version"))
    needed = schema.parse_version(file.attrs.get("min_reader"))
    if needed > schema.VERSION:
        raise SessionError(
            f"it needs format {schema.version_text(needed)}, this version of Plaidwork reads up to "
            f"{schema.version_text(schema.VERSION)}.",
            "Install a newer version of Plaidwork.",
        )
    if version[0] > schema.VERSION[0]:
        return f"it was saved in format {schema.version_text(version)} by a newer version of Plaidwork."
    return ""


def _read(reader: Reader, make: type[Session]) -> Session:
    file = reader.file
    session = make(
        name=text_of(file, "name"), uuid=stored_uuid(file.attrs["uuid"]), created=str(file.attrs["created"])
    )
    for group in _ordered(reader.group(file, "data")):
        name = text_of(group, "name")
        session.datasets[name] = read_stored(reader, group)
    session.links = links_of(session.datasets.values())
    for group in _ordered(reader.group(file, "runs")):
        run = read_run(reader, group, group.name.rsplit("/", 1)[1])
        run.session = session
        session.runs[run.id] = run
    for thing in _ordered(reader.group(file, "views")):
        json_text = thing.attrs.get("kind") == "json"
        session.views[text_of(thing, "key")] = reader.json(thing) if json_text else read_value(reader, thing)
    session.notes = reader.text(reader.group(file, "notes")["session"])
    provenance = reader.group(file, "provenance")
    if "studies" in provenance:
        session.studies = _searches(reader.json(provenance["studies"]))
    session.history = read_actions(reader.text(provenance["history"]))
    return session


def _searches(found: Any) -> list[dict[str, Any]]:
    """What is stored of searches; what else each must have is looked at when it is shown."""
    for one in found if isinstance(found, list) else [None]:
        inputs = one.get("inputs") if isinstance(one, dict) and isinstance(one.get("title"), str) else None
        if not isinstance(inputs, dict) or not all(isinstance(names, list) for names in inputs.values()):
            raise SessionError("what it tells of its searches is not what was expected.")
    return list(found)


def _ordered(group: h5py.Group) -> list[Any]:
    """Children that are ours (they have an order), in that order."""
    found = [child for child in group.values() if "order" in child.attrs]
    return sorted(found, key=lambda child: number_of(child, "order"))
