"""What is wrong with data or settings before a fit, and what a fit will cost."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import (
    Block,
    Cost,
    ModelData,
    Problem,
    agree,
    counted,
    format_percent,
    unlike_scales,
    usual_variances,
)
from plaidwork.plugins.plaid.effects import JUDGED, SHARE, fits_effects, level_share
from plaidwork.plugins.plaid.fields import Settings
from plaidwork.plugins.plaid.state import given_blocks
from plaidwork.plugins.plaid.tails import FAR_SHARE, has_tails, share_of_one_value, tail_share

SECONDS_PER_CELL = 3e-8
SECONDS_PER_MOVE = 5e-5
PROFILE_TIMES, TAIL_TIMES = 5.0, 3.0
"""How much longer a sweep of blocks with a profile takes, and one of noise with heavy tails."""
BLOCKS = 20
"""Blocks of a kept draw, as long as nobody knows how many there are."""


LEVEL_SHARE = 0.4
"""Share of the variance between whole rows (or columns), less what noise would have, from which each is likely to be measured in its own unit, as genes."""

MOSTLY = 0.8
"""Share of the observed cells with one value above which Gaussian noise is no description of them."""


def _mostly_one_value(block: Block) -> list[Problem]:
    """A warning for zero-heavy data: blocks of constant shift then describe single values."""
    value, share = share_of_one_value(block)
    if not MOSTLY < share < 1.0:
        return []
    known = block.values[block.observed]
    text = f"{format_percent(share)} of the cells are {value:g}, which Gaussian noise does not describe: expect many small blocks."
    hint, transform = "Take 0/1 first (the transformation “Split at a threshold”).", "binarise"
    if value == 0 and (known >= 0).all() and (known % 1 == 0).all():
        transform = ""
        hint = "“Plaid of counts and links” finds blocks in zeros and ones, and in counts that are mostly 0."
        if known.max() > 1:
            hint = f"{hint} Where counts above 0 vary much, take 0/1 there."
    return [Problem(text, hint, "X", "warning", transform, {"threshold": value} if transform else {})]


def _levels(block: Block, params: Settings) -> list[Problem]:
    """A warning when whole rows or columns differ in level: the model has one background for all of them, unless it has effects."""
    if min(block.shape) < 2 or params["effects"]:
        return []
    fitted = fits_effects(block, params)
    count = block.observed.sum()
    centre = block.values.sum() / count
    total = float((block.values**2).sum() - count * centre**2)
    if total <= 0:
        return []
    found = []
    for axis, noun in enumerate(("row", "column")):
        n = block.observed.sum(axis=1 - axis)
        means = block.values.sum(axis=1 - axis) / np.maximum(n, 1)
        share = float((n * (means - centre) ** 2).sum()) / total - (n > 0).sum() / count
        if share >= LEVEL_SHARE:
            text = f"{format_percent(share)} of the variance lies between whole {noun}s."
            hint = f"Blocks would stand for those levels: standardise the {noun}s first (a transformation)."
            if fitted:
                hint = f"{LEVELS} Where each of the {noun}s is measured in a unit of its own, standardise the {noun}s first (a transformation)."
            found.append(Problem(text, hint, "X", "warning", "standardise", {"axis": f"{noun}s"}))
    return found or _effects(block, fitted)


LEVELS = "So rows and columns have levels of their own beside the blocks."


def _effects(block: Block, fitted: bool) -> list[Problem]:
    """A warning when whole rows or columns differ in level by less, measured by medians; ``fitted``: and they have effects."""
    shares = [level_share(block, axis) for axis in (0, 1)]
    axis = 0 if shares[0] >= SHARE else 1
    if shares[axis] < SHARE:
        return []
    text = f"{format_percent(shares[axis])} of the variance lies between whole {('row', 'column')[axis]}s."
    if fitted:
        return [
            Problem(
                text,
                f"{LEVELS} Without “Row and column effects where the data need them” blocks are fitted alone.",
                "X",
                "warning",
            )
        ]
    hint = (
        "Blocks would stand for those levels: let rows and columns have levels of their own (“Row and column effects in any case”), or standardise "
        "them first."
    )
    return [Problem(text, hint, "X", "warning", settings={"effects": True})]


def _tails(block: Block, params: Settings) -> list[Problem]:
    """A warning when the noise has far more values far out than normal noise: of what is done, or that blocks of single cells stand for them."""
    share = tail_share(block)
    if share < FAR_SHARE:
        return []
    text = f"About one cell in {round(1 / share)} lies far out, where normal noise has none."
    if has_tails(block, params):
        hint = "So the noise is fitted with heavy tails (Student's t): single values far out need no blocks then. With “Noise” at “Normal” they get some."
        return [Problem(text, hint, "X", "warning")]
    if params["layer"] == "shift":
        hint = "Small blocks would stand for them: let the noise have heavy tails (“Noise”), or take normal scores first (a transformation)."
        return [Problem(text, hint, "X", "warning", settings={"noise": "if_needed"})]
    hint = "Small blocks would stand for them: take normal scores first (a transformation), which keep the order of all values."
    return [Problem(text, hint, "X", "warning", "normal_scores", {"axis": "all"})]


def _scales(block: Block) -> list[Problem]:
    """A warning when a few rows or columns have as good as all of the variance: the noise is one for all of them."""
    for axis, noun in ((1, "column"), (0, "row")):
        values, known = (np.moveaxis(part, axis, 1) for part in (block.values, block.observed))
        step = max(1, values.size // JUDGED)
        variances = usual_variances(values[::step], known[::step])
        if unlike_scales(variances):
            largest = int(variances.argmax())
            share = format_percent(float(variances[largest] / variances.sum()))
            text = f"{share} of the variance within {noun}s is that of “{block.names[axis][largest]}”."
            hint = f"Blocks would describe little else: standardise the {noun}s first (a transformation)."
            return [Problem(text, hint, "X", "warning", "standardise", {"axis": f"{noun}s"})]
    return []


def _start(data: ModelData, most: int, name: str, label: str) -> list[Problem]:
    """What is wrong with the blocks that the chains are to start from; the setting ``name`` allows ``most``."""
    if not {"start_rows", "start_columns"} <= set(data):
        text = "Given blocks need the inputs “Start rows” and “Start columns”."
        return [Problem(text, "Choose them, or another start.", "start")]
    rows, columns = given_blocks(data)
    given = int((rows.any(axis=1) & columns.any(axis=1)).sum())
    if given <= most:
        return []
    text = f"“Start rows” and “Start columns” give {counted(given, 'block')}, more than “{label}” allows: {most}."
    return [Problem(text, f"Raise “{label}”, or give fewer blocks to start from.", name)]


def find_problems(data: ModelData, params: Settings, most: int, name: str, label: str) -> list[Problem]:
    """Errors stop the fit; warnings are shown. The setting ``name``, shown as ``label``, allows ``most`` blocks."""
    block: Block = data["X"]
    known = block.values[block.observed]
    if known.size == 0:
        return [
            Problem("The matrix has no observed cell.", "Choose another matrix or hold out fewer cells.", "X")
        ]
    found = []
    if known.min() == known.max():
        found.append(
            Problem(f"All observed cells equal {known[0]:g}.", "Blocks need values that differ.", "X")
        )
    for axis, (n, noun) in enumerate(zip(block.shape, ("row", "column"), strict=True)):
        if n == 1:
            found.append(
                Problem(
                    f"The matrix has one {noun}.",
                    "Blocks are then groups along the other side only.",
                    "X",
                    "warning",
                )
            )
        empty = int((~block.observed.any(axis=1 - axis)).sum())
        if empty:
            text = f"{counted(empty, noun)} {agree(empty, 'has', 'have')} no observed cell."
            found.append(Problem(text, "Their memberships follow the prior alone.", "X", "warning"))
    seldom = _mostly_one_value(block)
    found += (_levels(block, params) or _scales(block)) + (seldom or _tails(block, params))
    if params["layer"] == "profile" and params.get("moves") == "row_wise":
        text = "“Row by row” moves blocks of one shift only."
        found.append(Problem(text, "Choose “Whole blocks”, or blocks of one shift.", "moves"))
    return found + start_problems(data, params["start"], most, name, label)


def start_problems(data: ModelData, start: str, most: int, name: str, label: str) -> list[Problem]:
    """What is wrong with the start and with the true blocks, as :func:`find_problems`."""
    found = _start(data, most, name, label) if start == "given" else []
    if ("true_rows" in data) != ("true_columns" in data):
        found.append(
            Problem("The truth needs rows and columns.", "Choose both or neither.", "true_rows", "warning")
        )
    return found


def estimate_cost(block: Block, n_moves: int, params: Settings) -> Cost:
    """Memory besides the data, and time of one sweep, for one chain with ten blocks of a tenth of the cells."""
    n_cells = float(np.prod(block.shape))
    density = 1.0 if bool(block.observed.all()) else 2.0
    seconds = (n_cells * SECONDS_PER_CELL * density + (n_moves + 10) * SECONDS_PER_MOVE) * params["replicas"]
    if params["layer"] == "profile":
        seconds *= PROFILE_TIMES
    memory = 20.0 * sum(block.shape) * params["replicas"] + 8.0 * sum(block.shape) * 20
    if has_tails(block, params):
        seconds *= TAIL_TIMES
        memory += 16.0 * n_cells
    additive = params["effects"] or fits_effects(block, params)
    return Cost(memory, seconds, draw=_draw_bytes(block.shape, params, additive))


def _draw_bytes(shape: tuple[int, ...], params: Settings, additive: bool) -> float:
    """Bytes of a kept draw: a bit for each membership, and the numbers of what the settings turn on."""
    rows, columns = shape
    numbers = 10 + BLOCKS
    if params["layer"] == "profile":
        numbers += BLOCKS * columns + rows * params["row_noise"]
    if additive:
        numbers += rows + columns
    return BLOCKS * (rows + columns) / 8 + 8.0 * numbers
