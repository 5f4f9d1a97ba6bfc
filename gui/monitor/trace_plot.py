"""The picture of one declared trace: a line per chain."""

from __future__ import annotations

import numpy as np

from plaidwork.core.contract.spec import Trace
from plaidwork.core.inference.run import Run
from plaidwork.core.spelling import inside_sentence
from plaidwork.gui.language import tr
from plaidwork.gui.monitor.decimate import decimate
from plaidwork.gui.plots import Line, Plot

_POINTS = 1000
_MOST_IN_LEGEND = 4
"""More chains are told apart by the colours in the side panel."""


class TracePlot(Plot):
    """One declared trace, one line per chain."""

    def __init__(self, run: Run, trace: Trace, large: bool) -> None:
        super().__init__(
            trace.title[:1].upper() + trace.title[1:],
            trace.hint if large else "",
            whole_x=True,
            whole_y=trace.kind == "count",
            log_y=trace.y_log,
        )
        self.trace = trace
        self.large = large
        if trace.hint:
            self.setToolTip(tr(trace.hint))
        self.set_labels(
            "sweep" if large else "", _y_label(trace) if large else trace.unit
        )  # its title names it
        self._run = run
        self._lines_by_chain: list[Line] = []
        self._drawn: list[int] = []
        self._add_chains()
        self.y_axis.setStyle(showValues=False)  # no numbers before there are any
        self.setMinimumHeight(220 if large else 150)

    def _add_chains(self) -> None:
        """A line for each chain that has none yet: there may be more restarts while a fit goes on."""
        run = self._run
        for record in run.chains[len(self._drawn) :]:
            line = self.add_line(
                f"{run.chain_word.capitalize()} {record.chain + 1}",
                record.chain,
                legend=self.large and len(run.chains) <= _MOST_IN_LEGEND,
                width=1.4 if self.large else 1.2,
            )
            self._lines_by_chain.append(line)
            self._drawn.append(-1)
        if len(self._drawn) > _MOST_IN_LEGEND:
            self.set_legend([])  # it would name the first ones alone

    def draw(self, snapshots: list[dict[str, np.ndarray]]) -> None:
        """Draw what is new."""
        self._add_chains()
        for index, snapshot in enumerate(snapshots):
            values = snapshot[self.trace.name]
            if len(values) != self._drawn[index]:
                self._drawn[index] = len(values)
                if self.y_axis.style["showValues"] != any(drawn > 0 for drawn in self._drawn):
                    self.y_axis.setStyle(showValues=not self.y_axis.style["showValues"])
                self._lines_by_chain[index].set_data(
                    *decimate(values, _POINTS if self.large else _POINTS // 3)
                )


def _y_label(trace: Trace) -> str:
    name = inside_sentence(trace.title)
    return f"{name} ({trace.unit})" if trace.unit else name
