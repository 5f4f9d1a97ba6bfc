"""The strongest columns of a factor as a heat map, items in the order of its scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plaidwork.core.contract.model_data import Block
from plaidwork.core.draws.counting import counted, plural
from plaidwork.core.draws.numbers import format_count, format_number, tidy
from plaidwork.core.findings.fitted import FittedInput
from plaidwork.core.findings.naming import identity_of
from plaidwork.core.pictures import Axis, Bands, Cells, End, Items, Matrix, Panel, Picture, ViewChoices
from plaidwork.core.pictures.words import headed
from plaidwork.core.views.colouring import colouring, most_telling
from plaidwork.core.views.columns import ItemColumns
from plaidwork.core.views.matrices import Shades, robust_shades
from plaidwork.core.views.sources import SourceError, Sources, data_axis, role_names
from plaidwork.core.views.strips import AnyStrip, strip_of, strip_panel

RAW, DENOISED, IMPUTED = "raw", "denoised", "imputed"
_MODES = ((RAW, "Raw"), (DENOISED, "Denoised"), (IMPUTED, "Imputed"))
_TOP, _MOST_TOP, _NOTHING = 20, 60, "nothing"
_PROFILE = 2.2
"""Lines of text that the scores above the map are high."""
_SCORES = "Only the scores of the items are shown; another factor or group may have weights."
_WHAT = {
    RAW: "Values as measured; hatched cells are missing",
    DENOISED: "What the fit expects in every cell",
    IMPUTED: "Values as measured, and what the fit expects where they are missing",
}


@dataclass(frozen=True)
class _Scored:
    """Scores (n, K) and weights (K, m) with what finds their columns in the data."""

    scores: np.ndarray
    weights: np.ndarray
    names: tuple[str, ...]
    items: tuple[str, ...]
    factors: tuple[str, ...]
    groups: tuple[str, ...]
    group: np.ndarray
    places: list[tuple[int, int]]
    fitted: FittedInput
    dims: tuple[str, str]
    kind: str

    @property
    def word(self) -> str:
        """What a row of the scores is."""
        return self.dims[0].replace("_", " ")


@dataclass(frozen=True)
class Strongest:
    """Columns of the data as rows, strongest positive first, strongest negative last.

    ``raw``, ``mean`` and ``sd`` are (rows, n) on the scale of the data, NaN where unknown; ``shown`` may be rescaled.
    """

    items: np.ndarray
    raw: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    shown: np.ndarray


@dataclass(frozen=True)
class _Chosen:
    """What is shown: the factor, the group of columns, which values, and whether each row has its own scale."""

    factor: int
    group: int
    top: int
    mode: str
    by_row: bool
    strip: AnyStrip | None


def load(sources: Sources, choices: ViewChoices) -> Picture:
    """Roles ``values`` (n, K), ``weights`` (K, m) and ``matrix`` (data:X), optional ``fitted`` (fitted:X), ``names`` (m,)
    and ``group`` (m,): the name of the matrix that a column is of.

    Options: ``top`` (rows, 20), ``show`` "raw", "denoised" or "imputed", ``strip`` (title of a column of the items),
    ``by_row`` (each row on its own scale).
    """
    data = _read(sources)
    if not data.scores.size or not data.weights.size:
        return Picture(
            sources.view.title, empty=("Nothing to show", "The run has found nothing for this picture.")
        )
    chosen = _choose(data, sources, choices)
    members = np.flatnonzero(data.group == chosen.group)
    made = strongest(data.fitted, chosen, data.weights[chosen.factor], members, data.places)
    name, of = headed(data.factors[chosen.factor]), data.groups[chosen.group]
    of = f" of {of}" if of else ""
    order = np.argsort(data.scores[:, chosen.factor], kind="stable")
    if not len(made.items):
        profile = _profile(data, chosen.factor, order)
        return Picture(f"{name} has no weight{of}", _SCORES, (profile,), layers=data.dims[1])
    base = made.shown if chosen.by_row or not np.isfinite(made.raw).any() else made.raw
    shades = robust_shades(base, chosen.by_row)
    label = "SDs from the row's mean" if chosen.by_row else "value"
    gaps = int(np.isnan(made.raw).sum())
    strips = (
        [] if chosen.strip is None else [strip_panel(chosen.strip, order, _named(data, order), data.kind)]
    )
    return Picture(
        f"{name}: the {len(made.items)} strongest{of}, {plural(data.word)} by score",
        f"{_WHAT[chosen.mode]}; + and {tidy('-')} are the signs of the weights.",
        (_profile(data, chosen.factor, order), *strips, _map(data, chosen, made, order, shades)),
        f"{format_count(len(made.items))} × {format_count(len(data.items))}"
        + (f", {counted(gaps, 'cell')} missing" if gaps else ""),
        (
            *(() if chosen.strip is None else chosen.strip.keys),
            *shades.keys(label, bool(np.isnan(made.shown).any())),
        ),
        matrix=Matrix(
            made.shown[:, order],
            tuple(data.names[i] for i in made.items),
            _named(data, order),
            "feature",
        ),
        layers=data.dims[1],
    )


def _named(data: _Scored, order: np.ndarray) -> tuple[str, ...]:
    return tuple(data.items[i] for i in order)


def _read(sources: Sources) -> _Scored:
    scores, weights = sources.result("values", 2), sources.result("weights", 2)
    (n, count), m = scores.values.shape, weights.values.shape[1]
    if len(weights.values) != count:
        raise SourceError(
            f"There are {counted(len(weights.values), 'lists of weight')} for {counted(count, 'factor')}."
        )
    fitted = sources.fitted("fitted" if sources.has("fitted") else "matrix")
    if fitted is None:
        raise SourceError("The data that the matrix names are not those of an input.")
    if any(len(block.shape) != 2 or block.shape[0] != n for block in fitted.blocks):
        raise SourceError(f"The data have other items than the {n} with scores.")
    group = sources.texts("group") if sources.has("group") else None
    if group is not None and len(group) != m:
        raise SourceError(f"The group has {counted(len(group), 'item')}; there are {counted(m, 'weight')}.")
    row, column = scores.dims if len(scores.dims) == 2 else ("item", "factor")
    names = role_names(sources, "names", weights.dims[-1] if weights.dims else "column", m)
    groups = tuple(dict.fromkeys(group or [""]))
    return _Scored(
        np.asarray(scores.values, dtype=np.float64),
        np.asarray(weights.values, dtype=np.float64),
        names,
        sources.dim_names(row, n),
        sources.dim_names(column, count),
        groups,
        np.array([groups.index(text) for text in group or [""] * m], dtype=np.intp),
        places_of(fitted.blocks, [identity_of(name) for name in names], group),
        fitted,
        (row, column),
        data_axis(sources, row, n) or "row",
    )


def _choose(data: _Scored, sources: Sources, choices: ViewChoices) -> _Chosen:
    options = sources.view.options
    factor = choices.among("factor", "Show", data.factors, of="layer")
    group = choices.among("group", "Of", data.groups, each="group")
    most = min(max(2, int(options.get("top", _TOP))), _MOST_TOP)
    top = int(choices.number("top", "Strongest", 2, _MOST_TOP, most))
    mode = RAW
    if data.fitted.offered:
        mode = choices.pick("values", "Values", _MODES, str(options.get("show", RAW)))
    first = "row" if options.get("by_row") else "whole"
    scale = choices.pick("scale", "Scale", (("whole", "One"), ("row", "By row")), first)
    return _Chosen(factor, group, top, mode, scale == "row", _strip(data, sources, choices))


def _strip(data: _Scored, sources: Sources, choices: ViewChoices) -> AnyStrip | None:
    """The column of the items that stands above the map: at first the one that the scores tell most of."""
    columns = ItemColumns(sources, data.dims[0], data.items)
    strips = {title: strip_of(title, column) for title, column in columns.annotations.items()}
    sections: dict[str, list[str]] = {"": [_NOTHING]}
    for head, titles in columns.sections.items():
        sections[head] = [title for title in titles if strips.get(title, True) is not None]
    if sum(map(len, sections.values())) < 2:
        return None
    first = str(sources.view.options.get("strip", ""))
    if columns.column(first) is None:
        made = {
            title: colouring(title, columns.annotations[title]) for title, strip in strips.items() if strip
        }
        first = most_telling(
            data.scores, {title: found for title, found in made.items() if found is not None}
        )
    title = choices.find("strip", "Strip", sections, first or _NOTHING)
    column = columns.column(title)
    return None if title == _NOTHING or column is None else strips.get(title) or strip_of(title, column)


def _profile(data: _Scored, factor: int, order: np.ndarray) -> Panel:
    """The scores in their order, from a line at zero."""
    scores, names, label = data.scores[order, factor], _named(data, order), data.factors[factor]

    def read(place: int) -> str:
        return f"{names[place]}: {label} {format_number(float(scores[place]), 3)}"

    area = Bands(
        np.arange(len(order)),
        np.minimum(scores, 0.0),
        np.maximum(scores, 0.0),
        1.0,
        color="control",
        name=label,
        read=read,
        of=Items(data.kind, order),
    )
    return Panel(
        (area,),
        Axis(scale="category", names=names, ticks=False),
        Axis(zero=True, ticks=False),
        ends=(End(0.0, label, "muted"),),
        height=_PROFILE,
        reads="across",
        zoom="x",
        lines=False,
    )


def _map(data: _Scored, chosen: _Chosen, made: Strongest, order: np.ndarray, shades: Shades) -> Panel:
    """Strongest columns down, items across."""
    n, m = len(made.items), len(order)
    weights, items = data.weights[chosen.factor, made.items], _named(data, order)
    names = tuple(
        f"{'+' if weight > 0 else tidy('-')} {data.names[i]}"
        for i, weight in zip(made.items, weights, strict=True)
    )
    score = f"; {data.factors[chosen.factor]} "

    def read(piece: int) -> str:
        row, item = piece // m, int(order[piece % m])
        value, mean, sd = (float(part[row, item]) for part in (made.raw, made.mean, made.sd))
        text = f"{data.names[made.items[row]]}, {items[piece % m]}: "
        text += "missing" if value != value else format_number(value, 3)
        if mean == mean:
            text += f", expected {format_number(mean, 3)}"
            text += f" ± {format_number(sd, 2)}" if sd == sd else ""
        return text + score + format_number(float(data.scores[item, chosen.factor]), 3)

    cells = Cells(
        made.shown[:, order],
        -0.5,
        m - 0.5,
        -0.5,
        n - 0.5,
        shades.map,
        shades.limits,
        name="values",
        read=read,
        columns=Items(data.kind, order),
    )
    return Panel(
        (cells,),
        Axis(scale="category", names=items, turned=True, ticks=m <= _MOST_TOP),
        Axis(scale="category", names=names, down=True),
        reads="inside",
        lines=False,
    )


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
    chosen: _Chosen,
    weights: np.ndarray,
    members: np.ndarray,
    places: Sequence[tuple[int, int]],
) -> Strongest:
    """The values of the ``chosen.top`` largest weights (m,) of the factor among ``members``, indices into the m columns."""
    size = np.abs(np.nan_to_num(weights[members]))
    items = members[np.argsort(-size, kind="stable")]
    known = [i for i in items if places[i][0] >= 0 and weights[i] != 0 and np.isfinite(weights[i])]
    items = np.array(known[: chosen.top], dtype=np.intp)
    items = items[np.argsort(-weights[items], kind="stable")]
    raw = np.full((len(items), fitted.blocks[0].shape[0]), np.nan)
    mean, sd = raw.copy(), raw.copy()
    for index in sorted({places[i][0] for i in items}):
        rows = np.array([r for r, i in enumerate(items) if places[i][0] == index])
        columns = np.array([places[items[r]][1] for r in rows])
        raw[rows] = fitted.known(index, columns).T
        if fitted.offered and chosen.mode != RAW:
            mean[rows], sd[rows] = (part.T for part in fitted.values(index, columns))
    shown = {RAW: raw, DENOISED: mean, IMPUTED: np.where(np.isnan(raw), mean, raw)}[chosen.mode]
    return Strongest(items, raw, mean, sd, _standardised(shown, raw) if chosen.by_row else shown)


def _standardised(values: np.ndarray, raw: np.ndarray) -> np.ndarray:
    """Rows minus the mean of what is known, over its standard deviation (1 where it has none)."""
    known = np.isfinite(raw)
    count = np.maximum(known.sum(axis=1), 1)
    centre = np.where(known, raw, 0.0).sum(axis=1) / count
    spread = np.sqrt((np.where(known, raw - centre[:, None], 0.0) ** 2).sum(axis=1) / count)
    return (values - centre[:, None]) / np.where(spread > 0, spread, 1.0)[:, None]
