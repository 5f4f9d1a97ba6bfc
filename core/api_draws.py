"""For samplers: averages over many draws with their Monte Carlo errors, frequencies, and which chains agree."""

from plaidwork.core.draws.summaries import distribution, halves, rank_chains
from plaidwork.core.numerics.used_draws import ByChain, rounds, spread, standard_error

__all__ = ["ByChain", "distribution", "halves", "rank_chains", "rounds", "spread", "standard_error"]
