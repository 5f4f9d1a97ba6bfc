"""One sweep of coordinate ascent (NOTES.md), cut into slices of like work, or factor by factor."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from plaidwork.core.api import Clock, Params, State
from plaidwork.plugins.rank_factor import relaxing
from plaidwork.plugins.rank_factor import vb_rows as rows
from plaidwork.plugins.rank_factor import vb_scores as scores
from plaidwork.plugins.rank_factor import vb_state as q
from plaidwork.plugins.rank_factor.bound import elbo
from plaidwork.plugins.rank_factor.gibbs import PART, SLICE, label_hinge, sample_work, training_error
from plaidwork.plugins.rank_factor.kernels.solve import packed_size
from plaidwork.plugins.rank_factor.mixture import FROZEN_SWEEPS
from plaidwork.plugins.rank_factor.rows import begin_rows
from plaidwork.plugins.rank_factor.setup import Setup

STAGES = ("rows", "scores", "measure")


def part_size(stage: str, setup: Setup, k: int) -> tuple[int, int, int]:
    """(end, size of a part, its work) of a stage; as ``gibbs.parts_of``."""
    d, n, _ = setup.shape
    size = packed_size(k)
    if stage == "scores":
        end, each = n, 4 * sample_work(setup, k) + (d * k * k // 2 if setup.pairs is not None else 0)
    else:
        end = d
        each = n * (
            20 + size // (2 if stage == "rows" else 4) + (size // 2 if setup.pairs is not None else 0)
        )
    part = max(1, min(end, PART // each))
    return end, part, part * each


def parts(stage: str, setup: Setup, k: int) -> list[tuple[int, int]]:
    end, size, _ = part_size(stage, setup, k)
    return [(lo, min(end, lo + size)) for lo in range(0, end, size)]


def advance(state: State, setup: Setup, params: Params, clock: Clock) -> dict[str, float] | None:
    """The next slice; the traces when it ends the sweep."""
    k, spent = state["z"].shape[1], 0
    zz = np.empty((0, 0))
    while spent < SLICE:
        stage, lo = STAGES[state["stage"]], state["at"]
        if stage == "rows" and lo == 0:
            relaxing.begin(state)
            begin_rows(state, setup)
            zz = np.empty((0, 0))
        if stage != "scores" and not len(zz):
            zz = q.z_second(state)
        if stage == "scores" and lo == 0:
            _groups(state, setup, params, clock)
            zz = np.empty((0, 0))
        end, size, work = part_size(stage, setup, k)
        hi = min(end, lo + size)
        if stage == "rows":
            _row_part(state, setup, params, lo, hi, zz)
        elif stage == "scores":
            scores.update_scores(state, setup, params, lo, hi)
        else:
            rows.measure_part(state, setup, params, rows.begin_part(state, setup, lo, hi, zz))
        spent += work
        state["at"] = hi % end
        if hi < end:
            continue
        state["stage"] = (state["stage"] + 1) % len(STAGES)
        if stage == "rows":
            rows.update_columns(state)
        elif stage == "scores":
            for _ in _after_scores(state, setup, params):
                pass
            _forget(state)
        else:
            for _ in _last(state, setup, params):
                pass
            return relaxing.end(state, traces_of(state, setup, params), clock.sweep)
    return None


def _row_part(state: State, setup: Setup, params: Params, lo: int, hi: int, zz: np.ndarray) -> None:
    part = rows.begin_part(state, setup, lo, hi, zz)
    rows.update_weights(state, setup, params, part)
    rows.update_own(state, setup, params, part)
    rows.update_loadings(state, setup, params, part, zz)
    rows.update_scales(state, params, lo, hi)
    rows.update_rates(state, lo, hi)
    rows.pass_on(state, setup, params, part)


def _groups(state: State, setup: Setup, params: Params, clock: Clock) -> None:
    if state["share"].shape[1] > 1 and clock.sweep >= FROZEN_SWEEPS:
        scores.update_groups(state, setup, params)
    scores.update_label_weights(state, setup, params)


def _after_scores(state: State, setup: Setup, params: Params) -> Iterator[str]:
    scores.update_label_weights(state, setup, params)
    yield "label weights"
    scores.update_coefficients(state, setup, params)
    yield "beta"
    scores.update_coefficient_scales(state, params)
    yield "b"
    scores.update_coefficient_rates(state)
    yield "rates of b"
    if state["share"].shape[1] > 1:
        scores.update_centres(state)
        yield "mu"
        scores.update_precisions(state, params)
        yield "psi"
        scores.update_sticks(state, params)
        yield "nu and alpha"


def _last(state: State, setup: Setup, params: Params) -> Iterator[str]:
    """Weights and scales at their best, so that the bound is that of the other factors alone."""
    scores.update_label_weights(state, setup, params)
    yield "label weights"
    scores.update_coefficient_scales(state, params)
    yield "b"
    rows.update_scales(state, params, 0, len(state["a"]))
    yield "xi"


def _forget(state: State) -> None:
    for name in ("precision", "linear", "kappa", "w"):
        state[name] = np.zeros((0,) * state[name].ndim)


def traces_of(state: State, setup: Setup, params: Params) -> dict[str, float]:
    """Traces after a sweep."""
    groups = state["share"].shape[1]
    total = state["measured"].sum(axis=0)
    rank = setup.likelihood != "gaussian"
    f = (state["share"][:, :, None] * q.label_moments(state)[0]).sum(axis=1)
    return {
        "elbo": elbo(state, setup, params, float(state["hinges"].sum())),
        "hinge": float(total[1] / total[0]) if rank else float("nan"),
        "ordered": float(total[2] / total[0]) if rank else float("nan"),
        "noise": float("nan") if rank else float(np.sqrt(1.0 / q.mean_of(state, "gamma")).mean()),
        "error": training_error(f, setup),
        "label_hinge": label_hinge(f, setup),
        "loadings": float(np.median(np.sqrt((state["a"] ** 2).sum(axis=1)))),
        "coefficients": float(np.sqrt((state["beta"] ** 2).sum())),
        "groups": float((state["share"].sum(axis=0) > 0.5).sum()) if groups > 1 else float("nan"),
        "alpha": float(q.mean_of(state, "alpha")) if groups > 1 else float("nan"),
    }


def blocks(state: State, setup: Setup, params: Params, clock: Clock) -> Iterator[tuple[str, float]]:
    """One sweep with the bound after every factor of q; the same updates as :func:`advance`, but no steps beyond them."""
    k = state["z"].shape[1]
    begin_rows(state, setup)
    zz = q.z_second(state)
    held = [rows.begin_part(state, setup, lo, hi, zz) for lo, hi in parts("rows", setup, k)]
    for part in held:
        rows.update_weights(state, setup, params, part)

    def bound() -> float:
        now = q.z_second(state)
        for part in held:
            fresh = rows.begin_part(state, setup, part.lo, part.hi, now)
            fresh.below, fresh.above = part.below, part.above
            rows.measure_part(state, setup, params, fresh, given=True)
        return elbo(state, setup, params, float(state["hinges"].sum()))

    yield "weights", bound()
    for part in held:
        rows.update_own(state, setup, params, part)
    yield "thresholds or noise", bound()
    for part in held:
        rows.update_loadings(state, setup, params, part, zz)
    yield "a", bound()
    for part in held:
        rows.update_scales(state, params, part.lo, part.hi)
    yield "xi", bound()
    for part in held:
        rows.update_rates(state, part.lo, part.hi)
        rows.pass_on(state, setup, params, part)
    yield "eta", bound()
    rows.update_columns(state)
    yield "rates of a", bound()
    _groups(state, setup, params, clock)
    yield "t", bound()
    for lo, hi in parts("scores", setup, k):
        scores.update_scores(state, setup, params, lo, hi)
        yield f"z of samples {lo + 1} to {hi}", bound()
    for name in _after_scores(state, setup, params):
        yield name, bound()
    for name in _last(state, setup, params):
        yield name, bound()
    zz = q.z_second(state)
    for lo, hi in parts("measure", setup, k):
        rows.measure_part(state, setup, params, rows.begin_part(state, setup, lo, hi, zz))
    _forget(state)
    yield "weights again", elbo(state, setup, params, float(state["hinges"].sum()))
