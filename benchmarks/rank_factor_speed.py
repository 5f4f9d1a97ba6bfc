"""CPU seconds of one sweep of the rank factor model, d = 256, N = 767, K = 20, one thread.

    OPENBLAS_NUM_THREADS=1 python benchmarks/rank_factor_speed.py

Beside it: a calibration loop (the targets are stated for 0.43 s and scaled), what the two products of matrices and the
random numbers of a sweep take alone (the machine's limit), and a plain NumPy sampler in the same run.
"""

from __future__ import annotations

import time

import numpy as np
from machine import REFERENCE_SECONDS, calibrate

from plaidwork.core.api import Block, Clock, ModelData
from plaidwork.plugins.rank_factor.models import RankFactor, RankFactorVB

D, N, K = 256, 767, 20
CASES = (
    ("ranks, thresholds", {}, 0.030),
    ("ranks, pairs", {"scheme": "pairs"}, 0.030),
    ("values", {"likelihood": "gaussian"}, 0.010),
)


def make_data(rng: np.random.Generator, n: int = N) -> ModelData:
    """Features from ten factors, two classes from the first of them."""
    z = rng.standard_normal((n, 10))
    x = z @ rng.standard_normal((10, D)) + rng.standard_normal((n, D))
    names = tuple(tuple(map(str, range(size))) for size in x.shape)
    labels = (z[:, 0] > 0).astype(int)
    return ModelData(
        {
            "X": Block("X", x, np.ones(x.shape, bool), None, names),
            "y": Block("y", labels, labels >= 0, None, names[:1], ("no", "yes")),
        }
    )


def time_sweeps(model, data: ModelData, settings: dict, sweeps: int = 30) -> tuple[float, float]:
    """CPU seconds per sweep and the longest slice, after three sweeps to warm up."""
    params = model.spec.check_params({"n_factors": K, **settings})
    rng = np.random.Generator(np.random.PCG64DXSM(1))
    state = model.init(data, params, rng)
    used, longest = 0.0, 0.0
    for sweep in range(sweeps + 3):
        if sweep == 3:
            used, longest = time.process_time(), 0.0
        traces = None
        while traces is None:
            start = time.perf_counter()
            traces = model.step(state, data, params, rng, Clock(sweep, 0))
            longest = max(longest, time.perf_counter() - start)
    return (time.process_time() - used) / sweeps, longest


def limit(ranks: bool, rounds: int = 10) -> float:
    """CPU seconds of two products 2 d N K^2 and d N random numbers (ranks), or of the Cholesky factors (values)."""
    rng = np.random.Generator(np.random.PCG64DXSM(1))
    p, zz, pair = rng.random((D, N)), rng.random((N, K * K)), rng.random((D, K * K))
    systems = np.tile(np.eye(K), (D + N, 1, 1))
    start = time.process_time()
    for _ in range(rounds):
        if ranks:
            p @ zz
            p.T @ pair
            rng.standard_normal((D, N))
        else:
            np.linalg.cholesky(systems)
            p @ zz[:, :K]
            p.T @ pair[:, :K]
    return (time.process_time() - start) / rounds


def plain_sweep(x: np.ndarray, y: np.ndarray, rng: np.random.Generator, ranks: bool) -> float:
    """CPU seconds of one sweep as a script would have it: NumPy, a loop over features and over samples."""
    z, a = rng.standard_normal((N, K)), 0.1 * rng.standard_normal((D, K))
    level = np.argsort(np.argsort(x, axis=0), axis=0).T * 8 // N
    c, beta = np.tile(np.linspace(-2, 2, 7), (D, 1)), rng.standard_normal(K)
    start = time.process_time()
    w, p, h = a @ z.T, np.empty((D, N)), np.empty((D, N))
    for i in range(D):
        if ranks:
            lo, hi = c[i, np.maximum(level[i] - 1, 0)], c[i, np.minimum(level[i], 6)]
            k1 = rng.wald(1 / np.maximum(np.abs(0.5 + lo - w[i]), 1e-8), 1.0) * (level[i] > 0)
            k2 = rng.wald(1 / np.maximum(np.abs(0.5 + w[i] - hi), 1e-8), 1.0) * (level[i] < 7)
            p[i] = k1 + k2
            h[i] = k1 * (lo + 0.5) + (level[i] > 0) + k2 * (hi - 0.5) - (level[i] < 7)
        else:
            p[i], h[i] = 1.0, x[:, i]
        precision = (z * p[i][:, None]).T @ z + np.eye(K)
        root = np.linalg.cholesky(precision)
        a[i] = np.linalg.solve(precision, z.T @ h[i]) + np.linalg.solve(root.T, rng.standard_normal(K))
    for n in range(N):
        kappa = rng.wald(1 / max(abs(1 - y[n] * beta @ z[n]), 1e-8), 1.0)
        precision = (a * p[:, n][:, None]).T @ a + np.eye(K) + kappa * np.outer(beta, beta)
        root = np.linalg.cholesky(precision)
        linear = a.T @ h[:, n] + y[n] * (kappa + 1) * beta
        z[n] = np.linalg.solve(precision, linear) + np.linalg.solve(root.T, rng.standard_normal(K))
    return time.process_time() - start


def main() -> None:
    seconds = calibrate()
    data = make_data(np.random.default_rng(0))
    RankFactor().prepare()
    RankFactorVB().prepare()
    print(f"calibration loop {seconds:.3f} s (targets are stated for {REFERENCE_SECONDS} s and scaled)\n")
    header = ("s per sweep", "target", "of target", "limit", "of limit", "NumPy", "times", "longest slice")
    print(f"{'':>28}" + "".join(f"{title:>14}" for title in header))
    labels = 2.0 * data["y"].values - 1
    for name, settings, target in CASES:
        ranks = "likelihood" not in settings
        plain = plain_sweep(data["X"].values, labels, np.random.default_rng(1), ranks)
        for classifier in ("linear", "nonlinear"):
            used, longest = time_sweeps(RankFactor(), data, {**settings, "classifier": classifier})
            allowed, least = target * seconds / REFERENCE_SECONDS, limit(ranks)
            row = (used, allowed, used / allowed, least, used / least, plain, plain / used, longest)
            print(f"{name + ', ' + classifier:>28}" + "".join(f"{value:14.4f}" for value in row))
        used, longest = time_sweeps(RankFactorVB(), data, settings)
        print(f"{name + ', variational':>28}{used:14.4f}{'':>84}{longest:14.4f}")


if __name__ == "__main__":
    main()
