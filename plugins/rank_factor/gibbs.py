"""One sweep of the sampler (NOTES.md), cut into slices of like work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from plaidwork.core.api import POSITION, Clock, Stage, State
from plaidwork.plugins.rank_factor import boundary, large, mixture, rows
from plaidwork.plugins.rank_factor.boundary import is_process
from plaidwork.plugins.rank_factor.density import label_values, log_density
from plaidwork.plugins.rank_factor.interweaving import interweave
from plaidwork.plugins.rank_factor.kernels import pairs as pair_kernels
from plaidwork.plugins.rank_factor.kernels.labels import add_score_terms
from plaidwork.plugins.rank_factor.kernels.lanes import draw_systems
from plaidwork.plugins.rank_factor.kernels.solve import packed_size
from plaidwork.plugins.rank_factor.newcomers import draw_new, new_terms
from plaidwork.plugins.rank_factor.scaling import draw_scales, moves_more
from plaidwork.plugins.rank_factor.setup import Setup
from plaidwork.plugins.rank_factor.state import SUMS, Draw, Fields, SamplerSettings, Shared

PART = 10_000_000
"""Work of one part, some 10 ms; in units of about a nanosecond."""
SLICE = 30_000_000
"""Work after which a slice ends."""
LARGE = 60_000_000
"""Work of a sweep over the cells from which data are large: two slices, as one cannot be shared. Below, one generator serves all."""
NEW_BEFORE = 15
"""Sweeps before the end of the warm-up in which the scores of new samples settle."""


def cell_work(k: int) -> int:
    """Work on a cell: a comparison or two, and its part of the precisions."""
    return 60 + packed_size(k) // 4


def sample_work(setup: Setup, k: int) -> int:
    """Work on the scores of a sample."""
    return 200 + k**3 // 2 + (10 * k * setup.shape[0] if setup.pairs is not None else 10 * k)


def is_large(setup: Setup, k: int) -> bool:
    """Whether the slices of a sweep have generators of their own (:mod:`large`): follows from data and settings."""
    return setup.shape[0] * setup.shape[1] * cell_work(k) >= LARGE


def in_parts(name: str, units: int, each: int, part: Callable[[int, int], None], **more: Any) -> Stage:
    """A stage of so many units that take ``each`` of work, done in parts of about ``PART``.

    Where a part ends decides in which order random numbers are drawn; a slice is some whole parts.
    """
    size = max(1, min(units, PART // each))

    def work(lo: int, hi: int) -> None:
        for first in range(lo, hi, size):
            part(first, min(hi, first + size))

    return Stage(name, work, units, size * max(1, SLICE // (size * each)), **more)


def drawn(
    name: str, units: int, each: int, part: Callable[[int, int, np.random.Generator], Any], rng: np.random.Generator | None,
    take: Callable[[Any], None] | None = None, **more: Any,
) -> Stage:  # fmt: skip
    """A stage of ``part(lo, hi, rng)``, whose outcome ``take`` adds up: by one generator in parts, or without one, of large data, in slices
    with streams."""
    if rng is None:
        return Stage(name, part, units, large.even_slices(units, each), streams=True, add=take, **more)

    def work(lo: int, hi: int) -> None:
        found = part(lo, hi, rng)
        if take is not None:
            take(found)

    return in_parts(name, units, each, work, **more)


def stages(
    state: Fields, setup: Setup, params: SamplerSettings, rng: np.random.Generator, clock: Clock
) -> list[Stage]:
    """The stages of a sweep."""
    (d, n, _), k = setup.shape, state["z"].shape[1]
    apart = is_large(setup, k)
    one = None if apart else rng
    found = [
        _rows(state, setup, params, rng, apart),
        _scores(state, setup, params, rng, clock, apart),
        drawn(
            "measure", d, n * (10 + k // 4),
            lambda lo, hi, rng: rows.measure_part(state, setup, params, rng, lo, hi), one,
        ),
    ]  # fmt: skip
    if apart and large.uses_products(setup, "a"):
        found.insert(1, large.products(state, "aa", "a", "products of the loadings", (d, k)))
    if apart and large.uses_products(setup, "z"):
        found.insert(0, large.products(state, "zz", "z", "products of the scores", (n, k)))
    if is_process(params) and boundary.drawn_now(clock):
        found += _boundary(state, setup, params, rng, apart)
    if new_now(setup, clock):
        found.append(_new_samples(state, setup, params, rng, one))
    return found


def _rows(
    state: Fields, setup: Setup, params: SamplerSettings, rng: np.random.Generator, apart: bool
) -> Stage:
    def begin() -> None:
        (large if apart else rows).begin_rows(state, setup)

    def part(lo: int, hi: int, rng: np.random.Generator) -> rows.Said:
        zz = state["zz"] if apart else large.score_products(state, setup)
        said = rows.draw_part(state, setup, params, rng, lo, hi, zz)
        if apart:
            large.keep_rows(state, lo, hi, said)
        else:
            rows.add_rows(state, setup, lo, hi, said.p, said.h)
        return said

    def end() -> None:
        rows.end_rows(state, setup, params, rng)
        large.forget(state, "zz")

    (d, n, _), k = setup.shape, state["z"].shape[1]
    return drawn(
        "rows", d, n * cell_work(k), part, None if apart else rng, lambda said: rows.add_scales(state, said),
        begin=begin, end=end, whole=False,
    )  # fmt: skip


def _scores(
    state: Fields, setup: Setup, params: SamplerSettings, rng: np.random.Generator, clock: Clock, apart: bool
) -> Stage:
    (d, n, _), k = setup.shape, state["z"].shape[1]
    summed = apart and setup.pairs is None and not is_process(params)

    def begin() -> None:
        _begin_scores(state, setup, params, rng, clock)
        if summed:
            groups, g, size = state["beta"].shape
            state["steep"], state["pull"] = (
                np.zeros((groups * g, packed_size(size))),
                np.zeros((groups * g, size)),
            )

    def part(lo: int, hi: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray] | None:
        draw_part(state, setup, params, rng, lo, hi)
        return mixture.coefficient_terms(state, setup, params, slice(lo, hi)) if summed else None

    def take(terms: tuple[np.ndarray, np.ndarray] | None) -> None:
        if terms is not None:
            state["steep"] += terms[0]
            state["pull"] += terms[1]

    def end() -> None:
        _end_scores(state, setup, params, rng)
        large.forget(state, "steep", "pull", "aa", "p", "h")

    work = sample_work(setup, k) + (d * packed_size(k) // 4 if apart else 0)
    # scores of pairs are drawn one after the other, each given those before it
    one = None if apart and setup.pairs is None else rng
    return drawn("scores", n, work, part, one, take, begin=begin, end=end, whole=False)


def _boundary(
    state: Fields, setup: Setup, params: SamplerSettings, rng: np.random.Generator, apart: bool
) -> list[Stage]:
    def weights(lo: int, hi: int) -> None:
        for g in range(lo, hi):
            boundary.draw_weights(state, rng, g)

    work = boundary.work_on_sample(setup)
    hinges = drawn(
        "boundary: hinges", setup.shape[1], work // boundary.IN_BLOCKS if apart else work,
        lambda lo, hi, rng: boundary.sample_terms(state, setup, params, rng, lo, hi), None if apart else rng,
        lambda terms: boundary.add(state, terms), begin=lambda: boundary.begin(state, setup, params), whole=False,
    )  # fmt: skip
    n = setup.shape[1]
    values = Stage(
        "boundary: values", lambda lo, hi: boundary.work_out(state, setup, params, lo, hi), n,
        large.even_slices(n, 20 * len(boundary.centres_of(setup))) if apart else 0,
        end=lambda: boundary.end(state), parallel=apart,
    )  # fmt: skip
    return [hinges, Stage("boundary", weights, setup.shape[2], 1, whole=False), values]


def _new_samples(
    state: Fields, setup: Setup, params: SamplerSettings, rng: np.random.Generator, one: np.random.Generator | None
) -> Stage:  # fmt: skip
    (d, _, _), k, cells = setup.shape, state["z"].shape[1], setup.test_cells
    assert cells is not None

    def begin() -> None:
        size = len(state["new_z"])
        state["precision"], state["linear"] = np.zeros((size, packed_size(k))), np.zeros((size, k))

    def part(lo: int, hi: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        return new_terms(state, setup, cells, state["new_z"], rows.step_margin(setup, params), lo, hi, rng)

    def take(terms: tuple[np.ndarray, np.ndarray]) -> None:
        state["precision"] += terms[0]
        state["linear"] += terms[1]

    def end() -> None:
        draw: Draw = {
            "a": state["a"], "z": state["z"], "c": state["c"], "gamma": state["gamma"], "beta": state["beta"],
            "psi": state["psi"], "mu": state["mu"], "log_weight": mixture.log_weights(state),
        }  # fmt: skip
        if is_process(params):
            draw["boundary"] = boundary.of_state(state, setup, params)
        state["new_f"] = draw_new(draw, setup, state["new_z"], state["precision"], state["linear"], rng)
        forget(state)

    return drawn("new samples", d, cells.size * cell_work(k), part, one, take, begin=begin, end=end)


def new_now(setup: Setup, clock: Clock) -> bool:
    """Whether new samples are scored in this sweep."""
    return setup.test_cells is not None and clock.sweep >= clock.warmup - NEW_BEFORE


def _begin_scores(
    state: Fields, setup: Setup, params: SamplerSettings, rng: np.random.Generator, clock: Clock
) -> None:
    if len(state["psi"]) > 1 and clock.sweep >= mixture.FROZEN_SWEEPS:
        mixture.draw_groups(state, setup, params, rng)
    if not is_process(params):
        mixture.draw_label_terms(state, setup, params, rng)


def score_part(
    state: Fields, setup: Setup, params: SamplerSettings, lo: int, hi: int
) -> tuple[np.ndarray, np.ndarray]:
    """Precision (hi - lo, packed) and linear term (hi - lo, K) of the scores, without the comparisons of samples."""
    if is_large(setup, state["z"].shape[1]):
        precision, linear = large.sample_terms(state, setup, lo, hi)
    else:
        every = state["precision"]
        precision = np.repeat(every, hi - lo, axis=0) if len(every) == 1 else every[lo:hi].copy()
        linear = state["linear"][lo:hi].copy()
    none = np.zeros((1, setup.shape[2], linear.shape[1]))
    add_score_terms(
        lo, hi, precision, linear, state["t"], state["psi"], state["mu"], setup.y, state["label_kappa"],
        none if is_process(params) else state["beta"], params["label_weight"],
    )  # fmt: skip
    return precision, linear


def draw_part(
    state: Fields, setup: Setup, params: SamplerSettings, rng: np.random.Generator, lo: int, hi: int
) -> None:
    """Draw the scores of samples lo to hi."""
    precision, linear = score_part(state, setup, params, lo, hi)
    if setup.pairs is None:
        draw_systems(rng, precision, linear, state["z"][lo:hi])
        return
    pairs, eps = setup.pairs, rows.step_margin(setup, params)
    pair_kernels.draw_samples(
        rng, lo, hi, precision, linear, pairs.first, pairs.row, pairs.other, pairs.pair, pairs.sign,
        state["kappa"], state["w"], state["a"], eps, state["z"],
    )  # fmt: skip


def _end_scores(state: Fields, setup: Setup, params: SamplerSettings, rng: np.random.Generator) -> None:
    if not is_process(params):
        terms = (
            (state["steep"], state["pull"])
            if "steep" in state
            else mixture.coefficient_terms(state, setup, params)
        )
        mixture.draw_coefficients(state, params, rng, *terms)
    if len(state["psi"]) > 1:
        mixture.draw_mixture(state, params, rng)
    else:
        draw_scales(state, params, rng)
        if moves_more(params):
            interweave(state, setup, params, rng)
    forget(state)


def forget(state: Shared) -> None:
    """Let go of what a stage has summed up for the next one."""
    for name in SUMS:
        state[name] = np.zeros((0,) * state[name].ndim)


OLD_STAGES = ("rows", "scores", "measure", "new samples")
"""Names of the stages by their number in states of version 1."""


def upgraded(state: State) -> State:
    """A state of version 1, in which the model itself kept where the sweep stood."""
    stage, at = state.pop("stage"), state.pop("at")
    if stage or at:
        state[POSITION] = {"stage": OLD_STAGES[stage], "at": at}
    return state


def begun_anew(state: Fields) -> Fields:
    """A state in which the sweep that it stands in begins anew: what is drawn by then is a state as good as any other."""
    cast("State", state).pop(POSITION, None)
    forget(state)
    large.forget(state, "steep", "pull", "zz", "aa", "p", "h")
    return state


def predicted(f: np.ndarray) -> np.ndarray:
    """Class numbers from the values (N, G) of the classifiers."""
    return (f[:, 0] > 0).astype(np.int64) if f.shape[1] == 1 else f.argmax(axis=1)


def training_error(f: np.ndarray, setup: Setup) -> float:
    """Share of wrong classes among the labelled training samples."""
    codes = setup.codes[setup.train]
    return float((predicted(f) != codes)[codes >= 0].mean())


def label_hinge(f: np.ndarray, setup: Setup) -> float:
    """Mean of max(0, 1 - y f) over the labels; ``f`` (N, G) as in :func:`training_error`."""
    return float(np.maximum(0.0, 1.0 - setup.y * f)[setup.y != 0].mean())


def traces_of(state: Fields, setup: Setup, params: SamplerSettings) -> dict[str, float]:
    """Traces after a sweep."""
    groups = len(state["psi"])
    total = state["measured"].sum(axis=0)
    rank = setup.likelihood != "gaussian"
    own = np.bincount(state["t"], minlength=groups)
    return {
        "log_density": log_density(state, setup, params),
        "hinge": float(total[1] / total[0]) if rank else float("nan"),
        "ordered": float(total[2] / total[0]) if rank else float("nan"),
        "noise": float("nan") if rank else float(np.sqrt(1.0 / state["gamma"]).mean()),
        "error": training_error(label_values(state), setup),
        "label_hinge": label_hinge(label_values(state), setup),
        "loadings": float(np.median(np.sqrt((state["a"] ** 2).sum(axis=1)))),
        "coefficients": float(np.sqrt((state["beta"] ** 2).sum())),
        "groups": float((own > 0).sum()) if groups > 1 else float("nan"),
        "alpha": float(state["alpha"]) if groups > 1 else float("nan"),
    }
