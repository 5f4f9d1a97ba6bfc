"""The page of a dataset, transformations, undo, export."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import scipy.sparse
from gui_toys import ToyRegistry, labels, matrix, settle
from PySide6.QtCore import Qt

from plaidwork.core.data import glimpse
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.importers import read_dataset
from plaidwork.core.data.levels import LEVELS, words_of
from plaidwork.core.data.transforms import TRANSFORMS, apply_step
from plaidwork.core.deferred import Deferred
from plaidwork.core.errors import SessionError
from plaidwork.core.inference.plan import make_plan
from plaidwork.gui.data import DataPage, ImportDialog, TransformDialog, data_panel, facts, values_model
from plaidwork.gui.data.course import course_of
from plaidwork.gui.data.facts import figure_rows, find_facts, missing_text, size_text
from plaidwork.gui.data.transform_dialog import used_by
from plaidwork.gui.data.undo import UndoStore
from plaidwork.gui.data.values_table import values_table
from plaidwork.gui.widgets import DataTable, StatePane
from plaidwork.gui.workbench import Workbench


@pytest.fixture(autouse=True)
def finished(qapp):
    yield
    settle()


@pytest.fixture
def bench(qapp):
    bench = Workbench(ToyRegistry())
    classes = np.array(["a", "b"] * 4, dtype=object)
    bench.add_dataset(matrix(missing=3).with_(column_table={"class": classes}))
    return bench


@pytest.fixture
def page(qtbot, bench):
    page = DataPage(bench, "genes")
    qtbot.addWidget(page)
    qtbot.addWidget(page.side_panel())
    page.resize(800, 600)
    page.show()
    qtbot.waitUntil(lambda: page._facts is not None, timeout=20_000)
    return page


def click(qtbot, widget):
    qtbot.mouseClick(widget, Qt.MouseButton.LeftButton)


def test_large_data_are_first_shown_from_some_of_their_rows(qtbot, bench, monkeypatch):
    """All other rows follow; until then picture and numbers say what they come from."""
    held, shown = threading.Event(), []
    real = facts.find_facts

    def find(dataset, part=None):
        assert part is not None or held.wait(20)
        return real(dataset, part)

    monkeypatch.setattr(data_panel, "find_facts", find)
    for module in (glimpse, data_panel):
        monkeypatch.setattr(module, "LARGE", 1)
    # 10 of 30 rows of 8 numbers: what is in memory counts fourfold
    monkeypatch.setattr(glimpse, "GLIMPSE", 2600)
    page = DataPage(bench, "genes")
    qtbot.addWidget(page)
    qtbot.addWidget(page.side_panel())
    page.panel.computed.connect(shown.append)
    page.show()
    qtbot.waitUntil(lambda: bool(page._in_part.text()), timeout=20_000)
    assert page._in_part.text() == "Picture from 10 of 30 genes, the others are being read"
    assert ("Numbers below", "from 10 of 30 genes") in facts.figure_rows(page.dataset, page._facts)
    assert page.picture.image._rows[1] == "g3"
    held.set()
    qtbot.waitUntil(lambda: not page._in_part.text(), timeout=20_000)
    assert [found.looked_at.shape for found in shown] == [(10, 8), (30, 8)]
    assert page.picture.image._values.shape == (30, 8)


def test_missing_cells_are_counted_in_the_background(qtbot, bench, monkeypatch):
    """The page is there before; where the count says that all are missing, it shows no picture."""
    held, real = threading.Event(), facts.find_facts
    monkeypatch.setattr(data_panel, "find_facts", lambda dataset: held.wait(20) and real(dataset))
    bench.add_dataset(matrix("void", 4, 3, missing=12))
    pages = [DataPage(bench, name) for name in ("genes", "void")]
    for page in pages:
        qtbot.addWidget(page)
        qtbot.addWidget(page.side_panel())
        page.show()
        assert page.picture.hatched.isHidden()
        assert not isinstance(page._stack.currentWidget(), StatePane)
        assert page.dataset.known_missing is None
    assert [page._headline.text() for page in pages] == ["30 genes × 8 samples", "4 genes × 3 samples"]
    held.set()
    qtbot.waitUntil(lambda: all(page._facts is not None for page in pages), timeout=20_000)
    assert pages[0]._headline.text() == "30 genes × 8 samples, 3 cells missing (1.2 %)"
    assert not pages[0].picture.hatched.isHidden()
    assert pages[1]._stack.currentWidget().title == "No values to show"
    assert pages[0].dataset.with_(name="copy", unit="mV").known_missing == 3
    assert pages[0].dataset.with_(kind="count").known_missing is None


def test_numbers_of_large_sparse_data_say_how_many_rows_they_come_from(monkeypatch):
    sparse = scipy.sparse.random(90, 10, density=0.3, format="csr", random_state=1)
    names = tuple(f"g{n}" for n in range(90)), tuple(f"s{n}" for n in range(10))
    dataset = Dataset("counts", sparse, *names, row_label="genes")
    monkeypatch.setattr(facts, "DENSE", 300)
    found = facts.find_facts(dataset)
    assert found.thumb.shape == (30, 10)
    assert ("Numbers below", "from 30 of 90 genes") in facts.figure_rows(dataset, found)


def test_headline(page):
    assert page._headline.text() == "30 genes × 8 samples, 3 cells missing (1.2 %)"
    assert page._line.text() == "genes: real numbers"
    assert not page.picture.hatched.isHidden()
    assert page.undo_button.isHidden()


def test_picture_reads_out(qtbot, page):
    qtbot.waitUntil(lambda: page.picture.image._values.size > 0, timeout=20_000)
    assert page.picture.image.read_out(0.5, 0.5) == "g0, s0: missing"
    assert page.picture.image.map_name == "loom"


def test_values_table(qtbot, page):
    click(qtbot, page.switch._group.buttons()[1])
    model = page._pages["values"].model()
    assert (model.rowCount(), model.columnCount()) == (30, 1 + 8 + 1)
    assert [model.headerData(k, Qt.Orientation.Horizontal, Qt.ItemDataRole.DisplayRole) for k in (0, 1)] == [
        "genes",
        "s0",
    ]
    texts = [model.index(0, k).data() for k in range(5)]
    assert texts[:4] == ["g0", "–", "–", "–"]
    exact = model.index(0, 4).data(Qt.ItemDataRole.ToolTipRole)
    assert float(exact) == page.dataset.values[0, 3]


def test_words_of_a_column_are_looked_for_in_the_background(qtbot, monkeypatch):
    """Its cells are empty until all its numbers were gone through, and numbers where these are no words any more."""
    threads, held = [], threading.Event()

    def found(dataset, index):
        threads.append(threading.current_thread())
        assert held.wait(20)
        return words_of(dataset, index)

    monkeypatch.setattr(values_model, "words_of", found)
    said = np.array(["no | yes", "no | yes", ""], dtype=object)
    values = np.array([[0, 0, 7], [1, 2, 8], [np.nan, 1, 9]], dtype=float)
    data = Dataset("people", values, ("p0", "p1", "p2"), ("ill", "times", "age"), column_table={LEVELS: said})
    table = values_table(data)
    qtbot.addWidget(table)
    table.show()
    model = table.model()

    def texts():
        return [[model.index(row, column).data() for column in (1, 2, 3)] for row in range(3)]

    def side(column):
        return model.headerData(column, Qt.Orientation.Horizontal, Qt.ItemDataRole.TextAlignmentRole)

    assert texts() == [["", "", "7"], ["", "", "8"], ["–", "", "9"]]
    with qtbot.waitSignals([model.dataChanged] * 2, timeout=20_000):
        held.set()
    assert texts() == [["no", "0", "7"], ["yes", "2", "8"], ["–", "1", "9"]]
    assert [bool(side(column) & Qt.AlignmentFlag.AlignLeft) for column in (1, 2, 3)] == [True, False, False]
    assert len(threads) == 2
    assert threading.main_thread() not in threads


def test_annotations_table(qtbot, page):
    page.switch.set_current("columns")
    table = page._pages["columns"].findChild(DataTable)
    assert list(table.model.columns()) == ["samples", "class"]


def test_transform_is_recorded_and_undone_exactly(qtbot, page, bench):
    original = page.dataset
    dialog = TransformDialog(original, (), page)
    dialog.show()
    dialog.choose("standardise")
    qtbot.waitUntil(lambda: dialog.apply_button.isEnabled(), timeout=20_000)
    with qtbot.waitSignal(dialog.accepted):
        click(qtbot, dialog.apply_button)
    page.take(dialog.dataset, dialog.as_new)
    assert [step.name for step in page.dataset.steps] == ["standardise"]
    assert "rows standardised" in page._line.text()
    qtbot.waitUntil(lambda: page.undo_button.isEnabled(), timeout=20_000)
    click(qtbot, page.undo_button)
    np.testing.assert_array_equal(page.dataset.values, original.values)
    assert page.dataset.steps == ()
    assert list(page.dataset.column_table) == ["class"]
    assert bench.dirty


def test_step_made_elsewhere_cannot_be_undone(qtbot, page, bench):
    bench.replace_dataset("genes", apply_step(matrix("other", 12, 5), {"name": "centre"}))
    settle()
    qtbot.waitUntil(lambda: "Import the file again" in page.undo_button.toolTip(), timeout=20_000)
    assert not page.undo_button.isEnabled()


def test_transform_dialog_tells_errors_at_once(qtbot, bench):
    dialog = TransformDialog(bench.session.datasets["genes"])
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: "needs positive values" in dialog.error.text, timeout=20_000)
    assert not dialog.apply_button.isEnabled()
    dialog.choose("top_variance")
    field = dialog.field("n")
    field.editor.setFocus()
    field.editor.selectAll()
    qtbot.keyClicks(field.editor, "7")
    qtbot.waitUntil(lambda: dialog.apply_button.isEnabled(), timeout=20_000)
    assert dialog.after.summary.text().startswith("7 genes × 8 samples")
    field.editor.selectAll()
    qtbot.keyClicks(field.editor, "1,5")
    field.leave()
    assert "whole number" in field.shown_problem
    assert not dialog.apply_button.isEnabled()


@pytest.mark.parametrize("name", list(TRANSFORMS))
def test_every_transformation_has_a_form(qtbot, bench, name):
    dialog = TransformDialog(bench.session.datasets["genes"])
    qtbot.addWidget(dialog)
    dialog.choose(name)
    assert dialog.step().name == name
    assert {field.name for field in dialog._fields} == {option.name for option in TRANSFORMS[name].options}


def test_used_data_are_kept_by_default(qtbot, bench):
    data = matrix("whole")
    bench.add_dataset(data)
    plan = make_plan(bench.registry.model("toy.blocks"), {"X": bench.session.datasets["whole"]})
    run = bench.session.add_run(plan)
    users = used_by(bench.session, "whole")
    assert users == (run.title,)
    dialog = TransformDialog(data, users)
    qtbot.addWidget(dialog)
    assert dialog.as_new
    page = DataPage(bench, "whole")
    qtbot.addWidget(page)
    page.take(apply_step(data, {"name": "centre"}), as_new=True)
    assert any(name.startswith("whole, ") for name in bench.session.datasets)
    page.rename_to("all")
    assert run.inputs == {"X": ("all",)}
    assert list(bench.session.datasets)[:2] == ["genes", "all"]
    assert page.dataset.name == "all"


def test_where_the_samples_are_can_be_said_after_the_import(qtbot, page, bench):
    bench.replace_dataset("genes", bench.session.datasets["genes"].with_(samples_in="rows"))
    control = page.samples.control
    assert [b.text() for b in control._group.buttons()] == ["Rows", "Columns"]
    assert control.current == "rows"
    click(qtbot, control._group.buttons()[1])
    assert bench.session.datasets["genes"].samples_in == "columns"
    assert page.samples.control.current == "columns"
    plain = matrix("plain").with_(row_label="rows", column_label="columns")
    bench.add_dataset(plain)
    other = DataPage(bench, "plain")
    qtbot.addWidget(other)
    qtbot.addWidget(other.side_panel())
    assert other.samples.control.current == "unknown"
    click(qtbot, other.samples.control._group.buttons()[0])
    assert bench.session.datasets["plain"].samples_in == "rows"
    bench.add_dataset(labels())
    vector = DataPage(bench, "classes")
    qtbot.addWidget(vector)
    qtbot.addWidget(vector.side_panel())
    assert vector.samples.isHidden()


def test_the_part_that_was_shown_is_shown_again_also_under_another_name(qtbot, page, bench):
    keys = page.switch._keys
    click(qtbot, page.switch._group.buttons()[keys.index("columns")])
    table = page._pages["columns"].findChild(DataTable)
    table.sort_by("class", False)
    assert bench.view_changed
    bench.replace_dataset("genes", bench.session.datasets["genes"].with_(unit="mV"))
    assert page.part == "columns"
    page.rename_to("all")
    again = DataPage(bench, "all")
    qtbot.addWidget(again)
    qtbot.addWidget(again.side_panel())
    assert again.part == "columns"
    assert again._pages["columns"].findChild(DataTable).sorting() == ["class", False]


def test_rename_to_a_taken_name(qtbot, page, bench):
    bench.add_dataset(labels())
    with qtbot.waitSignal(bench.notified) as caught:
        page.rename_to("classes")
    assert "already taken" in caught.args[2]
    assert page.name == "genes"


def test_notes_are_kept(qtbot, page, bench):
    page.notes.editor.setPlainText("from the freezer")
    qtbot.waitUntil(lambda: bench.session.datasets["genes"].notes == "from the freezer", timeout=20_000)


def test_export_round_trip(qtbot, page, bench, tmp_path):
    path = tmp_path / "out.csv"
    with qtbot.waitSignal(bench.notified, timeout=20_000) as caught:
        page.export_csv(path)
    assert caught.args[0] == "ok"
    back = read_dataset(path, {"names": 0})
    np.testing.assert_array_equal(back.values, page.dataset.values)
    assert back.column_names == page.dataset.column_names
    with qtbot.waitSignal(bench.notified, timeout=20_000) as caught:
        page.export_csv(tmp_path / "no" / "out.csv")
    assert caught.args[0] == "error"


def test_removed_dataset(page, bench):
    bench.editing.remove([], ["genes"])
    assert "no longer" in page._stack.currentWidget().title
    assert page.transform_button.isHidden()


def test_labels_and_empty_picture(qtbot, bench):
    bench.add_dataset(labels())
    bench.add_dataset(matrix("void", 4, 3, missing=12))
    for name in ("classes", "void"):
        page = DataPage(bench, name)
        qtbot.addWidget(page)
        qtbot.addWidget(page.side_panel())
        page.show()
        settle()
        page.show_data()
        assert page._pages["values"].model().rowCount() > 0


def test_facts():
    data = matrix(missing=2).with_(row_table={"kind": np.array(["x", "y", "x"] * 10, dtype=object)})
    facts = find_facts(data)
    assert (facts.n_missing, facts.diverging) == (2, True)
    assert facts.limits[0] == -facts.limits[1]
    assert facts.classes == {"x": 20, "y": 10}
    assert facts.counts.sum() == 238
    assert size_text(labels()) == "30 rows"
    assert missing_text((2, 2), 0) == "no missing cells"
    assert find_facts(labels()).n_missing == 0


def test_columns_in_units_of_their_own_are_pictured_each_on_its_scale(qtbot, bench):
    rng = np.random.default_rng(2)
    values = rng.normal([40, 170, 2500], [9, 10, 800], (30, 3))
    values[4, 1] = np.nan
    data = Dataset("people", values, tuple(f"p{i}" for i in range(30)), ("age", "height", "income"))
    bench.add_dataset(data)
    page = DataPage(bench, "people")
    qtbot.addWidget(page)
    qtbot.addWidget(page.side_panel())
    page.show()
    qtbot.waitUntil(
        lambda: page.picture.image is not None and page.picture.image._values.size > 0, timeout=20_000
    )
    shown = page.picture.image._values
    np.testing.assert_allclose(np.nanmean(shown, axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(np.nanstd(shown, axis=0), 1)
    assert page.picture.bar._label.text() == "standard deviations from each column's mean"
    alike = find_facts(data.with_(values=rng.normal(size=(30, 3)) * [1, 2, 3]))
    assert alike.scales is None


def test_undo_store_forgets_the_oldest():
    store = UndoStore(limit=5000)
    data = matrix()
    versions = [data]
    for _ in range(4):
        versions.append(apply_step(versions[-1], {"name": "standardise", "options": {"axis": "columns"}}))
        store.remember(versions[-1], versions[-2])
    assert store.before(versions[4]) is not None
    assert store.before(versions[1]) is None


def test_logarithm_taken_at_import_can_be_undone(qtbot, bench, tmp_path):
    path = tmp_path / "pos.csv"
    path.write_text("gene,a,b\n" + "".join(f"g{i},{i + 1}.5,{i + 1}.25\n" for i in range(20)))
    dialog = ImportDialog(path)
    qtbot.addWidget(dialog)
    dialog.state.given["log"] = "log"
    dialog._load()
    qtbot.waitUntil(lambda: dialog.import_button.isEnabled(), timeout=20_000)
    with qtbot.waitSignal(dialog.accepted, timeout=20_000):
        dialog.start_import()
    added = bench.add_dataset(dialog.dataset)
    page = DataPage(bench, added.name)
    qtbot.addWidget(page)
    qtbot.addWidget(page.side_panel())
    assert page.dataset.values[0, 0] == np.log(1.5)
    page.undo()
    assert page.dataset.values[0, 0] == 1.5
    assert page.dataset.row_label == "genes"


def test_narrow(page):
    assert page.minimumSizeHint().width() <= 520


def test_items_without_a_class_are_counted_last():
    data = matrix().with_(row_table={"class": np.array([""] * 20 + ["u"] * 10)})
    assert list(find_facts(data).classes.items()) == [("u", 10), ("none given", 20)]


@pytest.mark.parametrize("read", ["values", "error"])
def test_values_that_are_not_read_yet(qtbot, bench, read):
    """The page is there at once and says that it reads; no value is read on the thread of the window."""
    found, threads, may_read = bench.session.datasets["genes"], [], threading.Event()

    def values():
        threads.append(threading.current_thread())
        may_read.wait(20)
        if read == "error":
            raise SessionError("“s.plaidwork” was changed.", "Open it again.")
        return found.values

    later = found.with_(name="later", values=Deferred(found.shape, float, values)).knowing(missing=3)
    bench.session.datasets["later"] = later
    page = DataPage(bench, "later")
    qtbot.addWidget(page)
    qtbot.addWidget(page.side_panel())
    page.show()
    page.switch.set_current("values")
    assert page._headline.text() == "30 genes × 8 samples, 3 cells missing (1.2 %)"
    assert page._stack.currentWidget().title == "Reading the values"
    may_read.set()
    if read == "error":
        qtbot.waitUntil(lambda: page._stack.currentWidget().title != "Reading the values", timeout=20_000)
        assert page._stack.currentWidget().title == "The values cannot be read"
        assert "“s.plaidwork” was changed." in page._stack.currentWidget().text
        page.switch.set_current("picture")
        assert page._stack.currentWidget().title == "The values cannot be read"
    else:
        qtbot.waitUntil(lambda: page._facts is not None, timeout=20_000)
        assert page._stack.currentWidget().model().rowCount() == 30
    assert threading.main_thread() not in threads


@pytest.fixture
def course(qapp):
    bench = Workbench(ToyRegistry())
    rows = tuple(map(str, range(30)))
    bench.add_dataset(
        Dataset(
            "flights",
            1949.0 + np.arange(30.0)[:, None] / 12,
            rows,
            ("time",),
            row_table={"flown": np.append(np.arange(29.0) % 12 + 100, np.nan)},
        )
    )
    return bench


def test_what_was_measured_over_time_is_shown_so_and_not_as_a_column_of_times(qtbot, course, tmp_path):
    page = DataPage(course, "flights")
    beside = data_panel.DataPanel()
    for widget in (page, page.side_panel(), beside):
        qtbot.addWidget(widget)
    page.show()
    beside.set_dataset(course.session.datasets["flights"])
    beside.show()
    qtbot.waitUntil(lambda: page.picture.course is not None and beside.course.isVisible(), timeout=20_000)
    assert page.picture.image is None
    assert not page.picture.bar.isVisible()
    assert beside._picture_title.text() == "flown over time"
    assert beside.matrix.isHidden()
    assert beside.bar.isHidden()
    for name in ("a.svg", "a.png"):
        assert page.export_picture(tmp_path / name).stat().st_size > 1000
    drawn = page.picture.course.grab().toImage()
    assert (
        len({drawn.pixel(x, y) for x in range(0, drawn.width(), 3) for y in range(0, drawn.height(), 3)}) > 4
    )
    rows = dict(figure_rows(course.session.datasets["flights"], page._facts))
    assert (rows["Times"], rows["Amounts"]) == ("1949.00 to 1951.33", "100 to 111")
    beside.set_dataset(matrix())
    qtbot.waitUntil(lambda: beside.matrix.isVisible(), timeout=20_000)
    assert beside._picture_title.text() == "Matrix as the model sees it"


def test_times_that_differ_are_told_apart_among_the_values(course):
    model = values_model.ValuesModel()
    model.set_dataset(course.session.datasets["flights"])
    assert [model.data(model.index(row, 2)) for row in range(3)] == ["1949.000", "1949.083", "1949.167"]


@pytest.mark.parametrize(
    ("title", "beside"),
    [
        ("dose", {"flown": np.ones(4)}),
        ("time", {}),
        ("time", {"a": np.ones(4), "b": np.ones(4)}),
        ("time", {"site": np.array(["a", "b", "a", "b"])}),
        ("time", {"flown": np.full(4, np.nan)}),
    ],
    ids=["no time", "nothing beside", "two", "words", "unknown"],
)
def test_other_columns_are_no_course(title, beside):
    rows = ("a", "b", "c", "d")
    assert course_of(Dataset("x", np.arange(4.0)[:, None], rows, (title,), row_table=beside)) is None
