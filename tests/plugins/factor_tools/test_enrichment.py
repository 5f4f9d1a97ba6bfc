"""Gene set enrichment: the reader, the tests against SciPy, planted and random sets, what is told."""

import gzip
import math

import numpy as np
import pytest
from scipy import stats

from plaidwork.core.analysing import examine_file, run_analysis
from plaidwork.core.contract.model import Result
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import DataError, ModelError
from plaidwork.core.findings.attached import AttachedFile
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.session.session import Session, open_session
from plaidwork.plugins.factor_tools.enrichment import GeneSetEnrichment
from plaidwork.plugins.factor_tools.gene_sets import match, read_gmt
from plaidwork.plugins.factor_tools.set_tests import compare_sets, permuted_p, rank_variance
from tests.gui.factor_runs import FactorModel


def gmt(text, name="sets.gmt"):
    return AttachedFile.of(name, text.encode() if isinstance(text, str) else text)


def no_report(share):
    pass


# the reader ----------------------------------------------------------------------------------------------------------


def test_reads_sets_in_order_without_repeats():
    sets = read_gmt(gmt("﻿A\tfirst\tg1\tg2\tg1\r\n\nB\t\tg3\t g4 \t\t\n"))
    assert sets.names == ("A", "B")
    assert sets.members == (("g1", "g2"), ("g3", "g4"))
    assert sets.genes == ("g1", "g2", "g3", "g4")
    packed = read_gmt(gmt(gzip.compress(b"A\tx\tg1\n"), "sets.gmt.gz"))
    assert packed.members == (("g1",),)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("A\tx\tg1\nB,x,g2\n", r"sets.gmt, line 2: expected three fields.*“B,x,g2”"),
        ("A\tx\tg1\nB\tonly\n", r"line 2: expected genes after the description of “B”"),
        ("\tx\tg1\n", r"line 1: expected the name of a set"),
        ("A\tx\tg1\nA\ty\tg2\n", r"line 2: the set “A” is there already, in line 1"),
        ("A\tx\tg\0\n", r"line 1: found a zero byte"),
        (b"A\tx\tg\xff1\n", r"not UTF-8 text: byte 0xFF at position 6, line 1"),
        (b"\x1f\x8b\x08nothing", r"cannot be uncompressed"),
        ("\n \n", r"holds no gene set"),
    ],
)
def test_bad_files_are_told_with_the_line(text, match):
    with pytest.raises(DataError, match=match):
        read_gmt(gmt(text))


def test_size_is_bounded(monkeypatch):
    from plaidwork.plugins.factor_tools import gene_sets

    monkeypatch.setattr(gene_sets, "MOST_SETS", 2)
    with pytest.raises(DataError, match="line 3: more than 2 sets"):
        read_gmt(gmt("A\tx\tg\nB\tx\tg\nC\tx\tg\n"))


def test_matching_by_name_and_case():
    sets = read_gmt(gmt("A\tx\tTP53\tEgfr\tnone\nB\tx\tmyc\n"))
    exact = match(sets, ["TP53", "EGFR", "MYC", "tp53"], ignore_case=False)
    assert [list(places) for places in exact.places] == [[0], []]
    assert (exact.genes, exact.only_case) == (1, 2)
    loose = match(sets, ["TP53", "EGFR", "MYC", "tp53"], ignore_case=True)
    assert [list(places) for places in loose.places] == [[0, 1, 3], [2]]
    assert (loose.genes, loose.only_case) == (3, 0)


# the tests -----------------------------------------------------------------------------------------------------------


def test_without_correlation_they_are_those_of_scipy():
    rng = np.random.default_rng(2)
    values = np.round(rng.exponential(size=200), 1)  # ties
    values[:60] = 0
    places = [rng.choice(200, size, replace=False) for size in (5, 17, 60)]
    t = compare_sets(values, places, by_rank=False, correlation=0.0, interval=0.95)
    ranks = compare_sets(values, places, by_rank=True, correlation=0.0, interval=0.95)
    for s, inside in enumerate(places):
        outside = np.setdiff1d(np.arange(200), inside)
        a, b = values[inside], values[outside]
        assert t.p[s] == pytest.approx(stats.ttest_ind(a, b, alternative="greater").pvalue)
        test = stats.mannwhitneyu(a, b, alternative="greater", method="asymptotic")
        assert ranks.p[s] == pytest.approx(test.pvalue)
        assert ranks.auc[s] == pytest.approx(test.statistic / (len(a) * len(b)))
        pooled = math.sqrt((a.var() * len(a) + b.var() * len(b)) / 198)
        assert t.effect[s] == pytest.approx((a.mean() - b.mean()) / pooled)
        low, high = stats.ttest_ind(a, b).confidence_interval(0.95)
        assert (t.low[s], t.high[s]) == pytest.approx((low / pooled, high / pooled))


def test_correlation_inflates_the_variance_as_camera_does():
    values = np.arange(50.0)
    inside = np.arange(40, 50)
    plain = compare_sets(values, [inside], False, 0.0, 0.95)
    found = compare_sets(values, [inside], False, 0.1, 0.95)
    # 1 + 9 x 0.1 = 1.9 in place of 1: t changes by sqrt((1/10 + 1/40) / (1.9/10 + 1/40))
    t = stats.t.isf(plain.p[0], 48) * math.sqrt((0.1 + 0.025) / (0.19 + 0.025))
    assert found.p[0] == pytest.approx(stats.t.sf(t, 48))
    assert rank_variance(np.array([7.0]), np.array([13.0]), 0.0)[0] == pytest.approx(7 * 13 * 21 / 12)
    assert rank_variance(np.array([7.0]), np.array([13.0]), 0.2)[0] > 7 * 13 * 21 / 12


def test_rank_variance_is_that_of_correlated_normals():
    """U of 8 equicorrelated (0.3) and 12 independent normals, 20 000 draws: its variance within 5 %."""
    rng, m, rest, r = np.random.default_rng(4), 8, 12, 0.3
    inside = math.sqrt(r) * rng.normal(size=(20_000, 1)) + math.sqrt(1 - r) * rng.normal(size=(20_000, m))
    outside = rng.normal(size=(20_000, rest))
    u = (inside[:, :, None] > outside[:, None, :]).sum(axis=(1, 2))
    assert rank_variance(np.array([8.0]), np.array([12.0]), r)[0] == pytest.approx(u.var(), rel=0.05)


@pytest.mark.parametrize("by_rank", [False, True])
def test_p_of_random_sets_is_uniform(by_rank):
    """600 random sets on skewed values; Kolmogorov-Smirnov at 1e-3."""
    rng = np.random.default_rng(5)
    values = np.maximum(rng.normal(size=2000), 0)
    places = [rng.choice(2000, rng.integers(20, 80), replace=False) for _ in range(600)]
    p = compare_sets(values, places, by_rank, 0.0, 0.95).p
    assert stats.kstest(p, "uniform").pvalue > 1e-3


def test_permutations_agree_with_the_formula_and_the_seed():
    rng = np.random.default_rng(6)
    values = rng.normal(size=300)
    places = [rng.choice(300, 25, replace=False) for _ in range(20)] + [np.argsort(values)[-10:]]
    formula = compare_sets(values, places, True, 0.0, 0.95).p
    drawn = [
        permuted_p(values, places, True, 2000, np.random.default_rng(seed), no_report) for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert (drawn[0] != drawn[2]).any()
    np.testing.assert_allclose(drawn[0], formula, atol=0.04)
    assert drawn[0][-1] == 1 / 2001  # the largest values of all: no random set does as well


# the analysis --------------------------------------------------------------------------------------------------------


@pytest.fixture
def planted():
    """Two factors over two views of 300 genes and 60 proteins; UP weighs positively in the first, DOWN negatively."""
    rng = np.random.default_rng(8)
    weights = rng.normal(0, 0.3, (2, 360))
    weights[0, :20] += 1.0
    weights[0, 20:45] -= 1.0
    names = [f"G{i}" for i in range(300)] + [f"P{i}" for i in range(60)]
    data = Dataset("X", rng.normal(size=(12, 360)), tuple(f"s{i}" for i in range(12)), tuple(names))
    run = Session().add_run(make_plan(FactorModel(), {"X": data}))
    run.status = "done"
    run.results = {
        "loadings": Result(weights, ("factor", "drug")),
        "variable_view": Result(np.array(["mrna"] * 300 + ["protein"] * 60), ("drug",)),
        "factor": Result(np.array(["Factor 1", "Factor 2"]), ("factor",)),
    }
    lines = ["UP\tplanted\t" + "\t".join(f"G{i}" for i in range(20)),
             "DOWN\tplanted\t" + "\t".join(f"G{i}" for i in range(20, 45)),
             "BOTH\tplanted\t" + "\t".join(f"G{i}" for i in range(10, 35)),
             "SMALL\tx\tG1\tG2", "CASE\tx\t" + "\t".join(f"g{i}" for i in range(12))]  # fmt: skip
    lines += [
        f"R{k}\tx\t" + "\t".join(f"G{i}" for i in rng.choice(300, 25, replace=False)) for k in range(40)
    ]
    return run, gmt("\n".join(lines))


def rows(record):
    columns = record.results["enrichment"].columns
    return [dict(zip(columns, values)) for values in zip(*columns.values())]


@pytest.mark.parametrize(
    "params", [{}, {"test": "t"}, {"permutations": 4000}, {"test": "t", "permutations": 4000}]
)
def test_planted_sets_are_found_with_their_sign(planted, params):
    run, file = planted
    record = run_analysis(run, GeneSetEnrichment(), {"sets": file}, params)
    significant = [
        (row["Factor"], row["Gene set"], row["Weights"]) for row in rows(record) if row["Adjusted p"] <= 0.05
    ]
    assert {("Factor 1", "UP", "positive"), ("Factor 1", "DOWN", "negative")} <= set(significant)
    assert {name for _, name, _ in significant} <= {"UP", "DOWN", "BOTH"}
    assert all(factor == "Factor 1" for factor, _, _ in significant)
    p = np.array([row["p"] for row in rows(record)])
    np.testing.assert_allclose([row["Adjusted p"] for row in rows(record)], stats.false_discovery_control(p))
    assert "Factor 1 gather in" in record.text("headline")


def test_size_finds_what_moves_both_ways(planted):
    run, file = planted
    record = run_analysis(run, GeneSetEnrichment(), {"sets": file}, {"direction": "size"})
    best = {row["Gene set"]: row for row in rows(record) if row["Factor"] == "Factor 1"}
    assert all(best[name]["Adjusted p"] < 1e-4 for name in ("UP", "DOWN", "BOTH"))
    assert (record.results["evidence"].values >= 0).all()
    assert {row["Weights"] for row in rows(record)} == {"size"}


def test_pictures_and_leading_genes(planted):
    run, file = planted
    record = run_analysis(run, GeneSetEnrichment(), {"sets": file})
    evidence, tested = record.results["evidence"].values, list(record.results["tested"].values)
    assert evidence.shape == (2, 43)  # SMALL and CASE are left out
    assert evidence[0, tested.index("UP")] > 3
    assert evidence[0, tested.index("DOWN")] < -3
    up = next(row for row in rows(record) if (row["Gene set"], row["Weights"]) == ("UP", "positive"))
    weights = run.results["loadings"].values[0, :20]
    assert up["Leading"].split(", ") == [f"G{i}" for i in np.argsort(-weights)[:6]]
    assert (up["Found"], up["Of"], up["View"]) == (20, 20, "mrna")


def test_report_of_what_did_not_match(planted):
    run, file = planted
    record = run_analysis(run, GeneSetEnrichment(), {"sets": file})
    table = record.results["matching"].columns
    assert list(table["View"]) == ["mrna", "protein"]
    assert list(table["Sets tested"]) == [43, 0]
    assert list(table["Differ in case"]) == [12, 0]
    assert list(table["Too small"]) == [2, 45]
    assert record.text("match_caption").startswith("43 of 45 sets have 10 to 500 of their genes there")
    assert "12 more match when upper and lower case are the same" in record.text("match_caption")
    loose = run_analysis(run, GeneSetEnrichment(), {"sets": file}, {"ignore_case": True})
    assert list(loose.results["matching"].columns["Sets tested"]) == [44, 0]


def test_names_told_apart_by_their_view_still_match(planted):
    run, file = planted
    names = [f"G{i} (mrna)" for i in range(300)] + [f"P{i}" for i in range(60)]
    data = run.session.datasets["X"].with_(column_names=tuple(names))
    other = Session().add_run(make_plan(FactorModel(), {"X": data}))
    other.results = run.results
    record = run_analysis(other, GeneSetEnrichment(), {"sets": file})
    assert list(record.results["matching"].columns["Sets tested"]) == [43, 0]


def test_without_views_all_features_are_one(planted):
    run, file = planted
    del run.results["variable_view"]
    record = run_analysis(run, GeneSetEnrichment(), {"sets": file})
    assert "View" not in record.results["enrichment"].columns
    assert list(record.results["matching"].columns["View"]) == ["all"]


@pytest.mark.parametrize(
    ("text", "params", "match"),
    [
        (
            "A\tx\tzz\n",
            {},
            r"None of the 1 gene of the file is among the 360 features. First names: “zz” and “G0”",
        ),
        ("A\tx\tg1\tg2\n", {}, r"2 match when upper and lower case are the same"),
        (
            "A\tx\tG1\tG2\n",
            {},
            r"No set has 10 to 500 of its genes among the features; the most that one set has is 2",
        ),
        (
            "A\tx\tG1\n",
            {"smallest": 9, "largest": 8},
            r"The largest set \(8\) is smaller than the smallest \(9\)",
        ),
    ],
)
def test_nothing_to_test_says_why(planted, text, params, match):
    with pytest.raises(ModelError, match=match):
        run_analysis(planted[0], GeneSetEnrichment(), {"sets": gmt(text)}, params)


def test_the_file_is_kept_so_that_it_can_be_made_again(planted, tmp_path):
    run, file = planted
    path = tmp_path / "hallmarks.gmt"
    path.write_bytes(file.content)
    first = run_analysis(run, GeneSetEnrichment(), {"sets": path})
    run_analysis(run, GeneSetEnrichment(), {"sets": path}, {"test": "t"})
    path.unlink()
    back = open_session(run.session.save(tmp_path / "s.plaidwork")).runs[run.id]
    kept = back.analyses[0].files["sets"]
    assert (kept.name, kept.sha256, kept.content) == ("hallmarks.gmt", file.sha256, file.content)
    back.results = run.results
    again = run_analysis(back, GeneSetEnrichment(), {"sets": kept}, back.analyses[0].params)
    for name, column in first.results["enrichment"].columns.items():
        np.testing.assert_array_equal(column, again.results["enrichment"].columns[name])


def test_a_chosen_file_is_examined(planted):
    words = examine_file(GeneSetEnrichment(), "sets", planted[1])
    count = len(read_gmt(planted[1]).genes)
    assert words == f"45 sets of 2 to 25 genes, {count} genes in all"
    with pytest.raises(DataError, match="line 1"):
        examine_file(GeneSetEnrichment(), "sets", gmt("no tabs"))
