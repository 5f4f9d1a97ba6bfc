"""One run as a group: declaration and settings, draws, traces, checkpoints, results, log."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import h5py
import numpy as np

from plaidwork.core.contract.hyperparameter import DeclarationError
from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.contract.spec_json import spec_from_json, spec_to_json
from plaidwork.core.contract.typed import UnfitError, built, fitting
from plaidwork.core.draws.chain import ChainRecord, Checkpoint
from plaidwork.core.draws.counting import counted
from plaidwork.core.draws.draws import ChainView
from plaidwork.core.errors import SessionError, SettingError
from plaidwork.core.findings.naming import names_of_old_sessions
from plaidwork.core.findings.notes import stored_notes
from plaidwork.core.hdf5.h5 import Reader, Writer, number_of, put, share_of, text_of
from plaidwork.core.hdf5.stored import StoredValue
from plaidwork.core.hdf5.values import read_value, write_value
from plaidwork.core.inference.run import CHANGING, STATUSES, LogLine, Run, is_moment
from plaidwork.core.session.store.analyses import read_analyses, write_analyses
from plaidwork.core.session.store.chosen import stored_names, stored_settings
from plaidwork.core.session.store.inference import read_draws, write_inference
from plaidwork.core.session.store.results import ResultWriter, read_results

Labels = Mapping[str, Sequence[str]]


def write_run(writer: Writer, group: h5py.Group, run: Run, labels: Labels) -> None:
    """Fill an empty group. A chain under way is written up to its last checkpoint."""
    with CHANGING:  # once: the chains may go on
        schedule, goal = run.schedule, run.goal
        saved = [record.saved for record in run.chains]
        views = [view_to_store(record, at) for record, at in zip(run.chains, saved, strict=True)]
    status = "stopped" if run.active else run.status
    attrs = {
        "model": run.spec.id,
        "model_version": run.spec.version,
        "state_version": run.spec.state_version,
        "title": run.title,
        "status": status,
        "seed": run.seed,
        "chains": len(run.chains),
        "holdout": float(run.holdout),
        "created": run.created,
        "cpu_seconds": float(run.cpu_seconds),
        "data_hash": run.data_hash,
        "results_draws": run.results_draws,
    }
    put(group, **attrs)
    for name, value in (
        ("declaration", spec_to_json(run.spec)),
        ("params", run.params),
        ("schedule", asdict(schedule)),
        ("inputs", run.inputs),
        ("environment", run.environment),
        ("view_settings", run.view_settings),
    ):
        writer.json(group, name, value)
    if goal is not None:
        writer.json(group, "goal", asdict(goal))
    if run.item_names:
        writer.json(group, "item_names", run.item_names)
    if run.item_notes:
        writer.json(group, "item_notes", run.item_notes)
    writer.text(group, "notes", run.notes)
    _write_log(writer, group.create_group("log"), list(run.log))
    inference = group.create_group("inference")
    write_inference(writer, group, inference, run.spec, views, schedule.left_out, labels)
    _write_traces(writer, group.create_group("traces"), run, views, saved)
    checkpoints = group.create_group("checkpoint")
    for record, at in zip(run.chains, saved, strict=True):
        if at is not None and not writer.compact:
            _write_checkpoint(writer, checkpoints.create_group(f"chain_{record.chain}"), at)
    results = ResultWriter(writer, group.create_group("results"), labels)
    for order, (name, result) in enumerate(dict(run.results).items()):
        results.write(name, result, order)
    if run.analyses:
        write_analyses(writer, group.create_group("analyses"), list(run.analyses), labels)


def view_to_store(record: ChainRecord, saved: Checkpoint | None) -> ChainView:
    """What is written of a chain: all of one that failed or has no state any more, else what belongs to its last checkpoint."""
    if record.broken or record.stateless:
        return record.view()
    if saved is None:
        return replace(record.view(), n_draws=0, n_sweeps=0, kept_sweeps=np.empty(0, np.int64))
    return record.view(saved)


def _write_log(writer: Writer, group: h5py.Group, lines: list[LogLine]) -> None:
    for name in ("time", "level", "text"):
        writer.texts(group, name, [getattr(line, name) for line in lines])


def _write_traces(
    writer: Writer, group: h5py.Group, run: Run, views: list[ChainView], saved: list[Checkpoint | None]
) -> None:
    names = [trace.name for trace in run.spec.traces]
    scale = writer.make_scale(writer.labels(group, "trace", names)) if names else None
    for record, view, at in zip(run.chains, views, saved, strict=True):
        rows = record.trace.rows()[: view.n_sweeps]
        dataset = writer.array(group, f"chain_{view.chain}", rows, compress=False)
        dataset.dims[0].label = "sweep"
        dataset.dims[1].label = "trace"
        if scale is not None:
            writer.scale(dataset, 1, scale)
        dataset.attrs["n_draws"] = view.n_draws
        dataset.attrs["broken"] = np.int8(record.broken)
        dataset.attrs["cpu_seconds"] = float(
            record.cpu_seconds if at is None or record.broken else at.cpu_seconds
        )


def _write_checkpoint(writer: Writer, group: h5py.Group, saved: Checkpoint) -> None:
    group.attrs["sweep"] = saved.sweep
    group.attrs["n_draws"] = saved.n_draws
    group.attrs["cpu_seconds"] = float(saved.cpu_seconds)
    group.attrs["converged"] = np.int8(saved.converged)
    writer.json(group, "rng", _decimal(saved.rng))
    held = saved.held
    sums = held.copy_to(group, "state") if isinstance(held, StoredValue) else None
    if sums is None:
        write_value(writer, group, "state", saved.state)
    else:
        writer.sums.update(sums)


def _decimal(value: Any) -> Any:
    """Whole numbers as decimal texts: those of a generator have 128 bits, too many for other readers of JSON."""
    if isinstance(value, Mapping):
        return {key: _decimal(item) for key, item in value.items()}
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return str(int(value))
    return value


def _numbers(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _numbers(item) for key, item in value.items()}
    return int(value) if isinstance(value, str) and value.isdecimal() else value


def read_run(reader: Reader, group: h5py.Group, run_id: str) -> Run:
    """The run back, its chains ready to go on. Raises ``SessionError``."""
    spec = _named_place(reader, group, "declaration", spec_from_json)
    schedule = _named_place(reader, group, "schedule", partial(built, Schedule))
    seed, chains = number_of(group, "seed"), number_of(group, "chains", 1, _MOST_CHAINS)
    status = str(group.attrs["status"])
    if status not in STATUSES:
        raise SessionError(f"“{group.name}” has the status “{status[:40]}”.")
    records = [ChainRecord(spec, schedule, seed, chain) for chain in range(chains)]
    _read_chains(reader, group, records)
    view_settings = reader.json(group["view_settings"])
    older = names_of_old_sessions(spec, view_settings) if isinstance(view_settings, dict) else {}
    run = Run(
        id=run_id,
        title=text_of(group, "title"),
        spec=spec,
        params=_named_place(reader, group, "params", partial(_params, spec)),
        schedule=schedule,
        goal=_named_place(reader, group, "goal", partial(built, Schedule)) if "goal" in group else None,
        seed=seed,
        holdout=share_of(group, "holdout"),
        inputs=_named_place(reader, group, "inputs", partial(fitting, wanted=_NAMES, at="")),
        data_hash=str(group.attrs["data_hash"]),
        chains=records,
        status=status,
        results=read_results(reader, reader.group(group, "results")),
        results_draws=number_of(group, "results_draws"),
        log=_read_log(reader, reader.group(group, "log")),
        created=str(group.attrs["created"]),
        notes=reader.text(group["notes"]),
        environment=_named_place(reader, group, "environment", partial(fitting, wanted=_TEXTS, at="")),
        view_settings=stored_settings(view_settings),
        item_names=stored_names(reader.json(group["item_names"]) if "item_names" in group else older),
        item_notes=stored_notes(reader.json(group["item_notes"])) if "item_notes" in group else {},
        analyses=read_analyses(reader, group),
        foreign=True,
    )
    run.stored_results = run.results
    return run


_MOST_CHAINS = 64
_NAMES, _TEXTS = Mapping[str, tuple[str, ...]], Mapping[str, str]


def _named_place(reader: Reader, group: h5py.Group, name: str, make: Callable[[Any], Any]) -> Any:
    """What a record of the run is made into. Raises ``SessionError`` that names the record and what of it is not as it should be."""
    found = reader.json(group[name])
    try:
        return make(found)
    except (UnfitError, DeclarationError, SettingError) as error:
        raise SessionError(f"“{reader.at}” is not what was expected: {str(error).rstrip('.')}.") from error


def _params(spec: Any, stored: Any) -> dict[str, Any]:
    """Settings in canonical type (JSON has no tuples)."""
    stored = fitting(stored, Mapping[str, Any], "")
    values = {p.name: p.check(stored[p.name]) for p in spec.hyperparameters if p.name in stored}
    return {**stored, **values}


def _read_log(reader: Reader, group: h5py.Group) -> list[LogLine]:
    columns = [reader.array(group[name]) for name in ("time", "level", "text")]
    if (
        any(column.dtype.kind != "O" or column.ndim != 1 for column in columns)
        or len({*map(len, columns)}) > 1
    ):
        shapes = ", ".join(f"{column.dtype} {column.shape}" for column in columns)
        raise SessionError(f"“{group.name}” has the columns {shapes}, expected texts, as many in each.")
    lines = [LogLine(*line) for line in zip(*(column.tolist() for column in columns), strict=True)]
    for number, line in enumerate(lines, 1):
        if not is_moment(line.time):
            raise SessionError(
                f"line {number} of “{group.name}” has the time “{line.time[:40]}”, expected one of ISO 8601."
            )
    return lines


def _read_chains(reader: Reader, group: h5py.Group, records: list[ChainRecord]) -> None:
    traces = reader.group(group, "traces")
    counts = []
    for record in records:
        dataset = traces[f"chain_{record.chain}"]
        rows = reader.array(dataset)
        names = record.trace.names
        if rows.ndim != 2 or rows.shape[1] != len(names) or rows.dtype.kind not in "fiu":
            raise SessionError(
                f"“{dataset.name}” is {rows.dtype} of the shape {rows.shape}, expected numbers of {counted(len(names), 'trace')}."
            )
        record.trace.extend(rows)
        record.sweep = len(rows)
        record.broken = bool(dataset.attrs["broken"])
        record.cpu_seconds = share_of(dataset, "cpu_seconds", np.inf)
        counts.append(number_of(dataset, "n_draws"))
    read_draws(reader, group, records[0].spec, records, counts)
    for record in records:
        _check_sweeps(group, record)
    checkpoints = reader.group(group, "checkpoint")
    for record in records:
        name = f"chain_{record.chain}"
        if name in checkpoints:
            saved = _read_checkpoint(reader, checkpoints[name])
            if record.broken:
                record.saved = saved
            else:
                record.restore(saved)
        else:
            record.stateless = record.sweep > 0 and not record.broken


def _check_sweeps(group: h5py.Group, record: ChainRecord) -> None:
    """By the schedule each draw is that of a sweep, which the traces must have. Raises ``SessionError``."""
    last = int(record.view().kept_sweeps.max(initial=-1))
    if last >= record.sweep:
        raise SessionError(
            f"“{group.name}/schedule” places the last draw of chain {record.chain + 1} at sweep {last + 1}, "
            f"expected one of the {record.sweep} in “{group.name}/traces”."
        )


def _read_state(reader: Reader, thing: Any) -> Any:
    """The state, or, of a file that is read by parts, what reads it when somebody goes on from it."""
    if reader.parts is None:
        return read_value(reader, thing)
    return StoredValue(reader.parts, thing, lambda again: read_value(Reader(again.file, sealed=True), again))


def _read_checkpoint(reader: Reader, group: h5py.Group) -> Checkpoint:
    return Checkpoint(
        sweep=number_of(group, "sweep"),
        n_draws=number_of(group, "n_draws"),
        state=_read_state(reader, group["state"]),
        rng=_numbers(json.loads(reader.text(group["rng"]))),
        cpu_seconds=float(group.attrs["cpu_seconds"]),
        converged=bool(group.attrs["converged"]),
        foreign=True,
    )
