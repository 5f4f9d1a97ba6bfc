"""Comparison of the restarts: their factors paired by the correlation of the factor values."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import ChainView, Kept, Result, Results, Table
from plaidwork.core.api_factors import correlate_rows, match_factors

MOST_FACTORS = 1000
"""Factors of all restarts that are compared with each other (8 MB); restarts beyond are compared with the best only."""
FOUND = 0.9
"""Absolute correlation from which a factor counts as found again."""


def restart_results(kept: Kept, best: ChainView, z: np.ndarray, labels: np.ndarray) -> Results:
    """Table of restarts, correlations of all their factors, and how stable the factors shown are.

    Parameters
    ----------
    z : (K, N) factor values shown, of the best restart; the others' factors are put in the order of their partners.
    labels : names of these factors.
    """
    chains = sorted((chain for chain in kept.chains if chain.n_draws), key=lambda chain: chain.chain)
    values = {chain.chain: z if chain is best else _last(chain, "z") for chain in chains}
    found: dict[int, np.ndarray] = {}
    for chain in chains:
        between = correlate_rows(z, values[chain.chain])
        index, matched = match_factors(between)
        found[chain.chain] = np.abs(matched)
        partners = index[index >= 0]
        sign = np.ones(between.shape[1])
        sign[partners] = np.where(matched[index >= 0] < 0, -1.0, 1.0)
        rest = np.setdiff1d(np.arange(between.shape[1]), partners)
        values[chain.chain] = (values[chain.chain] * sign[:, None])[np.append(partners, rest)]
    results: Results = {"restarts": _table(chains, best, found)}
    others = [chain.chain for chain in chains if chain is not best]
    results |= _matrix(chains, best, values, labels)
    agreement = np.array([found[chain] for chain in others]).reshape(len(others), len(z))
    results |= _stability(agreement, labels)
    return results


def _last(chain: ChainView, name: str) -> np.ndarray:
    return np.asarray(chain.draw(name, chain.n_draws - 1))


def _table(chains: list[ChainView], best: ChainView, found: dict[int, np.ndarray]) -> Table:
    traces = {chain.chain: {name: chain.trace(name) for name in ("elbo", "n_factors")} for chain in chains}
    return Table(
        {
            "Restart": np.array([chain.chain + 1 for chain in chains]),
            "Final bound": np.array([float(traces[chain.chain]["elbo"][-1]) for chain in chains]),
            "Sweeps": np.array([chain.n_sweeps for chain in chains]),
            "Factors at the start": np.array(
                [int(traces[chain.chain]["n_factors"].max()) for chain in chains]
            ),
            "Factors": np.array([len(_last(chain, "z")) for chain in chains]),
            "Agreement": np.array([float(found[chain.chain].mean()) for chain in chains]),
            "Least": np.array([float(found[chain.chain].min()) for chain in chains]),
            "Shown": np.array(["yes" if chain is best else "" for chain in chains]),
        },
        label="Restarts",
        words=("Shown",),
        doc="The one with the highest bound is shown. Agreement: mean absolute correlation of its factors with "
        "their partners; least: of the worst.",
    )


def _matrix(
    chains: list[ChainView], best: ChainView, values: dict[int, np.ndarray], labels: np.ndarray
) -> Results:
    """Correlations of all factors of the restarts, the best one first while there is room."""
    chosen, room = [best], MOST_FACTORS - len(values[best.chain])
    for chain in sorted(chains, key=lambda chain: -float(chain.kept_trace("elbo")[-1])):
        if chain is not best and len(values[chain.chain]) <= room:
            chosen.append(chain)
            room -= len(values[chain.chain])
    chosen.sort(key=lambda chain: chain.chain)
    every = np.concatenate([values[chain.chain] for chain in chosen])
    names: list[str] = []
    for chain in chosen:
        own = labels if chain is best else [f"Factor {k + 1}" for k in range(len(values[chain.chain]))]
        names += [str(name) for name in own]
    return {
        "restart_correlation": Result(
            correlate_rows(every, every),
            ("restart_factor", "restart_factor_2"),
            label="Correlation",
            doc="Correlation of the factor values of two restarts. Factors are in the order of their partners in the "
            "restart shown.",
        ),
        "restart_of": Result(
            np.repeat([chain.chain + 1 for chain in chosen], [len(values[chain.chain]) for chain in chosen]),
            ("restart_factor",),
            label="Restart",
        ),
        "restart_names": Result(np.array(names), ("restart_factor",), label="Factor"),
        "restart_shown": Result(np.array([best.chain + 1]), ("restart_shown",), label="Restart shown"),
    }


def _stability(agreement: np.ndarray, labels: np.ndarray) -> Results:
    """Of each factor shown, over the other restarts: (restarts, K) absolute correlations; of one restart nothing is known."""
    others, k = agreement.shape
    nothing = np.full(k, np.nan)
    mean = agreement.mean(axis=0) if others else nothing
    return {
        "stability": Table(
            {
                "Factor": labels,
                "Mean": mean,
                "Least": agreement.min(axis=0) if others else nothing,
                "Most": agreement.max(axis=0) if others else nothing,
                "Found in": (agreement >= FOUND).sum(axis=0) if others else np.zeros(k, dtype=int),
                "Of": np.full(k, others),
            },
            label="Stability of the factors",
            doc="Absolute correlation of a factor with its partner in the other restarts; found: "
            f"{FOUND} or more. One restart alone tells nothing.",
        ),
    }
