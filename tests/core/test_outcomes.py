"""An outcome that stands among the measurements: offered, chosen by its title, and taken out of the inputs."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

from plaidwork.core.contract.spec import Input
from plaidwork.core.data.annotation_inputs import column_dataset, measured_choices, parse_column
from plaidwork.core.data.dataset import Dataset, Source, Step
from plaidwork.core.data.fit_inputs import entries_of, left_out, load_inputs
from plaidwork.core.data.measured import TEST_WORDS, held_levels, parts_items
from plaidwork.core.data.outcomes import without_outcomes
from plaidwork.core.data.transforms import apply_step
from plaidwork.core.errors import DataError
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.session.suitability import Choices
from tests import toys

X = Input("X", samples="row")
VALUES = Input("y", "vector", "real", ("row",), samples="row", label="Values")
CLASSES = Input("c", "labels", "categorical", ("row",), samples="row", label="Classes", required=False)
ITEMS = (X, VALUES, CLASSES)
TITLES = ("weight", "grade", "kind", "target")


class Explains(toys.Walk):
    """A walk over a matrix with a number for each row."""

    spec = replace(toys.Walk.spec, id="toy.explains", title="Explains", inputs=ITEMS)


def table(n: int = 8, **changes: object) -> Dataset:
    rng = np.random.default_rng(3)
    values = np.column_stack(
        [rng.normal(size=n), np.arange(n) % 3 + 1.0, np.arange(n) % 2, rng.normal(size=n)]
    )
    source = Source("t.csv", "f" * 64)
    made = Dataset("t", values, tuple(f"r{i}" for i in range(n)), TITLES, samples_in="rows", source=source)
    return made.with_(**changes)


def column(data: Dataset, text: str, item: Input = VALUES) -> Dataset:
    ref = parse_column(text, [data.name])
    assert ref is not None
    return column_dataset(data, ref, item)


def test_measurements_are_offered_usual_titles_first_and_only_what_may_be_classes_as_labels():
    assert [ref.titles for ref in measured_choices(table(), VALUES)] == ["target", "weight", "grade", "kind"]
    assert [str(ref) for ref in measured_choices(table(), CLASSES)] == ["t:row:grade", "t:row:kind"]
    assert measured_choices(table(), X) == []
    wide = Dataset("w", np.zeros((3, 600)), tuple("abc"), ("Class", *(f"g{i}" for i in range(599))))
    assert [ref.titles for ref in measured_choices(wide, VALUES)] == ["Class"]
    turned = apply_step(table(), Step("transpose"))
    assert str(measured_choices(turned, CLASSES)[0]) == "t:column:grade"
    offered = Choices({"t": table()}).offer(VALUES)
    assert "t:row:weight" in offered
    assert not offered.usual(table()), "none is chosen without asking"


def test_an_annotation_of_texts_hides_a_measurement_of_its_title():
    beside = {"kind": np.array(["a", "b"] * 4, dtype=object)}
    data = table(row_table=beside)
    assert [ref.titles for ref in measured_choices(data, CLASSES)] == ["grade"]
    assert "kind" not in [ref.titles for ref in measured_choices(data, VALUES)]


def test_the_matrix_is_fitted_without_the_outcome_and_keeps_it_as_an_annotation():
    data = table()
    plan = make_plan(Explains(), {"X": data, "y": column(data, "t:row:grade")}, taken={"t": data})
    (made,) = plan.inputs["X"]
    assert (made.name, made.column_names) == ("t without grade", ("weight", "kind", "target"))
    assert made.row_table["grade"].tolist() == data.values[:, 1].tolist()
    assert plan.inputs["y"][0].values.tolist() == data.values[:, 1].tolist()
    again = make_plan(Explains(), plan.inputs, taken={"t": data, made.name: made})
    assert again.inputs["X"][0] is made


def test_what_was_made_of_the_same_file_loses_the_outcome_too():
    data = table()
    scaled = apply_step(data, Step("standardise", {"axis": "columns"})).with_(name="scaled")
    turned = apply_step(data, Step("transpose")).with_(name="turned")
    found = without_outcomes(ITEMS, {"X": [scaled, turned], "y": [column(data, "t:row:weight")]})
    assert [one.name for one in found["X"]] == ["scaled without weight", "turned without weight"]
    assert "weight" not in found["X"][1].row_names
    other = scaled.with_(source=Source("u.csv", "e" * 64))
    assert without_outcomes(ITEMS, {"X": [other], "y": [column(data, "t:row:weight")]})["X"] == (other,)


def test_sparse_matrices_levels_and_several_outcomes():
    data = table(values=scipy.sparse.csr_matrix(table().values), kind="real")
    one = column(data, "t:row:kind=1")
    assert one.values.tolist() == data.values[:, [2]].toarray()[:, 0].tolist()
    found = without_outcomes(ITEMS, {"X": [data], "y": [one], "c": [column(data, "t:row:grade", CLASSES)]})
    assert found["X"][0].name == "t without kind without grade"
    assert found["X"][0].is_sparse
    assert found["X"][0].column_names == ("weight", "target")


def test_an_annotation_stays_where_it_is():
    data = table(row_table={"age": np.arange(8.0)})
    found = without_outcomes(ITEMS, {"X": [data], "y": [column(data, "t:row:age")]})
    assert found["X"] == (data,)


def test_use_as_annotation_is_a_step_that_judges_the_rest_anew():
    counts = np.random.default_rng(1).poisson(1.0, (30, 5)).astype(float)
    data = Dataset(
        "d",
        np.column_stack([counts, np.linspace(0, 1, 30)]),
        tuple(f"r{i}" for i in range(30)),
        (*"vwxyz", "dose; mg"),
    )
    assert data.kind == "real"
    made = apply_step(data, Step("set_aside", {"names": "dose; mg"}))
    assert (made.kind, made.shape, list(made.row_table)) == ("count", (30, 5), ["dose; mg"])
    assert str(made.steps[-1]) == "“dose; mg” used as an annotation"
    rows = apply_step(data, Step("set_aside", {"axis": "rows", "names": ["r0"]}))
    assert rows.column_table["r0"].tolist() == data.values[0].tolist()
    with pytest.raises(DataError, match=r"no column “vv”\. Did you mean “v”"):
        apply_step(data, Step("set_aside", {"names": "vv"}))
    with pytest.raises(DataError, match="would be left as measurements"):
        apply_step(data, Step("set_aside", {"names": list(data.column_names)}))
    with pytest.raises(DataError, match="has an annotation “v” already"):
        apply_step(data.with_(row_table={"v": np.zeros(30)}), Step("set_aside", {"names": "v"}))


def test_a_fit_of_a_file_takes_the_outcome_before_it_transforms_the_rest(tmp_path):
    lines = ["name,a,b,y", *(f"r{i},{i},{i * i % 7},{10 * i + 3}" for i in range(9))]
    (tmp_path / "t.csv").write_text("\n".join(lines), encoding="utf-8")
    entries = entries_of(
        Explains.spec, {"X": str(tmp_path / "t.csv"), "y": "X:row:y"}, transform="X.standardise:axis=columns"
    )
    given = load_inputs(Explains.spec, entries)
    plan = make_plan(Explains(), given.data)
    assert plan.inputs["X"][0].column_names == ("a", "b")
    assert plan.inputs["y"][0].values.tolist() == [10.0 * i + 3 for i in range(9)]
    assert abs(plan.inputs["X"][0].values.mean()) < 1e-12
    told = [one.text for one in (*given.messages, *left_out(given.data, plan.inputs))]
    assert told == ["“y” is taken out of the measurements of “t”, so that nothing is explained by itself."]


@pytest.mark.parametrize(
    ("title", "values", "parts"),
    [
        ("set", ("train", "test"), True),
        (" Split", ("Training", "Test", ""), True),
        ("partition", ("train", "validation", "test"), True),
        ("subset", ("Discovery", "Validation"), True),
        ("set", ("train", "Holdout "), True),
        ("set", ("control", "test"), False),
        ("set", ("train", ""), False),
        ("fold", ("1", "2", "3"), False),
        ("hall", ("train", "test"), False),
    ],
)
def test_a_column_that_says_which_items_are_for_a_test(title, values, parts):
    assert parts_items(title, values) == parts


@pytest.mark.parametrize("word", sorted(TEST_WORDS))
def test_what_is_chosen_for_a_split_is_a_test_for_models(word):
    levels = ("Training", word.capitalize())
    assert parts_items("set", levels)
    assert held_levels(levels) == [1]
