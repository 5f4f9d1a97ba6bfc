"""Fitted values of an input of a run, computed when they are asked for: a matrix of them may be as large as the data."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from plaidwork.core.contract.model import Model
from plaidwork.core.contract.model_data import Block, ModelData
from plaidwork.core.contract.plugin_info import blamed
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.draws.draws import Kept
from plaidwork.core.draws.summaries import halves
from plaidwork.core.errors import DataError, PluginError, SessionError
from plaidwork.core.findings.naming import Naming
from plaidwork.core.inference.fitting_draws import check_draws
from plaidwork.core.inference.linear_algebra import one_thread
from plaidwork.core.inference.plan import hash_of, joined_inputs, model_data
from plaidwork.core.inference.run import Run
from plaidwork.core.quoting import CsvWriter

if TYPE_CHECKING:
    from plaidwork.core.plugins.registry import Registry

FITTED = "fitted:"
CELLS_COMPARED, MOST_COLUMNS = 2000, 100
"""Cells, and columns of them, in which what two halves of the chains expect is compared."""
CELLS_AT_ONCE = 2_000_000
"""Cells computed in one call of the model while missing ones are listed: two float64 arrays of 16 MB."""


def fitted_inputs(run: Run, datasets: Mapping[str, Dataset]) -> dict[str, tuple[Dataset, ...]]:
    """The datasets of a run, joined as for its fit. Raises ``DataError`` when they are gone or have changed."""
    lost = [name for names in run.inputs.values() for name in names if name not in datasets]
    if lost:
        raise DataError(f"{run.title} was fitted to data that are not here: {', '.join(lost)}.")
    inputs = {key: [datasets[name] for name in names] for key, names in run.inputs.items()}
    found = joined_inputs(run.spec, inputs)
    if hash_of(found) != run.data_hash:
        raise DataError(
            f"The data of {run.title} have changed since it was fitted.",
            "Undo the change, or fit again to the data as they are now.",
        )
    return found


class RunInput:
    """One input of a run beside what was kept, for questions to a hook of the model. For any thread but the window's.

    Nothing is computed before it is asked for, and nothing as large as the data is kept.
    """

    hook: ClassVar[str]
    """The method of the model that answers."""

    def __init__(self, run: Run, name: str, datasets: Mapping[str, Dataset], model: Model | None) -> None:
        self.name = name
        self._run, self._datasets, self._found = run, dict(datasets), model
        self._kept = run.kept()

    @property
    def offered(self) -> bool:
        """Whether the model is here, has the hook, and the run has kept something."""
        return self._found is not None and self._found.offers(self.hook) and self._kept.n_draws > 0

    @property
    def _model(self) -> Model:
        if self._found is None:
            raise SessionError(f"The model “{self._run.spec.id}” is not installed.")
        return self._found

    @cached_property
    def _data(self) -> ModelData:
        run = self._run
        data = model_data(run.spec, fitted_inputs(run, self._datasets), run.seed, run.holdout)
        if self._found is not None:
            check_draws(run, self._found, data)
        return data


class FittedInput(RunInput):
    """The blocks of one input, and what the model expects in their cells."""

    hook = "fitted"

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The matrices of the input, as fitted. Raises ``DataError`` when the data are gone or have changed."""
        found = self._data[self.name]
        return found if isinstance(found, tuple) else (found,)

    def shown_names(self, index: int) -> tuple[list[str], list[str]]:
        """Names of the rows and of the columns of a block as they are shown."""
        naming = Naming(self._run, self._datasets)
        rows, columns = self.blocks[index].names
        return naming.texts(rows), naming.texts(columns)

    def values(self, index: int, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Expected values and standard deviations, each (n, len(columns)), of columns of a block; NaN where untold.

        Raises ``PluginError`` when the model returns anything else, ``SessionError`` when it is not installed.
        """
        return self._compute(self._kept, index, columns)

    def _compute(self, kept: Kept, index: int, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n = self.blocks[index].shape[0]
        with one_thread(), blamed(self._model, "fitted"):
            params = self._model.spec.stored_params(self._run.params)
            mean, sd = self._model.fitted(
                kept, self._data, params, self.name, index, np.asarray(columns, dtype=np.intp)
            )
            mean, sd = np.asarray(mean, dtype=np.float64), np.asarray(sd, dtype=np.float64)
            if mean.shape != (n, len(columns)) or sd.shape != mean.shape:
                raise ValueError(
                    f"fitted() returned shapes {mean.shape} and {sd.shape} for {(n, len(columns))}"
                )
        return mean, sd

    def agreement(self, index: int, rows: np.ndarray, columns: np.ndarray) -> float:
        """Correlation of what two halves of the chains expect in these cells of a block, of :data:`CELLS_COMPARED` at most.

        NaN for a single chain, for restarts, and where the cells are expected to be alike.
        """
        parts = halves(self._kept)
        if parts is None or len(rows) < 3:
            return float("nan")
        some = np.linspace(0, len(rows) - 1, min(len(rows), CELLS_COMPARED)).astype(np.intp)
        used, at = np.unique(columns[some], return_inverse=True)
        used = used[:MOST_COLUMNS]
        inside = at < len(used)
        found = [self._compute(part, index, used)[0][rows[some][inside], at[inside]] for part in parts]
        if min(np.ptp(one) for one in found) <= 0 or not np.isfinite(found).all():
            return float("nan")
        return float(np.corrcoef(found)[0, 1])

    def known(self, index: int, columns: np.ndarray) -> np.ndarray:
        """Values (n, len(columns)) as the fit got them; NaN where a cell is missing or held out."""
        block = self.blocks[index]
        if block.stays:
            return np.asarray(block.values[:, columns])
        if not isinstance(block.values, np.ndarray):
            return np.asarray(block.values[:, columns].toarray(), dtype=np.float64)
        return np.where(block.observed[:, columns], block.values[:, columns], np.nan)

    def missing(self, index: int) -> np.ndarray:
        """(n, m) whether a cell is not known; cells held out from the fit are known, and so are all of sparse data."""
        block = self.blocks[index]
        if not isinstance(block.values, np.ndarray):
            return np.broadcast_to(np.False_, block.shape)
        return ~block.observed if block.held_out is None else ~(block.observed | block.held_out)

    def imputed(
        self, index: int, most: int | None = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        """Missing cells of a block, column by column: (rows, columns, expected, sd) in slices, ``most`` cells in all."""
        gaps = self.missing(index)
        wanted = np.flatnonzero(gaps.any(axis=0))
        step = max(1, CELLS_AT_ONCE // max(1, len(gaps)))
        for start in range(0, len(wanted), step):
            columns = wanted[start : start + step]
            if most is not None:  # no more columns than hold the cells wanted
                enough = np.searchsorted(np.cumsum(gaps[:, columns].sum(axis=0)), most) + 1
                columns = columns[:enough]
            column, row = np.nonzero(gaps[:, columns].T)
            column, row = column[:most], row[:most]
            mean, sd = self.values(index, columns)
            yield row, columns[column], mean[row, column], sd[row, column]
            if most is not None:
                most -= len(row)
                if most <= 0:
                    return


def write_imputed(fitted: FittedInput, path: Path, word: str = "row") -> int:
    """Write all missing cells as CSV (data, ``word``, feature, expected, sd), never half a file; returns their number.

    Raises ``OSError``, and what :meth:`FittedInput.values` raises.
    """
    count = 0
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with open(handle, "w", newline="", encoding="utf-8") as file:
            out = CsvWriter(file)
            out.row(["data", word, "feature", "expected", "sd"])
            for index, block in enumerate(fitted.blocks):
                rows_of, columns_of = fitted.shown_names(index)
                for rows, columns, mean, sd in fitted.imputed(index):
                    count += len(rows)
                    for r, c, m, s in zip(rows, columns, mean.tolist(), sd.tolist(), strict=True):
                        shown = ("" if value != value else repr(value) for value in (m, s))
                        out.row((block.name, rows_of[r], columns_of[c], *shown))
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return count


def imputable(
    run: Run, datasets: Mapping[str, Dataset], plugins: Registry
) -> Iterator[tuple[str, FittedInput]]:
    """Inputs of a run with missing cells that its model can fill in: (dim of the rows, fitted input).

    There are none when the model is not installed, or the data are gone or have changed.
    """
    if not plugins.has(run.spec.id):
        return
    for item in run.spec.inputs:
        if item.kind != "matrix" or not run.inputs.get(item.name):
            continue
        try:
            found = FittedInput(run, item.name, datasets, plugins.model(run.spec.id))
            gaps = found.offered and any(found.missing(k).any() for k in range(len(found.blocks)))
        except (DataError, PluginError, SessionError):
            continue
        if gaps:
            yield item.dims[0], found
