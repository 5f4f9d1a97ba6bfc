"""Test errors of all variants on digits (3 against 5) beside other classifiers fitted in the same run.

    python benchmarks/rank_factor_digits.py DATA.npz [label weight] [draws]

DATA.npz has X_train, y_train, X_test, y_test (labels -1 and 1), samples in rows. The linear SVM, logistic regression and PCA + SVM
are written out here (squared hinge, L-BFGS); the RBF machine is a kernel SVM by the same means. C and gamma are chosen by 5 folds.
"""

from __future__ import annotations

import sys
import time
from itertools import product
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from plaidwork.core.dataset import Dataset
from plaidwork.core.fitting import fit

STRENGTHS = (0.01, 0.1, 1.0, 10.0)


def machine(x: np.ndarray, y: np.ndarray, strength: float, logistic: bool = False) -> np.ndarray:
    """Weights (d + 1,) of a linear classifier by squared hinge (or logistic) loss and a ridge."""
    design = np.column_stack([x, np.ones(len(x))])

    def loss(w):
        margin = y * (design @ w)
        if logistic:
            value, slope = np.logaddexp(0, -margin), -1 / (1 + np.exp(np.clip(margin, -500, 500)))
        else:
            gap = np.maximum(0, 1 - margin)
            value, slope = gap**2, -2 * gap
        ridge = np.append(w[:-1], 0)
        return 0.5 * ridge @ ridge + strength * value.sum(), ridge + strength * (design.T @ (slope * y))

    return minimize(loss, np.zeros(design.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 500}).x


def linear(logistic: bool):
    def train(x, y, strength, _):
        w = machine(x, y, strength, logistic)
        return lambda new: new @ w[:-1] + w[-1]

    return train


def radial(x, y, strength, gamma):
    """A kernel machine by the features K^(-1/2) k(x, .)."""
    scale = gamma / (x.shape[1] * x.var())

    def kernel(new):
        apart = (new**2).sum(1)[:, None] + (x**2).sum(1) - 2 * new @ x.T
        return np.exp(-scale * np.maximum(apart, 0))

    values, vectors = np.linalg.eigh(kernel(x))
    keep = values > 1e-10 * values[-1]
    root = vectors[:, keep] / np.sqrt(values[keep])
    w = machine(kernel(x) @ root, y, strength)
    return lambda new: kernel(new) @ root @ w[:-1] + w[-1]


def with_components(x, y, strength, _):
    centre = x.mean(axis=0)
    turn = np.linalg.svd(x - centre, full_matrices=False)[2][:20].T
    turn = turn / ((x - centre) @ turn).std(axis=0)
    w = machine((x - centre) @ turn, y, strength)
    return lambda new: (new - centre) @ turn @ w[:-1] + w[-1]


PEERS = {
    "linear SVM": (linear(False), (1.0,)),
    "logistic regression": (linear(True), (1.0,)),
    "PCA (20) + SVM": (with_components, (1.0,)),
    "RBF SVM": (radial, (0.3, 1.0, 3.0)),
}


def chosen(train, widths, x, y, folds: int = 5):
    """The settings with the fewest errors over folds."""
    fold = np.random.default_rng(0).permutation(len(x)) % folds
    wrong = {}
    for strength, width in product(STRENGTHS, widths):
        wrong[strength, width] = sum(
            int(
                (
                    np.sign(train(x[fold != f], y[fold != f], strength, width)(x[fold == f])) != y[fold == f]
                ).sum()
            )
            for f in range(folds)
        )
    return min(wrong, key=lambda key: wrong[key])


def inputs(data) -> dict[str, Dataset]:
    x = np.vstack([data["X_train"], data["X_test"]]).astype(float)
    y = np.concatenate([data["y_train"], data["y_test"]])
    rows = tuple(f"d{i}" for i in range(len(x)))
    split = (np.arange(len(x)) >= len(data["X_train"])).astype(np.int64)
    return {
        "X": Dataset("digits", x, rows, tuple(f"p{j}" for j in range(x.shape[1]))),
        "y": Dataset(
            "digit", (y > 0).astype(np.int64), rows, (), kind="categorical", categories=("five", "three")
        ),
        "split": Dataset("half", split, rows, (), kind="categorical", categories=("train", "test")),
    }


def main(path: Path, weight: float, draws: int) -> None:
    data = np.load(path)
    given = inputs(data)
    print(
        f"{path.name}: {len(data['X_train'])} training, {len(data['X_test'])} test samples, label weight {weight:g}"
    )
    variants = product(({"likelihood": "gaussian"}, {}, {"scheme": "pairs"}), ("linear", "nonlinear"))
    for settings, classifier in variants:
        for model in ("rank_factor", "rank_factor_vb"):
            started = time.perf_counter()
            params = {**settings, "classifier": classifier, "label_weight": weight}
            run = fit(
                model, given, params, chains=1, seed=1, warmup=draws, draws=draws, thin=1, max_sweeps=200
            )
            table = run.results["metrics"].columns
            name = f"{settings.get('likelihood', 'rank')} {settings.get('scheme', '')} {classifier} {model}"
            print(f"{name:>50}: {table['Wrong'][-1]:4d} wrong, {100 * table['Error'][-1]:5.2f} %, AUC "
                  f"{table['AUC'][-1]:.4f}, {time.perf_counter() - started:.0f} s", flush=True)  # fmt: skip
    x, y = data["X_train"].astype(float), data["y_train"].astype(float)
    centre, unit = x.mean(axis=0), np.maximum(x.std(), 1e-9)
    x, new = (x - centre) / unit, (data["X_test"] - centre) / unit
    for name, (train, widths) in PEERS.items():
        strength, width = chosen(train, widths, x, y)
        wrong = int((np.sign(train(x, y, strength, width)(new)) != data["y_test"]).sum())
        print(
            f"{name:>50}: {wrong:4d} wrong, {100 * wrong / len(new):5.2f} % (C {strength:g}, width {width:g})",
            flush=True,
        )


if __name__ == "__main__":
    main(
        Path(sys.argv[1]),
        float(sys.argv[2]) if len(sys.argv) > 2 else 1.0,
        int(sys.argv[3]) if len(sys.argv) > 3 else 300,
    )
