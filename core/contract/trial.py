"""Where the checks try a sampler against its own prior."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Settings and sizes at which the checks compare a sampler with its own prior.

    They must make ``simulate`` and ``step`` speak of one and the same law: no prior number may be taken from the
    data. Small sizes mix fast and show most errors. Give one trial for every way a sweep can go.

    Attributes
    ----------
    params : settings that differ from their defaults.
    shapes : shape of every input (a tuple of shapes for one that takes many); empty: 6 by 4.
    missing : share of cells taken out of the inputs that may have gaps.
    warmup, thin : sweeps after which the start is forgotten, and after which two draws hardly depend.
    """

    name: str = "default"
    params: Mapping[str, Any] = field(default_factory=dict)
    shapes: Mapping[str, Any] = field(default_factory=dict)
    missing: float = 0.0
    warmup: int = 100
    thin: int = 5
