"""The optional methods, where a model has them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from plaidwork.core.checks._bench import Bench, TrialBench, buffer_of, same_arrays, trials
from plaidwork.core.checks._check import blame, check, fail
from plaidwork.core.checks.results import check_results
from plaidwork.core.contract.model import Cost, Problem
from plaidwork.core.contract.trial import Trial
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.transforms import TRANSFORMS
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import ModelError
from plaidwork.core.findings.response import OPTION, checked_response


@check("validate returns problems")
def validates(bench: Bench) -> None:
    """``validate`` returns ``Problem`` objects whose ``where`` names an input or a setting; regular data have none."""
    with blame(bench, "validate()"):
        found = list(bench.model.validate(bench.plan.data, bench.plan.params))
    spec = bench.spec
    places = {"", *(item.name for item in spec.inputs), *(item.name for item in spec.hyperparameters)}
    for problem in found:
        if not isinstance(problem, Problem):
            raise fail(bench, "validate()", f"returned {type(problem).__name__}, not Problem.")
        if problem.where not in places or problem.severity not in ("error", "warning"):
            raise fail(
                bench, "validate()", f"“{problem.message}” is at “{problem.where}” ({problem.severity})."
            )
        if problem.transform:
            with blame(bench, f"transform of “{problem.message}”"):
                TRANSFORMS[problem.transform].check(problem.options)
        with blame(bench, f"validate(), settings of “{problem.message}”"):
            spec.check_params(problem.settings)


@check("estimate is finite")
def estimates(bench: Bench) -> None:
    """``estimate`` returns a ``Cost`` of finite numbers from 0 on, or None; more data do not cost less."""
    bench.need("estimate")
    with blame(bench, "estimate()"):
        small = bench.model.estimate(bench.plan.data, bench.plan.params)
        large = bench.model.estimate(bench.big.data, bench.big.params)
    for cost in (small, large):
        if cost is None:
            return
        if not isinstance(cost, Cost) or not all(
            math.isfinite(n) and n >= 0 for n in (cost.memory, cost.seconds_per_sweep)
        ):
            raise fail(bench, "estimate()", f"returned {cost!r}.", "A Cost holds finite numbers from 0 on.")
    if small and large and (large.memory < small.memory or large.seconds_per_sweep < small.seconds_per_sweep):
        raise fail(bench, "estimate()", "larger data are estimated to cost less.")


@check("a state of an unknown version is refused")
def upgrades(bench: Bench) -> None:
    """``upgrade_state`` raises ``ModelError`` for a version that never was."""
    state = bench.done.chains[0].state
    for version in (0, bench.spec.state_version + 1_000_000):
        try:
            with blame(bench, "upgrade_state()", refusal=True):
                bench.model.upgrade_state(state, version, bench.plan.data, bench.plan.params)
        except ModelError:
            continue
        raise fail(bench, "upgrade_state()", f"took a state of version {version}.", "Raise ModelError.")


@check("predicts new data")
def predicts(bench: Bench) -> None:
    """``predict`` returns results with finite numbers for the sample as new data."""
    bench.need("predict")
    plan = bench.plan
    with blame(bench, "predict()"):
        found = bench.model.predict(bench.done.kept(), plan.data, plan.data, plan.params)
    if not isinstance(found, Mapping) or not found:
        raise fail(bench, "predict()", "returned nothing.", "Return results by name.")
    check_results(bench, plan, dict(found), "predict()")


@check("tells fitted values")
def fitted_values(bench: Bench) -> None:
    """``fitted`` returns means and standard deviations of the asked columns, the same whatever else is asked for."""
    bench.need("fitted")
    plan, kept = bench.plan, bench.done.kept()
    for item in bench.spec.inputs:
        if item.name not in plan.data or item.kind != "matrix":
            continue
        given = plan.data[item.name]
        for number, block in enumerate(given if isinstance(given, tuple) else (given,)):
            every = np.arange(block.shape[1])
            whole = _fitted(bench, plan, kept, item.name, number, every)
            part = _fitted(bench, plan, kept, item.name, number, every[::-2])
            for one, other in zip(whole, part, strict=True):
                if not np.allclose(one[:, ::-2], other, rtol=1e-9, atol=1e-9, equal_nan=True):
                    raise fail(bench, "fitted()", "a column differs when it is asked for with others.")


def _fitted(
    bench: Bench, plan: Any, kept: Any, name: str, number: int, columns: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    with blame(bench, "fitted()"):
        mean, sd = bench.model.fitted(kept, plan.data, plan.params, name, number, columns)
    given = plan.data[name]
    n = (given[number] if isinstance(given, tuple) else given).shape[0]
    for word, values in (("means", mean), ("standard deviations", sd)):
        if np.shape(values) != (n, len(columns)):
            raise fail(
                bench, "fitted()", f"{word} have the shape {np.shape(values)}, not {(n, len(columns))}."
            )
        if np.isinf(values).any():
            raise fail(bench, "fitted()", f"{word} are not finite.", "NaN where the fit says nothing.")
    if (np.asarray(sd) < 0).any():
        raise fail(bench, "fitted()", "a standard deviation is negative.")
    return np.asarray(mean), np.asarray(sd)


@check("answers at other values of an input")
def responds(bench: Bench) -> None:
    """``response`` returns what views ask for, an entry for each row, finite and the same whatever else is asked for."""
    bench.need("response")
    plan, kept = bench.plan, bench.done.kept()
    for view in bench.spec.views:
        declared = dict(view.options.get(OPTION, {}))
        name = declared.pop("input", "")
        if name not in plan.data:
            continue
        given = plan.data[name]
        block = given[0] if isinstance(given, tuple) else given
        dense = block.values if isinstance(block.values, np.ndarray) else block.values.toarray()
        rows, wanted = np.array(dense[:5], dtype=np.float64), frozenset(declared.values())
        found = []
        for part in (rows, rows[::-2]):
            with blame(bench, "response()"):
                answer = bench.model.response(kept, plan.data, plan.params, name, part, wanted)
                found.append(checked_response(answer, len(part), wanted))
        for key in wanted:
            one, other = (answer[key].values for answer in found)
            if not np.isfinite(one).all():
                raise fail(bench, "response()", f"“{key}” is not finite.")
            if not np.allclose(one[::-2], other, rtol=1e-6, atol=1e-8):
                raise fail(bench, "response()", f"“{key}” of a row differs when it is asked for with others.")


@check("tells the density of single observations")
def densities(bench: Bench) -> None:
    """``log_likelihood`` returns log densities of what is asked for, none infinite, the same whatever else is asked for."""
    bench.need("log_likelihood")
    plan, chain = bench.plan, bench.done.kept().chains[0]
    given = plan.data.get(bench.model.likelihood_of)
    if given is None:
        where = f"likelihood_of is “{bench.model.likelihood_of}”"
        raise fail(bench, where, "there is no such input.")
    for index, block in enumerate(given if isinstance(given, tuple) else (given,)):
        rows, draws = np.arange(block.shape[0]), np.arange(chain.n_draws)
        cells = len(block.shape) > 1 and not bench.model.likelihood_by_row
        columns = rows % block.shape[1] if cells else None
        found = []
        for part in (slice(None), slice(None, None, -2)):
            with blame(bench, "log_likelihood()"):
                answer = bench.model.log_likelihood(
                    chain,
                    draws,
                    plan.data,
                    plan.params,
                    index,
                    rows[part],
                    columns[part] if columns is not None else None,
                )
            found.append(np.asarray(answer, dtype=np.float64))
            if found[-1].ndim != 2 or found[-1].shape[1] != len(rows[part]):
                what = f"returned the shape {found[-1].shape} for {counted(len(rows[part]), 'observation')}."
                raise fail(bench, "log_likelihood()", what, "Draws come first, then observations.")
        if np.isposinf(found[0]).any():
            raise fail(bench, "log_likelihood()", "a density is infinite.", "NaN where there is nothing.")
        if not np.allclose(found[0][:, ::-2], found[1], rtol=1e-6, atol=1e-8, equal_nan=True):
            raise fail(bench, "log_likelihood()", "an observation differs when asked for with others.")


@check("draws from the approximation")
def samples(bench: Bench) -> None:
    """``sample`` returns as many draws as asked for, in the form of ``draws``, finite and the same for one seed."""
    bench.need("sample")
    state = bench.done.chains[0].state
    both: list[Sequence[Mapping[str, Any]]] = []
    for _ in range(2):
        with blame(bench, "sample()"):
            both.append(list(bench.model.sample(state, bench.rng("sample"), 4)))
    if len(both[0]) != 4:
        raise fail(bench, "sample()", f"returned {counted(len(both[0]), 'draw')} of 4.")
    with blame(bench, "sample()"):
        buffer_of(bench.spec, both[0])
    for one, other in zip(*both):
        for variable in bench.spec.variables:
            if not same_arrays(one[variable.name], other[variable.name]):
                raise fail(bench, "sample()", f"“{variable.name}” differs for the same rng.")
            if variable.dtype == "float" and not np.isfinite(np.asarray(one[variable.name], float)).all():
                raise fail(bench, "sample()", f"“{variable.name}” is not finite.")
    if bench.spec.variables and all(
        same_arrays(both[0][0][variable.name], both[0][1][variable.name]) for variable in bench.spec.variables
    ):
        raise fail(bench, "sample()", "two draws are equal.")


@check("simulates data of the asked shape", cases=trials)
def simulates(bench: Bench, trial: Trial) -> None:
    """``simulate`` returns every required input in the asked shape and a state that ``draws`` and ``step`` take;
    ``simulate_data`` does so given the state, which it leaves as it is."""
    bench.need("simulate")
    on = TrialBench(bench, trial)
    model, rng = bench.model, bench.rng("simulate")
    with blame(bench, "simulate()"):
        model.prepare()
        values, state = model.simulate(on.params, on.shapes, rng)
        again, _ = model.simulate(on.params, on.shapes, bench.rng("simulate"))
    _check_values(bench, on, values, "simulate()")
    if any(
        not same_arrays(_array(values[name]), _array(again[name]))
        for name in on.shapes
        if not bench.spec.input(name).many
    ):
        raise fail(bench, "simulate()", "gives other data for the same rng.")
    with blame(bench, "simulate()"):
        data = on.data(values)
        state = model.refresh(state, data, on.params)
        before = model.draws(state, data, on.params)
        buffer_of(bench.spec, [before])
        if bench.offers("simulate_data"):
            _check_values(bench, on, model.simulate_data(state, on.params, on.shapes, rng), "simulate_data()")
            after = model.draws(state, data, on.params)
            if not all(same_arrays(before[v.name], after[v.name]) for v in bench.spec.variables):
                raise fail(bench, "simulate_data()", "changes the state.")


def _array(values: Any) -> Any:
    """What is simulated of one matrix, with or without names, as an array."""
    return values.values if isinstance(values, Dataset) else values


def _check_values(bench: Bench, on: TrialBench, values: Mapping[str, Any], method: str) -> None:
    for name, shape in on.shapes.items():
        if name not in values:
            raise fail(bench, method, f"the input “{name}” is missing.")
        found = (
            tuple(np.shape(_array(part)) for part in values[name])
            if bench.spec.input(name).many
            else np.shape(_array(values[name]))
        )
        if found != tuple(shape):
            raise fail(bench, method, f"“{name}” has shape {found}, asked for {tuple(shape)}.")
