"""Data: import, the page of a dataset, transformations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plaidwork.gui.data.data_page import DataPage
    from plaidwork.gui.data.import_dialog import ImportDialog
    from plaidwork.gui.data.text_dialog import TextImportDialog
    from plaidwork.gui.data.transform_dialog import TransformDialog

__all__ = ["DataPage", "ImportDialog", "TextImportDialog", "TransformDialog"]

_HOMES = {
    "DataPage": "data_page",
    "ImportDialog": "import_dialog",
    "TextImportDialog": "text_dialog",
    "TransformDialog": "transform_dialog",
}


def __getattr__(name: str) -> Any:
    """Import on first use."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"plaidwork.gui.data.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
