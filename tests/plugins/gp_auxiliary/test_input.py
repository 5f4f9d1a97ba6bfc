"""What is said of data that cannot be fitted, or that can but hardly should."""

from __future__ import annotations

import numpy as np
import pytest
from gp_joint import generator

from plaidwork.core import fit
from plaidwork.core.cli import main
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import DataError, ModelError, SettingError
from plaidwork.core.inference.plan import estimate, make_plan
from plaidwork.core.plugins.registry import registry
from plaidwork.plugins.gp_auxiliary.classes.results import new_inputs
from plaidwork.plugins.gp_auxiliary.few_labels.results import score_unlabelled
from plaidwork.plugins.gp_auxiliary.shared.frame import make_frame

NAMES = tuple(f"s{i + 1}" for i in range(12))


def planned(model: str, codes, categories, x=None, split=None, **params):
    """The plan of a fit of 12 samples with two inputs, or of those of x."""
    values = generator(1).standard_normal((12, 2)) if x is None else x
    names = tuple(f"s{i + 1}" for i in range(len(values)))
    data = {
        "X": Dataset("measured", values, names, ("a", "b")),
        "y": Dataset("labels", np.array(codes), names, (), "categorical", categories),
    }
    if split is not None:
        data["split"] = Dataset("parts", np.array(split), NAMES, (), "categorical", ("train", "test"))
    return make_plan(registry().model(model), data, params)


def warned(plan) -> str:
    return " ".join(problem.message for problem in plan.warnings)


TWO = [0, 1] * 6


@pytest.mark.parametrize(
    ("codes", "split", "words"),
    [
        ([0] * 12, None, "at least 2 classes. Found only “low”"),
        ([-1] * 12, None, "Found no label at all"),
        ([0] * 6 + [1] * 6, [0] * 6 + [1] * 6, "Found only “low” among 6"),
        (TWO, [1] * 12, "Every sample (12) is marked as test"),
        ([-1] * 6 + TWO[:6], [0] * 6 + [1] * 6, "No sample to fit has a label; there are 6"),
    ],
)
@pytest.mark.parametrize("model", ["gp_classes", "gp_ordered_classes", "gp_quick_classes"])
def test_labels_that_cannot_be_fitted(model, codes, split, words):
    with pytest.raises((ModelError, DataError, SettingError)) as raised:
        planned(model, codes, ("low", "high"), split=split)
    assert words in str(raised.value)


def test_a_class_without_a_fitted_sample():
    plan = planned("gp_ordered_classes", [0, 1, 2] * 4, ("1", "2", "3"), split=[0, 0, 1] * 4)
    assert "No fitted sample is of class “3”" in warned(plan)


CLASSES = ("low", "high", "odd")


def half_labelled(**params):
    """A plan of few labels: two classes have some, the third has none and is known to score by."""
    truth = np.array([0, 1, 2] * 4)
    code = np.where((np.arange(12) < 6) & (truth < 2), truth, -1)
    data = {
        "X": Dataset("measured", generator(1).standard_normal((12, 2)), NAMES, ("a", "b")),
        "y": Dataset("labels", code, NAMES, (), "categorical", CLASSES[:2]),
        "truth": Dataset("truth", truth, NAMES, (), "categorical", CLASSES),
    }
    return make_plan(registry().model("gp_semi_classes"), data, params)


def test_a_class_that_only_unlabelled_samples_are_of_is_kept():
    plan = half_labelled()
    assert plan.model.frame(plan.data, plan.params).classes == CLASSES
    assert "Nothing but unlabelled samples can be of “odd”" in warned(plan)
    state = plan.model.init(plan.data, plan.params, generator(2))
    assert state["rungs"]["0"]["z"].shape == (3, 12)
    plan = half_labelled(classes="labelled")
    assert plan.model.frame(plan.data, plan.params).classes == CLASSES[:2]


def test_such_a_class_is_scored_and_no_sample_of_it_is_told_to_the_fit():
    plan = half_labelled(rungs=2)
    given = plan.model.init(plan.data, plan.params, generator(2))["fixed"]["code"]
    assert set(given.tolist()) == {-1, 0, 1}
    frame = plan.model.frame(plan.data, plan.params)
    share = np.full((3, 12), 1 / 3)
    found = score_unlabelled(share, frame, plan.data)
    assert (found["part"].values == "unlabelled").sum() == (given < 0).sum()
    assert (found["sample_code"].values == 2).sum() == 4


def test_the_order_of_grades():
    assert "in the order “high” < “low”" in warned(planned("gp_ordered_classes", TWO, ("high", "low")))
    assert "No sample has the grade 4, 5" in warned(planned("gp_ordered_classes", TWO, ("3", "6")))
    assert warned(planned("gp_ordered_classes", TWO, ("3", "4"))) == ""
    assert warned(planned("gp_ordered_classes", TWO, ("0.5", "2.5"))) == ""


def test_inputs_that_are_told():
    x = generator(2).standard_normal((12, 2))
    x[:, 1] = 3.0
    assert "The same value in every fitted sample: b." in warned(planned("gp_classes", TWO, ("1", "2"), x))
    x = generator(2).standard_normal((12, 2))
    x[7] = x[2]
    assert "same inputs: “s8” and “s3”" in warned(planned("gp_classes", TWO, ("1", "2"), x))
    x[9] = x[2]
    assert "2 samples have the inputs of another one" in warned(planned("gp_classes", TWO, ("1", "2"), x))
    x = generator(2).standard_normal((12, 2))
    x[4, 1] = 9.5e14
    assert "“b” in 1 sample, as 9.5e+14 in “s5”" in warned(planned("gp_classes", TWO, ("1", "2"), x))


@pytest.mark.parametrize("standardise", [True, False])
@pytest.mark.parametrize("covariance", ["rbf", "linear"])
def test_the_units_of_the_parameters_are_those_of_the_inputs_that_are_fitted(standardise, covariance):
    blocks = {name: found[0] for name, found in planned("gp_classes", TWO, ("1", "2")).inputs.items()}
    params = {"standardise": standardise, "covariance": covariance}
    note = fit("gp_classes", blocks, params, warmup=2, draws=3, chains=1).results["covariance_note"]
    assert ("unit of the standardised" in note or "units of the standardised" in note) == standardise
    assert note.endswith("inputs.")


@pytest.mark.parametrize("standardise", [True, False])
def test_the_mean_of_the_fitted_samples_stands_where_an_input_is_missing(standardise):
    """It is a mean of known values, neither of test samples nor of the gaps, and the spread is theirs too."""
    x, held = generator(2).standard_normal((12, 2)), np.array([0] * 9 + [1] * 3)
    x[[1, 4], 1], x[10, 0] = np.nan, np.nan
    plan = planned("gp_classes", TWO, ("1", "2"), x, split=held, standardise=standardise)
    assert "3 values are missing (2 of “b”, 1 of “a”): the mean of the input stands" in warned(plan)
    frame = make_frame(plan.data, plan.params)
    mean, spread = np.nanmean(x[:9], axis=0), np.nanstd(x[:9], axis=0)
    filled = np.where(np.isnan(x), mean, x)
    np.testing.assert_allclose(frame.x, (filled - mean) / spread if standardise else filled, atol=1e-12)
    new = planned("gp_classes", TWO, ("1", "2"), x[::-1], split=held[::-1]).data
    np.testing.assert_allclose(new_inputs(frame, new)[0], filled[::-1], atol=1e-12)


def test_an_input_that_no_fitted_sample_has():
    x, held = generator(2).standard_normal((12, 2)), np.array([0] * 9 + [1] * 3)
    x[:9, 1] = np.nan
    plan = planned("gp_classes", TWO, ("1", "2"), x, split=held)
    assert "The same value in every fitted sample: b." in warned(plan)
    assert np.isfinite(make_frame(plan.data, plan.params).x).all()


@pytest.mark.parametrize("model", ["gp_classes", "gp_quick_classes", "gp_semi_classes", "gp_ordered_classes"])
def test_a_fit_with_gaps_is_that_of_the_filled_inputs(model):
    x = generator(2).standard_normal((12, 2))
    x[1, 1] = np.nan
    filled = np.where(np.isnan(x), np.nanmean(x, axis=0), x)
    gaps, whole = (
        fit(
            model,
            {name: blocks[0] for name, blocks in planned(model, TWO, ("1", "2"), values).inputs.items()},
            {"standardise": False},
            **({"max_sweeps": 5} if model == "gp_quick_classes" else {"warmup": 2, "draws": 3, "chains": 1}),
        ).results
        for values in (x, filled)
    )
    np.testing.assert_array_equal(gaps["probability"].values, whole["probability"].values)
    places = gaps["map_points"].values
    assert np.isnan(places).any(axis=1).tolist() == [i == 1 for i in range(12)], "none was measured"
    np.testing.assert_array_equal(np.delete(places, 1, 0), np.delete(whole["map_points"].values, 1, 0))


@pytest.mark.parametrize("model", ["gp_classes", "gp_ordered_classes", "gp_quick_classes"])
def test_too_many_samples_for_the_dense_form(model):
    """Numbers of both forms, and the way out."""
    x = generator(2).standard_normal((6200, 2))
    with pytest.raises((ModelError, DataError, SettingError)) as raised:
        planned(model, [0, 1] * 3100, ("low", "high"), x, form="dense")
    for words in ("6\u202f200 samples are too many", "0.9 GB and about 48 seconds", "at most 6000 samples"):
        assert words in str(raised.value)
    told = f"{raised.value} {getattr(raised.value, 'hint', '')}"
    assert "0.01 GB and about 0.2 seconds a draw with 100 points" in told
    planned(model, [0, 1] * 3100, ("low", "high"), x, form="auto")


def write(path, rows):
    path.write_text("a,b,kind\n" + "\n".join(",".join(row) for row in rows))
    return path


@pytest.mark.slow
def test_from_the_command_line(tmp_path, capsys):
    rows = [[f"{i}", f"{i % 3}.5", "ab"[i % 2]] for i in range(12)]
    out = tmp_path / "o.plaidwork"
    words = ["--input", "y=X:row:kind", "--chains", "1", "--warmup", "2", "--draws", "3", "--out", str(out)]
    rows[4][1] = "wide"
    assert main(["fit", "gp_classes", "--input", f"X={write(tmp_path / 'x.csv', rows)}", *words]) == 2
    said = capsys.readouterr().err
    assert "x.csv, row 6, column 2 “b”: expected a number with a decimal point, found “wide”" in said
    for row in rows:
        row[1] = "wide" if float(row[0]) > 5 else "narrow"
    assert main(["fit", "gp_classes", "--input", f"X={write(tmp_path / 'x.csv', rows)}", *words]) == 0
    assert "x: read as labels, not used as numbers: b." in capsys.readouterr().err
    new = tmp_path / "new.csv"
    new.write_text("a,kind\n3,a\n9,b\n4,z\n5,a")
    asked = ["--input", f"new_X={new}", "--input", "new_y=new_X:row:kind", "--to", str(tmp_path / "to")]
    assert main(["analyse", str(out), "gp_classes.new_samples", *asked]) == 0
    told = capsys.readouterr().out
    assert "4 new samples; 1 label is of no class of the fit" in told
    assert "of 3 labelled ones wrong (" in told
    assert "95 % interval" in told
    table = (tmp_path / "to" / "predictions.csv").read_text().splitlines()
    assert table[0] == "Sample,Label,Predicted,Probability,± Monte Carlo,P(a),± P(a),P(b),± P(b)"
    assert len(table) == 5
    asked[3] = "new_y=new_X:row:sort"
    assert main(["analyse", str(out), "gp_classes.new_samples", *asked, "--force"]) == 2
    assert "no column “sort”. It has “kind”" in capsys.readouterr().err


def test_a_share_for_the_test():
    """A quarter of each class is predicted and never fitted, without a “Split”; with one the share does not count."""
    from plaidwork.plugins.gp_auxiliary.shared.frame import make_frame

    for model in ("gp_classes", "gp_ordered_classes", "gp_quick_classes"):
        plan = planned(model, [0] * 4 + [1] * 8, ("1", "2"), test_share=0.25)
        frame = make_frame(plan.data, plan.params)
        assert np.bincount(frame.codes[frame.test]).tolist() == [1, 2]
        assert not (frame.test & frame.used).any()
        assert frame.used.sum() == 9
        given = planned(model, TWO, ("1", "2"), split=[0] * 10 + [1] * 2, test_share=0.5)
        assert make_frame(given.data, given.params).test.tolist() == [False] * 10 + [True] * 2


@pytest.mark.parametrize(
    "model", ["gp_classes", "gp_quick_classes", "gp_semi_classes", "gp_regression", "gp_quick_regression"]
)
def test_samples_for_the_test_cost_no_sweep(model):
    """What is told before the start is of the fitted samples."""
    names = tuple(f"s{i}" for i in range(80))
    x, y = generator(2).standard_normal((80, 2)), np.arange(80) % 2
    held = np.repeat([0, 1], 40)
    words = {"kind": "categorical", "categories": ("1", "2")}
    real = "regression" in model

    def cost(some, split):
        data = {
            "X": Dataset("X", x[some], names[some], ("a", "b")),
            "y": Dataset("y", y[some] + 0.0, names[some])
            if real
            else Dataset("y", y[some], names[some], (), **words),
        }
        if split:
            parts = Dataset("split", held, names, (), "categorical", ("train", "test"))
            data["split"] = parts
        return estimate(make_plan(registry().model(model), data))

    assert cost(slice(None), True) == cost(slice(40), False)
    assert cost(slice(None), False).seconds_per_sweep > cost(slice(40), False).seconds_per_sweep
