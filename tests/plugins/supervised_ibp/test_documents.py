"""The pass over documents side by side against one document after the other, written out in NumPy."""

import numpy as np
import pytest
from scipy.sparse import random as sparse_random
from scipy.special import entr, expit

from plaidwork.plugins.supervised_ibp.documents import documents

N, D, K, P, L, FIXED = 150, 12, 7, 2, 2, 1


def written_out(x, rows, base, cross, pull, cover, cover_pull, group, y, nu):
    """nu after an update, the entropy of what is drawn anew, and the largest change."""
    out, entropy = nu.copy(), 0.0
    for n in range(N):
        g = group[n]
        odds = base[g] + y[n] * pull[g] - cover[n] @ cover_pull[g] + x[n] @ rows
        for k in range(FIXED, K):
            p = expit(odds[k] - cross[g, k] @ out[n])
            entropy += entr(p) + entr(1 - p)
            out[n, k] = p
    return out, entropy, np.abs(out - nu).max()


def sums_of(x, cover, group, y, nu):
    own = [group == g for g in range(L)]
    return {
        "raw": x.T @ nu,
        "gram": np.array([nu[here].T @ nu[here] for here in own]),
        "total": np.array([nu[here].sum(axis=0) for here in own]),
        "ny": np.array([y[here] @ nu[here] for here in own]),
        "cover_nu": np.array([cover[here].T @ nu[here] for here in own]),
        "spread": np.array([(nu[here] * (1 - nu[here])).sum(axis=0) for here in own]),
    }


@pytest.mark.parametrize("ends", [[(0, N)], [(0, 70), (70, 71), (71, N)]])
def test_documents_side_by_side_are_those_one_by_one(ends):
    rng = np.random.default_rng(3)
    x = sparse_random(N, D, 0.4, "csr", random_state=1)
    rows, cross = rng.normal(size=(D, K)), rng.normal(size=(L, K, K)) * (1 - np.eye(K))
    base, pull = 2 * rng.normal(size=(L, K)), rng.normal(size=(L, K))
    cover, cover_pull = rng.normal(size=(N, P)), rng.normal(size=(L, P, K))
    group, y, nu = rng.integers(0, L, N), rng.normal(size=N), rng.random((N, K))
    nu[:, :FIXED] = 1.0
    terms = rows, base, cross, pull, cover, cover_pull, group, y
    wanted, entropy, change = written_out(x.toarray(), *terms, nu)
    found = {name: np.zeros_like(part) for name, part in sums_of(x, cover, group, y, nu).items()}
    tally, words = np.zeros(2), (x.indptr.astype(np.int64), x.indices, x.data)
    documents(0, N, False, FIXED, *words, *terms, nu, *found.values(), tally)
    inside = nu[:, FIXED:]
    assert tally[0] == pytest.approx((entr(inside) + entr(1 - inside)).sum(), rel=1e-12)
    tally[:] = 0.0
    for lo, hi in ends:
        documents(lo, hi, True, FIXED, *words, *terms, nu, *found.values(), tally)
    assert np.allclose(nu, wanted, rtol=1e-12, atol=1e-15)
    assert tally[0] == pytest.approx(entropy, rel=1e-12)
    assert tally[1] == pytest.approx(change, rel=1e-12)
    for name, part in sums_of(x, cover, group, y, wanted).items():
        assert np.allclose(found[name], part, rtol=1e-10, atol=1e-12), name
