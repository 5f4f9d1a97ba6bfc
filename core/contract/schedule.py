"""How long a fit runs: plain data, checked once, the same for every executor."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from plaidwork.core.errors import SettingError

SCHEDULE_WORDS: dict[str, tuple[type[int] | type[float], str]] = {
    "chains": (int, "chains, or restarts of a variational model"),
    "most_chains": (
        int,
        "restarts that a variational model makes at most: 16 where they are quick, more while only one has reached the best objective",
    ),
    "warmup": (int, "sweeps before the first draw is kept"),
    "draws": (int, "draws kept of each chain"),
    "thin": (int, "keep every N-th sweep"),
    "burn_in": (int, "sweeps after the warm-up that are left out too"),
    "budget": (float, "seconds a sampler may go on until it has settled; 0: not at all, as with --draws"),
    "max_sweeps": (int, "most sweeps of a variational model"),
    "tolerance": (float, "gain, in nats over the window, below which a variational model has converged"),
    "window": (
        int,
        "sweeps that the tolerance is about; 0: it is the relative change of the objective in one sweep",
    ),
    "relaxation": (
        float,
        "most that a variational model goes beyond its sweeps, as a multiple of one; 0: not at all",
    ),
}
"""Type and meaning of each word, for the command line, job files and Python."""

_LIMITS = {
    "chains": (1, 64),
    "most_chains": (0, 64),
    "warmup": (0, 10_000_000),
    "draws": (1, 10_000_000),
    "thin": (1, 100_000),
    "burn_in": (0, 1_000_000_000),
    "max_sweeps": (1, 10_000_000),
    "window": (0, 10_000_000),
}

DEFAULT_BUDGET = 120.0
"""Seconds that the chains of a sampler may take to settle, when nobody says otherwise."""
DEFAULT_MOST = 48
"""Restarts of a variational model at most, when nobody says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Sweeps of a fit.

    A sampler (``mcmc``) runs ``warmup`` sweeps, leaves out ``burn_in`` more, then runs ``draws * thin`` sweeps and keeps
    every ``thin``-th. The model knows of its warm-up (:class:`Clock`), and of nothing that comes after it. With a
    ``budget`` that is only the beginning: the chains go on until they have settled, or for about so many seconds
    (``core/inference/settling.py``).
    A variational or optimising model sweeps until the last ``window`` sweeps have gained less than ``tolerance`` in its
    objective, ``max_sweeps`` at most, and keeps its final state; ``chains`` then counts restarts. Where they are quick, and while only
    one of them has reached the best objective, more are made, ``most_chains`` in all (``core/inference/restarting.py``). Without a window the
    model's own rule decides (``Model.converged``), for which the tolerance is a relative change. ``relaxation`` is the
    most that the host carries arrays on before a sweep, as a multiple of the last one's step; 0 is the plain ascent.
    """

    chains: int = 4
    most_chains: int = 0
    warmup: int = 500
    draws: int = 1000
    thin: int = 1
    max_sweeps: int = 1000
    tolerance: float = 1e-8
    window: int = 0
    relaxation: float = 0.0
    burn_in: int = 0
    budget: float = 0.0

    def __post_init__(self) -> None:
        for name, (low, high) in _LIMITS.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise SettingError(f"{name} must be a whole number from {low} to {high}. Found “{value}”.")
        for name in ("tolerance", "relaxation"):
            if not getattr(self, name) >= 0:
                raise SettingError(f"{name} must be at least 0. Found “{getattr(self, name)}”.")
        if not 0 <= self.budget <= 1e7:
            raise SettingError(f"budget must be from 0 to 10000000 seconds. Found “{self.budget}”.")

    @property
    def left_out(self) -> int:
        """Sweeps of a sampler before those that draws are kept of."""
        return self.warmup + self.burn_in

    def sweeps(self, algorithm: str) -> int:
        """Sweeps of one chain (an upper bound unless ``algorithm`` is ``mcmc``)."""
        return self.left_out + self.draws * self.thin if algorithm == "mcmc" else self.max_sweeps

    def with_(self, **changes: Any) -> Schedule:
        """A copy with some fields changed; ``None`` leaves a field as it is.

        Who says how many draws and no budget wants just so many, and so does who says how many chains.
        """
        given = {name: value for name, value in changes.items() if value is not None}
        if "draws" in given:
            given.setdefault("budget", 0.0)
        if "chains" in given:
            given.setdefault("most_chains", 0)
        return replace(self, **given)


@dataclass(frozen=True, slots=True)
class Clock:
    """Where a chain stands when ``step`` is called: ``sweep`` counts finished sweeps.

    The planned end is left out on purpose: a run that is extended later must equal a longer one.
    """

    sweep: int
    warmup: int

    @property
    def warming(self) -> bool:
        return self.sweep < self.warmup
