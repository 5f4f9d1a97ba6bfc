"""What the dialog for several files knows: files, what each is used for, fixes, names. No widgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plaidwork.core.data.importers import Issue
from plaidwork.core.data.importers.several import FileRead, Finding, Joined, Part, Role, join, read_file
from plaidwork.core.data.overview import Overview, ViewFacts, overview
from plaidwork.core.draws.counting import agree, counted
from plaidwork.gui.data.import_state import FixRow
from plaidwork.gui.numbers import format_bytes, format_count

USES = (("view", "A view"), ("table", "About samples or features"), ("", "Leave out"))
"""What a file can be used for, and the words for it."""


@dataclass
class FileEntry:
    """One file: what the user chose for it, and what was read."""

    path: Path
    use: str | None = None  # None: as guessed
    options: dict[str, Any] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    read: FileRead | None = None

    def load(self) -> FileRead | None:
        """Read the file, unless it is left out or was read already."""
        if self.use == "":
            return None
        role: Role | None = "view" if self.use == "view" else "table" if self.use == "table" else None
        if self.read is None:
            self.read = read_file(self.path, self.options, role)
        return self.read

    @property
    def shown_use(self) -> str:
        """What it is used for now."""
        if self.use is not None:
            return self.use
        return self.read.role if self.read is not None else "view"


@dataclass
class ViewsState:
    """All files; ``work`` reads what is new and joins, off the GUI thread."""

    files: list[FileEntry]
    fixes: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    joined: Joined | None = None
    overview: Overview | None = None

    @classmethod
    def of(cls, paths: Sequence[Path]) -> ViewsState:
        return cls([FileEntry(Path(path)) for path in paths])

    def use(self, entry: FileEntry, use: str) -> None:
        """Use a file for something else; it is read again for that."""
        entry.use, entry.read = use, None

    def give(self, entry: FileEntry, options: dict[str, Any]) -> None:
        """Read a file with other options."""
        entry.options, entry.read, entry.use = dict(options), None, "view"

    def tick(self, key: str, on: bool) -> None:
        """Apply a fix, or take it back; one that was applied by itself is then refused."""
        self.fixes.discard(key)
        self.refused.discard(key)
        (self.fixes if on else self.refused).add(key)

    def work(self, check: Any = None) -> tuple[Joined, Overview | None]:
        """Read what was not read yet, and join."""
        reads, names = [], []
        for entry in self.files:
            read = entry.load()
            if check is not None:
                check()
            if read is not None:
                reads.append(read)
                names += [*entry.names, *[""] * len(read.datasets)][: len(read.datasets)]
        found = join(reads, set(self.fixes), set(self.refused), names)
        return found, overview(found.views) if found.views else None

    def parts_of(self, entry: FileEntry) -> list[Part]:
        """What became of a file in the last join."""
        if self.joined is None or entry.use == "":
            return []
        return [part for part in self.joined.parts if part.path == entry.path]

    def issues(self) -> list[FixRow]:
        """The findings as rows of the list."""
        rows = [_row(found) for found in self.joined.findings] if self.joined is not None else []
        views = self.overview.views if self.overview is not None else ()
        return rows + [_silent(view) for view in views if view.n_constant or view.n_empty]

    @property
    def obstacle(self) -> str:
        """Why nothing can be added, or empty."""
        return self.joined.problem if self.joined is not None else "Reading the files"

    @property
    def adds(self) -> str:
        """What an import would add, in a sentence."""
        found = self.joined
        if found is None:
            return ""
        n, size = len(found.views), format_bytes(sum(view.nbytes for view in found.views))
        if n == 1:
            shape = found.views[0].shape
            text = f"{counted(shape[0], 'sample')} × {counted(shape[1], 'feature')}"
            return f"Adds one matrix, {text}, to this session (about {size})"
        text = f"{counted(found.n_samples, 'sample')}, {format_count(found.n_common)} of them in every view"
        return f"Adds {counted(n, 'view')} of {text} (about {size})"


def _row(found: Finding) -> FixRow:
    fix = (found.fix[0], "fix", found.fix[1]) if found.fix else None
    return FixRow(Issue(found.severity, found.message, found.detail, fix=fix), found.applied)


def _silent(view: ViewFacts) -> FixRow:
    """Features of which a fit can learn nothing."""
    known = [
        (view.n_constant, agree(view.n_constant, "never varies", "never vary")),
        (view.n_empty, agree(view.n_empty, "has no value", "have no value")),
    ]
    text = " and ".join(f"{format_count(number)} {word}" for number, word in known if number)
    what = f"{view.name}: of {counted(view.n_features, 'feature')} {text}"
    return FixRow(Issue("warning", what, "They stay in the data, and tell no samples apart"), False)


def part_line(part: Part, alone: bool) -> str:
    """What is known of a view or table, for the line under its name."""
    if part.use == "nothing":
        return "Cannot be read as it is: see below"
    if part.use != "view":
        word = {"samples": "samples", "features": "features"}[part.use]
        columns = counted(part.n_other, "column")
        return f"{columns} about {word}; {format_count(part.n_matched)} of {format_count(part.n_names)} names match"
    size = f"{counted(part.n_names, 'sample')} × {counted(part.n_other, 'feature')}"
    turned = ", turned" if part.turned else ""
    if alone:
        return size + turned
    if not part.unmatched:
        return f"{size}{turned}; every sample is in another view"
    first = ", ".join(part.unmatched[:3]) + (", …" if len(part.unmatched) > 3 else "")
    return f"{size}{turned}; {format_count(len(part.unmatched))} only here: {first}"
