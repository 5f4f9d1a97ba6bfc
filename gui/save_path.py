"""Asks where to write a file: the suffix is added first, then it is asked whether to replace what is there."""

from __future__ import annotations

import re
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from plaidwork.core.quoting import guarded_text
from plaidwork.core.session.bundle import file_name
from plaidwork.gui.language import tr

PICTURES = "PNG (*.png);;SVG (*.svg);;PDF (*.pdf)"
"""What every view can be written as."""

_LONGEST = 80
"""Characters of a part of a proposed name; all parts and a suffix stay below the 255 of most file systems."""


def proposed_name(*parts: str, suffix: str) -> str:
    """A name for a file, made of what it is about (session, run, view) and safe on every system."""
    used = [file_name(part)[:_LONGEST].rstrip("-.") for part in parts if part.strip()]
    return "_".join(dict.fromkeys(used)) + suffix


def ask_save_path(parent: QWidget | None, title: str, proposed: str | Path, kinds: str) -> Path | None:
    """The file that the user chose, with one of the suffixes of ``kinds``; None when the user leaves.

    ``kinds`` is what Qt takes: ``PNG (*.png);;SVG (*.svg)``. A name without one of the suffixes gets that of the kind
    which was chosen. A file that is there already is only returned when the user wants it replaced.
    """
    from plaidwork.gui.dialogs import ask

    start = str(proposed)
    known = re.findall(r"\*(\.[\w.]+)", kinds)
    while True:
        name, kind = QFileDialog.getSaveFileName(
            parent, tr(title), start, kinds, "", QFileDialog.Option.DontConfirmOverwrite
        )
        if not name:
            return None
        if known and not name.lower().endswith(tuple(known)):
            name = name.rstrip(".") + (re.findall(r"\*(\.[\w.]+)", kind) or known)[0]
        path = Path(name)
        if not path.exists():
            return path
        choices = (("cancel", "Choose another name"), ("replace", "Replace"))
        text = f"There is a file of this name in {path.parent} already."
        if ask(parent, f"Replace “{path.name}”?", text, choices, "replace") == "replace":
            return path
        start = name


def tell_guarded(parent: QWidget | None, count: int) -> None:
    """Say that cells of a table that was just written were guarded against spreadsheets, when there are any."""
    from plaidwork.gui.dialogs import ask

    if count:
        text = f"{guarded_text(count)} File > Guard tables for spreadsheets turns that off."
        ask(parent, "Some texts got an apostrophe", text, (("close", "Close"),), "close")


def stamp_of(path: Path) -> tuple[Path, int, int] | None:
    """Path, bytes and time of a file: another one when somebody else has written it."""
    try:
        found = path.stat()
    except OSError:
        return None
    return path, found.st_size, found.st_mtime_ns
