"""A whole session to a file and back."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py

from plaidwork.core.contract.hyperparameter import DeclarationError
from plaidwork.core.contract.typed import UnfitError
from plaidwork.core.errors import PlaidworkError, SessionError
from plaidwork.core.hdf5 import gate, schema
from plaidwork.core.hdf5.atomic import brought_out, replace_file, save_error, sweep_beside
from plaidwork.core.hdf5.h5 import Reader, Writer, number_of, open_new, put, text_of
from plaidwork.core.hdf5.limits import Limits, machine_limits
from plaidwork.core.hdf5.parts import ChangedPartError, Parts, PartsFile
from plaidwork.core.hdf5.schema import link_name
from plaidwork.core.hdf5.seal import Seen, digest_of, look, probe, seal
from plaidwork.core.hdf5.values import read_value, write_value
from plaidwork.core.inference.environment import environment
from plaidwork.core.inference.run import now
from plaidwork.core.refusals import why
from plaidwork.core.session.actions import read_actions
from plaidwork.core.session.store.axis_labels import AxisLabels
from plaidwork.core.session.store.datasets import read_stored, write_dataset
from plaidwork.core.session.store.foreign import copy_unknown
from plaidwork.core.session.store.linked import link_of, links_of
from plaidwork.core.session.store.mark import FileMark
from plaidwork.core.session.store.places import recovery_file, recovery_key, stored_uuid
from plaidwork.core.session.store.runs import read_run, write_run

if TYPE_CHECKING:
    from plaidwork.core.session.session import Session


def save(session: Session, path: str | Path | None = None, *, replace: bool = False) -> Path:
    """Write and make ``path`` the session's own.

    Raises ``ChangedError`` when the session's own file is not what it was when it was opened, unless ``replace``.
    """
    target = Path(path) if path is not None else session.path
    if target is None:
        raise SessionError("This session has no file name yet.", "Save it under a name.")
    if session.read_only and session.path is not None and _same(target, session.path):
        raise SessionError(
            f"“{target.name}” is open for reading only: {session.read_only}", "Save elsewhere."
        )
    own = session.path is not None and _same(target, session.path)
    if own and session.mark is not None and not replace:
        session.mark.check(target)
    before = session.uuid
    if session.path is not None and not own:
        session.uuid = str(uuid.uuid4())  # two files are two sessions from now on
    try:
        session.mark = write(session, target)
    except BaseException:
        session.uuid = before
        raise
    for key in filter(None, (session.left_behind, recovery_key(before) if session.uuid != before else "")):
        for left in (recovery_file(key), recovery_file(key).with_suffix(".json")):
            left.unlink(missing_ok=True)
    session.left_behind = ""
    session.path, session.read_only = target, ""
    return target


def _same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()


def write(session: Session, path: Path, *, backup: bool = True, compact: bool = False) -> FileMark:
    """Write the session to ``path`` atomically; the session itself is not changed. What the file is now.

    A ``compact`` file has no states of chains, and all is packed as small as it goes. What saves that were killed have left beside it is swept.
    """
    digests = []

    def write_sealed(temporary: Path) -> None:
        with brought_out(temporary):
            known = _write_file(session, temporary, compact)
        digests.append(seal(temporary, known))

    try:
        sweep_beside(path)
        replace_file(path, write_sealed, backup=backup)
        return FileMark.of(path, digests[0])
    except SessionError as error:
        raise SessionError(f"Could not save: {error.message}", error.hint) from error
    except MemoryError as error:
        raise SessionError(
            "Could not save: there is not enough free memory. Your work is still open.",
            "Close other programs, then save again.",
        ) from error
    except (OSError, RuntimeError) as error:  # h5py tells a full disk either way
        raise save_error(
            error, path, estimate(session), recovery_file(recovery_key(session.uuid)).exists()
        ) from error


def estimate(session: Session) -> int:
    """About how many bytes the file takes."""
    total = 100_000 + sum(data.nbytes for data in list(session.datasets.values()) if not data.stays)
    for run in list(session.runs.values()):
        for record in run.chains:
            total += record.trace.rows().nbytes
            total += record.draws.nbytes
    return total


def _write_file(session: Session, path: Path, compact: bool) -> dict[int, bytes]:
    """What is known of the digests of the file's parts."""
    known: dict[int, bytes] = {}
    with open_new(path) as file:
        writer = Writer(file, compact=compact, parts=known)
        _write_head(session, file)
        group, labels, linked = file.create_group("data"), AxisLabels(session), False
        found = {run.id: labels.of(run) for run in list(session.runs.values())}
        for order, (name, dataset) in enumerate(list(session.datasets.items())):
            inner = group.create_group(link_name(name))
            put(inner, order=order, name=name)
            with _named(f"The data “{name}”"):
                link = link_of(dataset, session.links, partial(labels.digest, name))
                record = link.record(path.parent) if link is not None else None
                write_dataset(writer, inner, dataset, labels.digest_of(name), record)
                linked = linked or record is not None
        if linked:
            put(file, min_reader=schema.version_text(schema.LINKED))
        group = file.create_group("runs")
        for order, run in enumerate(list(session.runs.values())):
            inner = group.create_group(link_name(run.id))
            inner.attrs["order"] = order
            with _named(f"The run “{run.title}”"):
                write_run(writer, inner, run, found.get(run.id, {}))
        group = file.create_group("views")
        for order, (name, value) in enumerate(dict(session.views).items()):
            _write_view(writer, group, name, value, order)
        writer.text(file.create_group("notes"), "session", session.notes)
        group = file.create_group("provenance")
        writer.text(group, "history", "\n".join(map(schema.to_json, list(session.history))))
        if session.studies:
            writer.json(group, "studies", session.studies)
        writer.json(group, "environment", environment())
        copy_unknown(session.path, writer)
        writer.finish()
    return known


@contextmanager
def _named(what: str) -> Iterator[None]:
    """Say of what a part cannot be read any more."""
    try:
        yield
    except ChangedPartError as error:
        raise SessionError(
            f"{error.message} {what} cannot be read from it.",
            "Put the file back as it was when it was opened, or remove what cannot be read; then save again.",
        ) from error


def _write_head(session: Session, file: h5py.File) -> None:
    from plaidwork.core import __version__

    attrs = {
        "format": schema.FORMAT,
        "format_version": schema.version_text(schema.VERSION),
        "min_reader": schema.version_text(schema.MIN_READER),
        "uuid": session.uuid,
        "name": session.name,
        "created": session.created,
        "modified": now(),
        "app_version": __version__,
    }
    put(file, **attrs)


def _write_view(writer: Writer, group: h5py.Group, name: str, value: Any, order: int) -> None:
    """What JSON gives back unchanged as such, anything else as nested value."""
    if _is_json(value):
        writer.json(group, link_name(name), value, kind="json", key=name, order=order)
    else:
        write_value(writer, group, link_name(name), value, key=name, order=order)


def _is_json(value: Any) -> bool:
    """Whether JSON gives it back unchanged."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_json(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(_is_json, value))
    return value is None or isinstance(value, (int, str)) or (isinstance(value, float) and value == value)


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
