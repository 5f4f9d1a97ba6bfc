"""The covariance chosen from the data: what planted data speak for, what takes no part, and where the choice goes."""

from __future__ import annotations

import numpy as np
import pytest
from gp_joint import generator
from sparing import every

from plaidwork.core import fit
from plaidwork.core.api import Block, ModelData, ModelError
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.plugins.gp_auxiliary.classes.choosing import (
    LINE,
    MOST_LENGTHS,
    NEAR,
    SUMS,
    Choice,
    _parts,
    choice_of,
    left_out_of,
    with_sum,
)
from plaidwork.plugins.gp_auxiliary.classes.classify import Classes
from plaidwork.plugins.gp_auxiliary.shared.covariance import in_words, make_covariance, parse
from plaidwork.plugins.gp_auxiliary.shared.frame import make_prior, prior_of
from plaidwork.plugins.gp_auxiliary.shared.gram import times_q
from plaidwork.plugins.gp_auxiliary.shared.tilting import settle, tilt

PARAMS = Classes().spec.check_params({"covariance": "chosen"})
BY_BOUND = PARAMS | {"chosen_by": "variational"}
"""As runs stored before expectation propagation have it."""


def given(x, code, split=None):
    names = tuple(f"s{i}" for i in range(len(x)))
    kinds = {"kind": "categorical"}
    found = {
        "X": Dataset("X", x, names, tuple(f"x{d}" for d in range(x.shape[1]))),
        "y": Dataset("y", code, names, (), categories=("a", "b"), **kinds),
    }
    if split is not None:
        found["split"] = Dataset("split", split.astype(int), names, (), categories=("train", "test"), **kinds)
    return found


def blocks(x, code, split=None) -> ModelData:
    names, known = tuple(f"s{i}" for i in range(len(x))), np.ones(len(x), dtype=bool)
    columns = tuple(f"x{d}" for d in range(x.shape[1]))
    found = {
        "X": Block("X", x, np.ones(x.shape, dtype=bool), None, (names, columns)),
        "y": Block("y", code, known, None, (names,), ("a", "b")),
    }
    if split is not None:
        found["split"] = Block("split", split.astype(int), known, None, (names,), ("train", "test"))
    return ModelData(found)


def planted(kind: str, size: int = 80):
    """Inputs (n, 3) and classes: by a straight boundary, by a ring, by waves along one input."""
    rng = generator(1)
    x = rng.standard_normal((size, 3))
    value = {
        "straight": 2.0 * x.sum(axis=1),
        "ring": 2.0 * ((x**2).sum(axis=1) - 2.4),
        "waves": 3.0 * np.sin(2.5 * x[:, 0]),
    }[kind]
    return x, (value + 0.5 * rng.standard_normal(size) > 0).astype(int)


@pytest.mark.parametrize(("kind", "terms"), [("straight", "mean_linear"), ("waves", "rbf(ard)")])
def test_what_is_planted_is_chosen(kind, terms):
    choice = choice_of(blocks(*planted(kind)), PARAMS)
    assert terms in choice.expression
    without = [bound for name, bound in zip(SUMS, choice.bounds) if terms not in name]
    assert max(choice.bounds) - max(without) > 2.0


def test_lengths_and_lines_that_are_not_needed_are_left_out():
    assert choice_of(blocks(*planted("ring")), PARAMS).expression == "rbf + constant"


def test_a_straight_boundary_needs_no_squared_exponential():
    """What runs of before chose among had none without one."""
    data = blocks(*planted("straight"))
    choice = choice_of(data, PARAMS)
    assert choice.expression == LINE
    earlier = choice_of(data, PARAMS | {"linear_alone": False})
    assert (earlier.sums, earlier.bounds) == (choice.sums[1:], choice.bounds[1:])
    assert PARAMS["linear_alone"]
    assert not Classes().spec.stored_params({})["linear_alone"]


def test_a_sum_that_predicts_less_well_is_not_chosen():
    """Two normal clouds with one between and above them: the boundary is bent, for which 150 samples hardly pay by the bound."""
    rng = generator(3)
    code = rng.integers(0, 2, 150)
    centre = np.where(code[:, None] == 0, [0.0, 2.0], [1.0, 0.0] * rng.choice([-2.0, 2.0], (150, 1)))
    data = blocks(centre + rng.standard_normal((150, 2)), code)
    choice, earlier = choice_of(data, BY_BOUND), choice_of(data, BY_BOUND | {"by_left_out": False})
    assert earlier.expression == LINE
    assert (earlier.bounds, earlier.left_out) == (choice.bounds, choice.left_out)
    assert "rbf" in choice.expression
    assert max(choice.left_out) - choice.left_out[0] > NEAR
    assert "by cross-validation" in choice.text()
    assert "cross-validation" not in earlier.text()
    assert PARAMS["by_left_out"]
    assert not Classes().spec.stored_params({})["by_left_out"]


def test_a_bent_boundary_that_the_bound_takes_for_straight():
    """Three overlapping classes, two of them bent around the third: the quick model's bound prefers a line by 4 nats or more, and predicts with it."""
    assert PARAMS["chosen_by"] == "propagation"
    assert Classes().spec.stored_params({})["chosen_by"] == "variational"
    rng = generator(3)
    code = rng.integers(0, 2, 150)
    centre = np.where(code[:, None] == 0, [0.0, 2.0], [1.0, 0.0] * rng.choice([-2.0, 2.0], (150, 1)))
    data = blocks(centre + rng.standard_normal((150, 2)), code)
    found, bound = choice_of(data, PARAMS), choice_of(data, BY_BOUND)
    assert bound.bounds[0] == max(bound.bounds)
    assert max(found.bounds) - found.bounds[0] > 1.0
    assert "rbf" in found.expression
    assert all(value > less for value, less in zip(found.bounds, bound.bounds, strict=True))
    assert "by expectation propagation" in found.text()
    assert "one at a time" in found.text()
    assert "propagation" not in bound.text()


@pytest.mark.parametrize(
    ("line", "left_out", "expected"),
    [(-12.5, -6.5, LINE), (-13.5, -6.5, SUMS[4]), (-12.5, -7.5, SUMS[4])],
)
def test_a_linear_part_alone_is_taken_where_it_is_nearly_as_good(line, left_out, expected):
    """Within 3 nats by the evidence, and 2 by the labels left out; of the others the best, however little ahead."""
    choice = Choice(
        SUMS, (line, -11.0, -10.6, -10.4, -10.0), (left_out, -5.0, -5.0, -5.0, -5.0), False, True, True
    )
    assert choice.expression == expected


@pytest.mark.parametrize("classes", [2, 3])
def test_labels_left_out_are_predicted_by_the_others_alone(classes):
    """Against the prediction of each part as new samples of the others, and whatever the labels left out are."""
    rng = generator(5)
    x = rng.standard_normal((40, 2))
    code = np.digitize(x[:, 0] + 0.7 * rng.standard_normal(40), [0.0] if classes == 2 else [-0.4, 0.5])
    rows = 1 if classes == 2 else classes
    prior = prior_of(x, x[:0], with_sum(PARAMS, "rbf + constant"), False)
    theta = prior.covariance.prior_mean
    q = times_q(np.eye(40), prior.gram(theta))
    part, expected = _parts(code), 0.0
    assert all(np.ptp(np.bincount(part[code == k], minlength=5)) <= 1 for k in range(classes))
    for left_out in range(5):
        new, rest = part == left_out, part != left_out
        inside = prior_of(x[rest], x[:0], with_sum(PARAMS, "rbf + constant"), False)
        z, _ = settle(np.zeros((rows, rest.sum())), code[rest], inside.gram(theta))
        spread = np.linalg.inv(q[np.ix_(new, new)])  # of the z left out, given the others
        mean = -z @ q[np.ix_(rest, new)] @ spread
        expected += float(tilt(mean / np.sqrt(np.diag(spread)), code[new])[1].sum())
    assert left_out_of(prior, theta, np.zeros((rows, 40)), code) == pytest.approx(expected, abs=1e-3)


def test_samples_of_a_class_each_are_predicted_by_the_prior():
    """None is left when all are left out, as all are the first of their class."""
    x = generator(6).standard_normal((3, 2))
    prior = prior_of(x, x[:0], with_sum(PARAMS, "rbf + constant"), False)
    found = left_out_of(prior, prior.covariance.prior_mean, np.zeros((3, 3)), np.arange(3))
    assert found == pytest.approx(-3 * np.log(3.0), abs=1e-3)


def test_lengths_of_very_many_columns_are_not_tried():
    """Their curvature takes two gradients for each, minutes for a thousand, before the first sweep."""
    x, code = planted("straight", 40)
    few = choice_of(blocks(x, code), PARAMS)
    assert few.sums == SUMS
    assert "was not tried" not in few.text()
    wide = np.hstack([x, generator(2).standard_normal((40, MOST_LENGTHS - 2))])
    found = choice_of(blocks(wide, code), PARAMS)
    assert found.sums == tuple(name for name in SUMS if "ard" not in name)
    assert len(found.bounds) == 3
    assert found.text().endswith("A length of each column was not tried, as there are more than 100 columns.")


def test_labels_of_test_samples_take_no_part():
    x, code = planted("straight")
    split = np.arange(80) >= 60
    other = np.where(split, 1 - code, code)
    assert choice_of(blocks(x, code, split), PARAMS) == choice_of(blocks(x, other, split), PARAMS)


def test_a_linear_part_is_divided_by_the_inputs():
    """Its variance at a sample of unit inputs is the amplitude's, whatever their number; so is that of its bias."""
    settings = {"covariance": "expression", "expression": "mean_linear", "amplitude": 3.0}
    for columns in (1, 4):
        x = np.ones((2, columns))
        law = make_prior(x, Classes().spec.check_params(settings), False).covariance
        assert law.matrix(x, law.prior_mean)[0, 0] == pytest.approx(3.0 * (1.0 + 1.0))


def test_terms_are_shown_in_words_and_can_be_typed_so():
    text = "rbf(ard) * rational_quadratic + mean_linear + matern52"
    assert parse(in_words(text), False) == parse(text, False)
    params = Classes().spec.check_params({"covariance": "expression", "expression": text})
    names = [parameter.name for parameter in make_covariance(params, ("a", "b")).parameters]
    assert "amplitude² of rbf × rational quadratic" in names
    assert "bias of mean linear" in names
    assert not any("_" in name for name in names)
    with pytest.raises(ModelError, match="Found “rbf linear”"):
        parse("rbf linear + constant", False)


@pytest.mark.parametrize("model", every(["gp_classes", "gp_quick_classes"], 2))
def test_the_choice_is_told_and_used(model):
    x, code = planted("straight")
    schedule = {"max_sweeps": 12} if "quick" in model else {"warmup": 4, "draws": 6}
    run = fit(
        model,
        given(x, code),
        {"covariance": "chosen"},
        seed=1,
        chains=1,
        executor=InlineExecutor(),
        **schedule,
    )
    note = str(run.results["covariance_note"])
    assert f"Chosen from the data: {in_words(LINE)}." in note
    assert all(in_words(name) in note for name in SUMS)
    assert "_" not in note
    assert run.results["parameter"].values.tolist() == ["amplitude²", "bias"]
