"""One copy of a chain of a classifier: its auxiliary variables, covariance and class shares, and one sweep of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from plaidwork.plugins.gp_auxiliary.kernels import sites
from plaidwork.plugins.gp_auxiliary.shared import flow, hyper, together
from plaidwork.plugins.gp_auxiliary.shared.given_f import (
    draw_intervals,
    draw_winners,
    log_intervals,
    log_winners,
)
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior, is_dense, work_of
from plaidwork.plugins.gp_auxiliary.shared.state import Gram, Replica, Sites, Steps
from plaidwork.plugins.gp_auxiliary.shared.summands import stretch_f
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import ClassesSettings


@dataclass(frozen=True, slots=True)
class Labels:
    """What the labels say of z.

    Attributes
    ----------
    code : (N,) class, -1 without a label.
    n_classes : two classes have one row of z (positive for class 1), more have a row each, of which the class's leads.
    """

    code: np.ndarray
    n_classes: int

    @property
    def n_rows(self) -> int:
        return 1 if self.n_classes == 2 else self.n_classes

    @property
    def free(self) -> np.ndarray:
        return self.code < 0

    def ends(self, null: float) -> tuple[np.ndarray, np.ndarray]:
        """Two classes: low and high end of z (N,) of every sample."""
        low = np.where(self.code == 1, null, -np.inf)
        high = np.where(self.code == 0, -null, np.inf)
        return low, high

    @property
    def intervals(self) -> bool:
        """Whether every label names an interval of one value, so that f can be moved with z integrated out."""
        return self.n_rows == 1 and not self.free.any()

    def start(self, rng: np.random.Generator, null: float) -> np.ndarray:
        """(K, N) values in the labels' regions."""
        size = np.abs(rng.standard_normal((self.n_rows, len(self.code))))
        code = np.where(self.free, rng.integers(self.n_classes, size=len(self.code)), self.code)
        if self.n_rows == 1:
            return (size + null) * np.where(code == 1, 1.0, -1.0)
        z = -size
        z[code, np.arange(len(code))] = size[code, np.arange(len(code))] + null
        return z

    def winners(self, z: np.ndarray) -> np.ndarray:
        """(N,) class that z (K, N) speaks for."""
        return (z[0] > 0).astype(np.int64) if self.n_rows == 1 else z.argmax(axis=0)

    def sweep(self, rng: np.random.Generator, replica: Sites, times: int, null: float) -> None:
        """Draw all of z anew ``times`` times, one sample after the other, f integrated out."""
        low, high = self.ends(null)
        sites.sweep_many(
            rng, times, replica["z"], work_of(replica["z"], replica), replica["rows"], replica["diagonal"],
            replica["weight"], is_dense(replica), self.code, low, high, self.free, null, replica["log_share"],
        )  # fmt: skip

    def redraw(self, rng: np.random.Generator, replica: Sites, f: np.ndarray, null: float) -> None:
        """Draw z given f (K, N)."""
        z, share = replica["z"], replica["log_share"]
        if self.n_rows == 1:
            draw_intervals(rng, f[0], z[0], *self.ends(null), self.free, null, share[0], share[1])
        else:
            draw_winners(rng, f, z, self.code, null, share)

    def log_likelihood(self, log_share: np.ndarray, null: float) -> Callable[[np.ndarray], float]:
        """The function of f (K, N) that is the log probability of the labels given f, z integrated out; shares of
        labelled samples left out."""
        if self.n_rows == 1:
            low, high = self.ends(null)
            free, minus, plus = self.free, float(log_share[0]), float(log_share[1])
            return lambda f: log_intervals(f[0], low, high, free, null, minus, plus)
        return lambda f: log_winners(f, self.code, null, log_share)


def new_replica(
    rng: np.random.Generator, theta: np.ndarray, gram: Gram, labels: Labels, null: float
) -> Replica:
    """A start on the labels' sides at the given parameters (P,) with their precision, which copies may share."""
    share = np.full(max(labels.n_classes, 2), math.log(0.5))
    return {"z": labels.start(rng, null), "theta": theta.copy(), "log_share": share, **gram}


def draw_shares(rng: np.random.Generator, replica: Replica, labels: Labels) -> None:
    """Share of missing labels in each class: ``Beta(1 + unlabelled, 1 + labelled)`` given who is where."""
    winners = labels.winners(replica["z"])
    for k in range(labels.n_classes):
        missing = int(((winners == k) & labels.free).sum())
        known = int((labels.code == k).sum())
        replica["log_share"][k] = math.log(max(rng.beta(1.0 + missing, 1.0 + known), 1e-300))


def sweep_replica(
    rng: np.random.Generator,
    replica: Replica,
    prior: Prior,
    labels: Labels,
    null: float,
    steps: Steps,
    params: ClassesSettings,
    warming: bool,
    lo: int,
    hi: int,
) -> None:
    """Moves of f, or site sweeps with scale moves where the regions are cones and a stretch of f; shares; and the work on
    the covariance's parameters.

    ``lo``, ``hi`` are the parts of the sweep to do: part 0 is all that goes before the steps, of which each is a part.
    """
    if lo == 0:
        if "flow" in replica and len(replica["flow"]["map"]):
            _move_f(rng, replica, prior, labels, null, params["trajectories"], warming)
        else:
            labels.sweep(rng, replica, params["site_sweeps"], null)
        apart = params.get("stretch") in ("summands", "trajectories")
        if "metric" in steps and params["parameters"] == "inferred" and (apart or "flow" not in replica):
            _move_with_theta(rng, replica, prior, labels, null, steps, apart, warming)
        if params.get("shares") == "inferred":
            draw_shares(rng, replica, labels)
        steps["current"][0] = math.nan
    first, last = max(lo - 1, 0), hi - 1
    if first == last:
        return
    # Theta moves with f integrated out, so that the f of before is stale even where theta stays.
    replica["place"] = flow.NOWHERE
    moved = hyper.move_theta(rng, replica["theta"], replica["z"], prior, steps, warming, first, last)
    if moved or ("metric" in steps and last == hyper.moves_of(params)):  # a stretch may have moved it before
        replica.update(prior.gram(replica["theta"]))
        if "flow" in replica:
            _set_flow(replica, prior, params)


def steps_with_f(prior: Prior, params: ClassesSettings, labels: Labels) -> Steps:
    """How the parameters of the covariance are moved, by themselves and with f; nothing tried yet."""
    steps = hyper.steps_of(prior, params)
    wanted = together.wanted(params, len(prior.x), labels.n_classes)
    if wanted and "metric" in steps and prior.dense and not labels.free.any():
        steps["together"] = together.new_together(prior)
    return steps


def _move_with_theta(
    rng: np.random.Generator,
    replica: Replica,
    prior: Prior,
    labels: Labels,
    null: float,
    steps: Steps,
    apart: bool,
    warming: bool,
) -> None:
    """f given z, moved or stretched with theta, and z given f. With ``apart`` by its summands."""
    log_likelihood, theta = labels.log_likelihood(replica["log_share"], null), replica["theta"]
    if "together" in steps:
        terms = together.Terms(labels.code, *labels.ends(null), log_likelihood)
        f = together.move_f(rng, replica["z"], replica, theta, prior, terms, steps["together"], warming)
    else:
        f = stretch_f(rng, replica["z"], replica, theta, prior, log_likelihood, apart)
    labels.redraw(rng, replica, f, null)


def add_flow(replica: Replica, prior: Prior, params: ClassesSettings) -> None:
    """What it takes to move f with z integrated out, for labels that name intervals."""
    replica["reference"] = flow.new_reference(replica["z"][0])
    replica["place"] = flow.NOWHERE
    _set_flow(replica, prior, params)


def _set_flow(replica: Replica, prior: Prior, params: ClassesSettings) -> None:
    """The map of the moves, except where theta walks: a new dense map costs more than it gains for such small steps.
    There z is swept site by site."""
    costly = is_dense(replica) and params["parameters"] == "inferred" and params.get("moves") == "walk"
    made = flow.NO_FLOW if costly else flow.flow_of(prior, replica["theta"], replica, replica["reference"])
    replica["flow"] = {**made}


def _move_f(
    rng: np.random.Generator,
    replica: Replica,
    prior: Prior,
    labels: Labels,
    null: float,
    count: int,
    warming: bool,
) -> None:
    """f given z where it is not known, f with z integrated out, z given f."""
    reference, z = replica["reference"], replica["z"][0]
    if warming and flow.learn(reference):
        replica["flow"] = flow.flow_of(prior, replica["theta"], replica, reference)
        replica["place"] = flow.NOWHERE
    if not len(replica["place"]):
        replica["place"] = flow.place_of(rng, z, replica, replica["flow"])
    flow.move(rng, replica["place"], z, labels.ends(null), replica["flow"], reference, warming, count)
