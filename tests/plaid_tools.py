"""What the plaid tests share: data blocks, a driver, exact enumeration, a Geweke comparison, kernels with a fault."""

import functools
import inspect
import itertools
import math
import textwrap
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit
from scipy import stats
from scipy.special import gammaln, logsumexp

from plaidwork.core.api import Block, Clock, ModelData
from plaidwork.core.draws.draws import ChainView, DrawBuffer, Kept, TraceBuffer
from plaidwork.plugins.plaid.simulate import simulate_matrix
from plaidwork.plugins.plaid.state import measure


def generator(seed):
    return np.random.Generator(np.random.PCG64DXSM(seed))


def block(values, observed=None, held_out=None, name="X"):
    values = np.array(values, float)
    known = np.ones(values.shape, bool) if observed is None else np.array(observed, bool)
    truth = None
    if held_out is not None:
        truth, known = values.copy(), known & ~held_out
    values = np.where(known, values, 0.0)
    for array in (values, known):
        array.flags.writeable = False
    names = tuple(tuple(f"{letter}{i}" for i in range(n)) for letter, n in zip("rc", values.shape))
    return Block(name, values, known, held_out, names, truth=truth)


def matrix(values, **more):
    return ModelData({"X": block(values, **more)})


def sweep(model, state, data, params, rng, clock):
    """One whole sweep, however it is cut."""
    traces = None
    while traces is None:
        traces = model.step(state, data, params, rng, clock)
    return traces


def run(model, data, settings, seed, warmup, draws):
    """(state, traces by name) after warmup + draws sweeps."""
    params, rng = model.spec.check_params(settings), generator(seed)
    state = model.init(data, params, rng)
    rows = [sweep(model, state, data, params, rng, Clock(t, warmup)) for t in range(warmup + draws)]
    return state, {name: np.array([row[name] for row in rows]) for name in rows[0]}


def batch_means(samples, batches=40):
    """Mean and its standard error by batch means: samples (n, q)."""
    n = len(samples) // batches
    means = samples[: n * batches].reshape(batches, n, -1).mean(axis=1)
    return means.mean(axis=0), means.std(axis=0, ddof=1) / math.sqrt(batches)


def made_draw(rows, columns, theta=None, log_joint=0.0, phi=0.0):
    """A draw of blocks of one shift, as ``Model.draws`` gives it."""
    theta = np.full(len(rows), 2.0) if theta is None else theta
    numbers = {"phi": phi, "tau0": 1.0, "alpha": 0.1, "mu": 0.0, "tau": 1.0, "log_joint": log_joint}
    nothing = {"profile": columns, "row_weight": rows, "row_effect": rows, "column_effect": columns}
    nothing = {name: np.empty((0, side.shape[1])) for name, side in nothing.items()}
    nothing["freedom"] = np.empty(0)
    return {"Z1": rows, "Z2": columns, "theta": theta, **numbers, **nothing}


def kept_of(model, chains):
    """``Kept`` from lists of draws, each with its log joint and number of blocks as traces."""
    views = []
    for c, draws in enumerate(chains):
        buffer, trace = DrawBuffer(model.spec.variables), TraceBuffer(("log_joint", "n_blocks"))
        for draw in draws:
            buffer.append(draw)
            trace.append({"log_joint": draw["log_joint"], "n_blocks": len(draw["theta"])})
        views.append(ChainView(c, len(draws), len(draws), np.arange(len(draws)), buffer, trace))
    return Kept(model.spec, views)


def kept_of_draws(model, draws):
    """A chain of these draws, without traces."""
    buffer = DrawBuffer(model.spec.variables)
    for draw in draws:
        buffer.append(draw)
    return ChainView(0, len(draws), len(draws), np.arange(len(draws)), buffer, TraceBuffer(()))


def chains_of(model, data, settings, chains, warmup, draws):
    """(kept draws, params) of several chains, two at a time."""
    params = model.spec.check_params(settings)

    def one(seed):
        rng, kept = generator(seed), []
        state = model.init(data, params, rng)
        for t in range(warmup + draws):
            sweep(model, state, data, params, rng, Clock(t, warmup))
            if t >= warmup:
                kept.append(model.draws(state, data, params))
        return kept

    with ThreadPoolExecutor(2) as pool:
        return kept_of(model, list(pool.map(one, range(chains)))), params


# exact enumeration ---------------------------------------------------------------------------------------------------

SMALL_X = np.array([[2.6, 1.4, -0.3], [1.9, 2.4, 0.4], [-0.7, 0.5, 0.0]])
SMALL_W = np.array([[1, 1, 1], [1, 1, 1], [1, 1, 0]], bool)
FIXED_NUMBERS = {
    "scale": False, "background_at": "value", "background_mean": 0.2, "background_sd": 0.8,
    "learn_noise": False, "noise_sd_value": 1.1, "learn_shift_mean": False, "shift_mean": 0.5,
    "learn_shift_spread": False, "shift_sd_value": 1.5,
}  # fmt: skip
TINY_FIXED = {**FIXED_NUMBERS, "blocks": 2, "row_a": 1.0, "row_b": 2.0, "column_a": 0.7, "column_b": 1.3}
PROFILE = {"layer": "profile", "profile_shape": 1e8, "profile_rate": 0.8e8}
"""Profiles whose variance around their shift is .8: a prior so narrow that the precision is as good as fixed."""
TAILS = {"noise": "t", "freedom_shape": 1e8, "freedom_rate": 0.5e8}
"""t noise of two degrees of freedom: a prior so narrow that they are as good as fixed."""
TINY_INFINITE = {**FIXED_NUMBERS, "learn_mass": False, "mass_value": 0.3, "max_blocks": 3}


def log_marginal_dense(cells, p):
    """log p(X | Z) up to a constant, straight from the covariance of the observed cells; cells (K, N1, N2) bool."""
    z = cells.reshape(len(cells), 9)[:, SMALL_W.ravel()].astype(float)
    x = SMALL_X[SMALL_W]
    s2 = p["shift_sd_value"] ** 2
    cov = p["noise_sd_value"] ** 2 * np.eye(x.size) + p["background_sd"] ** 2 + s2 * z.T @ z
    if p["layer"] == "profile":
        column = np.nonzero(SMALL_W)[1]
        cov += p["profile_rate"] / p["profile_shape"] * (column[:, None] == column) * (z.T @ z)
    residual = x - p["background_mean"] - p["shift_mean"] * z.sum(axis=0)
    return -0.5 * np.linalg.slogdet(cov)[1] - 0.5 * residual @ np.linalg.solve(cov, residual)


STEP = 0.35
"""Of the grid on which background and shifts are integrated out by the trapezoid rule; the narrowest density there has an sd of .4."""


def log_marginal_t(cells, p):
    """log p(X | Z) of t noise up to a constant, on a grid of background and up to two shifts; cells (K, N1, N2) bool."""
    freedom = p["freedom_shape"] / p["freedom_rate"]
    grids, logs = [], []
    for mean, sd in [(p["background_mean"], p["background_sd"])] + [
        (p["shift_mean"], p["shift_sd_value"])
    ] * len(cells):
        steps = np.arange(math.floor((mean - 5 * sd) / STEP), math.ceil((mean + 5 * sd) / STEP) + 1)
        grids.append(steps)
        logs.append(-0.5 * ((steps * STEP - mean) / sd) ** 2)
    total = functools.reduce(np.add.outer, logs)
    z, x = cells.reshape(len(cells), 9)[:, SMALL_W.ravel()], SMALL_X[SMALL_W]
    for pattern in itertools.product((False, True), repeat=len(cells)):
        values = x[(z == np.array(pattern)[:, None]).all(axis=0)]
        if not values.size:
            continue
        parts = [
            grids[0],
            *(grid if inside else 0 * grid for grid, inside in zip(grids[1:], pattern, strict=True)),
        ]
        places = functools.reduce(np.add.outer, parts)
        levels = np.arange(places.min(), places.max() + 1) * STEP
        of_level = stats.t.logpdf(values[:, None], freedom, levels, p["noise_sd_value"]).sum(axis=0)
        total = total + of_level[places - places.min()]
    spread = p["shift_sd_value"] / STEP
    return float(logsumexp(total)) - len(cells) * math.log(spread * math.sqrt(2 * math.pi))


def subsets(n, least):
    return np.array([z for z in itertools.product((False, True), repeat=n) if sum(z) >= least])


def exact_infinite(p, likelihood=True):
    """E[K] and the nine cover probabilities, over all multisets of at most three blocks."""
    sides = subsets(3, 1)
    blocks = [(a, b) for a in sides for b in sides]
    logf = [math.lgamma(4 - m) + math.lgamma(m) - math.lgamma(4) for m in range(1, 4)]
    weight = [math.log(p["mass_value"]) + logf[a.sum() - 1] + logf[b.sum() - 1] for a, b in blocks]
    return _expectations(
        (
            (chosen, sum(weight[i] for i in chosen) - sum(math.lgamma(chosen.count(i) + 1) for i in set(chosen)))
            for size in range(p["max_blocks"] + 1)
            for chosen in itertools.combinations_with_replacement(range(len(blocks)), size)
        ),
        blocks, p, likelihood,
    )  # fmt: skip


def exact_fixed(p):
    """The same for two blocks that may be empty, with Beta priors of the shares."""

    def side(z, a, b):
        m = z.sum()
        return gammaln(a + m) + gammaln(b + 3 - m) - gammaln(a + b + 3)

    sides = subsets(3, 0)
    blocks = [(u, v) for u in sides for v in sides]
    weight = [side(u, p["row_a"], p["row_b"]) + side(v, p["column_a"], p["column_b"]) for u, v in blocks]
    pairs = itertools.combinations_with_replacement(range(len(blocks)), 2)
    return _expectations(
        ((pair, weight[pair[0]] + weight[pair[1]] + (math.log(2) if pair[0] != pair[1] else 0.0)) for pair in pairs),
        blocks, p, True,
    )  # fmt: skip


def _expectations(states, blocks, p, likelihood):
    cells = np.array([np.outer(u, v) for u, v in blocks])
    log_marginal = log_marginal_t if p["noise"] == "t" else log_marginal_dense
    logs, values = [], []
    for chosen, log_prior in states:
        inside = cells[list(chosen)].reshape(-1, 3, 3)
        logs.append(log_prior + (log_marginal(inside, p) if likelihood else 0.0))
        values.append([inside.any(axis=(1, 2)).sum(), *inside.any(axis=0).ravel()])
    probability = np.exp(np.array(logs) - max(logs))
    return probability @ np.array(values, float) / probability.sum()


def sampled(model, settings, seed, sweeps):
    """(sweeps, 10): number of blocks and the nine cells of every sweep, from a chain on the tiny matrix."""
    params, rng = model.spec.check_params(settings), generator(seed)
    data = matrix(SMALL_X, observed=SMALL_W)
    state = model.init(data, params, rng)
    out = np.empty((sweeps, 10))
    for t in range(sweeps):
        traces = sweep(model, state, data, params, rng, Clock(t, 0))
        cold = state["replicas"]["0"]
        inside = (cold["rows"][:, :, None] & cold["columns"][:, None, :]).any(axis=0)
        out[t] = traces["n_blocks"], *inside.ravel()
    return out


LIMIT = 4.5
"""Standard errors from the truth, of up to twenty functions of a chain, their errors from 40 batches: a right sampler exceeds
it once in 800 runs or less at whichever seed; a planted fault has to show with more than 5."""


def z_scores(samples, exact):
    mean, error = batch_means(samples)
    return (mean - exact) / np.maximum(error, 1e-12)


# Geweke ------------------------------------------------------------------------------------------------------------

GEWEKE = {
    "scale": False, "background_at": "value", "background_mean": 0.3, "background_sd": 0.7, "noise_shape": 3.0,
    "noise_rate": 2.0, "shift_shape": 3.0, "shift_rate": 4.0, "shift_mean": 0.4, "shift_mean_variance": 1.0,
    "anneal": False,
}  # fmt: skip
LAYERED = {
    "layer": "profile",
    "profile_shape": 3.0,
    "profile_rate": 2.0,
    "effect_shape": 3.0,
    "effect_rate": 1.0,
}
EFFECTS = {"effects": True, "effect_shape": 3.0, "effect_rate": 1.0}
HEAVY = {"noise": "t", "freedom_shape": 8.0, "freedom_rate": 1.5}
GEWEKE_SHAPE = (4, 3)
GEWEKE_W = np.ones(GEWEKE_SHAPE, bool)
GEWEKE_W[1, 2] = False


def _of_layers(replica):
    """Functions of what only blocks with a profile have, and of effects; none for one shift without them."""
    if "layers" not in replica:
        return _of_effects(replica, replica["effects"]) if "effects" in replica else []
    layers = replica["layers"]
    gaps = (layers["profiles"] - replica["theta"][:, None])[replica["columns"]]
    return [
        math.log(layers["tau_b"]), math.tanh(layers["tau_b"]), float(np.tanh(layers["profiles"]).sum()), float(np.tanh(gaps**2).sum()),
        float(np.log(layers["row_weights"]).mean()), float(np.tanh(layers["row_weights"]).sum()),
        *_of_effects(replica, layers),
    ]  # fmt: skip


def _of_effects(replica, effects):
    return [
        float(np.tanh(effects["row_effects"] ** 2).sum()), float(np.tanh(effects["column_effects"] ** 2).sum()),
        math.log(effects["tau_r"]), math.log(effects["tau_c"]), float(np.tanh(effects["row_effects"][0] + replica["phi"])),
    ]  # fmt: skip


def statistics(replica):
    """Functions of all unknowns whose means are compared; bounded or with light tails."""
    rows, columns, theta = replica["rows"], replica["columns"], replica["theta"]
    inside = (rows[:, :, None] & columns[:, None, :]).any(axis=0)
    tails = [math.log(replica["freedom"]), replica["freedom"]] if "freedom" in replica else []
    return [
        *tails, *_of_layers(replica),
        float((rows.any(axis=1) & columns.any(axis=1)).sum()), inside.mean(), float(inside[1, 2]),
        float(rows.sum() > columns.sum()), float(rows.sum()), float(columns.sum()),
        replica["alpha"], replica["alpha"] ** 2, replica["mu"], replica["mu"] ** 2, math.log(replica["tau"]), replica["tau"],
        math.log(replica["tau0"]), replica["tau0"], replica["phi"], replica["phi"] ** 2,
        float(np.tanh(theta).sum()), float(np.tanh(theta**2).sum()), float(np.tanh(theta @ rows.sum(axis=1))),
        math.tanh(replica["mu"] * replica["tau"]),
    ]  # fmt: skip


def geweke(model, settings, seed, sweeps, draws=20_000):
    """z scores of all statistics: prior draws against a chain that also redraws the data."""
    params, rng = model.spec.check_params(settings), generator(seed)
    shapes = {"X": GEWEKE_SHAPE}
    prior = np.array(
        [statistics(model.simulate(params, shapes, rng)[1]["replicas"]["0"]) for _ in range(draws)]
    )
    _, state = model.simulate(params, shapes, rng)
    chain = np.empty((sweeps, prior.shape[1]))
    for t in range(sweeps):
        replica = state["replicas"]["0"]
        data = matrix(simulate_matrix(rng, replica), observed=GEWEKE_W)
        state["constants"] = measure(data["X"], params)
        sweep(model, state, data, params, rng, Clock(t, 0))
        chain[t] = statistics(state["replicas"]["0"])
    mean, error = batch_means(chain)
    prior_error = prior.std(axis=0) / math.sqrt(draws)
    scale = np.sqrt(error**2 + prior_error**2)
    return np.where(scale > 1e-9, (mean - prior.mean(axis=0)) / np.maximum(scale, 1e-300), 0.0)


# faults --------------------------------------------------------------------------------------------------------------


_FAULTS = itertools.count()


def with_fault(function, old="", new="", **names):
    """The function with one piece of its source replaced; ``names`` override its globals.

    The piece must occur exactly once, so that a fault cannot silently miss. The faulty function has a name of its own: numba
    names what it compiles by module, function, types and a number that begins at 1 in every process, and of two of one name
    the linker takes the first. A right kernel, loaded from the cache, would call the faulty one from then on.
    """
    plain = getattr(function, "py_func", function)
    source = textwrap.dedent(inspect.getsource(plain))
    source = source[source.index("def ") :]
    assert not old or source.count(old) == 1, f"{old!r} occurs {source.count(old)} times in {plain.__name__}"
    scope = {**plain.__globals__, **names}
    exec(compile(source.replace(old, new) if old else source, f"<fault in {plain.__name__}>", "exec"), scope)
    found = scope[plain.__name__]
    found.__qualname__ = f"fault_{next(_FAULTS)}_in_{plain.__name__}"
    return njit(nogil=True)(found) if plain is not function else found
