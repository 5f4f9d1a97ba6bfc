"""Analyses of a run: one group each, with what was asked and what was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import h5py

from plaidwork.core.analysis import AnalysisRecord, AnnotationRef
from plaidwork.core.run import LogLine
from plaidwork.core.spec import View
from plaidwork.core.store.h5 import Reader, Writer, put, text_of
from plaidwork.core.store.results import ResultWriter, read_results
from plaidwork.core.store.schema import link_name

_TEXTS = ("id", "analysis", "version", "title", "created", "inputs_hash")


def write_analyses(
    writer: Writer, group: h5py.Group, records: Sequence[AnalysisRecord], labels: Mapping[str, Sequence[str]]
) -> None:
    """Fill an empty group with the records, in their order."""
    for order, record in enumerate(records):
        inner = group.create_group(link_name(record.id))
        texts = {name: getattr(record, name) for name in _TEXTS}
        put(inner, order=order, draws=record.draws, seconds=float(record.seconds), **texts)
        about = {
            "params": record.params,
            "inputs": record.inputs,
            "annotations": {name: asdict(ref) for name, ref in record.annotations.items()},
            "views": [asdict(view) for view in record.views],
            "log": [asdict(line) for line in record.log],
        }
        writer.json(inner, "about", about)
        results = ResultWriter(writer, inner.create_group("results"), labels)
        for number, (name, result) in enumerate(record.results.items()):
            results.write(name, result, number)


def read_analyses(reader: Reader, run: h5py.Group) -> list[AnalysisRecord]:
    """The analyses of a run's group; none in files that were written before there were any."""
    if "analyses" not in run:
        return []
    children = reader.group(run, "analyses").values()
    groups = sorted(
        (child for child in children if "order" in child.attrs), key=lambda child: int(child.attrs["order"])
    )
    return [_read(reader, group) for group in groups]


def _read(reader: Reader, group: h5py.Group) -> AnalysisRecord:
    about = reader.json(group["about"])
    return AnalysisRecord(
        **{name: text_of(group, name) for name in _TEXTS},
        params={
            name: tuple(value) if isinstance(value, list) else value
            for name, value in about["params"].items()
        },
        inputs={name: tuple(names) for name, names in about["inputs"].items()},
        annotations={name: AnnotationRef(**ref) for name, ref in about["annotations"].items()},
        results=read_results(reader, reader.group(group, "results")),
        views=tuple(View(**view) for view in about["views"]),
        log=tuple(LogLine(**line) for line in about["log"]),
        draws=int(group.attrs["draws"]),
        seconds=float(group.attrs["seconds"]),
    )
