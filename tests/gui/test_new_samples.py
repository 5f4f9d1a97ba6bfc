"""New samples by clicks: the data of the fit are never offered first, and a file can be chosen."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from asked import answering
from conforming import Means
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QPushButton

from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.contract.spec import Input
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.gui.analyses.new_data import NewDataField
from plaidwork.gui.analyses.page import AnalysisPage
from plaidwork.gui.analyses.rail import NEW
from plaidwork.gui.workbench import Workbench
from tests.registries import registry_of

WAIT = 20_000
FEATURES = ("a", "b", "c")


def matrix(name, rows, features=FEATURES):
    values = np.random.default_rng(len(name)).standard_normal((rows, len(features)))
    return Dataset(name, values, tuple(f"{name}{i}" for i in range(rows)), features)


@pytest.fixture
def opened(qtbot):
    def open_form(*others):
        bench = Workbench(registry_of(Means))
        plan = make_plan(Means(), {"X": matrix("old", 12)}, schedule=Schedule(chains=1, warmup=2, draws=4))
        run = bench.session.add_run(plan)
        execute(run, plan, InlineExecutor())
        for data in others:
            bench.session.add_dataset(data)
        page = AnalysisPage(bench, run)
        qtbot.addWidget(page)
        page.resize(1024, 640)
        page.show()
        qtbot.waitUntil(lambda: page._specs is not None, timeout=WAIT)
        page.rail.select(NEW, next(spec.id for spec in page._specs if spec.title == "New samples"))
        return page

    return open_form


def test_the_data_of_the_fit_are_the_last_and_never_chosen(opened):
    page = opened()
    field = page.current.input_field("new_X")
    assert field.chosen == []
    texts = [field.combo.itemText(i) for i in range(field.combo.count())]
    assert texts == ["Choose data, or a file", "old   (12 rows × 3 columns), the data of the fit"]
    assert not page.current.start.isEnabled()


def test_data_with_the_features_of_the_fit_are_proposed(opened):
    page = opened(matrix("strange", 5, ("x", "y")), matrix("fresh", 4))
    field = page.current.input_field("new_X")
    assert field.chosen == ["fresh"]
    assert field.combo.itemText(field.combo.count() - 1).endswith("the data of the fit")
    assert page.current.start.isEnabled()


def test_a_file_is_imported_and_chosen_whatever_it_is_called(opened, qtbot, monkeypatch, tmp_path):
    page = opened()
    path = tmp_path / "plate 7.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["sample", "c", "a", "b", "z"])
        writer.writerows([f"n{i}", i + 0.5, 2 * i + 0.25, 3 * i + 0.75, 1.5] for i in range(4))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(path), ""))
    form = page.current

    def imports(dialog):
        return dialog.import_button.isEnabled() and (dialog.import_button.click() or True)

    with answering(imports):
        qtbot.mouseClick(form.input_field("new_X").choose_file, Qt.MouseButton.LeftButton)
    assert form.input_field("new_X").chosen == ["plate 7"]
    assert "plate 7" in page.workbench.session.datasets
    qtbot.mouseClick(form.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(page.run.analyses) == 1, timeout=WAIT)
    found = page.run.analyses[0].results
    assert list(found["new_sample"].values) == ["n0", "n1", "n2", "n3"]
    assert list(found["features_found"].columns["Which"]) == ["extra “z”"]
    view = page.current.page.front
    assert view.wait()
    assert view.loaded.matrix.rows == ("n0", "n1", "n2", "n3")
    assert view.loaded.matrix.columns == tuple(FEATURES)


def test_a_file_of_texts_is_counted_first(opened, qtbot, monkeypatch, tmp_path):
    page = opened()
    path = tmp_path / "new texts.csv"
    words = [
        "the",
        "cat",
        "sat",
        "on",
        "a",
        "mat",
        "while",
        "dogs",
        "bark",
        "loudly",
        "at",
        "night",
        "and",
        "birds",
        "sing",
    ]
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text"])
        writer.writerows([f"n{i}", " ".join(words[i:] + words[:i])] for i in range(12))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(path), ""))

    def leads_on(dialog):
        buttons = [
            b for b in dialog.findChildren(QPushButton) if b.text() == "Import texts…" and b.isVisible()
        ]
        return bool(buttons) and (buttons[0].click() or True)

    def counts(dialog):
        ready = [b for b in dialog.findChildren(QPushButton) if b.text() == "Import" and b.isEnabled()]
        return bool(ready) and (ready[0].click() or True)

    with answering(leads_on, counts):
        qtbot.mouseClick(page.current.input_field("new_X").choose_file, Qt.MouseButton.LeftButton)
    (found,) = [data for name, data in page.workbench.session.datasets.items() if name != "old"]
    assert found.row_names == tuple(f"n{i}" for i in range(12))
    assert "cat" in found.column_names


def test_of_several_matrices_those_of_the_fit_are_not_ticked(qtbot):
    old = [matrix("rna", 9), matrix("drugs", 9, ("d", "e"))]
    field = NewDataField(Input("new_views", many=True, dims=("new_sample", "new_feature")), old)
    qtbot.addWidget(field)
    fresh = matrix("plate", 4, ("d", "e"))
    offered = {data.name: data for data in (*old, matrix("strange", 4, ("x", "y")), fresh)}
    field.set_datasets(offered)
    assert list(field._checks) == ["strange", "plate", "rna", "drugs"]
    assert field.chosen == ["plate"]
    assert field._checks["rna"].text().endswith("the data of the fit")
    assert not field.choose_file.isHidden()
