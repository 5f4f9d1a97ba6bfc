"""A whole session to a file."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py

from plaidwork.core.errors import SessionError
from plaidwork.core.hdf5 import schema
from plaidwork.core.hdf5.atomic import brought_out, replace_file, save_error, sweep_beside
from plaidwork.core.hdf5.h5 import Writer, open_new, put
from plaidwork.core.hdf5.parts import ChangedPartError
from plaidwork.core.hdf5.schema import link_name
from plaidwork.core.hdf5.seal import seal
from plaidwork.core.hdf5.values import write_value
from plaidwork.core.inference.environment import environment
from plaidwork.core.inference.run import now
from plaidwork.core.session.store.axis_labels import AxisLabels
from plaidwork.core.session.store.datasets import write_dataset
from plaidwork.core.session.store.foreign import copy_unknown
from plaidwork.core.session.store.linked import link_of
from plaidwork.core.session.store.mark import FileMark
from plaidwork.core.session.store.places import recovery_file, recovery_key
from plaidwork.core.session.store.runs import write_run

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
