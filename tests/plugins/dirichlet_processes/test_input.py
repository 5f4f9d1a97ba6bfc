"""What the matrices become, and what is said of values that their likelihood cannot take."""

import numpy as np
import pytest
from dp_tools import MODEL, matrices, settings

from plaidwork.core.api import ModelError
from plaidwork.plugins.dirichlet_processes.reading import kinds_of, read
from plaidwork.plugins.dirichlet_processes.starts import root_shares

GAP = np.nan


def test_likelihoods_by_values():
    line = np.arange(40.0)[:, None] * [1.0, 2.5, -1.5]
    data = matrices(a=line, b=line[:, :1] % 2, c=line[:, :1], d=line - 0.5)
    found = kinds_of(settings(likelihoods="guess"), data["views"])
    assert found == ("gaussian_full", "categorical", "poisson", "gaussian_full")
    assert kinds_of(settings(likelihoods="", correlated_columns=0), data["views"])[3] == "gaussian"
    wide = matrices(a=np.arange(40.0)[:, None] * np.linspace(0.5, 1.0, 61))
    assert kinds_of(settings(likelihoods=""), wide["views"]) == ("gaussian",)
    assert kinds_of(settings(likelihoods="", correlated_columns=61), wide["views"]) == ("gaussian_full",)
    assert kinds_of(settings(likelihoods="c = gaussian"), data["views"])[2] == "gaussian"


def test_columns_that_do_not_go_together_within_groups_are_independent():
    """Of few columns too; judged only where that is asked for, which it was not in stored runs."""
    apart_alone = np.repeat([[0.0, 0.0, 0.0], [9.0, 9.0, 9.0]], 40, axis=0) + np.random.default_rng(1).normal(
        size=(80, 3)
    )
    views = matrices(a=apart_alone)["views"]
    assert kinds_of(settings(likelihoods=""), views) == ("gaussian",)
    assert kinds_of(settings(likelihoods="", judge_columns=False), views) == ("gaussian_full",)
    before = {
        name: value
        for name, value in settings(likelihoods="", correlated_columns=8).items()
        if name != "judge_columns"
    }
    assert kinds_of(MODEL.spec.stored_params(before), views) == ("gaussian_full",)


def test_a_stored_run_keeps_its_columns_independent():
    """Numbers left to their values were independent before columns could be correlated."""
    data = matrices(a=np.arange(40.0)[:, None] * [0.5, 1.0])
    stored = {name: value for name, value in settings(likelihoods="").items() if name != "correlated_columns"}
    assert kinds_of(MODEL.spec.stored_params(stored), data["views"]) == ("gaussian",)


@pytest.mark.parametrize(
    ("values", "likelihoods", "words"),
    [
        (
            [[1.0, 2.0], [0.0, 2.5]],
            "poisson",
            "Row “s2”, column “X2” of “X” is 2.5; counts are whole numbers from 0 on.",
        ),
        (np.arange(202.0).reshape(101, 2), "categorical", "Column “X1” of “X” has 101 different values"),
        ([[1.0], [0.0]], "Y = poisson", "“Y”"),
        ([[1.0, 2.0], [0.0, -2.0]], "multinomial", "Row “s2”, column “X2” of “X” is -2; counts"),
        (
            [[1.0, 2.0, 3.0], [GAP, 2.0, GAP], [GAP, GAP, GAP], [1.0, GAP, 0.0]],
            "multinomial",
            "Row “s2” of “X” has 2 of 3 cells missing, and 1 other row has gaps too; counts that share a total are known as a whole row or not at all.",
        ),
    ],
)
def test_wrong_values_are_refused_with_words(values, likelihoods, words):
    data, params = matrices(X=values), settings(likelihoods=likelihoods)
    (problem,) = [p for p in MODEL.validate(data, params) if p.severity == "error"]
    assert words in problem.message
    assert problem.hint
    with pytest.raises(ModelError):
        MODEL.init(data, params, np.random.default_rng(1))


def test_what_is_noteworthy_is_said():
    data = matrices(X=[[1.0, 2.0], [1.0, 3.0], [GAP, GAP]])
    said = [p.message for p in MODEL.validate(data, settings())]
    assert said == ["Column “X1” of “X” has one value only.", "1 of 3 samples has no known cell: “s3”."]


def test_columns_of_a_few_values_beside_measurements_are_told():
    """Weeks beside weights: clusters would be the weeks. Not where all columns are so, as of grades, nor of categories and counts."""
    rng = np.random.default_rng(3)
    week, weight = np.tile(np.arange(6.0), 30), rng.normal(size=180)

    def said(*columns, **params):
        return [p.message for p in MODEL.validate(matrices(X=np.column_stack(columns)), settings(**params))]

    told = ["Column “X1” of “X” has at most 10 different values."]
    assert said(week, weight) == []  # they are categories
    assert said(week, weight, few_values="matrix") == told
    assert said(week, weight, few_values="matrix", correlated_columns=0) == told
    assert said(week, weight, likelihoods="gaussian") == told
    assert said(week + 0.5, np.tile(np.arange(5.0), 36), likelihoods="gaussian") == []
    assert said(week, week, likelihoods="poisson") == []
    assert said(weight, rng.normal(size=180)) == []
    assert said(np.round(weight[:20]), weight[:20]) == [], "too few to say"


def test_rows_that_say_nothing_are_told():
    params = settings(likelihoods="multinomial")
    said = [
        p.message
        for p in MODEL.validate(matrices(X=[[0.0, 0.0], [1.0, 3.0], [0.0, 3.0], [2.0, 3.0]]), params)
    ]
    assert said == ["1 sample of “X” has no count: “s1”."]
    said = [p.message for p in MODEL.validate(matrices(X=[[1.0], [1.0], [3.0]]), params)]
    assert said == ["“X” has one column, which has all of every total."]


def test_rows_of_counts_are_read():
    """By their counts above 0; a missing row has none. Categories come first among the levels."""
    data = matrices(a=[[2.0, 0.0], [GAP, GAP], [0.0, 3.0]], b=[[1.0], [0.0], [1.0]], c=[[1.0], [5.0], [0.0]])
    table = read(data, settings(likelihoods="multinomial, categorical, multinomial"))
    rows = table.items.rows
    assert table.first.tolist() == [0, 2, 4, 5]
    assert rows.spans.tolist() == [[0, 1, 2], [2, 2, 3], [3, 4, 4]]
    assert rows.place.tolist() == [2, 4, 4, 3]
    assert rows.tally.tolist() == [2.0, 1.0, 5.0, 3.0]
    assert rows.totals.tolist() == [[2.0, 1.0], [0.0, 5.0], [3.0, 0.0]]
    assert table.row_matrix.tolist() == [0, 2]
    shares = root_shares(table)
    assert shares[[0, 2], :2].tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert np.isnan(shares[1, :2]).all()


def test_columns_are_read():
    data = matrices(a=[[1.0], [3.0], [GAP]], b=[[5.0, 0.0], [9.0, 0.0], [5.0, GAP]], c=[[2.0], [GAP], [4.0]])
    params = settings(likelihoods="gaussian, categorical, poisson", standardise=True)
    table = read(data, params)
    assert table.items.numbers[:, 0].tolist() == [-1.0, 1.0, 0.0]
    assert table.items.known[:, 0].tolist() == [True, True, False]
    assert table.items.codes.tolist() == [[0, 0], [1, 0], [0, -1]]
    assert table.first.tolist() == [0, 2, 4]  # 0 and 1 are levels even where 1 does not occur
    assert table.items.counts[:, 0].tolist() == [2.0, -1.0, 4.0]
    assert table.unit.tolist() == [3.0]
    assert not table.items.numbers.flags.writeable


def test_exposure_by_the_totals_of_samples():
    data = matrices(X=[[2.0, 4.0], [4.0, 8.0], [0.0, 0.0], [6.0, GAP]])
    table = read(data, settings(likelihoods="poisson", exposure="total"))
    row = table.items.exposure[:, 0]
    assert row[1] == pytest.approx(2 * row[0])
    assert 0 < row[2] < 1e-6
    assert row[3] == pytest.approx(6.0 / 3.0)  # the missing cell is in neither total
