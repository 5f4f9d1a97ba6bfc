"""Tiny problems, expectations by importance sampling from the prior, and chains of the rank factor model."""

from dataclasses import replace

import numpy as np

from plaidwork.core.api import Block, Clock, ModelData, passes
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.session.fitting import fit
from plaidwork.plugins.rank_factor import ascent, gibbs, rows, vb_rows, vb_scores, vb_state
from plaidwork.plugins.rank_factor.bound import elbo
from plaidwork.plugins.rank_factor.models import RankFactor, RankFactorVB
from plaidwork.plugins.rank_factor.rows import step_margin
from plaidwork.plugins.rank_factor.settings import SETTINGS
from plaidwork.plugins.rank_factor.setup import setup_of
from plaidwork.plugins.rank_factor.start import new_state


def params_of(**changes):
    return {item.name: item.check(changes.get(item.name, item.default)) for item in SETTINGS}


def block(name, values, known=None, categories=()):
    values = np.array(values)
    known = np.ones(values.shape, bool) if known is None else np.array(known)
    names = tuple(tuple(f"{letter}{i}" for i in range(n)) for letter, n in zip("sf", values.shape))
    values = values if categories else np.where(known, values, 0.0)
    values.flags.writeable = known.flags.writeable = False
    return Block(name, values, known, None, names, categories)


def data_of(x, labels, categories=("no", "yes"), split=None):
    """Inputs of a model: x samples by features with NaN where missing, labels as codes with -1 where missing."""
    x, labels = np.array(x, float), np.array(labels)
    blocks = {"X": block("X", x, ~np.isnan(x)), "y": block("y", labels, labels >= 0, categories)}
    if split is not None:
        blocks["split"] = block("split", np.array(split), categories=("train", "test"))
    return ModelData(blocks)


TINY_X = [[0.2, 1.5], [1.0, -0.3], [1.0, np.nan], [np.nan, 0.4]]
"""Four samples; a tie in the first feature, gaps in both."""
TINY = {
    "n_factors": 2,
    "n_components": 3,
    "n_levels": 0,
    "label_weight": 0.6,
    "threshold_sd": 1.0,
    "margin": 0.7,
    "coefficient_size": 1.5,
    "loading_size": 1.2,
}
TWO, THREE = [1, 0, 1, -1], [0, 1, 2, -1]


def tiny(classes=2, **changes):
    """(setup, params) of the tiny problem."""
    names = ("no", "yes") if classes == 2 else ("a", "b", "c")
    data = data_of(TINY_X, TWO if classes == 2 else THREE, names)
    params = params_of(**{**TINY, **changes})
    return setup_of(data, params), params


def generator(seed):
    return np.random.Generator(np.random.PCG64DXSM(seed))


# the prior, and expectations under the target -------------------------------------------------------------------------


def _gamma(rng, shape, rate):
    return np.maximum(rng.standard_gamma(np.broadcast_to(shape, np.shape(rate))), 1e-300) / rate


def _shrunk(rng, n, head, k, r, s, shared):
    """Values (n, *head, k) with their variances, rates, column or row rates and the rate of all."""
    shape = (n, *head)
    rate_of_all = _gamma(rng, 0.5, np.ones((n,) if shared else shape))
    phi = _gamma(rng, 0.5, np.repeat(rate_of_all[:, None], k, axis=1) if shared else rate_of_all)
    wide = np.broadcast_to(phi[:, None] if shared else phi[..., None], (*shape, k))
    eta = _gamma(rng, s, wide)
    xi = _gamma(rng, r, eta)
    return rng.standard_normal(xi.shape) * np.sqrt(xi), xi, eta, phi, rate_of_all


def prior_draws(setup, params, n, rng):
    """n draws of everything from the prior, by the names of the state."""
    (d, size, g), k = setup.shape, params["n_factors"]
    groups = params["n_components"] if params["classifier"] == "nonlinear" else 1
    found = {}
    found["a"], found["xi"], found["eta"], found["phi"], found["phi_rate"] = _shrunk(
        rng, n, (d,), k, params["loading_shape"], params["loading_rate"], True
    )
    found["beta"], found["b"], found["e"], found["b_phi"], found["b_phi_rate"] = _shrunk(
        rng,
        n,
        (groups, g),
        k + params["bias"],
        params["coefficient_shape"],
        params["coefficient_rate"],
        False,
    )
    found["c"] = params["threshold_sd"] * rng.standard_normal((n, d, setup.n_thresholds))
    found["gamma"] = _gamma(rng, params["noise_shape"], np.full((n, d), params["noise_rate"]))
    found["mu"], found["psi"] = np.zeros((n, groups, k)), np.ones((n, groups))
    found["t"], found["alpha"] = np.zeros((n, size), int), np.ones(n)
    if groups > 1:
        found["mu"] = rng.standard_normal((n, groups, k))
        found["psi"] = _gamma(rng, params["precision_shape"], np.full((n, groups), params["precision_rate"]))
        found["alpha"] = np.maximum(_gamma(rng, params["mass_shape"], np.full(n, params["mass_rate"])), 1e-6)
        log_rest = np.log1p(-rng.random((n, groups - 1))) / found["alpha"][:, None]
        left = np.concatenate([np.zeros((n, 1)), np.cumsum(log_rest, axis=1)], axis=1)
        share = np.exp(left) * np.concatenate([-np.expm1(log_rest), np.ones((n, 1))], axis=1)
        found["t"] = (rng.random((n, size, 1)) > np.cumsum(share, axis=1)[:, None]).sum(axis=2)
        found["t"] = np.minimum(found["t"], groups - 1)
    rows = np.arange(n)[:, None]
    noise = rng.standard_normal((n, size, k))
    found["z"] = found["mu"][rows, found["t"]] + noise / np.sqrt(found["psi"][rows, found["t"]])[..., None]
    return found


def log_weights(setup, params, draws):
    """(n,) log of the factors of data and labels, written out from section 2 of the specification."""
    a, z, c = draws["a"], draws["z"], draws["c"]
    w = np.einsum("sik,snk->sin", a, z)
    total, eps = np.zeros(len(a)), step_margin(setup, params)
    if setup.likelihood == "gaussian":
        gamma = draws["gamma"][:, :, None]
        total += (setup.known * (0.5 * np.log(gamma / (2 * np.pi)) - 0.5 * gamma * (setup.x - w) ** 2)).sum(
            axis=(1, 2)
        )
    elif setup.likelihood == "pairs":
        for i in range(a.shape[1]):
            for lo, hi in reference_pairs(setup.levels.values[i]):
                total -= 2 * np.maximum(0, eps + w[:, i, lo] - w[:, i, hi])
    else:
        for i, n in np.argwhere(setup.known):
            j = setup.levels.values[i, n]
            if j > 0:
                total -= 2 * np.maximum(0, eps + c[:, i, j - 1] - w[:, i, n])
            if j < setup.levels.count[i] - 1:
                total -= 2 * np.maximum(0, eps + w[:, i, n] - c[:, i, j])
    f = own_values(draws)
    hinge = np.maximum(0, 1 - setup.y * f) * (setup.y != 0)
    if params["coefficient_size"] and params["classifier"] == "linear":
        total -= (draws["beta"] ** 2).sum(axis=(1, 2, 3)) / (2 * params["coefficient_size"] ** 2)
    total -= 0.5 * bound_of_loadings(params) * (a**2).sum(axis=(1, 2))
    return total - 2 * params["label_weight"] * hinge.sum(axis=(1, 2))


def bound_of_loadings(params):
    """Precision of the normal factor on each loading."""
    if params["likelihood"] != "rank" or params["classifier"] != "linear" or not params["loading_size"]:
        return 0.0
    return 1 / (params["margin"] * params["loading_size"]) ** 2


def reference_pairs(levels):
    """Pairs (lower, higher) of neighbouring levels, straight from the specification."""
    found = []
    for j in range(levels.max()):
        a, b = np.flatnonzero(levels == j), np.flatnonzero(levels == j + 1)
        found += [(a[k % len(a)], b[k % len(b)]) for k in range(max(len(a), len(b)))]
    return found


def own_values(draws):
    """(n, N, G) value of each sample's own classifier."""
    z, beta = draws["z"], draws["beta"]
    if beta.shape[-1] > z.shape[-1]:
        z = np.concatenate([z, np.ones((*z.shape[:-1], 1))], axis=-1)
    own = beta[np.arange(len(z))[:, None], draws["t"]]
    return np.einsum("sngk,snk->sng", own, z)


def functions(draws, likelihood):
    """(n, q) bounded functions that do not change with the sign of a factor."""
    w = np.einsum("sik,snk->sin", draws["a"], draws["z"])
    squash = [
        *np.moveaxis(np.tanh(w).reshape(len(w), -1), 1, 0)[:5], w[:, 0, 0] < w[:, 0, 1], np.tanh(w[:, 1, 0] * w[:, 1, 3]),
        1 / (1 + draws["xi"][:, 0, 0]), 1 / (1 + draws["eta"][:, 1, 1]), 1 / (1 + draws["phi"][:, 0]),
        1 / (1 + draws["phi_rate"]), np.tanh((draws["z"] ** 2).sum(axis=(1, 2)) / 8),
        *np.moveaxis(np.tanh(own_values(draws)).reshape(len(w), -1), 1, 0)[:4],
        1 / (1 + draws["b"][:, 0, 0, 0]), 1 / (1 + draws["e"][:, 0, 0, -1]), 1 / (1 + draws["b_phi"][:, 0, 0]),
        1 / (1 + draws["b_phi_rate"][:, 0, 0]), np.tanh(draws["beta"][:, 0, 0, -1]),
    ]  # fmt: skip
    if likelihood == "gaussian":
        squash += [1 / (1 + draws["gamma"][:, 0]), 1 / (1 + draws["gamma"][:, 1])]
    if likelihood == "levels":
        squash += [np.tanh(draws["c"][:, 0, 0]), np.tanh(draws["c"][:, 1, 1])]
    if draws["psi"].shape[1] > 1:
        t = draws["t"]
        squash += [
            1 / (1 + draws["alpha"]), t[:, 0] == t[:, 1], t[:, 0] == 0, 1 / (1 + draws["psi"][:, 0]),
            1 / (1 + draws["psi"][:, -1]), np.tanh((draws["mu"][:, 0] ** 2).sum(axis=1) / 2), t[:, 0] == t[:, 3],
        ]  # fmt: skip
    return np.stack([np.asarray(one, float) for one in squash], axis=1)


def exact(setup, params, n=1_500_000, seed=1, batch=100_000):
    """Expectations of ``functions`` under the target and their standard errors, by importance sampling."""
    rng = generator(seed)
    weights, moments, squares, cross = 0.0, 0.0, 0.0, 0.0
    square_weights = 0.0
    for _ in range(n // batch):
        draws = prior_draws(setup, params, batch, rng)
        weight = np.exp(log_weights(setup, params, draws))[:, None]
        values = functions(draws, setup.likelihood)
        weights += weight.sum()
        square_weights += (weight**2).sum()
        moments += (weight * values).sum(axis=0)
        squares += (weight**2 * values**2).sum(axis=0)
        cross += (weight**2 * values).sum(axis=0)
    mean = moments / weights
    error = np.sqrt(squares - 2 * mean * cross + mean**2 * square_weights) / weights
    return mean, error


NAMES = (
    "a", "z", "c", "gamma", "xi", "eta", "phi", "phi_rate", "beta", "b", "e", "b_phi", "b_phi_rate", "mu", "psi", "t",
    "alpha",
)  # fmt: skip


class Fitted:
    """Stands for the model where a test has a setup of its own."""

    def __init__(self, setup, params):
        self.setup, self.params = setup, params

    def stages(self, state, _data, _params, rng, clock):
        if rng is None:
            return ascent.stages(state, self.setup, self.params, clock)
        return gibbs.stages(state, self.setup, self.params, rng, clock)


def sweep(state, setup, params, rng, number, warmup=0):
    """One whole sweep of the sampler; its traces."""
    for _ in passes(Fitted(setup, params), state, None, params, rng, Clock(number, warmup)):
        pass
    return gibbs.traces_of(state, setup, params)


def climb(state, setup, params, number):
    """One whole sweep of the ascent; its traces."""
    for _ in passes(Fitted(setup, params), state, None, params, None, Clock(number, 0)):
        pass
    return ascent.traces_of(state)


def ascent_blocks(state, setup, params, clock):
    """One sweep of the ascent's updates, with the bound after every factor of q; no steps beyond them."""
    n_rows, n_samples = setup.shape[:2]
    rows.begin_rows(state, setup)
    zz = vb_state.z_second(state)
    part = vb_rows.begin_part(state, setup, 0, n_rows, zz)
    vb_rows.update_weights(state, setup, params, part)

    def bound():
        fresh = vb_rows.begin_part(state, setup, 0, n_rows, vb_state.z_second(state))
        fresh.below, fresh.above = part.below, part.above
        vb_rows.measure_part(state, setup, params, fresh, given=True)
        return elbo(state, setup, params, float(state["hinges"].sum()))

    yield "weights", bound()
    vb_rows.update_own(state, setup, params, part)
    yield "thresholds or noise", bound()
    vb_rows.update_loadings(state, setup, params, part, zz)
    yield "a", bound()
    vb_rows.update_scales(state, params, 0, n_rows)
    yield "xi", bound()
    vb_rows.update_rates(state, 0, n_rows)
    vb_rows.pass_on(state, setup, params, part)
    yield "eta", bound()
    vb_rows.update_columns(state)
    yield "rates of a", bound()
    ascent.update_groups(state, setup, params, clock)
    yield "t", bound()
    vb_scores.update_scores(state, setup, params, 0, n_samples)
    yield "z", bound()
    for update in (*ascent.after_scores_of(state, setup, params), *ascent.last_of(state, setup, params)):
        update()
        yield update.func.__name__, bound()
    whole = vb_rows.begin_part(state, setup, 0, n_rows, vb_state.z_second(state))
    vb_rows.measure_part(state, setup, params, whole)
    gibbs.forget(state)
    yield "weights again", elbo(state, setup, params, float(state["hinges"].sum()))


def sampled(setup, params, sweeps, seed, warmup=300):
    """(sweeps, q) the functions along a chain."""
    rng = generator(seed)
    state, kept = new_state(setup, params, rng), {name: [] for name in NAMES}
    for number in range(warmup + sweeps):
        sweep(state, setup, params, rng, number, warmup)
        if number >= warmup:
            for name in NAMES:
                kept[name].append(np.copy(state[name]))
    return functions({name: np.array(values) for name, values in kept.items()}, setup.likelihood)


def z_scores(samples, expected, batches=40):
    """Difference of the chain's means from the expectations, in standard errors of both (batch means)."""
    mean, error = expected
    size = len(samples) // batches
    parts = samples[: size * batches].reshape(batches, size, -1).mean(axis=1)
    spread = parts.std(axis=0, ddof=1) / np.sqrt(batches)
    return (parts.mean(axis=0) - mean) / np.sqrt(spread**2 + error**2)


def full(packed, k):
    """Symmetric (K, K) from its packed lower triangle."""
    out = np.zeros((k, k))
    out[np.tril_indices(k)] = packed
    return out + np.tril(out, -1).T


# whole fits -----------------------------------------------------------------------------------------------------------


def dataset(name, values, kind="real", categories=(), names=None):
    values = np.asarray(values)
    rows = tuple(names or (f"s{i}" for i in range(len(values))))
    columns = tuple(f"f{j}" for j in range(values.shape[1])) if values.ndim == 2 else ()
    return Dataset(name, values, rows, columns, kind=kind, categories=categories)


def inputs(x, labels, categories=("no", "yes"), split=None):
    """Datasets by input; labels are codes, -1 where missing."""
    found = {"X": dataset("X", np.asarray(x, float))}
    found["y"] = dataset("y", np.asarray(labels, np.int64), "categorical", categories)
    if split is not None:
        found["split"] = dataset("split", np.asarray(split, np.int64), "categorical", ("train", "test"))
    return found


def run(model, given, settings=None, **schedule):
    return fit(model, given, settings or {}, **schedule)


def planted(seed, n=160, d=30, k=3, classes=2, bent=False):
    """Features that are odd increasing functions of two or three factors; classes by the first two factors.

    Returns x (n, d), codes, scores (n, k), loadings (d, k). ``bent``: the second class surrounds the first.
    """
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((n, k))
    a = rng.standard_normal((d, k)) * (rng.random((d, k)) < 0.5)
    w = z @ a.T + 0.2 * rng.standard_normal((n, d))
    x = np.where(
        np.arange(d) % 3 == 0, np.exp(1.5 * w), np.where(np.arange(d) % 3 == 1, w**3, np.round(2 * w))
    )
    if classes == 2:
        codes = (z[:, 0] ** 2 + z[:, 1] ** 2 > 1.4 if bent else z[:, 0] + 0.5 * z[:, 1] > 0).astype(int)
    else:
        codes = (np.floor((np.arctan2(z[:, 1], z[:, 0]) + np.pi) / (2 * np.pi) * classes)).astype(
            int
        ) % classes
    return x, codes, z, a


def explained(found, truth):
    """Share of the true columns' variance that a linear function of the found ones explains, least of all columns."""
    design = np.column_stack([found, np.ones(len(found))])
    rest = truth - design @ np.linalg.lstsq(design, truth, rcond=None)[0]
    return float((1 - (rest**2).sum(axis=0) / ((truth - truth.mean(axis=0)) ** 2).sum(axis=0)).min())


# the models with other defaults, for the conformance suite --------------------------------------------------------------

VARIANTS = {
    "pairs": {"scheme": "pairs"},
    "values": {"likelihood": "gaussian"},
    "mixture": {"classifier": "nonlinear"},
    "pairs_mixture": {"scheme": "pairs", "classifier": "nonlinear"},
    "values_mixture": {"likelihood": "gaussian", "classifier": "nonlinear"},
    "all_values": {"n_levels": 0, "bias": False},
}


def _variant(base, name, defaults):
    defaults = {"n_factors": 10, **defaults}
    settings = tuple(
        replace(item, default=defaults[item.name]) if item.name in defaults else item
        for item in base.spec.hyperparameters
    )
    spec = replace(base.spec, id=f"{base.spec.id}.{name}", hyperparameters=settings)
    title = f"{base.__name__}_{name}"
    globals()[title] = type(title, (base,), {"spec": spec, "__module__": __name__, "__qualname__": title})
    return globals()[title]


MODELS = {
    f"{base.spec.id}.{name}": _variant(base, name, defaults)
    for base in (RankFactor, RankFactorVB)
    for name, defaults in VARIANTS.items()
} | {"rank_factor.process": _variant(RankFactor, "process", {"classifier": "process"})}
