"""What a sampler never changes although its prior does: a joint test cannot see it, as what stays where the prior put it has its law."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from plaidwork.core.contract.spec import ModelSpec
from plaidwork.core.draws.counting import counted

OFTEN = 0.5
"""Share of prior draws that differ from the one before, from which on an entry has to change in some chain: an entry that is 0 in
nearly all of them may rightly stay so."""


class Moving:
    """Follows every entry of every variable, of ragged ones length and sum: first prior draws, then chains."""

    def __init__(self, spec: ModelSpec) -> None:
        self._variables = spec.variables
        self._before: dict[str, np.ndarray] = {}
        self._differs: dict[str, np.ndarray] = {}
        self._changes: dict[str, np.ndarray] = {}
        self._draws = 0

    def prior(self, draws: Mapping[str, Any]) -> None:
        """Another draw from the prior."""
        self._draws += 1
        self._follow(draws, self._differs)

    def begin(self) -> None:
        """What comes next is the first of a chain."""
        self._before = {}

    def chain(self, draws: Mapping[str, Any]) -> None:
        """Another draw of the chain."""
        self._follow(draws, self._changes)

    def _follow(self, draws: Mapping[str, Any], counts: dict[str, np.ndarray]) -> None:
        for variable in self._variables:
            name, value = variable.name, np.asarray(draws[variable.name], float)
            now = np.array([len(value), value.sum()]) if variable.ragged else value.ravel()
            before = self._before.get(name)
            if before is not None and len(before) == len(now):
                counts[name] = counts.get(name, 0) + (now != before)
            self._before[name] = now.copy()

    def stuck(self) -> list[str]:
        """The variables of which entries vary in the prior and never change in any chain, and how many."""
        found = []
        for name, differs in self._differs.items():
            changes = self._changes.get(name)
            if changes is None or len(changes) != len(differs):
                continue
            wrong = int(((differs >= OFTEN * self._draws) & (changes == 0)).sum())
            if wrong:
                of = f" ({wrong} of {counted(len(differs), 'entry')})" if len(differs) > 1 else ""
                found.append(f"“{name}”{of}")
        return found
