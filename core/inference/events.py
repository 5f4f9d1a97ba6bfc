"""What the engine tells while a chain runs; plain data that may cross threads and processes."""

from __future__ import annotations

from dataclasses import dataclass

from plaidwork.core.contract.plugin_fault import PluginFault


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in chain ``chain`` (from 0)."""

    chain: int


@dataclass(frozen=True, slots=True)
class Preparing(Event):
    """Kernels are being compiled or loaded from the cache."""


@dataclass(frozen=True, slots=True)
class Started(Event):
    """The state exists; sweeps follow."""


@dataclass(frozen=True, slots=True)
class Working(Event):
    """A slice of a long sweep is done; the sweep is not."""


@dataclass(frozen=True, slots=True)
class Swept(Event):
    """Sweep number ``sweep`` (from 1) is done; ``kept`` says whether its draw was kept."""

    sweep: int
    kept: bool


@dataclass(frozen=True, slots=True)
class Checkpointed(Event):
    """A checkpoint was taken after sweep ``sweep``."""

    sweep: int


@dataclass(frozen=True, slots=True)
class Finished(Event):
    """The chain has ended: ``done`` (its schedule), ``converged`` or ``stopped`` (by the user).

    ``forced``: it was stopped within a step that did not end, and goes on from its last checkpoint.
    """

    reason: str
    sweep: int
    forced: bool = False


@dataclass(frozen=True, slots=True)
class Failed(Event):
    """The chain broke. ``message`` is for the user, ``details`` the traceback (empty for errors of use).

    ``fault`` says which plugin did wrong and where; None for an error of use. ``refused``: it did not go on from a stored state, which
    does not fit.
    """

    message: str
    hint: str = ""
    details: str = ""
    fault: PluginFault | None = None
    refused: bool = False
