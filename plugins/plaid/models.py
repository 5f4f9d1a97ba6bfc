"""The two models: the number of blocks inferred (infinite plaid) or fixed (Bayesian plaid)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from plaidwork.core.api import (
    Block,
    Clock,
    Cost,
    Kept,
    Model,
    ModelData,
    ModelSpec,
    Params,
    Problem,
    Results,
    Stage,
    State,
    Trial,
    passes,
)
from plaidwork.core.api_blocks import nmi_overlap_ishiguro
from plaidwork.plugins.plaid.checks import estimate_cost, find_problems
from plaidwork.plugins.plaid.kernels.birth_death import harmonic
from plaidwork.plugins.plaid.kernels.evidence import log_marginal
from plaidwork.plugins.plaid.kernels.joint_draw import covered_cells
from plaidwork.plugins.plaid.likelihood import log_density_of_cells
from plaidwork.plugins.plaid.priors import log_fixed, log_infinite, log_scalars, priors_of
from plaidwork.plugins.plaid.results import summarise_draws
from plaidwork.plugins.plaid.simulate import draw_scalars, draw_subsets, simulate_matrix
from plaidwork.plugins.plaid.spec import BAYESIAN_PLAID, INFINITE_PLAID
from plaidwork.plugins.plaid.state import (
    cells_of,
    copy_replica,
    given_blocks,
    measure,
    new_replica,
    new_state,
    read_only,
    true_blocks,
)
from plaidwork.plugins.plaid.sweep import (
    Setting,
    annealing,
    count_cells,
    draw_replica,
    powers,
    replica_stage,
    swap_replicas,
    upgraded,
)

TRIAL = {
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
AT_ONCE = 1000
"""Slice of a stage that takes next to no time."""
NUMBER = {"expected_blocks": 1.5, "mass_shape": 3.0, "max_blocks": 3, "start_blocks": 2}


class PlaidModel(Model):
    """What both models share: everything but the membership prior and the moves between numbers of blocks."""

    likelihood_of: ClassVar[str] = "X"

    def start(
        self, data: ModelData, params: Params, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Memberships before the first sweep: (K, N1) and (K, N2)."""
        raise NotImplementedError

    def shares(self, params: Params) -> tuple[float, float, float, float]:
        """Numbers a1, b1, a2, b2 of the prior odds, see ``kernels.records.Law``."""
        raise NotImplementedError

    def draw_memberships(
        self, params: Params, shape: tuple[int, int], alpha: float, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Memberships from the prior: (K, N1) and (K, N2)."""
        raise NotImplementedError

    def moves(self, params: Params) -> tuple[str, ...]:
        """Moves of one sweep that change the number of blocks."""
        return ()

    def most(self, params: Params) -> int:
        """Largest number of blocks."""
        raise NotImplementedError

    def log_memberships(self, replica: Mapping[str, Any], harmonics: float, params: Params) -> float:
        """Log prior of the memberships."""
        raise NotImplementedError

    def setting(self, state: State, data: ModelData, params: Params, clock: Clock) -> Setting:
        """What the tasks of a sweep share."""
        constants = state["constants"]
        start = params["anneal_start"] or min(1.0, 20.0 / constants["n_observed"])
        return Setting(
            cells_of(data["X"], constants),
            priors_of(params, constants),
            params,
            constants["harmonics"],
            powers(params, clock, start),
            self.shares(params),
            self.most(params),
            self.moves(params),
        )

    def init(self, data: ModelData, params: Params, rng: np.random.Generator) -> State:
        block: Block = data["X"]
        constants = measure(block, params)
        priors = priors_of(params, constants)
        scalars = {
            "alpha": priors.mass.shape / priors.mass.rate if priors.mass.learned else priors.mass.value,
            "mu": priors.shift_mean,
            "tau": priors.spread.shape / priors.spread.rate if priors.spread.learned else priors.spread.value,
            "tau0": 1.0 / constants["unit"] ** 2 if priors.noise.learned else priors.noise.value,
            "phi": constants["background"],
        }
        replica = new_replica(*self.start(data, params, rng), scalars)
        state = new_state(block, constants, replica)
        setting = self.setting(state, data, params, Clock(0, 0))
        count_cells(replica, setting.cells)
        draw_replica(replica, setting, 1.0, rng)
        return state

    def stages(
        self, state: State, data: ModelData, params: Params, rng: np.random.Generator, clock: Clock
    ) -> Sequence[Stage]:
        setting, warm = self.setting(state, data, params, clock), annealing(params, clock)
        found = [replica_stage(0, state, setting, rng, lambda: self._arrange(state, setting, warm))]
        found += [replica_stage(number, state, setting, rng) for number in range(1, len(setting.powers))]
        if not warm and params["replicas"] > 1:
            found.append(Stage("swaps", lambda lo, hi: swap_replicas(state, setting, rng), slice=AT_ONCE))
        if len(state["held_out"]["rows"]) and not clock.warming:
            found.append(
                Stage("held-out cells", lambda lo, hi: _average_held_out(state, data), slice=AT_ONCE)
            )
        return found

    def _arrange(self, state: State, setting: Setting, warm: bool) -> None:
        """At the start of a sweep: make the copies it needs; after the annealing go on with the best one."""
        copies = len(setting.powers)
        if state["warm"] and not warm:
            joints = {name: self._log_joint(r, setting) for name, r in state["replicas"].items()}
            copy_replica(state, max(joints, key=lambda name: joints[name]), copies)
        elif len(state["replicas"]) != copies:
            copy_replica(state, "0", copies)
        state["warm"] = warm
        state["accepted"] = dict.fromkeys(state["accepted"], 0)

    @property
    def spec_traces(self) -> set[str]:
        """Names of the declared traces."""
        return {trace.name for trace in self.spec.traces}

    def traces(self, state: State, data: ModelData, params: Params) -> dict[str, float]:
        cold, moves = state["replicas"]["0"], self.moves(params)
        rows, columns = cold["rows"], cold["columns"]
        traces = {
            "log_joint": self.log_joint(state, data, params),
            "n_blocks": float((rows.any(axis=1) & columns.any(axis=1)).sum()),
            "phi": cold["phi"],
            "noise_sd": cold["tau0"] ** -0.5,
            "tau0": cold["tau0"],
            "mu": cold["mu"],
            "tau": cold["tau"],
            "covered": covered_cells(rows, columns) / data["X"].values.size,
            "held_out": _held_out(state, data),
            "nmi": self._nmi(cold, data),
        }
        if "alpha" in self.spec_traces:
            traces["alpha"] = cold["alpha"]
        for name, accepted in state["accepted"].items() if moves else ():
            if name in self.spec_traces:
                tries = moves.count(name) * (sum(data["X"].shape) if name == "row_wise" else 1)
                traces[name] = accepted / tries if tries else math.nan
        traces["swap"] = math.nan if params["replicas"] == 1 else 0.0 if state["warm"] else state["swapped"]
        return traces

    def _nmi(self, cold: Mapping[str, Any], data: ModelData) -> float:
        """Agreement with the true blocks; NaN when they were not given."""
        truth = true_blocks(data)
        if truth is None:
            return math.nan
        kept = cold["rows"].any(axis=1) & cold["columns"].any(axis=1)
        return nmi_overlap_ishiguro(cold["rows"][kept], cold["columns"][kept], *truth)

    def log_joint(self, state: State, data: ModelData, params: Params) -> float:
        """``log p(X, Z, alpha, tau0, mu, tau)`` of the kept chain, background and shifts integrated out."""
        return self._log_joint(state["replicas"]["0"], self.setting(state, data, params, Clock(0, 0)))

    def _log_joint(self, replica: Mapping[str, Any], setting: Setting) -> float:
        """As :meth:`log_joint`, of one replica at power 1."""
        cells, tau0 = setting.cells, replica["tau0"]
        total = 0.5 * cells.n_observed * math.log(tau0 / (2 * math.pi)) - 0.5 * tau0 * cells.sum_squares
        total += log_marginal(replica["counts"], replica["sums"], setting.law(replica, 1.0))
        total += self.log_memberships(replica, setting.harmonics, setting.params)
        return float(total + log_scalars(replica, setting.priors))

    def draws(self, state: State, data: ModelData, params: Params) -> Mapping[str, Any]:
        cold = state["replicas"]["0"]
        scalars = {name: cold[name] for name in ("phi", "tau0", "alpha", "mu", "tau")}
        scalars["log_joint"] = self.log_joint(state, data, params)
        kept = {variable.name for variable in self.spec.variables}
        return {
            "Z1": cold["rows"].copy(),
            "Z2": cold["columns"].copy(),
            "theta": cold["theta"].copy(),
            **{name: value for name, value in scalars.items() if name in kept},
        }

    def log_likelihood(self, chain, draws, data, params, place, rows):
        return log_density_of_cells(chain, draws, data["X"], rows)

    def summarise(self, kept: Kept, data: ModelData, params: Params) -> Results:
        return summarise_draws(kept, data)

    def validate(self, data: ModelData, params: Params) -> Sequence[Problem]:
        return find_problems(data, params)

    def estimate(self, data: ModelData, params: Params) -> Cost:
        return estimate_cost(data["X"], len(self.moves(params)), params)

    def prepare(self) -> None:
        """Run a tiny sweep; every kernel has one signature, with or without missing cells.

        The comparison mode (row by row) compiles its own kernel, about 4 s, in the first sweep that uses it.
        """
        rng = np.random.Generator(np.random.PCG64DXSM(0))
        values = read_only(rng.standard_normal((4, 3)))
        data = ModelData({"X": Block("X", values, read_only(np.ones((4, 3), bool)), None, ((), ()))})
        params = self.spec.check_params({"start": "prior"})
        state = self.init(data, params, rng)
        for _ in passes(self, state, data, params, rng, Clock(0, 0)):
            pass

    def simulate(
        self, params: Params, shapes: Mapping[str, tuple[int, ...]], rng: np.random.Generator
    ) -> tuple[dict[str, np.ndarray], State]:
        """Memberships, hyper-parameters and data from the prior; lengths are in the unit of the data (``scale`` off)."""
        n_rows, n_columns = shapes["X"]
        constants = {
            "unit": 1.0,
            "background": params["background_mean"],
            "harmonics": float(harmonic(n_rows) * harmonic(n_columns)),
        }
        scalars = draw_scalars(rng, priors_of(params, constants))
        rows, columns = self.draw_memberships(params, (n_rows, n_columns), scalars["alpha"], rng)
        replica = new_replica(rows, columns, scalars)
        replica["theta"] = scalars["mu"] + rng.standard_normal(len(rows)) / math.sqrt(scalars["tau"])
        values = simulate_matrix(rng, replica)
        block = Block("X", read_only(values), read_only(np.ones(values.shape, bool)), None, ((), ()))
        constants = measure(block, params)
        count_cells(replica, cells_of(block, constants))
        return {"X": values}, new_state(block, constants, replica)

    def simulate_data(
        self, state: State, params: Params, shapes: Mapping[str, tuple[int, ...]], rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        return {"X": simulate_matrix(rng, state["replicas"]["0"])}

    def upgrade_state(self, state: State, from_version: int, data: ModelData, params: Params) -> State:
        return (
            upgraded(state) if from_version == 1 else super().upgrade_state(state, from_version, data, params)
        )

    def refresh(self, state: State, data: ModelData, params: Params) -> State:
        """New constants of the data and statistics of the blocks."""
        state["constants"] = measure(data["X"], params)
        cells = cells_of(data["X"], state["constants"])
        for replica in state["replicas"].values():
            count_cells(replica, cells)
        return state


def _log_density_of_held_out(state: State, data: ModelData) -> np.ndarray:
    """Log predictive density of each held-out cell at this sweep."""
    held, cold = state["held_out"], state["replicas"]["0"]
    truth = data["X"].truth[held["rows"], held["columns"]]
    inside = cold["rows"][:, held["rows"]] & cold["columns"][:, held["columns"]]
    residual = truth - cold["phi"] - cold["theta"] @ inside
    return 0.5 * math.log(cold["tau0"] / (2 * math.pi)) - 0.5 * cold["tau0"] * residual**2


def _average_held_out(state: State, data: ModelData) -> None:
    """Add this sweep to the average predictive of the held-out cells."""
    held = state["held_out"]
    held["log_density"] = np.logaddexp(held["log_density"], _log_density_of_held_out(state, data))
    held["draws"] += 1


def _held_out(state: State, data: ModelData) -> float:
    """Mean log density of the held-out cells under the average predictive since the warm-up."""
    held = state["held_out"]
    if not len(held["rows"]):
        return math.nan
    if not held["draws"]:
        return float(_log_density_of_held_out(state, data).mean())
    return float(held["log_density"].mean() - math.log(held["draws"]))


class InfinitePlaid(PlaidModel):
    """Overlapping blocks, their number inferred (Ishiguro et al. 2016, put right; see NOTES.md)."""

    spec: ClassVar[ModelSpec] = INFINITE_PLAID
    trials: ClassVar[Sequence[Trial]] = (
        Trial(name="whole blocks", params=TRIAL | NUMBER, shapes={"X": (4, 3)}, missing=0.1),
        Trial(
            name="row by row",
            params=TRIAL | NUMBER | {"moves": "row_wise"},
            shapes={"X": (4, 3)},
            missing=0.1,
        ),
    )

    def start(self, data, params, rng):
        n_rows, n_columns = data["X"].shape
        if params["start"] == "given":
            rows, columns = given_blocks(data)
            kept = rows.any(axis=1) & columns.any(axis=1)
            return rows[kept], columns[kept]
        size = min(params["start_blocks"], params["max_blocks"]) if params["start"] == "prior" else 0
        return draw_subsets(rng, size, n_rows), draw_subsets(rng, size, n_columns)

    def draw_memberships(self, params, shape, alpha, rng):
        mean = alpha * float(harmonic(shape[0]) * harmonic(shape[1]))
        size = rng.poisson(mean)
        while size > params["max_blocks"]:
            size = rng.poisson(mean)
        return draw_subsets(rng, size, shape[0]), draw_subsets(rng, size, shape[1])

    def shares(self, params):
        return 0.0, 1.0, 0.0, 1.0

    def most(self, params):
        return params["max_blocks"]

    def moves(self, params):
        if params["moves"] == "row_wise":
            return ("row_wise",)
        pairs = max(params["birth_death"], params["seeded"])
        mixed = [name for n in range(pairs) for name in ("birth_death", "seeded") if n < params[name]]
        return (*mixed, *("split_merge",) * params["split_merge"])

    def log_memberships(self, replica, harmonics, params):
        return log_infinite(
            replica["rows"],
            replica["columns"],
            replica["alpha"],
            harmonics,
            params["max_blocks"],
        )


class BayesianPlaid(PlaidModel):
    """Overlapping blocks of a fixed number (Caldas and Kaski 2008, one constant per block)."""

    spec: ClassVar[ModelSpec] = BAYESIAN_PLAID
    trials: ClassVar[Sequence[Trial]] = (
        Trial(
            name="two blocks",
            params=TRIAL | {"blocks": 2, "row_b": 2.0, "column_b": 1.5},
            shapes={"X": (4, 3)},
            missing=0.1,
        ),
    )

    def start(self, data, params, rng):
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

    def draw_memberships(self, params, shape, alpha, rng):
        sides = []
        for n, side in zip(shape, ("row", "column"), strict=True):
            share = rng.beta(params[f"{side}_a"], params[f"{side}_b"], params["blocks"])
            sides.append(rng.random((params["blocks"], n)) < share[:, None])
        return sides[0], sides[1]

    def shares(self, params):
        return params["row_a"], params["row_b"], params["column_a"], params["column_b"]

    def most(self, params):
        return params["blocks"]

    def log_memberships(self, replica, harmonics, params):
        a1, b1, a2, b2 = self.shares(params)
        return log_fixed(replica["rows"], a1, b1) + log_fixed(replica["columns"], a2, b2)
