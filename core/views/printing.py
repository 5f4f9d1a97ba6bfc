"""A view as it leaves the program: with the words of its model, the mark of a run that has not settled, and its origin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import View
from plaidwork.core.draws.counting import counted
from plaidwork.core.draws.solution_texts import shown_solution
from plaidwork.core.findings.naming import Naming
from plaidwork.core.inference.run import Run
from plaidwork.core.pictures import Picture
from plaidwork.core.session.session import Session
from plaidwork.core.views.drawing import picture_of
from plaidwork.core.views.sources import NotYet, SourceError, Sources

NOT_TO_DRAW = ("table", "text", "custom")
"""Kinds of views that are no pictures."""
RUNNING = "The fit is still running: not final"
"""What a picture of a run under way carries."""
_NAMED = 2
"""Data sets that are named in a line, at most."""


def words_above(
    sources: Sources,
    headline: str,
    caption: str,
    left_out: Sequence[str] = (),
    before: Sequence[str] = (),
) -> tuple[str, str]:
    """Headline and caption of a view: the texts of its model, else those of the picture; then what the axes leave out.

    ``before`` are sentences that the caption begins with.
    """
    view = sources.view
    headline = sources.text(view.headline) or headline or view.title
    caption = sources.text(view.caption) or caption
    shown = f"Shown: {'; '.join(left_out)}." if left_out else ""
    parts = [caption.rstrip(".")] if caption and left_out else [caption]
    return headline, ". ".join(filter(None, (*before, *parts, shown)))


def doubt_of(run: Run) -> str:
    """Why averages over a run are not to be trusted yet, as a title; empty for one that has settled. May take seconds."""
    if run.active:
        return RUNNING
    if not run.n_draws:
        return ""
    verdict = run.diagnosis().verdict
    return "" if verdict.settled else verdict.title


def origin_of(session: Session, run: Run) -> str:
    """What a picture was made from, in a line: data, model and version, chains, seed, version of the program."""
    used = list(dict.fromkeys(name for names in run.inputs.values() for name in names))
    sums = {session.datasets[name].source.sha256[:8] for name in used if name in session.datasets} - {""}
    data = ", ".join(used[:_NAMED]) + (f" and {len(used) - _NAMED} more" if len(used) > _NAMED else "")
    word, many = run.chain_word, len(run.chains)
    kept = f", {counted(run.n_draws, 'draw')}" if word == "chain" else ""
    program = run.environment.get("plaidwork", "")
    parts = (
        f"Data: {data}{f' (SHA-256 {min(sums)})' if len(sums) == 1 else ''}",
        f"{run.spec.title} {run.spec.version}",
        f"{counted(many, word)}{kept}, seed {run.seed}",
        f"Plaidwork {program}" if program else "",
    )
    return ". ".join(filter(None, parts))


def chosen_before(run: Run, view: View) -> Mapping[str, Any]:
    """What somebody has chosen of a view, by the words beside the controls."""
    name = " / ".join(filter(None, (view.group, view.title)))
    found = run.view_settings.get("choices", {}).get(name, {})
    return found if isinstance(found, Mapping) else {}


def printed_view(sources: Sources, asked: Mapping[str, Any] | None = None) -> Picture:
    """The picture of a view with what was chosen of it (``asked``, else as kept with the run), the words above it and the
    mark of a run that has not settled. A view without a result says why; ``PluginError`` of a guest's own picture.
    """
    run, view = sources.run, sources.view
    try:
        picture = picture_of(sources, chosen_before(run, view) if asked is None else asked)
    except NotYet:
        unmade, nothing = (
            "No results have been worked out from what the run has kept.",
            "The run has kept nothing so far.",
        )
        why = unmade if run.n_draws else nothing
        return Picture(view.title, empty=("No result yet", why))
    except SourceError as error:
        return Picture(view.title, empty=("This picture could not be drawn", str(error)))
    before = shown_solution(run.diagnosis().solutions, 0, run.chain_word) if run.n_draws else ()
    headline, caption = words_above(sources, picture.headline, picture.caption, sources.parts(), before)
    return replace(picture, headline=headline, caption=caption, doubt=doubt_of(run))


def offered(session: Session, run: Run, view: View) -> bool:
    """Whether a view says something of this run: images beside other pictures only where there are images, gaps where there are any,
    bars beside other views only where there are several to compare."""
    if not view.offered(run.params, _columns(session, run)) or (
        view.gaps and not _has_gaps(session, run, view.gaps)
    ):
        return False
    found = run.results.get(view.source.get("values", ""))
    if view.kind == "coefficients" and view.group:
        return not (isinstance(found, Result) and found.values.size == 1)
    if view.kind != "image_grid" or not view.group or view.options.get("shape"):
        return True
    if isinstance(found, Result) and found.values.ndim == 3:
        return True
    used = [session.datasets.get(name) for names in run.inputs.values() for name in names]
    return any(dataset is not None and dataset.image_shape for dataset in used)


def _has_gaps(session: Session, run: Run, name: str) -> bool:
    """Whether a cell of an input is missing or held out, or may be: where its data are gone, and where samples lack a whole matrix."""
    used = [session.datasets.get(one) for one in run.inputs.get(name, ())]
    held = [data for data in used if data is not None]
    if run.holdout > 0 or len(held) < len(used) or any(data.n_missing for data in held):
        return True
    others = [data.row_names for data in held[1:] if data.row_names != held[0].row_names]
    return run.spec.input(name).union and any(set(names) != set(held[0].row_names) for names in others)


def leading_view(session: Session, run: Run) -> int:
    """Number of the view that a run opens on, among the declared ones: that which the model's text result ``opens_on`` names, images
    where the data are images, a view made for data of so many columns, a map where there are two inputs, else the first that is no
    table, else the first."""
    shown = [index for index, view in enumerate(run.spec.views) if offered(session, run, view)]
    views, told = run.spec.views, run.results.get("opens_on")
    named = [index for index in shown if view_name(views[index]) == told]
    images = [index for index in shown if views[index].kind == "image_grid"]
    needed = {item.name for item in run.spec.inputs if item.required}
    made = [index for index in shown if needed <= set(views[index].columns)]
    maps = [index for index in shown if views[index].kind == "surface" and _has_two_inputs(session, run)]
    drawn = [index for index in shown if views[index].kind not in NOT_TO_DRAW]
    return next(iter((*named, *images, *made, *maps, *drawn, *shown)), 0)


def _columns(session: Session, run: Run) -> dict[str, int]:
    """How many columns the data of an input have, where they are there; none where the run has no such data."""
    used = {name: [session.datasets.get(one) for one in names] for name, names in run.inputs.items()}
    given = {
        name: data[0].shape[1] if len(data[0].shape) == 2 else 1
        for name, data in used.items()
        if len(data) == 1 and data[0] is not None
    }
    return {**{item.name: 0 for item in run.spec.inputs if not run.inputs.get(item.name)}, **given}


def _has_two_inputs(session: Session, run: Run) -> bool:
    first = next((item.name for item in run.spec.inputs if item.kind == "matrix"), "")
    used = [session.datasets.get(name) for name in run.inputs.get(first, ())]
    return len(used) == 1 and used[0] is not None and used[0].shape[1:] == (2,)


def drawn_views(session: Session, run: Run) -> list[View]:
    """The views of a run that are drawn: the one that it opens on, then the others in the order of its model."""
    drawn = [
        index
        for index, view in enumerate(run.spec.views)
        if view.kind not in NOT_TO_DRAW and offered(session, run, view)
    ]
    first = leading_view(session, run)
    return [run.spec.views[index] for index in sorted(drawn, key=lambda index: (index != first, index))]


def view_name(view: View) -> str:
    """``Loadings/Images``, or the title of a view without a group."""
    return f"{view.group}/{view.title}" if view.group else view.title


def headline_of(run: Run) -> str:
    """What a run has found in a sentence without its stop: the first headline that its model gives; may be empty."""
    name = next((view.headline for view in run.spec.views if view.headline), "")
    found = run.results.get(name, "")
    return Naming(run, {}).text(found) if isinstance(found, str) else ""
