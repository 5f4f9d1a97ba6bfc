"""New samples of clusters in several views, by clicks: a file of one view, data of both, and what the pages show."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from asked import answering
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QAbstractButton, QFileDialog

from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.gui.analyses.page import AnalysisPage
from plaidwork.gui.analyses.rail import NEW
from plaidwork.gui.workbench import Workbench
from plaidwork.plugins.dirichlet_processes.multi_view.model import MultiViewClusters
from tests.registries import registry_of

WAIT = 60_000
COLUMNS = {"rna": ("gene 1", "gene 2", "gene 3"), "drugs": ("ibrutinib", "venetoclax")}


def planted(n, name, seed, sample="s"):
    """One of two views with the same two clusters far apart, the first half of the samples in one."""
    kind = np.repeat([0.0, 1.0], n // 2)
    noise = np.random.default_rng(seed).normal(size=(n, len(COLUMNS[name])))
    return Dataset(
        name, 8.0 * kind[:, None] + noise, tuple(f"{sample} {i + 1}" for i in range(n)), COLUMNS[name]
    )


@pytest.fixture
def page(qtbot):
    bench = Workbench(registry_of(MultiViewClusters))
    views = [planted(40, "rna", 1), planted(40, "drugs", 2)]
    schedule = Schedule(chains=1, warmup=30, draws=10)
    plan = make_plan(MultiViewClusters(), {"views": views}, schedule=schedule)
    run = bench.session.add_run(plan)
    execute(run, plan, InlineExecutor())
    found = AnalysisPage(bench, run)
    qtbot.addWidget(found)
    found.resize(1100, 760)
    found.show()
    qtbot.waitUntil(lambda: found._specs is not None, timeout=WAIT)
    return found


def open_form(page):
    page.rail.select(NEW, next(spec.id for spec in page._specs if spec.title == "New samples"))
    return page.current


def made(page, qtbot):
    """Click on Run analysis; the results."""
    before = len(page.run.analyses)
    qtbot.mouseClick(page.current.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(page.run.analyses) > before, timeout=WAIT)
    return page.run.analyses[-1].results


def turn_to(page, qtbot, title):
    """Click on a page of the record; what it shows when it is drawn."""
    (button,) = [one for one in page.current.findChildren(QAbstractButton) if one.text() == title]
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    view = page.current.page.front
    assert view.wait()
    return view


def test_a_file_of_one_view_and_data_of_both(page, qtbot, monkeypatch, tmp_path):
    path, new = tmp_path / "plate 7.csv", planted(6, "drugs", 3, "new")
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["sample", *new.column_names])
        writer.writerows([name, *row] for name, row in zip(new.row_names, new.values, strict=True))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(path), ""))

    def imports(dialog):
        return dialog.import_button.isEnabled() and (dialog.import_button.click() or True)

    form = open_form(page)
    field = form.input_field("new_views")
    assert field.chosen == []
    assert not form.start.isEnabled()
    assert "Two or more" not in field._help.text()
    with answering(imports):
        qtbot.mouseClick(field.choose_file, Qt.MouseButton.LeftButton)
    assert field.chosen == ["plate 7"]
    found = made(page, qtbot)
    assert found["headline"] == "6 new samples, 6 without “rna” (predicted from “drugs”)"
    columns = found["assignments"].columns
    assert list(columns) == [
        "Sample", "Views given", "Cluster in rna", "Probability in rna", "None of them in rna", "Cluster in drugs",
        "Probability in drugs", "None of them in drugs", "Log density",
    ]  # fmt: skip
    assert [len(set(columns["Cluster in rna"][part])) for part in (slice(3), slice(3, 6), slice(6))] == [
        1,
        1,
        2,
    ]
    matrix = turn_to(page, qtbot, "Probability of each cluster in “rna”").loaded.matrix
    assert matrix.rows == new.row_names
    assert matrix.columns[-1] == "None of them"
    assert matrix.columns[:-1] == tuple(f"rna {k + 1}" for k in range(len(matrix.columns) - 1))
    both = planted(6, "rna", 4, "new")
    page.workbench.session.add_dataset(Dataset("plate 8", both.values, both.row_names, both.column_names))
    field = open_form(page).input_field("new_views")
    assert sorted(field.chosen) == ["plate 7", "plate 8"]
    box = field._checks["plate 8"]
    for help_text in (
        "“plate 8” has samples in common with it: tick to use them together.",
        "6 samples in all",
    ):
        qtbot.mouseClick(box, Qt.MouseButton.LeftButton, pos=QPoint(10, box.height() // 2))
        assert field._help.text().startswith(help_text)
    assert sorted(field.chosen) == ["plate 7", "plate 8"]
    found = made(page, qtbot)
    assert found["headline"] == "6 new samples"
    assert set(found["assignments"].columns["Views given"]) == {"rna, drugs"}
    table = turn_to(page, qtbot, "Features found by name").loaded
    assert table is not None
    assert sorted(found["features_found"].columns["Taken for"]) == ["drugs", "rna"]
