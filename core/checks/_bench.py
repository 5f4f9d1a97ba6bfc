"""A model on the bench: its data, plans and short runs, shared by all checks of it."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from plaidwork.core.checks import _data
from plaidwork.core.checks._check import CheckFailed, CheckSkipped, blame, fail
from plaidwork.core.contract.model import Model
from plaidwork.core.contract.model_data import ModelData, Params, State
from plaidwork.core.contract.schedule import Clock, Schedule
from plaidwork.core.contract.spec import ModelSpec
from plaidwork.core.contract.trial import Trial
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.draws.chain import ChainRecord
from plaidwork.core.draws.counting import counted
from plaidwork.core.draws.draws import DrawBuffer, Kept
from plaidwork.core.errors import PlaidworkError
from plaidwork.core.inference.engine import run_chain
from plaidwork.core.inference.events import Swept
from plaidwork.core.inference.plan import FitPlan, make_plan, model_data
from plaidwork.core.inference.run import Run

SHORT = Schedule(chains=2, warmup=3, draws=5, thin=1, max_sweeps=8, tolerance=0.0)
MOST_SLICES = 100_000


class Bench:
    """One model, the level and seed of its checks, and what several checks use."""

    def __init__(self, model: Model, level: str, seed: int) -> None:
        self.model = model
        self.level = level
        self.seed = seed

    @property
    def spec(self) -> ModelSpec:
        return self.model.spec

    @property
    def name(self) -> str:
        return self.spec.id

    @property
    def full(self) -> bool:
        return self.level == "full"

    @cached_property
    def roots(self) -> tuple[Path, ...]:
        """Files and folders of the plugin, by which its frames are known."""
        import plaidwork.core

        host = Path(plaidwork.core.__file__).resolve().parent
        found: list[Path] = []
        for cls in type(self.model).__mro__:
            try:
                file = Path(inspect.getfile(cls))
            except (TypeError, OSError):
                continue
            if cls.__module__.startswith("plaidwork.core.") or host in file.resolve().parents:
                continue
            package = getattr(inspect.getmodule(cls), "__package__", "")
            found.append(file.parent if package else file)
        return tuple(found)

    def offers(self, method: str) -> bool:
        return type(self.model).offers(method)

    def need(self, *methods: str) -> None:
        """Skip unless the model overrides these optional methods."""
        for method in methods:
            if not self.offers(method):
                raise CheckSkipped(f"the model has no {method}()")

    # -- data and plans --------------------------------------------------------------------------

    @cached_property
    def sample(self) -> _data.Datasets:
        """Regular data: what the model simulates, when it does; else made by the declaration."""
        if not self.offers("simulate"):
            return _data.generic(self.spec, self.seed)
        return self.datasets(self.simulated())

    @cached_property
    def named(self) -> bool:
        """Whether what the model simulates comes with names, which no declaration tells."""
        return self.offers("simulate") and any(isinstance(one, Dataset) for one in self.simulated().values())

    def simulated(self, **sizes: int) -> Mapping[str, Any]:
        """Values by input that the model simulates at the settings of its first trial."""
        trial = self.model.trials[0]
        lengths = _data.sizes(self.spec, **sizes)
        shapes: dict[str, Any] = {}
        for item in _data.wanted_inputs(self.spec):
            shape = _data.shape_of(item, lengths)
            shapes[item.name] = (shape, shape) if item.many else shape
        with blame(self, "simulate()"):
            params = self.spec.check_params(trial.params)
            values, _state = self.model.simulate(params, shapes, self.rng("sample"))
        return values

    @cached_property
    def plan(self) -> FitPlan:
        """The sample with default settings."""
        return self.make(self.sample)

    def datasets(self, arrays: Mapping[str, Any], gaps: Mapping[str, Any] | None = None) -> _data.Datasets:
        """Simulated values by input as datasets, with the cells of ``gaps`` missing."""
        found: _data.Datasets = {}
        for name, array in arrays.items():
            item = self.spec.input(name)
            parts = list(array) if item.many else [array]
            if gaps and name in gaps:
                parts = [_data.hole(item, a, gap) for a, gap in zip(parts, gaps[name], strict=True)]
            found[name] = [_data.dataset(item, part, number) for number, part in enumerate(parts)]
        return found

    def data(self, datasets: _data.Datasets) -> ModelData:
        """What a model gets of the datasets, without a plan."""
        return model_data(self.spec, {name: tuple(parts) for name, parts in datasets.items()}, 0, 0.0)

    def make(
        self,
        datasets: _data.Datasets,
        params: Mapping[str, Any] | None = None,
        schedule: Schedule = SHORT,
        seed: int | None = None,
        refusal: bool = False,
        holdout: float = 0.0,
    ) -> FitPlan:
        with blame(self, "validate()", refusal):
            return make_plan(
                self.model,
                datasets,
                params,
                schedule=schedule,
                seed=self.seed if seed is None else seed,
                holdout=holdout,
            )

    def rng(self, word: str, *numbers: int) -> np.random.Generator:
        """A generator of its own for every use."""
        key = [self.seed, *word.encode(), *numbers]
        return np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence(key)))

    # -- runs ------------------------------------------------------------------------------------

    def chain(self, plan: FitPlan, chain: int = 0, refusal: bool = False) -> ChainRecord:
        """A chain run to its end."""
        record = ChainRecord(plan.spec, plan.schedule, plan.seed, chain)
        for _ in self.events(plan, record, refusal):
            pass
        return record

    def events(self, plan: FitPlan, record: ChainRecord, refusal: bool = False) -> Iterator[Any]:
        """The engine's events; errors of the model become failures."""
        engine = run_chain(plan, record)
        slices = 0
        while True:
            with blame(self, "fit", refusal):
                event = next(engine, None)
            if event is None:
                return
            slices = 0 if isinstance(event, Swept) else slices + 1
            if slices > MOST_SLICES:
                raise fail(
                    self, "step()", f"a sweep was not finished after {MOST_SLICES} calls.",
                    "step() returns None only while the sweep is unfinished.",
                )  # fmt: skip
            yield event

    def run(self, plan: FitPlan, refusal: bool = False) -> Run:
        """A run with all chains done one after the other; nothing summarised."""
        run = Run.from_plan(plan)
        for record in run.chains:
            for _ in self.events(plan, record, refusal):
                pass
        return run

    @cached_property
    def done(self) -> Run:
        """A short run on the sample with default settings; not to be changed."""
        return self.run(self.plan)

    def summarise(self, plan: FitPlan, kept: Kept, refusal: bool = False) -> dict[str, Any]:
        with blame(self, "summarise()", refusal):
            found = self.model.summarise(kept, plan.data, plan.params)
        if not isinstance(found, Mapping):
            raise fail(self, "summarise()", f"returned {type(found).__name__}.", "Return results by name.")
        return dict(found)

    @cached_property
    def results(self) -> dict[str, Any]:
        return self.summarise(self.plan, self.done.kept())

    def sweep(
        self, state: State, data: ModelData, params: Params, rng: np.random.Generator, clock: Clock
    ) -> Mapping[str, float]:
        """One whole sweep, however it is cut, outside the engine."""
        for _ in range(MOST_SLICES):
            traces = self.model.step(state, data, params, rng, clock)
            if traces is not None:
                return traces
        raise fail(self, "step()", f"a sweep was not finished after {MOST_SLICES} calls.")

    @cached_property
    def big(self) -> FitPlan:
        """Larger data, at which a sweep takes a tenth of a second or more, or two million cells are reached."""
        from time import perf_counter

        plan, rows, columns = self.plan, 200, 100
        self.prepare()
        while rows * columns <= 2_000_000:
            plan = self.sized(rows, columns)
            record = ChainRecord(plan.spec, plan.schedule, plan.seed, 0)
            started = perf_counter()
            for event in self.events(plan, record):
                if isinstance(event, Swept) or perf_counter() - started > 3:
                    break
            if perf_counter() - started > 0.3:
                break
            rows, columns = rows * 2, columns * 2
        return plan

    def sized(self, rows: int, columns: int) -> FitPlan:
        """Regular data of a size without gaps, default settings; simulated where names matter."""
        if self.named:
            return self.make(self.datasets(self.simulated(rows=rows, columns=columns)))
        return self.make(_data.generic(self.spec, self.seed, missing=0.0, rows=rows, columns=columns))

    def prepare(self) -> None:
        with blame(self, "prepare()"):
            self.model.prepare()

    # -- trials ----------------------------------------------------------------------------------

    def trial(self, trial: Trial) -> TrialBench:
        return TrialBench(self, trial)


class TrialBench:
    """A trial with canonical settings, shapes, gaps and draws from the prior."""

    def __init__(self, bench: Bench, trial: Trial) -> None:
        self.bench = bench
        self.trial = trial
        try:
            self.params = bench.spec.check_params(trial.params)
            for name in trial.shapes:
                bench.spec.input(name)
        except PlaidworkError as error:
            raise CheckFailed(f"{bench.name}, trials: “{trial.name}”: {error}") from error
        lengths = _data.sizes(bench.spec, rows=6, columns=4)
        self.shapes: dict[str, Any] = {}
        for item in _data.wanted_inputs(bench.spec):
            shape = _data.shape_of(item, lengths)
            self.shapes[item.name] = (shape, shape) if item.many else shape
        self.shapes.update(trial.shapes)
        self.gaps = self._gaps()

    def _gaps(self) -> dict[str, list[np.ndarray]]:
        rng, gaps = self.bench.rng("gaps"), {}
        for name, shape in self.shapes.items():
            item = self.bench.spec.input(name)
            if item.missing and self.trial.missing:
                parts = shape if item.many else (shape,)
                gaps[name] = [rng.random(part) < self.trial.missing for part in parts]
        return gaps

    def data(self, values: Mapping[str, Any]) -> ModelData:
        """The values with the trial's gaps, as the model gets them."""
        return self.bench.data(self.bench.datasets(values, self.gaps))

    def prior(self, rng: np.random.Generator) -> tuple[ModelData, State]:
        """Data and state from the prior."""
        model = self.bench.model
        values, state = model.simulate(self.params, self.shapes, rng)
        data = self.data(values)
        return data, model.refresh(state, data, self.params)

    def again(self, state: State, rng: np.random.Generator) -> tuple[ModelData, State]:
        """Data drawn anew given the state."""
        model = self.bench.model
        data = self.data(model.simulate_data(state, self.params, self.shapes, rng))
        return data, model.refresh(state, data, self.params)


def trials(bench: Bench) -> list[tuple[str, Trial]]:
    """The cases of the checks against the prior."""
    return [(trial.name, trial) for trial in bench.model.trials]


def same_arrays(one: Any, other: Any) -> bool:
    """Equal bit for bit, NaN included."""
    one, other = np.asarray(one), np.asarray(other)
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


def same_states(one: Any, other: Any) -> bool:
    """Equal bit for bit, through dicts and lists."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same_states(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same_states, one, other))
    return same_arrays(one, other)


def first_difference(spec: ModelSpec, one: ChainRecord, other: ChainRecord) -> str:
    """Where two chains differ first: sweep and trace, or draw and variable; empty when nowhere."""
    old, new = one.trace.rows(), other.trace.rows()
    if len(old) != len(new):
        return f"{counted(len(old), 'sweep')} against {len(new)}"
    unequal = ~((old == new) | (np.isnan(old) & np.isnan(new)))
    if unequal.any():
        sweep, column = (int(i) for i in np.argwhere(unequal)[0])
        return (
            f"trace “{one.trace.names[column]}” at sweep {sweep + 1}: {float(old[sweep, column])!r} against "
            f"{float(new[sweep, column])!r}"
        )
    if one.draws.count != other.draws.count:
        return f"{counted(one.draws.count, 'draw')} against {other.draws.count}"
    for draw in range(one.draws.count):
        for variable in spec.variables:
            if not same_arrays(one.draws.get(variable.name, draw), other.draws.get(variable.name, draw)):
                return f"variable “{variable.name}” at draw {draw + 1}"
    return ""


def result_difference(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Name of the first result that differs; empty when none does."""
    for name in sorted({*one, *other}):
        if name not in one or name not in other or not _same_result(one[name], other[name]):
            return name
    return ""


def _same_result(one: Any, other: Any) -> bool:
    if hasattr(one, "columns") and hasattr(other, "columns"):
        return list(one.columns) == list(other.columns) and all(
            _same_column(one.columns[title], other.columns[title]) for title in one.columns
        )
    if hasattr(one, "values") and hasattr(other, "values"):
        return _same_column(one.values, other.values)
    return bool(one == other)


def _same_column(one: np.ndarray, other: np.ndarray) -> bool:
    if one.dtype.kind in "OU" or other.dtype.kind in "OU":
        return one.shape == other.shape and json.dumps(one.tolist(), default=str) == json.dumps(
            other.tolist(), default=str
        )
    return same_arrays(one, other)


def buffer_of(spec: ModelSpec, draws: Sequence[Mapping[str, Any]]) -> DrawBuffer:
    """The draws as the host keeps them. Raises ``PluginError``."""
    buffer = DrawBuffer(spec.variables)
    for one in draws:
        buffer.append(one)
    return buffer
