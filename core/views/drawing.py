"""From a view of a run to its picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from plaidwork.core.contract.spec import View
from plaidwork.core.contract.view_kinds import VIEW_KINDS
from plaidwork.core.pictures import Picture, ViewChoices
from plaidwork.core.views.sources import Sources


def is_picture(kind: str) -> bool:
    """Whether views of a kind of the catalogue are pictures."""
    return kind in VIEW_KINDS and find_spec(f"plaidwork.core.views.{kind}") is not None


def kept_of(settings: Mapping[str, Any], view: View) -> Mapping[str, Any]:
    """What a session keeps of a view for the next time, besides the choices; a file may hold anything."""
    of_kind = settings.get(view.kind)
    found = of_kind.get(view.title) if isinstance(of_kind, dict) else None
    return found if isinstance(found, dict) else {}


def picture_of(sources: Sources, asked: Mapping[str, Any] | None = None) -> Picture:
    """The picture of the view behind the sources, with what may be chosen; ``asked`` is what has been, as
    :class:`ViewChoices` takes it. Raises ``SourceError``, ``NotYet``, and ``PluginError`` of a guest's own picture.
    """
    view = sources.view
    choices = ViewChoices(asked, kept_of(sources.run.view_settings, view))
    picture: Picture = import_module(f"plaidwork.core.views.{view.kind}").load(sources, choices)
    return replace(picture, choices=choices.declared, kept=choices.kept)
