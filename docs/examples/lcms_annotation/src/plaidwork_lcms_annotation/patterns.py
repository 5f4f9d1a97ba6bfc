"""Where the ions of a formula lie, and how tall its isotopes are beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plaidwork_lcms_annotation.adducts import Adduct
from plaidwork_lcms_annotation.elements import ELECTRON, ISOTOPES

LEAST = 1e-3
"""Smallest abundance of a position, relative to the largest of its adduct."""
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Positions(NamedTuple):
    """All positions of all formulas, one after the other: (P,) each, but for the last two (F,)."""

    formula: Ints
    adduct: Ints
    rank: Ints
    """Excess in nominal mass: 0 is M+0."""
    log_mz: Floats
    log_beta: Floats
    """Logarithm of the abundance relative to the largest isotope of the adduct."""
    first: Ints
    """(F + 1,) place of the first position of each formula."""

    @property
    def number(self) -> Ints:
        """(F,) number of positions of each formula."""
        return np.diff(self.first)


def isotope_pattern(atoms: Ints, top: int) -> tuple[Floats, Floats]:
    """Abundance and mean mass in u, (F, top + 1) each, of the isotopes of formulas (F, elements) of no negative count.

    Products of polynomials in the nominal excess, cut off after ``top``; isotopes of equal excess are one, with their
    mean mass, as an instrument of ordinary resolution sees them. Mass 0 where the abundance is 0.
    """
    abundance = np.zeros((len(atoms), top + 1))
    abundance[:, 0] = 1.0
    moment = np.zeros_like(abundance)
    for element, symbol in enumerate(ISOTOPES):
        numbers = atoms[:, element]
        if numbers.any():
            powers, moments = _powers(symbol, int(numbers.max()), top)
            abundance, moment = _product(abundance, moment, powers[numbers], moments[numbers])
    mass = np.divide(moment, abundance, out=np.zeros_like(moment), where=abundance > 0)
    return abundance, mass


def _powers(symbol: str, most: int, top: int) -> tuple[Floats, Floats]:
    """Abundances and abundance times mass, (most + 1, top + 1) each, of 0 to ``most`` atoms of an element."""
    base, moment = np.zeros((1, top + 1)), np.zeros((1, top + 1))
    for excess, mass, share in ISOTOPES[symbol]:
        if excess <= top:
            base[0, excess], moment[0, excess] = share, share * mass
    powers, moments = np.zeros((most + 1, top + 1)), np.zeros((most + 1, top + 1))
    powers[0, 0] = 1.0
    done = 1
    while done <= most:  # atoms 0..done-1 times `done` atoms: each product doubles what is there
        one = slice(done - 1, done)
        whole, whole_moment = _product(powers[one], moments[one], base, moment)
        part = min(done, most + 1 - done)
        powers[done : done + part], moments[done : done + part] = _product(
            powers[:part], moments[:part], whole, whole_moment
        )
        done += part
    return powers, moments


def _product(a: Floats, s: Floats, b: Floats, t: Floats) -> tuple[Floats, Floats]:
    """Product of polynomials with abundances a, b and abundance times mass s, t; rows by rows."""
    n, width = max(len(a), len(b)), a.shape[1]
    abundance, moment = np.zeros((n, width)), np.zeros((n, width))
    for i in range(width):
        for j in range(width - i):
            abundance[:, i + j] += a[:, i] * b[:, j]
            moment[:, i + j] += s[:, i] * b[:, j] + a[:, i] * t[:, j]
    return abundance, moment


def positions_of(
    atoms: Ints, adducts: Sequence[Adduct], top: int, low: float = 0.0, high: float = np.inf
) -> Positions:
    """Positions of formulas with ``atoms`` (F, elements) of the adducts, isotopes M+0 to M+top, with m/z in low..high.

    An adduct that removes atoms which a formula lacks does not exist for it.
    """
    parts = []
    for number, adduct in enumerate(adducts):
        ion = adduct.copies * atoms + np.array(adduct.change)
        able = np.flatnonzero((ion >= 0).all(axis=1))
        if not len(able):
            continue
        abundance, mass = isotope_pattern(ion[able], top)
        relative = abundance / abundance.max(axis=1, keepdims=True)
        mz = (mass - adduct.charge * ELECTRON) / abs(adduct.charge)
        row, rank = np.nonzero((relative >= LEAST) & (mz >= low) & (mz <= high) & (mz > 0))
        parts.append(
            (able[row], np.full(len(row), number), rank, np.log(mz[row, rank]), np.log(relative[row, rank]))
        )
    if not parts:
        none, zero = np.zeros(0, np.int64), np.zeros(0)
        return Positions(none, none, none, zero, zero, np.zeros(len(atoms) + 1, np.int64))
    formula, adduct_of, rank, log_mz, log_beta = (np.concatenate(part) for part in zip(*parts, strict=True))
    order = np.lexsort((rank, adduct_of, formula))
    first = np.searchsorted(formula[order], np.arange(len(atoms) + 1))
    return Positions(formula[order], adduct_of[order], rank[order], log_mz[order], log_beta[order], first)
