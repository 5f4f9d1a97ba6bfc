"""Faults of the optional methods, planted and found."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from conforming import Bound, Means
from faults import caught, passes, skipped

from plaidwork.core.api import Cost, Dataset, Problem, Result, View


def overriding(base, **methods):
    return type("Faulty", (base,), methods)


@pytest.mark.parametrize(
    ("found", "word"),
    [
        (["too small"], "str"),
        ([Problem("Small.", where="Y", severity="warning")], "at “Y”"),
        ([Problem("Small.", severity="warn")], "(warn)"),
        ([Problem("Small.")], "must be accepted"),
        ([Problem("Small.", severity="warning", settings={"spreed": 1.0})], "spreed"),
    ],
)
def test_problems(found, word):
    if isinstance(found[0], str):

        class Faulty(Means):
            calls = 0

            def validate(self, data, params):
                self.calls += 1
                return [] if self.calls == 1 else found  # the plan itself needs a Problem

        model = Faulty
    else:
        model = overriding(Means, validate=lambda self, data, params: found)
    caught(model, "validates", "validate()", word)


@pytest.mark.parametrize(
    ("cost", "word"),
    [
        (lambda data: Cost(np.inf, 1.0), "inf"),
        (lambda data: 3.0, "3.0"),
        (lambda data: Cost(1e9 / data["X"].values.size, 1.0), "cost less"),
    ],
)
def test_costs(cost, word):
    caught(overriding(Means, estimate=lambda self, data, params: cost(data)), "estimates", "estimate()", word)


def test_upgrades():
    caught(overriding(Means, upgrade_state=lambda self, state, version, *_: state), "upgrades", "version 0")
    caught(
        overriding(Means, upgrade_state=lambda self, state, version, *_: state["old"]), "upgrades", "KeyError"
    )


def test_predictions():
    caught(overriding(Means, predict=lambda self, kept, data, new, params: {}), "predicts", "nothing")

    def predict(self, kept, data, new_data, params):
        return {"X": Result(np.full(3, np.nan))}

    caught(overriding(Means, predict=predict), "predicts", "predict()", "not finite")
    skipped(Bound, "predicts")


def _expected(change):
    def fitted(self, kept, data, params, name, index, columns):
        mean = np.tile(np.asarray(columns, dtype=float), (data[name].shape[0], 1))
        return change(mean, np.full(mean.shape, 0.1))

    return overriding(Means, fitted=fitted)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda mean, sd: (mean.T, sd), "have the shape"),
        (lambda mean, sd: (mean, sd[:1]), "have the shape"),
        (lambda mean, sd: (mean + np.inf, sd), "not finite"),
        (lambda mean, sd: (mean, -sd), "negative"),
        (lambda mean, sd: (mean - mean.mean(), sd), "asked for with others"),
    ],
)
def test_fitted_values(change, word):
    caught(_expected(change), "fitted_values", "fitted()", word)


def test_fitted_values_that_are_right():
    passes(_expected(lambda mean, sd: (mean, sd)), "fitted_values")
    skipped(Bound, "fitted_values")


def _dense(change, by_row=False):
    def log_likelihood(self, chain, draws, data, params, index, rows, columns):
        values = np.asarray(data["X"].values, dtype=float)
        found = -((values[rows].sum(axis=1) if columns is None else values[rows, columns]) ** 2)
        return change(np.tile(found, (len(draws), 1)))

    return overriding(Means, likelihood_of="X", likelihood_by_row=by_row, log_likelihood=log_likelihood)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda found: found[:, 1:], "the shape"),
        (lambda found: found[0], "the shape"),
        (lambda found: np.full_like(found, np.inf), "infinite"),
        (lambda found: found - found.mean(), "asked for with others"),
    ],
)
def test_densities(change, word):
    caught(_dense(change), "densities", "log_likelihood()", word)


def test_densities_that_are_right():
    passes(_dense(lambda found: found), "densities")
    passes(_dense(lambda found: found, by_row=True), "densities")
    caught(overriding(_dense(lambda found: found), likelihood_of="Z"), "densities", "no such input")
    skipped(Bound, "densities")


@pytest.mark.parametrize(
    ("sample", "word"),
    [
        (lambda self, state, rng, n: Bound.sample(self, state, rng, n - 1), "3 draws of 4"),
        (lambda self, state, rng, n: Bound.sample(self, state, np.random.default_rng(), n), "same rng"),
        (lambda self, state, rng, n: [Bound.sample(self, state, rng, 1)[0]] * n, "equal"),
        (lambda self, state, rng, n: [{"mean": state["centre"]}] * n, "“tau”"),
    ],
)
def test_samples(sample, word):
    caught(overriding(Bound, sample=sample), "samples", "sample()", word)


def test_simulations():
    def unseeded(self, params, shapes, rng):
        return Means.simulate(self, params, shapes, np.random.default_rng())

    def moving(self, state, params, shapes, rng):
        state["tau"] *= 2
        return Means.simulate_data(self, state, params, shapes, rng)

    class Narrow(Means):
        def simulate(self, params, shapes, rng):
            values, state = super().simulate(params, shapes, rng)
            return {"X": values["X"][:, :1]}, state

    class Named(Means):
        """Simulates a data set: its names reach the model, in the sizes that are asked for."""

        seen: ClassVar[set] = set()

        def simulate(self, params, shapes, rng):
            values, state = super().simulate(params, shapes, rng)
            n, m = values["X"].shape
            names = tuple(f"gene {i}" for i in range(n)), tuple(f"dose {j}" for j in range(m))
            return {"X": Dataset("X", values["X"], *names)}, state

        def init(self, data, params, rng):
            self.seen.add((data["X"].names[0][0], data["X"].shape))
            return super().init(data, params, rng)

    passes(Named, "simulates")
    passes(Named, "stops")
    assert {name for name, _ in Named.seen} == {"gene 0"}
    assert max(shape for _, shape in Named.seen) >= (200, 100)
    caught(Narrow, "simulates", "asked for (5, 2)")
    caught(overriding(Means, simulate=unseeded), "simulates", "same rng")
    caught(overriding(Means, simulate_data=moving), "simulates", "changes the state")
    caught(
        overriding(Means, simulate=lambda self, params, shapes, rng: ({}, {})), "simulates", "“X” is missing"
    )


def _answering(change, option=None):
    spec = replace(
        Means.spec,
        views=(
            View("curve", "Along", "mean", options={"response": option or {"input": "X", "values": "twice"}}),
        ),
    )

    def response(self, kept, data, params, name, rows, wanted):
        return change(rows)

    return overriding(Means, spec=spec, response=response)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda rows: {"other": Result(rows)}, "“twice” was wanted"),
        (lambda rows: {"twice": Result(rows.T[:1])}, "has the shape"),
        (lambda rows: {"twice": Result(np.array(["a"] * len(rows)))}, "no array of numbers"),
        (lambda rows: {"twice": Result(rows * np.nan)}, "not finite"),
        (lambda rows: {"twice": Result(rows - rows.mean())}, "asked for with others"),
    ],
)
def test_responses(change, word):
    caught(_answering(change), "responds", "response()", word)


def test_responses_that_are_right():
    passes(_answering(lambda rows: {"twice": Result(2 * rows[:, 0])}), "responds")
    skipped(Bound, "responds")


def test_views_that_ask_for_a_response():
    right = {"twice": lambda rows: Result(2 * rows[:, 0])}
    for option, word in (({"input": "Z"}, "names no matrix"), ({"input": "X", "band": "b"}, "“band”")):
        caught(_answering(right, option), "declaration_views", "view “Along”", word)
    spec = _answering(right).spec
    caught(overriding(Means, spec=spec), "declaration_views", "view “Along”", "has not")
