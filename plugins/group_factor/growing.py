"""More factors while the bound rises (setting ``grow``): leading components of what the fit leaves over join as factors.

Before sweep 100, 150, … two components of the residuals, rotated by varimax, become factors without weights. When the bound
has not risen by more than ``grow_gain`` until the next such sweep, q is put back to what it was, and no more are tried.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from scipy.special import expit

from plaidwork.plugins.group_factor import kernels
from plaidwork.plugins.group_factor.bound import bound_terms, predicted
from plaidwork.plugins.group_factor.cells import View, known_of
from plaidwork.plugins.group_factor.intercepts import for_kernels
from plaidwork.plugins.group_factor.search import advance_search, new_search
from plaidwork.plugins.group_factor.state import BY_FACTOR, ByFactor, Cells, Fields, Floats, Growth, Settings

FIRST, EVERY = 100, 50
"""First sweep before which factors may join, and sweeps between two looks."""
AT_ONCE = 2
Other = Literal["mu", "mu_var", "tau_rate", "scale", "const", "lik", "squares"]
_OTHERS: tuple[Other, ...] = get_args(Other)
"""What else the sweeps after an addition change."""
_ONES: tuple[ByFactor, ...] = (
    "var",
    "var0",
    "gamma",
    "alpha_shape",
    "alpha_rate",
    "score_shape",
    "score_rate",
)
"""Arrays whose new rows begin as ones; the others are values, variances, shares or zeros."""


def grows_now(sweep: int, params: Settings) -> bool:
    """Whether factors may join, or be taken back, before this sweep."""
    return params["grow"] and sweep >= FIRST and (sweep - FIRST) % EVERY == 0


def may_stop(n_factors: np.ndarray, params: Settings) -> bool:
    """Whether the last addition has been judged, by the trace of their number."""
    return not params["grow"] or (
        len(n_factors) > FIRST and bool((n_factors[-EVERY - 1 :] == n_factors[-1]).all())
    )


def advance(state: Fields, params: Settings, rng: np.random.Generator) -> bool:
    """The next slice: judge what joined last, then look for more; whether that is over."""
    growth = state.get("growth")
    if growth is not None and "search" in growth:
        found = advance_search(growth["search"], state, None, residual_rows, _room(state, params), True)
        if found is None:
            return False
        del growth["search"]
        _join(state, params, found)
        return True
    if growth is None or not growth["over"]:
        _judge(state, params, rng)
    return "search" not in state["growth"]


def _room(state: Fields, params: Settings) -> int:
    return min(AT_ONCE, params["most_factors"] - len(state["z"]))


def _judge(state: Fields, params: Settings, rng: np.random.Generator) -> None:
    """Keep or take back what joined last; if there is room for more and a point in it, begin to look for them."""
    bound = sum(bound_terms(state, params).values())
    growth = state.get("growth")
    if growth is not None and bound <= growth["bound"] + params["grow_gain"]:
        if len(state["z"]) > len(growth["before"]["z"]) or bound < growth["bound"]:
            _put_back(state, growth)
        state["growth"] = {"over": 1, "bound": growth["bound"], "before": {}, "cells": {}}
    elif _room(state, params) < 1:
        state["growth"] = {"over": 1, "bound": bound, "before": {}, "cells": {}}
    else:
        search = new_search(_room(state, params), state["z"].shape[1], len(state["lik"]), rng)
        before, cells = _kept(state)
        state["growth"] = {"over": 0, "bound": bound, "before": before, "cells": cells, "search": search}


def _kept(state: Fields) -> tuple[dict[str, Floats], dict[str, Cells]]:
    """Copies of what sweeps change: arrays by name, local parameters by view."""
    before: dict[str, Floats] = {name: state[name].copy() for name in BY_FACTOR}
    before |= {name: state[name].copy() for name in _OTHERS}
    return before, {place: _local(arrays) for place, arrays in state["cells"].items()}


def _local(arrays: Cells) -> Cells:
    """Copies of what a sweep changes of a view's cells."""
    kept: Cells = {}
    if "T" in arrays:
        kept["T"] = arrays["T"].copy()
    if "B" in arrays:
        kept["B"] = arrays["B"].copy()
    return kept


def _put_back(state: Fields, growth: Growth) -> None:
    state["stale"] = 1
    for name in BY_FACTOR:
        state[name] = growth["before"][name]
    for other in _OTHERS:
        state[other] = growth["before"][other]
    for place, arrays in growth["cells"].items():
        state["cells"][place].update(arrays)


def _join(state: Fields, params: Settings, found: np.ndarray) -> None:
    """New factors with these values (k, N), without weights yet."""
    begin: dict[ByFactor, float] = {
        "v": params["start_variance"], "theta_a": params["sparsity_a"], "theta_b": params["sparsity_b"],
        **dict.fromkeys(_ONES, 1.0),
    }  # fmt: skip
    for name in BY_FACTOR:
        shape = len(found), *state[name].shape[1:]
        state[name] = np.concatenate([state[name], np.full(shape, begin.get(name, 0.0))])
    state["z"][-len(found) :] = found
    state["zz"][-len(found) :] = found**2 + params["start_variance"]
    state["stale"] = 1


def residual_rows(state: Fields, view: View, lo: int, hi: int) -> np.ndarray:
    """(hi - lo, N) values less what is expected of them, 0 where missing."""
    y = view.arrays["y"][lo:hi]
    out = np.empty(y.shape, state["float"].dtype)
    for at, stop, x, spread in predicted(state, view.first + lo, view.first + hi):
        here = slice(at - view.first - lo, stop - view.first - lo)
        mu, _ = for_kernels(state, at, stop, x, spread)
        x += mu[at:stop, None]
        if view.kind == kernels.POISSON:
            x = np.logaddexp(0.0, x)
        elif view.kind != kernels.GAUSSIAN:
            x = expit(x)
        out[here] = (y[here] - x) * known_of(view, lo + here.start, lo + here.stop)
    return out
