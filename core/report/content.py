"""What a report is made of: values without layout. All texts are plain, as the session has them; notes are Markdown."""

from __future__ import annotations

from dataclasses import dataclass

PAGE, BESIDE = 812, 396
"""Width of a page, and of one of two figures beside each other, in 1/96 inch."""


@dataclass(frozen=True)
class Drawing:
    """A picture that was drawn: ``media`` is its MIME type, ``width`` and ``height`` are on the page, in 1/96 inch; ``text``
    says it in words."""

    media: str
    data: bytes
    width: int
    height: int
    text: str = ""


@dataclass(frozen=True)
class Figure:
    """A drawing with its words above and below; a ``slight`` one shows a single number, and is not proposed."""

    headline: str
    caption: str
    notes: str
    drawing: Drawing
    slight: bool = False


@dataclass(frozen=True)
class Listed:
    """A table as texts; ``numbers`` are the columns that stand at the right, ``more`` says what was left out."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[int] = frozenset()
    more: str = ""


@dataclass(frozen=True)
class RunPart:
    """A run: what it found, the verdict ("ok", "warn", "error" or nothing), facts by name, and how to repeat it.

    ``settings`` and ``schedule`` are lines of name, value and a note; ``commands`` pairs of what it does and the command.
    """

    id: str
    title: str
    headline: str
    kind: str
    verdict: str
    advice: str
    model: str
    summary: str
    citation: str
    facts: tuple[tuple[str, str], ...]
    settings: Listed
    figures: tuple[Figure, ...]
    tables: tuple[Listed, ...]
    notes: str
    versions: tuple[tuple[str, str], ...]
    commands: tuple[tuple[str, str], ...]
    left_out: tuple[str, ...] = ()
    item_notes: tuple[tuple[str, str], ...] = ()
    """Notes on what was found: its name and the note."""


@dataclass(frozen=True)
class Report:
    """A session: its name, when the report was made and by which version, its data, runs and searches."""

    title: str
    made: str
    notes: str
    data: Listed
    runs: tuple[RunPart, ...]
    searches: tuple[Listed, ...] = ()
