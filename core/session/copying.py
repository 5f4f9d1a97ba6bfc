"""Copies of sessions: without the data that the runs were fitted to, small, or with data that stay in their files."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.importers._text import file_sha256
from plaidwork.core.draws.chain import ChainRecord
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import PlaidworkError, SessionError
from plaidwork.core.inference.run import Run
from plaidwork.core.refusals import why
from plaidwork.core.session.session import Session
from plaidwork.core.session.store.linked import Link, link_of

_NOTE, _COMPACT = "copied without data", "compact copy"
_LINKED, _EMBEDDED = "copied with linked data", "copied with all data"
DRAWS = 500
"""Draws of each chain that a compact copy keeps at most, when nobody says otherwise."""


def save_without_data(session: Session, path: Path) -> Path:
    """Write a copy of a session without its data, their names of rows and columns, and the files that analyses have read.

    Runs keep settings, traces, draws, results and checkpoints, and the fingerprint of their data: beside the same data, under the
    same names, they go on. What results and draws tell of the data stays. The session is not changed. Raises ``SessionError``.
    """
    return _copy_of(session, path, data=False).save(path)


def save_compact(session: Session, path: Path, *, draws: int = DRAWS, data: bool = True) -> list[str]:
    """Write a small copy of a session to look at; what it leaves out, as sentences.

    Of each chain at most ``draws`` draws stay, evenly spread, and no state to go on from; traces, results and analyses stay as they
    are. Without ``data`` it has none of them, as with :func:`save_without_data`. All is packed as small as it goes. The session is
    not changed. Raises ``SessionError``, also while a run is under way.
    """
    from plaidwork.core.session.store.session_saving import write

    small, said = _copy_of(session, path, data=data), []
    for key, run in list(small.runs.items()):
        if run.active:
            raise SessionError(f"{run.title} is running.", "Stop it first.")
        small.runs[key], text = _thinned(run, draws)
        said += [text] if text else []
    small.note(_COMPACT, draws=draws)
    write(small, path, compact=True)
    return [*said, "No run has the states of its chains: all can be looked at, none can go on."]


def save_linked(session: Session, path: Path, folders: Iterable[Path] = ()) -> list[str]:
    """Write a copy whose data stay in the files they were imported from; what became of each dataset, as sentences.

    The files are looked for by name and SHA-256 in ``folders``, then beside the session. Where one is not found, or the same values do
    not come out of it any more (they were edited, joined or counted in texts), the values are in the copy. Names and annotations of
    rows and columns are always there. The session is not changed. Raises ``SessionError``.
    """
    places = [*folders, *([session.path.parent] if session.path is not None else [])]
    made, said = _copy_of(session, path, data=True), []
    for name, dataset in session.datasets.items():
        link = link_of(dataset, session.links)
        try:
            if link is None:
                link = Link.to(dataset, _file_of(dataset, places))
            link.record(path.parent)
        except (PlaidworkError, OSError) as error:
            told = (
                error.message
                if isinstance(error, PlaidworkError)
                else f"{error.filename or name}: {why(error)}."
            )
            said.append(f"“{name}” stays in the session. {told}")
            continue
        made.links[link.digest] = link
        said.append(f"“{name}” is read from {link.file}.")
    made.note(_LINKED, datasets=[link.name for link in made.links.values()])
    made.save(path)
    return said


def save_embedded(session: Session, path: Path) -> list[str]:
    """Write a copy that holds the values of linked data itself; the files that were read, as sentences.

    To call it is to allow that these files are read. The session is not changed. Raises ``SessionError`` when one is missing.
    """
    made, said = _copy_of(session, path, data=True), []
    for name, dataset in session.datasets.items():
        link = link_of(dataset, session.links)
        if link is not None:
            said.append(f"“{name}” was read from {link.file}.")
            link.allowed = True
            made.datasets[name] = dataset.with_(values=dataset.values)
    made.links.clear()
    made.note(_EMBEDDED)
    made.save(path)
    return said


def _file_of(dataset: Dataset, places: Iterable[Path]) -> Path:
    """The file that a dataset was imported from. Raises ``SessionError`` when it is nowhere."""
    if dataset.kind == "categorical" or not dataset.source.file or not dataset.source.sha256:
        raise SessionError("It was not imported from a file of its own.")
    name = Path(dataset.source.file).name
    for place in places:
        file = place / name
        if file.is_file() and file_sha256(file) == dataset.source.sha256:
            return file
    raise SessionError(f"{name} was not found as it was when it was imported.")


def _copy_of(session: Session, path: Path, *, data: bool) -> Session:
    if session.path is not None and path.resolve() == session.path.resolve():
        raise SessionError("The copy would replace the session.", "Give it another name.")
    made = Session(
        name=path.stem,
        created=session.created,
        notes=session.notes,
        studies=list(session.studies),
        history=list(session.history),
    )
    for run in list(session.runs.values()):
        analyses = [record if data else replace(record, files={}) for record in list(run.analyses)]
        made.runs[run.id] = replace(run, analyses=analyses)
    if data:
        made.datasets.update(session.datasets)
        made.links.update(session.links)
    else:
        made.note(_NOTE, datasets=list(session.datasets))
    return made


def _thinned(run: Run, draws: int) -> tuple[Run, str]:
    """A run of its own with at most so many draws of each chain, and the words for it; empty when all stay."""
    most = max((record.draws.count for record in run.chains), default=0)
    every = -(-most // max(draws, 1))
    chains = [copy.copy(record) for record in run.chains]
    small = replace(run, chains=chains, goal=None, log=list(run.log))
    for record in chains:
        record.stateless = _without_state(record)
    if every < 2 or run.spec.algorithm != "mcmc":
        return small, ""
    schedule = run.schedule
    small.lengthen(schedule.with_(thin=schedule.thin * every, draws=max(1, schedule.draws // every)))
    kept = max(record.draws.count for record in chains)
    text = f"{run.title} keeps {kept} of {counted(most, 'draw')} of each chain, by which its convergence is judged here."
    small.say(f"Compact copy. {text}")
    return small, text


def _without_state(record: ChainRecord) -> bool:
    """Whether a chain has sweeps that nothing of it can go on from once its checkpoint is gone."""
    return not record.broken and record.saved is not None and record.saved.sweep > 0
