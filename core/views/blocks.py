"""Blocks of a run: memberships with the matrix that they are of, members at a threshold, names, colours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from plaidwork.core.contract.model import Result
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.glimpse import some_rows
from plaidwork.core.draws.counting import counted
from plaidwork.core.findings.naming import given_name
from plaidwork.core.inference.run import Run
from plaidwork.core.views.block_levels import Levels, levels_of
from plaidwork.core.views.matrices import colour_limits
from plaidwork.core.views.sources import SourceError, Sources, dense
from plaidwork.core.views.strips import Strip, categorical

_AT_ONCE = 1 << 18
"""Cells that are worked on at a time."""
_COLOURS = 6
"""Categories that blocks can have."""
MODES = {
    "levelled": "Data less levels",
    "data": "Data",
    "fit": "Fit",
    "residual": "Residual",
    "coverage": "Coverage",
}


@dataclass(frozen=True)
class BlockData:
    """What was found, as arrays; made in a worker thread.

    ``rows`` (L, n) and ``columns`` (L, m) are probabilities of membership. ``shift`` (L,), ``interval`` (L, 2) and
    ``present`` (L,) are None when the model gives none; ``values`` (n, m) has NaN at missing cells, and only every ``step``-th
    row while the others are being read. ``made`` makes ``fit`` and ``coverage`` (n, m), as large as the values, when they are
    first shown. ``levels`` are those of whole rows and columns where the model has such.
    """

    values: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    row_names: tuple[str, ...]
    column_names: tuple[str, ...]
    row_label: str
    column_label: str
    unit: str
    limits: tuple[float, float]
    centre: float
    clipped: tuple[bool, bool]
    row_means: np.ndarray
    column_means: np.ndarray
    shift: np.ndarray | None = None
    interval: np.ndarray | None = None
    present: np.ndarray | None = None
    shift_unit: str = ""
    made: Mapping[str, Callable[[], np.ndarray]] = field(default_factory=dict)
    strips: dict[str, Strip] = field(default_factory=dict)
    row_notes: tuple[str, ...] = ()
    dim: str = "block"
    step: int = 1
    levels: Levels | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the whole matrix."""
        return self.rows.shape[1], self.columns.shape[1]

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def row_titles(self) -> tuple[str, ...]:
        """Row names with what is noted of them."""
        if not self.row_notes:
            return self.row_names
        pairs = zip(self.row_names, self.row_notes)
        return tuple(f"{name} {note}" if note and note != name else name for name, note in pairs)

    @cached_property
    def ranks(self) -> list[int]:
        """Place of each block from the largest on."""
        sizes = (self.rows >= 0.5).sum(1) * (self.columns >= 0.5).sum(1)
        order = np.argsort(-sizes, kind="stable")
        return [int(np.flatnonzero(order == i)[0]) for i in range(len(self))]

    @property
    def modes(self) -> list[str]:
        """What can be shown, in order."""
        found = ["data"] if self.levels is None else ["levelled", "data"]
        found += ["fit", "residual"] if "fit" in self.made else []
        return found + (["coverage"] if "coverage" in self.made else [])

    @cached_property
    def fit(self) -> np.ndarray:
        """(n, m) what the blocks explain; only where it is among the modes."""
        return self.made["fit"]()

    @cached_property
    def coverage(self) -> np.ndarray:
        """(n, m) probability of being in a block; only where it is among the modes."""
        return self.made["coverage"]()

    def at_hand(self, rows: np.ndarray) -> np.ndarray:
        """Those of some rows whose values were read."""
        return rows if self.step == 1 else rows[rows % self.step == 0]

    def lines(self, mode: str, rows: np.ndarray) -> np.ndarray:
        """(k, m) values of a mode in these rows (k,), which were read."""
        if mode == "data":
            return self.values[rows // self.step]
        if mode == "levelled":
            assert self.levels is not None
            return self.levels.off(self.values[rows // self.step], rows)
        if mode == "coverage":
            return self.coverage[rows]
        return self.fit[rows] if mode == "fit" else self.values[rows // self.step] - self.fit[rows]

    def ordered(self, mode: str, row_order: np.ndarray, column_order: np.ndarray) -> np.ndarray:
        """Float32 values of a mode, these rows and columns in this order, some rows at a time: a matrix may be half of the memory."""
        found = np.empty((len(row_order), len(column_order)), dtype=np.float32)
        for part in row_parts(found.shape):
            lines = self.lines(mode, row_order[part]).astype(np.float32, copy=False)
            np.take(
                lines, column_order, axis=1, out=found[part], mode="clip"
            )  # which is twice as fast as an index
        return found

    def mode_limits(self, mode: str) -> tuple[float, float]:
        """Ends of the colour map: residuals keep the width of the data around 0."""
        if mode == "coverage":
            return 0.0, 1.0
        blocks_alone = self.levels.limits if self.levels else self.limits
        if mode == "residual":
            half = (blocks_alone[1] - blocks_alone[0]) / 2
            return -half, half
        return blocks_alone if mode == "levelled" else self.limits

    def mode_clipped(self, mode: str) -> tuple[bool, bool]:
        """Whether values lie below and above these ends."""
        if self.levels and mode in ("levelled", "residual"):
            return self.levels.clipped
        return (False, False) if mode == "coverage" else self.clipped


def glimpse_blocks(sources: Sources) -> BlockData | None:
    """As `load_blocks`, with the values of some rows of a matrix that takes long to read; None for others."""
    dataset = sources.dataset(_matrix_role(sources))
    found = some_rows(dataset) if dataset is not None else None
    return None if found is None else load_blocks(sources, *found)


def load_blocks(sources: Sources, step: int = 1, part: Any = None) -> BlockData:
    """Resolve the roles of a biclusters view; ``part`` are the values of every ``step``-th row where the others are not read yet.

    Roles: ``matrix``, ``rows`` (L, n), ``cols`` (L, m); optional ``shift`` (L,), ``interval`` (L, 2), ``present``
    (L,) or instead ``blocks``, a table with the columns Shift, Low, High, Present; ``fit`` (n, m), ``coverage``
    (n, m), ``background`` (one number), ``row_list`` and ``column_list``, tables of rows and of columns that may have a column Level. With the option ``fit="additive"`` and no role ``fit`` the fit is the
    background plus the shift of every block, weighted by membership.
    """
    matrix_role = _matrix_role(sources)
    shift_role = next((r for r in ("shift", "theta", "strength") if r in sources.view.source), "shift")
    rows_result = sources.result("rows", 2)
    dataset = sources.dataset(matrix_role)
    if part is None:
        part = dense(dataset) if dataset is not None else sources.result(matrix_role, 2).values
    values = np.asarray(part, dtype=np.float64)
    if values.ndim != 2:
        raise SourceError(f"The picture needs a matrix. Found {values.ndim} axis.")
    n, m = values.shape if dataset is None else dataset.shape
    rows, columns = _memberships(sources, rows_result, n, m)
    background = float(sources.result("background").values.mean()) if sources.has("background") else None
    count = len(rows)
    shift = _of_blocks(sources, shift_role, "Shift", count)
    made = {
        role: partial(_values, sources.shaped(role, (n, m)))
        for role in ("fit", "coverage")
        if sources.has(role)
    }
    if "fit" not in made and shift is not None and sources.view.options.get("fit") == "additive":
        made["fit"] = partial(_additive, background or 0.0, shift, rows, columns)
    levels = levels_of(sources, values, n, step)
    row_means, column_means = _means_of_lines(values, n, step, levels)
    centre, limits, clipped = colour_limits(values, background)
    row_dim, column_dim = _dims(sources, matrix_role)
    return BlockData(
        values=values,
        rows=rows,
        columns=columns,
        row_names=sources.names_of(dataset.name, 0) if dataset else sources.dim_names(row_dim, n),
        column_names=sources.names_of(dataset.name, 1) if dataset else sources.dim_names(column_dim, m),
        row_label=dataset.row_label if dataset else "rows",
        column_label=dataset.column_label if dataset else "columns",
        unit=dataset.unit if dataset else sources.result(matrix_role).unit,
        limits=limits,
        centre=centre,
        clipped=clipped,
        row_means=row_means,
        column_means=column_means,
        shift=shift,
        interval=_intervals(sources, count),
        present=_of_blocks(sources, "present", "Present", count),
        shift_unit=_shift_unit(sources, shift_role),
        made=made,
        strips=categorical(dataset.column_table) if dataset else {},
        row_notes=_notes(dataset),
        dim=rows_result.dims[0] if rows_result.dims else "",
        step=step,
        levels=levels,
    )


def _means_of_lines(
    values: np.ndarray, n: int, step: int, levels: Levels | None
) -> tuple[np.ndarray, np.ndarray]:
    """Means of the n rows, 0 where one was not read, and of the columns; without levels where there are such."""
    looked_at, columns = _line_means(values)
    rows = np.zeros(n)
    rows[::step] = looked_at
    if levels is not None:
        rows[::step] -= levels.rows[::step]
        columns = columns - levels.columns
    return rows, columns


def _intervals(sources: Sources, count: int) -> np.ndarray | None:
    """(L, 2) ends of the interval of each shift: a role of their own, or two columns of the table."""
    given = _optional(sources, "interval", (count, 2))
    if given is not None:
        return given
    low, high = (_of_blocks(sources, "", title, count) for title in ("Low", "High"))
    return None if low is None or high is None else np.stack([low, high], axis=1)


def _matrix_role(sources: Sources) -> str:
    return next((role for role in ("matrix", "data", "values") if role in sources.view.source), "matrix")


def _memberships(sources: Sources, found: Result, n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """(L, n) and (L, m) memberships of rows and columns."""
    rows = np.asarray(found.values, dtype=np.float64)
    if rows.shape[1] != n:
        raise SourceError(
            f"The blocks have memberships of {counted(rows.shape[1], 'row')}; the matrix has {n}."
        )
    columns = sources.array("columns" if "columns" in sources.view.source else "cols", (len(rows), None))
    if columns.shape[1] != m:
        raise SourceError(
            f"The blocks have memberships of {counted(columns.shape[1], 'column')}; the matrix has {m}."
        )
    return rows, columns


def _optional(sources: Sources, role: str, shape: tuple[int | None, ...]) -> np.ndarray | None:
    return sources.array(role, shape) if sources.has(role) else None


def _of_blocks(sources: Sources, role: str, title: str, count: int) -> np.ndarray | None:
    """(L,) one number of each block, by its role or from a column of the list of blocks."""
    found = _optional(sources, role, (count,))
    listed = sources.table("blocks").columns if sources.has("blocks") else {}
    if found is None and title in listed:
        if len(listed[title]) != count:
            raise SourceError(
                f"The list has {counted(len(listed[title]), 'block')}, the memberships {count}."
            )
        found = np.asarray(listed[title], dtype=np.float64)
    return found


def _shift_unit(sources: Sources, role: str) -> str:
    if sources.has(role):
        return sources.result(role).unit
    return sources.table("blocks").units.get("Shift", "") if sources.has("blocks") else ""


def _dims(sources: Sources, role: str) -> tuple[str, str]:
    dims = sources.result(role, 2).dims if not sources.dataset(role) else ()
    return (dims[0], dims[1]) if len(dims) == 2 else ("row", "column")


def _notes(dataset: Dataset | None) -> tuple[str, ...]:
    """A free text per row, such as a description, for the read-out."""
    for title, column in (dataset.row_table if dataset else {}).items():
        if dataset is not None and title == dataset.row_shown_by:
            continue  # it is the name already
        texts = np.asarray(column)
        if texts.dtype.kind in "OU" and len(set(map(str, texts))) > len(texts) // 2:
            return tuple("" if value is None else str(value) for value in texts)
    return ()


def _values(found: Result) -> np.ndarray:
    return np.asarray(found.values, dtype=np.float64)


def _additive(background: float, shift: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """(n, m) background and the shift (L,) of every block, weighted by membership."""
    return background + np.einsum("l,ln,lm->nm", np.nan_to_num(shift), rows, columns, optimize=True)


def row_parts(shape: tuple[int, ...]) -> Iterator[slice]:
    """The rows of a matrix, so many at a time that what is made of them stays in the cache of the processor."""
    step = max(1, _AT_ONCE // max(shape[1], 1))
    return (slice(start, start + step) for start in range(0, shape[0], step))


def _line_means(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n,) and (m,) means of rows and columns without missing cells, 0 where there is nothing else."""
    n, m = values.shape
    row_means, total, count = np.zeros(n), np.zeros(m), np.zeros(m)
    for part in row_parts(values.shape):
        known = np.isfinite(values[part])
        filled = np.where(known, values[part], 0.0)
        row_means[part] = filled.sum(axis=1) / np.maximum(known.sum(axis=1), 1)
        total += filled.sum(axis=0)
        count += known.sum(axis=0)
    return row_means, total / np.maximum(count, 1)


class BlockSet:
    """Blocks at a threshold, as the picture, its words and the panel share them. ``data`` may be None."""

    run: Run
    data: BlockData | None
    _masks: tuple[np.ndarray, np.ndarray]

    def __len__(self) -> int:
        return len(self.data) if self.data is not None else 0

    @property
    def selected(self) -> int | None:
        """The block chosen, if any."""
        return None

    def masks_at(self, threshold: float) -> tuple[np.ndarray, np.ndarray]:
        """(L, n), (L, m) bool: members from a membership on."""
        if self.data is None:
            return np.zeros((0, 0), bool), np.zeros((0, 0), bool)
        least = max(threshold, 1e-9)
        return self.data.rows >= least, self.data.columns >= least

    # -- members --------------------------------------------------------------------------------
    @property
    def masks(self) -> tuple[np.ndarray, np.ndarray]:
        """(L, n), (L, m) bool: members at the threshold."""
        return self._masks

    def size(self, block: int) -> tuple[int, int]:
        """Rows and columns of a block at the threshold."""
        return int(self._masks[0][block].sum()), int(self._masks[1][block].sum())

    def visible(self) -> list[int]:
        """Blocks that have a cell at the threshold."""
        return [block for block in range(len(self)) if min(self.size(block)) > 0]

    def cover_shares(self) -> tuple[float, float]:
        """Shares of the cells that are in a block, and in several, at the threshold."""
        rows, columns = self._masks
        if not len(rows):
            return 0.0, 0.0
        # cells are counted by pattern of rows and of columns: there are few of them
        kinds_r, count_r = np.unique(rows.T, axis=0, return_counts=True)
        kinds_c, count_c = np.unique(columns.T, axis=0, return_counts=True)
        depth = kinds_r.astype(np.float32) @ kinds_c.T.astype(np.float32)
        cells = np.outer(count_r, count_c)
        whole = max(int(cells.sum()), 1)
        return float(cells[depth > 0.5].sum() / whole), float(cells[depth > 1.5].sum() / whole)

    def covered(self) -> float:
        """Share of the cells that are in a block at the threshold."""
        return self.cover_shares()[0]

    def strongest(self) -> float:
        """The highest threshold at which there is a block."""
        if self.data is None or not len(self.data):
            return 0.0
        return float(np.minimum(self.data.rows.max(1), self.data.columns.max(1)).max())

    def blocks_at(self, row: int, column: int) -> list[int]:
        """Blocks that hold a cell, the smallest first."""
        rows, columns = self._masks
        found = np.flatnonzero(rows[:, row] & columns[:, column])
        return sorted(found.tolist(), key=lambda block: self.size(block)[0] * self.size(block)[1])

    def name(self, block: int) -> str:
        """The user's name, or "Block 5"."""
        return given_name(self.run, self.dim, block) or f"Block {block + 1}"

    def named(self, block: int) -> bool:
        """Whether the user gave it a name."""
        return bool(given_name(self.run, self.dim, block))

    @property
    def dim(self) -> str:
        """The dim under which the run keeps their names."""
        return self.data.dim if self.data is not None else ""

    def swatch(self, block: int) -> int | str:
        """Category number, or "neutral": with more than six blocks the five largest have colours."""
        if len(self) <= _COLOURS:
            return block
        assert self.data is not None
        rank = self.data.ranks[block]
        return rank if rank < _COLOURS - 1 else "control"


class StillBlocks(BlockSet):
    """The blocks at one threshold, perhaps one of them chosen."""

    def __init__(self, run: Run, data: BlockData, threshold: float, chosen: int | None = None) -> None:
        self.run, self.data, self._chosen = run, data, chosen
        self._masks = self.masks_at(threshold)

    @property
    def selected(self) -> int | None:
        """The block chosen, if any."""
        return self._chosen
