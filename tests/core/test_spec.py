"""Declarations: what they allow, what they say when they do not, and their way through JSON."""

import json

import pytest
from toys import Climb, Walk

from plaidwork.core.api import Choice, Hyperparameter, Input, ModelSpec, Trace, Variable, View
from plaidwork.core.contract.hyperparameter import DeclarationError
from plaidwork.core.contract.spec_json import spec_from_json, spec_to_json
from plaidwork.core.errors import SettingError

ALPHA = Hyperparameter("alpha", "float", 1.0, minimum=0, open_minimum=True)
FACTORS = Hyperparameter("factors", "int", 3, minimum=1, maximum=64)
MODE = Hyperparameter(
    "mode", "choice", "a", choices=(Choice(value="a", label="A"), Choice(value="b", label="B"))
)


@pytest.mark.parametrize(
    ("parameter", "typed", "value"),
    [
        (ALPHA, "0.5", 0.5),
        (ALPHA, 2, 2.0),
        (ALPHA, "1e-3", 1e-3),
        (FACTORS, "7", 7),
        (FACTORS, 7.0, 7),
        (MODE, "b", "b"),
        (Hyperparameter("flag", "bool", True), "off", False),
        (Hyperparameter("flag", "bool", True), False, False),
        (Hyperparameter("words", "text", ""), "ä b", "ä b"),
        (Hyperparameter("list", "array", ()), "1, 2;3 4", (1.0, 2.0, 3.0, 4.0)),
        (Hyperparameter("list", "array", ()), [1, 2], (1.0, 2.0)),
    ],
)
def test_values_become_the_declared_type(parameter, typed, value):
    found = parameter.check(typed)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("parameter", "value", "words"),
    [
        (ALPHA, 0, "> 0"),
        (ALPHA, -1, "Found “-1”"),
        (ALPHA, "one", "needs a number"),
        (ALPHA, float("nan"), "needs a number"),
        (ALPHA, True, "needs a number"),
        (FACTORS, 0, "1 to 64"),
        (FACTORS, 65, "1 to 64"),
        (FACTORS, 2.5, "a whole number"),
        (MODE, "c", "one of a, b"),
        (Hyperparameter("flag", "bool", True), "perhaps", "true or false"),
        (Hyperparameter("words", "text", ""), 3, "needs text"),
        (Hyperparameter("list", "array", ()), 3, "list of numbers"),
        (Hyperparameter("list", "array", (), minimum=0), "1, -2", "at least 0"),
    ],
)
def test_bad_values_name_setting_rule_and_value(parameter, value, words):
    with pytest.raises(SettingError) as caught:
        parameter.check(value)
    assert words in str(caught.value)
    assert parameter.name in str(caught.value)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Hyperparameter("2x", "int", 1), "not an identifier"),
        (lambda: Hyperparameter("x", "colour", 1), "unknown kind"),
        (lambda: Hyperparameter("x", "choice", "a"), "choices"),
        (lambda: Hyperparameter("x", "int", 0, minimum=1), "default"),
        (lambda: Input("X", kind="vector"), "1 dims"),
        (lambda: Input("X", dtype="text"), "unknown dtype"),
        (lambda: Input("X", least=(3,)), "a number for each dim"),
        (lambda: Input("X", most=(3,)), "most needs a number for each dim"),
        (lambda: Input("X", few=True), "few goes with labels"),
        (lambda: Input("y", "labels", "categorical", ("row",), least=(3,)), "a number for each dim"),
        (lambda: Variable("v", ragged=True), "ragged"),
        (lambda: _spec(id="No Spaces"), "lower case"),
        (lambda: _spec(inputs=()), "needs an input"),
        (lambda: _spec(traces=(Trace("a"), Trace("a"))), "declared twice"),
        (lambda: _spec(traces=(Trace("a", primary=True), Trace("b", primary=True))), "primary"),
        (lambda: _spec(variables=(Variable("v", ("depth",)),)), "undeclared dim"),
        (lambda: _spec(hyperparameters=(Hyperparameter("x", "int", 1, when={"y": 1}),)), "unknown setting"),
        (lambda: _spec(traces=(Trace("a", when={"y": 1}),)), "trace 'a' depends on unknown setting 'y'"),
    ],
)
def test_contradictions_are_found_when_declared(make, words):
    with pytest.raises(DeclarationError) as caught:
        make()
    assert words in str(caught.value)


def _spec(**changes):
    return ModelSpec(
        **{"id": "m", "version": "1", "title": "M", "summary": "", "inputs": (Input("X"),), **changes}
    )


def test_traces_are_shown_at_the_settings_that_they_name_and_the_objective_always():
    asked = Hyperparameter("learn", "bool", False)
    traces = (
        Trace("lp", primary=True, when={"learn": True}),
        Trace("a", when={"learn": (True,)}),
        Trace("b"),
    )
    for spec in (made := _spec(traces=traces, hyperparameters=(asked,)), spec_from_json(spec_to_json(made))):
        assert [trace.name for trace in spec.shown_traces({"learn": False})] == ["lp", "b"]
        assert [trace.name for trace in spec.shown_traces({"learn": True})] == ["lp", "a", "b"]
        assert spec.traces == traces


def test_unknown_setting_suggests_the_near_one():
    with pytest.raises(SettingError, match="Did you mean “stride”"):
        Walk.spec.check_params({"strid": 1})


def test_defaults_are_filled_in():
    assert Walk.spec.check_params({"stride": "2"}) == {"stride": 2.0, "fail_at": 0}


def test_when_hides_a_setting():
    inner = Hyperparameter("inner", "int", 1, when={"mode": ("a", "b"), "flag": True})
    assert inner.active({"mode": "b", "flag": True})
    assert not inner.active({"mode": "c", "flag": True})
    assert not inner.active({"mode": "a"})


def test_primary_trace_is_the_marked_or_the_first():
    assert Walk.spec.primary_trace.name == "lp"
    assert _spec(traces=(Trace("a"), Trace("b", primary=True))).primary_trace.name == "b"
    assert _spec().primary_trace is None


def test_plain_source_is_the_role_values():
    assert View("heatmap", "H", "loadings").source == {"values": "loadings"}


@pytest.mark.parametrize("model", [Walk, Climb])
def test_declaration_survives_json(model):
    text = json.dumps(spec_to_json(model.spec))
    assert spec_from_json(json.loads(text)) == model.spec


@pytest.mark.parametrize("damage", [{"inputs": None}, {"hyperparameters": [{"nme": 1}]}, {"views": 3}])
def test_damaged_declaration_is_told(damage):
    record = {**spec_to_json(Walk.spec), **damage}
    with pytest.raises(DeclarationError):
        spec_from_json(record)


def test_declarations_of_older_sessions_are_read():
    """They have “live” in their views, which never did anything."""
    record = spec_to_json(Walk.spec)
    record["views"] = [{**view, "live": True} for view in record["views"]]
    assert record["views"]
    assert spec_from_json(record) == Walk.spec


def test_a_setting_that_older_runs_do_not_know_has_its_earlier_value():
    old, new = Hyperparameter("noise", "float", 1.0, earlier=0.02), Hyperparameter("cap", "int", 5)
    spec = ModelSpec(
        id="toy.older",
        version="1.0",
        title="Older",
        summary="",
        inputs=(Input("X"),),
        hyperparameters=(ALPHA, old, new),
    )
    assert spec.check_params({})["noise"] == 1.0
    assert spec.check_params(spec.stored_params({"alpha": 2.0})) == {"alpha": 2.0, "noise": 0.02, "cap": 5}
    assert spec.stored_params({"alpha": 2.0, "noise": 3.0})["noise"] == 3.0
    assert spec_from_json(json.loads(json.dumps(spec_to_json(spec)))) == spec
    with pytest.raises(DeclarationError, match="noise"):
        Hyperparameter("noise", "float", 1.0, minimum=0, earlier=-1.0)
