"""What the tests of counts and links share: planted data, exact sums over all blocks of a tiny matrix, a joint test."""

import itertools
import math

import numpy as np
import plaid_tools as tools

from plaidwork.core.api import Clock, ModelData
from plaidwork.plugins.plaid.counts import sweep
from plaidwork.plugins.plaid.counts.draws import log_probability
from plaidwork.plugins.plaid.counts.model import TRIAL, PlaidCounts
from plaidwork.plugins.plaid.state import read_only

# planted blocks ------------------------------------------------------------------------------------------------------


def planted(
    seed, n=400, rate=0.02, levels=(0.6, 0.8, 1.0, 1.2), share=0.15, degrees=0.0, links=False, spread=0.0
):
    """(values (n, n), true rows (K, n), true columns (K, n)): overlapping blocks of a ``share`` of either side.

    ``degrees`` is the standard deviation of the logarithm of row and column levels; ``spread`` that of the cells' own
    rates (overdispersed counts).
    """
    rng = np.random.default_rng(seed)
    rows, columns = (rng.random((len(levels), n)) < share for _ in range(2))
    u, v = (np.exp(degrees * rng.standard_normal(n) - degrees**2 / 2) for _ in range(2))
    rates = rate * np.outer(u, v) + np.einsum("k,ki,kj->ij", np.array(levels), rows, columns)
    if spread:
        rates = rates * np.exp(spread * rng.standard_normal(rates.shape) - spread**2 / 2)
    counts = rng.poisson(rates).astype(float)
    return np.minimum(counts, 1.0) if links else counts, rows, columns


def with_truth(values, rows, columns, **more):
    """Model data with the true blocks; ``values`` may be sparse."""
    from plaidwork.core.api import Block

    if isinstance(values, np.ndarray):
        block = tools.block(values, **more)
    else:
        names = tuple(tuple(f"{letter}{i}" for i in range(n)) for letter, n in zip("rc", values.shape))
        block = Block("X", values, read_only(np.ones((1, 1), bool)), None, names)
    truth = {"true_rows": rows, "true_columns": columns}
    return ModelData(
        {"X": block} | {name: tools.block(z.T.astype(float), name=name) for name, z in truth.items()}
    )


# exact sums ----------------------------------------------------------------------------------------------------------

SMALL = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 0.0], [0.0, 1.0, 0.0]])
SMALL_KNOWN = np.array([[1, 1, 1], [1, 1, 1], [1, 1, 0]], bool)
LEVEL, RATE = 0.3, 0.8
TINY = {
    "learn_mass": False, "mass_value": 0.3, "max_blocks": 2, "learn_block_rate": False, "block_rate": 1.0 / RATE,
    "row_degrees": False, "column_degrees": False, "background_shape": 1e9, "background_rate": 1e9 / LEVEL,
    "warm_starts": 1, "block_shape": 1.0, "blocks_add": "alike",
}  # fmt: skip
"""A background and a prior of the levels that are as good as known: what is left are blocks and their levels."""


def exact(links):
    """E[K], E[sum of levels] and the nine cover probabilities: all lists of two blocks at most, levels by quadrature."""
    values = np.minimum(SMALL, 1.0) if links else SMALL
    sides = tools.subsets(3, 1)
    blocks = np.array([np.outer(a, b) for a in sides for b in sides])
    logf = [math.log(TINY["mass_value"])] * len(blocks)
    for place, (a, b) in enumerate(itertools.product(sides, sides)):
        for m in (int(a.sum()), int(b.sum())):
            logf[place] += math.lgamma(4 - m) + math.lgamma(m) - math.lgamma(4)
    nodes, weights = np.polynomial.laguerre.laggauss(48)
    nodes, log_w = nodes / RATE, np.log(np.maximum(weights, 1e-300))
    one, two = np.meshgrid(nodes, nodes, indexing="ij")
    total, found = 0.0, np.zeros(11)
    for size in range(3):
        for chosen in itertools.combinations_with_replacement(range(len(blocks)), size):
            inside = blocks[list(chosen)].reshape(-1, 3, 3).astype(float)
            levels = (np.stack([one, two])[:size]).reshape(size, -1) if size == 2 else nodes[None][:size]
            points = levels.shape[1] if size else 1
            rates = LEVEL + np.einsum("kp,kij->pij", levels, inside) if size else np.full((1, 3, 3), LEVEL)
            log = log_probability(values, rates, links)[:, SMALL_KNOWN].sum(axis=1)
            if size:
                log = log + ((log_w[:, None] + log_w).ravel() if size == 2 else log_w)
            log_prior = sum(logf[i] for i in chosen) - sum(
                math.lgamma(chosen.count(i) + 1) for i in set(chosen)
            )
            each = np.exp(log + log_prior)
            weight = each.sum()
            sums = levels.sum(axis=0) if size else np.zeros(points)
            total += weight
            found[0] += weight * size
            found[1] += float(each @ sums)
            found[2:] += weight * inside.any(axis=0).ravel() if size else 0.0
    return found / total


def sampled(settings, seed, sweeps):
    """(sweeps, 11): what :func:`exact` gives the means of, from a chain."""
    model = PlaidCounts()
    params, rng = model.spec.check_params({**TINY, **settings}), tools.generator(seed)
    data = tools.matrix(SMALL, observed=SMALL_KNOWN)
    state = model.init(data, params, rng)
    out = np.empty((sweeps, 11))
    for t in range(sweeps):
        tools.sweep(model, state, data, params, rng, Clock(t, 0))
        copy = state["copies"]["0"]
        inside = (copy["rows"][:, :, None] & copy["columns"][:, None, :]).any(axis=0)
        out[t] = len(copy["theta"]), copy["theta"].sum(), *inside.ravel()
    return out


# joint test ----------------------------------------------------------------------------------------------------------

SHAPE = (4, 3)
KNOWN = np.ones(SHAPE, bool)
KNOWN[1, 2] = False


def statistics(copy):
    """Functions of all unknowns whose means are compared; bounded or with light tails."""
    rows, columns, theta = copy["rows"], copy["columns"], copy["theta"]
    inside = (rows[:, :, None] & columns[:, None, :]).any(axis=0)
    u, v = copy["row_degrees"], copy["column_degrees"]
    return [
        float(len(theta)), float(len(theta) == 0), inside.mean(), float(inside[1, 2]), float(rows.sum()), float(columns.sum()),
        copy["alpha"], math.log(copy["alpha"]), copy["rate"], math.log(copy["rate"]),
        float(np.tanh(theta).sum()), float(np.tanh(theta**2).sum()), float(np.tanh(theta @ rows.sum(axis=1))),
        math.log(copy["level"]), math.tanh(copy["level"]), math.tanh(copy["level"] * u[0] * v[1]),
        math.log(copy["row_shape"]), math.log(copy["column_shape"]), float(np.tanh(u).mean()), float(np.tanh(v).mean()),
        float(np.tanh(u[0] * copy["row_shape"])), float(np.tanh(v[0] * v[1])), float(np.tanh(copy["level"] * u.sum())),
    ]  # fmt: skip


def geweke(settings, seed, sweeps, draws=20_000):
    """z scores of all statistics: prior draws against a chain that also redraws the data."""
    model = PlaidCounts()
    params = model.spec.check_params({**TRIAL, "blocks_add": "alike", **settings})
    rng = tools.generator(seed)
    shapes = {"X": SHAPE}
    prior = np.array(
        [statistics(model.simulate(params, shapes, rng)[1]["copies"]["0"]) for _ in range(draws)]
    )
    _, state = model.simulate(params, shapes, rng)
    chain = np.empty((sweeps, prior.shape[1]))
    for t in range(sweeps):
        values = model.simulate_data(state, params, shapes, rng)["X"]
        data = tools.matrix(values, observed=KNOWN)
        tools.sweep(model, state, data, params, rng, Clock(t, 0))
        chain[t] = statistics(state["copies"]["0"])
    mean, error = tools.batch_means(chain)
    scale = np.sqrt(error**2 + prior.var(axis=0) / draws)
    return np.where(scale > 1e-9, (mean - prior.mean(axis=0)) / np.maximum(scale, 1e-300), 0.0)


# moves by themselves --------------------------------------------------------------------------------------------------


def moves_apart(code, likelihood, seed, replicates, tries=3, run="run_count_tasks", **more):
    """z scores of what one kind of move changes on average in draws of the prior and of data given them: nothing. Without a
    ``code`` the moves are passes over the blocks.

    Every replicate is a draw of its own, and no other move comes after that would draw levels anew and so heal a fault.
    """
    model = PlaidCounts()
    params = model.spec.check_params({**TRIAL, "blocks_add": "alike", "likelihood": likelihood, **more})
    rng, clock, changes = tools.generator(seed), Clock(0, 0), []
    for _ in range(replicates):
        values, state = model.simulate(params, {"X": SHAPE}, rng)
        setting = model.setting(tools.matrix(values["X"], observed=KNOWN), params, clock)
        copy = state["copies"]["0"]
        before = levels_of(copy)
        order = np.tile(np.arange(len(copy["theta"])), tries if code is None else 0)
        codes, law = np.full(0 if code is None else tries, code or 0), setting.law(copy)
        copy["rows"], copy["columns"], copy["theta"], copy["row_degrees"], copy["column_degrees"], _ = (
            getattr(sweep, run)(
                rng, setting.entries, copy["rows"].copy(), copy["columns"].copy(), copy["theta"], sweep.background(copy),
                setting.degrees, order, codes, law,
            )
        )  # fmt: skip
        changes.append(np.subtract(levels_of(copy), before))
    found = np.array(changes)
    error = found.std(axis=0) / np.sqrt(replicates)
    return found.mean(axis=0) / np.maximum(error, 1e-300)


def levels_of(copy):
    """Blocks and levels, and how they go together: levels in and outside of blocks, with the blocks there are."""
    rows, columns = copy["rows"].any(axis=0), copy["columns"].any(axis=0)
    u, v, size = np.tanh(copy["row_degrees"]), np.tanh(copy["column_degrees"]), len(copy["theta"])
    return [
        size, size == 0, np.tanh(copy["theta"]).sum(), rows.mean(), columns.mean(), u.mean(), v.mean(), u @ rows, v @ columns,
        u.mean() * size, v.mean() * size, (u**2).mean(), (v**2).mean(), u.mean() * (size == 0), v.mean() * (size == 0),
    ]  # fmt: skip
