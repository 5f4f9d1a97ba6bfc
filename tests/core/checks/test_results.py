"""Faults of traces, draws and results, planted and found."""

import sys
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest
from conforming import Means
from faults import caught, passes, respec, skipped

from plaidwork.core.api import Result, Table, Variable, View
from plaidwork.core.api_pictures import Panel, Picture, PictureFactory, Points
from plaidwork.core.checks import checks_for


def with_traces(change):
    class Faulty(Means):
        def numbers(self, state, x, known):
            return change(super().numbers(state, x, known))

    return Faulty


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda t: {k: v for k, v in t.items() if k != "tau"}, "“tau” is missing"),
        (lambda t: t | {"taus": 1.0}, "undeclared trace “taus”"),
        (lambda t: t | {"lp": np.nan}, "objective “lp” is nan"),
        (lambda t: t | {"tau": np.inf}, "“tau” is inf"),
        (lambda t: t | {"above": 1.5}, "share is 1.5"),
        (lambda t: t | {"tau": "2"}, "not a number"),
        (lambda t: t | {"tau": np.ones(2)}, "not a number"),
    ],
)
def test_traces(change, word):
    caught(with_traces(change), "traces", "step()", word)


def test_a_trace_that_does_not_apply_is_nan():
    from faults import passes

    passes(with_traces(lambda t: t | {"tau": np.nan}), "traces")


def with_draws(change):
    class Faulty(Means):
        def draws(self, state, data, params):
            return change(super().draws(state, data, params))

    return Faulty


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda d: {k: v for k, v in d.items() if k != "tau"}, "“tau” is missing"),
        (lambda d: d | {"extra": 1}, "undeclared “extra”"),
        (lambda d: d | {"mean": d["mean"][:-1]}, "15 along feature, the data 16"),
        (lambda d: d | {"mean": d["mean"][None]}, "declared dims"),
        (lambda d: d | {"mean": d["mean"] * np.nan}, "not finite"),
        (lambda d: d | {"above": d["mean"]}, "declared bool"),
        (lambda d: d | {"mean": d["mean"] + 1j}, "complex"),
    ],
)
def test_draws(change, word):
    caught(with_draws(change), "draws", "draws()", word)


class Truncated(Means):
    spec = respec(variables=(*Means.spec.variables, Variable("level", dtype="int"))).spec

    def draws(self, state, data, params):
        return super().draws(state, data, params) | {"level": 1.5}


def test_whole_numbers_are_whole():
    caught(Truncated, "draws", "“level” is declared int")


def with_results(change):
    class Faulty(Means):
        def summarise(self, kept, data, params):
            return change(super().summarise(kept, data, params))

    return Faulty


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda r: r | {"a b": "text"}, "'a b'"),
        (lambda r: r | {"x": 3}, "“x” is int"),
        (lambda r: r | {"x": Result(np.ones(3), ("a", "b"))}, "1 axis"),
        (lambda r: r | {"x": Result(np.ones(3), ("feature",))}, "3 along feature"),
        (lambda r: r | {"x": Result(np.array([1, np.nan]))}, "not finite"),
        (lambda r: r | {"x": Result(np.array([{}], object))}, "objects"),
        (lambda r: r | {"x": Table({"a": np.array([np.inf])})}, "infinite"),
    ],
)
def test_results(change, word):
    caught(with_results(change), "results", "summarise()", word)


class Broken(Means):
    def summarise(self, kept, data, params):
        return {"mean": self.missing}


def test_an_exception_names_method_and_frame():
    text = caught(Broken, "results", "summarise()", "AttributeError")
    assert "At test_results.py:" in text
    assert "in summarise." in text


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda r: {k: v for k, v in r.items() if k != "mean"}, ("view “Means”", "“mean”")),
        (lambda r: r | {"mean": Result(np.ones((2, 2)))}, ("needs (n,)",)),
        (lambda r: r | {"mean": Result(np.array(["a", "b"]))}, ("needs numbers",)),
        (lambda r: r | {"mean": Table({"a": np.ones(2)})}, ("1 column, needs 2",)),
        (lambda r: r | {"mean": "text"}, ("is text",)),
        (lambda r: r | {"words": Result(np.ones(2))}, ("headline",)),
    ],
)
def test_views(change, words):
    caught(with_results(change), "views", *words)


def placed(unknown):
    """A model that tells a place of each sample, none of those of which ``unknown`` of the known cells (n, m) says so."""

    class Placed(Means):
        def summarise(self, kept, data, params):
            x = data["X"]
            place = np.where(unknown(x.observed), np.nan, np.ones(len(x.observed)))
            return super().summarise(kept, data, params) | {"place": Result(place, ("sample",))}

    return Placed


def test_of_an_item_with_gaps_something_may_be_unknown():
    passes(placed(lambda known: ~known.all(axis=1))(), "results")
    caught(placed(lambda known: known.all(axis=1)), "results", "“place” is not finite")


class Unequal(Means):
    spec = respec(views=(View("biclusters", "B", {"matrix": "data:X", "rows": "rows", "cols": "cols"}),)).spec

    def summarise(self, kept, data, params):
        n, m = data["X"].shape
        return {"rows": Result(np.zeros((2, n))), "cols": Result(np.zeros((3, m)))}


def test_roles_of_a_view_fit_each_other():
    caught(Unequal, "views", "cols needs (2, 16)")


class Spread(Means):
    def summarise(self, kept, data, params):
        both = kept.stack("tau")
        with np.errstate(all="ignore"):
            return super().summarise(kept, data, params) | {"sd": Result(both.var() / (both.size - 1))}


def test_one_draw():
    caught(Spread, "partial_results", "one draw", "“sd” is not finite")


class FirstChain(Means):
    def summarise(self, kept, data, params):
        found = super().summarise(kept, data, params)
        if len(kept) > 1 and kept.chains[0].n_draws != kept.chains[1].n_draws:
            raise IndexError("unequal")
        return found


def test_unequal_chains():
    caught(FirstChain, "partial_results", "unequal")


class Weighted(Means):
    def init(self, data, params, rng):
        if "weights" in data:
            return data["weights"].no_such_thing
        return super().init(data, params, rng)


def test_optional_input():
    caught(Weighted, "optional_inputs", "init()", "AttributeError")


def drawn(load):
    """A model whose module brings a picture of its own."""
    module = ModuleType("own_picture")
    module.plaidwork_views = lambda: [PictureFactory("own.picture", "Own", load)]
    view = View("picture", "Own", "mean", options={"factory": "own.picture"})
    made = type(
        "Faulty", (Means,), {"spec": replace(Means.spec, views=(view,)), "__module__": module.__name__}
    )
    return module, made


def own_picture(results, choices):
    choices.flag("grid", "Grid")
    mean = results.array("mean")
    return Picture("Means", panels=(Panel((Points(np.arange(len(mean)), mean),)),))


@pytest.mark.parametrize(
    ("load", "words"),
    [
        (lambda results, choices: "a text", ("returned str, not a Picture",)),
        (lambda results, choices: results["nothing"], ("KeyError", "nothing")),
        (lambda results, choices: Picture("Means", panels=(Panel((Points([1, 2], [1]),)),)), ("one length",)),
        (lambda results, choices: choices.pick("order", "Order", ()), ("values that differ",)),
    ],
)
def test_pictures(load, words, monkeypatch):
    module, faulty = drawn(load)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    caught(faulty, "pictures", "view “Own”", *words)


def test_a_picture_of_the_models_own_module_is_drawn(monkeypatch):
    module, right = drawn(own_picture)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for check in checks_for(right, only=["pictures"]):
        check()
    around, inside = drawn(own_picture)
    inside.__module__ = "own_package.model"
    for name, module in {"own_package": around, "own_package.model": ModuleType("own_package.model")}.items():
        monkeypatch.setitem(sys.modules, name, module)
    for check in checks_for(
        inside, only=["pictures"]
    ):  # the hooks stand in the package, the model in a module of it
        check()
    caught(
        respec(views=(View("picture", "Own", "mean", options={"factory": "gone"}),)), "pictures", "not loaded"
    )
    caught(respec(views=(View("picture", "Own", "mean"),)), "pictures", "does not name its factory")
    skipped(respec(views=(View("table", "Table", "table"),)), "pictures")
