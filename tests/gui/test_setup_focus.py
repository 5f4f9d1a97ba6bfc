"""What is fitted is what was meant: imports through the real dialogs, the set-up that follows them, New fit."""

from __future__ import annotations

import numpy as np
import pytest
from asked import answering
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.samples import bundled_samples
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.plugins.registry import Registry
from plaidwork.core.session.session import Session
from plaidwork.gui.data import TextImportDialog
from plaidwork.gui.data.import_dialog import ImportDialog
from plaidwork.gui.data.views_dialog import ViewsDialog
from plaidwork.gui.main_window import MainWindow
from plaidwork.gui.session_tree import DATA, RUN
from plaidwork.gui.settings import Settings
from plaidwork.gui.setup.model_popup import ModelPopup
from plaidwork.gui.tasks import wait_for_tasks
from plaidwork.gui.workbench import Workbench

WAIT = 60_000
RNG = np.random.default_rng(3)


@pytest.fixture
def window(qapp, tmp_path, monkeypatch):
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("PLAIDWORK_STATE", str(tmp_path / "state"))
    made = MainWindow(Workbench(Registry().load()), Settings(tmp_path / "config"))
    made.resize(1280, 800)
    made.show()
    yield made
    for _ in range(3):  # a check that was under way may tell the page something
        wait_for_tasks()
        qapp.processEvents()
    made.workbench.set_session(Session())
    made.close()
    made.deleteLater()


def write(path, values, row="s", column="f", **labels):
    """A table with names; ``labels`` are further columns, of texts."""
    values = np.asarray(values)
    names = [f"{column}{k}" for k in range(values.shape[1])]
    lines = [",".join(["sample", *labels, *names])]
    for i, line in enumerate(values):
        extra = [texts[i] for texts in labels.values()]
        lines.append(",".join([f"{row}{i}", *extra, *map(str, line)]))
    path.write_text("\n".join(lines) + "\n")
    return path


def numbers(folder, name="dense.csv", **more):
    return write(folder / name, RNG.normal(size=(24, 5)).round(3), **more)


def zeros_and_ones(folder, name="votes.csv", **more):
    return write(folder / name, RNG.integers(0, 2, (20, 6)), **more)


def counts(folder):
    entries = [(i, j, RNG.integers(1, 9)) for i in range(1, 31) for j in range(1, 13) if (i + j) % 6 == 0]
    lines = ["%%MatrixMarket matrix coordinate integer general", f"30 12 {len(entries)}"]
    path = folder / "cells.mtx"
    path.write_text("\n".join([*lines, *(f"{i} {j} {n}" for i, j, n in entries)]) + "\n")
    return path


def texts(folder):
    lines = [
        f"d{i},{('left', 'right')[i % 2]},the tax and {('health', 'border')[i % 2]} plan of film{i}"
        for i in range(20)
    ]
    path = folder / "speeches.csv"
    path.write_text("\n".join(["id,party,body", *lines]) + "\n")
    return path


def accept(dialog):
    """Import with the button of whichever dialog is open, once the file is read."""
    known = isinstance(dialog, (ImportDialog, ViewsDialog, TextImportDialog))
    if not known or dialog.busy() or not dialog.import_button.isEnabled():
        return False
    QTest.mouseClick(dialog.import_button, Qt.MouseButton.LeftButton)
    return True


class Stranger:
    """Imports files with the commands of the menu and looks at the set-up that follows."""

    def __init__(self, qtbot, window, monkeypatch):
        self.qtbot, self.window, self.monkeypatch = qtbot, window, monkeypatch

    def choose_files(self, *paths):
        names = [str(path) for path in paths]
        self.monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *a, **k: (names, ""))
        self.monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *a, **k: (names[0], ""))

    def imports(self, *paths, command="import_data"):
        """Import; the set-up page that follows."""
        before, known = self.window.setup_page, set(self.data)
        self.choose_files(*paths)
        with answering(accept):
            self.window.actions_by_key[command].trigger()
        self.qtbot.waitUntil(lambda: self.window.setup_page not in (None, before), timeout=WAIT)
        self.new = [name for name in self.data if name not in known]
        return self.page

    def new_fit(self):
        before = self.window.setup_page
        self.window.actions_by_key["new_fit"].trigger()
        self.qtbot.waitUntil(lambda: self.window.setup_page not in (None, before), timeout=WAIT)
        return self.page

    @property
    def data(self):
        return self.window.workbench.session.datasets

    @property
    def page(self):
        return self.window.setup_page

    def chosen(self):
        """Names of the data behind every input of the set-up."""
        names = [name for chosen in self.page.inputs().values() for name in chosen]
        return list(dict.fromkeys(name.split(":row:")[0] for name in names))

    def start(self):
        """What would be fitted after a click on Start fit."""
        self.page.start_requested.disconnect()
        with self.qtbot.waitSignal(self.page.start_requested, timeout=WAIT) as caught:
            self.qtbot.mouseClick(self.page.foot.start, Qt.MouseButton.LeftButton)
        return caught.args[0]


@pytest.fixture
def stranger(qtbot, window, monkeypatch):
    return Stranger(qtbot, window, monkeypatch)


def example(stranger, id):
    sample = next(sample for sample in bundled_samples() if sample.id == id)
    stranger.window.commands.open_example(sample)
    stranger.qtbot.waitUntil(lambda: stranger.page is not None, timeout=WAIT)


FILES = {
    "dense": lambda stranger, folder: stranger.imports(numbers(folder, row="p")),
    "classes": lambda stranger, folder: stranger.imports(
        numbers(folder, "graded.csv", row="g", label=["ill", "well"] * 12)
    ),
    "texts": lambda stranger, folder: stranger.imports(texts(folder), command="import_text"),
    "counts": lambda stranger, folder: stranger.imports(counts(folder)),
    "binary": lambda stranger, folder: stranger.imports(zeros_and_ones(folder)),
    "views": lambda stranger, folder: stranger.imports(
        numbers(folder, "rna.csv", row="q", column="gene"),
        numbers(folder, "protein.csv", row="q", column="protein"),
    ),
}


@pytest.mark.parametrize(
    "order",
    [
        ("dense", "texts", "binary"),
        pytest.param(("views", "counts", "classes"), marks=pytest.mark.slow),
        pytest.param(("texts", "views", "dense"), marks=pytest.mark.slow),
        pytest.param(("counts", "classes", "views"), marks=pytest.mark.slow),
    ],
    ids="-".join,
)
def test_the_file_just_imported_is_fitted(stranger, tmp_path, order):
    example(stranger, "tumour-genes")
    for name in order:
        page = FILES[name](stranger, tmp_path)
        assert stranger.chosen() == stranger.new, f"{name}: {page.spec.title}"
        plan = stranger.start()
        used = [data.name for datasets in plan.inputs.values() for data in datasets]
        assert used[: len(stranger.new)] == stranger.new
    first = page.inputs_form.field(page.spec.inputs[0].name)
    assert first.combo.itemData(0) == stranger.new[0], "the data in focus are offered first"


@pytest.mark.slow
def test_what_suits_the_kind_is_suggested(stranger, tmp_path):
    assert FILES["binary"](stranger, tmp_path).spec.inputs[0].dtype == "binary"
    assert FILES["views"](stranger, tmp_path).spec.inputs[0].many
    page = FILES["classes"](stranger, tmp_path)
    assert page.spec.inputs[0].dtype == "real"
    assert FILES["counts"](stranger, tmp_path).spec.inputs[0].sparse


def pick(stranger, combo, name):
    """Choose data in a combo box with the keyboard."""
    combo.setFocus()
    combo.showPopup()
    combo.view().setCurrentIndex(combo.model().index(combo.findData(name), 0))
    stranger.qtbot.keyClick(combo.view(), Qt.Key.Key_Return)


def change_model(stranger, model):
    stranger.qtbot.mouseClick(stranger.page.change_model, Qt.MouseButton.LeftButton)
    popup = stranger.page.findChild(ModelPopup)
    card = next(card for card in popup.cards if card.spec.id == model)
    reason = (card.reason, card.elsewhere)
    stranger.qtbot.keyClick(card, Qt.Key.Key_Return)
    QApplication.processEvents()
    return reason


@pytest.mark.slow
def test_labels_come_with_the_data_and_follow_them(stranger, tmp_path):
    stranger.imports(numbers(tmp_path, "first.csv", row="a", label=["x", "y"] * 12))
    stranger.imports(numbers(tmp_path, "second.csv", row="b", label=["u", "v"] * 12))
    change_model(stranger, "gp_classes")
    assert stranger.page.inputs() == {"X": ["second"], "y": ["second:row:label"]}
    pick(stranger, stranger.page.inputs_form.field("X").combo, "first")
    assert stranger.page.inputs() == {"X": ["first"], "y": ["first:row:label"]}
    assert stranger.start().inputs["y"][0].categories == ("x", "y")


@pytest.mark.slow
def test_changing_the_model_keeps_the_data(stranger, tmp_path):
    stranger.imports(numbers(tmp_path, "first.csv", row="a"))
    stranger.imports(numbers(tmp_path, "second.csv", row="b"))
    change_model(
        stranger, "infinite_plaid"
    )  # which takes one matrix, as the one proposed for so few columns does not
    pick(stranger, stranger.page.inputs_form.field("X").combo, "first")
    for model in ("group_factor", "binary_pca", "rank_factor", "infinite_plaid"):
        change_model(stranger, model)
        assert stranger.chosen() == ([] if model == "binary_pca" else ["first"])
    assert stranger.page.data_in_focus == ["first"]


@pytest.mark.slow
def test_the_list_of_models_says_why_and_what_else_would_suit(stranger, tmp_path):
    stranger.imports(zeros_and_ones(tmp_path))
    stranger.imports(numbers(tmp_path))
    reason, other = change_model(stranger, "binary_pca")
    assert reason == "“Matrix” needs zeros and ones, and “dense” holds numbers."
    assert other == "“votes” of this session would suit."
    field = stranger.page.inputs_form.field("Y")
    assert not field.chosen, "other data are never put in the place of those in focus"
    assert field.combo.placeholderText() == "Choose data"
    assert field._import.isVisible()
    assert change_model(stranger, "gp_classes") == (
        "“Classes” needs one column of labels, and “dense” comes with none.",
        "",
    )
    assert stranger.page.inputs() == {"X": ["dense"]}


@pytest.mark.long
def test_import_from_the_set_up_puts_the_data_in(stranger, tmp_path):
    stranger.imports(numbers(tmp_path))
    change_model(stranger, "binary_pca")
    page = stranger.page
    page.schedule_form.field("seed").set_value(17)
    stranger.choose_files(zeros_and_ones(tmp_path))
    with answering(accept):
        stranger.qtbot.mouseClick(page.inputs_form.field("Y")._import, Qt.MouseButton.LeftButton)
    assert stranger.page is page, "the page stays, with all that was set"
    assert page.inputs() == {"Y": ["votes"]}
    assert page.schedule_form.seed == 17
    page.inputs_form.field("Y").choose([])
    stranger.choose_files(numbers(tmp_path, "other.csv", row="o"))
    with answering(accept):
        stranger.qtbot.mouseClick(page.inputs_form.field("Y")._import, Qt.MouseButton.LeftButton)
    assert "“other” holds numbers" in page.foot.message.text


def run_of(window, model, inputs, **params):
    bench = window.workbench
    plan = make_plan(bench.registry.model(model), inputs, params)
    run = bench.session.add_run(plan)
    run.status = "stopped"
    bench.runs_changed.emit()
    return run


@pytest.mark.long
def test_new_fit_beside_a_run_starts_from_its_data(stranger, tmp_path):
    window = stranger.window
    stranger.imports(texts(tmp_path), command="import_text")
    stranger.imports(numbers(tmp_path))
    speeches = stranger.data["speeches"]
    outcome = Dataset("stars", np.arange(20.0), speeches.row_names)
    run = run_of(window, "supervised_ibp", {"X": speeches, "y": outcome})
    window.tree.select(RUN, run.id)
    window.show_item(RUN, run.id)
    page = stranger.new_fit()
    assert page.spec.id == "supervised_ibp"
    assert page.inputs() == {"X": ["speeches"], "y": ["stars"]}
    assert stranger.start().inputs["X"][0] is speeches
    assert stranger.new_fit().data_in_focus == ["speeches", "stars"], (
        "an open set-up is begun anew with its data"
    )


@pytest.mark.slow
def test_new_fit_beside_data_fits_them(stranger, tmp_path):
    stranger.imports(numbers(tmp_path))
    stranger.imports(zeros_and_ones(tmp_path))
    stranger.window.tree.select(DATA, "dense")
    stranger.window.show_item(DATA, "dense")
    stranger.new_fit()
    assert stranger.chosen() == ["dense"]
    stranger.start()


@pytest.mark.slow
def test_fit_again_has_the_inputs_of_the_run_and_their_order(stranger, tmp_path):
    split = ["train", "test"] * 12
    stranger.imports(numbers(tmp_path, "one.csv", label=["x", "y"] * 12, split=split))
    stranger.imports(numbers(tmp_path, "two.csv"))
    page, data = stranger.page, stranger.data
    views = run_of(stranger.window, "group_factor", {"views": [data["two"], data["one"]]})
    page.from_run(views)
    assert page.inputs() == {"views": ["two", "one"]}
    change_model(stranger, "gp_classes")
    page.fill({"X": ["one"], "y": ["one:row:label"]})
    plan = stranger.start()
    assert "split" not in plan.inputs
    run = stranger.window.workbench.session.add_run(plan)
    stranger.window.workbench.data_changed.emit("one: label")  # as a start tells it
    page.set_model("group_factor")
    page.from_run(run)
    assert set(page.inputs()) == {"X", "y"}, "a split that the run did without is not added"


@pytest.mark.slow
def test_new_fit_beside_data_shown_together_fits_them_all(stranger, tmp_path):
    stranger.imports(zeros_and_ones(tmp_path, row="z"))
    stranger.imports(numbers(tmp_path, "rna.csv", row="q", column="gene"))
    stranger.imports(numbers(tmp_path, "protein.csv", row="q", column="protein"))
    change_model(stranger, "group_factor")
    assert stranger.chosen() == ["protein"], "one file, one matrix"
    help_line = stranger.page.inputs_form.field("views")._help
    assert help_line.text().startswith("“rna” has samples in common with it: tick to use them together.")
    stranger.page.inputs_form.field("views")._checks["rna"].setFocus()
    stranger.qtbot.keyClick(stranger.page.inputs_form.field("views")._checks["rna"], Qt.Key.Key_Space)
    assert stranger.chosen() == ["protein", "rna"]
    stranger.window.tree.select(DATA, "rna")
    stranger.window.show_item(DATA, "rna")
    stranger.window.workspace.go_to("data/rna/together")
    stranger.new_fit()
    assert stranger.chosen() == ["rna", "protein"]


@pytest.mark.long
def test_data_that_nothing_suits_are_told(stranger, tmp_path):
    stranger.imports(numbers(tmp_path))
    weights = Dataset("weights", RNG.normal(size=24), tuple(f"w{i}" for i in range(24)))
    stranger.window.workbench.add_dataset(weights)
    stranger.window.tree.select(DATA, "weights")
    stranger.window.show_item(DATA, "weights")
    page = stranger.new_fit()
    assert "dense" not in stranger.chosen()
    first = page.spec.inputs[0]
    assert page.inputs_form.field(first.name).problem
