"""Effective draws per CPU second of the collapsed sampler against plain Albert-Chib with everything cached.

Run: python benchmarks/gp_speed.py [N ...]. Two classes, parameters of the covariance fixed, one thread. Both samplers are judged by
the same functions of z: the mean of f given z at 50 samples (median of their effective sizes) and z'Qz. The last line is the time of
a site sweep over 20,000 samples with 60 inducing points.
"""

import os
import sys

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import time

import numpy as np

from plaidwork.core.api import Block, Clock, ModelData
from plaidwork.plugins.gp_auxiliary.classify import Classes
from plaidwork.plugins.gp_auxiliary.gram import squared_length, times_q
from plaidwork.plugins.gp_auxiliary.kernels import sites

CASES = (
    (100, "rbf", "dense", 2.0),
    (500, "rbf", "inducing", 3.0),
    (500, "matern12", "dense", 2.0),
    (2000, "rbf", "inducing", 10.0),
)
"""Samples, covariance, form, and the factor to reach."""
SECONDS = 4.0
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
    """Of each column of values (T, m): T over the integrated autocorrelation time, pairs summed while positive (Geyer)."""
    size = len(values)
    centred = values - values.mean(axis=0)
    spectrum = np.abs(np.fft.rfft(centred, 2 * size, axis=0)) ** 2
    covariance = np.fft.irfft(spectrum, axis=0)[:size]
    rho = covariance / np.maximum(covariance[0], 1e-300)
    pairs = rho[0 : size - size % 2 : 2] + rho[1:size:2][: size // 2]
    still = np.cumprod(pairs > 0, axis=0)
    return size / np.maximum(2.0 * (pairs * still).sum(axis=0) - 1.0, 1.0 / size)


def judged(draws, gram):
    """(T, 51) functions of the draws of z (T, N)."""
    picked = np.linspace(0, draws.shape[1] - 1, 50).astype(int)
    means = (draws - times_q(np.ascontiguousarray(draws.T), gram).T)[:, picked]
    return np.column_stack([means, [squared_length(z, gram) for z in draws]])


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


def collapsed(size, covariance, form):
    """A step of the plugin's sampler, and its precision."""
    model, rng = Classes(), np.random.Generator(np.random.PCG64DXSM(1))
    params = model.spec.check_params(
        {"parameters": "fixed", "covariance": covariance, "form": form, "inducing": INDUCING}
    )
    data = make_data(size, np.random.default_rng(20140510))
    state = model.init(data, params, rng)

    def step():
        model.step(state, data, params, rng, Clock(1, 0))
        return state["rungs"]["0"]["z"][0]

    return step, state["rungs"]["0"], model.setting(state, params)


def albert_chib(prior, labels, theta):
    """f given z by a cached eigendecomposition, then z given f."""
    rng = np.random.Generator(np.random.PCG64DXSM(2))
    values, vectors = np.linalg.eigh(prior.covariance.matrix(prior.x, theta))
    back = np.ascontiguousarray(vectors.T)
    shrink = np.maximum(values, 0.0) / (1.0 + np.maximum(values, 0.0))
    low, high = labels.ends(0.0)
    free, z = np.zeros(len(values), dtype=bool), labels.start(rng, 0.0)[0]

    def step():
        f = vectors @ (shrink * (back @ z) + np.sqrt(shrink) * rng.standard_normal(len(z)))
        sites.draw_intervals(rng, f, z, low, high, free, 0.0, 0.0, 0.0)
        return z

    return step


def main():
    sizes = {int(text) for text in sys.argv[1:]}
    for size, covariance, form, target in CASES:
        if sizes and size not in sizes:
            continue
        step, replica, (prior, labels, _widths) = collapsed(size, covariance, form)
        ours = rates(step, replica)
        plain = rates(albert_chib(prior, labels, replica["theta"]), replica)
        factors = [ours[i] / plain[i] for i in (0, 1)]
        print(
            f"N {size:5} {covariance:8} {form:8}  f {ours[0]:8.0f} / {plain[0]:7.1f} = {factors[0]:5.1f}x"
            f"   z'Qz {ours[1]:8.0f} / {plain[1]:7.1f} = {factors[1]:5.1f}x   (to reach: {target:g}x)"
            f"   {1e3 * ours[2]:.2f} and {1e3 * plain[2]:.2f} ms a draw",
            flush=True,
        )
    if not sizes or 20_000 in sizes:
        step, _replica, _setting = collapsed(20_000, "rbf", "inducing")
        step()
        start = time.process_time()
        for _ in range(10):
            step()
        print(
            f"N 20000, {INDUCING} inducing points: {(time.process_time() - start) / 50 * 1e3:.2f} ms a site sweep"
        )


if __name__ == "__main__":
    main()
