"""Names of the items of a run's axes, and whether the data in the session are still those of the run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from plaidwork.core.inference.run import Run

if TYPE_CHECKING:
    from plaidwork.core.session.session import Session


class AxisLabels:
    """Item names by dim of a run, as long as the data in the session are those of the run."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def of(self, run: Run) -> Mapping[str, Sequence[str]]:
        found: dict[str, Sequence[str]] = {}
        if not self._unchanged(run):
            return found
        for item in run.spec.inputs:
            for name in run.inputs.get(item.name, ()):
                dataset = self._session.datasets[name]
                for axis, dim in enumerate(item.dims):
                    if not (item.many and axis == 1):
                        found.setdefault(dim, (dataset.row_names, dataset.column_names)[axis])
        return found

    def _unchanged(self, run: Run) -> bool:
        hasher = hashlib.sha256()
        for key in sorted(run.inputs):
            for name in run.inputs[key]:
                if name not in self._session.datasets:
                    return False
                hasher.update(f"{key}={self.digest(name)};".encode())
        return hasher.hexdigest() == run.data_hash

    def digest_of(self, name: str) -> str:
        """The dataset's digest where somebody has needed it, else empty."""
        kept, dataset = self._session.__dict__.get("_digests", {}), self._session.datasets.get(name)
        known = name in kept and kept[name][0] is dataset
        return str(kept[name][1]) if known else dataset.known_digest if dataset is not None else ""

    def digest(self, name: str) -> str:
        """The dataset's digest, remembered in the session from save to save."""
        kept: dict[str, tuple[Any, str]] = self._session.__dict__.setdefault("_digests", {})
        dataset = self._session.datasets[name]
        if name not in kept or kept[name][0] is not dataset:
            kept[name] = (dataset, dataset.digest())
        return kept[name][1]
