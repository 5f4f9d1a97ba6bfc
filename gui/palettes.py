"""Colour maps as (256, 4) uint8 tables, interpolated in OKLab between the anchors of the look."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from plaidwork.gui import tokens

MAPS = ("tide", "loom", "soft_loom", "greys")

_TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def hex_to_srgb(codes: Sequence[str]) -> NDArray[np.float64]:
    """Turn ``#RRGGBB`` codes into an (n, 3) array of sRGB values in 0..1."""
    return np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in codes]) / 255.0


def srgb_to_oklab(rgb: NDArray[np.float64]) -> NDArray[np.float64]:
    """Convert sRGB (n, 3) in 0..1 to OKLab."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return np.cbrt(linear @ _TO_LMS.T) @ _TO_LAB.T


def oklab_to_srgb(lab: NDArray[np.float64]) -> NDArray[np.float64]:
    """Convert OKLab (n, 3) to sRGB, clipped to 0..1."""
    linear = (lab @ np.linalg.inv(_TO_LAB).T) ** 3 @ np.linalg.inv(_TO_LMS).T
    linear = np.clip(linear, 0.0, 1.0)
    return np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)


def ramp(codes: Sequence[str], steps: int = 256) -> NDArray[np.uint8]:
    """Interpolate evenly spaced anchors in OKLab to a (steps, 4) RGBA table."""
    lab = srgb_to_oklab(hex_to_srgb(codes))
    at, to = np.linspace(0, 1, len(codes)), np.linspace(0, 1, steps)
    fine = np.column_stack([np.interp(to, at, lab[:, i]) for i in range(3)])
    table = np.full((steps, 4), 255, dtype=np.uint8)
    table[:, :3] = np.rint(oklab_to_srgb(fine) * 255)
    return table


@lru_cache(maxsize=16)
def lut(name: str, scheme: str) -> NDArray[np.uint8]:
    """Return the map `name` (one of `MAPS`) of a scheme; read only."""
    if name == "tide":
        codes = tokens.TIDE[scheme]
    elif name == "loom":
        codes = tokens.LOOM[scheme]
    elif name == "soft_loom":
        codes = tokens.LOOM[scheme][3:8]
    elif name == "greys":
        codes = tokens.GREYS[scheme][::-1]
    else:
        raise KeyError(f"colour map must be one of {', '.join(MAPS)}, got {name!r}")
    table = ramp(codes)
    table.setflags(write=False)
    return table


def contrast(first: str, second: str) -> float:
    """WCAG contrast ratio of two ``#RRGGBB`` colours, 1 to 21."""
    rgb = hex_to_srgb([first, second])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    low, high = sorted((linear @ np.array([0.2126, 0.7152, 0.0722])).tolist())
    return (high + 0.05) / (low + 0.05)
