"""Stands in for a page that could not be made."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QWidget

from plaidwork.core.contract.spec import View
from plaidwork.core.inference.run import Run
from plaidwork.core.views.sources import Sources
from plaidwork.gui.results.page import ResultPage
from plaidwork.gui.workbench import Workbench


class BrokenPage(ResultPage):
    """Says why."""

    icon_name = "error"

    def __init__(
        self,
        workbench: Workbench,
        run: Run,
        view: View,
        parent: QWidget | None = None,
        *,
        reason: str = "",
        details: str = "",
    ) -> None:
        self._reason, self._why = reason, details
        super().__init__(workbench, run, view, parent)

    def build(self) -> QWidget:
        return QWidget()

    def refresh(self) -> None:
        """Nothing to load."""
        self.show_failure(self._reason, self._why)

    def load(self, sources: Sources) -> Any:
        return None

    def show_loaded(self, loaded: Any) -> None:
        self.show_failure(self._reason, self._why)
