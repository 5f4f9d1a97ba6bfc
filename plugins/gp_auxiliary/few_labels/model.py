"""Classification with unlabelled samples: the null category noise model, tempered over the width of that category."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar

import numpy as np
from scipy.spatial.distance import pdist

from plaidwork.core.api import (
    Clock,
    Cost,
    Kept,
    Layout,
    ModelData,
    ModelSpec,
    Part,
    Problem,
    Results,
    Stage,
)
from plaidwork.core.api_tempering import new_swaps, swap_rates
from plaidwork.plugins.gp_auxiliary.classes.classify import Classes
from plaidwork.plugins.gp_auxiliary.classes.replica import Labels
from plaidwork.plugins.gp_auxiliary.few_labels.problems import label_problems, width_problem
from plaidwork.plugins.gp_auxiliary.few_labels.spec import SEMI
from plaidwork.plugins.gp_auxiliary.few_labels.tempering import (
    covariances_of_labelled,
    draw_rest,
    explore,
    ladder,
    likelihood_seconds,
    precision_of_labelled,
    redraw_z,
    root_of_copy,
    root_of_prior,
    slice_seconds,
    swap_and_space,
    sweep_labelled,
)
from plaidwork.plugins.gp_auxiliary.few_labels.turning import (
    MOST_MAPPED,
    MOST_STEPS,
    leap_seconds,
    map_of,
    new_turns,
    run_rounds,
    turn,
)
from plaidwork.plugins.gp_auxiliary.shared import hyper
from plaidwork.plugins.gp_auxiliary.shared.frame import Frame, with_classes_of
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior, draw_f, is_dense
from plaidwork.plugins.gp_auxiliary.shared.state import ClassesFields, Replica
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import ClassesSettings

NEAR = 0.1
"""Share of all pairs of samples that are nearer than the length of the covariance."""
_LOOKED_AT = 1500
"""Samples from which the length is taken: as many, evenly spaced in their order."""

COSTLIER = 2
"""About how many times as much a round costs of three classes as of two: they make as many fewer of them a sweep."""
MOST_TURNED = 3
"""Classes up to which f makes trajectories."""
_OF_A_COPY = 7e-4
"""Seconds that the steps of a sweep of a copy take beside their kernels."""
_FEW_SWEEPS = 10
"""Sweeps over the labelled samples alone, each far cheaper than one over all."""


def near_length(x: np.ndarray) -> float:
    """Distance below which a tenth of all pairs of samples x (N, D) are; 1 where that is 0.

    The short end of the range that Caputo, Sim, Furesjo and Smola (2002) give for a squared exponential covariance: long
    enough for a cluster to be one, short enough for f to change between two.
    """
    every = max(1, math.ceil(len(x) / _LOOKED_AT))
    apart = pdist(x[::every])
    length = float(np.quantile(apart, NEAR)) if len(apart) else 1.0
    return length if length > 0 else 1.0


def with_length(params: ClassesSettings, x: np.ndarray) -> ClassesSettings:
    """The settings with gamma from the samples where it is to come from them.

    Of more than two inputs the length is (D / 2)^(1/4) times that of the pairs: all distances are alike there, and with the shorter one f
    leaves a class as soon as it is away from the few labelled samples (NOTES.md).
    """
    more = max(1.0, x.shape[1] / 2.0) ** 0.25 if params.get("many_inputs") else 1.0
    return {**params, "gamma": params["gamma"] or (more * near_length(x)) ** -2}


class SemiClasses(Classes):
    """Null category noise model for two classes (page, section 2.3) or more (2.5), with parallel tempering."""

    spec: ClassVar[ModelSpec] = SEMI
    semi: ClassVar[bool] = True

    def draw_layout(self, data: ModelData, params: ClassesSettings) -> Layout:
        return {"copy": Part(low=0, below="rung")}

    def setting(self, state: ClassesFields, params: ClassesSettings) -> tuple[Prior, Labels, np.ndarray]:
        return super().setting(state, {**params, "gamma": state["fixed"]["gamma"]})

    def frame(self, data: ModelData, params: ClassesSettings) -> Frame:
        frame = super().frame(data, params)
        further = params["classes"] == "all" and "truth" in data
        return with_classes_of(frame, data["truth"]) if further else frame

    def filled(self, data: ModelData, params: ClassesSettings) -> ClassesSettings:
        return with_length(params, self.frame(data, params).fitted)

    def init(self, data: ModelData, params: ClassesSettings, rng: np.random.Generator) -> ClassesFields:
        filled = self.filled(data, params)
        state = super().init(data, filled, rng)
        state["fixed"]["gamma"] = filled["gamma"]
        if self._turns(state, params):
            state["turns"] = new_turns(len(state["widths"]))
        return {**state, "swaps": new_swaps(len(state["widths"]))}

    def _start(self, state: ClassesFields, params: ClassesSettings) -> list[Stage]:
        """What the first sweep begins with where the covariance is fixed: its root, and the map of the trajectories."""
        fixed, first = state["fixed"], state["rungs"]["0"]
        wanted = [
            name
            for name, needed in (("root", is_dense(first)), ("map", self._turns(state, params)))
            if needed
        ]
        copies = params["parameters"] == "fixed" and len(state["widths"]) > 1
        if not copies or all(name in fixed for name in wanted):
            return []

        def work(lo: int, hi: int) -> None:
            for name in wanted[lo:hi]:
                if name == "root":
                    root = root_of_prior(self.setting(state, params)[0], first)
                    assert root is not None
                    fixed["root"] = root
                else:
                    fixed["map"] = map_of(fixed["root"] if is_dense(first) else root_of_copy(first))

        return [Stage("root of the covariance", work, len(wanted), 1)]

    @staticmethod
    def _turns(state: ClassesFields, params: ClassesSettings) -> bool:
        """Whether f makes trajectories: copies of two classes, whose labels name sides; of three where one map serves all."""
        if len(state["widths"]) == 1 or not params["trajectories"]:
            return False
        if int(state["fixed"]["n_classes"]) == 2:
            return is_dense(state["rungs"]["0"])
        one_map = params["parameters"] == "fixed" and len(state["fixed"]["x"]) <= MOST_MAPPED
        return int(state["fixed"]["n_classes"]) == 3 and params["of_three"] == "trajectories" and one_map

    def _move_f(
        self, state: ClassesFields, params: ClassesSettings, rng: np.random.Generator, m: int, warming: bool
    ) -> np.ndarray:
        """f (K, N) of the copy at rung m, drawn given z and then moved with z integrated out where there is a null category."""
        prior, labels, widths = self.setting(state, params)
        copy, fixed = state["rungs"][str(m)], state["fixed"]
        f = draw_f(rng, copy["z"], copy)
        if widths[m] == 0 and "maps" not in state:
            return f
        root = fixed["root"] if "root" in fixed else root_of_prior(prior, copy)
        if "turns" in state and ("map" in fixed or root is not None):
            rows = map_of(root) if root is not None and "map" not in fixed else fixed["map"]
            if "maps" in state:
                state["maps"][m], copy["map_at"] = rows, m
                if widths[m] == 0:
                    return f
            count = params["trajectories"]
            turn(rng, f, copy, rows, labels, widths[m], state["turns"], m, count, warming)
            return f
        return explore(rng, f, copy, root, labels, widths[m], params["slices"]) if params["slices"] else f

    def _anew(
        self, state: ClassesFields, rng: np.random.Generator, prior: Prior, labels: Labels, seconds: float
    ) -> Stage:
        """z of the copy without null category drawn anew, which takes so long with the labelled samples left out."""
        rungs, known = state["rungs"], state["fixed"].get("root")
        parts = 1 if known is None and is_dense(rungs["0"]) else 4  # a root is not made twice

        def work(lo: int, hi: int) -> None:
            root = root_of_prior(prior, rungs["0"]) if known is None else known
            self._draw_anew(state, rng, root, labels, range(lo, 4 if hi == parts else hi))

        seconds += _labelled_seconds(rungs["0"], int((~labels.free).sum()))
        return Stage("copy without null category", work, parts, hyper.a_slice(seconds / parts))

    @staticmethod
    def _draw_anew(
        state: ClassesFields, rng: np.random.Generator, root: np.ndarray | None, labels: Labels, parts: range
    ) -> None:
        """Some of the four parts of drawing z of the copy without null category, of the last of which nothing remains."""
        copy = state["rungs"]["0"]
        if 0 in parts:
            state["labelled"] = covariances_of_labelled(copy, root, labels)
        if 1 in parts:
            precision_of_labelled(labels, state["labelled"])
        if 2 in parts:
            sweep_labelled(rng, copy, labels, state["labelled"], _FEW_SWEEPS)
        if 3 in parts:
            draw_rest(rng, copy, root, labels, state.pop("labelled"))

    def _further_rounds(
        self,
        state: ClassesFields,
        params: ClassesSettings,
        rng: np.random.Generator,
        warming: bool,
        units: tuple[int, int],
    ) -> None:
        """More trajectories of all copies and swaps, f going on where it is."""
        _prior, labels, widths = self.setting(state, params)
        rungs, size = state["rungs"], len(widths)
        rows, which = state.get("maps"), np.zeros(size, dtype=np.int64)
        if rows is None:
            rows = state["fixed"]["map"][None]
        else:
            which[:] = [rungs[str(m)]["map_at"] for m in range(size)]
        f = np.stack([state["f"][str(m)] for m in range(size)])
        count, swaps = params["trajectories"], state["swaps"]
        order = run_rounds(
            rng, f, rungs, rows, which, labels, widths, state["turns"], swaps, count, warming, units
        )
        copies = [rungs[str(source)] for source in order]
        rungs.update({str(m): copy for m, copy in enumerate(copies)})
        state["f"] = {str(m): f[source].copy() for m, source in enumerate(order)}
        swaps["label"] = swaps["label"][order]

    def stages(
        self,
        state: ClassesFields,
        data: ModelData,
        params: ClassesSettings,
        rng: np.random.Generator,
        clock: Clock,
    ) -> list[Stage]:
        """The copies one by one, then what they do together: f of all, swaps, z of all. ``state["f"]`` holds f between."""
        found = super().stages(state, data, params, rng, clock)
        prior, labels, widths = self.setting(state, params)
        if len(widths) == 1:
            return found
        found = [*self._start(state, params), *found]
        rungs, known = state["rungs"], state["fixed"].get("root")

        def move(lo: int, hi: int) -> None:
            for m in range(lo, hi):
                state["f"][str(m)] = self._move_f(state, params, rng, m, clock.warming)

        given = bool(params["given_widths"].strip())

        def swap(lo: int, hi: int) -> None:
            f = [state["f"][str(m)] for m in range(len(widths))]
            f = swap_and_space(rng, rungs, f, widths, labels, state["swaps"], clock, given)
            state["f"] = {str(m): own for m, own in enumerate(f)}

        def further(lo: int, hi: int) -> None:
            self._further_rounds(state, params, rng, clock.warming, (lo, hi))

        def redraw(lo: int, hi: int) -> None:
            for m in range(lo, hi):
                redraw_z(rng, rungs[str(m)], state["f"][str(m)], m, widths, labels)

        first, count = rungs["0"], len(widths)
        root = hyper.walk_seconds(first) if known is None else 0.0
        sites = _site_seconds(len(first["z"][0]), labels.n_classes)
        draw = len(first["z"]) * hyper.pass_seconds(first)
        moves = MOST_STEPS * params["trajectories"] if "turns" in state else params["slices"]
        ellipses = root + (1 + moves) * (draw + sites)
        if params["shares"] == "equal" and widths[0] == 0:
            found.append(self._anew(state, rng, prior, labels, root + draw + sites))
        found += [
            Stage("latent functions", move, count, hyper.a_slice(ellipses), partial(_begin, state, params)),
            Stage("swaps", swap, 1, hyper.a_slice(4 * count * sites)),
        ]
        again = (count + 1) * (_rounds(state, params) - 1)
        if again:
            trajectories = (1 + moves) * leap_seconds(len(first["z"][0]), len(first["z"]))
            found.append(Stage("further rounds", further, again, hyper.a_slice(trajectories)))
        return [
            *found,
            Stage("auxiliary variables", redraw, count, hyper.a_slice(sites), end=partial(_forget, state)),
        ]

    def traces(self, state: ClassesFields, data: ModelData, params: ClassesSettings) -> dict[str, float]:
        _prior, labels, _widths = self.setting(state, params)
        swaps, several = state["swaps"], len(state["widths"]) > 1
        winners = labels.winners(self.cold(state)["z"])[labels.free]
        return super().traces(state, data, params) | {
            "swap": float(swap_rates(swaps).min()) if several and swaps["tried"].all() else math.nan,
            "returned": float(swaps["trips"].sum() * _rounds(state, params) / swaps["tried"][0])
            if several and swaps["tried"][0]
            else math.nan,
            "upper": float((winners > 0).mean()) if len(winners) else math.nan,
        }

    def draws(self, state: ClassesFields, data: ModelData, params: ClassesSettings) -> Mapping[str, object]:
        swaps = state["swaps"]
        return {
            **super().draws(state, data, params),
            "width": state["widths"].copy(),
            "copy": swaps["label"].copy(),
            "swap_rate": swap_rates(swaps),
            "trips": swaps["trips"].copy(),
        }

    def validate(self, data: ModelData, params: ClassesSettings) -> Sequence[Problem]:
        wrong = width_problem(params)
        if wrong:
            return [wrong]
        found = list(super().validate(data, params))
        if any(problem.severity == "error" for problem in found):
            return found
        return [*found, *label_problems(self.frame(data, params))]

    def estimate(self, data: ModelData, params: ClassesSettings) -> Cost:
        """Beside the copies of the plain model: the labels' probabilities at four widths, z once more, and moves of f."""
        cost = super().estimate(data, params)
        frame, copies = self.frame(data, params), len(ladder(params))
        size, n_classes = int(frame.used.sum()), len(frame.classes)
        if n_classes > MOST_TURNED:
            slices = params["slices"] if copies > 1 else 0
            each = _OF_A_COPY + (params["site_sweeps"] + 1) * _site_seconds(size, n_classes)
            each += 4 * likelihood_seconds(size, n_classes) + slices * slice_seconds(size, n_classes)
            return Cost(cost.memory, cost.seconds_per_sweep + copies * each)
        each = (params["site_sweeps"] + 4) * _site_seconds(size, n_classes)
        n_rows = 1 if n_classes == 2 else n_classes
        if copies > 1 and (n_rows == 1 or (n_rows == 3 and params["of_three"] == "trajectories")):
            leaps = 5 * params["trajectories"] * leap_seconds(size, n_rows)
            each += params["rounds"] / (1 if n_rows == 1 else COSTLIER) * (leaps + 1.2e-7 * n_rows**2 * size)
        return Cost(cost.memory, cost.seconds_per_sweep + copies * each)

    def summarise(self, kept: Kept, data: ModelData, params: ClassesSettings) -> Results:
        from plaidwork.plugins.gp_auxiliary.few_labels.results import summarise_semi

        frame = self.frame(data, params)
        return summarise_semi(kept, frame, data, self.filled(data, params))


def _begin(state: ClassesFields, params: ClassesSettings) -> None:
    """Room for f of all copies, and for the maps of their trajectories where rounds share them."""
    state["f"] = {}
    if _rounds(state, params) > 1 and "map" not in state["fixed"]:
        size = len(state["fixed"]["x"])
        state["maps"] = np.zeros((len(state["widths"]), size, size))  # it is stored before all are filled
        for copy in state["rungs"].values():
            copy["map_at"] = -1  # copies of low rank have none


def _forget(state: ClassesFields) -> None:
    """Nothing of it is left after the sweep."""
    del state["f"]
    if state.pop("maps", None) is not None:
        for copy in state["rungs"].values():
            del copy["map_at"]


def _rounds(state: ClassesFields, params: ClassesSettings) -> int:
    """How often in a sweep f of all copies moves and neighbours try to swap."""
    if "turns" not in state:
        return 1
    return params["rounds"] if int(state["fixed"]["n_classes"]) == 2 else max(1, params["rounds"] // COSTLIER)


def _labelled_seconds(copy: Replica, count: int) -> float:
    """About how long the covariances with ``count`` labelled samples take, and the precision of their z."""
    size, rank = copy["rows"].shape
    return 1.5e-10 * size * rank * count + 2e-10 * count**3


def _site_seconds(size: int, n_classes: int) -> float:
    """About how long z of so many samples takes."""
    return size * (1e-6 * n_classes if n_classes > MOST_TURNED else 3e-7 * (max(n_classes, 2) ** 2 - 3))
