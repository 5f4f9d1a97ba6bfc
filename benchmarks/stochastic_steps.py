"""Stochastic steps against exact sweeps of group factor analysis, from a file: held-out bound by CPU second and by pass.

    python benchmarks/stochastic_steps.py                                # 40,000 x 1,000, 8 planted factors, weak ones
    python benchmarks/stochastic_steps.py --samples 200000 --noise 3

The values are simulated and stay in an npy file. Held-out are samples that no fit has seen: their bound, by cell, with the weights and noise as
they stand after a sweep, each sample's factor values at their best. ``short`` is how many nats a held-out sample it is below the
best bound of all fits at the end. All fits start from the same components, which take most of the first sweep's time.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from plaidwork.core.api import Clock
from plaidwork.core.contract.stages import advance
from plaidwork.core.data.importers.reading import read_dataset
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.plugins.registry import registry

HELD_OUT, AT_ONCE = 2000, 4096
FITS: dict[str, dict[str, Any]] = {
    "exact sweeps": {},
    **{
        f"{passes} passes, batches of {batch}": {
            "steps": "stochastic",
            "stochastic_passes": passes,
            "batch_samples": batch,
        }
        for passes, batch in ((1, 1024), (3, 1024), (9, 1024), (3, 4096))
    },
}


def write(path: Path, args: argparse.Namespace) -> np.ndarray:
    """Write the values row by row, in order of the first factor if asked; the held-out ones."""
    n, d, k = args.samples, args.features, args.factors
    rng = np.random.default_rng(args.seed)
    w = rng.standard_normal((k, d), dtype=np.float32) * (rng.random((k, d)) < 0.3)
    z = rng.standard_normal((n + HELD_OUT, k), dtype=np.float32)
    if args.ordered:
        z[:n] = z[:n][np.argsort(z[:n, 0])]
    held_out = z[n:] @ w + args.noise * rng.standard_normal((HELD_OUT, d), dtype=np.float32)
    with path.open("wb") as file:
        npy.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (n, d)})
        for lo in range(0, n, AT_ONCE):
            part = z[lo : min(n, lo + AT_ONCE)] @ w
            file.write((part + args.noise * rng.standard_normal(part.shape, dtype=np.float32)).data)
    return held_out


def bound_of(state: Any, y: np.ndarray) -> float:
    """The bound of a held-out sample, (N, D) ``y`` centred as those of the fit."""
    w, ww, tau = state["w"], state["ww"], state["scale"][0]
    log_tau = np.log(tau) - 0.5 / state["tau_shape"][0]  # <log tau> but for 1 / shape^2
    v = 1 / (1 + ww @ tau)
    gram, cross = (w * tau) @ w.T, (y * tau) @ w.T
    z = np.zeros((len(y), len(w)))
    for _ in range(100):
        for k in range(len(w)):
            z[:, k] = v[k] * (cross[:, k] - z @ gram[:, k] + z[:, k] * gram[k, k])
    spread = (ww * tau).sum(axis=1) @ (z**2 + v).T - ((w**2 * tau).sum(axis=1) @ (z**2).T)
    error = ((y - z @ w) ** 2 @ tau) + spread
    data = 0.5 * ((log_tau - np.log(2 * np.pi)).sum() - error)
    return float((data + 0.5 * (1 + np.log(v) - z**2 - v).sum(axis=1)).mean())


def fit(path: Path, held_out: np.ndarray, settings: dict[str, Any], args: argparse.Namespace) -> list[Any]:
    """After every sweep: CPU seconds, held-out bound, bound, factors."""
    model = registry().model("group_factor")
    data = read_dataset(path, {"values_in": "file", "samples_in": "rows"})
    plan = make_plan(model, {"views": [data]}, {"n_factors": args.factors + 4, **settings})
    model.prepare()
    rng, spent, found = np.random.default_rng(1), 0.0, []
    state = model.init(plan.data, plan.params, rng)
    cells = state["cells"]["0"]
    y = (held_out[:, cells["columns"]] - cells["shift"][0]) / cells["unit"]
    for sweep in range(args.sweeps):
        began, over = time.process_time(), False
        while not over:
            over = advance(model, state, plan.data, plan.params, rng, Clock(sweep, 0))
        spent += time.process_time() - began
        bound = model.traces(state, plan.data, plan.params)["elbo"]
        found.append((spent, bound_of(state, y), bound, len(state["z"])))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=40_000)
    parser.add_argument("--features", type=int, default=1_000)
    parser.add_argument("--factors", type=int, default=8, help="planted ones; a fit begins with four more")
    parser.add_argument("--noise", type=float, default=6.0, help="standard deviation; weights have 1")
    parser.add_argument("--ordered", action="store_true", help="samples in order of the first factor")
    parser.add_argument("--sweeps", type=int, default=25)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="plaidwork-steps-") as folder:
        path = Path(folder) / "large.npy"
        held_out = write(path, args)
        found = {name: fit(path, held_out, settings, args) for name, settings in FITS.items()}
    best = max(rows[-1][1] for rows in found.values())
    print(
        f"{args.samples} x {args.features}, noise {args.noise:g}; best held-out bound {best:.4f} nats a sample"
    )
    for name, rows in found.items():
        print(f"\n{name}\n{'sweep':>6} {'CPU s':>8} {'short':>9} {'bound':>14} factors")
        for sweep, (spent, bound, whole, k) in enumerate(rows, 1):
            if sweep <= 5 or sweep % 5 == 0 or sweep == 11:
                print(f"{sweep:6d} {spent:8.2f} {best - bound:9.5f} {whole:14.1f} {k:7d}")
    print(f"\n{'until short of':>26} " + " ".join(f"{short:>18g}" for short in (1e-1, 1e-2, 1e-3)))
    for name, rows in found.items():
        ends = [
            next((f"{t:.2f} s, {i} passes" for i, (t, b, *_) in enumerate(rows, 1) if best - b < short), "-")
            for short in (1e-1, 1e-2, 1e-3)
        ]
        print(f"{name:>26} " + " ".join(f"{end:>18}" for end in ends))


if __name__ == "__main__":
    main()
