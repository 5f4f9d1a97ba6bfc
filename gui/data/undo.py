"""Datasets as they were before a step, so that a step can be undone exactly. No Qt.

Nothing is computed backwards: the earlier values are kept as long as the program runs (the newest 1 GB).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from plaidwork.core.data.dataset import Dataset, Step, turned_labels, turned_samples
from plaidwork.core.data.transforms import apply_step

LIMIT = 1_000_000_000


class UndoStore:
    """Earlier versions by the fingerprint of the later one."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._before: OrderedDict[str, Dataset] = OrderedDict()
        self._limit = limit

    def remember(self, after: Dataset, before: Dataset) -> None:
        """Keep what `after` was made from."""
        key = _key(after)
        self._before[key] = before
        self._before.move_to_end(key)
        while len(self._before) > 1 and sum(d.nbytes for d in self._before.values()) > self._limit:
            self._before.popitem(last=False)

    def replay(self, raw: Dataset, steps: Iterable[Step]) -> Dataset:
        """Apply steps to data as imported and remember each stage."""
        for step in steps:
            after = apply_step(raw, step)
            self.remember(after, raw)
            raw = after
        return raw

    def before(self, after: Dataset) -> Dataset | None:
        """The version before the last step, with the present name, labels and notes; None when not kept."""
        found = self._before.get(_key(after))
        if found is None or len(found.steps) != len(after.steps) - 1:
            return None
        labels, samples_in = (after.row_label, after.column_label), after.samples_in
        if after.steps[-1].name == "transpose":
            labels, samples_in = turned_labels(*labels), turned_samples(samples_in)
        return found.with_(
            name=after.name,
            notes=after.notes,
            row_label=labels[0],
            column_label=labels[1],
            samples_in=samples_in,
        )


def _key(dataset: Dataset) -> str:
    return f"{dataset.digest()}/{len(dataset.steps)}"


_store = UndoStore()


def undo_store() -> UndoStore:
    """The store of this process."""
    return _store
