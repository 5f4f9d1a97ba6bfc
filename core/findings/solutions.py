"""Weights of solutions by how well they predict, and a run of one solution alone.

Chains that do not mix are weighed by stacking, as Yao, Vehtari and Gelman (2022), JMLR 23(79), do: the weights are those of the
mixture of solutions that predicts best what each of them has not seen. Unlike numbers of chains, they do not depend on
how many chains happened to find a solution.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from plaidwork.core.contract.model import Model
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.draws.counting import counted
from plaidwork.core.draws.draws import Kept
from plaidwork.core.draws.numbers import format_count, format_percent
from plaidwork.core.draws.solutions import Solution
from plaidwork.core.errors import PlaidworkError
from plaidwork.core.findings.predictive import Densities, Score, run_densities
from plaidwork.core.inference.run import Run
from plaidwork.core.numerics.stacking import mixture_elpd, pseudo_bma_weights, stacking_weights

ROUGH = 0.1
"""Share of observations with too heavy a tail from which the weights are called rough."""


def weigh(
    run: Run, datasets: Mapping[str, Dataset], model: Model, found: tuple[Solution, ...]
) -> tuple[tuple[Solution, ...], str]:
    """The solutions of a run with their weights, and what the weights are, in a sentence.

    Those of chains come heaviest first; those of restarts stay as they are, the best objective first, as models take the best.
    """
    if not model.offers("log_likelihood"):
        return (
            found,
            "Their weights are not known: the model does not tell the density of single observations.",
        )
    try:
        densities = run_densities(run, datasets, model, telling(run.kept(), found))
    except PlaidworkError as error:
        return found, f"Their weights are not known: {error}"
    if densities is None:
        return found, "Their weights are not known: there is nothing to predict."
    weighed = weighed_by(densities, found)
    if run.spec.algorithm != "mcmc":
        weighed = tuple(sorted(weighed, key=lambda one: [same.chains for same in found].index(one.chains)))
    total, seen = int(densities.total.sum()), len(densities.row)
    among = "" if total == seen else f"{format_count(seen)} of "
    how = (
        f"{among}{counted(total, 'held-out cell')}"
        if densities.held_out
        else f"{among}{counted(total, 'observation')}, each left out (PSIS-LOO)"
    )
    rough = sum(one.weight * one.unreliable for one in weighed)
    doubt = (
        f" They are rough: {format_percent(rough)} of the observations cannot be left out by weights."
        if rough > ROUGH
        else ""
    )
    return weighed, f"The weights are those of the mixture that predicts best (stacking): {how}.{doubt}"


def telling(kept: Kept, found: tuple[Solution, ...]) -> Kept:
    """The chains by which solutions are weighed: all, and of restarts, which ended at one point, one of each solution."""
    if kept.spec.algorithm == "mcmc":
        return kept
    first = {one.chains[0] for one in found}
    return Kept(kept.spec, [chain for chain in kept.chains if chain.chain in first])


def reported(kept: Kept) -> Kept:
    """The chains that results are made of: all, and of restarts the one with the best objective."""
    trace = kept.spec.primary_trace
    if kept.spec.algorithm == "mcmc" or trace is None or not kept.chains:
        return kept
    sign = -1.0 if trace.goal == "down" else 1.0
    return Kept(
        kept.spec, [max(kept.chains, key=lambda chain: sign * float(chain.kept_trace(trace.name)[-1]))]
    )


def weighed_by(densities: Densities, found: tuple[Solution, ...]) -> tuple[Solution, ...]:
    """Solutions with their weights, heaviest first."""
    scores = [densities.score(one.chains) for one in found]
    weights = stacking_weights(np.stack([score.elpd for score in scores], axis=1))
    order = sorted(range(len(found)), key=lambda k: -weights[k])
    made = []
    for k in order:
        (total, error), (behind, behind_error) = scores[k].sum(), scores[order[0]].difference(scores[k])
        made.append(
            replace(
                found[k],
                weight=float(weights[k]),
                elpd=total,
                elpd_error=error,
                behind=behind,
                behind_error=behind_error,
                unreliable=scores[k].unreliable,
            )
        )
    return tuple(made)


def score_of(densities: Densities, found: tuple[Solution, ...]) -> Score:
    """How well a fit predicts: all its chains together, or the mixture of its solutions by their weights."""
    if len(found) < 2:
        return densities.score()
    scores = [densities.score(one.chains) for one in found]
    elpd, lpd = (np.stack(each, axis=1) for each in zip(*((s.elpd, s.lpd) for s in scores), strict=True))
    weights = stacking_weights(elpd)
    khat = np.max([s.khat for s in scores], axis=0)
    n_draws = min(s.n_draws for s in scores)
    return Score(mixture_elpd(elpd, weights), mixture_elpd(lpd, weights), khat, n_draws, densities)


def weights_of_fits(scores: Sequence[Score]) -> dict[str, np.ndarray]:
    """Weights (fits,) of fits to the same observations, by title: of the mixture that predicts best, and pseudo-BMA with a
    Bayesian bootstrap, which says how sure it is that a fit is the best of these."""
    elpd = np.stack([score.elpd for score in scores], axis=1)
    counts = np.bincount(scores[0].densities.block, minlength=len(scores[0].densities.total))
    share = scores[0].densities.total / np.maximum(counts, 1)  # those looked at stand for all of their block
    every = elpd * share[scores[0].densities.block][:, None]
    return {
        "Stacking weight": stacking_weights(elpd),
        "Pseudo-BMA weight": pseudo_bma_weights(every, np.random.default_rng(0)),
    }


def weighted(kept: Kept, found: tuple[Solution, ...]) -> Kept:
    """Draws such that plain averages over them weigh solutions by their weights: of each chain as many, evenly spaced, as
    its share of its solution's weight asks for, of the heaviest all. As they are where no weights are known, and for
    restarts, of which models take the best."""
    if len(found) < 2 or kept.spec.algorithm != "mcmc" or any(np.isnan(one.weight) for one in found):
        return kept
    share = {chain: one.weight / len(one.chains) for one in found for chain in one.chains}
    rate = {chain.chain: share.get(chain.chain, 0.0) / max(chain.n_draws, 1) for chain in kept.chains}
    most = max(rate.values())
    views = []
    for chain in kept.chains:
        wanted = round(chain.n_draws * rate[chain.chain] / most)
        if wanted:
            views.append(chain.taking(np.linspace(0, chain.n_draws - 1, wanted).round().astype(np.int64)))
    return Kept(kept.spec, views, kept.under_way)
