"""What a fit says at chosen values of an input, computed when it is asked for: maps and curves over any of its columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.model_data import Block
from plaidwork.core.contract.plugin_info import blamed
from plaidwork.core.draws.counting import counted
from plaidwork.core.findings.fitted import RunInput
from plaidwork.core.findings.naming import Naming
from plaidwork.core.inference.linear_algebra import one_thread

OPTION = "response"
"""Option of a view: ``input``, and by role of the view the name of what ``Model.response`` returns for it."""
ACROSS, ALONG = 40, 160
"""Places of a map along each axis, and of a curve."""
FAR = 100.0
"""Interquartile ranges from the quartiles beyond which a value is taken for an error of the file."""


@dataclass(frozen=True)
class Places:
    """Where the fit is asked: ``rows`` (m, D) of the input, of a map line by line from its first place up.

    Attributes
    ----------
    columns : numbers of the two columns across and up, or of the one along which a curve runs.
    axes : places along each of them, rising.
    """

    rows: np.ndarray
    columns: tuple[int, ...]
    axes: tuple[np.ndarray, ...]


class ResponseInput(RunInput):
    """The columns of one input of a run, and what the model says at other values of them."""

    hook = "response"

    @cached_property
    def block(self) -> Block:
        """The input as fitted. Raises ``DataError`` when the data are gone or have changed."""
        found = self._data[self.name]
        return found[0] if isinstance(found, tuple) else found

    @cached_property
    def values(self) -> np.ndarray:
        """(n, D) values of all items, NaN where missing."""
        values = self.block.values
        dense = values if isinstance(values, np.ndarray) else values.toarray()
        return np.where(self.block.observed, dense, np.nan)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, as they are shown."""
        return tuple(Naming(self._run, self._datasets).texts(self.block.names[1]))

    def places(self, *columns: int) -> Places:
        """Places over one column or two, a tenth of their range beyond it on either side; the others at their medians."""
        count = ALONG if len(columns) == 1 else ACROSS
        axes = tuple(axis_places(self.values[:, column], count) for column in columns)
        grid = np.meshgrid(*axes)
        rows = np.repeat(np.nanmedian(self.values, axis=0)[None], grid[0].size, axis=0)
        for column, at in zip(columns, grid, strict=True):
            rows[:, column] = at.ravel()
        return Places(rows, columns, axes)

    def at(self, rows: np.ndarray, wanted: frozenset[str]) -> dict[str, Result]:
        """What the fit says at rows (m, D) of the input: the results wanted, all with the rows as their first axis.

        Raises ``PluginError`` when the model returns anything else, ``SessionError`` when it is not installed.
        """
        with one_thread(), blamed(self._model, "response"):
            params = self._model.spec.stored_params(self._run.params)
            found = self._model.response(self._kept, self._data, params, self.name, rows, wanted)
            return checked_response(found, len(rows), wanted)


def checked_response(found: Any, count: int, wanted: frozenset[str]) -> dict[str, Result]:
    """What ``Model.response`` returned for so many rows. Raises ``ValueError`` when it is not what was wanted."""
    if missing := sorted(wanted - set(found)):
        raise ValueError(f"“{missing[0]}” was wanted and not returned")
    results = {name: found[name] for name in wanted}
    for name, result in results.items():
        if not isinstance(result, Result) or result.values.dtype.kind not in "fiub":
            raise ValueError(f"“{name}” is no array of numbers")
        if result.values.ndim == 0 or len(result.values) != count:
            raise ValueError(f"“{name}” has the shape {result.values.shape} for {counted(count, 'row')}")
    return results


def axis_places(values: np.ndarray, count: int) -> np.ndarray:
    """(count,) places from a tenth below the smallest to a tenth above the largest of the values (n,).

    Missing values and those more than ``FAR`` interquartile ranges from the quartiles do not count: where decimal points
    were lost, nothing could be seen between the others.
    """
    known = values[np.isfinite(values)]
    if not len(known):
        return np.linspace(-1.0, 1.0, count)
    first, third = np.quantile(known, [0.25, 0.75])
    if third > first:
        known = known[np.abs(known - (first + third) / 2) <= (FAR + 0.5) * (third - first)]
    low, high = float(known.min()), float(known.max())
    margin = 0.1 * (high - low) if high > low else 1.0
    return np.linspace(low - margin, high + margin, count)
