"""The command ``analyse``: work beyond the fit, on a stored run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from plaidwork.core.analysing import run_analysis
from plaidwork.core.cli import pairs
from plaidwork.core.cli.fitting import find_run, stops
from plaidwork.core.cli.printing import rewrite, tell, warn
from plaidwork.core.cli.progress import emit
from plaidwork.core.cli.saving import save
from plaidwork.core.data.annotate import annotate_all
from plaidwork.core.data.annotation_inputs import parse_column
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import SessionError, SettingError
from plaidwork.core.findings.analysis import AnalysisRecord, AnalysisSpec
from plaidwork.core.findings.annotations import ALL, available_annotations
from plaidwork.core.findings.unlocking import ACTION as UNLOCKED
from plaidwork.core.findings.unlocking import standing
from plaidwork.core.inference.executor import Control
from plaidwork.core.inference.run import Run
from plaidwork.core.plugins.registry import registry
from plaidwork.core.quoting import guarded_text
from plaidwork.core.session.bundle import BundleWriter
from plaidwork.core.session.session import Session, open_session

DONE, STOPPED = 0, 4


class _Stopped(Exception):
    """Raised through an analysis when the user wants it to end."""


def analyse(options: argparse.Namespace) -> int:
    """``plaidwork analyse S.plaidwork [ANALYSIS]``; without one those that the run can have are listed."""
    session = open_session(options.session, any_size=options.any_size)
    run = find_run(session, options.run)
    if options.analysis is None:
        return _list(run, session, options.json)
    out = pairs.check_output(options.out or options.session, options.force or options.out is None)
    if session.read_only and options.out is None:
        raise SessionError(
            f"{options.session} can only be read: {session.read_only}", "Add --out to write another."
        )
    folder = _folder(options.to, options.force)
    analysis = registry().analysis(options.analysis)
    for path in options.labels:
        _add_labels(session, run, path)
    inputs = _inputs(analysis.spec, session, options)
    control = Control()

    def report(share: float) -> None:
        if control.stopping:
            raise _Stopped
        if not options.json and sys.stderr.isatty():
            rewrite(f"{100 * share:3.0f} %")

    opened = _openings(session)
    try:
        with stops(control):
            record = run_analysis(
                run, analysis, inputs, pairs.settings(options.set), report=report, unlock=options.unlock
            )
    except _Stopped:
        return STOPPED
    finally:
        if _openings(session) > opened:
            save(session, out)  # what was opened stays opened, also when the analysis fails
    if not options.json and sys.stderr.isatty():
        rewrite("")
    saved = save(session, out)
    _tell(record, saved, options.json)
    if folder is not None:
        writer = BundleWriter(folder)
        writer.analysis(record, run, session)
        if writer.guarded:
            warn(guarded_text(writer.guarded))
        if not options.json:
            tell(f"Wrote {counted(len(writer.files), 'file')} to {folder.absolute()}")
    return DONE


def _openings(session: Session) -> int:
    """How often something was opened that can be opened once."""
    return sum(entry["action"] == UNLOCKED for entry in session.history)


def _tell(record: AnalysisRecord, saved: Path, as_json: bool) -> None:
    headline = next((text for view in record.views if (text := record.text(view.headline))), "")
    if as_json:
        emit("analysis", id=record.id, analysis=record.analysis, headline=headline,
             standing=record.standing, exploratory=record.exploratory)  # fmt: skip
        emit("saved", path=str(saved.absolute()))
        return
    for text in filter(None, (f"{headline.removesuffix('.')}." if headline else "", record.standing)):
        tell(text)
    tell(f"{record.title} kept with its run. Session: {saved.absolute()}")


def _folder(path: Path | None, force: bool) -> Path | None:
    """The folder to write results to, once it is sure that it is new or empty."""
    if path is None:
        return None
    path = path.expanduser()
    if path.exists() and not path.is_dir():
        raise SettingError(f"{path} is a file.", "Give the name of a folder.")
    if path.is_dir() and any(path.iterdir()) and not force:
        raise SettingError(f"The folder {path} is not empty.", "Choose another one, or add --force.")
    return path


def _inputs(spec: AnalysisSpec, session: Session, options: argparse.Namespace) -> dict[str, Any]:
    """What was given by name, each option for what it is meant for."""
    found: dict[str, Any] = {}
    many = {declared.name for declared in spec.annotations if declared.many}
    kinds = {
        "--input": ({item.name for item in spec.inputs}, options.input),
        "--annotation": ({item.name for item in spec.annotations}, options.annotation),
        "--file": ({item.name for item in spec.files}, options.file),
    }
    for option, (known, texts) in kinds.items():
        for name, value in _pairs(texts, option):
            if name not in known:
                listed = ", ".join(sorted(known)) or "none"
                raise SettingError(f"{spec.title} has no “{name}” for {option}.", f"Known: {listed}.")
            given: Any = value
            if option == "--input" and (value in session.datasets or not parse_column(value, known - {name})):
                given = session.datasets.get(value, Path(value).expanduser())
            if option == "--input" or (name in many and value != ALL):
                found.setdefault(name, []).append(given)
            else:
                found[name] = given
    return found


def _pairs(texts: Iterable[str], option: str) -> Iterable[tuple[str, str]]:
    return (pairs.pair(text, option) for text in texts)


def _add_labels(session: Session, run: Run, path: Path) -> None:
    names = dict.fromkeys(name for names in run.inputs.values() for name in names)
    datasets = {name: session.datasets[name] for name in names if name in session.datasets}
    found, message = annotate_all(datasets, path.expanduser())
    for name, dataset in found.items():
        session.replace_dataset(name, dataset)
    warn(f"plaidwork: {path.name}: {message}.")


def _list(run: Run, session: Session, as_json: bool) -> int:
    """Analyses that the run can have, what they ask for, and those that were made."""
    specs = registry().analyses_for(run)
    if as_json:
        emit("analyses", run=run.id, offered=[_about(spec, run, session) for spec in specs],
             made=[{"id": made.id, "analysis": made.analysis, "created": made.created} for made in run.analyses])  # fmt: skip
        return DONE
    for spec in specs:
        tell(f"{spec.id:<28}  {spec.title}")
        about = _about(spec, run, session)
        for option in ("input", "annotation", "file"):
            for name, text in about[option].items():
                tell(f"    --{option} {name}=…  {text}".rstrip())
        if about["standing"]:
            tell(f"    {about['standing']}")
    if not specs:
        tell(f"No installed analysis can use the results of {run.title}.")
    for record in run.analyses:
        tell(f"made  {record.created[:16].replace('T', ' ')}  {record.title} ({record.id})")
    return DONE


def _about(spec: AnalysisSpec, run: Run, session: Session) -> dict[str, Any]:
    seen = [session.datasets[n] for names in run.inputs.values() for n in names if n in session.datasets]
    annotations = {}
    for declared in spec.annotations:
        refs = available_annotations(declared, run, session.datasets, spec.needs)
        columns = ", ".join(str(ref) for ref in refs) or "none in the data"
        annotations[declared.name] = f"{'any of ' if declared.many else ''}{columns}"
    return {
        "id": spec.id,
        "title": spec.title,
        "summary": spec.summary,
        "input": {item.name: item.doc or item.title for item in spec.inputs},
        "annotation": annotations,
        "file": {item.name: item.doc or item.title for item in spec.files},
        "settings": {item.name: item.default for item in spec.hyperparameters},
        "standing": standing(spec, run, seen).text,
    }
