"""How well a fit predicts observations it has not seen: held-out cells, or each observation left out in turn (PSIS-LOO).

Sources: see :mod:`plaidwork.core.numerics.psis`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plaidwork.core.contract.model import Block, Model, ModelData, Params
from plaidwork.core.contract.plugin_info import blamed
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.draws.draws import ChainView, Kept
from plaidwork.core.draws.mcstats import ess_mean
from plaidwork.core.findings.fitted import fitted_inputs
from plaidwork.core.inference.linear_algebra import one_thread
from plaidwork.core.inference.plan import model_data
from plaidwork.core.inference.run import Run

MOST_DRAWS = 1600
"""Draws of all chains together; of each chain 100 at least."""
MOST_OBSERVATIONS = 4000
"""Observations that are looked at; of more so many are chosen at random, with one seed for all fits."""
MOST_ROWS = 2000
NUMBERS_AT_ONCE = 4_000_000
"""Densities of one call of the model: 32 MB."""
_CHOICE_SEED = 0x6C6F6F
_LEAST = -700.0
"""Log densities below count as this: what a double can hold."""
_JUDGED = 50
"""Observations from which the effective number of draws is taken."""


@dataclass(frozen=True)
class Densities:
    """Log densities of single observations at draws of every chain.

    Attributes
    ----------
    by_chain : one (draws, N) array per chain, in nats.
    held_out : whether the fit has not seen the observations; else each has to be left out.
    block, row, column : (N,) where an observation is; column is -1 where a whole row is one.
    total : (blocks,) how many observations there are in each block, of which N were chosen.
    names : titles of the blocks.
    independent : whether draws are independent, as those from an approximation.
    """

    by_chain: tuple[np.ndarray, ...]
    held_out: bool
    block: np.ndarray
    row: np.ndarray
    column: np.ndarray
    total: np.ndarray
    names: tuple[str, ...]
    independent: bool = False

    def score(self, chains: Sequence[int] | None = None) -> Score:
        """How well these chains together predict (places in ``by_chain``, all when None)."""
        from plaidwork.core.numerics.psis import leave_one_out, log_mean  # numba is loaded on first use

        parts = [self.by_chain[c] for c in (range(len(self.by_chain)) if chains is None else chains)]
        draws = np.concatenate(parts)
        lpd = log_mean(draws)
        if self.held_out:
            return Score(lpd, lpd, np.full(len(lpd), np.nan), len(draws), self)
        elpd, khat = leave_one_out(draws, 1.0 if self.independent else _efficiency(parts))
        return Score(elpd, lpd, khat, len(draws), self)


@dataclass(frozen=True)
class Score:
    """Log predictive densities of observations that the draws have not seen.

    Attributes
    ----------
    elpd : (N,) of each observation; ``lpd`` (N,) with nothing left out.
    khat : (N,) shape of the tail of the weights; NaN for held-out cells, which need no weights.
    n_draws : draws averaged.
    """

    elpd: np.ndarray
    lpd: np.ndarray
    khat: np.ndarray
    n_draws: int
    densities: Densities

    @property
    def held_out(self) -> bool:
        return self.densities.held_out

    @property
    def mean(self) -> float:
        """Log density per observation, of all blocks."""
        return self.sum()[0] / max(int(self.densities.total.sum()), 1)

    def sum(self, block: int | None = None) -> tuple[float, float]:
        """Log density of all observations (of a block) and its standard error, nats; what was not looked at counts as the
        mean of the rest of its block."""
        return _summed(self.elpd, self.densities, block)

    def numbers(self) -> dict[str, float]:
        """By name: log density of all observations, its standard error, the share that is rough; of several blocks each."""
        total, error = self.sum()
        found = {"elpd": total, "elpd_se": error, "elpd_rough": self.unreliable}
        if len(self.densities.names) > 1:
            found |= {f"elpd {name}": self.sum(b)[0] for b, name in enumerate(self.densities.names)}
        return found

    def difference(self, other: Score) -> tuple[float, float]:
        """By how much it predicts better than another of the same observations, with standard error, nats."""
        return _summed(self.elpd - other.elpd, self.densities, None)

    @property
    def unreliable(self) -> float:
        """Share of the observations that cannot be left out by weights (k-hat too large)."""
        from plaidwork.core.numerics.psis import largest_khat

        return float((self.khat > largest_khat(self.n_draws)).mean()) if not self.held_out else 0.0


def _summed(values: np.ndarray, densities: Densities, block: int | None) -> tuple[float, float]:
    """Estimated sum over all observations and its standard error, block by block."""
    total = variance = 0.0
    for b in range(len(densities.total)) if block is None else (block,):
        own, count = values[densities.block == b], int(densities.total[b])
        if len(own):
            total += count * float(own.mean())
            # of all observations as a sample of others like them, and of the chosen ones as a sample of all
            variance += count * float(own.var()) * max(1.0, count / len(own))
    return total, float(np.sqrt(variance))


def _efficiency(parts: Sequence[np.ndarray]) -> float:
    """Effective draws per draw for the densities, the median over some observations (2017, section 2.2)."""
    n = min(len(part) for part in parts)
    step = max(1, parts[0].shape[1] // _JUDGED)
    values = np.exp(np.stack([part[:n, ::step] - part[:, ::step].max(axis=0) for part in parts]))
    found = np.asarray(ess_mean(values)) / (len(parts) * n)
    found = found[np.isfinite(found)]
    return float(np.clip(np.median(found), 0.01, 1.0)) if len(found) else 1.0


def densities_of(model: Model, data: ModelData, params: Params, kept: Kept) -> Densities | None:
    """Log densities of observations at draws of all chains; None when the model tells none, or nothing was observed.

    Cells that were held out are taken where there are any, else what was fitted; the same of the same data, so that fits
    compare. Bounded in memory (about 100 MB) and, by a
    choice of rows, observations and draws, in time. Raises ``PluginError`` when the model returns anything else.
    """
    if not model.offers("log_likelihood") or not kept.n_draws:
        return None
    given = data[model.likelihood_of]
    blocks: tuple[Block, ...] = given if isinstance(given, tuple) else (given,)
    held_out = any(block.held_out is not None and block.held_out.any() for block in blocks)
    rng = np.random.default_rng(_CHOICE_SEED)
    ask = _Asker(model, data, params, kept)
    with one_thread(), blamed(model, "log_likelihood"):
        parts = [_chosen(ask, b, block, len(blocks), held_out, rng) for b, block in enumerate(blocks)]
        found = [
            [ask.densities(chain, b, part) for b, part in enumerate(parts)]
            for chain in range(len(kept.chains))
        ]
    by_chain = [np.concatenate(of_chain, axis=1) for of_chain in found]
    known = np.logical_and.reduce([np.isfinite(values).all(axis=0) for values in by_chain])
    block_of = np.repeat(np.arange(len(parts)), [len(part.row) for part in parts])
    if not known.any():
        return None
    share = [known[block_of == b].mean() if len(part.row) else 0.0 for b, part in enumerate(parts)]
    return Densities(
        tuple(values[:, known] for values in by_chain),
        held_out,
        block_of[known],
        np.concatenate([part.row for part in parts])[known],
        np.concatenate([part.column for part in parts])[known],
        np.array([round(part.total * s) for part, s in zip(parts, share, strict=True)]),
        tuple(block.name for block in blocks),
        model.spec.algorithm != "mcmc",
    )


def run_densities(run: Run, datasets: Mapping[str, Dataset], model: Model) -> Densities | None:
    """:func:`densities_of` what a run has kept. Raises ``DataError`` when its data are gone or have changed."""
    data = model_data(run.spec, fitted_inputs(run, datasets), run.seed, run.holdout)
    return densities_of(model, data, model.spec.stored_params(run.params), run.kept())


@dataclass(frozen=True)
class _Part:
    """Observations chosen of a block, in the order of their rows; ``total`` is how many there are."""

    row: np.ndarray
    column: np.ndarray
    total: int


class _Asker:
    """The model's answers for some draws of every chain, a few rows at a time."""

    def __init__(self, model: Model, data: ModelData, params: Params, kept: Kept) -> None:
        self._model, self._data, self._params, self._chains = model, data, params, kept.chains
        most = max(100, MOST_DRAWS // len(kept.chains))
        self._draws = [_spread(chain.n_draws, most) for chain in kept.chains]

    def at(self, chain: ChainView, draws: np.ndarray, block: int, rows: np.ndarray) -> np.ndarray:
        """What the model returns. Raises ``ValueError`` when its shape is wrong."""
        values = np.asarray(
            self._model.log_likelihood(chain, draws, self._data, self._params, block, rows), dtype=np.float64
        )
        if values.ndim not in (2, 3) or values.shape[1] != len(rows):
            raise ValueError(f"log_likelihood() returned the shape {values.shape} for {len(rows)} rows")
        return np.where(np.isnan(values), np.nan, np.maximum(values, _LEAST))

    def by_cells(self, block: int) -> bool:
        """Whether each cell is an observation, not a whole row."""
        first = next(c for c, chain in enumerate(self._chains) if chain.n_draws)
        return self.at(self._chains[first], self._draws[first][:1], block, np.arange(1)).ndim == 3

    def densities(self, chain: int, block: int, part: _Part) -> np.ndarray:
        """(draws, observations) of one chain."""
        view, draws = self._chains[chain], self._draws[chain]
        found = []
        for here in _in_slices(part, max(1, NUMBERS_AT_ONCE // max(len(draws), 1)), self._width(block)):
            rows, place = np.unique(part.row[here], return_inverse=True)
            values = self.at(view, draws, block, rows)
            found.append(values[:, place] if values.ndim == 2 else values[:, place, part.column[here]])
        return np.concatenate(found, axis=1) if found else np.zeros((max(len(draws), 1), 0))

    def _width(self, block: int) -> int:
        given = self._data[self._model.likelihood_of]
        shape = (given[block] if isinstance(given, tuple) else given).shape
        return int(shape[1]) if len(shape) > 1 else 1


def _chosen(
    ask: _Asker, b: int, block: Block, n_blocks: int, held_out: bool, rng: np.random.Generator
) -> _Part:
    """Which observations of a block are looked at."""
    n, most = block.shape[0], max(1, MOST_OBSERVATIONS // n_blocks)
    rows = np.sort(rng.permutation(n)[: max(1, MOST_ROWS // n_blocks)])
    if len(block.shape) == 1 or not ask.by_cells(b):
        rows = np.sort(rng.permutation(rows)[:most])
        return _Part(rows, np.full(len(rows), -1), n)
    if not isinstance(block.values, np.ndarray):  # sparse: all cells are known
        mask, total = np.ones((len(rows), block.shape[1]), bool), int(np.prod(block.shape))
    else:
        whole = block.observed if not held_out else block.held_out
        mask = np.zeros((len(rows), block.shape[1]), bool) if whole is None else whole[rows]
        total = 0 if whole is None else int(whole.sum())
    row, column = np.nonzero(mask)
    kept = np.sort(rng.permutation(len(row))[:most])
    return _Part(rows[row[kept]], column[kept], total)


def _in_slices(part: _Part, most: int, width: int) -> Iterator[slice]:
    """Slices of observations whose rows together have about ``most`` cells at most."""
    _, first = np.unique(part.row, return_index=True)
    ends = np.append(first, len(part.row))
    step = max(1, most // max(width, 1))
    for start in range(0, len(first), step):
        yield slice(int(ends[start]), int(ends[min(start + step, len(first))]))


def _spread(count: int, most: int) -> np.ndarray:
    """Numbers of ``most`` of ``count`` draws, evenly spaced; all when they are fewer."""
    return (
        np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.int64))
        if count
        else np.zeros(0, np.int64)
    )
