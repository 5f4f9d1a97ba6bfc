"""One chain (or restart) of a run: its buffers, its live state and its checkpoints."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np

from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.contract.spec import ModelSpec
from plaidwork.core.contract.storable import check_state
from plaidwork.core.deferred import Holder
from plaidwork.core.draws.counting import counted
from plaidwork.core.draws.draws import ChainView, DrawBuffer, TraceBuffer


def chain_rng(seed: int, chain: int) -> np.random.Generator:
    """The generator of one chain: PCG64DXSM seeded by (seed, chain), independent between chains."""
    return np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence(seed, spawn_key=(chain,))))


def chain_of(rng: np.random.Generator) -> int:
    """The number, from 0, of the chain whose fresh generator this is; 0 for any other generator.

    For ``Model.init`` of a model whose restarts begin in different ways.
    """
    key: tuple[int, ...] = getattr(getattr(rng.bit_generator, "seed_seq", None), "spawn_key", ())
    return int(key[0]) if len(key) == 1 else 0


def rng_state(rng: np.random.Generator) -> dict[str, Any]:
    """The generator's state as plain dict, for a checkpoint."""
    return dict(rng.bit_generator.state)


def rng_from_state(state: dict[str, Any]) -> np.random.Generator:
    """The generator that :func:`rng_state` described. Raises ``ValueError`` for a foreign or damaged state."""
    if state.get("bit_generator") != "PCG64DXSM":
        raise ValueError(f"stored generator is {state.get('bit_generator')!r}, expected 'PCG64DXSM'")
    bits = np.random.PCG64DXSM(0)
    bits.state = cast(Any, state)
    return np.random.Generator(bits)


def copy_state(state: Any) -> Any:
    """A deep copy of a model state: dicts, lists and tuples are rebuilt, the rest is immutable.

    Arrays keep their memory layout: sums over another layout may round differently.
    """
    if isinstance(state, dict):
        return {key: copy_state(value) for key, value in state.items()}
    if isinstance(state, (list, tuple)):
        items = [copy_state(value) for value in state]
        return (
            items
            if isinstance(state, list)
            else type(state)(*items)
            if hasattr(state, "_fields")
            else tuple(items)
        )
    if isinstance(state, np.ndarray):
        return state.copy(order="K")
    return state


@dataclass(frozen=True, slots=True)
class Checkpoint(Holder):
    """Enough to go on exactly: state and generator after ``sweep`` sweeps and ``n_draws`` kept draws.

    The state may be given as :class:`Deferred`: it is then read when somebody goes on from it.
    """

    _HELD: ClassVar[str] = "state"

    sweep: int
    n_draws: int
    state: Any
    rng: dict[str, Any]
    cpu_seconds: float = 0.0
    converged: bool = False
    foreign: bool = False
    """Whether the state is from a file, and nobody has looked yet whether it fits."""

    def __post_init__(self) -> None:
        self._hold()


class ChainRecord:
    """What one chain has done so far.

    The thread that runs the chain is the only one that writes; others use :meth:`view` and ``saved`` (the
    last checkpoint, replaced as a whole), never ``state`` or ``rng``.
    """

    def __init__(self, spec: ModelSpec, schedule: Schedule, seed: int, chain: int) -> None:
        self.spec = spec
        self.schedule = schedule
        self.seed = seed
        self.chain = chain
        self.trace = TraceBuffer(trace.name for trace in spec.traces)
        self.draws = DrawBuffer(spec.variables, schedule.left_out + schedule.thin - 1, schedule.thin)
        self._state: Any = None
        self._from: Checkpoint | None = None
        self.rng = chain_rng(seed, chain)
        self.sweep = 0
        self.cpu_seconds = 0.0
        self.converged = False
        self.saved: Checkpoint | None = None
        self.saved_at = time.monotonic()
        self.foreign = False
        """Whether the state is from a file, and has to be looked at before the first step."""
        self.broken = False
        """Whether the chain failed: state and generator are of no use, :meth:`rewind` comes before going on."""
        self.stateless = False
        """Whether it comes from a compact copy: what it kept can be looked at, but its state is not there to go on from."""

    @property
    def state(self) -> Any:
        """The state of the chain; None before its start. That of a checkpoint that nobody has read yet is read now."""
        if self._from is not None:
            self._state, self._from = copy_state(self._from.state), None
        return self._state

    @state.setter
    def state(self, state: Any) -> None:
        self._state, self._from = state, None

    @property
    def planned(self) -> int:
        """Sweeps this chain will have done at the end (an upper bound for variational models)."""
        return self.schedule.sweeps(self.spec.algorithm)

    @property
    def swept_out(self) -> bool:
        """Whether no sweep is left to do."""
        return self.converged or self.sweep >= self.planned

    @property
    def done(self) -> bool:
        """Whether nothing is left to do; a variational chain keeps its draw after the last sweep."""
        return self.swept_out and not self.broken and (self.spec.algorithm == "mcmc" or self.draws.count > 0)

    def keeps(self, sweep: int) -> bool:
        """Whether the state after sweep number ``sweep`` (from 1) is kept as a draw."""
        if self.spec.algorithm != "mcmc":
            return False  # kept once, at the end
        beyond = sweep - self.schedule.left_out
        return beyond > 0 and beyond % self.schedule.thin == 0

    def view(self, at: Checkpoint | None = None) -> ChainView:
        """A frozen view of all that was kept so far, or up to a checkpoint."""
        draws, trace = self.draws, self.trace
        n_draws = (
            draws.count if at is None else at.n_draws
        )  # draws first: their sweep is in the trace by then
        n_sweeps = trace.count if at is None else at.sweep
        sweeps = draws.first + np.arange(n_draws) * draws.every
        if self.spec.algorithm != "mcmc":
            sweeps = np.full(n_draws, max(n_sweeps - 1, 0))
        return ChainView(self.chain, n_draws, n_sweeps, sweeps, draws, trace)

    def lengthen(self, schedule: Schedule) -> None:
        """Plan more sweeps, leave out more of the first draws and thin the others; see ``Run.lengthen``.

        Only between two runs of the chain. The buffer is replaced, so that views made before stay as they are.
        """
        before = self.schedule
        skip, keep = (schedule.left_out - before.left_out) // before.thin, schedule.thin // before.thin
        self.schedule = schedule
        if (skip, keep) != (0, 1):
            self.draws = self.draws.thinned(skip, keep)
            if self.saved is not None:
                self.saved = replace(self.saved, n_draws=max(0, self.saved.n_draws - skip) // keep)

    def take_checkpoint(self) -> Checkpoint:
        """Copy state and generator; only the thread that runs the chain may call this, between two steps.

        Raises ``PluginError`` for a state that cannot be stored; the checkpoint before stays.
        """
        check_state(self.state)
        self.saved = Checkpoint(
            self.sweep,
            self.draws.count,
            copy_state(self.state),
            rng_state(self.rng),
            self.cpu_seconds,
            self.converged,
            self.foreign,
        )
        self.saved_at = time.monotonic()
        return self.saved

    def rest(self) -> None:
        """Leave the state to the last checkpoint, until somebody goes on: a chain that has ended holds it once."""
        self._state, self._from = None, self.saved

    @property
    def resting(self) -> bool:
        """Whether the last checkpoint is all that holds the state."""
        return self._from is not None

    def restore(self, checkpoint: Checkpoint) -> None:
        """Set state and generator to a checkpoint; the buffers must hold exactly its sweeps and draws."""
        if self.trace.count != checkpoint.sweep or self.draws.count != checkpoint.n_draws:
            raise ValueError(
                f"chain {self.chain + 1}: checkpoint after sweep {checkpoint.sweep} with {counted(checkpoint.n_draws, 'draw')} "
                f"does not fit {counted(self.trace.count, 'stored sweep')} and {counted(self.draws.count, 'draw')}"
            )
        self._state, self._from = None, checkpoint  # copied when somebody asks for it
        if checkpoint.at_hand:
            self.state = copy_state(checkpoint.state)
        self.rng = rng_from_state(checkpoint.rng)
        self.sweep = checkpoint.sweep
        self.cpu_seconds = checkpoint.cpu_seconds
        self.converged = checkpoint.converged
        self.foreign = checkpoint.foreign
        self.saved = checkpoint
        self.broken = False

    def rewind(self) -> None:
        """Go back to the last checkpoint (or the start); sweeps and draws after it are given up.

        The buffers are replaced, so that views made before stay as they are.
        """
        saved = self.saved
        self.trace = self.trace.head(0 if saved is None else saved.sweep)
        self.draws = self.draws.head(0 if saved is None else saved.n_draws)
        if saved is not None:
            self.restore(saved)
            return
        self.state, self.rng = None, chain_rng(self.seed, self.chain)
        self.sweep, self.cpu_seconds, self.converged, self.broken = 0, 0.0, False, False
        self.foreign = False
