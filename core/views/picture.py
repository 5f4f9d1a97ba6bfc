"""A picture of a plugin's own. Whatever the plugin raises names it, and the program goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from plaidwork.core.contract.plugin_info import passes, plugin_error
from plaidwork.core.contract.views import PictureFactory
from plaidwork.core.errors import PluginError
from plaidwork.core.pictures import Mark, Picture, ViewChoices
from plaidwork.core.views.sources import Sources


def load(sources: Sources, choices: ViewChoices) -> Picture:
    """What the ``PictureFactory`` of the option ``factory`` makes. Raises ``PluginError`` when that fails."""
    factory, store = sources.picture_factory(), sources.store()
    try:
        found = factory.load(store, choices)
        if not isinstance(found, Picture):
            raise PluginError(f"it returned {type(found).__name__}, not a Picture", hook="load")
    except BaseException as error:
        if passes(error) and not isinstance(error, Exception):
            raise
        raise plugin_error(factory, "load", error) from error
    panels = [
        replace(panel, marks=tuple(_guarded(mark, factory) for mark in panel.marks)) for panel in found.panels
    ]
    return replace(found, panels=tuple(panels))


def _guarded(mark: Mark, factory: PictureFactory) -> Mark:
    """A mark whose read-outs are texts, whatever the plugin's function does."""
    if mark.read is None or isinstance(mark.read, tuple):
        return mark
    read: Callable[[int], str] = mark.read

    def told(piece: int) -> str:
        try:
            return str(read(piece))
        except Exception as error:
            return plugin_error(factory, "read", error).message

    return replace(mark, read=told)
