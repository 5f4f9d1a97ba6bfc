"""The words for views and their values. No Qt widgets."""

from __future__ import annotations

from collections.abc import Sequence

from plaidwork.core.data.overview import Overview, ViewFacts
from plaidwork.core.draws.counting import counted
from plaidwork.gui.numbers import format_count, format_percent

KIND_LABELS = {
    "real": "real numbers",
    "count": "counts",
    "binary": "zeros and ones",
    "ordinal": "ordered whole numbers",
    "categorical": "labels",
}


def headline(found: Overview, word: str) -> str:
    """``184 patients in 2 views, 172 of them in all``."""
    n = len(found.samples)
    text = f"{format_count(n)} {word} in {counted(len(found.views), 'view')}"
    if found.n_complete == n:
        return f"{text}, every one in all of them"
    return f"{text}, {format_count(found.n_complete)} of them in all"


def doubts(views: Sequence[ViewFacts]) -> list[str]:
    """What is worth a look, a sentence for each view that has something."""
    return [f"{view.name}: {view.doubt}" for view in views if view.doubt]


def missing_text(view: ViewFacts) -> str:
    """The share of missing cells among the samples that have the view."""
    return "none" if view.missing == 0 else format_percent(view.missing, 1 if view.missing < 0.1 else 0)


def feature_text(view: ViewFacts) -> str:
    """``2 constant, 1 empty`` or nothing."""
    parts = [(view.n_constant, "constant"), (view.n_empty, "empty")]
    return ", ".join(f"{format_count(number)} {word}" for number, word in parts if number)


def table_columns(found: Overview) -> dict[str, list]:
    """The table behind the picture: a row per view."""
    views = found.views
    return {
        "View": [view.name for view in views],
        "Samples": [view.n_samples for view in views],
        "Features": [view.n_features for view in views],
        "Missing": [missing_text(view) for view in views],
        "Constant": [view.n_constant for view in views],
        "Empty": [view.n_empty for view in views],
        "Looks like": [KIND_LABELS[view.kind] for view in views],
    }
