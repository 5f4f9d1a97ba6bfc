"""Solutions of a run in a session, where its data and its model are at hand."""

from __future__ import annotations

import threading

from plaidwork.core.draws.solutions import Solution
from plaidwork.core.errors import PlaidworkError, SessionError
from plaidwork.core.findings.fitted import fitted_inputs
from plaidwork.core.findings.predictive import Score, run_densities
from plaidwork.core.findings.solutions import reported, score_of, weigh
from plaidwork.core.inference.execution import FitJob
from plaidwork.core.inference.plan import FitPlan, model_data
from plaidwork.core.inference.run import Run
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.session import Session

_ONE_AT_A_TIME = threading.Lock()


def weigh_solutions(run: Run, found: tuple[Solution, ...]) -> tuple[tuple[Solution, ...], str]:
    """The solutions with their weights, heaviest first, and what the weights are; without weights where data or model are gone."""
    session: Session | None = run.session
    try:
        model = registry().model(run.spec.id)
    except PlaidworkError:
        return found, "Their weights are not known: the model is not installed."
    return weigh(run, {} if session is None else session.datasets, model, found)


def score_run(run: Run) -> Score | None:
    """How well a run predicts what it has not seen; None where its model does not tell.

    Raises ``SessionError`` without its model or session, ``DataError`` when its data are gone or have changed.
    """
    session = _session_of(run)
    found = run_densities(run, session.datasets, registry().model(run.spec.id), reported(run.kept()))
    solutions = run.solutions() if run.spec.algorithm == "mcmc" else ()
    return None if found is None else score_of(found, solutions)


def _session_of(run: Run) -> Session:
    session: Session | None = run.session
    if session is None:
        raise SessionError(f"{run.title} belongs to no session, so its data are not known.")
    return session


def summarise_run(run: Run) -> None:
    """Make the results of a run from what its chains kept, unless it has them; nothing else of it changes.

    Raises ``SessionError`` without its model or session, ``DataError`` when its data are gone or have changed.
    """
    session = _session_of(run)
    with _ONE_AT_A_TIME:  # two pages may ask for the same at once
        if run.results_draws != run.n_draws and not run.stateless:  # a compact copy has results of more draws
            _summarise(run, session)


def _summarise(run: Run, session: Session) -> None:
    model = registry().model(run.spec.id)
    inputs = fitted_inputs(run, session.datasets)
    params = model.spec.stored_params(run.params)
    data = model_data(run.spec, inputs, run.seed, run.holdout)
    plan = FitPlan(model, inputs, data, params, run.schedule, run.seed, run.holdout)
    FitJob(run, plan).summarise()
