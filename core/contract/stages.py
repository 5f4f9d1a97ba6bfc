"""A sweep as a list of stages: the model says what they do, the host where the sweep stands, when it pauses and for how long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from plaidwork.core.errors import PluginError

if TYPE_CHECKING:
    from plaidwork.core.contract.model import Model
    from plaidwork.core.contract.model_data import ModelData, ParamsT, State, StateT
    from plaidwork.core.contract.schedule import Clock

POSITION = "sweep_position"
"""Entry of the state in which the host keeps where an unfinished sweep stands: a dict with ``stage`` and ``at``, and ``stream``, the number
that the generators of the slices begin with, in a stage whose slices have some."""

MOST_STREAM = 2**63
"""``stream`` is below it, so that a file holds it as a whole number of 64 bits."""

StageTimes = dict[str, float]
"""Processor seconds by stage name."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One part of a sweep: an update of some quantities, over units that can be cut into slices.

    Attributes
    ----------
    name : what is updated ("scores"); unique within a sweep, shown by checks and timings.
    work : called with ``lo, hi``; updates units lo..hi-1 of the state in place.
    size : number of units (samples, features, blocks), or a function that tells it after ``begin``; None when it is
        not known: then ``work(lo, lo + 1)`` is called until it returns True.
    slice : units of one call of ``work``, so that the call takes some 30 ms; more than ``size`` for what takes less,
        so that the host does the next stage in the same slice; 0 takes all units and counts as a slice. It must
        follow from the data and settings, never from time, or runs would not repeat. Where units differ in work: a
        function that tells where the slice that begins at ``lo`` ends (it may lie beyond ``size``).
    begin, end : called before the first unit and after the last.
    whole : whether ``Model.objective`` means something when the stage has ended.
    parallel : slices may be worked in any order, several at once on threads of their own: none writes what another reads or writes, none
        takes random numbers of the chain, and kernels release the interpreter lock. The slices are the same however many threads there
        are, and so are the numbers.
    streams : ``work`` is called with ``lo, hi, rng``: each slice has a generator of its own, which follows from one number that the
        chain draws after ``begin``, and from ``lo``. The stage is then ``parallel``: draws that are independent given all else are
        the same however many threads there are, and after a pause in the midst of the stage. Only for stages of known size.
    add : called with what ``work`` returned for each slice, in the order of the slices, in the thread of the chain and after
        the work of all slices that are worked at once: sums over units of a parallel stage are partial sums of its slices,
        added here. With one thread they are added slice by slice too, so that the sums are the same bit for bit. Only for
        stages of known size.
    """

    name: str
    work: Callable[..., Any]
    size: int | Callable[[], int] | None = 1
    slice: int | Callable[[int], int] = 0
    begin: Callable[[], None] | None = None
    end: Callable[[], None] | None = None
    whole: bool = True
    parallel: bool = False
    streams: bool = False
    add: Callable[[Any], None] | None = None

    def __post_init__(self) -> None:
        if self.streams:
            object.__setattr__(self, "parallel", True)


class Team(Protocol):
    """Threads that share the slices of one stage."""

    def size(self) -> int:
        """How many slices may be worked at once now."""
        ...

    def run(self, calls: Sequence[Callable[[], object]]) -> None:
        """Return when all have ended; raises what the first of them raised."""
        ...


class _Current(threading.local):
    team: Team | None = None


_current = _Current()


@contextmanager
def shared_with(team: Team | None) -> Iterator[None]:
    """Sweeps that this thread advances inside share their parallel stages with ``team``."""
    before, _current.team = _current.team, team
    try:
        yield
    finally:
        _current.team = before


def threads() -> int:
    """How many threads the chain of this thread has now: to choose the quicker of two ways to the same numbers, and for nothing else."""
    return 1 if _current.team is None else _current.team.size()


def share(work: Callable[[int, int], object], size: int, least: int = 1) -> None:
    """Call ``work(lo, hi)`` for parts of ``size`` units, as many at once as the chain of this thread has threads.

    For a loop within ``Stage.work`` between decisions that wait for one another (sums over the data before a draw). Where the parts are
    cut depends on the threads, so each unit is worked by itself: ``work`` writes nothing that another unit reads or writes and takes no
    random number, and its kernels release the interpreter lock. Then the numbers are the same bit for bit for any number of threads.

    Parameters
    ----------
    least : units of a part, from which on it is worth waking a thread (some 0.2 ms of work)
    """
    team, parts = _current.team, min(threads(), size // max(least, 1))
    if team is None or parts <= 1:
        work(0, size)
        return
    ends = [size * part // parts for part in range(parts + 1)]
    team.run([partial(work, lo, hi) for lo, hi in pairwise(ends)])


def part_rngs(rng: np.random.Generator) -> Callable[[int], np.random.Generator]:
    """Generators for parts of a loop of ``share`` that draw random numbers: draws one number of the chain's ``rng``, and returns the function that
    gives a part its own, by the number of its first unit. The parts must follow from data and settings, never from the threads."""
    return partial(slice_rng, int(rng.integers(MOST_STREAM)))


def advance(
    model: Model[StateT, ParamsT],
    state: StateT,
    data: ModelData,
    params: ParamsT,
    rng: np.random.Generator,
    clock: Clock,
    times: StageTimes | None = None,
) -> bool:
    """Go on with the sweep of ``state`` by one slice; whether the sweep has ended.

    A slice is as many calls of ``Stage.work`` as make up a full one. Raises ``PluginError`` for stages that contradict
    themselves.
    """
    spent = 0.0
    for share, _ in _pieces(model, state, data, params, rng, clock, times):
        spent += share
        if POSITION in state and spent >= 1.0:
            return False
    return True


def passes(
    model: Model[StateT, ParamsT],
    state: StateT,
    data: ModelData,
    params: ParamsT,
    rng: np.random.Generator,
    clock: Clock,
) -> Iterator[Stage]:
    """One whole sweep; yields every stage after it has ended, the state as the stage left it."""
    for _, ended in _pieces(model, state, data, params, rng, clock, None):
        if ended is not None:
            yield ended


def _pieces(
    model: Model[StateT, ParamsT],
    fields: StateT,
    data: ModelData,
    params: ParamsT,
    rng: np.random.Generator,
    clock: Clock,
    times: StageTimes | None,
) -> Iterator[tuple[float, Stage | None]]:
    """Calls of ``work`` until the sweep ends: (share of a slice that is spent, the stage when it has ended)."""
    state = cast("State", fields)  # the host's own entry is among them
    while True:
        stages = model.stages(fields, data, params, rng, clock)
        position = _position(model, stages, state)
        stage, ended = stages[position], False
        while not ended:
            started = time.thread_time()
            spent, ended = _call(stage, state, rng)
            if times is not None:
                times[stage.name] = times.get(stage.name, 0.0) + time.thread_time() - started
            if not ended:
                yield spent, None
        last = position + 1 == len(stages)
        if last:
            del state[POSITION]
        else:
            state[POSITION] = {"stage": stages[position + 1].name, "at": 0}
        yield spent, stage
        if last:
            return


def _position(model: Model[StateT, ParamsT], stages: Sequence[Stage], state: State) -> int:
    """Index of the stage that the sweep stands in; a new sweep begins with the first."""
    names = [stage.name for stage in stages]
    if not names or len(set(names)) != len(names):
        raise PluginError(f"its stages are named {names}; names are unique, one at least", hook="stages")
    if POSITION not in state:
        state[POSITION] = {"stage": names[0], "at": 0}
    name = state[POSITION]["stage"]
    if name not in names:
        raise PluginError(
            f"the sweep stands in “{name}”, which is not among {names}",
            "The stages of a sweep stay the same until it ends, but for those that are over.",
            hook="stages",
        )
    return names.index(name)


def _call(stage: Stage, state: State, rng: np.random.Generator) -> tuple[float, bool]:
    """One call of ``work`` where the sweep stands: share of a slice, and whether the stage has ended."""
    lo = int(state[POSITION]["at"])
    if lo == 0 and stage.begin is not None:
        stage.begin()
    size = stage.size() if callable(stage.size) else stage.size
    if stage.streams:
        if size is None:
            raise PluginError(
                f"its stage “{stage.name}” has slices with generators of their own, but no size",
                hook="stages",
            )
        if "stream" not in state[POSITION]:
            state[POSITION]["stream"] = int(rng.integers(MOST_STREAM))
    if size is None:
        hi, over = lo + 1, bool(stage.work(lo, lo + 1))
    else:
        hi = _work_slices(stage, lo, size, state[POSITION].get("stream", 0))
        over = hi >= size
    first = min(hi, _slice_end(stage, lo, hi))  # slices worked at once take as long as one
    state[POSITION]["at"] = hi
    if over and stage.end is not None:
        stage.end()
    return ((first - lo) / stage.slice if stage.slice and not callable(stage.slice) else 1.0), over


def slice_rng(stream: int, lo: int) -> np.random.Generator:
    """The generator of the slice that begins at unit ``lo`` of a stage that drew the number ``stream``: of the kind of the chain's own, its
    seed hashed from both (``numpy.random.SeedSequence``), so that streams of any two slices are independent."""
    return np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence((stream, lo))))


def _work_slices(stage: Stage, lo: int, size: int, stream: int) -> int:
    """Work the slice that begins at ``lo``, or as many as the team takes at once; returns where the last one ends."""
    slices = [(lo, min(size, _slice_end(stage, lo, size)))]
    team = _current.team if stage.parallel else None
    while team is not None and slices[-1][1] < size and len(slices) < team.size():
        lo = slices[-1][1]
        slices.append((lo, min(size, _slice_end(stage, lo, size))))
    parts: list[Any] = [None] * len(slices)

    def work(number: int) -> None:
        lo, hi = slices[number]
        if lo < hi:
            own = (slice_rng(stream, lo),) if stage.streams else ()
            parts[number] = stage.work(lo, hi, *own)

    if team is None or len(slices) == 1:
        work(0)
    else:
        team.run([partial(work, number) for number in range(len(slices))])
    if stage.add is not None:
        for (lo, hi), part in zip(slices, parts, strict=True):
            if lo < hi:
                stage.add(part)
    return slices[-1][1]


def _slice_end(stage: Stage, lo: int, size: int) -> int:
    """Where the slice that begins at ``lo`` ends, before it is cut at the end of the stage."""
    if callable(stage.slice):
        return stage.slice(lo)
    return lo + stage.slice if stage.slice else size
