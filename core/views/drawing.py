"""From a view of a run to its picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from plaidwork.core.contract.view_kinds import VIEW_KINDS
from plaidwork.core.pictures import Picture, ViewChoices
from plaidwork.core.views.sources import Sources


def is_picture(kind: str) -> bool:
    """Whether views of a kind of the catalogue are pictures."""
    return kind in VIEW_KINDS and find_spec(f"plaidwork.core.views.{kind}") is not None


def picture_of(
    sources: Sources,
    asked: Mapping[str, Any] | None = None,
    selected: Mapping[str, tuple[int, ...]] | None = None,
) -> Picture:
    """The picture of the view behind the sources, with what may be chosen; ``asked`` is what has been, and ``selected``
    what is selected in the run, as :class:`ViewChoices` takes them. Raises ``SourceError``, ``NotYet``, and ``PluginError`` of a guest's own picture.
    """
    choices = ViewChoices(asked, selected)
    picture: Picture = import_module(f"plaidwork.core.views.{sources.view.kind}").load(sources, choices)
    return replace(picture, choices=choices.declared)
