"""How much is spent on finding good topics, by the size of the data."""

from __future__ import annotations

from plaidwork.plugins.supervised_ibp.corpus import Corpus
from plaidwork.plugins.supervised_ibp.state import Settings

CANDIDATES, LEAST_CANDIDATES = 12, 4
"""Candidates for each topic that is grown; with fewer than the least, restarts begin in turn."""
LEAST_MOVES = 10
"""Moves in vain below which none are made."""
WORK = 5e9
"""Most multiplications of the growth of a restart, and of its moves in vain: some 4 s each."""
SWEEPS = 15
"""Sweeps of a candidate; those of a move on average."""


def multiplications(corpus: Corpus, k: int) -> float:
    """Of a sweep of ``k`` topics."""
    n, d = corpus.shape
    return 2.0 * k * len(corpus.values) + n * (2 * k * k + 20 * k) + d * (3 * k * k + 20 * k)


def _sweep(corpus: Corpus, params: Settings) -> float:
    return multiplications(corpus, params["n_topics"] + params["background"])


def moves_for(sweep: float, params: Settings) -> int:
    """Moves in vain after which a restart ends whose sweeps take so many multiplications; 0 for none."""
    paid = min(float(params["moves"]), WORK / (SWEEPS * sweep))
    return 0 if params["texteffect"] or paid < min(LEAST_MOVES, params["moves"]) else int(paid)


def n_moves(corpus: Corpus, params: Settings) -> int:
    """Moves in vain after which a restart has nothing left to try; 0 for none."""
    return moves_for(_sweep(corpus, params), params)


def n_candidates(corpus: Corpus, params: Settings) -> int:
    """Candidates for each topic that is grown; 0 where growing takes too long, or there is no search."""
    lines = 2 if params["background"] and params["background_if_better"] else 1
    paid = min(float(CANDIDATES), WORK / (SWEEPS * lines * params["n_topics"] * _sweep(corpus, params)))
    return 0 if not n_moves(corpus, params) or paid < LEAST_CANDIDATES else int(paid)
