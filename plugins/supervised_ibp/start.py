"""Where a fit begins: expected topics of the documents, and the state made of them."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from plaidwork.core.api import ModelData, ModelError, chain_of, counted
from plaidwork.core.numerics.signs import signed
from plaidwork.plugins.supervised_ibp.corpus import Corpus
from plaidwork.plugins.supervised_ibp.effort import n_candidates, n_moves
from plaidwork.plugins.supervised_ibp.prior import first_shares
from plaidwork.plugins.supervised_ibp.state import SEARCH, Fields, Search, Settings
from plaidwork.plugins.supervised_ibp.texteffect import first_topics

TURNS = ("svd", "sparse", "stick-draw")
"""How restarts start in turn."""
OVERSAMPLED, POWERS = 8, 6
"""Further vectors, and passes, of the randomised singular vectors."""
QUANTILE = 0.85


def start_name(corpus: Corpus, params: Settings, chain: int) -> str:
    """How restart number ``chain`` (from 0) starts."""
    if params["start"] == "grown" and n_candidates(corpus, params):
        return "grown"
    if params["texteffect"] and params["start"] in ("turns", "grown"):
        return "stick-draw"
    return TURNS[chain % len(TURNS)] if params["start"] in ("turns", "grown") else str(params["start"])


def start_shares(corpus: Corpus, data: ModelData, params: Settings, rng: np.random.Generator) -> np.ndarray:
    """nu (N, K) before the first sweep. Raises ``ModelError`` for given ones that do not fit."""
    n, k = corpus.shape[0], params["n_topics"]
    match start_name(corpus, params, chain_of(rng)):
        case "grown":
            return np.zeros((n, k))
        case "stick-draw" if params["texteffect"]:
            return first_topics(corpus, params, chain_of(rng) + 1)
        case "stick-draw":
            shares = np.maximum(np.cumprod(rng.beta(params["alpha"], 1.0, k)), 1e-12)
            return rng.beta(shares, np.maximum(1 - shares, 1e-12), (n, k))
        case "sparse":
            return np.where(rng.random((n, k)) < 0.15, 0.95, 0.05)
        case "uniform":
            return rng.random((n, k))
        case "given":
            return _given(corpus, data, k)
    return np.full((n, k), 0.5)  # until the singular vectors are found


def _given(corpus: Corpus, data: ModelData, k: int) -> np.ndarray:
    if "start" not in data:
        raise ModelError(
            "The start is “Given”, and there are no start values.", "Add “Start values”, or start otherwise."
        )
    given = np.asarray(data["start"].values)[corpus.train]
    if given.shape[1] != k:
        raise ModelError(
            f"“Start values” has {counted(given.shape[1], 'topic')}, “Topics” is {k}.", "Make both the same."
        )
    if ((given < 0) | (given > 1)).any():
        raise ModelError("Start values are probabilities, from 0 to 1.", "Check “Start values”.")
    return np.array(given, float)


def begin_search(corpus: Corpus, k: int, rng: np.random.Generator) -> Search:
    """What :func:`seek` adds to a state: the start of the search for singular vectors, and all that is random of it."""
    n, d = corpus.shape
    size = min(n, d, k + OVERSAMPLED)
    basis = rng.standard_normal((d, size))
    rotation, corner = np.linalg.qr(rng.standard_normal((k, k)))
    return {
        "sought": 0,
        "basis": basis,
        "back": np.zeros((d, size)),
        "left": np.zeros((n, size)),
        "passes": 0,
        "rotation": rotation * np.where(np.diag(corner) < 0, -1.0, 1.0),
        "spare": rng.standard_normal((n, max(0, k - size))),
    }


def seek(state: Fields, corpus: Corpus, entries: int) -> bool:
    """Left singular vectors of the scaled words by randomised subspace iteration, about so many entries at a time; whether done.

    Products with rows of the sparse matrix only, memory O((N + D) K). At the end ``nu`` is set: the vectors rotated at
    random, skewed to the right, above the 85 % quantile.
    """
    (n, d), lo = corpus.shape, state["sought"]
    hi = int(np.searchsorted(corpus.indptr, corpus.indptr[lo] + entries, side="right")) - 1
    hi = min(n, max(lo + 1, hi))
    first, last = corpus.indptr[lo], corpus.indptr[hi]
    rows = csr_matrix(
        (corpus.values[first:last], corpus.indices[first:last], corpus.indptr[lo : hi + 1] - first),
        (hi - lo, d),
    )
    forward = state["passes"] % 2 == 0
    if forward:
        state["left"][lo:hi] = rows @ (state["basis"] / corpus.scale[:, None])
    else:
        state["back"] += rows.T @ state["left"][lo:hi]
    state["sought"] = hi if hi < n else 0
    if hi < n:
        return False
    if forward:
        shift = np.einsum("d,ds->s", corpus.mean / corpus.scale, state["basis"])
        state["left"] = _orthonormal(state["left"] - shift)
    else:
        total = np.outer(corpus.mean, state["left"].sum(axis=0))
        state["basis"] = _orthonormal((state["back"] - total) / corpus.scale[:, None])
        state["back"][...] = 0.0
    state["passes"] += 1
    if state["passes"] > 2 * POWERS:
        k = len(state["rotation"])
        left = signed(state["left"][:, :k])  # the rotation mixes them, and so hangs on their signs
        found = np.hstack([np.sqrt(n) * left, state["spare"]]) @ state["rotation"]
        state["nu"][:, -k:] = _raised(found)  # not of a background topic
        for name in SEARCH:
            del state[name]
        return True
    return False


def _raised(found: np.ndarray) -> np.ndarray:
    """Probabilities (N, K): near 1 for the upper 15 % of each column, turned so that its tail is above."""
    found = found - found.mean(axis=0)
    found *= np.where((found**3).sum(axis=0) < 0, -1.0, 1.0)
    spread = np.maximum(found.std(axis=0), 1e-12)
    above = (found - np.quantile(found, QUANTILE, axis=0)) / spread
    return 1 / (1 + np.exp(-np.clip(4 * above, -30, 30)))


def _orthonormal(columns: np.ndarray) -> np.ndarray:
    """Left singular vectors, the strongest first, 0 for those of no strength.

    By the small Gram matrix, which is exact enough for a start. ``einsum`` keeps to one thread: the threads of a QR or a
    product of tall matrices wait for each other for seconds when restarts share the processors.
    """
    strength, rotation = np.linalg.eigh(np.einsum("ns,nt->st", columns, columns))
    strength, rotation = strength[::-1], rotation[:, ::-1]
    live = strength > 1e-12 * max(float(strength[0]), 1e-300)
    found: np.ndarray = np.einsum(
        "ns,st->nt", columns, rotation * (live / np.sqrt(np.where(live, strength, 1.0)))
    )
    return found


def new_state(corpus: Corpus, nu: np.ndarray, params: Settings) -> Fields:
    """q with these topics; all else is made of them at the beginning of the first sweep.

    With a background topic, which all documents have, one more column goes before those of ``nu`` (N, K).
    """
    a, b = first_shares(params["prior"], params["alpha"], nu.shape[1])
    if params["background"]:
        nu = np.column_stack([np.ones(len(nu)), nu])
    d, k = len(corpus.words), nu.shape[1]
    groups, covers = corpus.n_groups, corpus.cover.shape[1]
    size = covers + groups * k
    return {
        "begun": False, "joint": False, "settled": False, "last": -np.inf,
        "nu": np.ascontiguousarray(nu, float), "share_a": a, "share_b": b,
        "phi": np.zeros((d, k)), "rows": np.zeros((d, k)), "offset": np.zeros(k), "outer": np.zeros((k, k)),
        "cov": np.zeros((k, k)), "fit": 0.0,
        "coef": np.zeros(size), "coef_cov": np.eye(size), "tau_shape": 1.0, "tau_rate": 1.0,
        "raw": np.zeros((d, k)), "gram": np.zeros((groups, k, k)), "total": np.zeros((groups, k)),
        "ny": np.zeros((groups, k)), "spread": np.zeros((groups, k)),
        "cover_nu": np.zeros((groups, covers, k)), "tally": np.zeros(2),
    }  # fmt: skip


def begun(corpus: Corpus, data: ModelData, params: Settings, rng: np.random.Generator) -> Fields:
    """The state before the first sweep; the search for singular vectors is part of that sweep."""
    state, name = (
        new_state(corpus, start_shares(corpus, data, params, rng), params),
        start_name(corpus, params, chain_of(rng)),
    )
    most = n_moves(corpus, params)
    if most:
        topic = 0 if name == "grown" else params["n_topics"]
        state["moves"] = {
            "most": most, "vain": 0, "tried": 0, "topic": topic, "candidate": 0, "swept": 0, "last": -np.inf,
        }  # fmt: skip
    if name == "svd":
        return {**state, **begin_search(corpus, params["n_topics"], rng)}
    return state
