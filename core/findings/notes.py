"""Notes on what a fit has found: blocks, factors, topics. Markdown, kept in the run by dim and number, as their names are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plaidwork.core.contract.model import Result
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.findings.naming import Naming, found_dim
from plaidwork.core.inference.run import Run
from plaidwork.core.pictures.words import headed

MOST = 1_000
"""Items of one dim that may have notes; what was found is numbered from 0."""


def item_note(run: Run, dim: str, number: int) -> str:
    """The note on a found thing; empty where there is none. ``dim`` is any axis of it, ``number`` its place from 0."""
    return run.item_notes.get(found_dim(run.spec, dim), {}).get(str(number), "")


def note_item(run: Run, dim: str, number: int, text: str) -> bool:
    """Keep a note on a found thing; an empty one takes it away. False when that changes nothing or ``dim`` is an axis of the data."""
    base, key = found_dim(run.spec, dim), str(number)
    text = text if text.strip() else ""
    if not base or not 0 <= number < MOST or item_note(run, dim, number) == text:
        return False
    others = {held: note for held, note in run.item_notes.get(base, {}).items() if held != key}
    notes = {**others, key: text} if text else others
    kept = {held: noted for held, noted in run.item_notes.items() if held != base}
    run.item_notes = {**kept, base: notes} if notes else kept
    return True


def noted_items(run: Run, datasets: Mapping[str, Dataset]) -> tuple[tuple[str, str], ...]:
    """The names, as they are shown, of all found things with a note, and the notes, in the order of the model."""
    naming = Naming(run, datasets)
    return tuple((name, text) for dim in run.spec.dims for name, text in _along(run, naming, dim))


def _along(run: Run, naming: Naming, dim: str) -> Iterator[tuple[str, str]]:
    notes = {int(key): text for key, text in run.item_notes.get(dim, {}).items()}
    if notes:
        named = run.results.get(dim)
        known = named.held.size if isinstance(named, Result) and named.held.ndim == 1 else 0
        names = naming.along(dim, max(max(notes) + 1, known))
        yield from ((headed(names[number]), notes[number]) for number in sorted(notes))


def notes_text(run: Run, datasets: Mapping[str, Dataset]) -> str:
    """All notes on a run and on what it found as one text in Markdown; empty where there are none."""
    return "\n\n".join(
        filter(None, (run.notes, *(f"## {name}\n\n{text}" for name, text in noted_items(run, datasets))))
    )


def stored_notes(found: Any) -> dict[str, dict[str, str]]:
    """Notes as a file has them, by dim and number; what is not of that form is left out."""
    dims = found.items() if isinstance(found, Mapping) else ()
    kept = {
        dim: {key: text for key, text in notes.items() if _is_number(key) and isinstance(text, str) and text}
        for dim, notes in dims
        if isinstance(notes, Mapping)
    }
    return {dim: notes for dim, notes in kept.items() if notes}


def _is_number(key: str) -> bool:
    return key.isascii() and key.isdecimal() and len(key) < 4 and str(int(key)) == key
