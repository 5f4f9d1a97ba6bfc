"""From a session to its report. Pictures are drawn by whoever asks for it; nothing else is left to Qt."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from plaidwork.core.contract.model import Table
from plaidwork.core.contract.spec import View
from plaidwork.core.draws.counting import counted
from plaidwork.core.draws.numbers import (
    column_format,
    format_count,
    format_duration,
    format_fixed,
    format_number,
    format_percent,
)
from plaidwork.core.errors import PlaidworkError, SessionError
from plaidwork.core.findings.notes import noted_items
from plaidwork.core.findings.settings import shown_value
from plaidwork.core.inference.environment import environment
from plaidwork.core.inference.run import Run, now
from plaidwork.core.report.commands import repeating
from plaidwork.core.report.content import Figure, Listed, Report, RunPart
from plaidwork.core.session.session import Session
from plaidwork.core.study.record import study_records
from plaidwork.core.views.printing import drawn_views, headline_of, offered, view_name
from plaidwork.core.views.sources import NotYet, SourceError, Sources
from plaidwork.core.views.tables import formats_of, heads_of, table_of

Draw = Callable[[Session, Run, View, bool], Figure | None]
"""Draws a view, wide (across the page) or half as wide; None where there is nothing to see, or nobody who draws it."""
FIGURES, TABLES = 6, 4
"""Of each run, at most, unless others were chosen."""
_ROWS, _COLUMNS, _LONGEST = 12, 8, 80
_WIDE, _GAP, _TEXT = 80, 3, 16
"""Letters that have room across a page, what lies between two columns, and how narrow one of texts may be."""
_BEST = (
    "biclusters", "surface", "documents", "factor_heatmap", "network", "effects", "confusion", "image_grid",
    "scatter", "coefficients", "roc", "bars", "curve", "beeswarm", "posterior", "heatmap", "calibration",
)  # fmt: skip
"""Kinds of views, those first that say most of a run in one look; others follow in the order of the model."""


def best_views(session: Session, run: Run) -> list[View]:
    """The views of a run that are drawn: the one that it opens on, then one of each other kind, best first, then the rest."""
    views = drawn_views(session, run)
    views = [*views[:1], *sorted(views[1:], key=lambda view: _rank(view.kind))]
    first = {view.kind: view for view in reversed(views)}
    return [view for view in views if first[view.kind] is view] + [
        view for view in views if first[view.kind] is not view
    ]


def _rank(kind: str) -> int:
    return _BEST.index(kind) if kind in _BEST else len(_BEST)


def make_report(
    session: Session,
    draw: Draw,
    runs: Iterable[Run] | None = None,
    chosen: Collection[str] = (),
    tell: Callable[[float], object] = lambda share: None,
) -> Report:
    """The report of a session, or of some of its runs. ``chosen`` are titles of views, alone or after their group, instead
    of those that are proposed. ``tell`` gets the share done. Raises ``SessionError`` without a run.
    """
    wanted = list(session.runs.values() if runs is None else runs)
    if not wanted:
        raise SessionError("This session has no run.", "A report is made of at least one.")
    parts = []
    for number, run in enumerate(wanted):
        parts.append(_run_part(session, run, draw, {title.casefold() for title in chosen}))
        tell((number + 1) / len(wanted))
    used = list(dict.fromkeys(name for run in wanted for names in run.inputs.values() for name in names))
    version = environment().get("plaidwork", "")
    made = f"Made with Plaidwork {version} on {_date(now())}"
    searches = () if runs is not None else tuple(_search(one) for one in study_records(session.studies))
    return Report(session.name, made, session.notes, _data(session, used), tuple(parts), searches)


def _date(time: str) -> str:
    return time.replace("T", " ").replace("+00:00", " UTC")


def _data(session: Session, names: Sequence[str]) -> Listed:
    rows = []
    for name in names:
        data = session.datasets.get(name)
        if data is None:
            rows.append((name, "not in the session any more", "", "", ""))
            continue
        steps = ", ".join(str(step.options.get("text", step.name)) for step in data.steps)
        if [step.name for step in data.steps] == ["annotation"]:
            continue  # a column beside other data, named with the run
        told = data.source.sha256[:12]
        rows.append((name, data.described, data.source.file, told, steps or "as read"))
    heads = ("Name", "Size", "File", "SHA-256 begins with", "What was done to it")
    return Listed("Data", heads, tuple(rows))


def _run_part(session: Session, run: Run, draw: Draw, chosen: Collection[str]) -> RunPart:
    verdict = run.diagnosis().verdict if run.n_draws else None
    headline = headline_of(run) or run.spec.title
    figures, left_out = _figures(session, run, draw, chosen)
    if figures and figures[0].headline == headline:  # which stands right above it
        figures = (replace(figures[0], headline=""), *figures[1:])
    path = session.path.name if session.path is not None else f"{session.name}.plaidwork"
    return RunPart(
        id=run.id,
        title=run.title,
        headline=headline,
        kind=verdict.kind if verdict is not None else "warn",
        verdict=verdict.title if verdict is not None else f"Nothing was kept yet: {run.status}",
        advice=verdict.text if verdict is not None else "",
        model=f"{run.spec.title} {run.spec.version}",
        summary=run.spec.summary.replace("**", ""),  # strong words of Markdown
        citation=run.spec.citation,
        facts=_facts(run),
        settings=_settings(run),
        figures=figures,
        tables=_tables(session, run, chosen),
        notes=run.notes,
        item_notes=noted_items(run, session.datasets),
        versions=tuple(run.environment.items()),
        commands=repeating(session, run, path),
        left_out=left_out,
    )


def _facts(run: Run) -> tuple[tuple[str, str], ...]:
    schedule, sampled = run.schedule, run.spec.algorithm == "mcmc"
    every = f", every {schedule.thin} sweeps" if schedule.thin > 1 else ""
    length = (
        f"{counted(schedule.warmup + schedule.burn_in, 'sweep')} left out, then "
        f"{counted(schedule.draws, 'draw')}{every}"
        if sampled
        else f"at most {counted(schedule.max_sweeps, 'sweep')}"
    )
    inputs = ", ".join(
        f"{run.spec.input(name).title}: {', '.join(used)}" for name, used in run.inputs.items()
    )
    return (
        ("Data", inputs),
        ("Chains" if sampled else "Restarts", f"{len(run.chains)}, each {length}"),
        ("Kept", f"{counted(run.n_draws, 'draw')}" if sampled else "the last states"),
        ("Seed", str(run.seed)),
        *((("Cells held out", format_percent(run.holdout)),) if run.holdout else ()),
        ("State", run.status),
        ("Started", _date(run.created)),
        ("Time of the processor", format_duration(run.cpu_seconds)),
        ("Fingerprint of the data", f"{run.data_hash[:16]}…"),
    )


def _settings(run: Run) -> Listed:
    rows = []
    for one in run.spec.hyperparameters:
        if one.active(run.params):
            value = run.params[one.name]
            text = f"{shown_value(one, value)} {one.unit}".strip()
            usual = "" if value == one.default else f"{shown_value(one, one.default)} {one.unit}".strip()
            rows.append((one.title, text, usual))
    rows.sort(key=lambda row: not row[2])  # what somebody has chosen comes first
    if any(usual for _, _, usual in rows):
        return Listed("Settings", ("Setting", "Value", "Usual value, where it differs"), tuple(rows))
    same = "All have their usual values." if rows else ""
    return Listed("Settings", ("Setting", "Value"), tuple(row[:2] for row in rows), more=same)


def _figures(
    session: Session, run: Run, draw: Draw, chosen: Collection[str]
) -> tuple[tuple[Figure, ...], tuple[str, ...]]:
    """The figures, and the names of further views that were not drawn."""
    if not run.results:
        return (), ()
    views = best_views(session, run)
    figures: list[Figure] = []
    left_out: list[str] = []
    for view in views:
        wanted = _is_chosen(view, chosen) if chosen else len(figures) < FIGURES
        figure = draw(session, run, view, not figures) if wanted else None
        if figure is not None and (chosen or not figures or not figure.slight):
            figures.append(figure)
        else:
            left_out.append(view_name(view))
    return tuple(figures), tuple(left_out)


def _is_chosen(view: View, chosen: Collection[str]) -> bool:
    return bool({"all", view.title.casefold(), view_name(view).casefold()} & set(chosen))


def _tables(session: Session, run: Run, chosen: Collection[str]) -> tuple[Listed, ...]:
    found: list[Listed] = []
    for view in run.spec.views:
        if view.kind != "table" or not run.results or not offered(session, run, view):
            continue
        if len(found) == TABLES or (chosen and not _is_chosen(view, chosen)):
            continue
        try:
            table = table_of(Sources(session, run, view))
        except (NotYet, SourceError, PlaidworkError):
            continue
        if len(table):
            found.append(listed(view_name(view).replace("/", ": "), table))
    if run.n_draws and run.spec.algorithm == "mcmc":
        found.append(_convergence(run))
    return tuple(found)


def _convergence(run: Run) -> Listed:
    """The quantities that settled last."""
    judged = run.diagnosis().judged
    rows = tuple(
        (
            q.title,
            _cell(q.mean),
            _cell(q.sd),
            format_fixed(q.rhat, 3),
            _cell(round(q.ess_bulk)),
            _cell(round(q.ess_tail)),
        )
        for q in judged[:5]
    )
    more = f"The worst {len(rows)} of {counted(len(judged), 'quantity')}." if len(judged) > len(rows) else ""
    heads = ("Quantity", "Mean", "SD", "R-hat", "Bulk ESS", "Tail ESS")
    return Listed("Convergence", heads, rows, frozenset(range(1, 6)), more)


def listed(title: str, table: Table) -> Listed:
    """The first rows and columns of a table as texts."""
    columns = list(table.columns.items())[:_COLUMNS]
    heads = tuple(heads_of(table)[name] for name, _ in columns)
    shown = min(len(table), _ROWS)
    formats = formats_of(table.columns, table.units, table.decimals)
    tells = [formats.get(name) or _telling(values) for name, values in columns]
    rows = tuple(
        tuple(tell(values[row]) for tell, (_, values) in zip(tells, columns, strict=True))
        for row in range(shown)
    )
    numbers = frozenset(at for at, (_, values) in enumerate(columns) if values.dtype.kind in "iuf")
    fitting = _fitting(heads, rows, numbers)
    columns, heads, rows = columns[:fitting], heads[:fitting], tuple(row[:fitting] for row in rows)
    left = []
    if len(table) > shown:
        left.append(f"The first {shown} of {counted(len(table), 'row')}.")
    if len(table.columns) > len(columns):
        left.append(f"The first {len(columns)} of {counted(len(table.columns), 'column')}.")
    return Listed(title, heads, rows, numbers & frozenset(range(fitting)), " ".join(left))


def _fitting(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Collection[int]) -> int:
    """How many columns have room on a page without a word or number that is broken in two."""
    wide = 0
    for at, head in enumerate(heads):
        cells = (row[at] if at in numbers else row[at][:_TEXT] for row in rows)
        wide += _GAP + max(map(len, [*head.split(), *cells]), default=0)
        if wide > _WIDE and at > 1:
            return at
    return len(heads)


def _telling(values: np.ndarray) -> Callable[[Any], str]:
    """How the cells of a column are written: numbers as in the window."""
    told = column_format(values) if values.dtype.kind in "iuf" else _cell
    return lambda value: "–" if value != value else told(value)


def _cell(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return format_count(int(value))
    if isinstance(value, float | np.floating):
        return format_number(float(value))
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _search(record: Any) -> Listed:
    """A search: its settings, best first."""
    table = record.by_setting()
    named = {record.titles.get(name, name): values for name, values in table.columns.items()}
    return listed(f"{record.title}, {record.model_title}", Table(named, table.units))
