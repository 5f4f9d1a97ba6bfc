"""A session as plain files that any program reads: CSV for numbers, Markdown for texts, JSON for the rest."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from plaidwork.core.contract.model import Result, Results, Table
from plaidwork.core.contract.spec_json import spec_to_json
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.importers._names_beside import write_names
from plaidwork.core.findings.analysis import AnalysisRecord, run_showing
from plaidwork.core.findings.naming import Naming, labels_of_axes, shown_names
from plaidwork.core.findings.notes import notes_text
from plaidwork.core.inference.run import Run
from plaidwork.core.plugins.registry import Registry, registry
from plaidwork.core.quoting import CsvWriter, line
from plaidwork.core.session.session import Session

MOST_IMPUTED = 5_000_000
"""Imputed cells of an input that are exported with a run (some 300 MB)."""


class BundleWriter:
    """Writes into one folder; ``files`` lists what it wrote, ``guarded`` counts the cells that :class:`CsvWriter` guarded."""

    def __init__(self, folder: Path, guard: bool | None = None) -> None:
        self.folder = folder
        self.guard, self.guarded = guard, 0
        self.files: list[Path] = []

    def _path(self, *parts: str) -> Path:
        path = self.folder.joinpath(*parts)
        stem, number = path.stem, 2
        while path in self.files:
            path, number = path.with_name(f"{stem}-{number}{path.suffix}"), number + 1
        path.parent.mkdir(parents=True, exist_ok=True)
        self.files.append(path)
        return path

    def _text(self, text: str, *parts: str) -> None:
        self._path(*parts).write_text(text, encoding="utf-8")

    def _csv(self, head: Sequence[str], rows: Iterable[Sequence[Any]], *parts: str) -> None:
        with self._path(*parts).open("w", newline="", encoding="utf-8") as file:
            out = CsvWriter(file, self.guard)
            out.row(head)
            for row in rows:
                out.row(plain(item) for item in row)
        self.guarded += out.guarded

    def dataset(self, data: Dataset) -> None:
        """Values as a table (sparse ones as row, column, value), annotations beside it."""
        self.matrix(data, "data")
        for axis, names, table in (
            ("rows", data.row_names, data.row_table),
            ("columns", data.column_names, data.column_table),
        ):
            if table:
                self.annotations(names, table, "data", f"{file_name(data.name)}.{axis}.csv")

    def annotations(self, names: Sequence[str], table: Mapping[str, Any], *parts: str) -> None:
        """The table beside an axis, names first."""
        self._csv(("name", *table), zip(names, *table.values()), *parts)

    def matrix(self, data: Dataset, *folder: str) -> None:
        """Values alone."""
        name = file_name(data.name)
        if data.is_sparse:
            cells = data.values.tocoo()
            rows = (
                (data.row_names[i], data.column_names[j], value)
                for i, j, value in zip(cells.row, cells.col, cells.data, strict=True)
            )
            self._csv(("row", "column", "value"), rows, *folder, f"{name}.csv")
        elif data.kind == "categorical":
            labels = (data.categories[code] if code >= 0 else "" for code in data.values)
            self._csv(("name", "label"), zip(data.row_names, labels), *folder, f"{name}.csv")
        else:
            values = data.values.reshape(data.shape[0], -1)
            head = ("name", *(data.column_names or ("value",)))
            self._csv(
                head, ((row, *cells) for row, cells in zip(data.row_names, values)), *folder, f"{name}.csv"
            )

    def market(self, data: Dataset, *folder: str) -> None:
        """A sparse matrix as Matrix Market, with its names in two files beside it, as the importer finds them."""
        from scipy.io import mmwrite

        path = self._path(*folder, f"{file_name(data.name)}.mtx")
        values = data.values.tocsr()
        mmwrite(path, values if data.kind == "real" else values.astype(np.int64), precision=17)
        for axis, names in enumerate((data.row_names, data.column_names)):
            write_names(path, axis, names)

    def run(self, session: Session, run: Run, *folder: str) -> None:
        """Settings, log, notes, traces, draws and results."""
        settings = {
            "params": {name: plain(value) for name, value in run.params.items()},
            "seed": run.seed,
            "holdout": run.holdout,
            "inputs": run.inputs,
            "data_hash": run.data_hash,
            "environment": run.environment,
            "verdict": self._verdict(run, folder),
            "declaration": spec_to_json(run.spec),
        }
        self._text(json.dumps(settings, ensure_ascii=False, indent=1), *folder, "run.json")
        lines = "".join(f"{item.time}  {item.level:<8}{line(item.text)}\n" for item in run.log)
        self._text(lines, *folder, "log.txt")
        notes = notes_text(run, session.datasets)
        if notes:
            self._text(notes, *folder, "notes.md")
        self._traces(run, folder)
        self._draws(run, folder)
        self._results(run, session, run.results, *folder, "results")
        for record in run.analyses:
            self.analysis(record, run, session, *folder, "analyses", file_name(f"{record.title} {record.id}"))
        self._labels(run, session, *folder, "labels")

    def _verdict(self, run: Run, folder: tuple[str, ...]) -> dict[str, str] | None:
        """What the diagnostics say of the run, with their table in a file of its own; None without draws."""
        if not run.n_draws:
            return None
        found = run.diagnosis()
        if found.quantities:
            columns = found.table().columns
            rows = zip(*columns.values(), strict=True)
            self._csv(tuple(columns), rows, *folder, "diagnostics.csv")
        return {"kind": found.verdict.kind, "title": found.verdict.title, "text": found.verdict.text}

    def _labels(self, run: Run, session: Session, *folder: str) -> None:
        """What is shown in place of names: one file for each axis that has labels."""
        for name in dict.fromkeys(name for names in run.inputs.values() for name in names):
            data = session.datasets.get(name)
            if data is None:
                continue
            for axis, names in enumerate((data.row_names, data.column_names)):
                shown = shown_names(data, axis)
                if shown != names:
                    file = f"{file_name(name)}.{('rows', 'columns')[axis]}.csv"
                    self._csv(("name", "shown"), zip(names, shown), *folder, file)

    def analysis(self, record: AnalysisRecord, run: Run, session: Session, *folder: str) -> None:
        """The request (``analysis.json``), the results and the files that were read."""
        about = {
            "analysis": record.analysis,
            "version": record.version,
            "title": record.title,
            "created": record.created,
            "params": {name: plain(value) for name, value in record.params.items()},
            "inputs": record.inputs,
            "annotations": {
                name: [str(one) for one in ref] if isinstance(ref, tuple) else str(ref)
                for name, ref in record.annotations.items()
            },
            "files": {
                name: {"name": file.name, "sha256": file.sha256} for name, file in record.files.items()
            },
            "standing": record.standing,
            "exploratory": record.exploratory,
        }
        self._text(json.dumps(about, ensure_ascii=False, indent=1), *folder, "analysis.json")
        self._results(run_showing(run, record), session, record.results, *folder)
        for file in record.files.values():
            self._path(*folder, "files", file_name(Path(file.name).name)).write_bytes(file.content)

    def _results(self, run: Run, session: Session, stored: Results, *folder: str) -> None:
        """Results under the names that are shown (see :mod:`plaidwork.core.findings.naming`)."""
        naming = Naming(run, session.datasets)
        results = {name: naming.result(name, result) for name, result in stored.items()}
        named = {
            name: [str(text) for text in result.values]
            for name, result in results.items()
            if isinstance(result, Result) and result.dims == (name,) and result.values.dtype.kind in "UO"
        }
        labels = {**named, **labels_of_axes(run, session.datasets)}
        for name, result in results.items():
            match result:
                case str():
                    self._text(result, *folder, f"{file_name(name)}.md")
                case Table():
                    rows = zip(*result.columns.values())
                    self._csv(tuple(result.columns), rows, *folder, f"{file_name(name)}.csv")
                case Result():
                    for dim, size in zip(result.dims, result.values.shape):
                        if naming.renamed(dim):
                            labels.setdefault(dim, naming.along(dim, size))
                    self._array(result.values, result.dims, labels, *folder, file_name(name))

    def imputed(
        self, run: Run, datasets: Mapping[str, Dataset], plugins: Registry | None, *folder: str
    ) -> None:
        """What the model expects in missing cells, one file per input; left out where they are more than MOST_IMPUTED."""
        from plaidwork.core.findings.fitted import imputable, write_imputed

        for word, fitted in imputable(run, datasets, plugins or registry()):
            if sum(int(fitted.missing(k).sum()) for k in range(len(fitted.blocks))) <= MOST_IMPUTED:
                write_imputed(fitted, self._path(*folder, "imputed", f"{file_name(fitted.name)}.csv"), word)

    def _traces(self, run: Run, folder: tuple[str, ...]) -> None:
        if run.chains and run.chains[0].trace.names:
            names = run.chains[0].trace.names
            rows = (
                (record.chain + 1, sweep + 1, *values)
                for record in run.chains
                for sweep, values in enumerate(record.trace.rows())
            )
            self._csv(("chain", "sweep", *names), rows, *folder, "traces.csv")

    def _draws(self, run: Run, folder: tuple[str, ...]) -> None:
        """Scalars in one table; arrays as ``.npz`` with one array per draw when ragged, stacked otherwise."""
        kept = run.kept()
        if not kept.n_draws:
            return
        scalars = [variable for variable in run.spec.variables if not variable.dims]
        if scalars:
            rows = (
                (chain.chain + 1, index + 1, *(chain.draw(variable.name, index) for variable in scalars))
                for chain, index in kept.pairs()
            )
            self._csv(("chain", "draw", *(v.name for v in scalars)), rows, *folder, "draws.csv")
        for variable in run.spec.variables:
            if not variable.dims:
                continue
            if variable.ragged:
                arrays = {
                    f"chain{chain.chain + 1}_draw{index + 1}": chain.draw(variable.name, index)
                    for chain, index in kept.pairs()
                }
            else:
                arrays = {f"chain{chain.chain + 1}": chain.stack(variable.name) for chain in kept.chains}
            np.savez_compressed(self._path(*folder, "draws", f"{variable.name}.npz"), **arrays)  # type: ignore[arg-type]

    def _array(
        self, values: np.ndarray, dims: Sequence[str], labels: Mapping[str, Sequence[str]], *parts: str
    ) -> None:
        """Up to two axes as a table, more as one line per cell."""
        *folder, name = parts
        dims = tuple(dims) + tuple(f"axis_{i + 1}" for i in range(len(dims), values.ndim))
        if values.ndim == 2:
            head = ("name", *_items(labels, dims[1], values.shape[1]))
            rows = ((row, *cells) for row, cells in zip(_items(labels, dims[0], values.shape[0]), values))
            self._csv(head, rows, *folder, f"{name}.csv")
            return
        axes = [_items(labels, dim, size) for dim, size in zip(dims, values.shape)]
        cells = zip(itertools.product(*axes), values.ravel())
        self._csv(
            (*dims[: values.ndim], "value"),
            ((*where, value) for where, value in cells),
            *folder,
            f"{name}.csv",
        )


_RESERVED = re.compile(r"con|prn|aux|nul|(com|lpt)[0-9]", re.IGNORECASE)
"""Names of devices: Windows makes no file of them."""


def _items(labels: Mapping[str, Sequence[str]], dim: str, size: int) -> Sequence[str]:
    names = labels.get(dim, ())
    return names if len(names) == size else [str(i + 1) for i in range(size)]


def plain(value: Any) -> Any:
    """A cell as Python value: bool as 0 or 1, missing as empty, floats with all their digits."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        value = value.item()
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float) and math.isnan(value):
        return ""
    return list(value) if isinstance(value, tuple) else value


def file_name(text: str) -> str:
    """A name that every file system takes."""
    name = re.sub(r"[^\w.+-]+", "-", text).strip("-.") or "unnamed"
    return f"{name}_" if _RESERVED.fullmatch(name.partition(".")[0]) else name
