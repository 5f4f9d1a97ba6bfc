"""Analyses of a run: one group each, with the request and what was found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import h5py
import numpy as np

from plaidwork.core.contract.spec import View
from plaidwork.core.contract.typed import UnfitError, built
from plaidwork.core.errors import SessionError
from plaidwork.core.findings.analysis import AnalysisRecord
from plaidwork.core.findings.annotations import AnnotationRef
from plaidwork.core.findings.attached import AttachedFile
from plaidwork.core.hdf5.h5 import Reader, Writer, number_of, put, share_of, text_of
from plaidwork.core.hdf5.schema import link_name
from plaidwork.core.inference.run import LogLine
from plaidwork.core.session.store.results import ResultWriter, read_results

_TEXTS = ("id", "analysis", "version", "title", "created", "inputs_hash")
_FILES = "files"


def write_analyses(
    writer: Writer, group: h5py.Group, records: Sequence[AnalysisRecord], labels: Mapping[str, Sequence[str]]
) -> None:
    """Fill an empty group with the records, in their order; a file that several have read is written once."""
    files = {file.sha256: file for record in records for file in record.files.values()}
    if files:
        kept = group.create_group(_FILES)
        for sha256, file in files.items():
            writer.array(kept, sha256, np.frombuffer(file.content, np.uint8), fletcher=True)
    for order, record in enumerate(records):
        inner = group.create_group(link_name(record.id))
        texts = {name: getattr(record, name) for name in _TEXTS}
        put(inner, order=order, draws=record.draws, seconds=float(record.seconds), **texts)
        about = {
            "params": record.params,
            "inputs": record.inputs,
            "annotations": {
                name: [asdict(one) for one in ref] if isinstance(ref, tuple) else asdict(ref)
                for name, ref in record.annotations.items()
            },
            "files": {
                name: {"name": file.name, "sha256": file.sha256} for name, file in record.files.items()
            },
            "standing": record.standing,
            "exploratory": record.exploratory,
            "views": [asdict(view) for view in record.views],
            "log": [asdict(line) for line in record.log],
        }
        writer.json(inner, "about", about)
        results = ResultWriter(writer, inner.create_group("results"), labels)
        for number, (name, result) in enumerate(record.results.items()):
            results.write(name, result, number)


@dataclass(frozen=True)
class _FileName:
    name: str
    sha256: str


@dataclass(frozen=True)
class _About:
    """What is told of an analysis beside its results."""

    params: Mapping[str, Any]
    inputs: Mapping[str, tuple[str, ...]]
    annotations: Mapping[str, AnnotationRef | tuple[AnnotationRef, ...]]
    views: tuple[View, ...]
    log: tuple[LogLine, ...]
    files: Mapping[str, _FileName] = field(default_factory=dict)
    standing: str = ""
    exploratory: bool = False


def read_analyses(reader: Reader, run: h5py.Group) -> list[AnalysisRecord]:
    """The analyses of a run's group; none in files that were written before there were any. Raises ``SessionError``."""
    if "analyses" not in run:
        return []
    children = reader.group(run, "analyses").values()
    groups = sorted(
        (child for child in children if "order" in child.attrs), key=lambda child: number_of(child, "order")
    )
    contents = {}
    if _FILES in run["analyses"]:
        kept = reader.group(run["analyses"], _FILES)
        contents = {sha256: reader.array(kept[sha256]).tobytes() for sha256 in kept}
    return [_read(reader, group, contents) for group in groups]


def _file(about: _FileName, contents: Mapping[str, bytes]) -> AttachedFile:
    found = AttachedFile(about.name, about.sha256, contents.get(about.sha256, b""))
    if not found.is_intact:
        raise SessionError(f"The file “{found.name}” of an analysis does not match its checksum.")
    return found


def _read(reader: Reader, group: h5py.Group, contents: Mapping[str, bytes]) -> AnalysisRecord:
    record = reader.json(group["about"])
    try:
        about = built(_About, record)
    except UnfitError as error:
        raise SessionError(f"“{reader.at}” is not what was expected: {error}.") from error
    return AnalysisRecord(
        **{name: text_of(group, name) for name in _TEXTS},
        params={
            name: tuple(value) if isinstance(value, list) else value for name, value in about.params.items()
        },
        inputs=about.inputs,
        annotations=about.annotations,
        files={name: _file(file, contents) for name, file in about.files.items()},
        standing=about.standing,
        exploratory=about.exploratory,
        results=read_results(reader, reader.group(group, "results")),
        views=about.views,
        log=about.log,
        draws=number_of(group, "draws"),
        seconds=share_of(group, "seconds", math.inf),
        stored=True,
    )
