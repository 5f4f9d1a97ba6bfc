"""Classifiers to compare with, of a few lines each: linear and radial machines, logistic and Gaussian process regression.

All are one against the rest; C (and the width of the radial kernel) are those with the fewest errors over five folds.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
from scipy.optimize import minimize

Score = Callable[[np.ndarray], np.ndarray]
STRENGTHS = (0.001, 0.01, 0.1, 1.0, 10.0)
WIDTHS = (0.3, 1.0, 3.0)


def machine(x: np.ndarray, y: np.ndarray, strength: float, logistic: bool = False) -> np.ndarray:
    """Weights (d + 1,) of a linear classifier by squared hinge (or logistic) loss and a ridge; y is -1 or 1."""
    design = np.column_stack([x, np.ones(len(x))])

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        margin = y * (design @ w)
        if logistic:
            value, slope = np.logaddexp(0, -margin), -1 / (1 + np.exp(np.clip(margin, -500, 500)))
        else:
            gap = np.maximum(0, 1 - margin)
            value, slope = gap**2, -2 * gap
        ridge = np.append(w[:-1], 0)
        return 0.5 * ridge @ ridge + strength * value.sum(), ridge + strength * (design.T @ (slope * y))

    return minimize(loss, np.zeros(design.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 500}).x


def linear(x: np.ndarray, y: np.ndarray, strength: float, _: float, logistic: bool = False) -> Score:
    """On all features; with fewer samples than features by coordinates in the span of the samples, which is the same."""
    turn = np.linalg.svd(x, full_matrices=False)[2].T if len(x) < x.shape[1] else np.eye(x.shape[1])
    w = machine(x @ turn, y, strength, logistic)
    return lambda new: new @ turn @ w[:-1] + w[-1]


def logistic(x: np.ndarray, y: np.ndarray, strength: float, width: float) -> Score:
    return linear(x, y, strength, width, logistic=True)


def radial(x: np.ndarray, y: np.ndarray, strength: float, gamma: float, logistic: bool = False) -> Score:
    """A kernel machine by the features K^(-1/2) k(x, .)."""
    scale = gamma / (x.shape[1] * x.var())

    def kernel(new: np.ndarray) -> np.ndarray:
        apart = (new**2).sum(1)[:, None] + (x**2).sum(1) - 2 * new @ x.T
        return np.exp(-scale * np.maximum(apart, 0))

    values, vectors = np.linalg.eigh(kernel(x))
    keep = values > 1e-10 * values[-1]
    root = vectors[:, keep] / np.sqrt(values[keep])
    w = machine(kernel(x) @ root, y, strength, logistic)
    return lambda new: kernel(new) @ root @ w[:-1] + w[-1]


def process(x: np.ndarray, y: np.ndarray, strength: float, gamma: float) -> Score:
    """Gaussian process classification at the mode of the latent values (Laplace): its sign is the predicted class."""
    return radial(x, y, strength, gamma, logistic=True)


def components(x: np.ndarray, y: np.ndarray, strength: float, _: float) -> Score:
    centre = x.mean(axis=0)
    turn = np.linalg.svd(x - centre, full_matrices=False)[2][:20].T
    turn = turn / np.maximum(((x - centre) @ turn).std(axis=0), 1e-9)
    w = machine((x - centre) @ turn, y, strength)
    return lambda new: (new - centre) @ turn @ w[:-1] + w[-1]


PEERS = {
    "linear SVM": (linear, (1.0,)),
    "logistic regression": (logistic, (1.0,)),
    "PCA (20) + SVM": (components, (1.0,)),
    "RBF SVM": (radial, WIDTHS),
    "GP, RBF": (process, WIDTHS),
}


def classes_of(train, x, codes, strength, width, new) -> np.ndarray:
    """Predicted codes: one against the rest (one classifier for two classes)."""
    if codes.max() == 1:
        return (train(x, 2.0 * codes - 1, strength, width)(new) > 0).astype(int)
    f = [train(x, np.where(codes == c, 1.0, -1.0), strength, width)(new) for c in range(codes.max() + 1)]
    return np.argmax(f, axis=0)


def peer_errors(name: str, x: np.ndarray, codes: np.ndarray, new: np.ndarray, truth: np.ndarray) -> int:
    """Wrong test samples; features are centred and divided by one number (those of genes each by its own) before."""
    train, widths = PEERS[name]
    fold, wrong = np.random.default_rng(0).permutation(len(x)) % 5, {}
    for key in product(STRENGTHS, widths):
        wrong[key] = sum(
            int((classes_of(train, x[fold != f], codes[fold != f], *key, x[fold == f]) != codes[fold == f]).sum())
            for f in range(5)
        )  # fmt: skip
    best = min(wrong, key=lambda key: wrong[key])
    return int((classes_of(train, x, codes, *best, new) != truth).sum())
