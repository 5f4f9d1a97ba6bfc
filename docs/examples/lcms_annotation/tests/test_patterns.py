"""Isotopes against a list of all isotopologues, and the strict reading of formulas and adducts."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations_with_replacement, product
from math import factorial

import numpy as np
import pytest

from plaidwork_lcms_annotation.adducts import NEGATIVE, POSITIVE, AdductError, parse_adducts
from plaidwork_lcms_annotation.elements import ISOTOPES, FormulaError, parse_formula, written
from plaidwork_lcms_annotation.patterns import isotope_pattern, positions_of


def listed(text):
    """Abundance and mean mass by nominal excess: every choice of isotopes of every element, one by one."""
    ways = []
    for symbol, count in zip(ISOTOPES, parse_formula(text)):
        each = []
        for chosen in combinations_with_replacement(range(len(ISOTOPES[symbol])), count):
            many = factorial(count)
            share = mass = excess = 0.0
            share = 1.0
            for i, (more, weight, abundance) in enumerate(ISOTOPES[symbol]):
                number = chosen.count(i)
                many //= factorial(number)
                share, mass, excess = (
                    share * abundance**number,
                    mass + number * weight,
                    excess + number * more,
                )
            each.append((excess, mass, share * many))
        ways.append(each)
    found, moment = defaultdict(float), defaultdict(float)
    for parts in product(*ways):
        share = np.prod([part[2] for part in parts])
        excess = int(sum(part[0] for part in parts))
        found[excess] += share
        moment[excess] += share * sum(part[1] for part in parts)
    return found, {excess: moment[excess] / found[excess] for excess in found if found[excess] > 0}


@pytest.mark.parametrize("text", ["C6H12O6", "C3H7NO2S", "C2H4Cl2", "CBr2", "C3H9Si", "KCl", "C5H5S3"])
def test_pattern_is_that_of_all_isotopologues(text):
    abundance, mass = isotope_pattern(np.array([parse_formula(text)]), 4)
    share, mean = listed(text)
    for excess in range(5):
        assert abundance[0, excess] == pytest.approx(share[excess], rel=1e-12, abs=1e-15)
        if share[excess]:
            assert mass[0, excess] == pytest.approx(mean[excess], abs=1e-10)


def test_many_formulas_at_once_are_as_each_alone():
    texts = ["C6H12O6", "C17H33NO4", "C10H16N5O13P3", "H2O", "C50H80O20S2"]
    atoms = np.array([parse_formula(text) for text in texts])
    together = isotope_pattern(atoms, 3)
    for i in range(len(texts)):
        alone = isotope_pattern(atoms[i : i + 1], 3)
        assert together[0][i] == pytest.approx(alone[0][0], rel=1e-12)
        assert together[1][i] == pytest.approx(alone[1][0], rel=1e-12)


def test_glucose():
    """Known values of [M+H]+; an adduct that removes what is not there does not exist."""
    place = positions_of(np.array([parse_formula("C6H12O6")]), parse_adducts(POSITIVE), 3)
    first = np.exp(place.log_mz[place.adduct == 0])
    assert first == pytest.approx([181.07066, 182.07411, 183.07528], abs=5e-6)
    charged = np.exp(place.log_mz[place.adduct == 6])
    assert np.diff(charged)[0] == pytest.approx(1.00348 / 2, abs=1e-3)
    dry = positions_of(np.array([parse_formula("CH4")]), parse_adducts(POSITIVE), 3)
    assert 4 not in dry.adduct
    negative = positions_of(np.array([parse_formula("C6H12O6")]), parse_adducts(NEGATIVE), 0)
    assert np.exp(negative.log_mz[0]) == pytest.approx(179.05611, abs=2e-5)


@pytest.mark.parametrize(
    "text", ["C6H12O6+", "Xx2", "C6(OH)6", "", "C0", "c6", "C6 H12", "C12345", "6C", "[C6]H2", "C6H12O6-"]
)
def test_what_is_no_formula_is_refused(text):
    with pytest.raises(FormulaError):
        parse_formula(text)


@pytest.mark.parametrize(
    "text", ["", "M+H", "M+H, 1, 1, (H)", "M+H, 0, 1, H", "M, 1, 0", "M+H, 1, 1, H; M+H, 1, 1, H", "a, x, 1"]
)
def test_what_is_no_adduct_is_refused(text):
    with pytest.raises(AdductError):
        parse_adducts(text)


def test_formulas_are_written_in_order():
    assert written(parse_formula("O6C6H12")) == "C6H12O6"
    assert written(parse_formula("ClNa")) == "ClNa"
