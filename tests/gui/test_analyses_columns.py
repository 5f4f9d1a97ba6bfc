"""Labels of new data that an analysis takes from a column beside them."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt

from plaidwork.core.contract.model import Table
from plaidwork.core.contract.spec import Input, View
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.findings.analysis import Analysis, AnalysisSpec
from plaidwork.core.inference.plan import make_plan
from plaidwork.gui.analyses.ask_page import AskPage
from plaidwork.gui.analyses.page import AnalysisPage
from plaidwork.gui.analyses.rail import NEW
from plaidwork.gui.workbench import Workbench
from tests.gui.factor_runs import FactorModel, choose, factor_dataset, factor_results
from tests.registries import registry_of


class Judges(Analysis):
    spec = AnalysisSpec(
        id="toy.judges",
        version="1",
        title="Judges",
        summary="Lists labels.",
        needs={"scores": "scores"},
        inputs=(
            Input("new_X", dims=("new_row", "new_column")),
            Input("new_y", "labels", "categorical", dims=("new_row",), missing=True, required=False),
        ),
        views=(View("table", "T", {"values": "t"}),),
    )

    def run(self, results, data, params, report):
        block = data["new_y"]
        names = np.array([*block.categories, "?"])
        return {"t": Table({"label": names[np.where(block.observed, block.values, -1)]})}


def test_a_column_beside_the_new_data(qtbot):
    bench = Workbench(registry_of(Judges))
    data = factor_dataset(60, 40)
    run = bench.session.add_run(make_plan(FactorModel(), {"X": data}))
    run.status, run.results = "done", factor_results(data, count=4)
    kinds = np.array(["ill", "well", "ill", ""], dtype=object)
    new = Dataset("new", np.ones((4, 2)), tuple("wxyz"), ("a", "b"), row_table={"state": kinds})
    bench.session.add_dataset(new)
    page = AnalysisPage(bench, run)
    qtbot.addWidget(page)
    page.resize(1100, 700)
    page.show()
    qtbot.waitUntil(lambda: page._specs is not None, timeout=20_000)
    page.rail.select(NEW, "toy.judges")
    asked = page.current
    assert isinstance(asked, AskPage)
    asked.input_field("new_X").choose(["new"])
    choose(qtbot, asked.input_field("new_y").combo, "state   (in new)")
    qtbot.mouseClick(asked.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(run.analyses) == 1, timeout=20_000)
    found = run.analyses[0].results["t"]
    assert list(found.columns["label"]) == ["ill", "well", "ill", "?"]
    assert run.analyses[0].inputs["new_y"] == ("new: state",)
