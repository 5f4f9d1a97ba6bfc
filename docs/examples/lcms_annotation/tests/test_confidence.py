"""Counts that are added up draw by draw, against plain counting over all draws."""

from __future__ import annotations

import numpy as np
import pytest
from planted import MODEL, fresh

import plaidwork_lcms_annotation.confidence as confidence
from plaidwork_lcms_annotation.confidence import LEVELS, Counts, Draw, quantiles
from plaidwork_lcms_annotation.state import terms_of


@pytest.fixture
def lists():
    planted = fresh(1, 6, 40, 3.0, 4.0)
    return terms_of(planted.data, MODEL.spec.check_params({})).lists


def random_draws(lists, rng, chains=2, each=7):
    """Draws in which a formula has some clusters, and a cluster some ions, one of them twice now and then."""
    formula = lists.positions.formula
    for chain in range(chains):
        for _ in range(each):
            peak = np.sort(rng.permutation(len(lists.peaks.seen))[: rng.integers(3, 30)])
            cluster = rng.integers(0, 6, len(peak))
            owner = rng.integers(0, 4, 6)[cluster]
            position = np.array([rng.choice(np.flatnonzero(formula == f)[:3]) for f in owner])
            yield Draw(chain, peak, np.unique(cluster, return_inverse=True)[1], position)


@pytest.mark.parametrize("waiting", [1, 50, 1 << 18])
def test_counts_are_those_of_all_draws(lists, monkeypatch, waiting):
    monkeypatch.setattr(confidence, "WAITING", waiting)
    draws = list(random_draws(lists, np.random.default_rng(1)))
    counts = Counts(lists, 2)
    for draw in draws:
        counts.add(draw)
    place, n_formulas, n_adducts = lists.positions, len(lists.texts), len(lists.adducts)
    share = np.zeros((len(lists.peaks.seen), len(place.formula)))
    levels, several = np.zeros((2, n_formulas, LEVELS)), np.zeros(n_formulas)
    adducts = np.zeros((2, n_formulas, n_adducts))
    for draw in draws:
        share[draw.peak, draw.position] += 1
        most, some = np.zeros(n_formulas), np.zeros((n_formulas, n_adducts))
        for one in np.unique(draw.cluster):
            ions = np.unique(draw.position[draw.cluster == one])
            mine = place.formula[ions[0]]
            most[mine] = max(most[mine], len(ions))
            several[mine] += len(ions) > 1
            some[mine] = np.maximum(some[mine], np.bincount(place.adduct[ions], minlength=n_adducts))
        levels[draw.chain] += most[:, None] > np.arange(LEVELS)
        adducts += some >= np.array([1, 2])[:, None, None]
    n = len(draws)
    np.testing.assert_allclose(counts.levels()[0], levels / 7)
    np.testing.assert_allclose(counts.levels()[1], levels.sum(axis=0) / n)
    np.testing.assert_allclose(counts.occurrences(), several / n)
    for least in (1, 2):
        np.testing.assert_allclose(counts.adducts(least), adducts[least - 1] / n)
    peaks = counts.peaks()
    again = np.zeros_like(share)
    again[peaks.peak, peaks.position] = peaks.share
    np.testing.assert_allclose(again, share / n)
    np.testing.assert_allclose(peaks.background, 1 - share.sum(axis=1) / n)
    best, probability = peaks.nth(0)
    np.testing.assert_allclose(probability, share.max(axis=1) / n)
    assert (share[np.arange(len(best)), best] == share.max(axis=1))[best >= 0].all()
    worth = share / n - peaks.background[:, None]
    for draw in draws:
        assert peaks.fit(draw) == pytest.approx(worth[draw.peak, draw.position].sum())


def test_quantiles_of_values_that_come_back():
    rng = np.random.default_rng(2)
    for size in (1, 2, 9, 40):
        values, weights = rng.normal(size=size), rng.integers(1, 5, size)
        expected = np.quantile(np.repeat(values, weights), (0.05, 0.5, 0.95, 1.0))
        np.testing.assert_allclose(quantiles(values, weights, (0.05, 0.5, 0.95, 1.0)), expected)
