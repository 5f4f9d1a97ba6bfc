"""Sessions to give away: without the data that the runs were fitted to, or small, to be looked at."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path

from plaidwork.core.draws.chain import ChainRecord
from plaidwork.core.errors import SessionError
from plaidwork.core.inference.run import Run
from plaidwork.core.session.session import Session

_NOTE, _COMPACT = "copied without data", "compact copy"
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
    from plaidwork.core.session.store.session_file import write

    small, said = _copy_of(session, path, data=data), []
    for key, run in list(small.runs.items()):
        if run.active:
            raise SessionError(f"{run.title} is running.", "Stop it first.")
        small.runs[key], text = _thinned(run, draws)
        said += [text] if text else []
    small.note(_COMPACT, draws=draws)
    write(small, path, compact=True)
    return [*said, "No run has the states of its chains: all can be looked at, none can go on."]


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
    text = f"{run.title} keeps {kept} of {most} draws of each chain, by which its convergence is judged here."
    small.say(f"Compact copy. {text}")
    return small, text


def _without_state(record: ChainRecord) -> bool:
    """Whether a chain has sweeps that nothing of it can go on from once its checkpoint is gone."""
    return not record.broken and record.saved is not None and record.saved.sweep > 0
