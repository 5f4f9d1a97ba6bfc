"""From a table of genes by samples to the fit: import dialog, set-up page, what is started."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from gui_toys import LABELS, SPEC, ToyBlocks, ToyRegistry, settle
from PySide6.QtCore import QPoint, Qt
from sparing import every

from plaidwork.core.contract.spec import Input
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.findings.new_samples import new_samples
from plaidwork.core.inference.plan import make_plan
from plaidwork.gui.analyses.ask_page import AskPage
from plaidwork.gui.data import ImportDialog
from plaidwork.gui.data.facts import figure_rows, find_facts, size_text
from plaidwork.gui.session_tree import dataset_line
from plaidwork.gui.setup import SetupPage
from plaidwork.gui.setup.presets import PresetStore
from plaidwork.gui.workbench import Workbench

DIMS = {"dims": ("sample", "feature"), "samples": "sample", "missing": True}


class Factors(ToyBlocks):
    """Takes several matrices of samples by features."""

    spec = replace(
        SPEC,
        id="toy.factors",
        title="Toy factors",
        inputs=(Input("views", label="Views", many=True, union=True, **DIMS),),
    )


class Classifier(ToyBlocks):
    """Takes a matrix of samples by features, and labels."""

    spec = replace(
        LABELS,
        inputs=(
            Input("X", label="Features", **DIMS),
            Input(
                "y", "labels", "categorical", ("sample",), samples="sample", label="Labels", required=False
            ),
        ),
        hyperparameters=SPEC.hyperparameters,
        variables=SPEC.variables,
        traces=SPEC.traces,
        schedule=SPEC.schedule,
        algorithm="mcmc",
    )


class Known(ToyRegistry):
    """Both models."""

    _models = {Factors.spec.id: Factors, Classifier.spec.id: Classifier}

    def specs(self):
        return tuple(model.spec for model in self._models.values())


@pytest.fixture(autouse=True)
def finished(qapp):
    yield
    settle()


@pytest.fixture
def bench(qapp):
    return Workbench(Known())


def table(tmp_path, head="", name="expr.csv", rows=12, columns=5):
    path = tmp_path / name
    lines = [f"{head}," + ",".join(f"s{j}" for j in range(columns))]
    values = np.random.default_rng(1).normal(size=(rows, columns))
    lines += [f"g{i}," + ",".join(f"{v:.3f}" for v in row) for i, row in enumerate(values)]
    path.write_text("\n".join(lines) + "\n")
    return path


def dialog_of(qtbot, path):
    dialog = ImportDialog(path)
    qtbot.addWidget(dialog)
    with qtbot.waitActive(dialog):
        dialog.show()
    qtbot.waitUntil(lambda: not dialog.busy(), timeout=20_000)
    return dialog


def radio(dialog, words):
    return next(b for b in dialog.options.field("samples_in").radios.buttons() if b.text() == words)


def click_radio(qtbot, dialog, words):
    button = radio(dialog, words)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton, pos=QPoint(8, button.height() // 2))


def imported(qtbot, dialog):
    qtbot.waitUntil(lambda: not dialog.busy() and dialog.import_button.isEnabled(), timeout=20_000)
    with qtbot.waitSignal(dialog.accepted, timeout=20_000):
        qtbot.mouseClick(dialog.import_button, Qt.MouseButton.LeftButton)
    return dialog.dataset


def page_of(qtbot, bench, model, tmp_path):
    page = SetupPage(bench, model, presets=PresetStore(tmp_path / "presets"))
    qtbot.addWidget(page)
    page.resize(1000, 760)
    with qtbot.waitActive(page):
        page.show()
    return page


def started(qtbot, page):
    with qtbot.waitSignal(page.start_requested, timeout=20_000) as caught:
        qtbot.mouseClick(page.foot.start, Qt.MouseButton.LeftButton)
    return caught.args[0]


def click_segment(qtbot, control, text):
    segment = next(b for b in control._group.buttons() if b.text() == text)
    qtbot.mouseClick(segment, Qt.MouseButton.LeftButton)


# -- import -------------------------------------------------------------------------------------------
def test_the_dialog_asks_where_the_samples_are(qtbot, tmp_path):
    dialog = dialog_of(qtbot, table(tmp_path))
    assert radio(dialog, "not known or not needed").isChecked()
    click_radio(qtbot, dialog, "the columns")
    data = imported(qtbot, dialog)
    assert data.samples_in == "columns"
    assert size_text(data) == "12 features × 5 samples"


def test_the_head_of_the_table_tells_and_can_be_overruled(qtbot, tmp_path):
    dialog = dialog_of(qtbot, table(tmp_path, "gene"))
    assert radio(dialog, "the columns").isChecked()
    assert dialog.options.field("samples_in").chip.isVisible()
    assert "12 genes × 5 samples" in dialog._foot.text()
    click_radio(qtbot, dialog, "the rows")
    assert imported(qtbot, dialog).samples_in == "rows"


def test_a_table_of_classes_tells(qtbot, tmp_path):
    dialog = dialog_of(qtbot, table(tmp_path))
    (tmp_path / "who.csv").write_text("id,class\n" + "".join(f"s{j},{'ab'[j % 2]}\n" for j in range(5)))
    dialog.set_classes(tmp_path / "who.csv")
    qtbot.waitUntil(lambda: dialog.classes.annotations is not None, timeout=20_000)
    data = imported(qtbot, dialog)
    assert data.samples_in == "columns"
    assert list(data.column_table) == ["class"]


# -- set-up -------------------------------------------------------------------------------------------
@pytest.mark.long
@pytest.mark.parametrize("model", every([Factors, Classifier], 2))
def test_genes_by_samples_are_fitted_as_samples_by_genes(qtbot, bench, tmp_path, model):
    bench.add_dataset(imported(qtbot, dialog_of(qtbot, table(tmp_path, "gene"))))
    page = page_of(qtbot, bench, model.spec.id, tmp_path)
    field = page.inputs_form.field(model.spec.inputs[0].name)
    assert "12 genes × 5 samples: transposed, as the model wants samples in rows." in field.samples.text
    plan = started(qtbot, page)
    (data,) = next(iter(plan.inputs.values()))
    assert data.shape == (5, 12)
    run = bench.start(plan)
    assert bench.wait(20_000)
    assert any("transposed" in line.text for line in run.log)
    assert list(bench.session.datasets) == ["expr", "expr, transposed"]
    assert dataset_line(bench.session.datasets["expr, transposed"]).startswith("5 samples × 12 genes")


def test_what_nobody_said_is_asked_and_remembered(qtbot, bench, tmp_path):
    bench.add_dataset(imported(qtbot, dialog_of(qtbot, table(tmp_path))))
    page = page_of(qtbot, bench, Factors.spec.id, tmp_path)
    samples = page.inputs_form.field("views").samples
    assert (
        "nothing says whether rows or columns are the samples; the 12 rows are taken for them" in samples.text
    )
    assert samples.controls["expr"].current == "rows"
    assert started(qtbot, page).inputs["views"][0].shape == (12, 5)
    click_segment(qtbot, samples.controls["expr"], "Columns")
    assert bench.session.datasets["expr"].samples_in == "columns"
    assert "transposed" in samples.text
    assert started(qtbot, page).inputs["views"][0].shape == (5, 12)
    click_segment(qtbot, samples.controls["expr"], "Rows")
    assert bench.session.datasets["expr"].samples_in == "rows"
    assert started(qtbot, page).inputs["views"][0].shape == (12, 5)
    assert samples.isVisible()  # it can still be taken back


def test_labels_by_the_names_of_the_columns_answer_it(qtbot, bench, tmp_path):
    data = imported(qtbot, dialog_of(qtbot, table(tmp_path)))
    bench.add_dataset(data)
    bench.add_dataset(
        Dataset("labels", np.arange(5) % 2, data.column_names, kind="categorical", categories=("a", "b"))
    )
    page = page_of(qtbot, bench, Classifier.spec.id, tmp_path)
    page.inputs_form.set_values({"y": ["labels"]})
    samples = page.inputs_form.field("X").samples
    assert "the names of the samples are those of its columns" in samples.text
    assert not samples.controls
    plan = started(qtbot, page)
    assert plan.inputs["X"][0].shape == (5, 12)


def test_labels_beside_the_samples_are_offered_wherever_these_are(qtbot, bench, tmp_path):
    data = imported(qtbot, dialog_of(qtbot, table(tmp_path, "gene")))
    bench.add_dataset(data.with_(column_table={"class": np.array(["a", "b", "a", "b", "a"])}))
    page = page_of(qtbot, bench, Classifier.spec.id, tmp_path)
    assert page.inputs() == {"X": ["expr"], "y": ["expr:column:class"]} or page.inputs() == {"X": ["expr"]}
    page.inputs_form.set_values({"y": ["expr:column:class"]})
    plan = started(qtbot, page)
    assert plan.inputs["y"][0].row_names == plan.inputs["X"][0].row_names == data.column_names


def test_two_views_of_different_orientation(qtbot, bench, tmp_path):
    bench.add_dataset(imported(qtbot, dialog_of(qtbot, table(tmp_path, "gene"))))
    other = Dataset(
        "drugs", np.ones((4, 3)), [f"s{j}" for j in range(4)], ["d1", "d2", "d3"], samples_in="rows"
    )
    bench.add_dataset(other)
    page = page_of(qtbot, bench, Factors.spec.id, tmp_path)
    page.inputs_form.set_values({"views": ["expr", "drugs"]})
    field = page.inputs_form.field("views")
    assert field.samples.text.startswith("expr, 12 genes × 5 samples: transposed")
    assert field._help.text().startswith("5 samples in all, 4 of them")
    assert [data.shape for data in started(qtbot, page).inputs["views"]] == [(5, 12), (5, 3)]


def test_the_facts_of_data_tell(qapp):
    data = Dataset("a", np.ones((2, 3)), ("a", "b"), ("c", "d", "e"), samples_in="columns")
    assert ("Samples are", "the columns") in figure_rows(data, find_facts(data))


def test_new_samples_are_told_by_the_features_of_the_fit(qtbot, bench):
    features = [f"g{i}" for i in range(6)]
    data = Dataset("old", np.ones((8, 6)), [f"s{i}" for i in range(8)], features, samples_in="rows")
    fresh = Dataset("fresh", np.ones((6, 3)), features, ["t1", "t2", "t3"])
    run = bench.session.add_run(make_plan(Factors(), {"views": data}))
    asked = AskPage(new_samples(Factors).spec, run, {"old": data, "fresh": fresh}, lambda *_: None)
    qtbot.addWidget(asked)
    field = asked.input_field("new_views")
    field.choose(["fresh"])
    assert "fresh, 6 features × 3 samples: transposed" in field.samples.text
    assert not field.samples.controls
    field.choose(["old"])
    assert not field.samples.text
