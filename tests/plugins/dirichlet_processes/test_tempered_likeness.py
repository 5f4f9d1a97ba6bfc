"""A learned likeness of the spreads in a tempered chain, against sums over all partitions and a grid of the base at every power; faults planted.

A copy at power b has the law ``p(z) m(X | z, base)^b p(base)``, in which the parameters of the clusters are integrated out before the power
is taken: no conjugate law of the base is left, so copies draw none of it and get another by swaps.
"""

import copy
import itertools
import math

import numpy as np
import pytest
from dp_tools import MODEL, matrices, p_value, partitions, prior_weight, settings
from scipy.special import gammaln

from plaidwork.core.api import Clock
from plaidwork.plugins.dirichlet_processes import sweep, tempering
from plaidwork.plugins.dirichlet_processes.model import table_of

ENOUGH = 1e-3
"""A right sampler's smallest p value, corrected for their number, is below it in one of a thousand seeds."""
FOUND = 1e-6
"""A fault has to show more clearly than that."""
SWEEPS = 12_000
VALUES = np.array([[0.0, 0.9, 0.3], [0.1, -0.8, 0.4], [0.2, 0.2, 1.9], [1.2, 0.3, -0.8], [-1.1, 0.1, 0.35]])
"""Some of a column near each other and others far apart: clusters of unlike spreads, so that the likeness follows the power."""
PARAMS = settings(
    likelihoods="gaussian", alpha=0.8, learn_base=True, least_within=0.0, least_shape=1.0, rungs=2, least_power=0.3
)  # fmt: skip
MIDDLE = math.log(PARAMS["within_shape"] - 1.0)
RANGES = (-4.5, 4.5), (-7.0, 2.7), (-6.0, 1.2), (MIDDLE - 4.5, MIDDLE + 4.5)
GRID = tuple(np.linspace(*ends, number) for ends, number in zip(RANGES, (81, 20, 24, 22), strict=True))
"""Of the centre, and of the logarithms of its weight, of the variance that is expected and of the likeness less 1."""


def log_evidence(x, m0, log_k0, log_usual, u):
    """Log density of some values of a column (c,) in one cluster, its mean and variance integrated out."""
    k0, c, a0 = np.exp(log_k0), len(x), 1.0 + np.exp(u)
    b0 = np.exp(u + log_usual)
    b = b0 + 0.5 * ((x - x.mean()) ** 2).sum() + 0.5 * k0 * c / (k0 + c) * (x.mean() - m0) ** 2
    found = gammaln(a0 + c / 2) - gammaln(a0) + a0 * np.log(b0) - (a0 + c / 2) * np.log(b)
    return found + 0.5 * (log_k0 - np.log(k0 + c)) - c / 2 * math.log(2.0 * math.pi)


def column_weights(x, powers):
    """Density of a column (n,) at each power under all partitions, its centre and scale summed over: (P, 52, weights of the centre, likenesses)."""
    m0, log_k0, log_usual, u = np.meshgrid(*GRID, indexing="ij", sparse=True)
    prior = -0.5 * m0**2 + 2.0 * log_usual - 2.0 * np.exp(log_usual) / PARAMS["within"]
    n = len(x)
    rows = [list(some) for size in range(1, n + 1) for some in itertools.combinations(range(n), size)]
    one = {tuple(some): log_evidence(x[some], m0, log_k0, log_usual, u) for some in rows}
    out = np.empty((len(powers), len(partitions(n)), len(GRID[1]), len(GRID[3])))
    for at, labels in enumerate(partitions(n)):
        codes = np.array(labels)
        density = sum(one[tuple(np.flatnonzero(codes == k).tolist())] for k in range(codes.max() + 1))
        for rung, power in enumerate(powers):
            out[rung, at] = np.exp(prior + power * density).sum(axis=(0, 2))
    return out


def expected(powers):
    """At each power: probabilities of all partitions (P, 52), means of their number of clusters and of log(a0 - 1) (P,)."""
    log_k0, u = np.meshgrid(GRID[1], GRID[3], indexing="ij", sparse=True)
    base = log_k0 - np.exp(log_k0) / PARAMS["mean_weight"]
    base = base - 0.5 * (u - MIDDLE) ** 2
    found = partitions(len(VALUES))
    prior = np.array([prior_weight(labels, "dirichlet", PARAMS["alpha"], 0.0) for labels in found])
    weight = np.exp(prior[:, None, None] + base)
    for x in VALUES.T:
        weight = weight * column_weights(x, powers)
    total, chance = weight.sum(axis=(1, 2, 3)), weight.sum(axis=(2, 3))
    chance = chance / total[:, None]
    number = np.array([max(labels) + 1 for labels in found])
    return chance, chance @ number, (weight * u).sum(axis=(1, 2, 3)) / total


@pytest.fixture(scope="module")
def law():
    return expected(tempering.powers_of(PARAMS))


def smallest_p(law, sweeps, seed=1):
    """The smallest p value of all common partitions of the chain, and of both means of the chain and its copies; Bonferroni."""
    data, rng = matrices(a=VALUES), np.random.Generator(np.random.PCG64DXSM(seed))
    state = MODEL.init(data, PARAMS, rng)
    rungs, place = PARAMS["rungs"], {one: at for at, one in enumerate(partitions(len(VALUES)))}
    seen, found = np.empty(sweeps, np.int64), np.empty((sweeps, rungs, 2))
    for at in range(sweeps):
        while MODEL.step(state, data, PARAMS, rng, Clock(at, 0)) is None:
            pass
        seen[at] = place[tuple(state["labels"].tolist())]
        for rung, one in enumerate([state, *(state["copies"][str(m)] for m in range(1, rungs))]):
            found[at, rung] = one["labels"].max() + 1, math.log(one["base"]["shape"] - 1.0)
    chance, number, likeness = law
    p = [p_value((seen == one).astype(float), chance[0, one]) for one in np.flatnonzero(chance[0] > 0.02)]
    for rung in range(rungs):
        p += [p_value(found[:, rung, 0], number[rung]), p_value(found[:, rung, 1], likeness[rung])]
    return min(1.0, min(p) * len(p))


@pytest.mark.slow
def test_the_grid_is_fine_enough(law, monkeypatch):
    finer = tuple(np.linspace(*ends, number) for ends, number in zip(RANGES, (121, 24, 28, 24), strict=True))
    monkeypatch.setitem(globals(), "GRID", finer)
    for one, other in zip(law, expected(tempering.powers_of(PARAMS)), strict=True):
        assert one == pytest.approx(other, abs=1e-4)


@pytest.mark.slow
def test_partitions_and_likeness_have_their_law_at_every_power(law):
    """5 rows, 52 partitions, 12 000 sweeps."""
    assert smallest_p(law, SWEEPS) > ENOUGH


class Drawing(sweep.Updates):
    """A copy draws likeness and base as if the data counted in full."""

    def finish(self, lo, hi):
        power = self.power
        object.__setattr__(self, "power", 1.0)
        super().finish(lo, hi)
        object.__setattr__(self, "power", power)


def copies_draw(monkeypatch):
    monkeypatch.setattr(tempering, "Updates", Drawing)


def left_behind(monkeypatch):
    """A swap hands over all but the likeness."""
    swap = tempering._swap

    def wrong(state, *rest):
        places = [state, *state["copies"].values()]
        before = [place["base"]["shape"] for place in places]
        swap(state, *rest)
        for place, shape in zip([state, *state["copies"].values()], before, strict=True):
            place["base"] = {**place["base"], "shape": shape}

    monkeypatch.setattr(tempering, "_swap", wrong)


def of_the_setting(monkeypatch):
    """Copies take the likeness of the setting in the density of their data."""
    right = sweep.law_at

    def wrong(state, table, params, power):
        law = right(state, table, params, power)
        fixed = {**state["base"], "shape": params["within_shape"]}
        return law if power == 1.0 else right({**state, "base": fixed}, table, params, power)

    monkeypatch.setattr(sweep, "law_at", wrong)


FAULTS = {
    "copies draw it": copies_draw,
    "it stays behind in a swap": left_behind,
    "copies have the setting": of_the_setting,
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found(fault, law, monkeypatch):
    FAULTS[fault](monkeypatch)
    assert smallest_p(law, SWEEPS) < FOUND


@pytest.mark.parametrize("power", [1.0, 0.3])
def test_only_the_chain_itself_draws_its_likeness(power):
    """A copy that draws it as if the data counted in full moves its mean by less than a tenth of its standard deviation, which chains of a minute do not show."""
    data, rng = matrices(a=VALUES), np.random.default_rng(1)
    state = MODEL.init(data, PARAMS, rng)
    one = sweep.Updates(state, table_of(data, PARAMS), PARAMS, rng, power)
    one.begin()
    one.count(0, len(VALUES))
    before = copy.deepcopy(state["base"])
    one.finish(0, 1)
    for name, value in before.items():
        same = np.array_equal(state["base"][name], value)
        assert same == (power < 1.0 or not np.size(value)), name
