"""The analyses of blocks: statistics against SciPy and tables worked out by hand, and what they say."""

import numpy as np
import pytest
from scipy import stats
from scipy.stats.contingency import odds_ratio

from plaidwork.core.analysing import run_analysis
from plaidwork.core.contract.model import Result
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.draws.summaries import nmi_overlap_ishiguro
from plaidwork.core.errors import DataError, ModelError
from plaidwork.core.findings.annotations import AnnotationRef
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.session import Session
from plaidwork.plugins.plaid import association
from plaidwork.plugins.plaid.analyses import BlocksAndAnnotations, KnownBlocks
from plaidwork.plugins.plaid.models import InfinitePlaid

CLASSES = ["a"] * 6 + ["b"] * 5 + ["", "rare"]
"""13 columns, 12 with a label; block 1 holds columns 0-4 and 11, block 2 columns 6-9."""


def _data():
    rng = np.random.default_rng(2)
    return Dataset(
        "X",
        rng.normal(size=(8, 13)),
        tuple(f"r{i}" for i in range(8)),
        tuple(f"c{j}" for j in range(13)),
        row_table={"length": np.array([1.0, 2, 3, 4, np.nan, 10, 11, 12])},
        column_table={"class": np.array(CLASSES, dtype=object), "batch": np.arange(13) % 2},
        column_label="samples",
    )


def _run(data=None, **extra):
    data = data or _data()
    session = Session()
    run = session.add_run(make_plan(InfinitePlaid(), {"X": data, **extra}))
    rows, columns = np.zeros((3, 8)), np.zeros((3, 13))
    rows[0, :4], rows[1, 5:] = 0.9, 0.7
    columns[0, [0, 1, 2, 3, 4, 11]], columns[1, 6:10] = 0.8, 0.9
    run.results = {
        "block_rows": Result(rows, ("layer", "row")),
        "block_columns": Result(columns, ("layer", "column")),
    }
    return run


@pytest.fixture
def run():
    return _run()


def _counts(seed=0, blocks=5, labels=4, n=60):
    rng = np.random.default_rng(seed)
    members = rng.random((blocks, n)) < rng.random((blocks, 1))
    codes = rng.integers(-1, labels, n)
    return members, codes, association.label_counts(members, codes, labels)


def test_label_counts_by_hand():
    members = np.array([[1, 1, 0, 0, 1], [0, 0, 0, 1, 1]], bool)
    inside, size, total, n = association.label_counts(members, np.array([0, 1, 1, 0, -1]), 2)
    np.testing.assert_array_equal(inside, [[1, 1], [1, 0]])
    np.testing.assert_array_equal(size, [3, 2])
    np.testing.assert_array_equal(total, [2, 2])
    assert n == 5


@pytest.mark.parametrize("both", [True, False])
def test_hypergeometric_p_is_that_of_scipy(both):
    _, _, (inside, size, total, n) = _counts()
    ours = association.hypergeometric_p(inside, size, total, n, both)
    for k, c in np.ndindex(inside.shape):
        a = inside[k, c]
        table = [[a, size[k] - a], [total[c] - a, n - size[k] - total[c] + a]]
        theirs = stats.fisher_exact(table, "two-sided" if both else "greater").pvalue
        assert ours[k, c] == pytest.approx(theirs, rel=1e-9)


def test_a_tea_taster():
    """Fisher's table 3 of 4: one-sided 17/70, two-sided 34/70."""
    counts = (np.array([[3]]), np.array([4]), np.array([4]), 8)
    assert association.hypergeometric_p(*counts, both=False)[0, 0] == pytest.approx(17 / 70)
    assert association.hypergeometric_p(*counts, both=True)[0, 0] == pytest.approx(34 / 70)


def test_odds_ratio_and_interval_are_those_of_the_corrected_table():
    inside, size, total, n = np.array([[12]]), np.array([17]), np.array([20]), 60
    odds, low, high = association.odds_ratios(inside, size, total, n, 0.95)
    assert odds[0, 0] == pytest.approx((12.5 * 35.5) / (5.5 * 8.5))
    se = np.sqrt(1 / 12.5 + 1 / 35.5 + 1 / 5.5 + 1 / 8.5)
    assert np.log([low[0, 0], high[0, 0]]) == pytest.approx(
        np.log(odds[0, 0]) + np.array([-1, 1]) * 1.959964 * se
    )
    whole = odds_ratio(np.array([[12, 5], [8, 35]]), kind="sample")
    theirs = whole.confidence_interval(0.95)
    assert low[0, 0] == pytest.approx(theirs.low, rel=0.15)  # the correction pulls both a little to 1
    assert high[0, 0] == pytest.approx(theirs.high, rel=0.15)


def test_interval_covers_the_odds_ratio():
    """Binomial tables with odds ratio 4: about 95 % of the intervals hold it."""
    rng = np.random.default_rng(3)
    n, hits = 2000, 0
    inside, outside = rng.binomial(30, 0.5, n), rng.binomial(50, 0.2, n)
    for a, c in zip(inside, outside, strict=True):
        _, low, high = association.odds_ratios(np.array([[a]]), np.array([30]), np.array([a + c]), 80, 0.95)
        hits += low[0, 0] <= 4 <= high[0, 0]
    assert 0.94 <= hits / n <= 0.97


def test_shift_of_a_number_by_hand_and_by_scipy():
    values = np.array([5.0, 6, 7, 1, 2, 3, 4])
    members = np.array([[1, 1, 1, 0, 0, 0, 0], [1] * 7, [0] * 7], bool)
    found = association.shifts(members, values, 0.95, lambda share: None)
    assert (found["mean_inside"][0], found["mean_outside"][0]) == (6.0, 2.5)
    sd = np.sqrt((2 + 5) / 5)
    d = 3.5 / sd
    assert found["difference"][0] == pytest.approx(d)
    half = 1.959964 * np.sqrt(1 / 3 + 1 / 4 + d * d / 14)
    assert (found["low"][0], found["high"][0]) == pytest.approx((d - half, d + half))
    assert found["p"][0] == stats.mannwhitneyu(values[:3], values[3:]).pvalue
    assert np.isnan(found["p"][1:]).all()
    assert np.isnan(found["difference"][1:]).all()


def test_jaccard_by_hand():
    rows, columns = np.array([[1, 1, 0], [0, 0, 1]], bool), np.array([[1, 1], [1, 0]], bool)
    other = np.array([[0, 1, 1]], bool), np.array([[1, 1]], bool)
    np.testing.assert_allclose(association.jaccard(rows, columns, *other), [[2 / 6], [1 / 4]])


def _row(table, block, label):
    where = (table.columns["Block"] == block) & (table.columns["Label"] == label)
    return {title: column[where][0] for title, column in table.columns.items()}


def test_labels_of_columns(run):
    record = run_analysis(run, BlocksAndAnnotations(), {"annotation": "X:column:class"})
    table = record.results["associations"]
    assert len(table) == 6
    row = _row(table, "Block 1", "a")
    assert (row["Inside"], row["In block"], row["With label"]) == (5, 5, 6)
    assert row["Expected"] == pytest.approx(5 * 6 / 12)
    assert row["p"] == pytest.approx(stats.fisher_exact([[5, 0], [1, 6]]).pvalue)
    assert _row(table, "Block 2", "b")["Inside"] == 4
    assert np.isnan(_row(table, "Block 3", "a")["p"])  # it has no member
    known = ~np.isnan(table.columns["p"])
    assert known.sum() == 4
    np.testing.assert_allclose(
        table.columns["Adjusted p"][known], stats.false_discovery_control(table.columns["p"][known])
    )
    assert list(table.columns["p"][known]) == sorted(table.columns["p"][known])
    signed = record.results["signed"].values
    assert signed.shape == (3, 2)
    assert signed[0, 0] == pytest.approx(-np.log10(row["Adjusted p"]))
    assert signed[0, 1] < 0 < signed[1, 1]
    assert np.isnan(signed[2]).all()
    assert list(record.results["level"].values) == ["a", "b"]
    assert record.text("headline") == ("3 of 4 pairs differ from chance: Block 2 has 4 of 5 “b”")
    assert "12 samples with “class” known" in record.text("caption")
    assert "1 rarer label left out" in record.text("caption")
    assert "1 block without members left untested" in record.text("caption")


def test_only_more_than_expected(run):
    record = run_analysis(
        run, BlocksAndAnnotations(), {"annotation": "X:column:class"}, {"direction": "more", "least": 1}
    )
    table = record.results["associations"]
    assert set(table.columns["Label"]) == {"a", "b", "rare"}
    expected = stats.hypergeom.sf(4, 12, 6, 5)
    assert _row(table, "Block 1", "a")["p"] == pytest.approx(expected)
    assert _row(table, "Block 1", "b")["p"] == pytest.approx(1.0)


def test_threshold_decides_who_is_inside(run):
    record = run_analysis(run, BlocksAndAnnotations(), {"annotation": "X:column:class"}, {"threshold": 0.85})
    assert _row(record.results["associations"], "Block 1", "a")["In block"] == 0
    with pytest.raises(ModelError, match=r"strongest membership is 0\.90.*Lower the threshold"):
        run_analysis(run, BlocksAndAnnotations(), {"annotation": "X:column:class"}, {"threshold": 0.95})


def test_numbers_of_rows(run):
    record = run_analysis(run, BlocksAndAnnotations(), {"annotation": AnnotationRef("X", "row", "length")})
    table = record.results["associations"].columns
    where = list(table["Block"]).index("Block 1")
    assert (table["In block"][where], table["Mean inside"][where], table["Mean outside"][where]) == (
        4,
        2.5,
        11.0,
    )
    assert table["p"][where] == stats.mannwhitneyu([1, 2, 3, 4], [10, 11, 12]).pvalue
    assert record.results["associations"].units["Difference"] == "sd"
    assert record.results["signed"].values.shape == (3, 1)
    assert "by “length”" in record.text("headline") or "None of" in record.text("headline")


def test_codes_are_labels_when_asked(run):
    record = run_analysis(run, BlocksAndAnnotations(), {"annotation": "X:column:batch"}, {"treat": "labels"})
    assert set(record.results["associations"].columns["Label"]) == {"0", "1"}
    with pytest.raises(ModelError, match="holds text"):
        run_analysis(run, BlocksAndAnnotations(), {"annotation": "X:column:class"}, {"treat": "numbers"})


def test_degenerate_annotations_are_told(run):
    with pytest.raises(ModelError, match="at least 7 times"):
        run_analysis(run, BlocksAndAnnotations(), {"annotation": "X:column:class"}, {"least": 7})
    with pytest.raises(DataError, match="needs “Annotation”"):
        run_analysis(run, BlocksAndAnnotations())
    run.results["block_rows"] = Result(np.zeros((0, 8)), ("layer", "row"))
    with pytest.raises(ModelError, match="no block"):
        run_analysis(run, BlocksAndAnnotations(), {"annotation": "X:row:length"})


def _truth():
    rows, columns = np.zeros((8, 2)), np.zeros((13, 2))
    rows[:4, 0], rows[4:, 1] = 1, 1
    columns[:5, 0], columns[6:10, 1] = 1, 1
    names = ("one", "two")
    return {
        "true_rows": Dataset("rows", rows, tuple(f"r{i}" for i in range(8)), names),
        "true_columns": Dataset("columns", columns, tuple(f"c{j}" for j in range(13)), names),
    }


def test_known_blocks(run):
    record = run_analysis(run, KnownBlocks(), _truth())
    known = record.results["known"].columns
    assert list(known["Known block"]) == ["one", "two"]
    assert list(known["Best match"]) == ["Block 1", "Block 2"]
    np.testing.assert_allclose(known["Jaccard"], [20 / 24, 12 / 16])
    found = record.results["found"].columns
    assert list(found["Best match"]) == ["one", "two"]  # block 3 is empty and left out
    assert record.results["jaccard"].values.shape == (2, 2)
    sides = [run.results[name].values[:2] >= 0.5 for name in ("block_rows", "block_columns")]
    true = [dataset.values.T > 0.5 for dataset in _truth().values()]
    assert record.results["nmi"].values == nmi_overlap_ishiguro(*sides, *true)
    assert record.text("headline").startswith("2 of 2 known blocks found, NMI 0.")


def test_known_blocks_given_to_the_fit_are_the_default():
    run = _run(**_truth())
    record = run_analysis(run, KnownBlocks())
    assert record.inputs == {"true_rows": ("rows",), "true_columns": ("columns",)}


def test_known_blocks_against_none_found(run):
    record = run_analysis(run, KnownBlocks(), _truth(), {"threshold": 1.0})
    assert list(record.results["known"].columns["Best match"]) == ["none", "none"]
    assert len(record.results["found"]) == 0
    assert record.results["jaccard"].values.shape == (0, 2)
    assert record.text("headline").startswith("0 of 2 known blocks found")


def test_both_are_offered_for_runs_with_blocks(run):
    offered = {spec.id for spec in registry().analyses_for(run)}
    assert {"plaid.annotations", "plaid.known_blocks"} <= offered
    run.results = {}
    assert not registry().analyses_for(run)
