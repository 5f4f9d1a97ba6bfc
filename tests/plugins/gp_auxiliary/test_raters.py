"""Several raters: the joint law and what breaks it, planted raters, edges and layouts of the data."""

from __future__ import annotations

import numpy as np
import pytest
from gp_joint import RatersJoint
from plaid_tools import with_fault
from sparing import some

from plaidwork.core import fit
from plaidwork.core.api import Block
from plaidwork.core.data.annotation_inputs import ColumnRef, column_dataset
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.inference.plan import model_data
from plaidwork.plugins.gp_auxiliary.classes import ordinal
from plaidwork.plugins.gp_auxiliary.raters import model as raters
from plaidwork.plugins.gp_auxiliary.raters import moves as raters_moves
from plaidwork.plugins.gp_auxiliary.raters.data import distinct
from plaidwork.plugins.gp_auxiliary.raters.model import Rated

BASE = {"moves": "walk", "site_sweeps": 1, "walks": 3, "precision_shape": 3.0, "precision_rate": 2.0}
LIMIT = 4.5
"""Standard errors: about 30 functions a test, so a right sampler fails one in 5,000 times; the seeds are fixed."""
RATED = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1], [1, 0, 1], [1, 1, 0]], dtype=bool)
CASES = {
    "free": {},
    "narrow priors of the cut-points": {"cut_sd": 0.8, "cut_gap_sd": 0.4},
    "a reference": {"reference": "first"},
    "fixed cut-points": {"cut_points": "fixed"},
    "fixed covariance": {"parameters": "fixed", "site_sweeps": 2},
    "q integrated out": {"moves": "hamiltonian"},
    "inducing points": {"form": "inducing", "inducing": 3},
}


def joint(name: str) -> RatersJoint:
    x = np.ascontiguousarray(np.random.default_rng(0).standard_normal((len(RATED), 2)))
    return RatersJoint(Rated(), BASE | CASES[name], x, RATED, 3)


@pytest.mark.slow
@pytest.mark.parametrize("name", some(list(CASES), ("free", "fixed covariance")))
def test_the_sampler_leaves_the_joint_law(name):
    assert np.abs(joint(name).run(21, 1000, 1000)).max() < LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_the_sampler_leaves_the_joint_law_longer(name):
    assert np.abs(joint(name).run(22, 10_000, 10_000)).max() < LIMIT


FAULTS = {  # the first two are printed on the lecture's slides
    "variance of an offset without its precision": (
        "draw_offsets", "1.0 / (1.0 + precision * count)", "1.0 / (1.0 + count)"
    ),
    "squares without the offset": ("draw_precisions", "rest - offset[ratings.rater]", "rest"),
    "shape of a precision": ("draw_precisions", "0.5 * ratings.per_rater", "0.5 * (ratings.per_rater - 1)"),
    "raters shifted the wrong way": ("shift_raters", "mean = -(", "mean = ("),
    "cut-points shifted too far": ("shift_cuts", "math.sqrt(weight)", "math.sqrt(0.5 * weight)"),
    "consensus shifted the wrong way": ("shift_consensus", "offset -= shift", "offset += shift"),
    "stretch without the precisions' Jacobian": ("stretch", "2.0 * shape", "2.0 * (shape - 1.0)"),
    "a walk without the precision's Jacobian": (
        "walk_raters", "shape * np.log(precision)", "(shape - 1.0) * np.log(precision)"
    ),
    "a walk without the offset's prior": ("walk_raters", " - 0.5 * offset**2", ""),
    "ratings without their precision": ("draw_latent", "scaled / scale", "scaled / scale.mean()"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault, monkeypatch):
    name, right, wrong = FAULTS[fault]
    home = raters_moves if hasattr(raters_moves, name) else ordinal
    monkeypatch.setattr(raters, name, with_fault(getattr(home, name), right, wrong))
    case = "q integrated out" if name == "walk_raters" else "free"
    count = 18_000 if name == "walk_raters" else 6000  # such walks mix more slowly
    assert np.abs(joint(case).run(22, count, count)).max() > 5


# -- planted raters, layouts, edges ----------------------------------------------------------------


def planted(rng, n=80, missing=0.2):
    """Inputs (n, 1), ratings (n, 4) with NaN, f; cut-points -3, -1, 1, 3, so that one grade is 2 wide."""
    x = np.sort(rng.uniform(0, 10, n))[:, None]
    c = 4.0 * np.exp(-0.5 * 0.4 * (x - x.T) ** 2) + 1e-9 * np.eye(n)
    f = np.linalg.cholesky(c) @ rng.standard_normal(n)
    sd, offset = np.array([0.6, 0.6, 0.6, 1.6]), np.array([0.0, -1.2, 1.2, 0.0])
    q = f[:, None] + offset + sd * rng.standard_normal((n, 4))
    ratings = np.searchsorted([-3.0, -1.0, 1.0, 3.0], q).astype(float)
    ratings[rng.random((n, 4)) < missing] = np.nan
    ratings[0] = np.nan  # an object that nobody rated
    return x, ratings, f, offset, sd


def wide(x, ratings):
    names = tuple(f"o{i}" for i in range(len(x)))
    raters = tuple(f"rater {c}" for c in range(ratings.shape[1]))
    return {
        "X": Dataset("X", x, names, tuple(f"x{d}" for d in range(x.shape[1]))),
        "ratings": Dataset("ratings", ratings, names, raters, kind="ordinal"),
    }


def by_row(x, ratings):
    """The same, one rating a row."""
    item, rater = np.nonzero(~np.isnan(ratings))
    names = tuple(f"row {i + 1}" for i in range(len(item)))
    table = {
        "rater": np.array([f"rater {c}" for c in rater]),
        "grade": np.array(list("ABCDE"))[ratings[item, rater].astype(int)],
    }
    data = Dataset("rows", x[item], names, tuple(f"x{d}" for d in range(x.shape[1])), row_table=table)
    given = {"X": data}
    for name, title in (("ratings", "grade"), ("rater", "rater")):
        given[name] = column_dataset(data, ColumnRef("rows", 0, title), Rated.spec.input(name))
    return given


def fitted(given, seed=1, draws=250, **params):
    return fit(
        "gp_raters", given, params, seed=seed, chains=2, warmup=150, draws=draws, executor=InlineExecutor()
    )


@pytest.mark.slow
def test_planted_raters_are_found():
    """Offsets and scatter within their intervals, widened by half; the consensus follows f, unrated objects too."""
    x, ratings, f, offset, sd = planted(np.random.default_rng(5))
    run = fitted(wide(x, ratings))
    table = run.results["raters"].columns
    for title, truth in (("Offset", offset / 2), ("Scatter", sd / 2)):
        low, high = table[f"{title} 2.5 %"], table[f"{title} 97.5 %"]
        margin = 0.25 * (high - low)
        assert ((low - margin < truth) & (truth < high + margin)).all(), (title, low, high)
    assert np.argmax(table["Scatter"]) == 3
    assert np.argmin(table["Offset"]) == 1
    found = run.results["consensus"].columns
    assert np.corrcoef(found["Consensus"], f)[0, 1] > 0.97
    inside = (found["2.5 %"] < f / 2 + 3) & (f / 2 + 3 < found["97.5 %"])
    assert inside.mean() > 0.75  # neighbours err together
    assert found["Ratings"][0] == 0
    assert np.isfinite(found["Consensus"][0])
    assert (
        "grades higher" in run.results["offset_headline"] or "grades lower" in run.results["offset_headline"]
    )


@pytest.mark.slow
def test_a_rating_a_row_is_the_same_as_a_table():
    """Objects in the order of their first rating, raters by name: the same numbers draw for draw."""
    x, ratings, *_ = planted(np.random.default_rng(6), n=20)
    rated = ~np.isnan(ratings).all(axis=1)
    x, ratings = x[rated], ratings[rated]
    one, two = fitted(wide(x, ratings), draws=5), fitted(by_row(x, ratings), draws=5)
    np.testing.assert_array_equal(one.draws["offset"], two.draws["offset"])
    np.testing.assert_array_equal(one.draws["f"], two.draws["f"])
    assert list(two.results["grade"].values) == list("ABCDE")
    assert two.results["object"].values[0].startswith("x0 ")


def test_new_objects_are_predicted_as_those_that_nobody_rated():
    x, ratings, *_ = planted(np.random.default_rng(7), n=20)
    run = fitted(wide(x, ratings), draws=20)
    new = model_data(Rated.spec, {"X": (Dataset("new", x[:3], ("a", "b", "c"), ("x0",)),)}, 0, 0.0)
    old = model_data(Rated.spec, {name: (one,) for name, one in wide(x, ratings).items()}, 0, 0.0)
    found = Rated().predict(run.kept(), old, new, Rated.spec.check_params({}))
    np.testing.assert_allclose(
        found["consensus"].columns["P(2)"], run.results["consensus"].columns["P(2)"][:3], atol=1e-5
    )
    table = found["ratings"].columns
    assert len(table["Rater"]) == 12
    np.testing.assert_allclose(sum(table[f"P({k})"] for k in run.results["grade"].values), 1.0, atol=1e-4)


@pytest.mark.long
def test_a_reference_keeps_its_offset():
    x, ratings, *_ = planted(np.random.default_rng(8), n=20)
    run = fitted(wide(x, ratings), draws=10, reference="rater 1")
    assert (run.draws["offset"][:, :, 1] == 0).all()
    assert run.results["raters"].columns["Offset"][1] == 0


def problems(given, **params):
    data = model_data(Rated.spec, {name: (one,) for name, one in given.items()}, 0, 0.0)
    return Rated().validate(data, Rated.spec.check_params(params))


def test_bad_ratings_are_named():
    x, ratings, *_ = planted(np.random.default_rng(9), n=20)
    found = problems(wide(x, ratings), reference="Anna")
    assert found[0].where == "reference"
    assert "Anna" in found[0].message
    assert "rater 0" in found[0].hint
    one = np.where(np.isnan(ratings), np.nan, 2.0)
    assert "2 grades" in problems(wide(x, one))[0].message
    silent = ratings.copy()
    silent[:, 2] = np.nan
    assert any("rater 2" in problem.message for problem in problems(wide(x, silent)))
    both = by_row(x, ratings)
    grades = np.repeat(ratings[1:2], both["X"].shape[0], axis=0)
    both["ratings"] = Dataset("two", grades, both["X"].row_names, tuple("abcd"), kind="ordinal")
    assert "one column" in problems(both)[0].message


def test_rows_with_the_same_gaps_are_of_one_object():
    """A gap is no 0: the third row is another object than the first."""
    values = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [2.0, 3.0]])
    known = np.array([[True, False], [True, False], [True, True], [True, True]])
    block = Block("X", values, known, None, (("1", "2", "3", "4"), ("a", "b")))
    objects, place = distinct(block)
    assert place.tolist() == [0, 0, 1, 2]
    assert objects.observed.tolist() == [[True, False], [True, True], [True, True]]
    assert objects.names[0] == ("a 1, b missing", "a 1, b 0", "a 2, b 3")
