"""Which page draws which kind of view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from PySide6.QtWidgets import QWidget

from plaidwork.core.contract.spec import View
from plaidwork.core.contract.view_kinds import VIEW_KINDS as CATALOGUE
from plaidwork.core.inference.run import Run
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


_PAGES: dict[str, Callable[[], type[ResultPage]]] = {
    "biclusters": _lazy("biclusters", "BiclusterPage"),
    "table": _lazy("table_page", "TablePage"),
    "custom": _lazy("custom_page", "CustomPage"),
}
"""Page class of the kinds in ``core/contract/view_kinds.py`` that are not pictures, or whose pictures stand beside a panel of
their own; all others are drawn from ``core/views``, by the module of their name."""

VIEW_KINDS: dict[str, ViewKind] = {
    name: ViewKind(_PAGES.get(name, _lazy("picture_page", "PicturePage")), kind.icon, kind.required)
    for name, kind in CATALOGUE.items()
}


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
