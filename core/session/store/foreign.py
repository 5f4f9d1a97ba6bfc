"""What other programs or later versions put into a session file: carried along when it is saved."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import h5py
import numpy as np

from plaidwork.core.errors import SessionError
from plaidwork.core.hdf5 import gate, schema
from plaidwork.core.hdf5.h5 import Writer
from plaidwork.core.hdf5.limits import machine_limits
from plaidwork.core.hdf5.parts import PartsFile
from plaidwork.core.hdf5.seal import parts_of


def copy_unknown(old: Path | None, writer: Writer) -> None:
    """Copy groups, arrays and attributes that we do not know from the file ``old`` (same major version).

    What belonged to a run or data set that was removed goes with it. An old file that is gone or broken is
    passed over: the session in memory is what counts.
    """
    if old is None or not old.is_file():
        return
    try:
        with _checked(old) as source:
            if source.attrs.get("format") != schema.FORMAT:
                return
            if schema.parse_version(source.attrs.get("format_version"))[0] != schema.VERSION[0]:
                return
            _Copy(writer).all(source)
    except (OSError, SessionError, ValueError, KeyError, RuntimeError):
        if writer.file.id.valid and not _writable(writer.file):
            raise
        return


@contextmanager
def _checked(old: Path) -> Iterator[h5py.File]:
    """The old file after a look through it; a large one of this installation is compared with its seal as it is read."""
    parts = parts_of(old)
    largest = None if parts is not None else gate.check_heaps(old)
    with h5py.File(old, "r") if parts is None else PartsFile(old, parts).opened() as source:
        gate.check(source, machine_limits().raised(), largest_text=largest)
        yield source


def _writable(file: h5py.File) -> bool:
    """Whether the new file is sound, so that the failure was one of reading the old one."""
    try:
        file.flush()
    except (OSError, RuntimeError):
        return False
    return True


class _Copy:
    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def all(self, source: h5py.File) -> None:
        target = self._writer.file
        self._level(source, target, schema.ROOT_GROUPS, schema.ROOT_ATTRS)
        for top, parts, attrs in (
            ("data", schema.DATA_PARTS, schema.DATA_ATTRS),
            ("runs", schema.RUN_PARTS, schema.RUN_ATTRS),
        ):
            for name in source.get(top, ()):
                if name in target[top]:
                    self._level(source[top][name], target[top][name], parts, attrs)
                elif "order" not in source[top][name].attrs:  # never was ours
                    self._thing(source[top][name], target[top], name)
        for name, run in source.get("runs", {}).items():
            if name in target["runs"] and "inference" in run:
                inference = target["runs"][name]["inference"]
                self._level(run["inference"], inference, schema.INFERENCE_GROUPS, set())
        for top, known in (("notes", schema.NOTES_PARTS), ("provenance", schema.PROVENANCE_PARTS)):
            if top in source:
                self._level(source[top], target[top], known, set())
        for name, thing in source.get("views", {}).items():
            if "order" not in thing.attrs and name not in target["views"]:
                self._thing(thing, target["views"], name)

    def _level(self, source: h5py.Group, target: h5py.Group, known: set[str], attrs: set[str]) -> None:
        for name in source:
            if name not in known and name not in target:
                self._thing(source[name], target, name)
        self._attributes(source, target, attrs)

    def _attributes(self, source: h5py.HLObject, target: h5py.HLObject, known: set[str]) -> None:
        for name, value in source.attrs.items():
            if name not in known and name not in target.attrs and name not in schema.SCALE_ATTRS:
                target.attrs[name] = value

    def _thing(self, source: h5py.HLObject, parent: h5py.Group, name: str) -> None:
        if isinstance(source, h5py.Group):
            group = parent.create_group(name)
            for child in source:
                self._thing(source[child], group, child)
            self._attributes(source, group, set())
            return
        if h5py.check_string_dtype(source.dtype) is not None:
            raw = np.asarray(source.asstr("utf-8", "surrogateescape")[()], dtype=object)
            made = self._writer.texts(parent, name, raw)
        else:
            made = self._writer.array(parent, name, source[()], enum=source.dtype.kind == "b")
        self._attributes(source, made, {"escaped"})
