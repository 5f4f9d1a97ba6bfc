"""Where a fit begins: expected topics of the documents, and the state made of them."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from plaidwork.core.api import ModelData, ModelError, Params, State, chain_of
from plaidwork.plugins.supervised_ibp.corpus import Corpus
from plaidwork.plugins.supervised_ibp.prior import first_shares

TURNS = ("svd", "sparse", "stick-draw")
"""How restarts start in turn."""
OVERSAMPLED, POWERS = 8, 6
"""Further vectors, and passes, of the randomised singular vectors."""
QUANTILE = 0.85


def start_name(params: Params, chain: int) -> str:
    """How restart number ``chain`` (from 0) starts."""
    return TURNS[chain % len(TURNS)] if params["start"] == "turns" else str(params["start"])


def start_shares(corpus: Corpus, data: ModelData, params: Params, rng: np.random.Generator) -> np.ndarray:
    """nu (N, K) before the first sweep. Raises ``ModelError`` for given ones that do not fit."""
    n, k = corpus.shape[0], params["n_topics"]
    match start_name(params, chain_of(rng)):
        case "stick-draw":
            shares = np.maximum(np.cumprod(rng.beta(params["alpha"], 1.0, k)), 1e-12)
            return rng.beta(shares, np.maximum(1 - shares, 1e-12), (n, k))
        case "sparse":
            return np.where(rng.random((n, k)) < 0.15, 0.95, 0.05)
        case "uniform":
            return rng.random((n, k))
        case "given":
            return _given(corpus, data, k)
    return singular_start(corpus, k, rng)


def _given(corpus: Corpus, data: ModelData, k: int) -> np.ndarray:
    if "start" not in data:
        raise ModelError(
            "The start is “Given”, and there are no start values.", "Add “Start values”, or start otherwise."
        )
    given = np.asarray(data["start"].values)[corpus.train]
    if given.shape[1] != k:
        raise ModelError(
            f"“Start values” has {given.shape[1]} topics, “Topics” is {k}.", "Make both the same."
        )
    if ((given < 0) | (given > 1)).any():
        raise ModelError("Start values are probabilities, from 0 to 1.", "Check “Start values”.")
    return np.array(given, float)


def singular_start(corpus: Corpus, k: int, rng: np.random.Generator) -> np.ndarray:
    """Left singular vectors of the centred words, rotated at random, skewed to the right, above the 85 % quantile.

    Randomised subspace iteration: products with the sparse matrix only, memory O((N + D) K).
    """
    n, d = corpus.shape
    words = csr_matrix((corpus.values, corpus.indices, corpus.indptr), (n, d))
    size = min(n, d, k + OVERSAMPLED)
    basis = rng.standard_normal((d, size))
    for _ in range(POWERS):
        basis = _orthonormal(_transposed(words, corpus, _orthonormal(_times(words, corpus, basis))))
    found = np.sqrt(n) * _orthonormal(_times(words, corpus, basis))[:, :k]
    if found.shape[1] < k:
        found = np.hstack([found, rng.standard_normal((n, k - found.shape[1]))])
    rotation, corner = np.linalg.qr(rng.standard_normal((k, k)))
    found = found @ (rotation * np.where(np.diag(corner) < 0, -1.0, 1.0))
    found -= found.mean(axis=0)
    found *= np.where((found**3).sum(axis=0) < 0, -1.0, 1.0)
    spread = np.maximum(found.std(axis=0), 1e-12)
    above = (found - np.quantile(found, QUANTILE, axis=0)) / spread
    return 1 / (1 + np.exp(-np.clip(4 * above, -30, 30)))


def _orthonormal(columns: np.ndarray) -> np.ndarray:
    """Left singular vectors, the strongest first, 0 for those of no strength.

    By the small Gram matrix: exact enough for a start, and it keeps to one thread, where QR of a tall matrix does not.
    """
    strength, rotation = np.linalg.eigh(columns.T @ columns)
    strength, rotation = strength[::-1], rotation[:, ::-1]
    live = strength > 1e-12 * max(float(strength[0]), 1e-300)
    found: np.ndarray = columns @ (rotation * (live / np.sqrt(np.where(live, strength, 1.0))))
    return found


def _times(words: csr_matrix, corpus: Corpus, right: np.ndarray) -> np.ndarray:
    scaled = right / corpus.scale[:, None]
    return words @ scaled - corpus.mean @ scaled


def _transposed(words: csr_matrix, corpus: Corpus, left: np.ndarray) -> np.ndarray:
    return (words.T @ left - np.outer(corpus.mean, left.sum(axis=0))) / corpus.scale[:, None]


def new_state(corpus: Corpus, nu: np.ndarray, params: Params) -> State:
    """q with these topics; all else is made of them at the beginning of the first sweep."""
    d, k = len(corpus.words), nu.shape[1]
    groups, covers = corpus.n_groups, corpus.cover.shape[1]
    size = covers + groups * k
    a, b = first_shares(params["prior"], params["alpha"], k)
    return {
        "stage": "start", "at": 0, "joint": False, "settled": False, "last": -np.inf,
        "nu": np.ascontiguousarray(nu, float), "share_a": a, "share_b": b,
        "phi": np.zeros((d, k)), "rows": np.zeros((d, k)), "offset": np.zeros(k), "outer": np.zeros((k, k)),
        "cov": np.zeros((k, k)), "fit": 0.0,
        "coef": np.zeros(size), "coef_cov": np.eye(size), "tau_shape": 1.0, "tau_rate": 1.0,
        "raw": np.zeros((d, k)), "gram": np.zeros((groups, k, k)), "total": np.zeros((groups, k)),
        "ny": np.zeros((groups, k)), "spread": np.zeros((groups, k)),
        "cover_nu": np.zeros((groups, covers, k)), "tally": np.zeros(2),
    }  # fmt: skip
