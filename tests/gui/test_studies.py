"""Searches by clicks: the panel, the page while it runs and after, picking, comparing, saving, going on."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QDialog, QLineEdit, QPushButton

from plaidwork.core.contract.hyperparameter import Choice, Hyperparameter
from plaidwork.core.contract.metric import Metric
from plaidwork.core.contract.model import Result, Table
from plaidwork.core.inference import executor, memory
from plaidwork.core.session.session import Session, open_session
from plaidwork.core.study import Study, StudyRecord, study_records
from plaidwork.gui import run_places
from plaidwork.gui.main_window import MainWindow
from plaidwork.gui.pictures.hits import position
from plaidwork.gui.session_tree import DATA, STUDY
from plaidwork.gui.settings import Settings
from plaidwork.gui.studies import under_way
from plaidwork.gui.studies.columns import fit_columns, headline
from plaidwork.gui.studies.detail import FitDetail
from plaidwork.gui.studies.search_dialog import SearchDialog
from plaidwork.gui.studies.study_page import StudyPage
from plaidwork.gui.studies.values import parse_values, proposed
from plaidwork.gui.tasks import wait_for_tasks
from plaidwork.gui.workbench import Workbench
from tests import toys
from tests.gui.window_tools import SlowWalk, dataset
from tests.registries import registry_of

WAIT = 30_000


class Scored(toys.Walk):
    """A walk with a number among its results, a choice, and a bound that ranks no strides."""

    spec = replace(
        toys.Walk.spec,
        id="toy.scored",
        title="Scored",
        hyperparameters=(
            *toys.Walk.spec.hyperparameters,
            Hyperparameter(
                "way",
                "choice",
                "up",
                choices=(Choice(value="up", label="Uphill"), Choice(value="down", label="Downhill")),
            ),
            Hyperparameter("far", "bool", False, advanced=True),
        ),
        metrics=(Metric("score", "Score", goal="down"), Metric("lp", "Bound", comparable_across=())),
    )

    def summarise(self, kept, data, params):
        found = super().summarise(kept, data, params)
        return {**found, "score": Result(np.abs(found["place"].values).max())}


@pytest.fixture
def window(qapp, qtbot, tmp_path, monkeypatch):
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("PLAIDWORK_STATE", str(tmp_path / "state"))
    made = MainWindow(Workbench(registry_of(Scored, SlowWalk)), Settings(tmp_path / "config"))
    made.resize(1280, 800)
    made.show()
    made.workbench.add_dataset(dataset())
    made.show_session()
    yield made
    made.workbench.studies.stop_all()
    for run in made.workbench.active_runs():
        made.workbench.stop(run)
    made.workbench.wait(WAIT)
    wait_for_tasks()
    qapp.processEvents()
    made.workbench.set_session(Session())
    made.close()
    made.deleteLater()


def set_up(window, qtbot, model="toy.scored"):
    """The set-up page of a model, checked."""
    window.commands.set_up_fit(lambda page: page.set_model(model))
    qtbot.waitUntil(
        lambda: window.setup_page is not None and window.setup_page.launch.check.ready, timeout=WAIT
    )
    return window.setup_page


def in_dialog(kind, act, tries=300):
    """Call ``act(dialog)`` as soon as a dialog of this kind is open."""

    def look(left):
        found = QApplication.activeModalWidget()
        if isinstance(found, kind):
            try:
                act(found)
            except BaseException:
                found.reject()  # or the test would wait for ever
                raise
        elif left:
            QTimer.singleShot(50, lambda: look(left - 1))

    QTimer.singleShot(0, lambda: look(tries))


def answer(key):
    """Choose a button of the decision that is about to open."""
    in_dialog(QDialog, lambda dialog: dialog.findChild(QPushButton, key).click())


def study_of(window, fits=6, model=Scored, **options):
    """A search in the session, without the panel."""
    grid = options.pop("grid", {"stride": [0.5 * (k + 1) for k in range(fits // 2)]})
    seeds, at_once, made = options.pop("seeds", (1, 2)), options.pop("at_once", 0), options.pop("made", [])
    study = Study.grid(
        model(),
        {"X": window.workbench.session.datasets["numbers"]},
        grid,
        seeds=seeds,
        title="Strides",
        **options,
    )
    made.append(study)
    window.workbench.studies.start(study, at_once)
    window.commands.show_study(study.id)
    return study


def ended(window, qtbot, study):
    qtbot.waitUntil(lambda: window.workbench.studies.phase(study.id) == "", timeout=WAIT)
    page = window.workspace.current_page()
    assert isinstance(page, StudyPage)
    return page


def click(qtbot, widget):
    qtbot.mouseClick(widget, Qt.MouseButton.LeftButton)


def test_new_fit_beside_a_search_starts_from_its_data(window, qtbot):
    window.workbench.add_dataset(dataset("others"))
    ended(window, qtbot, study_of(window, fits=2, model=SlowWalk))
    window.actions_by_key["new_fit"].trigger()
    qtbot.waitUntil(lambda: window.setup_page is not None, timeout=WAIT)
    assert window.setup_page.spec.id == "toy.slow_walk", "not the model that comes first"
    assert window.setup_page.inputs() == {"X": ["numbers"]}
    assert window.setup_page.data_in_focus == ["numbers"]


def row_at(page, number):
    """Where the line of a fit is."""
    table = page.table
    place = [job.number for job in page.record.jobs].index(number)
    index = table.model.index(table.model.shown_row(place), 1)
    table.view.scrollTo(index)
    return table.view.visualRect(index).center()


def click_fit(qtbot, page, number, modifier=Qt.KeyboardModifier.NoModifier):
    qtbot.mouseClick(page.table.view.viewport(), Qt.MouseButton.LeftButton, modifier, row_at(page, number))


# the panel -----------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_from_the_set_up_to_a_ranked_table_by_clicks(window, qtbot):
    page = set_up(window, qtbot)

    def fill(dialog):
        assert [row.parameter.name for row in dialog.rows] == ["stride", "fail_at", "way", "far"]
        stride, way = dialog.row("stride"), dialog.row("way")
        click(qtbot, stride.tick)
        stride.edit.selectAll()
        qtbot.keyClicks(stride.edit, "0.5 1.5")
        click(qtbot, way.tick)
        assert not way.boxes["down"].isChecked()
        click(qtbot, way.boxes["down"])
        dialog.repeats.editor.selectAll()
        qtbot.keyClicks(dialog.repeats.editor, "2")
        assert dialog.count.text() == "8 fits"
        qtbot.waitUntil(lambda: dialog.cost is not None, timeout=WAIT)
        assert "measured now" in dialog.estimate.text()
        assert "About" in dialog.estimate.text()
        click(qtbot, dialog.start_button)

    in_dialog(SearchDialog, fill)
    click(qtbot, page.foot.search)
    qtbot.waitUntil(lambda: window.current_study() is not None, timeout=WAIT)
    study = window.current_study()
    found = ended(window, qtbot, study)
    assert study.title == "Scored search 1"
    assert study.count("done") == 8
    assert list(found.shown.table)[:5] == ["Fit", "Rank", "Score", "Stride", "Way"]
    first = found.table.model.source_row(0)
    assert study.jobs[first] is study.best
    assert set(found.shown.table["Way"]) == {"Uphill", "Downhill"}
    assert found._headline.text().startswith("Best by Score: ")
    assert window.workbench.session.studies[0]["jobs"][0]["status"] == "done"
    assert window.setup_page is None
    assert window.tree.current() == (STUDY, study.id)


@pytest.mark.long
def test_the_panel_says_when_memory_is_short(window, qtbot, monkeypatch):
    page = set_up(window, qtbot)
    monkeypatch.setattr(memory, "free_memory", lambda: 10)

    def fill(dialog):
        qtbot.waitUntil(lambda: bool(dialog.doubt.text), timeout=WAIT)
        assert "of memory" in dialog.doubt.text
        assert "fewer rows" in dialog.doubt.text
        assert dialog.start_button.isEnabled()
        dialog.reject()

    in_dialog(SearchDialog, fill)
    click(qtbot, page.foot.search)


@pytest.mark.long
def test_the_panel_says_what_is_wrong_and_does_not_start(window, qtbot):
    page = set_up(window, qtbot)

    def fill(dialog):
        row = dialog.row("stride")
        click(qtbot, row.tick)
        row.edit.selectAll()
        qtbot.keyClicks(row.edit, "0,5 1")
        assert not dialog.start_button.isEnabled()
        row.judge()
        assert "decimal point" in row.error.text
        row.edit.selectAll()
        qtbot.keyClicks(row.edit, "0.5 1")
        assert dialog.start_button.isEnabled()
        row.judge()
        assert row.error.text == ""
        dialog.ranking.setCurrentIndex(1)
        assert "Bound cannot be compared across Stride" in dialog.doubt.text
        dialog.ranking.setCurrentIndex(0)
        assert dialog.doubt.text == ""
        row.edit.selectAll()
        qtbot.keyClicks(row.edit, "0.5 100")  # the model refuses it
        qtbot.waitUntil(lambda: bool(dialog.error.text), timeout=WAIT)
        assert "too long" in dialog.error.text
        assert not dialog.start_button.isEnabled()
        dialog.reject()

    in_dialog(SearchDialog, fill)
    click(qtbot, page.foot.search)
    assert window.workbench.studies.records() == []


@pytest.mark.parametrize(
    ("kind", "text", "values"),
    [
        ("int", "2 3, 4;9", [2, 3, 4, 9]),
        ("int", "2..4 4", [2, 3, 4]),
        ("float", "0.5  1e-3", [0.5, 0.001]),
        ("array", "1 2 ; 3", [(1.0, 2.0), (3.0,)]),
    ],
)
def test_lists_of_values(kind, text, values):
    default = {"int": 1, "float": 1.0, "array": (1.0,)}[kind]
    assert parse_values(Hyperparameter("a", kind, default), text) == values


def test_values_are_proposed_within_the_range():
    assert proposed(Hyperparameter("a", "int", 1, minimum=1), 1) == [1, 2]
    assert proposed(Hyperparameter("a", "int", 50), 50) == [25, 50, 100]
    assert proposed(Hyperparameter("a", "float", 0.4, maximum=0.5), 0.4) == [0.2, 0.4]
    assert proposed(Hyperparameter("a", "bool", True), True) == [True, False]


# while it runs -------------------------------------------------------------------------------------------------------


def header_button(window, name):
    return next(b for b in window.header.findChildren(QPushButton) if b.objectName() == name)


@pytest.mark.long
def test_pause_go_on_stop_and_resume_by_the_header(window, qtbot):
    endless = SlowWalk.spec.schedule.with_(draws=1_000_000, thin=1, chains=1)
    study = study_of(window, 8, SlowWalk, schedule=endless, at_once=2)
    page = window.workspace.current_page()
    qtbot.waitUntil(lambda: sum(job.share > 0 for job in study.jobs) == 2, timeout=WAIT)
    click(qtbot, header_button(window, "pause"))
    assert window.workbench.studies.phase(study.id) == "paused"
    page._tick()
    assert "paused" in page._progress.text()
    assert not page._under_way.isHidden()
    click(qtbot, header_button(window, "pause"))
    assert window.workbench.studies.phase(study.id) == "running"
    for _ in range(2):
        click(qtbot, header_button(window, "stop"))
        ended(window, qtbot, study)
        assert study.count("stopped") == 2
        assert study.count("waiting") == 6
        assert page._under_way.isHidden()
        qtbot.waitUntil(lambda: header_button(window, "start").isVisible(), timeout=WAIT)
        assert header_button(window, "start").text() == "Resume"
        click(qtbot, header_button(window, "start"))
        qtbot.waitUntil(lambda: study.count("running") == 2, timeout=WAIT)


def test_fits_under_way_are_kept_against_a_crash(window, qtbot, tmp_path, monkeypatch):
    monkeypatch.setattr(executor, "CHECKPOINT_SECONDS", 0.0)
    session = window.workbench.session
    assert window.workbench.studies.so_far(session) is session
    study = study_of(window, model=SlowWalk, at_once=1)
    qtbot.waitUntil(lambda: study.jobs[0].run is not None and study.jobs[0].run.n_draws > 2, timeout=WAIT)
    found = window.workbench.studies.so_far(session)
    assert not session.runs
    (run,) = open_session(found.save(tmp_path / "s.plaidwork")).runs.values()
    assert (run.status, run.title) == ("stopped", study.jobs[0].run.title)
    assert run.n_draws > 0


def test_failed_fits_say_why(window, qtbot):
    study = study_of(window, grid={"fail_at": [2, 0]}, seeds=(1,))
    page = ended(window, qtbot, study)
    assert page.shown.icons == ["error", ""]
    assert page.shown.table["State"][0].startswith("failed: The walk has ended")
    click_fit(qtbot, page, 1)
    assert "The walk has ended" in page.foot.said.text()
    assert "The walk has ended" in page.side_panel()._failure.text
    assert not page.foot.open_button.isEnabled()
    assert not page.foot.pick_button.isEnabled()
    assert "1 failed" in page._caption.text()


# after it has run ----------------------------------------------------------------------------------------------------


def axes_of(chart) -> tuple[str, str]:
    """Names of the axes of the picture of the fits."""
    (panel,) = chart.picture.panels
    return panel.x.label, panel.y.label


@pytest.mark.long
def test_table_picture_and_panel_select_together(window, qtbot):
    study = study_of(window)
    page = ended(window, qtbot, study)
    panel = page.side_panel()
    click_fit(qtbot, page, 3)
    assert page.chart.selected == {"Fit": {2}}
    assert panel._title.text() == "Fit 3"
    (mark,) = page.chart.picture.panels[0].marks
    piece = int(np.flatnonzero(mark.of.index == 4)[0])
    at = position(mark, page.chart.frames.frames[0], piece).toPoint()
    qtbot.mouseClick(page.chart, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at)
    assert page._selected == (5,)
    assert [page.record.jobs[row].number for row in page.table.selected_rows()] == [5]
    click_fit(qtbot, page, 1, Qt.KeyboardModifier.ControlModifier)
    assert set(page._selected) == {1, 5}
    assert page.foot.compare_button.isEnabled()
    assert list(panel.table.model.columns()) == ["", "Fit 1", "Fit 5"]
    assert panel.table.model.columns()[""][0] == "Stride"
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert page._selected == ()
    assert not page.chart.selected


@pytest.mark.long
def test_a_fit_is_opened_with_its_result_pages(window, qtbot):
    study = study_of(window)
    page = ended(window, qtbot, study)
    click_fit(qtbot, page, 2)
    click(qtbot, page.foot.open_button)
    run = window.current_run()
    assert run is not None
    assert run.id == study.job(2).run_id
    assert run.title.startswith("Fit 2: Stride 0.5, seed 2")
    window.commands.show_study(study.id)
    assert list(window.workbench.session.runs) == [run.id]


@pytest.mark.slow
def test_a_fit_that_was_let_go_is_fitted_again_to_the_same_numbers(window, qtbot, monkeypatch):
    monkeypatch.setattr(under_way, "KEPT_BYTES", 0)
    study = study_of(window)
    page = ended(window, qtbot, study)
    assert all(job.run is None for job in study.jobs)
    assert study.best is not None
    click_fit(qtbot, page, 2)
    click(qtbot, page.foot.open_button)
    qtbot.waitUntil(lambda: window.current_run() is not None, timeout=WAIT)
    run = window.current_run()
    qtbot.waitUntil(lambda: any("equal those of the search" in line.text for line in run.log), timeout=WAIT)
    assert run.results["score"].values == study.job(2).metrics["score"]


@pytest.mark.long
def test_a_second_pick_is_asked_about_and_recorded_as_exploratory(window, qtbot, tmp_path):
    study = study_of(window)
    page = ended(window, qtbot, study)
    click_fit(qtbot, page, 2)
    click(qtbot, page.foot.pick_button)
    assert study.chosen.number == 2
    assert page.foot.pick_button.text() == "Picked"
    assert page.shown.icons[1] == "ok"
    assert study.job(2).run_id in window.workbench.session.runs
    click_fit(qtbot, page, 4)
    answer("cancel")
    click(qtbot, page.foot.pick_button)
    assert study.chosen.number == 2
    answer("pick")
    click(qtbot, page.foot.pick_button)
    assert [(c.number, c.exploratory) for c in study.choices] == [(2, False), (4, True)]
    assert "exploratory" in page.side_panel()._picked.text()
    assert "picked before" in page.shown.table["State"]
    assert "picked, exploratory" in page.shown.table["State"]
    with qtbot.waitSignal(window.workbench.saved, timeout=WAIT):
        window.workbench.file.save(tmp_path / "s.plaidwork")
    back = open_session(tmp_path / "s.plaidwork")
    assert [choice["exploratory"] for choice in back.studies[0]["choices"]] == [False, True]
    assert [n["exploratory"] for n in back.history if n["action"] == "study fit picked"] == [False, True]


@pytest.mark.long
def test_ranking_by_a_metric_that_cannot_be_compared_warns(window, qtbot):
    study = study_of(window)
    page = ended(window, qtbot, study)
    assert page.doubt.text == ""
    page.ranking.setCurrentIndex(1)
    page.ranking.activated.emit(1)
    assert "Bound cannot be compared across Stride" in page.doubt.text
    assert page._headline.text().startswith("Largest Bound")
    assert study.jobs[page.table.model.source_row(0)] is study.best
    page.choose_axes("Score", "Bound")
    assert axes_of(page.chart) == ("Score", "Bound")
    page.choose_axes("Bound", "Bound")
    assert axes_of(page.chart) == ("Bound", "Score")


@pytest.mark.slow
def test_fits_are_removed_but_not_the_picked_one(window, qtbot):
    study = study_of(window)
    page = ended(window, qtbot, study)
    click_fit(qtbot, page, 1)
    click_fit(qtbot, page, 2, Qt.KeyboardModifier.ControlModifier)
    click(qtbot, page.foot.remove_button)
    assert [job.number for job in study.jobs] == [3, 4, 5, 6]
    assert window.messages.current.title == f"Removed 2 fits of “{study.title}”"
    click_fit(qtbot, page, 3)
    click(qtbot, page.foot.pick_button)
    click(qtbot, page.foot.remove_button)
    assert window.messages.current.title == "Could not remove the fits"
    assert len(page.shown.table["Fit"]) == 4


@pytest.mark.long
def test_fits_and_searches_that_were_removed_come_back_with_their_runs(window, qtbot):
    study, session = study_of(window, 2), window.workbench.session
    page = ended(window, qtbot, study)
    jobs = list(study.jobs)
    click_fit(qtbot, page, 1)
    click(qtbot, page.foot.remove_button)
    assert study.jobs == jobs[1:]
    window.commands.undo()
    assert all(a is b for a, b in zip(study.jobs, jobs, strict=True))
    assert jobs[0].run is not None
    assert len(page.shown.table["Fit"]) == 2
    window.workbench.studies.rename(study.id, "Another")
    window.tree.select(STUDY, study.id)
    window.commands.remove()
    assert session.studies == []
    assert window.workbench.studies.records() == []
    assert window.messages.current.title == "Removed “Another”"
    window.commands.undo()
    assert window.workbench.studies.records() == [study]
    assert window.tree.current() == (STUDY, study.id)
    window.commands.undo()
    assert study.title == session.studies[0]["title"] != "Another"
    window.workbench.editing.remove(names=list(session.datasets))
    assert session.studies == []
    assert f"The search “{study.title}” used it and went with it." in window.messages.current.text
    window.commands.undo()
    stored = study_records(session.studies)[0].jobs
    assert [(job.number, job.metric) for job in stored] == [(job.number, job.metric) for job in jobs]


def test_a_search_under_way_is_not_removed(window, qtbot):
    study = study_of(window, 8, at_once=1)
    window.tree.select(STUDY, study.id)
    window.commands.remove()
    assert window.messages.current.title == f"Could not remove “{study.title}”"
    assert window.messages.current.text == f"{study.title} is under way. Stop it first."
    assert window.workbench.studies.records() == [study]
    window.workbench.studies.stop(study.id)
    ended(window, qtbot, study)


@pytest.mark.long
def test_a_search_is_saved_opened_and_gone_on_with(window, qtbot, tmp_path, monkeypatch):
    made = []

    def stop_in_the_third(run, event):
        if made and made[0].job(3).status == "running":
            made[0].stop()

    monkeypatch.setattr(run_places, "courteous", stop_in_the_third)
    study = study_of(window, 8, at_once=1, made=made)
    ended(window, qtbot, study)
    assert [job.status for job in study.jobs] == ["done", "done", "stopped", *["waiting"] * 5]
    with qtbot.waitSignal(window.workbench.saved, timeout=WAIT):
        window.workbench.file.save(tmp_path / "s.plaidwork")
    window.workbench.set_session(Session())
    assert window.workbench.studies.records() == []
    with qtbot.waitSignal(window.workbench.session_replaced, timeout=WAIT):
        window.workbench.file.open(tmp_path / "s.plaidwork")
    record = window.current_study()
    assert record is not None
    made.clear()
    before = [record.job(number).metric for number in (1, 2)]
    window.commands.start()
    qtbot.waitUntil(lambda: window.workbench.studies.get(record.id).count("done") == 8, timeout=WAIT)
    ended(window, qtbot, record)
    assert [window.workbench.studies.get(record.id).job(number).metric for number in (1, 2)] == before


@pytest.mark.long
def test_a_search_whose_model_is_missing_can_be_looked_at(window, qtbot, tmp_path):
    study = study_of(window)
    ended(window, qtbot, study)
    with qtbot.waitSignal(window.workbench.saved, timeout=WAIT):
        window.workbench.file.save(tmp_path / "s.plaidwork")
    session = open_session(tmp_path / "s.plaidwork")
    session.studies[0]["model"] = "gone.model"
    window.workbench.set_session(session)
    page = window.workspace.current_page()
    assert isinstance(page, StudyPage)
    assert len(page.shown.table["Fit"]) == 6
    click_fit(qtbot, page, 1)
    click(qtbot, page.foot.open_button)
    qtbot.waitUntil(lambda: window.messages.count > 0, timeout=WAIT)
    assert "Could not open a fit" in window.messages.current.title


@pytest.mark.long
def test_renamed_data_are_found_by_their_searches_and_stay_in_front(window, qtbot, tmp_path):
    study = study_of(window)
    ended(window, qtbot, study)
    window.tree.select(DATA, "numbers")

    def rename(dialog):
        field = dialog.findChild(QLineEdit)
        field.selectAll()
        qtbot.keyClicks(field, "cells")
        qtbot.mouseClick(dialog.findChild(QPushButton, "go"), Qt.MouseButton.LeftButton)

    in_dialog(QDialog, rename)
    window.commands.rename()
    assert list(window.workbench.session.datasets) == ["cells"]
    assert window.tree.current() == (DATA, "cells")
    assert window.workspace.current_page().name == "cells"
    (record,) = window.workbench.studies.records()
    assert record.input_names == {"X": ("cells",)}
    path = tmp_path / "renamed.plaidwork"
    with qtbot.waitSignal(window.workbench.saved, timeout=WAIT):
        window.workbench.file.save(path)
    kept = open_session(path)
    assert kept.studies[0]["inputs"] == {"X": ["cells"]}
    assert kept.views["window"]["chosen"] == [DATA, "cells"]


@pytest.mark.slow
def test_rename_and_remove_of_a_search(window, qtbot):
    study = study_of(window)
    ended(window, qtbot, study)

    def rename(dialog):
        dialog.findChild(QLineEdit).setText("Another")
        dialog.findChild(QPushButton, "go").click()

    in_dialog(QDialog, rename)
    window.commands.rename()
    assert study.title == "Another"
    window.commands.remove()
    assert window.workbench.session.studies == []
    assert window.current_study() is None


def test_words_of_searches_without_a_result():
    data = {"X": toys.matrix()}
    study = Study.grid(Scored(), data, {"stride": [1, 2]})
    assert headline(study, "running") == "2 fits, none done yet"
    assert headline(study, "") == "2 fits, none done"
    for job in study.jobs:
        job.status, job.message = "failed", "no"
    assert headline(study, "") == "All 2 fits failed"
    assert next(iter(fit_columns(study).axes)) == "Score"


def test_without_a_selection_the_panel_shows_what_settings_are_worth_to_views(qapp, qtbot, monkeypatch):
    study = Study.grid(Scored(), {"X": np.zeros((4, 3))}, {"stride": [0.5, 1.0]})
    panel = FitDetail()
    qtbot.addWidget(panel)
    panel.show_fits(study, [])
    assert panel._title.text() == "No fit selected"
    columns = {
        "View": np.array(["a", "a"], dtype=object),
        "stride": np.array([0.5, 1.0]),
        "Log density": np.array([-1234.56, -1200.0]),
        "SE": np.array([12.0, 13.0]),
        "Below the best": np.array([34.56, 0.0]),
        "SE of the difference": np.array([1.2, 0.0]),
        "Note": np.array(["", "best"], dtype=object),
        "Fits": np.array([1, 1]),
    }
    monkeypatch.setattr(StudyRecord, "by_view", lambda self: Table(columns))
    panel.show_fits(study, [])
    assert panel._title.text() == "By view"
    model = panel.table.view.model()
    shown = [[model.index(i, j).data() for j in range(model.columnCount())] for i in range(2)]
    assert shown == [["a", "0.5", "−1\u202f235 ± 12", "34.6 ± 1.2"], ["a", "1.0", "−1\u202f200 ± 13", "best"]]
    panel.show_fits(study, study.jobs[:1])
    assert panel._title.text() == "Fit 1"
