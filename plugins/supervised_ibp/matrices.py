"""Documents by words as a sparse matrix, in memory or mapped; what is made of a mapped one is mapped as well, with the same numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from plaidwork.core.api_sparse import new_values, row_blocks, taken

AT_ONCE = 1 << 20
"""Values that are looked at together."""


def fixed(array: np.ndarray, dtype: Any) -> np.ndarray:
    """The array as that type, in one piece, not to be written to: kernels are compiled once for all data."""
    found = np.ascontiguousarray(array, dtype).view()
    found.flags.writeable = False
    return found


def all_of(matrix: csr_matrix, rule: Callable[[np.ndarray], np.ndarray]) -> bool:
    """Whether a rule holds for all stored values."""
    parts = range(0, len(matrix.data), AT_ONCE)
    return all(bool(rule(matrix.data[lo : lo + AT_ONCE]).all()) for lo in parts)


@dataclass(frozen=True)
class Words:
    """A CSR matrix of documents (n) by words (d), its entries in order, each once; ``mapped``: its arrays stay out of memory."""

    csr: csr_matrix
    mapped: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.csr.shape
        return int(n), int(d)

    def rows(self, index: np.ndarray) -> Words:
        """The documents at ``index``; itself where these are all."""
        if len(index) == self.shape[0] and (np.diff(index) == 1).all():
            return self
        made = taken(self.csr, index) if self.mapped else csr_matrix(self.csr[index])
        return Words(made, self.mapped)

    def columns(self, index: np.ndarray) -> Words:
        """The words at ``index``, in their order; itself where these are all."""
        if len(index) == self.shape[1]:
            return self
        if not self.mapped:
            return Words(csr_matrix(self.csr[:, index]))
        return Words(taken(self.csr, None, lambda block: block[:, index], len(index)), True)

    def valued(self, change: Callable[[csr_matrix], np.ndarray]) -> Words:
        """The same entries with the values that ``change`` makes of each block of documents."""
        if self.mapped:
            return Words(new_values(self.csr, change), True)
        return Words(csr_matrix((change(self.csr), self.csr.indices, self.csr.indptr), self.csr.shape))

    def without_zeros(self) -> Words:
        """Without entries that are 0; itself where there are none."""
        if all_of(self.csr, lambda data: data != 0):
            return self
        if not self.mapped:
            found = self.csr.copy()
            found.eliminate_zeros()
            return Words(found)
        return Words(taken(self.csr, None, _without_zeros), True)

    def blocks(self) -> Iterator[tuple[slice, csr_matrix]]:
        """Some documents at a time, so that what is worked out of them stays small; which ones they are."""
        first = 0
        for block in row_blocks(self.csr):
            yield slice(first, first + block.shape[0]), block
            first += block.shape[0]


def _without_zeros(block: csr_matrix) -> csr_matrix:
    found = block.copy()
    found.eliminate_zeros()
    return found
