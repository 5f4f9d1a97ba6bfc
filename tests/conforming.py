"""Right models in plain numpy, which the conformance suite must pass; its tests plant faults in them."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import (
    Choice,
    Cost,
    Hyperparameter,
    Input,
    Model,
    ModelError,
    ModelSpec,
    Problem,
    Result,
    Schedule,
    Stage,
    Table,
    Trace,
    Trial,
    Variable,
    View,
)


def read(data):
    """Values and known cells of the input."""
    return data["X"].values, data["X"].observed


class Means(Model):
    """Columns are normal around means of their own with one precision; Gibbs, each sweep in two slices."""

    spec = ModelSpec(
        id="right.means",
        version="1.0",
        title="Means",
        summary="Column means.",
        inputs=(
            Input("X", dims=("sample", "feature"), missing=True, holdout="cells"),
            Input("weights", "vector", dims=("sample",), required=False),
        ),
        hyperparameters=(
            Hyperparameter("spread", "float", 2.0, minimum=0.0, open_minimum=True, maximum=1e4),
            Hyperparameter("shape", "float", 3.0, minimum=0.5, maximum=100.0),
            Hyperparameter(
                "start",
                "choice",
                "zero",
                choices=(Choice(value="zero", label="0"), Choice(value="mean", label="m")),
            ),
            Hyperparameter("shift", "array", (0.0,), when={"start": "mean"}),
        ),
        variables=(Variable("mean", ("feature",)), Variable("tau"), Variable("above", ("feature",), "bool")),
        traces=(Trace("lp", primary=True, goal="up"), Trace("tau"), Trace("above", kind="share")),
        views=(
            View("bars", "Means", "mean"),
            View("table", "Table", "table", headline="words"),
            View("heatmap", "Data", "data:X"),
        ),
        schedule=Schedule(chains=2, warmup=20, draws=50),
    )
    trials = (Trial(shapes={"X": (5, 2)}, missing=0.2, warmup=20, thin=2),)

    def init(self, data, params, rng):
        x, known = read(data)
        mean = np.zeros(x.shape[1])
        if params["start"] == "mean":
            if len(params["shift"]) != 1:
                raise ModelError("One shift is needed.")
            mean = x.sum(axis=0) / np.maximum(known.sum(axis=0), 1) + params["shift"][0]
        return {"mean": mean, "tau": 1.0, "half": False}

    def step(self, state, data, params, rng, clock):
        x, known = read(data)
        if not state["half"]:
            self.draw_mean(state, x, known, params, rng)
            state["half"] = True
            return None
        state["half"] = False
        self.draw_tau(state, x, known, params, rng)
        return self.numbers(state, x, known)

    def draw_mean(self, state, x, known, params, rng):
        precision = params["spread"] ** -2 + state["tau"] * known.sum(axis=0)
        centre = state["tau"] * x.sum(axis=0) / precision
        state["mean"] = centre + rng.standard_normal(len(centre)) / np.sqrt(precision)

    def draw_tau(self, state, x, known, params, rng):
        square = float((known * (x - state["mean"]) ** 2).sum())
        state["tau"] = max(float(rng.gamma(params["shape"] + known.sum() / 2)) / (2.0 + square / 2), 1e-300)

    def numbers(self, state, x, known):
        square = float((known * (x - state["mean"]) ** 2).sum())
        lp = 0.5 * known.sum() * np.log(state["tau"]) - 0.5 * state["tau"] * square
        return {"lp": float(lp), "tau": state["tau"], "above": float((state["mean"] > 0).mean())}

    def draws(self, state, data, params):
        return {"mean": state["mean"].copy(), "tau": state["tau"], "above": state["mean"] > 0}

    def summarise(self, kept, data, params):
        mean = np.concatenate([chain.stack("mean") for chain in kept.chains])
        return {
            "mean": Result(mean.mean(axis=0), ("feature",)),
            "table": Table({"Column": np.array(data["X"].names[1]), "Mean": mean.mean(axis=0)}),
            "words": f"**{len(mean)}** draws",
        }

    def validate(self, data, params):
        if not data["X"].observed.any():
            return [Problem("Nothing is known.", where="X")]
        return []

    def estimate(self, data, params):
        return Cost(8.0 * data["X"].values.size, 1e-9 * data["X"].values.size)

    def predict(self, kept, data, new_data, params):
        mean = np.concatenate([chain.stack("mean") for chain in kept.chains]).mean(axis=0)
        return {"X": Result(np.broadcast_to(mean, new_data["X"].shape), ("sample", "feature"))}

    def simulate(self, params, shapes, rng):
        mean = params["spread"] * rng.standard_normal(shapes["X"][1])
        state = {"mean": mean, "tau": float(rng.gamma(params["shape"])) / 2.0, "half": False}
        return self.simulate_data(state, params, shapes, rng), state

    def simulate_data(self, state, params, shapes, rng):
        return {"X": state["mean"] + rng.standard_normal(shapes["X"]) / np.sqrt(state["tau"])}


class Bound(Model):
    """The same by mean-field variational inference: q(mean) q(tau), with the whole bound."""

    spec = ModelSpec(
        id="right.bound",
        version="1.0",
        title="Bound",
        summary="Column means.",
        algorithm="variational",
        inputs=(Input("X", dims=("sample", "feature")),),
        variables=(Variable("mean", ("feature",)), Variable("tau")),
        traces=(Trace("elbo", primary=True, goal="up"),),
        views=(View("bars", "Means", "mean"),),
        schedule=Schedule(chains=2, max_sweeps=100),
    )
    spread, shape, rate = 2.0, 3.0, 2.0

    def init(self, data, params, rng):
        n_columns = data["X"].shape[1]
        return {
            "centre": rng.standard_normal(n_columns),
            "variance": np.ones(n_columns),
            "shape": self.shape + data["X"].values.size / 2,
            "rate": 1.0,
        }

    def update_mean(self, state, x, lo, hi):
        tau = state["shape"] / state["rate"]
        state["variance"][lo:hi] = 1 / (self.spread**-2 + tau * len(x))
        state["centre"][lo:hi] = tau * x[:, lo:hi].sum(axis=0) * state["variance"][lo:hi]

    def update_tau(self, state, x):
        state["rate"] = self.rate + self.square(state, x) / 2

    @staticmethod
    def square(state, x):
        return float(((x - state["centre"]) ** 2).sum() + len(x) * state["variance"].sum())

    def elbo(self, state, x):
        """The bound up to terms of the shape of q(tau), which never changes (so E log tau = -log rate + constant)."""
        a, b = state["shape"], state["rate"]
        tau, s2 = a / b, self.spread**2
        total = -0.5 * x.size * np.log(b) - 0.5 * tau * self.square(state, x)
        total += 0.5 * float(np.log(state["variance"] / s2).sum())
        total -= 0.5 * float((state["centre"] ** 2 + state["variance"]).sum()) / s2
        prior = -(self.shape - 1) * np.log(b) - self.rate * tau
        entropy = -np.log(b)
        return float(total + prior + entropy)

    def stages(self, state, data, params, rng, clock):
        x = data["X"].values
        return [
            Stage("mean", lambda lo, hi: self.update_mean(state, x, lo, hi), x.shape[1], slice=6),
            Stage("tau", lambda lo, hi: self.update_tau(state, x), slice=1000),
        ]

    def traces(self, state, data, params):
        return {"elbo": self.elbo(state, data["X"].values)}

    def draws(self, state, data, params):
        return {"mean": state["centre"].copy(), "tau": state["shape"] / state["rate"]}

    def summarise(self, kept, data, params):
        mean = np.concatenate([chain.stack("mean") for chain in kept.chains])
        return {"mean": Result(mean.mean(axis=0), ("feature",))}

    def sample(self, state, rng, n):
        size = len(state["centre"])
        return [
            {
                "mean": state["centre"] + np.sqrt(state["variance"]) * rng.standard_normal(size),
                "tau": float(rng.gamma(state["shape"])) / state["rate"],
            }
            for _ in range(n)
        ]
