"""Colours as people with a colour-vision deficiency see them, and how far apart those are.

Simulation: Machado, Oliveira and Fernandes (2009), "A physiologically-based model for simulation of color vision
deficiency", IEEE Transactions on Visualization and Computer Graphics 15(6), the matrices for severity 1.0, which act on
linear RGB. Differences: CIEDE2000 (Sharma, Wu and Dalal 2005, Color Research and Application 30(1)) in CIELAB, D65.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Colours = NDArray[np.float64]
"""(n, 3)"""

SIGHTS: dict[str, Colours] = {
    "usual": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
}
"""Matrices on linear RGB, severity 1.0 (table 1 of the paper)."""

_TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
_WHITE = _TO_XYZ.sum(axis=1)


def seen(srgb: Colours, sight: str) -> Colours:
    """What ``srgb`` (n, 3), 0 to 1, looks like with a sight of `SIGHTS`, as sRGB (n, 3) cut to 0 to 1."""
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    changed = np.clip(linear @ SIGHTS[sight].T, 0.0, 1.0)
    return np.where(changed <= 0.0031308, changed * 12.92, 1.055 * changed ** (1 / 2.4) - 0.055)


def cielab(srgb: Colours) -> Colours:
    """L* (0 to 100), a* and b* (n, 3) of ``srgb`` (n, 3), 0 to 1."""
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    xyz = linear @ _TO_XYZ.T / _WHITE
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.column_stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])])


def ciede2000(first: Colours, second: Colours) -> NDArray[np.float64]:
    """Differences (n,) of CIELAB colours (n, 3) pair by pair; about 1 is just noticed side by side."""
    chroma = (np.hypot(first[:, 1], first[:, 2]) + np.hypot(second[:, 1], second[:, 2])) / 2
    stretch = 1 + 0.5 * (1 - np.sqrt(chroma**7 / (chroma**7 + 25.0**7)))
    c, h = zip(*(_polar(lab, stretch) for lab in (first, second)), strict=True)
    grey = c[0] * c[1] == 0
    turn = np.where(grey, 0.0, (h[1] - h[0] + 180) % 360 - 180)
    d_hue = 2 * np.sqrt(c[0] * c[1]) * np.sin(np.radians(turn) / 2)
    mean_l, mean_c = (first[:, 0] + second[:, 0]) / 2, (c[0] + c[1]) / 2
    mean_h = np.where(grey, h[0] + h[1], (h[0] + turn / 2) % 360)
    t = (
        1
        - 0.17 * np.cos(np.radians(mean_h - 30))
        + 0.24 * np.cos(np.radians(2 * mean_h))
        + 0.32 * np.cos(np.radians(3 * mean_h + 6))
        - 0.20 * np.cos(np.radians(4 * mean_h - 63))
    )
    off = (mean_l - 50) ** 2
    l_part = (second[:, 0] - first[:, 0]) / (1 + 0.015 * off / np.sqrt(20 + off))
    c_part = (c[1] - c[0]) / (1 + 0.045 * mean_c)
    h_part = d_hue / (1 + 0.015 * mean_c * t)
    twist = 2 * np.sqrt(mean_c**7 / (mean_c**7 + 25.0**7))
    twist = -twist * np.sin(np.radians(60 * np.exp(-(((mean_h - 275) / 25) ** 2))))
    return np.sqrt(l_part**2 + c_part**2 + h_part**2 + twist * c_part * h_part)


def _polar(lab: Colours, stretch: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    a = lab[:, 1] * stretch
    return np.hypot(a, lab[:, 2]), np.degrees(np.arctan2(lab[:, 2], a)) % 360


def closest(srgb: Colours, sight: str) -> tuple[float, tuple[int, int]]:
    """The smallest CIEDE2000 difference of any two of some colours (n, 3) with a sight, and which two."""
    lab = cielab(seen(srgb, sight))
    one, other = np.triu_indices(len(lab), 1)
    gaps = ciede2000(lab[one], lab[other])
    least = int(np.argmin(gaps))
    return float(gaps[least]), (int(one[least]), int(other[least]))
