"""The evidence lower bound by term, constants included."""

from __future__ import annotations

import numpy as np
from scipy.special import digamma, gammaln

from plaidwork.plugins.supervised_ibp.corpus import Corpus, variances_of
from plaidwork.plugins.supervised_ibp.moments import (
    clear_sums,
    copied,
    n_fixed,
    outcome_moments,
    prior_precision,
    read_documents,
    second_moment,
    square_of_rest,
    topic_gram,
)
from plaidwork.plugins.supervised_ibp.prior import log_shares, prior_bound
from plaidwork.plugins.supervised_ibp.state import Fields, Settings

LOG_2PI = float(np.log(2 * np.pi))


def bound_terms(state: Fields, corpus: Corpus, params: Settings) -> dict[str, float]:
    """Terms of the bound; the sums of the state must be those of its nu, ``fit`` that of its phi."""
    (n, d), k = corpus.shape, state["nu"].shape[1]
    noise, variance = variances_of(corpus, params)
    gram, cov = topic_gram(state), state["cov"]
    misfit = corpus.square - 2 * state["fit"] + float((second_moment(state) * gram).sum())
    log_in, log_out = log_shares(params["prior"], state["share_a"], state["share_b"])
    total = state["total"].sum(axis=0)[n_fixed(state) :]
    shape, rate = state["tau_shape"], state["tau_rate"]
    tau, log_tau = shape / rate, float(digamma(shape) - np.log(rate))
    second, _ = outcome_moments(state, corpus)
    ridge, coef_cov = prior_precision(state, corpus), state["coef_cov"]
    size = len(ridge)
    square = tau * square_of_rest(state, corpus) + float((second * coef_cov).sum())
    spread = tau * float((ridge * state["coef"] ** 2).sum()) + float((ridge * np.diag(coef_cov)).sum())
    a0, b0 = params["tau_shape"], params["tau_rate"]
    return {
        "words": -0.5 * n * d * (LOG_2PI + np.log(noise)) - misfit / (2 * noise),
        "outcome": 0.5 * n * (log_tau - LOG_2PI) - 0.5 * square,
        "assignments": float((total * log_in + (n - total) * log_out).sum() + state["tally"][0])
        + prior_bound(params["prior"], params["alpha"], state["share_a"], state["share_b"]),
        "weights": -0.5 * k * d * np.log(variance)
        - float(np.trace(gram)) / (2 * variance)
        + 0.5 * d * (k + float(np.linalg.slogdet(cov)[1])),
        "coefficients": 0.5 * float(np.log(ridge).sum() + np.linalg.slogdet(coef_cov)[1])
        + 0.5 * (size - spread)
        + float(a0 * np.log(b0) - gammaln(a0) + (a0 - 1) * log_tau - b0 * tau)
        + float(shape - np.log(rate) + gammaln(shape) + (1 - shape) * digamma(shape)),
    }


def bound_of(state: Fields, corpus: Corpus, params: Settings) -> float:
    """The whole bound, under the same condition."""
    return sum(bound_terms(state, corpus, params).values())


def elbo_of(state: Fields, corpus: Corpus, params: Settings) -> float:
    """The whole bound of a state, its sums computed anew; the state stays as it is."""
    trial = copied(state)
    clear_sums(trial)
    read_documents(trial, corpus, params, 0, len(corpus.y), False)
    scaled = (trial["raw"] - np.outer(corpus.mean, trial["total"].sum(axis=0))) / corpus.scale[:, None]
    trial["fit"] = float((scaled * trial["phi"]).sum())
    return bound_of(trial, corpus, params)
