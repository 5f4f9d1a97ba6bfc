"""Chances of four or more classes on one grid: all samples at once and one alone, against fine sums and the functions of one sample and class."""

from __future__ import annotations

import numpy as np
import pytest
from gp_joint import generator
from plaid_tools import with_fault
from scipy.special import log_ndtr, logsumexp

from plaidwork.plugins.gp_auxiliary.kernels import many, sites
from plaidwork.plugins.gp_auxiliary.kernels.winner import log_win

SIZE = 40


def fine_wins(f, null):
    """(K, N) log probability that class k of f (K, N) leads all others by more than ``null``, by a fine sum over its value."""
    places = np.linspace(-60.0, 60.0, 2401)[:, None, None]
    f = f - f.max(axis=0)
    tails = log_ndtr(places - null - f)
    height = tails.sum(axis=1, keepdims=True) - tails - 0.5 * (places - f) ** 2
    return logsumexp(height, axis=0) + np.log(0.05 / np.sqrt(2.0 * np.pi))


def some_f(n_classes, seed=5):
    """(K, N) values near each other, apart and far apart, with ties among them."""
    f = generator(seed).standard_normal((n_classes, SIZE)) * np.repeat([0.1, 1.0, 4.0, 12.0], SIZE // 4)
    f[:, 0], f[1:, 1], f[2:, 2] = 0.0, -3.0, -5.0
    return f


def of_all(f, label, null, shares):
    chance = np.empty(f.shape[1])
    many.many_of_all(f, label, null, np.log(shares), chance)
    return chance


def shares_of(n_classes):
    """As unlike as one grid is used for."""
    return np.geomspace(0.01, 0.99, n_classes)


@pytest.mark.parametrize("null", [0.0, 0.7, 2.0, 7.0])
@pytest.mark.parametrize("n_classes", [4, 5, 8, 20])
def test_chances_of_samples_without_a_label(n_classes, null):
    f = some_f(n_classes)
    wins = np.exp(fine_wins(f, null))
    for shares in (np.full(n_classes, 0.5), shares_of(n_classes), shares_of(n_classes)[::-1]):
        assert many.are_alike(null, np.log(shares))
        known = wins * shares[:, None]
        together = of_all(f, np.full(SIZE, -1), null, shares)
        assert together == pytest.approx(known.sum(axis=0), rel=1e-8, abs=0.0)
        found = np.empty(n_classes)
        for n in range(SIZE):
            many.many_of_one(3.0 * f[:, n], 3.0, 3.0 * null, np.log(shares), found)
            assert found == pytest.approx(known[:, n], rel=0.0, abs=1e-8 * known[:, n].sum())


@pytest.mark.parametrize("null", [0.0, 2.0, 7.0])
@pytest.mark.parametrize("n_classes", [4, 5, 8])
def test_chances_of_labels(n_classes, null):
    """Those far below another class are left out."""
    f, label = some_f(n_classes), generator(2).integers(0, n_classes, SIZE)
    known = np.take_along_axis(fine_wins(f, null), label[None], axis=0)[0]
    found = of_all(f, label, null, np.full(n_classes, 0.5))
    kept = found > 0.0
    others = np.where(np.arange(n_classes)[:, None] == label, -np.inf, f).max(axis=0)
    assert np.array_equal(kept, f[label, np.arange(SIZE)] - others - null >= -12.0)
    assert SIZE // 2 <= kept.sum() < SIZE
    assert found[kept] == pytest.approx(np.exp(known[kept]), rel=1e-8, abs=0.0)


@pytest.mark.parametrize(("null", "like"), [(0.0, True), (2.0, True), (8.0, True), (2.0, False)])
@pytest.mark.parametrize("n_classes", [4, 5])
def test_all_labels_are_those_one_by_one(n_classes, null, like):
    """With a half width too large for one grid, or shares too unlike, they are worked one by one; labels far out always are."""
    f, shares = some_f(n_classes), np.full(n_classes, 0.5) if like else np.geomspace(1e-5, 0.9, n_classes)
    label, log_share = np.resize([-1, 1, -1, 0, -1], SIZE), np.log(shares)
    total = 0.0
    for n in range(SIZE):
        wins = [log_win(f[:, n].copy(), 1.0, k, null) for k in range(n_classes)]
        total += wins[label[n]] if label[n] >= 0 else logsumexp(wins + log_share)
    assert sites.log_winners(f, label, null, log_share) == pytest.approx(total, rel=1e-7)


@pytest.mark.parametrize("null", [0.0, 2.0, 8.0])
def test_a_winner_is_drawn_by_the_chances(null):
    """4,000 draws of one sample: a class is off by five standard errors once in a million."""
    mean, log_share, rng, lead = (
        np.array([0.3, 0.0, -0.8, 0.1, -9.0]),
        np.log([0.2, 0.5, 0.9, 0.4, 0.5]),
        generator(1),
        np.empty(5),
    )
    chance = np.exp(log_share + [log_win(mean, 1.0, k, null) for k in range(5)])
    chance /= chance.sum()
    drawn = [sites.draw_winner(rng, mean, 1.0, null, log_share, lead) for _ in range(4000)]
    share = np.bincount(drawn, minlength=5) / 4000
    assert (np.abs(share - chance) <= 5.0 * np.sqrt(chance * (1.0 - chance) / 4000) + 1e-9).all()


FAULTS = {
    "no margin": ("many_of_all", "rise = math.exp(-step * step), math.exp(step * null)", "rise = math.exp(-step * step), 1.0"),
    "no shares": ("many_of_all", "math.exp(log_share[i]) if label[n] < 0", "0.5 if label[n] < 0"),
    "one tail missing": ("many_of_all", "product[n] *= below", "product[n] *= below if i > 0 else 1.0"),
    "short grid": ("many_of_all", "for j in range(count):", "for j in range(count - 8):"),
    "shares of one alike": ("many_of_one", "math.exp(log_share[i]) * step", "0.5 * step"),
    "tail of one missing": ("many_of_one", "product[j] *= below[i, j]\n    product", "pass\n    product"),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault, monkeypatch):
    function, old, new = FAULTS[fault]
    monkeypatch.setattr(many, function, with_fault(getattr(many, function), old, new))
    with pytest.raises(AssertionError):
        test_chances_of_samples_without_a_label(5, 2.0)
