"""What every group of commands works on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plaidwork.gui.main_window import MainWindow
    from plaidwork.gui.setup.setup_page import SetupPage
    from plaidwork.gui.workbench import Workbench


SESSION_SUFFIX = ".plaidwork"
SESSION_FILTER = f"Plaidwork sessions (*{SESSION_SUFFIX})"


class CommandGroup:
    """Commands that use the workbench and what the window shows, nothing else."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._reported_results: set[str] = set()
        self._asking: SetupPage | None = None
        """The set-up page that data are being imported for."""

    @property
    def _workbench(self) -> Workbench:
        return self._window.workbench
