"""Intercepts of views that are not Gaussian: one of a feature, or one of a feature in each sample group.

``mu`` and ``mu_var`` of the state are (D,) or (G, D). Kernels know one of a feature: where there are several, they are
added to the predictions before.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from plaidwork.plugins.group_factor.cells import View, of_samples, tile
from plaidwork.plugins.group_factor.state import Floats, Predictor, Settings


def one_by_group(params: Settings, n_groups: int) -> bool:
    """Whether every sample group has intercepts of its own."""
    return n_groups > 1 and params["intercept"] and params["group_intercepts"]


def for_kernels(
    state: Predictor, lo: int, hi: int, x: np.ndarray, spread: np.ndarray
) -> tuple[Floats, Floats]:
    """(D,) <mu> and Var mu for kernels; those of groups are added to ``x`` and ``spread`` (hi - lo, N), and 0 returned."""
    if state["mu"].ndim == 1:
        return state["mu"], state["mu_var"]
    here = slice(lo, hi)
    x += of_samples(state["mu"], here, state["group"])
    spread += of_samples(state["mu_var"], here, state["group"])
    nothing = np.zeros(len(state["lik"]))
    return nothing, nothing


def update_by_group(state: Predictor, view: View, lo: int, hi: int, x: np.ndarray, v_mu: float) -> None:
    """q(mu) of features lo..hi-1 of a view in every sample group; ``x`` (hi - lo, N) is <x> without them."""
    cells = tile(state, view, lo - view.first, hi - view.first, shifted=False)
    top, left = cells.T_at
    for g in range(len(state["mu"])):
        here = state["group"] == g
        B = cells.B[:, here]
        T = np.full_like(B, 0.25) if cells.T is None else cells.T[top : top + hi - lo, left:][:, here]
        weight = T.sum(axis=1, dtype=float)
        state["mu_var"][g, lo:hi] = 1.0 / (1.0 / v_mu + weight)
        state["mu"][g, lo:hi] = state["mu_var"][g, lo:hi] * (B - T * x[:, here]).sum(axis=1, dtype=float)


def of_group(values: Floats, g: int) -> Floats:
    """(D,) those of a sample group."""
    return values if values.ndim == 1 else values[g]


def intercept_draws(state: Predictor, mu: Floats, mu_var: Floats) -> dict[str, Floats]:
    """What is kept of the intercepts: by feature (means over groups), and by sample group."""
    shape = state["scale"].shape
    return {
        "intercept": mu.copy() if mu.ndim == 1 else mu.mean(axis=0),
        "intercept_var": mu_var.copy() if mu.ndim == 1 else mu_var.mean(axis=0),
        "group_intercept": np.broadcast_to(mu, shape).copy(),
        "group_intercept_var": np.broadcast_to(mu_var, shape).copy(),
    }


def drawn(draw: Mapping[str, np.ndarray], name: str = "intercept") -> Floats:
    """(G, D) the intercepts of a draw, or their variances; runs from before groups had their own kept (D,)."""
    if f"group_{name}" in draw:
        return np.asarray(draw[f"group_{name}"])
    return np.broadcast_to(draw[name], draw["tau"].shape).copy()
