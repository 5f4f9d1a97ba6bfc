"""Simulated documents, an independent dense bound, and whole fits for the tests of the supervised IBP."""

import numpy as np
from scipy.special import digamma, gammaln, logsumexp, xlogy

from plaidwork.core.contract import stages
from plaidwork.core.contract.model_data import Block, ModelData
from plaidwork.core.plugins.registry import registry
from plaidwork.plugins.supervised_ibp import sweep
from plaidwork.plugins.supervised_ibp.bound import elbo_of
from plaidwork.plugins.supervised_ibp.corpus import Corpus, corpus_of
from plaidwork.plugins.supervised_ibp.matrices import fixed
from plaidwork.plugins.supervised_ibp.start import new_state


def plain_corpus(x, y, cover=None, group=None, n_groups=1, precision=0.1):
    """A corpus of these very numbers: nothing split, centred or scaled."""
    from scipy.sparse import csr_matrix

    csr = csr_matrix(np.asarray(x, float))
    n, d = csr.shape
    cover = np.empty((n, 0)) if cover is None else np.asarray(cover, float)
    return Corpus(
        indptr=fixed(csr.indptr, np.int64),
        indices=fixed(csr.indices, np.int32),
        values=fixed(csr.data, float),
        mean=np.zeros(d),
        scale=np.ones(d),
        square=float((csr.data**2).sum()),
        words=np.arange(d),
        idf=np.ones(d),
        n_constant=0,
        n_rare=0,
        y=np.asarray(y, float),
        y_mean=0.0,
        y_scale=1.0,
        cover=cover,
        cover_mean=np.zeros(cover.shape[1]),
        cover_scale=np.ones(cover.shape[1]),
        cover_names=tuple(f"c{p}" for p in range(cover.shape[1])),
        precision=np.full(cover.shape[1], precision),
        group=np.zeros(n, np.int64) if group is None else np.asarray(group, np.int64),
        group_names=tuple(f"g{g}" for g in range(n_groups)),
        train=np.arange(n),
        test=np.arange(0),
        units=np.arange(n),
        n_left_out=0,
    )


PACKAGE = {
    "alpha": 4.0, "noise": 0.8, "weight_variance": 5.0, "variances": "numbers", "transform": "count",
    "scale": "standardise", "background": False, "show": "exclusivity", "start": "turns", "moves": 0,
}  # fmt: skip
"""Settings of the R package texteffect, in which the exact cases are stated."""


def params(**changed):
    """All settings: those of the package but for ``changed``."""
    return registry().model("supervised_ibp").spec.check_params(PACKAGE | changed)


def state_of(corpus, nu, settings):
    return new_state(corpus, nu, settings)


def dense(corpus):
    """Xs (N, D) as the model means it."""
    from scipy.sparse import csr_matrix

    x = csr_matrix((corpus.values, corpus.indices, corpus.indptr), corpus.shape).toarray()
    return (x - corpus.mean) / corpus.scale


def moments(corpus, nu):
    """E[w] (N, Q) and E[w'w] (Q, Q), document by document."""
    groups, k = corpus.n_groups, nu.shape[1]
    covers = corpus.cover.shape[1]
    first = np.zeros((len(nu), covers + groups * k))
    second = np.zeros((first.shape[1],) * 2)
    for n in range(len(nu)):
        first[n, :covers] = corpus.cover[n]
        at = covers + corpus.group[n] * k
        first[n, at : at + k] = nu[n]
        second += np.outer(first[n], first[n])
        for i in range(k):
            second[at + i, at + i] += nu[n, i] * (1 - nu[n, i])
    return first, second


def reference_bound(corpus, state, settings):
    """The bound put together from expectations, term by term as in the specification, all dense."""
    x, y, nu, phi = dense(corpus), corpus.y, state["nu"], state["phi"].T
    (n, d), k = x.shape, nu.shape[1]
    s2x, s2a = settings["noise"], settings["weight_variance"]
    m, cov, c, rate = state["coef"], state["coef_cov"], state["tau_shape"], state["tau_rate"]
    l1, l2 = state["share_a"], state["share_b"]
    gram = phi @ phi.T + d * state["cov"]
    zz = nu.T @ nu
    zz[np.diag_indices(k)] = nu.sum(axis=0)
    log_x, log_1x = digamma(l1) - digamma(l1 + l2), digamma(l2) - digamma(l1 + l2)
    free = nu[:, int(settings["background"]) :]  # a background topic has no share
    if settings["prior"] == "finite":
        e1, e0, p1 = log_x, log_1x, settings["alpha"] / free.shape[1]
    else:
        p1, e1, e0 = settings["alpha"], np.cumsum(log_x), np.empty(free.shape[1])
        for i in range(free.shape[1]):
            e0[i] = logsumexp([log_1x[j] + log_x[:j].sum() for j in range(i + 1)])
    first, second = moments(corpus, nu)
    ridge = np.concatenate([corpus.precision, np.ones(corpus.n_groups * k)])
    tau, log_tau, size = c / rate, digamma(c) - np.log(rate), len(m)
    big = cov + tau * np.outer(m, m)
    a, b = settings["tau_shape"], settings["tau_rate"]
    total = (free * e1 + (1 - free) * e0).sum()
    total += (np.log(p1) + (p1 - 1) * log_x).sum()
    total -= ((l1 - 1) * log_x + (l2 - 1) * log_1x - (gammaln(l1) + gammaln(l2) - gammaln(l1 + l2))).sum()
    total -= (xlogy(nu, nu) + xlogy(1 - nu, 1 - nu)).sum()
    total += -k * d / 2 * np.log(2 * np.pi * s2a) - np.trace(gram) / (2 * s2a)
    total += d / 2 * (k * (1 + np.log(2 * np.pi)) + np.linalg.slogdet(state["cov"])[1])
    square = (x**2).sum() - 2 * (phi * (nu.T @ x)).sum() + (zz * gram).sum()
    total += -n * d / 2 * np.log(2 * np.pi * s2x) - square / (2 * s2x)
    total += n / 2 * (log_tau - np.log(2 * np.pi))
    total -= (tau * y @ y - 2 * tau * m @ (first.T @ y) + (second * big).sum()) / 2
    total += (
        size / 2 * (log_tau - np.log(2 * np.pi)) + np.log(ridge).sum() / 2 - (ridge * np.diag(big)).sum() / 2
    )
    total += a * np.log(b) - gammaln(a) + (a - 1) * log_tau - b * tau
    total += size / 2 * (1 + np.log(2 * np.pi) - log_tau) + np.linalg.slogdet(cov)[1] / 2
    total += c - np.log(rate) + gammaln(c) + (1 - c) * digamma(c)
    return float(total)


def simulated(seed, n=2000, d=50, k=4, noise=0.5, size=0.5):
    """The simulation of the specification: X (n, d), y (n,), Z (n, k), beta (k,), alternating in sign."""
    rng = np.random.default_rng(seed)
    z = (rng.random((n, k)) < np.array([0.5, 0.35, 0.25, 0.15])[:k]).astype(float)
    weights = size * rng.standard_normal((k, d))
    x = z @ weights + np.sqrt(noise) * rng.standard_normal((n, d))
    beta = np.array([1.0, -0.75, 0.5, -0.5])[:k]
    y = 3 + z @ beta + rng.standard_normal(n)
    return x, y, z, beta


def block(name, values, categories=()):
    values = np.asarray(values) if not hasattr(values, "tocsr") else values
    names = tuple(tuple(f"{'dw'[axis]}{i}" for i in range(size)) for axis, size in enumerate(values.shape))
    observed = np.ones((1, 1), bool) if hasattr(values, "tocsr") else np.ones(values.shape, bool)
    if categories:
        observed = values >= 0
    return Block(name, values, observed, None, names, tuple(categories))


def model_data(x, y, **more):
    """ModelData of arrays; labels are given as (codes, categories)."""
    blocks = {"X": block("X", x), "y": block("y", np.asarray(y, float))}
    for name, value in more.items():
        blocks[name] = block(name, *value) if isinstance(value, tuple) else block(name, value)
    return ModelData(blocks)


class Fitted:
    """Stands for the model where a test has a corpus of its own."""

    def __init__(self, corpus, params):
        self.corpus, self.params = corpus, params

    def stages(self, state, *_):
        return sweep.stages(state, self.corpus, self.params)


def advance(state, corpus, params):
    """The next slice; the traces when it ends the sweep."""
    ended = stages.advance(Fitted(corpus, params), state, None, params, None, None)
    return sweep.traces_of(state, corpus, params) if ended else None


def bounds(state, corpus, params):
    """One sweep with the bound after every stage."""
    return [
        elbo_of(state, corpus, params)
        for stage in stages.passes(Fitted(corpus, params), state, None, params, None, None)
        if stage.whole
    ]


def corpus(data, **settings):
    return corpus_of(data, params(**settings))
