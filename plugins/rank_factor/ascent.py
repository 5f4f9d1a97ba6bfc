"""One sweep of coordinate ascent (NOTES.md) as stages."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from plaidwork.core.api import Clock, Stage
from plaidwork.plugins.rank_factor import relaxing
from plaidwork.plugins.rank_factor import vb_rows as rows
from plaidwork.plugins.rank_factor import vb_scores as scores
from plaidwork.plugins.rank_factor import vb_state as q
from plaidwork.plugins.rank_factor.bound import elbo
from plaidwork.plugins.rank_factor.gibbs import forget, in_parts, label_hinge, sample_work, training_error
from plaidwork.plugins.rank_factor.kernels.solve import packed_size
from plaidwork.plugins.rank_factor.mixture import FROZEN_SWEEPS
from plaidwork.plugins.rank_factor.rows import begin_rows
from plaidwork.plugins.rank_factor.setup import Setup
from plaidwork.plugins.rank_factor.state import Q, Settings


def work_on(stage: str, setup: Setup, k: int) -> int:
    """Work on a unit of a stage, as of ``gibbs.in_parts``."""
    d, n, _ = setup.shape
    size = packed_size(k)
    if stage == "scores":
        return 4 * sample_work(setup, k) + (d * k * k // 2 if setup.pairs is not None else 0)
    return n * (20 + size // (2 if stage == "rows" else 4) + (size // 2 if setup.pairs is not None else 0))


def stages(state: Q, setup: Setup, params: Settings, clock: Clock) -> list[Stage]:
    """The stages of a sweep. The bound means something at its end, where weights and scales are at their best."""
    (d, n, _), k = setup.shape, state["z"].shape[1]

    def begin() -> None:
        relaxing.begin(state)
        begin_rows(state, setup)

    def after_scores() -> None:
        for update in after_scores_of(state, setup, params):
            update()
        forget(state)

    def measure(lo: int, hi: int) -> None:
        part = rows.begin_part(state, setup, lo, hi, q.z_second(state))
        rows.measure_part(state, setup, params, part)

    def last() -> None:
        for update in last_of(state, setup, params):
            update()
        relaxing.end(state, measured_traces(state, setup, params), clock.sweep)

    return [
        in_parts(
            "rows", d, work_on("rows", setup, k),
            lambda lo, hi: _row_part(state, setup, params, lo, hi, q.z_second(state)), begin=begin,
            end=lambda: rows.update_columns(state), whole=False,
        ),
        in_parts(
            "scores", n, work_on("scores", setup, k),
            lambda lo, hi: scores.update_scores(state, setup, params, lo, hi),
            begin=lambda: update_groups(state, setup, params, clock), end=after_scores, whole=False,
        ),
        in_parts("measure", d, work_on("measure", setup, k), measure, end=last),
    ]  # fmt: skip


def _row_part(state: Q, setup: Setup, params: Settings, lo: int, hi: int, zz: np.ndarray) -> None:
    part = rows.begin_part(state, setup, lo, hi, zz)
    rows.update_weights(state, setup, params, part)
    rows.update_own(state, setup, params, part)
    rows.update_loadings(state, setup, params, part, zz)
    rows.update_scales(state, params, lo, hi)
    rows.update_rates(state, lo, hi)
    rows.pass_on(state, setup, params, part)


def update_groups(state: Q, setup: Setup, params: Settings, clock: Clock) -> None:
    """q of the groups, where there are several, and of the weights of the labels."""
    if state["share"].shape[1] > 1 and clock.sweep >= FROZEN_SWEEPS:
        scores.update_groups(state, setup, params)
    scores.update_label_weights(state, setup, params)


def after_scores_of(state: Q, setup: Setup, params: Settings) -> list[Callable[[], None]]:
    """The updates that follow the scores, in their order."""
    found: list[Callable[[], None]] = [
        partial(scores.update_label_weights, state, setup, params),
        partial(scores.update_coefficients, state, setup, params),
        partial(scores.update_coefficient_scales, state, params),
        partial(scores.update_coefficient_rates, state),
    ]
    if state["share"].shape[1] > 1:
        found += [
            partial(scores.update_centres, state),
            partial(scores.update_precisions, state, params),
            partial(scores.update_sticks, state, params),
        ]
    return found


def last_of(state: Q, setup: Setup, params: Settings) -> list[Callable[[], None]]:
    """Weights and scales at their best, so that the bound is that of the other factors alone."""
    return [
        partial(scores.update_label_weights, state, setup, params),
        partial(scores.update_coefficient_scales, state, params),
        partial(rows.update_scales, state, params, 0, len(state["a"])),
    ]


def traces_of(state: Q) -> dict[str, float]:
    """Traces after a sweep: those of the one before, when this one was undone."""
    return dict(state["good"].get("traces", {}))


def measured_traces(state: Q, setup: Setup, params: Settings) -> dict[str, float]:
    """Traces of a state whose parts have all been measured."""
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
