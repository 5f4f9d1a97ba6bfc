"""Small models for tests: a sampler with ragged draws and sliced sweeps, and a variational one."""

from __future__ import annotations

import os
import time

import numpy as np
from toys import STEP_SECONDS

from plaidwork.core.contract.hyperparameter import Choice, Hyperparameter
from plaidwork.core.contract.layout import Part
from plaidwork.core.contract.model import Model, Problem, Result, Table
from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.contract.spec import Input, ModelSpec, Trace, Variable, View
from plaidwork.core.data.dataset import Dataset


class ToySampler(Model):
    """Random walks whose number of layers grows and shrinks; every third sweep comes in slices.

    ``fail`` is where it breaks: ``init``, ``step``, ``draws``, ``summarise``, ``nan``, ``trace``, ``shape``,
    ``die`` (the process ends); in chain ``fail_chain`` (told apart by the first number drawn) at sweep 8.
    """

    spec = ModelSpec(
        id="toy.sampler",
        version="1.2",
        title="Toy sampler",
        summary="For tests.",
        inputs=(
            Input("X", missing=True, holdout="cells"),
            Input("y", "labels", "categorical", dims=("row",), required=False, missing=True),
        ),
        hyperparameters=(
            Hyperparameter("scale", "float", 0.5, minimum=0, open_minimum=True),
            Hyperparameter("weights", "array", (1.0, 2.0)),
            Hyperparameter(
                "mode", "choice", "a", choices=(Choice(value="a", label="A"), Choice(value="b", label="B"))
            ),
            Hyperparameter("fail", "text", "", when={"mode": ("a", "b")}),
        ),
        dims={"K": "layers", "part": "parts"},
        variables=(
            Variable("theta"),
            Variable("loading", ("column",), unit="mV"),
            Variable("flags", ("row",), dtype="bool"),
            Variable("on", (), dtype="bool"),
            Variable("count", ("part",), dtype="int"),
            Variable("rho", ("K", "row"), dtype="bool", ragged=True),
            Variable("mu", ("K",), ragged=True),
            Variable("used", ("K",), dtype="bool", ragged=True),
            Variable("cov", ("K", "part", "part"), ragged=True),
            Variable("K", (), dtype="int"),
        ),
        traces=(Trace("lp", primary=True), Trace("n_layers", kind="count")),
        views=(View("heatmap", "Means", {"values": "mean"}, options={"signed": True}),),
        schedule=Schedule(chains=2, warmup=4, draws=10),
    )

    def validate(self, data, params):
        return [Problem("scale is large", severity="warning")] if params["scale"] > 10 else []

    def init(self, data, params, rng):
        if params["fail"] == "init":
            raise ValueError("cannot start")
        x = data["X"].values
        return {
            "theta": 0.0,
            "sweep": 0,
            "slice": 0,
            "big": 2**100,
            "none": None,
            "loading": rng.normal(size=x.shape[1]),
            "layers": {"mu": rng.normal(size=2), "rho": rng.random((2, x.shape[0])) < 0.5},
            "walk": np.asfortranarray(rng.normal(size=(5, 3))),
            "names/with": ["a", "ö", ""],
            "pair": (1, 2.5, True),
            "empty": np.empty((0, 4)),
            "small": np.float32(1.5),
            "text": "Ärger\0zero",
            "unlucky": bool(rng.random() < 0.5),
        }

    def layout(self, data, params):
        return {"layers.mu": Part(("K",)), "layers.rho": Part(("K", None))}

    def step(self, state, data, params, rng, clock):
        time.sleep(float(os.environ.get(STEP_SECONDS, 0)))
        if clock.sweep % 3 == 2 and state["slice"] < 2:
            state["slice"] += 1
            state["theta"] += 0.01 * rng.normal()
            return None
        state["slice"] = 0
        state["sweep"] += 1
        self._break(params["fail"], state, rng)
        state["theta"] = 0.9 * state["theta"] + params["scale"] * rng.normal()
        state["walk"] += rng.normal(size=(5, 3))
        state["loading"] += 0.1 * rng.normal(size=len(state["loading"])) + float(state["walk"].sum())
        layers = state["layers"]
        n_rows = layers["rho"].shape[1]
        size = int(rng.integers(0, 5))
        layers["mu"] = rng.normal(size=size)
        layers["rho"] = rng.random((size, n_rows)) < 0.3
        lp = -0.5 * state["theta"] ** 2 + float(data["X"].values.sum())
        if params["fail"] == "nan" and state["sweep"] == 8:
            lp = np.nan
        traces = {"lp": lp, "n_layers": float(size)}
        if params["fail"] == "trace" and state["sweep"] == 8:
            del traces["n_layers"]
        return traces

    @staticmethod
    def _break(fail, state, rng):
        if state["sweep"] == 8:
            if fail == "step" or (fail == "one" and state["unlucky"]):
                state["theta"] = rng.normal()
                raise RuntimeError("broke on purpose")
            if fail == "die":
                os._exit(3)

    def draws(self, state, data, params):
        if params["fail"] == "draws" and state["sweep"] == 8:
            raise ValueError("no draws today")
        mu, rho = state["layers"]["mu"], state["layers"]["rho"]
        wrong = params["fail"] == "shape" and state["sweep"] == 8
        return {
            "theta": state["theta"],
            "loading": state["loading"][:2] if wrong else state["loading"],
            "flags": rho.any(axis=0) if len(rho) else np.zeros(rho.shape[1], bool),
            "on": state["theta"] > 0,
            "count": np.array([len(mu), state["sweep"], -1]),
            "rho": rho[:-1] if params["fail"] == "ragged" and len(rho) else rho,
            "mu": mu,
            "used": mu > 0,
            "cov": mu[:, None, None] * np.ones((1, 3, 3)),
            "K": len(mu),
        }

    def summarise(self, kept, data, params):
        if params["fail"] == "summarise":
            raise ValueError("no summary")
        return {
            "mean": Result(
                kept.stack("loading").mean(axis=(0, 1)), ("column",), unit="mV", label="Mean", doc="d"
            ),
            "prob": Result(kept.stack("flags").mean(axis=(0, 1)), ("row",)),
            "any": Result(kept.stack("flags").any(axis=(0, 1)), ("row",)),
            "n": Result(np.int64(kept.n_draws)),
            "who": Result(np.array(["eins", "zwei ö", ""]), ("part",)),
            "table": Table(
                {
                    "Name": np.array(["a", "b"], dtype=object),
                    "p/q": np.array([0.5, np.nan]),
                    "yes": np.array([True, False]),
                },
                units={"p/q": "%"},
                label="T",
            ),
            "words": "# Found\n\nnothing",
        }


class ToyVariational(Model):
    """Gradient steps on a quadratic until the objective stands still."""

    spec = ModelSpec(
        id="toy.variational",
        version="1",
        title="Toy variational",
        summary="For tests.",
        algorithm="variational",
        inputs=(Input("X"),),
        variables=(Variable("mean", ("column",)),),
        traces=(Trace("elbo", primary=True, goal="up"),),
        schedule=Schedule(chains=2, max_sweeps=200, tolerance=1e-9),
    )

    def init(self, data, params, rng):
        return {"mean": rng.normal(size=data["X"].shape[1])}

    def step(self, state, data, params, rng, clock):
        target = data["X"].values.mean(axis=0)
        state["mean"] += 0.5 * (target - state["mean"])
        return {"elbo": -float(((state["mean"] - target) ** 2).sum())}

    def draws(self, state, data, params):
        return {"mean": state["mean"].copy()}

    def summarise(self, kept, data, params):
        return {"mean": Result(kept.stack("mean")[:, -1].mean(axis=0), ("column",))}


class ToyRegistry:
    """Stands in for the registry: knows the toys only."""

    def model(self, model_id):
        return {cls.spec.id: cls for cls in (ToySampler, ToyVariational)}[model_id]()


def toy_data(n=6, m=4, seed=0, name="toy data"):
    """A matrix with a missing cell, names with odd characters and annotations."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, m))
    values[0, 1] = np.nan
    return Dataset(
        name,
        values,
        tuple(f"Zeile/{i} ä" for i in range(n)),
        tuple(f"c{i}" for i in range(m)),
        row_table={
            "group/x": np.array([None if i == 1 else f"g{i % 2}" for i in range(n)], dtype=object),
            "size": np.arange(n) * 1.5,
            "whole": np.arange(n),
            "flag": np.arange(n) % 2 == 0,
            "text": np.array([f"t{i}" for i in range(n)]),
        },
        column_table={"_index": np.arange(m)},
        row_label="genes",
        unit="log2",
        notes="made up",
    )


def same(one, other):
    """Equal bit for bit: types, dtypes, shapes, order of keys, memory layout."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        if one.dtype == object:
            return other.dtype == object and one.shape == other.shape and one.tolist() == other.tolist()
        layout = one.flags.f_contiguous == other.flags.f_contiguous
        return (
            layout
            and one.dtype == other.dtype
            and one.shape == other.shape
            and one.tobytes() == other.tobytes()
        )
    return one == other or (one != one and other != other)


def same_chains(one, other):
    """Whether two runs kept the same sweeps and draws and stand at the same state."""
    for a, b in zip(one.chains, other.chains, strict=True):
        assert a.sweep == b.sweep
        assert a.trace.rows().tobytes() == b.trace.rows().tobytes()
        assert a.draws.count == b.draws.count
        for variable in one.spec.variables:
            for i in range(a.draws.count):
                left, right = a.draws.get(variable.name, i), b.draws.get(variable.name, i)
                assert left.shape == right.shape
                assert left.dtype == right.dtype
                assert left.tobytes() == right.tobytes(), (variable.name, i)
        assert same(a.state, b.state)
        assert a.rng.bit_generator.state == b.rng.bit_generator.state
        assert a.converged == b.converged
    return True
