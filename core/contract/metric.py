"""One number per run, by which the fits of a study are ranked."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from plaidwork.core.errors import SettingError

if TYPE_CHECKING:
    from plaidwork.core.contract.spec import ModelSpec
    from plaidwork.core.inference.run import Run

Goal = Literal["", "up", "down"]


@dataclass(frozen=True, slots=True)
class Metric:
    """One number per run, by which the fits of a study are ranked.

    A trace is taken at the kept draws of all chains, their ``mean`` or ``best`` value; of a variational model at the
    last sweep of each restart.

    Attributes
    ----------
    source : name of a trace or of a result with a single number, or a function of the run.
    title : what it is called where fits are compared; default the name of the source.
    goal : which is better; default that of the trace, else ``up``.
    over : ``mean`` or ``best`` over draws and restarts.
    doc : one phrase on what it measures.
    comparable_across : settings between whose values it may be compared; None means any. A bound that depends on
        a prior, say, ranks restarts and not priors: then ranking fits that differ in another setting is warned of.
    models : ids of the models that a metric of a plugin is for; ``"*"`` is any.
    """

    source: str | Callable[[Run], float]
    title: str = ""
    goal: Goal = ""
    over: Literal["mean", "best"] = "mean"
    doc: str = ""
    comparable_across: tuple[str, ...] | None = None
    models: tuple[str, ...] = ("*",)

    def __post_init__(self) -> None:
        if self.comparable_across is not None:
            object.__setattr__(self, "comparable_across", tuple(self.comparable_across))
        object.__setattr__(self, "models", tuple(self.models))

    @property
    def key(self) -> str:
        """Name of the source, or of the function: what stored numbers are found by."""
        return self.source if isinstance(self.source, str) else getattr(self.source, "__name__", "metric")

    @property
    def name(self) -> str:
        """The title, or the name of the source."""
        return self.title or self.key

    def with_goal_of(self, spec: ModelSpec) -> Metric:
        """The metric with its goal settled. Raises ``SettingError`` for a name that the model cannot have."""
        goal = self.goal
        if isinstance(self.source, str):
            trace = next((trace for trace in spec.traces if trace.name == self.source), None)
            if trace is None and not self.source.isidentifier() and not undeclared_metric(self.source).title:
                raise SettingError(f"{self.source!r} is not the name of a trace or result.")
            goal = goal or (trace.goal if trace is not None else "")
        return replace(self, goal=goal or "up")

    def of(self, run: Run) -> float:
        """The number of a run that has ended. Raises ``SettingError`` when the run has none of that name."""
        if not isinstance(self.source, str):
            return float(self.source(run))
        if any(trace.name == self.source for trace in run.spec.traces):
            return self._of_trace(run, self.source)
        singles = run.single_numbers
        if self.source in singles:
            return singles[self.source]
        known = [*(trace.name for trace in run.spec.traces), *singles]
        raise SettingError(
            f"{run.spec.title} has no trace and no single number called “{self.source}”.",
            f"Known: {', '.join(known) or 'none'}.",
        )

    def _of_trace(self, run: Run, name: str) -> float:
        kept = run.kept()
        if run.spec.algorithm == "mcmc":
            chains = [chain.kept_trace(name) for chain in kept.chains]
        else:
            chains = [chain.trace(name)[-1:] for chain in kept.chains]
        values = np.concatenate([*chains, np.empty(0)])
        if not len(values):
            return math.nan
        if self.over == "mean":
            return float(values.mean())
        known = values[~np.isnan(values)]
        if not len(known):
            return math.nan
        return float(known.min() if self.goal == "down" else known.max())

    def incomparable(self, varied: Iterable[str]) -> tuple[str, ...]:
        """Which of the settings that differ between fits it cannot be compared across."""
        if self.comparable_across is None:
            return ()
        return tuple(name for name in varied if name not in self.comparable_across)

    def to_json(self) -> dict[str, Any]:
        """JSON-ready; of a function only its name is kept."""
        return {
            "name": self.name,
            "key": self.key,
            "goal": self.goal,
            "over": self.over,
            "doc": self.doc,
            "comparable_across": None if self.comparable_across is None else list(self.comparable_across),
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Metric:
        """What :meth:`to_json` wrote."""
        name, across = str(record["name"]), record.get("comparable_across")
        key = str(record.get("key", name))
        return cls(
            key,
            name if name != key else "",
            record.get("goal", ""),
            record.get("over", "mean"),
            str(record.get("doc", "")),
            None if across is None else tuple(across),
        )


ELPD = (
    Metric(
        "elpd",
        "Expected log density",
        "up",
        doc="log density of all observations, in nats: of held-out cells, else of each observation left out (PSIS-LOO)",
    ),
    Metric("elpd_se", "SE of the log density", "down", doc="standard error of the expected log density"),
    Metric(
        "elpd_rough",
        "Rough log densities",
        "down",
        doc="share of the observations whose k-hat says that they cannot be left out by weights",
    ),
)
"""What the host measures of a fit whose model tells the density of single observations (``Model.log_likelihood``)."""


def undeclared_metric(key: str) -> Metric:
    """The metric of a number that nobody declared, its goal that of its trace; log densities of one view are called after it."""
    for one in ELPD[:2]:
        before, space, view = key.partition(" ")
        if (before, space) == (one.key, " ") and view:
            return Metric(key, f"{one.title}, {view}", one.goal, doc=f"{one.doc}; of {view} alone")
    return Metric(key)


def metrics_of(spec: ModelSpec, external: Iterable[Metric] = (), predicts: bool = False) -> list[Metric]:
    """All metrics of a model, their goals settled: its own, those that plugins bring, its objective, its other
    traces with a goal; where it ``predicts`` single observations also how well. The first is the one to rank by."""
    primary = spec.primary_trace
    traces = [trace for trace in spec.traces if trace is primary or trace.goal]
    traces.sort(key=lambda trace: trace is not primary)
    guests = [metric for metric in external if {"*", spec.id} & set(metric.models)]
    found: dict[str, Metric] = {}
    # what plugins bring for any model comes after what the model says of itself
    own = (*spec.metrics, *(Metric(trace.name, trace.label) for trace in traces))
    for metric in (*own, *(ELPD if predicts else ()), *guests):
        found.setdefault(metric.key, metric.with_goal_of(spec))
    return list(found.values())
