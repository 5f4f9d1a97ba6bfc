"""What lower parts of the core ask of higher ones: answered by functions that the package puts here when it is imported.

Reading a file may need the readers of plugins, or the data of a session; but readers and data know neither plugins nor
sessions. ``plaidwork/core/__init__.py`` is the one place that knows both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plaidwork.core.data.dataset import Dataset
    from plaidwork.core.data.importers.base import Reader


def _no_readers() -> Sequence[Reader]:
    return ()


def _no_session(path: Path, title: str | None = None) -> Dataset:
    raise LookupError(f"nothing reads sessions, asked for {path}")


plugin_readers: Callable[[], Sequence[Reader]] = _no_readers
"""Readers of file formats that plugins bring; plugins are loaded for it."""
session_dataset: Callable[[Path, str | None], Dataset] = _no_session
"""The dataset of a session file that has this title; without a title the only one there."""
