"""Pages that draw the results of a run; one class per kind of view, none knows a model."""

from plaidwork.gui.results.page import ResultPage
from plaidwork.gui.results.registry import VIEW_KINDS, ViewKind, make_view, view_icon

__all__ = ["VIEW_KINDS", "ResultPage", "ViewKind", "make_view", "view_icon"]
