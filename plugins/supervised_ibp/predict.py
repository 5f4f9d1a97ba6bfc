"""Topics and expected outcome of new documents."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import Kept, ModelData, ModelError, Result, Results
from plaidwork.plugins.supervised_ibp.corpus import corpus_of, prepared_rows
from plaidwork.plugins.supervised_ibp.heldout import Topics, infer
from plaidwork.plugins.supervised_ibp.results import fit_of, shown, topic_labels
from plaidwork.plugins.supervised_ibp.state import Settings


def predict_new(kept: Kept, data: ModelData, new_data: ModelData, params: Settings) -> Results:
    """E[z] of new documents from their words, and the outcome expected by the training half.

    Groups and covariates of ``new_data`` are used where the fit has them. Raises ``ModelError`` when they are lacking.
    """
    chains = [chain for chain in kept.chains if chain.n_draws]
    if not chains:
        raise ModelError("No restart has ended yet.", "Let the fit run to its end.")
    for name, title in (("group", "Groups"), ("covariates", "Covariates of the outcome")):
        if name in data and name not in new_data:
            raise ModelError(f"New documents need “{title}”, as the fit has them.")
    corpus = corpus_of(data, params)
    fit = shown([fit_of(chain, corpus, params) for chain in chains], params)
    last = fit.chain.n_draws - 1
    topics = Topics(fit.phi, fit.cov, fit.chain.draw("share_a", last), fit.chain.draw("share_b", last))
    n, k = new_data["X"].shape[0], fit.nu.shape[1]
    nu, _evidence = infer(prepared_rows(new_data, corpus, np.arange(n), params), topics, corpus, params)
    every = np.concatenate([np.ones((n, topics.n_fixed)), nu], axis=1)
    group = np.asarray(new_data["group"].values) if "group" in data else np.zeros(n, np.int64)
    covers = [np.ones((n, 1))] if params["intercept"] else []
    if "covariates" in data:
        covers.append(np.asarray(new_data["covariates"].values, float))
    cover = np.concatenate([np.empty((n, 0)), *covers], axis=1)
    cover = (cover - corpus.cover_mean) / corpus.cover_scale
    coef = fit.coef[cover.shape[1] :].reshape(corpus.n_groups, k)[group]
    expected = cover @ fit.coef[: cover.shape[1]] + (every * coef).sum(axis=1)
    return {
        "topic": Result(topic_labels(nu.shape[1]), ("topic",)),
        "assignments": Result(nu, ("document", "topic"), label="Probability"),
        "expected_outcome": Result(
            corpus.y_mean + corpus.y_scale * expected, ("document",), label="Expected outcome"
        ),
    }
