"""What the loaded plugins bring, by kind and id."""

from __future__ import annotations

from typing import Any, NamedTuple

from plaidwork.core.contract.plugin_info import PluginInfo, set_owner
from plaidwork.core.errors import PluginError
from plaidwork.core.plugins.contributions import Contributions


class _Kind(NamedTuple):
    """A kind of thing that plugins bring: where it is in ``Contributions`` and ``PluginInfo``, and how it is called."""

    field: str
    title: str
    hook: str
    owned: bool
    """Whether a fault inside the thing is looked up by the thing itself (``owner_of``)."""


_KINDS = (
    _Kind("models", "model", "plaidwork_models", True),
    _Kind("analyses", "analysis", "plaidwork_analyses", True),
    _Kind("views", "view factory", "plaidwork_views", True),
    _Kind("readers", "reader", "plaidwork_readers", False),
    _Kind("samples", "example", "plaidwork_samples", False),
    _Kind("metrics", "metric", "plaidwork_metrics", False),
)


class Catalogue:
    """Things of all plugins. Whoever changes it holds the registry's lock; a lookup needs none."""

    def __init__(self) -> None:
        self._things: dict[str, dict[str, Any]] = {kind.field: {} for kind in _KINDS}

    def __getitem__(self, field: str) -> dict[str, Any]:
        """Things by id: ``models``, ``analyses``, ``views``, ``readers``, ``samples`` or ``metrics``."""
        return self._things[field]

    def check(self, contributions: Contributions, plugins: list[PluginInfo]) -> None:
        """Raise ``PluginError`` when an id is taken by one of ``plugins``."""
        for kind in _KINDS:
            for id in getattr(contributions, kind.field):
                if id in self._things[kind.field]:
                    owner = next((info for info in plugins if id in getattr(info, kind.field)), None)
                    whose = f" by the plugin {owner.title}" if owner else ""
                    raise PluginError(
                        f"the {kind.title} id “{id}” is already taken{whose}",
                        "Rename one of the two.", hook=kind.hook,
                    )  # fmt: skip

    def put(self, info: PluginInfo, contributions: Contributions) -> None:
        """Take in what a plugin brings, after ``check``; ``info`` lists it from now on."""
        for kind in _KINDS:
            own: dict[str, Any] = getattr(contributions, kind.field)
            self._things[kind.field].update(own)
            setattr(info, kind.field, list(own))
            if kind.owned:
                for thing in own.values():
                    set_owner(thing, info)

    def take_out(self, info: PluginInfo) -> None:
        """Forget everything a plugin contributed."""
        for kind in _KINDS:
            own: list[str] = getattr(info, kind.field)
            for id in own:
                self._things[kind.field].pop(id, None)
            own.clear()
