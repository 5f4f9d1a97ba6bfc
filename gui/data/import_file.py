"""Reading one file through its dialog, wherever data are asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QDialog, QWidget

from plaidwork.core.data.dataset import Dataset


def datasets_of_file(path: Path, registry: Any, parent: QWidget | None) -> list[Dataset]:
    """What the user takes from a file; nothing after Cancel. A column of texts leads on to the window for texts."""
    from plaidwork.gui.data.import_dialog import ImportDialog

    dialog = ImportDialog(path, registry, parent)
    accepted, column = dialog.exec() == QDialog.DialogCode.Accepted, dialog.text_column
    dialog.deleteLater()
    if accepted:
        return dialog.datasets
    return datasets_of_texts(path, column, parent) if column else []


def datasets_of_texts(path: Path, column: str, parent: QWidget | None) -> list[Dataset]:
    """The words of texts, counted as the user wants; nothing after Cancel."""
    from plaidwork.gui.data.text_dialog import TextImportDialog

    dialog = TextImportDialog(path, {"text_column": column} if column else {}, parent)
    accepted = dialog.exec() == QDialog.DialogCode.Accepted
    dialog.deleteLater()
    return [dialog.dataset] if accepted and dialog.dataset is not None else []
