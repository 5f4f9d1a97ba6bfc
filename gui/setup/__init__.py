"""Setting up a fit: forms made from what a model declares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plaidwork.gui.setup.setup_page import SetupPage

__all__ = ["SetupPage"]


def __getattr__(name: str) -> Any:
    """Import on first use."""
    if name == "SetupPage":
        from plaidwork.gui.setup.setup_page import SetupPage

        return SetupPage
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
