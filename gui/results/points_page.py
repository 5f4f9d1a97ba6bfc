"""Base of the pages that show items as points: selecting them, finding them by name, and leaving step by step."""

from __future__ import annotations

from plaidwork.core.findings.naming import findable
from plaidwork.gui.results.page import ResultPage
from plaidwork.gui.results.scatter_chart import ScatterChart
from plaidwork.gui.selection import Selection


class PointsPage(ResultPage):
    """What is loaded has ``names`` of the points, and ``selection_kind``, the axis of the data whose items they are (or empty)."""

    chart: ScatterChart
    _selection: Selection

    def select(self, items: tuple[int, ...]) -> None:
        """Select these items in all views of the run."""
        if self.loaded is not None and self.loaded.selection_kind:
            self._selection.set(self.loaded.selection_kind, items)
        else:
            self.chart.set_marked(items)

    def search(self, text: str) -> list[str]:
        """Select the items whose names hold the text."""
        if self.loaded is None or self.state:
            return []
        wanted = text.casefold()
        hits = [i for i, name in enumerate(self.loaded.names) if text and wanted in findable(name)]
        self.select(tuple(hits))
        return [self.loaded.names[i] for i in hits]

    def leave(self) -> bool:
        """Select nothing, then show all."""
        if self.chart.marked:
            self.select(())
        elif self.chart.zoomed:
            self.chart.reset_view()
        else:
            return False
        return True
