"""Elements with their isotopes, and the strict reading of molecular formulas.

Masses (u) and abundances: NIST, Atomic Weights and Isotopic Compositions with Relative Atomic Masses.
"""

from __future__ import annotations

import re
from functools import lru_cache

ELECTRON = 0.000548579909
"""Mass of the electron in u."""
ISOTOPES: dict[str, tuple[tuple[int, float, float], ...]] = {
    "C": ((0, 12.0, 0.9893), (1, 13.00335483507, 0.0107)),
    "H": ((0, 1.00782503223, 0.999885), (1, 2.01410177812, 0.000115)),
    "N": ((0, 14.00307400443, 0.99636), (1, 15.00010889888, 0.00364)),
    "O": ((0, 15.99491461957, 0.99757), (1, 16.99913175650, 0.00038), (2, 17.99915961286, 0.00205)),
    "P": ((0, 30.97376199842, 1.0),),
    "S": (
        (0, 31.9720711744, 0.9499),
        (1, 32.9714589098, 0.0075),
        (2, 33.967867004, 0.0425),
        (4, 35.96708071, 0.0001),
    ),
    "Na": ((0, 22.9897692820, 1.0),),
    "F": ((0, 18.99840316273, 1.0),),
    "I": ((0, 126.9044719, 1.0),),
    "Cl": ((0, 34.968852682, 0.7576), (2, 36.965902602, 0.2424)),
    "Br": ((0, 78.9183376, 0.5069), (2, 80.9162897, 0.4931)),
    "K": ((0, 38.9637064864, 0.932581), (1, 39.963998166, 0.000117), (2, 40.9618252579, 0.067302)),
    "Si": ((0, 27.97692653465, 0.92223), (1, 28.97649466490, 0.04685), (2, 29.973770136, 0.03092)),
}
"""Of every element (excess in nominal mass over the lightest isotope, mass in u, abundance)."""
ORDER = {symbol: place for place, symbol in enumerate(ISOTOPES)}
MOST_ATOMS = 9999
_PART = re.compile(r"([A-Z][a-z]?)(0|[1-9]\d*)?")


class FormulaError(ValueError):
    """A formula that cannot be read; its text says why, as a clause."""


@lru_cache(maxsize=65536)
def parse_formula(text: str) -> tuple[int, ...]:
    """Atoms of a neutral formula such as ``C6H12O6``, in the order of :data:`ISOTOPES`. Raises ``FormulaError``."""
    text = text.strip()
    if not text:
        raise FormulaError("is empty")
    atoms, at = [0] * len(ISOTOPES), 0
    while at < len(text):
        found = _PART.match(text, at)
        if found is None:
            raise FormulaError(_why(text[at]))
        symbol, number = found.groups()
        if symbol not in ORDER:
            raise FormulaError(f"has the element {symbol}; known are {', '.join(ISOTOPES)}")
        if number == "0" or len(number or "") > 4:
            raise FormulaError(f"has {number} atoms of {symbol}; 1 to {MOST_ATOMS} are possible")
        atoms[ORDER[symbol]] += int(number or 1)
        at = found.end()
    return tuple(atoms)


def _why(sign: str) -> str:
    if sign in "+-":
        return "has a charge; give the neutral formula, charges come from the adducts"
    if sign in "()[]{}":
        return "has brackets; write every element with the number of its atoms"
    return f"cannot be read at “{sign}”; expected is a text such as C6H12O6"


def written(atoms: tuple[int, ...]) -> str:
    """The formula in Hill's order: carbon, hydrogen, then the others by the alphabet."""
    first = ("C", "H") if atoms[ORDER["C"]] else ()
    order = [*first, *sorted(set(ORDER) - set(first))]
    parts = ((symbol, atoms[ORDER[symbol]]) for symbol in order)
    return "".join(f"{symbol}{count if count > 1 else ''}" for symbol, count in parts if count)
