"""One fit of a study: what differs from the others, and how it went."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.typed import fitting
from plaidwork.core.findings.predictive import Score
from plaidwork.core.inference.run import Run

Status = Literal["waiting", "running", "done", "stopped", "failed"]
_TO_DO = ("waiting", "running", "stopped")


@dataclass
class StudyJob:
    """One fit of a study: what differs from the others, and how it went.

    ``metric`` is the number it is ranked by, ``metrics`` has all its numbers by the key of the metric, ``verdict`` the
    word of the verdict on its draws (empty before there is one), ``settled`` whether they can be trusted.
    """

    number: int
    params: Mapping[str, Any]
    seed: int
    status: Status = "waiting"
    metric: float = math.nan
    seconds: float = 0.0
    message: str = ""
    run_id: str = ""
    metrics: dict[str, float] = field(default_factory=dict)
    sweeps: int = 0
    verdict: str = ""
    settled: bool = True
    reached: dict[str, int] = field(default_factory=dict)
    """How long its chains went on until they had settled, in words of the schedule; empty for a fixed number of draws."""
    score: Score | None = field(default=None, repr=False, compare=False)
    """How well it predicts observation by observation; not stored, None where it is not known."""
    run: Run | None = field(default=None, repr=False, compare=False)
    """The run with its draws, unless it was not among those to keep."""

    @property
    def ended(self) -> bool:
        return self.status in ("done", "stopped", "failed")

    def clear(self) -> None:
        """As before it was run; a run that was stopped is kept, to go on with to the same draws."""
        if self.run is None or self.run.status != "stopped" or self.run.session is not None:
            self.run, self.run_id, self.seconds = None, "", 0.0
        self.status, self.metric, self.message = "waiting", math.nan, ""
        self.metrics, self.sweeps = {}, 0
        self.verdict, self.settled, self.reached, self.score = "", True, {}, None

    def behind(self, other: StudyJob, block: int | None = None) -> tuple[float, float] | None:
        """By how much it predicts less than another (of a block, one of ``score.blocks``), and the standard error of that
        difference, in nats; None where that is not known, as for fits of other sessions of work and other held-out cells."""
        if self.score is None or other.score is None or not self.score.same_observations(other.score):
            return None
        return other.score.difference(self.score, block)

    @property
    def share(self) -> float:
        """How far it is, from 0 to 1."""
        if self.ended:
            return 1.0
        run = self.run
        return 0.0 if run is None else min(1.0, run.sweeps_done / max(1, run.sweeps_planned))

    @property
    def nbytes(self) -> int:
        """About how many bytes its run holds in memory; 0 when it was let go."""
        run = self.run
        if run is None:
            return 0
        total = 0
        for record in run.chains:
            total += record.trace.rows().nbytes + (0 if record.resting else nbytes_of(record.state))
            total += 0 if record.saved is None else nbytes_of(record.saved.state)
            total += record.draws.nbytes
        return total + sum(
            nbytes_of(result.values)
            for result in run.results.values()
            if isinstance(result, Result) and result.at_hand
        )

    def to_json(self) -> dict[str, Any]:
        """JSON-ready, without the run."""
        return {
            "number": self.number,
            "params": {name: list(v) if isinstance(v, tuple) else v for name, v in self.params.items()},
            "seed": self.seed,
            "status": self.status,
            "metric": _storable(self.metric),
            "metrics": {name: _storable(value) for name, value in dict(self.metrics).items()},
            "sweeps": self.sweeps,
            "verdict": self.verdict,
            "settled": self.settled,
            **({"reached": self.reached} if self.reached else {}),
            "seconds": round(self.seconds, 3),
            "message": self.message,
            "run": self.run_id,
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> StudyJob:
        """What :meth:`to_json` wrote; one that was under way waits again."""
        status = fitting(record["status"], Status, "status")
        params = {n: tuple(v) if isinstance(v, list) else v for n, v in record["params"].items()}
        return cls(
            int(record["number"]),
            params,
            int(record["seed"]),
            "waiting" if status == "running" else status,
            _number(record.get("metric")),
            float(record.get("seconds", 0.0)),
            str(record.get("message", "")),
            str(record.get("run", "")),
            {name: _number(value) for name, value in record.get("metrics", {}).items()},
            int(record.get("sweeps", 0)),
            str(record.get("verdict", "")),
            bool(record.get("settled", True)),
            {name: int(value) for name, value in record.get("reached", {}).items()},
        )

    @property
    def to_do(self) -> bool:
        """Whether going on with the study would run it."""
        return self.status in _TO_DO


def _storable(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def nbytes_of(thing: Any) -> int:
    """Bytes of all arrays in a state or a result."""
    if isinstance(thing, np.ndarray):
        return thing.nbytes
    if isinstance(thing, Mapping):
        return sum(nbytes_of(value) for value in thing.values())
    if isinstance(thing, (list, tuple)):
        return sum(nbytes_of(value) for value in thing)
    return 0
