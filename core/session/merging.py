"""The runs of two sessions in one."""

from __future__ import annotations

from collections.abc import Callable

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.session.session import Session, renamed_inputs


def merge(session: Session, other: Session, digest: Callable[[Dataset], str] = Dataset.digest) -> list[str]:
    """Add the runs, data, searches and notes of ``other`` that ``session`` does not have; titles of the runs added.

    A run of both stays as it is in ``session``. Data of the same name and other content come under another name.
    ``digest`` gives that of a dataset, where it is known already.
    """
    added = []
    for run in other.runs.values():
        if run.id in session.runs:
            continue
        for name in dict.fromkeys(name for names in run.inputs.values() for name in names):
            if name in other.datasets:
                kept = _data(session, other, name, digest)
                run.inputs = renamed_inputs(run.inputs, name, kept)
        run.session = session
        session.runs[run.id] = run
        added.append(run.title)
    used = {name for run in other.runs.values() for names in run.inputs.values() for name in names}
    for name in other.datasets:
        if name not in used:
            _data(session, other, name, digest)
    known = {study.get("id") for study in session.studies}
    session.studies += [study for study in other.studies if study.get("id") not in known]
    if other.notes and other.notes not in session.notes:
        session.notes = "\n\n".join(filter(None, (session.notes, other.notes)))
    session.note("merged", runs=added)
    return added


def _data(session: Session, other: Session, name: str, digest: Callable[[Dataset], str]) -> str:
    """The name under which a dataset of ``other`` is in the session now."""
    dataset = other.datasets[name]
    wanted = digest(dataset)
    for kept in (name, *(key for key in session.datasets if key.startswith(f"{name} "))):
        if kept in session.datasets and digest(session.datasets[kept]) == wanted:
            return kept
    return session.add_dataset(dataset).name
