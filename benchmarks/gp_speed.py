"""Effective draws per CPU second of the samplers against plain Albert-Chib with everything cached.

Run: python benchmarks/gp_speed.py [N ...]. Two classes, parameters of the covariance fixed, one thread, both samplers in turns in
one run; the median of three rounds. Both are judged by the same functions of z: the mean of f given z at 50 samples (median of
their effective sizes) and z'Qz. A function counts at most one effective draw a draw, though draws of f by trajectories often
do better than independent ones. Neither the eigendecomposition of the one nor the warm-up of the other is timed. "Low rank" is
plain Albert-Chib again, its eigenvectors of eigenvalues below 1e-6 left out. The last lines are of 20,000 samples with 60 inducing
points: a sweep over the auxiliary variables one by one (several classes, unlabelled samples), and a draw as two classes do it.
"""

import os
import sys

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import time

import numpy as np

from plaidwork.core.api import Block, Clock, ModelData
from plaidwork.plugins.gp_auxiliary.classes.classify import Classes
from plaidwork.plugins.gp_auxiliary.kernels import sites
from plaidwork.plugins.gp_auxiliary.shared.gram import times_q

CASES = ((100, "rbf", 2.0), (500, "rbf", 3.0), (500, "matern12", 2.0), (2000, "rbf", 10.0))
"""Samples, covariance, and the factor to reach."""
SECONDS = 1.5
ROUNDS = 3
WARMUP = 500
INDUCING = 60


def layout(size, rng):
    """Class 1 around (2, 0) and (-2, 0), class 0 around (0, 2)."""
    group = rng.integers(3, size=size)
    centres = np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 2.0]])
    return centres[group] + rng.standard_normal((size, 2)), (group < 2).astype(np.int64)


def make_data(size, rng):
    x, code = layout(size, rng)
    names = tuple(map(str, range(size)))
    known = np.ones(size, dtype=bool)
    return ModelData(
        {
            "X": Block("X", x, np.ones(x.shape, dtype=bool), None, (names, ("a", "b"))),
            "y": Block("y", code, known, None, (names,), ("no", "yes")),
        }
    )


def effective_size(values):
    """Of each column of values (T, m), at most T: T over the integrated autocorrelation time, pairs summed while positive
    (Geyer 1992)."""
    size = len(values)
    centred = values - values.mean(axis=0)
    spectrum = np.abs(np.fft.rfft(centred, 2 * size, axis=0)) ** 2
    covariance = np.fft.irfft(spectrum, axis=0)[:size]
    rho = covariance / np.maximum(covariance[0], 1e-300)
    pairs = rho[0 : size - size % 2 : 2] + rho[1:size:2][: size // 2]
    still = np.cumprod(pairs > 0, axis=0)
    return size / np.maximum(2.0 * (pairs * still).sum(axis=0) - 1.0, 1.0)


def judged(draws, gram):
    """(T, 51) functions of the draws of z (T, N)."""
    picked = np.linspace(0, draws.shape[1] - 1, 50).astype(int)
    product = times_q(np.ascontiguousarray(draws.T), gram).T
    return np.column_stack([(draws - product)[:, picked], (draws * product).sum(axis=1)])


def rates(step, gram):
    """Median effective size of the means and that of z'Qz per CPU second, over SECONDS of CPU after a tenth of it."""
    for _ in range(20):
        step()
    draws, used = [], 0.0
    while used < SECONDS or len(draws) < 200:
        start = time.process_time()
        z = step()
        used += time.process_time() - start
        draws.append(z.copy())
    draws = np.array(draws)[len(draws) // 10 :]
    found = effective_size(judged(draws, gram)) / (used * 0.9)
    return float(np.median(found[:-1])), float(found[-1]), used / len(draws) * 0.9


def sampler(size, covariance, form="auto", warmup=WARMUP):
    """A step of the plugin's sampler after its warm-up, its copy, and the prior and labels."""
    model, rng = Classes(), np.random.Generator(np.random.PCG64DXSM(1))
    params = model.spec.check_params(
        {"parameters": "fixed", "covariance": covariance, "form": form, "inducing": INDUCING}
    )
    data = make_data(size, np.random.default_rng(20140510))
    state = model.init(data, params, rng)
    for t in range(warmup):
        model.step(state, data, params, rng, Clock(t, warmup))

    def step():
        model.step(state, data, params, rng, Clock(warmup, warmup))
        return state["rungs"]["0"]["z"][0]

    return step, state["rungs"]["0"], model.setting(state, params)


def albert_chib(prior, labels, theta, least=-1.0):
    """f given z by a cached eigendecomposition, of eigenvalues above ``least``; then z given f."""
    rng = np.random.Generator(np.random.PCG64DXSM(2))
    values, vectors = np.linalg.eigh(prior.covariance.matrix(prior.x, theta))
    vectors, values = np.ascontiguousarray(vectors[:, values > least]), values[values > least]
    back = np.ascontiguousarray(vectors.T)
    shrink = np.maximum(values, 0.0) / (1.0 + np.maximum(values, 0.0))
    low, high = labels.ends(0.0)
    free, z = np.zeros(len(prior.x), dtype=bool), labels.start(rng, 0.0)[0]

    def step():
        f = vectors @ (shrink * (back @ z) + np.sqrt(shrink) * rng.standard_normal(len(shrink)))
        sites.draw_intervals(rng, f, z, low, high, free, 0.0, 0.0, 0.0)
        return z

    return step


def main():
    sizes = {int(text) for text in sys.argv[1:]}
    for size, covariance, target in CASES:
        if sizes and size not in sizes:
            continue
        step, replica, (prior, labels, _widths) = sampler(size, covariance)
        steps = [step] + [albert_chib(prior, labels, replica["theta"], least) for least in (-1.0, 1e-6)]
        found = np.array(
            [[rates(one, replica) for one in steps] for _ in range(ROUNDS)]
        )  # (rounds, samplers, 3)
        ours, plain, low = np.median(found, axis=0)
        factor = np.median(found[:, :1] / found, axis=0)
        print(
            f"N {size:5} {covariance:8}  f {ours[0]:7.0f} / {plain[0]:6.0f} = {factor[1, 0]:5.1f}x (to reach: {target:g}x)"
            f"   z'Qz {factor[1, 1]:5.1f}x   {1e3 * ours[2]:.3f} and {1e3 * plain[2]:.3f} ms a draw"
            f"   low rank {low[0]:6.0f}: {factor[2, 0]:.1f}x, {factor[2, 1]:.1f}x",
            flush=True,
        )
    if not sizes or 20_000 in sizes:
        many_samples()


def many_samples():
    step, replica, (_prior, labels, _widths) = sampler(20_000, "rbf", "inducing", 100)
    rng = np.random.Generator(np.random.PCG64DXSM(3))
    sweeps, draws = [], []
    for _ in range(10):
        start = time.process_time()
        labels.sweep(rng, replica, 5, 0.0)
        sweeps.append((time.process_time() - start) / 5)
        start = time.process_time()
        step()
        draws.append(time.process_time() - start)
    print(
        f"N 20000, {INDUCING} inducing points: {np.median(sweeps) * 1e3:.2f} ms a site sweep (to reach: 2),"
        f" {np.median(draws) * 1e3:.2f} ms a draw"
    )


if __name__ == "__main__":
    main()
