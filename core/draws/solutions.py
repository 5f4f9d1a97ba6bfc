"""Solutions: groups of chains that found the same, where the chains of a run do not agree.

Chains of one group stand at the same level in every quantity that is judged, and their factors or blocks can be paired.
How much each group counts is found elsewhere, from how well it predicts (stacking, Yao, Vehtari, Gelman 2022).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.contract.spec import ModelSpec, Variable
from plaidwork.core.draws.draws import ChainView, Kept
from plaidwork.core.draws.summaries import correlate_rows, match_factors

LEAST_DRAWS = 20
"""Draws per chain from which chains are told apart."""
SAME_OPTIMUM = 0.5
"""Restarts whose final objectives differ by no more, in nats, reached the same optimum; beside what their stop left."""
_COMPARED = 4
"""Draws of each chain whose factors are paired with those of another."""
_LESS_ALIKE = 0.1
"""By how much the agreement of two chains may be below that of draws within either."""
_MOST_ITEMS = 2000
"""Items of a factor by which it is compared; of more, as many spread evenly."""


@dataclass(frozen=True, slots=True)
class Solution:
    """A group of chains that found the same.

    Attributes
    ----------
    chains : their numbers, from 0.
    level : mean objective over the second half of their draws; NaN without an objective.
    weight : share in the mixture that predicts best, 0 to 1; NaN where that is not known.
    elpd, elpd_error : log density of observations that were held out, or left out in turn, and its standard error, nats.
    behind, behind_error : by how much less than the heaviest solution it predicts, and the standard error of that difference.
    unreliable : share of the observations that could not be left out by weights (k-hat too large).
    same_level : whether it stands where the one with the highest objective does, in all quantities that tell chains apart.
    """

    chains: tuple[int, ...]
    level: float
    weight: float = float("nan")
    elpd: float = float("nan")
    elpd_error: float = float("nan")
    behind: float = float("nan")
    behind_error: float = float("nan")
    unreliable: float = 0.0
    same_level: bool = False


def same_optimum(schedule: Schedule | None, final: np.ndarray) -> float:
    """Nats below the best of the objectives ``final`` (restarts,) within which a restart has reached it.

    Half a nat, by which no conclusion changes, and the tolerance of the stop: the gain that a restart may still have had,
    a share of the objective where the schedule has no window.
    """
    if schedule is None:
        return SAME_OPTIMUM
    unit = 1.0 if schedule.window else max(1.0, float(np.abs(final[np.isfinite(final)]).max(initial=0.0)))
    return SAME_OPTIMUM + schedule.tolerance * unit


def group_chains(
    kept: Kept, spec: ModelSpec, quantities: Sequence[np.ndarray], schedule: Schedule | None = None
) -> tuple[Solution, ...]:
    """Solutions, the one with the highest objective first; a single one when the chains agree.

    A chain joins the first group whose leading chain is like it: in each of the ``quantities`` (chain, draw), over the second
    half, the middle 90 % of the two overlap, and their factors or blocks pair up about as well as those of draws within
    either chain do. For restarts, whose only draw counts, objectives within :func:`same_optimum` count as equal.
    """
    n_draws = min((chain.n_draws for chain in kept.chains), default=0)
    sampled = spec.algorithm == "mcmc"
    if len(kept) < 2 or (sampled and n_draws < LEAST_DRAWS):
        return ()
    level = _levels(kept, spec)
    ranges = (
        [_middle(values) for values in quantities]
        if sampled
        else [_reach(level, same_optimum(schedule, level))]
    )
    structure = _Structure(kept, spec)

    def level_with(chain: int, other: int) -> bool:
        return not any(_apart(one[chain], one[other]) for one in ranges)

    groups: list[list[int]] = []
    for chain in np.argsort(-level, kind="stable").tolist():
        for group in groups:
            if level_with(chain, group[0]) and structure.alike(chain, group[0]):
                group.append(chain)
                break
        else:
            groups.append([chain])
    numbers = [chain.chain for chain in kept.chains]
    sign = _sign(spec)
    return tuple(
        Solution(
            tuple(sorted(numbers[c] for c in group)),
            sign * float(np.mean(level[group])),
            same_level=level_with(group[0], groups[0][0]),
        )
        for group in groups
    )


def _sign(spec: ModelSpec) -> float:
    trace = spec.primary_trace
    return -1.0 if trace is not None and trace.goal == "down" else 1.0


def _levels(kept: Kept, spec: ModelSpec) -> np.ndarray:
    """(chains,) mean objective over the second half of the draws, higher is better; zeros without one."""
    trace = spec.primary_trace
    if trace is None or trace.kind == "acceptance":
        return np.zeros(len(kept))
    values = [chain.kept_trace(trace.name) for chain in kept.chains]
    means = [float(np.mean(one[len(one) // 2 :])) for one in values]
    return _sign(spec) * np.nan_to_num(np.array(means), nan=-np.inf)


def _middle(values: np.ndarray) -> np.ndarray:
    """(chains, 2) where the middle 90 % of the second half of the draws lie."""
    half = values[:, values.shape[1] // 2 :]
    return np.asarray(np.quantile(half, (0.05, 0.95), axis=1).T)


def _reach(level: np.ndarray, within: float) -> np.ndarray:
    """(restarts, 2) final objectives, half of what may lie between equal ones to either side."""
    return np.stack([level - 0.5 * within, level + 0.5 * within], axis=1)


def _apart(one: np.ndarray, other: np.ndarray) -> bool:
    return bool(one[1] < other[0] or other[1] < one[0])


class _Structure:
    """How alike the factors or blocks of draws are, whatever their order and signs."""

    def __init__(self, kept: Kept, spec: ModelSpec) -> None:
        self._chains, self._paired = kept.chains, _paired(spec)
        self._found: dict[int, dict[str, tuple[list[np.ndarray], float]]] = {}

    def alike(self, one: int, other: int) -> bool:
        """Whether two chains found the same."""
        here, there = self._of(one), self._of(other)
        for dim in here:
            (draws, within), (others, within_other) = here[dim], there[dim]
            across = _mean_agreement(draws, others, same=False)
            if across < min(within, within_other) - _LESS_ALIKE:
                return False
        return True

    def _of(self, chain: int) -> dict[str, tuple[list[np.ndarray], float]]:
        """By dim some draws of a chain and how alike they are; worked out when a chain is compared for the first time."""
        if chain not in self._found:
            tables = _tables(self._chains[chain], self._paired)
            self._found[chain] = {
                dim: (draws, _mean_agreement(draws, draws, same=True)) for dim, draws in tables.items()
            }
        return self._found[chain]


def _paired(spec: ModelSpec) -> dict[str, list[tuple[Variable, int]]]:
    """By dim of the model along which things have no fixed order (factors, blocks): what tells of their items, and which
    axis is that dim. Of variables with the same dims the first counts: those after it are variances and the like."""
    items = {dim for item in spec.inputs for dim in item.dims}
    found: dict[str, list[tuple[Variable, int]]] = {}
    seen: set[frozenset[str]] = set()
    for variable in spec.variables:
        dims = frozenset(variable.dims)
        if len(variable.dims) == 2 and len(dims & items) == 1 and dims not in seen:
            seen.add(dims)
            axis = 1 if variable.dims[0] in items else 0
            found.setdefault(variable.dims[axis], []).append((variable, axis))
    return found


def _tables(chain: ChainView, paired: dict[str, list[tuple[Variable, int]]]) -> dict[str, list[np.ndarray]]:
    """By dim: of some draws of the second half, (K, n) things by items, each variable of the same total size."""
    n = chain.n_draws
    draws = np.unique(np.linspace(n // 2, n - 1, _COMPARED).astype(int)).tolist() if n else []
    found: dict[str, list[np.ndarray]] = {}
    for dim, variables in paired.items():
        found[dim] = [np.hstack([_scaled(chain, v, axis, draw) for v, axis in variables]) for draw in draws]
    return found


def _scaled(chain: ChainView, variable: Variable, axis: int, draw: int) -> np.ndarray:
    values = np.asarray(np.moveaxis(chain.draw(variable.name, draw), axis, 0), dtype=np.float64)
    if values.shape[1] > _MOST_ITEMS:
        values = values[:, np.linspace(0, values.shape[1] - 1, _MOST_ITEMS).astype(int)]
    values = np.nan_to_num(values - values.mean(axis=1, keepdims=True))
    size = float(np.linalg.norm(values))
    return values / size if size > 0 else values


def _mean_agreement(one: Sequence[np.ndarray], other: Sequence[np.ndarray], same: bool) -> float:
    """Mean agreement of draws, each with each (with ``same`` of a draw with itself left out); 1 when there is one draw."""
    found = [agreement_of(a, b) for i, a in enumerate(one) for j, b in enumerate(other) if not same or i < j]
    return float(np.mean(found)) if found else 1.0


def agreement_of(one: np.ndarray, other: np.ndarray) -> float:
    """How alike things (K, n) and (J, n) are, 0 to 1: absolute correlations of the pairs that are best, by their size."""
    sizes = [np.linalg.norm(x - x.mean(axis=1, keepdims=True), axis=1) for x in (one, other)]
    total = float(np.linalg.norm(sizes[0]) * np.linalg.norm(sizes[1]))
    if total == 0:
        return 1.0 if not sizes[0].any() and not sizes[1].any() else 0.0
    if len(one) > len(other):  # every one of the fewer gets a partner
        one, other, sizes = other, one, sizes[::-1]
    weighted = np.abs(correlate_rows(one, other)) * np.outer(*sizes)
    index, _ = match_factors(weighted)
    return float(weighted[np.arange(len(one)), index].sum() / total)
