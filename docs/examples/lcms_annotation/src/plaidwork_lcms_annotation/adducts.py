"""Adducts: what a molecule wins and loses when it becomes an ion."""

from __future__ import annotations

from dataclasses import dataclass

from plaidwork_lcms_annotation.elements import ISOTOPES, FormulaError, parse_formula

POSITIVE = (
    "M+H, 1, 1, H; M+Na, 1, 1, Na; M+K, 1, 1, K; M+NH4, 1, 1, NH4; M+H-H2O, 1, 1, H, H2O; "
    "2M+H, 2, 1, H; M+2H, 1, 2, H2"
)
NEGATIVE = "M-H, 1, -1, , H; M+Cl, 1, -1, Cl; M+FA-H, 1, -1, CH2O2, H; M-H-H2O, 1, -1, , H3O"
FORM = "name, copies of M, charge, added, removed"


class AdductError(ValueError):
    """A list of adducts that cannot be read; its text is a sentence."""


@dataclass(frozen=True, slots=True)
class Adduct:
    """An ion ``copies`` M + ``change`` with ``charge``; ``change`` has an entry for each element, below 0 where removed."""

    name: str
    copies: int
    charge: int
    change: tuple[int, ...]


def parse_adducts(text: str) -> tuple[Adduct, ...]:
    """Adducts of a setting, one in each line or between semicolons. Raises ``AdductError``."""
    lines = [line.strip() for line in text.replace("\n", ";").split(";")]
    found = [_adduct(line) for line in lines if line]
    if not found:
        raise AdductError("No adduct is given.")
    names = [adduct.name for adduct in found]
    for name in names:
        if names.count(name) > 1:
            raise AdductError(f"The adduct {name} is listed twice.")
    return tuple(found)


def _adduct(line: str) -> Adduct:
    parts = [part.strip() for part in line.split(",")]
    if not 3 <= len(parts) <= 5 or not parts[0]:
        raise AdductError(f"The adduct “{line}” is not of the form “{FORM}”.")
    name, copies, charge = parts[0], _whole(parts[1], line), _whole(parts[2], line)
    if not 1 <= copies <= 10 or not 1 <= abs(charge) <= 10:
        raise AdductError(
            f"The adduct {name} needs 1 to 10 copies of M, and a charge of 1 to 10 or -1 to -10."
        )
    added, removed = [_atoms(part, name) for part in (*parts[3:], "", "")[:2]]
    return Adduct(name, copies, charge, tuple(a - r for a, r in zip(added, removed, strict=True)))


def _whole(text: str, line: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise AdductError(f"In the adduct “{line}”, “{text}” is not a whole number.") from None


def _atoms(text: str, name: str) -> tuple[int, ...]:
    try:
        return parse_formula(text) if text else (0,) * len(ISOTOPES)
    except FormulaError as error:
        raise AdductError(f"In the adduct {name}, “{text}” {error}.") from None
