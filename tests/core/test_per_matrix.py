"""Settings with one choice for each matrix: texts, names that need quotes, what is refused."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plaidwork.core.contract.hyperparameter import Choice, DeclarationError, Hyperparameter
from plaidwork.core.contract.per_matrix import looks_together, per_matrix, split, suited, write
from plaidwork.core.contract.spec import Input, ModelSpec
from plaidwork.core.contract.spec_json import spec_from_json, spec_to_json
from plaidwork.core.errors import SettingError

CHOICES = (
    Choice(value="auto", label="By its values"),
    Choice(value="real", label="Numbers", suits=("real", "ordinal")),
    Choice(value="yes_no", label="Yes or no", suits=("binary",)),
)
SETTING = Hyperparameter("sorts", "text", "", per="views", choices=CHOICES)


@settings(max_examples=40)
@given(st.dictionaries(st.text(max_size=8), st.sampled_from(["auto", "real"]), max_size=4))
def test_every_name_comes_back(choices):
    assert dict(split(write(choices))) == choices if "" not in choices else True
    names = tuple(name for name in choices if name)
    text = write({name: choices[name] for name in names})
    assert per_matrix(text, names) == tuple(choices[name] for name in names)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ("", "")),
        ("real", ("real", "real")),
        ("real; YES_NO", ("real", "yes_no")),
        ("b=real", ("", "real")),
        (" a = real , b = auto ", ("real", "auto")),
        ("auto, b = real", ("auto", "real")),
    ],
)
def test_texts(text, found):
    assert per_matrix(text, ("a", "b")) == found


def test_what_is_refused():
    with pytest.raises(SettingError, match="names the view “c”"):
        per_matrix("c = real", ("a", "b"))
    with pytest.raises(SettingError, match="2 words for 3 views"):
        per_matrix("real, auto", ("a", "b", "c"))
    with pytest.raises(SettingError, match=r"\(sorts\) knows auto, real, yes_no. Found “tall”"):
        SETTING.check("a = tall")
    with pytest.raises(SettingError, match="sorts"):
        SETTING.check(3)
    assert SETTING.check({"a, b": "real"}) == '"a, b" = real'


def test_what_is_taken_by_itself():
    assert suited(SETTING, "ordinal", 4, {}) == "real"
    assert suited(SETTING, "count", 4, {}) == ""


def test_a_choice_for_few_columns_is_taken_by_few_columns():
    """As many as another setting says; a run stored before that setting has none."""
    joint = Choice(value="joint", label="Correlated", suits=("real",), most_columns="few")
    setting = replace(SETTING, choices=(CHOICES[0], joint, *CHOICES[1:]))
    assert suited(setting, "real", 4, {"few": 4}) == "joint"
    assert suited(setting, "real", 5, {"few": 4}) == "real"
    assert suited(setting, "real", 4, {}) == "real"
    assert suited(setting, "ordinal", 4, {"few": 4}) == "real"
    few = Hyperparameter("few", "int", 4)
    more = {"id": "m", "version": "1", "title": "M", "summary": "s", "inputs": (Input("views", many=True),)}
    spec = ModelSpec(**more, hyperparameters=(setting, few))
    assert spec_from_json(spec_to_json(spec)) == spec
    with pytest.raises(DeclarationError, match="sorts depends on unknown setting 'few'"):
        ModelSpec(**more, hyperparameters=(setting,))


def test_a_choice_for_columns_that_go_together_is_taken_where_they_do():
    """Where the setting asks for it; a run stored before it never looked."""
    joint = Choice(
        value="joint", label="Correlated", suits=("real",), most_columns="few", if_together="judge"
    )
    setting = replace(SETTING, choices=(CHOICES[0], joint, *CHOICES[1:]))
    asked = {"few": 4, "judge": True}
    assert suited(setting, "real", 4, asked, together=True) == "joint"
    assert suited(setting, "real", 4, asked, together=False) == "real"
    assert suited(setting, "real", 4, {"few": 4, "judge": False}, together=False) == "joint"
    assert suited(setting, "real", 4, {"few": 4}, together=False) == "joint"
    assert looks_together(setting, "real", 4, asked)
    assert not looks_together(setting, "real", 5, asked)
    assert not looks_together(setting, "ordinal", 4, asked)
    assert not looks_together(setting, "real", 4, {**asked, "judge": False})
    more = {"id": "m", "version": "1", "title": "M", "summary": "s", "inputs": (Input("views", many=True),)}
    known = (Hyperparameter("few", "int", 4), Hyperparameter("judge", "bool", True))
    spec = ModelSpec(**more, hyperparameters=(setting, *known))
    assert spec_from_json(spec_to_json(spec)) == spec
    with pytest.raises(DeclarationError, match="sorts depends on unknown setting 'judge'"):
        ModelSpec(**more, hyperparameters=(setting, known[0]))


def test_a_choice_for_large_means_is_taken_above_the_one_that_a_setting_says():
    logs = Choice(value="logs", label="Logarithms", suits=("count",), above_mean="large")
    setting = replace(
        SETTING, choices=(CHOICES[0], logs, Choice(value="counts", label="C", suits=("count",)))
    )
    assert suited(setting, "count", 4, {"large": 3.0}, 3.5) == "logs"
    assert suited(setting, "count", 4, {"large": 3.0}, 3.0) == "counts"
    assert suited(setting, "count", 4, {"large": 0.0}, 3.5) == "counts", "0 is never"
    assert suited(setting, "count", 4, {}, 3.5) == "counts"
    more = {"id": "m", "version": "1", "title": "M", "summary": "s", "inputs": (Input("views", many=True),)}
    with pytest.raises(DeclarationError, match="sorts depends on unknown setting 'large'"):
        ModelSpec(**more, hyperparameters=(setting,))


def test_declaration():
    many = Input("views", many=True)
    spec = ModelSpec(id="m", version="1", title="M", summary="s", inputs=(many,), hyperparameters=(SETTING,))
    assert spec_from_json(spec_to_json(spec)) == spec
    with pytest.raises(DeclarationError, match="no input of many"):
        ModelSpec(
            id="m", version="1", title="M", summary="s", inputs=(Input("views"),), hyperparameters=(SETTING,)
        )
    with pytest.raises(DeclarationError, match="per goes with"):
        Hyperparameter("a", "int", 1, per="views")
    with pytest.raises(DeclarationError, match="choices go with"):
        Hyperparameter("a", "text", "", choices=CHOICES)
