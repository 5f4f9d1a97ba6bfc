"""Annotation columns of a dataset as inputs in the set-up: offered, chosen by role, fitted, kept in the session."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from gui_toys import settle

from plaidwork.core.contract.spec import Input
from plaidwork.core.data.dataset import Dataset, Source
from plaidwork.core.session.suitability import Choices
from plaidwork.gui.setup.input_field import InputField
from plaidwork.gui.setup.inputs_form import InputsForm
from plaidwork.gui.setup.setup_page import SetupPage
from plaidwork.gui.workbench import Workbench
from tests import toys
from tests.registries import registry_of

OUTCOME = Input("y", "vector", "real", ("row",), label="Outcome")
GROUP = Input("group", "labels", "categorical", ("row",), required=False)


class Texts(toys.Walk):
    """A walk that takes sparse counts and an outcome."""

    spec = replace(
        toys.Walk.spec,
        id="toy.texts",
        title="Texts",
        inputs=(Input("X", "matrix", "count", sparse=True), OUTCOME, GROUP),
    )


@pytest.fixture(autouse=True)
def finished(qapp):
    yield
    settle()


def documents(roles=(), name="speeches") -> Dataset:
    return Dataset(
        name,
        scipy.sparse.csr_matrix(np.arange(12.0).reshape(4, 3)),
        tuple("abcd"),
        ("tax", "plan", "film"),
        kind="count",
        row_table={
            "stars": np.array([1.0, 2, 4, 5]),
            "party": np.array(["left", "right", "left", "right"]),
            "body": np.array(["one text", "two texts", "three", "four"], dtype=object),
        },
        source=Source("s.csv", options={"roles": {"body": "text", **dict(roles)}}),
    )


def entries(field: InputField) -> list[str]:
    return [
        field.combo.itemText(k) for k in range(field.combo.count()) if field.combo.model().item(k).isEnabled()
    ]


def test_columns_are_offered_and_none_is_guessed(qtbot):
    form = InputsForm(Texts.spec)
    qtbot.addWidget(form)
    form.set_datasets({"speeches": documents()})
    assert entries(form.field("y")) == [
        "Choose a column",
        "stars   (in speeches)",
        "party=left   (in speeches)",
        "party=right   (in speeches)",
        *(f"{word}   (measured in speeches)" for word in ("tax", "plan", "film")),
    ]
    assert [problem.name for problem in form.problems()] == ["y"]
    assert entries(form.field("group")) == ["None", "stars   (in speeches)", "party   (in speeches)"]
    form.set_values({"y": ["speeches:row:party=right"]})
    assert not form.problems()
    (made,) = form.datasets()["y"]
    assert made.values.tolist() == [0, 1, 0, 1]
    assert form.datasets()["y"][0] is made  # asked for again, made once


def test_a_form_can_offer_datasets_only(qtbot):
    field = InputField(OUTCOME, columns=False)
    qtbot.addWidget(field)
    field.set_datasets({"speeches": documents({"stars": "outcome"})})
    assert not field.chosen
    assert not any("stars" in entry for entry in entries(field))


def test_roles_choose(qtbot):
    form = InputsForm(Texts.spec)
    qtbot.addWidget(form)
    form.set_datasets({"speeches": documents({"stars": "outcome", "party": "group"})})
    assert form.values() == {
        "X": ["speeches"],
        "y": ["speeches:row:stars"],
        "group": ["speeches:row:party"],
    }
    assert form.datasets()["group"][0].categories == ("left", "right")


def test_a_column_that_is_in_the_session_already_is_offered_once(qtbot):
    form = InputsForm(Texts.spec)
    qtbot.addWidget(form)
    data = documents({"stars": "outcome"})
    form.set_datasets({"speeches": data})
    (made,) = form.datasets()["y"]
    form.set_datasets({"speeches": data, made.name: made})
    assert "speeches: stars   (4 documents)" not in entries(form.field("y"))
    assert sum("stars" in entry for entry in entries(form.field("y"))) == 1
    fresh = InputsForm(Texts.spec)
    qtbot.addWidget(fresh)
    other_vector = made.with_(name="another", source=Source())
    fresh.set_datasets({"another": other_vector, "speeches": data, made.name: made})
    assert fresh.values()["y"] == [made.name]
    other = documents({"stars": "outcome"}).with_(row_table={"stars": np.array([9.0, 8, 7, 6])})
    form.set_datasets({"speeches": other, made.name: made})
    form.set_values({"y": ["speeches:row:stars"]})
    (again,) = form.datasets()["y"]
    assert (again.name, again.values.tolist()) == ("speeches: stars 2", [9, 8, 7, 6])


def test_a_fit_takes_the_column_and_the_session_keeps_it(qtbot):
    workbench = Workbench(registry_of(Texts))
    workbench.add_dataset(documents({"stars": "outcome"}))
    page = SetupPage(workbench, "toy.texts")
    qtbot.addWidget(page)
    with qtbot.waitSignal(page.start_requested, timeout=30_000) as started:
        page.start()
    plan = started.args[0]
    assert scipy.sparse.issparse(plan.inputs["X"][0].values)
    run = workbench.start(plan)
    assert run.inputs["y"] == ("speeches: stars",)
    assert workbench.session.datasets["speeches: stars"].values.tolist() == [1, 2, 4, 5]
    page.from_run(run)
    assert page.inputs()["y"] == ["speeches: stars"]
    workbench.stop(run)
    qtbot.waitUntil(lambda: not run.active, timeout=30_000)
    qtbot.waitUntil(lambda: workbench.wait(0), timeout=30_000)


SEVERAL = Input("y", "vector", "real", ("row",), label="Values", several="output")


def test_columns_are_added_to_the_one_that_is_chosen(qtbot):
    data = documents().with_(
        row_table={"stars": np.arange(4.0), "length": np.arange(4.0) ** 2, "party": np.array(list("lrlr"))}
    )
    field = InputField(SEVERAL)
    qtbot.addWidget(field)
    field.set_choices(Choices({"speeches": data}))
    field.choose(["speeches:row:stars"])
    assert not field.more.isHidden()
    assert [action.text() for action in field.more.menu().actions()][:3] == ["length", "party=l", "party=r"]
    field.more.menu().actions()[0].trigger()
    assert field.chosen == ["speeches:row:stars;length"]
    assert field.combo.currentText() == "stars, length   (in speeches)"
    made = field.dataset(field.chosen[0])
    assert (made.shape, made.column_names) == ((4, 2), ("stars", "length"))
    field.set_choices(Choices({"speeches": data, "other": data.with_(name="other")}))
    assert field.chosen == ["speeches:row:stars;length"]  # stays when the session changes
    field.choose(["speeches:row:length"])
    assert field.chosen == ["speeches:row:length"]


def test_one_column_alone_has_no_menu(qtbot):
    field = InputField(OUTCOME)
    qtbot.addWidget(field)
    field.set_choices(Choices({"speeches": documents()}))
    field.choose(["speeches:row:stars"])
    assert field.more.isHidden()


def test_the_only_column_of_classes_is_chosen_where_labels_are_needed(qtbot):
    spec = replace(Texts.spec, inputs=(Texts.spec.inputs[0], replace(GROUP, name="y", required=True)))
    form = InputsForm(spec)
    qtbot.addWidget(form)
    alone = documents().with_(row_table={"party": np.array(["left", "right", "", "left"])})
    form.set_datasets({"speeches": alone})
    assert form.values() == {"X": ["speeches"], "y": ["speeches:row:party"]}
    assert not form.field("y").decided, "it was only proposed"
    two = alone.with_(row_table={**alone.row_table, "town": np.array(["up", "low", "up", "low"])})
    form = InputsForm(spec)
    qtbot.addWidget(form)
    form.set_datasets({"speeches": two})
    assert form.values() == {"X": ["speeches"]}, "of two none is guessed"
    other = alone.with_(name="other", row_names=tuple("wxyz"), row_table={})
    form = InputsForm(spec)
    qtbot.addWidget(form)
    form.set_datasets({"speeches": alone, "other": other}, ["other"])
    assert "y" not in form.values(), "those of other data are not meant"
