"""The command ``export`` with a file of data in place of a session: any matrix that can be imported, as an npy file."""

from __future__ import annotations

import argparse

from plaidwork.core.cli import pairs
from plaidwork.core.cli.printing import tell, warn
from plaidwork.core.data.converting import Written, write_npy
from plaidwork.core.data.importers._names_beside import names_file
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import DataError, SettingError
from plaidwork.core.quoting import guarded_text
from plaidwork.core.session.bundle import BundleWriter

_ENDS = ("rows", "columns")


def export_npy(options: argparse.Namespace) -> int:
    """``plaidwork export FILE --to FILE.npy [--dtype float32|float64] [--import-option KEY=VALUE …]``."""
    if options.run is not None or options.picture:
        raise SettingError(
            "--run and --picture go with a session, and --to FILE.npy with a file of data.",
            "Leave them out, or give --to the name of a folder.",
        )
    source = options.session.expanduser()
    if source.name.lower().endswith(".plaidwork"):
        raise SettingError(
            f"{source.name} is a session, and --to FILE.npy is for a file of data.",
            "Give the file that the data came from, or --to the name of a folder, which gets the data of the session.",
        )
    if not source.exists():
        raise DataError(f"{source} does not exist.", "Check the name and the folder.")
    path = pairs.check_output(options.to, options.force)
    if path.exists() and path.samefile(source):
        raise SettingError(f"{path} is the file that is read.", "Choose another name.")
    for axis, end in enumerate(_ENDS):
        for file in (names_file(path, axis), path.with_name(f"{path.stem}_{end}.csv")):
            pairs.check_output(file, options.force)
    read = pairs.import_options(options.import_option, {"": [source]})[""]
    found = write_npy(source, path, read, options.dtype or "")
    if not found.in_pieces:
        warn(
            f"plaidwork: {source.name} was in memory as a whole: it cannot be read a part at a time, or was to be changed."
        )
    _tell(found, options.no_guard)
    return 0


def _tell(found: Written, no_guard: bool) -> None:
    writer = BundleWriter(found.path.parent, False if no_guard else None)
    files = list(found.beside)
    for names, table, end in zip(found.names, found.tables, _ENDS, strict=True):
        if table:
            writer.annotations(names, table, f"{found.path.stem}_{end}.csv")
            files.append(found.path.with_name(f"{found.path.stem}_{end}.csv"))
    if writer.guarded:
        warn(guarded_text(writer.guarded))
    rows, columns = found.shape
    tell(f"{counted(rows, 'row')} × {counted(columns, 'column')} of {found.dtype}: {found.path.absolute()}")
    for file in files:
        tell(f"  beside it: {file.name}")
