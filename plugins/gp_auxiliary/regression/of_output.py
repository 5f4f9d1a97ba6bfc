"""The results of one of several outputs, which is chosen above a picture."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import ResultStore
from plaidwork.core.api_pictures import Picture, ViewChoices


def nothing() -> Picture:
    """Before there is anything."""
    return Picture("Fit", empty=("Nothing to show yet", "No draw is kept yet."))


class OfOutput:
    """Results with the numbers, words and samples of one of several outputs; of a single output the results as they are."""

    def __init__(self, results: ResultStore, number: int) -> None:
        self._results, self._number = results, number
        self._several = "output_names" in results
        self.known = np.isfinite(self._own("point_y")) if "point_y" in results else np.zeros(0, dtype=bool)

    def __contains__(self, name: str) -> bool:
        return name in self._results

    def array(self, name: str) -> np.ndarray:
        """A result's numbers."""
        found = self._own(name)
        return found[self.known] if name.startswith("point_") else found

    def text(self, name: str) -> str:
        """Words; empty where there are none."""
        if self._several and f"{name}_of" in self._results:
            return str(self._results.array(f"{name}_of")[self._number])
        return self.whole(name)

    def whole(self, name: str) -> str:
        """Words of all outputs."""
        found = self._results.get(name, "")
        return found if isinstance(found, str) else ""

    def _own(self, name: str) -> np.ndarray:
        result = self._results[name]
        values = np.asarray(result.values)
        return values[self._number] if self._several and result.dims[:1] == ("output",) else values


def of_output(results: ResultStore, choices: ViewChoices) -> tuple[OfOutput, str]:
    """The results of the output that is chosen, and its name; “value” where a single one has none."""
    if "output_names" not in results:
        found = OfOutput(results, 0)
        return found, found.whole("value_name") or "value"
    names = [str(name) for name in results.array("output_names")]
    chosen = choices.among("output", "Output", names, each="output")
    return OfOutput(results, chosen), names[chosen]
