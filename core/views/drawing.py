"""From a view of a run to its picture, or to several side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from plaidwork.core.contract.spec import View
from plaidwork.core.contract.view_kinds import VIEW_KINDS
from plaidwork.core.pictures import Picture, ViewChoice, ViewChoices
from plaidwork.core.pictures.choices import LIST
from plaidwork.core.pictures.multiples import MOST, side_by_side
from plaidwork.core.views.explaining import explained
from plaidwork.core.views.sources import Sources

BESIDE = "beside"
"""Id of the choice of what stands side by side; it is offered beside those of the views."""
_CHAIN, _SOLUTION, _RUN = "chain", "solution", "run"


def is_picture(kind: str) -> bool:
    """Whether views of a kind of the catalogue are pictures."""
    return kind in VIEW_KINDS and find_spec(f"plaidwork.core.views.{kind}") is not None


def kept_of(settings: Mapping[str, Any], view: View) -> Mapping[str, Any]:
    """What a session keeps of a view for the next time, besides the choices; a file may hold anything."""
    of_kind = settings.get(view.kind)
    found = of_kind.get(view.title) if isinstance(of_kind, dict) else None
    return found if isinstance(found, dict) else {}


def picture_of(
    sources: Sources,
    asked: Mapping[str, Any] | None = None,
    selected: Mapping[str, tuple[int, ...]] | None = None,
) -> Picture:
    """The picture of the view behind the sources, with what may be chosen; ``asked`` is what has been, and ``selected`` what
    is selected in the run, as :class:`ViewChoices` takes them. Raises ``SourceError``, ``NotYet``, and ``PluginError`` of
    a guest's own picture.

    By the choice ``beside`` it is one for each class (or whatever else the view offers one of), chain, solution or run with the same
    model, side by side on the same scales.
    """
    asked, selected = dict(asked or {}), dict(selected or {})
    choices = ViewChoices(asked, selected, kept_of(sources.run.view_settings, sources.view))
    picture = _load(sources, choices)
    own = choices.declared
    offered = _offered(sources, own, picture.layers) if picture.panels else {}
    wanted = (
        choices.pick(BESIDE, "Side by side", [("", "No"), *offered.items()], kind=LIST) if offered else ""
    )
    if wanted:
        word = offered[wanted].removeprefix("By ")
        varied = next((choice.of for choice in own if choice.id == wanted), "")
        held = {kind: items for kind, items in selected.items() if kind != varied}
        titled = [
            (name, _load(one, ViewChoices(said, held, choices.kept)))
            for name, one, said in _parts(sources, own, asked, wanted)
        ]
        headline = f"{sources.view.title}, by {word}"
        picture = side_by_side(titled, headline, word.capitalize())
    return replace(picture, choices=choices.declared, kept=choices.kept)


def _load(sources: Sources, choices: ViewChoices) -> Picture:
    with explained(sources):
        found: Picture = import_module(f"plaidwork.core.views.{sources.view.kind}").load(sources, choices)
    return found


def _offered(sources: Sources, own: tuple[ViewChoice, ...], layers: str) -> dict[str, str]:
    """What pictures of the view may differ in: ids and texts; ``layers`` is the dim of the items of "layer"."""
    alone = (choice for choice in own if choice.kind == LIST and (choice.of or not choice.unlike))
    words = {"layer": layers.replace("_", " ")}
    found = {
        choice.id: f"By {words.get(choice.of) or choice.each or choice.title.lower()}" for choice in alone
    }
    run = sources.run
    if not run.active and run.spec.algorithm == "mcmc" and len(run.chains) > 1:
        found[_CHAIN] = "By chain"
        if len(run.solutions()) > 1:
            found[_SOLUTION] = "By solution"
    if len(sources.alike()) > 1:
        found[_RUN] = "By run"
    return found


def _parts(
    sources: Sources, own: tuple[ViewChoice, ...], asked: Mapping[str, Any], wanted: str
) -> Iterator[tuple[str, Sources, dict[str, Any]]]:
    """Name, sources and what is chosen of each of the pictures side by side."""
    held = dict(asked)
    run = sources.run
    if wanted == _CHAIN:
        for record in run.chains[:MOST]:
            yield f"Chain {record.chain + 1}", sources.of_run(run.part([record.chain])), held
    elif wanted == _SOLUTION:
        for number in range(1, min(len(run.solutions()), MOST) + 1):
            yield f"Solution {number}", sources.of_run(run.solution(number)), held
    elif wanted == _RUN:
        for other in sources.alike()[:MOST]:
            yield other.title, sources.of_run(other), held
    else:
        choice = next(choice for choice in own if choice.id == wanted)
        rest = {key: value for key, value in held.items() if key not in (choice.id, choice.title)}
        for key, text in choice.options[:MOST]:
            yield text, sources, {**rest, choice.id: key}
