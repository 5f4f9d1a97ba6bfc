"""What both models share: everything but the membership prior and the moves between numbers of blocks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from plaidwork.core.api import (
    Block,
    ChainView,
    Clock,
    Cost,
    Kept,
    Layout,
    Model,
    ModelData,
    Problem,
    Results,
    Stage,
    State,
    passes,
)
from plaidwork.core.api_blocks import nmi_overlap_ishiguro
from plaidwork.plugins.plaid import held_out
from plaidwork.plugins.plaid.block_list import more_of
from plaidwork.plugins.plaid.checks import estimate_cost, find_problems
from plaidwork.plugins.plaid.effects import (
    effect_prior,
    fits_effects,
    log_effects,
    simulate_effects,
    start_effects,
)
from plaidwork.plugins.plaid.fields import (
    Constants,
    Fields,
    Flags,
    MoveName,
    Replica,
    ScalarName,
    Scalars,
    Settings,
)
from plaidwork.plugins.plaid.kernels.birth_death import harmonic
from plaidwork.plugins.plaid.kernels.evidence import log_marginal
from plaidwork.plugins.plaid.large import covered_cells
from plaidwork.plugins.plaid.likelihood import log_density_of_cells
from plaidwork.plugins.plaid.priors import Gamma, log_scalars, priors_of
from plaidwork.plugins.plaid.profile_sweep import (
    draw_layers,
    drawn_layers,
    log_layers,
    profile_priors,
    start_layers,
)
from plaidwork.plugins.plaid.recombining import copies_of, keep_better, recombine, round_begins
from plaidwork.plugins.plaid.results import summarise_draws
from plaidwork.plugins.plaid.simulate import draw_scalars, simulate_matrix
from plaidwork.plugins.plaid.state import (
    ALL_MOVES,
    cells_of,
    copy_replica,
    measure,
    new_replica,
    new_state,
    read_only,
    true_blocks,
)
from plaidwork.plugins.plaid.stored import layout_of_plaid, wrong_copies
from plaidwork.plugins.plaid.sweep import (
    Setting,
    annealing,
    count_cells,
    draw_replica,
    less_effects,
    powers,
    replica_stage,
    swap_replicas,
    upgraded,
    weight_stage,
)
from plaidwork.plugins.plaid.tails import FREEDOM, has_tails, log_marginal_of_tails, tail_prior

AT_ONCE = 1000
"""Slice of a stage that takes next to no time."""

_WITH_TAILS: set[type] = set()
"""The models whose kernels for heavy tails are compiled."""

SettingsT = TypeVar("SettingsT", bound=Settings)


class PlaidModel(Model[Fields, SettingsT], Generic[SettingsT]):
    """What both models share."""

    likelihood_of: ClassVar[str] = "X"

    cap: ClassVar[tuple[str, str]]
    """Name and label of the setting that says how many blocks there are at most."""
    copies: ClassVar[tuple[int, int]]
    """Fewest and most warm starts, where nobody says how many."""

    def start(self, data: ModelData, params: SettingsT, rng: np.random.Generator) -> tuple[Flags, Flags]:
        """Memberships before the first sweep: (K, N1) and (K, N2)."""
        raise NotImplementedError

    def shares(self, params: SettingsT) -> tuple[float, float, float, float]:
        """Numbers a1, b1, a2, b2 of the prior odds, see ``kernels.records.Law``."""
        raise NotImplementedError

    def draw_memberships(
        self, params: SettingsT, shape: tuple[int, int], alpha: float, rng: np.random.Generator
    ) -> tuple[Flags, Flags]:
        """Memberships from the prior: (K, N1) and (K, N2)."""
        raise NotImplementedError

    def mass_prior(self, params: SettingsT, constants: Constants) -> Gamma:
        """Prior of the mass."""
        raise NotImplementedError

    def moves(self, params: SettingsT) -> tuple[MoveName, ...]:
        """Moves of one sweep that change the number of blocks."""
        return ()

    def prior_share(self, params: SettingsT) -> float:
        """Share of the births that are proposed from the prior."""
        return 0.0

    def most(self, params: SettingsT) -> int:
        """Largest number of blocks."""
        raise NotImplementedError

    def inferred_up_to(self, params: SettingsT) -> int | None:
        """Largest number of blocks where their number is inferred, else None."""
        return None

    def log_memberships(self, replica: Replica, setting: Setting) -> float:
        """Log prior of the memberships."""
        raise NotImplementedError

    def setting(self, state: Fields, data: ModelData, params: SettingsT, clock: Clock) -> Setting:
        """What the tasks of a sweep share."""
        constants = state["constants"]
        start = params["anneal_start"] or min(1.0, 20.0 / constants["n_observed"])
        return Setting(
            cells_of(data["X"], constants),
            priors_of(params, constants, self.mass_prior(params, constants)),
            constants["harmonics"],
            powers(params, clock, start, copies_of(params, data["X"].values.size, *self.copies)),
            self.shares(params),
            self.most(params),
            self.moves(params),
            self.prior_share(params),
            profile_priors(params, constants),
            params["together"],
            params["recuts"],
            effect_prior(params, constants) if "effects" in state["replicas"]["0"] else None,
            tail_prior(params) if "freedom" in state["replicas"]["0"] else None,
        )

    def init(self, data: ModelData, params: SettingsT, rng: np.random.Generator) -> Fields:
        block: Block = data["X"]
        constants = measure(block, params)
        priors = priors_of(params, constants, self.mass_prior(params, constants))
        scalars: Scalars = {
            "alpha": priors.mass.shape / priors.mass.rate if priors.mass.learned else priors.mass.value,
            "mu": priors.shift_mean,
            "tau": priors.spread.shape / priors.spread.rate if priors.spread.learned else priors.spread.value,
            "tau0": 1.0 / constants["unit"] ** 2 if priors.noise.learned else priors.noise.value,
            "phi": constants["background"],
        }
        replica = new_replica(*self.start(data, params, rng), scalars)
        if fits_effects(block, params):
            replica["effects"] = start_effects(block.values.shape, effect_prior(params, constants))
        if has_tails(block, params):
            replica["freedom"] = FREEDOM
            self._compile_tails()
        state = new_state(block, constants, replica)
        setting = self.setting(state, data, params, Clock(0, 0))
        if setting.layers is not None:
            replica["layers"] = start_layers(block.values.shape, len(replica["rows"]), setting.layers)
        count_cells(replica, setting.cells)
        draw_replica(replica, setting, 1.0, rng)
        return state

    def stages(
        self, state: Fields, data: ModelData, params: SettingsT, rng: np.random.Generator, clock: Clock
    ) -> Sequence[Stage]:
        setting, warm = self.setting(state, data, params, clock), annealing(params, clock)
        found: list[Stage] = []
        for number in range(len(setting.powers)):
            first = None if number else partial(self._arrange, state, setting, params, rng, clock)
            if setting.tails is not None:
                found.append(weight_stage(number, state, setting, rng, first))
                first = None
            found.append(replica_stage(number, state, setting, rng, first))
        if not warm and params["replicas"] > 1:
            found.append(Stage("swaps", lambda lo, hi: swap_replicas(state, setting, rng), slice=AT_ONCE))
        if len(state["held_out"]["rows"]) and not clock.warming:
            found.append(
                Stage("held-out cells", lambda lo, hi: held_out.add_draw(state, data), slice=AT_ONCE)
            )
        return found

    def _arrange(
        self, state: Fields, setting: Setting, params: SettingsT, rng: np.random.Generator, clock: Clock
    ) -> None:
        """At the start of a sweep: make the copies it needs, or recombine them; after the annealing go on with the best."""
        copies, warm = len(setting.powers), annealing(params, clock)

        def joint(replica: Replica) -> float:
            return self._log_joint(replica, setting)

        if state["warm"] and not warm:
            keep_better(state, joint)
            joints = {name: joint(r) for name, r in state["replicas"].items()}
            copy_replica(state, max(joints, key=lambda name: joints[name]), copies)
        elif len(state["replicas"]) != copies:
            copy_replica(state, "0", copies)
        if warm and copies > 1 and round_begins(params, clock):
            recombine(state, joint, lambda replica: count_cells(replica, setting.cells), rng)
        state["warm"] = warm
        state["accepted"] = dict.fromkeys(ALL_MOVES, 0)

    @property
    def spec_traces(self) -> set[str]:
        """Names of the declared traces."""
        return {trace.name for trace in self.spec.traces}

    def traces(self, state: Fields, data: ModelData, params: SettingsT) -> dict[str, float]:
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
            "freedom": cold.get("freedom", math.nan),
            "held_out": held_out.mean_log_density(state, data),
            "nmi": self._nmi(cold, data),
        }
        if "alpha" in self.spec_traces:
            traces["alpha"] = cold["alpha"]
        for name, accepted in state["accepted"].items():
            if name in self.spec_traces:
                tries = moves.count(name) * (sum(data["X"].shape) if name == "row_wise" else 1)
                traces[name] = accepted / tries if tries else math.nan
        traces["swap"] = math.nan if params["replicas"] == 1 else 0.0 if state["warm"] else state["swapped"]
        return traces

    def _nmi(self, cold: Replica, data: ModelData) -> float:
        """Agreement with the true blocks; NaN when they were not given."""
        truth = true_blocks(data)
        if truth is None:
            return math.nan
        kept = cold["rows"].any(axis=1) & cold["columns"].any(axis=1)
        return nmi_overlap_ishiguro(cold["rows"][kept], cold["columns"][kept], *truth)

    def log_joint(self, state: Fields, data: ModelData, params: SettingsT) -> float:
        """``log p(X, Z, alpha, tau0, mu, tau)`` of the kept chain, background and shifts integrated out."""
        return self._log_joint(state["replicas"]["0"], self.setting(state, data, params, Clock(0, 0)))

    def _log_joint(self, replica: Replica, setting: Setting) -> float:
        """As :meth:`log_joint`, of one replica at power 1."""
        cells, tau0, law = setting.cells, replica["tau0"], setting.law(replica, 1.0)
        if setting.layers is not None:
            total = log_layers(replica, replica["layers"], cells, law, setting.layers)
        else:
            seen = less_effects(replica, cells)
            total = 0.5 * cells.n_observed * math.log(tau0 / (2 * math.pi)) - 0.5 * tau0 * seen.sum_squares
            total += log_marginal(replica["counts"], replica["sums"], law)
            if setting.tails is not None:
                total = log_marginal_of_tails(replica, seen, law) + setting.tails.log_density(
                    replica["freedom"]
                )
            if "effects" in replica and setting.effects is not None:
                total += log_effects(replica["effects"], setting.effects)
        total += self.log_memberships(replica, setting)
        return float(total + log_scalars(replica, setting.priors))

    def draws(self, state: Fields, data: ModelData, params: SettingsT) -> Mapping[str, Any]:
        cold = state["replicas"]["0"]
        names: tuple[ScalarName, ...] = ("phi", "tau0", "alpha", "mu", "tau")
        scalars = {str(name): cold[name] for name in names}
        scalars["log_joint"] = self.log_joint(state, data, params)
        kept = {variable.name for variable in self.spec.variables}
        return {
            "Z1": cold["rows"].copy(),
            "Z2": cold["columns"].copy(),
            "theta": cold["theta"].copy(),
            **drawn_layers(cold, data["X"].shape, params),
            **{name: value for name, value in scalars.items() if name in kept},
        }

    def log_likelihood(
        self,
        chain: ChainView,
        draws: np.ndarray,
        data: ModelData,
        params: SettingsT,
        index: int,
        rows: np.ndarray,
        columns: np.ndarray | None,
    ) -> np.ndarray:
        assert columns is not None  # cells are the observations
        return log_density_of_cells(chain, draws, data["X"], rows, columns, more_of(params))

    def summarise(self, kept: Kept, data: ModelData, params: SettingsT) -> Results:
        return summarise_draws(kept, data, self.inferred_up_to(params), more_of(params))

    def validate(self, data: ModelData, params: SettingsT) -> Sequence[Problem]:
        return find_problems(data, params, self.most(params), *self.cap)

    def estimate(self, data: ModelData, params: SettingsT) -> Cost:
        return estimate_cost(data["X"], len(self.moves(params)), params)

    def trial_settings(self, **more: Any) -> SettingsT:
        """Settings at their defaults but for ``more``."""
        settings: Any = self.spec.check_params(more)
        found: SettingsT = settings
        return found

    def prepare(self) -> None:
        """Run a tiny sweep: every kernel has one signature, with or without missing cells.

        The comparison mode (row by row) compiles its own kernel, about 4 s, in the first sweep that uses it; noise with heavy tails
        has kernels of its own too, half a minute, which are compiled by the first start that needs them: most data do not.
        """
        self._compile("normal")

    def _compile_tails(self) -> None:
        """The kernels that take weights of cells, once in a process."""
        if type(self) not in _WITH_TAILS:
            _WITH_TAILS.add(type(self))  # before the start of the tiny sweep comes here again
            self._compile("t")

    def _compile(self, noise: str) -> None:
        """A tiny sweep with this noise."""
        rng = np.random.Generator(np.random.PCG64DXSM(0))
        values = read_only(rng.standard_normal((4, 3)))
        data = ModelData({"X": Block("X", values, read_only(np.ones((4, 3), bool)), None, ((), ()))})
        params = self.trial_settings(start="prior", noise=noise)
        state = self.init(data, params, rng)
        for _ in passes(self, state, data, params, rng, Clock(0, 0)):
            pass

    def simulate(
        self, params: SettingsT, shapes: Mapping[str, tuple[int, ...]], rng: np.random.Generator
    ) -> tuple[dict[str, np.ndarray], Fields]:
        """Memberships, hyper-parameters and data from the prior; lengths are in the unit of the data (``scale`` off)."""
        n_rows, n_columns = shapes["X"]
        constants: Constants = {
            "full": True,
            "centre": 0.0,
            "n_observed": float(n_rows * n_columns),
            "total": 0.0,
            "sum_squares": 0.0,
            "unit": 1.0,
            "background": params["background_mean"],
            "harmonics": float(harmonic(n_rows) * harmonic(n_columns)),
        }
        scalars = draw_scalars(rng, priors_of(params, constants, self.mass_prior(params, constants)))
        rows, columns = self.draw_memberships(params, (n_rows, n_columns), scalars["alpha"], rng)
        replica = new_replica(rows, columns, scalars)
        replica["theta"] = scalars["mu"] + rng.standard_normal(len(rows)) / math.sqrt(scalars["tau"])
        priors = profile_priors(params, constants)
        if priors is not None:
            replica["layers"] = draw_layers(rng, replica, (n_rows, n_columns), priors)
        elif params["effects"]:
            prior = effect_prior(params, constants)
            replica["effects"] = simulate_effects(rng, (n_rows, n_columns), prior)
        if params["noise"] == "t" and priors is None:
            replica["freedom"] = tail_prior(params).draw(rng)
        values = simulate_matrix(rng, replica)
        block = Block("X", read_only(values), read_only(np.ones(values.shape, bool)), None, ((), ()))
        constants = measure(block, params)
        count_cells(replica, cells_of(block, constants))
        return {"X": values}, new_state(block, constants, replica)

    def simulate_data(
        self,
        state: Fields,
        params: SettingsT,
        shapes: Mapping[str, tuple[int, ...]],
        rng: np.random.Generator,
    ) -> dict[str, np.ndarray]:
        return {"X": simulate_matrix(rng, state["replicas"]["0"])}

    def layout(self, data: ModelData, params: SettingsT) -> Layout:
        return layout_of_plaid(data["X"].shape, params["layer"] == "profile")

    def contradiction(self, state: Fields, data: ModelData, params: SettingsT) -> str:
        return wrong_copies(state, "replicas")

    def upgrade_state(self, state: State, from_version: int, data: ModelData, params: SettingsT) -> Fields:
        return (
            upgraded(state) if from_version == 1 else super().upgrade_state(state, from_version, data, params)
        )

    def refresh(self, state: Fields, data: ModelData, params: SettingsT) -> Fields:
        """New constants of the data and statistics of the blocks."""
        state["constants"] = measure(data["X"], params)
        cells = cells_of(data["X"], state["constants"])
        for replica in state["replicas"].values():
            count_cells(replica, cells)
        return state
