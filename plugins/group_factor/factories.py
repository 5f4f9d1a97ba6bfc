"""The pictures of this model by id; what draws them is imported when it is asked for."""

from __future__ import annotations

from plaidwork.core.api import ResultStore
from plaidwork.core.api_pictures import Picture, PictureFactory, ViewChoices


def _course(results: ResultStore, choices: ViewChoices) -> Picture:
    from plaidwork.plugins.group_factor.pictures import course

    return course(results, choices)


FACTORIES = (PictureFactory("group_factor.course", "Over time or place", _course),)
