"""The command ``resume``: goes on with a stored run, or with a study that was cut off."""

from __future__ import annotations

import argparse
from pathlib import Path

from plaidwork.core.cli import pairs, studying
from plaidwork.core.cli.fitting import find_run, fit_and_save
from plaidwork.core.cli.leaving import back
from plaidwork.core.cli.printing import warn
from plaidwork.core.cli.running import Executors, executors
from plaidwork.core.cli.saving import session_or_unsaved
from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.errors import SessionError, SettingError
from plaidwork.core.inference.run import Run
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.session import Session
from plaidwork.core.study import StudyRecord, study_records


def resume(options: argparse.Namespace) -> int:
    """``plaidwork resume S.plaidwork [--draws N] [--run TITLE]``; writes the same file unless --out is given.

    A session whose study was cut off goes on with the study.
    """
    out = pairs.check_output(options.out or options.session, options.force or options.out is None)
    session = session_or_unsaved(options.session, options.any_size)
    if session.read_only and options.out is None:
        raise SessionError(
            f"{options.session} can only be read: {session.read_only}", "Add --out to write another."
        )
    if options.draws < 0:
        raise SettingError(f"--draws must be at least 0. Found “{options.draws}”.")
    record = None if options.run or options.draws or options.budget else _cut_study(session)
    if record is not None:
        return _go_on(session, record, out, options)
    chosen = find_run(session, options.run)
    with back(session, chosen, options) as runs:
        return _go_on_with(session, chosen, out, runs, options)


def _go_on_with(
    session: Session, chosen: Run, out: Path, runs: Executors, options: argparse.Namespace
) -> int:
    """Go on with a run, with what was asked for beyond what it has planned."""
    if options.draws:
        chosen.extend(options.draws)
    if options.budget:
        chosen.go_on(options.budget)
    plan = session.plan_of(chosen, registry())
    if not chosen.resumable and not options.budget and not chosen.results:
        return fit_and_save(session, chosen, plan, out, runs, options.json)  # it has ended elsewhere
    if not chosen.resumable and not options.budget:
        more = "Add --draws N for N more draws per chain, or --budget SECONDS to go on until it has settled."
        raise SettingError(f"{chosen.title} is done.", more)
    return fit_and_save(session, chosen, plan, out, runs, options.json)


def _cut_study(session: Session) -> StudyRecord | None:
    """The last study that has fits to do."""
    return next(
        (
            record
            for record in reversed(study_records(session.studies))
            if any(job.to_do for job in record.jobs)
        ),
        None,
    )


def _go_on(session: Session, record: StudyRecord, out: Path, options: argparse.Namespace) -> int:
    """Go on with a study one fit at a time, keeping as many runs as it has kept."""
    waiting = sum(job.to_do for job in record.jobs)
    warn(
        f"plaidwork: Goes on with “{record.title}”: {waiting} of {counted(len(record.jobs), 'fit')} {agree(waiting, 'is', 'are')} to be done."
    )
    kept = sum(job.ended and not job.to_do and job.run_id in session.runs for job in record.jobs)
    options.metric, options.jobs, options.keep = None, 1, max(1, kept)
    return studying.go_on(session, record, out, options, executors(options))
