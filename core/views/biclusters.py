"""Blocks in the matrix, re-ordered so that they hold together, with their outlines."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from plaidwork.core.draws.summaries import order_blocks
from plaidwork.core.pictures import Axis, Cells, Items, Mark, Matrix, Panel, Picture, Regions, ViewChoices
from plaidwork.core.views import block_texts
from plaidwork.core.views.block_parts import parts_of
from plaidwork.core.views.blocks import MODES, BlockData, BlockSet, StillBlocks, load_blocks
from plaidwork.core.views.matrices import Shades
from plaidwork.core.views.sources import Sources
from plaidwork.core.views.strips import Strip, strip_panel

_MANY = 12
"""With more blocks, tags have numbers alone."""
_NO_STRIP = "None"


@dataclass(frozen=True)
class Ordered:
    """A mode of the matrix in an order, ready to draw: ``row_order[i]`` is the row at place i, of those that were read."""

    cells: Cells
    row_order: np.ndarray
    column_order: np.ndarray


def load(sources: Sources, choices: ViewChoices) -> Picture:
    """Roles as of :func:`load_blocks`. Options: ``threshold`` (0.5), the membership from which on rows and columns count."""
    data = load_blocks(sources)
    mode = data.modes[0]
    if len(data.modes) > 1:
        mode = choices.pick("show", "Show", [(key, MODES[key]) for key in data.modes])
    kept = sources.run.view_settings.get("selection", {}).get("threshold")
    first = float(kept if isinstance(kept, int | float) else sources.view.options.get("threshold", 0.5))
    threshold = choices.number("threshold", "Membership at least", 0.0, 1.0, first, 0.01)
    blocks = StillBlocks(sources.run, data, threshold)
    strips: tuple[Strip, ...] = ()
    if data.strips:
        titles = [(title, title) for title in (*data.strips, _NO_STRIP)]
        title = choices.pick("strip", "Annotation strip", titles, kind="list")
        strips = (data.strips[title],) if title in data.strips else ()
    if len(data) and not blocks.visible():
        why = f"No block has a membership of {threshold:.2f} or more. The strongest has {blocks.strongest():.2f}."
        return Picture(sources.view.title, empty=("No block at this threshold", why))
    orders = orders_of(data, *blocks.masks)
    ordered = in_order(blocks, data, mode, *orders)
    beside = parts_of(blocks, strips[0].title if strips else "")
    return replace(blocks_picture(blocks, ordered, mode, strips), beside=beside)


def blocks_picture(
    blocks: BlockSet,
    ordered: Ordered,
    mode: str,
    strips: tuple[Strip, ...],
    by_block: bool = True,
    outlined: bool = True,
) -> Picture:
    """The matrix in an order with the blocks as they are now, their legend and words, and the table behind it."""
    data = blocks.data
    assert data is not None
    label = "Probability of being in a block" if mode == "coverage" else data.unit or "Value"
    shades = Shades(ordered.cells.map, ordered.cells.limits, data.mode_clipped(mode))
    return Picture(
        block_texts.headline(blocks),
        block_texts.caption(blocks),
        panels_of(blocks, ordered, strips, outlined),
        block_texts.whole_text(blocks, data, by_block, False),
        (
            *(key for strip in strips for key in strip.keys),
            *shades.keys(label, ordered.cells.pyramid.has_missing),
        ),
        matrix=Matrix(
            ordered.cells.values,
            tuple(data.row_names[i] for i in ordered.row_order),
            tuple(data.column_names[j] for j in ordered.column_order),
            data.row_label,
        ),
        layers=data.dim,
    )


def orders_of(
    data: BlockData, rows: np.ndarray, columns: np.ndarray, focus: int | None = None, by_block: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Orders of rows and columns: by block, around the one in focus, or as in the data."""
    if not by_block or not len(data):
        n, m = data.shape
        return np.arange(n), np.arange(m)
    return order_blocks(rows, columns, focus=focus, row_means=data.row_means, column_means=data.column_means)


def in_order(
    blocks: BlockSet, data: BlockData, mode: str, row_order: np.ndarray, column_order: np.ndarray
) -> Ordered:
    """A mode of the matrix in this order: work for a worker thread."""
    row_order = data.at_hand(row_order)
    n, m = len(row_order), len(column_order)

    def read(piece: int) -> str:
        row, column = int(row_order[piece // m]), int(column_order[piece % m])
        return block_texts.cell_text(blocks, mode, row, column)

    cells = Cells(
        data.ordered(mode, row_order, column_order),
        -0.5,
        m - 0.5,
        -0.5,
        n - 0.5,
        "tide" if mode == "coverage" else "loom",
        data.mode_limits(mode),
        rows=Items("row", row_order),
        columns=Items("column", column_order),
        name=MODES[mode],
        read=read,
    )
    return Ordered(cells, row_order, column_order)


def panels_of(
    blocks: BlockSet, ordered: Ordered, strips: tuple[Strip, ...], outlined: bool = True
) -> tuple[Panel, ...]:
    """Strips of the columns, and below them the matrix with the blocks as they are now."""
    data = blocks.data
    assert data is not None
    columns = tuple(data.column_names[j] for j in ordered.column_order)
    rows = tuple(data.row_titles[i] for i in ordered.row_order)
    above = (strip_panel(strip, ordered.column_order, columns, "column") for strip in strips)
    marks: tuple[Mark, ...] = (ordered.cells,)
    if outlined and blocks.visible():
        marks = (ordered.cells, _regions(blocks, ordered))
    panel = Panel(
        marks,
        Axis(scale="category", names=columns, turned=True),
        Axis(scale="category", names=rows, down=True),
        reads="inside",
        lines=False,
    )
    return (*above, panel)


def _regions(blocks: BlockSet, ordered: Ordered) -> Regions:
    """The blocks from large to small."""
    shown = sorted(blocks.visible(), key=lambda block: -np.prod(blocks.size(block)))
    places, (rows, columns) = np.array(shown, dtype=np.intp), blocks.masks
    many, chosen = len(blocks) > _MANY, blocks.selected
    names = (str(block + 1) if many and not blocks.named(block) else blocks.name(block) for block in shown)
    return Regions(
        rows[np.ix_(places, ordered.row_order)],
        columns[np.ix_(places, ordered.column_order)],
        tuple(names),
        tuple(str(block + 1) for block in shown),
        shown.index(chosen) if chosen in shown else -1,
        name="blocks",
        color=tuple(blocks.swatch(block) for block in shown),
    )
