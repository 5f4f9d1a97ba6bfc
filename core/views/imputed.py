"""What the fit expects in missing cells, in its place among the values known, with its standard deviation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaidwork.core.contract.model_data import Block
from plaidwork.core.draws.counting import counted
from plaidwork.core.draws.numbers import format_correlation, format_count, format_number, format_percent
from plaidwork.core.findings.fitted import FittedInput, write_imputed
from plaidwork.core.pictures import Axis, Cells, File, Items, Key, Panel, Picture, Ramp, ViewChoices
from plaidwork.core.pictures.words import capital
from plaidwork.core.views.matrices import robust_shades
from plaidwork.core.views.sources import NotYet, SourceError, Sources, data_axis

MOST_CELLS = 50_000
"""Cells that are computed for the picture; a file holds all."""
_PALER = 3.0
"""Values as measured take a part of the greys so that those filled in stand out."""
_CAPTION = (
    "Expected: a mean for numbers, the chance of a 1 for yes or no, a mean count for counts. "
    "SD: how far the cell itself may be from it."
)
_KNOWN = "Every cell of the data is known, so there is nothing to impute."


@dataclass(frozen=True)
class _Filled:
    """Missing cells of a block, the first `MOST_CELLS` in the order of its columns: places, expected values and SDs."""

    block: Block
    names: tuple[list[str], list[str]]
    rows: np.ndarray
    columns: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    gaps: np.ndarray


def load(sources: Sources, choices: ViewChoices) -> Picture:
    """Role ``values``: ``fitted:X``. Cells are computed when they are looked at, and never stored with the run."""
    if not sources.run.n_draws:
        raise NotYet
    fitted = sources.fitted("values")
    if fitted is None or not fitted.offered:
        raise SourceError(
            f"The model “{sources.run.spec.title}” has to be installed: it computes these values."
        )
    names = [block.name for block in fitted.blocks]
    counts = [int(fitted.missing(k).sum()) for k in range(len(names))]
    if not sum(counts):
        return Picture(sources.view.title, empty=("Nothing is missing", _KNOWN))
    first = next(k for k, count in enumerate(counts) if count)
    chosen = choices.among("block", "Cells of", names, first, each="data set")
    dims = next((item.dims for item in sources.run.spec.inputs if item.name == fitted.name), ())
    filled = _fill(fitted, chosen)
    titles = [capital(dim.replace("_", " ")) for dim in dims] if len(dims) == 2 else ["Row", "Column"]
    word = (dims[0] if dims else "row").replace("_", " ")
    told = [f"{format_count(count)} of {name}" for count, name in zip(counts, names, strict=True) if count]
    panel, keys = _map(filled, sources, dims)
    return Picture(
        f"Missing cells filled in: {', '.join(told[:4])}",
        _CAPTION,
        (panel,),
        _notes(fitted, chosen, filled),
        keys,
        _table(filled, titles),
        files=(
            File(
                "Export all imputed cells…",
                ".csv",
                lambda path: write_imputed(fitted, path, word),
                "cells",
                "imputed",
            ),
        ),
    )


def _fill(fitted: FittedInput, chosen: int) -> _Filled:
    parts = list(fitted.imputed(chosen, MOST_CELLS))
    rows, columns, mean, sd = (
        np.concatenate([part[k] for part in parts]) if parts else np.zeros(0) for k in range(4)
    )
    places = rows.astype(np.intp), columns.astype(np.intp)
    names = fitted.shown_names(chosen)
    return _Filled(fitted.blocks[chosen], names, *places, mean, sd, fitted.missing(chosen))


def _notes(fitted: FittedInput, chosen: int, filled: _Filled) -> str:
    total, listed, name = int(filled.gaps.sum()), len(filled.rows), filled.block.name
    if not total:
        return f"Nothing is missing in {name}"
    text = f"{counted(total, 'missing cell')}, {format_percent(total / filled.gaps.size)} of {name}"
    if listed < total:
        text += f"; the first {format_count(listed)} are filled in and listed, a file holds all (… menu)"
    agreement = fitted.agreement(chosen, *np.nonzero(filled.gaps))
    if not np.isnan(agreement):
        text += f"; two halves of the chains agree to a correlation of {format_correlation(agreement)}"
    return text


def _map(filled: _Filled, sources: Sources, dims: tuple[str, ...]) -> tuple[Panel, tuple[Key | Ramp, ...]]:
    """Values as measured in greys, and in colours what is expected where they are missing."""
    block, (n, m) = filled.block, filled.block.shape
    known = np.array(block.values if block.truth is None else block.truth, dtype=np.float64)
    known[filled.gaps] = np.nan
    shades = robust_shades(known, False)
    expected = np.full((n, m), np.nan)
    expected[filled.rows, filled.columns] = filled.mean
    sds = dict(zip((filled.rows * m + filled.columns).tolist(), filled.sd.tolist(), strict=True))
    names = filled.names

    def read(piece: int) -> str:
        row, column = divmod(piece, m)
        text = f"{names[0][row]}, {names[1][column]}: "
        if piece in sds:
            mean, sd = format_number(float(expected[row, column]), 3), format_number(sds[piece], 2)
            return f"{text}missing, expected {mean} ± {sd}"
        value = float(known[row, column])
        return text + ("missing" if value != value else format_number(value, 3))

    edges = (-0.5, m - 0.5, -0.5, n - 0.5)
    kinds = (
        [data_axis(sources, dim, length) for dim, length in zip(dims, (n, m))] if len(dims) == 2 else ["", ""]
    )
    rows, columns = (
        Items(kind, np.arange(k)) if kind else None for kind, k in zip(kinds, (n, m), strict=True)
    )
    low, high = shades.limits
    pale = low, low + _PALER * (high - low)
    below = Cells(known, *edges, "greys", pale, name="measured", rows=rows, columns=columns)
    above = Cells(
        expected,
        *edges,
        shades.map,
        shades.limits,
        name="expected",
        read=read,
        rows=rows,
        columns=columns,
        clear=True,
    )
    panel = Panel(
        (below, above),
        Axis(scale="category", names=tuple(names[1]), turned=True),
        Axis(scale="category", names=tuple(names[0]), down=True),
        reads="inside",
        lines=False,
    )
    label = f"expected{f' ({block.unit})' if block.unit else ''}"
    unfilled = len(filled.rows) < filled.gaps.sum()
    return panel, (Key("as measured", "grey3"), *shades.keys(label, bool(unfilled)))


def _table(filled: _Filled, titles: list[str]) -> dict[str, np.ndarray]:
    unit = f" ({filled.block.unit})" if filled.block.unit else ""
    rows, columns = (np.array(names, dtype=object) for names in filled.names)
    return {
        titles[0]: rows[filled.rows],
        titles[1]: columns[filled.columns],
        f"Expected{unit}": filled.mean,
        f"SD{unit}": filled.sd,
    }
