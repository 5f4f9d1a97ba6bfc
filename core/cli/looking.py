"""The commands that look: ``models``, ``info`` and ``export``."""

from __future__ import annotations

import argparse
import math
import re
from typing import Any

from plaidwork.core.cli import pairs
from plaidwork.core.cli.describing import described
from plaidwork.core.cli.fitting import find_run, renderer
from plaidwork.core.cli.printing import tell, tell_json, warn
from plaidwork.core.contract.spec import View
from plaidwork.core.contract.spec_json import spec_to_json
from plaidwork.core.draws.counting import counted
from plaidwork.core.draws.numbers import format_count
from plaidwork.core.draws.solutions import Solution
from plaidwork.core.errors import SettingError
from plaidwork.core.inference.run import Run
from plaidwork.core.plugins.registry import registry
from plaidwork.core.quoting import json_text, shell
from plaidwork.core.session.actions import actions_table
from plaidwork.core.session.bundle import file_name
from plaidwork.core.session.session import Session, open_session
from plaidwork.core.views.printing import drawn_views, view_name


def models(options: argparse.Namespace) -> int:
    """``plaidwork models [MODEL] [--json]``."""
    found = registry()
    specs = found.specs()
    for info in found.plugins:
        if info.state in ("failed", "incompatible"):
            warn(
                f"plaidwork: The plugin {info.title} was left out ({info.state}): {info.message} "
                f"To turn it off: plaidwork plugin disable {shell(info.name)}"
            )
    chosen = found.model(options.model).spec if options.model else None
    if options.json:
        tell_json(spec_to_json(chosen) if chosen else [spec_to_json(spec) for spec in specs], 1)
    elif chosen:
        tell(described(chosen))
    else:
        for spec in specs:
            inputs = ", ".join(item.name for item in spec.inputs if item.required)
            tell(f"{spec.id:<24}{spec.version:<9}{inputs:<12}{spec.title}")
    return 0


def info(options: argparse.Namespace) -> int:
    """``plaidwork info S.plaidwork [--actions] [--json]``."""
    session = open_session(options.session, any_size=options.any_size)
    if options.actions:
        return _actions(session, options.json)
    record = describe(session)
    if options.json:
        tell_json(record, 1)
        return 0
    tell(f"{session.name}  (created {session.created}, {session.uuid})")
    for data in record["datasets"]:
        missing = f", {data['missing']} missing" if data["missing"] else ""
        tell(f"  data  {data['name']}: {data['described']}{missing}")
    for run in record["runs"]:
        stored = session.runs[run["id"]]
        kept = f"{counted(run['draws'], 'draw')}, " if stored.spec.algorithm == "mcmc" else ""
        chains = f"{counted(run['chains'], stored.chain_word)}"
        tell(
            f"  run   {run['title']} ({run['id']}): {run['status']}, {kept}{format_count(run['sweeps'])} of "
            f"{counted(run['planned'], 'sweep')} in {chains}, seed {run['seed']}, {run['cpu_seconds']:.1f} s CPU"
        )
        if run["verdict"]:
            tell(f"        {run['headline']} {run['verdict']}.".rstrip())
    if session.read_only:
        tell(f"  can only be read: {session.read_only}")
    return 0


def _actions(session: Session, as_json: bool) -> int:
    """The record of actions, oldest first."""
    if as_json:
        tell_json(session.history, 1)
        return 0
    for row in zip(*actions_table(session.history).columns.values(), strict=True):
        time, action, about, version = row
        tell(f"{time}  {action:<15} {about}" + (f"  ({version})" if version else ""))
    return 0


def describe(session: Session) -> dict[str, Any]:
    """What a session holds, JSON-ready."""
    return {
        "name": session.name,
        "uuid": session.uuid,
        "created": session.created,
        "read_only": session.read_only,
        "datasets": [
            {"name": data.name, "described": data.described, "shape": list(data.shape), "kind": data.kind,
             "missing": data.n_missing, "file": data.source.file, "sha256": data.source.sha256,
             "steps": [str(step) for step in data.steps]}
            for data in session.datasets.values()
        ],
        "runs": [describe_run(run) for run in session.runs.values()],
        "actions": len(session.history),
    }  # fmt: skip


def describe_run(run: Run) -> dict[str, Any]:
    """What decides the numbers of a run and how far it is, JSON-ready."""
    return {
        "id": run.id,
        "title": run.title,
        "model": run.spec.id,
        "model_version": run.spec.version,
        "status": run.status,
        "resumable": run.resumable,
        "params": {
            name: list(value) if isinstance(value, tuple) else value for name, value in run.params.items()
        },
        "inputs": {name: list(names) for name, names in run.inputs.items()},
        "data_hash": run.data_hash,
        "seed": run.seed,
        "holdout": run.holdout,
        "chains": len(run.chains),
        "warmup": run.schedule.warmup,
        "thin": run.schedule.thin,
        "burn_in": run.schedule.burn_in,
        "budget": None if run.goal is None else run.goal.budget,
        "draws": run.n_draws,
        "sweeps": run.sweeps_done,
        "planned": run.sweeps_planned,
        "cpu_seconds": round(run.cpu_seconds, 3),
        "created": run.created,
        "environment": dict(run.environment),
        "results": sorted(run.results),
        **_conclusion(run),
    }


def _conclusion(run: Run) -> dict[str, Any]:
    """Headline of the results, verdict on the draws and solutions; empty before there are any. Chains count from 1."""
    if not run.n_draws:
        return {"headline": "", "verdict": "", "solutions": []}
    from plaidwork.core.cli.fitting import judged

    headline, verdict, _ = judged(run)
    return {"headline": headline, "verdict": verdict, "solutions": [_plain(one) for one in run.solutions()]}


def _plain(solution: Solution) -> dict[str, Any]:
    """A solution, JSON-ready; None for what is not known."""
    numbers = {
        "weight": solution.weight,
        "objective": solution.level,
        "elpd": solution.elpd,
        "elpd_error": solution.elpd_error,
        "behind": solution.behind,
        "behind_error": solution.behind_error,
    }
    known = {name: value if math.isfinite(value) else None for name, value in numbers.items()}
    return {"chains": [chain + 1 for chain in solution.chains], **known}


def export(options: argparse.Namespace) -> int:
    """``plaidwork export S.plaidwork --to DIR|FILE.h5ad|FILE.h5mu [--run TITLE] [--picture TITLE …]``, or ``FILE --to FILE.npy``."""
    from plaidwork.core.session.annotated import SUFFIXES
    from plaidwork.core.session.exporting import export_session

    if options.to.suffix.lower() == ".npy" and not options.to.is_dir():
        from plaidwork.core.cli.converting import export_npy

        return export_npy(options)
    if options.import_option or options.dtype:
        raise SettingError("--import-option and --dtype go with --to FILE.npy.", "Leave them out.")
    if options.to.suffix.lower() in SUFFIXES and not options.to.is_dir():
        return _export_annotated(options)
    if options.run is not None:
        raise SettingError(
            "--run goes with a file of annotated data.", "A folder gets all runs; or --to FILE.h5ad"
        )
    paper = _paper(options)
    draw = renderer() if options.picture else None
    folder = options.to.expanduser()
    if folder.exists() and not folder.is_dir():
        raise SettingError(f"{folder} is a file.", "Give the name of a folder.")
    if folder.is_dir() and any(folder.iterdir()) and not options.force:
        raise SettingError(f"The folder {folder} is not empty.", "Choose another one, or add --force.")
    session = open_session(options.session, any_size=options.any_size)
    wanted = {run.id: _pictures(session, run, options.picture) for run in session.runs.values()}
    if options.picture and not any(wanted.values()):
        known = ", ".join(
            dict.fromkeys(view_name(v) for r in session.runs.values() for v in drawn_views(session, r))
        )
        raise SettingError(f"No run has a view “{options.picture[0]}”.", f"There are: {known or 'none'}.")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "session.json").write_text(json_text(describe(session), 1), encoding="utf-8")
    files = export_session(session, folder, False if options.no_guard else None, warn)
    if draw is not None:
        for run in session.runs.values():
            pictures = folder / "runs" / file_name(run.title) / "pictures"
            for view in wanted[run.id]:
                name = file_name(view_name(view).replace("/", " "))
                files.append(draw(session, run, view, pictures / f"{name}.{options.format}", **paper))
    tell(f"Wrote {counted(len(files) + 1, 'file')} to {folder.absolute()}")
    return 0


def _export_annotated(options: argparse.Namespace) -> int:
    """A run and its data as one file."""
    from plaidwork.core.session.exporting import export_annotated

    if options.picture:
        raise SettingError("--picture needs a folder.", "Leave it out, or give --to the name of a folder.")
    path = pairs.check_output(options.to, options.force)
    session = open_session(options.session, any_size=options.any_size)
    tell(f"Wrote {export_annotated(find_run(session, options.run), path, session).absolute()}")
    return 0


def _pictures(session: Session, run: Run, titles: list[str]) -> list[View]:
    """Views that were asked for, by title, by group and title, or ``all``."""
    wanted = {title.casefold() for title in titles}
    return [
        view
        for view in drawn_views(session, run)
        if run.results and wanted & {"all", view.title.casefold(), view_name(view).casefold()}
    ]


def _paper(options: argparse.Namespace) -> dict[str, Any]:
    """What the options say of the paper, for ``Paper``; what is left out is as there."""
    given = {"dpi": options.dpi, "scheme": options.theme, "points": options.points}
    paper: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if options.size:
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*[x×]\s*(\d+(?:\.\d+)?)", options.size.strip())
        if found is None:
            raise SettingError(f"--size needs width and height in mm, as 170x105. Found “{options.size}”.")
        paper |= {"width": float(found[1]), "height": float(found[2])}
    limits = {"dpi": (30, 2400), "points": (3, 60), "width": (20, 2000), "height": (20, 2000)}
    for name, (low, high) in limits.items():
        if not low <= paper.get(name, low) <= high:
            option = "--size" if name in ("width", "height") else f"--{name}"
            raise SettingError(f"{option} goes from {low} to {high}. Found “{paper[name]:g}”.")
    return paper | {"titled": not options.no_title, "origin": options.provenance}
