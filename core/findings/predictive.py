"""How well a fit predicts observations it has not seen: held-out cells, or each observation left out in turn (PSIS-LOO).

Sources: see :mod:`plaidwork.core.numerics.psis`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plaidwork.core.contract.model import Model
from plaidwork.core.contract.model_data import Block, ModelData, Params
from plaidwork.core.contract.plugin_info import blamed
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.draws.counting import counted
from plaidwork.core.draws.draws import ChainView, Kept
from plaidwork.core.draws.mcstats import ess_mean
from plaidwork.core.findings.fitted import fitted_inputs
from plaidwork.core.inference.fitting_draws import check_draws
from plaidwork.core.inference.linear_algebra import one_thread
from plaidwork.core.inference.plan import model_data
from plaidwork.core.inference.run import Run

MOST_DRAWS = 1600
"""Draws of all chains together; of each chain 100 at least."""
MOST_OBSERVATIONS = 4000
"""Observations that are looked at; of more so many are chosen at random, with one seed for all fits."""
_CHOICE_SEED = 0x6C6F6F
_LEAST = -700.0
"""Log densities below count as this: what a double can hold."""
_AT_ONCE = 5000
"""Observations of one call of the model."""
_JUDGED = 50
"""Observations from which the effective number of draws is taken."""


@dataclass(frozen=True)
class Densities:
    """Log densities of single observations at draws of every chain.

    Attributes
    ----------
    chains : numbers of the chains; ``by_chain`` has a (draws, N) array of each, in nats.
    held_out : whether the fit has not seen the observations; else each has to be left out.
    block, row, column : (N,) where an observation is; column is -1 where a whole row is one.
    total : (blocks,) how many observations there are in each block, of which N were chosen.
    names : titles of the blocks.
    independent : whether draws are independent, as those from an approximation.
    """

    chains: tuple[int, ...]
    by_chain: tuple[np.ndarray, ...]
    held_out: bool
    block: np.ndarray
    row: np.ndarray
    column: np.ndarray
    total: np.ndarray
    names: tuple[str, ...]
    independent: bool = False

    def score(self, chains: Sequence[int] | None = None) -> Score:
        """How well these chains (numbers) together predict, all when None; those that were not requested are passed over."""
        from plaidwork.core.numerics.psis import leave_one_out, log_mean  # numba is loaded on first use

        every = zip(self.chains, self.by_chain, strict=True)
        parts = [values for number, values in every if chains is None or number in chains]
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
        """By name: log density of all observations, its standard error, the share that is rough; of several blocks the first
        two of each."""
        total, error = self.sum()
        found = {"elpd": total, "elpd_se": error, "elpd_rough": self.unreliable}
        if len(self.blocks) > 1:
            for name, (total, error) in self.by_block().items():
                found |= {f"elpd {name}": total, f"elpd_se {name}": error}
        return found

    @property
    def blocks(self) -> tuple[str, ...]:
        """Titles of the blocks, which are the views of a model of several matrices."""
        return self.densities.names

    def by_block(self) -> dict[str, tuple[float, float]]:
        """:meth:`sum` of each block by its title."""
        return {name: self.sum(b) for b, name in enumerate(self.blocks)}

    def same_observations(self, other: Score) -> bool:
        """Whether both are of the same observations."""
        one, two = self.densities, other.densities
        return one.held_out == two.held_out and all(
            np.array_equal(a, b)
            for a, b in ((one.block, two.block), (one.row, two.row), (one.column, two.column))
        )

    def difference(self, other: Score, block: int | None = None) -> tuple[float, float]:
        """By how much it predicts better than another of the same observations (of a block), with standard error, nats."""
        return _summed(self.elpd - other.elpd, self.densities, block)

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
    compare. Bounded in memory (about 100 MB) and
    time by a choice of observations and draws. Raises ``PluginError`` when the model returns anything else.
    """
    if not model.offers("log_likelihood") or not kept.n_draws:
        return None
    given = data[model.likelihood_of]
    blocks: tuple[Block, ...] = given if isinstance(given, tuple) else (given,)
    held_out = any(block.held_out is not None and block.held_out.any() for block in blocks)
    rng = np.random.default_rng(_CHOICE_SEED)
    most = max(1, MOST_OBSERVATIONS // len(blocks))
    parts = [_chosen(block, model.likelihood_by_row, held_out, most, rng) for block in blocks]
    with one_thread(), blamed(model, "log_likelihood"):
        by_chain = [
            np.concatenate(
                [_compute(model, chain, len(kept), data, params, b, p) for b, p in enumerate(parts)], axis=1
            )
            for chain in kept.chains
        ]
    known = np.logical_and.reduce([np.isfinite(values).all(axis=0) for values in by_chain])
    block_of = np.repeat(np.arange(len(parts)), [len(part.row) for part in parts])
    if not known.any():
        return None
    share = [known[block_of == b].mean() if len(part.row) else 0.0 for b, part in enumerate(parts)]
    return Densities(
        tuple(chain.chain for chain in kept.chains),
        tuple(values[:, known] for values in by_chain),
        held_out,
        block_of[known],
        np.concatenate([part.row for part in parts])[known],
        np.concatenate([part.column for part in parts])[known],
        np.array([round(part.total * s) for part, s in zip(parts, share, strict=True)]),
        tuple(block.name for block in blocks),
        model.spec.algorithm != "mcmc",
    )


def run_densities(
    run: Run, datasets: Mapping[str, Dataset], model: Model, kept: Kept | None = None
) -> Densities | None:
    """:func:`densities_of` what a run has kept (or of the part given). Raises ``DataError`` when its data are gone or have changed."""
    data = model_data(run.spec, fitted_inputs(run, datasets), run.seed, run.holdout)
    check_draws(run, model, data)
    return densities_of(model, data, model.spec.stored_params(run.params), kept or run.kept())


@dataclass(frozen=True)
class _Part:
    """Observations chosen of a block, in the order of their rows; ``total`` is how many there are, ``whole`` whether
    they are rows."""

    row: np.ndarray
    column: np.ndarray
    total: int
    whole: bool


def _chosen(block: Block, by_row: bool, held_out: bool, most: int, rng: np.random.Generator) -> _Part:
    """Which observations of a block are looked at: all, or so many by chance."""
    shape = block.shape
    if len(shape) == 1 or by_row:
        rows = _some(shape[0], most, rng)
        return _Part(rows, np.full(len(rows), -1), shape[0], True)
    if not isinstance(block.values, np.ndarray):  # sparse: all cells are known
        places, total = _some(shape[0] * shape[1], most, rng), shape[0] * shape[1]
    else:
        mask = block.held_out if held_out else block.observed
        every = np.zeros(0, np.int64) if mask is None else np.flatnonzero(mask)
        places, total = every[_some(len(every), most, rng)], len(every)
    row, column = np.divmod(places, shape[1])
    return _Part(row, column, total, False)


def _some(count: int, most: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers below ``count``, ascending: all, or ``most`` of them by chance."""
    return np.arange(count) if count <= most else np.sort(rng.choice(count, most, replace=False))


def _compute(
    model: Model, chain: ChainView, n_chains: int, data: ModelData, params: Params, b: int, part: _Part
) -> np.ndarray:
    """(draws, observations) of one chain. Raises ``ValueError`` when the model returns anything else."""
    draws = _spread(chain.n_draws, max(100, MOST_DRAWS // n_chains))
    found = []
    for start in range(0, max(len(part.row), 1), _AT_ONCE):
        here = slice(start, start + _AT_ONCE)
        rows, columns = part.row[here], None if part.whole else part.column[here]
        values = np.asarray(
            model.log_likelihood(chain, draws, data, params, b, rows, columns), dtype=np.float64
        )
        if values.ndim != 2 or values.shape[1] != len(rows):
            raise ValueError(
                f"log_likelihood() returned the shape {values.shape} for {counted(len(rows), 'observation')}"
            )
        found.append(np.where(np.isnan(values), np.nan, np.maximum(values, _LEAST)))
    return np.concatenate(found, axis=1)


def _spread(count: int, most: int) -> np.ndarray:
    """Numbers of ``most`` of ``count`` draws, evenly spaced; all when they are fewer."""
    return (
        np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.int64))
        if count
        else np.zeros(0, np.int64)
    )
