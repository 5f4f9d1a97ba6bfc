"""The Plugins window: what is there, why it failed, turning on and off, checking, installing."""

from plaidwork.gui.plugins.dialog import PluginsDialog

__all__ = ["PluginsDialog"]
