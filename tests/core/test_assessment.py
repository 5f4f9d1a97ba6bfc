"""Scores of class probabilities against values worked out by hand, and intervals against simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from plaidwork.core.draws import assessment as at

Y = np.array([0, 0, 1, 1], dtype=bool)
SCORE = np.array([0.1, 0.4, 0.35, 0.8])


def test_confusion_counts():
    p = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.5, 0.1, 0.4], [0.2, 0.2, 0.6]])
    assert at.confusion(np.array([0, 1, 2, 2]), p).tolist() == [[1, 0, 0], [0, 1, 0], [1, 0, 1]]
    assert at.class_probabilities(np.array([0.25])).tolist() == [[0.75, 0.25]]


def test_wilson_against_the_textbook():
    """81 of 263: 0.2553 to 0.3662 (Newcombe 1998, Statistics in Medicine 17, table I)."""
    assert at.wilson(81, 263) == pytest.approx((0.30798, 0.2553, 0.3662), abs=5e-5)
    assert at.wilson(0, 20) == pytest.approx((0, 0, 0.1611), abs=5e-5)
    assert at.wilson(1, 29) == pytest.approx((0.0345, 0.0061, 0.1718), abs=5e-5)
    assert math.isnan(at.wilson(0, 0).value)


def test_roc_by_hand():
    x, y, t = at.roc(Y, SCORE)
    assert x.tolist() == [0, 0, 0.5, 0.5, 1]
    assert y.tolist() == [0, 0.5, 0.5, 1, 1]
    assert t.tolist() == [np.inf, 0.8, 0.4, 0.35, 0.1]
    assert at.auc(Y, SCORE).value == 0.75
    x, y, _ = at.roc(Y, np.full(4, 0.3))
    assert (x.tolist(), y.tolist()) == ([0, 1], [0, 1])
    assert at.auc(Y, np.full(4, 0.3)).value == 0.5


def test_precision_and_recall_by_hand():
    recall, precision, _ = at.precision_recall(Y, SCORE)
    assert recall.tolist() == [0, 0.5, 0.5, 1, 1]
    assert precision == pytest.approx([1, 1, 0.5, 2 / 3, 0.5])
    assert at.average_precision(Y, SCORE) == pytest.approx(0.5 * 1 + 0.5 * 2 / 3)
    assert math.isnan(at.average_precision(np.zeros(3, bool), SCORE[:3]))


def test_area_is_the_share_of_ordered_pairs():
    rng = np.random.default_rng(2)
    y, score = rng.random(60) < 0.4, np.round(rng.normal(size=60), 1)
    pairs = score[y][:, None] - score[~y]
    assert at.auc(y, score).value == pytest.approx((np.sign(pairs) + 1).mean() / 2)
    x, hit, _ = at.roc(y, score)
    assert float((np.diff(x) * (hit[1:] + hit[:-1]) / 2).sum()) == pytest.approx(at.auc(y, score).value)


def test_delong_variance_by_its_definition():
    """The structural components, pair by pair."""
    rng = np.random.default_rng(3)
    y = rng.random(40) < 0.5
    score = rng.normal(size=40) + y
    kernel = (np.sign(score[y][:, None] - score[~y]) + 1) / 2
    variance = kernel.mean(1).var(ddof=1) / y.sum() + kernel.mean(0).var(ddof=1) / (~y).sum()
    area = at.auc(y, score)
    half = (math.log(area.high / (1 - area.high)) - math.log(area.low / (1 - area.low))) / 2
    assert half == pytest.approx(1.959964 * math.sqrt(variance) / (area.value * (1 - area.value)), rel=1e-5)


def test_delong_interval_covers():
    """Two normals one apart: the area is Phi(1 / sqrt 2). 95 % intervals of 600 samples cover 0.92 to 0.98."""
    rng, truth = np.random.default_rng(4), 0.760250
    y = np.arange(80) < 40
    found = [at.auc(y, rng.normal(size=80) + y) for _ in range(600)]
    covered = np.mean([f.low <= truth <= f.high for f in found])
    assert 0.92 <= covered <= 0.98


def test_area_without_both_kinds_or_at_the_end():
    assert math.isnan(at.auc(np.ones(3, bool), SCORE[:3]).value)
    assert at.auc(np.array([True, False]), SCORE[:2]).value == 0
    assert at.auc(np.array([True, False]), SCORE[:2])[1:] == at.newcombe(0.0, 1, 1)
    perfect = at.auc(np.arange(40) < 20, -np.arange(40.0))
    assert perfect == pytest.approx((1, *at.newcombe(1.0, 20, 20)))
    assert 0.8 < perfect.low < 0.95


def test_calibration_by_hand():
    y = np.array([0, 1, 1, 1, 0], dtype=bool)
    p = np.array([0.1, 0.15, 0.85, 0.95, 1.0])
    bins = at.calibration(y, p, bins=5)
    assert [b.count for b in bins] == [2, 3]
    assert [b.mean for b in bins] == pytest.approx([0.125, 14 / 15])
    assert [b.share.value for b in bins] == pytest.approx([0.5, 2 / 3])
    assert bins[1].share == at.wilson(2, 3)
    assert at.calibration_error(bins) == pytest.approx((2 * 0.375 + 3 * (14 / 15 - 2 / 3)) / 5)
    assert math.isnan(at.calibration_error([]))


def test_losses_by_hand():
    p = np.array([[0.8, 0.2], [0.4, 0.6]])
    codes = np.array([0, 0])
    assert at.log_loss(codes, p).value == pytest.approx(-(math.log(0.8) + math.log(0.4)) / 2)
    assert at.brier(codes, p).value == pytest.approx((0.04 + 0.36) / 2)
    three = np.array([[0.5, 0.3, 0.2]])
    assert at.brier(np.array([1]), three).value == pytest.approx((0.25 + 0.49 + 0.04) / 2)
    assert math.isfinite(at.log_loss(np.array([1]), np.array([[1.0, 0.0]])).value)
    assert math.isnan(at.brier(np.zeros(0, int), np.zeros((0, 2))).value)


def test_scores_of_several_classes_are_those_of_the_single_functions():
    rng = np.random.default_rng(8)
    codes, p = rng.integers(0, 3, 50), rng.dirichlet(np.ones(3), 50)
    found = at.score(codes, p)
    assert (found.log_loss, found.brier) == (at.log_loss(codes, p), at.brier(codes, p))
    assert found.wrong == 50 - np.trace(at.confusion(codes, p))
    assert found.errors == at.wilson(found.wrong, 50)
    each = [at.auc(codes == k, p[:, k]).value for k in range(3)]
    assert found.auc.value == pytest.approx(np.mean(each))
    two = at.score(codes % 2, p[:, 0])
    assert two.auc == at.auc(codes % 2 == 1, p[:, 0])


def test_none_wrong_has_an_interval_and_a_tiny_loss_is_not_nothing():
    told = at.score(np.zeros(20, int), np.tile([1 - 1e-6, 1e-6], (20, 1))).text("test samples")
    assert told == "0 of 20 test samples wrong (0 %, 95 % interval 0 % to 16 %), log loss < 0.001"


def test_a_table_of_scores_has_one_brier_score_and_intervals():
    p = np.array([[0.8, 0.2], [0.4, 0.6]])
    table = at.score_table({"Test": at.score(np.array([0, 1]), p)}, "Part")
    assert table.columns["Brier score"].tolist() == pytest.approx([(0.04 + 0.16) / 2])
    assert table.columns["Errors 97.5 %"][0] == at.wilson(0, 2).high
