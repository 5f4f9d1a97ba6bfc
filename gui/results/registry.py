"""Which page draws which kind of view."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from PySide6.QtWidgets import QWidget

from plaidwork.core.run import Run
from plaidwork.core.spec import View
from plaidwork.core.view_kinds import VIEW_KINDS
from plaidwork.gui.results.page import ResultPage
from plaidwork.gui.workbench import Workbench


def _lazy(module: str, name: str) -> Callable[[], type[ResultPage]]:
    return lambda: getattr(import_module(f"plaidwork.gui.results.{module}"), name)


PAGES: dict[str, Callable[[], type[ResultPage]]] = {
    "biclusters": _lazy("biclusters", "BiclusterPage"),
    "table": _lazy("table_page", "TablePage"),
    "heatmap": _lazy("heatmap_page", "HeatmapPage"),
    "bars": _lazy("bars_page", "BarsPage"),
}
"""Page class of every kind in ``core/view_kinds.py``, imported on first use; add to both to offer another one."""


def view_icon(view: View) -> str:
    """Name of the icon of a view, without making its page."""
    kind = VIEW_KINDS.get(view.kind)
    return kind.icon if kind else "chart"


def make_view(workbench: Workbench, run: Run, view: View, parent: QWidget | None = None) -> ResultPage:
    """The page of a view; what is wrong with the view is said on the page, never raised."""
    from plaidwork.gui.results.broken_page import BrokenPage

    load = PAGES.get(view.kind)
    if load is None:
        reason = f"The model asks for a picture of the kind “{view.kind}”, which this version does not draw."
        return BrokenPage(workbench, run, view, parent, reason=reason)
    try:
        return load()(workbench, run, view, parent)
    except Exception as error:
        import traceback

        return BrokenPage(
            workbench,
            run,
            view,
            parent,
            reason=f"{type(error).__name__}: {error}",
            details=traceback.format_exc(),
        )
