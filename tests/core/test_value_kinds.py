"""Whole numbers: counts, or grades and measurements (core/data/value_kinds.py)."""

import numpy as np
import pytest

from plaidwork.core import fit
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.importers import find_reader, read_dataset
from plaidwork.core.data.value_kinds import kind_of_table
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.session.fitting import registry
from plaidwork.core.session.suitability import Choices, suggestion
from plaidwork.plugins.dirichlet_processes.reading import kinds_of
from plaidwork.plugins.group_factor.inputs import likelihoods_of

RNG = np.random.default_rng(1)
WORDS = RNG.poisson(np.r_[8.0, np.geomspace(0.02, 3, 59)] * RNG.gamma(2, 0.5, (200, 1)))
READS = RNG.negative_binomial(1, 1 / (1 + np.geomspace(20, 4000, 150)), (60, 150)) + 1
GRADES = RNG.integers(1, 6, (200, 40))
APART = 0.5 + 4.0 * RNG.integers(0, 2, (100, 1)) + RNG.normal(size=(100, 4))
TOGETHER = RNG.normal(size=(100, 1)) + 0.3 * RNG.normal(size=(100, 4))
PERSONS = np.column_stack(
    [
        RNG.integers(0, 2, 100),
        RNG.integers(18, 80, 100),
        RNG.normal(70, 12, 100).round(),
        RNG.poisson(0.4, 100),
    ]
)
ANSWERS = np.clip(np.floor(RNG.normal(size=(90, 1)) + RNG.normal(size=(90, 9)) + 1.0), 0, 3)
ANSWERS[RNG.random(ANSWERS.shape) < 0.05] = np.nan
ALLELES = RNG.binomial(2, RNG.uniform(0.05, 0.5, 300), (120, 300))
BASES = np.array([RNG.choice(RNG.permutation([1, 2, 3, 4])[:2], 120) for _ in range(60)]).T
BASES = np.where(RNG.random(BASES.shape) < 0.1, 0, BASES)
PICKED = np.where(RNG.random((90, 12)) < 0.05, 0, RNG.integers(1, 7, (90, 12)))
FEW_SPECIES = RNG.poisson(1.5, (120, 60))
CASES = {
    "words": (WORDS, "count"),
    "reads without a zero": (READS, "count"),
    "grades from 1": (GRADES, "ordinal"),
    "grades from 0": (GRADES - 1, "ordinal"),
    "answers from 0 to 3 with gaps": (ANSWERS, "ordinal"),
    "copies of alleles": (ALLELES, "ordinal"),
    "codes of bases, 0 missing": (BASES, "ordinal"),
    "codes of bases beside numbers of persons": (
        np.c_[np.arange(120), np.arange(120)[::-1], BASES],
        "ordinal",
    ),
    "answers picked out of six, 0 for none": (PICKED, "ordinal"),
    "small counts of which 0 is rare": (FEW_SPECIES + (RNG.random((120, 60)) < 0.2), "count"),
    "few columns of codes beside others": (np.c_[BASES[:, :9], READS[:, :9].repeat(2, axis=0)], "count"),
    "rare counts": (RNG.poisson(0.3, (100, 40)), "count"),
    "counts up to 10": (np.minimum(RNG.poisson(np.geomspace(0.05, 5, 40), (100, 40)), 10), "count"),
    "four columns from 0": (GRADES[:, :4] - 1, "count"),
    "measurements": (PERSONS, "ordinal"),
    "measurements with gaps": (np.where(RNG.random(PERSONS.shape) < 0.1, np.nan, PERSONS), "ordinal"),
    "few rows": (PERSONS[:19], "count"),
    "no whole numbers": (PERSONS + 0.5, "real"),
    "zeros and ones": (GRADES > 2, "binary"),
    "a column": (PERSONS[:, 1], "count"),
}


@pytest.mark.parametrize("case", CASES)
def test_kinds(case):
    values, kind = CASES[case]
    assert kind_of_table(np.asarray(values, float)) == kind


def default_axes(shape):
    return tuple(f"r{i}" for i in range(shape[0])), tuple(f"c{j}" for j in range(shape[1]))


def _file(folder, values):
    lines = [
        ",".join(f"q{j}" for j in range(values.shape[1])),
        *(",".join(map(str, row)) for row in values.astype(int)),
    ]
    path = folder / "persons.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_the_import_tells_and_counts_are_one_click_away(tmp_path):
    path = _file(tmp_path, GRADES)
    told = [
        issue for issue in find_reader(path).preview(path, {}).issues if "not like counts" in issue.message
    ]
    assert [issue.fix[1:] for issue in told] == [("kind", "count")]
    assert read_dataset(path).kind == "ordinal"
    assert read_dataset(path, {"kind": "count"}).kind == "count"
    assert not [
        issue
        for issue in find_reader(path).preview(path, {"kind": "count"}).issues
        if "not like counts" in issue.message
    ]


def test_no_model_of_words_is_proposed_for_grades(tmp_path):
    """Models of counts still take them, when they are asked to."""
    data = read_dataset(_file(tmp_path, GRADES))
    model, names = suggestion(registry(), Choices({data.name: data}), [data.name])
    inputs = registry().model(model).spec.inputs
    assert {item.dtype for item in inputs if item.name in names} == {"real"}
    words = registry().model("hdp_topics").spec.input("X")
    assert data.name in Choices({data.name: data}).offer(words)
    assert fit("hdp_topics", {"X": data}, {}, chains=1, warmup=1, draws=1).results


@pytest.mark.parametrize("lowest", [0, 1])
def test_factors_are_proposed_for_a_large_questionnaire(tmp_path, lowest):
    """Not blocks on one scale, for which the table is large enough too."""
    data = read_dataset(_file(tmp_path, RNG.integers(lowest, lowest + 5, (120, 90))))
    assert suggestion(registry(), Choices({data.name: data}), [data.name])[0] == "group_factor"


TAKEN = {
    "grades": (GRADES, "ordinal", {}, "gaussian", "gaussian"),
    "grades by their values": (GRADES, "ordinal", {"whole_numbers": "values"}, "poisson", "poisson"),
    "counts": (GRADES, "count", {}, "poisson", "poisson"),
    "whole numbers called real": (GRADES, "real", {}, "poisson", "poisson"),
    "zeros and ones": (GRADES > 2, "binary", {}, "bernoulli", "categorical"),
    "columns that go together": (TOGETHER, "real", {}, "gaussian", "gaussian_full"),
    "columns that do not": (APART, "real", {}, "gaussian", "gaussian"),
    "columns that are not judged": (APART, "real", {"judge_columns": False}, "gaussian", "gaussian_full"),
    "columns above the limit": (TOGETHER, "real", {"correlated_columns": 3}, "gaussian", "gaussian"),
    "said": (GRADES, "ordinal", {"likelihoods": "poisson"}, "poisson", "poisson"),
}


@pytest.mark.parametrize("case", TAKEN)
def test_all_models_take_matrices_by_one_rule(case):
    values, kind, params, of_factors, of_clusters = TAKEN[case]
    data = Dataset("a", np.asarray(values, float), *default_axes(values.shape), kind=kind)
    for model, word in (("group_factor", of_factors), ("dp_mixture", of_clusters)):
        found = registry().model(model)
        known = {setting.name for setting in found.spec.hyperparameters}
        plan = make_plan(
            found, {"views": [data]}, {key: value for key, value in params.items() if key in known}
        )
        blocks = plan.data["views"]
        taken = (
            likelihoods_of(blocks, plan.params) if model == "group_factor" else kinds_of(plan.params, blocks)
        )
        assert taken == (word,)


def test_stored_runs_take_them_as_before():
    """Whole numbers by their values alone, and no correlated columns, as neither setting was known."""
    spec = registry().model("dp_mixture").spec
    assert spec.stored_params({})["whole_numbers"] == "values"
    params = {name: value for name, value in spec.stored_params({}).items() if name != "correlated_columns"}
    for values, kind, word in ((GRADES, "ordinal", "poisson"), (PERSONS + 0.5, "real", "gaussian")):
        data = Dataset("a", np.asarray(values, float), *default_axes(values.shape), kind=kind)
        plan = make_plan(registry().model("dp_mixture"), {"views": [data]})
        assert kinds_of(params, plan.data["views"]) == (word,)
