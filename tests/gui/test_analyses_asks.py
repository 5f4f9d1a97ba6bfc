"""The page of analyses by clicks: many annotations, files, labels added later, what is opened once."""

import threading

import numpy as np
import pytest
from asked import answering
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog, QPushButton, QStyle, QStyleOptionViewItem

from plaidwork.core.contract.model import Table
from plaidwork.core.contract.spec import Input, View
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import DataError
from plaidwork.core.findings.analysis import Analysis, AnalysisSpec
from plaidwork.core.findings.annotations import Annotations
from plaidwork.core.inference.plan import make_plan
from plaidwork.gui.analyses.ask_page import AskPage
from plaidwork.gui.analyses.page import AnalysisPage
from plaidwork.gui.analyses.rail import MADE, NEW
from plaidwork.gui.analyses.record_view import RecordView, inputs_text
from plaidwork.gui.data import counting
from plaidwork.gui.setup.error_line import ErrorLine
from plaidwork.gui.workbench import Workbench
from plaidwork.plugins.factor_tools.covariates import FactorsAndCovariates
from plaidwork.plugins.factor_tools.enrichment import GeneSetEnrichment
from plaidwork.plugins.factor_tools.survival import FactorsAndSurvival
from tests.gui.factor_runs import FactorModel, factor_dataset, factor_results
from tests.registries import registry_of

WAIT = 20_000


class Opens(Analysis):
    spec = AnalysisSpec(
        id="toy.opens",
        version="1",
        title="Opens",
        summary="Looks once.",
        needs={"scores": "scores"},
        inputs=(Input("further", dims=("further_row", "drug"), missing=True),),
        annotations=(Annotations("group", of="further"),),
        views=(View("table", "T", {"values": "t"}),),
        unlocks="test half",
    )

    def run(self, results, data, params, report):
        return {"t": Table({"group": data.annotations["group"].values.astype(str)})}


@pytest.fixture
def bench(qapp):
    return Workbench(registry_of(FactorsAndCovariates, GeneSetEnrichment, Opens))


@pytest.fixture
def run(bench):
    data = factor_dataset(60, 40)
    made = bench.session.add_run(make_plan(FactorModel(), {"X": data}))
    made.status = "done"
    made.results = factor_results(data, count=4)
    made.results["loadings"] = made.results["weights"]
    return made


@pytest.fixture
def page(bench, run, qtbot):
    made = AnalysisPage(bench, run)
    qtbot.addWidget(made)
    made.resize(1100, 700)
    made.show()
    qtbot.waitUntil(lambda: made._specs is not None, timeout=WAIT)
    return made


def form(page, key) -> AskPage:
    page.rail.select(NEW, key)
    assert isinstance(page.current, AskPage)
    return page.current


def click(qtbot, widget):
    qtbot.mouseClick(widget, Qt.MouseButton.LeftButton)


def tick(qtbot, field, row):
    """Click the check box of a row."""
    item = field.list.item(row)
    option = QStyleOptionViewItem()
    option.initFrom(field.list)
    option.rect = field.list.visualItemRect(item)
    option.features = QStyleOptionViewItem.ViewItemFeature.HasCheckIndicator
    where = QStyle.SubElement.SE_ItemViewItemCheckIndicator
    box = field.list.style().subElementRect(where, option, field.list)
    qtbot.mouseClick(field.list.viewport(), Qt.MouseButton.LeftButton, pos=box.center())


def finish(qtbot, page, count=1):
    qtbot.waitUntil(lambda: len(page.run.analyses) == count, timeout=WAIT)
    assert isinstance(page.current, RecordView)
    return page.run.analyses[-1]


def write_gmt(folder, sets, name="sets.gmt"):
    path = folder / name
    path.write_text("".join(f"{key}\tx\t" + "\t".join(genes) + "\n" for key, genes in sets.items()))
    return path


def choose_file(monkeypatch, path):
    asked = []

    def get(*args, **kwargs):
        asked.append(args)
        return str(path), ""

    monkeypatch.setattr(QFileDialog, "getOpenFileName", get)
    return asked


def test_covariates_chosen_by_ticks_made_again_and_removed(page, qtbot):
    current = form(page, "factor_tools.covariates")
    field = current.annotation_field("covariates")
    assert field.value == ["X:row:IGHV", "X:row:age", "X:row:site", "X:row:note"]
    click(qtbot, field.none)
    assert field.value == []
    assert not current.start.isEnabled()
    assert "needs at least one" in current.message.text
    tick(qtbot, field, 0)
    tick(qtbot, field, 1)
    assert field.value == ["X:row:IGHV", "X:row:age"]
    click(qtbot, current.start)
    record = finish(qtbot, page)
    assert record.text("headline").startswith("factor 1 separates IGHV")
    assert inputs_text(record) == "IGHV, age"
    group = page.current.page
    for title in ("Map of effects", "Associations"):
        group.show_view(title)
        qtbot.waitUntil(lambda: group.front.loaded is not None, timeout=WAIT)
        assert group.front.state == ""
    page.current.again.emit()
    assert page.current.annotation_field("covariates").value == ["X:row:IGHV", "X:row:age"]
    click(qtbot, page.current.annotation_field("covariates").all)
    click(qtbot, page.current.start)
    second = finish(qtbot, page, 2)
    assert inputs_text(second) == "4 annotations"
    page.rail.setFocus()
    qtbot.keyClick(page.rail, Qt.Key.Key_Delete)
    assert page.run.analyses == [record]
    assert page.rail.current() == (MADE, record.id)


def test_large_data_are_counted_before_a_form_asks_for_them(page, bench, qtbot, monkeypatch):
    told, may, real = [], threading.Event(), Dataset._count_missing

    def count(data):
        may.wait(20)
        told.append(threading.current_thread() is threading.main_thread())
        return real(data)

    monkeypatch.setattr(counting, "FEW", 50)
    monkeypatch.setattr(Dataset, "_count_missing", count)
    bench.add_dataset(factor_dataset(30, 20).with_(name="large", values=np.ones((30, 20))))
    before = page.current
    page.rail.select(NEW, GeneSetEnrichment.spec.id)
    page.rail.select(NEW, Opens.spec.id)
    assert page.current is before
    may.set()
    qtbot.waitUntil(lambda: page.current is not before, timeout=WAIT)
    assert page.current.spec is Opens.spec, "not the one that was left meanwhile"
    assert told
    assert not any(told)


def test_keyboard_ticks_a_covariate(page, qtbot):
    field = form(page, "factor_tools.covariates").annotation_field("covariates")
    field.list.setFocus()
    field.list.setCurrentRow(2)
    qtbot.keyClick(field.list, Qt.Key.Key_Space)
    assert field.value == ["X:row:IGHV", "X:row:age", "X:row:note"]


def test_gene_sets_from_a_file_chosen_in_the_dialog(page, qtbot, tmp_path, monkeypatch):
    path = write_gmt(tmp_path, {f"S{k}": [f"drug {i + 1}" for i in range(k, k + 12)] for k in range(5)})
    current = form(page, "factor_tools.gene_sets")
    field = current.file_field("sets")
    assert not current.start.isEnabled()
    assert current.message.text == "“Gene sets” needs a file."
    asked = choose_file(monkeypatch, path)
    click(qtbot, field.choose_button)
    qtbot.waitUntil(lambda: field.value is not None, timeout=WAIT)
    assert "*.gmt" in asked[0][3]
    assert field.help_text == "5 sets of 12 to 12 genes, 16 genes in all"
    assert current.start.isEnabled()
    path.unlink()  # read once
    click(qtbot, current.start)
    record = finish(qtbot, page)
    assert inputs_text(record) == "sets.gmt"
    group = page.current.page
    for title in ("Map of top sets", "Gene sets", "Matching", "Top sets"):
        group.show_view(title)
        qtbot.waitUntil(lambda: group.front.loaded is not None, timeout=WAIT)
        assert group.front.state == "", title
    page.current.again.emit()
    assert page.current.file_field("sets").value == record.files["sets"]
    click(qtbot, page.current.start)
    again = finish(qtbot, page, 2)
    np.testing.assert_array_equal(again.results["evidence"].values, record.results["evidence"].values)


def test_a_wrong_file_is_told_at_the_field(page, qtbot, tmp_path, monkeypatch):
    path = tmp_path / "bad.gmt"
    path.write_text("A\tx\tg\nB g h\n")
    current = form(page, "factor_tools.gene_sets")
    field = current.file_field("sets")
    choose_file(monkeypatch, path)
    click(qtbot, field.choose_button)
    qtbot.waitUntil(lambda: bool(field.shown_problem), timeout=WAIT)
    assert "bad.gmt, line 2: expected three fields or more" in field.shown_problem
    assert not current.start.isEnabled()
    good = write_gmt(tmp_path, {"S": ["drug 1"]})
    choose_file(monkeypatch, good)
    click(qtbot, field.choose_button)
    qtbot.waitUntil(lambda: field.value is not None, timeout=WAIT)
    assert field.shown_problem == ""
    click(qtbot, current.start)  # a set of one gene: the analysis says what to do
    qtbot.waitUntil(lambda: "Lower the smallest set" in current.message.text, timeout=WAIT)
    choose_file(monkeypatch, "")  # the dialog was cancelled
    click(qtbot, field.choose_button)
    assert field.value is not None


def test_labels_added_on_the_form_can_be_chosen_at_once(page, bench, qtbot, tmp_path, monkeypatch):
    path = tmp_path / "more.csv"
    path.write_text(
        "patient,treated\n" + "".join(f"patient {i + 1},{'yes' if i % 2 else 'no'}\n" for i in range(60))
    )
    current = form(page, "factor_tools.covariates")
    click(qtbot, current.annotation_field("covariates").none)
    choose_file(monkeypatch, path)
    told = []
    bench.notified.connect(lambda *message: told.append(message))
    click(qtbot, current.add_labels)
    qtbot.waitUntil(lambda: page.current is not current, timeout=WAIT)
    field = page.current.annotation_field("covariates")
    assert field.offered[-1] == "X:row:treated"
    assert field.value == []  # the answers stay
    assert told == [("ok", "Labels added", "drugs: 60 of 60 names match.", "")]
    tick(qtbot, field, 4)
    click(qtbot, page.current.start)
    assert inputs_text(finish(qtbot, page)) == "treated"


def test_labels_that_match_nothing_are_told(page, qtbot, tmp_path, monkeypatch):
    path = tmp_path / "more.csv"
    path.write_text("patient,treated\nnobody,1\n")
    current = form(page, "factor_tools.covariates")
    choose_file(monkeypatch, path)
    click(qtbot, current.add_labels)
    qtbot.waitUntil(lambda: "no name occurs" in current.message.text, timeout=WAIT)
    assert page.current is current


def test_what_is_opened_once_is_confirmed_noted_and_later_exploratory(page, bench, run, qtbot):
    half = Dataset(
        "half", np.ones((2, 40)), ("a", "b"), run.session.datasets["drugs"].column_names,
        row_table={"arm": np.array(["t", "c"])},
    )  # fmt: skip
    bench.session.add_dataset(half)
    current = form(page, "toy.opens")
    assert current.start.text() == "Open test half and run…"
    shown = [line.text for line in current.findChildren(ErrorLine)]
    assert any("can be done once" in text for text in shown)
    assert current.annotation_field("group").value == "further:row:IGHV"
    current.input_field("further").combo.setCurrentText("half   (2 × 40)")
    current.input_field("further").choose(["half"])
    assert current.annotation_field("group").value == "further:row:arm"  # the columns of the data now chosen
    seen = []

    def look(dialog):
        seen.extend(button.text() for button in dialog.findChildren(QPushButton))
        return True

    with answering(look, "cancel"):
        click(qtbot, current.start)
    assert seen == ["Cancel", "Open test half"]
    assert run.analyses == []
    with answering("open"):
        click(qtbot, current.start)
    record = finish(qtbot, page)
    assert not record.exploratory
    assert list(record.results["t"].columns["group"]) == ["t", "c"]
    assert [entry["what"] for entry in bench.session.history if entry["action"] == "unlocked"] == [
        "test half"
    ]
    assert form(page, "toy.opens").start.text() == "Run analysis"

    later = bench.session.add_run(make_plan(FactorModel(), {"X": bench.session.datasets["drugs"]}))
    later.status, later.results = "done", run.results
    other = AnalysisPage(bench, later)
    qtbot.addWidget(other)
    other.show()
    qtbot.waitUntil(lambda: other._specs is not None, timeout=WAIT)
    current = form(other, "toy.opens")
    assert current.start.text() == "Run analysis"
    click(qtbot, current.start)
    assert finish(qtbot, other).exploratory
    shown = [line.text for line in other.current.findChildren(ErrorLine)]
    assert any(text.startswith(f"Exploratory: the test half was opened for {run.title}") for text in shown)


def test_a_bug_in_examine_is_told_at_the_field(page, bench, qtbot, tmp_path, monkeypatch):
    class Broken(GeneSetEnrichment):
        def examine(self, name, file):
            raise KeyError("oops")

    bench.registry._catalogue["analyses"]["factor_tools.gene_sets"] = Broken
    path = write_gmt(tmp_path, {"S": ["drug 1"]})
    field = form(page, "factor_tools.gene_sets").file_field("sets")
    choose_file(monkeypatch, path)
    click(qtbot, field.choose_button)
    qtbot.waitUntil(lambda: "KeyError" in field.shown_problem, timeout=WAIT)


def test_a_file_is_read_off_the_gui_thread(page, qtbot, tmp_path, monkeypatch):
    from PySide6.QtCore import QThread

    threads = []

    class Slow(GeneSetEnrichment):
        def examine(self, name, file):
            threads.append(QThread.currentThread())
            raise DataError("not this one")

    page.workbench.registry._catalogue["analyses"]["factor_tools.gene_sets"] = Slow
    field = form(page, "factor_tools.gene_sets").file_field("sets")
    field.load(write_gmt(tmp_path, {"S": ["drug 1"]}))
    assert "is being read" in field.problem
    qtbot.waitUntil(lambda: field.shown_problem == "not this one", timeout=WAIT)
    assert threads[0] is not QApplication.instance().thread()


def test_a_form_begins_with_the_columns_whose_titles_fit(bench, run, qtbot):
    data = next(iter(bench.session.datasets.values()))
    n = len(data.row_names)
    columns = {
        "years to death": np.arange(n) + 0.5,
        "died": np.array(["yes", "no"], dtype=object)[np.arange(n) % 2],
    }
    bench.session.datasets[data.name] = data.with_(row_table={**data.row_table, **columns})
    made = AskPage(FactorsAndSurvival.spec, run, bench.session.datasets, lambda *_: None)
    qtbot.addWidget(made)
    assert made.annotation_field("time").value == "X:row:years to death"
    assert made.annotation_field("event").value == "X:row:died"
    assert made.annotation_field("adjust").value == []
