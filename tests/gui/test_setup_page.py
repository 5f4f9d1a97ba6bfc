"""The set-up page with a toy model: data, plan, errors, presets, models."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from gui_toys import LABELS, SPEC, ToyRegistry, labels, matrix, settle
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from shiboken6 import delete

from plaidwork.core.contract.model import Cost, Problem
from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.data.dataset import Step
from plaidwork.core.data.transforms import apply_step
from plaidwork.core.errors import SessionError
from plaidwork.core.inference.plan import FitPlan, make_plan
from plaidwork.core.inference.run import Run
from plaidwork.core.session.suitability import Choices
from plaidwork.gui.setup import SetupPage
from plaidwork.gui.setup.cost import cost_text
from plaidwork.gui.setup.model_popup import ModelPopup
from plaidwork.gui.setup.presets import PresetStore
from plaidwork.gui.setup.remedy import remedy_of, words_of
from plaidwork.gui.workbench import Workbench
from tests import toys


@pytest.fixture(autouse=True)
def finished(qapp):
    yield
    settle()


@pytest.fixture
def bench(qapp):
    bench = Workbench(ToyRegistry())
    bench.add_dataset(matrix())
    return bench


@pytest.fixture
def page(qtbot, bench, tmp_path):
    page = SetupPage(bench, presets=PresetStore(tmp_path / "presets"))
    qtbot.addWidget(page)
    page.resize(900, 700)
    with qtbot.waitActive(page):
        page.show()
    return page


def type_into(qtbot, field, text):
    field.editor.setFocus()
    field.editor.selectAll()
    qtbot.keyClicks(field.editor, text)
    qtbot.keyClick(field.editor, Qt.Key.Key_Tab)


def test_opens_with_the_model_that_fits(page):
    assert page.spec is SPEC
    assert page.inputs() == {"X": ["genes"]}
    assert "30 genes × 8 samples" in page.inputs_form.field("X").combo.currentText()


def test_start_emits_a_checked_plan(qtbot, page):
    type_into(qtbot, page.form.field("blocks"), "7")
    with qtbot.waitSignal(page.start_requested, timeout=20_000) as caught:
        qtbot.mouseClick(page.foot.start, Qt.MouseButton.LeftButton)
    plan, title = caught.args
    assert isinstance(plan, FitPlan)
    assert title == ""
    assert plan.params["blocks"] == 7
    assert plan.schedule == SPEC.default_schedule


def test_estimate(qtbot, page):
    qtbot.waitUntil(lambda: "MB" in page.foot.estimate.text(), timeout=20_000)
    assert page.foot.estimate.text() == "Ends after about 5 min, settled or not, 30 MB for 2 chains"


@pytest.mark.parametrize(
    ("warmup", "each", "after"), [(100, 0.2, "2 min"), (1000, 1.0, "2 min"), (10, 1.0, "2 min 15 s")]
)
def test_a_run_ends_by_its_budget_of_time_unless_its_first_draws_take_longer(warmup, each, after):
    """A warm-up that would outlast the budget is begun again and shorter."""
    schedule = Schedule(chains=1, warmup=warmup, draws=1000, budget=120.0)
    plan = make_plan(toys.Walk(), {"X": [matrix()]}, schedule=schedule)
    told = cost_text(plan, Cost(memory=1e6, seconds_per_sweep=each))
    assert told.startswith(f"Ends after about {after}, settled or not")


def test_the_estimate_says_that_more_restarts_are_made_where_they_are_quick():
    cost = Cost(memory=1e6, seconds_per_sweep=1e-3)
    told = {}
    for chains, most in ((1, 48), (2, 48), (2, 0)):
        schedule = replace(toys.Climb.spec.default_schedule, chains=chains, most_chains=most)
        told[chains, most] = cost_text(make_plan(toys.Climb(), {"X": [matrix()]}, schedule=schedule), cost)
    assert told[2, 48].endswith("for 2 to 48 restarts")
    assert "48 MB" in told[2, 48]
    assert told[2, 0].endswith("for 2 restarts")
    assert told[1, 48].endswith("for 1 restart")


def test_error_disables_start_and_count_jumps(qtbot, page):
    type_into(qtbot, page.schedule_form.field("holdout"), "1,1")
    assert page.foot.errors.text() == "1 setting needs a change"
    assert not page.foot.start.isEnabled()
    page.form.field("note").editor.setFocus()
    qtbot.mouseClick(page.foot.errors, Qt.MouseButton.LeftButton)
    assert page.schedule_form.field("holdout").editor.hasFocus()
    type_into(qtbot, page.schedule_form.field("holdout"), "0.1")
    assert page.foot.errors.isHidden()
    assert page.foot.start.isEnabled()


def test_start_by_key_judges_the_field_in_hand(qtbot, page):
    field = page.form.field("blocks")
    field.editor.setFocus()
    field.editor.selectAll()
    qtbot.keyClicks(field.editor, "0")
    with qtbot.assertNotEmitted(page.start_requested, wait=100):
        page.start()
    assert field.shown_problem == "Needs a whole number from 1 to 200. Found “0”."


def test_error_in_the_fold_opens_it(qtbot, page):
    page.form.field("grid").editor.setText("1,5")
    page.form.field("grid").editor.edited.emit()
    page.start()
    assert page.form.fold.is_open
    assert "decimal point" in page.form.field("grid").shown_problem


def test_models_objection_stands_at_the_input(qtbot, page):
    type_into(qtbot, page.form.field("blocks"), "150")
    with qtbot.assertNotEmitted(page.start_requested):
        page.start()
        qtbot.waitUntil(lambda: bool(page.inputs_form.field("X").shown_problem), timeout=20_000)
    assert page.inputs_form.field("X").shown_problem == "Too many blocks for “Matrix”. Take fewer."
    type_into(qtbot, page.form.field("blocks"), "60")
    qtbot.waitUntil(lambda: "Many blocks" in page.foot.message.text, timeout=20_000)
    assert page.inputs_form.field("X").shown_problem == ""
    with qtbot.waitSignal(page.start_requested, timeout=20_000):
        page.start()


def test_without_data(qtbot, tmp_path):
    page = SetupPage(Workbench(ToyRegistry()), "toy.blocks", presets=PresetStore(tmp_path))
    qtbot.addWidget(page)
    page.show()
    field = page.inputs_form.field("X")
    assert field.combo.currentText() == "No suitable data in this session"
    with qtbot.waitSignal(page.import_requested):
        qtbot.mouseClick(field._import, Qt.MouseButton.LeftButton)
    page.start()
    assert field.shown_problem == "Needs a matrix of numbers. Numbers on one scale."
    page.workbench.add_dataset(matrix())
    assert page.inputs() == {"X": ["genes"]}
    assert field.shown_problem == ""


def test_unsuitable_data_are_shown_with_reason(page, bench):
    bench.add_dataset(matrix("holes", missing=3))
    combo = page.inputs_form.field("X").combo
    texts = [combo.itemText(k) for k in range(combo.count())]
    assert texts[1] == "holes   needs data without missing cells"
    assert not combo.model().item(1).isEnabled()


def test_optional_input_under_fold(qtbot, page, bench):
    bench.add_dataset(labels())
    fold = page.inputs_form.fold
    assert fold.note == "none given: classes"
    qtbot.mouseClick(fold.head, Qt.MouseButton.LeftButton)
    combo = page.inputs_form.field("classes").combo
    combo.setFocus()
    qtbot.keyClick(combo, Qt.Key.Key_Down)
    assert page.inputs()["classes"] == ["classes"]
    assert fold.note == "classes given"


def test_change_model(qtbot, page, bench):
    assert Choices(bench.session.datasets).reason(LABELS) == (
        "“Labels” needs one column of labels, and “genes” comes with none."
    )
    page.schedule_form.field("seed").set_value(9)
    qtbot.mouseClick(page.change_model, Qt.MouseButton.LeftButton)
    popup = page.findChild(type(page.open_models()))
    second = popup.cards[1]
    assert second.reason
    second.setFocus()
    with qtbot.waitSignal(popup.chosen):
        qtbot.keyClick(second, Qt.Key.Key_Return)
    assert page.spec is LABELS
    assert page.schedule_form.seed == 9
    assert page.schedule_form.title == "Fitting"
    assert "tolerance" in page.schedule_form.as_dict()


def test_the_list_says_for_which_tables_a_model_is_meant(qtbot, bench):
    """Where the data are smaller; it may be chosen all the same."""
    large = replace(SPEC, id="toy.large", inputs=(replace(SPEC.inputs[0], least=(1, 80)),))
    popup = ModelPopup([SPEC, large], Choices(bench.session.datasets))
    qtbot.addWidget(popup)
    first, other = popup.cards
    dim = SPEC.inputs[0].dims[1]
    assert (first.meant, other.meant) == ("", f"Meant for tables with at least 80 {dim}s.")
    assert any(label.text() == other.meant for label in other.findChildren(QLabel))
    assert not other.reason
    with qtbot.waitSignal(popup.chosen) as caught:
        other.clicked.emit()
    assert caught.args == ["toy.large"]


def test_presets(qtbot, page, tmp_path):
    page.form.set_values({"blocks": 8})
    page.schedule_form.set_values({"draws": 77})
    page.presets.save("mine")
    page.reset()
    assert page.form.values()["blocks"] == 5
    page.foot.menu.aboutToShow.emit()
    titles = [action.text() for action in page.foot.menu.actions()]
    assert "mine" in titles
    next(action for action in page.foot.menu.actions() if action.text() == "mine").trigger()
    assert page.form.values()["blocks"] == 8
    assert page.schedule_form.schedule().draws == 77
    page.presets.remove("mine")
    assert page.presets.store.names(SPEC) == []


def test_settings_as_file(qtbot, page, bench, tmp_path):
    path = tmp_path / "settings.json"
    page.form.set_values({"blocks": 8})
    page.presets.write(path)
    page.reset()
    page.presets.read(path)
    assert page.form.values()["blocks"] == 8
    record = json.loads(path.read_text())
    record["params"]["blocks"] = 900
    path.write_text(json.dumps(record))
    with qtbot.waitSignal(bench.notified) as caught:
        page.presets.read(path)
    assert "900" in caught.args[2]
    assert page.form.values()["blocks"] == 8
    record["model"] = "other"
    path.write_text(json.dumps(record))
    with qtbot.waitSignal(bench.notified) as caught:
        page.presets.read(path)
    assert "“other”" in caught.args[2]


def test_from_run(qtbot, page, bench):
    plan = make_plan(
        bench.registry.model(SPEC.id),
        {"X": bench.session.datasets["genes"]},
        {"blocks": 9},
        schedule=SPEC.schedule.with_(chains=3),
        seed=5,
        holdout=0.1,
    )
    page.from_run(Run.from_plan(plan))
    assert page.form.values()["blocks"] == 9
    assert (page.schedule_form.schedule().chains, page.schedule_form.seed, page.schedule_form.holdout) == (
        3,
        5,
        0.1,
    )


def test_data_panel_follows(qtbot, page, bench):
    panel = page.side_panel()
    qtbot.addWidget(panel)
    panel.show()
    assert panel.dataset is bench.session.datasets["genes"]
    qtbot.waitUntil(lambda: panel.matrix._values.size > 0, timeout=20_000)
    assert panel.bar.accessibleName().startswith("Colours from")


def test_narrow(page):
    assert page.minimumSizeHint().width() <= 500


def test_rows_that_vary_most(qtbot, page, bench):
    bench.add_dataset(matrix("tall", rows=700))
    bench.add_dataset(matrix("times", rows=700, columns=1))
    field = page.inputs_form.field("X")
    assert field.rows.isHidden()
    field.choose(["times"])
    assert field.rows.isHidden(), "a row with a single value does not vary"
    field.choose(["tall"])
    assert [field.rows.itemText(k) for k in range(field.rows.count())] == [
        "All 700 genes",
        "200 genes that vary most",
        "500 genes that vary most",
    ]
    field.rows.setFocus()
    qtbot.keyClick(field.rows, Qt.Key.Key_Down)
    assert page.inputs_form.subsets() == {"X": 200}
    assert "3.5 times longer" in field._rows_help.text() or "4 times longer" in field._rows_help.text()
    with qtbot.waitSignal(page.start_requested, timeout=20_000) as caught:
        page.start()
    plan = caught.args[0]
    (used,) = plan.inputs["X"]
    assert used.shape == (200, 8)
    assert used.name == "tall, 200 genes that vary most"
    run = bench.session.add_run(plan)
    assert run.inputs == {"X": (used.name,)}
    assert used.name in bench.session.datasets
    with qtbot.waitSignal(page.start_requested, timeout=20_000) as caught:
        page.start()
    assert caught.args[0].inputs["X"][0].name == used.name
    field.choose(["genes"])
    assert page.inputs_form.subsets() == {}


def test_a_plugin_turned_off_while_the_page_is_open_is_said(qtbot, page, monkeypatch):
    def gone(model_id):
        raise SessionError(f"The model “{model_id}” is not installed.")

    monkeypatch.setattr(page.workbench.registry, "model", gone)
    qtbot.mouseClick(page.foot.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "is not installed" in page.foot.message.text)


def test_steps_beyond_a_sweep_are_asked_of_models_that_take_them(qapp):
    from dataclasses import replace

    from plaidwork.gui.setup.schedule_form import ScheduleForm

    plain = ScheduleForm(LABELS)
    assert "window" in plain.as_dict()
    assert "relaxation" not in plain.as_dict()
    schedule = LABELS.schedule.with_(window=50, tolerance=0.1, relaxation=16.0)
    form = ScheduleForm(replace(LABELS, schedule=schedule))
    assert form.schedule() == replace(schedule, most_chains=48)


def test_what_helps_against_a_warning_is_a_click_away(qtbot, bench, page):
    before = bench.session.datasets["genes"]
    assert page.foot.remedy.isHidden()
    type_into(qtbot, page.form.field("blocks"), "40")
    qtbot.waitUntil(page.foot.remedy.isVisible, timeout=20_000)
    assert page.foot.remedy.text() == "Standardise rows"
    qtbot.mouseClick(page.foot.remedy, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: page.inputs() != {"X": ["genes"]}, timeout=20_000)
    (name,) = page.inputs()["X"]
    copy = bench.session.datasets[name]
    assert name == "genes, rows standardised"
    assert copy.values.mean(axis=1) == pytest.approx(0, abs=1e-9)
    assert bench.session.datasets["genes"] is before
    bench.editing.undo()
    assert list(bench.session.datasets) == ["genes"]


def test_settings_that_help_against_a_warning_are_a_click_away(qtbot, bench, page):
    type_into(qtbot, page.form.field("blocks"), "30")
    qtbot.waitUntil(page.foot.remedy.isVisible, timeout=20_000)
    assert page.foot.remedy.text() == "Chance"
    assert page.foot.remedy.toolTip() == "Change the settings so: Start blocks: 7; Start from: Chance"
    with qtbot.waitSignal(page.told) as told:
        qtbot.mouseClick(page.foot.remedy, Qt.MouseButton.LeftButton)
    assert told.args == ["Settings changed: Start blocks: 7; Start from: Chance"]
    values = page.form.values()
    assert (values["start"], values["start_blocks"], values["blocks"]) == ("random", 7, 30)
    qtbot.waitUntil(page.foot.remedy.isHidden, timeout=20_000)
    assert page.inputs() == {"X": ["genes"]}


def test_in_a_low_window_a_click_that_changes_settings_scrolls_to_what_it_changed(qtbot, page):
    page.resize(600, 330)
    field = page.form.field("start")

    def seen():
        place = field.mapTo(page._scroll.viewport(), field.rect().topLeft())
        return place.y() >= 0 and place.y() + field.height() <= page._scroll.viewport().height()

    type_into(qtbot, page.form.field("blocks"), "30")
    qtbot.waitUntil(page.foot.remedy.isVisible, timeout=20_000)
    page._scroll.verticalScrollBar().setValue(0)
    assert not seen()
    qtbot.mouseClick(page.foot.remedy, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(seen, timeout=5_000)
    assert field.editor.hasFocus()


def test_what_is_inside_the_fold_is_in_view_once_that_is_open(qtbot, page):
    page.resize(600, 330)
    field = page.form.field("grid")
    page.bring_into_view(field)
    viewport = page._scroll.viewport()
    qtbot.waitUntil(
        lambda: field.mapTo(viewport, field.rect().bottomLeft()).y() <= viewport.height(), timeout=5_000
    )
    assert page.form.fold.is_open
    assert field.mapTo(viewport, field.rect().topLeft()).y() >= 0


def test_a_page_that_was_closed_takes_no_copy(qtbot, bench, tmp_path):
    page = SetupPage(bench, presets=PresetStore(tmp_path / "presets"))
    with qtbot.waitActive(page):
        page.show()
    type_into(qtbot, page.form.field("blocks"), "40")
    qtbot.waitUntil(page.foot.remedy.isVisible, timeout=20_000)
    qtbot.mouseClick(page.foot.remedy, Qt.MouseButton.LeftButton)
    delete(page)
    settle()
    assert list(bench.session.datasets) == ["genes"]


def test_a_remedy_knows_that_the_data_were_turned(bench):
    dataset = bench.session.datasets["genes"]
    turned = apply_step(dataset, Step("transpose"))
    warning = Problem("Rows differ.", "", "X", "warning", "standardise", {"axis": "rows"})
    plan = SimpleNamespace(warnings=(warning,), inputs={"X": (turned,)})
    _, step = remedy_of(plan, {"X": [dataset]})
    assert step == Step("standardise", {"axis": "columns"})
    links = dataset.with_(
        values=dataset.values[:8], row_names=dataset.column_names, row_table={}
    )  # the same names on both axes
    plan = SimpleNamespace(warnings=(warning,), inputs={"X": (links,)})
    assert remedy_of(plan, {"X": [links]}) == (links, Step("standardise", {"axis": "rows"}))
    assert remedy_of(SimpleNamespace(warnings=(Problem("x"),), inputs={}), {}) is None
    assert [
        words_of(Step(name, {"axis": axis}))
        for name, axis in (("standardise", "rows"), ("normal_scores", "all"))
    ] == [
        "Standardise rows",
        "Normal scores",
    ]
