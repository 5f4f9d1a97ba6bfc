"""Every palette and colour map under the usual sight, protanopia and deuteranopia, in both schemes.

Thresholds are CIEDE2000 differences (about 1 is just noticed side by side, 10 is told apart at a glance) and L* of
CIELAB. They lie below what was measured when the colours were chosen (docs/reading-pictures.md), so that a worse colour
fails and rounding does not.
"""

from __future__ import annotations

import numpy as np
import pytest
from colour_vision import SIGHTS, ciede2000, cielab, closest, seen

from plaidwork.gui import tokens
from plaidwork.gui.palettes import MAPS, contrast, hex_to_srgb, lut

SCHEMES = tokens.SCHEMES
STATUS = ("ok", "warn", "error")
DIVERGING = ("loom", "soft_loom")
SPANS = {"tide": 70.0, "greys": 55.0, "loom": 50.0, "soft_loom": 18.0}
"""Difference of L* between the ends of a map, or between the centre and each end of a diverging one, at least."""

each_scheme = pytest.mark.parametrize("scheme", SCHEMES)
each_sight = pytest.mark.parametrize("sight", SIGHTS)


def code(name: str, scheme: str) -> str:
    return tokens.COLORS[name][SCHEMES.index(scheme)]


def worst_step(lightness: np.ndarray) -> float:
    """The step of a map that goes least in the map's direction; below 0 where it turns back."""
    return float((np.sign(lightness[-1] - lightness[0]) * np.diff(lightness)).min())


def arms(name: str, table: np.ndarray) -> tuple[np.ndarray, ...]:
    return (table[127::-1], table[128:]) if name in DIVERGING else (table,)


def test_differences_are_those_of_the_paper():
    # four pairs of table 1 of Sharma, Wu and Dalal (2005)
    first = [[50, 2.6772, -79.7751], [50, 0, 0], [2.0776, 0.0795, -1.1350], [60.2574, -34.0099, 36.2677]]
    other = [[50, 0, -82.7485], [50, -1, 2], [0.9033, -0.0636, -0.5514], [60.4626, -34.1751, 39.4387]]
    found = ciede2000(np.array(first), np.array(other))
    assert np.allclose(found, [2.0425, 2.3669, 0.9082, 1.2644], atol=1e-4)


def test_the_simulation_mixes_up_what_it_should():
    red_and_green = hex_to_srgb(["#C05A20", "#7A7A20"])
    assert closest(red_and_green, "usual")[0] > 25
    assert closest(red_and_green, "deuteranopia")[0] < 10
    greys = hex_to_srgb(["#000000", "#808080", "#FFFFFF"])
    for sight in SIGHTS:
        assert np.allclose(seen(greys, sight), greys, atol=2e-3)
        assert np.allclose(cielab(greys)[:, 1:], 0, atol=0.01)


@each_scheme
@each_sight
@pytest.mark.parametrize("name", MAPS)
def test_maps_go_one_way_in_lightness(name, scheme, sight):
    for arm in arms(name, lut(name, scheme)[:, :3] / 255.0):
        lightness = cielab(seen(arm, sight))[:, 0]
        assert worst_step(lightness) > -0.1, "a step back, more than rounding to 8 bits makes"
        assert worst_step(lightness[::16]) > 0.5
        assert abs(lightness[-1] - lightness[0]) >= SPANS[name]


def test_a_rainbow_would_be_found():
    turns = cielab(seen(hex_to_srgb(["#0000FF", "#00FFFF", "#FFFF00", "#FF0000"]), "deuteranopia"))[:, 0]
    assert worst_step(turns) < -10


@each_scheme
@each_sight
@pytest.mark.parametrize("name", DIVERGING)
def test_the_arms_of_a_diverging_map_are_told_apart(name, scheme, sight):
    below, above = (cielab(seen(arm, sight)) for arm in arms(name, lut(name, scheme)[:, :3] / 255.0))
    apart = ciede2000(below, above)
    assert apart[-1] >= 35
    assert (apart[32:] >= 9).all(), "from a quarter of the way on, whichever side it is"


@each_scheme
@each_sight
def test_colours_of_groups_are_told_apart(scheme, sight):
    for names, colours, least in (
        ("groups", tokens.CATEGORIES[scheme], 12.0),
        ("and all others", (*tokens.CATEGORIES[scheme], code("neutral", scheme)), 9.0),
        ("states", tuple(code(name, scheme) for name in STATUS), 9.5),
        ("strips", tokens.GREYS[scheme], 10.0),
    ):
        gap, which = closest(hex_to_srgb(colours), sight)
        assert gap >= least, (names, which, round(gap, 1))


@each_scheme
def test_states_and_what_recedes_are_seen(scheme):
    for name in STATUS:
        for ground in ("window", "surface", f"{name}_on"):
            assert contrast(code(name, scheme), code(ground, scheme)) >= 4.5, (name, ground)
    # "neutral" stands for all the rest and recedes on purpose, below the 3:1 of marks
    assert contrast(code("neutral", scheme), code("surface", scheme)) >= 2.2
