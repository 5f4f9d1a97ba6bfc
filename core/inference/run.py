"""A run: a frozen plan, its chains, what they kept and what was concluded."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from plaidwork.core import providers
from plaidwork.core.contract.model import Results, single_numbers
from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.contract.spec import ModelSpec
from plaidwork.core.draws.chain import ChainRecord
from plaidwork.core.draws.counting import counted
from plaidwork.core.draws.draws import Kept
from plaidwork.core.errors import SettingError
from plaidwork.core.inference.plan import FitPlan
from plaidwork.core.inference.settling import first, sweeps_needed

if TYPE_CHECKING:
    from plaidwork.core.draws.diagnostics import Diagnosis
    from plaidwork.core.draws.solutions import Solution
    from plaidwork.core.findings.analysis import AnalysisRecord
    from plaidwork.core.findings.predictive import Score
    from plaidwork.core.session.session import Session

STATUSES = ("ready", "running", "paused", "stopped", "done", "failed")


CHANGING = threading.Lock()
"""Held while the schedule of a run and its draws change together, and by who needs both."""


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of a run's log: UTC time in ISO form, level (info, warning, error), text."""

    time: str
    level: str
    text: str


def now() -> str:
    """The current UTC time in ISO form, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def is_moment(text: str) -> bool:
    """Whether a text is a time, as :func:`now` gives it, that can be told in the time of this place."""
    try:
        datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError, OSError):
        return False
    return True


@dataclass
class Run:
    """A fit and all that belongs to it.

    ``inputs`` maps each input of the model to the names of the session's datasets. What decides the numbers
    (params, schedule, seed, holdout, data_hash) does not change once the run has started; only ``extend`` adds
    draws at the end, and a run that goes on until it has settled says in ``schedule`` how many draws that took by now:
    a fixed schedule that gives the same draws; ``goal`` is then the schedule that was asked for. ``item_names`` and ``item_notes``
    are the user's names of what was found and notes on it (Markdown, as ``notes``), by dim of the model and number (from 0, as
    text): see :func:`plaidwork.core.findings.naming.name_item` and :mod:`plaidwork.core.findings.notes`. ``session`` is the
    one that the run belongs to.
    """

    id: str
    title: str
    spec: ModelSpec
    params: Mapping[str, Any]
    schedule: Schedule
    seed: int
    holdout: float
    inputs: Mapping[str, tuple[str, ...]]
    data_hash: str
    chains: list[ChainRecord]
    goal: Schedule | None = None
    status: str = "ready"
    results: Results = field(default_factory=dict)
    results_draws: int = 0
    log: list[LogLine] = field(default_factory=list)
    created: str = field(default_factory=now)
    notes: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    view_settings: dict[str, Any] = field(default_factory=dict)
    item_names: dict[str, dict[str, str]] = field(default_factory=dict)
    item_notes: dict[str, dict[str, str]] = field(default_factory=dict)
    analyses: list[AnalysisRecord] = field(default_factory=list)
    session: Session | None = field(default=None, init=False, repr=False, compare=False)
    foreign: bool = field(default=False, repr=False, compare=False)
    """Whether it is from a file, and nobody has looked yet whether its draws fit: see ``fitting_draws``."""
    stored_results: Results | None = field(default=None, init=False, repr=False, compare=False)
    """The results as a file had them, for as long as no others have taken their place."""
    _judged: tuple[object, Diagnosis] | None = field(default=None, init=False, repr=False, compare=False)
    _parts: dict[object, Run] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __repr__(self) -> str:
        draws = counted(self.n_draws, "draw")
        return f"Run({self.title!r}: {self.spec.title}, {self.status}, {draws})"

    @classmethod
    def from_plan(cls, plan: FitPlan, title: str = "", run_id: str = "") -> Run:
        """A run that has not started; dataset names are taken from the plan."""
        goal = plan.schedule if plan.schedule.budget and plan.spec.algorithm == "mcmc" else None
        schedule = replace(plan.schedule, budget=0.0) if goal is None else first(goal)
        records = [ChainRecord(plan.spec, schedule, plan.seed, chain) for chain in range(schedule.chains)]
        run = cls(
            id=run_id or uuid.uuid4().hex[:12],
            title=title or plan.spec.title,
            spec=plan.spec,
            params=dict(plan.params),
            schedule=schedule,
            goal=goal,
            seed=plan.seed,
            holdout=plan.holdout,
            inputs={name: tuple(d.name for d in datasets) for name, datasets in plan.inputs.items()},
            data_hash=plan.data_hash,
            chains=records,
        )
        for line in filter(None, (one.line for one in plan.placed)):
            run.say(line)
        return run

    @property
    def stateless(self) -> bool:
        """Whether it is of a compact copy: what it kept can be looked at, but it cannot go on."""
        return any(record.stateless for record in self.chains)

    @property
    def active(self) -> bool:
        """Whether its chains are under way (running or paused)."""
        return self.status in ("running", "paused")

    @property
    def cpu_seconds(self) -> float:
        """CPU time of all chains."""
        return sum(record.cpu_seconds for record in self.chains)

    @property
    def n_draws(self) -> int:
        """Kept draws of all chains."""
        return sum(record.draws.count for record in self.chains)

    @property
    def sweeps_done(self) -> int:
        return sum(record.sweep for record in self.chains)

    @property
    def sweeps_planned(self) -> int:
        """Sweeps of all chains at the end; of a run with a goal at the end that its draws so far make likely."""
        planned = sum(record.sweep if record.done else record.planned for record in self.chains)
        if self.goal is None or not self.active:
            return planned
        asked = replace(self.goal, warmup=self.schedule.warmup)  # which may be shorter than it was asked for
        planned = max(planned, asked.sweeps(self.spec.algorithm) * len(self.chains))
        if self._judged is None:
            return planned
        needed = sweeps_needed(self.schedule, self.goal, self._judged[1])
        return max(planned, (needed or 0) * len(self.chains))

    @property
    def last_diagnosis(self) -> Diagnosis | None:
        """The latest :meth:`diagnosis` that anybody asked for, maybe of fewer draws; never waits."""
        return None if self._judged is None else self._judged[1]

    @property
    def chain_word(self) -> str:
        """What its chains are called: ``chain`` for a sampler, ``restart`` for the others."""
        return "chain" if self.spec.algorithm == "mcmc" else "restart"

    @property
    def resumable(self) -> bool:
        """Whether there is something left to do and a state to do it from (given the model is installed)."""
        between_looks = self.goal is not None and self.status == "stopped"
        return (
            not self.active
            and not self.stateless
            and (between_looks or any(not record.done for record in self.chains))
        )

    def kept(self, saved_only: bool = False) -> Kept:
        """A frozen view of what all chains kept; with ``saved_only`` up to the last checkpoint of each.

        Chains that kept nothing yet are left out.
        """
        views = []
        with CHANGING:
            for record in self.chains:
                saved = record.saved
                if not saved_only or saved is not None:
                    views.append(record.view(saved if saved_only else None))
        return Kept(self.spec, [view for view in views if view.n_draws], self.active)

    def diagnosis(self) -> Diagnosis:
        """The diagnostics with the verdict on what was kept so far: the one that all that is shown of the run repeats.

        Judged once for the same draws; takes some 2 ms per quantity, so a window asks in the background. A text result
        called ``doubt`` (what the model itself holds against its draws) is part of it, and so is ``still_holds`` (what can be used
        though chains do not agree). Where the chains of a run that has ended do not agree it tells their solutions and weighs
        them, which may take some seconds.
        """
        from plaidwork.core.draws.diagnostics import diagnose
        from plaidwork.core.draws.solution_texts import with_solutions, with_what_holds

        doubt, holds = (self.results.get(name, "") for name in ("doubt", "still_holds"))
        said = tuple(text if isinstance(text, str) else "" for text in (doubt, holds))
        done = tuple((record.draws.count, record.trace.count, record.converged) for record in self.chains)
        at_home = self.session is not None  # where its data are, by which solutions are weighed
        key = (done, self.active, said, at_home, self.schedule)
        found = self._judged
        if found is None or found[0] != key:
            ended = not self.active or all(record.done for record in self.chains)
            judges = ended and self.spec.algorithm != "mcmc"
            unfinished = {r.chain for r in self.chains if not r.converged} if judges else None
            judged = diagnose(self.kept(), unfinished=unfinished, doubt=said[0], schedule=self.schedule)
            judged = with_solutions(
                judged, lambda groups: providers.weigh_solutions(self, groups), self.schedule
            )
            found = key, with_what_holds(judged, said[1])
            self._judged = found
        return found[1]

    def solutions(self) -> tuple[Solution, ...]:
        """Groups of chains that found the same, heaviest first, with weights by how well they predict; empty when the
        chains agree. See :class:`plaidwork.core.draws.solutions.Solution`."""
        return self.diagnosis().solutions

    def solution(self, number: int) -> Run:
        """A run with the chains of one solution alone (counted from 1), and its results, which are made once.

        Raises ``SettingError`` when there are not as many, and what making results raises.
        """
        found = self.solutions()
        if not 1 <= number <= len(found):
            raise SettingError(f"{self.title} has {counted(len(found), 'solution')}. Found “{number}”.")
        return self.part(found[number - 1].chains)

    def part(self, chains: Sequence[int]) -> Run:
        """A run with these chains alone (numbers, from 0), and its results, which are made once."""
        key = tuple((record.chain, record.draws.count) for record in self.chains if record.chain in chains)
        part = self._parts.setdefault(key, self.of_chains(chains))
        providers.summarise_run(part)
        return part

    def score(self) -> Score | None:
        """Log densities of held-out cells, else of each observation left out (PSIS-LOO): ``.sum()`` is the expected log
        density of all with its standard error. None where the model does not tell densities.

        Of chains that found several solutions it is their mixture, of restarts the best. Takes some seconds.
        """
        return providers.score_run(self)

    def of_chains(self, chains: Sequence[int]) -> Run:
        """This run with only these chains (numbers, from 0), without results, names and analyses; draws are shared."""
        part = replace(
            self,
            chains=[record for record in self.chains if record.chain in chains],
            results={},
            results_draws=0,
            analyses=[],
            item_names={},
            item_notes={},
        )
        part.session = self.session
        return part

    @property
    def has_stored_results(self) -> bool:
        """Whether its results are those of a file: anybody may have written them."""
        return self.results is self.stored_results

    @property
    def draws(self) -> DrawsByName:
        """Kept draws by variable name as (chain, draw, ...) arrays; ragged ones are padded."""
        return DrawsByName(self.kept())

    @property
    def single_numbers(self) -> dict[str, float]:
        """Results that are one number, by name."""
        return single_numbers(self.results)

    @property
    def traces(self) -> dict[str, list[np.ndarray]]:
        """All sweeps of every trace, by name, one array per chain."""
        snapshots = [record.trace.snapshot() for record in self.chains]
        return {trace.name: [snapshot[trace.name] for snapshot in snapshots] for trace in self.spec.traces}

    def begins_in(self, environment: dict[str, str]) -> None:
        """Note versions and machine. Those of the first sweeps stay, and a run that goes on elsewhere says so in its log."""
        if not self.environment or self.sweeps_done == 0:
            self.environment = environment
            return
        before = self.environment
        changes = [
            f"{name} {value}, before {before[name]}"
            for name, value in environment.items()
            if before.get(name, value) != value
        ]
        if changes:
            self.say(f"Goes on with {'; '.join(changes)}.")

    def extend(self, draws: int) -> None:
        """Plan ``draws`` more draws per chain (samplers). Raises ``SettingError`` when that is too many."""
        self.lengthen(self.schedule.with_(draws=self.schedule.draws + draws))
        self.goal = None

    def go_on(self, budget: float) -> None:
        """Plan to go on until it has settled, for about ``budget`` seconds at most (samplers). Raises ``SettingError``."""
        if self.spec.algorithm != "mcmc":
            raise SettingError(f"{self.title} ends by itself, and takes no budget of time.")
        self.goal = (self.goal or self.schedule).with_(budget=budget)

    def lengthen(self, schedule: Schedule) -> None:
        """Plan the sweeps of another schedule; draws that it leaves out or thins away are let go.

        Only while no chain is running. ``schedule`` leaves out and keeps a multiple of what the present one does.
        """
        with CHANGING:
            self.schedule = schedule
            for record in self.chains:
                record.lengthen(schedule)

    def restart(self, schedule: Schedule) -> None:
        """Plan more restarts, as many as ``schedule`` has in all. Only while no chain is running."""
        with CHANGING:
            self.schedule = schedule
            added = range(len(self.chains), schedule.chains)
            self.chains += [ChainRecord(self.spec, schedule, self.seed, chain) for chain in added]

    def begin_again(self, schedule: Schedule) -> None:
        """Give up all sweeps, and plan those of another schedule. Only while no chain is running."""
        with CHANGING:
            self.schedule = schedule
            fresh = [ChainRecord(self.spec, schedule, self.seed, record.chain) for record in self.chains]
            for record, before in zip(fresh, self.chains, strict=True):
                record.cpu_seconds = before.cpu_seconds
            self.chains = fresh

    def say(self, text: str, level: str = "info") -> LogLine:
        """Add a line to the log."""
        line = LogLine(now(), level, text)
        self.log.append(line)
        return line

    def save(self, path: Any) -> None:
        """Write a session with this run alone (with the data it was fitted to)."""
        if self.session is None:
            raise ValueError("this run belongs to no session; call session.save(path)")
        self.session.save(path)


class DrawsByName:
    """Lookup of draws by variable name: ``run.draws["theta"]``."""

    def __init__(self, kept: Kept) -> None:
        self._kept = kept

    def __getitem__(self, name: str) -> np.ndarray:
        return self._kept.stack(name)

    def __iter__(self) -> Any:
        return (variable.name for variable in self._kept.spec.variables)


class Pace:
    """Sweeps per second and time left, from the sweeps of the last few seconds."""

    def __init__(self, window: float = 8.0) -> None:
        self._window = window
        self._points: list[tuple[float, int]] = []
        self._lock = threading.Lock()

    def add(self, sweeps: int, at: float | None = None) -> None:
        """Note how many sweeps are done by now."""
        moment = time.monotonic() if at is None else at
        with self._lock:
            if self._points and sweeps < self._points[-1][1]:
                self._points.clear()  # the chains have begun again
            self._points.append((moment, sweeps))
            while len(self._points) > 2 and moment - self._points[0][0] > self._window:
                self._points.pop(0)

    def per_second(self) -> float:
        """Sweeps per second; 0 until known."""
        with self._lock:
            if len(self._points) < 2:
                return 0.0
            (start, first), (end, last) = self._points[0], self._points[-1]
        return (last - first) / (end - start) if end > start else 0.0

    def seconds_left(self, done: int, planned: int) -> float | None:
        """Seconds until ``planned`` sweeps are done; None until known."""
        pace = self.per_second()
        return (planned - done) / pace if pace > 0 else None
