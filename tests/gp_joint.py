"""Geweke's joint-distribution test for the Gaussian process models.

Two ways to draw parameters and labels together: straight from the prior, and by turns (a sweep of the sampler given the
labels, then f, auxiliary variables and labels anew given the rest). Both have one law if the sweep leaves the posterior
as it is. Compared are means of bounded functions, in standard errors (batches for the second way).
"""

from __future__ import annotations

import math

import numpy as np

from plaidwork.core.api import Clock, ModelData
from plaidwork.core.api_tempering import new_swaps
from plaidwork.plugins.gp_auxiliary.classes.classify import Classes
from plaidwork.plugins.gp_auxiliary.classes.ordinal import OrderedClasses
from plaidwork.plugins.gp_auxiliary.classes.replica import Labels, add_flow
from plaidwork.plugins.gp_auxiliary.few_labels.model import SemiClasses
from plaidwork.plugins.gp_auxiliary.shared import hyper
from plaidwork.plugins.gp_auxiliary.shared.flow import NOWHERE, flow_of, new_reference
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior, draw_f

N_BATCHES = 40


def steps_of(prior: Prior, params) -> dict:
    """How theta moves, with walks of a size that is right for few samples."""
    steps = hyper.steps_of(prior, params)
    if "metric" in steps:
        steps["metric"]["log_step"] = math.log(0.25)  # short enough for every theta of the prior
    return steps | {"log_size": np.full(len(steps["log_size"]), math.log(1.5))}


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64DXSM(seed))


def drawing(prior: Prior) -> Prior:
    """The same prior, of which f can be drawn."""
    return Prior(prior.covariance, prior.x, prior.inducing, True)


def prior_f(rng: np.random.Generator, prior: Prior, theta: np.ndarray, rows: int) -> np.ndarray:
    """(K, N) f from the law that the precision stands for (of low rank: FITC)."""
    if prior.dense:
        values, vectors = np.linalg.eigh(prior.covariance.matrix(prior.x, theta))
        return (rng.standard_normal((rows, len(prior.x))) * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    gram = drawing(prior).gram(theta)
    g, own = gram["loadings"], 1 / gram["weight"] - 1
    noise = rng.standard_normal((rows, len(prior.x))) * np.sqrt(own)
    return rng.standard_normal((rows, g.shape[1])) @ g.T + noise


def z_scores(direct: np.ndarray, by_turns: np.ndarray) -> np.ndarray:
    """Differences of the means (draws, functions) in standard errors."""
    size = len(by_turns) // N_BATCHES
    batches = by_turns[: size * N_BATCHES].reshape(N_BATCHES, size, -1).mean(axis=1)
    error = np.sqrt(direct.var(axis=0) / len(direct) + batches.var(axis=0, ddof=1) / N_BATCHES)
    return (direct.mean(axis=0) - by_turns.mean(axis=0)) / np.maximum(error, 1e-12)


class ClassifierJoint:
    """The joint law of a classifier at given inputs; samples never fall into the null category."""

    def __init__(self, model, params, x, n_classes):
        self.model, self.x, self.n_classes = model, x, n_classes
        single = {"rungs": 1, "parameters": "inferred", "amplitude": 4.0, "gamma": 0.5} if model.semi else {}
        self.params = model.spec.check_params(single | params | {"standardise": False, "covariance": "rbf"})
        self.null = self.params.get("null_width", 0.0)
        self.semi = model.semi
        self.shares = self.semi and self.params["shares"] == "inferred"

    def state(self, theta, z, code, share):
        from plaidwork.plugins.gp_auxiliary.shared.frame import make_prior

        prior = make_prior(self.x, self.params, True)
        replica = {"z": z, "theta": theta, "log_share": np.log(share)} | prior.gram(theta)
        steps = steps_of(prior, self.params)
        fixed = {"x": self.x, "inducing": prior.inducing, "code": code, "n_classes": self.n_classes}
        fixed["gamma"] = self.params["gamma"]
        labels = Labels(code, self.n_classes)
        if labels.intervals and not self.semi:
            add_flow(replica, prior, self.params)
        state = {"fixed": fixed, "widths": np.array([self.null])}
        return state | {"rungs": {"0": replica}, "steps": {"0": steps}, "swaps": new_swaps(1)}

    def outside(self, z):
        """(N,) whether a sample lies in a class and not in the null category."""
        if len(z) == 1:
            return np.abs(z[0]) > self.null
        ordered = np.sort(z, axis=0)
        return ordered[-1] - ordered[-2] > self.null

    def label(self, rng, z, share):
        labels = Labels(np.zeros(z.shape[1], dtype=np.int64), self.n_classes)
        code = labels.winners(z)
        if self.semi:
            code = np.where(rng.random(len(code)) < share[code], -1, code)
        return code

    def direct(self, rng):
        from plaidwork.plugins.gp_auxiliary.shared.frame import make_prior

        prior = make_prior(self.x, self.params, False)
        law = prior.covariance
        rows = 1 if self.n_classes == 2 else self.n_classes
        while True:
            theta = law.prior_mean.copy()
            if self.params["parameters"] == "inferred":
                theta += law.prior_sd * rng.standard_normal(len(theta))
            share = np.full(max(self.n_classes, 2), 0.5)
            if self.shares:
                share = rng.random(self.n_classes)
            f = prior_f(rng, prior, theta, rows)
            z = f + rng.standard_normal(f.shape)
            if self.outside(z).all():
                return self.state(theta, z, self.label(rng, z, share), share)

    def again(self, rng, state):
        """f, then z and labels given f, in place."""
        replica = state["rungs"]["0"]
        prior = drawing(self.model.setting(state, self.params)[0])
        f = draw_f(rng, replica["z"], prior.gram(replica["theta"]))
        z = np.empty_like(f)
        left = np.ones(f.shape[1], dtype=bool)
        while left.any():
            z[:, left] = f[:, left] + rng.standard_normal((len(f), int(left.sum())))
            left[left] = ~self.outside(z[:, left])
        replica["z"][:] = z
        replica["place"] = NOWHERE
        state["fixed"]["code"] = self.label(rng, z, np.exp(replica["log_share"]))

    def functions(self, state):
        replica, code = state["rungs"]["0"], state["fixed"]["code"]
        z, theta = replica["z"], replica["theta"]
        values = [*np.tanh(theta / 2), *np.tanh(z.mean(axis=1) / 2), np.tanh((z**2).mean() / 8)]
        values += [np.tanh(z[0, 0] * z[0, 1] / 4), np.tanh(np.abs(z).max() / 4)]
        values += [float((code == k).mean()) for k in range(self.n_classes)] + [
            float((code[:2] == code[0]).mean())
        ]
        if self.shares:
            share = np.exp(replica["log_share"])
            winners = Labels(code, self.n_classes).winners(z)
            values += [*share, float((share[winners] * (code < 0)).mean())]
        return np.array(values)

    def run(self, seed, n_direct, n_turns):
        rng = generator(seed)
        direct = np.array([self.functions(self.direct(rng)) for _ in range(n_direct)])
        state = self.direct(rng)
        turns = []
        data = ModelData({})
        for _ in range(n_turns):
            self.again(rng, state)
            while self.model.step(state, data, self.params, rng, Clock(1, 0)) is None:
                pass  # z changes between sweeps only: a walk remembers the density where it stands
            turns.append(self.functions(state))
        return z_scores(direct, np.array(turns))


class OrdinalJoint:
    """The joint law of ordered classes at given inputs."""

    def __init__(self, model, params, x, n_classes, cut_step=0.7, joint_step=0.3):
        self.model, self.x, self.n_classes, self.steps = model, x, n_classes, (cut_step, joint_step)
        self.params = model.spec.check_params(params | {"standardise": False})

    def direct(self, rng):
        from plaidwork.plugins.gp_auxiliary.shared.frame import make_prior

        prior = make_prior(self.x, self.params, True)
        theta = prior.covariance.prior_mean.copy()
        if self.params["parameters"] == "inferred":
            theta += prior.covariance.prior_sd * rng.standard_normal(len(theta))
        n_cuts = self.n_classes - 1
        gaps = np.exp(self.params["cut_gap_sd"] * rng.standard_normal(n_cuts - 1))
        cuts = self.params["cut_sd"] * rng.standard_normal() + np.concatenate([[0.0], np.cumsum(gaps)])
        f = prior_f(rng, prior, theta, 1)[0]
        z = f + rng.standard_normal(len(f))
        state = {
            "fixed": {"x": self.x, "inducing": prior.inducing, "code": np.searchsorted(cuts, z)},
            "cuts": cuts, "z": z, "theta": theta, "cut_steps": hyper.new_steps(n_cuts, self.steps[0]),
            "joint_steps": hyper.new_steps(1, self.steps[1]), "steps": steps_of(prior, self.params),
        }  # fmt: skip
        state.update(prior.gram(theta))
        state["reference"] = new_reference(z)
        state["flow"] = flow_of(prior, theta, state, state["reference"])
        return state

    def again(self, rng, state):
        gram = drawing(self.model.setting(state, self.params)).gram(state["theta"])
        f = draw_f(rng, state["z"][None], gram)[0]
        state["z"][:] = f + rng.standard_normal(len(f))
        state["fixed"]["code"] = np.searchsorted(state["cuts"], state["z"])

    def functions(self, state):
        z, cuts, code = state["z"], state["cuts"], state["fixed"]["code"]
        values = [
            *np.tanh(state["theta"] / 2),
            *np.tanh(cuts / 3),
            np.tanh(z.mean() / 2),
            np.tanh((z**2).mean() / 8),
        ]
        values += [float((code == k).mean()) for k in range(self.n_classes)]
        values += [math.tanh((cuts[-1] - cuts[0]) / 4), float((code == code[0]).mean())]
        gap = cuts.mean() - z.mean()
        values += [math.tanh(gap**2 / 8), math.tanh(cuts.mean() * z.mean() / 4)]
        return np.array(values)

    run = ClassifierJoint.run


class RatersJoint:
    """The joint law of several raters at given inputs, who rate some of the objects (N, C) bool."""

    def __init__(self, model, params, x, rated, n_grades):
        self.model, self.x, self.n_grades = model, x, n_grades
        self.params = model.spec.check_params(params | {"standardise": False})
        self.item, self.rater = np.nonzero(rated)
        self.sizes = np.array([rated.shape[1], n_grades])
        self.free = (
            np.arange(rated.shape[1]) != 0 if self.params["reference"] else np.ones(rated.shape[1], bool)
        )

    def direct(self, rng):
        from plaidwork.plugins.gp_auxiliary.shared.frame import make_prior

        prior, params = make_prior(self.x, self.params, True), self.params
        theta = prior.covariance.prior_mean.copy()
        if params["parameters"] == "inferred":
            theta += prior.covariance.prior_sd * rng.standard_normal(len(theta))
        n_raters, n_cuts = self.sizes[0], self.n_grades - 1
        gaps = np.exp(self.params["cut_gap_sd"] * rng.standard_normal(n_cuts - 1))
        cuts = self.params["cut_sd"] * rng.standard_normal() + np.concatenate([[0.0], np.cumsum(gaps)])
        if params["cut_points"] == "fixed":
            cuts = params["gap"] * (np.arange(n_cuts) - 0.5 * (n_cuts - 1))
        state = {
            "fixed": {
                "x": self.x, "inducing": prior.inducing, "item": self.item, "rater": self.rater,
                "sizes": self.sizes, "free": self.free,
            },
            "offset": np.where(self.free, rng.standard_normal(n_raters), 0.0),
            "precision": rng.gamma(params["precision_shape"], size=n_raters) / params["precision_rate"],
            "f": prior_f(rng, prior, theta, 1)[0], "cuts": cuts, "theta": theta,
            "cut_steps": hyper.new_steps(n_cuts, 0.7), "joint_steps": hyper.new_steps(1, 0.5),
            "steps": steps_of(prior, self.params),
        }  # fmt: skip
        if params["moves"] == "hamiltonian":
            state["rater_steps"] = hyper.new_steps(2 * n_raters, 0.7)
        self.again(rng, state)
        return state

    def again(self, rng, state):
        """q and the ratings given the rest, in place."""
        centre = state["f"][self.item] + state["offset"][self.rater]
        state["q"] = centre + rng.standard_normal(len(centre)) / np.sqrt(state["precision"][self.rater])
        state["fixed"]["code"] = np.searchsorted(state["cuts"], state["q"])
        self.model._weigh(state, self.model.law(state, self.params))

    def functions(self, state):
        offset, log_g, cuts, f = state["offset"], np.log(state["precision"]), state["cuts"], state["f"]
        code = state["fixed"]["code"]
        values = [*np.tanh(state["theta"] / 2), *np.tanh(cuts / 3), *np.tanh(offset), *np.tanh(log_g)]
        values += [math.tanh(f.mean() / 2), math.tanh((f**2).mean() / 8), math.tanh(f[0] * f[1] / 4)]
        values += [
            math.tanh((offset**2).mean()),
            math.tanh((log_g**2).mean()),
            math.tanh(offset[0] * offset[1]),
        ]
        values += [float((code == k).mean()) for k in range(self.n_grades)] + [
            float((code == code[0]).mean())
        ]
        values += [math.tanh(np.ptp(cuts) / 4), math.tanh(cuts[0] * f.mean() / 4)]
        values += [
            math.tanh(offset.sum() * f.mean()),
            math.tanh(log_g.mean() * math.log(1e-3 + np.ptp(cuts))),
        ]
        rest = (
            np.abs(state["q"] - f[self.item] - offset[self.rater]) * np.sqrt(state["precision"])[self.rater]
        )
        return np.array([*values, np.tanh(rest).mean(), np.tanh(rest.max() / 3)])

    run = ClassifierJoint.run


BASE = {"moves": "walk", "metric": "draws", "walks": 3, "intercept": False}
HAMILTONIAN = BASE | {"moves": "hamiltonian"}
FIXED = {"parameters": "fixed"}
"""The covariance is dense and f is moved as a whole; where a dense one is inferred, z is swept site by site."""
FAR = {"parameters": "fixed", "intercept": False, "amplitude": 1.0, "gamma": 0.1}
"""For three samples whose cut-points take long steps: there a wrong order of the updates shows most (of many samples the
cut-points hardly move in a sweep, so that a stale z is hardly stale)."""
SITES = {"site_sweeps": 1}
NARROW = {"cut_sd": 0.8, "cut_gap_sd": 0.4}
NULL = {"null_width": 0.6, "shares": "inferred"}


def inputs(size: int) -> np.ndarray:
    return np.ascontiguousarray(np.random.default_rng(0).standard_normal((size, 2)))


def joint(name: str) -> ClassifierJoint | OrdinalJoint:
    low = {"form": "inducing", "inducing": 3}
    return {
        "two classes": lambda: ClassifierJoint(Classes(), BASE | SITES, inputs(6), 2),
        "two classes, inducing points": lambda: ClassifierJoint(Classes(), BASE | SITES | low, inputs(6), 2),
        "two classes, moves of f": lambda: ClassifierJoint(Classes(), BASE | FIXED, inputs(6), 2),
        "two classes, trajectories": lambda: ClassifierJoint(Classes(), HAMILTONIAN, inputs(6), 2),
        "two classes, trajectories, inducing points": lambda: ClassifierJoint(
            Classes(), HAMILTONIAN | low, inputs(6), 2
        ),
        "three classes, trajectories": lambda: ClassifierJoint(Classes(), HAMILTONIAN | SITES, inputs(5), 3),
        "four classes, trajectories": lambda: ClassifierJoint(Classes(), HAMILTONIAN | SITES, inputs(5), 4),
        "ordered, trajectories": lambda: OrdinalJoint(OrderedClasses(), HAMILTONIAN, inputs(6), 3),
        "null category": lambda: ClassifierJoint(SemiClasses(), BASE | SITES | NULL, inputs(4), 2),
        "three classes": lambda: ClassifierJoint(Classes(), BASE | SITES, inputs(5), 3),
        "three classes, null": lambda: ClassifierJoint(SemiClasses(), BASE | SITES | NULL, inputs(3), 3),
        "ordered": lambda: OrdinalJoint(OrderedClasses(), BASE, inputs(6), 3),
        "ordered, narrow priors": lambda: OrdinalJoint(OrderedClasses(), BASE | NARROW, inputs(6), 3),
        "ordered, far cuts": lambda: OrdinalJoint(OrderedClasses(), FAR, inputs(3), 3, 2.0),
        "ordered, far shifts": lambda: OrdinalJoint(OrderedClasses(), FAR, inputs(3), 3, 2.0, 1.5),
        "ordered, inducing points": lambda: OrdinalJoint(OrderedClasses(), BASE | low, inputs(6), 3),
    }[name]()
