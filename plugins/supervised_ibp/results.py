"""What is shown of a fit: one restart, its topics, words and training documents. Nothing of the test half."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from scipy.sparse import csr_matrix

from plaidwork.core.api import ChainView, Kept, ModelData, Result, Results, Table
from plaidwork.plugins.supervised_ibp import kernels
from plaidwork.plugins.supervised_ibp.corpus import Corpus, corpus_of
from plaidwork.plugins.supervised_ibp.crossfit import Expected, crossfit, expected_test
from plaidwork.plugins.supervised_ibp.exclusivity import exclusivity, top_words
from plaidwork.plugins.supervised_ibp.start import start_name
from plaidwork.plugins.supervised_ibp.state import Settings
from plaidwork.plugins.supervised_ibp.wording import caution, findings, texts

REPRESENTATIVE = 10
"""Documents named of each topic."""
LEAST = 50
"""Documents named that topics explain least."""
IN_RANGE = (0.02, 0.9)
"""Share of the documents that a topic in use should be in: neither a few odd ones nor all."""
NAMED = {"grown": "One after the other", "svd": "Singular vectors", "sparse": "Sparse", "stick-draw": "Draw from the prior", "uniform": "Uniform", "given": "Given"}  # fmt: skip


@dataclass(frozen=True)
class Fit:
    """The last draw of a restart, with what is worked out from it.

    nu (N, K), phi (K, D) of kept words, exclusive (K,), 0 for a background topic, which is the first; the rest as in the
    state. ``fixed``: 1 with a background.
    """

    chain: ChainView
    nu: np.ndarray
    phi: np.ndarray
    cov: np.ndarray
    coef: np.ndarray
    exclusive: np.ndarray
    fixed: int = 0

    @property
    def bound(self) -> float:
        return float(self.chain.kept_trace("elbo")[-1])

    @property
    def labels(self) -> np.ndarray:
        """Names of the topics, (K,)."""
        return np.concatenate(
            [np.array(["Background"] * self.fixed), topic_labels(len(self.phi) - self.fixed)]
        )

    @property
    def in_range(self) -> bool:
        """Whether every topic in use is in 2 to 90 % of the training documents, and one is in use."""
        sizes = self.free.sum(axis=0)
        share = sizes[sizes > 1] / len(self.nu)
        low, high = IN_RANGE
        return bool(len(share) and (share >= low).all() and (share <= high).all())

    @property
    def free(self) -> np.ndarray:
        """E[z] of the topics that documents may or may not have."""
        return self.nu[:, self.fixed :]


def fit_of(chain: ChainView, corpus: Corpus, params: Settings) -> Fit:
    last = chain.n_draws - 1
    nu = chain.draw("assignments", last)
    phi = chain.draw("weights", last)[:, corpus.words]
    cov, coef = chain.draw("weight_cov", last), chain.draw("coefficients", last)
    fixed = int(params["background"])
    if fixed and not nu[0, 0]:  # the restart is without the background that it may have
        nu, phi, cov, fixed = nu[:, 1:], phi[1:], cov[1:, 1:], 0
        coef = _without_background(coef, corpus)
    exclusive = exclusivity(corpus, nu[:, fixed:], phi[fixed:], params["top_words"])
    return Fit(chain, nu, phi, cov, coef, np.concatenate([np.zeros(fixed), exclusive]), fixed)


def _without_background(values: np.ndarray, corpus: Corpus) -> np.ndarray:
    """Values of the coefficients (Q,), those of the first topic of every group left out."""
    covers = corpus.cover.shape[1]
    return np.concatenate([values[:covers], values[covers:].reshape(corpus.n_groups, -1)[:, 1:].ravel()])


def shown(fits: list[Fit], params: Settings) -> Fit:
    """The restart that results are of."""
    if params["show"] == "exclusivity":
        return max(fits, key=lambda fit: (float(fit.exclusive.sum()), fit.bound))
    if params["show"] == "bound-in-range":
        fits = [fit for fit in fits if fit.in_range] or fits
    return max(fits, key=lambda fit: fit.bound)


def topic_labels(k: int) -> np.ndarray:
    return np.array([f"Topic {number + 1}" for number in range(k)])


def listed(words: np.ndarray, index: np.ndarray) -> str:
    return ", ".join(words[index])


def topics_table(fit: Fit, words: np.ndarray, params: Settings, expected: Expected | None) -> Table:
    """``expected``: of the test half, None where it is not known (yet)."""
    inside = fit.nu > 0.5
    best = top_words(fit.phi, params["top_words"])
    before = {} if expected is None else _before_the_test(expected, fit.fixed)
    return Table(
        {
            "Topic": np.array(
                [f"{label}: {listed(words, index)}" for label, index in zip(fit.labels, best, strict=True)]
            ),
            "Training documents": inside.sum(axis=0),
            "Expected": fit.nu.sum(axis=0),
            **before,
            "Exclusivity": fit.exclusive,
            "Strongest word": (fit.phi**2).max(axis=1) / np.maximum((fit.phi**2).sum(axis=1), 1e-300),
        },
        label="Topics",
    )


def _before_the_test(expected: Expected, fixed: int) -> dict[str, np.ndarray]:
    """Columns of the topics' table on the test half; empty for a background topic."""
    few = np.where(expected.few, "too few with it, or without it", "enough")
    return {
        "Expected test documents": np.concatenate([np.full(fixed, np.nan), expected.count]),
        "For an effect": np.concatenate([np.full(fixed, ""), few]),
    }


def document_gain(corpus: Corpus, fit: Fit, params: Settings) -> tuple[np.ndarray, np.ndarray]:
    """|x_n|^2 of the scaled words, and how much of it the topics take away, E|x_n - z_n A|^2; (N,) each."""
    words, ratio = corpus.documents, corpus.mean / corpus.scale
    square = np.empty(len(corpus.y))
    for here, block in words.blocks():
        scaled = csr_matrix(
            (block.data / corpus.scale[block.indices], block.indices, block.indptr), block.shape
        )
        plain = scaled @ ratio
        scaled.data **= 2
        square[here] = np.asarray(scaled.sum(axis=1)).ravel() - 2 * plain + ratio @ ratio
    projected = words.csr @ (fit.phi / corpus.scale).T - fit.phi @ ratio
    gram = fit.phi @ fit.phi.T + len(corpus.words) * fit.cov
    quadratic = np.einsum("nk,kl,nl->n", fit.nu, gram, fit.nu, optimize=True)
    quadratic += (fit.nu * (1 - fit.nu)) @ np.diag(gram)
    return square, 2 * (fit.nu * projected).sum(axis=1) - quadratic


def topic_support(corpus: Corpus, fit: Fit) -> np.ndarray:
    """(N, K) what each topic adds to the squares explained of a document, the other topics as they are.

    E|x_n - z_n A|^2 with z_nk = 0 less that with z_nk = 1, of the scaled words. O(nnz K).
    """
    projected = corpus.documents.csr @ (fit.phi / corpus.scale).T - fit.phi @ (corpus.mean / corpus.scale)
    gram = fit.phi @ fit.phi.T + len(corpus.words) * fit.cov
    own = np.diag(gram)
    found: np.ndarray = 2 * (projected - fit.nu @ gram + fit.nu * own) - own
    return found


def representative(fit: Fit, support: np.ndarray, names: np.ndarray) -> Table:
    """Documents of the highest probability in every topic, ties by what the topic explains of them."""
    rows, topics, labels = [], [], fit.labels
    for k in range(fit.fixed, len(fit.phi)):
        order = np.lexsort((-support[:, k], -np.round(fit.nu[:, k], 3)))[:REPRESENTATIVE]
        order = order[fit.nu[order, k] > 0.5]
        rows.append(order)
        topics.append(np.full(len(order), k))
    row, topic = np.concatenate(rows), np.concatenate(topics)
    return Table(
        {
            "Topic": labels[topic],
            "Document": names[row],
            "Probability": fit.nu[row, topic],
            "Squares explained": support[row, topic],
        },
        label="Representative training documents",
    )


def least_explained(square: np.ndarray, gain: np.ndarray, fit: Fit, names: np.ndarray) -> Table:
    share = np.where(square > 0, gain / np.where(square > 0, square, 1.0), 0.0)
    order = np.argsort(share, kind="stable")[:LEAST]
    return Table(
        {
            "Document": names[order],
            "Words explained": share[order],
            "Expected topics": fit.free[order].sum(axis=1),
        },
        label="Training documents that topics explain least",
    )


def word_fit(corpus: Corpus, fit: Fit) -> tuple[np.ndarray, float]:
    """(D,) share of every word's sum of squares that topics explain; and that of all words."""
    matrix = corpus.documents.csr
    total = fit.nu.sum(axis=0)
    raw = matrix.T @ fit.nu
    scaled = (raw - np.outer(corpus.mean, total)) / corpus.scale[:, None]
    squares, sums = np.zeros(len(corpus.words)), np.zeros(len(corpus.words))
    kernels.column_sums(
        corpus.indices, corpus.values, np.zeros(len(squares)), np.zeros(len(squares)), sums, squares
    )
    n = len(corpus.y)
    square = (squares - 2 * corpus.mean * sums + n * corpus.mean**2) / corpus.scale**2
    moment = fit.nu.T @ fit.nu
    moment[np.diag_indices_from(moment)] = total
    phi = fit.phi.T
    gain = 2 * (scaled * phi).sum(axis=1) - ((phi @ moment) * phi).sum(axis=1) - (moment * fit.cov).sum()
    share = np.where(square > 0, gain / np.where(square > 0, square, 1.0), 0.0)
    return share, float(gain.sum() / max(square.sum(), 1e-300))


def fitted_outcome(corpus: Corpus, fit: Fit) -> np.ndarray:
    """(N,) expected outcome of the training documents, in units of the outcome."""
    covers, k = corpus.cover.shape[1], fit.nu.shape[1]
    own = fit.coef[covers:].reshape(corpus.n_groups, k)[corpus.group]
    return corpus.y_mean + corpus.y_scale * (corpus.cover @ fit.coef[:covers] + (fit.nu * own).sum(axis=1))


def coefficient_names(corpus: Corpus, labels: np.ndarray) -> np.ndarray:
    groups = [name and f" ({name})" for name in corpus.group_names]
    topics = [f"{label}{group}" for group in groups for label in labels]
    return np.array([*corpus.cover_names, *topics])


def correlation(values: np.ndarray) -> np.ndarray:
    """(K, K) correlation of the columns, 0 with a constant one."""
    centred = values - values.mean(axis=0)
    size = np.sqrt((centred**2).sum(axis=0))
    live = size > 1e-12 * np.sqrt(max(len(values), 1))
    unit = centred / np.where(live, size, 1.0) * live
    out: np.ndarray = np.clip(unit.T @ unit, -1.0, 1.0)
    np.fill_diagonal(out, 1.0)
    return out


def restarts_table(fits: list[Fit], best: Fit, words: np.ndarray, corpus: Corpus, params: Settings) -> Table:
    labels = [
        listed(words, top_words(fit.phi, 3)[fit.fixed + int(fit.exclusive[fit.fixed :].argmax())])
        for fit in fits
    ]
    return Table(
        {
            "Restart": np.array([fit.chain.chain + 1 for fit in fits]),
            "Start": np.array([NAMED[start_name(corpus, params, fit.chain.chain)] for fit in fits]),
            "Exclusivity": np.array([float(fit.exclusive.sum()) for fit in fits]),
            "Bound": np.array([fit.bound for fit in fits]),
            "Background": np.array(["yes" if fit.fixed else "no" for fit in fits]),
            "Topics in use": np.array([int((fit.free.sum(axis=0) > 1).sum()) for fit in fits]),
            "All in 2 to 90 %": np.array(["yes" if fit.in_range else "no" for fit in fits]),
            "Training documents": np.array([", ".join((fit.free > 0.5).sum(axis=0).astype(str)) for fit in fits]),
            "Most exclusive topic": np.array(labels),
            "Sweeps": np.array([fit.chain.n_sweeps for fit in fits]),
            "Shown": np.array(["yes" if fit is best else "" for fit in fits]),
        },
        label="Restarts",
        words=("Start", "Background", "All in 2 to 90 %", "Shown"),
    )  # fmt: skip


def training_weights(corpus: Corpus, fit: Fit) -> Table:
    """Posterior of the coefficients in the training half, in units of the outcome; not effects."""
    last = fit.chain.n_draws - 1
    shape, rate = (float(fit.chain.draw(f"precision_{what}", last)) for what in ("shape", "rate"))
    variance = np.diag(fit.chain.draw("coefficient_cov", last))
    if len(variance) > len(fit.coef):
        variance = _without_background(variance, corpus)
    spread = np.sqrt(variance * rate / max(shape - 1, 0.5))
    covers = corpus.cover.shape[1]
    unit = corpus.y_scale / np.concatenate([corpus.cover_scale, np.ones(len(fit.coef) - covers)])
    names = np.array([f"{name} (training)" for name in coefficient_names(corpus, fit.labels)])
    return Table(
        {"Training coefficient": names, "Mean": fit.coef * unit, "SD": spread * unit},
        label="Not effects: training half",
    )


def _halves(corpus: Corpus, n: int) -> np.ndarray:
    """(n,) where each document is."""
    half = np.full(n, "left out", dtype="<U8")
    half[corpus.train], half[corpus.test] = "training", "test"
    return half


def _residuals(outcome: np.ndarray, fitted: np.ndarray) -> Results:
    """Fitted outcomes of the training half, and what they leave of the outcomes."""
    return {
        "fit_axis": Result(np.array(["Fitted outcome", "Outcome less fitted"]), ("fit_axis",)),
        "residuals": Result(
            np.column_stack([fitted, outcome - fitted]),
            ("training_document", "fit_axis"),
            label="Training half",
        ),
    }


def summarise_fit(kept: Kept, data: ModelData, params: Settings) -> Results:
    """All results, of the restart shown."""
    chains = [chain for chain in kept.chains if chain.n_draws]
    if not chains:
        return {"headline": "No restart has ended yet", "caption": ""}
    corpus = corpus_of(data, params)
    fits = [fit_of(chain, corpus, params) for chain in chains]
    fit = shown(fits, params)
    own = cast("Settings", {**params, "background": bool(fit.fixed)})
    k = fit.free.shape[1]
    words = np.array(data["X"].names[1])[corpus.words]
    names = np.array(data["X"].names[0])[corpus.train]
    square, gain = document_gain(corpus, fit, params)
    word_shares, explained = word_fit(corpus, fit)
    support = topic_support(corpus, fit)
    outcome, fitted = corpus.y_mean + corpus.y_scale * corpus.y, fitted_outcome(corpus, fit)
    crossed, density = (None, np.full(1, np.nan)) if kept.under_way else crossfit(corpus, fit.free, own)
    judged = density[np.isfinite(density)]  # none where there are too few documents to leave any out
    expected = expected_test(corpus, crossed) if len(corpus.test) and crossed is not None else None
    counts = np.bincount((fit.free > 0.5).sum(axis=1), minlength=k + 1)
    sizes = fit.nu.sum(axis=0)
    used = sizes[fit.fixed :][sizes[fit.fixed :] > 1]
    return {
        **texts(corpus, fit, fits, explained, params),
        **findings(corpus, fit, fits, words, word_shares, fitted),
        "caution": caution(expected),
        "topic": Result(fit.labels, ("topic",)),
        "training_document": Result(names, ("training_document",)),
        "kept_word": Result(words, ("kept_word",)),
        "half": Result(_halves(corpus, data["X"].shape[0]), ("document",), label="Half"),
        "restart_numbers": Result(
            np.array([one.chain.chain + 1 for one in fits]), ("restart",), label="Restarts"
        ),
        "restart_shown": Result(np.array(fit.chain.chain + 1), label="Restart shown"),
        "topic_weights": Result(fit.phi, ("topic", "kept_word"), label="Weight"),
        "extra_counts": Result(fit.phi * corpus.scale, ("topic", "kept_word"), label="Added"),
        "assignments": Result(fit.nu, ("training_document", "topic"), label="Probability"),
        "topics": topics_table(fit, words, params, expected),
        "topic_sizes": Table({"Topic": fit.labels, "Expected training documents": sizes}),
        "topics_per_document": Table({"Topics": np.arange(k + 1).astype(str), "Training documents": counts}),
        "training_outcome": Result(outcome, ("training_document",), label="Outcome"),
        "correlation": Result(correlation(fit.nu), ("topic", "topic_2"), label="Correlation"),
        "exclusivity": Result(np.array(fit.exclusive.sum()), label="Exclusivity"),
        "topics_in_use": Result(np.array(len(used)), label="Topics in use"),
        "smallest_topic": Result(np.array(used.min() if len(used) else 0.0), label="Smallest topic"),
        "explained": Result(np.array(explained), label="Share of the words' variance explained"),
        "support": Result(support, ("training_document", "topic"), label="Squares explained"),
        "representative": representative(fit, support, names),
        "least_explained": least_explained(square, gain, fit, names),
        "word_shares": Result(word_shares, ("kept_word",), label="Share of the variance explained"),
        **_residuals(outcome, fitted),
        "training_weights": training_weights(corpus, fit),
        "restarts": restarts_table(fits, fit, words, corpus, params),
        **(
            {"held_out_words": Result(np.array(judged.mean()), label="Words of documents left out")}
            if len(judged)
            else {}
        ),
    }
