"""CPU seconds of the supervised Indian buffet process, one thread, beside the seed's dense formulas in plain NumPy.

Run: OPENBLAS_NUM_THREADS=1 python benchmarks/supervised_ibp_speed.py [--scale]. Prints a sweep with its bound at 10,000 x 5,000 (K = 20) and its
ratio to the dense one, a search of 45 fits at 2254 x 300 (K = 5), and with --scale sweeps per second and memory at
200,000 x 20,000 with 20 million entries.
"""

import resource
import sys
import time

import numpy as np
from scipy.sparse import csr_matrix
from scipy.special import digamma, expit

from plaidwork.core.api import Block, Clock, ModelData, Study
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.plugins.registry import registry


def word_counts(n, d, entries, rng):
    """Documents of random words, common ones more often; about so many entries in all."""
    frequency = 1 / np.arange(1, d + 1) ** 0.7
    columns = rng.choice(d, size=entries, p=frequency / frequency.sum()).astype(np.int32)
    rows = np.sort(rng.integers(n, size=entries))
    return csr_matrix((np.ones(entries), (rows, columns)), (n, d))


def topical_counts(n, d, k, rng):
    """Counts that k topics explain, 5 % of them not 0, and an outcome that depends on the topics."""
    z = rng.random((n, k)) < 0.3
    words = 0.03 * rng.gamma(1.0, size=d) * np.exp(1.5 * z @ (rng.random((k, d)) < 0.1))
    x = rng.poisson(words).astype(float)
    return csr_matrix(x), z @ rng.standard_normal(k) + rng.standard_normal(n)


def model_data(x, y):
    names = (tuple(map(str, range(x.shape[0]))), tuple(map(str, range(x.shape[1]))))
    return ModelData(
        {
            "X": Block("X", x, np.ones((1, 1), bool), None, names),
            "y": Block("y", y, np.ones(len(y), bool), None, names[:1]),
        }
    )


def time_sweeps(x, y, sweeps, **settings):
    """CPU seconds of a sweep with its bound, wall seconds of the longest slice, wall seconds of a sweep."""
    model, rng = registry().model("supervised_ibp"), np.random.default_rng(1)
    model.prepare()
    data = model_data(x, y)
    params = model.spec.check_params({"start": "sparse", "test_share": 0.0, "together": False, **settings})
    state = model.init(data, params, rng)
    longest = cpu = wall = 0.0
    for sweep in range(sweeps + 2):
        if sweep == 2:
            cpu, wall, longest = time.process_time(), time.perf_counter(), 0.0
        traces = None
        while traces is None:
            start = time.perf_counter()
            traces = model.step(state, data, params, rng, Clock(sweep, 0))
            longest = max(longest, time.perf_counter() - start)
    return (time.process_time() - cpu) / sweeps, longest, (time.perf_counter() - wall) / sweeps


def dense_sweep(x, y, nu, phi, m, s, c, d, alpha, noise, variance):
    """The seed's updates as printed, topic by topic, on a dense scaled matrix; no bound."""
    n, words = x.shape
    k = nu.shape[1]
    first, second = alpha / k + nu.sum(axis=0), 1 + (1 - nu).sum(axis=0)
    spread = 1 / (1 / variance + nu.sum(axis=0) / noise)
    for i in range(k):
        others = np.delete(np.arange(k), i)
        rest = nu[:, i] @ x - (nu[:, i] @ nu[:, others]) @ phi[others]
        phi[i] = rest / noise * spread[i]
    moment = nu.T @ nu
    moment[np.diag_indices(k)] = nu.sum(axis=0)
    s = np.linalg.inv(moment + np.eye(k))
    m = s @ nu.T @ y
    c, d = 0.1 + n / 2, 0.1 + (y @ y - y @ nu @ s @ nu.T @ y) / 2
    for i in range(k):
        others = np.delete(np.arange(k), i)
        words_part = (
            -2 * x @ phi[i]
            + (words * spread[i] + phi[i] @ phi[i])
            + 2 * nu[:, others] @ (phi[others] @ phi[i])
        )
        outcome = -2 * m[i] * y + d * s[i, i] / (c - 1) + m[i] ** 2 + 2 * m[i] * (nu[:, others] @ m[others])
        v = digamma(first[i]) - digamma(second[i]) - words_part / (2 * noise) - c / (2 * d) * outcome
        nu[:, i] = expit(v)
    return m, s, c, d


def time_dense(x, y, k, sweeps):
    """CPU seconds of a dense sweep."""
    rng = np.random.default_rng(1)
    dense = x.toarray()
    dense -= dense.mean(axis=0)
    spread = dense.std(axis=0, ddof=1)
    dense /= np.where(spread > 0, spread, 1.0)
    nu = np.where(rng.random((len(y), k)) < 0.15, 0.95, 0.05)
    phi, m, s, c, d = np.zeros((k, x.shape[1])), np.zeros(k), np.eye(k), 1.0, 1.0
    start = time.process_time()
    for _ in range(sweeps):
        m, s, c, d = dense_sweep(dense, (y - y.mean()) / y.std(), nu, phi, m, s, c, d, 4.0, 0.8, 5.0)
    return (time.process_time() - start) / sweeps


def time_search(x, y):
    """CPU seconds of 3 x 3 settings with 5 restarts each, results and ranking included."""
    names = tuple(map(str, range(len(y))))
    data = {
        "X": Dataset("X", x, names, tuple(map(str, range(x.shape[1])))),
        "y": Dataset("y", y, names),
    }
    start = time.process_time()
    grid = {"alpha": [2.0, 3.0, 4.0], "noise": [0.5, 0.75, 1.0]}
    schedule = registry().model("supervised_ibp").spec.schedule.with_(chains=5)
    study = Study.grid("supervised_ibp", data, grid, schedule=schedule)
    study.run()
    return time.process_time() - start


def peak_memory():
    """Largest resident memory so far, GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main():
    rng = np.random.default_rng(0)
    x = word_counts(10_000, 5_000, 775_000, rng)
    y = rng.standard_normal(10_000)
    cpu, longest, _ = time_sweeps(x, y, 20, n_topics=20)
    print(
        f"10,000 x 5,000, {x.nnz:,} entries, K = 20: {cpu:.4f} CPU s a sweep, longest slice {1000 * longest:.0f} ms"
    )
    dense = time_dense(x, y, 20, 3)
    print(
        f"  the seed's formulas, dense, without a bound: {dense:.3f} CPU s a sweep, {dense / cpu:.0f} times as long"
    )
    x, y = topical_counts(2254, 300, 5, rng)
    time_search(x[:100], y[:100])  # what is compiled only once
    print(f"45 fits at 2254 x 300, {x.nnz:,} entries, K = 5: {time_search(x, y):.2f} CPU s")
    if "--scale" in sys.argv:
        x = word_counts(200_000, 20_000, 21_500_000, rng)
        cpu, longest, wall = time_sweeps(x, rng.standard_normal(200_000), 5, n_topics=20)
        print(
            f"200,000 x 20,000, {x.nnz:,} entries, K = 20: {1 / wall:.2f} sweeps/s ({cpu:.2f} CPU s), "
            f"longest slice {1000 * longest:.0f} ms, most memory {peak_memory():.2f} GiB"
        )


if __name__ == "__main__":
    main()
