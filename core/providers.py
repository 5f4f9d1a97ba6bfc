"""What lower parts of the core ask of higher ones: answered by functions that the package puts here when it is imported.

Reading a file may need the readers of plugins, or the data of a session; but readers and data know neither plugins nor
sessions. A run knows neither its model nor its data, by which its solutions are weighed. ``plaidwork/core/__init__.py`` is the one place that knows both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plaidwork.core.data.dataset import Dataset
    from plaidwork.core.data.importers.base import Reader
    from plaidwork.core.draws.solutions import Solution
    from plaidwork.core.findings.predictive import Score
    from plaidwork.core.inference.run import Run


def _no_readers() -> Sequence[Reader]:
    return ()


def _no_session(path: Path, title: str | None = None) -> Dataset:
    raise LookupError(f"nothing reads sessions, asked for {path}")


def _no_weights(run: Run, found: tuple[Solution, ...]) -> tuple[tuple[Solution, ...], str]:
    return found, ""


def _no_score(run: Run) -> Score | None:
    return None


def _no_summary(run: Run) -> None:
    raise LookupError(f"nothing summarises runs, asked for {run.title}")


plugin_readers: Callable[[], Sequence[Reader]] = _no_readers
"""Readers of file formats that plugins bring; plugins are loaded for it."""
session_dataset: Callable[[Path, str | None], Dataset] = _no_session
"""The dataset of a session file that has this title; without a title the only one there."""
weigh_solutions: Callable[[Run, tuple[Solution, ...]], tuple[tuple[Solution, ...], str]] = _no_weights
"""Solutions of a run with their weights, heaviest first, and what these are, in a sentence."""
score_run: Callable[[Run], Score | None] = _no_score
"""How well a run that belongs to a session predicts observations it has not seen; None where its model does not tell."""
summarise_run: Callable[[Run], None] = _no_summary
"""Makes the results of a run that belongs to a session, from what its chains kept."""
