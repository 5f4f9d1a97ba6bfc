"""Samplers against their own prior: Geweke's joint distribution test and simulation-based calibration.

Sources: Geweke (2004), Getting it right, JASA 99, 799-804; Talts, Betancourt, Simpson, Vehtari, Gelman (2018),
Validating Bayesian inference algorithms with simulation-based calibration, arXiv:1804.06788.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from plaidwork.core.checks._bench import Bench, TrialBench, trials
from plaidwork.core.checks._check import CheckSkipped, blame, check, fail
from plaidwork.core.checks._moving import Moving
from plaidwork.core.checks._quantities import of_data, of_draws
from plaidwork.core.contract.schedule import Clock
from plaidwork.core.contract.trial import Trial
from plaidwork.core.draws.counting import agree, counted

ERROR_LEVEL = 1e-4
"""Probability that a right sampler fails one of these checks, all its quantities together (Bonferroni)."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is drawn: for Geweke prior draws, chains and sweeps of each; for calibration data sets and draws."""

    prior: int
    chains: int
    sweeps: int
    replicates: int
    ranks: int


EFFORTS = {
    "quick": Effort(prior=1000, chains=20, sweeps=60, replicates=48, ranks=15),
    "full": Effort(prior=20_000, chains=40, sweeps=1000, replicates=320, ranks=15),
}
BINS = {"quick": 4, "full": 16}


def _ready(bench: Bench, trial: Trial, *methods: str) -> TrialBench:
    if bench.spec.algorithm != "mcmc":
        raise CheckSkipped("not a sampler")
    bench.need("simulate", *methods)
    bench.prepare()
    return TrialBench(bench, trial)


@check("Geweke: the sampler leaves its prior as it is", cases=trials)
def geweke(bench: Bench, trial: Trial) -> None:
    """Draws of parameters and data from the prior, against chains that start from the prior and alternate ``step``
    with new data given the state. Compared are ranks (location and spread) of all quantities of draws and data, and
    products of the two, by a t test over independent chains; and what varies in the prior has to change in some chain.
    Quick: 1000 prior draws, 20 chains of 60 sweeps; full:
    20 000 draws, 40 chains of 1000 sweeps. Fails at a probability of 1e-4, all quantities together."""
    on, effort = _ready(bench, trial, "simulate_data"), EFFORTS[bench.level]
    moving = Moving(bench.spec)
    with blame(bench, f"trial “{trial.name}”"):
        names, prior = _from_prior(bench, on, effort.prior, moving)
        chains = np.stack(
            [_alternating(bench, on, chain, effort.sweeps, moving) for chain in range(effort.chains)]
        )
    stuck = moving.stuck()
    if stuck:
        raise fail(
            bench, f"step(), trial “{trial.name}”",
            f"{', '.join(stuck)} {agree(len(stuck), 'varies', 'vary')} in the prior and never "
            f"{agree(len(stuck), 'changes', 'change')} in {counted(effort.chains, 'chain')} of {counted(effort.sweeps, 'sweep')}.",
            "step() leaves it out, or draws() takes it from what step() does not bring up to date. Where data of this trial "
            "pin it down, let the settings of the trial say less (wider errors), so that it can move.",
        )  # fmt: skip
    labels, p_values, directions = compare(names, prior, chains)
    worst = int(np.argmin(p_values))
    if p_values[worst] * len(p_values) < ERROR_LEVEL:
        wrong = [label for label, p in zip(labels, p_values) if p * len(p_values) < ERROR_LEVEL]
        raise fail(
            bench, f"step(), trial “{trial.name}”",
            f"{labels[worst]} is {directions[worst]} in the chains than in the prior (p = {p_values[worst]:.1g}); "
            f"{len(wrong)} of {counted(len(labels), 'quantity')} {agree(len(wrong), 'differs', 'differ')}: {', '.join(wrong[:6])}.",
            "step() or simulate() is wrong, they differ in a prior, or data given the state are not what step() "
            "conditions on.",
        )  # fmt: skip


def _from_prior(
    bench: Bench, on: TrialBench, n: int, moving: Moving
) -> tuple[tuple[list[str], list[str]], np.ndarray]:
    rng, rows = bench.rng("prior"), []
    for _ in range(n):
        data, state = on.prior(rng)
        draws = bench.model.draws(state, data, on.params)
        moving.prior(draws)
        drawn = of_draws(bench, draws)
        seen = of_data(bench, data)
        rows.append([*drawn.values(), *seen.values()])
    return (list(drawn), list(seen)), np.array(rows)


def _alternating(bench: Bench, on: TrialBench, chain: int, sweeps: int, moving: Moving) -> np.ndarray:
    """(sweeps, quantities) of one chain that starts from the prior and redraws its data."""
    rng = bench.rng("geweke", chain)
    data, state = on.prior(rng)
    moving.begin()
    rows = []
    for sweep in range(sweeps):
        if sweep:
            data, state = on.again(state, rng)
        bench.sweep(state, data, on.params, rng, Clock(sweep, 0))
        draws = bench.model.draws(state, data, on.params)
        moving.chain(draws)
        drawn = of_draws(bench, draws)
        rows.append([*drawn.values(), *of_data(bench, data).values()])
    return np.array(rows)


def compare(
    names: tuple[list[str], list[str]], prior: np.ndarray, chains: np.ndarray
) -> tuple[list[str], np.ndarray, list[str]]:
    """Labels, p values and directions of all comparisons; prior (n, q), chains (c, sweeps, q)."""
    ranks = [_ranks(prior[:, q], prior[:, q]) for q in range(prior.shape[1])]
    moved = [
        _ranks(prior[:, q], chains[:, :, q].ravel()).reshape(chains.shape[:2]) for q in range(prior.shape[1])
    ]
    flat = [*names[0], *names[1]]
    labels: list[str] = []
    pairs: list[tuple[np.ndarray, np.ndarray]] = []
    for name, one, two in zip(flat, ranks, moved, strict=True):
        labels += [name, f"spread of {name}"]
        pairs += [(one, two), (one**2, two**2)]
    n_drawn = len(names[0])
    for i in range(n_drawn):
        for j in range(n_drawn, len(flat)):
            labels.append(f"{flat[i]} with {flat[j]}")
            pairs.append((ranks[i] * ranks[j], moved[i] * moved[j]))
    tests = [_test(one, two) for one, two in pairs]
    return labels, np.array([p for p, _ in tests]), [direction for _, direction in tests]


def _ranks(prior: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Share of prior draws below each value (ties count half), mapped to -1..1: no tail is too heavy for a mean."""
    ordered = np.sort(prior)
    middle = np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")
    return middle / len(ordered) - 1.0


def _test(prior: np.ndarray, chains: np.ndarray) -> tuple[float, str]:
    """Two-sided p value that the chains' mean is the prior's; the means of the chains are independent."""
    means = chains.mean(axis=1)
    error = np.sqrt(means.var(ddof=1) / len(means) + prior.var(ddof=1) / len(prior))
    gap = float(means.mean() - prior.mean())
    direction = "larger" if gap > 0 else "smaller"
    if error < 1e-12:
        return (1.0 if abs(gap) < 1e-9 else 0.0), direction
    return float(2 * stats.t.sf(abs(gap) / error, len(means) - 1)), direction


@check("calibration: true values rank evenly among the draws", cases=trials)
def calibration(bench: Bench, trial: Trial) -> None:
    """Parameters and data from the prior, a fit of the data from ``init`` on, and the rank of each true quantity among
    15 thinned draws; ranks are even when the sampler is right. Quick: 48 data sets, 4 bins; full: 320 data sets, 16
    bins. Fails when a chi-square test of a quantity falls below a probability of 1e-4, all quantities together."""
    on, effort = _ready(bench, trial), EFFORTS[bench.level]
    ranks: list[list[int]] = []
    names: list[str] = []
    with blame(bench, f"trial “{trial.name}”"):
        for replicate in range(effort.replicates):
            names, found = _true_ranks(bench, on, replicate, effort.ranks)
            ranks.append(found)
    table = np.array(ranks)
    bins = BINS[bench.level]
    p_values = np.array([_even(table[:, q], effort.ranks + 1, bins) for q in range(table.shape[1])])
    worst = int(np.argmin(p_values))
    if p_values[worst] * len(p_values) < ERROR_LEVEL:
        counts = np.bincount(table[:, worst] * bins // (effort.ranks + 1), minlength=bins)
        raise fail(
            bench, f"step(), trial “{trial.name}”",
            f"the ranks of {names[worst]} are not even: {', '.join(map(str, counts))} of {len(table)} "
            f"(p = {p_values[worst]:.1g}).",
            "High at the ends: draws too narrow, or trial.warmup or trial.thin too small; high in the middle: too wide; "
            "sloped: biased.",
        )  # fmt: skip


def _true_ranks(bench: Bench, on: TrialBench, replicate: int, n_draws: int) -> tuple[list[str], list[int]]:
    rng, trial, model = bench.rng("calibration", replicate), on.trial, bench.model
    data, truth = on.prior(rng)
    true = of_draws(bench, model.draws(truth, data, on.params))
    state = model.init(data, on.params, rng)
    below, ties = np.zeros(len(true), int), np.zeros(len(true), int)
    target = np.array(list(true.values()))
    for sweep in range(trial.warmup + n_draws * trial.thin):
        bench.sweep(state, data, on.params, rng, Clock(sweep, trial.warmup))
        done = sweep + 1 - trial.warmup
        if done > 0 and done % trial.thin == 0:
            drawn = np.array(list(of_draws(bench, model.draws(state, data, on.params)).values()))
            close = np.isclose(drawn, target, rtol=1e-12, atol=0.0)  # rounding must not break ties
            below += (drawn < target) & ~close
            ties += close
    return list(true), [int(low + rng.integers(0, tie + 1)) for low, tie in zip(below, ties)]


def _even(ranks: np.ndarray, n_ranks: int, bins: int) -> float:
    counts = np.bincount(ranks * bins // n_ranks, minlength=bins)
    return float(stats.chisquare(counts).pvalue)
