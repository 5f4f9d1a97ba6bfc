"""What differs between two sessions: data, runs, searches and notes, as sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from plaidwork.core.contract.model import Result
from plaidwork.core.data.dataset import AXIS_WORDS, Dataset
from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.inference.run import Run
from plaidwork.core.session.session import Session

_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference: of what (``data``, ``run``, ``search``, ``session``), its name, and the sentence about it."""

    kind: str
    name: str
    text: str


def differences(
    one: Session, other: Session, names: tuple[str, str] = ("the first", "the second")
) -> list[Difference]:
    """Everything that somebody could mean by "not the same": empty when both hold the same.

    Data are compared by name; runs by their id, else by model, title and seed. ``names`` are what the sessions are called.
    """
    found = [Difference("data", *item) for item in _datasets(one, other, names)]
    found += [Difference("run", *item) for item in _runs(one, other, names)]
    found += [Difference("search", *item) for item in _searches(one, other, names)]
    if one.notes != other.notes:
        found.append(Difference("session", "notes", "The notes differ."))
    return found


def _only_text(name: str) -> str:
    return f"Only {name} has it."


def _only(here: Iterable[str], there: Iterable[str], names: tuple[str, str]) -> Iterator[tuple[str, str]]:
    """Titles that only one of the two has."""
    here, there = list(here), list(there)
    for title in here:
        if title not in there:
            yield title, _only_text(names[0])
    for title in there:
        if title not in here:
            yield title, _only_text(names[1])


# -- data -------------------------------------------------------------------------------------------
def _datasets(one: Session, other: Session, names: tuple[str, str]) -> Iterator[tuple[str, str]]:
    yield from _only(one.datasets, other.datasets, names)
    for name, data in one.datasets.items():
        if name in other.datasets:
            for text in _dataset(data, other.datasets[name], names):
                yield name, text


def _dataset(one: Dataset, other: Dataset, names: tuple[str, str]) -> Iterator[str]:
    if one.shape != other.shape:
        yield f"{_times(one.shape)} in {names[0]}, {_times(other.shape)} in {names[1]}."
        return
    for axis, (here, there) in enumerate(
        ((one.row_names, other.row_names), (one.column_names, other.column_names))
    ):
        number = sum(a != b for a, b in zip(here, there, strict=True))
        if number:
            yield f"{number} of {len(here)} names of {AXIS_WORDS[axis]} differ."
    if one.kind != other.kind or one.categories != other.categories:
        yield f"Values of another kind: {one.kind} in {names[0]}, {other.kind} in {names[1]}."
    else:
        number = _cells_apart(one, other)
        if number:
            yield f"{number} of {int(np.prod(one.shape))} values differ."
    for axis, (a, b) in enumerate(((one.row_table, other.row_table), (one.column_table, other.column_table))):
        columns = [
            title for title in {**a, **b} if title not in a or title not in b or not _same(a[title], b[title])
        ]
        if columns:
            yield f"Annotation of {AXIS_WORDS[axis]} differs: {_listed(columns)}."
    if [str(step) for step in one.steps] != [str(step) for step in other.steps]:
        yield "Other transformations."


def _times(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape))


def _cells_apart(one: Dataset, other: Dataset) -> int:
    if one.is_sparse and other.is_sparse:
        return int((one.values != other.values).nnz)
    a, b = (item.values.toarray() if item.is_sparse else item.values for item in (one, other))
    return int((~((a == b) | ((a != a) & (b != b)))).sum())


# -- runs -------------------------------------------------------------------------------------------
def _runs(one: Session, other: Session, names: tuple[str, str]) -> Iterator[tuple[str, str]]:
    pairs = list(_paired(one, other))
    matched = {id(run) for pair in pairs for run in pair}
    for session, name in ((one, names[0]), (other, names[1])):
        for run in session.runs.values():
            if id(run) not in matched:
                yield run.title, _only_text(name)
    for here, there in pairs:
        for text in _run(here, there, names):
            yield here.title, text


def _paired(one: Session, other: Session) -> Iterator[tuple[Run, Run]]:
    left = dict(other.runs)
    for run in one.runs.values():
        if run.id in left:
            yield run, left.pop(run.id)
    for run in one.runs.values():
        if run.id in other.runs:
            continue
        key = (run.spec.id, run.title, run.seed)
        match = next((item for item in left.values() if (item.spec.id, item.title, item.seed) == key), None)
        if match is not None:
            yield run, left.pop(match.id)


def _run(one: Run, other: Run, names: tuple[str, str]) -> Iterator[str]:
    titles = {parameter.name: parameter.title for parameter in one.spec.hyperparameters}
    schedules = asdict(one.schedule), asdict(other.schedule)
    changed = [(titles.get(name, name), a, b) for name, a, b in _changed(one.params, other.params)]
    for what, a, b in (
        *changed,
        *((name.replace("_", " ").capitalize(), a, b) for name, a, b in _changed(*schedules)),
        ("Seed", one.seed, other.seed),
        ("Held-out share", one.holdout, other.holdout),
        ("Version of the model", one.spec.version, other.spec.version),
        ("State", one.status, other.status),
        ("Title", one.title, other.title),
        ("Draws that are kept", one.n_draws, other.n_draws),
    ):
        if a != b:
            yield f"{what}: {_short(a)} in {names[0]}, {_short(b)} in {names[1]}."
    if one.data_hash != other.data_hash:
        yield "They were fitted to other data."
    yield from _sweeps(one, other)
    yield from _results(one, other)
    if one.notes != other.notes:
        yield "The notes of the run differ."
    if one.item_names != other.item_names:
        yield "What was found has other names."
    if one.item_notes != other.item_notes:
        yield "The notes on what was found differ."
    ours, theirs = ({record.id for record in run.analyses} for run in (one, other))
    if ours != theirs:
        yield f"Analyses: {len(ours)} in {names[0]}, {len(theirs)} in {names[1]}, {len(ours & theirs)} in both."


def _changed(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Names of which the values differ, with both."""
    for name in {**one, **other}:
        if not _same(one.get(name), other.get(name)):
            yield name, one.get(name), other.get(name)


def _sweeps(one: Run, other: Run) -> Iterator[str]:
    """From which sweep on the chains part, judged by all traces; those that both have."""
    if [trace.name for trace in one.spec.traces] != [trace.name for trace in other.spec.traces]:
        return
    for here, there in zip(one.chains, other.chains, strict=False):
        a, b = here.trace.rows(), there.trace.rows()
        both = min(len(a), len(b))
        apart = np.flatnonzero(
            ~((a[:both] == b[:both]) | (np.isnan(a[:both]) & np.isnan(b[:both]))).all(axis=1)
        )
        if len(apart):
            word = one.chain_word.capitalize()
            yield f"{word} {counted(here.chain + 1, 'part')} at sweep {apart[0] + 1} of {both} that both have."


def _results(one: Run, other: Run) -> Iterator[str]:
    names = [
        name
        for name in {**one.results, **other.results}
        if name not in one.results
        or name not in other.results
        or not _equal(one.results[name], other.results[name])
    ]
    if names:
        yield f"Results differ: {_listed(names)}."


def _equal(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, str):
        return one == other
    if isinstance(one, Result):
        return _same(one.values, other.values)
    return list(one.columns) == list(other.columns) and all(
        _same(column, other.columns[title]) for title, column in one.columns.items()
    )


def _same(one: Any, other: Any) -> bool:
    a, b = np.asarray(one), np.asarray(other)
    if a.shape != b.shape:
        return False
    if a.dtype.kind == b.dtype.kind == "f":
        return bool(np.array_equal(a, b, equal_nan=True))
    return bool(np.all((a == b) | ((a != a) & (b != b))))


# -- searches ---------------------------------------------------------------------------------------
def _searches(one: Session, other: Session, names: tuple[str, str]) -> Iterator[tuple[str, str]]:
    ours, theirs = ({study.get("id"): study for study in session.studies} for session in (one, other))
    for studies, others, name in ((ours, theirs, names[0]), (theirs, ours, names[1])):
        for key, study in studies.items():
            if key not in others:
                yield str(study.get("title", key)), _only_text(name)
    for key, study in ours.items():
        if key in theirs and study != theirs[key]:
            done = [
                sum(job.get("status") == "done" for job in item.get("jobs", ()))
                for item in (study, theirs[key])
            ]
            yield (
                str(study.get("title", key)),
                f"It differs: {done[0]} and {counted(done[1], 'fit')} {agree(done[1], 'is', 'are')} done.",
            )


def _short(value: Any) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _listed(items: list[str], most: int = 6) -> str:
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return "; ".join(items[:most]) + more
