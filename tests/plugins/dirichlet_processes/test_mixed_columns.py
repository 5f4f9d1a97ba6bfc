"""Matrices whose columns are of several kinds: numbers or counts, and categories among them."""

from dataclasses import replace

import numpy as np
import pytest
from dp_tools import MODEL, matrices, settings

from plaidwork.core import fit
from plaidwork.core.api import ModelData
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.levels import LEVELS
from plaidwork.plugins.dirichlet_processes.multi_view.model import MultiViewClusters
from plaidwork.plugins.dirichlet_processes.multi_view.state import read_views
from plaidwork.plugins.dirichlet_processes.newcomers import new_items
from plaidwork.plugins.dirichlet_processes.reading import find_problems, kinds_of, read

RNG = np.random.default_rng(5)
AGE, WEIGHT, VISITS = RNG.normal(40, 9, 60), RNG.normal(70, 9, 60), RNG.poisson(4.0, 60).astype(float)
SEX, STAGE = np.arange(60.0) % 2, np.arange(60.0) % 3 + 1
STAGE[7] = np.nan


def beside(*columns):
    return np.stack(columns, axis=1)


def with_levels(data, *levels):
    """The first matrix, marked as ordered levels, with the words of its columns."""
    return ModelData({"views": (replace(data["views"][0], levels=levels, kind="ordinal"),)})


def test_columns_of_few_values_are_as_if_they_were_a_matrix_of_their_own():
    mixed = read(matrices(a=beside(AGE, STAGE, WEIGHT, SEX)), settings(likelihoods="", judge_columns=False))
    apart = read(
        matrices(a=beside(AGE, WEIGHT), b=beside(STAGE, SEX)),
        settings(likelihoods="gaussian_full, categorical"),
    )
    assert mixed.joint_of.tolist() == [[0, 0], [0, 2]]
    assert mixed.code_of.tolist() == [[0, 1], [0, 3]]
    for name in mixed.items._fields[:9]:
        np.testing.assert_array_equal(getattr(mixed.items, name), getattr(apart.items, name), name)
    assert [list(values) for values in mixed.values] == [[1.0, 2.0, 3.0], [0.0, 1.0]]
    np.testing.assert_array_equal(mixed.joint_scale, apart.joint_scale)
    assert mixed.constant == apart.constant


def test_zeros_and_ones_among_counts_are_yes_or_no():
    params = settings(likelihoods="", exposure="total")
    mixed = read(matrices(a=beside(VISITS, SEX, VISITS[::-1])), params)
    apart = read(matrices(a=beside(VISITS, VISITS[::-1]), b=SEX[:, None]), params)
    assert mixed.count_of.tolist() == [[0, 0], [0, 2]]
    for name in mixed.items._fields[:9]:
        np.testing.assert_array_equal(getattr(mixed.items, name), getattr(apart.items, name), name)
    np.testing.assert_array_equal(mixed.unit, apart.unit)


@pytest.mark.parametrize(
    ("changed", "columns"),
    [
        ({"likelihoods": "gaussian"}, []),
        ({"few_values": "matrix"}, []),
        ({}, [[0, 1]]),
    ],
)
def test_who_says_what_a_matrix_is_has_it_so(changed, columns):
    data = matrices(a=beside(AGE, SEX, WEIGHT))
    params = settings(**{"likelihoods": "", **changed})
    assert read(data, params).code_of.tolist() == columns
    warned = any("different values" in problem.message for problem in find_problems(data, params))
    assert warned == (not columns)


def test_a_stored_run_keeps_its_columns():
    stored = {name: value for name, value in settings(likelihoods="").items() if name != "few_values"}
    assert MODEL.spec.stored_params(stored)["few_values"] == "matrix"


def test_answers_that_all_have_few_values_stay_numbers_but_words_are_categories():
    answers = beside(STAGE, np.arange(60.0) % 5 + 1)
    params = settings(likelihoods="", few_values="matrix", judge_columns=False, correlated_columns=0)
    assert kinds_of(params, with_levels(matrices(a=answers))["views"]) == ("gaussian",)
    one = with_levels(matrices(a=answers), ("I", "II", "III"), ())
    assert read(one, params).code_of.tolist() == [[0, 0]]
    both = with_levels(matrices(a=answers), ("I", "II", "III"), ("a", "b", "c", "d", "e"))
    assert kinds_of(params, both["views"]) == ("categorical",)


def test_views_have_columns_of_several_kinds_too():
    params = MultiViewClusters().spec.check_params({})
    tables = read_views(matrices(a=beside(AGE, SEX, WEIGHT), b=beside(VISITS, VISITS[::-1])), params).tables
    assert [list(table.widths) for table in tables] == [[2, 1, 2, 0], [0, 0, 0, 2]]


def test_new_samples_are_read_by_the_words_of_the_fit():
    """Their own numbers stand for other words, of which one is unknown to the fit."""
    params = settings(likelihoods="")
    fitted = with_levels(matrices(a=beside(AGE, STAGE)), (), ("I", "II", "III"))
    table = read(fitted, params)
    new = with_levels(
        matrices(a=beside(AGE[:4], np.array([1.0, 2.0, 3.0, 4.0]))), (), ("I", "III", "IV", "V")
    )
    assert new_items(fitted, new, table, params).codes[:, 0].tolist() == [0, 2, -1, -1]
    two = with_levels(matrices(a=beside(AGE[:2], np.array([0.0, 1.0]))), (), ("II", "III"))
    assert new_items(fitted, two, table, params).codes[:, 0].tolist() == [1, 2]


def test_profiles_call_categories_by_their_words():
    group = np.repeat([0.0, 1.0], 30)
    values = beside(AGE + 60 * group, SEX, np.where(group > 0, STAGE, 1.0), group)
    data = Dataset(
        "people",
        values,
        tuple(f"p{i}" for i in range(60)),
        ("age", "sex", "stage", "ill"),
        column_table={LEVELS: np.array(["", "man | woman", "I | II | III", ""])},
        samples_in="rows",
    )
    run = fit("dp_mixture", {"views": data}, seed=1, executor="inline", chains=1, warmup=20, draws=20)
    assert [str(name) for name in run.results["column_names"].values] == [
        "age",
        "sex = woman",
        "stage = I",
        "stage = II",
        "stage = III",
        "ill",
    ]
