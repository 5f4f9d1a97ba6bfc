"""What labels of a null category say of f: probabilities and slopes, one by one and of all samples at once."""

from __future__ import annotations

import numpy as np
import pytest
from gp_joint import generator

from plaidwork.plugins.gp_auxiliary.classes import replica
from plaidwork.plugins.gp_auxiliary.kernels import leaders, sides, sites
from plaidwork.plugins.gp_auxiliary.kernels.at_once import ROOM, exponentials, leads_of_all, sides_of_all


@pytest.mark.parametrize("null", [0.0, 0.7, 3.0])
@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.1, 0.8)])
def test_slopes_of_sides_are_those_of_their_probabilities(null, shares):
    """Against the sampler's own log likelihood and its differences, far out too."""
    code, log_share = np.array([1, 0, -1]), np.log(shares)
    likelihood = replica.Labels(code, 2).log_likelihood(log_share, null)
    for f in (-45.0, -3.0, -0.4, 0.0, 1.1, 4.0, 50.0):
        terms = [sides.side_terms(f, side, null, *shares) for side in (1, -1, 0)]
        assert sum(value for value, _ in terms) == pytest.approx(likelihood(np.full((1, 3), f)), rel=1e-9)
        for i, (_value, slope) in enumerate(terms):
            step = 1e-5 * np.eye(3)[i][None]
            rise = likelihood(np.full((1, 3), f) + step) - likelihood(np.full((1, 3), f) - step)
            assert slope == pytest.approx(rise / 2e-5, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("null", [0.0, 0.7, 3.0])
@pytest.mark.parametrize("shares", [(1 / 3, 1 / 3, 1 / 3), (0.1, 0.7, 0.2)])
def test_slopes_of_leaders_are_those_of_their_probabilities(null, shares):
    """Of three classes, labelled or not, against the sampler's own log likelihood and its differences, far out too."""
    log_share, lead, slope, rng = np.log(shares), np.empty(3), np.empty(3), generator(7)
    for size in (0.3, 2.0, 10.0, 40.0):
        f = size * rng.standard_normal(3)
        for label in (-1, 0, 1, 2):
            likelihood = replica.Labels(np.array([label]), 3).log_likelihood(log_share, null)
            value = leaders.lead_terms(f, label, null, log_share, lead, slope)
            assert value == pytest.approx(likelihood(f[:, None]), rel=1e-9)
            force, room = np.empty((3, 1)), np.empty((ROOM, 1))
            together = leaders.log_leaders(f[:, None], np.array([label]), null, log_share, force, room)
            assert together == pytest.approx(value, rel=1e-9, abs=1e-12)
            assert force[:, 0] == pytest.approx(slope, rel=1e-9, abs=1e-12)
            steps = 1e-5 * np.eye(3)[:, :, None]
            rise = [likelihood(f[:, None] + step) - likelihood(f[:, None] - step) for step in steps]
            assert slope == pytest.approx(np.array(rise) / 2e-5, rel=1e-4, abs=1e-5)


def test_exponentials_are_those_of_the_library():
    x = np.concatenate([np.linspace(-708.0, 0.0, 5001), [-1e-300, -1e-9]])
    found = x.copy()
    exponentials(found, np.empty(x.size), np.empty(x.size))
    assert found == pytest.approx(np.exp(x), rel=1e-15)


@pytest.mark.parametrize("null", [0.0, 0.7, 3.0, 10.0])
@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.01, 0.99)])
def test_all_sides_at_once_are_those_one_by_one(null, shares):
    f = np.concatenate([np.linspace(-12.0, 12.0, 301), [-40.0, 40.0]])
    chance, force, room = np.empty(f.size), np.empty(f.size), np.empty((ROOM, f.size))
    sides_of_all(f, null, *shares, chance, force, room)
    value, slope = np.transpose([sides.side_terms(one, 0, null, *shares) for one in f])
    assert np.log(chance) == pytest.approx(value, rel=1e-11, abs=1e-13)
    assert force == pytest.approx(slope, rel=1e-10, abs=1e-12)
    side = np.resize([1, 0, 0, -1, 0], f.size)
    known = sum(sides.side_terms(one, s, null, *shares)[0] for one, s in zip(f, side, strict=True))
    assert sides.log_sides(f, side, null, *shares, force, room) == pytest.approx(known, rel=1e-12)


@pytest.mark.parametrize("null", [0.0, 0.7, 3.0, 7.0, 10.0])
@pytest.mark.parametrize("shares", [(1 / 3, 1 / 3, 1 / 3), (0.01, 0.3, 0.69)])
def test_all_leaders_at_once_are_those_one_by_one(null, shares):
    """Beyond the widest half width they are worked one by one."""
    rng, size = generator(3), 300
    f = rng.standard_normal((3, size)) * np.repeat([0.5, 4.0, 15.0], size // 3)
    force, room, log_share = np.empty(f.shape), np.empty((ROOM, size)), np.log(shares)
    lead, slope = np.empty(3), np.empty(3)
    code = np.resize([-1, 1, -1, -1, 0, -1, 2], size)
    values, slopes = [], []
    for n in range(size):
        values.append(
            leaders.lead_terms(np.ascontiguousarray(f[:, n]), code[n], null, log_share, lead, slope)
        )
        slopes.append(slope.copy())
    assert leaders.log_leaders(f, code, null, log_share, force, room) == pytest.approx(sum(values), rel=1e-10)
    assert pytest.approx(np.array(slopes), rel=1e-8, abs=1e-9) == force.T
    assert sites.log_winners(f, code, null, log_share) == pytest.approx(sum(values), rel=1e-10)
    if null <= 7.0:
        chance = np.empty(size)
        leads_of_all(f, null, np.array(shares), chance, force, room)
        free = code < 0
        assert np.log(chance[free]) == pytest.approx(np.array(values)[free], rel=1e-9, abs=1e-10)
