"""Values of the strongest columns of a factor: found in the data, computed for a worker thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plaidwork.core.contract.model import Block
from plaidwork.core.findings.fitted import FittedInput
from plaidwork.core.pictures.pyramid import Pyramid

RAW, DENOISED, IMPUTED = "raw", "denoised", "imputed"


@dataclass(frozen=True)
class Wanted:
    """What is to be shown: factor, group of columns, how many, which values, and whether each row has its own scale."""

    factor: int
    group: int
    top: int
    mode: str
    by_row: bool


@dataclass(frozen=True)
class Strongest:
    """The picture of `Wanted`: rows are columns of the data, strongest positive first, strongest negative last.

    ``raw``, ``mean`` and ``sd`` are (rows, n) on the scale of the data, NaN where unknown; ``shown`` may be rescaled.
    """

    wanted: Wanted
    items: np.ndarray
    order: np.ndarray
    raw: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    shown: np.ndarray
    pyramid: Pyramid


def places_of(
    blocks: Sequence[Block], names: Sequence[str], group: Sequence[str] | None
) -> list[tuple[int, int]]:
    """(block, column) of each named column, (-1, -1) where it is not found.

    A column is looked for in the block that its group names, else in all; names that two blocks share may have that of
    their group in brackets. Without any known name the columns of a single block are taken in order.
    """
    columns = [{name: j for j, name in enumerate(block.names[1])} for block in blocks]
    known = {block.name: k for k, block in enumerate(blocks)}
    found: list[tuple[int, int]] = []
    for i, name in enumerate(names):
        own = group[i] if group is not None else ""
        among = [known[own]] if own in known else list(range(len(blocks)))
        plain = name.removesuffix(f" ({own})")
        found.append(
            next(
                (
                    (k, columns[k][text])
                    for text in dict.fromkeys((name, plain))
                    for k in among
                    if text in columns[k]
                ),
                (-1, -1),
            )
        )
    if len(blocks) == 1 and blocks[0].shape[1] == len(names) and all(k < 0 for k, _ in found):
        return [(0, j) for j in range(len(names))]
    return found


def strongest(
    fitted: FittedInput,
    wanted: Wanted,
    scores: np.ndarray,
    weights: np.ndarray,
    members: np.ndarray,
    places: Sequence[tuple[int, int]],
) -> Strongest:
    """The values of the ``wanted.top`` largest weights among ``members``.

    Parameters
    ----------
    scores : (n,) of the factor. weights : (m,) of the factor. members : indices into the m columns.
    """
    size = np.abs(np.nan_to_num(weights[members]))
    items = members[np.argsort(-size, kind="stable")]
    items = np.array(
        [i for i in items if places[i][0] >= 0 and weights[i] != 0 and np.isfinite(weights[i])][: wanted.top],
        dtype=np.intp,
    )
    items = items[np.argsort(-weights[items], kind="stable")]
    n = len(scores)
    raw = np.full((len(items), n), np.nan)
    mean, sd = raw.copy(), raw.copy()
    for index in sorted({places[i][0] for i in items}):
        rows = np.array([r for r, i in enumerate(items) if places[i][0] == index])
        columns = np.array([places[items[r]][1] for r in rows])
        raw[rows] = fitted.known(index, columns).T
        if fitted.offered and wanted.mode != RAW:
            mean[rows], sd[rows] = (part.T for part in fitted.values(index, columns))
    shown = {RAW: raw, DENOISED: mean, IMPUTED: np.where(np.isnan(raw), mean, raw)}[wanted.mode]
    if wanted.by_row:
        shown = _standardised(shown, raw)
    order = np.argsort(scores, kind="stable")
    return Strongest(wanted, items, order, raw, mean, sd, shown, Pyramid(shown, None, order))


def _standardised(values: np.ndarray, raw: np.ndarray) -> np.ndarray:
    """Rows minus the mean of what is known, over its standard deviation (1 where it has none)."""
    known = np.isfinite(raw)
    count = np.maximum(known.sum(axis=1), 1)
    centre = np.where(known, raw, 0.0).sum(axis=1) / count
    spread = np.sqrt((np.where(known, raw - centre[:, None], 0.0) ** 2).sum(axis=1) / count)
    return (values - centre[:, None]) / np.where(spread > 0, spread, 1.0)[:, None]
