"""Runs beside each other, or chains of one run: settings that differ, scores, and which things each found again.

Things (factors, blocks, topics) of two runs are paired so that their agreement adds up to the most (Kuhn 1955): the Jaccard
index of memberships, or the absolute correlation of anything else, over the items that both runs have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import View
from plaidwork.core.draws.counting import counted, plural
from plaidwork.core.draws.numbers import format_count, format_fixed, format_probability
from plaidwork.core.draws.summaries import correlate_rows, match_factors
from plaidwork.core.errors import PlaidworkError, SettingError
from plaidwork.core.findings.predictive import Score
from plaidwork.core.findings.settings import shown_value
from plaidwork.core.inference.run import Run
from plaidwork.core.pictures import Axis, Cells, Intervals, Line, Panel, Picture, Points, Ramp
from plaidwork.core.session.session import Session
from plaidwork.core.session.solutions import summarise_run
from plaidwork.core.views.sources import Sources

FOUND_AGAIN = 0.7
"""Agreement from which a thing counts as found again."""
MOST = 8
"""Runs or chains that are compared at a time."""
_PAIRS = 12
_LABELLED = 15


@dataclass(frozen=True)
class Things:
    """What a run found: ``dim`` of its model, ``names`` (K,), and by dim of the items their names and (K, n) values.

    ``members`` says that the values are memberships, from 0 to 1.
    """

    dim: str
    names: tuple[str, ...]
    values: dict[str, tuple[tuple[str, ...], np.ndarray]]
    members: bool


@dataclass(frozen=True)
class Match:
    """Things of two runs: ``agreement`` (K, J); ``partner`` (K,) of each thing of the first, -1 for none, and ``matched`` (K,)."""

    agreement: np.ndarray
    partner: np.ndarray
    matched: np.ndarray


def chains_of(run: Run) -> list[Run]:
    """Each chain of a run with results of its own. Raises ``SessionError`` without model or data. May take seconds."""
    found = []
    for record in run.chains[:MOST]:
        part = run.of_chains((record.chain,))
        summarise_run(part)
        part.title = f"{run.chain_word.capitalize()} {record.chain + 1}"
        found.append(part)
    return found


def things_of(session: Session, run: Run) -> Things | None:
    """The factors, blocks or topics of a run; None where its results have none that can be told apart by items."""
    inputs = {dim for item in run.spec.inputs for dim in item.dims}
    found: list[tuple[bool, str, str, np.ndarray]] = []
    for result in run.results.values():
        if (
            not isinstance(result, Result)
            or result.values.ndim != 2
            or result.values.dtype.kind not in "biuf"
        ):
            continue
        own = [axis for axis, dim in enumerate(result.dims) if dim in run.spec.dims and dim not in inputs]
        if len(own) == 1:
            (axis,) = own
            items = result.dims[1 - axis]
            values = np.asarray(np.moveaxis(result.values, axis, 0), dtype=float)
            found.append((items in inputs, result.dims[axis], items, values))
    if not found:
        return None
    of_data, dim, _, _ = max(
        found, key=lambda one: one[0]
    )  # the first of those along the data, else the first
    sources, values_of = Sources(session, run, View("table", "", "")), {}
    for known, other, items, values in found:
        if known == of_data and other == dim and items not in values_of:
            values_of[items] = (sources.dim_names(items, values.shape[1]), values)
    count = len(next(iter(values_of.values()))[1])
    values_of = {items: kept for items, kept in values_of.items() if len(kept[1]) == count}
    members = all(_are_members(values) for _, values in values_of.values())
    return Things(dim, tuple(sources.dim_names(dim, count)), values_of, members)


def _are_members(values: np.ndarray) -> bool:
    known = values[np.isfinite(values)]
    return bool(known.size and known.min() >= 0 and known.max() <= 1)


def match(one: Things, other: Things) -> Match:
    """Things of two runs paired by their agreement, 0 to 1. Raises ``SettingError`` when they share no item."""
    pairs = []
    for dim in one.values:
        if dim in other.values:
            names, values = one.values[dim]
            place = {name: at for at, name in enumerate(other.values[dim][0])}
            common = [(at, place[name]) for at, name in enumerate(names) if name in place]
            if common:
                here, there = np.array(common).T
                pairs.append((values[:, here], other.values[dim][1][:, there]))
    if not pairs:
        raise SettingError("The runs have no items in common, so what they found cannot be paired.")
    members = one.members and other.members
    agreement = _jaccard(pairs) if members else np.abs(_correlation(pairs))
    partner, matched = match_factors(agreement)
    return Match(agreement, partner, matched)


def _jaccard(pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """(K, J) sums of the smaller by sums of the larger memberships, over the items of all pairs."""
    a, b = (np.nan_to_num(np.hstack(side)) for side in zip(*pairs))
    rows = [np.minimum(row, b).sum(axis=1) / np.maximum(np.maximum(row, b).sum(axis=1), 1e-12) for row in a]
    return np.array(rows).reshape(len(a), len(b))


def _correlation(pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """(K, J) correlations, each kind of items with the same weight."""
    scaled = [tuple(map(_scaled, pair)) for pair in pairs]
    a, b = (np.hstack(side) for side in zip(*scaled))
    return correlate_rows(a, b)


def _scaled(values: np.ndarray) -> np.ndarray:
    centred = np.nan_to_num(values - np.nanmean(values, axis=1, keepdims=True))
    size = float(np.linalg.norm(centred))
    return centred / size if size > 0 else centred


def settings_that_differ(runs: Sequence[Run]) -> dict[str, np.ndarray]:
    """A table with a row for every setting, seed, length or input that differs, and a column for every run."""
    rows: list[tuple[str, list[str]]] = []
    known = {p.name: p for run in runs for p in run.spec.hyperparameters}
    models = [f"{run.spec.title} {run.spec.version}" for run in runs]
    rows.append(("Model", models))
    rows.append(
        ("Data", [", ".join(name for names in run.inputs.values() for name in names) for run in runs])
    )
    for name, parameter in known.items():
        values = [
            f"{shown_value(parameter, run.params[name])} {parameter.unit}".strip()
            if name in run.params
            else "–"
            for run in runs
        ]
        rows.append((parameter.title, values))
    rows.append(("Seed", [str(run.seed) for run in runs]))
    rows.append(("Draws", [format_count(run.n_draws) for run in runs]))
    rows = [(title, values) for title, values in rows if len(set(values)) > 1]
    rows.append(("Verdict", [run.diagnosis().verdict.title if run.n_draws else "–" for run in runs]))
    columns = {"": np.array([title for title, _ in rows], dtype=object)}
    for at, title in enumerate(_titles(runs)):
        columns[title] = np.array([values[at] for _, values in rows], dtype=object)
    return columns


def _titles(runs: Sequence[Run]) -> list[str]:
    """Titles of the runs, numbered where they are the same."""
    titles = [run.title for run in runs]
    return [f"{t} ({at + 1})" if titles.count(t) > 1 else t for at, t in enumerate(titles)]


def scores_of(runs: Sequence[Run]) -> Picture:
    """Log density of what each run has not seen, with two standard errors; only runs of the same observations can be ranked."""
    scores = []
    for run in runs:
        try:
            scores.append(run.score() if run.n_draws else None)
        except PlaidworkError:
            scores.append(None)
    known = [(at, score) for at, score in enumerate(scores) if score is not None]
    titles = _titles(runs)
    if not known:
        return Picture(
            "Scores", empty=("No scores", "The models of these runs do not tell how well they predict.")
        )
    sums = [score.sum() for _, score in known]
    x, value, error = (
        np.array(part, dtype=float) for part in zip(*((at, *s) for (at, _), s in zip(known, sums)))
    )
    best = int(np.argmax(value))
    same = all(score.same_observations(known[0][1]) for _, score in known)
    below = [score.difference(other) if same else (np.nan, np.nan) for score, other in _each(known, best)]
    words = tuple(
        f"{titles[at]}: log density {format_fixed(v, 1)} ± {format_fixed(e, 1)}"
        for (at, _), (v, e) in zip(known, sums, strict=True)
    )
    colors = tuple(0 if k == best and same else "neutral" for k in range(len(x)))
    marks = (
        Intervals(x, value - 2 * error, value + 2 * error, color="text"),
        Points(x, value, 9.0, read=words, color=colors),
    )
    axis = Axis("", scale="category", names=tuple(titles))
    return Picture(
        _told([titles[at] for at, _ in known], best, below, same),
        "Log density of observations that were held out or left out in turn; lines are two standard errors.",
        (Panel(marks, axis, Axis("log density", unit="nats"), most=160.0, reads="across", zoom=""),),
        table={
            "Run": [titles[at] for at, _ in known],
            "Log density": value,
            "Standard error": error,
            "Below the best": [one[0] for one in below],
            "Standard error of that": [one[1] for one in below],
        },
    )


def _each(known: Sequence[tuple[int, Score]], best: int) -> list[tuple[Score, Score]]:
    """The best score beside each."""
    return [(known[best][1], score) for _, score in known]


def _told(titles: Sequence[str], best: int, below: Sequence[tuple[float, float]], same: bool) -> str:
    """Which run predicts best, where the differences are beyond two of their own standard errors."""
    if len(titles) < 2:
        return f"Only {titles[best]} tells how well it predicts"
    if not same:
        return "The scores are of different observations: they cannot be compared"
    close = [
        t
        for at, (t, (gap, error)) in enumerate(zip(titles, below, strict=True))
        if at != best and gap < 2 * error
    ]
    if not close:
        return f"{titles[best]} predicts best"
    if len(close) == len(titles) - 1:
        return "No run predicts clearly better than the others"
    return f"{titles[best]} predicts best, but not clearly better than {', '.join(close)}"


def agreement_picture(session: Session, runs: Sequence[Run]) -> Picture:
    """How alike the things of the first run and of each other are, each thing below its partner: a panel for every other run."""
    found = _matched(session, runs)
    if isinstance(found, Picture):
        return found
    first, others, titles = found
    word = runs[0].spec.dims[first.dim].split(",")[0]
    panels, table = [], []
    for title, things, paired in others:
        order = [int(k) for k in paired.partner if k >= 0]
        order += [k for k in range(len(things.names)) if k not in order]
        panels.append(_agreement_panel(first, things, paired.agreement[:, order], order, titles[0], title))
        for k, name in enumerate(first.names):
            at = int(paired.partner[k])
            table.append((title, name, things.names[at] if at >= 0 else "none", float(paired.matched[k])))
    again = [int(np.sum(paired.matched >= FOUND_AGAIN)) for _, _, paired in others]
    count, where = len(first.names), titles[1] if len(others) == 1 else f"each of the other {len(others)}"
    named = word if count == 1 else plural(word)
    headline = f"{min(again)} of {format_count(count)} {named} of {titles[0]} found again in {where}"
    if len(set(again)) > 1:
        headline = f"{min(again)} to {max(again)} of {format_count(count)} {named} of {titles[0]} found again in the others"
    what = "Jaccard index of the members" if first.members else "absolute correlation"
    return Picture(
        headline,
        f"Cells: {what}. Partners stand on the diagonal; {FOUND_AGAIN:g} or more counts as found again.",
        tuple(panels),
        legend=(Ramp(what, ends=("0", "0.5", "1")),),
        table=dict(zip(("Run", titles[0], "Partner", "Agreement"), map(list, zip(*table)), strict=True)),
        grid=(300.0, 260.0),
    )


_Matched = tuple[Things, list[tuple[str, Things, Match]], list[str]]


def _matched(session: Session, runs: Sequence[Run]) -> _Matched | Picture:
    """Things of the first run, and of each other with how they match; a picture that says why there are none."""
    if len(runs) < 2:
        raise SettingError("A comparison needs two runs.")
    found, titles = [things_of(session, run) for run in runs], _titles(runs)
    if found[0] is None or any(things is None or things.dim != found[0].dim for things in found):
        text = "These runs have no factors, blocks or topics of the same kind."
        return Picture("What was found", empty=("Nothing to pair", text))
    first, others = found[0], []
    for title, things in zip(titles[1:], found[1:], strict=True):
        assert things is not None
        if not len(first.names) or not len(things.names):
            return Picture("What was found", empty=("Nothing to pair", "One of the runs found nothing."))
        try:
            others.append((title, things, match(first, things)))
        except SettingError as error:
            return Picture("What was found", empty=("Nothing to pair", error.message))
    return first, others, titles


def _agreement_panel(
    first: Things, things: Things, agreement: np.ndarray, order: Sequence[int], across: str, title: str
) -> Panel:
    names = tuple(things.names[k] for k in order)
    k, j = agreement.shape
    few = max(k, j) <= _LABELLED
    cells = Cells(
        agreement,
        -0.5,
        j - 0.5,
        -0.5,
        k - 0.5,
        labels=tuple(format_probability(float(v)) for v in agreement.ravel()) if few else (),
        gap=2.0 if few else 0.0,
        read=tuple(
            f"{a} and {b}: {format_probability(float(agreement[i, c]))}"
            for i, a in enumerate(first.names)
            for c, b in enumerate(names)
        ),
    )
    return Panel(
        (cells,),
        Axis(title, scale="category", names=names, turned=True),
        Axis(across, scale="category", names=first.names, down=True),
        title=title,
        reads="inside",
        zoom="",
    )


def pairs_picture(session: Session, runs: Sequence[Run]) -> Picture:
    """Each thing of the first run against its partner in the second: a panel for every pair, the least alike first."""
    found = _matched(session, runs[:2])
    if isinstance(found, Picture):
        return found
    first, ((title, things, paired),), titles = found
    pairs = [k for k in np.argsort(paired.matched, kind="stable").tolist() if paired.partner[k] >= 0]
    panels = tuple(_pair_panel(first, things, k, int(paired.partner[k]), titles) for k in pairs[:_PAIRS])
    more = f" The {_PAIRS} least alike of {counted(len(pairs), 'pair')}." if len(pairs) > _PAIRS else ""
    told = "Points are items that both runs have; on the line both say the same. Signs are turned to agree."
    if first.members and things.members:
        told = "Numbers of items that each run takes for members, with a probability of at least a half."
    return Picture(
        f"{titles[0]} against {title}, pair by pair",
        f"{told}{more}",
        panels,
        grid=(220.0, 220.0),
    )


def _pair_panel(first: Things, things: Things, one: int, other: int, titles: Sequence[str]) -> Panel:
    names, xs, ys = [], [], []
    for dim, (known, values) in first.values.items():
        if dim in things.values:
            place = {name: at for at, name in enumerate(things.values[dim][0])}
            common = [(name, at, place[name]) for at, name in enumerate(known) if name in place]
            names += [name for name, _, _ in common]
            xs += [values[one, at] for _, at, _ in common]
            ys += [things.values[dim][1][other, at] for _, _, at in common]
    x, y = np.nan_to_num(np.array(xs)), np.nan_to_num(np.array(ys))
    title = f"{first.names[one]} and {things.names[other]}"
    if first.members and things.members:
        return _member_panel(x >= 0.5, y >= 0.5, titles, title)
    if float(np.sum((x - x.mean()) * (y - y.mean()))) < 0:
        y = -y
    reads = tuple(
        f"{n}: {format_fixed(a, 2)} and {format_fixed(b, 2)}" for n, a, b in zip(names, x, y, strict=True)
    )
    low, high = float(min(x.min(), y.min())), float(max(x.max(), y.max()))
    high = high if high > low else low + 1.0
    edge = 0.04 * (high - low)
    across, up = (Axis(text, low=low - edge, high=high + edge) for text in titles[:2])
    alike = Line([low, high], [low, high], 1.0, dashed=True, color="control")
    return Panel((alike, Points(x, y, 5.0, read=reads)), across, up, title=title, lines=False)


def _member_panel(x: np.ndarray, y: np.ndarray, titles: Sequence[str], title: str) -> Panel:
    """How many items are members in both runs, in one of them, or in none; what both say of few stands out as much as of many."""
    counts = np.array([[np.sum((x == a) & (y == b)) for a in (False, True)] for b in (False, True)])
    said = ("in neither", f"only in {titles[0]}", f"only in {titles[1]}", "in both")
    reads = tuple(f"{format_count(int(n))} {words}" for n, words in zip(counts.ravel(), said, strict=True))
    shares = counts / np.maximum(np.sum(x | y), 1)
    shares[0, 0] = np.nan  # most items are in neither, which says little
    cells = Cells(
        shares,
        -0.5,
        1.5,
        -0.5,
        1.5,
        labels=tuple(format_count(int(n)) for n in counts.ravel()),
        gap=2.0,
        read=reads,
    )
    across, up = (Axis(text, scale="category", names=("not in it", "in it")) for text in titles[:2])
    return Panel((cells,), across, up, title=title, reads="inside", zoom="", most=90.0, highest=60.0)
