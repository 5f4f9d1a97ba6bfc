"""Which page draws which kind of view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from PySide6.QtWidgets import QWidget

from plaidwork.core.run import Run
from plaidwork.core.spec import View
from plaidwork.gui.results.page import ResultPage
from plaidwork.gui.workbench import Workbench


@dataclass(frozen=True)
class ViewKind:
    """A kind of view: ``load`` imports its page class on first use; all of ``roles`` must be in the source."""

    load: Callable[[], type[ResultPage]]
    icon: str
    roles: tuple[str, ...] = ()


def _lazy(module: str, name: str) -> Callable[[], type[ResultPage]]:
    return lambda: getattr(import_module(f"plaidwork.gui.results.{module}"), name)


VIEW_KINDS: dict[str, ViewKind] = {
    "biclusters": ViewKind(_lazy("biclusters", "BiclusterPage"), "blocks", ("matrix", "rows", "cols")),
    "table": ViewKind(_lazy("table_page", "TablePage"), "table", ("values",)),
    "heatmap": ViewKind(_lazy("heatmap_page", "HeatmapPage"), "heatmap", ("values",)),
    "bars": ViewKind(_lazy("bars_page", "BarsPage"), "histogram", ("values",)),
}
"""Kinds by name; add to it to offer another one."""


def view_icon(view: View) -> str:
    """Name of the icon of a view, without making its page."""
    kind = VIEW_KINDS.get(view.kind)
    return kind.icon if kind else "chart"


def make_view(workbench: Workbench, run: Run, view: View, parent: QWidget | None = None) -> ResultPage:
    """The page of a view; what is wrong with the view is said on the page, never raised."""
    from plaidwork.gui.results.broken_page import BrokenPage

    kind = VIEW_KINDS.get(view.kind)
    if kind is None:
        reason = f"The model asks for a picture of the kind “{view.kind}”, which this version does not draw."
        return BrokenPage(workbench, run, view, parent, reason=reason)
    try:
        return kind.load()(workbench, run, view, parent)
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
