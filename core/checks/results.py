"""What a fit hands over: traces, draws, results, and that the views find theirs."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from plaidwork.core.checks import _data
from plaidwork.core.checks._bench import Bench
from plaidwork.core.checks._check import CheckSkipped, blame, check, fail
from plaidwork.core.checks.declaration import near
from plaidwork.core.contract.model import Result, Table
from plaidwork.core.contract.model_data import Block
from plaidwork.core.contract.schedule import Clock
from plaidwork.core.contract.spec import Trace, Variable, View
from plaidwork.core.contract.view_kinds import VIEW_KINDS
from plaidwork.core.contract.view_roles import Role
from plaidwork.core.contract.views import PictureFactory
from plaidwork.core.draws.chain import ChainRecord
from plaidwork.core.draws.counting import counted
from plaidwork.core.draws.draws import Kept
from plaidwork.core.errors import PlaidworkError
from plaidwork.core.inference.plan import FitPlan
from plaidwork.core.inference.run import Run
from plaidwork.core.pictures import describe
from plaidwork.core.session.session import Session
from plaidwork.core.views.drawing import is_picture, picture_of
from plaidwork.core.views.fitting_roles import role_fault
from plaidwork.core.views.sources import NotYet, SourceError, Sources

_RANGES = {"acceptance": (0.0, 1.0), "share": (0.0, 1.0), "count": (0.0, math.inf)}


@check("traces are returned as declared")
def traces(bench: Bench) -> None:
    """``step`` returns one number for each declared trace and nothing else; the objective is finite; a trace that
    does not apply is NaN, never infinite; shares and rates lie in 0 to 1, counts are whole."""
    plan, rng = bench.plan, bench.rng("traces")
    declared = {trace.name: trace for trace in bench.spec.traces}
    with blame(bench, "fit"):
        bench.model.prepare()
        state = bench.model.init(plan.data, plan.params, rng)
        for sweep in range(3):
            found = bench.sweep(state, plan.data, plan.params, rng, Clock(sweep, 1))
            for name in declared:
                if name not in found:
                    raise fail(bench, "step()", f"the declared trace “{name}” is missing.", near(name, found))
            for name, value in found.items():
                if name not in declared:
                    raise fail(
                        bench, "step()", f"returned the undeclared trace “{name}”.", near(name, declared)
                    )
                _check_trace(bench, declared[name], value)


def _check_trace(bench: Bench, trace: Trace, value: Any) -> None:
    if (
        isinstance(value, complex)
        or np.ndim(value)
        or not isinstance(value, (int, float, np.number, np.bool_))
    ):
        raise fail(bench, "step()", f"trace “{trace.name}” is {type(value).__name__}, not a number.")
    number = float(value)
    if trace is bench.spec.primary_trace and not math.isfinite(number):
        raise fail(bench, "step()", f"the objective “{trace.name}” is {number}.")
    if math.isinf(number):
        raise fail(bench, "step()", f"trace “{trace.name}” is {number}.", "NaN says that it does not apply.")
    low, high = _RANGES.get(trace.kind, (-math.inf, math.inf))
    if not math.isnan(number) and not low <= number <= high:
        raise fail(bench, "step()", f"trace “{trace.name}” of kind {trace.kind} is {number}.")
    if trace.kind == "count" and number % 1 > 0:
        raise fail(bench, "step()", f"trace “{trace.name}” counts and is {number}.")


@check("draws are returned as declared")
def draws(bench: Bench) -> None:
    """``draws`` returns every declared variable and nothing else, of the declared type, its dims as long as those
    of the data; whole numbers are whole and flags are flags."""
    plan, rng = bench.plan, bench.rng("draws")
    declared = {variable.name: variable for variable in bench.spec.variables}
    with blame(bench, "fit"):
        state = bench.model.init(plan.data, plan.params, rng)
        for sweep in range(3):
            bench.sweep(state, plan.data, plan.params, rng, Clock(sweep, 0))
            found = bench.model.draws(state, plan.data, plan.params)
            for name in declared:
                if name not in found:
                    raise fail(
                        bench, "draws()", f"the declared variable “{name}” is missing.", near(name, found)
                    )
            for name, value in found.items():
                if name not in declared:
                    raise fail(bench, "draws()", f"returned the undeclared “{name}”.", near(name, declared))
                _check_draw(bench, plan, declared[name], np.asarray(value))


def _check_draw(bench: Bench, plan: FitPlan, variable: Variable, value: np.ndarray) -> None:
    name = f"variable “{variable.name}”"
    if value.ndim != len(variable.dims):
        raise fail(bench, "draws()", f"{name} has shape {value.shape}, declared dims are {variable.dims}.")
    lengths = dim_lengths(plan)
    for axis, dim in enumerate(variable.dims):
        if not (variable.ragged and axis == 0) and lengths.get(dim, value.shape[axis]) != value.shape[axis]:
            raise fail(
                bench, "draws()", f"{name} has {value.shape[axis]} along {dim}, the data {lengths[dim]}."
            )
    fits = {"bool": "b", "int": "biu", "count": "biu", "float": "biuf"}[variable.dtype]
    if value.dtype.kind not in fits:
        whole = value.dtype.kind == "f" and variable.dtype == "int" and bool(np.all(value % 1 == 0))
        if not whole:
            raise fail(bench, "draws()", f"{name} is declared {variable.dtype} and came as {value.dtype}.")
    if variable.dtype == "float" and not np.isfinite(np.asarray(value, float)).all():
        raise fail(bench, "draws()", f"{name} is not finite.")


def dim_lengths(plan: FitPlan) -> dict[str, int]:
    """Lengths of the input dims; those of inputs that take many only where they are shared."""
    found: dict[str, int] = {}
    for item in plan.spec.inputs:
        for data in plan.inputs.get(item.name, ()):
            for axis, dim in enumerate(item.dims):
                if not (item.many and axis == 1):
                    found[dim] = data.shape[axis]
    return found


@check("results are arrays, tables and texts with the right dims")
def results(bench: Bench) -> None:
    """``summarise`` returns ``Result``, ``Table`` or text by name; dims name the axes, and those of the data are as
    long as the data; numbers are finite (a table may have gaps, as NaN, and so may what is told of an item of the data that has some)."""
    check_results(bench, bench.plan, bench.results)


def check_results(bench: Bench, plan: FitPlan, found: dict[str, Any], method: str = "summarise()") -> None:
    lengths, gaps = dim_lengths(plan), _gaps(plan)
    for name, result in found.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise fail(bench, method, f"the result name {name!r} is not an identifier.")
        if isinstance(result, Result):
            _check_result(bench, lengths, gaps, name, result, method)
        elif isinstance(result, Table):
            for title, column in result.columns.items():
                if column.ndim != 1:
                    raise fail(
                        bench, method, f"column “{title}” of “{name}” has {counted(column.ndim, 'axis')}."
                    )
                if column.dtype.kind == "f" and np.isinf(column).any():
                    raise fail(bench, method, f"column “{title}” of “{name}” is infinite.")
        elif not isinstance(result, str):
            kind = type(result).__name__
            raise fail(bench, method, f"“{name}” is {kind}.", "Results are Result, Table or text.")


def _gaps(plan: FitPlan) -> dict[str, np.ndarray]:
    """Of the first dim of each matrix of the data whether an item lacks a value: a place among the measurements may be unknown then."""
    found: dict[str, np.ndarray] = {}
    for item in plan.spec.inputs:
        block = plan.data.get(item.name)
        if item.missing and item.dims and isinstance(block, Block) and block.observed.ndim == 2:
            incomplete = np.asarray(~block.observed.all(axis=1))
            found[item.dims[0]] = np.logical_or(incomplete, found.get(item.dims[0], incomplete))
    return found


def _check_result(
    bench: Bench,
    lengths: dict[str, int],
    gaps: dict[str, np.ndarray],
    name: str,
    result: Result,
    method: str,
) -> None:
    values = result.values
    if result.dims and len(result.dims) != values.ndim:
        raise fail(bench, method, f"“{name}” has {counted(values.ndim, 'axis')} and the dims {result.dims}.")
    for dim, n in zip(result.dims, values.shape):
        if lengths.get(dim, n) != n:
            raise fail(bench, method, f"“{name}” has {n} along {dim}, the data {lengths[dim]}.")
    if values.dtype.kind == "O" and not all(isinstance(item, str) for item in values.ravel()):
        raise fail(bench, method, f"“{name}” is an array of objects.", "Results hold numbers or texts.")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        incomplete = gaps.get(result.dims[0], False) if result.dims else False
        wrong = ~np.isfinite(values).reshape(len(values), -1).all(axis=1) if values.ndim else np.True_
        if np.isinf(values).any() or (wrong & ~np.asarray(incomplete)).any():
            raise fail(bench, method, f"“{name}” is not finite.")


@check("every view finds its source, of the right shape")
def views(bench: Bench) -> None:
    """All roles, headlines and captions of the views are among the results, with shapes that fit each other."""
    found = bench.results
    for view in _shown(bench):
        for part in ("headline", "caption"):
            text = getattr(view, part)
            if text and not isinstance(found.get(text), str):
                raise fail(
                    bench, f"view “{view.title}”", f"no text is named “{text}” ({part}).", near(text, found)
                )
        kind = VIEW_KINDS.get(view.kind)
        if kind is not None:
            letters: dict[str | int, int] = {}
            for role in kind.roles:
                if role.name in view.source:
                    _check_role(bench, view, role, found, letters)


def _shown(bench: Bench) -> list[View]:
    """The views but those made for data of an optional input that the fit was not given."""
    return [view for view in bench.spec.views if view.columns.keys() <= bench.plan.inputs.keys()]


@check("every view that is a picture can be drawn")
def pictures(bench: Bench) -> None:
    """What a view loads is a picture in the marks' own terms and can be told in words, with every choice at its default."""
    shown = [view for view in _shown(bench) if is_picture(view.kind)]
    if not shown:
        raise CheckSkipped("no view is a picture")
    session = Session("check")
    run = session.add_run(bench.plan)
    run.chains[:], run.results = bench.done.chains, bench.results
    for view in shown:
        try:
            describe(picture_of(Sources(session, run, view, own=_own_pictures(bench))))
        except (PlaidworkError, SourceError, NotYet) as error:
            raise fail(bench, f"view “{view.title}”", str(error) or "there is nothing to draw.") from error


def _own_pictures(bench: Bench) -> dict[str, PictureFactory]:
    """Those of the model's own module, or of the nearest package around it that has any; they need not be installed."""
    parts = type(bench.model).__module__.split(".")
    around = (sys.modules.get(".".join(parts[:end])) for end in range(len(parts), 0, -1))
    hook = next((found for module in around if (found := getattr(module, "plaidwork_views", None))), list)
    return {item.id: item for item in hook() if isinstance(item, PictureFactory)}


def _check_role(
    bench: Bench, view: View, role: Role, found: dict[str, Any], letters: dict[str | int, int]
) -> None:
    name, source = f"view “{view.title}”", view.source[role.name]
    prefix, _, target = source.partition(":")
    if (prefix == "fitted" and bool(target)) != role.fitted:
        wanted = "fitted:X" if role.fitted else "a result, data:X or draws:X"
        raise fail(bench, name, f"“{source}” is the source of {role.name}, which needs {wanted}.")
    if role.fitted:
        return
    if prefix == "data" and target:
        if target not in bench.plan.inputs:
            return  # an optional input
        thing: Any = Result(np.empty(bench.plan.inputs[target][0].shape))
    elif prefix == "draws" and target:
        thing = Result(bench.done.kept().stack(target))
    elif source in found:
        thing = found[source]
    else:
        raise fail(bench, name, f"no result is named “{source}” ({role.name}).", near(source, found))
    fault = role_fault(role, source, thing, letters)
    if fault:
        raise fail(bench, name, fault)


@check("summarises what there is: one draw, chains of unequal length")
def partial_results(bench: Bench) -> None:
    """``summarise`` is called while the fit runs: with the first draw of one chain, and with one chain behind."""
    plan = bench.plan
    run = Run.from_plan(plan)
    first, second = run.chains[0], run.chains[1]
    _advance(bench, plan, first, 1)
    check_results(bench, plan, bench.summarise(plan, run.kept()), "summarise() with one draw")
    _advance(bench, plan, first, 4)
    _advance(bench, plan, second, 2)
    kept = Kept(bench.spec, [record.view() for record in run.chains if record.draws.count])
    check_results(bench, plan, bench.summarise(plan, kept), "summarise() with unequal chains")


def _advance(bench: Bench, plan: FitPlan, record: ChainRecord, n_draws: int) -> None:
    if record.draws.count >= n_draws:
        return
    for _ in bench.events(plan, record):
        if record.draws.count >= n_draws:
            return


@check("fits with every optional input given")
def optional_inputs(bench: Bench) -> None:
    """All optional inputs at once, with default settings: a fit, or an error for the user."""
    if all(item.required for item in bench.spec.inputs):
        return
    try:
        plan = bench.make(_data.generic(bench.spec, bench.seed, optional=True), refusal=True)
        run = bench.run(plan, refusal=True)
        check_results(bench, plan, bench.summarise(plan, run.kept(), refusal=True))
    except PlaidworkError:
        return
