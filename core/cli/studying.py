"""The command ``study``: a grid of settings and seeds, ranked."""

from __future__ import annotations

import argparse
import math
import sys
from functools import partial

from plaidwork.core.cli import pairs
from plaidwork.core.cli.fitting import job_of, make_executor, stops
from plaidwork.core.cli.progress import emit
from plaidwork.core.errors import ModelError, SettingError
from plaidwork.core.registry import registry
from plaidwork.core.session import Session
from plaidwork.core.spec import Hyperparameter, ModelSpec
from plaidwork.core.study import Metric, Study, StudyJob

DONE, STOPPED = 0, 4


def study(options: argparse.Namespace) -> int:
    """``plaidwork study MODEL --input … --grid NAME=V1,V2 --seeds 1,2 --out S.plaidwork``."""
    out = pairs.check_output(options.out, options.force)
    job = job_of(options)
    model = registry().model(job.model)
    if options.keep < 0:
        raise SettingError(f"--keep must be at least 0. Found “{options.keep}”.")
    grid = _grid(model.spec, options.grid)
    primary = model.spec.primary_trace
    source = options.metric or (primary.name if primary is not None else "")
    if not source:
        raise SettingError(f"{model.spec.title} has no primary trace.", "Add --metric NAME.")
    metric = Metric(source, goal=options.goal or "")
    planned = Study.grid(
        model,
        job.load(model.spec),
        grid,
        seeds=_seeds(options.seeds) or (options.seed,),
        schedule=model.spec.schedule.with_(**job.schedule),
        metric=metric,
        hyperparameters=job.settings,
        holdout=job.holdout,
    )
    with stops(planned.control):
        for ended in planned.iterate(
            partial(make_executor, options.executor), at_once=options.jobs, keep=options.keep
        ):
            _tell(planned, ended, options.json)
    session = Session(name=out.stem)
    planned.add_to(session)
    saved = session.save(out)
    best = planned.best
    if options.json:
        number = None if best is None else best.number
        emit("saved", path=str(saved.absolute()), best=number, study=planned.to_json())
    else:
        _print_ranked(planned)
        print(f"Session: {saved.absolute()}")
    if best is None and not planned.control.stopping:
        told = next((item.message for item in planned.jobs if item.message), "")
        raise ModelError("No job of the study ended with a number to rank it by.", told)
    return STOPPED if planned.control.stopping else DONE


def _grid(spec: ModelSpec, texts: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for text in texts:
        name, value = pairs.pair(text, "--grid")
        if name in found:
            raise SettingError(f"--grid {name} is given twice.")
        found[name] = _split(spec.hyperparameter(name), value)
    return found


def _split(parameter: Hyperparameter, text: str) -> list[str]:
    mark = ";" if parameter.kind in ("array", "text") else ","
    return [part.strip() for part in text.split(mark) if part.strip()]


def _seeds(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise SettingError(f"--seeds needs whole numbers with commas between. Found “{text}”.") from None


def _tell(planned: Study, job: StudyJob, as_json: bool) -> None:
    metric = None if math.isnan(job.metric) else job.metric
    if as_json:
        values = {name: job.params[name] for name in planned.varied}
        emit(
            "job",
            number=job.number,
            of=len(planned.jobs),
            settings=values,
            seed=job.seed,
            status=job.status,
            metric=metric,
            seconds=round(job.seconds, 3),
            message=job.message,
        )
    else:
        ended = sum(other.ended for other in planned.jobs)
        print(f"{ended}/{len(planned.jobs)}  {_line(planned, job)}", file=sys.stderr)


def _line(planned: Study, job: StudyJob) -> str:
    what = planned.name_of(job).removeprefix(f"{planned.title}: ")
    value = "no number" if math.isnan(job.metric) else f"{planned.metric.name} {job.metric:.6g}"
    return f"{what}  {job.status}  {value}  {job.seconds:.1f} s  {job.message}".rstrip()


def _print_ranked(planned: Study) -> None:
    for place, job in enumerate(planned.ranked(), start=1):
        print(f"{place:>4}  {_line(planned, job)}")
