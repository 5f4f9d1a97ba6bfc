"""Which models suit which data, in what order, why not, and which data go into which input. No Qt."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

from plaidwork.core.contract.hyperparameter import DeclarationError
from plaidwork.core.contract.model import Problem
from plaidwork.core.contract.spec import Input, View
from plaidwork.core.data.dataset import Dataset, Source
from plaidwork.core.data.importers.reading import read_dataset
from plaidwork.core.data.samples import bundled_samples
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session import offers
from plaidwork.core.session.offers import is_of_size, views_with
from plaidwork.core.session.suitability import Choices, suggestion
from tests import toys
from tests.registries import registry_of

MATRIX = Input("X", "matrix", "real", label="Matrix")
CLASSES = Input("y", "labels", "categorical", ("row",), label="Classes")


def model(id: str, *inputs: Input, **more):
    """A toy model with these inputs."""
    return type(
        id, (toys.Walk,), {"spec": replace(toys.Walk.spec, id=f"toy.{id}", title=id, inputs=inputs), **more}
    )


PLAIN = model("plain", MATRIX)
CLASSIFIER = model(
    "classifier", MATRIX, CLASSES, replace(CLASSES, name="split", label="Split", required=False)
)
BITS = model("bits", replace(MATRIX, dtype="binary", label="Bits"))
VIEWS = model("views", replace(MATRIX, name="views", many=True, label="Views"))
WORDS = model(
    "words", replace(MATRIX, dtype="count", sparse=True, label="Words"), Input("y", "vector", dims=("row",))
)
RATERS = model(
    "raters", MATRIX, replace(MATRIX, name="grades", dtype="ordinal", label="Grades", dims=("row", "grade"))
)
ALL = (PLAIN, CLASSIFIER, BITS, VIEWS, WORDS, RATERS)


def table(name="table", rows="r", n=6, kind="real", columns="c", **labels) -> Dataset:
    values = np.random.default_rng(0).integers(0, 2, (n, 3)).astype(float)
    return Dataset(
        name,
        values if kind == "binary" else values + (0.5 if kind == "real" else 1),
        tuple(f"{rows}{i}" for i in range(n)) if rows else tuple(f"row {i + 1}" for i in range(n)),
        tuple(f"{columns}{i}" for i in range(3)),
        kind=kind,
        row_table={title: np.array(column) for title, column in labels.items()},
    )


def classes(name="classes", rows="r", n=6) -> Dataset:
    names = tuple(f"{rows}{i}" for i in range(n))
    return Dataset(name, np.arange(n) % 2, names, kind="categorical", categories=("a", "b"))


def choices(*datasets: Dataset) -> Choices:
    return Choices({data.name: data for data in datasets})


def ids(found: list[str]) -> list[str]:
    return [id.removeprefix("toy.") for id in found]


def test_only_data_of_the_focus_or_of_its_samples_are_proposed():
    found = choices(table("old", "o", label=["x", "y"] * 3), table("new", "n"), classes("of old", "o"))
    assert found.propose(PLAIN.spec, ["new"]) == {"X": ["new"]}
    assert found.propose(CLASSIFIER.spec, ["new"]) == {"X": ["new"]}
    assert found.propose(CLASSIFIER.spec, ["old"]) == {"X": ["old"], "y": ["old:row:label"]}
    assert found.propose(CLASSIFIER.spec, ["of old"]) == {"X": ["old"], "y": ["of old"]}
    assert found.propose(PLAIN.spec, ["of old"]) == {}, "what does not use the focus is not proposed"
    assert found.order(["of old"]) == ["of old", "old", "new"]


def test_without_names_nothing_is_related():
    found = choices(table("first", rows=""), table("second", rows=""))
    assert found.propose(VIEWS.spec, ["second"]) == {"views": ["second"]}
    assert found.propose(VIEWS.spec, ["second", "first"]) == {"views": ["second", "first"]}, "meant together"
    assert found.propose(VIEWS.spec) == {"views": ["first"]}


def test_views_of_opposite_orientation_are_of_the_same_samples():
    genes = Dataset("genes", np.arange(24.0).reshape(4, 6), tuple("ABCD"), tuple(f"r{i}" for i in range(6)))
    drugs, other = table("drugs"), genes.with_(name="other", column_names=tuple(f"q{i}" for i in range(6)))
    unsaid = choices(genes, drugs, other)
    assert unsaid.related("genes", "other")
    assert not unsaid.related("genes", "drugs")
    genes, other = genes.with_(samples_in="columns"), other.with_(samples_in="columns")
    found = choices(genes, drugs, other)
    assert found.related("genes", "drugs")
    assert found.related("drugs", "genes")
    assert found.propose(VIEWS.spec, ["genes"]) == {"views": ["genes"]}
    assert found.propose(VIEWS.spec, ["genes", "drugs"]) == {"views": ["genes", "drugs"]}
    assert not found.related("genes", "other"), "the same genes of other samples"
    assert views_with(genes, [genes, drugs, other]) == [genes, drugs]


def test_images_are_not_taken_for_counts_of_words():
    grid = View("image_grid", "Images", {"values": "x"})
    seeing = replace(CLASSIFIER.spec, id="toy.seeing", views=(grid,))
    words = replace(WORDS.spec, inputs=WORDS.spec.inputs[:1])
    grey = table(kind="count", label=["x", "y"] * 3)
    assert ids(choices(grey).ranked([words, seeing])) == ["words", "seeing"]
    images = grey.with_(image_shape=(1, 3))
    assert ids(choices(images).ranked([words, seeing])) == ["seeing", "words"]


def test_texts_and_links_go_to_the_models_that_are_meant_for_them():
    texts = replace(WORDS.spec, id="toy.texts", inputs=(replace(MATRIX, dtype="count", about="texts"),))
    links = replace(WORDS.spec, id="toy.links", inputs=(replace(MATRIX, dtype="count", about="links"),))
    models, usual = [texts, links, PLAIN.spec], ["toy.texts", "toy.links"]
    counts = table(kind="count")
    for rows, columns in (("rows", "columns"), ("documents", "words"), ("reviews", "terms")):
        found = choices(counts.with_(row_label=rows, column_label=columns))
        assert ids(found.ranked(models, (), usual)) == ["texts", "links", "plain"]
        assert not found.meant_for(texts)
    cells = choices(counts.with_(row_label="samples", column_label="features"))
    assert ids(cells.ranked(models, (), usual)) == ["links", "plain", "texts"]
    assert cells.meant_for(texts) == "Meant for documents and their words."
    exact = replace(links, inputs=(replace(MATRIX, dtype="count", about="links", least=(1, 1)),))
    full = choices(counts.with_(column_label="features", row_label="cells"))
    assert ids(full.ranked([exact, PLAIN.spec], (), ["toy.plain"])) == ["plain", "links"], (
        "not mostly 0, as links are"
    )
    sparse = counts.with_(values=np.eye(6, 3) * [[1], [0], [0], [0], [0], [0]])
    assert ids(choices(sparse).ranked([exact, PLAIN.spec], (), ["toy.plain"])) == ["links", "plain"]
    people = tuple("ABCDEF")
    mails = Dataset("mails", np.arange(36.0).reshape(6, 6) % 4, people, people[::-1], kind="count")
    assert ids(choices(mails).ranked(models, (), usual)) == ["links", "texts", "plain"]
    assert not choices(mails).meant_for(links)
    likeness = choices(mails.with_(values=np.eye(6) / 3, kind="real"))
    assert ids(likeness.ranked(models, (), usual)) == ["plain"], "a table of correlations is no count"
    numbered = mails.with_(row_names=tuple(f"row {i + 1}" for i in range(6)))
    assert ids(choices(numbered).ranked(models, (), usual))[0] == "texts"


def test_counts_go_to_a_model_that_takes_them_for_counts():
    views = replace(VIEWS.spec, inputs=(replace(VIEWS.spec.inputs[0], also=("count",)),))
    words = replace(WORDS.spec, inputs=WORDS.spec.inputs[:1])
    found, usual = choices(table(kind="count")), ["toy.plain"]
    assert ids(found.ranked([PLAIN.spec, views], (), usual)) == ["views", "plain"]
    assert ids(found.ranked([PLAIN.spec, views, words], (), usual))[0] == "words", "made for nothing else"
    assert ids(choices(table()).ranked([PLAIN.spec, views], (), usual)) == ["plain", "views"]
    with pytest.raises(DeclarationError, match="unknown kind"):
        replace(MATRIX, also=("pictures",))


def test_a_model_meant_for_larger_tables_is_not_proposed_first():
    """Whatever is preferred; it stays in the list and says so. Where all are too small, the kind of values decides."""
    large = replace(PLAIN.spec, id="toy.large", inputs=(replace(MATRIX, least=(6, 4)),))
    exact = replace(WORDS.spec, id="toy.exact", inputs=(replace(MATRIX, dtype="count", least=(1, 4)),))
    found = choices(table(), table("tall", rows="t", n=7), table("counts", rows="q", kind="count"))
    assert ids(found.ranked([large, PLAIN.spec], ["table"], ["toy.large"])) == ["plain", "large"]
    assert not found.reason(large, ["table"])
    assert found.meant_for(large, ["table"]) == "Meant for tables with at least 6 rows and 4 columns."
    assert not found.meant_for(PLAIN.spec, ["table"])
    assert ids(found.ranked([exact, PLAIN.spec], ["counts"])) == ["plain", "exact"]
    assert ids(found.ranked([exact, large], ["counts"], ["toy.large"])) == ["exact", "large"]
    three = replace(MATRIX, least=(6, 3), dims=("sample", "feature"), samples="sample")
    assert is_of_size(three, [table()])
    assert not is_of_size(three, [table().with_(samples_in="columns")]), "three samples by six"
    assert is_of_size(replace(three, least=(6, 6), many=True), [table(), table("b")]), "features add up"
    assert not is_of_size(replace(three, least=(7, 6), many=True), [table(), table("b")])


@pytest.mark.long
def test_models_are_meant_for_their_examples():
    """No bundled example is smaller than its model is meant for, and blocks are proposed for the tables of blocks."""
    for sample in bundled_samples():
        loaded = sample.load()
        for key, data in loaded.items():
            item = replace(
                registry().model(sample.model).spec.input(key), most=()
            )  # most samples of some are for the test
            assert is_of_size(item, data if isinstance(data, list) else [data]), (sample.id, key)
        if "plaid" in sample.model:
            alone = loaded["X"].with_(
                row_table={}, column_table={}
            )  # without classes, which another model would explain
            assert suggestion(registry(), choices(alone))[0] == "infinite_plaid", sample.id
    (tumours,) = (sample.load()["X"] for sample in bundled_samples() if sample.id == "tumour-genes")
    found, chosen = suggestion(registry(), choices(tumours))
    assert found == "rank_factor"
    assert chosen["y"] == [f"{tumours.name}:column:class"]


@pytest.mark.parametrize(
    ("shape", "kind", "wanted"),
    [
        ((400, 57), "ordinal", "group_factor"),  # answers of many persons to a few questions
        ((300, 12), "binary", "binary_pca"),
        ((72, 1), "count", "dp_mixture"),
        ((60, 4), "count", "group_factor"),
        ((60, 45), "count", "hdp_topics"),
        ((90, 1), "real", "dp_mixture"),
        ((80, 2), "real", "dp_mixture"),
        ((50, 4), "real", "group_factor"),
        ((100, 90), "real", "infinite_plaid"),
    ],
    ids=str,
)
def test_first_proposals_go_by_shape_and_kind(shape, kind, wanted):
    rng = np.random.default_rng(1)
    values = {
        "real": rng.normal(size=shape),
        "binary": rng.integers(0, 2, shape).astype(float),
        "count": rng.poisson(2.0, shape).astype(float),
        "ordinal": rng.integers(1, 5, shape).astype(float),
    }[kind]
    names = (
        tuple(f"{word} {k + 1}" for k in range(n)) for word, n in zip(("row", "column"), shape, strict=True)
    )
    data = choices(Dataset("table", values, *names, kind=kind))
    model, names = suggestion(registry(), data)
    assert model == wanted
    assert list(names.values()) == [["table"]]
    assert not data.meant_for(registry().model(model).spec)


def test_what_stays_in_its_file_is_left_there(tmp_path):
    np.save(tmp_path / "large.npy", np.random.default_rng(1).normal(size=(6, 3)))
    stays = read_dataset(tmp_path / "large.npy", {"values_in": "file"})
    leaving = replace(VIEWS.spec, inputs=(replace(VIEWS.spec.inputs[0], in_file=True),))
    both = [PLAIN.spec, leaving]
    assert ids(choices(stays).ranked(both, preferred=["toy.plain"])) == ["views", "plain"]
    assert ids(choices(table("small")).ranked(both, preferred=["toy.plain"])) == ["plain", "views"]


def test_one_dataset_is_not_two_inputs():
    found = choices(table("grades", kind="ordinal"), table("inputs"))
    assert found.propose(RATERS.spec, ["grades"]) == {"grades": ["grades"], "X": ["inputs"]}
    alone = choices(table("grades", kind="ordinal"))
    assert alone.propose(RATERS.spec) == {"grades": ["grades"]}
    assert alone.reason(RATERS.spec) == (
        "“Matrix” needs a matrix of numbers as well: no other data of these samples are there."
    )


def test_what_was_chosen_before_comes_first():
    found = choices(table("a"), table("b"), classes("k"), classes("l"))
    kept = {"X": ["b"], "y": ["l"]}
    assert found.propose(CLASSIFIER.spec, ["b"], kept) == {"X": ["b"], "y": ["l"]}
    assert found.propose(VIEWS.spec, ["b"], kept) == {"views": ["b"]}, "from an input of another name"
    assert found.propose(BITS.spec, ["b"], kept) == {}


def test_ranking_prefers_what_starts_uses_all_and_fits_exactly():
    specs = [model.spec for model in ALL]
    dense = choices(table(label=["x", "y"] * 3))
    assert ids(dense.ranked(specs)) == ["classifier", "plain", "views", "raters"], "the outcome is there"
    assert ids(choices(table()).ranked(specs, (), ["toy.views"]))[0] == "views"
    assert ids(choices(table(kind="binary")).ranked(specs))[0] == "bits"
    assert ids(choices(table("a"), table("b")).ranked(specs))[0] == "views"
    assert ids(choices(table("a"), table("b")).ranked(specs, ["b"]))[0] == "plain"
    assert ids(choices(table(), classes()).ranked(specs))[0] == "classifier"
    sparse = table(kind="count")
    sparse = sparse.with_(values=scipy.sparse.csr_matrix(sparse.values))
    assert ids(choices(sparse).ranked(specs)) == ["words"]


FEW = model("few", MATRIX, replace(CLASSES, few=True))
ORDERED = model("ordered", MATRIX, replace(CLASSES, dtype="ordinal"))
EXPLAINED = model("explained", MATRIX, Input("y", "vector", dims=("row",), label="Values"))
SUPERVISED = [one.spec for one in (PLAIN, ORDERED, FEW, CLASSIFIER, EXPLAINED)]


def labelled(title, texts, kind="real"):
    """Twelve rows with labels, and numbers that are no counts."""
    made = Dataset(
        "wide", np.arange(48.0).reshape(12, 4) / 7, tuple(f"r{i}" for i in range(12)), tuple("abcd"), kind
    )
    return made.with_(row_table={title: np.array(texts)})


@pytest.mark.parametrize(
    ("title", "labels", "first"),
    [
        ("Cell type", ["x", "y"] * 6, ["classifier", "ordered", "few"]),
        ("cultivar", ["x", "y", "x", "y", *[""] * 8], ["few", "classifier", "ordered"]),
        ("any title", ["x", "y", "x", "y", *[""] * 8], ["few", "classifier", "ordered"]),
        ("town", ["x", "y"] * 6, ["plain"]),  # known of all, and nothing says that it is to be explained
        ("type", [f"c{i}" for i in range(12)], ["plain"]),  # all differ
        ("target", np.arange(12) / 5, ["explained"]),
        ("height", np.arange(12) / 5, ["plain"]),
        ("target", np.arange(12) % 2, ["classifier", "ordered", "few"]),  # numbers that are classes
    ],
)
def test_what_explains_the_outcome_comes_first_and_few_labels_have_a_model_of_their_own(title, labels, first):
    found = choices(labelled(title, labels))
    assert ids(found.ranked(SUPERVISED, ["wide"]))[: len(first)] == first


def test_of_two_that_may_be_the_outcome_none_is_guessed_and_kinds_come_before_it():
    two = labelled("type", ["x", "y"] * 6)
    two = two.with_(row_table={**two.row_table, "group": np.array(["a", "b", "c"] * 4)})
    assert ids(choices(two).ranked(SUPERVISED, ["wide"]))[0] == "plain"
    one = labelled("type", ["x", "y"] * 6).with_(values=np.arange(12.0)[:, None] / 7, column_names=("a",))
    assert ids(choices(one).ranked(SUPERVISED, ["wide"]))[0] == "plain", (
        "a single measurement is rather the outcome"
    )
    votes = labelled("group", ["x", "y"] * 6).with_(values=np.arange(48.0).reshape(12, 4) % 2, kind="binary")
    assert ids(choices(votes).ranked([*SUPERVISED, BITS.spec], ["wide"]))[0] == "bits"


@pytest.mark.parametrize(
    ("title", "kind", "first"), [("year", "count", "explained"), ("dose", "count", "plain")]
)
def test_what_was_measured_at_times_is_explained_by_them(title, kind, first):
    """Whole years of a single column are numbers, and no counts."""
    course = labelled("flow", np.arange(12) / 5).with_(
        values=1871.0 + np.arange(12.0)[:, None], column_names=(title,), kind=kind
    )
    assert ids(choices(course).ranked([WORDS.spec, *SUPERVISED], ["wide"]))[0] == first


def test_a_model_meant_for_smaller_tables_is_not_proposed_first():
    small = replace(CLASSIFIER.spec, id="toy.small", inputs=(replace(MATRIX, most=(10, 4)), CLASSES))
    found = choices(labelled("class", ["x", "y"] * 6))
    assert ids(found.ranked([small, CLASSIFIER.spec], ["wide"], ["toy.small"])) == ["classifier", "small"]
    assert found.meant_for(small, ["wide"]) == "Meant for tables with at most 10 rows and 4 columns."
    fits = replace(small, inputs=(replace(MATRIX, most=(12, 4)), CLASSES))
    assert ids(found.ranked([CLASSIFIER.spec, fits], ["wide"]))[0] == "small", (
        "made for a table as small as this one"
    )


def test_samples_for_the_test_do_not_count_for_the_size():
    """Ten of the twelve are fitted."""
    matrix = replace(MATRIX, dims=("row", "column"), samples="row", most=(10, 4))
    classes = replace(CLASSES, samples="row")
    split = replace(classes, name="split", label="Split", required=False, fit_only=True)
    small = replace(CLASSIFIER.spec, id="toy.small", inputs=(matrix, classes, split))
    data = labelled("class", ["x", "y"] * 6)
    parts = np.array(["train"] * 10 + ["Validation"] * 2)
    parted = data.with_(row_table={**data.row_table, "set": parts})
    assert choices(data).meant_for(small, ["wide"])
    assert choices(parted).propose(small, ["wide"])["split"] == ["wide:row:set"]
    assert not choices(parted).meant_for(small, ["wide"])


@pytest.mark.parametrize(
    ("model", "focus", "reason"),
    [
        (PLAIN, "table", ""),
        (BITS, "table", "“Bits” needs zeros and ones, and “table” holds numbers."),
        (PLAIN, "classes", "“Matrix” needs a matrix of numbers, and “classes” is one column."),
        (PLAIN, "gaps", "“Matrix” needs data without missing cells, and “gaps” has missing cells."),
        (PLAIN, "sparse", "“Matrix” needs a dense matrix, and “sparse” is sparse."),
        (CLASSIFIER, "other", "“Classes” needs one column of labels, and “other” comes with none."),
        (CLASSIFIER, "table", ""),
        (CLASSIFIER, "labelled", ""),
    ],
)
def test_the_reason_is_a_sentence(model, focus, reason):
    gaps = table("gaps", "g")
    values = gaps.values.copy()
    values[0, 0] = np.nan
    found = choices(
        table(),
        classes(),
        gaps.with_(values=values),
        table("sparse", "s").with_(values=scipy.sparse.csr_matrix(gaps.values)),
        table("other", "x"),
        table("labelled", "l", grade=["x", "y"] * 3),  # of no usual name: to be chosen
    )
    assert found.reason(model.spec, [focus]) == reason


def test_other_data_that_would_suit_are_named():
    found = choices(table(), table("bits", "b", kind="binary"))
    assert found.reason(BITS.spec, ["table"])
    assert found.elsewhere(BITS.spec, ["table"]) == ["bits"]
    assert not found.elsewhere(BITS.spec, ["bits"])
    assert found.reason(BITS.spec, ["table", "gone"]).endswith("holds numbers.")


def test_categories_made_of_texts_are_ordered_labels_too():
    ordered = model("ordered", MATRIX, replace(CLASSES, dtype="ordinal"))
    data = table(label=["low", "high"] * 3)
    (made,) = choices(data).data(ordered.spec, {"y": ["table:row:label"]})["y"]
    assert made.kind == "categorical"
    again = choices(data, made).propose(ordered.spec, ["table"], {"y": [made.name]})
    assert again == {"X": ["table"], "y": [made.name]}


def test_a_model_that_refuses_the_data_is_not_suggested():
    refusing = model("refusing", MATRIX, validate=lambda self, data, params: [Problem("Too small.")])
    first = registry_of(refusing, PLAIN)
    assert suggestion(first, choices(table())) == ("toy.plain", {"X": ["table"]})
    assert (
        suggestion(first, choices(table()), first="toy.refusing", inputs={"X": ["table"]})[0] == "toy.plain"
    )
    assert suggestion(registry_of(refusing), choices(table())) == ("toy.refusing", {"X": ["table"]})
    assert suggestion(registry_of(), choices(table())) == ("", {})


def test_the_model_of_a_run_is_suggested_while_it_starts():
    found = choices(table("a"), table("b"), classes())
    inputs = {"X": ["b"], "y": ["classes"]}
    plugins = registry_of(PLAIN, CLASSIFIER)
    assert suggestion(plugins, found, ["b", "classes"], "toy.classifier", inputs) == (
        "toy.classifier",
        inputs,
    )
    gone = suggestion(plugins, choices(table("a")), ["a"], "toy.classifier", inputs)
    assert gone == ("toy.plain", {"X": ["a"]})
    assert suggestion(plugins, found, ["a"], "toy.missing", inputs)[0] in ("toy.plain", "toy.classifier")


def test_a_column_made_by_an_earlier_fit_is_taken_again():
    data = table(label=["x", "y"] * 3)
    (made,) = choices(data).data(CLASSIFIER.spec, {"y": ["table:row:label"]})["y"]
    assert made.source == Source("", "", {"annotation": "table:row:label"})
    assert choices(data, made).propose(CLASSIFIER.spec, ["table"])["y"] == [made.name]


def test_a_matrix_is_no_values_of_several_outputs_unless_it_is_chosen():
    """It suits, but is not put in; columns beside the first matrix are offered, one or several at once."""
    outputs = Input("y", "vector", dims=("row",), several="output", label="Values")
    spec = model("outputs", MATRIX, outputs).spec
    first = Dataset(
        "first",
        np.eye(4) + 0.5,
        tuple("abcd"),
        tuple("wxyz"),
        row_table={"p": np.arange(4.0), "q": np.ones(4)},
    )
    choices = Choices({"first": first, "second": first.with_(name="second", row_table={})})
    assert choices.propose(spec, ("first", "second")) == {"X": ["first"]}
    offered = choices.offer(outputs)
    assert "second" in offered
    assert "first:row:p;q" in offered
    assert "first:row:p;none" not in offered
    assert offered.beside("first:row:p") == ["first:row:q", *(f"first:row:{title}" for title in "ywxz")]
    assert choices.dataset(outputs, "first:row:p;q").shape == (4, 2)
    assert choices.dataset(outputs, "first:row:p").shape == (4,)


def test_a_model_that_takes_the_data_as_they_are_is_suggested_first():
    """Only among models that suit the data equally well: a model for fewer of the data does not come forward."""
    warned = Problem("Scales differ.", "Standardise.", "X", "warning", "standardise", {"axis": "columns"})
    plain_words = replace(warned, transform="", options={})

    def of(id, problem, *inputs):
        return model(id, *inputs or (MATRIX,), validate=lambda self, data, params: [problem])

    one, told = of("asking", warned), of("told", plain_words)
    data = choices(table())
    assert suggestion(registry_of(one, told), data)[0] == "toy.told", (
        "a warning that nothing mends holds nobody back"
    )
    assert suggestion(registry_of(one), data) == ("toy.asking", {"X": ["table"]})
    assert (
        suggestion(registry_of(one, told), data, first="toy.asking", inputs={"X": ["table"]})[0]
        == "toy.asking"
    )
    both = of("both", warned, replace(MATRIX, many=True))
    assert suggestion(registry_of(both, told), choices(table("a"), table("b")))[0] == "toy.both"
    refusing = model("refusing", MATRIX, validate=lambda self, data, params: [Problem("Too small.")])
    assert suggestion(registry_of(one, refusing), data)[0] == "toy.asking"


def test_what_a_large_matrix_is_filled_with_is_told_by_some_of_its_rows(monkeypatch):
    monkeypatch.setattr(offers, "_COUNTED", 40)
    for filled, made in ((10, True), (90, False)):
        values = (np.arange(100)[:, None] * 37 % 100 < filled) * np.ones((1, 4))
        data = replace(
            table("counts", kind="count"),
            values=values,
            row_names=tuple(map(str, range(100))),
            column_names=tuple("abcd"),
        )
        assert offers.is_made_for(replace(MATRIX, dtype="count", about="links"), data) is made
