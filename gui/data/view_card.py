"""One view on a card: its size, the spread of its values, what they look like and what is unsafe."""

from __future__ import annotations

import numpy as np
from PySide6.QtWidgets import QWidget

from plaidwork.core.data.overview import ViewFacts
from plaidwork.core.draws.counting import labelled
from plaidwork.gui.data.thumbs import HistogramThumb
from plaidwork.gui.data.view_facts import KIND_LABELS, feature_text, missing_text
from plaidwork.gui.setup.error_line import ErrorLine
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Card, Label
from plaidwork.gui.widgets.layouts import STRETCH, vertical


class ViewCard(Card):
    """Name, histogram, and a line or two."""

    def __init__(
        self,
        facts: ViewFacts,
        counts: np.ndarray,
        edges: np.ndarray,
        labels: tuple[str, str, str],
        parent: QWidget | None = None,
    ) -> None:
        """``labels``: what samples and features are called, and the unit of the values."""
        super().__init__(parent, color="surface")
        samples, features, unit = labels
        self.facts = facts
        sizes = f"{labelled(facts.n_samples, samples)} × {labelled(facts.n_features, features)}"
        histogram = HistogramThumb()
        histogram.set_counts(counts, edges, f"value ({unit})" if unit else "value")
        parts = [
            f"Looks like {KIND_LABELS[facts.kind]}",
            f"missing: {missing_text(facts)}",
            feature_text(facts),
        ]
        self.line = Label("; ".join(part for part in parts if part), "caption", "muted", wrap=True)
        self.warning = ErrorLine()
        vertical(
            Label(facts.name, "strong", elide=True, given=True),
            Label(sizes, "caption", "muted", elide=True),
            histogram,
            self.line,
            self.warning,
            STRETCH,
            on=self,
            spacing=space.XS,
            margins=(space.L, space.M, space.L, space.M),
        )
        self.warning.set_text(facts.doubt, "warning")
        self.setAccessibleName(f"{facts.name}: {sizes}. {self.line.text()}. {facts.doubt}")
