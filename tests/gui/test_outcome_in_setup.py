"""A column of the imported table is chosen as the outcome on the set-up page, with the mouse, and fitted."""

from __future__ import annotations

import numpy as np
import pytest
from gui_toys import settle
from PySide6.QtCore import Qt

from plaidwork.core.data.dataset import Dataset
from plaidwork.gui.setup.setup_page import SetupPage
from plaidwork.gui.workbench import Workbench
from tests.core.test_outcomes import Explains, table
from tests.registries import registry_of


@pytest.fixture(autouse=True)
def finished(qapp):
    yield
    settle()


@pytest.fixture
def page(qtbot):
    workbench = Workbench(registry_of(Explains))
    workbench.session.datasets["t"] = table()
    made = SetupPage(workbench, "toy.explains")
    qtbot.addWidget(made)
    made.resize(900, 700)
    made.show()
    return made


def pick(qtbot, page, text: str) -> None:
    """Choose an entry of the box of the outcome as one does: open it, click on the entry."""
    combo = page.inputs_form.field("y").combo
    index = next(k for k in range(combo.count()) if combo.itemText(k).startswith(text))
    combo.showPopup()
    view = combo.view()
    place = view.visualRect(combo.model().index(index, 0)).center()
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.waitUntil(lambda: combo.currentIndex() == index)


def test_a_measured_column_is_chosen_and_taken_out_with_a_word(page, qtbot):
    field = page.inputs_form.field("y")
    assert not field.chosen, "no measurement is the outcome unless somebody says so"
    pick(qtbot, page, "target   (measured in t)")
    assert page.inputs()["y"] == ["t:row:target"]
    assert "“target” is taken out of the measurements of “t”" in field._help.text()
    (matrix,) = page.inputs_form.datasets()["X"]
    assert matrix.column_names == ("weight", "grade", "kind")
    assert page.inputs_form.datasets()["X"][0] is matrix, "a plan is kept for the very same data"
    pick(qtbot, page, "grade   (measured in t)")
    assert page.inputs_form.datasets()["X"][0].column_names == ("weight", "kind", "target")
    plans = []
    page.start_requested.connect(lambda plan, title: plans.append(plan))
    qtbot.waitUntil(lambda: "second" in page.foot.estimate.text() or bool(page.foot.estimate.text()))
    page.start()
    qtbot.waitUntil(lambda: bool(plans), timeout=10_000)
    assert plans[0].inputs["X"][0].name == "t without grade"
    assert plans[0].inputs["y"][0].values.tolist() == table().values[:, 1].tolist()


def test_the_outcome_of_an_earlier_fit_is_still_taken_out(page, qtbot):
    """It is a data set of the session by then, and the table still has it among its measurements."""
    pick(qtbot, page, "target")
    made: Dataset = page.inputs_form.datasets()["y"][0]
    page.workbench.session.datasets[made.name] = made
    page._data_changed()
    field = page.inputs_form.field("y")
    field.choose([made.name])
    assert field.chosen == ["t: target"]
    assert "taken out of the measurements of “t”" in field._help.text()
    assert "target" not in page.inputs_form.datasets()["X"][0].column_names


def test_the_only_measurement_cannot_be_the_outcome(qtbot):
    workbench = Workbench(registry_of(Explains))
    workbench.session.datasets["t"] = Dataset("t", np.ones((4, 1)), tuple("abcd"), ("y",), samples_in="rows")
    made = SetupPage(workbench, "toy.explains")
    qtbot.addWidget(made)
    combo = made.inputs_form.field("y").combo
    assert not any("measured in" in combo.itemText(k) for k in range(combo.count()))
