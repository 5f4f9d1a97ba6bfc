"""The two models: the number of blocks inferred (infinite plaid) or fixed (Bayesian plaid)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from plaidwork.core.api import ModelData, ModelSpec, Trial
from plaidwork.plugins.plaid.base import PlaidModel
from plaidwork.plugins.plaid.fields import (
    Constants,
    FixedSettings,
    Flags,
    InfiniteSettings,
    MoveName,
    Replica,
    Settings,
)
from plaidwork.plugins.plaid.kernels.birth_death import harmonic
from plaidwork.plugins.plaid.priors import NO_MASS, Gamma, log_fixed, log_infinite, mass_prior
from plaidwork.plugins.plaid.simulate import draw_subsets
from plaidwork.plugins.plaid.spec import BAYESIAN_PLAID, INFINITE_PLAID
from plaidwork.plugins.plaid.state import given_blocks
from plaidwork.plugins.plaid.sweep import Setting

TRIAL: dict[str, Any] = {
    "scale": False,
    "background_at": "value",
    "background_mean": 0.3,
    "background_sd": 0.7,
    "noise_shape": 3.0,
    "noise_rate": 2.0,
    "shift_shape": 3.0,
    "shift_rate": 4.0,
    "shift_mean": 0.4,
    "shift_mean_variance": 1.0,
    "anneal": False,
    "start": "prior",
}
"""Priors without a number taken from the data, so that ``simulate`` and a sweep have one law."""
NUMBER: dict[str, Any] = {"expected_blocks": 1.5, "mass_shape": 3.0, "max_blocks": 3, "start_blocks": 2}

TWO: dict[str, Any] = {"blocks": 2, "row_b": 2.0, "column_b": 1.5, "exchanges": 1}
HEAVY: dict[str, Any] = {"noise": "t", "freedom_shape": 8.0, "freedom_rate": 1.5}
LAYERED: dict[str, Any] = {
    "layer": "profile",
    "profile_shape": 3.0,
    "profile_rate": 2.0,
    "effect_shape": 3.0,
    "effect_rate": 1.0,
}


def exchanges_of(params: Settings) -> list[MoveName]:
    """The moves of two blocks at once."""
    recut: list[MoveName] = ["recut"] if params["recuts"] and params["layer"] == "shift" else []
    exchanges: list[MoveName] = ["exchange"] * params["exchanges"]
    return [*exchanges, *recut]


class InfinitePlaid(PlaidModel[InfiniteSettings]):
    """Overlapping blocks, their number inferred (Ishiguro et al. 2016, put right; see NOTES.md)."""

    spec: ClassVar[ModelSpec] = INFINITE_PLAID
    cap: ClassVar[tuple[str, str]] = ("max_blocks", "At most")
    copies: ClassVar[tuple[int, int]] = (2, 6)
    trials: ClassVar[Sequence[Trial]] = (
        Trial(name="whole blocks", params=TRIAL | NUMBER, shapes={"X": (4, 3)}, missing=0.1),
        Trial(
            name="row by row",
            params=TRIAL | NUMBER | {"moves": "row_wise"},
            shapes={"X": (4, 3)},
            missing=0.1,
        ),
        Trial(name="profiles", params=TRIAL | NUMBER | LAYERED, shapes={"X": (4, 3)}, missing=0.1),
        Trial(
            name="effects",
            params=TRIAL | NUMBER | {"effects": True, "effect_shape": 3.0, "effect_rate": 1.0},
            shapes={"X": (4, 3)},
            missing=0.1,
        ),
        Trial(name="heavy tails", params=TRIAL | NUMBER | HEAVY, shapes={"X": (4, 3)}, missing=0.1),
    )

    def start(
        self, data: ModelData, params: InfiniteSettings, rng: np.random.Generator
    ) -> tuple[Flags, Flags]:
        n_rows, n_columns = data["X"].shape
        if params["start"] == "given":
            rows, columns = given_blocks(data)
            kept = rows.any(axis=1) & columns.any(axis=1)
            return rows[kept], columns[kept]
        size = min(params["start_blocks"], params["max_blocks"]) if params["start"] == "prior" else 0
        return draw_subsets(rng, size, n_rows), draw_subsets(rng, size, n_columns)

    def draw_memberships(
        self, params: InfiniteSettings, shape: tuple[int, int], alpha: float, rng: np.random.Generator
    ) -> tuple[Flags, Flags]:
        mean = alpha * float(harmonic(shape[0]) * harmonic(shape[1]))
        size = rng.poisson(mean)
        while size > params["max_blocks"]:
            size = rng.poisson(mean)
        return draw_subsets(rng, size, shape[0]), draw_subsets(rng, size, shape[1])

    def shares(self, params: InfiniteSettings) -> tuple[float, float, float, float]:
        return 0.0, 1.0, 0.0, 1.0

    def mass_prior(self, params: InfiniteSettings, constants: Constants) -> Gamma:
        return mass_prior(params, constants)

    def prior_share(self, params: InfiniteSettings) -> float:
        return params["prior_share"]

    def most(self, params: InfiniteSettings) -> int:
        return params["max_blocks"]

    def inferred_up_to(self, params: InfiniteSettings) -> int:
        return params["max_blocks"]

    def moves(self, params: InfiniteSettings) -> tuple[MoveName, ...]:
        exchanges = exchanges_of(params)
        if params["layer"] == "profile":
            births: list[MoveName] = ["birth_death"] * params["birth_death"]
            return (*births, *exchanges)
        if params["moves"] == "row_wise":
            return ("row_wise",)
        pairs = max(params["birth_death"], params["seeded"])
        in_turn: tuple[Literal["birth_death", "seeded"], ...] = ("birth_death", "seeded")
        mixed: list[MoveName] = [name for n in range(pairs) for name in in_turn if n < params[name]]
        splits: list[MoveName] = ["split_merge"] * params["split_merge"]
        return (*mixed, *splits, *exchanges)

    def log_memberships(self, replica: Replica, setting: Setting) -> float:
        return log_infinite(
            replica["rows"], replica["columns"], replica["alpha"], setting.harmonics, setting.max_blocks
        )


class BayesianPlaid(PlaidModel[FixedSettings]):
    """Overlapping blocks of a fixed number (Caldas and Kaski 2008, one constant per block)."""

    spec: ClassVar[ModelSpec] = BAYESIAN_PLAID
    cap: ClassVar[tuple[str, str]] = ("blocks", "Number of blocks")
    copies: ClassVar[tuple[int, int]] = (4, 24)
    trials: ClassVar[Sequence[Trial]] = (
        Trial(
            name="two blocks",
            params=TRIAL | TWO,
            shapes={"X": (4, 3)},
            missing=0.1,
        ),
        Trial(name="heavy tails", params=TRIAL | TWO | HEAVY, shapes={"X": (4, 3)}, missing=0.1),
        Trial(
            name="profiles and effects",
            params=TRIAL | TWO | LAYERED | {"row_noise": True, "effects": True},
            shapes={"X": (4, 3)},
            missing=0.1,
        ),
    )

    def start(self, data: ModelData, params: FixedSettings, rng: np.random.Generator) -> tuple[Flags, Flags]:
        n_rows, n_columns = data["X"].shape
        size = params["blocks"]
        rows, columns = np.zeros((size, n_rows), bool), np.zeros((size, n_columns), bool)
        if params["start"] == "given":
            given = given_blocks(data)
            for z, source in zip((rows, columns), given, strict=True):
                z[: len(source)] = source[:size]
        elif params["start"] == "prior":
            rows, columns = self.draw_memberships(params, (n_rows, n_columns), 1.0, rng)
        return rows, columns

    def draw_memberships(
        self, params: FixedSettings, shape: tuple[int, int], alpha: float, rng: np.random.Generator
    ) -> tuple[Flags, Flags]:
        sides = []
        a1, b1, a2, b2 = self.shares(params)
        for n, a, b in zip(shape, (a1, a2), (b1, b2), strict=True):
            share = rng.beta(a, b, params["blocks"])
            sides.append(rng.random((params["blocks"], n)) < share[:, None])
        return sides[0], sides[1]

    def shares(self, params: FixedSettings) -> tuple[float, float, float, float]:
        return params["row_a"], params["row_b"], params["column_a"], params["column_b"]

    def mass_prior(self, params: FixedSettings, constants: Constants) -> Gamma:
        return NO_MASS

    def most(self, params: FixedSettings) -> int:
        return params["blocks"]

    def moves(self, params: FixedSettings) -> tuple[MoveName, ...]:
        return tuple(exchanges_of(params))

    def log_memberships(self, replica: Replica, setting: Setting) -> float:
        a1, b1, a2, b2 = setting.shares
        return log_fixed(replica["rows"], a1, b1) + log_fixed(replica["columns"], a2, b2)
