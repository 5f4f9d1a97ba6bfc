"""The page of analyses: what is offered, the form from the declaration, running, cancelling, records."""

import threading
import time

import numpy as np
import pytest
from PySide6.QtCore import QEventLoop, QTimer

from plaidwork.core.contract.hyperparameter import Hyperparameter
from plaidwork.core.contract.model import Result, Table
from plaidwork.core.contract.spec import Input, View
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import ModelError
from plaidwork.core.findings.analysis import Analysis, AnalysisSpec
from plaidwork.core.findings.annotations import Annotations
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.views.sources import Sources
from plaidwork.gui.analyses.ask_page import AskPage
from plaidwork.gui.analyses.page import AnalysisPage
from plaidwork.gui.analyses.rail import MADE, NEW
from plaidwork.gui.analyses.record_view import RecordView, inputs_text, run_showing
from plaidwork.gui.run_pages import run_pages
from plaidwork.gui.workbench import Workbench
from tests.gui.result_runs import ToyModel
from tests.registries import registry_of


def until(there, seconds=10.0):
    """Let the window work until it is so."""
    end, loop = time.monotonic() + seconds, QEventLoop()
    while not there():
        assert time.monotonic() < end
        QTimer.singleShot(5, loop.quit)
        loop.exec()  # unlike QTest.qWait it lets other threads run meanwhile


class Count(Analysis):
    """Counts labels; ``mode`` says how it ends."""

    mode = "done"
    go = threading.Event()
    spec = AnalysisSpec(
        id="toy.count",
        version="1",
        title="Count labels",
        summary="How often each label occurs.",
        needs={"means": "means"},
        annotations=(Annotations("label", values="text"),),
        hyperparameters=(Hyperparameter("least", "int", 1, minimum=0, label="Least"),),
        views=(
            View("table", "Counts", {"values": "counts"}, headline="headline"),
            View("heatmap", "Map", {"values": "map"}),
        ),
        help="It counts.",
    )

    def run(self, results, data, params, report):
        if self.mode == "wait":
            while not self.go.is_set():
                report(0.5)
                time.sleep(0.01)
        if self.mode == "user":
            raise ModelError("Too few labels.", "Choose another.")
        if self.mode == "bug":
            raise KeyError("oops")
        values = data.annotations["label"].values
        labels, counts = np.unique(values.astype(str), return_counts=True)
        return {
            "counts": Table({"Label": labels, "Count": counts}),
            "map": Result(counts[None, :] * 1.0, ("one", "level")),
            "level": Result(labels, ("level",)),
            "headline": f"{len(labels)} labels",
        }


class Other(Count):
    spec = AnalysisSpec(
        id="toy.other",
        version="1",
        title="Other",
        summary="Takes data.",
        needs={"means": "means"},
        inputs=(Input("truth"),),
    )


@pytest.fixture
def bench(qapp):
    Count.mode = "done"
    Count.go.clear()
    workbench = Workbench(registry_of(Count, Other))
    yield workbench
    Count.go.set()


@pytest.fixture
def run(bench):
    data = Dataset(
        "X",
        np.arange(12.0).reshape(4, 3),
        ("a", "b", "c", "d"),
        ("p", "q", "r"),
        row_table={"name": np.array(["n1", "n2", "n3", "n4"]), "class": np.array(["u", "v", "u", "v"])},
        column_table={"size": np.arange(3)},
        row_label="genes",
    )
    made = bench.session.add_run(make_plan(ToyModel(), {"X": data}))
    made.status = "done"
    made.results = {"means": Result(np.zeros(3), ("column",))}
    return made


@pytest.fixture
def page(bench, run, qtbot):
    made = AnalysisPage(bench, run)
    qtbot.addWidget(made)
    made.resize(1000, 600)
    made.show()
    until(lambda: made._specs is not None)
    return made


def _made(page):
    before = len(page.run.analyses)
    page.current.start.click()
    until(lambda: len(page.run.analyses) > before)
    return page.run.analyses[-1]


def test_offered_analyses_with_the_form_of_the_first(page):
    assert page.rail.keys(NEW) == ["toy.count", "toy.other"]
    assert isinstance(page.current, AskPage)
    field = page.current.annotation_field("label")
    assert [choice.label for choice in field.parameter.choices] == ["name (genes)", "class (genes)"]
    assert field.value == "X:row:class"  # the labels that recur
    assert page.current.start.isEnabled()
    assert not page.current.progress.isVisible()


def test_made_record_is_shown_and_kept(page, bench):
    bench.set_dirty(False)
    record = _made(page)
    assert record.params == {"least": 1}
    assert inputs_text(record) == "class of rows"
    assert bench.dirty
    assert isinstance(page.current, RecordView)
    assert page.rail.current() == (MADE, record.id)
    table = page.current.page.front
    until(lambda: table.loaded is not None)
    assert table._headline.text() == "2 labels"
    assert "Analysis made: Count labels" in [line.text for line in page.run.log]


def test_names_along_an_axis_come_from_the_results(page, bench):
    record = _made(page)
    sources = Sources(bench.session, run_showing(page.run, record), record.views[1])
    assert sources.dim_names("level", 2) == ("u", "v")
    assert sources.dim_names("level", 3) == ("level 1", "level 2", "level 3")
    page.current.page.show_view("Map")
    until(lambda: page.current.page.front.loaded is not None)
    assert page.current.page.front.state == ""


def test_run_again_fills_in_the_answers(page):
    page.current.form.set_values({"least": 7})
    page.current.annotation_field("label").set_value("X:row:name")
    record = _made(page)
    page.current.again.emit()
    assert isinstance(page.current, AskPage)
    assert page.current.form.values() == {"least": 7}
    assert page.current.inputs() == {"label": "X:row:name"}
    assert page.run.analyses == [record]


def test_delete(page, bench):
    first, second = _made(page), None
    page.rail.select(NEW, "toy.count")
    second = _made(page)
    assert page.rail.keys(MADE) == [second.id, first.id]
    bench.set_dirty(False)
    page.current.deleted.emit()
    assert page.run.analyses == [first]
    assert page.rail.current() == (MADE, first.id)
    assert bench.dirty
    page.delete(first.id)
    assert page.run.analyses == []
    assert isinstance(page.current, AskPage)
    bench.editing.undo()
    bench.editing.undo()
    assert page.run.analyses == [first, second]
    assert page.rail.keys(MADE) == [second.id, first.id]
    third = _made(page)
    bench.editing.undo()  # that of adding the data, which are used: what was found is no edit
    assert page.run.analyses == [first, second, third]


@pytest.mark.parametrize(
    ("mode", "words"), [("user", "Too few labels. Choose another."), ("bug", "KeyError")]
)
def test_failure_is_told_beside_the_button(page, bench, mode, words):
    told = []
    bench.message_posted.connect(told.append)
    Count.mode = mode
    page.current.start.click()
    until(lambda: page._making is None)
    assert words in page.current.message.text
    assert page.current.start.isVisible()
    assert page.run.analyses == []
    assert bool(told) == (mode == "bug")


def test_cancel(page):
    Count.mode = "wait"
    page.current.start.click()
    until(lambda: page.current.progress.value() == 500)
    assert not page.current.start.isVisible()
    page.current.cancel.click()
    assert page.current.start.isVisible()
    assert page._making is None
    Count.mode = "done"
    _made(page)
    assert len(page.run.analyses) == 1


def test_wrong_settings_and_missing_data_wait(page):
    page.current.form.field("least").editor.lineEdit().setText("-1")
    page.current.form.field("least").editor.edited.emit()
    assert not page.current.start.isEnabled()
    page.rail.select(NEW, "toy.other")
    assert isinstance(page.current, AskPage)
    assert page.current.input_field("truth").chosen == ["X"]


def test_no_annotation_says_what_to_do(bench, qtbot, run):
    data = bench.session.datasets["X"]
    bench.session.datasets["X"] = data.with_(row_table={})
    page = AnalysisPage(bench, run)
    qtbot.addWidget(page)
    until(lambda: isinstance(page.current, AskPage))
    assert "no annotation to choose as “Label”" in page.current.problem
    assert not page.current.start.isEnabled()


def test_the_first_that_has_all_it_needs_is_in_front(bench, qtbot, run):
    """Without labels the other one can be made as the data are."""
    data = bench.session.datasets["X"]
    bench.session.datasets["X"] = data.with_(row_table={})
    run.inputs = {**run.inputs, "truth": ["X"]}
    page = AnalysisPage(bench, run)
    qtbot.addWidget(page)
    until(lambda: isinstance(page.current, AskPage))
    assert page.rail.current() == (NEW, "toy.other")


def test_without_results_and_without_analyses(bench, qtbot, run):
    run.results = {}
    page = AnalysisPage(bench, run)
    qtbot.addWidget(page)
    until(lambda: page._specs is not None)
    assert page.current.title == "No result to analyse yet"
    run.results = {"means": Result(np.zeros(3), ("column",))}
    bench.results_changed.emit(run.id)
    until(lambda: isinstance(page.current, AskPage))
    bench.registry._catalogue["analyses"].clear()
    other = AnalysisPage(bench, run)
    qtbot.addWidget(other)
    until(lambda: other._specs is not None)
    assert other.current.title == "No analysis without the model"
    bench.registry._catalogue["models"]["toy.blocks"] = ToyModel
    other.refresh()
    until(lambda: other.current.title == "No analysis for this run")


def test_record_of_a_missing_plugin_still_shows(page, bench, qtbot):
    record = _made(page)
    bench.registry._catalogue["analyses"].clear()
    told = []
    bench.notified.connect(lambda *message: told.append(message))
    other = AnalysisPage(bench, page.run)
    qtbot.addWidget(other)
    until(lambda: isinstance(other.current, RecordView))
    other.current.again.emit()
    assert "cannot be run again" in told[0][1]
    assert isinstance(other.current, RecordView)
    assert record in page.run.analyses


def test_every_run_has_the_tab(bench, run):
    assert [info.title for info in run_pages(bench, run)][-2:] == ["Analyses", "Settings"]
