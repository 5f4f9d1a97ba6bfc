"""Fields and the form: typed with keys, left with Tab, clicked with the mouse."""

from __future__ import annotations

import pytest
from gui_toys import SPEC
from PySide6.QtCore import Qt

from plaidwork.core.contract.hyperparameter import Hyperparameter
from plaidwork.core.errors import SettingError
from plaidwork.gui.setup.entry import parse, range_text, rule, short_range, stepped, write
from plaidwork.gui.setup.fields import SettingField
from plaidwork.gui.setup.form import HyperparameterForm
from plaidwork.gui.setup.schedule_form import ScheduleForm

SHARE = Hyperparameter("share", "float", 0.1, label="Share", minimum=0, maximum=0.5)
COUNT = Hyperparameter("count", "int", 5, minimum=1, maximum=64)
POSITIVE = Hyperparameter("spread", "float", 10.0, minimum=0, open_minimum=True, log=True)
GRID = Hyperparameter("grid", "array", (1.0, 2.0))


def type_into(qtbot, field, text: str) -> None:
    field.editor.setFocus()
    field.editor.selectAll()
    qtbot.keyClicks(field.editor, text)


def tab(qtbot, field) -> None:
    qtbot.keyClick(field.editor, Qt.Key.Key_Tab)


@pytest.mark.parametrize(
    ("parameter", "text", "value"),
    [
        (SHARE, "0.25", 0.25),
        (SHARE, "1e-3", 0.001),
        (SHARE, " .5 ", 0.5),
        (COUNT, "12", 12),
        (COUNT, "1e1", 10),
        (GRID, "1 2.5; 3e-2", (1.0, 2.5, 0.03)),
        (GRID, "1, 2", (1.0, 2.0)),
        (Hyperparameter("m", "float", 0.0), "\u22121.5", -1.5),
    ],
)
def test_numbers_are_read_exactly(parameter, text, value):
    assert parse(parameter, text) == value
    assert type(parse(parameter, text)) is type(value)


@pytest.mark.parametrize(
    ("parameter", "text", "words"),
    [
        (SHARE, "1,1", "Needs a number from 0 to 0.5 with a decimal point. Found “1,1”."),
        (SHARE, "0,2", "Needs a number from 0 to 0.5 with a decimal point. Found “0,2”."),
        (SHARE, "0.6", "Needs a number from 0 to 0.5. Found “0.6”."),
        (SHARE, "nan", "Needs a number from 0 to 0.5. Found “nan”."),
        (SHARE, "1_0", "Needs a number from 0 to 0.5. Found “1_0”."),
        (SHARE, "", "Needs a number from 0 to 0.5. Found nothing."),
        (COUNT, "4.5", "Needs a whole number from 1 to 64. Found “4.5”."),
        (COUNT, "1,000", "Needs a whole number from 1 to 64. Found “1,000”."),
        (POSITIVE, "0", "Needs a number above 0. Found “0”."),
        (GRID, "0,5 1", "Needs numbers with a decimal point, a space between them. Found “0,5 1”."),
        (GRID, "1 x", "Needs numbers. Found “x”."),
    ],
)
def test_refusals_name_rule_and_value(parameter, text, words):
    with pytest.raises(SettingError) as caught:
        parse(parameter, text)
    assert caught.value.message == words


def test_words_of_ranges():
    wide = Hyperparameter("n", "int", 1, minimum=0, maximum=10_000_000)
    assert range_text(wide) == "0 to 10\u202f000\u202f000"
    assert (short_range(POSITIVE), short_range(Hyperparameter("n", "int", 1, minimum=1))) == ("> 0", "≥ 1")
    assert rule(Hyperparameter("n", "int", 1, maximum=3)) == "a whole number at most 3"
    assert [write(v) for v in (1e-8, 1e20, 0.1, 3, (1.0, 2.0))] == ["1e-8", "1e20", "0.1", "3", "1.0  2.0"]


def test_steps():
    assert [stepped(POSITIVE, v, True) for v in (1.0, 2.0, 5.0, 0.03)] == [2.0, 5.0, 10.0, 0.05]
    assert [stepped(POSITIVE, v, False) for v in (1.0, 2.0, 0.03)] == [0.5, 1.0, 0.02]
    assert stepped(COUNT, 64, True) == 64
    assert stepped(COUNT, 1, False) == 1
    assert stepped(SHARE, 0.1, True) == pytest.approx(0.15)


def test_error_appears_on_leaving_and_goes_while_mending(qtbot):
    form = HyperparameterForm(SPEC)
    qtbot.addWidget(form)
    with qtbot.waitActive(form):
        form.show()
    field = form.field("share")
    type_into(qtbot, field, "1,1")
    assert field.shown_problem == ""
    assert field.problem
    tab(qtbot, field)
    assert field.shown_problem == "Needs a number from 0 to 0.5 with a decimal point. Found “1,1”."
    assert field.editor.property("invalid")
    assert [p.name for p in form.problems()] == ["share"]
    assert form.values()["share"] == 0.1
    type_into(qtbot, field, "0.2")
    assert field.shown_problem == ""
    tab(qtbot, field)
    assert form.values()["share"] == 0.2
    assert not form.problems()


def test_changed_mark_and_arrow_back(qtbot):
    field = SettingField(COUNT)
    qtbot.addWidget(field)
    field.show()
    assert field._changed.isHidden()
    with qtbot.waitSignal(field.changed):
        type_into(qtbot, field, "9")
    assert field.value == 9
    assert not field._changed.isHidden()
    qtbot.mouseClick(field._reset, Qt.MouseButton.LeftButton)
    assert field.value == 5
    assert field.editor.text() == "5"
    assert field._changed.isHidden()


def test_arrow_keys_and_wheel(qtbot):
    field = SettingField(COUNT)
    qtbot.addWidget(field)
    field.show()
    qtbot.keyClick(field.editor, Qt.Key.Key_Up)
    assert field.value == 6
    for _ in range(9):
        qtbot.keyClick(field.editor, Qt.Key.Key_Down)
    assert field.value == 1


def test_text_is_tidied_on_leaving(qtbot):
    field = SettingField(SHARE)
    qtbot.addWidget(field)
    field.show()
    type_into(qtbot, field, "5e-1")
    field.leave()
    assert field.editor.text() == "0.5"


def test_when_fields_come_and_go(qtbot):
    form = HyperparameterForm(SPEC)
    qtbot.addWidget(form)
    form.show()
    assert form.field("start_blocks").isHidden()
    combo = form.field("start").editor
    combo.setFocus()
    qtbot.keyClick(combo, Qt.Key.Key_Down)
    assert form.values()["start"] == "random"
    assert not form.field("start_blocks").isHidden()
    assert form.field("start")._help.text() == "By dice"
    type_into(qtbot, form.field("start_blocks"), "x")
    tab(qtbot, form.field("start_blocks"))
    assert [p.name for p in form.problems()] == ["start_blocks"]
    qtbot.keyClick(combo, Qt.Key.Key_Up)
    assert not form.problems()


def test_fold_tells_what_is_inside(qtbot):
    form = HyperparameterForm(SPEC)
    qtbot.addWidget(form)
    form.resize(800, 600)
    form.show()
    assert form.fold.note == "3 settings at the default: learn the noise, grid, note"
    assert not form.fold.is_open
    qtbot.mouseClick(form.fold.head, Qt.MouseButton.LeftButton)
    assert form.fold.is_open
    qtbot.waitUntil(lambda: form.field("learn").isVisible() and form.field("learn").height() > 10)
    qtbot.mouseClick(
        form.field("learn").editor,
        Qt.MouseButton.LeftButton,
        pos=form.field("learn").editor.rect().center() * 0.2,
    )
    assert form.values()["learn"] is False
    assert form.fold.note == "1 changed: learn the noise; 3 settings at the default"
    assert form.field("noise").isVisible()


def test_values_and_set_values(qtbot):
    form = HyperparameterForm(SPEC)
    qtbot.addWidget(form)
    assert form.values() == SPEC.check_params({})
    wanted = {"blocks": 7, "start": "random", "grid": (0.5,), "note": "hello", "learn": False}
    form.set_values(wanted)
    assert {name: form.values()[name] for name in wanted} == wanted
    with pytest.raises(SettingError):
        form.set_values({"share": 0.2, "blocks": 0})
    assert form.values()["share"] == 0.1
    with pytest.raises(SettingError, match="Did you mean “blocks”"):
        form.set_values({"block": 3})
    form.reset()
    assert form.values() == SPEC.check_params({})


@pytest.mark.parametrize(("width", "columns"), [(600, 1), (900, 2), (1700, 3)])
def test_columns_by_width(qtbot, width, columns):
    form = HyperparameterForm(SPEC)
    qtbot.addWidget(form)
    form.resize(width, 700)
    form.show()
    assert form.columns.count == columns


def test_schedule_form(qtbot):
    form = ScheduleForm(SPEC, seed=7)
    qtbot.addWidget(form)
    form.show()
    assert form.schedule() == SPEC.default_schedule
    assert form.seed == 7
    assert form.holdout == 0.0
    assert not form.field("draws").is_changed
    type_into(qtbot, form.field("draws"), "2000")
    type_into(qtbot, form.field("holdout"), "1,1")
    tab(qtbot, form.field("holdout"))
    assert form.schedule().draws == 2000
    assert [p.name for p in form.problems()] == ["holdout"]
    form.reset()
    assert form.schedule() == SPEC.default_schedule
    assert form.seed == 1


def test_a_fit_goes_on_until_settled_or_has_a_number_of_draws(qtbot):
    from dataclasses import replace

    form = ScheduleForm(SPEC)
    qtbot.addWidget(form)
    form.show()
    assert form.field("until").value == "settled"
    assert form.field("budget").isVisible()
    form.field("budget").set_value(90.0)
    assert form.schedule() == replace(SPEC.schedule, budget=90.0)
    form.field("until").set_value("draws")
    assert not form.field("budget").isVisible()
    assert form.schedule() == SPEC.schedule
    form.set_values({"draws": 50, "budget": 30.0})
    assert form.schedule() == replace(SPEC.schedule, draws=50, budget=30.0)
    form.set_values({"draws": 60})  # what presets of earlier versions hold
    assert form.schedule() == SPEC.schedule.with_(draws=60)
    form.set_values(form.as_dict() | {"until": "settled"})
    assert form.schedule() == replace(SPEC.schedule, draws=60, budget=30.0)
    restarts = ScheduleForm(replace(SPEC, algorithm="variational"))
    qtbot.addWidget(restarts)
    assert "until" not in restarts.as_dict()
    assert restarts.schedule() == replace(SPEC.schedule, most_chains=48)
