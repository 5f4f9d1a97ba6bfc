"""Bad and odd input: clear words; levels, pairs and placing as the specification says."""

from dataclasses import replace

import numpy as np
import pytest
import rank_factor_tools as tools

from plaidwork.core.errors import DataError
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.plugins.registry import registry
from plaidwork.plugins.rank_factor.checks import split_of
from plaidwork.plugins.rank_factor.comparisons import level_of, make_levels, make_pairs, place, row_edges

RNG = np.random.default_rng(0)
X = RNG.standard_normal((20, 6))
Y = np.arange(20) % 2


def plan(x=X, y=Y, settings=None, model="rank_factor", **more):
    return make_plan(registry().model(model), tools.inputs(x, y, **more), settings or {})


def refused(says, *args, **kwargs):
    with pytest.raises(DataError) as error:
        plan(*args, **kwargs)
    assert says in error.value.message


@pytest.mark.parametrize("model", ["rank_factor", "rank_factor_vb"])
@pytest.mark.parametrize("settings", [{}, {"likelihood": "gaussian"}], ids=["ranks", "values"])
def test_constant_features_are_named_and_left_out(settings, model):
    x = X.copy()
    x[:, 1], x[:, 4] = 7.0, np.nan
    found = plan(x, settings=settings, model=model).warnings
    assert "2 features (“f1”, “f4”) left out: constant or unknown" in found[0].message
    run = tools.run(
        model, tools.inputs(x, Y), settings | {"n_factors": 3}, chains=1, warmup=2, draws=3, max_sweeps=4
    )
    loadings = run.results["loadings"].values
    assert (loadings[:, [1, 4]] == 0).all()
    assert (loadings[:, [0, 2, 3, 5]] != 0).all()


def test_a_feature_constant_in_the_training_half_is_left_out():
    x = X.copy()
    x[:15, 2] = 1.0
    found = plan(x, split=(np.arange(20) >= 15).astype(int)).warnings
    assert "1 feature (“f2”) left out" in found[0].message


def test_nothing_varies():
    refused("No feature varies", np.ones((20, 6)))


@pytest.mark.parametrize(
    ("y", "found"), [(np.zeros(20, int), "Found only “no” (20)"), (np.full(20, -1), "Found none")]
)
def test_one_class(y, found):
    refused("Labels of two classes are needed among the training samples. " + found, y=y)


def test_one_class_in_the_training_half():
    refused(
        "Found only “no” (10)", y=(np.arange(20) >= 10).astype(int), split=(np.arange(20) >= 10).astype(int)
    )


def test_labels_outside_the_given_classes():
    y = np.arange(20) % 3
    names = ("a", "b", "c")
    refused(
        "The label “c” of sample “s2” is not among the classes a, b",
        y=y,
        categories=names,
        settings={"classes": "a, b"},
    )
    refused("No label is called “d”. Found: a, b, c", y=y, categories=names, settings={"classes": "a,b,c,d"})


@pytest.mark.parametrize(
    ("shape", "says"),
    [
        ((4, 4), "Images of 4 × 4 have 16 pixels. Found 6 features"),
        ((6,), "rows and columns"),
        ((2.5, 2), "rows and columns"),
    ],
)
def test_image_shape(shape, says):
    refused(says, settings={"image_shape": shape})


def test_image_shape_that_fits():
    given = tools.inputs(X, Y)
    run = tools.run("rank_factor_vb", given, {"image_shape": (2, 3), "n_factors": 2}, max_sweeps=5)
    images = run.results["loading_images"]
    assert images.values.shape == (2, 2, 3)
    assert (images.values.reshape(2, 6) == run.results["loadings"].values).all()


def test_split_without_the_word():
    refused("“Split” has no sample called “held”", split=np.arange(20) % 2, settings={"test_name": "held"})
    refused("“Split” calls all samples “test”", split=np.ones(20, int))


@pytest.mark.parametrize(
    ("words", "settings", "held"),
    [
        (("Train", "Test"), {}, [1]),
        (("training", "Validation"), {}, [1]),
        (("test", "validation"), {}, [0]),
        (("TRAIN", "left"), {"test_name": "Left"}, [1]),
    ],
)
def test_the_usual_names_of_test_samples(words, settings, held):
    """Of whichever case; those of other names count where none is called “test”, and never beside a word that was given."""
    split = np.arange(20) // 2 % 2
    given = tools.inputs(X, Y, split=split)
    given["split"] = replace(given["split"], categories=words)
    found = make_plan(registry().model("rank_factor"), given, settings)
    train, test = split_of(found.data, found.params)
    np.testing.assert_array_equal(test, np.flatnonzero(np.isin(split, held)))
    np.testing.assert_array_equal(train, np.flatnonzero(~np.isin(split, held)))


def test_one_level_is_no_level():
    refused("Found 1", settings={"n_levels": 1})


def test_unknown_feature():
    refused("No feature is called “f9”", settings={"shown_feature": "f9"})


def test_samples_without_a_known_value_are_named():
    x = X.copy()
    x[3] = np.nan
    assert any("1 sample (“s3”) without a known value" in p.message for p in plan(x).warnings)


# levels and comparisons -----------------------------------------------------------------------------------------------


def test_levels_of_a_row():
    """Distinct values while there are few; else quantiles, ties together, no level empty."""
    few = np.array([3.0, 1.0, 3.0, 2.0])
    assert row_edges(few, 8)[0].tolist() == [2.0, 3.0]
    many = np.concatenate([np.zeros(80), np.arange(1.0, 21.0)])
    edges, exact = row_edges(many, 8)
    level = np.searchsorted(edges, many, side="right")
    assert not exact
    assert (level[:80] == 0).all()
    assert set(level) == set(range(len(edges) + 1))
    assert (np.diff(level[80:]) >= 0).all()
    even = np.searchsorted(row_edges(np.arange(800.0), 8)[0], np.arange(800.0), side="right")
    assert np.bincount(even).tolist() == [100] * 8


def test_pairs_follow_the_rule():
    x = np.array([[1.0, 2, 2, 3, np.nan, 3, 3]])
    levels = make_levels(np.nan_to_num(x), ~np.isnan(x), 0)
    pairs = make_pairs(levels)
    found = list(zip(pairs.low.tolist(), pairs.high.tolist(), strict=True))
    assert found == [(0, 1), (0, 2), (1, 3), (2, 5), (1, 6)]
    assert found == [(int(a), int(b)) for a, b in tools.reference_pairs(levels.values[0])]
    plain = make_pairs(make_levels(RNG.standard_normal((3, 9)), np.ones((3, 9), bool), 0))
    assert np.diff(plain.start).tolist() == [8, 8, 8]


def test_placing_new_values_with_thresholds():
    x, known = np.array([[1.0, 2.0, 4.0]]), np.ones((1, 3), bool)
    levels = make_levels(x, known, 0)
    new = np.array([[0.0, 1.0, 1.5, 2.0, 3.9, 9.0]])
    assert level_of(new, np.ones((1, 6), bool), levels.edges).tolist() == [[0, 0, 0, 1, 1, 2]]
    placed = place(levels, new, np.ones((1, 6), bool), "levels")
    assert placed.lower.tolist() == [[-1, -1, -1, 0, 0, 1]]
    assert placed.upper.tolist() == [[0, 0, 0, 1, 1, -1]]


def test_placing_new_values_between_samples():
    """Values between two are compared with both, equal ones with the next lower and the next higher."""
    x, known = np.array([[4.0, 1.0, 2.0]]), np.ones((1, 3), bool)
    placed = place(
        make_levels(x, known, 0), np.array([[0.0, 1.0, 1.5, 2.0, 3.9, 9.0]]), np.ones((1, 6), bool), "pairs"
    )
    assert placed.lower.tolist() == [[-1, -1, 1, 1, 2, 0]]
    assert placed.upper.tolist() == [[1, 2, 2, 0, 0, -1]]


def test_unknown_new_values_are_not_compared():
    x = RNG.standard_normal((2, 8))
    levels = make_levels(x, np.ones(x.shape, bool), 4)
    known = np.array([[True, False], [False, True]])
    for scheme in ("levels", "pairs"):
        placed = place(levels, np.zeros((2, 2)), known, scheme)
        assert (placed.lower[~known] == -1).all()
        assert (placed.upper[~known] == -1).all()
