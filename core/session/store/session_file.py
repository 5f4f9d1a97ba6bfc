"""A whole session to a file and back."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py

from plaidwork.core.errors import SessionError
from plaidwork.core.hdf5 import gate, schema
from plaidwork.core.hdf5.atomic import replace_file, save_error, sweep_beside
from plaidwork.core.hdf5.h5 import Reader, Writer, open_new, put, text_of
from plaidwork.core.hdf5.limits import Limits, machine_limits
from plaidwork.core.hdf5.schema import link_name
from plaidwork.core.hdf5.seal import look, probe, seal
from plaidwork.core.hdf5.values import read_value, write_value
from plaidwork.core.inference.environment import environment
from plaidwork.core.inference.run import Run, now
from plaidwork.core.session.actions import read_actions
from plaidwork.core.session.store.datasets import read_stored, write_dataset
from plaidwork.core.session.store.foreign import copy_unknown
from plaidwork.core.session.store.mark import FileMark
from plaidwork.core.session.store.places import recovery_file, recovery_key
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


def write(session: Session, path: Path, *, backup: bool = True) -> FileMark:
    """Write the session to ``path`` atomically; the session itself is not changed. What the file is now.

    What saves that were killed have left beside it is swept.
    """
    digests = []

    def write_sealed(temporary: Path) -> None:
        _write_file(session, temporary)
        digests.append(seal(temporary))

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
    total = 100_000 + sum(dataset.nbytes for dataset in list(session.datasets.values()))
    for run in list(session.runs.values()):
        for record in run.chains:
            total += record.trace.rows().nbytes
            for variable in run.spec.variables:
                total += sum(entry.nbytes for entry in record.draws.packed(variable.name))
    return total


def _write_file(session: Session, path: Path) -> None:
    with open_new(path) as file:
        writer = Writer(file)
        _write_head(session, file)
        group = file.create_group("data")
        for order, (name, dataset) in enumerate(list(session.datasets.items())):
            inner = group.create_group(link_name(name))
            put(inner, order=order, name=name)
            write_dataset(writer, inner, dataset)
        group = file.create_group("runs")
        labels = AxisLabels(session)
        for order, run in enumerate(list(session.runs.values())):
            inner = group.create_group(link_name(run.id))
            inner.attrs["order"] = order
            write_run(writer, inner, run, labels.of(run))
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
    """Bytes and what JSON gives back unchanged as such, anything else as nested value."""
    if not isinstance(value, bytes):
        with suppress(TypeError, ValueError):
            text = json.dumps(value)
            if json.loads(text) == value:
                writer.json(group, link_name(name), value, kind="json", key=name, order=order)
                return
    write_value(writer, group, link_name(name), value, key=name, order=order)


class AxisLabels:
    """Item names by dim of a run, as long as the data in the session are those of the run."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def of(self, run: Run) -> Mapping[str, Sequence[str]]:
        found: dict[str, Sequence[str]] = {}
        if not self._unchanged(run):
            return found
        for item in run.spec.inputs:
            for name in run.inputs.get(item.name, ()):
                dataset = self._session.datasets[name]
                for axis, dim in enumerate(item.dims):
                    if not (item.many and axis == 1):
                        found.setdefault(dim, (dataset.row_names, dataset.column_names)[axis])
        return found

    def _unchanged(self, run: Run) -> bool:
        import hashlib

        hasher = hashlib.sha256()
        for key in sorted(run.inputs):
            for name in run.inputs[key]:
                if name not in self._session.datasets:
                    return False
                hasher.update(f"{key}={self._digest(name)};".encode())
        return hasher.hexdigest() == run.data_hash

    def _digest(self, name: str) -> str:
        """The dataset's digest, remembered in the session from save to save."""
        kept: dict[str, tuple[Any, str]] = self._session.__dict__.setdefault("_digests", {})
        dataset = self._session.datasets[name]
        if name not in kept or kept[name][0] is not dataset:
            kept[name] = (dataset, dataset.digest())
        return kept[name][1]


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
        ours = seen.ours and not probed
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
        reader = None
        try:
            gate.check(file, limits.raised() if any_size else limits, largest_text=largest)
            read_only = _check_head(file)
            reader = Reader(file, sealed=ours)
            reader.check_attributes()
            session = _read(reader, make)
            reader.check_rest()
        except SessionError as error:
            text = f"“{path.name}” cannot be opened: {error.message}"
            raise type(error)(text, error.hint or _HINT) from error
        except MemoryError as error:
            raise SessionError(
                f"“{path.name}” cannot be opened: it needs more memory than is free.",
                "Close other programs, or open it on a computer with more memory.",
            ) from error
        except Exception as error:
            found = f"{type(error).__name__}: {error}".rstrip(".")
            location = "the head of the file" if reader is None else f"“{reader.at}”"
            raise SessionError(
                f"“{path.name}” cannot be opened: {location} is damaged or not what was expected ({found}).",
                _HINT,
            ) from error
    if _stamp(path) != stamp:
        raise SessionError(f"“{path.name}” was changed while it was read.", "Open it again.")
    session.path, session.read_only = path.absolute(), read_only
    session.mark = FileMark.of(path, seen.digest)
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
        return SessionError(f"“{path.name}” cannot be read: {error}.")
    if not head:
        return SessionError(f"“{path.name}” is empty, expected a Plaidwork session.", _HINT)
    if head != b"\x89HDF\r\n\x1a\n":
        return SessionError(
            f"“{path.name}” is not a Plaidwork session: it starts with {head!r}, expected an HDF5 file.",
            "To use its numbers, import it as data.",
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
        name=text_of(file, "name"), uuid=str(file.attrs["uuid"]), created=str(file.attrs["created"])
    )
    for group in _ordered(reader.group(file, "data")):
        name = text_of(group, "name")
        session.datasets[name] = read_stored(reader, group)
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
    return sorted(found, key=lambda child: int(child.attrs["order"]))
