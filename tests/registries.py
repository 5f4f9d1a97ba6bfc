"""A registry that knows one plugin, made in a test."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from plaidwork.core.contract.model import Model
from plaidwork.core.contract.plugin_info import PluginInfo
from plaidwork.core.findings.analysis import Analysis
from plaidwork.core.plugins.registry import Registry


def registry_of(*things: type[Model] | type[Analysis], **hooks: Any) -> Registry:
    """These models and analyses and nothing else; ``hooks`` are further hook implementations. Loaded."""
    module = ModuleType("toy_plugin")
    given = {
        "plaidwork_models": lambda: [thing for thing in things if issubclass(thing, Model)],
        "plaidwork_analyses": lambda: [thing for thing in things if issubclass(thing, Analysis)],
        **hooks,
    }
    for name, hook in given.items():
        setattr(module, name, hook)
    found = Registry()
    found._found = lambda: iter([(PluginInfo("toys", module.__name__, "test"), lambda: module)])
    return found.load()
