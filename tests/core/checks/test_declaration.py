"""Faults of the declaration, planted and found."""

from dataclasses import replace

import pytest
from conforming import Bound, Means
from faults import caught, respec

from plaidwork.core.contract.hyperparameter import Hyperparameter
from plaidwork.core.contract.spec import Trace, View


class Loose(Hyperparameter):
    """Takes anything."""

    def check(self, value):
        return value


def test_options_that_are_no_json():
    view = View("bars", "Means", "mean", options={"by": object()})
    caught(respec(views=(view,)), "declaration_json", "JSON")


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"summary": " "}, "summary"),
        ({"api": (2, 0)}, "api is 2.0"),
        ({"traces": ()}, "no trace"),
        ({"variables": ()}, "no variable"),
    ],
)
def test_incomplete(change, word):
    caught(respec(**change), "declaration_complete", word)


def test_bound_without_goal():
    caught(respec(Bound, traces=(Trace("elbo", primary=True),)), "declaration_complete", "goal")


SPREAD = Means.spec.hyperparameter("spread")
START = Means.spec.hyperparameter("start")


@pytest.mark.parametrize(
    ("parameter", "word"),
    [
        (Hyperparameter("spread", "int", 1, minimum=1, maximum=1), "empty"),
        (Hyperparameter("spread", "float", 1.0, log=True), "logarithmic"),
        (replace(START, choices=(*START.choices, START.choices[0])), "twice"),
        (replace(Means.spec.hyperparameter("shift"), when={"start": "men"}), "start"),
    ],
)
def test_settings_that_make_no_sense(parameter, word):
    others = [p for p in Means.spec.hyperparameters if p.name != parameter.name]
    caught(respec(hyperparameters=(*others, parameter)), "declaration_settings", word)


def test_a_setting_that_takes_anything():
    caught(respec(hyperparameters=(Loose("spread", "float", 2.0),)), "wrong_settings", "is accepted")


class Misspelt(Means):
    def simulate_date(self, state, params, shapes, rng):
        return {}


class WrongArguments(Means):
    def step(self, state, data, params, rng):
        return {}


def test_methods():
    caught(Misspelt, "declaration_methods", "simulate_date()", "Did you mean “simulate_data”?")
    caught(WrongArguments, "declaration_methods", "step()", "clock")


def test_class_inside_a_function():
    class Local(Means):
        pass

    caught(Local, "declaration_importable", "cannot be imported")


@pytest.mark.parametrize(
    ("view", "words"),
    [
        (View("heatmpa", "A", "mean"), ("heatmpa", "Did you mean “heatmap”?")),
        (View("biclusters", "A", {"matrix": "data:X", "rows": "r"}), ("cols",)),
        (View("bars", "A", {"values": "mean", "intervall": "i"}), ("intervall", "interval")),
        (View("heatmap", "A", "data:Y"), ("data:Y",)),
        (View("bars", "A", "draws:meen"), ("draws:meen", "Did you mean “mean”?")),
    ],
)
def test_views(view, words):
    caught(respec(views=(view,)), "declaration_views", *words)
